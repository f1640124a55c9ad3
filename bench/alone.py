"""strew alone: a module runs in processes of its own, with one thread and with all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .contenders.table import one_thread

__all__ = ["begin", "index", "points"]

ROOT = Path(__file__).parent.parent


def points(module: str, quick: bool) -> Iterator[tuple[int, Any]]:
    """What the module prints, a line of JSON for each point, and with how many threads."""
    processors = len(os.sched_getaffinity(0))
    for threads in dict.fromkeys([1, processors]):
        variables = dict(os.environ) | (one_thread() if threads == 1 else {})
        child = subprocess.Popen(
            [sys.executable, "-m", module, str(threads), "quick" if quick else "whole"],
            cwd=ROOT,
            env=variables,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        for line in child.stdout:
            yield threads, json.loads(line)
        if child.wait() != 0:
            raise RuntimeError(f"{module} ended with {child.returncode}")


def begin() -> bool:
    """What such a module begins with: stays on one processor if so asked; whether to be quick."""
    if sys.argv[1] == "1":
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return sys.argv[2] == "quick"


def index(skew: str, updates: int, cells: int) -> Any:
    """Cells for so many updates: uniform, zipf, all to one, or sorted."""
    import numpy as np

    from .data import zipf

    rng = np.random.default_rng(0)
    if skew == "all to one":
        return np.full(updates, cells // 2)
    if skew == "zipf":
        return zipf(rng, updates, cells)
    found = rng.integers(0, cells, updates)
    if skew == "sorted":
        found.sort()
    return found
