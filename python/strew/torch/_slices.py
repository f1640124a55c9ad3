"""Parts that are replaced without an index array: slices, diagonals, strided elements."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from .._arrays.dispatch import torch_operators
from .._strew import Operator

if TYPE_CHECKING:
    from typing import Any, SupportsIndex

    from .._native.types import Array, ArrayLike, Integers, Numbers

_slice_scatter = Operator("torch.slice_scatter")
_select_scatter = Operator("torch.select_scatter")
_diagonal_scatter = Operator("torch.diagonal_scatter")
_as_strided_scatter = Operator("torch.as_strided_scatter")


def slice_scatter(
    input: Array | Numbers,
    src: ArrayLike,
    dim: SupportsIndex = 0,
    start: SupportsIndex | None = None,
    end: SupportsIndex | None = None,
    step: SupportsIndex = 1,
) -> Array:
    """Copy `input` and replace the slice ``start:end:step`` along `dim` by `src`.

    Parameters
    ----------
    input : array
        Any dtype, at least one dimension.
    src : array
        Of exactly the slice's shape, and of `input`'s dtype or one that converts to it without
        loss.
    dim : int, default 0
        The sliced axis; negative from the end.
    start, end : int, optional
        As in a Python slice: negative ones count from the end, and both are clamped.
    step : int, default 1
        Positive.

    Raises
    ------
    IndexError
        If `dim` is not an axis.
    RuntimeError
        For everything else.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.torch.slice_scatter(np.zeros(5, int), np.array([1, 2]), start=-4, step=2)
    array([0, 1, 0, 2, 0])
    """
    if operators := torch_operators(input, src):
        return operators.torch.slices.slice_scatter.call(input, src, dim, start, end, step)
    return _slice_scatter(input, src, dim, start, end, step)


def select_scatter(
    input: Array | Numbers,
    src: ArrayLike,
    dim: SupportsIndex,
    index: SupportsIndex,
) -> Array:
    """Copy `input` and replace the slice at `index` along `dim` by `src`.

    Parameters
    ----------
    input : array
        Any dtype, at least one dimension.
    src : array
        Of `input`'s shape without `dim`, and of `input`'s dtype or one that converts to it without
        loss.
    dim, index : int
        Negative ones count from the end.

    Raises
    ------
    IndexError
        If `dim` or `index` is out of range, or `input` is 0-d.
    RuntimeError
        For everything else.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.torch.select_scatter(np.array([[1, 2], [3, 4]]), np.array([5, 6]), 1, -1)
    array([[1, 5],
           [3, 6]])
    """
    if operators := torch_operators(input, src):
        return operators.torch.slices.select_scatter.call(input, src, dim, index)
    return _select_scatter(input, src, dim, index)


def diagonal_scatter(
    input: Array | Numbers,
    src: ArrayLike,
    offset: SupportsIndex = 0,
    dim1: SupportsIndex = 0,
    dim2: SupportsIndex = 1,
) -> Array:
    """Copy `input` and replace a diagonal of `dim1` and `dim2` by `src`.

    Parameters
    ----------
    input : array
        Any dtype, at least two dimensions.
    src : array
        Of the diagonal's shape: `input`'s other axes, and the diagonal as the last one. Of
        `input`'s dtype or one that converts to it without loss.
    offset : int, default 0
        Which diagonal: above the main one if positive, below it if negative.
    dim1, dim2 : int
        The axes of its rows and columns; negative from the end.

    Raises
    ------
    IndexError
        If `dim1` or `dim2` is not an axis.
    RuntimeError
        For everything else.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.torch.diagonal_scatter(np.zeros((2, 3), int), np.array([1, 2]), 1)
    array([[0, 1, 0],
           [0, 0, 2]])
    """
    if operators := torch_operators(input, src):
        return operators.torch.slices.diagonal_scatter.call(input, src, offset, dim1, dim2)
    return _diagonal_scatter(input, src, offset, dim1, dim2)


def as_strided_scatter(
    input: Array | Numbers,
    src: ArrayLike,
    size: Integers,
    stride: Integers,
    storage_offset: SupportsIndex | None = None,
) -> Array:
    """Copy `input` and replace the elements of ``input.as_strided(size, stride)`` by `src`.

    Parameters
    ----------
    input : array
        Any shape and dtype. Its elements must lie row by row in memory.
    src : array
        Of the shape `size`, and of `input`'s dtype or one that converts to it without loss. Where
        several elements have one position, the last one stays.
    size, stride : sequence of int
        The shape of the part, and the distance of neighbours along each of its axes, in elements.
        Distances are not negative, and not 0 where there are several.
    storage_offset : int, optional
        The position of the part's first element in the memory of a torch tensor, and in `input` of
        all others. By default that of `input`'s first element.

    Raises
    ------
    RuntimeError
        For everything that does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.torch.as_strided_scatter(np.zeros((2, 3), int), np.array([1, 2]), (2,), (4,), 1)
    array([[0, 1, 0],
           [0, 0, 2]])
    """
    offset: Any = 0 if storage_offset is None else storage_offset
    if storage_offset is not None and hasattr(input, "storage_offset"):
        offset = operator.index(storage_offset) - input.storage_offset()
    if operators := torch_operators(input, src):
        return operators.torch.slices.as_strided_scatter.call(input, src, size, stride, offset)
    return _as_strided_scatter(input, src, size, stride, offset)
