from typing import Literal

from ._types import Array, ArrayLike, Integers, Numbers

__all__ = [
    "scatter",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd",
    "scatter_nd_add",
    "scatter_nd_div",
    "scatter_nd_max",
    "scatter_nd_min",
    "scatter_nd_mul",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
    "tensor_scatter_add",
    "tensor_scatter_div",
    "tensor_scatter_elements",
    "tensor_scatter_max",
    "tensor_scatter_min",
    "tensor_scatter_mul",
    "tensor_scatter_sub",
    "tensor_scatter_update",
]

def scatter_add(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_sub(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_mul(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_div(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_max(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_min(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_update(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_nd(
    indices: Array | Numbers,
    updates: ArrayLike,
    shape: Integers,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_nd_add(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_nd_sub(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_nd_mul(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_nd_div(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_nd_max(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_nd_min(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def scatter_nd_update(
    input_x: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def tensor_scatter_add(
    input_x: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def tensor_scatter_sub(
    input_x: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def tensor_scatter_mul(
    input_x: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def tensor_scatter_div(
    input_x: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def tensor_scatter_max(
    input_x: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def tensor_scatter_min(
    input_x: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def tensor_scatter_update(
    input_x: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    device: Literal["cpu", "gpu"] = "cpu",
) -> Array: ...
def tensor_scatter_elements(
    input_x: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    axis: int = 0,
    reduction: Literal["none", "add"] = "none",
) -> Array: ...
def scatter(input: Array | Numbers, axis: int, index: ArrayLike, src: ArrayLike) -> Array: ...
