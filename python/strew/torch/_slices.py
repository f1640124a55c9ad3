"""``slice_scatter`` and ``select_scatter``: slices without an index array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._dispatch import torch_operators
from .._strew import Operator

if TYPE_CHECKING:
    from typing import SupportsIndex

    from .._types import Array, ArrayLike, Numbers

__all__ = ["select_scatter", "slice_scatter"]

_slice_scatter = Operator("torch.slice_scatter")
_select_scatter = Operator("torch.select_scatter")


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
