from typing import Literal

from ._types import Array, ArrayLike, Integers, Numbers

__all__ = ["backward_gather_nd", "gather_nd", "scatter_nd", "scatter_set_nd"]

def scatter_nd(
    data: Array | Numbers,
    indices: ArrayLike,
    shape: Integers,
    name: str | None = None,
    out: Array | None = None,
    req: Literal["write", "add"] = "write",
) -> Array: ...
def scatter_set_nd(lhs: Array, rhs: ArrayLike, indices: ArrayLike, shape: Integers) -> Array: ...
def gather_nd(
    data: Array | Numbers,
    indices: ArrayLike,
    out: Array | None = None,
    req: Literal["write", "add"] = "write",
) -> Array: ...
def backward_gather_nd(
    data: Array | Numbers,
    indices: ArrayLike,
    shape: Integers,
    out: Array | None = None,
    req: Literal["write", "add"] = "write",
) -> Array: ...
