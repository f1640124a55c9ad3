"""Statistics of groups on a device, with the bits of `strew.aggregate` on the CPU.

Integers and bools are computed in 64 bits, floats in float64, complex numbers in complex128, in the
order of the values, and each result is rounded once. What a group without values gives, and which
dtype a result has, the engine says: it computes the statistic of one empty group.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch

from .._native.errors import Problem
from .._strew import _aggregate, _groups, _per_value
from .along import Along, Groups
from .arithmetic import exp, log, signed, sqrt
from .exact import fold_exactly
from .fold import Reduction, fold, fold_powers, fold_spread, scan, updates_along
from .operators import refusal
from .order import OF_COMPLEX, STATISTICS, Lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from torch import Tensor

_UNSIGNED = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)


@torch.compiler.disable  # type: ignore[untyped-decorator]
def run(
    groups: Groups, src: Tensor, names: Sequence[str], dim: Any, options: dict[str, Any] | None
) -> tuple[Tensor, ...]:
    """The results of `names`; as `_aggregate` on the CPU.

    `torch.compile` leaves it as it is: fused operators have other bits.
    """
    _check(groups, src, names, dim, options)
    given = options or {}
    for name in names:
        if name not in _STATISTICS and name not in STATISTICS:
            raise refusal(f"aggregate: {name}")
    values = _Values(groups, src, dim % src.dim(), given)
    return tuple(values.result(name, options) for name in names)


def _check(groups: Groups, src: Tensor, names: Sequence[str], dim: Any, options: Any) -> None:
    """Raises the engine's errors, of stand-ins."""
    shape = list(src.shape)
    fits = -len(shape) <= dim < len(shape) and shape[dim] == len(groups)
    rows = np.zeros(0 if fits else len(groups), np.int64)
    if fits:
        shape[dim] = 0
    stand_in = torch.zeros((), dtype=src.dtype).expand(shape)
    _aggregate(_groups(rows, 1, "error", None), stand_in, names, dim, options)


class _Values:
    """The values of a call, and what its statistics share."""

    def __init__(self, groups: Groups, src: Tensor, dim: int, options: dict[str, Any]) -> None:
        self.groups, self.src, self.dim, self.options = groups, src, dim, options
        #: Whether the values are floats or complex numbers: only their sums are rounded.
        self.rounds = src.is_floating_point() or src.is_complex()
        self.skips = bool(options.get("skipna")) and self.rounds
        self.exact = bool(options.get("exact"))
        self.ddof = float(options.get("ddof") or 0.0)

    def cells(self, start: Any, dtype: torch.dtype) -> Tensor:
        shape = list(self.src.shape)
        shape[self.dim] = self.groups.size
        return torch.full(shape, start, dtype=dtype, device=self.src.device)

    @cached_property
    def nan(self) -> Tensor:
        return self.src.isnan()

    @cached_property
    def wide(self) -> Tensor:
        """The values in the type of the computation."""
        if self.src.is_complex():
            return self.src.to(torch.complex128)
        if self.src.is_floating_point():
            return self.src.to(torch.float64)
        return self.src.to(torch.uint64 if self.src.dtype in _UNSIGNED else torch.int64)

    def without_nan(self, by: Any) -> Tensor:
        """The values with another one in place of those that are left out."""
        if not self.skips:
            return self.wide
        by = complex(by, by) if self.src.is_complex() and by == 0 else by
        return torch.where(self.nan, torch.full_like(self.wide, by), self.wide)

    def fold(self, values: Tensor, reduction: Reduction, start: Any = 0) -> Tensor:
        """Values folded into new cells."""
        out = self.cells(start, values.dtype)
        fold(out, updates_along(values, self.dim), self.groups.grouping, reduction)
        return out

    def of_groups(self, cells: Tensor) -> Tensor:
        """The cell of each value; any for values in no group."""
        return cells.index_select(self.dim, self.groups.rows.clamp(max=self.groups.size - 1))

    @cached_property
    def counts(self) -> Tensor:
        """How many values each group has that are not left out."""
        if self.skips:
            return self.present
        lengths = self.groups.grouping.counts
        line = lengths.reshape([-1] + [1] * (self.src.dim() - 1 - self.dim))
        return line.expand(self.cells(0, torch.int64).shape)

    @cached_property
    def present(self) -> Tensor:
        """How many values are not NaN."""
        return self.fold((~self.nan).to(torch.int64), Reduction("sum"))

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.groups, self.src, self.dim, self.skips, self.counts)

    def result(self, name: str, options: dict[str, Any] | None) -> Tensor:
        """A statistic, in its dtype, with fill values."""
        empty = _without_values(name, torch.zeros(1, dtype=self.src.dtype), 0, options)
        if self.src.numel() == 0 or self.groups.size == 0:
            # There is nothing but fill values.
            stand_in = torch.zeros(self.src.shape, dtype=self.src.dtype)
            every = _without_values(name, stand_in, self.dim, options, self.groups.size)
            return every.to(self.src.device)
        fill = empty.reshape(-1)[0].to(self.src.device)
        least = int(self.options.get("min_count", 1))
        few = self.counts < max(least, 1)
        if name in ("var", "std", "sem"):
            few = few | (self.counts.to(torch.float64) <= self.ddof)
        elif name in ("skew", "kurt"):
            few = few | (self.counts < (3 if name == "skew" else 4))
        together = {**STATISTICS, **OF_COMPLEX} if self.src.is_complex() else STATISTICS
        if name in together:
            found, none = together[name](self.lines, self.options)
            more = empty.dim() - 1 if name != "quantile" else 1 - empty.dim()
            found = self.lines.back(found, more)
            none = None if none is None else self.lines.back(none, more)
        else:
            found = _STATISTICS[name](self)
            none = found < 0 if name in ("argmin", "argmax") else None
            none = self.nan if name == "softmax" and self.skips else none
        if name in _PER_VALUE:
            few = self.lines.back(self.lines.spread(self.counts < least), 0)
        elif name in ("topk", "argtopk"):
            few = few.unsqueeze(self.dim + 1)
        none = few if none is None else few | none
        found = _narrowed(found, fill.dtype)
        return torch.where(none, signed(fill), signed(found)).view(found.dtype)


