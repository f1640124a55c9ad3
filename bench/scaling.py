"""Scaling: the processor time of all threads of a call, by the number of threads.

Time on the clock says little on a machine with fewer cores than threads, or with other work. The
processor time that a call takes in all does not depend on either as much: what grows with the
number of threads there is work that more threads make.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import gc
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from . import scaling_check, scaling_model
from .processor import here_and_today
from .scaling_calls import explained
from .scaling_model import BANDWIDTH, CORES, Part
from .scaling_rows import ScalingRow, rows

__all__ = ["MOST", "THREADS", "Cost", "Measured", "costs", "main", "markdown", "over"]

ROOT = Path(__file__).parent.parent

THREADS = [1, 2, 16, 64]

# Processor time by that of one thread, at most, by the number of threads.
MOST = {2: 1.3, 16: 1.3, 64: 1.5}

# Measured calls of each number of threads: quick or not.
ROUNDS = {True: 3, False: 7}


@dataclasses.dataclass(frozen=True)
class Cost:
    """What one row costs with a number of threads: medians."""

    # Processor time of all threads, and the time on the clock, in seconds.
    processor: float
    clock: float
    # The part of the processor time that the busiest thread took.
    busiest: float


@dataclasses.dataclass(frozen=True)
class Measured:
    """What is known of one row."""

    # With each of `THREADS`.
    costs: list[Cost]
    # With each of `CORES`, as `strew explain` says, if it is asked.
    parts: list[Part]
    # The part of the updates that goes to the hottest cell.
    hottest: float

    def part(self, threads: int) -> Part | None:
        """The strategy and the parts of a run with this number of threads."""
        return next((part for part in self.parts if part.cores == threads), None)

    def speedups(self) -> list[tuple[float, str]]:
        """The model's speed-ups with each of `CORES`, and what binds them."""
        return scaling_model.speedups(self.parts)


def _by_thread() -> dict[str, int]:
    """The nanoseconds that each thread of this process has run."""
    found = {}
    for thread in Path("/proc/self/task").iterdir():
        try:
            found[thread.name] = int((thread / "schedstat").read_text().split()[0])
        except FileNotFoundError:
            continue
    return found


def _once(call: Callable[[], Any]) -> tuple[float, float, float]:
    """Processor time, time on the clock and the busiest thread's part of one call."""
    before = _by_thread()
    processor, clock = time.process_time(), time.perf_counter()
    made = call()
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    after = _by_thread()
    del made
    each = [spent - before.get(thread, 0) for thread, spent in after.items()]
    return processor, clock, max(each, default=0) / max(sum(each), 1)


def costs(spelling: Any, rounds: int) -> list[Cost]:
    """What a call costs with each number of threads, which take turns."""
    import strew

    times: dict[int, list[tuple[float, float, float]]] = {threads: [] for threads in THREADS}
    for number in range(rounds):
        shift = number % len(THREADS)
        for threads in THREADS[shift:] + THREADS[:shift]:
            strew.set_num_threads(threads)
            # The first call with a number of threads starts them.
            for measured in (False, True):
                if spelling.reset is not None:
                    spelling.reset()
                gc.collect()
                found = _once(spelling.run)
                if measured:
                    times[threads].append(found)
    medians = {
        threads: [statistics.median(values) for values in zip(*found, strict=True)]
        for threads, found in times.items()
    }
    strew.set_num_threads(None)
    return [Cost(*medians[threads]) for threads in THREADS]


def _parts(row: ScalingRow, arrays: dict[str, Any], folder: Path) -> list[Part]:
    """What is predicted, by the number of cores; nothing of calls that torch_scatter has not."""
    words = explained(row, arrays, folder)
    if words is None:
        return []
    machines = ["1", *(f"{cores}x{BANDWIDTH}" for cores in CORES[1:])]
    return scaling_model.ask(words, machines, folder)


