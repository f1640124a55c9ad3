from typing import Any, Literal, SupportsIndex

from ._types import Array, ArrayLike, Numbers

__all__ = [
    "scatter",
    "scatter_add",
    "scatter_max",
    "scatter_mean",
    "scatter_min",
    "scatter_mul",
    "scatter_sum",
]

def scatter(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    reduce: Literal["sum", "add", "mul", "mean", "min", "max"] = "sum",
) -> Array: ...
def scatter_sum(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array: ...
def scatter_add(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array: ...
def scatter_mul(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array: ...
def scatter_mean(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array: ...
def scatter_min(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> tuple[Array, Any]: ...
def scatter_max(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> tuple[Array, Any]: ...
