"""What `strew.torch` has and PyTorch lacks: ``mode=``, ``plan=`` and positions of extremes.

Everything here is composed of strew's operators.
"""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING

import numpy as np

from .._arrays.dispatch import torch_operators
from .._arrays.library import from_numpy
from .._arrays.lines import plan_as_index
from .._native import errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._strew import Plan

    # `scatter`, `scatter_add` or `scatter_reduce` of `strew.torch`, or its form in place.
    _Function = Callable[..., Any]


def scatter_with_mode(
    function: _Function,
    in_place: _Function | None,
    input: Any,
    dim: Any,
    index: Any,
    src: Any,
    mode: str,
    **options: Any,
) -> Any:
    """Scatter with an index in which `mode` says what numbers mean that name no cell.

    `function` makes a new array. `in_place` is its form in place, or None if a new array is wanted.
    Both take `options`.
    """
    run = in_place or function
    if mode not in ("error", "wrap", "drop", "clip"):
        raise errors.Problem(ValueError, f"torch.{run.__name__}", "mode", mode).expecting(
            "it must be error, wrap, drop or clip"
        )
    shape, dim = np.shape(input) or (1,), operator.index(dim)
    if mode == "error" or not -len(shape) <= dim < len(shape):
        return run(input, dim, index, src, **options)
    index, library = _array_and_library(index)
    size = shape[dim]
    if mode == "wrap":
        return run(input, dim, library.where(index < 0, index + size, index), src, **options)
    if mode == "clip":
        # An axis without cells has no nearest one.
        return run(input, dim, index if size == 0 else index.clip(0, size - 1), src, **options)
    index = library.where((index < 0) | (index >= size), size, index)
    return _dropping(function, in_place, input, dim, index, src, **options)


def _dropping(
    function: _Function,
    in_place: _Function | None,
    input: Any,
    dim: int,
    index: Any,
    src: Any,
    **options: Any,
) -> Any:
    """Scatter updates, of which those that are dropped go to one more slice at the end."""
    shape = np.shape(input) or (1,)
    size = shape[dim]
    wide = _with_one_more_slice(input, shape, dim)
    part = (slice(None),) * (dim % len(shape)) + (slice(0, size),)
    result = function(wide, dim, index, src, **options)[part].reshape(np.shape(input))
    return in_library_of(input, result, in_place is not None)


def scatter_with_plan(
    function: _Function,
    in_place: _Function | None,
    input: Any,
    dim: Any,
    src: Any,
    plan: Plan,
    plan_reduce: Any,
    **options: Any,
) -> Any:
    """Scatter slices to the rows of a `strew.Plan`; `plan_reduce` is the reduction's name there."""
    include_self = options.get("include_self", True)
    if operators := torch_operators(input, src):

        def by_index(input: Any, src: Any, in_place: _Function | None = None) -> Any:
            index = _plan_as_index(plan, src, dim)
            if plan.dropped:
                return _dropping(function, in_place, input, dim, index, src, **options)
            return (in_place or function)(input, dim, index, src, **options)

        if not operators.plan.supports(input, src):
            return by_index(input, src, in_place)
        into = in_place is not None
        return operators.plan.scatter(
            plan, input, src, dim, plan_reduce, include_self, by_index, into
        )
    if in_place is not None:
        return plan.scatter(src, plan_reduce, dim=dim, out=input, include_self=include_self)
    copy, library = _array_and_library(input)
    if library is np:
        copy = np.array(copy)
    else:
        copy = copy.clone(memory_format=library.contiguous_format)
    result = plan.scatter(src, plan_reduce, dim=dim, out=copy, include_self=include_self)
    return in_library_of(input, result)


def scatter_with_arg(
    scatter_reduce: _Function,
    gather: _Function,
    input: Any,
    dim: Any,
    index: Any,
    src: Any,
    reduce: str,
    include_self: bool,
) -> tuple[Any, Any]:
    """The extremes, and for each the position along `dim` of the first update that equals it."""
    if reduce not in ("amax", "amin"):
        called = "torch.scatter_reduce_with_arg"
        raise errors.Problem(ValueError, called, "reduce", reduce).expecting(
            "it must be amax or amin"
        )
    given, (input, library) = input, _array_and_library(input)
    operators = torch_operators(input, src)
    as_array: Any = np.asarray
    if library is not np:
        as_array = operators.tensors.as_tensor if operators else library.as_tensor
    index, src = as_array(index), as_array(src)
    result = scatter_reduce(input, dim, index, src, reduce, include_self=include_self)
    values, index, src = (x.detach() if _is_tensor(x) else x for x in (result, index, src))
    none = src.shape[dim] if src.ndim else 1
    arg = library.full(input.shape or (1,), none, dtype=library.int64)
    if index.size if library is np else index.numel():
        index = index.reshape(index.shape or (1,))
        part = src.reshape(src.shape or (1,))[tuple(slice(0, size) for size in index.shape)]
        cells = gather(values.reshape(values.shape or (1,)), dim, index)
        line = [1] * index.ndim
        line[dim] = index.shape[dim]
        place = library.arange(index.shape[dim], dtype=library.int64).reshape(line)
        nowhere = library.full(line, none, dtype=library.int64)
        place = library.where(_equal_or_nan(part, cells), place, nowhere)
        arg = scatter_reduce(arg, dim, index, place, "amin")
    arg = arg.reshape(input.shape)
    if include_self:
        # What `input` holds comes before all updates.
        before = input.detach() if _is_tensor(input) else input
        arg = library.where(_equal_or_nan(before, values), none, arg)
    return in_library_of(given, result), in_library_of(given, arg)


def in_library_of(input: Any, result: Any, in_place: bool = False) -> Any:
    """The result as an array of `input`'s library, or written into `input` itself."""
    if in_place:
        if _is_tensor(input):
            return input.copy_(result)
        input[...] = result
        return input
    if _is_tensor(result):
        return result.contiguous()
    result = np.ascontiguousarray(result).reshape(result.shape)
    return from_numpy(input, result)


def _is_tensor(array: Any) -> bool:
    """Whether it is torch's.

    Looking for methods would not do: inside torch.compile of torch 2.9, `hasattr` finds none.
    """
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def _array_and_library(array: Any) -> tuple[Any, Any]:
    """An array that can compute, and the module that has its functions: torch or NumPy."""
    if _is_tensor(array):
        return array, sys.modules["torch"]
    return np.asarray(array), np


def _with_one_more_slice(input: Any, shape: tuple[int, ...], dim: int) -> Any:
    """The input with a slice of zeros after its last one along `dim`."""
    input, library = _array_and_library(input)
    wide = list(shape)
    wide[dim] = 1
    return library.concatenate([input.reshape(shape), library.zeros(wide, dtype=input.dtype)], dim)


def _plan_as_index(plan: Plan, src: Any, dim: int) -> Any:
    """The plan's index as a tensor of `src`'s shape; the size for updates that it drops."""
    rows = plan_as_index(plan, src)
    if isinstance(rows, np.ndarray):
        rows = sys.modules["torch"].as_tensor(np.where(rows < 0, plan.size, rows))
    shape = [1] * src.dim()
    shape[dim] = len(plan)
    return rows.reshape(shape).expand(src.shape)


def _equal_or_nan(a: Any, b: Any) -> Any:
    """Where two arrays are equal, or both NaN."""
    return (a == b) | ((a != a) & (b != b))
