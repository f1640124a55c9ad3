from types import EllipsisType
from typing import SupportsIndex, TypeAlias

from ._types import Array, ArrayLike, Numbers

__all__ = [
    "absolute",
    "add",
    "bincount",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "divide",
    "floor_divide",
    "fmax",
    "fmin",
    "invert",
    "left_shift",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "power",
    "put_along_axis",
    "right_shift",
    "subtract",
]

_Entry: TypeAlias = ArrayLike | slice | EllipsisType | None

class ufunc:
    __name__: str
    nin: int
    def __init__(self, name: str, nin: int) -> None: ...
    def at(
        self, a: Array, indices: _Entry | tuple[_Entry, ...], b: ArrayLike | None = None
    ) -> Array: ...

absolute: ufunc
add: ufunc
bitwise_and: ufunc
bitwise_or: ufunc
bitwise_xor: ufunc
divide: ufunc
floor_divide: ufunc
fmax: ufunc
fmin: ufunc
invert: ufunc
left_shift: ufunc
logical_and: ufunc
logical_or: ufunc
logical_xor: ufunc
maximum: ufunc
minimum: ufunc
multiply: ufunc
negative: ufunc
power: ufunc
right_shift: ufunc
subtract: ufunc

def put_along_axis(
    arr: Array, indices: ArrayLike, values: ArrayLike, axis: SupportsIndex | None = None
) -> Array: ...
def bincount(
    x: Array | Numbers,
    weights: ArrayLike | None = None,
    minlength: SupportsIndex = 0,
    axis: SupportsIndex | None = None,
    out: Array | None = None,
) -> Array: ...
