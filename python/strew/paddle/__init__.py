"""PaddlePaddle: ``paddle.scatter``, ``paddle.put_along_axis`` and so on, ``paddle.geometric``.

Functions raise

* IndexError for an index or axis out of range, unless the function says otherwise,
* RuntimeError for arithmetic that a dtype does not have,
* ValueError for everything else: shapes, and dtypes that do not fit,
* TypeError for arguments that are not arrays, and where the function says so.

No function works in place. 16-bit floats accumulate in float32 and are rounded once; integers wrap.
If one of the arrays is empty, nothing is written, and indices are not checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._strew import Operator as _Operator
from . import geometric as geometric

if TYPE_CHECKING:
    from typing import Literal

    from .._native.types import Array, ArrayLike, Integers, Numbers

__all__ = [
    "gather",
    "gather_nd",
    "geometric",
    "index_add",
    "index_fill",
    "put_along_axis",
    "scatter",
    "scatter_nd",
    "scatter_nd_add",
    "take_along_axis",
]

_scatter = _Operator("paddle.scatter")
_scatter_nd = _Operator("paddle.scatter_nd")
_scatter_nd_add = _Operator("paddle.scatter_nd_add")
_put_along_axis = _Operator("paddle.put_along_axis")
_index_add = _Operator("paddle.index_add")
_index_fill = _Operator("paddle.index_fill")
_gather = _Operator("paddle.gather")
_gather_nd = _Operator("paddle.gather_nd")
_take_along_axis = _Operator("paddle.take_along_axis")


def scatter(
    x: Array | Numbers,
    index: ArrayLike,
    updates: ArrayLike,
    overwrite: bool = True,
) -> Array:
    """Copy `x` and replace rows by `updates`, or by their sum.

    Parameters
    ----------
    x : array
        Of one or more dimensions and any dtype.
    index : array
        Where each row goes: int32 or int64, 1-d, or 2-d with one column; 0-d for one row. Negative
        ones count from the end.
    updates : array
        Rows of `x`'s shape and dtype, at least as many as `index` has; any more are not read. For a
        0-d `index`, one row without the first axis.
    overwrite : bool
        Whether the last of several rows for a place stays. If False, the result is their sum,
        without the row of `x`; `x` must not be bool then.

    Returns
    -------
    array
        Of `x`'s shape and dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([[1, 1], [2, 2], [3, 3]])
    >>> updates = np.array([[1, 1], [2, 2], [3, 3], [4, 4]])
    >>> strew.paddle.scatter(x, [2, 1, 0, 1], updates)
    array([[3, 3],
           [4, 4],
           [1, 1]])
    >>> strew.paddle.scatter(x, [2, 1, 0, 1], updates, overwrite=False)
    array([[3, 3],
           [6, 6],
           [1, 1]])
    """
    return _scatter(x, index, updates, overwrite)


def scatter_nd(
    index: Array | Numbers,
    updates: ArrayLike,
    shape: Integers,
) -> Array:
    """Add `updates` into a new array of zeros: `scatter_nd_add` to zeros.

    Parameters
    ----------
    index, updates : array
        As for `scatter_nd_add`.
    shape : sequence of int
        The shape of the result: a list, or a 1-d array.

    Returns
    -------
    array
        Of `shape` and `updates`' dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.paddle.scatter_nd(np.array([[1], [2], [1]]), np.array([9, 10, 12]), [4])
    array([ 0, 21, 10,  0])
    """
    return _scatter_nd(index, updates, shape)


def scatter_nd_add(x: Array | Numbers, index: ArrayLike, updates: ArrayLike) -> Array:
    """Copy `x` and add each window of `updates` to the one that its index tuple names.

    Parameters
    ----------
    x : array
        Of any shape, and any dtype but bool.
    index : array
        int32 or int64. Its last axis holds index tuples for the first axes of `x`; the remaining
        axes are the window. Negative indices count from the end. An empty tuple names all of `x`.
    updates : array
        Windows, of shape ``index.shape[:-1] + x.shape[index.shape[-1]:]`` and `x`'s dtype.

    Returns
    -------
    array
        Of `x`'s shape and dtype.

    Raises
    ------
    TypeError
        If `updates` has another dtype than `x`.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.paddle.scatter_nd_add(
    ...     np.arange(6), np.array([[1], [2], [3], [1]]), np.array([9, 10, 11, 12])
    ... )
    array([ 0, 22, 12, 14,  4,  5])
    """
    return _scatter_nd_add(x, index, updates)


def put_along_axis(
    arr: Array | Numbers,
    indices: ArrayLike,
    values: ArrayLike,
    axis: int,
    reduce: Literal["assign", "add", "mul", "multiply", "mean", "amax", "amin"] = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Array:
    """Copy `arr` and join each of `values` to the cell that its index names along `axis`.

    Parameters
    ----------
    arr : array
        Of one or more dimensions and any dtype; of bool only for ``"assign"``.
    indices : array
        Where along `axis` each value goes: int32 or int64, of `arr`'s rank. Negative ones count
        from the end.
    values : array or number
        Of `arr`'s dtype, broadcast to the indices. A number, or a 0-d array of any dtype, is
        converted to `arr`'s.
    axis : int
        The axis that `indices` point along; negative counts from the end.
    reduce : {"assign", "add", "mul", "multiply", "mean", "amax", "amin"}
        How values are combined with a cell: the last one stays, or their sum, product, mean (of
        integers rounded down), maximum or minimum. A maximum or minimum is NaN if the first value
        is; any other NaN is left out. Complex numbers have none.
    include_self : bool
        Whether the value of `arr` in a cell takes part, as the first one. If False, the first
        update takes its place.
    broadcast : bool
        Whether `indices` are broadcast to `arr`'s shape, apart from `axis`, if no axis is larger
        than `arr`'s. If False, they are used as they are, with the leading corner of `values`,
        which must be at least as large.

    Returns
    -------
    array
        Of `arr`'s shape and dtype.

    Raises
    ------
    TypeError
        If `indices` have another dtype.
    RuntimeError
        With ``broadcast=False``, for sizes that do not fit and for an index past the end.

    Notes
    -----
    PaddlePaddle raises an AssertionError for an axis out of range; here it is a ValueError.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> arr = np.array([[10, 30, 20], [60, 40, 50]])
    >>> strew.paddle.put_along_axis(arr, [[0]], 99, 0)
    array([[99, 99, 99],
           [60, 40, 50]])
    >>> index, values = np.zeros((2, 2), np.int32), np.array([[1, 2], [3, 4]])
    >>> strew.paddle.put_along_axis(arr, index, values, 0, "mean", broadcast=False)
    array([[ 4, 12, 20],
           [60, 40, 50]])
    """
    if 0 in getattr(indices, "shape", ()):
        # Nothing is put, whatever the values' shape.
        values = 0
    return _put_along_axis(arr, indices, values, axis, reduce, include_self, broadcast)


def index_add(
    x: Array | Numbers,
    index: ArrayLike,
    axis: int,
    value: ArrayLike,
) -> Array:
    """Copy `x` and add slices of `value` to those that `index` names along `axis`.

    Parameters
    ----------
    x : array
        Of one or more dimensions, and any dtype but bool.
    index : array
        Where along `axis` each slice goes: 1-d, int32 or int64. Negative ones count from the end.
    axis : int
        The axis that `index` points along; negative counts from the end.
    value : array
        Of `x`'s dtype and shape, but with `index`'s length along `axis`.

    Returns
    -------
    array
        Of `x`'s shape and dtype.

    Raises
    ------
    ValueError
        Also for an index out of range.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.paddle.index_add(np.ones((3, 2)), [0, 2, -1], 0, np.ones((3, 2)))
    array([[2., 2.],
           [1., 1.],
           [3., 3.]])
    """
    return _index_add(x, index, axis, value)


def index_fill(
    x: Array | Numbers,
    index: ArrayLike,
    axis: int,
    value: complex,
) -> Array:
    """Copy `x` and write one number into the slices that `index` names along `axis`.

    Parameters
    ----------
    x : array
        Of one or more dimensions and any dtype.
    index : array
        Which slices along `axis`: 1-d, int32 or int64. Negative ones count from the end.
    axis : int
        The axis that `index` points along; negative counts from the end.
    value : number
        Converted to `x`'s dtype: fractions are cut off, and integers wrap.

    Returns
    -------
    array
        Of `x`'s shape and dtype.

    Raises
    ------
    ValueError
        Also for an axis out of range.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.paddle.index_fill(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), [0, 2], 0, -1)
    array([[-1, -1, -1],
           [ 4,  5,  6],
           [-1, -1, -1]])
    """
    return _index_fill(x, index, axis, value)


def gather(x: Array | Numbers, index: ArrayLike, axis: int | None = None) -> Array:
    """Pick the slices of `x` that `index` names along `axis`.

    Parameters
    ----------
    x : array
        Of one or more dimensions and any dtype.
    index : array
        Which slices: int32 or int64, 1-d, or 2-d with one column; 0-d for one slice. Negative ones
        count from the end.
    axis : int, optional
        The axis that `index` points along, the first one by default; negative counts from the end.

    Returns
    -------
    array
        Of `x`'s dtype and shape, but with `index`'s length along `axis`; without that axis for a
        0-d `index`.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.paddle.gather(np.array([[1, 2], [3, 4], [5, 6]]), [0, -1])
    array([[1, 2],
           [5, 6]])
    """
    return _gather(x, index, axis)


def gather_nd(x: Array | Numbers, index: ArrayLike) -> Array:
    """Pick the windows of `x` that index tuples name.

    Parameters
    ----------
    x : array
        Of any shape and dtype.
    index : array
        int32 or int64. Its last axis holds index tuples for the first axes of `x`. Negative indices
        count from the end. An empty tuple names all of `x`.

    Returns
    -------
    array
        Of shape ``index.shape[:-1] + x.shape[index.shape[-1]:]`` and `x`'s dtype.

    Raises
    ------
    ValueError
        Also for an index out of range.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]])
    >>> strew.paddle.gather_nd(x, [[0, 1]])
    array([[3, 4]])
    """
    return _gather_nd(x, index)


def take_along_axis(
    arr: Array | Numbers,
    indices: ArrayLike,
    axis: int,
    broadcast: bool = True,
) -> Array:
    """Pick the elements of `arr` that `indices` name along `axis`; the inverse of `put_along_axis`.

    Parameters
    ----------
    arr : array
        Of one or more dimensions and any dtype.
    indices : array
        The position of each element along `axis`: int32 or int64, of `arr`'s rank. Negative indices
        count from the end.
    axis : int
        The axis that `indices` point along; negative counts from the end.
    broadcast : bool
        Whether `arr` and `indices` are broadcast to each other, apart from `axis`. If False,
        `indices` must not be larger than `arr` apart from `axis`, and refer to its leading corner.

    Returns
    -------
    array
        Of the indices' shape, and `arr`'s dtype.

    Raises
    ------
    TypeError
        If `indices` have another dtype.
    ValueError
        Also for an axis out of range, for which PaddlePaddle raises an AssertionError.
    RuntimeError
        With ``broadcast=False`` for indices that are too large.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> arr = np.array([[10, 30, 20], [60, 40, 50]])
    >>> strew.paddle.take_along_axis(arr, [[1], [-1]], 1)
    array([[30],
           [50]])
    """
    return _take_along_axis(arr, indices, axis, broadcast)
