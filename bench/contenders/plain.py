"""Plain loops in Rust, from ``bench/plain``: what strew's special paths have to beat.

They run on one thread, also where the others run on all. NumPy allocates their outputs. The
gradient of a product divides by the updates, which must not be zero. The gradient of a maximum goes
to all updates that are equal to it. The time of a W9 call is mostly that of ctypes.

Some workloads have two loops, of which the faster counts. Rows of 2, 4, 8 and 16 have one for any
width and one for this width. Flat sums that leave an input out either mark the cells that have had
a value, or clear the cells first.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable

import numpy as np

from ..data import numbers
from .problem import Problem, Spelling

# What says where the library is; `cargo xtask bench` compiles it and sets it.
VARIABLE = "STREW_BENCH_PLAIN"

# Widths for which there are loops that the compiler knows the width of.
_KNOWN = (2, 4, 8, 16)


class _View(ctypes.Structure):
    """A pointer and a length: what the library calls an array."""

    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def version() -> str:
    return "as in bench/plain"


def spellings(problem: Problem) -> list[Spelling]:
    w = problem.workload
    match w.form:
        case "edges":
            return [_edges(problem)]
        case "rows" if w.timed == "both":
            return [_both(problem)]
        case "rows" if w.has_grad:
            return [_backward(problem)]
        case "elements":
            inner = int(np.prod(w.shape[w.dim + 1 :]))
            return [_into(problem, f"elements_{w.dtype}", w.shape[w.dim], inner)]
        case "nd":
            return [_into(problem, "nd", w.shape[1], w.width)]
        case "slice":
            columns = (w.shape[1], w.src_shape[1])
            return [_into(problem, "slice", *columns, *w.start, *w.step)]
        case "gather":
            return _widths(problem, f"gather_{w.dtype}", f"gather_of_{w.dtype}")
        case "flat" if w.reduce == "count":
            return [_into(problem, "counts")]
        case "flat" if not w.sized:
            return [_unsized(problem)]
    if w.mode:
        return [_into(problem, f"flat_sum_{w.mode}")]
    if w.form == "flat" or w.width == 1:
        if w.include_self is False:
            return [_into(problem, "flat_fresh"), _into(problem, "flat_cleared")]
        return [_into(problem, f"flat_{w.reduce}_{w.dtype}")]
    if w.include_self is False:
        return [_into(problem, "rows_fresh", w.width)]
    if w.reduce == "mean":
        return [_into(problem, "rows_mean", w.width)]
    which = f"{w.reduce}_{w.dtype}"
    return _widths(problem, f"rows_{which}", f"rows_of_{which}")


# Statistics of groups whose results are of the values' type, in the order of the library's numbers.
_SAME = ("sum", "prod", "sumsq", "min", "max", "first", "last")


def statistic(function: str, src: np.ndarray, index: np.ndarray, cells: int) -> Callable | None:
    """A statistic of groups of single values; None without the library, or without a loop."""
    if VARIABLE not in os.environ:
        return None
    floats = np.float64 if src.dtype == np.int64 else src.dtype
    shape, of = cells, f"_{src.dtype}"
    match function:
        case "len":
            call, dtype = _loop("counts", index), np.int64
        case "mean":
            call, dtype = _loop("mean" + of, index, src), floats
        case "var" | "std":
            call, dtype = _loop("var" + of, index, src, sizes=(function == "std",)), floats
        case "any" | "all":
            call, dtype = _loop("flags" + of, index, src, sizes=(function == "all",)), np.uint8
        case "argmax":
            call, dtype = _loop("places" + of, index, src), np.int64
        case "cumsum":
            call, dtype = _loop("running" + of, index, src, sizes=(cells,)), src.dtype
            shape = len(src)
        case _ if function in _SAME:
            call = _loop("same" + of, index, src, sizes=(_SAME.index(function),))
            dtype = src.dtype
        case _:
            return None
    return lambda: call(np.zeros(shape, dtype))


def _widths(problem: Problem, name: str, known: str) -> list[Spelling]:
    """Rows of a width that is known at run time, and a small one at compile time."""
    width = problem.workload.width
    names = [name, known] if width in _KNOWN else [name]
    return [_into(problem, which, width) for which in names]


def _loop(name: str, *arrays: np.ndarray | None, sizes: tuple[int, ...] = ()) -> Callable:
    """The function of this name, with all its arguments but the output."""
    function = getattr(ctypes.CDLL(os.environ[VARIABLE]), name)
    function.restype = None
    views = [_view(array) for array in arrays if array is not None]
    function.argtypes = [_View] * (1 + len(views)) + [ctypes.c_size_t] * len(sizes)

    def call(out: np.ndarray, keep: tuple = arrays) -> np.ndarray:
        function(_view(out), *views, *sizes)
        return out

    return call


def _view(array: np.ndarray) -> _View:
    # `array.ctypes.data` would make an object of ctypes first.
    return _View(array.__array_interface__["data"][0], array.size)


def _into(problem: Problem, name: str, *sizes: int) -> Spelling:
    """From zeros, from a copy of the input, or in place."""
    w, start = problem.workload, problem.arrays.get("input")
    shape, dtype = w.out_shape, np.dtype("uint16" if w.dtype == "bfloat16" else w.dtype)
    call = _loop(name, problem.arrays.get("index"), problem.arrays.get("src"), sizes=sizes)

    def answer(out: np.ndarray) -> np.ndarray:
        return numbers(out, w.dtype)

    if w.in_place:
        table = start.copy()
        return Spelling(name, lambda: call(table), answer, lambda: np.copyto(table, start))
    if start is not None:
        return Spelling(name, lambda: call(start.copy()), answer)
    if w.form == "gather":
        return Spelling(name, lambda: call(np.empty(shape, dtype)), answer)
    return Spelling(name, lambda: call(np.zeros(shape, dtype)), answer)


def _unsized(problem: Problem) -> Spelling:
    """As many cells as the index wants."""
    w = problem.workload
    largest = _loop("largest", problem.index)
    call = _loop(f"flat_{w.reduce}_{w.dtype}", problem.index, problem.src)

    def run() -> np.ndarray:
        cells = int(largest(np.empty(1, np.int64))[0]) + 1
        return call(np.zeros(cells, w.dtype))

    return Spelling("largest, flat", run)


def _backward(problem: Problem) -> Spelling:
    """Only the way back is timed, and it is given the result of the way there."""
    w, width = problem.workload, (problem.workload.width,)
    index, src, grad = problem.index, problem.src, problem.grad
    if w.reduce == "sum":
        name, arrays = f"gather_{w.dtype}", (index, grad)
    elif w.reduce == "mean":
        name, arrays = "mean_back", (index, grad)
    else:
        name = f"{w.reduce}_back"
        forward = _loop(f"rows_{w.reduce}_{w.dtype}", index, src, sizes=width)
        start = -np.inf if w.reduce == "amax" else 1
        arrays = (index, src, forward(np.full(w.out_shape, start, w.dtype)), grad)
    call = _loop(name, *arrays, sizes=width)
    return Spelling(name, lambda: call(np.empty(w.src_shape, w.dtype)))


def _both(problem: Problem) -> Spelling:
    """Sums, and the rows of their gradient."""
    w = problem.workload
    forth = _loop(f"rows_{w.reduce}_{w.dtype}", problem.index, problem.src, sizes=(w.width,))
    back = _backward(problem)

    def run() -> tuple[np.ndarray, np.ndarray]:
        return forth(np.zeros(w.out_shape, w.dtype)), back.run()

    return Spelling(f"{w.reduce}, {back.name}", run, np.concatenate)


def _edges(problem: Problem) -> Spelling:
    """Rows of nodes along the edges, and rows of the gradient back."""
    w, ends = problem.workload, (problem.index, problem.source)
    forth = _loop("edges", *ends, problem.src, sizes=(w.width,))
    back = _loop("edges", *reversed(ends), problem.grad, sizes=(w.width,))

    def run() -> tuple[np.ndarray, np.ndarray]:
        zeros = (np.zeros(w.out_shape, w.dtype) for _ in range(2))
        return forth(next(zeros)), back(next(zeros))

    return Spelling("edges, and back", run, np.stack)
