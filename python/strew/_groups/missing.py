"""Reductions of values of any kind: of those that may be missing, and of dates and durations."""

from __future__ import annotations

import math
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING

import numpy as np

from .._arrays import lines as _lines
from .._arrays.kinds._held import Made, mask
from .._native import errors
from .._strew import Plan
from . import instants, keys
from .long_line import LongLine, without_value
from .reduce import PER_VALUE

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from .._arrays.kinds._held import Held
    from .long_line import Call

    _Array: TypeAlias = np.ndarray[Any, Any]

# Results that are positions of values.
_POSITIONS = frozenset(["argmin", "argmax", "argsort", "argtopk"])


# Reductions of a group for which a missing value is like a NaN that is skipped, and those for which
# it is like a NaN that is a number.
_SKIP = frozenset(
    "sum prod sumsq mean var std sem skew kurt min max first last nth count nunique any all argmin "
    "argmax median quantile mode logsumexp topk argtopk".split()
)
_KEEP = frozenset("len cumcount anynan allnan".split())


def reduced(call: Call, held: Held) -> list[Made]:
    """The result of each reduction, and where it has no value."""
    if not (held.kind.nan_is_missing and call.options["nan_by_kind"]):
        return _reduced(call, held)
    parts: dict[str, list[int]] = {}
    for at, name in enumerate(call.names):
        of_aggregate = call.operator == "aggregate"
        some_missing = call.options["sums_missing"] and name in ("sum", "prod", "sumsq")
        part = (
            "line"
            if some_missing
            else "skip"
            if name in _SKIP
            else "keep"
            if name in _KEEP
            else "line"
        )
        parts.setdefault(part if of_aggregate else "line", []).append(at)
    found: dict[int, Made] = {}
    for part, places in parts.items():
        some = replace(
            call,
            reduces=[call.reduces[at] for at in places],
            names=[call.names[at] for at in places],
            options=call.options | {"skipna": part == "skip", "nan_by_kind": False},
        )
        values = with_nan_missing(held) if part == "line" else held
        found |= zip(places, _reduced(some, values), strict=True)
    return [found[at] for at in range(len(call.names))]


def with_nan_missing(held: Held) -> Held:
    """The same values, of which NaN is missing if its kind has it so."""
    if not held.kind.nan_is_missing or held.values.dtype.kind not in "fc":
        return held
    nan = np.isnan(held.values)
    missing = nan if held.missing is None else nan | held.missing
    return replace(held, missing=mask(missing))


def _reduced(call: Call, held: Held) -> list[Made]:
    shape = held.values.shape
    if not -len(shape) <= call.dim < len(shape):
        raise errors.no_axis(call.operator, call.dim, len(shape))
    call = replace(call, dim=call.dim % len(shape))
    one_for_all = isinstance(call.index, (Plan, tuple)) or np.ndim(call.index) == 1
    is_time = held.values.dtype.kind in "mM"
    if is_time or held.missing is not None or (held.kind.nullable and not one_for_all):
        return _of_lines(call, held)
    results = call.of_arrays(held.values)
    missing: list[Any] = [None] * len(results)
    if held.kind.nullable:
        missing = without_value(call, held.values)
    several = len(call.index) if keys.several(call.index) else 1
    return [
        Made(np.asarray(one), none, _axes(name, len(shape), call.dim, call.options, several))
        for name, one, none in zip(call.names, results, missing, strict=True)
    ]


def _axes(name: str, rank: int, dim: int, options: dict[str, Any], several: int) -> list[int | str]:
    """Which axes of the values the axes of a result are."""
    axes: list[int | str] = list(range(rank))
    if name in PER_VALUE:
        return axes
    axes[dim : dim + 1] = group_axes(several)
    if name in ("topk", "argtopk"):
        axes.insert(dim + several, "k")
    if name == "quantile" and np.ndim(options["q"]):
        axes.insert(0, "quantile")
    return axes


def group_axes(several: int) -> list[str]:
    """The names of the axes of groups, of which there is one for each key."""
    return ["group"] if several == 1 else [f"group_{key}" for key in range(several)]


