"""Plans: a run whose index was looked at before, beside the call that looks at it each time."""

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

from . import alone
from .processor import here_and_today

__all__ = ["MOST", "POINTS", "Point", "main", "markdown"]

ROOT = Path(__file__).parent.parent

# A planned run takes at most so many times as long as the call.
MOST = 1.03

# Elements of a row, 0 of a flat array, and updates of a cell on average.
SHAPES = {
    "values, 10 a cell": (0, 10),
    "values, 1,000 a cell": (0, 1000),
    "rows of 8": (8, 10),
    "rows of 64": (64, 10),
    "rows of 256": (256, 10),
}
SKEWS = ["uniform", "zipf", "sorted"]
DTYPES = ["float32", "float64", "float16", "int32", "int64"]
REDUCES = ["sum", "mean", "prod", "max"]


@dataclasses.dataclass(frozen=True)
class Point:
    """What is measured at once."""

    shape: str
    skew: str
    dtype: str
    reduce: str

    def __str__(self) -> str:
        return f"{self.shape}, {self.skew}, {self.dtype}, {self.reduce}"


# Elements of a source, and rounds: quick or not.
SIZES = {True: (1 << 21, 5), False: (1 << 24, 7)}

POINTS = [Point(*names) for names in itertools.product(SHAPES, SKEWS, DTYPES, REDUCES)]


def _ratio(planned: Callable[[], object], call: Callable[[], object], rounds: int) -> float:
    """The planned run's time per the call's, of medians; they take turns."""
    times: tuple[list[float], list[float]] = ([], [])
    # The first round warms up.
    for number in range(rounds + 1):
        for what, of in zip((planned, call), times, strict=True):
            start = time.perf_counter()
            made = what()
            seconds = time.perf_counter() - start
            del made
            if number:
                of.append(seconds)
    return statistics.median(times[0]) / statistics.median(times[1])


def _measure(elements: int, rounds: int) -> Iterator[tuple[Point, float]]:
    """The planned run's time per the call's of each point."""
    import numpy as np
    import strew

    for shape, skew in itertools.product(SHAPES, SKEWS):
        width, share = SHAPES[shape]
        updates = elements // max(width, 1)
        cells = max(updates // share, 1)
        index = alone.index(skew, updates, cells)
        plan = strew.Plan(index, cells)
        for dtype in DTYPES:
            values = np.random.default_rng(0).integers(0, 2, (updates, max(width, 1)), np.int8)
            src = values.astype(dtype).reshape((updates, width) if width else updates)
            for reduce in REDUCES:

                def planned(src: np.ndarray = src, reduce: str = reduce) -> object:
                    return plan.scatter(src, reduce)  # type: ignore[arg-type]

                def call(src: np.ndarray = src, reduce: str = reduce) -> object:
                    name = "mul" if reduce == "prod" else reduce
                    return strew.torch_scatter.scatter(src, index, 0, None, cells, name)

                ratio = _ratio(planned, call, rounds)
                if ratio > MOST:
                    # Mostly it was something else that the machine did.
                    ratio = _ratio(planned, call, 3 * rounds)
                yield Point(shape, skew, dtype, reduce), ratio


def _child(quick: bool) -> None:
    """Measures everything in this process, and prints a line of JSON for each point."""
    for point, ratio in _measure(*SIZES[quick]):
        print(json.dumps([dataclasses.astuple(point), ratio]), flush=True)


def _threads(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


def _slower(found: dict[Point, float]) -> list[str]:
    """What takes longer than it may."""
    slow = sorted((point for point in found if found[point] > MOST), key=lambda p: -found[p])
    return [f"{point}: {found[point]:.2f}" for point in slow]


def markdown(ratios: dict[int, dict[Point, float]], elements: int) -> str:
    """What takes longer than it may, and then all: the lowest and the highest of the reductions."""
    parts = [
        "# Plans",
        "",
        f"Measured on {here_and_today()}.",
        "",
        "Each ratio is the time of a planned run divided by the time of the call without a plan; "
        f"medians. A cell has the lowest and the highest ratio of {', '.join(REDUCES)}. Ratios "
        f"above {MOST} were measured again with more rounds. Sources have {elements >> 20}M "
        "elements. Outputs are new, with a tenth or a thousandth of the elements.",
        "",
    ]
    for threads, found in ratios.items():
        slow = _slower(found)
        middle = statistics.median(found.values())
        parts += [f"## {_threads(threads)}", ""]
        count = f"{len(found)} pairs, half of them below {middle:.2f}; {len(slow)} above {MOST}."
        parts += [count, ""]
        parts += [f"- {text}" for text in slow] + ([""] if slow else [])
        parts += [f"| | | {' | '.join(DTYPES)} |", "|---" * (len(DTYPES) + 2) + "|"]
        for shape, skew in itertools.product(SHAPES, SKEWS):
            cells = []
            for dtype in DTYPES:
                some = [found[Point(shape, skew, dtype, reduce)] for reduce in REDUCES]
                cells.append(f"{min(some):.2f}-{max(some):.2f}")
            parts.append(f"| {shape} | {skew} | {' | '.join(cells)} |")
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def main(out: Path, quick: bool, docs: bool) -> int:
    """Measures with one thread and with all, and writes plans.json and plans.md."""
    ratios: dict[int, dict[Point, float]] = {}
    for threads, (names, ratio) in alone.points("bench.plans", quick):
        found = ratios.setdefault(threads, {})
        point = Point(*names)
        found[point] = ratio
        if ratio > MOST or (point.dtype, point.reduce) == (DTYPES[0], REDUCES[0]):
            print(f"[{_threads(threads)}] {point}: {ratio:.2f}", file=sys.stderr, flush=True)
    rows = [
        [threads, *dataclasses.astuple(point), ratio]
        for threads, found in ratios.items()
        for point, ratio in found.items()
    ]
    (out / "plans.json").write_text(json.dumps(rows) + "\n")
    (out / "plans.md").write_text(markdown(ratios, SIZES[quick][0]))
    for threads, found in ratios.items():
        slow = len(_slower(found))
        print(f"{_threads(threads)}: {slow} of {len(found)} above {MOST}", file=sys.stderr)
    if docs:
        shutil.copyfile(out / "plans.md", ROOT / "docs" / "plans.md")
    return 0


if __name__ == "__main__":
    _child(alone.begin())
