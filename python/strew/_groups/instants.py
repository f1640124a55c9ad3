"""Aggregates of dates and durations: datetime64 and timedelta64 as the integers that they are.

Means and medians are exact, and cut off toward zero to the unit of the values, as pandas does. Its
own are of floats, which do not hold nanoseconds of our time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._arrays import times
from .._native import errors
from .reduce import of_arrays

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from .long_line import LongLine

    _Array: TypeAlias = np.ndarray[Any, Any]

# Results that are a time of the values' dtype, and are one of the values.
_PICKED = tuple("min max first last nth mode topk cummin cummax".split())
_MOVED = ("shift", "assign")
_SUMS = ("sum", "cumsum")
# Results that are made of several values.
_BETWEEN = ("mean", "median", "quantile")
# Results that are durations.
_SPREADS = ("std", "sem")
# Results that are numbers or flags.
_NUMBERS = tuple("len count nunique anynan allnan argmin argmax argtopk rank cumcount".split())


def defined(dtype: Any) -> tuple[str, ...]:
    """The reductions that dates or durations have."""
    sums = _SUMS if dtype.kind == "m" else ()
    return (*_PICKED, *sums, *_BETWEEN, *_SPREADS, *_NUMBERS, *_MOVED[:1], "sort", "argsort")


def _between(part: _Array, method: str | None) -> _Array:
    """How far a quantile is from the value below its place, which is `part` away."""
    if method == "lower":
        return np.zeros_like(part)
    if method == "higher":
        return np.ceil(part)
    if method == "midpoint":
        return np.where(part == 0, 0.0, 0.5)
    return part


class Times:
    """Reductions of a long line of dates or durations, which it holds as integers."""

    def __init__(self, line: LongLine, dtype: Any, unit_of_days: str | None = None) -> None:
        """`unit_of_days` is the unit of durations between days, if it is another one."""
        self.line, self.dtype = line, dtype
        unit, multiple = np.datetime_data(dtype)
        # The dtype of durations, and how many of its units are one of the values'.
        self.spread, self.finer = np.dtype(f"m8[{multiple}{unit}]"), 1
        if unit == "D" and unit_of_days:
            self.spread = np.dtype(f"m8[{multiple}{unit_of_days}]")
            self.finer = 86_400 * {"s": 1, "ms": 1000}[unit_of_days]
        call = line.call
        for name, given in (("dtype", call.dtype), ("weights", call.weights)):
            if given is not None:
                raise errors.Problem(TypeError, call.operator, name).saying(
                    f"{name} cannot be combined with values of {dtype}"
                )

    def check(self, name: str) -> None:
        """Refuses a reduction that is not defined, and options that do not fit it."""
        call = self.line.call
        if name != "assign" and name not in defined(self.dtype):
            raise errors.Problem(TypeError, call.operator, "reduce", name).saying(
                f"reduce = {name!r} is not defined for {self.dtype}, but these are: "
                f"{', '.join(defined(self.dtype))}"
            )
        if name in _BETWEEN or name in _SPREADS:
            nothing = np.zeros(0)
            options = call.options | {"fill_value": None, "exact": False}
            of_nothing = np.zeros(0, np.int64)
            of_arrays(nothing, of_nothing, [name], 0, 0, "error", None, None, None, options)

    def made(self, name: str) -> tuple[_Array, _Array | None]:
        """The result of a reduction, and where it has no value."""
        self.check(name)
        line = self.line
        if name in ("anynan", "allnan"):
            shown = np.where(line.missing, np.nan, 0.0)
            return line.as_called(shown, name, line.rows), None
        if name in ("len", "cumcount"):
            of_all = name == "cumcount" or not line.call.options["skipna"]
            rows = line.rows if of_all else line.present
            return line.as_called(line.values, name, rows), None
        if name == "argsort":
            return line.sorted(name)[0], None
        if name in _NUMBERS:
            numbers = line.as_called(line.values, name, line.present)
            return numbers, line.without_value(name)
        dtype = self.dtype
        if name in _SPREADS:
            dtype = self.spread
        given = line.call.options["fill_value"]
        fill = None if given is None else times.fill(line.call.operator, given, dtype)
        values, missing = self._numbers(name, fill)
        if missing is not None and fill is not None and name not in ("sort", *_MOVED):
            values, missing = np.where(missing, fill, values), None
        return values.astype(np.int64, copy=False).view(dtype), missing

    def _numbers(self, name: str, fill: int | None) -> tuple[_Array, _Array | None]:
        """The integers of a result that is a date or a duration, and where it has no value."""
        line = self.line
        if name in _MOVED:
            return line.moved(name, fill)
        if name == "sort":
            return line.sorted(name, fill)
        if name in _SPREADS:
            return self._spread(name)
        if name in _BETWEEN:
            starts, members = line.members(line.present)
            counts = np.diff(starts)
            enough = counts >= max(line.call.options["min_count"], 1)
            if name == "mean":
                return self._mean(counts), ~enough
            if name == "median":
                return self._median(starts[:-1], members, counts), ~enough
            q = line.call.options["q"]
            several = [self._quantile(starts[:-1], members, counts, one) for one in np.ravel(q)]
            made = np.stack(several) if np.ndim(q) else several[0]
            return made, np.broadcast_to(~enough, made.shape)
        if name in _SUMS:
            self._sum(name)
        made = line.as_called(line.values, name, line.present, fill_value=fill)
        return made, line.without_value(name)

    def _mean(self, counts: _Array) -> _Array:
        """Exact means: the values are sums of two halves, whose own sums do not overflow."""
        line = self.line
        if counts.max(initial=0) >= 2**31:
            raise errors.Problem(ValueError, line.call.operator, "src").saying(
                f"a group has {counts.max()} values of {self.dtype}: for their mean they must "
                "be fewer than 2**31"
            )
        high = line.plain(line.values >> 32, "sum", line.present)
        low = line.plain(line.values & 0xFFFFFFFF, "sum", line.present)
        counts = np.maximum(counts, 1)
        whole, rest = np.divmod(high, counts)
        # Below 2^31 values of a group, this is below 2^64.
        rest = (rest.astype(np.uint64) << np.uint64(32)) + low.astype(np.uint64)
        below, left = np.divmod(rest, counts.astype(np.uint64))
        means = (whole << 32) + below.astype(np.int64)
        return means + ((means < 0) & (left > 0))

    def _ordered(self, members: _Array) -> _Array:
        """The values group by group, in ascending order."""
        line = self.line
        return line.plain(line.values, "sort", line.present)[members]

    def _median(self, starts: _Array, members: _Array, counts: _Array) -> _Array:
        if not len(members):
            return np.zeros(len(counts), np.int64)
        ordered = self._ordered(members)
        last = len(ordered) - 1
        below = ordered[np.minimum(starts + np.maximum(counts - 1, 0) // 2, last)]
        above = ordered[np.minimum(starts + counts // 2, last)]
        # The sum of both may overflow.
        odd = (below ^ above) & 1
        middle = (below >> 1) + (above >> 1) + (below & above & 1)
        return middle + ((middle < 0) & (odd == 1))

    def _quantile(self, starts: _Array, members: _Array, counts: _Array, q: float) -> _Array:
        if not len(members):
            return np.zeros(len(counts), np.int64)
        ordered = self._ordered(members)
        place = q * np.maximum(counts - 1, 0)
        if self.line.call.options["method"] == "nearest":
            place = np.rint(place)
        at = place.astype(np.int64)
        last = len(ordered) - 1
        below = ordered[np.minimum(starts + at, last)]
        next_ = np.minimum(at + 1, np.maximum(counts - 1, 0))
        above = ordered[np.minimum(starts + next_, last)]
        # The difference of two integers of 64 bits may need one bit more.
        apart = (above.view(np.uint64) - below.view(np.uint64)).astype(np.float64)
        further = _between(place - at, self.line.call.options["method"]) * apart
        whole = further.astype(np.uint64)
        made = (below.view(np.uint64) + whole).view(np.int64)
        return made + ((made < 0) & (further > whole))

    def _spread(self, name: str) -> tuple[_Array, _Array | None]:
        """Of the differences from the first value of the group, which floats hold."""
        line = self.line
        first = line.plain(line.values, "first", line.present)
        kept = line.present >= 0
        values, first = line.values[kept], first[line.present[kept]]
        apart = np.zeros(len(line.values))
        # The difference of two integers of 64 bits may need one bit more.
        above = (values.view(np.uint64) - first.view(np.uint64)).astype(np.float64)
        below = (first.view(np.uint64) - values.view(np.uint64)).astype(np.float64)
        apart[kept] = np.where(values >= first, above, -below) * self.finer
        found = line.as_called(apart, name, line.present, fill_value=np.nan)
        missing = np.isnan(found)
        self._refuse(name, found >= 2.0**63)
        return np.where(missing, 0, found).astype(np.int64), missing

    def _refuse(self, name: str, beyond: _Array) -> None:
        """Raises if a result does not fit 64 bits."""
        if beyond.any():
            unit = np.datetime_data(self.dtype)[0]
            what = "duration" if name in _SPREADS else self.dtype
            raise errors.Problem(OverflowError, self.line.call.operator, "src").saying(
                f"the {name} of a group (result {beyond.argmax()}) is beyond what a {what} of "
                f"64 bits in the unit {unit!r} holds: convert the values to a longer unit first"
            )

    def _sum(self, name: str) -> None:
        """Refuses sums that do not fit 64 bits."""
        line = self.line
        values = line.values[line.present >= 0]
        largest = max(abs(int(values.max(initial=0))), abs(int(values.min(initial=0))))
        if largest * len(values) < 2**63:
            return
        high = line.plain(line.values >> 32, name, line.present)
        low = line.plain(line.values & 0xFFFFFFFF, name, line.present)
        total = high + (low >> 32)
        smallest = (total == -(2**31)) & (low & 0xFFFFFFFF == 0)
        beyond = (total < -(2**31)) | (total >= 2**31) | smallest
        if name == "cumsum":
            beyond &= line.present >= 0
        self._refuse(name, beyond)
