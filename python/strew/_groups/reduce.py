"""Aggregates of arrays: those of NumPy and torch, lists, and all others with DLPack.

`strew.aggregate` is this function, after other kinds have become arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._arrays.dispatch import device_operators, torch_operators, without_transform
from .._arrays.swapped import explain as explain_swapped
from .._native import dtypes, errors, hints
from .._native import options as _options
from .._strew import Plan, _groups, _per_value
from .._strew import _aggregate as run
from . import keys, quantiles
from .apply import apply, no_skipna
from .weights import weighted

_PLAIN = _options.PLAIN

# Reductions with a result for each value.
PER_VALUE = frozenset(_per_value())


def of_arrays(
    src: Any,
    index: Any,
    reduces: list[Any],
    dim: Any,
    size: Any,
    mode: Any,
    ignore_index: Any,
    dtype: Any,
    weights: Any,
    options: dict[str, Any],
) -> tuple[Any, ...]:
    """The result of each reduction; `aggregate` describes the arguments."""
    if type(dim) is not int:
        dim = _options.integer("dim", dim)
    try:
        sizes: tuple[int, ...] | None = None
        rows = index
        if isinstance(index, Plan):
            groups: Any = index
            if size is not None or mode != "error" or ignore_index is not None:
                raise errors.own_of_plan("aggregate")
        else:
            if isinstance(index, tuple) and not device_operators(src) and keys.several(index):
                rows, sizes = keys.rows("aggregate", index, size, mode, ignore_index)
                size, mode, ignore_index = math.prod(sizes), "drop", None
            if operators := device_operators(src):
                groups = operators.on_device.groups(src, rows, size, mode, ignore_index)
                rows, size, mode, ignore_index = groups, groups.size, "drop", None
            else:
                rows = without_transform(rows)
                groups = _groups(rows, size, mode, ignore_index)
        fill_value = options["fill_value"]
        if dtype is not None:
            if weights is not None:
                raise errors.Problem(TypeError, "aggregate", "dtype").saying(
                    "dtype and weights cannot be combined"
                )
            src = dtypes.converted("aggregate", src, dtype, reduces)
        if fill_value is not None:
            named = [one for one in reduces if not callable(one)]
            dtypes.check_fill("aggregate", fill_value, src, named, weights is not None)
        operators = torch_operators(src)
        q_of_each = isinstance(options["q"], np.ndarray)
        is_plain = weights is None and operators is None and not q_of_each
        if is_plain and not any(map(callable, reduces)):
            results = run(groups, src, reduces, dim, None if options is _PLAIN else options)
        else:
            plan = partial(_plan, rows, size, mode, ignore_index)
            others = partial(_with_plan, operators, groups, plan, src, dim, weights)
            if q_of_each and not device_operators(src):
                results = quantiles.of_arrays(others, groups, src, reduces, dim, weights, options)
            else:
                results = others(reduces, options)
        if dtype is not None:
            results = tuple(dtypes.rounded("aggregate", one, src, fill_value) for one in results)
        if sizes is not None:
            results = tuple(
                _unfold(one, result, src, dim, sizes, options["q"])
                for one, result in zip(reduces, results, strict=True)
            )
        return results
    except (IndexError, MemoryError, TypeError, ValueError) as error:
        errors.rename(error, "Plan", "aggregate")
        errors.explain_outside(error, mode)
        hints.explain(error, src, index)
        if not isinstance(error, IndexError):
            explain_swapped(error, src, index)
        raise


def _with_plan(
    operators: Any,
    groups: Any,
    plan: Callable[[], Plan],
    src: Any,
    dim: int,
    weights: Any,
    reduces: list[Any],
    options: dict[str, Any],
) -> tuple[Any, ...]:
    """Results with weights or derivatives, or of functions. `plan` returns the plan of `groups`."""
    names = [one for one in reduces if not callable(one)]
    if options["skipna"] and len(names) < len(reduces):
        raise no_skipna()
    if device_operators(src):
        operators.on_device.check_arguments(len(names) < len(reduces), weights, options)
    if weights is not None:
        return weighted(groups, plan, src, weights, reduces, dim, options)
    made: Any = iter(())
    if operators is not None and (names or not reduces):
        made = iter(operators.aggregate.aggregate(src, groups, plan, names, dim, options))
    elif names:
        made = iter(run(groups, src, names, dim, None if options is _PLAIN else options))
    least, fill_value = options["min_count"], options["fill_value"]
    return tuple(
        apply(groups, src, one, dim, least, fill_value) if callable(one) else next(made)
        for one in reduces
    )


def _plan(rows: Any, size: Any, mode: Any, ignore_index: Any) -> Plan:
    """The plan of an index, which may be one."""
    if isinstance(rows, Plan) or hasattr(rows, "grouping"):
        # A plan, or groups on a device.
        return rows
    return Plan(rows, size, mode=mode, ignore_index=ignore_index)


def _unfold(reduce: Any, result: Any, src: Any, dim: int, sizes: tuple[int, ...], q: Any) -> Any:
    """A result with one axis for each key."""
    if isinstance(reduce, str) and reduce in PER_VALUE:
        return result
    axis = keys.axis_of("aggregate", dim, src)
    if reduce == "quantile" and not isinstance(q, (float, int)):
        axis += 1
    if callable(reduce):
        # Results of few dimensions are stacked along the last axis.
        axis = min(axis, result.ndim - 1)
    return keys.unfold(result, axis, sizes)
