"""Types of arguments and results, for type checkers only."""

from collections.abc import Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias

import numpy as np
from typing_extensions import TypeVar

class SupportsDLPack(Protocol):
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...

# Numbers, and lists and tuples of them, of any depth: they become NumPy arrays.
Numbers: TypeAlias = bool | int | float | complex | np.generic | Sequence[Numbers]

# Anything that is read.
ArrayLike: TypeAlias = SupportsDLPack | np.ndarray[Any, Any] | Numbers

# A list of integers, or a 1-d array of them.
Integers: TypeAlias = Sequence[SupportsIndex] | SupportsDLPack | np.ndarray[Any, Any]

# What goes in comes out; lists come out as NumPy arrays.
Array = TypeVar(
    "Array",
    bound=SupportsDLPack | np.ndarray[Any, Any],
    default=np.ndarray[Any, Any],
)
