"""Types of arguments and results.

Only type checkers read them: modules import them under ``TYPE_CHECKING``, and nothing is defined
at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias

    import numpy as np

    # `typing` has type variables with defaults only from Python 3.13 on.
    from typing_extensions import TypeVar

    class SupportsDLPack(Protocol):
        """An array of any library that speaks DLPack."""

        def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
        def __dlpack_device__(self) -> tuple[Any, int]: ...

    class SupportsArray(Protocol):
        """What NumPy makes an array of: columns and labelled arrays of other libraries."""

        def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray[Any, Any]: ...

    class Frame(Protocol):
        """A data frame of pandas or Polars, or a table of pyarrow."""

        @property
        def columns(self) -> Any: ...

    # Numbers, and lists and tuples of them, of any depth: they become NumPy arrays.
    Numbers: TypeAlias = bool | int | float | complex | np.generic | Sequence["Numbers"]

    # Anything that is read.
    ArrayLike: TypeAlias = SupportsDLPack | SupportsArray | np.ndarray[Any, Any] | Numbers

    # The group of each value; in a tuple one key for each axis of the result.
    Keys: TypeAlias = ArrayLike | tuple[ArrayLike, ...]

    # How many groups there are; in a tuple, of each key.
    Sizes: TypeAlias = SupportsIndex | Sequence[SupportsIndex | None]

    # A list of integers, or a 1-d array of them.
    Integers: TypeAlias = Sequence[SupportsIndex] | SupportsDLPack | np.ndarray[Any, Any]

    # A number, or an array of one.
    Scalar: TypeAlias = complex | np.generic | np.ndarray[Any, Any] | SupportsDLPack

    # What an index means that names no cell.
    Mode: TypeAlias = Literal["error", "wrap", "drop", "clip"]

    # What goes in comes out; lists come out as NumPy arrays.
    Array = TypeVar(
        "Array",
        bound=SupportsDLPack | np.ndarray[Any, Any],
        default=np.ndarray[Any, Any],
    )

    # The same for values that may be of any kind of docs/inputs.md.
    Values = TypeVar(
        "Values",
        bound=SupportsDLPack | SupportsArray | np.ndarray[Any, Any],
        default=np.ndarray[Any, Any],
    )
