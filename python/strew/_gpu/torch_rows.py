"""PyTorch's operators on a device: a form for each row of `strew.torch`.

A form returns a new tensor. Rows in place (with ``_`` at the end) have the form of the others, and
their result is copied into the target at the end.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import torch

from .along import Along
from .arithmetic import signed, times
from .exact import fold_exactly
from .fold import Grouping, Reduction, fold, start_of, updates_along

if TYPE_CHECKING:
    from typing import Any

    from torch import Tensor

    from .run import Form, Run

#: What `reduce` is called in the different rows.
_KINDS = {
    "add": "sum",
    "multiply": "prod",
    "sum": "sum",
    "mean": "sum",
    "prod": "prod",
    "amax": "max",
    "max": "max",
    "amin": "min",
    "min": "min",
}


def reduction_of(reduce: str, include_self: bool) -> Reduction:
    """PyTorch's reduction of that name."""
    mean = "down" if reduce == "mean" else ""
    return Reduction(_KINDS[reduce], include_self, mean, count_cell=include_self)


def _copy(tensor: Tensor) -> Tensor:
    return tensor.clone(memory_format=torch.contiguous_format)


def _join(along: Along, out: Tensor, src: Tensor, reduce: str, include_self: bool) -> Tensor:
    """Updates reduced into `out`, which is overwritten."""
    if reduce.startswith("exact_"):
        fold_exactly(along, out, src, mean=reduce == "exact_mean", from_cell=include_self)
    else:
        along.fold(out, src, reduction_of(reduce, include_self))
    return out


def _elements(run: Run, src: Tensor, reduce: str | None, include_self: bool = True) -> Tensor:
    """Elements that each have an index along `dim`."""
    out, index = _copy(run.input), run.index
    if index.numel() == 0:
        return out
    flat = out.reshape(1) if out.dim() == 0 else out
    index = index.reshape(1) if index.dim() == 0 else index
    dim = run.dim % flat.dim()
    run.expect_inside(index, flat.shape[dim])
    src = src.reshape(1) if src.dim() == 0 else src
    src = src[tuple(slice(size) for size in index.shape)]
    along = Along(flat.shape, dim, index)
    if reduce is None:
        return along.assign(flat, src).reshape(out.shape)
    return _join(along, flat, src, reduce, include_self).reshape(out.shape)


def scatter(run: Run) -> Tensor:
    src = run.src
    if src is None:
        src = _number(run.value, run.input).expand(run.index.shape)
    return _elements(run, src, run.reduce)


def _number(value: Any, like: Tensor) -> Tensor:
    return torch.full((), value, dtype=like.dtype, device=like.device)


def scatter_add(run: Run) -> Tensor:
    return _elements(run, run.src, "sum")


def scatter_reduce(run: Run) -> Tensor:
    return _elements(run, run.src, run.reduce, run.include_self)


def _slices(
    run: Run,
    source: Tensor,
    reduce: str | None,
    include_self: bool = True,
    wraps: bool = False,
) -> Tensor:
    """Slices that a vector names; negative numbers count from the end if it `wraps`."""
    out = _copy(run.input)
    flat = out.reshape(1) if out.dim() == 0 else out
    index, dim = run.index.reshape(-1), run.dim % flat.dim()
    size = flat.shape[dim]
    run.expect_inside(index, size, -size if wraps else 0)
    index = _wrapped(index, size) if wraps else index
    shape = list(flat.shape)
    shape[dim] = index.numel()
    along = Along(flat.shape, dim, _along(index, dim, shape))
    source = source.expand(shape) if source.dim() == 0 else source.reshape(shape)
    if reduce is None:
        return along.assign(flat, source).reshape(out.shape)
    return _join(along, flat, source, reduce, include_self).reshape(out.shape)


def _along(vector: Tensor, dim: int, shape: list[int]) -> Tensor:
    """A vector repeated to a shape, in which it lies along one axis."""
    line = [1] * len(shape)
    line[dim] = vector.numel()
    return vector.reshape(line).expand(shape)


