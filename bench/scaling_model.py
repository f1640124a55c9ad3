"""A model of a large machine: times by the number of cores, from what was counted and measured.

A run takes at least

- its processor time, divided by the threads that it uses,
- the processor time of one thread for the updates of the hottest cell, which one thread joins,
- the bytes that it moves, divided by the machine's bandwidth.

The longest of the three is the prediction.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

__all__ = ["BANDWIDTH", "CORES", "Modelled", "Part", "draw", "predicted", "speedups"]

CORES = [1, 2, 4, 8, 16, 32, 64, 128]

# Bytes per second of all cores together.
BANDWIDTH = 200e9


@dataclasses.dataclass(frozen=True)
class Part:
    """How a run goes with a number of cores, as `strew explain` says."""

    cores: int
    bytes: int
    shared: str

    @property
    def threads(self) -> int:
        """The threads that the run uses."""
        found = re.search(r"(\d+) threads", self.shared)
        return int(found[1]) if found else 1

    @property
    def by_cell(self) -> bool:
        """Whether all updates of a cell are joined by one thread."""
        return "by destination" in self.shared or "some blocks" in self.shared


@dataclasses.dataclass(frozen=True)
class Modelled:
    """Predicted seconds, and what they go to."""

    seconds: float
    bound: str


def processor(measured: Sequence[tuple[int, float]], threads: int) -> float:
    """Processor time with this number of threads: a line between the two nearest measured ones."""
    points = sorted(dict(measured).items())
    low = max((p for p in points if p[0] <= threads), default=points[0])
    high = min((p for p in points if p[0] >= threads), default=points[-1])
    if low[0] == high[0]:
        return low[1]
    along = (threads - low[0]) / (high[0] - low[0])
    return low[1] + along * (high[1] - low[1])


def predicted(
    measured: Sequence[tuple[int, float]], part: Part, hottest: float, bandwidth: float
) -> Modelled:
    """The time of a run.

    `measured` has the processor time by the threads that the runs used, `hottest` is the part of
    the updates that goes to the hottest cell.
    """
    of_all = processor(measured, part.threads) / part.threads
    of_cell = processor(measured, 1) * hottest if part.by_cell else 0.0
    bounds = {
        "processor": of_all,
        "hottest cell": of_cell,
        "bandwidth": part.bytes / bandwidth,
    }
    bound = max(bounds, key=lambda name: bounds[name])
    return Modelled(bounds[bound], bound)


def speedups(
    measured: Sequence[tuple[int, float]], parts: Sequence[Part], hottest: float
) -> list[tuple[float, str]]:
    """How many times as fast as one core each number of cores is, and what binds it."""
    times = [predicted(measured, part, hottest, BANDWIDTH) for part in parts]
    return [(times[0].seconds / time.seconds, time.bound) for time in times]


def draw(lines: dict[str, list[float]], path: Path) -> None:
    """A chart of the speed-ups of some rows."""
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, NullFormatter

    from .chart import style

    style()
    figure, panel = pyplot.subplots(figsize=(8, 5), layout="constrained")
    panel.plot(CORES, CORES, "--", color="#bbbbbb", linewidth=1, label="as many times as cores")
    for number, (name, values) in enumerate(lines.items()):
        marks = ["o-", "s-", "^-", "v-", "D-", "x-"][number // 10 % 6]
        panel.plot(CORES, values, marks, color=f"C{number % 10}", markersize=4, label=name)
    panel.set_xscale("log", base=2)
    panel.set_yscale("log", base=2)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    panel.grid(color="#eeeeee")
    panel.set_xlabel("cores")
    panel.set_ylabel("predicted speed-up (log scale)")
    panel.set_title("A model: 200 GB/s for all cores together", fontsize="medium")
    panel.legend(fontsize="small", frameon=False)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
