"""``put``, ``masked_scatter`` and ``index_put`` in torch's dispatcher."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import torch

from ..registry import Derivatives, batched, define
from ..tensors import padded_to, plain
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
    tangents,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from torch import Tensor

    from ..registry import Batched, Gradients, Saved, Shape, Tangent, Tangents


class Placed(Derivatives):
    """Derivatives of an operator that puts elements of `source` into cells."""

    def __init__(self, input: Tensor, source: Tensor, *options: Any) -> None:
        self.input, self.source = (input.shape, input.dtype), (source.shape, source.dtype)
        self.options = options

    def rerun(self, saved: Saved, input: Tensor, source: Tensor) -> Tensor:
        """The operator with other tensors."""
        raise NotImplementedError

    def tangent(self, saved: Saved, input_t: Tangent, source_t: Tangent) -> Tensor:
        input_t, source_t = tangents(input_t, self.input, source_t, self.source)
        return self.rerun(saved, input_t, source_t)


class Put(Placed):
    def __init__(self, input: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> None:
        super().__init__(input, source, accumulate)

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return (arguments[1],)

    def rerun(self, saved: Saved, input: Tensor, source: Tensor) -> Tensor:
        return put(input, saved[0], source, *self.options)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        if self.options[0]:
            index = wrapped(saved[0].reshape(-1), grad.numel())
            of_input, of_source = grad, gather(grad.reshape(-1), 0, index).reshape(self.source[0])
        else:
            of_input, of_source = of_assignment(partial(self.rerun, saved), grad, self.source[0])
        return of_input, None, of_source, None

    def forward(
        self,
        saved: Saved,
        input_t: Tangent,
        _index: Any,
        source_t: Tangent,
        _accumulate: Any,
    ) -> Tangents:
        return self.tangent(saved, input_t, source_t)


class MaskedScatter(Placed):
    def __init__(self, input: Tensor, mask: Tensor, source: Tensor) -> None:
        super().__init__(input, source)

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return (arguments[1],)

    def rerun(self, saved: Saved, input: Tensor, source: Tensor) -> Tensor:
        return masked_scatter(input, saved[0], source)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        # More elements than these are not used.
        count = min(math.prod(self.source[0]), grad.numel())
        of_input, of_source = of_assignment(partial(self.rerun, saved), grad, (count,))
        if of_input.shape != self.input[0]:
            of_input = sum_by_number(
                element_numbers(self.input[0]).expand(grad.shape), of_input, self.input[0]
            )
        return (
            of_input,
            None,
            padded_to(of_source, (math.prod(self.source[0]),)).reshape(self.source[0]),
        )

    def forward(self, saved: Saved, input_t: Tangent, _mask: Any, source_t: Tangent) -> Tangents:
        return self.tangent(saved, input_t, source_t)


class Indexed:
    """Derivatives of an operator with a list of indices, in which None stands for a whole axis."""

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        self.whole = [index is None for index in arguments[1]]
        return [index for index in arguments[1] if index is not None]

    def indices(self, saved: Saved) -> list[Tensor | None]:
        named = iter(saved)
        return [None if whole else next(named) for whole in self.whole]


class IndexPut(Indexed, Placed):
    def __init__(
        self, input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool
    ) -> None:
        super().__init__(input, values, accumulate)

    def rerun(self, saved: Saved, input: Tensor, source: Tensor) -> Tensor:
        return index_put(input, self.indices(saved), source, *self.options)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        indices, (accumulate,) = self.indices(saved), self.options
        of_input = grad if accumulate else index_put(grad, indices, grad.new_zeros(()), False)
        return of_input, None, index_put_values(grad, indices, self.source[0], accumulate), None

    def forward(
        self,
        saved: Saved,
        input_t: Tangent,
        _indices: Any,
        values_t: Tangent,
        _accumulate: Any,
    ) -> Tangents:
        return self.tangent(saved, input_t, values_t)


def positions(shape: Shape, indices: Sequence[Tensor | None]) -> Tensor:
    """The positions, counted row by row, that indices select in a tensor of that shape."""
    every = element_numbers(shape)
    if all(index is None for index in indices):
        return every
    # Python's brackets would take a tensor without dimensions as a number.
    return torch.ops.aten.index.Tensor(
        every, [None if index is None else _as_mask(index) for index in indices]
    )


def _as_mask(index: Tensor) -> Tensor:
    return index.bool() if index.dtype == torch.uint8 else index


def _values_kernel(
    grad: Tensor, indices: Sequence[Tensor | None], shape: Shape, accumulate: bool
) -> Tensor:
    grad = plain(grad)
    axes, rest = _named_axes(grad, indices)
    # Move the indexed axes to the front, so that each update is a row.
    sizes, window = [grad.shape[axis] for axis in axes], [grad.shape[axis] for axis in rest]
    rows = grad.permute((*axes, *rest)).reshape(math.prod(sizes), math.prod(window))
    at = positions(sizes, [index for index in indices if index is not None])
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
    return sum_by_number(element_numbers(shape).expand(found.shape), found, shape)


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


class IndexPutValues(Indexed, Derivatives):
    def __init__(
        self, grad: Tensor, indices: Sequence[Tensor | None], shape: Shape, accumulate: bool
    ) -> None:
        self.grad_shape, self.options = grad.shape, (shape, accumulate)

    def backward(self, saved: Saved, values: Tensor) -> Gradients:
        zeros = values.new_zeros(self.grad_shape)
        return index_put(zeros, self.indices(saved), values, self.options[1]), None, None, None

    def forward(self, saved: Saved, grad_t: Tangent, *_: Any) -> Tangents:
        return index_put_values(grad_t, self.indices(saved), *self.options)


def _rows_of(info: Any, in_dims: Sequence[Any], *tensors: Tensor) -> list[Tensor]:
    return [
        batched(tensor, at, info.batch_size) for tensor, at in zip(tensors, in_dims, strict=True)
    ]


def _into(rows: Tensor, at: Tensor, source: Tensor, accumulate: bool) -> Batched:
    """Elements put at positions of each row."""
    if at.shape != source.shape:
        raise IndexError(f"put_(): {at.shape[1]} positions for {source.shape[1]} elements")
    found = flat_rows(rows)
    at = wrapped(at, found.shape[1])
    found = (
        scatter_add(found, 1, at, source) if accumulate else scatter_src(found, 1, at, source, None)
    )
    return found.reshape(rows.shape), 0


def _put_vmap(
    info: Any,
    in_dims: Sequence[Any],
    input: Tensor,
    index: Tensor,
    source: Tensor,
    accumulate: bool,
) -> Batched:
    input, index, source = _rows_of(info, in_dims[:3], input, index, source)
    return _into(input, flat_rows(index), flat_rows(source), accumulate)


def _masked_vmap(
    info: Any, in_dims: Sequence[Any], input: Tensor, mask: Tensor, source: Tensor
) -> Batched:
    input, mask, source = _rows_of(info, in_dims, input, mask, source)
    rank = max(input.dim(), mask.dim())
    input, mask = (_padded(tensor, rank) for tensor in (input, mask))
    input, mask = torch.broadcast_tensors(input, mask)
    rows, mask_rows, source = flat_rows(input), flat_rows(mask), flat_rows(source)
    # An extra first element, which is never used: there may be no other.
    source = torch.nn.functional.pad(source, (1, 0))
    at = torch.where(mask_rows, mask_rows.cumsum(1), 0)
    found = torch.where(mask_rows, gather(source, 1, at), rows)
    return found.reshape(input.shape), 0


def _padded(rows: Tensor, rank: int) -> Tensor:
    """The tensor with axes of 1 behind its first."""
    return rows.reshape(rows.shape[0], *[1] * (rank - rows.dim()), *rows.shape[1:])


def _samples(
    info: Any, at: Sequence[int | None], indices: Sequence[Any]
) -> Iterator[list[Tensor | None]]:
    """The indices of each sample."""
    for sample in range(info.batch_size):
        pairs = zip(at, indices, strict=True)
        yield [index if axis is None else index.select(axis, sample) for axis, index in pairs]


def _index_put_vmap(
    info: Any,
    in_dims: Sequence[Any],
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool,
) -> Batched:
    input, values = _rows_of(info, (in_dims[0], in_dims[2]), input, values)
    if any(one is not None for one in in_dims[1]):
        at = torch.stack(
            [positions(input.shape[1:], own) for own in _samples(info, in_dims[1], indices)]
        )
    else:
        at = positions(input.shape[1:], indices)
        at = at.expand(info.batch_size, *at.shape)
    values = _padded(values, at.dim()).expand(at.shape)
    return _into(input, flat_rows(at), flat_rows(values), accumulate)


def _values_vmap(
    info: Any,
    in_dims: Sequence[Any],
    grad: Tensor,
    indices: Sequence[Tensor | None],
    shape: Shape,
    accumulate: bool,
) -> Batched:
    (grad,) = _rows_of(info, in_dims[:1], grad)
    samples = zip(grad, _samples(info, in_dims[1], indices), strict=True)
    return torch.stack([index_put_values(one, own, shape, accumulate) for one, own in samples]), 0


put = Function("put", "Tensor index, Tensor source, bool accumulate=False", Put, _put_vmap)


def _masked_fake(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    return input.new_empty(torch.broadcast_shapes(input.shape, mask.shape))


masked_scatter = Function(
    "masked_scatter", "Tensor mask, Tensor source", MaskedScatter, _masked_vmap, _masked_fake
)

index_put = Function(
    "index_put",
    "Tensor?[] indices, Tensor values, bool accumulate=False",
    IndexPut,
    _index_put_vmap,
)

# The gradient of each value of an ``index_put``. The derivative of this operator is ``index_put``.
index_put_values = define(
    "index_put_values(Tensor grad, Tensor?[] indices, SymInt[] shape, bool accumulate) -> Tensor",
    _values_kernel,
    lambda grad, indices, shape, accumulate: grad.new_empty(shape),
    IndexPutValues,
    _values_vmap,
)
