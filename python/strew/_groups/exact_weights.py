"""Exact weighted sums and means: the exact value, rounded once.

```text
sum = round(S)       S = exact sum of w * x
mean = round(S / T)  T = exact sum of w
```

A product is two float64 numbers: the rounded product and its error. An exact accumulator adds both.
It gives S as `head + tail + rest`, each the rounded value of what the ones before leave. T is two
such numbers. The quotient is computed from them with a bound on its error. Where the bound
does not decide how to round, or a number leaves the range that this holds in, the cell is computed
again with `fractions.Fraction`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .._strew import Accumulator

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from .._strew import Plan

    _Values: TypeAlias = np.ndarray[Any, Any]
    _Flags: TypeAlias = np.ndarray[Any, Any]

# Within these magnitudes, no error of a product or quotient below is too small to be a float64.
_LEAST, _MOST = 2.0**-900, 2.0**900
# Of a quotient's remainder, which is smaller.
_TINY = 2.0**-960
# The error of a quotient of two sums, by the quotient: some units of 2**-105, and what the sums'
# further digits add.
_ERROR = 2.0**-95
# Integers up to here are float64 numbers.
_WHOLE = 2**53
# 2**27 + 1: half of a float64's digits.
_SPLIT = 134217729.0


class ExactSums:
    """The exact weighted sums of real values, which lie along axis 0 as the groups do."""

    def __init__(self, plan: Plan, values: _Values, weights: _Values) -> None:
        self.plan, self.values, self.weights = plan, values, weights
        terms, safe = _products(_parts(values), _parts(weights))
        self.sums = _Expansion(plan, terms)
        self.endless = _touched(plan, ~np.isfinite(values) | ~np.isfinite(weights))
        self.unsafe = _touched(plan, ~safe)

    def sum(self, dtype: np.dtype[Any]) -> _Values:
        """The sums, as float64 numbers that give the rounded ones when cast to `dtype`."""
        made = _cast_ready(self.sums.head, self.sums.tail, dtype)
        hard = self.unsafe & ~self.endless
        return self._mended(made, hard, mean=False, dtype=dtype)

    def mean(self, dtype: np.dtype[Any]) -> tuple[_Values, _Flags]:
        """The means, as the sums are, and where the weights do not sum to 0."""
        total = _Expansion(self.plan, _parts(self.weights))
        defined: _Flags = total.head != 0
        with np.errstate(all="ignore"):
            rounded, below, decided = _divided(self.sums, total)
            made = _cast_ready(rounded, below, dtype)
            made = np.where(self.endless, self.sums.head / total.head, made)
        hard = (self.unsafe | ~decided) & defined & ~self.endless
        return self._mended(made, hard, mean=True, dtype=dtype), defined

    def _mended(self, made: _Values, hard: _Flags, *, mean: bool, dtype: np.dtype[Any]) -> _Values:
        """The results, those of hard cells by exact fractions of the values themselves."""
        if not hard.any():
            return made
        cells = np.where(hard, np.arange(1, hard.size + 1).reshape(hard.shape), 0)
        # An update that belongs to no group gets 0, as one of a cell that is not hard does.
        cell_of = np.asarray(self.plan.gather(cells, dim=0))
        chosen = cell_of > 0
        sums: dict[int, Fraction] = {}
        totals: dict[int, Fraction] = {}
        for cell, value, weight in zip(
            (cell_of[chosen] - 1).tolist(),
            self.values[chosen].tolist(),
            self.weights[chosen].tolist(),
            strict=True,
        ):
            sums[cell] = sums.get(cell, Fraction(0)) + Fraction(value) * Fraction(weight)
            totals[cell] = totals.get(cell, Fraction(0)) + Fraction(weight)
        flat = made.ravel().copy()
        for cell, total in totals.items():
            flat[cell] = _rounded(sums[cell] / total if mean else sums[cell], dtype)
        return flat.reshape(made.shape)


class _Expansion:
    """The exact sum of each cell as a sum of numbers that get smaller. The first is rounded."""

    def __init__(self, plan: Plan, terms: list[_Values]) -> None:
        shape, size = terms[0].shape[1:], plan.size
        exact = Accumulator(size, "sum", dtype="float64", shape=shape, exact=True)
        for term in terms:
            exact.update(term, plan)
        found: list[_Values] = []
        for _ in range(3):
            found.append(np.asarray(exact.result()[0]))
            exact.update(-np.where(np.isfinite(found[-1]), found[-1], 0), np.arange(size))
        self.head, self.tail, self.rest = found


def _parts(values: _Values) -> list[_Values]:
    """The same values as sums of float64 numbers: large integers take two."""
    large = values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size > 0
    if not large or (values.min() >= -_WHOLE and values.max() <= _WHOLE):
        return [values.astype(np.float64)]
    low = values & 0xFFFFFFFF
    return [(values - low).astype(np.float64), low.astype(np.float64)]


def _products(values: list[_Values], weights: list[_Values]) -> tuple[list[_Values], _Flags]:
    """What the products are sums of, and where that is so. It is 0 elsewhere."""
    terms: list[_Values] = []
    safe: _Flags = np.ones(values[0].shape, bool)
    with np.errstate(all="ignore"):
        for value in values:
            for weight in weights:
                product, error = _product(value, weight)
                none = (value == 0) | (weight == 0)
                inside = none & np.isfinite(product)
                size = np.abs(product)
                inside |= (size > _LEAST) & (size < _MOST) & (np.abs(value) < _MOST)
                inside &= np.abs(weight) < _MOST
                endless = ~np.isfinite(value) | ~np.isfinite(weight)
                terms.append(np.where(inside | endless, product, 0.0))
                terms.append(np.where(inside & ~none, error, 0.0))
                safe &= inside | endless
    return terms, safe


def _divided(sums: _Expansion, total: _Expansion) -> tuple[_Values, _Values, _Flags]:
    """The quotients rounded to float64, what they are too small by, and where both are right.

    Of what they are too small by, only the sign is right.
    """
    by = total.head
    first = sums.head / by
    product, error = _product(first, by)
    # A quotient's remainder is a float64.
    left, lost = _sum((sums.head - product) - error, sums.tail)
    second = (left - first * total.tail) / by
    rounded = first + second
    below = (first - rounded) + second

    # Nothing was rounded: the quotient is first + second.
    back, missed = _product(second, by)
    exact: _Flags = (sums.rest == 0) & (total.tail == 0) & (lost == 0)
    exact &= (back == left) & (missed == 0)
    exact &= (left == 0) | ((np.abs(left) > _TINY) & (np.abs(second) > _TINY))
    bound = np.abs(first) * _ERROR
    certain = (first + (second - bound) == first + (second + bound)) & (np.abs(below) > bound)
    decided: _Flags = exact | certain
    for number in (sums.head, by, first):
        size = np.abs(number)
        decided &= (size > _LEAST) & (size < _MOST)
    nothing = sums.head == 0
    return np.where(nothing, 0.0, rounded), np.where(nothing, 0.0, below), decided | nothing


def _cast_ready(rounded: _Values, below: _Values, dtype: np.dtype[Any]) -> _Values:
    """Numbers that rounding once more does not harm, from rounded ones and what they lack."""
    if dtype == np.float64:
        return rounded
    made = _to_odd(rounded, below)
    if dtype == np.float32:
        return made
    # A cast to a type of 16 bits may go by way of float32.
    single = made.astype(np.float32)
    return _to_odd(single, made - single).astype(np.float64)


def _to_odd(rounded: _Values, below: _Values) -> _Values:
    """The neighbour whose last bit is 1, of numbers that are not exact.

    A number that is rounded so can be rounded again to two bits less or fewer, and gives what one
    rounding of the exact number gives.
    """
    bits = rounded.view(np.int64 if rounded.dtype == np.float64 else np.int32)
    away = np.copysign(np.inf, below).astype(rounded.dtype)
    moved = (below != 0) & (bits & 1 == 0) & np.isfinite(rounded)
    return np.where(moved, np.nextafter(rounded, away), rounded)


def _rounded(exact: Fraction, dtype: np.dtype[Any]) -> float:
    """One cell's number, as `_cast_ready` makes it."""
    try:
        near = exact.numerator / exact.denominator
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
    difference = exact - Fraction(near)
    sign = float((difference > 0) - (difference < 0))
    return float(_cast_ready(np.array([near]), np.array([sign]), dtype)[0])


def _touched(plan: Plan, flags: _Flags) -> _Flags:
    """Which cells have an update with its flag set."""
    if not flags.any():
        return np.zeros((plan.size, *flags.shape[1:]), bool)
    return np.asarray(plan.reduce(flags.astype(np.uint8), ["max"])[0]).astype(bool)


def _sum(a: _Values, b: _Values) -> tuple[_Values, _Values]:
    """The rounded sum and its error (Knuth)."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def _product(a: _Values, b: _Values) -> tuple[_Values, _Values]:
    """The rounded product and its error (Dekker), within `_LEAST` and `_MOST`."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(a: _Values) -> tuple[_Values, _Values]:
    scaled = a * _SPLIT
    high = scaled - (scaled - a)
    return high, a - high
