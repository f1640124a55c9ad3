"""The sweep: strew alone along one thing at a time, to see where the time per element jumps."""

from __future__ import annotations

import dataclasses
import itertools
import json
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import alone

__all__ = ["LINES", "Line", "largest_step", "main"]

ROOT = Path(__file__).parent.parent

# By their sizes: a step counts between those of one size.
DTYPES = {
    **dict.fromkeys(["bool", "int8", "uint8"], 1),
    **dict.fromkeys(["int16", "uint16", "float16", "bfloat16"], 2),
    **dict.fromkeys(["int32", "uint32", "float32"], 4),
    **dict.fromkeys(["int64", "uint64", "float64", "complex64"], 8),
    "complex128": 16,
}
SKEWS = ["uniform", "zipf", "all to one", "sorted"]
WIDTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 32, 33, 64, 65, 128, 129, 256, 257, 512, 1024]
CELLS = [n * 10**k for k in range(1, 8) for n in (1, 3)] + [10**8]


@dataclasses.dataclass(frozen=True)
class Line:
    """Points that differ in one thing. Each has a label and what `measure` needs."""

    title: str
    along: str
    # Whether the points are numbers in an order: then a step is between neighbours, and otherwise
    # between any two that may be compared.
    ordered: bool
    points: dict[str, dict[str, Any]]

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The labels between which a step counts."""
        labels = list(self.points)
        if self.ordered:
            yield from itertools.pairwise(labels)
            return
        for left, right in itertools.combinations(labels, 2):
            if DTYPES.get(left) == DTYPES.get(right):
                yield left, right


def _lines() -> Iterator[Line]:
    for skew in ("uniform", "zipf", "sorted"):
        points = {str(n): {"cells": n, "skew": skew} for n in CELLS}
        yield Line(f"cells, {skew}", "cells", True, points)
    for skew in ("uniform", "sorted"):
        points = {str(w): {"width": w, "skew": skew} for w in WIDTHS}
        yield Line(f"window, {skew}", "elements in a window", True, points)
    for name, width in (("values", 0), ("rows of 64", 64)):
        points = {dtype: {"dtype": dtype, "width": width} for dtype in DTYPES}
        yield Line(f"dtype, {name}", "dtype", False, points)
    for name, width in (("values", 0), ("rows of 64", 64)):
        points = {skew: {"skew": skew, "width": width} for skew in SKEWS}
        yield Line(f"skew, {name}", "skew", False, points)


LINES = {line.title: line for line in _lines()}


def largest_step(line: Line, times: dict[str, float]) -> tuple[float, str, str]:
    """The largest ratio of the times of two points that may be compared, and which they are."""
    steps = [(max(times[a] / times[b], times[b] / times[a]), a, b) for a, b in line.pairs()]
    return max(steps, default=(1.0, "", ""))


def measure(
    elements: int,
    repeat: int,
    cells: int = 0,
    width: int = 0,
    dtype: str = "float32",
    skew: str = "uniform",
) -> float:
    """Nanoseconds per element of a sum, read or written; a width of 0 is a flat array.

    The elements of the output count too: it is new, so that each of them has to be written, and in
    the largest tables there are more of them than updates.
    """
    import ml_dtypes
    import numpy as np
    import strew

    updates = elements // max(width, 1)
    cells = cells or max(updates // 10, 1) if width else cells or 10_000
    index = alone.index(skew, updates, cells)
    shape = (updates, width) if width else (updates,)
    kind = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    src = np.random.default_rng(0).integers(0, 2, shape, np.int8).astype(kind)
    times = []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        out = strew.torch_scatter.scatter_sum(src, index, 0, None, cells)
        times.append(time.perf_counter() - start)
        del out
    # The first call warms up.
    return statistics.median(times[1:]) * 1e9 / ((updates + cells) * max(width, 1))


def _child(quick: bool) -> None:
    """Measures everything in this process, and prints a line of JSON for each point."""
    elements, repeat = (1 << 21, 3) if quick else (1 << 24, 7)
    for line in LINES.values():
        for label, what in line.points.items():
            print(json.dumps([line.title, label, measure(elements, repeat, **what)]), flush=True)


def main(out: Path, quick: bool, docs: bool) -> int:
    """Measures with one thread and with all, and writes sweep.json, sweep.md and sweep.svg."""
    from . import sweep_report

    times: dict[str, dict[str, dict[str, float]]] = {}
    for threads, (title, label, nanoseconds) in alone.points("bench.sweep", quick):
        found = times.setdefault(str(threads), {title: {} for title in LINES})
        if not found[title]:
            print(f"[{threads} threads] {title}", file=sys.stderr, flush=True)
        found[title][label] = nanoseconds
    (out / "sweep.json").write_text(json.dumps(times, indent=1) + "\n")
    (out / "sweep.md").write_text(sweep_report.markdown(times))
    sweep_report.draw(times, out / "sweep.svg")
    print(sweep_report.steps(times), file=sys.stderr)
    if docs:
        for name in ("sweep.md", "sweep.svg"):
            shutil.copyfile(out / name, ROOT / "docs" / name)
    return 0


if __name__ == "__main__":
    _child(alone.begin())
