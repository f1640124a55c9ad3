"""Series of Polars."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..._native import errors
from ._held import Groups, Held, Kind, Made, mask

_Array: TypeAlias = np.ndarray[Any, Any]


def reader(kind: type) -> Callable[[str, str, Any], Held] | None:
    return read if issubclass(kind, sys.modules["polars"].Series) else None


class _Polars(Kind):
    nullable = True
    unit_of_days = "ms"

    def __init__(self, given: Any) -> None:
        self.given = given

    def out(self, made: Made, groups: Groups) -> Any:
        if made.values.ndim != 1:
            return made.masked()
        pl: Any = sys.modules["polars"]
        values = made.values
        is_time, is_duration = values.dtype.kind in "mM", values.dtype.kind == "m"
        if is_duration and np.datetime_data(values.dtype)[0] not in ("ms", "us", "ns"):
            # Polars has no durations of days.
            values = values.astype("m8[ms]")
        series = pl.Series(self.given.name, values.view(np.int64) if is_time else values)
        if made.missing is not None and made.missing.any():
            series = series.set(pl.Series(made.missing), None)
        if not is_time:
            return series
        if is_duration:
            return series.cast(pl.Duration(np.datetime_data(values.dtype)[0]))
        return series.cast(self.given.dtype)

    def part(self, places: _Array, axis: int) -> Any:
        return self.given.gather(places)


def read(operator: str, name: str, given: Any) -> Held:
    pl: Any = sys.modules["polars"]
    dtype = given.dtype
    missing = given.is_null().to_numpy() if given.null_count() else None
    time = _time(dtype)
    if time is not None:
        values = given.to_physical().fill_null(0).to_numpy()
        values = values.astype(np.int64, copy=False).view(time)
        missing = mask(np.isnat(values) | (False if missing is None else missing))
        return Held(values, missing, _Polars(given))
    if str(dtype) in ("Int128", "UInt128") or not (
        dtype.is_integer() or dtype.is_float() or dtype == pl.Boolean
    ):
        raise errors.Problem(TypeError, operator, name).saying(
            f"{name} has the type {dtype} of Polars",
            "it must be of numbers, bools, dates or durations",
        )
    if missing is not None:
        given_or_zero = given.fill_null(False if dtype == pl.Boolean else 0)
        return Held(given_or_zero.to_numpy(), missing, _Polars(given))
    return Held(given.to_numpy(), None, _Polars(given))


def _time(dtype: Any) -> Any:
    """NumPy's dtype for dates and durations; None for other values."""
    pl: Any = sys.modules["polars"]
    if isinstance(dtype, pl.Datetime):
        return np.dtype(f"M8[{dtype.time_unit}]")
    if isinstance(dtype, pl.Duration):
        return np.dtype(f"m8[{dtype.time_unit}]")
    return np.dtype("M8[D]") if dtype == pl.Date else None