def _hottest(arrays: dict[str, Any]) -> float:
    """The part of the updates that goes to the hottest cell, of an index of one axis."""
    import numpy as np

    index = arrays.get("index")
    if index is None or index.ndim != 1:
        return 0.0
    return float(np.bincount(index).max()) / max(len(index), 1)


def _measure(chosen: list[ScalingRow], quick: bool) -> Iterator[tuple[ScalingRow, Measured]]:
    from .contenders import problem
    from .contenders import strew as contender

    for row in chosen:
        arrays = row.arrays()
        [spelling, *_] = contender.spellings(problem.Problem(row.workload, arrays, 0))
        with tempfile.TemporaryDirectory(dir=os.environ.get("STREW_BENCH_ROOM")) as folder:
            parts = _parts(row, arrays, Path(folder))
        yield row, Measured(costs(spelling, ROUNDS[quick]), parts, _hottest(arrays))
        del arrays, spelling


def over(costs: list[Cost]) -> list[str]:
    """Where the processor time grows by more than it may."""
    found = []
    for threads, cost in zip(THREADS, costs, strict=True):
        ratio = cost.processor / costs[0].processor
        if ratio > MOST.get(threads, 1.0):
            found.append(f"{ratio:.2f} with {threads} threads")
    return found


def _line(row: ScalingRow, measured: Measured) -> str:
    found = measured.costs
    first = found[0].processor
    cells = [f"{cost.processor / first:.2f}" for cost in found[1:]]
    busiest = [f"{cost.busiest:.0%}" for cost in found[1:]]
    parts = [part for threads in THREADS if (part := measured.part(threads)) is not None]
    moved = [f"{part.bytes / 1e6:,.0f}" for part in parts]
    clock = f"{found[0].clock * 1e3:.1f}, {found[1].clock * 1e3:.1f}"
    numbers = [f"{first * 1e3:.1f}", *cells, ", ".join(busiest), clock, ", ".join(moved)]
    shared = parts[-1].shared if parts else ""
    return f"| {row.name} | {row.title} | {' | '.join(numbers)} | {shared} |"


# What stands before the first table.
_MEASURED = """\
- *processor*: the time of all threads of a call, in ms with one thread, and by that with more.
- *busiest*: the part of it that the busiest thread took with 2, 16 and 64 threads. With more
  threads than cores, a thread that runs may take the parts of others that wait.
- *clock*: the time of the call with 1 and 2 threads, in ms.
- *bytes*: what the run moves with 1, 2, 16 and 64 threads, in MB, by the model of `strew explain`.
  The last column is how it runs with 64.
"""

