"""``scatter``, ``scatter_add``, ``gather`` and ``take_along_dim`` in torch's dispatcher."""

# torch is not there where the package is checked.
# mypy: ignore-errors

import math

import torch

from .._strew import Operator
from .function import Function, script, taken
from .registry import Derivatives
from .scatter_reduce import ScatterReduce, scatter_reduce, vmapped
from .shapes import at_least_1d, at_least_1d_shape, grown
from .torch_scatter import scatter as sums


def numbers(shape, dtype=torch.int64):
    """The elements of a tensor of that shape, counted row by row."""
    return torch.arange(math.prod(shape), dtype=dtype).reshape(shape)


class Cells:
    """The cells that an index names along an axis, and the part of a source that goes there."""

    def __init__(self, dim, index, src_shape):
        self.dim, self.src_shape = dim, src_shape
        self.empty = index.numel() == 0
        self.index = at_least_1d(index)

    def of(self, values):
        """What the cells hold: one value per update."""
        return gather(at_least_1d(values), self.dim, self.index)

    def whole(self, part):
        """A gradient of `src` from that of the part that is used."""
        return grown(part, at_least_1d_shape(self.src_shape)).reshape(self.src_shape)

    def gradient_of_src(self, grad):
        """What each update gets of its cell's gradient."""
        if self.empty:
            return grad.new_zeros(self.src_shape)
        return self.whole(self.of(grad))


class Updating(Derivatives):
    """Of an operator that is linear in `input` and `src`, its second and fourth argument."""

    def __init__(self, input, dim, index, src, *options):
        self.input, self.src = (input.shape, input.dtype), (src.shape, src.dtype)
        self.dim, self.options = dim, options

    def tensors(self, arguments, results):
        return (arguments[2],)

    def cells(self, index):
        return Cells(self.dim, index, self.src[0])

    def gradients(self, index, grad):
        """Of `input` and of `src`."""
        raise NotImplementedError

    def again(self, input, index, src):
        """The operator with other tensors."""
        raise NotImplementedError

    def backward(self, saved, grad):
        of_input, of_src = self.gradients(saved[0], grad)
        return of_input, None, None, of_src, *(None for _ in self.options)

    def forward(self, saved, input_t, _dim, _index, src_t, *_options):
        input_t, src_t = tangents(input_t, self.input, src_t, self.src)
        return self.again(input_t, saved[0], src_t)


def tangents(input_t, input, src_t, src):
    """Both tangents, zeros for one that is not there."""
    like = src_t if input_t is None else input_t
    if input_t is None:
        input_t = like.new_zeros(input[0], dtype=input[1])
    if src_t is None:
        src_t = like.new_zeros(src[0], dtype=src[1])
    return input_t, src_t


class Assigned(Updating):
    """Of several updates of a cell only the last one, which stays, has a gradient."""

    def gradients(self, index, grad):
        vector = repeated(index, self.dim, self.input[0])
        if vector is None:
            return of_assignment(
                lambda *tensors: self.again(tensors[0], index, tensors[1]), grad, self.src[0]
            )
        of_input, of_slices = of_assigned_slices(vector, self.dim, at_least_1d(grad))
        return of_input.reshape(self.input[0]), self.cells(index).whole(of_slices)

    def again(self, input, index, src):
        return scatter_src(input, self.dim, index, src, None)


def of_assignment(run, grad, src_shape):
    """The gradients of what was there, and of the updates; `run` is the operator with other
    tensors.
    """
    # On the updates' numbers it says which of them each cell holds.
    dtype = torch.int32 if math.prod(src_shape) < 2**31 else torch.int64
    last = run(grad.new_full(grad.shape, -1, dtype=dtype), numbers(src_shape, dtype))
    return torch.where(last < 0, grad, 0), given_back(last, grad, src_shape)


def given_back(last, grad, shape):
    """What each update gets of the cells that hold it; -1 are those that hold none."""
    count = math.prod(shape)
    # Theirs goes to one more, which is left out.
    found = collected(torch.where(last < 0, count, last), grad, (count + 1,))
    return found.narrow(0, 0, count).reshape(shape)


def of_assigned_slices(vector, dim, grad):
    """Likewise of slices that a vector names."""
    count = vector.numel()
    order = torch.arange(count)
    last = scatter_src(order.new_full((grad.shape[dim],), -1), 0, vector, order, None)
    found = sums(grad, torch.where(last < 0, count, last), dim, count + 1, "sum")
    return torch.where(thin(last, dim, grad.dim()) < 0, grad, 0), found.narrow(dim, 0, count)


def along(vector, dim, shape):
    """A vector repeated to a shape, apart from `dim`, along which it lies."""
    return thin(vector, dim, len(shape)).expand(shape)


