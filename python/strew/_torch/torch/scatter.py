"""``scatter``, ``scatter_add``, ``gather`` and ``take_along_dim`` in torch's dispatcher."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from ..._strew import Operator
from ..calls import AlongAxis, Call, as_argument
from ..tensors import as_tensor, at_least_1d, at_least_1d_shape, padded_to
from ..torch_scatter.scatter import scatter as sums
from .function import Function
from .scatter_reduce import ScatterReduce

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from torch import Tensor

    from ..calls import Batch, Batched, Gradients, KeepsFor, Tangent, Tangents
    from ..tensors import Shape


def element_numbers(shape: Shape, device: torch.device, dtype: torch.dtype = torch.int64) -> Tensor:
    """The numbers of a tensor's elements, row by row, in that shape."""
    return torch.arange(math.prod(shape), dtype=dtype, device=device).reshape(shape)


def whole(part: Tensor, shape: Shape) -> Tensor:
    """The gradient of `src` from that of its part that the index's shape covers."""
    return padded_to(part, at_least_1d_shape(shape)).reshape(shape)


def of_assignment(run: Callable[..., Any], grad: Tensor, src_shape: Shape) -> tuple[Tensor, Tensor]:
    """The gradients of the input and of the updates; `run` is the operator for other tensors."""
    # Run on the updates' numbers, the operator says which update each cell holds.
    dtype = torch.int32 if math.prod(src_shape) < 2**31 else torch.int64
    numbers = element_numbers(src_shape, grad.device, dtype)
    last = run(grad.new_full(grad.shape, -1, dtype=dtype), numbers)
    return torch.where(last < 0, grad, 0), gradient_of_updates(last, grad, src_shape)


def gradient_of_updates(last: Tensor, grad: Tensor, shape: Shape) -> Tensor:
    """The gradient of each update: the sum of those of the cells that hold it.

    `last` is the number of the update that a cell holds, or -1.
    """
    count = math.prod(shape)
    # Cells without an update go to one more, which is left out.
    found = sum_by_number(torch.where(last < 0, count, last), grad, (count + 1,))
    return found.narrow(0, 0, count).reshape(shape)


def of_assigned_slices(vector: Tensor, dim: int, grad: Tensor) -> tuple[Tensor, Tensor]:
    """`of_assignment` for slices that a vector names."""
    count = vector.numel()
    order = torch.arange(count, device=grad.device)
    last = scatter_src(order.new_full((grad.shape[dim],), -1), 0, vector, order, None)
    found = sums(grad, torch.where(last < 0, count, last), dim, count + 1, "sum")
    return torch.where(reshaped_along(last, dim, grad.dim()) < 0, grad, 0), found.narrow(
        dim, 0, count
    )


def expanded_along(vector: Tensor, dim: int, shape: Shape) -> Tensor:
    """A vector repeated to a shape, apart from `dim`, along which it lies."""
    return reshaped_along(vector, dim, len(shape)).expand(shape)


def reshaped_along(vector: Tensor, dim: int, rank: int) -> Tensor:
    """The vector reshaped to lie along one of several axes."""
    shape = [1] * rank
    shape[dim] = vector.numel()
    return vector.reshape(shape)


def repeated_vector(index: Tensor, dim: int, shape: Shape) -> Tensor | None:
    """The vector, if the index is one that is repeated over all other axes; else None."""
    if index.numel() == 0:
        return None
    index, dim = at_least_1d(index), dim % max(len(shape), 1)
    for axis in reversed(range(index.dim())):
        if axis == dim:
            continue
        if index.shape[axis] != shape[axis] or (shape[axis] > 1 and index.stride(axis) != 0):
            return None
        index = index.select(axis, 0)
    return index


# The name in `scatter_reduce` of what `scatter` takes as `reduce`.
_NAMES = {"add": "sum", "multiply": "prod"}


class ScatterSrc(ScatterReduce):
    """With `reduce`, the derivatives are those of ``scatter_reduce``.

    Without, of several updates of a cell only the last one has a gradient.
    """

    row = "torch.scatter"
    integers = ()
    keeps = ("index",)
    keeps_for: ClassVar[KeepsFor] = {"multiply": ScatterReduce.keeps}

    def prepare(self) -> None:
        if self.reduce is not None:
            self.reduce: Any = _NAMES[self.reduce]
            self.include_self = True

    def backward(self, grad: Tensor) -> Gradients:
        if self.reduce is not None:
            return super().backward(grad)
        vector = repeated_vector(self.index, self.dim, self.input_shape)
        if vector is None:
            return of_assignment(self.rerun, grad, self.src_shape)
        of_input, of_slices = of_assigned_slices(vector, self.dim, at_least_1d(grad))
        return of_input.reshape(self.input_shape), whole(of_slices, self.src_shape)

    def forward(self, *tangents: Tangent) -> Tangents:
        if self.reduce is not None:
            return super().forward(*tangents)
        return self.rerun(*self.with_zeros(*tangents))


