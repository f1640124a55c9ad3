from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np

from ._strew import Plan
from ._types import Array, ArrayLike, Numbers, SupportsDLPack

__all__ = [
    "gather",
    "index_add",
    "index_add_",
    "index_copy",
    "index_copy_",
    "index_fill",
    "index_fill_",
    "index_put",
    "index_put_",
    "index_reduce",
    "index_reduce_",
    "masked_scatter",
    "masked_scatter_",
    "put",
    "put_",
    "scatter",
    "scatter_",
    "scatter_add",
    "scatter_add_",
    "scatter_reduce",
    "scatter_reduce_",
    "scatter_reduce_with_arg",
    "segment_reduce",
    "select_scatter",
    "slice_scatter",
    "take_along_dim",
]

_Reduce: TypeAlias = Literal["sum", "prod", "mean", "amax", "amin"]
_Mode: TypeAlias = Literal["error", "wrap", "drop", "clip"]
_Scalar: TypeAlias = complex | np.generic | np.ndarray[Any, Any] | SupportsDLPack

def scatter(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike | None = None,
    *,
    value: _Scalar | None = None,
    reduce: Literal["add", "multiply"] | None = None,
    mode: _Mode = "error",
    plan: Plan | None = None,
) -> Array: ...
def scatter_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike | None = None,
    *,
    value: _Scalar | None = None,
    reduce: Literal["add", "multiply"] | None = None,
    mode: _Mode = "error",
    plan: Plan | None = None,
) -> Array: ...
def scatter_add(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike,
    *,
    mode: _Mode = "error",
    plan: Plan | None = None,
) -> Array: ...
def scatter_add_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike,
    *,
    mode: _Mode = "error",
    plan: Plan | None = None,
) -> Array: ...
def scatter_reduce(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike,
    reduce: _Reduce,
    *,
    include_self: bool = True,
    mode: _Mode = "error",
    plan: Plan | None = None,
) -> Array: ...
def scatter_reduce_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike,
    reduce: _Reduce,
    *,
    include_self: bool = True,
    mode: _Mode = "error",
    plan: Plan | None = None,
) -> Array: ...
def scatter_reduce_with_arg(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike,
    reduce: Literal["amax", "amin"],
    *,
    include_self: bool = True,
) -> tuple[Array, Array]: ...
def gather(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    *,
    sparse_grad: bool = False,
) -> Array: ...
def take_along_dim(
    input: Array | Numbers,
    indices: ArrayLike,
    dim: SupportsIndex | None = None,
) -> Array: ...
def index_add(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    source: ArrayLike,
    *,
    alpha: _Scalar = 1,
) -> Array: ...
def index_add_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    source: ArrayLike,
    *,
    alpha: _Scalar = 1,
) -> Array: ...
def index_reduce(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    source: ArrayLike,
    reduce: Literal["prod", "mean", "amax", "amin"],
    *,
    include_self: bool = True,
) -> Array: ...
def index_reduce_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    source: ArrayLike,
    reduce: Literal["prod", "mean", "amax", "amin"],
    *,
    include_self: bool = True,
) -> Array: ...
def index_copy(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    source: ArrayLike,
) -> Array: ...
def index_copy_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    source: ArrayLike,
) -> Array: ...
def index_fill(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    value: _Scalar,
) -> Array: ...
def index_fill_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    value: _Scalar,
) -> Array: ...
def put(
    input: Array | Numbers,
    index: ArrayLike,
    source: ArrayLike,
    accumulate: bool = False,
) -> Array: ...
def put_(
    input: Array,
    index: ArrayLike,
    source: ArrayLike,
    accumulate: bool = False,
) -> Array: ...
def masked_scatter(
    input: Array | Numbers,
    mask: ArrayLike,
    source: ArrayLike,
) -> Array: ...
def masked_scatter_(
    input: Array,
    mask: ArrayLike,
    source: ArrayLike,
) -> Array: ...
def index_put(
    input: Array | Numbers,
    indices: Sequence[ArrayLike | None],
    values: ArrayLike,
    accumulate: bool = False,
) -> Array: ...
def index_put_(
    input: Array,
    indices: Sequence[ArrayLike | None],
    values: ArrayLike,
    accumulate: bool = False,
) -> Array: ...
def slice_scatter(
    input: Array | Numbers,
    src: ArrayLike,
    dim: SupportsIndex = 0,
    start: SupportsIndex | None = None,
    end: SupportsIndex | None = None,
    step: SupportsIndex = 1,
) -> Array: ...
def select_scatter(
    input: Array | Numbers,
    src: ArrayLike,
    dim: SupportsIndex,
    index: SupportsIndex,
) -> Array: ...
def segment_reduce(
    data: Array | Numbers,
    reduce: Literal["sum", "prod", "mean", "max", "min", "amax", "amin"],
    *,
    lengths: ArrayLike | None = None,
    indices: ArrayLike | None = None,
    offsets: ArrayLike | None = None,
    axis: SupportsIndex = 0,
    unsafe: bool = False,
    initial: _Scalar | None = None,
) -> Array: ...
