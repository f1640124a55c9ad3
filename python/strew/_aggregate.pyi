from typing import Any, Literal, SupportsIndex, TypeAlias, overload

from ._strew import Plan
from ._types import Array, ArrayLike, Numbers

_Aggregate: TypeAlias = Literal[
    "sum",
    "prod",
    "sumsq",
    "mean",
    "var",
    "std",
    "min",
    "max",
    "first",
    "last",
    "len",
    "count",
    "nunique",
    "any",
    "all",
    "argmin",
    "argmax",
    "median",
    "quantile",
    "mode",
    "logsumexp",
    "softmax",
    "cumsum",
    "cumprod",
    "cummin",
    "cummax",
    "sort",
]
_Mode: TypeAlias = Literal["error", "wrap", "drop", "clip"]

@overload
def aggregate(
    index: ArrayLike | Plan,
    src: Array | Numbers,
    reduce: _Aggregate = "sum",
    *,
    dim: SupportsIndex = 0,
    size: SupportsIndex | None = None,
    mode: _Mode = "error",
    skipna: bool = False,
    min_count: SupportsIndex = 1,
    fill_value: Any = None,
    ignore_index: int | None = None,
    ddof: float = 0,
    q: float = 0.5,
) -> Array: ...
@overload
def aggregate(
    index: ArrayLike | Plan,
    src: Array | Numbers,
    reduce: list[_Aggregate] | tuple[_Aggregate, ...],
    *,
    dim: SupportsIndex = 0,
    size: SupportsIndex | None = None,
    mode: _Mode = "error",
    skipna: bool = False,
    min_count: SupportsIndex = 1,
    fill_value: Any = None,
    ignore_index: int | None = None,
    ddof: float = 0,
    q: float = 0.5,
) -> tuple[Array, ...]: ...
