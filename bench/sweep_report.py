"""The sweep as a table and as a chart."""

from __future__ import annotations

from pathlib import Path

from .processor import here_and_today
from .sweep import LINES, largest_step

__all__ = ["draw", "markdown", "steps"]

# What a reader has to know to tell a cliff from what memory and the order of additions do.
EXPLAINED = """\
Reasons for the steps that remain:

- *cells*: a cell has 4 bytes. The destination outgrows one cache after the other. From 64 MiB on,
  updates are listed by block of the destination first. With more cells, more of the elements
  belong to the new output, which is written line by line.
- *window*, 1 to 2: a row is one line of memory, for one element and for two.
- *dtype* with several threads: sums of integers have the same bits in every order, so threads
  split the updates. Sums of floats are made in order, by one thread for each cell.
  Exact sums (`exact=True`) may be made in any order: threads share a cell.
- *skew*: in float32 each addition waits for the previous one into the same cell.
"""

# Times in nanoseconds per element, by thread count, line and point.
Times = dict[str, dict[str, dict[str, float]]]


def steps(times: Times) -> str:
    """A table with the largest step of each line of the sweep, and the points beside it."""
    lines = _head(["", "largest step", *map(_threads, times)])
    for title, line in LINES.items():
        where = "between neighbours"
        if not line.ordered:
            where = "at one size" if line.along == "dtype" else "between any two"
        found = [largest_step(line, of[title]) for of in times.values()]
        cells = [f"{ratio:.2f} ({left}, {right})" for ratio, left, right in found]
        lines.append(f"| {title} | {where} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _head(heads: list[str]) -> list[str]:
    return [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]


def _groups() -> dict[str, dict[str, str]]:
    """The titles of the lines along the same thing: what is before the comma, and then behind."""
    groups: dict[str, dict[str, str]] = {}
    for title in LINES:
        group, _, rest = title.partition(", ")
        groups.setdefault(group, {})[rest] = title
    return groups


def markdown(times: Times) -> str:
    """The steps, then all points."""
    parts = [
        "# Sweep",
        "",
        f"Measured on {here_and_today()}.",
        "",
        "Median nanoseconds per element that is read or written. Each run is a sum in float32, "
        "unless a dtype is named.",
        "",
        "![nanoseconds per element](sweep.svg)",
        "",
    ]
    parts += [*steps(times).splitlines(), "", *EXPLAINED.splitlines(), ""]
    if caches := _caches():
        parts += [f"Caches of the machine, nearest first: {', '.join(caches)}.", ""]
    for group, titles in _groups().items():
        columns = [(rest, title, threads) for rest, title in titles.items() for threads in times]
        first = LINES[next(iter(titles.values()))]
        heads = [f"{rest}, {_threads(threads)}" for rest, _, threads in columns]
        parts += [f"## {group}", "", *_head([first.along, *heads])]
        for label in first.points:
            cells = [f"{times[threads][title][label]:.3f}" for _, title, threads in columns]
            parts.append(f"| {label} | {' | '.join(cells)} |")
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def _caches() -> list[str]:
    """Sizes of the caches for data, as Linux tells them."""
    found = []
    for cache in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        if (cache / "type").read_text().strip() != "Instruction":
            found.append((cache / "size").read_text().strip().replace("K", " KiB"))
    return found


def _threads(threads: str) -> str:
    return "1 thread" if threads == "1" else f"{threads} threads"


def _short(value: float, _: int) -> str:
    """1000 as 1k, and so on."""
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if value >= unit and value % unit == 0:
            return f"{value / unit:g}{letter}"
    return f"{value:g}"


def draw(times: Times, path: Path) -> None:
    """A panel for each thing that is walked along."""
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    from .chart import style

    style()
    groups = {group: list(titles.values()) for group, titles in _groups().items()}
    figure, panels = pyplot.subplots(2, 2, figsize=(12, 8.5), layout="constrained")
    for panel, (group, titles) in zip(panels.flat, groups.items(), strict=True):
        for number, title in enumerate(titles):
            line = LINES[title]
            for threads, found in times.items():
                values = list(found[title].values())
                x = [float(label) for label in found[title]] if line.ordered else range(len(values))
                panel.plot(
                    x,
                    values,
                    "o-" if threads == "1" else "s--",
                    color=f"C{number}",
                    markersize=4,
                    linewidth=1.2,
                    label=f"{title.split(', ')[1]}, {_threads(threads)}",
                )
        if LINES[titles[0]].ordered:
            panel.set_xscale("log", base=2 if group == "window" else 10)
            panel.xaxis.set_major_formatter(FuncFormatter(_short))
            panel.xaxis.set_minor_formatter(NullFormatter())
        else:
            labels = list(LINES[titles[0]].points)
            panel.set_xticks(range(len(labels)), labels, rotation=40, ha="right")
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.grid(color="#eeeeee")
        panel.set_title(group)
        panel.set_xlabel(LINES[titles[0]].along)
        panel.set_ylabel("ns per element (log scale)")
        panel.legend(fontsize="small", frameon=False)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
