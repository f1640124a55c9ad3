from collections.abc import Sequence
from types import EllipsisType
from typing import Literal, TypeAlias

from .._types import Array, ArrayLike, Numbers
from . import ops as ops

__all__ = [
    "at_add",
    "at_divide",
    "at_get",
    "at_max",
    "at_min",
    "at_multiply",
    "at_set",
    "at_subtract",
    "ops",
]

_One: TypeAlias = ArrayLike | slice | EllipsisType
_Index: TypeAlias = _One | Sequence[_One | None]
_Mode: TypeAlias = Literal["drop", "fill", "clip", "promise_in_bounds"]

def at_set(
    x: Array | Numbers, indices: _Index, y: ArrayLike, *, mode: _Mode | None = None
) -> Array: ...
def at_add(
    x: Array | Numbers, indices: _Index, y: ArrayLike, *, mode: _Mode | None = None
) -> Array: ...
def at_subtract(
    x: Array | Numbers, indices: _Index, y: ArrayLike, *, mode: _Mode | None = None
) -> Array: ...
def at_multiply(
    x: Array | Numbers, indices: _Index, y: ArrayLike, *, mode: _Mode | None = None
) -> Array: ...
def at_divide(
    x: Array | Numbers, indices: _Index, y: ArrayLike, *, mode: _Mode | None = None
) -> Array: ...
def at_min(
    x: Array | Numbers, indices: _Index, y: ArrayLike, *, mode: _Mode | None = None
) -> Array: ...
def at_max(
    x: Array | Numbers, indices: _Index, y: ArrayLike, *, mode: _Mode | None = None
) -> Array: ...
def at_get(
    x: Array | Numbers,
    indices: _Index,
    *,
    mode: _Mode | None = None,
    fill_value: complex | None = None,
) -> Array: ...
