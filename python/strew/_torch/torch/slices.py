"""Operators that replace a part which numbers name, such as a slice, in torch's dispatcher."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from ..calls import Call
from .function import Function
from .scatter import of_assignment

if TYPE_CHECKING:
    from torch import Tensor

    from ..calls import Batch, Batched, Gradients


class Part(Call):
    """An operator that replaces the part of `input` of which `part` is a view."""

    differentiable = ("input", "src")
    like = ("input",)
    keeps_early = True
    #: The arguments that are axes of `input`.
    axes: tuple[str, ...] = ("dim",)

    def part(self, tensor: Tensor) -> Tensor:
        raise NotImplementedError

    def prepare(self) -> None:
        # `src` is converted to the dtype of `input`.
        self.input_dtype, self.src_dtype = self.input.dtype, self.src.dtype

    def backward(self, grad: Tensor) -> Gradients:
        of_input = self.rerun(grad, grad.new_zeros(self.src_shape))
        return of_input, self.part(grad).to(self.src_dtype)

    def vmap(self, batch: Batch) -> Batched:
        axes = {name: batch.axis(getattr(self, name), "input") for name in self.axes}
        rows = {"input": batch.rows("input"), "src": batch.rows("src")}
        return self.apply(self.operator, **rows, **axes), 0


class SliceScatter(Part):
    row = "torch.slice_scatter"

    def part(self, tensor: Tensor) -> Tensor:
        return torch.ops.aten.slice.Tensor(tensor, self.dim, self.start, self.end, self.step)


class SelectScatter(Part):
    row = "torch.select_scatter"

    def part(self, tensor: Tensor) -> Tensor:
        return tensor.select(self.dim, self.index)


class DiagonalScatter(Part):
    row = "torch.diagonal_scatter"
    axes = ("dim1", "dim2")

    def part(self, tensor: Tensor) -> Tensor:
        return tensor.diagonal(self.offset, self.dim1, self.dim2)


class AsStridedScatter(Part):
    row = "torch.as_strided_scatter"

    def rerun(self, input: Tensor, src: Tensor) -> Tensor:
        return super().rerun(input.contiguous(), src)

    def backward(self, grad: Tensor) -> Gradients:
        # Several elements of `src` may have one position.
        of_input, of_src = of_assignment(self.rerun, grad, self.src_shape)
        return of_input, of_src.to(self.src_dtype)

    def vmap(self, batch: Batch) -> Batched:
        rows = batch.rows("input").contiguous()
        size = [batch.size, *self.size]
        stride = [math.prod(rows.shape[1:]), *self.stride]
        places = {"size": size, "stride": stride}
        return self.apply(self.operator, input=rows, src=batch.rows("src"), **places), 0


slice_scatter = Function(
    SliceScatter, in_place=False, start="SymInt?=None", end="SymInt?=None", step="SymInt=1"
)
select_scatter = Function(SelectScatter, in_place=False, index="SymInt")
diagonal_scatter = Function(DiagonalScatter, in_place=False)
as_strided_scatter = Function(AsStridedScatter, in_place=False, storage_offset="SymInt=0")