#: Statistics with a result for each value.
_PER_VALUE = frozenset(_per_value())


def _without_values(name: str, src: Tensor, dim: int, options: Any, size: int = 1) -> Tensor:
    """The results of the CPU's engine where no value is in a group."""
    groups = _groups(np.full(src.shape[dim], -1), size, "drop", None)
    made: Tensor = _aggregate(groups, src, [name], dim, options)[0]
    return made


def _narrowed(values: Tensor, dtype: torch.dtype) -> Tensor:
    """The values in the dtype of the result, rounded once."""
    if values.dtype == torch.float64 and dtype in (torch.float16, torch.bfloat16):
        # By float32, rounded to odd: then rounding once more rounds as if it were the first time.
        near = values.to(torch.float32)
        bits = near.view(torch.int32)
        beyond = (near.to(torch.float64).abs() > values.abs()).to(torch.int32)
        odd = ((bits - beyond) | 1).view(torch.float32)
        exact = (near.to(torch.float64) == values) | near.isnan()
        return torch.where(exact, near, odd).to(dtype)
    return values.to(dtype)


def _sum(values: _Values) -> Tensor:
    if values.exact and values.rounds:
        return _exact(values, [values.src], values.src.dtype, mean=False)
    return values.fold(values.without_nan(-0.0), Reduction("sum"))


def _exact(values: _Values, parts: list[Tensor], dtype: torch.dtype, mean: bool) -> Tensor:
    """Sums or means, rounded once to a type; each value is given as parts whose sum it is."""
    src, dim, size = values.src, values.dim, values.groups.size
    shape = list(src.shape)
    shape[dim] = size + 1
    out = torch.zeros(shape, dtype=dtype, device=src.device)
    rows = values.groups.rows.reshape([-1 if axis == dim else 1 for axis in range(src.dim())])
    along = Along(shape, dim, rows.expand(src.shape))
    along.grouping = values.groups.every
    counts = None
    if values.skips:
        parts = [torch.where(values.nan, 0, part) for part in parts]
        counts = torch.zeros(shape, dtype=torch.int64, device=src.device)
        counts.narrow(dim, 0, size).copy_(values.counts)
    fold_exactly(along, out, *parts, mean=mean, from_cell=False, counts=counts)
    return out.narrow(dim, 0, size)


