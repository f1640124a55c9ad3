"""``put``, ``masked_scatter`` and ``index_put``: elements by position, mask or index tuple."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._arrays.dispatch import torch_operators
from .._strew import Operator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._native.types import Array, ArrayLike, Numbers

_put = Operator("torch.put")
_put_in_place = Operator("torch.put_")
_masked_scatter = Operator("torch.masked_scatter")
_masked_scatter_in_place = Operator("torch.masked_scatter_")
_index_put = Operator("torch.index_put")
_index_put_in_place = Operator("torch.index_put_")


def put(
    input: Array | Numbers,
    index: ArrayLike,
    source: ArrayLike,
    accumulate: bool = False,
) -> Array:
    """Copy `input` and put elements of `source` at the positions of `index`, counted row by row.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    index : array
        int64, of any shape; negative positions count from the end.
    source : array
        As many elements as `index` has, of `input`'s dtype, row by row.
    accumulate : bool, default False
        Whether elements are added to their cells. If False they replace them, and the last of
        several stays.

    Raises
    ------
    IndexError
        If `source` has another number of elements, or a position is out of bounds.
    RuntimeError
        For dtypes.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.torch.put(np.array([[4, 3, 5], [6, 7, 8]]), np.array([1, -3]), np.array([9, 10]))
    array([[ 4,  9,  5],
           [10,  7,  8]])
    """
    if operators := torch_operators(input, source):
        return operators.torch.put.put.call(input, index, source, accumulate)
    return _put(input, index, source, accumulate)


def put_(
    input: Array,
    index: ArrayLike,
    source: ArrayLike,
    accumulate: bool = False,
) -> Array:
    """`put` in place.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([[1, 2], [3, 4]])
    >>> strew.torch.put_(x, np.array([3, 3]), np.array([5, 6]), accumulate=True) is x
    True
    >>> x
    array([[ 1,  2],
           [ 3, 15]])
    """
    if operators := torch_operators(input, source):
        return operators.torch.put.put.call_(input, index, source, accumulate)
    return _put_in_place(input, index, source, accumulate)


def masked_scatter(
    input: Array | Numbers,
    mask: ArrayLike,
    source: ArrayLike,
) -> Array:
    """Copy `input` and put elements of `source`, in order, where `mask` is true.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    mask : array
        bool, of a shape that broadcasts with `input`'s; in place, of one that broadcasts to it.
    source : array
        Of `input`'s dtype, with at least as many elements as `mask` has True; they are taken row by
        row.

    Raises
    ------
    RuntimeError
        For shapes, dtypes, and too few elements.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> mask = np.array([True, False, True])
    >>> strew.torch.masked_scatter(np.zeros((2, 3), int), mask, np.array([1, 2, 3, 4]))
    array([[1, 0, 2],
           [3, 0, 4]])
    """
    if operators := torch_operators(input, source):
        return operators.torch.put.masked_scatter.call(input, mask, source)
    return _masked_scatter(input, mask, source)


def masked_scatter_(
    input: Array,
    mask: ArrayLike,
    source: ArrayLike,
) -> Array:
    """`masked_scatter` in place.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([1, 2, 3])
    >>> strew.torch.masked_scatter_(x, np.array([False, True, True]), np.array([8, 9])) is x
    True
    >>> x
    array([1, 8, 9])
    """
    if operators := torch_operators(input, source):
        return operators.torch.put.masked_scatter.call_(input, mask, source)
    return _masked_scatter_in_place(input, mask, source)


def index_put(
    input: Array | Numbers,
    indices: Sequence[ArrayLike | None],
    values: ArrayLike,
    accumulate: bool = False,
) -> Array:
    """Copy `input` and put `values` where `indices` point: ``input[indices] = values``.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    indices : tuple of array or None
        For each of the first axes an int32 or int64 array, or None for the whole axis; arrays are
        broadcast together. A bool array takes the place of as many axes as it has, and selects
        where it is True. Negative indices count from the end.
    values : array
        Of `input`'s dtype; broadcast to the shape of the selection.
    accumulate : bool, default False
        Whether elements are added to their cells. If False they replace them, and the last of
        several stays.

    Raises
    ------
    IndexError
        For indices of a wrong number, dtype, shape or value.
    RuntimeError
        For everything else.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([[1, 2, 3], [4, 5, 6]])
    >>> strew.torch.index_put(x, (None, np.array([-1, 0])), np.array([70, 80]))
    array([[80,  2, 70],
           [80,  5, 70]])
    >>> strew.torch.index_put(x, (x > 3,), np.array(10), accumulate=True)
    array([[ 1,  2,  3],
           [14, 15, 16]])
    """
    if operators := torch_operators(input, values):
        return operators.torch.put.index_put.call(input, indices, values, accumulate)
    return _index_put(input, indices, values, accumulate)


def index_put_(
    input: Array,
    indices: Sequence[ArrayLike | None],
    values: ArrayLike,
    accumulate: bool = False,
) -> Array:
    """`index_put` in place.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([1, 2, 3])
    >>> strew.torch.index_put_(x, (np.array([0, 0]),), np.array([5, 6]), accumulate=True) is x
    True
    >>> x
    array([12,  2,  3])
    """
    if operators := torch_operators(input, values):
        return operators.torch.put.index_put.call_(input, indices, values, accumulate)
    return _index_put_in_place(input, indices, values, accumulate)
