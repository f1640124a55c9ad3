from typing import Any, final

__all__ = [
    "Buffer",
    "Operator",
    "__version__",
    "_noop",
    "get_memory_limit",
    "get_num_threads",
    "operators",
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
    def returns(self) -> list[str]: ...
    def __call__(self, *values: Any) -> Any: ...

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

def _noop(*values: Any) -> None: ...
def operators() -> list[str]: ...
def set_num_threads(n: int | None, /) -> None: ...
def get_num_threads() -> int: ...
def set_memory_limit(bytes: int | None, /) -> None: ...
def get_memory_limit() -> int | None: ...
