"""Calls of every function that torch's dispatcher knows: the rows of the table in docs/torch.md.

A row is made of all cases of its name. To add one: a function of tensors and options, simple enough
for TorchScript (where a parameter without a type is a tensor), and a `Case` of it in `CASES` with
its arguments. What is not meant to hold is named in `without`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import strew
import torch


@dataclass(frozen=True)
class Case:
    row: str
    function: Callable
    arguments: tuple
    in_place: Callable | None = None
    without: tuple = field(default=())

    def __str__(self):
        options = [str(a) for a in self.arguments if not isinstance(a, torch.Tensor)]
        return "-".join([self.row, *options])

    def call(self, *differentiable):
        """The function of its floating-point arguments."""
        given = iter(differentiable)
        return self.function(*(next(given) if is_differentiable(a) else a for a in self.arguments))

    @property
    def inputs(self):
        """What it can be differentiated by, as leaves."""
        return [a.detach().clone().requires_grad_() for a in self.arguments if is_differentiable(a)]


def is_differentiable(argument):
    return isinstance(argument, torch.Tensor) and argument.is_floating_point()


def values(*shape, seed=0):
    """Distinct numbers, of which none is zero; other ones for another seed."""
    made = torch.Generator().manual_seed(seed)
    count = math.prod(shape)
    return (
        torch.randperm(count, generator=made).double() / 7 - count / 15 + seed / 100 + 0.003
    ).reshape(shape)


INPUT = values(3, 4)
SRC = values(5, 5, seed=1)
"""Larger than the index, on both axes."""
INDEX = torch.tensor([[0, 2, 1, 0], [2, 2, 1, 0], [0, 1, 1, 2], [1, 0, 2, 0]])
ROWS = torch.tensor([2, 0, 2, 2])
SLICES = values(4, 4, seed=2)
ASCENDING = torch.tensor([0, 0, 2, 2])
POINTERS = torch.tensor([0, 2, 2, 3, 4])
LENGTHS = torch.tensor([3, 1])
MASK = torch.tensor(
    [[True, False, True, True], [False, False, True, False], [True, True, False, False]]
)


def scatter(input, index, src):
    return strew.torch.scatter(input, 0, index, src)


def scatter_joined(input, index, src, reduce: str):
    return strew.torch.scatter(input, 0, index, src, reduce=reduce)


def scatter_value(input, index, value, reduce):
    return strew.torch.scatter(input, 0, index, value=value, reduce=reduce)


def scatter_add(input, index, src):
    return strew.torch.scatter_add(input, 0, index, src)


def scatter_reduce(input, index, src, reduce: str, include_self: bool):
    return strew.torch.scatter_reduce(input, 0, index, src, reduce, include_self=include_self)


def gather(input, index):
    return strew.torch.gather(input, 0, index)


def take_along_dim(input, indices, dim: int | None):
    return strew.torch.take_along_dim(input, indices, dim)


def index_add(input, index, source, alpha: float):
    return strew.torch.index_add(input, 0, index, source, alpha=alpha)


def index_reduce(input, index, source, reduce: str, include_self: bool):
    return strew.torch.index_reduce(input, 0, index, source, reduce, include_self=include_self)


def index_copy(input, index, source):
    return strew.torch.index_copy(input, 0, index, source)


def index_fill(input, index, value: float):
    return strew.torch.index_fill(input, 1, index, value)


def index_put(input, rows, columns, values, accumulate: bool):
    return strew.torch.index_put(input, [rows, columns], values, accumulate)


def index_put_mask(input, mask, values, accumulate: bool):
    return strew.torch.index_put(input, [mask], values, accumulate)


def index_put_columns(input, columns, values, accumulate):
    return strew.torch.index_put(input, (None, columns), values, accumulate)


def put(input, index, source, accumulate: bool):
    return strew.torch.put(input, index, source, accumulate)


def masked_scatter(input, mask, source):
    return strew.torch.masked_scatter(input, mask, source)


def slice_scatter(input, src, dim: int, start: int, end: int, step: int):
    return strew.torch.slice_scatter(input, src, dim, start, end, step)


def select_scatter(input, src, dim: int, index: int):
    return strew.torch.select_scatter(input, src, dim, index)


def diagonal_scatter(input, src, offset: int, dim1: int, dim2: int):
    return strew.torch.diagonal_scatter(input, src, offset, dim1, dim2)


def as_strided_scatter(input, src, size: list[int], stride: list[int]):
    return strew.torch.as_strided_scatter(input, src, size, stride)


def grouped(src, index, reduce: str):
    return strew.torch_scatter.scatter(src, index, 0, None, 4, reduce)


def scatter_sum(src, index):
    return strew.torch_scatter.scatter_sum(src, index, 0, None, 4)


def scatter_mul(src, index):
    return strew.torch_scatter.scatter_mul(src, index, 0, None, 4)


def scatter_mean(src, index):
    return strew.torch_scatter.scatter_mean(src, index, 0, None, 4)


def scatter_min(src, index):
    return strew.torch_scatter.scatter_min(src, index, 0, None, 4)


def scatter_max(src, index):
    return strew.torch_scatter.scatter_max(src, index, 0, None, 4)


def segment_reduce(data, lengths, reduce, axis):
    return strew.torch.segment_reduce(data, reduce, lengths=lengths, axis=axis)


def segment_reduce_from(data, offsets, reduce, initial):
    return strew.torch.segment_reduce(data, reduce, offsets=offsets, initial=initial)


def segment_coo(src, index, reduce: str):
    return strew.torch_scatter.segment_coo(src, index, None, 4, reduce)


def segment_csr(src, indptr, reduce: str):
    return strew.torch_scatter.segment_csr(src, indptr, None, reduce)


def gather_coo(src, index):
    return strew.torch_scatter.gather_coo(src, index)


def gather_csr(src, indptr):
    return strew.torch_scatter.gather_csr(src, indptr)


def scatter_std(src, index, unbiased: bool):
    return strew.torch_scatter.scatter_std(src, index, 0, None, 4, unbiased)


def scatter_logsumexp(src, index):
    return strew.torch_scatter.scatter_logsumexp(src, index, 0, None, 4)


def scatter_softmax(src, index):
    return strew.torch_scatter.scatter_softmax(src, index, 0, 4)


def scatter_log_softmax(src, index):
    return strew.torch_scatter.scatter_log_softmax(src, index, 0, dim_size=4)


def in_place(name, *dim):
    """The in-place form with the arguments of a case; options that are no argument of it by name
    come last.
    """
    function = getattr(strew.torch, f"{name}_")
    return lambda input, *arguments: function(input, *dim, *arguments)


def in_place_reduce(name):
    function = getattr(strew.torch, f"{name}_")
    return lambda input, index, src, reduce, include_self: function(
        input, 0, index, src, reduce, include_self=include_self
    )


def each(function, row, options, arguments, in_place=None, without=()):
    return [Case(row, function, (*arguments, *option), in_place, without) for option in options]


BOTH = [(False,), (True,)]
SELF = [True, False]
REDUCED = [(reduce, own) for reduce in ("sum", "prod", "mean", "amax", "amin") for own in SELF]
FOLDS = [("sum",), ("mean",), ("min",), ("max",)]
NO_SCRIPT = ("TorchScript",)

CASES = [
    Case("torch.scatter", scatter, (INPUT, INDEX, SRC), in_place("scatter", 0)),
    *each(
        scatter_joined,
        "torch.scatter",
        [("add",), ("multiply",)],
        (INPUT, INDEX, SRC),
        lambda input, index, src, reduce: strew.torch.scatter_(input, 0, index, src, reduce=reduce),
    ),
    *each(
        scatter_value,
        "torch.scatter",
        [(2.5, None), (2.5, "add"), (-2.5, "multiply")],
        (INPUT, INDEX),
        lambda input, index, value, reduce: strew.torch.scatter_(
            input, 0, index, value=value, reduce=reduce
        ),
        NO_SCRIPT,
    ),
    Case("torch.scatter_add", scatter_add, (INPUT, INDEX, SRC), in_place("scatter_add", 0)),
    *each(
        scatter_reduce,
        "torch.scatter_reduce",
        REDUCED,
        (INPUT, INDEX, SRC),
        in_place_reduce("scatter_reduce"),
    ),
    Case("torch.gather", gather, (INPUT, INDEX)),
    Case("torch.take_along_dim", take_along_dim, (INPUT, torch.tensor([[1, -1, 1]]), 1)),
    Case("torch.take_along_dim", take_along_dim, (INPUT, torch.tensor([[11, 0], [3, 3]]), None)),
    *each(
        index_add,
        "torch.index_add",
        [(1.0,), (-2.5,)],
        (INPUT, ROWS, SLICES),
        lambda input, index, source, alpha: strew.torch.index_add_(
            input, 0, index, source, alpha=alpha
        ),
    ),
    *each(
        index_reduce,
        "torch.index_reduce",
        REDUCED[2:],
        (INPUT, ROWS, SLICES),
        in_place_reduce("index_reduce"),
    ),
    Case("torch.index_copy", index_copy, (INPUT, ROWS, SLICES), in_place("index_copy", 0)),
    Case(
        "torch.index_fill",
        index_fill,
        (INPUT, torch.tensor([0, -1, 0]), 1.5),
        in_place("index_fill", 1),
    ),
    *each(
        index_put,
        "torch.index_put",
        BOTH,
        (INPUT, ROWS, torch.tensor([[1], [-1]]), values(2, 1, seed=3)),
        lambda input, rows, columns, values, accumulate: strew.torch.index_put_(
            input, (rows, columns), values, accumulate
        ),
    ),
    *each(
        index_put_mask,
        "torch.index_put",
        BOTH,
        (INPUT, MASK, values(6, seed=3)),
        lambda input, mask, values, accumulate: strew.torch.index_put_(
            input, (mask,), values, accumulate
        ),
    ),
    *each(
        index_put_columns,
        "torch.index_put",
        BOTH,
        (INPUT, ROWS, SLICES[:3]),
        lambda input, columns, values, accumulate: strew.torch.index_put_(
            input, (None, columns), values, accumulate
        ),
        NO_SCRIPT,
    ),
    *each(
        put,
        "torch.put",
        BOTH,
        (INPUT, torch.tensor([[11, 3], [-1, 3], [0, -12]]), values(2, 3, seed=4)),
        in_place("put"),
    ),
    Case(
        "torch.masked_scatter",
        masked_scatter,
        (INPUT, MASK, values(7, seed=5)),
        in_place("masked_scatter"),
    ),
    Case("torch.slice_scatter", slice_scatter, (INPUT, values(3, 2, seed=6), 1, -4, 100, 2)),
    Case("torch.select_scatter", select_scatter, (INPUT, values(3, seed=7), -1, -2)),
    Case("torch.diagonal_scatter", diagonal_scatter, (INPUT, values(2, seed=8), -1, 0, -1)),
    Case(
        "torch.as_strided_scatter",
        as_strided_scatter,
        (INPUT, values(2, 3, seed=9), [2, 3], [4, 2]),
    ),
    *each(
        segment_reduce,
        "torch.segment_reduce",
        [(reduce, 0) for reduce in ("sum", "prod", "mean", "amax", "amin")],
        (SLICES, LENGTHS),
        without=NO_SCRIPT,
    ),
    *each(
        segment_reduce_from,
        "torch.segment_reduce",
        [("sum", 0.5), ("prod", 0.5), ("mean", 0.5), ("amax", 0.01)],
        (SLICES, torch.tensor([0, 3, 4])),
        without=NO_SCRIPT,
    ),
    *each(
        grouped,
        "torch_scatter.scatter",
        [(name,) for name in ("sum", "mul", "mean", "min", "max")],
        (SLICES, ROWS),
    ),
    Case("torch_scatter.scatter_sum", scatter_sum, (SLICES, ROWS)),
    Case("torch_scatter.scatter_mul", scatter_mul, (SLICES, ROWS)),
    Case("torch_scatter.scatter_mean", scatter_mean, (SLICES, ROWS)),
    Case("torch_scatter.scatter_min", scatter_min, (SLICES, ROWS)),
    Case("torch_scatter.scatter_max", scatter_max, (SLICES, ROWS)),
    Case("torch_scatter.scatter_std", scatter_std, (SLICES, ROWS, True)),
    Case("torch_scatter.scatter_std", scatter_std, (SLICES, ROWS, False)),
    Case("torch_scatter.scatter_logsumexp", scatter_logsumexp, (SLICES, ROWS)),
    Case("torch_scatter.scatter_softmax", scatter_softmax, (SLICES, ROWS)),
    Case("torch_scatter.scatter_log_softmax", scatter_log_softmax, (SLICES, ROWS)),
    *each(segment_coo, "torch_scatter.segment_coo", FOLDS, (SLICES, ASCENDING)),
    *each(segment_csr, "torch_scatter.segment_csr", FOLDS, (SLICES, POINTERS)),
    Case("torch_scatter.gather_coo", gather_coo, (SLICES, ASCENDING)),
    Case("torch_scatter.gather_csr", gather_csr, (SLICES, torch.tensor([0, 2, 2, 3, 5]))),
]
