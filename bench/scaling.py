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
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from .processor import here_and_today
from .scaling_calls import Part, explained
from .scaling_rows import ELEMENTS, ScalingRow, rows

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
    # With each of `THREADS`, as `strew explain` says; empty if it is not asked.
    parts: list[Part]


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


def _measure(chosen: list[ScalingRow], quick: bool) -> Iterator[tuple[ScalingRow, Measured]]:
    from .contenders import problem
    from .contenders import strew as contender

    for row in chosen:
        arrays = row.arrays()
        [spelling, *_] = contender.spellings(problem.Problem(row.workload, arrays, 0))
        with tempfile.TemporaryDirectory(dir=os.environ.get("STREW_BENCH_ROOM")) as folder:
            parts = explained(row, arrays, THREADS, Path(folder))
        yield row, Measured(costs(spelling, ROUNDS[quick]), parts)
        del arrays, spelling


def over(costs: list[Cost]) -> list[int]:
    """The numbers of threads with which the processor time grows by more than it may."""
    return [
        threads
        for threads, cost in zip(THREADS, costs, strict=True)
        if cost.processor / costs[0].processor > MOST.get(threads, 1.0)
    ]


def _kind(shared: str) -> tuple[str, str]:
    """How a run is shared out, without the number of its threads, and that number if it has one."""
    number = re.search(r"\d+(?= threads)", shared)
    return re.sub(r"\d+ threads", "threads", shared), number[0] if number else ""


def _kinds(found: Iterable[Measured]) -> dict[str, str]:
    """A letter for each way in which a run is shared out."""
    kinds = (_kind(measured.parts[-1].shared)[0] for measured in found if measured.parts)
    return {kind: chr(ord("A") + place) for place, kind in enumerate(dict.fromkeys(kinds))}


def _once_if_equal(texts: list[str]) -> str:
    return ", ".join(texts if len(set(texts)) > 1 else texts[:1])


def _line(row: ScalingRow, measured: Measured, kinds: dict[str, str]) -> str:
    found = measured.costs
    first = found[0].processor
    cells = [f"{cost.processor / first:.2f}" for cost in found[1:]]
    grows = over(found)
    for place, threads in enumerate(THREADS[1:]):
        cells[place] = f"**{cells[place]}**" if threads in grows else cells[place]
    busiest = _once_if_equal([f"{cost.busiest:.0%}" for cost in found[1:]])
    parts = measured.parts
    moved = _once_if_equal([f"{part.bytes / 1e6:,.0f}" for part in parts])
    numbers = [f"{first * 1e3:.1f}", *cells, busiest, f"{found[1].clock * 1e3:.1f}", moved]
    kind, threads_used = _kind(parts[-1].shared) if parts else ("", "")
    shared = f"{kinds.get(kind, '')} {threads_used}".strip()
    return f"| {row.name} | {' | '.join(numbers)} | {shared} |"


# What stands before the table.
_MEASURED = f"""\
Rows W and P are the workloads of [bench.md](bench.md#1-thread). The others are sums of
{ELEMENTS:,} elements, as values or as rows, into a tenth as many cells.

- *processor*: the time of all threads of a call, in ms with one thread, and by that with more.
- *busiest*: the part of it that the busiest thread took with 2, 16 and 64 threads. With more
  threads than cores, a thread that runs may take the parts of others that wait.
- *clock*: the time of the call with 2 threads, in ms. With 1 it is the processor time.
- *bytes*: what the run moves with 1, 2, 16 and 64 threads, in MB, by the model of `strew explain`.
- *with 64*: how the run is shared out among 64 threads, and how many take part:
"""