def _prod(values: _Values) -> Tensor:
    # A product with 1 changes zeros of complex numbers.
    skips = values.skips and values.src.is_complex()
    given = values.wide if skips else values.without_nan(1)
    return values.fold(given, Reduction("prod", skips_nan=skips), 1)


def _sumsq(values: _Values) -> Tensor:
    if values.exact and values.rounds:
        if values.src.dtype in (torch.float64, torch.complex128):
            raise refusal("aggregate: exact sumsq of float64")
        # A square of these has at most 48 bits.
        wide = values.wide
        parts = (wide.real, wide.imag) if wide.is_complex() else (wide,)
        squares = [part * part for part in parts]
        return _exact(values, squares, values.src.dtype.to_real(), mean=False)
    wide = values.without_nan(-0.0)
    if wide.is_complex():
        return values.fold(wide.real * wide.real + wide.imag * wide.imag, Reduction("sum"))
    # Products wrap in the same way without a sign.
    wide = wide.view(torch.int64) if wide.dtype == torch.uint64 else wide
    return values.fold(wide * wide, Reduction("sum"))


def _mean(values: _Values) -> Tensor:
    if values.exact and values.rounds:
        return _exact(values, [values.src], values.src.dtype, mean=True)
    counts = values.counts.clamp(min=1).to(torch.float64)
    if values.src.is_floating_point():
        return values.fold(values.without_nan(-0.0), Reduction("sum")) / counts
    if values.src.is_complex():
        total = values.fold(values.without_nan(-0.0), Reduction("sum"))
        return torch.complex(total.real / counts, total.imag / counts)
    # Sums of two halves do not wrap, and are added with one rounding.
    bits = values.wide.view(torch.int64) if values.wide.dtype == torch.uint64 else values.wide
    high, low = bits >> 32, bits & 0xFFFFFFFF
    if values.src.dtype == torch.uint64:
        high = high & 0xFFFFFFFF
    if values.exact and (values.src.dtype.itemsize == 8 or values.src.shape[values.dim] > 2**21):
        # The total may be more than 2^53.
        parts = [high.to(torch.float64) * 2.0**32, low.to(torch.float64)]
        return _exact(values, parts, torch.float64, mean=True)
    low = values.fold(low, Reduction("sum"))
    high = values.fold(high, Reduction("sum")) + (low >> 32)
    total = high.to(torch.float64) * 2.0**32 + (low & 0xFFFFFFFF).to(torch.float64)
    return total / counts


def _variance(values: _Values) -> Tensor:
    if values.exact or values.src.is_complex():
        raise refusal("aggregate: deviations of complex numbers, and exact ones")
    squares = values.cells(0, torch.float64)
    wide = values.wide.to(torch.float64)
    fold_spread(squares, updates_along(wide, values.dim), values.groups.grouping, values.skips)
    divisor = values.counts.to(torch.float64) - values.ddof
    return squares / torch.where(divisor > 0, divisor, 1)


def _std(values: _Values) -> Tensor:
    return sqrt(_variance(values))


def _sem(values: _Values) -> Tensor:
    counts = values.counts.clamp(min=1).to(torch.float64)
    return sqrt(_variance(values) / counts)


