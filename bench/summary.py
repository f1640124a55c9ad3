"""What the times come to: medians, the best correct peer, ratios, what was to be reached."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Callable

from .contenders.table import CONTENDERS, PLAIN, STREW
from .workloads import INDEX, Workload

__all__ = ["Claim", "Entry", "Row", "bound", "row"]


@dataclasses.dataclass
class Entry:
    """One spelling of one contender on one workload with one number of threads."""

    contender: str
    spelling: str
    # The dtype of the index that it reads.
    index: str = INDEX
    seconds: list[float] = dataclasses.field(default_factory=list)
    # Why its answer is wrong, and why it gave none.
    wrong: str | None = None
    failed: str | None = None
    # Most extra memory in a call.
    bytes: int | None = None
    # Whether it does the workload; a call that does nothing does not.
    counts: bool = True
    # The workload that strew ran for comparison, if it is not the row's.
    twin: str | None = None
    # A digest of strew's answer to values whose order of additions shows.
    bits: str | None = None

    @property
    def right(self) -> bool:
        return self.wrong is None and self.failed is None and self.counts and bool(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """The quartiles; the extremes of fewer than four."""
        if len(self.seconds) < 4:
            return min(self.seconds), max(self.seconds)
        low, _, high = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return low, high


@dataclasses.dataclass(frozen=True)
class Claim:
    """Something besides the ratio to the best peer that has to hold."""

    what: str
    value: float
    limit: float
    # Whether the limit is the least value, or else the largest.
    least: bool

    @property
    def holds(self) -> bool:
        return self.value >= self.limit if self.least else self.value <= self.limit

    @property
    def text(self) -> str:
        if self.least:
            return f"{self.what} = {self.value:.2f}, to reach {self.limit:g}"
        return f"{self.value:.2f} {self.what}, at most {self.limit:g}"


@dataclasses.dataclass
class Row:
    """A workload with a number of threads."""

    workload: Workload
    threads: int
    # strew's fastest right spelling, for each dtype of index.
    own: dict[str, Entry]
    # Of each peer the right spelling with the smallest ratio.
    peers: dict[str, Entry]
    # The spellings that are not right, and why, by peer.
    wrong: dict[str, str]
    failed: dict[str, str]
    # The peer with the smallest ratio, of those that run at their defaults.
    best: Entry | None
    # The plain loop, which is none of the peers. It runs on one thread whatever `threads` is.
    plain: Entry | None
    twin: Entry | None
    no_op: Entry | None
    reach: float | None

    @property
    def strew(self) -> Entry | None:
        """strew with the workload's own index."""
        return self.own.get(INDEX)

    def ratio(self, peer: Entry | None) -> float | None:
        """How many times as long a peer takes as strew with an index of the same dtype.

        None if strew has no right answer with such an index.
        """
        return None if peer is None else _ratio(self.own, peer)

    @property
    def reached(self) -> bool | None:
        """Whether the ratio to the best correct peer is what it has to be; None if nothing is."""
        ratio = self.ratio(self.best)
        return None if ratio is None or self.reach is None else ratio >= self.reach

    @property
    def above_no_op(self) -> float | None:
        """The microseconds that strew's call takes above one that does nothing."""
        if self.strew is None or self.no_op is None:
            return None
        return (self.strew.median - self.no_op.median) * 1e6

    def claims(self) -> list[Claim]:
        """What else has to hold."""
        found = []
        which = 0 if self.threads == 1 else 1
        for name, ratios in self.workload.reach_of.items():
            ratio = self.ratio(self.peers.get(name))
            if ratio is not None:
                found.append(Claim(f"{name} / strew", ratio, ratios[which], least=True))
        if self.strew is None:
            return found
        if self.twin is not None and self.workload.at_most is not None:
            ratio, most = self.strew.median / self.twin.median, self.workload.at_most[which]
            found.append(Claim(f"times the time of {self.twin.twin}", ratio, most, least=False))
        if self.above_no_op is not None and self.workload.above_no_op is not None:
            what, most = "us above a call that does nothing", self.workload.above_no_op
            found.append(Claim(what, self.above_no_op, most, least=False))
        return found


def _ratio(own: dict[str, Entry], peer: Entry) -> float | None:
    strew = own.get(peer.index)
    return None if strew is None else peer.median / strew.median


def row(workload: Workload, threads: int, entries: list[Entry]) -> Row:
    """Sums up the entries of one workload with one number of threads."""

    def fastest(among: list[Entry]) -> Entry | None:
        return min((e for e in among if e.right), key=lambda e: e.median, default=None)

    strew = [e for e in entries if e.contender == STREW]
    itself = [e for e in strew if e.twin is None]
    chosen = {index: fastest([e for e in itself if e.index == index]) for index in _indices(itself)}
    own = {index: entry for index, entry in chosen.items() if entry is not None}

    def hardest(among: list[Entry]) -> Entry | None:
        """The one with the smallest ratio, and the fastest if none has any."""

        def key(entry: Entry) -> tuple[float, float]:
            ratio = _ratio(own, entry)
            return math.inf if ratio is None else ratio, entry.median

        return min((e for e in among if e.right), key=key, default=None)

    others = [e for e in entries if e.contender != STREW]
    names = list(dict.fromkeys(e.contender for e in others))
    found = {name: hardest([e for e in others if e.contender == name]) for name in names}
    peers = {name: entry for name, entry in found.items() if entry is not None}
    plain = peers.pop(PLAIN, None)
    reach = workload.reach
    return Row(
        workload,
        threads,
        own,
        peers,
        _reasons(others, lambda entry: entry.wrong),
        _reasons(others, lambda entry: entry.failed),
        hardest([entry for name, entry in peers.items() if CONTENDERS[name].may_be_best]),
        plain,
        fastest([e for e in strew if e.twin is not None]),
        next((e for e in itself if not e.counts and e.seconds), None),
        None if reach is None else reach[0 if threads == 1 else 1] or None,
    )


def _indices(entries: list[Entry]) -> list[str]:
    return list(dict.fromkeys(e.index for e in entries))


def _reasons(entries: list[Entry], why: Callable[[Entry], str | None]) -> dict[str, str]:
    """What is the matter with the spellings of each contender, if anything is."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        if (reason := why(entry)) is not None:
            found.setdefault(entry.contender, []).append(f"{entry.spelling}: {reason}")
    return {name: "; ".join(reasons) for name, reasons in found.items()}


def bound(workload: Workload, bandwidth: dict[str, float] | None) -> float | None:
    """The seconds that the memory needs for what a workload has to read and write.

    It is the longest of three times: to read at the highest rate at which anything was read, to
    write in the same way, and to move all of it at the highest rate of both directions together.
    Half of what a copy moves is read. No page is touched for the first time: strew keeps the memory
    of results.
    """
    reads, writes = workload.bytes_moved()
    if bandwidth is None or reads + writes == 0:
        return None
    both = max(bandwidth["copy"], bandwidth["update"])
    reading, writing = (max(bandwidth[one], both / 2) for one in ("read", "write"))
    return max(reads / reading, writes / writing, (reads + writes) / both)
