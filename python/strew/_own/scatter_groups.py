"""A scatter with a reduction of `aggregate`, also where each line along the axis has an index."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from .._arrays import lines as _lines
from .._arrays.dispatch import device_operators, without_transform
from .._arrays.library import from_numpy
from .._arrays.lines import plan_as_index
from .._groups import keys
from .._groups.reduce import PER_VALUE
from .._native import dtypes, errors
from .._strew import Plan
from .aggregate import aggregate

# Reductions whose results are positions of elements.
_POSITIONS = frozenset(["argmin", "argmax", "argsort", "argtopk"])


def aggregate_groups(
    src: Any,
    index: Any,
    plan: Plan | None,
    dim: int,
    out: Any,
    size: Any,
    reduce: Any,
    mode: Any,
    ignore_index: Any,
    options: dict[str, Any],
) -> Any:
    """A scatter with a reduction of `aggregate`, or with "nan" in front of one."""
    if out is not None:
        raise errors.Problem(ValueError, "scatter", "reduce", reduce).saying(
            f"reduce = {reduce!r} makes a new array: out must be None"
        )
    skipna = isinstance(reduce, str) and reduce.startswith("nan")
    options["skipna"] = skipna
    name = reduce[3:] if skipna else reduce
    if plan is not None:
        return aggregate(src, plan, name, dim=dim, **options)
    bounds = {"size": size, "mode": mode, "ignore_index": ignore_index}
    if operators := device_operators(src):
        operators.on_device.check_lines(src, index)
    elif not keys.several(index):
        index = dtypes.as_array(without_transform(index))
        # Of a list without elements.
        index = index if index.size else index.astype(np.int64)
    if isinstance(index, tuple) or index.ndim == 1:
        return aggregate(src, index, name, dim=dim, **bounds, **options)
    return _aggregate_lines(src, index, dim, bounds, name, options)


def _aggregate_lines(
    src: Any, index: Any, dim: Any, bounds: dict[str, Any], name: Any, options: dict[str, Any]
) -> Any:
    """Like `aggregate_groups`, for an index by which each line along `dim` has its own groups."""
    torch = sys.modules.get("torch")
    is_torch = torch is not None and isinstance(src, torch.Tensor)
    # Matrices and masked arrays of NumPy are taken as plain arrays.
    namespace = getattr(src, "__array_namespace__", None)
    namespace = None if isinstance(src, np.ndarray) else namespace
    library: Any = torch if is_torch else namespace() if namespace else np
    values = src if is_torch or namespace else dtypes.as_array(src)
    shape = tuple(values.shape)
    if not shape:
        raise errors.Problem(ValueError, "scatter", "src").saying(
            "src has shape []", "it must have at least one dimension"
        )
    if not -len(shape) <= dim < len(shape):
        raise errors.no_axis("scatter", dim, len(shape))
    lines, dim = np.moveaxis(_lines.broadcast("scatter", index, shape), dim, -1), dim % len(shape)
    values = library.moveaxis(values, dim, -1)
    plan = Plan(lines.reshape(-1), **bounds)
    count = lines.shape[-1]
    rows = plan_as_index(plan).reshape(math.prod(lines.shape[:-1]), count)
    numbers = _lines.numbered(rows, plan.size)
    plan_of_all = Plan(numbers, plan.size * len(rows), mode="drop")
    result = aggregate(values.reshape(-1), plan_of_all, name, **options)
    result = result if is_torch or namespace else np.asarray(result)
    if name in _POSITIONS:
        result = library.where(result < 0, result, result % max(count, 1))
    # The axes before that of the groups.
    before = 1 if name == "quantile" and np.ndim(options.get("q", 0.5)) else 0
    groups = count if isinstance(name, str) and name in PER_VALUE else plan.size
    result = _lines.unfold(library, result, tuple(values.shape[:-1]), groups, dim, before)
    if is_torch:
        return result.contiguous()
    if isinstance(result, np.ndarray):
        return from_numpy(src, np.ascontiguousarray(result))
    return result
