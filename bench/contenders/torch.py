"""PyTorch: in place on zeros, and where there is an input out of place."""

from __future__ import annotations

import numpy as np
import torch

from . import backward
from .problem import Problem, Spelling

_INDEX_REDUCE = {"amax": "amax", "prod": "prod", "mean": "mean"}


def version() -> str:
    return torch.__version__


def spellings(problem: Problem) -> list[Spelling]:
    if problem.threads:
        torch.set_num_threads(problem.threads)
    w = problem.workload
    if w.has_grad:
        return backward.spellings(problem, _library(problem))
    if w.form == "slice":
        return [Spelling("clone, then assign", _slice(problem), answer)]
    if w.form == "nd":
        return [Spelling("zeros, then assign", _assign(problem), answer)]
    if w.form == "gather":
        return _gather(problem)
    if w.reduce == "count":
        index = torch.from_numpy(problem.index)
        return [Spelling("bincount", lambda: torch.bincount(index, minlength=w.cells), answer)]
    if not w.sized:
        return [_unsized(problem)]
    if w.in_place:
        return _in_place(problem)
    if w.has_input:
        return [_scatter_reduce(problem)]
    return _zeros(problem)


def tensor(array: np.ndarray, dtype: str) -> torch.Tensor:
    """The array's own memory as a tensor."""
    if dtype == "bfloat16" and array.dtype == np.uint16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def answer(out: torch.Tensor) -> np.ndarray:
    return (out.float() if out.dtype == torch.bfloat16 else out).numpy()


def _slice(problem: Problem):
    start, src = torch.from_numpy(problem.input), torch.from_numpy(problem.src)
    where = problem.slices()

    def run():
        out = start.clone()
        out[where] = src
        return out

    return run


def _assign(problem: Problem):
    src = torch.from_numpy(problem.src)
    where = tuple(torch.from_numpy(np.ascontiguousarray(part)) for part in problem.index)
    shape = problem.workload.out_shape

    def run():
        out = torch.zeros(shape)
        out[where] = src
        return out

    return run


def _gather(problem: Problem) -> list[Spelling]:
    src, index = torch.from_numpy(problem.src), torch.from_numpy(problem.index)
    return [
        Spelling("index_select", lambda: torch.index_select(src, 0, index), answer),
        Spelling("src[index]", lambda: src[index], answer),
    ]


def _unsized(problem: Problem) -> Spelling:
    src, index = torch.from_numpy(problem.src), torch.from_numpy(problem.index)

    def run():
        cells = int(index.max()) + 1
        return torch.zeros(cells, dtype=src.dtype).scatter_add_(0, index, src)

    return Spelling("max, scatter_add_", run, answer)


def _index(problem: Problem, src: torch.Tensor) -> torch.Tensor:
    """The index in the shape that scatter_reduce wants."""
    index = torch.from_numpy(problem.index)
    return index[:, None].expand(src.shape) if problem.workload.form == "rows" else index


def _in_place(problem: Problem) -> list[Spelling]:
    w = problem.workload
    index, src = torch.from_numpy(problem.index), torch.from_numpy(problem.src)
    start = torch.from_numpy(problem.input)
    table, full = start.clone(), _index(problem, src)

    def reset():
        table.copy_(start)

    return [
        Spelling(
            "scatter_reduce_",
            lambda: table.scatter_reduce_(0, full, src, w.reduce),
            answer,
            reset,
        ),
        Spelling(
            "index_reduce_", lambda: table.index_reduce_(0, index, src, w.reduce), answer, reset
        ),
    ]


def _scatter_reduce(problem: Problem) -> Spelling:
    w = problem.workload
    src, start = tensor(problem.src, w.dtype), tensor(problem.input, w.dtype)
    index = _index(problem, src)
    include = w.include_self is not False

    def run():
        return torch.scatter_reduce(start, w.dim, index, src, w.reduce, include_self=include)

    return Spelling("scatter_reduce", run, answer)


def _zeros(problem: Problem) -> list[Spelling]:
    w = problem.workload
    src = tensor(problem.src, w.dtype)
    index, rows = _index(problem, src), torch.from_numpy(problem.index)
    dim, reduce, shape, dtype = w.dim, w.reduce, w.out_shape, src.dtype
    # The mean of a cell without updates is 0, and zeros take no part in the others.
    include = reduce != "mean"

    def scatter_reduce():
        out = torch.zeros(shape, dtype=dtype)
        return out.scatter_reduce_(dim, index, src, reduce, include_self=include)

    def scatter_add():
        return torch.zeros(shape, dtype=dtype).scatter_add_(dim, index, src)

    def index_add():
        return torch.zeros(shape, dtype=dtype).index_add_(dim, rows, src)

    def index_reduce():
        out = torch.zeros(shape, dtype=dtype)
        return out.index_reduce_(dim, rows, src, reduce, include_self=include)

    if reduce == "sum":
        found = [Spelling("scatter_add_", scatter_add, answer)]
        if w.form != "elements":
            found.append(Spelling("index_add_", index_add, answer))
        return found
    found = [Spelling("scatter_reduce_", scatter_reduce, answer)]
    if w.form != "elements" and reduce in _INDEX_REDUCE:
        found.append(Spelling("index_reduce_", index_reduce, answer))
    return found


def _library(problem: Problem) -> backward.Library:
    w = problem.workload
    shape, reduce = w.out_shape, w.reduce
    # Only the updates count, except where zeros do not show.
    include = reduce == "sum"

    def wide(index: torch.Tensor) -> torch.Tensor:
        return index[:, None].expand(-1, w.width)

    def scatter_add(src, index):
        return torch.zeros(shape).scatter_add(0, wide(index), src)

    def index_add(src, index):
        return torch.zeros(shape).index_add(0, index, src)

    def scatter_reduce(src, index):
        zeros = torch.zeros(shape)
        return zeros.scatter_reduce(0, wide(index), src, reduce, include_self=include)

    def index_reduce(src, index):
        return torch.zeros(shape).index_reduce(0, index, src, reduce, include_self=include)

    if reduce == "sum":
        forward = {"scatter_add": scatter_add, "index_add": index_add}
    else:
        forward = {"scatter_reduce": scatter_reduce, "index_reduce": index_reduce}

    def gather(nodes, source):
        return nodes.index_select(0, source)

    return backward.Library(forward, gather, index_add)
