from typing import Any, Literal, SupportsIndex

from ._types import Array, ArrayLike, Numbers

__all__ = [
    "gather_coo",
    "gather_csr",
    "scatter",
    "scatter_add",
    "scatter_log_softmax",
    "scatter_logsumexp",
    "scatter_max",
    "scatter_mean",
    "scatter_min",
    "scatter_mul",
    "scatter_softmax",
    "scatter_std",
    "scatter_sum",
    "segment_add_coo",
    "segment_add_csr",
    "segment_coo",
    "segment_csr",
    "segment_max_coo",
    "segment_max_csr",
    "segment_mean_coo",
    "segment_mean_csr",
    "segment_min_coo",
    "segment_min_csr",
    "segment_sum_coo",
    "segment_sum_csr",
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
def scatter_std(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    unbiased: bool = True,
) -> Array: ...
def scatter_logsumexp(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    eps: float = 1e-12,
) -> Array: ...
def scatter_softmax(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    dim_size: SupportsIndex | None = None,
) -> Array: ...
def scatter_log_softmax(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    eps: float = 1e-12,
    dim_size: SupportsIndex | None = None,
) -> Array: ...
def segment_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    reduce: Literal["sum", "add", "mean", "min", "max"] = "sum",
) -> Array: ...
def segment_sum_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array: ...
def segment_add_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array: ...
def segment_mean_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array: ...
def segment_min_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> tuple[Array, Any]: ...
def segment_max_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> tuple[Array, Any]: ...
def segment_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
    reduce: Literal["sum", "add", "mean", "min", "max"] = "sum",
) -> Array: ...
def segment_sum_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
) -> Array: ...
def segment_add_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
) -> Array: ...
def segment_mean_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
) -> Array: ...
def segment_min_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
) -> tuple[Array, Any]: ...
def segment_max_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
) -> tuple[Array, Any]: ...
def gather_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
) -> Array: ...
def gather_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
) -> Array: ...
def install(pyg: bool = False) -> None: ...
def uninstall() -> None: ...
