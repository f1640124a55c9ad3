from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any, Literal, SupportsIndex, TypeAlias, final

import numpy as np
from typing_extensions import disjoint_base

from ._native.types import Array, ArrayLike, Numbers

__all__ = [
    "Accumulator",
    "Buffer",
    "Operator",
    "Plan",
    "__version__",
    "_accumulator_from_bytes",
    "_after_fork",
    "_aggregate",
    "_before_fork",
    "_command",
    "_groups",
    "_instruction_set",
    "_join_keys",
    "_members",
    "_noop",
    "_number_keys",
    "_number_strings",
    "_per_value",
    "_plan_from_bytes",
    "_plan_scatter_vjp",
    "_scatter_arg_jvp",
    "_scatter_arg_vjp",
    "_scatter_prod_double_vjp",
    "_scatter_reduce_jvp",
    "_scatter_reduce_vjp",
    "_set_progress",
    "_xla_handler",
    "_xla_layout",
    "get_kept_memory",
    "get_memory_limit",
    "get_num_threads",
    "operators",
    "set_kept_memory",
    "set_memory_limit",
    "set_num_threads",
]

__version__: str

@final
class Operator:
    def __new__(cls, name: str, /) -> Operator: ...
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> list[tuple[str, str, str | None]]: ...
    @property
    def differentiable(self) -> list[str]: ...
    @property
    def returns(self) -> list[str]: ...
    def explain(self, *values: Any) -> str: ...
    def __call__(self, *values: Any) -> Any: ...

@final
class Accumulator:
    def __new__(
        cls,
        size: SupportsIndex | None,
        reduce: str | Sequence[str],
        *,
        dtype: Any = None,
        shape: Sequence[int] = ...,
        mode: Literal["error", "wrap", "drop", "clip"] = "error",
        ignore_index: SupportsIndex | None = None,
        skipna: bool = False,
        min_count: SupportsIndex = 1,
        fill_value: Any = None,
        ddof: float = 0.0,
        exact: bool = False,
        threads: SupportsIndex | None = None,
    ) -> Accumulator: ...
    @property
    def size(self) -> int: ...
    @property
    def reduce(self) -> tuple[str, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def position(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def update(
        self,
        src: Array | Numbers,
        index: ArrayLike | Plan,
        *,
        start: SupportsIndex | None = None,
    ) -> None: ...
    def merge(self, other: Accumulator) -> None: ...
    def result(self) -> tuple[Any, ...]: ...
    def arrays(self) -> dict[str, np.ndarray[Any, Any]]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: Any) -> Accumulator: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> tuple[Any, tuple[Any]]: ...
    def _repr_html_(self) -> str: ...

@final
class Buffer:
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

_Reduce: TypeAlias = Literal[
    "sum",
    "mean",
    "prod",
    "min",
    "max",
    "amin",
    "amax",
    "assign",
    "exact_sum",
    "exact_mean",
]

@disjoint_base
class Plan:
    def __new__(
        cls,
        index: ArrayLike,
        size: SupportsIndex | None = None,
        *,
        mode: Literal["error", "wrap", "drop", "clip"] = "error",
        ignore_index: SupportsIndex | None = None,
        name: str | None = None,
        threads: SupportsIndex | None = None,
    ) -> Plan: ...
    @property
    def size(self) -> int: ...
    @property
    def name(self) -> str | None: ...
    @property
    def is_sorted(self) -> bool: ...
    @property
    def is_unique(self) -> bool: ...
    @property
    def min(self) -> int | None: ...
    @property
    def max(self) -> int | None: ...
    @property
    def max_multiplicity(self) -> int: ...
    @property
    def touched(self) -> int: ...
    @property
    def dropped(self) -> int: ...
    def __len__(self) -> int: ...
    def scatter(
        self,
        src: Array | Numbers,
        reduce: _Reduce = "sum",
        *,
        dim: SupportsIndex = 0,
        axis: SupportsIndex | EllipsisType = ...,
        out: Array | None = None,
        include_self: bool = True,
    ) -> Array: ...
    def scatter_with_arg(
        self,
        src: Array | Numbers,
        reduce: Literal["min", "max"],
        *,
        dim: SupportsIndex = 0,
        axis: SupportsIndex | EllipsisType = ...,
    ) -> tuple[Array, Array]: ...
    def reduce(
        self,
        src: Array | Numbers,
        reduces: Sequence[_Reduce],
        *,
        dim: SupportsIndex = 0,
        axis: SupportsIndex | EllipsisType = ...,
    ) -> tuple[Array, ...]: ...
    def gather(
        self,
        src: Array | Numbers,
        *,
        dim: SupportsIndex = 0,
        axis: SupportsIndex | EllipsisType = ...,
    ) -> Array: ...
    def explain(
        self,
        shape: Sequence[int],
        dtype: Any = None,
        reduce: _Reduce | Sequence[_Reduce] | None = None,
        *,
        dim: SupportsIndex = 0,
        axis: SupportsIndex | EllipsisType = ...,
        measure: bool = True,
    ) -> str: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes) -> Plan: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def __copy__(self) -> Plan: ...
    def __deepcopy__(self, memo: Any) -> Plan: ...
    def _repr_html_(self) -> str: ...

