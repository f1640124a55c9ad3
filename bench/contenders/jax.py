"""JAX, compiled by jit. Its indices are int32, as it makes them by default."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from ..workloads import INDEX
from . import jitted
from .problem import Problem, Spelling

_INDEX = "int32"
_METHODS = {"sum": "add", "amax": "max", "prod": "multiply", "assign": "set"}


def version() -> str:
    return jax.__version__


def spellings(problem: Problem) -> list[Spelling]:
    w = problem.workload
    if w.has_grad or w.jit:
        index = jnp.asarray(problem.index.astype(_INDEX))
        return jitted.spellings(problem, jitted.Library(jax.ops, lambda x, i: x[i]), index)
    if w.reduce not in _METHODS:
        return []
    src = _array(problem.src, w.dtype)
    method = _METHODS[w.reduce]
    if w.form == "slice":
        where = problem.slices()
        assign = jax.jit(lambda start, src: start.at[where].set(src))
        return [_spelling("at[].set", assign, _array(problem.input, w.dtype), src, index=INDEX)]
    index = jnp.asarray(problem.index.astype(_INDEX))
    if w.has_input:
        start = _array(problem.input, w.dtype)
        update = jax.jit(lambda start, index, src: getattr(start.at[index], method)(src))
        return [_spelling(f"at[].{method}", update, start, index, src)]

    def from_zeros(index, src):
        out = jnp.zeros(w.out_shape, src.dtype)
        mode = {"mode": w.mode} if w.mode else {}
        return getattr(out.at[_where(w, index)], method)(src, **mode)

    found = [_spelling(f"at[].{method}", jax.jit(from_zeros), index, src)]
    if w.reduce == "sum" and w.form in ("flat", "rows") and not w.mode:
        ordered = w.index == "sorted"

        def segments(index, src):
            return jax.ops.segment_sum(src, index, num_segments=w.cells, indices_are_sorted=ordered)

        found.append(_spelling("segment_sum", jax.jit(segments), index, src))
    return found


def _array(array: np.ndarray, dtype: str) -> jax.Array:
    if dtype == "bfloat16":
        array = array.view(jnp.bfloat16)
    return jnp.asarray(array)


def _where(w, index):
    """What goes between the brackets of ``at``."""
    if w.form == "nd":
        return tuple(index)
    if w.form == "elements":
        grid = list(jnp.ogrid[tuple(slice(n) for n in w.shape)])
        grid[w.dim] = index
        return tuple(grid)
    return index


def _spelling(name: str, compiled, *arguments, index: str = _INDEX) -> Spelling:
    def run():
        return compiled(*arguments).block_until_ready()

    return Spelling(name, run, _answer, index=index)


def _answer(out: jax.Array) -> np.ndarray:
    return np.asarray(out.astype(jnp.float32) if out.dtype == jnp.bfloat16 else out)
