"""``index_add``, ``index_reduce``, ``index_copy`` and ``index_fill`` in torch's dispatcher."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..registry import Derivatives, batched
from ..tensors import as_tensor, at_least_1d, at_least_1d_shape
from .function import Function
from .scatter import (
    Updating,
    expanded_along,
    gather,
    of_assigned_slices,
    scatter_add,
    scatter_src,
    scatter_value,
)
from .scatter_reduce import ScatterReduce, scatter_reduce

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from torch import Tensor

    from ..registry import Batched, Gradients, Saved, Tangent, Tangents


class Slices(Updating):
    """Derivatives of an operator on slices that a 1-d index names."""

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        of_input, of_source = self.gradients(saved[0].reshape(-1), at_least_1d(grad))
        of_input, of_source = of_input.reshape(self.input[0]), of_source.reshape(self.src[0])
        return of_input, None, None, of_source, *(None for _ in self.options)

    def slices(self, index: Tensor, grad: Tensor) -> Tensor:
        """The gradient of each slice: that of its place."""
        return gather(
            grad, self.dim, expanded_along(index, self.dim, at_least_1d_shape(self.src[0]))
        )


class IndexAdd(Slices):
    def gradients(self, index: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
        (alpha,) = self.options
        found = self.slices(index, grad)
        return grad, found if alpha == 1 else found * alpha.conjugate()

    def rerun(self, input: Tensor, index: Tensor, source: Tensor) -> Tensor:
        return index_add(input, self.dim, index, source, *self.options)


class IndexCopy(Slices):
    def gradients(self, index: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
        return of_assigned_slices(index, self.dim, grad)

    def rerun(self, input: Tensor, index: Tensor, source: Tensor) -> Tensor:
        return index_copy(input, self.dim, index, source)


class IndexReduce(ScatterReduce):
    """The derivatives of ``scatter_reduce`` with the index repeated."""

    def _repeated(self, saved: Saved) -> Saved:
        index, *rest = saved
        return (expanded_along(index, self.dim, at_least_1d_shape(self.src_shape)), *rest)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        return super().backward(self._repeated(saved), grad)

    def forward(self, saved: Saved, *tangents: Any) -> Tangents:
        return super().forward(self._repeated(saved), *tangents)


class IndexFill(Derivatives):
    def __init__(self, input: Tensor, dim: int, index: Tensor, value: Any) -> None:
        self.dim = dim

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return (arguments[2],)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        return index_fill(grad, self.dim, saved[0], 0), None, None, None

    def forward(self, saved: Saved, input_t: Tangent, *_: Any) -> Tangents:
        return index_fill(input_t, self.dim, saved[0], 0)


def _vmap(slices: Callable[..., Tensor], elements: Callable[..., Tensor]) -> Callable[..., Batched]:
    """For a batch of indices the operator `elements`, for one index shared by all `slices`."""

    def rule(
        info: Any,
        in_dims: Sequence[Any],
        input: Tensor,
        dim: int,
        index: Tensor,
        source: Tensor,
        *options: Any,
    ) -> Batched:
        rank = input.dim() - (in_dims[0] is not None)
        dim = (dim if dim >= 0 else dim + max(rank, 1)) + 1
        rows, source = (
            _at_least_2d(batched(tensor, at, info.batch_size))
            for tensor, at in ((input, in_dims[0]), (source, in_dims[3]))
        )
        if in_dims[2] is None:
            found = slices(rows, dim, index, source, *options)
        else:
            index = _at_least_2d(batched(index, in_dims[2], info.batch_size))
            shape = [1] * rows.dim()
            shape[0], shape[dim] = index.shape
            found = elements(rows, dim, index.reshape(shape).expand(source.shape), source, *options)
        return found if rank > 0 else found.squeeze(1), 0

    return rule


def _at_least_2d(rows: Tensor) -> Tensor:
    return rows if rows.dim() > 1 else rows.unsqueeze(1)


def _fill_vmap(
    info: Any, in_dims: Sequence[Any], input: Tensor, dim: int, index: Tensor, value: Any
) -> Batched:
    rank = input.dim() - (in_dims[0] is not None)
    dim = (dim if dim >= 0 else dim + max(rank, 1)) + 1
    rows = _at_least_2d(batched(input, in_dims[0], info.batch_size))
    if in_dims[2] is None:
        found = index_fill(rows, dim, index, value)
    else:
        index = wrapped(_at_least_2d(batched(index, in_dims[2], info.batch_size)), rows.shape[dim])
        shape = [1] * rows.dim()
        shape[0], shape[dim] = index.shape
        wide = list(rows.shape)
        wide[dim] = index.shape[1]
        found = scatter_value(rows, dim, index.reshape(shape).expand(wide), value, None)
    return found if rank > 0 else found.squeeze(1), 0


def wrapped(index: Tensor, size: int) -> Tensor:
    """The index without negative numbers, which count from the end."""
    return torch.where(index < 0, index + size, index)


def _add_elements(input: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any) -> Tensor:
    return scatter_add(input, dim, index, source if alpha == 1 else source * alpha)


def _copy_elements(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    return scatter_src(input, dim, index, source, None)


index_add: Function = Function(
    "index_add",
    "int dim, Tensor index, Tensor source, Scalar alpha=1",
    IndexAdd,
    _vmap(lambda *arguments: index_add(*arguments), _add_elements),
)

index_reduce: Function = Function(
    "index_reduce",
    "int dim, Tensor index, Tensor source, str reduce, bool include_self=True",
    IndexReduce,
    _vmap(lambda *arguments: index_reduce(*arguments), scatter_reduce),
    keeps_input=True,
)

index_copy: Function = Function(
    "index_copy",
    "int dim, Tensor index, Tensor source",
    IndexCopy,
    _vmap(lambda *arguments: index_copy(*arguments), _copy_elements),
)

index_fill = Function("index_fill", "int dim, Tensor index, Scalar value", IndexFill, _fill_vmap)


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
