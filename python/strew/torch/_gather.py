"""``gather`` and ``take_along_dim``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._arrays.dispatch import torch_operators
from .._strew import Operator

if TYPE_CHECKING:
    from typing import SupportsIndex

    from .._native.types import Array, ArrayLike, Numbers

_gather = Operator("torch.gather")
_take_along_dim = Operator("torch.take_along_dim")


def gather(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    *,
    sparse_grad: bool = False,
) -> Array:
    """The elements of `input` that `index` names along `dim`.

    For three dimensions and ``dim=0``: ``out[i, j, k] = input[index[i, j, k], j, k]``.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    dim : int
        The axis that `index` points along; negative from the end.
    index : array
        int32 or int64, in ``0 .. input.shape[dim] - 1``. As many dimensions as `input` (0-d counts
        as 1-d), no larger than `input` apart from `dim`. An empty one of any dtype gives an empty
        result.
    sparse_grad : bool, default False
        Accepted, without effect.

    Returns
    -------
    array
        Of `index`'s shape and `input`'s dtype.

    Raises
    ------
    IndexError
        If `dim` is not an axis.
    RuntimeError
        For everything else: shapes, dtypes, an index out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.torch.gather(np.array([[1, 2], [3, 4]]), 1, np.array([[0, 0], [1, 0]]))
    array([[1, 1],
           [4, 3]])
    """
    if operators := torch_operators(input):
        return operators.torch.scatter.gather.call(input, dim, index)
    return _gather(input, dim, index, sparse_grad)


def take_along_dim(
    input: Array | Numbers,
    indices: ArrayLike,
    dim: SupportsIndex | None = None,
) -> Array:
    """The elements of `input` that `indices` name along `dim`, both broadcast apart from `dim`.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    indices : array
        int64, of as many dimensions as `input`; negative indices count from the end.
    dim : int, optional
        The axis that `indices` point along. None: `input` is taken as one row of its elements; then
        `indices` may also be int32, may have any shape, and must not be negative.

    Raises
    ------
    IndexError
        If `dim` is not an axis.
    RuntimeError
        For everything else: shapes, dtypes, an index out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([[10, 30, 20], [60, 40, 50]])
    >>> strew.torch.take_along_dim(x, np.array([[1], [0]]), 1)
    array([[30],
           [60]])
    >>> strew.torch.take_along_dim(x, np.array([5, 0]))
    array([50, 10])
    """
    if operators := torch_operators(input):
        return operators.torch.scatter.take_along_dim.call(input, indices, dim)
    return _take_along_dim(input, indices, dim)
