"""The times that ``strew explain --machine`` predicts, by the number of cores.

The model is strew's own: nothing is predicted here.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["BANDWIDTH", "CORES", "HERE", "Part", "ask", "draw", "parts", "speedups"]

CORES = [1, 2, 4, 8, 16, 32, 64, 128]

# Of all cores together. One core cannot reach it; it has what it has here.
BANDWIDTH = "200GB/s"

# This machine.
HERE = ["1", "2"]


@dataclasses.dataclass(frozen=True)
class Part:
    """What is predicted of a run with a number of cores."""

    cores: int
    threads: int
    bytes: int
    # The strategy, and how it is shared out.
    shared: str
    seconds: float
    bound: str


def parts(told: dict[str, Any]) -> list[Part]:
    """What a JSON answer of ``strew explain`` says of each machine."""
    found = []
    for machine in told["machines"]:
        run = machine["run"]
        shared = f"{run['strategy']}; {run['shared out']}"
        cores, seconds, bound = machine["cores"], run["seconds"], run["bound"]
        found.append(Part(cores, run["threads"], run["bytes"], shared, seconds, bound))
    return found


def ask(words: Sequence[str], machines: Sequence[str], folder: Path) -> list[Part]:
    """What the tool predicts for a call on machines such as ``64x200GB/s``."""
    command = os.environ.get("STREW_COMMAND", str(Path(sys.executable).with_name("strew")))
    line = [command, "explain", *words, "--json"]
    line += [word for machine in machines for word in ("--machine", machine)]
    said = subprocess.run(line, cwd=folder, capture_output=True, check=True)
    return parts(json.loads(said.stdout))


def speedups(found: Sequence[Part]) -> list[tuple[float, str]]:
    """How many times as fast as the first each is, and what binds it."""
    return [(found[0].seconds / part.seconds, part.bound) for part in found]


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