def _of_lines(call: Call, held: Held) -> list[Made]:
    """The same for values as one long line, of which each line has missing values of its own."""
    shape = held.values.shape
    rows, size, sizes = rows_of(call, shape)
    lines = _lines.Lines(shape, rows, call.dim, size)
    values, times = held.values, None
    if values.dtype.kind in "mM":
        own = values.dtype.newbyteorder("=")
        values = values.astype(own, copy=False).view(np.int64)
    line = LongLine(call, lines, values, held.missing)
    if held.values.dtype.kind in "mM":
        times = instants.Times(line, own, held.kind.unit_of_days)
    found: list[Made] = []
    for reduce, name in zip(call.reduces, call.names, strict=True):
        made, missing = times.made(name) if times else _of_line(line, reduce, name)
        if name in _POSITIONS:
            made = np.where(made < 0, made, made % max(lines.count, 1))
        before = int(name == "quantile" and np.ndim(call.options["q"]) > 0)
        groups = lines.count if name in PER_VALUE else size

        def back(
            one: _Array | None, name: str = name, before: int = before, groups: int = groups
        ) -> Any:
            if one is None:
                return None
            one = lines.back(one, groups, before)
            if sizes is None or name in PER_VALUE:
                return one
            return keys.unfold(one, call.dim + before, sizes)

        axes = _axes(name, len(shape), call.dim, call.options, len(sizes or (1,)))
        found.append(Made(back(made), back(missing), axes))
    return found


def _of_line(line: LongLine, reduce: Any, name: str) -> tuple[_Array, _Array | None]:
    """The result of a reduction, and where it has no value."""
    fill = line.call.options["fill_value"]
    if name in ("shift", "assign"):
        return line.moved(name, fill)
    if name == "sort":
        return line.sorted(name, fill)
    if name == "argsort":
        return line.sorted(name, fill)[0], None
    if name in ("len", "cumcount"):
        of_all = name == "cumcount" or not line.call.options["skipna"]
        return line.as_called(line.values, name, line.rows if of_all else line.present), None
    if name in ("anynan", "allnan"):
        is_nan = np.isnan(line.values) if line.values.dtype.kind in "fc" else False
        shown = np.where(line.missing | is_nan, np.nan, 0.0)
        return line.as_called(shown, name, line.rows), None
    return line.reduced(reduce, name)


def of_present(call: Call, missing: _Array) -> Call:
    """The same call with an index that leaves out missing values: of the shape of the values."""
    call = replace(call, dim=call.dim % missing.ndim)
    rows, _, _ = rows_of(call, missing.shape)
    if rows.ndim == 1:
        along = [1] * missing.ndim
        along[call.dim] = len(rows)
        rows = rows.reshape(along)
    index = np.where(missing, -1, rows)
    return replace(call, index=index, size=None, mode="drop", ignore_index=None)


def rows_of(call: Call, shape: tuple[int, ...]) -> tuple[_Array, int, tuple[int, ...] | None]:
    """The group of each value, -1 for none; how many groups there are; and the sizes of keys."""
    sizes: tuple[int, ...] | None = None
    index = call.index
    if isinstance(index, Plan):
        if call.size is not None or call.mode != "error" or call.ignore_index is not None:
            raise errors.own_of_plan(call.operator)
        rows, size = np.asarray(_lines.plan_as_index(index)), index.size
    elif keys.several(index):
        rows, sizes = keys.rows(call.operator, index, call.size, call.mode, call.ignore_index)
        size = math.prod(sizes)
    else:
        index = np.asarray(index)
        index = index if index.size else index.astype(np.int64)
        found = _inside(call, index)
        if found is not None:
            rows, size = found
            return _of_length(call, shape, rows), size, None
        if index.ndim > 1 and call.operator == "scatter":
            index = _lines.broadcast(call.operator, index, shape)
        flat = index.reshape(-1) if index.shape == shape else index
        plan = Plan(flat, call.size, mode=call.mode, ignore_index=call.ignore_index)
        rows, size = np.asarray(_lines.plan_as_index(plan)).reshape(index.shape), plan.size
    return _of_length(call, shape, rows), size, sizes


def _inside(call: Call, index: _Array) -> tuple[_Array, int] | None:
    """The groups of values and how many there are, if an index has only numbers of groups.

    With "drop" also negative numbers, which are no group. None for other indices, which take a plan
    to read.
    """
    size = call.size
    if index.ndim != 1 or index.dtype.kind not in "iu" or call.ignore_index is not None:
        return None
    if call.mode not in ("error", "wrap", "drop", "clip") or not isinstance(size, (int, NoneType)):
        return None
    last = int(index.max(initial=0)) if len(index) else -1
    size = last + 1 if size is None else size
    if last >= size or size < 0 or (call.mode != "drop" and int(index.min(initial=0)) < 0):
        return None
    return index.astype(np.int64, copy=False), size


def _of_length(call: Call, shape: tuple[int, ...], rows: _Array) -> _Array:
    """The groups, if there is one for each value along the axis."""
    if rows.ndim == 1 and len(rows) != shape[call.dim]:
        raise errors.Problem(ValueError, call.operator, "src", tuple(shape)).saying(
            f"src has shape {list(shape)}: its size along dimension {call.dim} must be {len(rows)}"
        )
    return rows
