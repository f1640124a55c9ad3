from typing import Any, Literal, SupportsIndex, TypeAlias

from ._strew import Plan
from ._types import Array, ArrayLike, Numbers

__all__ = ["gather", "scatter"]

_Mode: TypeAlias = Literal["error", "wrap", "drop", "clip"]

def scatter(
    src: Array | Numbers,
    index: ArrayLike | None,
    dim: SupportsIndex = -1,
    *,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    reduce: str = "sum",
    mode: _Mode = "error",
    include_self: bool = True,
    fill_value: Any = None,
    ignore_index: int | None = None,
    plan: Plan | None = None,
) -> Array: ...
def gather(
    src: Array | Numbers,
    index: ArrayLike | None,
    dim: SupportsIndex = -1,
    *,
    mode: _Mode = "error",
    fill_value: Any = None,
    ignore_index: int | None = None,
    plan: Plan | None = None,
) -> Array: ...
