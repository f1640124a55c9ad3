"""One contender in a process of its own: ``python -m bench.worker CONTENDER THREADS``.

The driver writes one request per line to its standard input, as JSON, and gets one line for each.
THREADS is 1, or 0 for the library's default.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import sys
import time
import traceback
from typing import Any, TextIO

import numpy as np

from . import data, reference
from .contenders.problem import Problem, Spelling
from .contenders.table import CONTENDERS
from .workloads import from_json

# Short calls are repeated within a turn, after one that warms the caches up.
_TURN = 0.1
_CALLS = 5


class Worker:
    """What a contender has loaded."""

    def __init__(self, contender: str, threads: int) -> None:
        self.threads = threads
        environment = CONTENDERS[contender].environment
        self.module = importlib.import_module(f"bench.contenders.{environment}")
        # Several at a time: a workload's twin runs in turn with it.
        self.problems: dict[str, Problem] = {}
        self.expected: dict[str, str] = {}
        self.spellings: dict[str, list[Spelling]] = {}

    def load(self, workload: dict[str, Any], files: dict[str, str]) -> dict[str, Any]:
        """Loads a workload. Says what spellings it has."""
        w = from_json(workload)
        self.expected[w.name] = files["expected"]
        arrays = {name: data.load(path) for name, path in files.items() if name != "expected"}
        self.problems[w.name] = Problem(w, arrays, self.threads)
        self.spellings[w.name] = self.module.spellings(self.problems[w.name])
        said = self.spellings[w.name]
        return {"spellings": [{"name": s.name, "index": s.index, "counts": s.counts} for s in said]}

    def check(self, name: str, spelling: int) -> dict[str, Any]:
        """Runs once, and compares the answer."""
        workload, chosen = self.problems[name].workload, self.spellings[name][spelling]
        seconds, out = _timed(chosen, 1)
        why = None
        if chosen.counts:
            expected = np.load(self.expected[name], mmap_mode="r")
            why = reference.wrong(workload, np.asarray(chosen.answer(out)), expected)
        return {"seconds": seconds, "wrong": why}

    def time(self, name: str, spelling: int) -> dict[str, Any]:
        """One turn: some calls, each by itself."""
        chosen, calls = self.spellings[name][spelling], self.problems[name].workload.calls
        gc.collect()
        took, out = _timed(chosen, calls)
        if took * calls > _TURN * 3:
            return {"seconds": [took]}
        del out
        times: list[float] = []
        while len(times) < _CALLS and sum(times) * calls < _TURN:
            took, out = _timed(chosen, calls)
            times.append(took)
            # Frees the answer, outside the time.
            del out
        return {"seconds": times}

    def memory(self, name: str, spelling: int) -> dict[str, Any]:
        """The most that a call adds to the process's memory, its answer included."""
        chosen = self.spellings[name][spelling]
        gc.collect()
        if (forget := getattr(self.module, "forget", None)) is not None:
            forget()
        _trim()
        if chosen.reset is not None:
            chosen.reset()
        with open("/proc/self/clear_refs", "w") as file:
            # The peak is from now on.
            file.write("5")
        before = _status("VmRSS")
        out = chosen.run()
        peak = _status("VmHWM")
        del out
        return {"bytes": max(peak - before, 0)}

    def rough(self, name: str, spelling: int) -> dict[str, Any]:
        """A digest of the answer for values whose order of additions shows."""
        problem = self.problems[name]
        dtype = problem.workload.dtype
        arrays = {
            what: array if what in ("index", "source") else data.rough(array, dtype)
            for what, array in problem.arrays.items()
        }
        again = Problem(problem.workload, arrays, problem.threads)
        chosen = self.module.spellings(again)[spelling]
        if chosen.reset is not None:
            chosen.reset()
        return {"bits": data.bits(np.asarray(chosen.answer(chosen.run())))}

    def drop(self) -> dict[str, Any]:
        """Forgets everything loaded."""
        self.problems.clear()
        self.expected.clear()
        self.spellings.clear()
        gc.collect()
        _trim()
        return {}

    def version(self) -> dict[str, Any]:
        return {"version": self.module.version()}


def _timed(spelling: Spelling, calls: int) -> tuple[float, Any]:
    if spelling.reset is not None:
        spelling.reset()
    run = spelling.run
    if calls == 1:
        start = time.perf_counter()
        out = run()
        return time.perf_counter() - start, out
    start = time.perf_counter()
    for _ in range(calls):
        out = run()
    return (time.perf_counter() - start) / calls, out


def _status(field: str) -> int:
    """A line of /proc/self/status, in bytes."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


def _trim() -> None:
    """Gives freed memory back, where the C library can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _pin() -> None:
    """Leaves one processor to this process. It has to happen before a library counts them."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _own_channel() -> TextIO:
    """Standard output for answers only: what libraries print goes where their errors go."""
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return channel


def main() -> None:
    contender, threads = sys.argv[1], int(sys.argv[2])
    channel = _own_channel()
    if threads == 1:
        _pin()

    def say(answer: dict[str, Any]) -> None:
        channel.write(json.dumps(answer) + "\n")

    try:
        worker = Worker(contender, threads)
        say({"ready": os.getpid()})
    except Exception as error:
        traceback.print_exc()
        say({"error": f"{type(error).__name__}: {error}"})
        return
    for line in sys.stdin:
        request = json.loads(line)
        do = request.pop("do")
        try:
            say(getattr(worker, do)(**request))
        except Exception as error:
            traceback.print_exc()
            say({"error": f"{type(error).__name__}: {error}".splitlines()[0][:300]})


if __name__ == "__main__":
    main()
