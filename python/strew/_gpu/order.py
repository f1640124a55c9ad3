"""Order statistics of groups, and others that need all values of a group, on a device.

```text
key = an integer for each value, in the order of the values: NaN last, -0.0 equal to 0.0
at = the positions of the values, sorted by key and then by group; both sorts are stable
the value of rank r of group g = the value at at[starts[g] + r]
```

A line has the values at one place of the other axes; all lines have the same groups. Values without
a group form one more group behind the others. Cost: two sorts of all values, three of complex ones.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import torch

from .arithmetic import signed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from torch import Tensor

    from .along import Groups

    #: Results of groups or of values, and which of them are none.
    Found = tuple[Tensor, Tensor | None]

_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Lines:
    """The values of a call, with the axis of the groups behind all others, which are one."""

    def __init__(self, groups: Groups, src: Tensor, dim: int, skips: bool, counts: Tensor) -> None:
        self.src, self.dim, self.skips, self.size = src, dim, skips, groups.size
        self.length = src.shape[dim]
        self.lead = [size for axis, size in enumerate(src.shape) if axis != dim]
        self.values, self.nan = self.of(signed(src)), self.of(src.isnan())
        #: How many values of each group count.
        self.counts = self.of(counts)
        every = groups.every
        assert every.order is not None
        #: The positions of the values, group by group; the group of each; where groups begin.
        self.members, self.rows, self.starts = every.order, groups.rows, every.starts
        self.row_of_place = self.rows[self.members]
        self.places = torch.arange(self.length, device=src.device)
        self.begins, self.ends = self.starts[self.row_of_place], every.ends[self.row_of_place]

    def of(self, tensor: Tensor) -> Tensor:
        """A tensor of the shape of values or results as lines."""
        return tensor.movedim(self.dim, -1).reshape(-1, tensor.shape[self.dim])

    def back(self, found: Tensor, more: int) -> Tensor:
        """The inverse, with one more axis behind that of the groups, or one in front (-1)."""
        if more < 0:
            return torch.stack([self.back(one, 0) for one in found])
        found = found.reshape(*self.lead, *found.shape[1:])
        source = range(found.dim() - 1 - more, found.dim())
        target = range(self.dim, self.dim + 1 + more)
        return found.movedim(tuple(source), tuple(target)).contiguous()

    @cached_property
    def keys(self) -> list[Tensor]:
        """Integers in the order of the values; of complex numbers those of both parts."""
        if not self.src.is_complex():
            return [_filled(self.of(_key(self.src)), self.nan)]
        return [_filled(self.of(_key(part)), self.nan) for part in (self.src.real, self.src.imag)]

    def best_first(self, largest: bool) -> list[Tensor]:
        """Keys by which the best values come first: NaN is the best one, or skipped and last."""
        keys = [~key for key in self.keys] if largest else self.keys
        return [_filled(key, self.nan, last=self.skips) for key in keys]

    def sorted(self, keys: Sequence[Tensor], grouped: bool = True) -> Tensor:
        """The positions of the values in ascending order of the keys, group by group."""
        if grouped and not keys:
            return self.members.expand(self.values.shape)
        rows = self.rows.to(torch.int32) if self.size < 2**31 else self.rows
        at = None
        for key in [*reversed(keys), *([rows.expand(self.values.shape)] if grouped else [])]:
            key = key if at is None else key.gather(-1, at)
            step = torch.sort(key, dim=-1, stable=True).indices
            at = step if at is None else at.gather(-1, step)
        assert at is not None
        return at

    @cached_property
    def ascending(self) -> Tensor:
        return self.sorted(self.keys)

    @cached_property
    def runs(self) -> Tensor:
        """Whether another value than the one before begins at a place in ascending order."""
        new = torch.ones_like(self.values, dtype=torch.bool)
        new[:, 1:] = self.row_of_place[1:] != self.row_of_place[:-1]
        for key in self.keys:
            ordered = key.gather(-1, self.ascending)
            new[:, 1:] |= ordered[:, 1:] != ordered[:, :-1]
        return new

    @cached_property
    def counted_runs(self) -> Tensor:
        """The same of values that count."""
        return self.runs & ~self.nan.gather(-1, self.ascending) if self.skips else self.runs

    def run_ends(self) -> Tensor:
        """The place behind the run of each place."""
        later = torch.where(self.runs, self.places, self.length)
        later = torch.nn.functional.pad(later[:, 1:], (0, 1), value=self.length)
        return later.flip(-1).cummin(-1).values.flip(-1)

    def at(self, positions: Tensor, ranks: Tensor) -> Tensor:
        """The positions of the values of some ranks of each group; any where there is none."""
        starts = self.starts[: self.size]
        starts = starts if ranks.dim() == 2 else starts[:, None]
        places = (starts + ranks).clamp(0, self.length - 1)
        return positions.gather(-1, places.flatten(1)).reshape(places.shape)

    def pick(self, positions: Tensor) -> Tensor:
        """The values at positions, which may have axes behind that of the groups."""
        found = self.values.gather(-1, positions.flatten(1)).reshape(positions.shape)
        return found.view(self.src.dtype)

    def first(self, positions: Tensor) -> Tensor:
        """The position that is the first of each group."""
        return self.at(positions, torch.zeros_like(self.counts))

    def spread(self, of_groups: Tensor) -> Tensor:
        """Flags of groups, as those of their values; true of values in none."""
        flags = torch.nn.functional.pad(self.of(of_groups), (0, 1), value=True)
        return flags[:, self.rows]

    def to_values(self, of_places: Tensor) -> Tensor:
        """Results of places, group by group, as results of the values there."""
        bits = signed(of_places)
        return torch.empty_like(bits).index_copy_(-1, self.members, bits).view(of_places.dtype)


def _key(values: Tensor) -> Tensor:
    if values.is_floating_point():
        bits = (values + 0.0).view(_BITS[values.dtype.itemsize])
        return bits ^ ((bits >> (8 * values.dtype.itemsize - 1)) & torch.iinfo(bits.dtype).max)
    if values.dtype in (torch.bool, torch.uint8):
        return values.to(torch.int16)
    same = signed(values)
    return same if same is values else same ^ torch.iinfo(same.dtype).min


def _filled(key: Tensor, where: Tensor, last: bool = True) -> Tensor:
    """Keys that are the last ones, or the first ones, at some places."""
    of = torch.iinfo(key.dtype)
    return key.masked_fill(where, of.max if last else of.min)


def _midpoint(low: Tensor, high: Tensor) -> Tensor:
    half = torch.finfo(torch.float64).max / 2
    small = (low.abs() <= half) & (high.abs() <= half)
    return torch.where(small, (low + high) / 2, low / 2 + high / 2)


def _on_the_line(low: Tensor, high: Tensor, part: Tensor) -> Tensor:
    apart = high - low
    near = torch.where(part >= 0.5, high - apart * (1 - part), low + apart * part)
    return torch.where(apart.isfinite(), near, low * (1 - part) + high * part)


def _between(lines: Lines, q: float, method: str | None) -> Tensor:
    """A quantile; without a method the median, for which zeros of both signs are two values."""
    last = (lines.counts - 1).clamp(min=0)
    at = q * last.to(torch.float64)
    rounded = {"lower": torch.floor, "higher": torch.ceil, "nearest": torch.round}.get(method or "")
    at = at if rounded is None else rounded(at)
    below = at.floor()
    part = at - below
    rank = torch.minimum(below.to(torch.int64), last)
    ranks = (rank, torch.minimum(rank + 1, last), last)
    low, high, most = (
        lines.pick(lines.at(lines.ascending, one)).to(torch.float64) for one in ranks
    )
    one = part == 0 if method is None else (part == 0) | (low == high)
    middle = method in (None, "midpoint")
    found = _midpoint(low, high) if middle else _on_the_line(low, high, part)
    return torch.where(most.isnan(), most, torch.where(one, low, found))


def _median(lines: Lines, options: dict[str, Any]) -> Found:
    return _between(lines, 0.5, None), None


def _quantile(lines: Lines, options: dict[str, Any]) -> Found:
    q, method = options.get("q", 0.5), options.get("method") or "linear"
    if isinstance(q, list):
        return torch.stack([_between(lines, one, method) for one in q]), None
    return _between(lines, q, method), None


def _mode(lines: Lines, options: dict[str, Any]) -> Found:
    # The largest number is that of the longest run, and of several that of the first.
    length, most = lines.run_ends() - lines.places, lines.length + 1
    score = torch.where(lines.counted_runs, length * most + lines.length - lines.places, 0)
    cells = score.new_zeros(len(score), lines.size + 1)
    best = cells.scatter_reduce_(-1, lines.row_of_place.expand(score.shape), score, "amax")
    places = lines.length - best[:, : lines.size] % most
    return lines.pick(lines.ascending.gather(-1, places.clamp(max=lines.length - 1))), None


def _nunique(lines: Lines, options: dict[str, Any]) -> Found:
    new = lines.counted_runs.to(torch.int64)
    cells = new.new_zeros(len(new), lines.size + 1)
    return cells.scatter_add_(-1, lines.row_of_place.expand(new.shape), new)[:, : lines.size], None


def _nth(lines: Lines, options: dict[str, Any]) -> Found:
    n = max(-lines.length - 1, min(options.get("n", 0), lines.length))
    rank = lines.counts + n if n < 0 else torch.full_like(lines.counts, n)
    # The values that count come first.
    keys = [lines.nan.to(torch.int8)] if lines.skips else []
    none = (rank < 0) | (rank >= lines.counts)
    return lines.pick(lines.at(lines.sorted(keys), rank)), none


def _top_positions(lines: Lines, options: dict[str, Any]) -> Found:
    largest = options.get("largest", True)
    positions = lines.sorted(lines.best_first(True)) if largest else lines.ascending
    ranks = torch.arange(options.get("k", 1), device=positions.device)
    counts = lines.counts[..., None]
    return lines.at(positions, ranks.expand(*lines.counts.shape, -1)), ranks >= counts


def _top(lines: Lines, options: dict[str, Any]) -> Found:
    positions, none = _top_positions(lines, options)
    return lines.pick(positions), none


def _sort(lines: Lines, options: dict[str, Any]) -> Found:
    return lines.to_values(lines.pick(lines.ascending)), None


def _argsort(lines: Lines, options: dict[str, Any]) -> Found:
    return lines.to_values(lines.ascending), None


def _rank(lines: Lines, options: dict[str, Any]) -> Found:
    method, new = options.get("method"), lines.runs
    first = torch.where(new, lines.places, 0).cummax(-1).values - lines.begins + 1
    last = lines.run_ends() - lines.begins
    if method == "dense":
        numbers = new.to(torch.int64).cumsum(-1)
        ranks = numbers - numbers.gather(-1, lines.begins.expand(numbers.shape)) + 1
    elif method == "ordinal":
        ranks = (lines.places - lines.begins + 1).expand(first.shape)
    else:
        ranks = {"min": first, "max": last}.get(method or "", (first + last).to(torch.float64) / 2)
    found = ranks.to(torch.float64)
    none = lines.nan if lines.skips else None
    return torch.empty_like(found).scatter_(-1, lines.ascending, found), none


def _cumcount(lines: Lines, options: dict[str, Any]) -> Found:
    counts = torch.ones_like(lines.values, dtype=torch.int64)
    if lines.skips:
        counts = (~lines.nan).to(torch.int64)[:, lines.members]
    before = counts.cumsum(-1) - counts
    return lines.to_values(before - before[:, lines.begins]), None


def _shift(lines: Lines, options: dict[str, Any]) -> Found:
    periods = max(-lines.length, min(options.get("periods", 1), lines.length))
    source = lines.places - periods
    none = (source < lines.begins) | (source >= lines.ends)
    moved = lines.members[source.clamp(0, lines.length - 1)].expand(lines.values.shape)
    return lines.to_values(lines.pick(moved)), lines.to_values(none.expand(moved.shape))


def _extreme(largest: bool) -> Callable[[Lines, dict[str, Any]], Found]:
    def statistic(lines: Lines, options: dict[str, Any]) -> Found:
        return lines.pick(lines.first(lines.sorted(lines.best_first(largest)))), None

    return statistic


def _arg(largest: bool) -> Callable[[Lines, dict[str, Any]], Found]:
    def statistic(lines: Lines, options: dict[str, Any]) -> Found:
        at = lines.first(lines.sorted(lines.best_first(largest)))
        return at, lines.nan.gather(-1, at)

    return statistic


def _running(largest: bool) -> Callable[[Lines, dict[str, Any]], Found]:
    def statistic(lines: Lines, options: dict[str, Any]) -> Found:
        # The best value has the largest number; of equal ones the first has a larger one.
        best = lines.sorted(lines.best_first(largest), grouped=False)
        numbers = torch.empty_like(best).scatter_(-1, best, lines.places.flip(0).expand(best.shape))
        # Those of the next group are larger.
        numbers = lines.row_of_place * lines.length + numbers[:, lines.members]
        so_far = numbers.cummax(-1).values % lines.length
        at = lines.to_values(best.gather(-1, lines.length - 1 - so_far))
        return lines.pick(at), lines.nan.gather(-1, at) if lines.skips else None

    return statistic


STATISTICS: dict[str, Callable[[Lines, dict[str, Any]], Found]] = {
    "median": _median,
    "quantile": _quantile,
    "mode": _mode,
    "nunique": _nunique,
    "nth": _nth,
    "topk": _top,
    "argtopk": _top_positions,
    "sort": _sort,
    "argsort": _argsort,
    "rank": _rank,
    "cumcount": _cumcount,
    "shift": _shift,
    "cummin": _running(False),
    "cummax": _running(True),
}

#: The same of complex numbers, which folds do not compare.
OF_COMPLEX = {
    "min": _extreme(False),
    "max": _extreme(True),
    "argmin": _arg(False),
    "argmax": _arg(True),
}