# What stands behind it.
_REASONS = """\
Reasons for what grows:

- *lists* (W1b): single values in no order go into lists by block of the destination from 4 threads
  on. Each thread lists a stretch of the index, and then joins some blocks. The index is read once
  in all, but each update is written to a list and read again, which takes about as long as one
  thread takes for it.
- *by destination*: each thread reads the whole index, to find the updates of its own cells. Short
  rows are the dearest: finding an update takes as long as joining it (W2f, W4).
- *an index that ascends*: all threads check that it does, and then each reads only its own stretch.
  The index is read twice, by any number of threads. Sorted rows of 8 take 1.5 times the
  processor time of one thread with 2 threads, and 2.1 times with 16.
- *by destination, long rows*: one thread reads all rows of the source in their order (W2b). Each
  of several threads reads only some of them, so the processor cannot fetch the next one ahead. Rows
  that are sorted are read in order by all threads. Rows that are grouped (W2a) are out of order on
  one thread, too.
- W2a-f16: one thread adds to a table in float32, and several group the rows.
- A run by destination gives each thread at least 12 MiB of updates: W2f, with 64 MB, uses at most 5
  threads. Lists take at least 4 MiB of updates per thread: 16 threads for W1b and W1c.
- Lists of the updates of a destination that no cache holds (W1c) and columns of elements (W3) are
  level: one thread makes such lists, too.

## Balance and hot cells

A run by destination cuts the destination where a sample of the index says, with 256 values of the
sample per thread. 64 parts then take at most 1.2 times the mean of their updates.

- A hot row of 256 bytes or more: threads share its columns, in pieces of 128 bytes or more.
- A hot single cell of a float sum cannot be shared out. The order of its additions is fixed, so
  one thread makes all of them. If a part *p* of all updates goes to one cell, no number of threads
  makes the run more than 1/*p* times as fast. There are no more parts than that is worth.
- Sums and products of integers, minima and maxima do not depend on the order. With rows of at most
  64 bytes and a destination that fits the second-level cache of a core, each thread has a table of
  the destination for its stretch of the updates, whichever cells they go to. Exact sums do the same
  with larger destinations.
- Single values in order, and narrow rows of which one takes more than a third of the updates, use
  one thread.

## What was tried

Processor time in ms on two cores of a virtual server (Intel Xeon with AVX-512) with other work
beside, both ways taking turns in one process, medians of 3 calls, 2026-11-27:

| row | way | 1 thread | 4 | 8 | 16 | 64 |
|---|---|---|---|---|---|---|
| W1b | by destination, 5 threads at most | 41 | 90 | 92 | 94 | 102 |
| W1b | lists, 30 threads at most | 41 | 79 | 76 | 86 | 102 |
| W1b | lists in rounds of 1 MiB per thread | 41 | 122 | 127 | 178 | 242 |

In rounds, the lists stay in the caches, but the threads wait for each other twice in each round.

Both ways in turn in two processes, one number of threads after the other, medians of 5 calls, with
nothing else running:

| row | way | 1 thread | 4 | 8 | 16 | 32 | 64 |
|---|---|---|---|---|---|---|---|
| W1b | by destination, 5 threads at most | 48 | 89 | 108 | 113 | 108 | 108 |
| W1b | lists, 30 threads at most | 48 | 91 | 83 | 109 | 145 | 142 |

Shorter lists have more room that stays empty, so a run makes at most as many as give each thread
4 MiB of updates: 16 for W1b. They take no more processor time than 5 threads by destination, and
16 threads share it.

Rows listed by their places in the source, in another run:

| row | way | 1 thread | 4 | 8 | 16 | 64 |
|---|---|---|---|---|---|---|
| 2M rows of 64 into 200k, zipf 1.1 | by destination (chosen) | 73 | 123 | 149 | 178 | 238 |
| 2M rows of 64 into 200k, zipf 1.1 | lists | 77 | 136 | 143 | 155 | 206 |
| W2f | by destination (chosen) | 9 | 32 | 34 | 13 | 33 |
| W2f | lists | 10 | 38 | 41 | 53 | 68 |

With 16 threads the trial at the beginning of W2f chose one. Lists of rows of 64 take 11% more with
4 threads and 13% less with 16. They save reading the index, but not the rows out of order.
"""

# What stands before the second table.
_MODEL = """\
## A model of a large machine

These figures are predicted by `strew explain --machine`, not measured: for cores as fast as those
here, which reach 200 GB/s together (one core has the bandwidth that it has here). A run takes the
longer of two times:

- that of the thread with most updates: their number, by the time of an update here. The tool
  measures that time on a sample of the updates, with one thread and with two. A thread that reads
  the whole index has the time of looking at each of its values besides.
- the bytes that the run moves, divided by the bandwidth.

All updates of a cell are joined by one thread, so the hottest cell bounds the speed-up of runs that
are shared out by destination. The model leaves out that cores share caches, and that a thread takes
time to wake up. `cargo xtask bench --scaling --check` compares it with real times on 1 and 2
threads. It has not been compared with a machine of more than two cores.

![predicted speed-up by the number of cores](scaling.svg)

Predicted speed-up by the number of cores, and what binds the run with 64:
"""


