"""Aggregates of arrays: those of NumPy and torch, lists, and all others with DLPack.

`strew.aggregate` is this function, after other kinds have become arrays.
"""

from __future__ import annotations

import math as _math
from typing import TYPE_CHECKING

from . import _dtypes, _errors, _keys, _options
from ._apply import apply as _apply
from ._dispatch import torch_operators as _torch_operators
from ._strew import Plan as _Plan
from ._strew import _aggregate as _run
from ._strew import _groups
from ._swapped import explain as _explain_swapped
from ._weights import weighted as _weighted

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Reductions with a result for each value.
PER_VALUE = frozenset(
    "softmax cumsum cumprod cummin cummax cumcount shift rank sort argsort".split()
)


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
        if isinstance(index, _Plan):
            groups: Any = index
            if size is not None or mode != "error" or ignore_index is not None:
                raise ValueError(
                    "aggregate: a plan has its own size, mode and numbers that are left out"
                )
        else:
            if _keys.several(index):
                rows, sizes = _keys.rows("aggregate", index, size, mode, ignore_index)
                size, mode, ignore_index = _math.prod(sizes), "drop", None
            groups = _groups(rows, size, mode, ignore_index)
        names = [one for one in reduces if not callable(one)]
        fill_value = options["fill_value"]
        if options["skipna"] and len(names) < len(reduces):
            raise ValueError(
                "aggregate: skipna = True: a callable reduce sees NaN, so it must be False"
            )
        if dtype is not None:
            if weights is not None:
                raise TypeError("aggregate: dtype and weights cannot be combined")
            src = _dtypes.converted("aggregate", src, dtype, reduces)
        if fill_value is not None:
            _dtypes.check_fill("aggregate", fill_value, src, names, weights is not None)

        def plan() -> _Plan:
            if isinstance(rows, _Plan):
                return rows
            return _Plan(rows, size, mode=mode, ignore_index=ignore_index)

        results: tuple[Any, ...] = ()
        if weights is not None:
            results = _weighted(groups, plan, src, weights, reduces, dim, options)
        else:
            # Without any name, the arguments are still checked.
            if names or not reduces:
                results = _of_names(groups, plan, src, names, dim, options)
            if len(names) < len(reduces):
                made = iter(results)
                results = tuple(
                    _apply(groups, src, one, dim, options["min_count"], fill_value)
                    if callable(one)
                    else next(made)
                    for one in reduces
                )
        if dtype is not None:
            results = tuple(_dtypes.rounded("aggregate", one, src, fill_value) for one in results)
        if sizes is not None:
            results = tuple(
                _unfold(one, result, src, dim, sizes, options["q"])
                for one, result in zip(reduces, results, strict=True)
            )
        return results
    except (IndexError, TypeError, ValueError) as error:
        _errors.rename(error, "Plan", "aggregate")
        _errors.explain_outside(error, mode)
        if not isinstance(error, IndexError):
            _explain_swapped(error, src, index)
        raise


def _of_names(
    groups: Any,
    plan: Callable[[], _Plan],
    src: Any,
    names: list[Any],
    dim: int,
    options: dict[str, Any],
) -> Any:
    """The results of reductions that have a name, of torch tensors with derivatives."""
    if operators := _torch_operators(src):
        return operators.aggregate.aggregate(src, groups, plan, names, dim, options)
    return _run(groups, src, names, dim, None if options is _options.PLAIN else options)


def _unfold(reduce: Any, result: Any, src: Any, dim: int, sizes: tuple[int, ...], q: Any) -> Any:
    """A result with one axis for each key."""
    if isinstance(reduce, str) and reduce in PER_VALUE:
        return result
    axis = _keys.axis_of("aggregate", dim, src)
    if reduce == "quantile" and isinstance(q, list):
        axis += 1
    if callable(reduce):
        # Results of few dimensions are stacked along the last axis.
        axis = min(axis, result.ndim - 1)
    return _keys.unfold(result, axis, sizes)
