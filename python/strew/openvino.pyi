from typing import Literal

from ._types import Array, ArrayLike, Integers, Numbers

__all__ = [
    "gather",
    "gather_elements",
    "gather_nd",
    "scatter_elements_update",
    "scatter_nd_update",
    "scatter_update",
    "slice_scatter",
]

def slice_scatter(
    data: Array | Numbers,
    updates: ArrayLike,
    start: Integers,
    stop: Integers,
    step: Integers,
    axes: Integers | None = None,
) -> Array: ...
def scatter_elements_update(
    data: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    axis: int,
    reduction: Literal["none", "sum", "prod", "min", "max", "mean"] = "none",
    use_init_val: bool = True,
) -> Array: ...
def scatter_nd_update(
    data: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    reduction: Literal["none", "sum", "sub", "prod", "min", "max"] = "none",
) -> Array: ...
def scatter_update(
    data: Array | Numbers, indices: ArrayLike, updates: ArrayLike, axis: int
) -> Array: ...
def gather(data: Array | Numbers, indices: ArrayLike, axis: int, batch_dims: int = 0) -> Array: ...
def gather_elements(data: Array | Numbers, indices: ArrayLike, axis: int) -> Array: ...
def gather_nd(data: Array | Numbers, indices: ArrayLike, batch_dims: int = 0) -> Array: ...