scatter_src = Function(
    ScatterSrc, "scatter_src", without=("value",), src="Tensor", keeps_input=True
)


class ScatterValue(AlongAxis):
    row = "torch.scatter"
    differentiable = ("input",)
    keeps = ("index",)
    like = ("input",)

    def backward(self, grad: Tensor) -> Gradients:
        return self._scaled(grad, self.value.conjugate())

    def forward(self, input_t: Tensor) -> Tangents:
        return self._scaled(input_t, self.value)

    def _scaled(self, values: Tensor, factor: Any) -> Tensor:
        if self.reduce == "add":
            return values.clone()
        factor = factor if self.reduce == "multiply" else 0
        return self.apply(scatter_value, input=values, value=factor)


scatter_value = Function(
    ScatterValue, "scatter_value", without=("src",), value="Scalar", scripted=False
)


class ScatterAdd(AlongAxis):
    row = "torch.scatter_add"
    differentiable = ("input", "src")
    keeps = ("index",)
    like = ("input",)

    def backward(self, grad: Tensor) -> Gradients:
        if self.index.numel() == 0:
            return grad, grad.new_zeros(self.src_shape)
        # The gradient of each update is that of its cell.
        found = gather(at_least_1d(grad), self.dim, at_least_1d(self.index))
        return grad, whole(found, self.src_shape)


scatter_add = Function(ScatterAdd)


class Gather(AlongAxis):
    row = "torch.gather"
    differentiable = ("input",)
    keeps = ("index",)
    like = ("index",)

    def empty(self) -> Tensor:
        return self.input.new_empty(self.index.shape)

    def backward(self, grad: Tensor) -> Gradients:
        shape, index = self.input_shape, self.index
        rank = len(shape)
        if rank == 0 or index.dim() != rank or index.numel() == 0 or not self._is_whole():
            return scatter_add(grad.new_zeros(shape), self.dim, index, grad)
        return sums(grad, index, self.dim, shape[self.dim], "sum")

    def _is_whole(self) -> bool:
        """Whether the index covers all other axes."""
        sizes = zip(self.index.shape, self.input_shape, strict=True)
        along = self.dim % self.index.dim()
        return all(a == b or axis == along for axis, (a, b) in enumerate(sizes))


gather = Function(Gather, without=("sparse_grad",), in_place=False)


class TakeAlongDim(Call):
    row = "torch.take_along_dim"
    differentiable = ("input",)
    keeps = ("indices",)

    def empty(self) -> Tensor:
        input, indices = self.input, self.indices
        if self.dim is None or indices.dim() == 0:
            return input.new_empty(indices.numel() if self.dim is None else ())
        pairs = zip(input.shape, indices.shape, strict=True)
        shape = [max(pair) if min(pair) > 0 else 0 for pair in pairs]
        shape[self.dim] = indices.shape[self.dim]
        return input.new_empty(shape)

    def backward(self, grad: Tensor) -> Gradients:
        # The number of the input's element that each result is, after broadcasting.
        taken = self.rerun(element_numbers(self.input_shape, grad.device))
        return sum_by_number(taken, grad, self.input_shape)

    def vmap(self, batch: Batch) -> Batched:
        dim = self.dim
        if dim is None:
            return gather(flat_rows(batch.rows("input")), 1, flat_rows(batch.rows("indices"))), 0
        rows = [
            # An argument that all samples share is broadcast.
            batch.rows(name) if batch.has(name) else getattr(self, name).unsqueeze(0)
            for name in ("input", "indices")
        ]
        if rows[0].dim() > 1:
            return take_along_dim(*rows, batch.axis(dim, "input")), 0
        return take_along_dim(*[row.unsqueeze(1) for row in rows], 1).squeeze(1), 0


def sum_by_number(to: Tensor, values: Tensor, shape: Shape) -> Tensor:
    """Sums values into a new tensor of that shape, by positions counted row by row."""
    return sums(values.reshape(-1), to.reshape(-1), 0, math.prod(shape), "sum").reshape(shape)


def flat_rows(tensor: Tensor) -> Tensor:
    """A matrix with a row per sample."""
    return tensor.reshape(tensor.shape[0], math.prod(tensor.shape[1:]))


take_along_dim = Function(TakeAlongDim, in_place=False)

_refuse = Operator("torch.scatter")


def call(
    input: Any,
    dim: int,
    index: Any,
    src: Any,
    value: Any,
    reduce: str | None,
    in_place: bool = False,
) -> Tensor:
    """``scatter`` by way of the dispatcher."""
    if (src is None) == (value is None):
        return _refuse(*map(as_argument, (input, dim, index, src, value, reduce)))
    if isinstance(value, torch.Tensor):
        # A number as a tensor, which may have a derivative.
        index = as_tensor(index)
        value, src = None, value.to(torch.as_tensor(input).dtype).expand(index.shape)
    function, updates = (scatter_src, src) if value is None else (scatter_value, value)
    return (function.call_ if in_place else function.call)(input, dim, index, updates, reduce)
