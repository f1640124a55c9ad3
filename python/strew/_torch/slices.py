"""``slice_scatter`` and ``select_scatter`` in torch's dispatcher."""

# torch is not there where the package is checked.
# mypy: ignore-errors

import torch

from .function import Function
from .registry import Derivatives, batched
from .scatter import tangents


class Slice(Derivatives):
    """Of an operator that replaces a slice."""

    def __init__(self, input, src, dim, *place):
        self.input, self.src = (input.shape, input.dtype), (src.shape, src.dtype)
        self.dim, self.place = dim, place

    def tensors(self, arguments, results):
        return ()

    def scattered(self, input, src):
        return slice_scatter(input, src, self.dim, *self.place)

    def of(self, tensor):
        """The slice."""
        return torch.ops.aten.slice.Tensor(tensor, self.dim, *self.place)

    def backward(self, saved, grad):
        shape, dtype = self.src
        of_input = self.scattered(grad, grad.new_zeros(shape))
        return of_input, self.of(grad).to(dtype), None, *(None for _ in self.place)

    def forward(self, saved, input_t, src_t, *_):
        return self.scattered(*tangents(input_t, self.input, src_t, self.src))


class Select(Slice):
    def scattered(self, input, src):
        return select_scatter(input, src, self.dim, *self.place)

    def of(self, tensor):
        return tensor.select(self.dim, *self.place)


def _vmap(name):
    def rule(info, in_dims, input, src, dim, *place):
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
