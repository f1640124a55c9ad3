"""What `strew.torch` has and PyTorch has not: modes of an index, plans, positions of extremes.

All of it is made of the operators themselves.
"""

import operator
import sys

import numpy as np

from ._route import dispatcher


def with_mode(function, into, input, dim, index, src, mode, **options):
    """A scatter of elements with an index of which `mode` says what numbers mean that name no cell.

    `function` is the one that makes a new array; `into` is the one that works in place, if that is
    wanted. Both take `options`."""
    if mode not in ("error", "wrap", "drop", "clip"):
        raise ValueError(f"mode = {mode!r}: it must be error, wrap, drop or clip")
    shape, dim = np.shape(input) or (1,), operator.index(dim)
    run = into or function
    if mode == "error" or not -len(shape) <= dim < len(shape):
        return run(input, dim, index, src, **options)
    index, library = _as_array(index)
    size = shape[dim]
    if mode == "wrap":
        return run(input, dim, library.where(index < 0, index + size, index), src, **options)
    if mode == "clip":
        # Where there is no cell there is no nearest one.
        return run(input, dim, index if size == 0 else index.clip(0, size - 1), src, **options)
    # What is left out goes to a slice behind the last one, which is left out afterwards.
    index = library.where((index < 0) | (index >= size), size, index)
    wide = _with_slice(input, shape, dim)
    part = (slice(None),) * (dim % len(shape)) + (slice(0, size),)
    found = function(wide, dim, index, src, **options)[part].reshape(np.shape(input))
    return _given(found, input, into is not None)


def with_plan(function, into, input, dim, src, plan, join, **options):
    """A scatter of slices to the rows of a `strew.Plan`; `join` is the plan's word for how they
    join.
    """
    include_self = options.get("include_self", True)
    if operators := dispatcher(input, src):
        mode = "drop" if plan.dropped else "error"
        if not operators.plan.follows(input, src):
            return with_mode(
                function, into, input, dim, _rows(plan, src, dim), src, mode, **options
            )

        def again(input, src):
            return with_mode(
                function, None, input, dim, _rows(plan, src, dim), src, mode, **options
            )

        in_place = into is not None
        return operators.plan.scatter(plan, input, src, dim, join, include_self, again, in_place)
    if into is not None:
        return plan.scatter(src, join, dim=dim, out=input, include_self=include_self)
    copy, library = _as_array(input)
    copy = np.array(copy) if library is np else copy.clone(memory_format=library.contiguous_format)
    return _given(
        plan.scatter(src, join, dim=dim, out=copy, include_self=include_self), input, False
    )


def _is_tensor(array):
    """Whether it is torch's. Which methods it has is no way to ask: torch.compile of 2.9 says that
    it has none.
    """
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def _as_array(array):
    """Something that computes, and the library that it does so with."""
    if _is_tensor(array):
        return array, sys.modules["torch"]
    return np.asarray(array), np


def _with_slice(input, shape, dim):
    """The input with a slice of zeros behind its last one."""
    input, library = _as_array(input)
    wide = list(shape)
    wide[dim] = 1
    return library.concatenate([input.reshape(shape), library.zeros(wide, dtype=input.dtype)], dim)


def _given(found, input, in_place):
    """The result as the input's library has it, or in the input itself."""
    if in_place:
        if _is_tensor(input):
            return input.copy_(found)
        input[...] = found
        return input
    if _is_tensor(found):
        return found.contiguous()
    found = np.ascontiguousarray(found).reshape(found.shape)
    namespace = getattr(input, "__array_namespace__", None)
    return found if namespace is None else namespace().asarray(found)


def _rows(plan, src, dim):
    """The plan's index as a tensor of `src`'s shape; -1 for what is left out."""
    rows = sys.modules["torch"].as_tensor(plan.gather(np.arange(1, plan.size + 1))) - 1
    shape = [1] * src.dim()
    shape[dim] = len(plan)
    return rows.reshape(shape).expand(src.shape)


def with_arg(scatter_reduce, gather, input, dim, index, src, reduce, include_self):
    """The extremes, and where along `dim` in `src` the first update is that has each cell's."""
    if reduce not in ("amax", "amin"):
        raise ValueError(f"reduce = {reduce!r}: it must be amax or amin")
    given, (input, library) = input, _as_array(input)
    taken = np.asarray if library is np else library.as_tensor
    index, src = taken(index), taken(src)
    found = scatter_reduce(input, dim, index, src, reduce, include_self=include_self)
    held, index, src = (x.detach() if _is_tensor(x) else x for x in (found, index, src))
    none = src.shape[dim] if src.ndim else 1
    arg = library.full(input.shape or (1,), none, dtype=library.int64)
    if index.size if library is np else index.numel():
        index = index.reshape(index.shape or (1,))
        part = src.reshape(src.shape or (1,))[tuple(slice(0, size) for size in index.shape)]
        cells = gather(held.reshape(held.shape or (1,)), dim, index)
        line = [1] * index.ndim
        line[dim] = index.shape[dim]
        place = library.arange(index.shape[dim], dtype=library.int64).reshape(line)
        place = library.where(
            _same(part, cells), place, library.full(line, none, dtype=library.int64)
        )
        arg = scatter_reduce(arg, dim, index, place, "amin")
    arg = arg.reshape(input.shape)
    if include_self:
        # It comes before all updates.
        arg = library.where(_same(input.detach() if _is_tensor(input) else input, held), none, arg)
    return _given(found, given, False), _given(arg, given, False)


def _same(a, b):
    return (a == b) | ((a != a) & (b != b))
