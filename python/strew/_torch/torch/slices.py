"""``slice_scatter`` and ``select_scatter`` in torch's dispatcher."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..registry import Derivatives, batched
from .function import Function
from .scatter import tangents

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
