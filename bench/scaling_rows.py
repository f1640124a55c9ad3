"""The rows of the scaling table: the workloads that run on NumPy alone, and skewed indices."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from . import data
from .workloads import Workload, read

__all__ = ["ELEMENTS", "SKEWS", "ScalingRow", "rows", "skewed"]

# Elements of a skewed source.
ELEMENTS = 1 << 24

# Updates of a block, of an index that is sorted within blocks.
BLOCK = 1 << 16

# Widths of skewed rows; 0 is a flat array.
WIDTHS = [0, 8, 64, 256]


@dataclasses.dataclass(frozen=True)
class ScalingRow:
    """What is measured at once."""

    name: str
    workload: Workload
    # An index of skewed rows. `None`: the workload's own.
    skew: str = ""
    dtype: str = "int64"

    def arrays(self) -> dict[str, Any]:
        """The inputs, by the names that contenders give them."""
        import numpy as np

        arrays = data.arrays(self.workload)
        if self.skew:
            index = skewed(self.skew, self.workload.updates, self.workload.cells)
            arrays["index"] = index.astype(np.dtype(self.dtype))
        return arrays


def skewed(skew: str, updates: int, cells: int) -> Any:
    """An index with some skew or order, one of `SKEWS`."""
    import numpy as np

    return SKEWS[skew](np.random.default_rng(0), updates, cells)


def _uniform(rng: Any, updates: int, cells: int) -> Any:
    return rng.integers(0, cells, updates)


def _half(rng: Any, updates: int, cells: int) -> Any:
    index = _uniform(rng, updates, cells)
    index[rng.random(updates) < 0.5] = cells // 3
    return index


def _sorted(rng: Any, updates: int, cells: int) -> Any:
    index = _uniform(rng, updates, cells)
    index.sort()
    return index


def _blocks(rng: Any, updates: int, cells: int) -> Any:
    index = _uniform(rng, updates, cells)
    for start in range(0, updates, BLOCK):
        index[start : start + BLOCK].sort()
    return index


def _reversed(rng: Any, updates: int, cells: int) -> Any:
    return _sorted(rng, updates, cells)[::-1].copy()


def _constant(rng: Any, updates: int, cells: int) -> Any:
    return _uniform(rng, updates, 1) + cells // 3


def _zipf(exponent: float) -> Callable[[Any, int, int], Any]:
    return lambda rng, updates, cells: data.zipf(rng, updates, cells, exponent)


SKEWS: dict[str, Callable[[Any, int, int], Any]] = {
    "zipf 1.1": _zipf(1.1),
    "zipf 1.3": _zipf(1.3),
    "zipf 2.0": _zipf(2.0),
    "half in one cell": _half,
    "sorted": _sorted,
    "sorted by blocks": _blocks,
    "reversed": _reversed,
    "constant": _constant,
}


def rows() -> Iterator[ScalingRow]:
    """All rows, by name: those of workloads.toml first."""
    workloads = read()
    for workload in workloads.values():
        # Calls of some microseconds use one thread. Gradients need torch, compiled functions JAX.
        if workload.calls == 1 and not workload.has_grad and not workload.jit:
            yield ScalingRow(workload.name, workload)
    for width in WIDTHS:
        like = workloads["W2a" if width else "W1b"]
        updates = ELEMENTS // max(width, 1)
        cells = updates // 10
        sized = dataclasses.replace(like, updates=updates, cells=cells, width=max(width, 1))
        shape = f"rows of {width}" if width else "values"
        for skew in SKEWS:
            for dtype in ("int64", "int32") if width in (0, 64) else ("int64",):
                what = f"{shape}, {skew}, {dtype}"
                workload = dataclasses.replace(sized, name=what)
                yield ScalingRow(what, workload, skew, dtype)
