"""``scatter``, ``scatter_add``, ``gather`` and ``take_along_dim`` in torch's dispatcher."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from ..._strew import Operator
from ..registry import Derivatives
from ..tensors import as_tensor, at_least_1d, at_least_1d_shape, padded_to
from ..torch_scatter.scatter import scatter as sums
from .function import Function, as_argument, script
from .scatter_reduce import ScatterReduce, scatter_reduce, vmapped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from torch import Tensor

    from ..registry import Batched, Gradients, Saved, Shape, Tangent, Tangents


def element_numbers(shape: Shape, dtype: torch.dtype = torch.int64) -> Tensor:
    """The numbers of a tensor's elements, row by row, in that shape."""
    return torch.arange(math.prod(shape), dtype=dtype).reshape(shape)


class Cells:
    """The cells that an index names along an axis, and the part of a source that goes there."""

    def __init__(self, dim: int, index: Tensor, src_shape: Shape) -> None:
        self.dim, self.src_shape = dim, src_shape
        self.empty = index.numel() == 0
        self.index = at_least_1d(index)

    def of(self, values: Tensor) -> Tensor:
        """The values of the cells: one for each update."""
        return gather(at_least_1d(values), self.dim, self.index)

    def whole(self, part: Tensor) -> Tensor:
        """The gradient of `src` from that of its used part."""
        return padded_to(part, at_least_1d_shape(self.src_shape)).reshape(self.src_shape)

    def gradient_of_src(self, grad: Tensor) -> Tensor:
        """The gradient of each update: that of its cell."""
        if self.empty:
            return grad.new_zeros(self.src_shape)
        return self.whole(self.of(grad))


