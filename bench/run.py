"""The measurement: contenders take turns, so that they share the machine's mood."""

from __future__ import annotations

import dataclasses
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from . import data
from .contenders.table import CONTENDERS, STREW
from .pool import Failed, Process
from .summary import Entry
from .workloads import INDEX, Workload

__all__ = ["Bench", "Run", "problems", "say"]

# A spelling whose first call takes longer than this many seconds gets three turns only.
_SLOW = 3.0

# Contenders that load at a time: nothing is measured meanwhile.
_LOADERS = 4


def say(line: str) -> None:
    """Progress."""
    print(line, file=sys.stderr, flush=True)


@dataclasses.dataclass
class Run:
    """A workload with a number of threads."""

    workload: str
    threads: int
    entries: list[Entry]


@dataclasses.dataclass
class _Turn:
    """A spelling that is there to run."""

    process: Process
    loaded: str
    number: int
    entry: Entry
    turns: int


class Bench:
    """The processes of one number of threads: 1, or 0 for all."""

    def __init__(
        self, workloads: dict[str, Workload], peers: list[str], threads: int, out: Path
    ) -> None:
        self.workloads, self.peers, self.threads, self.out = workloads, peers, threads, out
        self._processes: dict[str, Process] = {}

    def run(self, workload: Workload, repeat: int, label: int) -> Run:
        """Measures a workload with all its contenders that take part."""
        files = data.prepare(workload, self.out / "data")
        names = [STREW, *(n for n in workload.peers if CONTENDERS[n].environment in self.peers)]
        entries: list[Entry] = []
        turns: list[_Turn] = []
        with ThreadPoolExecutor(_LOADERS) as pool:
            loaded = pool.map(lambda name: self._load(name, workload, files), names)
        for found, ready in loaded:
            entries += found
            turns += ready
        if workload.twin is not None:
            twin = self.workloads[workload.twin]
            other = data.prepare(twin, self.out / "data")
            found, ready = self._load(STREW, twin, other, as_twin=True)
            entries += found
            turns += ready
        turns = [turn for turn in turns if _needed(turn.entry, entries)]
        entries = [entry for entry in entries if _needed(entry, entries)]
        turns = [turn for turn in turns if self._check(turn, repeat)]
        # The orders are the same in every run, and differ from round to round: otherwise a
        # contender would always find the caches as the same other one leaves them.
        orders = random.Random(workload.seed)
        for number in range(repeat):
            for turn in orders.sample(turns, len(turns)):
                if number < turn.turns:
                    self._time(turn)
        for turn in turns:
            self._after(turn)
        for name in names:
            self._try(name, "drop")
        return Run(workload.name, label, entries)

    def versions(self) -> dict[str, str]:
        """Of those that took part."""
        found = {name: self._try(name, "version") for name in self._processes}
        return {name: answer["version"] for name, answer in found.items() if answer}

    def close(self) -> None:
        for process in self._processes.values():
            process.end()

    def _load(
        self,
        name: str,
        workload: Workload,
        files: dict[str, str],
        as_twin: bool = False,
    ) -> tuple[list[Entry], list[_Turn]]:
        """A contender with its arrays: what is to be said of it, and what can run."""
        twin = workload.name if as_twin else None
        entries: list[Entry] = []
        try:
            if name not in self._processes:
                environments, logs = self.out / "env", self.out / "logs"
                self._processes[name] = Process(name, self.threads, environments, logs)
            process = self._processes[name]
            answer = process.ask("load", workload=dataclasses.asdict(workload), files=files)
        except Failed as error:
            return [Entry(name, "load", failed=str(error), twin=twin)], []
        if not answer["spellings"]:
            entries.append(Entry(name, "load", failed="has no way to say this", twin=twin))
        turns = []
        for number, said in enumerate(answer["spellings"]):
            index, counts = said["index"], said["counts"]
            entry = Entry(name, said["name"], index, counts=counts, twin=twin)
            entries.append(entry)
            turns.append(_Turn(process, workload.name, number, entry, 0))
        return entries, turns

    def _check(self, turn: _Turn, repeat: int) -> bool:
        """The first call, untimed. Whether the answer is one to be timed."""
        try:
            answer = turn.process.ask("check", name=turn.loaded, spelling=turn.number)
        except Failed as error:
            turn.entry.failed = str(error)
            return False
        turn.entry.wrong = answer["wrong"]
        turn.turns = min(repeat, 3) if answer["seconds"] > _SLOW else repeat
        return True

    def _time(self, turn: _Turn) -> None:
        if turn.entry.failed is not None:
            return
        try:
            answer = turn.process.ask("time", name=turn.loaded, spelling=turn.number)
            turn.entry.seconds += answer["seconds"]
        except Failed as error:
            turn.entry.failed = str(error)

    def _after(self, turn: _Turn) -> None:
        """What is asked of a contender once: its memory, and strew's bits."""
        entry = turn.entry
        if entry.failed is not None or not entry.counts:
            return
        what: dict[str, Any] = {"name": turn.loaded, "spelling": turn.number}
        try:
            if self.threads != 1:
                # Once more: what several threads lose, they do not lose every time.
                answer = turn.process.ask("check", **what)
                entry.wrong = entry.wrong or answer["wrong"]
            if entry.contender == STREW and entry.twin is None:
                entry.bits = turn.process.ask("rough", **what)["bits"]
        except Failed as error:
            entry.failed = str(error)
            return
        try:
            entry.bytes = turn.process.ask("memory", **what)["bytes"]
        except Failed as error:
            # The times are none the worse for it.
            say(f"    {entry.contender}: no figure for its memory: {error}")

    def _try(self, name: str, do: str) -> dict[str, Any]:
        """A request whose failure has been reported, or will be, with the workload."""
        try:
            return self._processes[name].ask(do) if name in self._processes else {}
        except Failed:
            return {}


def _needed(entry: Entry, entries: list[Entry]) -> bool:
    """Whether to measure a spelling: strew's with another index only for a peer that reads it."""
    read = {e.index for e in entries if e.contender != STREW}
    wanted = entry.index in read and entry.twin is None and entry.counts
    return entry.contender != STREW or entry.index == INDEX or wanted


def problems(runs: list[Run]) -> list[str]:
    """What must not happen: strew without a right answer, or with bits that depend on the index's
    dtype or on the number of threads.
    """
    found = []
    first: dict[tuple[str, str], tuple[str, str]] = {}
    for run in runs:
        for entry in run.entries:
            if entry.contender != STREW:
                continue
            where = f"{run.threads} threads, {entry.index} index"
            why = entry.wrong or entry.failed
            if why is not None:
                found.append(f"{run.workload}, {where}: {entry.spelling}: {why}")
            if entry.bits is None:
                continue
            bits, other = first.setdefault((run.workload, entry.spelling), (entry.bits, where))
            if bits != entry.bits:
                what = f"{run.workload}: {entry.spelling}"
                found.append(f"{what} has other bits with {where} than with {other}")
    return found
