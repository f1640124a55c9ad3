"""``put``, ``masked_scatter`` and ``index_put`` in torch's dispatcher."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from ..._native.errors import Problem
from ..calls import Call, define
from ..tensors import padded_to
from .function import Function
from .index import wrapped
from .scatter import (
    element_numbers,
    expanded_along,
    flat_rows,
    gather,
    of_assigned_slices,
    of_assignment,
    scatter_add,
    scatter_src,
    sum_by_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from torch import Tensor

    from ..calls import Batch, Batched, Gradients
    from ..tensors import Shape


class Put(Call):
    row = "torch.put"
    differentiable = ("input", "source")
    keeps = ("index",)
    like = ("input",)

    def backward(self, grad: Tensor) -> Gradients:
        if not self.accumulate:
            return of_assignment(self.rerun, grad, self.source_shape)
        index = wrapped(self.index.reshape(-1), grad.numel())
        return grad, gather(grad.reshape(-1), 0, index).reshape(self.source_shape)

    def vmap(self, batch: Batch) -> Batched:
        at, source = flat_rows(batch.rows("index")), flat_rows(batch.rows("source"))
        return _into(batch.rows("input"), at, source, self.accumulate)


put = Function(Put)


class MaskedScatter(Call):
    row = "torch.masked_scatter"
    differentiable = ("input", "source")
    keeps = ("mask",)

    def empty(self) -> Tensor:
        return self.input.new_empty(torch.broadcast_shapes(self.input.shape, self.mask.shape))

    def backward(self, grad: Tensor) -> Gradients:
        into, size = self.input_shape, math.prod(self.source_shape)
        # More elements than these are not used.
        of_input, of_source = of_assignment(self.rerun, grad, (min(size, grad.numel()),))
        if of_input.shape != into:
            numbers = element_numbers(into, grad.device)
            of_input = sum_by_number(numbers.expand(grad.shape), of_input, into)
        return of_input, padded_to(of_source, (size,)).reshape(self.source_shape)

    def vmap(self, batch: Batch) -> Batched:
        input, mask = batch.rows("input"), batch.rows("mask")
        rank = max(input.dim(), mask.dim())
        input, mask = torch.broadcast_tensors(_padded(input, rank), _padded(mask, rank))
        rows, mask_rows, source = flat_rows(input), flat_rows(mask), flat_rows(batch.rows("source"))
        # An extra first element, which is never used: there may be no other.
        source = torch.nn.functional.pad(source, (1, 0))
        at = torch.where(mask_rows, mask_rows.cumsum(1), 0)
        found = torch.where(mask_rows, gather(source, 1, at), rows)
        return found.reshape(input.shape), 0


masked_scatter = Function(MaskedScatter)


class Indexed(Call):
    """A call with a list of indices, in which None stands for a whole axis."""

    keeps_early = True

    def kept(self) -> Sequence[Tensor]:
        self.whole = [index is None for index in self.indices]
        return [index for index in self.indices if index is not None]

    def restore(self, saved: Sequence[Tensor]) -> None:
        named = iter(saved)
        self.indices: list[Any] = [None if whole else next(named) for whole in self.whole]


class IndexPut(Indexed):
    row = "torch.index_put"
    differentiable = ("input", "values")
    like = ("input",)

    def backward(self, grad: Tensor) -> Gradients:
        of_input = grad if self.accumulate else self.rerun(grad, grad.new_zeros(()))
        return of_input, self.apply(index_put_values, grad=grad, shape=self.values_shape)

    def vmap(self, batch: Batch) -> Batched:
        input, values = batch.rows("input"), batch.rows("values")
        if any(one is not None for one in batch.dims["indices"]):
            samples = _samples(batch, self.indices)
            at = torch.stack([positions(input.shape[1:], own, input.device) for own in samples])
        else:
            at = positions(input.shape[1:], self.indices, input.device)
            at = at.expand(batch.size, *at.shape)
        values = _padded(values, at.dim()).expand(at.shape)
        return _into(input, flat_rows(at), flat_rows(values), self.accumulate)


index_put = Function(IndexPut)


def _values(
    grad: Tensor, indices: Sequence[Tensor | None], shape: Shape, accumulate: bool
) -> Tensor:
    axes, rest = _named_axes(grad, indices)
    # Move the indexed axes to the front, so that each update is a row.
    sizes, window = [grad.shape[axis] for axis in axes], [grad.shape[axis] for axis in rest]
    rows = grad.permute((*axes, *rest)).reshape(math.prod(sizes), math.prod(window))
    named = [index for index in indices if index is not None]
    at = positions(sizes, named, grad.device)
    flat = at.reshape(-1)
    if accumulate:
        found = gather(rows, 0, expanded_along(flat, 0, (flat.numel(), rows.shape[1])))
    else:
        _, found = of_assigned_slices(flat, 0, rows)
    found = found.reshape((*at.shape, *window))
    # The result of adjacent indexed axes stays in their place.
    if axes and axes == list(range(axes[0], axes[0] + len(axes))):
        batch = list(range(at.dim()))
        found = found.movedim(batch, [axes[0] + axis for axis in batch])
    if found.shape == torch.Size(shape):
        return found.contiguous()
    numbers = element_numbers(shape, grad.device)
    return sum_by_number(numbers.expand(found.shape), found, shape)


def _named_axes(tensor: Tensor, indices: Sequence[Tensor | None]) -> tuple[list[int], list[int]]:
    """The axes that indices name, and the others."""
    axes: list[int] = []
    axis = 0
    for index in indices:
        count = index.dim() if index is not None and index.dtype in (torch.bool, torch.uint8) else 1
        if index is not None:
            axes += range(axis, axis + count)
        axis += count
    return axes, [axis for axis in range(tensor.dim()) if axis not in axes]


class IndexPutValues(Indexed):
    """The gradient of each value of an ``index_put``, which is its derivative in turn."""

    schema = (
        "index_put_values(Tensor grad, Tensor?[] indices, SymInt[] shape, bool accumulate)"
        " -> Tensor"
    )
    run = staticmethod(_values)
    differentiable = ("grad",)

    def empty(self) -> Tensor:
        return self.grad.new_empty(self.shape)

    def backward(self, values: Tensor) -> Gradients:
        return self.apply(index_put, input=values.new_zeros(self.grad_shape), values=values)

    def vmap(self, batch: Batch) -> Batched:
        samples = zip(batch.rows("grad"), _samples(batch, self.indices), strict=True)
        return torch.stack([self.apply(self.operator, grad=g, indices=i) for g, i in samples]), 0


index_put_values = define(IndexPutValues)


def positions(shape: Shape, indices: Sequence[Tensor | None], device: torch.device) -> Tensor:
    """The positions, counted row by row, that indices select in a tensor of that shape."""
    every = element_numbers(shape, device)
    if all(index is None for index in indices):
        return every
    # Python's brackets would take a tensor without dimensions as a number.
    return torch.ops.aten.index.Tensor(
        every, [None if index is None else _as_mask(index) for index in indices]
    )


def _as_mask(index: Tensor) -> Tensor:
    return index.bool() if index.dtype == torch.uint8 else index


def _into(rows: Tensor, at: Tensor, source: Tensor, accumulate: bool) -> Batched:
    """Elements put at positions of each row."""
    if at.shape != source.shape:
        said = f"put_(): {at.shape[1]} positions for {source.shape[1]} elements"
        raise Problem(IndexError, "put_", "source", source.shape[1]).in_words(said)
    found = flat_rows(rows)
    at = wrapped(at, found.shape[1])
    found = (
        scatter_add(found, 1, at, source) if accumulate else scatter_src(found, 1, at, source, None)
    )
    return found.reshape(rows.shape), 0


def _padded(rows: Tensor, rank: int) -> Tensor:
    """The tensor with axes of 1 behind its first."""
    return rows.reshape(rows.shape[0], *[1] * (rank - rows.dim()), *rows.shape[1:])


def _samples(batch: Batch, indices: Sequence[Any]) -> Iterator[list[Tensor | None]]:
    """The indices of each sample."""
    for sample in range(batch.size):
        pairs = zip(batch.dims["indices"], indices, strict=True)
        yield [index if axis is None else index.select(axis, sample) for axis, index in pairs]
