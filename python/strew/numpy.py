"""NumPy: ``ufunc.at`` of many functions, `put_along_axis`, and `bincount` with more than NumPy's.

``strew.numpy.add.at(a, indices, b)`` is ``numpy.add.at(a, indices, b)``, of arrays of any library
that can be written to. The array is returned. Functions raise

* IndexError for an index that is out of bounds, of another dtype or shape than an index has, or one
  too many,
* TypeError for dtypes that a function does not take,
* ValueError for everything else: shapes that do not broadcast, operands that are missing, memory
  that overlaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._indexing import split as _split
from ._indexing import with_axis as _with_axis
from ._strew import Operator as _Operator

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import SupportsIndex, TypeAlias

    from ._types import Array, ArrayLike, Numbers

    _Entry: TypeAlias = ArrayLike | slice | EllipsisType | None

__all__ = [
    "absolute",
    "add",
    "bincount",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "divide",
    "floor_divide",
    "fmax",
    "fmin",
    "invert",
    "left_shift",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "power",
    "put_along_axis",
    "right_shift",
    "subtract",
]

_bincount = _Operator("numpy.bincount")
_put_along_axis = _Operator("numpy.put_along_axis")


class ufunc:
    """A function whose `at` changes what is indexed.

    >>> import numpy as np
    >>> import strew
    >>> a = np.array([1, 2, 3, 4])
    >>> strew.numpy.add.at(a, [0, 1, 2, 2], 1)
    array([2, 3, 5, 4])
    """

    __slots__ = ("__name__", "_operator", "nin")

    def __init__(self, name: str, nin: int) -> None:
        self.__name__ = name
        self.nin = nin
        self._operator = _Operator(f"numpy.{name}.at")

    def __repr__(self) -> str:
        return f"<strew.numpy ufunc {self.__name__!r}>"

    def at(
        self, a: Array, indices: _Entry | tuple[_Entry, ...], b: ArrayLike | None = None
    ) -> Array:
        """Change what is indexed in place, once for each time that it is indexed: ``ufunc.at(a,
        indices, b)``.

        Cells that are indexed several times are changed as often, in row-major order, each time
        rounded to the dtype of `a`, and results have the bits of that loop.

        Parameters
        ----------
        a : array
            What is changed: any shape, a dtype that the function takes.
        indices : array_like or tuple
            What stands between the brackets: integers, arrays of integers, masks, slices, ``...``
            and None, as NumPy has them. A list is an array.
        b : array_like
            The second operands, broadcast to what is indexed; none for a function of one. Each step
            is computed in the dtype that NumPy promotes both to, and becomes `a`'s as C casts it:
            integers wrap, fractions are cut off.

        Returns
        -------
        array
            `a`.

        Examples
        --------
        >>> import numpy as np
        >>> import strew
        >>> a = np.zeros((2, 3))
        >>> strew.numpy.add.at(a, (slice(None), [0, 0, 2]), 1)
        array([[2., 0., 1.],
               [2., 0., 1.]])
        >>> strew.numpy.maximum.at(a, a == 0, [5, 6])
        array([[2., 5., 1.],
               [2., 6., 1.]])
        """
        if (b is None) is (self.nin == 2):
            said = (
                "second operand needed" if b is None else "second operand provided when it is unary"
            )
            raise ValueError(f"numpy.{self.__name__}.at: {said}")
        view, listed, behind = _split(a, indices)
        if self.nin == 2:
            if behind is not None:
                b = _with_axis(b, behind)
            self._operator(view, listed, b)
        else:
            self._operator(view, listed)
        return a


add = ufunc("add", 2)
subtract = ufunc("subtract", 2)
multiply = ufunc("multiply", 2)
divide = ufunc("divide", 2)
floor_divide = ufunc("floor_divide", 2)
power = ufunc("power", 2)
maximum = ufunc("maximum", 2)
minimum = ufunc("minimum", 2)
fmax = ufunc("fmax", 2)
fmin = ufunc("fmin", 2)
bitwise_and = ufunc("bitwise_and", 2)
bitwise_or = ufunc("bitwise_or", 2)
bitwise_xor = ufunc("bitwise_xor", 2)
logical_and = ufunc("logical_and", 2)
logical_or = ufunc("logical_or", 2)
logical_xor = ufunc("logical_xor", 2)
left_shift = ufunc("left_shift", 2)
right_shift = ufunc("right_shift", 2)
negative = ufunc("negative", 1)
invert = ufunc("invert", 1)
absolute = ufunc("absolute", 1)


def put_along_axis(
    arr: Array, indices: ArrayLike, values: ArrayLike, axis: SupportsIndex | None = None
) -> Array:
    """Put values into the cells that indices name along an axis, in place.

    Parameters
    ----------
    arr : array
        What is written: any shape and dtype.
    indices : array
        Integers of any dtype, of `arr`'s rank. Along other axes than `axis` they and `arr` have one
        size, or one of them has size 1, which counts for all. Negative ones count from the end.
    values : array_like
        Broadcast to the indices, and cast to `arr`'s dtype. Of several for a cell, the last one
        stays.
    axis : int, optional
        None: `arr` is seen as one row of its elements, and `indices` have one axis.

    Returns
    -------
    array
        `arr`.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> scores = np.array([[10, 30, 20], [60, 40, 50]])
    >>> strew.numpy.put_along_axis(scores, scores.argmax(axis=1)[:, None], 99, axis=1)
    array([[10, 99, 20],
           [99, 40, 50]])
    """
    return _put_along_axis(arr, indices, values, axis)


def bincount(
    x: Array | Numbers,
    weights: ArrayLike | None = None,
    minlength: SupportsIndex = 0,
    axis: SupportsIndex | None = None,
    out: Array | None = None,
) -> Array:
    """Count how often each number occurs, or add up its weights.

    What NumPy's does, and along an axis of arrays of any rank, with complex weights, and into an
    array.

    Parameters
    ----------
    x : array
        Integers or bools, none negative: 1-d, or with `axis` of any rank.
    weights : array, optional
        What each number counts for: of `x`'s shape. With `axis`, `x` may be 1-d and stand along
        that axis.
    minlength : int
        There are so many bins at least, and one more than the largest number.
    axis : int, optional
        The axis along which numbers are counted, each row by itself: the result has the bins there.
    out : array, optional
        The result is written there and returned. Its size along the axis is the number of bins; a
        number without one is an error.

    Returns
    -------
    array
        int64 counts; float64 sums of real weights, complex128 ones of complex weights, added up in
        row-major order.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.numpy.bincount([0, 1, 1, 3])
    array([1, 2, 0, 1])
    >>> strew.numpy.bincount(np.array([[0, 1, 1], [2, 2, 2]]), axis=1)
    array([[1, 2, 0],
           [0, 0, 3]])
    >>> strew.numpy.bincount([0, 1, 1], np.array([[1, 2], [3, 4], [5j, 6]]), axis=0)
    array([[ 1.+0.j,  2.+0.j],
           [ 3.+5.j, 10.+0.j]])
    """
    return _bincount(x, weights, minlength, axis, out)