class Updating(Derivatives):
    """Derivatives of an operator that is linear in `input` and `src`."""

    def __init__(self, input: Tensor, dim: int, index: Tensor, src: Tensor, *options: Any) -> None:
        self.input, self.src = (input.shape, input.dtype), (src.shape, src.dtype)
        self.dim, self.options = dim, options

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return (arguments[2],)

    def cells(self, index: Tensor) -> Cells:
        return Cells(self.dim, index, self.src[0])

    def gradients(self, index: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
        """Of `input` and of `src`."""
        raise NotImplementedError

    def rerun(self, input: Tensor, index: Tensor, src: Tensor) -> Tensor:
        """The operator with other tensors."""
        raise NotImplementedError

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        of_input, of_src = self.gradients(saved[0], grad)
        return of_input, None, None, of_src, *(None for _ in self.options)

    def forward(
        self,
        saved: Saved,
        input_t: Tangent,
        _dim: Any,
        _index: Any,
        src_t: Tangent,
        *_options: Any,
    ) -> Tangents:
        input_t, src_t = tangents(input_t, self.input, src_t, self.src)
        return self.rerun(input_t, saved[0], src_t)


def tangents(
    input_t: Tangent,
    input: tuple[Shape, torch.dtype],
    src_t: Tangent,
    src: tuple[Shape, torch.dtype],
) -> tuple[Tensor, Tensor]:
    """Both tangents, with zeros for None."""
    like = src_t if input_t is None else input_t
    if input_t is None:
        input_t = like.new_zeros(input[0], dtype=input[1])
    if src_t is None:
        src_t = like.new_zeros(src[0], dtype=src[1])
    return input_t, src_t


class Assigned(Updating):
    """Of several updates of a cell only the last one has a gradient."""

    def gradients(self, index: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
        vector = repeated_vector(index, self.dim, self.input[0])
        if vector is None:
            return of_assignment(
                lambda *tensors: self.rerun(tensors[0], index, tensors[1]), grad, self.src[0]
            )
        of_input, of_slices = of_assigned_slices(vector, self.dim, at_least_1d(grad))
        return of_input.reshape(self.input[0]), self.cells(index).whole(of_slices)

    def rerun(self, input: Tensor, index: Tensor, src: Tensor) -> Tensor:
        return scatter_src(input, self.dim, index, src, None)


def of_assignment(run: Callable[..., Any], grad: Tensor, src_shape: Shape) -> tuple[Tensor, Tensor]:
    """The gradients of the input and of the updates; `run` is the operator for other tensors."""
    # Run on the updates' numbers, the operator says which update each cell holds.
    dtype = torch.int32 if math.prod(src_shape) < 2**31 else torch.int64
    last = run(grad.new_full(grad.shape, -1, dtype=dtype), element_numbers(src_shape, dtype))
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
    order = torch.arange(count)
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


class Joined(Derivatives):
    """Derivatives of ``scatter`` with `reduce`: those of ``scatter_reduce``."""

    def __init__(self, input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str) -> None:
        self.rule = ScatterReduce(input, dim, index, src, _NAMES[reduce], True)

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        *tensors, reduce = arguments
        return self.rule.tensors((*tensors, _NAMES[reduce], True), results)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        self.rule.wanted = (*self.wanted, False)
        return self.rule.backward(saved, grad)[:5]

    def forward(self, saved: Saved, *tangents: Any) -> Tangents:
        input_t, dim, index, src_t, reduce = tangents
        return self.rule.forward(saved, input_t, dim, index, src_t, reduce, None)


def _of_src(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str | None) -> Derivatives:
    if reduce is None:
        return Assigned(input, dim, index, src, reduce)
    return Joined(input, dim, index, src, reduce)


scatter_src = Function(
    "scatter_src",
    "int dim, Tensor index, Tensor src, str? reduce=None",
    _of_src,
    vmapped("scatter_src", 1, 0),
    of="scatter",
    arrange=lambda input, dim, index, src, reduce: (input, dim, index, src, None, reduce),
    keeps_input=True,
)


class Filled(Derivatives):
    """Derivatives of ``scatter`` of a number."""

    def __init__(self, input: Tensor, dim: int, index: Tensor, value: Any, reduce: str) -> None:
        self.dim, self.value, self.reduce = dim, value, reduce

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return (arguments[2],)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        return self._scaled(saved[0], grad, self.value.conjugate()), None, None, None, None

    def forward(self, saved: Saved, input_t: Tangent, *_: Any) -> Tangents:
        return self._scaled(saved[0], input_t, self.value)

    def _scaled(self, index: Tensor, values: Tensor, factor: Any) -> Tensor:
        if self.reduce == "add":
            return values.clone()
        if self.reduce == "multiply":
            return scatter_value(values, self.dim, index, factor, "multiply")
        return scatter_value(values, self.dim, index, 0, None)


scatter_value = Function(
    "scatter_value",
    "int dim, Tensor index, Scalar value, str? reduce=None",
    Filled,
    vmapped("scatter_value", 1, 0),
    of="scatter",
    arrange=lambda input, dim, index, value, reduce: (input, dim, index, None, value, reduce),
    scripted=False,
)


class Added(Updating):
    def gradients(self, index: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
        return grad, self.cells(index).gradient_of_src(grad)

    def rerun(self, input: Tensor, index: Tensor, src: Tensor) -> Tensor:
        return scatter_add(input, self.dim, index, src)


scatter_add = Function(
    "scatter_add", "int dim, Tensor index, Tensor src", Added, vmapped("scatter_add", 1, 0)
)


class Gathered(Derivatives):
    def __init__(self, input: Tensor, dim: int, index: Tensor) -> None:
        self.shape, self.dim = input.shape, dim

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return (arguments[2],)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        (index,) = saved
        rank = len(self.shape)
        if rank == 0 or index.dim() != rank or index.numel() == 0 or not self._is_whole(index):
            return scatter_add(grad.new_zeros(self.shape), self.dim, index, grad), None, None
        return sums(grad, index, self.dim, self.shape[self.dim], "sum"), None, None

    def _is_whole(self, index: Tensor) -> bool:
        """Whether it covers all other axes."""
        sizes = zip(index.shape, self.shape, strict=True)
        return all(a == b or axis == self.dim % index.dim() for axis, (a, b) in enumerate(sizes))

    def forward(self, saved: Saved, input_t: Tangent, *_: Any) -> Tangents:
        return gather(input_t, self.dim, saved[0])


gather = Function(
    "gather",
    "int dim, Tensor index",
    Gathered,
    vmapped("gather", 1, 2),
    lambda input, dim, index: input.new_empty(index.shape),
    in_place=False,
)


class Taken(Derivatives):
    def __init__(self, input: Tensor, indices: Tensor, dim: int | None) -> None:
        self.shape, self.dim = input.shape, dim

    def tensors(
        self, arguments: Sequence[Any], results: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        return (arguments[1],)

    def backward(self, saved: Saved, grad: Tensor) -> Gradients:
        # The number of the input's element that each result is, after broadcasting.
        taken = take_along_dim(element_numbers(self.shape), saved[0], self.dim)
        return sum_by_number(taken, grad, self.shape), None, None

    def forward(self, saved: Saved, input_t: Tangent, *_: Any) -> Tangents:
        return take_along_dim(input_t, saved[0], self.dim)


def sum_by_number(to: Tensor, values: Tensor, shape: Shape) -> Tensor:
    """Sums values into a new tensor of that shape, by positions counted row by row."""
    return sums(values.reshape(-1), to.reshape(-1), 0, math.prod(shape), "sum").reshape(shape)


def _taken_shape(input: Tensor, indices: Tensor, dim: int | None) -> Tensor:
    if dim is None or indices.dim() == 0:
        return input.new_empty(indices.numel() if dim is None else ())
    shape = [
        max(pair) if min(pair) > 0 else 0 for pair in zip(input.shape, indices.shape, strict=True)
    ]
    shape[dim] = indices.shape[dim]
    return input.new_empty(shape)


def flat_rows(tensor: Tensor) -> Tensor:
    """A matrix with a row per sample."""
    return tensor.reshape(tensor.shape[0], math.prod(tensor.shape[1:]))


def _taken_vmap(
    info: Any, in_dims: Sequence[Any], input: Tensor, indices: Tensor, dim: int | None
) -> Batched:
    rows = [
        tensor.unsqueeze(0) if at is None else tensor.movedim(at, 0)
        for tensor, at in zip((input, indices), in_dims, strict=False)
    ]
    size, rank = info.batch_size, rows[0].dim() - 1
    if dim is None:
        input, indices = [flat_rows(row.expand(size, *row.shape[1:])) for row in rows]
        return gather(input, 1, indices), 0
    dim = dim if dim >= 0 else dim + max(rank, 1)
    if rank == 0:
        found = take_along_dim(*[row.unsqueeze(1) for row in rows], 1).squeeze(1)
    else:
        found = take_along_dim(*rows, dim + 1)
    return found, 0


take_along_dim = Function(
    "take_along_dim",
    "Tensor indices, int? dim=None",
    Taken,
    _taken_vmap,
    _taken_shape,
    in_place=False,
)

script(
    "scatter_reduce",
    "int dim, Tensor index, Tensor src, str reduce, bool include_self=True",
    scatter_reduce,
)

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
