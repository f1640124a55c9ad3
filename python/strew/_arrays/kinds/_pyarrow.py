"""Arrays and chunked arrays of pyarrow."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..._native import errors
from ._held import Groups, Held, Kind, Made, mask

_Array: TypeAlias = np.ndarray[Any, Any]


def reader(kind: type) -> Callable[[str, str, Any], Held] | None:
    pa = sys.modules["pyarrow"]
    return read if issubclass(kind, (pa.Array, pa.ChunkedArray)) else None


class _Arrow(Kind):
    nullable = True
    unit_of_days = "s"

    def __init__(self, given: Any) -> None:
        self.given = given

    def out(self, made: Made, groups: Groups) -> Any:
        if made.values.ndim != 1:
            return made.masked()
        pa = sys.modules["pyarrow"]
        array = array_of(made, self.given.type)
        return pa.chunked_array([array]) if isinstance(self.given, pa.ChunkedArray) else array

    def part(self, places: _Array, axis: int) -> Any:
        return self.given.take(sys.modules["pyarrow"].array(places))


def array_of(made: Made, like: Any) -> Any:
    """A result as an array of pyarrow; dates and durations in the type of the values."""
    pa: Any = sys.modules["pyarrow"]
    values, missing = made.values, made.missing
    if values.dtype.kind not in "mM":
        return pa.array(values, mask=missing)
    unit, _ = np.datetime_data(values.dtype)
    if values.dtype.kind == "m":
        if unit not in ("s", "ms", "us", "ns"):
            # Arrow has no durations of days.
            values, unit = values.astype("m8[s]"), "s"
        return pa.array(values.view(np.int64), mask=missing).view(pa.duration(unit))
    numbers = values.view(np.int64)
    if pa.types.is_date32(like):
        return pa.array(numbers.astype(np.int32), mask=missing).view(like)
    return pa.array(numbers, mask=missing).view(like)


def read(operator: str, name: str, given: Any) -> Held:
    values, missing = parts(operator, name, given)
    return Held(values, missing, _Arrow(given))


def parts(operator: str, name: str, given: Any) -> tuple[_Array, _Array | None]:
    """The values of an array of pyarrow, and where they are missing."""
    pa: Any = sys.modules["pyarrow"]
    array = given
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        # Without chunks, or of more than one array holds.
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    missing = None
    if array.null_count:
        missing = array.is_null().to_numpy(zero_copy_only=False)
    dtype = _dtype(array.type)
    if dtype is None:
        raise errors.Problem(TypeError, operator, name).saying(
            f"{name} has the type {array.type} of pyarrow",
            "it must be of numbers, bools, dates or durations",
        )
    if pa.types.is_boolean(array.type):
        # They are bits there.
        return array.fill_null(False).to_numpy(zero_copy_only=False), missing
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(len(array), dtype), missing
    stored = np.dtype(np.int32) if pa.types.is_date32(array.type) else dtype
    values = np.frombuffer(data, stored, len(array), array.offset * stored.itemsize)
    if stored != dtype:
        values = values.astype(np.int64).view(dtype)
    if dtype.kind in "mM":
        # An integer may be that of NaT without being null.
        missing = np.isnat(values) if missing is None else missing | np.isnat(values)
        missing = mask(missing)
    return values, missing


def is_number(kind: Any) -> bool:
    """Whether NumPy has a dtype for a type of pyarrow."""
    return _dtype(kind) is not None


def _dtype(kind: Any) -> Any:
    """NumPy's dtype for a type of pyarrow; None if there is none."""
    types = sys.modules["pyarrow"].types
    if types.is_boolean(kind):
        return np.dtype(bool)
    if types.is_integer(kind) or types.is_floating(kind):
        return np.dtype(kind.to_pandas_dtype())
    if types.is_timestamp(kind):
        return np.dtype(f"M8[{kind.unit}]")
    if types.is_duration(kind):
        return np.dtype(f"m8[{kind.unit}]")
    if types.is_date(kind):
        return np.dtype("M8[D]" if types.is_date32(kind) else "M8[ms]")
    return None
