"""MindSpore on the CPU."""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore import ops

from ..workloads import INDEX
from .problem import Problem, Spelling


def version() -> str:
    return ms.__version__


def spellings(problem: Problem) -> list[Spelling]:
    w = problem.workload
    if w.form == "slice" or w.dtype != "float32" or w.reduce not in ("sum", "prod", "assign"):
        return []
    ms.set_device("CPU")
    if problem.threads:
        ms.set_context(runtime_num_threads=problem.threads)
    src = ms.Tensor(problem.src)
    if w.form == "elements":
        index, start = ms.Tensor(problem.index), ms.Tensor(np.zeros(w.out_shape, np.float32))

        def elements():
            return ops.tensor_scatter_elements(start, index, src, w.dim, "add")

        return [_spelling("tensor_scatter_elements", elements)]
    if w.form == "nd":
        tuples = ms.Tensor(np.ascontiguousarray(problem.index.T))
        return [_spelling("scatter_nd", lambda: ops.scatter_nd(tuples, src, w.out_shape))]
    # The dtype that every operator from here on takes, and some take only.
    narrow = problem.with_index("int32").index
    index = ms.Tensor(narrow)
    if w.reduce == "prod":
        start = ms.Tensor(problem.input)
        table = ms.Parameter(ms.Tensor(problem.input.copy()))

        def reset():
            ops.assign(table, start).asnumpy()

        def multiply():
            return ops.scatter_mul(table, index, src)

        return [_spelling("scatter_mul", multiply, reset, index="int32")]
    tuples = ms.Tensor(narrow.reshape(-1, 1))

    def segments():
        return ops.unsorted_segment_sum(src, index, w.cells)

    def scatter_nd():
        return ops.scatter_nd(tuples, src, w.out_shape)

    return [
        _spelling("unsorted_segment_sum", segments, index="int32"),
        _spelling("scatter_nd", scatter_nd, index="int32"),
    ]


def _spelling(name: str, call, reset=None, index: str = INDEX) -> Spelling:
    # Operators return before their work is done; asnumpy waits for it and copies nothing.
    return Spelling(name, lambda: call().asnumpy(), np.asarray, reset, index=index)
