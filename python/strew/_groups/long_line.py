"""Values as one long line, of which some are missing: what its reductions are made of.

A missing value is left out of its group: the index says -1 there, and the engine does the rest. So
the values stay as they are. A result without a value is missing too: where the same reduction of
zeros gives its fill value.

```text
present = where(missing, -1, index)
result = reduce(values, present)
missing result = isnan(reduce(zeros, present, fill_value=nan))
```
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .._native import errors
from .._native import options as _options
from .._strew import _groups, _members
from .reduce import PER_VALUE
from .reduce import of_arrays as _of_arrays

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from .._arrays.lines import Lines

    _Array: TypeAlias = np.ndarray[Any, Any]

# Reductions that have a result in any case.
_ALWAYS = frozenset(
    "sum prod sumsq len count nunique any all anynan allnan argmin argmax argtopk argsort "
    "cumcount".split()
)
# Of these, those that are missing if `min_count` is given and not met.
_SUMS = frozenset("sum prod sumsq".split())
# Reductions that have a result if the group has a value. "assign" is the last value.
_OF_ANY_VALUE = frozenset("mean min max first last assign median quantile mode logsumexp".split())
# Reductions of which the number of a group's values says whether they have a result.
_COUNTED = _OF_ANY_VALUE | _SUMS


@dataclass(frozen=True)
class Call:
    """What a function was called with, beside the values.

    `names` are those of `aggregate` for each of `reduces`. One more is "assign": the last value,
    missing or not. `run` makes the results of arrays, with the arguments of `of_arrays`.
    """

    operator: str
    run: Callable[..., tuple[Any, ...]]
    index: Any
    reduces: list[Any]
    names: list[str]
    dim: Any
    size: Any
    mode: Any
    ignore_index: Any
    dtype: Any
    weights: Any
    options: dict[str, Any]

    def of_arrays(self, src: Any) -> tuple[Any, ...]:
        """The results of values that are an array."""
        return self.run(
            src,
            self.index,
            self.reduces,
            self.dim,
            self.size,
            self.mode,
            self.ignore_index,
            self.dtype,
            self.weights,
            dict(self.options),
        )


def names_of(reduces: list[Any]) -> list[str]:
    """The names of reductions; "" for functions."""
    return [
        reduce if isinstance(reduce, str) else "" if callable(reduce) else repr(reduce)
        for reduce in reduces
    ]


def without_value(call: Call, values: _Array) -> list[_Array | None]:
    """Where the result of each reduction has no value; None: nowhere."""
    always = _ALWAYS - _SUMS if call.options["sums_missing"] else _ALWAYS
    wanted = [name for name in dict.fromkeys(call.names) if name not in always]
    if call.options["fill_value"] is not None or not wanted:
        return [None] * len(call.names)
    zeros: _Array = np.broadcast_to(np.float64(0), values.shape)
    if call.options["skipna"] and values.dtype.kind in "fc":
        zeros = np.where(np.isnan(values), np.nan, zeros)
    found: dict[str, _Array] = {}
    if call.weights is None and set(wanted) & _COUNTED:
        # To count is several times as fast as what is below.
        count = replace(call, reduces=["count"], dtype=None, options=_options.PLAIN)
        counts = _aggregates(count, zeros)[0]
        found = {name: _too_few(call, name, counts) for name in set(wanted) & _COUNTED}
    shown = {name: _shows(name, call) for name in wanted if name not in found}
    if shown:
        names = list(dict.fromkeys(shown.values()))
        options = call.options | {"fill_value": np.nan, "exact": False}
        made = _aggregates(replace(call, reduces=names, dtype=None, options=options), zeros)
        nowhere = {name: np.isnan(one) for name, one in zip(names, made, strict=True)}
        found |= {name: nowhere[one] for name, one in shown.items()}
    return [found.get(name) for name in call.names]


def _too_few(call: Call, name: str, counts: _Array) -> _Array:
    """Where groups have too few values for a result."""
    least = call.options["min_count"]
    # Of no values, 0 is enough for a sum.
    nothing: _Array = counts < (least if name in _SUMS else max(least, 1))
    if name == "quantile" and np.ndim(call.options["q"]):
        nothing = np.broadcast_to(nothing, (len(call.options["q"]), *nothing.shape))
    return nothing


def _shows(name: str, call: Call) -> str:
    """The reduction that has a value where another one has: itself, or a faster one."""
    if name in ("rank", "softmax", "sort") and call.options["min_count"] <= 1:
        return "cumsum"
    # What is assigned is the last value.
    return "last" if name == "assign" else name


def _aggregates(call: Call, values: _Array) -> tuple[_Array, ...]:
    """Aggregates of an array, with the arguments of a call."""
    return replace(call, run=_of_arrays).of_arrays(values)


class LongLine:
    """One long line of values, and the groups of all of them and of those that are present."""

    def __init__(self, call: Call, lines: Lines, values: _Array, missing: _Array | None) -> None:
        """`values` and `missing` are of the shape of the lines."""
        self.call, self.total = call, lines.total
        self.values = lines.flat(values)
        shape = self.values.shape
        self.missing = np.zeros(shape, bool) if missing is None else lines.flat(missing)
        # The group of each value, -1 for none.
        self.rows = lines.rows
        self.present = np.where(self.missing, -1, self.rows)
        self.weights = None if call.weights is None else _weights(call, lines)
        if isinstance(call.options["q"], np.ndarray) and lines.size:
            q = np.tile(call.options["q"], (1, lines.total // lines.size))
            self.call = replace(call, options=call.options | {"q": q})

    def as_called(self, values: _Array, name: str, rows: _Array, **changed: Any) -> _Array:
        """An aggregate of some values, with the call's options but for `changed`."""
        options = self.call.options | changed
        made = _of_arrays(values, rows, [name], 0, self.total, "drop", None, None, None, options)
        return np.asarray(made[0])

    def plain(self, values: _Array, name: str, rows: _Array) -> _Array:
        """An aggregate of some values without any option."""
        options = _options.PLAIN
        made = _of_arrays(values, rows, [name], 0, self.total, "drop", None, None, None, options)
        return np.asarray(made[0])

    def reduced(self, reduce: Any, name: str) -> tuple[_Array, _Array | None]:
        """The call's own reduction of the values that are present, and where it has no value."""
        call = replace(self._of_present(), reduces=[reduce])
        if self._is_counted(name):
            # One pass over the values makes both.
            call.reduces.append("count" if call.options["skipna"] else "len")
            made, counts = map(np.asarray, call.of_arrays(self.values))
            return made, _too_few(call, name, counts)
        return np.asarray(call.of_arrays(self.values)[0]), self.without_value(name)

    def _is_counted(self, name: str) -> bool:
        """Whether one call of the engine makes a reduction and says where it has no value."""
        call, options = self.call, self.call.options
        is_plain = call.weights is None and call.dtype is None and options["fill_value"] is None
        has_one = name in _OF_ANY_VALUE or (name in _SUMS and options["sums_missing"])
        of_each = isinstance(options["q"], np.ndarray)
        return has_one and is_plain and not of_each and call.run is _of_arrays

    def without_value(self, name: str) -> _Array | None:
        """Where a reduction of the values that are present has no value."""
        options = self.call.options
        usual = options["min_count"] <= 1 and options["fill_value"] is None
        if name in PER_VALUE and name not in _ALWAYS and usual and not options["skipna"]:
            return self.present < 0
        return without_value(replace(self._of_present(), names=[name]), self.values)[0]

    def _of_present(self) -> Call:
        """The call with the groups of the values that are present."""
        return replace(
            self.call,
            index=self.present,
            dim=0,
            size=self.total,
            mode="drop",
            ignore_index=None,
            weights=self.weights,
        )

    def moved(self, name: str, fill: Any) -> tuple[_Array, _Array]:
        """What "shift" and "assign" copy, missing values too; and where there is none.

        `fill` is the fill value, if one is given.
        """
        values = self.values
        how = "shift" if name == "shift" else "last"
        places = np.arange(len(values))
        places = self.as_called(places, how, self.rows, fill_value=-1, skipna=False)
        none = places < 0
        made = np.append(values, np.zeros(1, values.dtype))[places]
        lost = none | np.append(self.missing, False)[places]
        if fill is None:
            return made, lost
        made[none] = fill
        return made, lost & ~none

    def sorted(self, name: str, fill: Any = None) -> tuple[_Array, _Array]:
        """What "sort" and "argsort" give, with missing values behind all others."""
        made = self.as_called(self.values, name, self.present, fill_value=fill)
        result, lost = made.copy(), self.rows < 0
        if fill is not None:
            lost[:] = False
        counts = self.plain(self.values, "len", self.present)
        result[self._places(self.present, np.zeros_like(counts))] = made[self.present >= 0]
        left_out = self.missing & (self.rows >= 0)
        behind = self._places(np.where(left_out, self.rows, -1), counts)
        lost[behind] = True
        if name == "argsort":
            result[behind] = np.flatnonzero(left_out)
        return result, lost

    def _places(self, rows: _Array, first: _Array) -> _Array:
        """The values of `rows` go to the places of their group from place `first` of it on."""
        kept = rows >= 0
        before = self.plain(self.values, "cumcount", rows)[kept]
        starts, members = self.members(self.rows)
        return members[starts[rows[kept]] + first[rows[kept]] + before]

    def members(self, rows: _Array) -> tuple[_Array, _Array]:
        """Where each group begins in the list of the members of all groups, and that list."""
        starts, members, _ = _members(_groups(rows, self.total, "drop", None))
        return np.asarray(starts), np.asarray(members)


def _weights(call: Call, lines: Lines) -> _Array:
    """The weights as one long line."""
    weights = np.asarray(call.weights)
    shape = weights.shape
    if weights.ndim == 1 and len(weights) == lines.count:
        along = [1] * len(lines.shape)
        along[lines.axis] = lines.count
        weights = weights.reshape(along)
    elif weights.ndim == 1:
        weights = weights.reshape(-1, *lines.shape)
    try:
        return lines.flat(weights)
    except ValueError:
        raise errors.Problem(ValueError, call.operator, "weights", shape).has_shape(
            f"it must have {lines.count} elements, for dimension {lines.axis}, or broadcast "
            f"to src's shape {lines.shape}"
        ) from None
