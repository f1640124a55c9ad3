"""Quantiles of which each group has a fraction of its own.

```text
sorted = the values of each group in ascending order, one group after the other
place = q * (number of values - 1)
result = the value at that place, or what `method` makes of the two beside it
```

The kernel computes the same for one fraction of all groups, with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .._arrays.dispatch import torch_operators
from .._native import errors
from .._native import options as _options
from .._strew import _aggregate as run
from .._strew import _members
from . import keys
from .apply import Library

_Array: TypeAlias = np.ndarray[Any, Any]


def of_arrays(
    reduced: Callable[[list[Any], dict[str, Any]], tuple[Any, ...]],
    groups: Any,
    src: Any,
    reduces: list[Any],
    dim: Any,
    weights: Any,
    options: dict[str, Any],
) -> tuple[Any, ...]:
    """The result of each reduction; `reduced` makes those that are no quantiles."""
    if weights is not None and "quantile" in reduces:
        raise errors.Problem(ValueError, "aggregate", "reduce").saying(
            "reduce = 'quantile' takes no weights"
        )
    others = [one for one in reduces if one != "quantile"]
    made = iter(reduced(others, options | {"q": 0.5}) if others else ())
    return tuple(
        _quantile(groups, src, dim, options) if one == "quantile" else next(made) for one in reduces
    )


def _quantile(groups: Any, src: Any, dim: Any, options: dict[str, Any]) -> Any:
    if torch_operators(src) is not None and src.requires_grad:
        raise errors.Problem(TypeError, "aggregate", "q").saying(
            "a q for each group has no derivative: pass src.detach(), or one q for all"
        )
    q = options["q"]
    # Checks the arguments, too: the dtype of the result is that of any quantile.
    nothing = run(groups, src, ["quantile"], dim, options | {"q": []})[0]
    library = Library(src)
    values = np.asarray(src)
    axis = keys.axis_of("aggregate", dim, values)
    starts, members, _ = _members(groups)
    starts = np.asarray(starts)
    size = len(starts) - 1
    if q.shape[1] != size:
        raise errors.Problem(ValueError, "aggregate", "q", q.shape).has_shape(
            f"it must have {size} columns, one for each group"
        )
    if not ((q >= 0) & (q <= 1)).all():
        at = tuple(int(place[0]) for place in np.nonzero(~((q >= 0) & (q <= 1))))
        raise errors.Problem(ValueError, "aggregate", "q", q[at], position=at).saying(
            f"q{list(at)} = {q[at]}", "it must be from 0 to 1"
        )
    plain = _options.PLAIN | {"skipna": options["skipna"]}
    counts, nan = (
        np.moveaxis(np.asarray(one), axis, -1)
        for one in run(groups, values, ["count", "anynan"], dim, plain)
    )
    if not options["skipna"]:
        counts = np.broadcast_to(np.diff(starts), counts.shape)
    ordered = run(groups, values, ["sort"], dim, _options.PLAIN)[0]
    ordered = np.moveaxis(np.asarray(ordered), axis, -1)[..., np.asarray(members)]
    result = _between(ordered, starts[:-1], counts, q, options["method"])
    if not options["skipna"]:
        result[..., nan] = np.nan
    fill_value = options["fill_value"]
    few = counts < max(options["min_count"], 1)
    result[..., few] = np.nan if fill_value is None else fill_value
    result = np.moveaxis(result, -1, axis + 1)
    return library.array(np.ascontiguousarray(result).astype(np.asarray(nothing).dtype))


def _between(
    ordered: _Array, starts: _Array, counts: _Array, q: _Array, method: str | None
) -> _Array:
    """The quantiles of ordered groups, whose values lie along the last axis."""
    shape = (len(q), *counts.shape)
    if not ordered.shape[-1]:
        return np.full(shape, np.nan)
    last = np.maximum(counts - 1, 0)
    place = q.reshape(len(q), *[1] * (counts.ndim - 1), -1) * last
    rounded = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}.get(method or "")
    place = place if rounded is None else rounded(place)
    below = np.minimum(np.floor(place).astype(np.int64), last)
    part = place - np.floor(place)

    def value(rank: _Array) -> _Array:
        places = np.minimum(starts + rank, ordered.shape[-1] - 1)
        each = np.broadcast_to(ordered, (len(q), *ordered.shape))
        return np.take_along_axis(each, places, -1).astype(np.float64)

    low, high = value(below), value(np.minimum(below + 1, last))
    with np.errstate(all="ignore"):
        apart = high - low
        line = np.where(part >= 0.5, high - apart * (1 - part), low + apart * part)
        far = low * (1 - part) + high * part
        line = np.where(np.isfinite(apart), line, far)
        if method == "midpoint":
            line = np.where(np.isfinite(low + high), (low + high) / 2, low / 2 + high / 2)
    made: _Array = np.where((part == 0) | (low == high), low, line)
    return made
