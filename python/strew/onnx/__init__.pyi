from typing import Literal

from .._types import Array, ArrayLike, Numbers

__all__ = [
    "gather",
    "gather_elements",
    "gather_nd",
    "scatter",
    "scatter_elements",
    "scatter_nd",
    "tensor_scatter",
]

def scatter_elements(
    data: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    axis: int = 0,
    reduction: Literal["none", "add", "mul", "max", "min"] = "none",
    *,
    opset: int = 18,
) -> Array: ...
def scatter(
    data: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    axis: int = 0,
    *,
    opset: int = 11,
) -> Array: ...
def scatter_nd(
    data: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    reduction: Literal["none", "add", "mul", "max", "min"] = "none",
    *,
    opset: int = 18,
) -> Array: ...
def tensor_scatter(
    past_cache: Array | Numbers,
    update: ArrayLike,
    write_indices: ArrayLike | None = None,
    mode: Literal["linear", "circular"] = "linear",
    axis: int = -2,
    *,
    opset: int = 24,
) -> Array: ...
def gather(
    data: Array | Numbers, indices: ArrayLike, axis: int = 0, *, opset: int = 13
) -> Array: ...
def gather_elements(
    data: Array | Numbers, indices: ArrayLike, axis: int = 0, *, opset: int = 13
) -> Array: ...
def gather_nd(
    data: Array | Numbers, indices: ArrayLike, batch_dims: int = 0, *, opset: int = 13
) -> Array: ...
