"""Operators that replace a part which numbers name, such as a slice, in torch's dispatcher."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from ..registry import Derivatives, batched
from .function import Function
from .scatter import of_assignment, tangents

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from torch import Tensor

    from ..registry import Batched, Gradients, Saved, Tangent, Tangents


class Slice(Derivatives):
    """Derivatives of an operator that replaces a slice."""

    def __init__(self, input: Tensor, src: Tensor, dim: int, *place: int) -> None:
        self.input, self.src = (input.shape, input.dtype), (src.shape, src.dtype)
        self.dim, self.place = dim, place

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return ()

    def scattered(self, input: Tensor, src: Tensor) -> Tensor:
        return slice_scatter(input, src, self.dim, *self.place)

    def of(self, tensor: Tensor) -> Tensor:
        """The slice."""
        return torch.ops.aten.slice.Tensor(tensor, self.dim, *self.place)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        shape, dtype = self.src
        of_input = self.scattered(grad, grad.new_zeros(shape))
        return of_input, self.of(grad).to(dtype), None, *(None for _ in self.place)

    def forward(self, saved: Saved, input_t: Tangent, src_t: Tangent, *_: Any) -> Tangents:
        return self.scattered(*tangents(input_t, self.input, src_t, self.src))


class Select(Slice):
    def scattered(self, input: Tensor, src: Tensor) -> Tensor:
        return select_scatter(input, src, self.dim, *self.place)

    def of(self, tensor: Tensor) -> Tensor:
        return tensor.select(self.dim, *self.place)


def _vmap(name: str) -> Callable[..., Batched]:
    def rule(
        info: Any, in_dims: Sequence[Any], input: Tensor, src: Tensor, dim: int, *place: int
    ) -> Batched:
        dim = dim if dim >= 0 else dim + input.dim() - (in_dims[0] is not None)
        rows, src = (
            batched(tensor, at, info.batch_size)
            for tensor, at in zip((input, src), in_dims, strict=False)
        )
        return getattr(torch.ops.strew, name)(rows, src, dim + 1, *place), 0

    return rule


slice_scatter = Function(
    "slice_scatter",
    "Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1",
    Slice,
    _vmap("slice_scatter"),
    in_place=False,
)

select_scatter = Function(
    "select_scatter",
    "Tensor src, int dim, SymInt index",
    Select,
    _vmap("select_scatter"),
    in_place=False,
)


class Part(Derivatives):
    """Derivatives of an operator that replaces a part of `input`, which numbers name."""

    def __init__(self, input: Tensor, src: Tensor, *place: Any) -> None:
        self.input, self.src = (input.shape, input.dtype), (src.shape, src.dtype)
        self.place = place

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return ()

    def scattered(self, input: Tensor, src: Tensor) -> Tensor:
        raise NotImplementedError

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        of_input, of_src = self.gradients(grad)
        return of_input, of_src.to(self.src[1]), *(None for _ in self.place)

    def gradients(self, grad: Tensor) -> tuple[Tensor, Tensor]:
        """Of `input` and of `src`."""
        raise NotImplementedError

    def forward(self, saved: Saved, input_t: Tangent, src_t: Tangent, *_: Any) -> Tangents:
        return self.scattered(*tangents(input_t, self.input, src_t, self.src))


class Diagonal(Part):
    def scattered(self, input: Tensor, src: Tensor) -> Tensor:
        return diagonal_scatter(input, src, *self.place)

    def gradients(self, grad: Tensor) -> tuple[Tensor, Tensor]:
        of_input = self.scattered(grad, grad.new_zeros(self.src[0]))
        return of_input, grad.diagonal(*self.place)


class Strided(Part):
    def scattered(self, input: Tensor, src: Tensor) -> Tensor:
        return as_strided_scatter(input.contiguous(), src, *self.place)

    def gradients(self, grad: Tensor) -> tuple[Tensor, Tensor]:
        # Several elements of `src` may have one position.
        return of_assignment(self.scattered, grad, self.src[0])


def _rows_of(info: Any, in_dims: Sequence[Any], *tensors: Tensor) -> list[Tensor]:
    pairs = zip(tensors, in_dims, strict=False)
    return [batched(tensor, at, info.batch_size) for tensor, at in pairs]


def _diagonal_vmap(
    info: Any,
    in_dims: Sequence[Any],
    input: Tensor,
    src: Tensor,
    offset: int,
    dim1: int,
    dim2: int,
) -> Batched:
    rank = input.dim() - (in_dims[0] is not None)
    rows, src = _rows_of(info, in_dims, input, src)
    dim1, dim2 = ((dim if dim >= 0 else dim + rank) + 1 for dim in (dim1, dim2))
    return diagonal_scatter(rows, src, offset, dim1, dim2), 0


def _strided_vmap(
    info: Any,
    in_dims: Sequence[Any],
    input: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    offset: int,
) -> Batched:
    rows, src = _rows_of(info, in_dims, input, src)
    own = math.prod(rows.shape[1:])
    sizes, strides = [info.batch_size, *size], [own, *stride]
    return as_strided_scatter(rows.contiguous(), src, sizes, strides, offset), 0


diagonal_scatter = Function(
    "diagonal_scatter",
    "Tensor src, int offset=0, int dim1=0, int dim2=1",
    Diagonal,
    _diagonal_vmap,
    in_place=False,
)

as_strided_scatter = Function(
    "as_strided_scatter",
    "Tensor src, SymInt[] size, SymInt[] stride, SymInt storage_offset=0",
    Strided,
    _strided_vmap,
    in_place=False,
)
