"""What the times come to: medians, the best correct peer, ratios, what was to be reached."""

from __future__ import annotations

import dataclasses
import statistics

from .contenders.table import CONTENDERS, STREW
from .workloads import Workload

__all__ = ["Entry", "Row", "bound", "row"]


@dataclasses.dataclass
class Entry:
    """One spelling of one contender on one workload with one number of threads."""

    contender: str
    spelling: str
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


@dataclasses.dataclass
class Row:
    """A workload with a number of threads."""

    workload: Workload
    threads: int
    strew: Entry | None
    # The fastest right spelling of each peer.
    peers: dict[str, Entry]
    # Peers without a right answer, and why.
    wrong: dict[str, str]
    failed: dict[str, str]
    # The best peer of those that run at their defaults.
    best: Entry | None
    twin: Entry | None
    no_op: Entry | None
    reach: float | None

    def ratio(self, peer: Entry | None) -> float | None:
        """How many times as long as strew a peer takes."""
        if peer is None or self.strew is None:
            return None
        return peer.median / self.strew.median

    @property
    def reached(self) -> bool | None:
        """Whether the ratio to the best correct peer is what it has to be; None if nothing is."""
        ratio = self.ratio(self.best)
        return None if ratio is None or self.reach is None else ratio >= self.reach

    def claims(self) -> list[tuple[str, bool]]:
        """What else has to hold, and whether it does."""
        found = []
        which = 0 if self.threads == 1 else 1
        for name, ratios in self.workload.reach_of.items():
            ratio = self.ratio(self.peers.get(name))
            if ratio is not None:
                says = f"{name} / strew = {ratio:.2f}, to reach {ratios[which]:g}"
                found.append((says, ratio >= ratios[which]))
        if self.strew is None:
            return found
        if self.twin is not None and self.workload.at_most is not None:
            ratio, most = self.strew.median / self.twin.median, self.workload.at_most[which]
            says = f"{ratio:.2f} times the time of {self.twin.twin}, at most {most:g}"
            found.append((says, ratio <= most))
        if self.no_op is not None and self.workload.above_no_op is not None:
            above = (self.strew.median - self.no_op.median) * 1e6
            most = self.workload.above_no_op
            says = f"{above:.2f} us above a call that does nothing, at most {most:g}"
            found.append((says, above <= most))
        return found


def row(workload: Workload, threads: int, entries: list[Entry]) -> Row:
    """Sums up the entries of one workload with one number of threads."""
    peers: dict[str, Entry] = {}
    wrong: dict[str, str] = {}
    failed: dict[str, str] = {}

    def fastest(among: list[Entry]) -> Entry | None:
        return min((e for e in among if e.right), key=lambda e: e.median, default=None)

    for name in dict.fromkeys(e.contender for e in entries if e.contender != STREW):
        own = [e for e in entries if e.contender == name]
        if (entry := fastest(own)) is not None:
            peers[name] = entry
        for entry in own:
            if name not in peers and entry.wrong is not None:
                wrong[name] = f"{entry.spelling}: {entry.wrong}"
            if name not in peers and entry.failed is not None:
                failed[name] = f"{entry.spelling}: {entry.failed}"
    own = [e for e in entries if e.contender == STREW]
    counted = [entry for name, entry in peers.items() if CONTENDERS[name].at_defaults]
    reach = workload.reach
    return Row(
        workload,
        threads,
        fastest([e for e in own if e.twin is None]),
        peers,
        wrong,
        failed,
        fastest(counted),
        fastest([e for e in own if e.twin is not None]),
        next((e for e in own if not e.counts and e.seconds), None),
        None if reach is None else reach[0 if threads == 1 else 1],
    )


def bound(workload: Workload, bandwidth: dict[str, float] | None) -> float | None:
    """The seconds that the memory needs for what a workload has to read and write.

    Reading and writing go on side by side, so it is what the slowest of three takes: the reading,
    the writing, and both on the way that all of it goes.
    """
    reads, writes = workload.bytes_moved()
    if bandwidth is None or reads + writes == 0:
        return None
    # Half of what a copy moves is written.
    write = max(bandwidth["write"], bandwidth["copy"] / 2)
    both = max(bandwidth.values())
    return max(reads / bandwidth["read"], writes / write, (reads + writes) / both)
