"""NumPy: ``ufunc.at``, ``bincount``, ``take`` and assignment."""

from __future__ import annotations

import numpy as np

from .problem import Problem, Spelling

_UFUNCS = {"sum": np.add, "amax": np.maximum, "prod": np.multiply}


def version() -> str:
    return np.__version__


def spellings(problem: Problem) -> list[Spelling]:
    w = problem.workload
    if w.form == "slice":
        return [Spelling("copy, then assign", lambda: _slice(problem))]
    if w.form == "nd":
        return [Spelling("assign", lambda: _assign(problem))]
    if w.form == "gather":
        return [Spelling("take", lambda: np.take(problem.src, problem.index, axis=0))]
    if w.reduce == "count":
        return [Spelling("bincount", lambda: np.bincount(problem.index, minlength=w.cells))]
    if w.reduce not in _UFUNCS or w.dtype == "bfloat16":
        return []
    found = [_at(problem)]
    if w.form == "flat" and w.reduce == "sum" and not w.has_input:
        index, src, cells = problem.index, problem.src, w.cells if w.sized else 0
        # NumPy sums in float64: the sums are converted to the dtype of the values.
        found.append(
            Spelling(
                "bincount",
                lambda: np.bincount(index, src, minlength=cells).astype(src.dtype),
            )
        )
    return found


def _slice(problem: Problem) -> np.ndarray:
    out = problem.input.copy()
    out[problem.slices()] = problem.src
    return out


def _assign(problem: Problem) -> np.ndarray:
    out = np.zeros(problem.workload.out_shape, problem.src.dtype)
    out[tuple(problem.index)] = problem.src
    return out


def _at(problem: Problem) -> Spelling:
    w, src = problem.workload, problem.src
    ufunc = _UFUNCS[w.reduce]
    where: np.ndarray | tuple[np.ndarray, ...] = problem.index
    if w.form == "elements":
        grid = list(np.ogrid[tuple(slice(n) for n in w.shape)])
        grid[w.dim] = problem.index
        where = tuple(grid)

    def run():
        if w.has_input:
            out = problem.input.copy()
        else:
            shape = w.out_shape if w.sized else (int(problem.index.max()) + 1,)
            out = np.zeros(shape, src.dtype)
        ufunc.at(out, where, src)
        return out

    return Spelling(f"{ufunc.__name__}.at", run)