def index_add(run: Run) -> Tensor:
    source, alpha = run.source, _number(run.alpha, run.input)
    if run.alpha != 1 and not bool(alpha.cpu() == 1):
        source = times(source, alpha)
    return _slices(run, source, "sum")


def index_reduce(run: Run) -> Tensor:
    return _slices(run, run.source, run.reduce, run.include_self)


def index_copy(run: Run) -> Tensor:
    return _slices(run, run.source, None)


def index_fill(run: Run) -> Tensor:
    return _slices(run, _number(run.value, run.input), None, wraps=True)


def put(run: Run) -> Tensor:
    index, size = run.index.reshape(-1), run.input.numel()
    run.expect_inside(index, size, -size)
    return _at(run.input, _wrapped(index, size), run.source, run.accumulate)


def _at(input: Tensor, numbers: Tensor, source: Tensor, accumulate: bool) -> Tensor:
    """Elements put at numbers of a tensor's elements, row by row."""
    out = _copy(input)
    along = Along((out.numel(),), 0, numbers.reshape(-1))
    if not accumulate:
        return along.assign(out.reshape(-1), source.reshape(-1)).reshape(out.shape)
    along.fold(out.reshape(-1), source.reshape(-1), reduction_of("sum", True))
    return out


def _wrapped(index: Tensor, size: int) -> Tensor:
    """The index without negative numbers, which count from the end."""
    return torch.where(index < 0, index + size, index)


def masked_scatter(run: Run) -> Tensor:
    input, mask = torch.broadcast_tensors(run.input, run.mask.to(torch.bool))
    source = run.source.reshape(-1)
    taken = mask.reshape(-1).cumsum(0)
    if mask.numel() > source.numel():
        run.expect(int(taken[-1]) <= source.numel())
    if source.numel() == 0:
        return _copy(input)
    at = (taken - 1).clamp(min=0, max=source.numel() - 1).reshape(mask.shape)
    picked = torch.where(mask, signed(source)[at], signed(input.contiguous()))
    return picked.view(run.input.dtype)


def index_put(run: Run) -> Tensor:
    input, axis = run.input, 0
    indices: list[Tensor | None] = []
    for index in run.indices:
        if index is None:
            indices.append(None)
            axis += 1
        elif index.dtype in (torch.bool, torch.uint8):
            # A mask counts for as many axes as it has: the numbers of what it chooses.
            indices += index.to(torch.bool).nonzero(as_tuple=True)
            axis += index.dim()
        else:
            size = input.shape[axis]
            run.expect_inside(index, size, -size)
            indices.append(_wrapped(index.to(torch.int64), size))
            axis += 1
    every = torch.arange(input.numel(), device=input.device).reshape(input.shape)
    named = any(index is not None for index in indices)
    at = torch.ops.aten.index.Tensor(every, indices) if named else every
    return _at(input, at, run.values.expand(at.shape), run.accumulate)


def gather(run: Run) -> Tensor:
    input, index = run.input, run.index
    if index.numel() == 0:
        return input.new_empty(index.shape)
    flat = input.reshape(1) if input.dim() == 0 else input
    line = index.reshape(1) if index.dim() == 0 else index
    dim = run.dim % flat.dim()
    run.expect_inside(line, flat.shape[dim])
    found = signed(flat).gather(dim, line.to(torch.int64))
    return found.view(input.dtype).reshape(index.shape)


def take_along_dim(run: Run) -> Tensor:
    input, indices, dim = run.input, run.indices, run.dim
    if dim is None:
        run.expect_inside(indices, input.numel())
        taken = signed(input).reshape(-1)[indices.reshape(-1).to(torch.int64)]
        return taken.view(input.dtype)
    if input.dim() == 0:
        run.expect_inside(indices, 1, -1)
        return _copy(input)
    dim %= input.dim()
    size = input.shape[dim]
    shape = list(torch.broadcast_shapes(*(_without(one.shape, dim) for one in (input, indices))))
    wide, line = list(shape), list(shape)
    wide[dim], line[dim] = size, indices.shape[dim]
    indices = indices.expand(line)
    if indices.numel() == 0:
        return input.new_empty(line)
    run.expect_inside(indices, size, -size)
    found = signed(input).expand(wide).gather(dim, _wrapped(indices, size).to(torch.int64))
    return found.view(input.dtype)


