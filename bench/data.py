"""Arrays: made once from a workload's seed, kept as files, and loaded by every contender."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from . import reference
from .workloads import Workload

__all__ = ["arrays", "bits", "bytes_of_bfloat16", "load", "numbers", "prepare", "rough", "zipf"]


def arrays(workload: Workload) -> dict[str, np.ndarray]:
    """The inputs of a workload without a gradient, in memory."""
    w = workload
    made: dict[str, np.ndarray] = {}
    limits = (w.cells,) if w.form in ("flat", "rows", "gather") else w.shape
    if w.form != "slice":
        made["index"] = _index(w, limits)
    if w.reduce != "count":
        made["src"] = _values(w, w.src_shape, 1)
    if w.has_input:
        made["input"] = _values(w, w.out_shape, 2)
    return made


def prepare(workload: Workload, folder: Path) -> dict[str, str]:
    """Makes the arrays of a workload that are not there yet; gives the file of each by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    w = workload
    made: dict[str, np.ndarray] = {}

    def keep(name: str, make: Callable[[], np.ndarray], *what: object) -> str:
        """A file is named after what it holds, so that workloads share what they can."""
        text = json.dumps([name, *what])
        path = folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.npy"
        if not path.exists():
            made[name] = make()
            # Appears whole or not at all.
            unfinished = path.with_suffix(".tmp")
            with unfinished.open("wb") as file:
                np.save(file, made[name])
            unfinished.rename(path)
        return str(path)

    def get(name: str) -> np.ndarray:
        return made[name] if name in made else np.load(files[name], mmap_mode="r")

    files: dict[str, str] = {}
    limits = (w.cells,) if w.form in ("flat", "rows", "edges", "gather") else w.shape
    index = (w.index, w.index_shape, limits, w.dim, w.seed, w.mode, w.outside)
    src = (w.reduce, w.values, w.dtype, w.src_shape, w.seed)
    if w.form != "slice":
        files["index"] = keep("index", lambda: _index(w, limits), *index)
    if w.reduce != "count":
        files["src"] = keep("src", lambda: _values(w, w.src_shape, 1), *src)
    if w.has_input:
        start = (w.reduce, w.values, w.dtype, w.out_shape, w.seed)
        files["input"] = keep("input", lambda: _values(w, w.out_shape, 2), *start)
    answer = (w.form, index, src, w.out_shape, w.include_self, w.start, w.stop, w.step, w.ulps)
    if w.form == "edges":
        files["source"] = keep("source", lambda: _index(w, limits, 4), *index)
    if w.has_grad:
        grad = (w.dtype, w.out_shape, w.seed)
        files["grad"] = keep("grad", lambda: _whole(w, w.out_shape, 3), *grad)
        answer += ("backward" if w.timed == "forward" else w.timed,)
    if w.reduce == "count":
        answer += ("count",)

    def expected() -> np.ndarray:
        arrays = {name: numbers(get(name), w.dtype) for name in files}
        return reference.answer(w, arrays)

    files["expected"] = keep("expected", expected, *answer)
    return files


def numbers(array: np.ndarray, dtype: str) -> np.ndarray:
    """bfloat16 as float32; everything else as it is."""
    if dtype == "bfloat16" and array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def bytes_of_bfloat16(values: np.ndarray) -> np.ndarray:
    """float32 rounded to bfloat16, to nearest even, as uint16: files know no bfloat16."""
    wide = values.astype(np.float32).view(np.uint32)
    return ((wide + 0x7FFF + ((wide >> 16) & 1)) >> 16).astype(np.uint16)


def _stored(values: np.ndarray, dtype: str) -> np.ndarray:
    return bytes_of_bfloat16(values) if dtype == "bfloat16" else values.astype(dtype)


def _values(w: Workload, shape: tuple[int, ...], stream: int) -> np.ndarray:
    rng = np.random.default_rng([w.seed, stream])
    if w.values == "near-one":
        return _stored(rng.random(shape, np.float32) + np.float32(0.5), w.dtype)
    if w.reduce == "prod":
        powers = np.array([0.5, 1, 1, 2], np.float32)
        return _stored(powers[rng.integers(0, 4, shape, np.int8)], w.dtype)
    if w.values == "distinct":
        columns = np.arange(1, shape[0] + 1, dtype=np.float32)
        return np.stack([rng.permutation(columns) for _ in range(shape[1])], axis=1)
    return _whole(w, shape, stream)


def _whole(w: Workload, shape: tuple[int, ...], stream: int) -> np.ndarray:
    rng = np.random.default_rng([w.seed, stream])
    # No zeros: a lost update must show.
    whole = rng.integers(1, 9, shape, np.int8) * rng.choice(np.array([-1, 1], np.int8), shape)
    return _stored(whole, w.dtype)


def _index(w: Workload, limits: tuple[int, ...], stream: int = 0) -> np.ndarray:
    rng = np.random.default_rng([w.seed, stream])
    if w.form == "elements":
        return rng.integers(0, w.shape[w.dim], w.shape, np.int64)
    if w.form == "nd":
        flat = rng.permutation(int(np.prod(limits)))[: w.updates]
        return np.stack(np.unravel_index(flat, limits)).astype(np.int64)
    (cells,) = limits
    if w.index == "zipf":
        return zipf(rng, w.updates, cells)
    index = rng.integers(0, cells, w.updates, np.int64)
    if w.outside:
        # Beyond the cells, or counted from their end.
        index[rng.random(w.updates) < w.outside] += -cells if w.mode == "wrap" else cells
    return np.sort(index) if w.index == "sorted" else index


def zipf(rng: np.random.Generator, updates: int, cells: int, exponent: float = 1.0) -> np.ndarray:
    """Cells with a likelihood in proportion to 1, 1/2, 1/3, .. to the exponent, shuffled."""
    upto = np.cumsum(np.arange(1, cells + 1) ** -exponent)
    rank = np.searchsorted(upto, rng.random(updates) * upto[-1], side="right")
    return np.asarray(rng.permutation(cells)[np.minimum(rank, cells - 1)])


def load(path: str) -> np.ndarray:
    """A private copy at a multiple of 64 bytes, so that every library can use it as it is."""
    stored = np.load(path, mmap_mode="r")
    copy = aligned(stored.shape, stored.dtype)
    copy[...] = stored
    return copy


def aligned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """New memory at a multiple of 64 bytes."""
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.empty(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(shape)


def rough(array: np.ndarray, dtype: str) -> np.ndarray:
    """The values with noise in all their bits, so that an order of additions shows in the sum."""
    if array.dtype.kind in "iu" and dtype != "bfloat16":
        return array
    values = numbers(array, dtype)
    noise = np.random.default_rng(0).random(values.shape, np.float32)
    noise = noise * np.float32(0.25) + np.float32(0.875)
    noisy = _stored(values * noise, dtype)
    copy = aligned(noisy.shape, noisy.dtype)
    copy[...] = noisy
    return copy


def bits(array: np.ndarray) -> str:
    """A digest of an answer's bytes."""
    return hashlib.blake2b(np.ascontiguousarray(array).view(np.uint8).data).hexdigest()[:32]
