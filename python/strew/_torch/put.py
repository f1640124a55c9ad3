"""``put``, ``masked_scatter`` and ``index_put`` in torch's dispatcher."""

# torch is not there where the package is checked.
# mypy: ignore-errors

import math

import torch

from .function import Function
from .index import wrapped
from .registry import Derivatives, batched, define
from .scatter import collected, flat_rows, gather, numbers, scatter_add, scatter_src, tangents
from .scatter_reduce import plain


class Placed(Derivatives):
    """Of an operator that puts elements of `source` somewhere, where of several the last one stays.

    A run of it on the elements' numbers says where they are.
    """

    def __init__(self, input, source, *options):
        self.input, self.source = (input.shape, input.dtype), (source.shape, source.dtype)
        self.options = options

    def again(self, saved, input, source):
        """The operator with other tensors."""
        raise NotImplementedError

    def gradients(self, saved, grad):
        """Of `input` and of `source`."""
        nowhere = grad.new_full(self.input[0], -1, dtype=torch.int64)
        last = self.again(saved, nowhere, numbers(self.source[0]))
        of_input = torch.where(last < 0, grad, 0)
        if of_input.shape != self.input[0]:
            to = numbers(self.input[0]).expand(grad.shape)
            of_input = collected(to, of_input, self.input[0])
        return of_input, self._of_source(last, grad)

    def _of_source(self, last, grad):
        # What no element of source went to goes to one behind them.
        count = math.prod(self.source[0])
        found = collected(torch.where(last < 0, count, last), grad, (count + 1,))
        return found.narrow(0, 0, count).reshape(self.source[0])

    def tangent(self, saved, input_t, source_t):
        input_t, source_t = tangents(input_t, self.input, source_t, self.source)
        return self.again(saved, input_t, source_t)


class Put(Placed):
    def __init__(self, input, index, source, accumulate):
        super().__init__(input, source, accumulate)

    def tensors(self, arguments, results):
        return (arguments[1],)

    def again(self, saved, input, source):
        return put(input, saved[0], source, *self.options)

    def backward(self, saved, grad):
        if self.options[0]:
            index = wrapped(saved[0].reshape(-1), grad.numel())
            of_input, of_source = grad, gather(grad.reshape(-1), 0, index).reshape(self.source[0])
        else:
            of_input, of_source = self.gradients(saved, grad)
        return of_input, None, of_source, None

    def forward(self, saved, input_t, _index, source_t, _accumulate):
        return self.tangent(saved, input_t, source_t)


class MaskedScatter(Placed):
    def __init__(self, input, mask, source):
        super().__init__(input, source)

    def tensors(self, arguments, results):
        return (arguments[1],)

    def again(self, saved, input, source):
        return masked_scatter(input, saved[0], source)

    def backward(self, saved, grad):
        of_input, of_source = self.gradients(saved, grad)
        return of_input, None, of_source

    def forward(self, saved, input_t, _mask, source_t):
        return self.tangent(saved, input_t, source_t)


class Indexed:
    """Of an operator whose second argument is a list of tensors, and None for axes that are taken whole."""

    def tensors(self, arguments, results):
        self.whole = [index is None for index in arguments[1]]
        return [index for index in arguments[1] if index is not None]

    def indices(self, saved):
        named = iter(saved)
        return [None if whole else next(named) for whole in self.whole]


class IndexPut(Indexed, Placed):
    def __init__(self, input, indices, values, accumulate):
        super().__init__(input, values, accumulate)

    def again(self, saved, input, source):
        return index_put(input, self.indices(saved), source, *self.options)

    def backward(self, saved, grad):
        if self.options[0]:
            of_input, of_values = grad, index_put_values(grad, self.indices(saved), self.source[0])
        else:
            of_input, of_values = self.gradients(saved, grad)
        return of_input, None, of_values, None

    def forward(self, saved, input_t, _indices, values_t, _accumulate):
        return self.tangent(saved, input_t, values_t)


def positions(shape, indices):
    """The positions, counted row by row, of what indices name in a tensor of that shape."""

    def found(*named):
        named = iter(named)
        return every[tuple(slice(None) if one is None else next(named) for one in indices)]

    every = numbers(shape)
    return found(*(_as_mask(index) for index in indices if index is not None))


def _as_mask(index):
    return index.bool() if index.dtype == torch.uint8 else index


def _values_kernel(grad, indices, shape):
    grad = plain(grad)
    at = positions(grad.shape, indices)
    found = gather(grad.reshape(-1), 0, at.reshape(-1))
    return collected(numbers(shape).expand(at.shape), found, shape)