def _modelled(found: list[tuple[ScalingRow, Measured]]) -> list[str]:
    head = ["row", *map(str, CORES[1:]), "hottest cell", "with 64"]
    lines = [*_MODEL.splitlines(), "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row, measured in found:
        if measured.parts:
            speedups = measured.speedups()
            numbers = [f"{speedup:.1f}" for speedup, _ in speedups[1:]]
            bound = speedups[CORES.index(64)][1]
            hottest = f"{measured.hottest:.1%}"
            lines.append(f"| {row.name} | {' | '.join(numbers)} | {hottest} | {bound} |")
    return lines


def markdown(found: list[tuple[ScalingRow, Measured]], rounds: int) -> str:
    """The measured table, with what grows by more than it may before it, and the model's."""
    parts = [
        "# Processor time by the number of threads",
        "",
        f"Measured on {here_and_today()}: NumPy arrays, medians of {rounds} calls. The numbers "
        "of threads take turns in one process. More threads than cores take turns on the cores: "
        "their processor time counts, not their time on the clock. Other work on the machine makes "
        "both longer.",
        "",
        *_MEASURED.splitlines(),
        "",
    ]
    grows = [(row, over(measured.costs)) for row, measured in found]
    grows = [(row, texts) for row, texts in grows if texts]
    most = ", ".join(f"{limit} with {threads}" for threads, limit in MOST.items())
    parts += [f"{len(found)} rows; {len(grows)} grow by more than {most} threads.", ""]
    parts += [f"- {row.name}: {', '.join(texts)}" for row, texts in grows] + [""] * bool(grows)
    heads = [f"x {threads}" for threads in THREADS[1:]]
    head = ["row", "work", "processor, 1", *heads, "busiest", "clock", "bytes", "with 64 threads"]
    parts += [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    parts += [_line(row, measured) for row, measured in found]
    return "\n".join([*parts, "", *_REASONS.splitlines(), "", *_modelled(found)]) + "\n"


def _write(found: list[tuple[ScalingRow, Measured]], rounds: int, out: Path) -> None:
    records = [[row.name, dataclasses.asdict(measured)] for row, measured in found]
    (out / "scaling.json").write_text(json.dumps(records) + "\n")
    (out / "scaling.md").write_text(markdown(found, rounds))
    # Workloads whose run is shared out: a line of more rows could not be told from the others.
    lines = {
        row.name: [speedup for speedup, _ in measured.speedups()]
        for row, measured in found
        if measured.parts and not row.skew and measured.parts[-1].threads > 1
    }
    scaling_model.draw(lines, out / "scaling.svg")


def main(out: Path, patterns: list[str], quick: bool, docs: bool, check: bool = False) -> int:
    """Measures, and writes scaling.json, scaling.md and scaling.svg.

    With `check`, compares predicted and real times instead, and writes scaling-check.md.
    """
    known = {row.name: row for row in rows()}
    for pattern in patterns:
        if not fnmatch.filter(known, pattern):
            print(f"error: no row is called {pattern!r}: {', '.join(known)}", file=sys.stderr)
            return 2
    wanted = {name for p in patterns or ["*"] for name in fnmatch.filter(known, p)}
    chosen = [row for row in known.values() if row.name in wanted]
    if check:
        return scaling_check.main(chosen, out, quick)
    found: list[tuple[ScalingRow, Measured]] = []
    for row, measured in _measure(chosen, quick):
        found.append((row, measured))
        first = measured.costs[0].processor
        said = ", ".join(f"{cost.processor / first:.2f}" for cost in measured.costs[1:])
        print(f"{row.name}: {first * 1e3:.1f} ms, x {said}", file=sys.stderr, flush=True)
        # Written after each row, so that what is interrupted keeps its results.
        _write(found, ROUNDS[quick], out)
    if docs:
        for name in ("scaling.md", "scaling.svg"):
            shutil.copyfile(out / name, ROOT / "docs" / name)
    return 0
