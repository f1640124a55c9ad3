"""``index_add``, ``index_reduce``, ``index_copy`` and ``index_fill`` in torch's dispatcher."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..calls import Call
from ..tensors import as_tensor, at_least_1d, at_least_1d_shape
from .function import Function
from .scatter import (
    expanded_along,
    gather,
    of_assigned_slices,
    scatter_add,
    scatter_src,
    scatter_value,
)
from .scatter_reduce import ScatterReduce, scatter_reduce

if TYPE_CHECKING:
    from typing import Any

    from torch import Tensor

    from ..calls import Batch, Batched, Gradients, Tangent, Tangents


class Slices(Call):
    """An operator on slices of `input` that a 1-d index names."""

    differentiable = ("input", "source")
    keeps: tuple[str, ...] = ("index",)
    like = ("input",)

    def backward(self, grad: Tensor) -> Gradients:
        of_input, of_source = self.gradients(self.index.reshape(-1), at_least_1d(grad))
        return of_input.reshape(self.input_shape), of_source.reshape(self.source_shape)

    def gradients(self, index: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
        """Of `input` and of `source`."""
        raise NotImplementedError

    def elements(self, input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
        """The same with an index for each element of `source`."""
        raise NotImplementedError

    def vmap(self, batch: Batch) -> Batched:
        rows, source = batch.matrix("input"), batch.matrix("source")
        dim = batch.axis(self.dim, "input")
        if not batch.has("index"):
            found = self.apply(self.operator, input=rows, dim=dim, source=source)
        else:
            index = along_each(batch.matrix("index"), dim, rows.dim()).expand(source.shape)
            found = self.elements(rows, dim, index, source)
        return found if batch.rank("input") > 0 else found.squeeze(1), 0


def along_each(index: Tensor, dim: int, rank: int) -> Tensor:
    """A vector for each sample, reshaped to lie along an axis of it."""
    shape = [1] * rank
    shape[0], shape[dim] = index.shape
    return index.reshape(shape)


class IndexAdd(Slices):
    row = "torch.index_add"

    def gradients(self, index: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
        # The gradient of each slice is that of its place.
        places = expanded_along(index, self.dim, at_least_1d_shape(self.source_shape))
        found = gather(grad, self.dim, places)
        return grad, found if self.alpha == 1 else found * self.alpha.conjugate()

    def elements(self, input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
        return scatter_add(input, dim, index, source if self.alpha == 1 else source * self.alpha)


index_add = Function(IndexAdd)


class IndexReduce(Slices, ScatterReduce):
    """The derivatives are those of ``scatter_reduce`` with the index repeated."""

    row = "torch.index_reduce"
    integers = ()
    keeps = ("index", "input", "source", "result")

    def backward(self, grad: Tensor) -> Gradients:
        self._repeat_index()
        return ScatterReduce.backward(self, grad)

    def forward(self, *tangents: Tangent) -> Tangents:
        self._repeat_index()
        return ScatterReduce.forward(self, *tangents)

    def _repeat_index(self) -> None:
        self.src, self.src_shape = self.source, self.source_shape
        shape = at_least_1d_shape(self.source_shape)
        self.index: Tensor = expanded_along(self.index, self.dim, shape)

    def elements(self, input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
        return self.apply(scatter_reduce, input=input, dim=dim, index=index, src=source)


index_reduce = Function(IndexReduce, keeps_input=True)


class IndexCopy(Slices):
    row = "torch.index_copy"

    def gradients(self, index: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
        return of_assigned_slices(index, self.dim, grad)

    def elements(self, input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
        return scatter_src(input, dim, index, source, None)


index_copy = Function(IndexCopy)


class IndexFill(Call):
    row = "torch.index_fill"
    differentiable = ("input",)
    keeps = ("index",)
    like = ("input",)

    def backward(self, grad: Tensor) -> Gradients:
        return self.apply(index_fill, input=grad, value=0)

    forward = backward

    def vmap(self, batch: Batch) -> Batched:
        rows, dim = batch.matrix("input"), batch.axis(self.dim, "input")
        if not batch.has("index"):
            found = self.apply(index_fill, input=rows, dim=dim)
        else:
            index = wrapped(batch.matrix("index"), rows.shape[dim])
            wide = list(rows.shape)
            wide[dim] = index.shape[1]
            index = along_each(index, dim, rows.dim()).expand(wide)
            found = scatter_value(rows, dim, index, self.value, None)
        return found if batch.rank("input") > 0 else found.squeeze(1), 0


index_fill = Function(IndexFill)


def wrapped(index: Tensor, size: int) -> Tensor:
    """The index without negative numbers, which count from the end."""
    return torch.where(index < 0, index + size, index)


def call_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any, in_place: bool = False
) -> Tensor:
    """``index_add`` by way of the dispatcher."""
    if isinstance(alpha, torch.Tensor):
        # A number as a tensor, which may have a derivative.
        source = as_tensor(source)
        source, alpha = source * alpha.to(source.dtype), 1
    return (index_add.call_ if in_place else index_add.call)(input, dim, index, source, alpha)


def call_fill(input: Tensor, dim: int, index: Tensor, value: Any, in_place: bool = False) -> Tensor:
    """``index_fill`` by way of the dispatcher."""
    if not isinstance(value, torch.Tensor):
        return (index_fill.call_ if in_place else index_fill.call)(input, dim, index, value)
    input = input if in_place else as_tensor(input)
    shape = list(at_least_1d_shape(input.shape))
    index = wrapped(as_tensor(index), shape[dim])
    shape[dim] = index.numel()
    # A number as a tensor, which may have a derivative: copy slices that are filled with it.
    source = value.to(input.dtype).expand(shape)
    return (index_copy.call_ if in_place else index_copy.call)(input, dim, index, source)