def _powers(values: _Values) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The counts, and the sums of second, third and fourth powers of differences from the mean."""
    shape = values.cells(0, torch.int64).shape
    sums = torch.zeros((3, *shape), dtype=torch.float64, device=values.src.device)
    wide = values.wide.to(torch.float64)
    fold_powers(sums, updates_along(wide, values.dim), values.groups.grouping, values.skips)
    return values.counts.to(torch.float64), *sums.unbind()


def _skew(values: _Values) -> Tensor:
    n, squares, cubes, _ = _powers(values)
    adjusted = n * sqrt(n - 1.0) / (n - 2.0)
    return torch.where(squares == 0, 0, adjusted * (cubes / (squares * sqrt(squares))))


def _kurt(values: _Values) -> Tensor:
    n, squares, _, fourths = _powers(values)
    rest = (n - 2.0) * (n - 3.0)
    normal = 3.0 * (n - 1.0) * (n - 1.0) / rest
    found = n * (n + 1.0) * (n - 1.0) * fourths / (rest * squares * squares) - normal
    return torch.where(squares == 0, 0, found)


def _extreme(kind: str) -> Callable[[_Values], Tensor]:
    def statistic(values: _Values) -> Tensor:
        src = values.src
        if src.is_complex():
            raise refusal("aggregate: extremes of complex numbers")
        if values.skips:
            src = torch.where(values.nan, torch.inf if kind == "min" else -torch.inf, src)
        return values.fold(src, Reduction(kind))

    return statistic


def _end(kind: str) -> Callable[[_Values], Tensor]:
    """The first or the last value."""

    def statistic(values: _Values) -> Tensor:
        src, dim = values.src, values.dim
        size = src.shape[dim]
        if size == 0:
            return values.cells(0, src.dtype)
        line = torch.arange(size, device=src.device)
        places = line.reshape([-1] + [1] * (src.dim() - 1 - dim)).expand(src.shape)
        if values.skips:
            places = torch.where(values.nan, size if kind == "min" else -1, places)
        at = values.fold(places, Reduction(kind)).clamp(0, size - 1)
        return signed(src).gather(dim, at).view(src.dtype)

    return statistic


def _any(values: _Values) -> Tensor:
    true = signed(values.src) != 0
    return values.fold(true & ~values.nan if values.skips else true, Reduction("sum"), False)


def _all(values: _Values) -> Tensor:
    true = signed(values.src) != 0
    return values.fold(true | values.nan if values.skips else true, Reduction("prod"), True)


def _arg(kind: str) -> Callable[[_Values], Tensor]:
    def statistic(values: _Values) -> Tensor:
        src, dim = values.src, values.dim
        if src.is_complex():
            raise refusal("aggregate: positions of complex numbers")
        out, arg = values.cells(0, src.dtype), values.cells(-1, torch.int64)
        reduction = Reduction(f"strict_{kind}", first=True)
        places = (1, max(src.shape[dim], 1))
        fold(out, updates_along(src, dim), values.groups.grouping, reduction, arg, places)
        if src.is_floating_point() and not values.skips:
            arg = torch.where(values.fold(values.nan, Reduction("sum"), False), -1, arg)
        return arg

    return statistic


def _running(values: _Values, product: bool) -> Tensor:
    return scan(values.wide, values.dim, values.groups.grouping, product, values.skips)


def _exponentials(values: _Values) -> tuple[Tensor, Tensor, Tensor]:
    """The largest value of each group, and the exponentials without it, of values and summed."""
    wide = values.wide.to(torch.float64)
    counted = torch.where(values.nan, -torch.inf, wide) if values.skips else wide
    most = values.fold(counted, Reduction("max"), -torch.inf)
    found = exp(wide - values.of_groups(most))
    found = torch.where(values.nan, 0, found) if values.skips else found
    return most, found, values.fold(found, Reduction("sum"))


def _softmax(values: _Values) -> Tensor:
    _, found, sums = _exponentials(values)
    return found / values.of_groups(sums)


def _logsumexp(values: _Values) -> Tensor:
    most, _, sums = _exponentials(values)
    return torch.where(most.isinf(), most, log(sums) + most)


def _any_nan(values: _Values) -> Tensor:
    nan = torch.zeros_like(values.nan) if values.skips else values.nan
    return values.fold(nan, Reduction("sum"), False)


_STATISTICS: dict[str, Callable[[_Values], Tensor]] = {
    "sum": _sum,
    "prod": _prod,
    "sumsq": _sumsq,
    "mean": _mean,
    "var": _variance,
    "std": _std,
    "sem": _sem,
    "skew": _skew,
    "kurt": _kurt,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "first": _end("min"),
    "last": _end("max"),
    "len": lambda values: values.counts,
    "count": lambda values: values.present,
    "any": _any,
    "all": _all,
    "anynan": _any_nan,
    "allnan": lambda values: values.fold(values.nan, Reduction("prod"), True),
    "argmin": _arg("min"),
    "argmax": _arg("max"),
    "cumsum": lambda values: _running(values, product=False),
    "cumprod": lambda values: _running(values, product=True),
    "softmax": _softmax,
    "logsumexp": _logsumexp,
}


def refuse_with(name: str) -> Any:
    """The error of what `aggregate` does not take on a device."""
    return Problem(NotImplementedError, "aggregate", name).saying(
        f"{name} is not taken on this device", "move its tensors with tensor.cpu()"
    )
