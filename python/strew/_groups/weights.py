"""Weighted sums, means and variances of groups.

```text
sum = sum(w * x); mean = sum / sum(w)
var = (sum(w * |x - mean|^2) - |sum(w * (x - mean))|^2 / sum(w)) / (sum(w) - ddof)
```

The second term of the variance would be 0 if the mean were not rounded. Everything is computed in
float64 or complex128. Each sum is that of `aggregate`, in the order of the values. Exact sums and
means are rounded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._arrays import masked
from .._arrays.library import from_numpy
from .._native import errors
from .._native import options as _options
from .._native.dtypes import as_array
from .._strew import _aggregate as run
from .._strew import _groups
from . import keys
from .exact_weights import ExactSums

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from .._strew import Plan

    _Values: TypeAlias = np.ndarray[Any, Any]

_TAKEN = ("sum", "mean", "var", "std", "count", "len")
_ROUNDS_TWICE = ("var", "std")
# Options with which a sum is that of all values.
_PLAIN = _options.PLAIN | {"min_count": 0}


def weighted(
    groups: Any,
    plan: Callable[[], Plan],
    src: Any,
    weights: Any,
    reduces: list[Any],
    dim: Any,
    options: dict[str, Any],
) -> tuple[Any, ...]:
    """The results of reductions that take weights, and counts of values."""
    for reduce in reduces:
        if callable(reduce) or reduce not in _TAKEN:
            raise errors.Problem(ValueError, "aggregate", "reduce", reduce).saying(
                f"reduce = {reduce!r} takes no weights: only sum, mean, var and std do, and "
                "count and len, which count values"
            )
        if options["exact"] and reduce in _ROUNDS_TWICE:
            raise errors.Problem(ValueError, "aggregate", "exact").saying(
                f"exact = True: {reduce} with weights has no exact form: only sum and mean have one"
            )
    # Checks the arguments, too.
    counts = run(groups, src, ["len"], dim, _PLAIN | {"skipna": options["skipna"]})[0]
    kind = _Exact if options["exact"] else _Rounding
    sums = kind(groups, plan, _array("src", src), weights, dim, options)
    enough = np.asarray(counts) >= max(options["min_count"], 1)
    return tuple(
        run(groups, src, [reduce], dim, options)[0]
        if reduce in ("count", "len")
        else from_numpy(src, sums.rounded(reduce, enough))
        for reduce in reduces
    )


class _Sums:
    """The values and their weights, and the sums that results are made of."""

    def __init__(
        self,
        groups: Any,
        plan: Callable[[], Plan],
        values: _Values,
        weights: Any,
        dim: Any,
        options: dict[str, Any],
    ) -> None:
        self.groups, self.plan, self.options = groups, plan, options
        self.axis = keys.axis_of("aggregate", dim, values)
        self.is_complex = values.dtype.kind == "c"
        whole = values.dtype.kind in "biu"
        self.dtype = np.dtype(np.float64) if whole else values.dtype
        self.values, self.weights = values, _checked(weights, values.shape, self.axis)
        if options["skipna"]:
            left_out = np.isnan(self.values)
            self.values = np.where(left_out, np.zeros(1, values.dtype), self.values)
            self.weights = np.where(left_out, np.zeros(1, self.weights.dtype), self.weights)

    def rounded(self, reduce: str, enough: _Values) -> _Values:
        """The results in their own dtype, with the fill value where there is none."""
        dtype = self.dtype
        if reduce in ("var", "std") and self.is_complex:
            dtype = np.zeros(0, dtype).real.dtype
        # An error if the fill value does not fit.
        nothing = _groups(np.zeros(0, np.int64), 0, "error", None)
        run(nothing, np.zeros(0, self.dtype), [reduce], 0, self.options)
        with np.errstate(all="ignore"):
            made, defined = self.made(reduce)
            fill = self.options["fill_value"]
            if fill is None:
                fill = 0 if reduce == "sum" else np.nan
            return np.where(enough & defined, made, fill).astype(dtype)

    def made(self, reduce: str) -> tuple[_Values, Any]:
        """The results, and where they are defined."""
        raise NotImplementedError


class _Rounding(_Sums):
    """Sums in float64 or complex128, in the order of the values."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.values = self.values.astype(np.complex128 if self.is_complex else np.float64)
        self.weights = self.weights.astype(np.float64)
        self.total = self.sum_of(np.broadcast_to(self.weights, self.values.shape))

    def sum_of(self, values: _Values) -> _Values:
        """The sum of each group."""
        return np.asarray(run(self.groups, values, ["sum"], self.axis, _PLAIN)[0])

    def made(self, reduce: str) -> tuple[_Values, Any]:
        """The results, and where they are defined."""
        sums = self.sum_of(self.values * self.weights)
        if reduce == "sum":
            return sums, True
        defined = self.total != 0
        means = sums / self.total
        if reduce == "mean":
            return means, defined
        ddof = self.options["ddof"]
        var = self.squares(means) / (self.total - ddof)
        # A NaN among the weights makes NaN, not the fill value.
        defined &= ~(self.total - ddof <= 0)
        return (var if reduce == "var" else np.sqrt(var)), defined

    def squares(self, means: _Values) -> _Values:
        """The weighted sums of the squared differences from the mean."""
        differences = self.values - self.plan().gather(means, dim=self.axis)
        squares = differences.real**2 + differences.imag**2 if self.is_complex else differences**2
        sums = self.sum_of(self.weights * squares)
        # The differences' own mean is the rounding of the mean.
        rest = np.abs(self.sum_of(self.weights * differences))
        sums = sums - rest * (rest / self.total)
        if np.isnan(sums).any():
            # Of finite values whose squares or sums overflow, the squares are infinite.
            finite = np.isfinite(self.values) & np.isfinite(self.weights)
            all_finite = run(self.groups, finite, ["all"], self.axis, _PLAIN)[0]
            sums = np.where(np.isnan(sums) & np.asarray(all_finite), np.inf, sums)
        return sums if (self.weights < 0).any() else np.maximum(sums, 0)


