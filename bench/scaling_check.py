"""The model of ``strew explain --machine`` against real times, with 1 and 2 threads."""

from __future__ import annotations

import dataclasses
import gc
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import scaling_model
from .processor import here_and_today
from .scaling_calls import explained
from .scaling_rows import ScalingRow

__all__ = ["NEAR", "Checked", "check", "holds", "main", "markdown"]

# Predicted by real time is at most this, and at least one divided by it.
NEAR = 1.25

# The number of threads of each prediction.
THREADS = [1, 2]

# Measured calls of each number of threads: quick or not.
ROUNDS = {True: 3, False: 7}


@dataclasses.dataclass(frozen=True)
class Checked:
    """Predicted and real seconds, by the number of threads, and how it was predicted to go."""

    predicted: list[float]
    real: list[float]
    shared: list[str]

    @property
    def ratios(self) -> list[float]:
        """Predicted by real."""
        pairs = zip(self.predicted, self.real, strict=True)
        return [predicted / real for predicted, real in pairs]


def holds(ratio: float) -> bool:
    """Whether a prediction is near."""
    return 1 / NEAR <= ratio <= NEAR


def _real(spelling: Any, rounds: int) -> list[float]:
    """The shortest call with each number of threads, which take turns."""
    import strew

    best = [float("inf")] * len(THREADS)
    for number in range(rounds + 1):
        for at, threads in enumerate(THREADS):
            strew.set_num_threads(threads)
            if spelling.reset is not None:
                spelling.reset()
            gc.collect()
            before = time.perf_counter()
            made = spelling.run()
            took = time.perf_counter() - before
            del made
            # The first call starts the threads.
            if number:
                best[at] = min(best[at], took)
    strew.set_num_threads(None)
    return best


def check(row: ScalingRow, quick: bool) -> Checked | None:
    """A row; nothing for calls that torch_scatter does not have."""
    import strew

    from .contenders import problem
    from .contenders import strew as contender

    arrays = row.arrays()
    with tempfile.TemporaryDirectory(dir=os.environ.get("STREW_BENCH_ROOM")) as folder:
        words = explained(row, arrays, Path(folder))
        if words is None:
            return None
        parts = scaling_model.ask(words, scaling_model.HERE, Path(folder))
    [spelling, *_] = contender.spellings(problem.Problem(row.workload, arrays, 0))
    # Each output is fresh memory, as it is predicted.
    kept = strew.get_kept_memory()
    strew.set_kept_memory(0)
    try:
        real = _real(spelling, ROUNDS[quick])
    finally:
        strew.set_kept_memory(kept)
    return Checked([part.seconds for part in parts], real, [part.shared for part in parts])


def markdown(found: list[tuple[ScalingRow, Checked]]) -> str:
    """How many predictions are near, the others, and all of them."""
    near = [[holds(ratio) for ratio in checked.ratios] for _, checked in found]
    counts = [sum(column) for column in zip(*near, strict=True)] or [0, 0]
    lines = [
        "# Predicted and real times",
        "",
        f"Measured on {here_and_today()}. *predicted* is the time that `strew explain "
        "--machine 1` and `--machine 2` say, *real* the shortest of some calls with a fresh "
        "output, both in ms.",
        "",
        f"{len(found)} rows. Within {NEAR - 1:.0%} are {counts[0]} with 1 thread and {counts[1]} "
        "with 2.",
        "",
    ]
    heads = ["row", "1 thread: predicted", "real", "ratio", "2 threads: predicted", "real", "ratio"]
    lines += [f"| {' | '.join([*heads, 'with 2 threads'])} |", "|---" * (len(heads) + 1) + "|"]
    for row, checked in found:
        cells = []
        columns = zip(checked.predicted, checked.real, checked.ratios, strict=True)
        for predicted, real, ratio in columns:
            mark = "" if holds(ratio) else "**"
            cells += [f"{predicted * 1e3:.1f}", f"{real * 1e3:.1f}", f"{mark}{ratio:.2f}{mark}"]
        lines.append(f"| {' | '.join([row.name, *cells, checked.shared[-1]])} |")
    return "\n".join(lines) + "\n"


def main(chosen: Iterable[ScalingRow], out: Path, quick: bool) -> int:
    """Compares, and writes scaling-check.md."""
    found: list[tuple[ScalingRow, Checked]] = []
    for row in chosen:
        checked = check(row, quick)
        if checked is None:
            continue
        found.append((row, checked))
        said = ", ".join(f"{ratio:.2f}" for ratio in checked.ratios)
        real = ", ".join(f"{seconds * 1e3:.1f}" for seconds in checked.real)
        print(f"{row.name}: {real} ms, predicted x {said}", file=sys.stderr, flush=True)
        # Written after each row, so that what is interrupted keeps its results.
        (out / "scaling-check.md").write_text(markdown(found))
    return 0
