"""W10: statistics of groups, strew.aggregate beside what it replaces, all in one process."""

from __future__ import annotations

import dataclasses
import itertools
import json
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import alone
from .contenders import plain
from .processor import here_and_today

if TYPE_CHECKING:
    import numpy as np

__all__ = ["FUNCTIONS", "Point", "main", "markdown", "points"]

ROOT = Path(__file__).parent.parent

OWN = "strew"

# strew in the place of numpy_groupies. It is timed beside it, and is no peer.
DROP_IN = "strew.numpy_groupies"

# The same work as a plain loop on one thread (`bench/plain`). It is no peer either.
PLAIN = "plain"

FUNCTIONS = [
    "sum",
    "prod",
    "mean",
    "min",
    "max",
    "len",
    "any",
    "all",
    "first",
    "last",
    "argmax",
    "sumsq",
    "var",
    "std",
    "median",
    "quantile",
    "cumsum",
]

# Which quantile, linear between two values.
Q = 0.9

# How often each contender runs at a point.
ROUNDS = 3

# By what the results of one function may differ from the median of all contenders'.
TOLERANCE = 1e-4

# Widths of rows besides single values; their functions, which are those of many values, too.
WIDTHS = [8, 64]
OF_ROWS = ["sum", "mean", "max", "std"]


@dataclasses.dataclass(frozen=True)
class Point:
    """What is measured at once."""

    function: str
    dtype: str
    updates: int
    cells: int
    skew: str
    width: int = 1

    def __str__(self) -> str:
        rows = f" rows of {self.width}" if self.width > 1 else ""
        where = f"{_short(self.updates)} {self.dtype}{rows} into {_short(self.cells)}"
        return f"{self.function}, {where}, {self.skew}"


