"""What is taken back through torch's autograd, for the libraries that it knows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ..workloads import INDEX
from .problem import Problem, Spelling

__all__ = ["Library", "spellings"]

Function = Callable[..., torch.Tensor]


@dataclasses.dataclass(frozen=True)
class Library:
    """How a library says what goes forth."""

    # From (src, index) to the output, by name.
    forward: dict[str, Function]
    # Rows of nodes for edges, and sums of edges for nodes: from (nodes, source), and from
    # (messages, index).
    gather: Function | None = None
    add: Function | None = None


def spellings(problem: Problem, library: Library, index: str = INDEX) -> list[Spelling]:
    if problem.workload.form == "edges":
        return [_step(problem, library, index)]
    spelling = _both if problem.workload.timed == "both" else _backward
    return [spelling(problem, name, f, index) for name, f in library.forward.items()]


def _backward(problem: Problem, name: str, forward: Function, index_dtype: str) -> Spelling:
    """Only the way back is timed."""
    src = torch.from_numpy(problem.src).requires_grad_()
    index, grad = torch.from_numpy(problem.index), torch.from_numpy(problem.grad)
    out: list[torch.Tensor] = []

    def reset() -> None:
        out.clear()
        out.append(forward(src, index))

    def run() -> torch.Tensor:
        return torch.autograd.grad(out[0], src, grad)[0]

    return Spelling(f"backward of {name}", run, torch.Tensor.numpy, reset, index=index_dtype)


def _both(problem: Problem, name: str, forward: Function, index_dtype: str) -> Spelling:
    """The way there is timed, too."""
    src = torch.from_numpy(problem.src).requires_grad_()
    index, grad = torch.from_numpy(problem.index), torch.from_numpy(problem.grad)

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        out = forward(src, index)
        return out.detach(), torch.autograd.grad(out, src, grad)[0]

    def answer(found: Any) -> np.ndarray:
        return torch.cat(found).numpy()

    return Spelling(f"{name}, backward", run, answer, index=index_dtype)


def _step(problem: Problem, library: Library, index_dtype: str) -> Spelling:
    """There and back: what goes from node to node along the edges, and the nodes' gradient."""
    nodes = torch.from_numpy(problem.src).requires_grad_()
    source, index = torch.from_numpy(problem.source), torch.from_numpy(problem.index)
    grad = torch.from_numpy(problem.grad)
    gather, add = library.gather, library.add
    assert gather is not None and add is not None

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        out = add(gather(nodes, source), index)
        return out.detach(), torch.autograd.grad(out, nodes, grad)[0]

    def answer(found: Any) -> np.ndarray:
        return torch.stack(found).numpy()

    return Spelling("gather, scatter, backward", run, answer, index=index_dtype)
