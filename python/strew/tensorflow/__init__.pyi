from typing import Literal

from .._types import Array, ArrayLike, Integers, Numbers
from . import math as math

__all__ = [
    "gather_nd",
    "math",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd",
    "scatter_sub",
    "scatter_update",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
]

def gather_nd(
    params: Array | Numbers,
    indices: ArrayLike,
    batch_dims: int = 0,
    bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "DEFAULT",
) -> Array: ...
def scatter_nd(
    indices: Array | Numbers,
    updates: ArrayLike,
    shape: Integers,
    bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "DEFAULT",
) -> Array: ...
def scatter_update(ref: Array, indices: ArrayLike, updates: ArrayLike) -> Array: ...
def scatter_add(ref: Array, indices: ArrayLike, updates: ArrayLike) -> Array: ...
def scatter_sub(ref: Array, indices: ArrayLike, updates: ArrayLike) -> Array: ...
def scatter_mul(ref: Array, indices: ArrayLike, updates: ArrayLike) -> Array: ...
def scatter_div(ref: Array, indices: ArrayLike, updates: ArrayLike) -> Array: ...
def scatter_min(ref: Array, indices: ArrayLike, updates: ArrayLike) -> Array: ...
def scatter_max(ref: Array, indices: ArrayLike, updates: ArrayLike) -> Array: ...
def tensor_scatter_nd_update(
    tensor: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "DEFAULT",
) -> Array: ...
def tensor_scatter_nd_add(
    tensor: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "DEFAULT",
) -> Array: ...
def tensor_scatter_nd_sub(
    tensor: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "DEFAULT",
) -> Array: ...
def tensor_scatter_nd_min(
    tensor: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "DEFAULT",
) -> Array: ...
def tensor_scatter_nd_max(
    tensor: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "DEFAULT",
) -> Array: ...
