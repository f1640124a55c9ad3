"""Reductions of elements that share an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._arrays.dispatch import torch_operators
from .._native.functions import like
from .._strew import Operator

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, SupportsIndex

    from .._native.types import Array, ArrayLike, Numbers

_scatter = Operator("torch_scatter.scatter")
_scatter_sum = Operator("torch_scatter.scatter_sum")
_scatter_min = Operator("torch_scatter.scatter_min")


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
    exceptions see the module. The result has `src`'s dtype and shape, but `dim_size` along `dim`.

    Groups without elements are 0, or 1 for "mul"; if `src` is empty, all are 0.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> src = np.array([[2.0, 0.0, 1.0, 4.0, 3.0], [0.0, 2.0, 1.0, 3.0, 4.0]])
    >>> index = np.array([[4, 5, 4, 2, 3], [0, 0, 2, 2, 1]])
    >>> strew.torch_scatter.scatter(src, index, reduce="sum")
    array([[0., 0., 4., 3., 3., 0.],
           [2., 4., 4., 0., 0., 0.]])
    >>> strew.torch_scatter.scatter(src, [1, 0, 1, 0, 1], dim_size=3, reduce="max")
    array([[4., 3., 0.],
           [3., 4., 0.]])
    """
    if operators := torch_operators(src, out):
        return operators.torch_scatter.scatter.call(src, index, dim, out, dim_size, reduce)
    return _scatter(src, index, dim, out, dim_size, reduce)


def scatter_sum(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """Sum the elements of `src` that share an index along `dim`; see the module.

    16-bit floats accumulate in float32 and are rounded once; integers wrap.

    >>> import strew
    >>> strew.torch_scatter.scatter_sum([1, 2, 4], [1, 0, 1])
    array([2, 5])
    """
    if operators := torch_operators(src, out):
        return operators.torch_scatter.scatter.call(src, index, dim, out, dim_size, "sum")
    return _scatter_sum(src, index, dim, out, dim_size)


def _member(name: str) -> Callable[..., Any]:
    run, reduce = Operator(f"torch_scatter.{name}"), name.removeprefix("scatter_")
    with_arg = reduce in ("min", "max")

    def function(src: Any, index: Any, dim: Any = -1, out: Any = None, dim_size: Any = None) -> Any:
        if operators := torch_operators(src, out):
            scatter = operators.torch_scatter.scatter
            return scatter.call(src, index, dim, out, dim_size, reduce, with_arg)
        return run(src, index, dim, out, dim_size)

    return function


_reduction = like(scatter_sum, _member)


@_reduction
def scatter_add() -> None:
    """`scatter_sum` under its other name.

    >>> import numpy as np
    >>> import strew
    >>> totals = np.array([10, 20])
    >>> strew.torch_scatter.scatter_add([1, 2, 4], [1, 0, 1], out=totals) is totals
    True
    >>> totals
    array([12, 25])
    """


@_reduction
def scatter_mul() -> None:
    """Multiply the elements of `src` that share an index along `dim`; see the module.

    >>> import strew
    >>> strew.torch_scatter.scatter_mul([2, 3, 4], [2, 0, 2])
    array([3, 1, 8])
    """


@_reduction
def scatter_mean() -> None:
    """Average the elements of `src` that share an index along `dim`; see the module.

    Means of integers are rounded down. With `out` it is ``(out + sum) / max(count, 1)``, where
    `count` is the number of `src`'s elements.

    >>> import strew
    >>> strew.torch_scatter.scatter_mean([1.0, 2.0, 4.0], [2, 0, 2])
    array([2. , 0. , 2.5])
    """


def scatter_min(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> tuple[Array, Any]:
    """Find the smallest element of each group, and its position along `dim`; see the module.

    Returns ``(out, arg)``; `arg` is int64. Of equal elements the first wins, and NaN never does. A
    group without a winner has value 0 and position ``src.shape[dim]``. So does a group whose
    minimum is infinity or the dtype's largest finite value. Where the value in `out` is not beaten,
    the position is ``src.shape[dim]`` too.

    >>> import strew
    >>> strew.torch_scatter.scatter_min([3, 1, 2, 1], [0, 2, 0, 2])
    (array([2, 0, 1]), array([2, 4, 1]))
    """
    if operators := torch_operators(src, out):
        return operators.torch_scatter.scatter.call(src, index, dim, out, dim_size, "min", True)
    return _scatter_min(src, index, dim, out, dim_size)


@like(scatter_min, _member)
def scatter_max() -> None:
    """Find the largest element of each group, and its position along `dim`; see `scatter_min`.

    >>> import strew
    >>> strew.torch_scatter.scatter_max([3, 1, 2, 1], [0, 2, 0, 2])
    (array([3, 0, 1]), array([0, 4, 1]))
    """