def thin(vector, dim, rank):
    """A vector along an axis of several."""
    shape = [1] * rank
    shape[dim] = vector.numel()
    return vector.reshape(shape)


def repeated(index, dim, shape):
    """The vector that an index repeats over all of the other axes, or None."""
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


class Joined(Derivatives):
    """Of ``scatter`` with `reduce`: that of ``scatter_reduce``."""

    names = {"add": "sum", "multiply": "prod"}

    def __init__(self, input, dim, index, src, reduce):
        self.rule = ScatterReduce(input, dim, index, src, self.names[reduce], True)

    def tensors(self, arguments, results):
        *tensors, reduce = arguments
        return self.rule.tensors((*tensors, self.names[reduce], True), results)

    def backward(self, saved, grad):
        self.rule.wanted = (*self.wanted, False)
        return self.rule.backward(saved, grad)[:5]

    def forward(self, saved, *tangents):
        return self.rule.forward(saved, *tangents, None)


def _of_src(input, dim, index, src, reduce):
    return (Assigned if reduce is None else Joined)(input, dim, index, src, reduce)


# As every class of derivatives has.
_of_src.constants = Derivatives.constants

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
    """Of ``scatter`` of a number."""

    def __init__(self, input, dim, index, value, reduce):
        self.dim, self.value, self.reduce = dim, value, reduce

    def tensors(self, arguments, results):
        return (arguments[2],)

    def backward(self, saved, grad):
        return self._scaled(saved[0], grad, self.value.conjugate()), None, None, None, None

    def forward(self, saved, input_t, *_):
        return self._scaled(saved[0], input_t, self.value)

    def _scaled(self, index, values, factor):
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
    def gradients(self, index, grad):
        return grad, self.cells(index).gradient_of_src(grad)

    def again(self, input, index, src):
        return scatter_add(input, self.dim, index, src)


scatter_add = Function(
    "scatter_add", "int dim, Tensor index, Tensor src", Added, vmapped("scatter_add", 1, 0)
)


class Gathered(Derivatives):
    def __init__(self, input, dim, index):
        self.shape, self.dim = input.shape, dim

    def tensors(self, arguments, results):
        return (arguments[2],)

    def backward(self, saved, grad):
        (index,) = saved
        rank = len(self.shape)
        if rank == 0 or index.dim() != rank or index.numel() == 0 or not self._is_whole(index):
            return scatter_add(grad.new_zeros(self.shape), self.dim, index, grad), None, None
        return sums(grad, index, self.dim, self.shape[self.dim], "sum"), None, None

    def _is_whole(self, index):
        """Whether it goes over all of the other axes."""
        sizes = zip(index.shape, self.shape, strict=True)
        return all(a == b or axis == self.dim % index.dim() for axis, (a, b) in enumerate(sizes))

    def forward(self, saved, input_t, *_):
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
    def __init__(self, input, indices, dim):
        self.shape, self.dim = input.shape, dim

    def tensors(self, arguments, results):
        return (arguments[1],)

    def backward(self, saved, grad):
        # Which element of the input each one is, wherever it was broadcast to.
        taken = take_along_dim(numbers(self.shape), saved[0], self.dim)
        return collected(taken, grad, self.shape), None, None

    def forward(self, saved, input_t, *_):
        return take_along_dim(input_t, saved[0], self.dim)


def collected(to, values, shape):
    """The sum of the values that go to each element of a tensor of that shape, counted row by row."""
    return sums(values.reshape(-1), to.reshape(-1), 0, math.prod(shape), "sum").reshape(shape)


def _taken_shape(input, indices, dim):
    if dim is None or indices.dim() == 0:
        return input.new_empty(indices.numel() if dim is None else ())
    shape = [
        max(pair) if min(pair) > 0 else 0 for pair in zip(input.shape, indices.shape, strict=True)
    ]
    shape[dim] = indices.shape[dim]
    return input.new_empty(shape)


def flat_rows(tensor):
    """A matrix with a row per sample."""
    return tensor.reshape(tensor.shape[0], math.prod(tensor.shape[1:]))


def _taken_vmap(info, in_dims, input, indices, dim):
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


def call(input, dim, index, src, value, reduce, in_place=False):
    """``scatter`` for arrays that the dispatcher has to know of."""
    if (src is None) == (value is None):
        return _refuse(*map(taken, (input, dim, index, src, value, reduce)))
    if isinstance(value, torch.Tensor):
        # A number, which may have a derivative.
        index = torch.as_tensor(index)
        value, src = None, value.to(torch.as_tensor(input).dtype).expand(index.shape)
    function, updates = (scatter_src, src) if value is None else (scatter_value, value)
    return (function.call_ if in_place else function.call)(input, dim, index, updates, reduce)
