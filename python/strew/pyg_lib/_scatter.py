"""Reductions of elements that share an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import torch_scatter as ts
from . import _shared

if TYPE_CHECKING:
    from typing import Any, Literal, SupportsIndex

    from .._native.types import Array, ArrayLike, Numbers


@_shared.same(ts.scatter_sum)
def scatter_sum() -> None:
    """Sum the elements of `src` that share an index along `dim`; see the module.

    `scatter_add` is the same function. Groups without elements are 0. 16-bit floats accumulate in
    float32 and are rounded once; integers wrap.

    >>> import strew
    >>> strew.pyg_lib.scatter_sum([1, 2, 4], [1, 0, 1])
    array([2, 5])
    """


scatter_add = scatter_sum


def scatter_mul(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """Multiply the elements of `src` that share an index along `dim`; see the module.

    Groups without elements are 1, also if `src` is empty.

    >>> import strew
    >>> strew.pyg_lib.scatter_mul([2, 3, 4], [2, 0, 2])
    array([3, 1, 8])
    """
    if out is None and dim_size is not None and 0 in _shared.as_array(src).shape:
        return _ones(src, index, dim, dim_size)
    return _shared.run("scatter_mul", ts.scatter_mul, src, index, dim, out, dim_size)


def _ones(src: Any, index: Any, dim: Any, dim_size: Any) -> Any:
    """Products of no elements: torch_scatter's are 0."""
    values = _shared.as_array(src)
    found = _shared.run("scatter_mul", ts.scatter_mul, values, index, dim, None, dim_size)
    arrays = _shared.of(found)
    return _shared.like(src, arrays.where(found == 0, arrays.ones_like(found), found))


@_shared.same(ts.scatter_mean)
def scatter_mean() -> None:
    """Average the elements of `src` that share an index along `dim`; see the module.

    Groups without elements are 0. Means of integers are rounded down. With `out` it is
    ``(out + sum) / max(count, 1)``, where `count` is the number of `src`'s elements.

    >>> import strew
    >>> strew.pyg_lib.scatter_mean([1.0, 2.0, 4.0], [2, 0, 2])
    array([2. , 0. , 2.5])
    """


@_shared.same(ts.scatter_min)
def scatter_min() -> None:
    """Find the smallest element of each group, and its position along `dim`; see the module.

    Returns ``(values, arg)``; `arg` is int64. Of equal elements the first wins, and NaN never does.
    A group without a winner has value 0 and position ``src.shape[dim]``. So does a group whose
    minimum is infinity or the dtype's largest finite value. Where the value in `out` is not beaten,
    the position is ``src.shape[dim]`` too.

    >>> import strew
    >>> strew.pyg_lib.scatter_min([3, 1, 2, 1], [0, 2, 0, 2])
    (array([2, 0, 1]), array([2, 4, 1]))
    """


@_shared.same(ts.scatter_max)
def scatter_max() -> None:
    """Find the largest element of each group, and its position along `dim`; see `scatter_min`.

    >>> import strew
    >>> strew.pyg_lib.scatter_max([3, 1, 2, 1], [0, 2, 0, 2])
    (array([3, 0, 1]), array([0, 4, 1]))
    """


def scatter(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    reduce: Literal["sum", "add", "mul", "mean", "min", "max"] = "sum",
) -> Array:
    """Reduce the elements of `src` that share an index along `dim`.

    `reduce` is "sum" (or "add"), "mul", "mean", "min" or "max"; for the other arguments and the
    exceptions see the module. Values are those of the function of that name.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> src = np.array([[2.0, 0.0, 1.0, 4.0, 3.0], [0.0, 2.0, 1.0, 3.0, 4.0]])
    >>> strew.pyg_lib.scatter(src, [1, 0, 1, 0, 1], dim_size=3, reduce="max")
    array([[4., 3., 0.],
           [3., 4., 0.]])
    """
    if reduce == "mul":
        return scatter_mul(src, index, dim, out, dim_size)
    return _shared.run("scatter", ts.scatter, src, index, dim, out, dim_size, reduce)
