"""Right answers, found another way than by scattering: by counting, sorting and gathering.

They are computed in float64, where all of them are exact before their one rounding: see `values`
in ``workloads.toml``.
"""

from __future__ import annotations

import numpy as np

from .workloads import Workload

__all__ = ["answer", "ulp", "wrong"]

# Bits after the point, and the exponent of the smallest normal number.
_FORMATS = {"float16": (10, -14), "bfloat16": (7, -126), "float32": (23, -126)}


def answer(workload: Workload, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """The right answer: in float64 where it is not exact in the workload's dtype."""
    w = workload
    if w.form == "edges":
        exact = _edges(w, arrays)
    elif w.timed == "backward":
        exact = _backward(w, arrays)
    elif w.timed == "both":
        exact = np.concatenate([_reduced(w, arrays), _backward(w, arrays)])
    elif w.form == "slice":
        exact = _slice(w, arrays["input"], arrays["src"])
    elif w.form == "gather":
        exact = arrays["src"][arrays["index"]]
    elif w.reduce == "count":
        borders = np.searchsorted(np.sort(arrays["index"]), np.arange(w.cells + 1))
        exact = np.diff(borders)
    elif w.form == "nd":
        flat = np.ravel_multi_index(tuple(arrays["index"]), w.shape)
        exact = _last(flat, arrays["src"], int(np.prod(w.shape))).reshape(w.out_shape)
    else:
        exact = _reduced(w, arrays)
    exact_in = w.dtype if w.ulps == 0 and w.dtype != "bfloat16" else "float64"
    return np.ascontiguousarray(exact, exact_in)


def _slice(w: Workload, start: np.ndarray, src: np.ndarray) -> np.ndarray:
    """Where every cell looks up what it becomes."""
    inside = np.ones(w.shape, bool)
    places = []
    for axis, (begin, stop, step) in enumerate(zip(w.start, w.stop, w.step, strict=True)):
        at = np.arange(w.shape[axis])
        hit = (at >= begin) & (at < stop) & ((at - begin) % step == 0)
        where = np.clip((at - begin) // step, 0, src.shape[axis] - 1)
        shape = [-1 if a == axis else 1 for a in range(len(w.shape))]
        inside &= hit.reshape(shape)
        places.append(where.reshape(shape))
    return np.where(inside, src[tuple(places)], start)


def _last(flat: np.ndarray, src: np.ndarray, cells: int) -> np.ndarray:
    """Each cell gathers its last update, or zeros."""
    order = np.argsort(flat, kind="stable")
    place = np.searchsorted(flat[order], np.arange(cells), side="right") - 1
    found = (place >= 0) & (flat[order][place] == np.arange(cells))
    return np.where(found[:, None], src[order][place], np.zeros((), src.dtype))


def _reduced(w: Workload, arrays: dict[str, np.ndarray]) -> np.ndarray:
    index, src = arrays["index"], arrays["src"]
    if w.mode == "wrap":
        index = index % w.cells
    elif w.outside:
        kept = index < w.cells
        index, src = index[kept], src[kept]
    cells = int(np.prod(w.out_shape))
    if w.form == "elements":
        # The number of the cell that each element goes to.
        strides = np.cumprod([1, *w.shape[:0:-1]])[::-1]
        flat = index * strides[w.dim]
        for axis, stride in enumerate(strides):
            if axis != w.dim:
                shape = [-1 if a == axis else 1 for a in range(len(w.shape))]
                flat += (np.arange(w.shape[axis]) * stride).reshape(shape)
        out = _columns(w, flat.reshape(-1), src.reshape(-1, 1), cells)
    else:
        out = _columns(w, index, src.reshape(len(index), -1), w.cells)
    out = out.reshape(w.out_shape)
    if not w.has_input:
        return out
    start = arrays["input"].astype(np.float64)
    if w.include_self:
        joined: np.ufunc = {"sum": np.add, "prod": np.multiply, "amax": np.maximum}[w.reduce]
        return np.asarray(joined(start, out))
    touched = np.bincount(index, minlength=w.cells) > 0
    return np.where(touched.reshape(-1, *[1] * (out.ndim - 1)), out, start)


def _backward(w: Workload, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """What the gradient of the output is as one of the updates: each gathers its cell's, column by
    column.
    """
    index, src, grad = arrays["index"], arrays["src"], arrays["grad"]
    counts = np.maximum(np.bincount(index, minlength=w.cells), 1)
    found = np.empty(src.shape)
    for k in range(src.shape[1]):
        grads = (grad[:, k] / counts if w.reduce == "mean" else grad[:, k])[index]
        factors = src[:, k].astype(np.float64)
        if w.reduce == "prod":
            grads = grads * _columns(w, index, factors[:, None], w.cells)[index, 0] / factors
        elif w.reduce == "amax":
            # Nobody else has the same value.
            largest = _columns(w, index, factors[:, None], w.cells)[index, 0]
            grads = np.where(factors == largest, grads, 0)
        found[:, k] = grads
    return found


def _edges(w: Workload, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """What every node is told, and below that its gradient."""
    index, source, src, grad = (arrays[name] for name in ("index", "source", "src", "grad"))
    found = np.empty((2, w.cells, w.width))
    for k in range(w.width):
        found[0, :, k] = np.bincount(index, src[source, k], minlength=w.cells)
        found[1, :, k] = np.bincount(source, grad[index, k], minlength=w.cells)
    return found


def _columns(w: Workload, cell: np.ndarray, src: np.ndarray, cells: int) -> np.ndarray:
    """The reduction of each column by itself, without an input."""
    out = np.empty((cells, src.shape[1]))
    if w.reduce in ("sum", "mean"):
        for column in range(src.shape[1]):
            out[:, column] = np.bincount(cell, src[:, column], minlength=cells)
        if w.reduce == "mean":
            out /= np.maximum(np.bincount(cell, minlength=cells), 1)[:, None]
        return out
    order = np.argsort(cell, kind="stable")
    touched, first = np.unique(cell[order], return_index=True)
    if w.reduce == "prod":
        out[:] = 1
        out[touched] = np.multiply.reduceat(src[order].astype(np.float64), first)
    else:
        # From zeros, which take part, unless there is an input.
        start = -np.inf if w.has_input else 0
        out[:] = start
        out[touched] = np.maximum(np.maximum.reduceat(src[order], first), start)
    return out


def ulp(values: np.ndarray, dtype: str) -> np.ndarray:
    """The distance between neighbours in `dtype` around each of the values."""
    digits, smallest = _FORMATS[dtype]
    exponent = np.frexp(values)[1] - 1
    return np.asarray(np.ldexp(1.0, np.maximum(exponent, smallest) - digits))


def wrong(workload: Workload, got: np.ndarray, expected: np.ndarray) -> str | None:
    """What is wrong with an answer, if anything is."""
    w = workload
    if got.shape != expected.shape:
        return f"shape {got.shape} instead of {expected.shape}"
    # A part at a time: a table may take a large part of the memory.
    worst, bad = 0.0, 0
    flat, right = got.reshape(-1), expected.reshape(-1)
    for start in range(0, flat.size, 1 << 22):
        part = flat[start : start + (1 << 22)].astype(np.float64)
        want = right[start : start + (1 << 22)].astype(np.float64)
        allowed: np.ndarray | float = 0.0
        if w.ulps:
            step = ulp(want, w.dtype)
            want = np.rint(want / step) * step
            allowed = w.ulps * step
        off = np.abs(part - want)
        # NaN is off too.
        missed = ~(off <= allowed)
        bad += int(missed.sum())
        worst = max(worst, float(np.nanmax(off, initial=0.0)))
    if bad == 0:
        return None
    return f"{bad} of {flat.size} elements, by up to {worst:g}"
