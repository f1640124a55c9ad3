"""What is compiled by ``jax.jit``, with the operators of JAX or of strew."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .problem import Problem, Spelling

__all__ = ["Library", "spellings"]


@dataclasses.dataclass(frozen=True)
class Library:
    """Whose operators are compiled."""

    # It has segment_sum and segment_max.
    ops: Any
    # Rows of an array by their numbers.
    gather: Callable[[Any, Any], Any]


def spellings(problem: Problem, library: Library, index: jax.Array) -> list[Spelling]:
    """None for what the library has no derivative of, or no function."""
    w = problem.workload
    if w.form == "edges":
        return [_step(problem, library, index)]
    if w.form not in ("flat", "rows") or w.reduce not in ("sum", "mean", "amax"):
        return []
    src = jnp.asarray(problem.src)
    name = "segment_max" if w.reduce == "amax" else "segment_sum"

    def forward(index, src):
        if w.reduce == "amax":
            # From zeros, as all libraries.
            return jnp.maximum(library.ops.segment_max(src, index, w.cells), 0)
        sums = library.ops.segment_sum(src, index, w.cells)
        if w.reduce == "sum":
            return sums
        counts = library.ops.segment_sum(jnp.ones_like(index), index, w.cells)
        return sums / jnp.maximum(counts, 1).astype(src.dtype)[:, None]

    if not w.has_grad:
        return [_spelling(name, jax.jit(forward), index, src)]
    if w.reduce == "amax":
        return []
    grad = jnp.asarray(problem.grad)

    def both(index, src, grad):
        out, pullback = jax.vjp(lambda src: forward(index, src), src)
        return out, pullback(grad)[0]

    if w.timed == "both":
        return [_spelling(f"{name}, vjp", jax.jit(both), index, src, grad)]
    # Of the way there, nothing but what the way back needs is compiled.
    back = jax.jit(lambda *arrays: both(*arrays)[1])
    return [_spelling(f"vjp of {name}", back, index, src, grad)]


def _step(problem: Problem, library: Library, index: jax.Array) -> Spelling:
    """Rows of nodes along the edges, their sums, and the nodes' gradient."""
    w = problem.workload
    source = jnp.asarray(problem.source.astype(index.dtype))
    nodes, grad = jnp.asarray(problem.src), jnp.asarray(problem.grad)

    def step(nodes, source, index, grad):
        def forward(nodes):
            return library.ops.segment_sum(library.gather(nodes, source), index, w.cells)

        out, pullback = jax.vjp(forward, nodes)
        return out, pullback(grad)[0]

    return _spelling("gather, segment_sum, vjp", jax.jit(step), nodes, source, index, grad)


def _spelling(name: str, compiled: Callable[..., Any], *arguments: jax.Array) -> Spelling:
    index = next(str(a.dtype) for a in arguments if a.dtype.kind == "i")

    def run():
        return jax.block_until_ready(compiled(*arguments))

    return Spelling(f"{name} in jit", run, _answer, index=index)


def _answer(out: jax.Array | tuple[jax.Array, jax.Array]) -> np.ndarray:
    if not isinstance(out, tuple):
        return np.asarray(out)
    first, second = map(np.asarray, out)
    # The sums and the gradient of a step have one shape; those of rows have not.
    return np.stack([first, second]) if first.shape == second.shape else np.concatenate(out)
