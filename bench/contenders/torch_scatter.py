"""torch_scatter, the scatter library of graph networks."""

from __future__ import annotations

import torch
import torch_scatter

from . import backward
from .problem import Problem, Spelling
from .torch import answer, tensor

_NAMES = {"sum": "sum", "mean": "mean", "amax": "max", "prod": "mul"}


def version() -> str:
    return f"{torch_scatter.__version__} on torch {torch.__version__}"


def spellings(problem: Problem) -> list[Spelling]:
    w = problem.workload
    if w.form in ("slice", "nd"):
        return []
    if problem.threads:
        torch.set_num_threads(problem.threads)
    if w.has_grad:
        return backward.spellings(problem, _library(problem))
    src, index = tensor(problem.src, w.dtype), torch.from_numpy(problem.index)
    size = w.shape[w.dim] if w.form == "elements" else w.cells
    size = size if w.sized else None
    reduce, dim = _NAMES[w.reduce], w.dim
    scatter = torch_scatter.scatter
    if w.in_place:
        start = torch.from_numpy(problem.input)
        table = start.clone()

        def reset():
            table.copy_(start)

        def into():
            return scatter(src, index, dim, table, reduce=reduce)

        return [Spelling("scatter, out", into, answer, reset)]
    if reduce == "max":
        # From zeros, as everybody else.
        shape = w.out_shape

        def largest():
            return scatter(src, index, dim, torch.zeros(shape), reduce="max")

        return [Spelling("scatter, max", largest, answer)]

    def run():
        return scatter(src, index, dim, None, size, reduce)

    found = [Spelling("scatter", run, answer)]
    if w.index == "sorted" and reduce == "sum":

        def segments():
            return torch_scatter.segment_coo(src, index, None, size, reduce)

        found.append(Spelling("segment_coo", segments, answer))
    return found


def _library(problem: Problem) -> backward.Library:
    w = problem.workload

    def scatter(src, index):
        return torch_scatter.scatter(src, index, 0, None, w.cells, _NAMES[w.reduce])

    def gather(nodes, source):
        return nodes.index_select(0, source)

    return backward.Library({"scatter": scatter}, gather, scatter)