def _accumulator_from_bytes(data: Any, threads: int | None = None, /) -> Accumulator: ...
def _plan_from_bytes(data: bytes, threads: int | None = None, /) -> Plan: ...
def _aggregate(
    groups: Any,
    src: Any,
    reduces: Sequence[str],
    dim: SupportsIndex,
    options: dict[str, Any] | None,
    /,
) -> tuple[Any, ...]: ...
def _plan_scatter_vjp(
    plan: Plan,
    grad: Array,
    input: Array | None,
    src: Array,
    result: Array,
    dim: int,
    reduce: str,
    include_self: bool,
    /,
) -> tuple[Array | None, Array]: ...
def _members(groups: Any, /) -> tuple[Any, Any, int]: ...
def _groups(
    index: Any, size: SupportsIndex | None, mode: str, ignore_index: SupportsIndex | None, /
) -> Any: ...
def _join_keys(columns: list[Any], sizes: list[int], /) -> tuple[Any, Any]: ...
def _number_keys(words: Any, /) -> tuple[Any, Any]: ...
def _number_strings(places: Any, memory: list[Any], missing: Any, /) -> tuple[Any, Any]: ...
def _instruction_set() -> str: ...
def _noop(*values: Any) -> None: ...
def _xla_handler(name: str, /) -> Any: ...
def _xla_layout() -> tuple[list[tuple[str, int]], list[tuple[str, int]]]: ...
def _scatter_reduce_vjp(
    grad: Array,
    dim: int,
    index: Array,
    input: Array | None,
    src: Array | None,
    src_shape: Sequence[int],
    result: Array | None,
    reduce: str,
    include_self: bool,
    to_input: bool,
    to_src: bool,
    /,
) -> tuple[Array | None, Array | None]: ...
def _scatter_reduce_jvp(
    input_tangent: Array,
    src_tangent: Array,
    input: Array,
    dim: int,
    index: Array,
    src: Array,
    result: Array,
    reduce: str,
    include_self: bool,
    /,
) -> Array: ...
def _scatter_prod_double_vjp(
    grad: Array,
    input: Array,
    dim: int,
    index: Array,
    src: Array,
    include_self: bool,
    input_cotangent: Array,
    src_cotangent: Array,
    /,
) -> tuple[Array, Array, Array]: ...
def _scatter_arg_vjp(
    grad: Array, arg: Array, index: Array | None, dim: int, along: int, /
) -> Array: ...
def _scatter_arg_jvp(src_tangent: Array, arg: Array, dim: int, /) -> Array: ...
def _set_progress(
    function: Callable[[int, int], object] | None, /
) -> Callable[[int, int], object] | None: ...
def _before_fork() -> None: ...
def _after_fork() -> None: ...
def _command(words: Sequence[str], /) -> int: ...
def _per_value() -> list[str]: ...
def operators() -> list[str]: ...
def set_num_threads(n: int | None, /) -> None: ...
def get_num_threads() -> int: ...
def set_kept_memory(bytes: int | None, /) -> None: ...
def get_kept_memory() -> int: ...
def set_memory_limit(bytes: int | None, /) -> None: ...
def get_memory_limit() -> int | None: ...