def _without(shape: torch.Size, dim: int) -> list[int]:
    return [1 if axis == dim else size for axis, size in enumerate(shape)]


def segment_reduce(run: Run) -> Tensor:
    data, axis = run.data, run.axis % run.data.dim()
    size = data.shape[axis]
    if run.offsets is not None:
        pointers = run.offsets
        run.expect(not bool((pointers[..., 1:] < pointers[..., :-1]).any()))
        run.expect_inside(pointers, size + 1)
    else:
        pointers = torch.nn.functional.pad(run.lengths.to(torch.int64).cumsum(-1), (1, 0))
        fits = (run.lengths >= 0).all() & (pointers <= size).all()
        if not run.unsafe:
            fits = fits & (pointers[..., -1] == size).all()
        run.expect(bool(fits))
    shape = list(data.shape)
    shape[axis] = pointers.shape[axis] - 1
    reduction = reduction_of(run.reduce, run.initial is not None)
    reduction = reduction._replace(count_cell=False)
    if run.initial is not None:
        out = _number(run.initial, data).expand(shape)
    elif reduction.mean:
        out = data.new_full(shape, torch.nan)
    else:
        dtype = torch.float32 if data.is_complex() else data.dtype
        out = torch.full(shape, start_of(dtype, reduction), device=data.device).to(data.dtype)
    return fold_runs(_copy(out), data, axis, pointers, reduction)


def fold_runs(
    out: Tensor,
    src: Tensor,
    axis: int,
    pointers: Tensor,
    reduction: Reduction,
    arg: Tensor | None = None,
) -> Tensor:
    """Folds the elements from each pointer to the next, of each line of pointers."""
    lines, size = prod(src.shape[:axis]), src.shape[axis]
    begins = torch.arange(lines, device=src.device).reshape(-1, 1) * size
    pointers = pointers.to(torch.int64).reshape(lines, -1) + begins
    grouping = Grouping(
        None, pointers[:, :-1].reshape(-1).contiguous(), pointers[:, 1:].reshape(-1).contiguous()
    )
    rows = updates_along(src.reshape(lines * size, -1), 0)
    fold(out, rows, grouping, reduction, arg, (1, max(size, 1)))
    return out


def _part(run: Run, part: Any) -> Tensor:
    out = _copy(run.input)
    part(out).copy_(run.src)
    return out


def slice_scatter(run: Run) -> Tensor:
    step = 1 if run.step is None else run.step
    cut = torch.ops.aten.slice.Tensor
    return _part(run, lambda out: cut(out, run.dim, run.start, run.end, step))


def select_scatter(run: Run) -> Tensor:
    return _part(run, lambda out: out.select(run.dim, run.index))


def diagonal_scatter(run: Run) -> Tensor:
    return _part(run, lambda out: out.diagonal(run.offset, run.dim1, run.dim2))


def as_strided_scatter(run: Run) -> Tensor:
    numbers = torch.arange(run.input.numel(), device=run.input.device)
    at = numbers.as_strided(run.size, run.stride, run.storage_offset or 0)
    return _at(run.input, at, run.src.to(run.input.dtype), False)


FORMS: dict[str, Form] = {
    f"torch.{form.__name__}": form
    for form in (
        as_strided_scatter,
        diagonal_scatter,
        gather,
        index_add,
        index_copy,
        index_fill,
        index_put,
        index_reduce,
        masked_scatter,
        put,
        scatter,
        scatter_add,
        scatter_reduce,
        segment_reduce,
        select_scatter,
        slice_scatter,
        take_along_dim,
    )
}
