"""The chart: how many times as long as strew each peer takes, indices being of the same dtype."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from .contenders.table import CONTENDERS, STREW
from .summary import Row

__all__ = ["draw", "style"]

_MARKS = "osD^vPX*hp"
# Told apart by people who do not see all colours, too: Okabe and Ito's palette.
_COLOURS = [
    "#0072B2",
    "#D55E00",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#000000",
    "#8C6D31",
    "#7F7F7F",
    "#6A3D9A",
]


def style() -> None:
    """The same file from the same numbers, with text that stays text."""
    pyplot.rcParams.update(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": STREW,
            "font.family": "sans-serif",
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )


def draw(rows: list[Row], path: Path) -> bool:
    """Writes the chart: a line per workload, a mark per peer, a panel per number of threads.

    Without any peer there is nothing to draw; says whether there was.
    """
    style()
    rows = [row for row in rows if any(row.ratio(peer) is not None for peer in row.peers.values())]
    counts = sorted({row.threads for row in rows})
    names = list(dict.fromkeys(row.workload.name for row in rows))
    if not names:
        return False
    figure, panels = pyplot.subplots(
        1,
        len(counts),
        sharex=True,
        sharey=True,
        squeeze=False,
        figsize=(1.5 + 5.5 * len(counts), 1.8 + 0.3 * len(names)),
        layout="constrained",
    )
    handles: dict[str, object] = {}
    for panel, threads in zip(panels[0], counts, strict=True):
        among = {row.workload.name: row for row in rows if row.threads == threads}
        _panel(panel, [among.get(name) for name in names], names, handles)
        panel.set_title("1 thread" if threads == 1 else f"{threads} threads")
    figure.legend(
        [handles[name] for name in CONTENDERS if name in handles],
        [name for name in CONTENDERS if name in handles],
        loc="outside lower center",
        ncols=3 * len(counts),
        frameon=False,
    )
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    return True


def _panel(
    panel: Axes, rows: list[Row | None], names: list[str], handles: dict[str, object]
) -> None:
    peers = [name for name, c in CONTENDERS.items() if name != STREW and c.library]
    panel.axvline(1, color="#444444", linewidth=1.2, zorder=1)
    for place, row in enumerate(rows):
        panel.axhline(place, color="#eeeeee", linewidth=0.8, zorder=0)
        if row is None:
            continue
        for number, name in enumerate(peers):
            ratio = row.ratio(row.peers.get(name))
            if ratio is None:
                continue
            (mark,) = panel.plot(
                ratio,
                place,
                _MARKS[number % len(_MARKS)],
                color=_COLOURS[number % len(_COLOURS)],
                markersize=6,
                markerfacecolor=None if CONTENDERS[name].at_defaults else "none",
                zorder=3,
            )
            handles.setdefault(name, mark)
        if row.reach is not None:
            panel.plot(row.reach, place, "|", color="#444444", markersize=12, zorder=2)
    panel.set_xscale("log")
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.set_xlabel(
        "peer's time / strew's with an index of the same dtype (log scale)\n"
        "| is what the best peer's has to reach"
    )
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.tick_params(axis="y", length=0)
