from typing import Literal

from .._types import Array, ArrayLike, Integers, Numbers
from . import geometric as geometric

__all__ = [
    "gather",
    "gather_nd",
    "geometric",
    "index_add",
    "index_fill",
    "put_along_axis",
    "scatter",
    "scatter_nd",
    "scatter_nd_add",
    "take_along_axis",
]

def scatter(
    x: Array | Numbers,
    index: ArrayLike,
    updates: ArrayLike,
    overwrite: bool = True,
) -> Array: ...
def scatter_nd(
    index: Array | Numbers,
    updates: ArrayLike,
    shape: Integers,
) -> Array: ...
def scatter_nd_add(x: Array | Numbers, index: ArrayLike, updates: ArrayLike) -> Array: ...
def put_along_axis(
    arr: Array | Numbers,
    indices: ArrayLike,
    values: ArrayLike,
    axis: int,
    reduce: Literal["assign", "add", "mul", "multiply", "mean", "amax", "amin"] = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Array: ...
def index_add(
    x: Array | Numbers,
    index: ArrayLike,
    axis: int,
    value: ArrayLike,
) -> Array: ...
def index_fill(
    x: Array | Numbers,
    index: ArrayLike,
    axis: int,
    value: complex,
) -> Array: ...
def gather(x: Array | Numbers, index: ArrayLike, axis: int | None = None) -> Array: ...
def gather_nd(x: Array | Numbers, index: ArrayLike) -> Array: ...
def take_along_axis(
    arr: Array | Numbers,
    indices: ArrayLike,
    axis: int,
    broadcast: bool = True,
) -> Array: ...
