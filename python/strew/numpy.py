"""NumPy: ``ufunc.at`` of all functions, `put_along_axis`, and an extended `bincount`.

``strew.numpy.add.at(a, indices, b)`` is ``numpy.add.at(a, indices, b)``, also for writable arrays
of other libraries. The array is returned. Functions raise

* IndexError for an index that is out of bounds or has an invalid dtype or shape, and for too many
  indices,
* TypeError for dtypes that a function does not take,
* ValueError for everything else: shapes that do not broadcast, operands that are missing, memory
  that overlaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import cast as _cast

import numpy as _np

from ._arrays.indexing import split as _split
from ._arrays.indexing import with_axis as _with_axis
from ._native import errors as _errors
from ._strew import Operator as _Operator

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import Any, NoReturn, SupportsIndex, TypeAlias

    from ._native.types import Array, ArrayLike, Numbers

    _Entry: TypeAlias = ArrayLike | slice | EllipsisType | None

__all__ = [
    "absolute",
    "add",
    "bincount",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "divide",
    "float_power",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "gcd",
    "hypot",
    "invert",
    "lcm",
    "left_shift",
    "logaddexp",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "power",
    "put_along_axis",
    "remainder",
    "right_shift",
    "subtract",
]

_bincount = _Operator("numpy.bincount")
_put_along_axis = _Operator("numpy.put_along_axis")


class ufunc:
    """A function with a method `at`, which changes indexed elements in place.

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

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        """Raise a TypeError: only elements that an index names are changed, by `at`."""
        name = self.__name__
        b = ", b" if self.nin == 2 else ""
        raise _errors.Problem(TypeError, f"numpy.{name}", None).in_words(
            f"strew.numpy.{name} is called as strew.numpy.{name}.at(a, indices{b}); "
            f"numpy.{name} takes whole arrays"
        )

    def at(
        self, a: Array, indices: _Entry | tuple[_Entry, ...], b: ArrayLike | None = None
    ) -> Array:
        """Apply the function to the indexed elements, in place: ``ufunc.at(a, indices, b)``.

        An element that is indexed several times is changed once for each, in row-major order. Each
        step is rounded to the dtype of `a`; results have the bits of that loop.

        Parameters
        ----------
        a : array
            The array to change: any shape, and a dtype that the function takes.
        indices : array_like or tuple
            The index in ``a[indices]``: integers, arrays of integers, masks, slices, ``...`` and
            None, as in NumPy. A list is an array.
        b : array_like
            The second operands, broadcast to the selection; omitted for a unary function. Each step
            is computed in the dtype that NumPy promotes both to, then cast to `a`'s as in C:
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
            raise _wrong_operands(self.__name__, b)
        if getattr(getattr(a, "dtype", None), "kind", "") in _TIMES:
            _at(self.__name__, a, indices, b)
            return a
        view, listed, behind = _split(a, indices)
        if self.nin == 2:
            if behind is not None:
                b = _with_axis(b, behind)
            self._operator(view, listed, b)
        else:
            self._operator(view, listed)
        return a


class _OfNumpy(ufunc):
    """A function whose loop is NumPy's own, as it is too rare for one of strew's."""

    __slots__ = ()

    def __init__(self, name: str, nin: int) -> None:
        self.__name__ = name
        self.nin = nin

    def at(
        self, a: Array, indices: _Entry | tuple[_Entry, ...], b: ArrayLike | None = None
    ) -> Array:
        """Apply the function to the indexed elements, in place: ``ufunc.at(a, indices, b)``.

        The loop, its rules and its errors are those of NumPy's function of this name.
        """
        _at(self.__name__, a, indices, b)
        return a


# Dates and durations, whose functions are NumPy's own.
_TIMES = ("m", "M")


def _wrong_operands(name: str, b: object) -> ValueError:
    """The exception of a second operand that is missing, or is one too many."""
    said = "second operand needed" if b is None else "second operand provided when it is unary"
    return _errors.Problem(ValueError, f"numpy.{name}.at", "b").saying(said)


def _at(name: str, a: Array, indices: _Entry | tuple[_Entry, ...], b: ArrayLike | None) -> None:
    """``ufunc.at`` of NumPy, also on the memory of another library's array."""
    function = getattr(_np, name)
    if (b is None) is (function.nin == 2):
        raise _wrong_operands(name, b)
    view = a if isinstance(a, _np.ndarray) else _np.from_dlpack(_cast("Any", a))
    if not view.flags.writeable:
        raise _errors.Problem(ValueError, f"numpy.{name}.at", "a").saying("a is read-only")
    if b is None:
        function.at(view, indices)
        return
    # NumPy takes the wrong elements of operands that are to be broadcast.
    selected = view[_cast("Any", indices)].shape
    function.at(view, indices, _np.broadcast_to(_np.asarray(b), selected).copy())


def __getattr__(name: str) -> ufunc:
    """Every other ufunc of NumPy that has a method `at`."""
    found = getattr(_np, name, None)
    if not isinstance(found, _np.ufunc) or found.nout != 1 or found.signature is not None:
        raise AttributeError(f"module 'strew.numpy' has no attribute {name!r}")
    made = globals()[name] = _OfNumpy(name, found.nin)
    return made


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
remainder = _OfNumpy("remainder", 2)
fmod = _OfNumpy("fmod", 2)
hypot = _OfNumpy("hypot", 2)
gcd = _OfNumpy("gcd", 2)
lcm = _OfNumpy("lcm", 2)
logaddexp = _OfNumpy("logaddexp", 2)
float_power = _OfNumpy("float_power", 2)


def put_along_axis(
    arr: Array, indices: ArrayLike, values: ArrayLike, axis: SupportsIndex | None = None
) -> Array:
    """Put values into the cells that indices name along an axis, in place.

    Parameters
    ----------
    arr : array
        The array to change: any shape and dtype.
    indices : array
        Integers of any dtype, of `arr`'s rank, broadcast with `arr` apart from `axis`. Negative
        indices count from the end.
    values : array_like
        Broadcast to the indices, and cast to `arr`'s dtype. The last of several values for a cell
        stays.
    axis : int, optional
        None: `arr` is taken as one row of its elements, and `indices` must be 1-d.

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

    Like NumPy's, and also along an axis of arrays of any rank, with complex weights, and into
    `out`.

    Parameters
    ----------
    x : array
        Integers that are not negative, or bools: 1-d, or with `axis` of any rank.
    weights : array, optional
        The weight of each number, of `x`'s shape. With `axis`, `x` may also be 1-d, along that axis
        of `weights`.
    minlength : int
        The least number of bins. There are more if the largest number needs them.
    axis : int, optional
        The axis along which numbers are counted, each line separately. The result has the bins
        along it.
    out : array, optional
        Memory for the result, which is returned. Its size along the axis is the number of bins; a
        number without a bin is an error.

    Returns
    -------
    array
        Counts are int64. Sums are float64 for real weights and complex128 for complex ones, added
        up in row-major order.

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
