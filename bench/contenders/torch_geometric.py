"""torch_geometric, which calls torch's own scatters for sums on the CPU."""

from __future__ import annotations

import torch
import torch_geometric
from torch_geometric.utils import scatter

from . import backward
from .problem import Problem, Spelling


def version() -> str:
    return f"{torch_geometric.__version__} on torch {torch.__version__}"


def spellings(problem: Problem) -> list[Spelling]:
    w = problem.workload
    if w.form != "rows" or not w.has_grad:
        return []
    if problem.threads:
        torch.set_num_threads(problem.threads)

    def forward(src, index):
        return scatter(src, index, 0, w.cells, w.reduce)

    return backward.spellings(problem, backward.Library({"utils.scatter": forward}))
