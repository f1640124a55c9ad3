"""strew itself."""

from __future__ import annotations

import numpy as np
import strew
from strew import _strew

from .problem import Problem, Spelling


def version() -> str:
    return strew.__version__


def spellings(problem: Problem) -> list[Spelling]:
    w = problem.workload
    if w.form == "slice":
        return [_slice(problem)]
    if w.form == "nd":
        index, src, shape = problem.index, problem.src, w.out_shape
        return [Spelling("mxnet.scatter_nd", lambda: strew.mxnet.scatter_nd(src, index, shape))]
    if w.in_place:
        return [_in_place(problem)]
    if w.has_input or w.reduce == "amax":
        return _reduce(problem)
    return _new(problem)


def _typed(array: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "bfloat16":
        import ml_dtypes

        return array.view(ml_dtypes.bfloat16)
    return array


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _slice(problem: Problem) -> Spelling:
    w, data, src = problem.workload, problem.input, problem.src
    start, stop, step = list(w.start), list(w.stop), list(w.step)
    slice_scatter = strew.openvino.slice_scatter
    return Spelling("openvino.slice_scatter", lambda: slice_scatter(data, src, start, stop, step))


def _in_place(problem: Problem) -> Spelling:
    """scatter_mul: the one in-place workload."""
    index, src, start = problem.index, problem.src, problem.input
    table = start.copy()
    return Spelling(
        "mindspore.scatter_mul",
        lambda: strew.mindspore.scatter_mul(table, index, src),
        reset=lambda: np.copyto(table, start),
    )


def _new(problem: Problem) -> list[Spelling]:
    """A new output that starts from zeros."""
    w, index = problem.workload, problem.index
    src = _typed(problem.src, w.dtype)
    size = w.shape[w.dim] if w.form == "elements" else w.cells
    scatter = strew.torch_scatter.scatter

    def run():
        return scatter(src, index, w.dim, None, size, w.reduce)

    found = [Spelling("torch_scatter.scatter", run, _wide)]
    # The same binding with the same arguments, where it has a call that returns at once.
    if w.above_no_op is not None and (no_op := getattr(_strew, "no_op", None)) is not None:

        def idle():
            return no_op(src, index, w.dim, None, size, w.reduce)

        found.append(Spelling("no-op", idle, counts=False))
    return found


def _reduce(problem: Problem) -> list[Spelling]:
    """scatter_reduce, into a copy of an input."""
    w, src = problem.workload, problem.src
    index = problem.index
    if w.form == "rows":
        index = np.broadcast_to(index[:, None], src.shape)
    include_self = w.include_self is not False
    start = problem.input if w.has_input else np.zeros(w.out_shape, w.dtype)
    scatter_reduce, in_place = strew.torch.scatter_reduce, strew.torch.scatter_reduce_

    def copied():
        return scatter_reduce(start, w.dim, index, src, w.reduce, include_self=include_self)

    def fresh():
        return in_place(np.zeros(w.out_shape, w.dtype), w.dim, index, src, w.reduce)

    found = [Spelling("torch.scatter_reduce", copied)]
    if not w.has_input:
        found.append(Spelling("torch.scatter_reduce_ of zeros", fresh))
    return found