def points(quick: bool) -> list[Point]:
    """All points, or those to look at. Large ones take seconds each, so they are few."""
    updates, large = 4_000_000, 16_000_000
    dtypes = ["float64"] if quick else ["float32", "float64", "int64"]
    cells = [1_000, 100_000] if quick else [10, 1_000, 100_000, 4_000_000]
    skews = ["uniform", "sorted"] if quick else ["uniform", "zipf", "sorted"]
    found = [
        Point(function, dtype, updates, groups, skew)
        for groups, skew, dtype in itertools.product(cells, skews, dtypes)
        for function in FUNCTIONS
    ]
    if not quick:
        found += [
            Point(function, dtype, large, groups, "uniform")
            for groups, dtype in itertools.product(cells, dtypes)
            for function in OF_ROWS
        ]
    for width, skew in itertools.product(WIDTHS, skews):
        rows = updates // width
        groups = max(rows // 10, 1)
        found += [Point(function, "float32", rows, groups, skew, width) for function in OF_ROWS]
    return found


def _short(count: int) -> str:
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= unit and count % unit == 0:
            return f"{count // unit}{letter}"
    return str(count)


Call = Callable[[], Any]

# Functions that have another name in numpy_groupies.
_OF_GROUPIES = {"sumsq": "sumofsquares"}


def _calls(point: Point, src: np.ndarray, index: np.ndarray) -> dict[str, Call]:
    """Each contender's way to say this."""
    import strew

    cells, name = point.cells, point.function
    options = {"q": Q} if name == "quantile" else {}
    calls: dict[str, Call] = {OWN: lambda: strew.aggregate(src, index, name, size=cells, **options)}
    if point.width == 1:
        other = _OF_GROUPIES.get(name, name)
        # numpy_groupies has no quantile.
        if name != "quantile":
            calls[DROP_IN] = lambda: strew.numpy_groupies.aggregate(index, src, other, size=cells)
        loop = plain.statistic(name, src, index, cells)
        calls |= {} if loop is None else {PLAIN: loop}
        for library in (_numpy_groupies, _numbagg, _pandas, _polars, _numpy):
            calls |= library(point, src, index)
    return calls | _torch(point, src, index)


def _numpy_groupies(point: Point, src: np.ndarray, index: np.ndarray) -> dict[str, Call]:
    from numpy_groupies import aggregate_nb, aggregate_np

    name = _OF_GROUPIES.get(point.function, point.function)
    if name == "quantile":
        return {}

    def call(aggregate: Any) -> Call:
        return lambda: aggregate(index, src, func=name, size=point.cells)

    return {"numpy_groupies": call(aggregate_np), "numpy_groupies numba": call(aggregate_nb)}


def _numbagg(point: Point, src: np.ndarray, index: np.ndarray) -> dict[str, Call]:
    from numbagg import grouped

    names = {"len": "count", "sumsq": "sum_of_squares", "argmax": "argmax"}
    name = names.get(point.function, point.function)
    function = getattr(grouped, f"group_nan{name}", None)
    if function is None:
        return {}
    options = {"ddof": 0} if name in ("var", "std") else {}
    return {"numbagg": lambda: function(src, index, num_labels=point.cells, **options)}


def _pandas(point: Point, src: np.ndarray, index: np.ndarray) -> dict[str, Call]:
    import pandas as pd

    names = {"len": "size", "argmax": "idxmax"}
    if point.function == "sumsq":
        return {}
    values, name = pd.Series(src), names.get(point.function, point.function)
    if name in ("var", "std"):
        return {"pandas": lambda: getattr(values.groupby(index), name)(ddof=0)}
    if name == "quantile":
        return {"pandas": lambda: values.groupby(index).quantile(Q)}
    return {"pandas": lambda: getattr(values.groupby(index), name)()}


def _polars(point: Point, src: np.ndarray, index: np.ndarray) -> dict[str, Call]:
    import polars as pl

    value = pl.col("value")
    expressions = {
        "sum": value.sum(),
        "prod": value.product(),
        "mean": value.mean(),
        "min": value.min(),
        "max": value.max(),
        "len": pl.len(),
        "first": value.first(),
        "last": value.last(),
        "sumsq": (value * value).sum(),
        "var": value.var(ddof=0),
        "std": value.std(ddof=0),
        "median": value.median(),
        "quantile": value.quantile(Q, "linear"),
    }
    if point.function not in expressions:
        return {}
    frame = pl.DataFrame({"group": index, "value": src})
    wanted = expressions[point.function].alias("result")
    # The rows of a table come in any order unless they are sorted.
    return {"polars": lambda: frame.group_by("group").agg(wanted).sort("group")}


def _numpy(point: Point, src: np.ndarray, index: np.ndarray) -> dict[str, Call]:
    import numpy as np

    if point.function == "len":
        return {"np.bincount": lambda: np.bincount(index, minlength=point.cells)}
    if point.function == "sum":
        return {"np.bincount": lambda: np.bincount(index, src, point.cells)}
    return {}


def _torch(point: Point, src: np.ndarray, index: np.ndarray) -> dict[str, Call]:
    import torch

    names = {"sum": "sum", "prod": "prod", "mean": "mean", "min": "amin", "max": "amax"}
    name = names.get(point.function)
    if name is None or (name == "mean" and point.dtype == "int64"):
        return {}
    values, cells = torch.from_numpy(src), torch.from_numpy(index)
    if point.width > 1:
        cells = cells[:, None].expand(-1, point.width)
    shape = (point.cells, *values.shape[1:])

    def call() -> Any:
        out = torch.zeros(shape, dtype=values.dtype)
        return out.scatter_reduce_(0, cells, values, name, include_self=False)

    return {"torch": call}


def _flat(point: Point, made: Any, touched: np.ndarray) -> np.ndarray:
    """A contender's results of the groups with values, as float64."""
    import numpy as np

    if hasattr(made, "columns") and hasattr(made, "to_series"):
        made = made["result"]
    found = np.asarray(made.to_numpy() if hasattr(made, "to_numpy") else made).astype(np.float64)
    each = point.function == "cumsum"
    return found if each or len(found) == len(touched) else found[touched]


def _wrong(point: Point, calls: dict[str, Call], index: np.ndarray) -> dict[str, str]:
    """Contenders whose results are not strew's, and why. strew's own are checked by its tests."""
    import numpy as np

    touched = np.unique(index)
    expected = _flat(point, calls[OWN](), touched)
    wrong = {}
    for name, call in calls.items():
        try:
            found = _flat(point, call(), touched)
            if found.shape != expected.shape or not np.allclose(
                found, expected, TOLERANCE, TOLERANCE, equal_nan=True
            ):
                wrong[name] = "gives another answer"
        except Exception as error:
            wrong[name] = f"{type(error).__name__}: {error}"
    return wrong


def _measure(quick: bool) -> Iterator[tuple[Point, dict[str, float]]]:
    """The median seconds of each contender at each point; they take turns."""
    import numpy as np

    for point in points(quick):
        index = alone.index(point.skew, point.updates, point.cells)
        shape = (point.updates, point.width) if point.width > 1 else point.updates
        # From 0.5 to 1.5, so that products stay in range; integers are small.
        src = np.random.default_rng(1).random(shape) + 0.5
        src = (src * 4 if point.dtype == "int64" else src).astype(point.dtype)
        if point.function == "prod":
            src = np.ones_like(src)
        calls = _calls(point, src, index)
        for name in _wrong(point, calls, index):
            if name != OWN:
                del calls[name]
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(ROUNDS):
            for name, call in calls.items():
                start = time.perf_counter()
                made = call()
                times[name].append(time.perf_counter() - start)
                del made
        yield point, {name: statistics.median(some) for name, some in times.items()}


def _child(quick: bool) -> None:
    """Measures everything in this process, and prints a line of JSON for each point."""
    for point, seconds in _measure(quick):
        print(json.dumps([dataclasses.astuple(point), seconds]), flush=True)


Times = dict[int, dict[Point, dict[str, float]]]

# What the tables do not say by themselves.
_READING = """\
Most of the least ratios are those of `var` and `std`, and those of 4M sorted groups. numbagg \
makes variances of sums of squares. strew takes each group's first value off, which costs a \
division for each value and loses no digits. With 4M groups, each value meets a group of its own."""


def _ratio(seconds: dict[str, float]) -> float | None:
    """The best peer's time by strew's."""
    peers = [some for name, some in seconds.items() if name not in (OWN, DROP_IN, PLAIN)]
    return min(peers) / seconds[OWN] if peers else None


def _plain_ratio(seconds: dict[str, float]) -> float | None:
    """The plain loop's time by strew's."""
    return seconds[PLAIN] / seconds[OWN] if PLAIN in seconds else None


def _threads(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


def _summary(found: dict[Point, dict[str, float]]) -> list[str]:
    """A line for each function, and the worst point."""
    parts = [
        "| function | points | geometric mean | least | where "
        "| plain loop: geometric mean | least |",
        "|---|---|---|---|---|---|---|",
    ]
    everything = []
    for function in FUNCTIONS:
        ratios = {
            point: ratio
            for point, seconds in found.items()
            if point.function == function and (ratio := _ratio(seconds)) is not None
        }
        if ratios:
            worst = min(ratios, key=lambda point: ratios[point])
            mean = statistics.geometric_mean(ratios.values())
            where = str(worst).removeprefix(f"{function}, ")
            of_function = [some for point, some in found.items() if point.function == function]
            parts.append(
                f"| {function} | {len(ratios)} | {mean:.2f} | {ratios[worst]:.2f} | {where} "
                f"| {_beside_plain(of_function)} |"
            )
            everything += list(ratios.values())
    if everything:
        mean, least = statistics.geometric_mean(everything), min(everything)
        beside = _beside_plain(list(found.values()))
        parts.append(f"| together | {len(everything)} | {mean:.2f} | {least:.2f} | | {beside} |")
    return parts


def _beside_plain(found: list[dict[str, float]]) -> str:
    """Two columns: the plain loop's time by strew's, as a mean and at least."""
    ratios = [ratio for seconds in found if (ratio := _plain_ratio(seconds)) is not None]
    return f"{statistics.geometric_mean(ratios):.2f} | {min(ratios):.2f}" if ratios else " | "


def _tables(found: dict[Point, dict[str, float]]) -> list[str]:
    """strew's milliseconds and its ratio: a row for each kind of values, a column per function.

    Rows that were measured with other functions have a table of their own.
    """
    rows: dict[str, dict[str, str]] = {}
    for point, seconds in found.items():
        where = str(point).removeprefix(f"{point.function}, ")
        ratio = _ratio(seconds)
        told = f"{seconds[OWN] * 1e3:.3g}" + (f" ({ratio:.2f})" if ratio is not None else "")
        rows.setdefault(where, {})[point.function] = told
    parts = []
    for functions in dict.fromkeys(
        tuple(name for name in FUNCTIONS if name in told_of) for told_of in rows.values()
    ):
        parts += [f"| | {' | '.join(functions)} |", "|---" * (len(functions) + 1) + "|"]
        for where, told_of in rows.items():
            if told_of.keys() == set(functions):
                parts.append(f"| {where} | {' | '.join(told_of[name] for name in functions)} |")
        parts.append("")
    return parts


def markdown(times: Times, versions: dict[str, str]) -> str:
    """The summary, and then strew's times and ratios."""
    libraries = ", ".join(f"{name} {version}" for name, version in versions.items())
    parts = [
        "# Statistics of groups",
        "",
        "`strew.aggregate` beside what it replaces. A ratio is the time of the fastest other "
        "library divided by strew's: above 1, strew is faster. All run in one process and take "
        "turns; medians. The number of groups is given. A contender that gives another answer, or "
        "cannot do it, is left out. `cargo xtask bench --statistics` measures this, and writes the "
        "times of all libraries to `target/bench/statistics.json`. *plain loop* is the same work "
        "on one thread, as in `bench/plain`; its time is divided by strew's, too.",
        "",
        f"Measured on {here_and_today()}. Versions: {libraries}.",
        "",
        "![ratios by function](statistics.svg)",
        "",
        _READING,
        "",
    ]
    for threads, found in times.items():
        parts += [f"## {_threads(threads)}", "", *_summary(found), ""]
    for threads, found in times.items():
        parts += [f"## Milliseconds (ratio), {_threads(threads)}", "", *_tables(found)]
    return "\n".join(parts).rstrip() + "\n"


def draw(times: Times, path: Path) -> None:
    """A line for each function, a mark for each point, a panel for each number of threads."""
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter

    from .chart import style

    style()
    size = (2 + 5 * len(times), 1.5 + 0.3 * len(FUNCTIONS))
    figure, panels = pyplot.subplots(
        1, len(times), sharex=True, sharey=True, squeeze=False, figsize=size, layout="constrained"
    )
    for panel, (threads, found) in zip(panels[0], times.items(), strict=True):
        for row, function in enumerate(reversed(FUNCTIONS)):
            some = [_ratio(s) for point, s in found.items() if point.function == function]
            ratios = [ratio for ratio in some if ratio is not None]
            panel.plot(ratios, [row] * len(ratios), "o", color="#0072B2", alpha=0.5, markersize=4)
            if ratios:
                mean = statistics.geometric_mean(ratios)
                panel.plot([mean], [row], "|", color="#D55E00", markersize=14, markeredgewidth=2)
        panel.axvline(1, color="#000000", linewidth=0.8)
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        panel.set_yticks(range(len(FUNCTIONS)), list(reversed(FUNCTIONS)))
        panel.grid(axis="x", color="#eeeeee")
        panel.set_title(_threads(threads))
        panel.set_xlabel("best other library's time / strew's (log scale)")
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in (OWN, "numpy_groupies", "numba", "numbagg", "pandas", "polars", "numpy", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def main(out: Path, quick: bool, docs: bool) -> int:
    """Measures with one thread and with all; writes statistics.json, statistics.md and a chart."""
    times: Times = {}
    for threads, (names, seconds) in alone.points("bench.group_statistics", quick):
        point = Point(*names)
        times.setdefault(threads, {})[point] = seconds
        ratio = _ratio(seconds)
        told = f"{seconds[OWN] * 1e3:.3g} ms" + (f", ratio {ratio:.2f}" if ratio else "")
        print(f"[{_threads(threads)}] {point}: {told}", file=sys.stderr, flush=True)
    rows = [
        [threads, *dataclasses.astuple(point), seconds]
        for threads, found in times.items()
        for point, seconds in found.items()
    ]
    (out / "statistics.json").write_text(json.dumps(rows) + "\n")
    (out / "statistics.md").write_text(markdown(times, _versions()))
    draw(times, out / "statistics.svg")
    if docs:
        for name in ("statistics.md", "statistics.svg"):
            shutil.copyfile(out / name, ROOT / "docs" / name)
    return 0


if __name__ == "__main__":
    _child(alone.begin())