# What stands behind it.
_REASONS = """\
Reasons for what grows:

- *lists* (W1b): from 4 threads on, single values in no order are listed by block of the
  destination. The lists take about as long as the whole run of one thread. Into a destination that
  no cache holds (W1c), one thread makes lists, too.
- *by destination*: each thread reads the whole index to find the updates of its own cells. For
  short rows, finding an update takes as long as joining it (W2f, W4). Of long rows (W2b), each
  thread reads only some, so the processor cannot fetch the next one ahead.
- *an index that ascends*: all threads check that it does, and then each reads its own stretch.
- W2a-f16: one thread adds to a table in float32, and several group the rows.

## What bounds the speed-up

- A thread by destination has at least 12 MiB of updates (W2f: 5 threads), one with lists 4 MiB
  (W1b, W1c: 16 threads).
- Threads share the columns of a hot row of 256 bytes or more.
- A hot cell of a float sum has one thread, because the order of its additions is fixed. If a part
  *p* of all updates goes to one cell, the run is at most 1/*p* times as fast. An exact sum
  (`exact=True`) may be made in any order: threads share its cell.
- Sums and products of integers, minima and maxima do not depend on the order. If rows have at most
  64 bytes and a core's second-level cache holds the destination, each thread has a table of it for
  its stretch of the updates. Exact sums do so with larger destinations, too.
- Single values in order, and narrow rows of which one takes more than a third of the updates, have
  one thread.
- A sample of the index says where the destination is cut. 64 parts then take at most 1.2 times the
  mean of their updates.
"""


def markdown(found: list[tuple[ScalingRow, Measured]], rounds: int) -> str:
    """The table, in which what grows by more than it may is bold."""
    parts = [
        "# Processor time by the number of threads",
        "",
        f"Measured on {here_and_today()}: NumPy arrays, medians of {rounds} calls. The numbers "
        "of threads take turns in one process. More threads than cores take turns on the cores: "
        "their processor time counts, not their time on the clock. Other work on the machine makes "
        "both longer.",
        "",
        *_MEASURED.splitlines(),
    ]
    kinds = _kinds(measured for _, measured in found)
    parts += [f"  - {letter}: {kind}" for kind, letter in kinds.items()] + [""]
    grow = sum(bool(over(measured.costs)) for _, measured in found)
    most = ", ".join(f"{limit} with {threads}" for threads, limit in MOST.items())
    parts += [f"{len(found)} rows; {grow} grow by more than {most} threads (**bold**).", ""]
    heads = [f"x {threads}" for threads in THREADS[1:]]
    head = ["row", "processor, 1", *heads, "busiest", "clock", "bytes", "with 64"]
    parts += [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    parts += [_line(row, measured, kinds) for row, measured in found]
    return "\n".join([*parts, "", *_REASONS.splitlines()]) + "\n"


def _write(found: list[tuple[ScalingRow, Measured]], rounds: int, out: Path) -> None:
    records = [[row.name, dataclasses.asdict(measured)] for row, measured in found]
    (out / "scaling.json").write_text(json.dumps(records) + "\n")
    (out / "scaling.md").write_text(markdown(found, rounds))


def main(out: Path, patterns: list[str], quick: bool, docs: bool) -> int:
    """Measures, and writes scaling.json and scaling.md."""
    known = {row.name: row for row in rows()}
    for pattern in patterns:
        if not fnmatch.filter(known, pattern):
            print(f"error: no row is called {pattern!r}: {', '.join(known)}", file=sys.stderr)
            return 2
    wanted = {name for p in patterns or ["*"] for name in fnmatch.filter(known, p)}
    chosen = [row for row in known.values() if row.name in wanted]
    found: list[tuple[ScalingRow, Measured]] = []
    for row, measured in _measure(chosen, quick):
        found.append((row, measured))
        first = measured.costs[0].processor
        said = ", ".join(f"{cost.processor / first:.2f}" for cost in measured.costs[1:])
        print(f"{row.name}: {first * 1e3:.1f} ms, x {said}", file=sys.stderr, flush=True)
        # Written after each row, so that what is interrupted keeps its results.
        _write(found, ROUNDS[quick], out)
    if docs:
        shutil.copyfile(out / "scaling.md", ROOT / "docs" / "scaling.md")
    return 0