class IndexPutValues(Indexed, Derivatives):
    def __init__(self, grad, indices, shape):
        self.grad_shape, self.shape = grad.shape, shape

    def backward(self, saved, values):
        zeros = values.new_zeros(self.grad_shape)
        return index_put(zeros, self.indices(saved), values, True), None, None

    def forward(self, saved, grad_t, *_):
        return index_put_values(grad_t, self.indices(saved), self.shape)


def _rows_of(info, in_dims, *tensors):
    return [batched(tensor, at, info.batch_size) for tensor, at in zip(tensors, in_dims, strict=True)]


def _into(rows, at, source, accumulate):
    """Elements put at positions of each row."""
    if at.shape != source.shape:
        raise IndexError(f"put_(): {at.shape[1]} positions for {source.shape[1]} elements")
    found = flat_rows(rows)
    at = wrapped(at, found.shape[1])
    found = scatter_add(found, 1, at, source) if accumulate else scatter_src(found, 1, at, source, None)
    return found.reshape(rows.shape), 0


def _put_vmap(info, in_dims, input, index, source, accumulate):
    input, index, source = _rows_of(info, in_dims[:3], input, index, source)
    return _into(input, flat_rows(index), flat_rows(source), accumulate)


def _masked_vmap(info, in_dims, input, mask, source):
    input, mask, source = _rows_of(info, in_dims, input, mask, source)
    rank = max(input.dim(), mask.dim())
    input, mask = (_padded(tensor, rank) for tensor in (input, mask))
    input, mask = torch.broadcast_tensors(input, mask)
    rows, mask_rows, source = flat_rows(input), flat_rows(mask), flat_rows(source)
    # A first element that goes nowhere: there may be no other.
    source = torch.nn.functional.pad(source, (1, 0))
    at = torch.where(mask_rows, mask_rows.cumsum(1), 0)
    found = torch.where(mask_rows, gather(source, 1, at), rows)
    return found.reshape(input.shape), 0


def _padded(rows, rank):
    """The tensor with axes of 1 behind its first."""
    return rows.reshape(rows.shape[0], *[1] * (rank - rows.dim()), *rows.shape[1:])


def _positions_of_rows(info, at, shape, indices):
    """The positions that each sample's indices name, in a tensor of that shape."""
    if all(one is None for one in at):
        one = positions(shape, indices)
        return one.expand(info.batch_size, *one.shape)

    def of(sample):
        return [
            index if axis is None else index.select(axis, sample)
            for axis, index in zip(at, indices, strict=True)
        ]

    return torch.stack([positions(shape, of(sample)) for sample in range(info.batch_size)])


def _index_put_vmap(info, in_dims, input, indices, values, accumulate):
    input, values = _rows_of(info, (in_dims[0], in_dims[2]), input, values)
    at = _positions_of_rows(info, in_dims[1], input.shape[1:], indices)
    values = _padded(values, at.dim()).expand(at.shape)
    return _into(input, flat_rows(at), flat_rows(values), accumulate)


def _values_vmap(info, in_dims, grad, indices, shape):
    (grad,) = _rows_of(info, in_dims[:1], grad)
    at = _positions_of_rows(info, in_dims[1], grad.shape[1:], indices)
    found = gather(flat_rows(grad), 1, flat_rows(at))
    to = numbers(shape).expand(at.shape[1:]).reshape(-1).expand(found.shape)
    into = found.new_zeros(info.batch_size, math.prod(shape))
    return scatter_add(into, 1, to, found).reshape(info.batch_size, *shape), 0


put = Function("put", "Tensor index, Tensor source, bool accumulate=False", Put, _put_vmap)


def _masked_fake(input, mask, source):
    return input.new_empty(torch.broadcast_shapes(input.shape, mask.shape))


masked_scatter = Function(
    "masked_scatter", "Tensor mask, Tensor source", MaskedScatter, _masked_vmap, _masked_fake
)

index_put = Function(
    "index_put", "Tensor?[] indices, Tensor values, bool accumulate=False", IndexPut, _index_put_vmap
)

# The sum of what each value of an ``index_put`` gets; its other way round is ``index_put``.
index_put_values = define(
    "index_put_values(Tensor grad, Tensor?[] indices, SymInt[] shape) -> Tensor",
    _values_kernel,
    lambda grad, indices, shape: grad.new_empty(shape),
    IndexPutValues,
    _values_vmap,
)