class _Exact(_Sums):
    """Exact sums and means, rounded once. Complex numbers are rounded in each of their parts."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        part = np.zeros(0, self.dtype).real.dtype
        self.part = part if part.kind in "fV" else np.dtype(np.float64)
        plan = self.plan()
        weights = np.broadcast_to(self.weights, self.values.shape)
        parts = [self.values.real, self.values.imag] if self.is_complex else [self.values]
        self.parts = [
            ExactSums(plan, np.moveaxis(one, self.axis, 0), np.moveaxis(weights, self.axis, 0))
            for one in parts
        ]

    def made(self, reduce: str) -> tuple[_Values, Any]:
        """The results, and where they are defined."""
        if reduce == "sum":
            found, defined = [one.sum(self.part) for one in self.parts], np.ones(1, bool)
        else:
            means = [one.mean(self.part) for one in self.parts]
            found, defined = [mean for mean, _ in means], means[0][1]
        made = found[0]
        if self.is_complex:
            made = np.empty(made.shape, np.complex128)
            made.real, made.imag = found
        if reduce == "mean":
            defined = np.moveaxis(defined, 0, self.axis)
        return np.moveaxis(made, 0, self.axis), defined


def _array(name: str, given: Any) -> _Values:
    """A NumPy array of the same values."""
    masked.refuse("aggregate", name, given)
    try:
        return as_array(given)
    except (TypeError, RuntimeError) as error:
        # Torch's bfloat16, and tensors that require a gradient.
        raise errors.Problem(TypeError, "aggregate", name).saying(
            f"{name} is no NumPy array: {error}"
        ) from error


def _checked(weights: Any, shape: tuple[int, ...], axis: int) -> _Values:
    """The weights, broadcast against an array of this shape."""
    made = _array("weights", weights)
    if made.dtype.kind not in "biuf" and made.dtype.name != "bfloat16":
        raise errors.Problem(TypeError, "aggregate", "weights", made.dtype).has_dtype(
            "it must be of real numbers, integers or bools"
        )
    if made.ndim == 1 and len(made) == shape[axis]:
        made = made.reshape([-1 if at == axis else 1 for at in range(len(shape))])
    elif made.ndim == 1 or not _broadcasts(made.shape, shape):
        raise errors.Problem(ValueError, "aggregate", "weights", made.shape).has_shape(
            f"it must have {shape[axis]} elements, for dimension {axis}, or broadcast to "
            f"src's shape {shape}"
        )
    return made


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False
