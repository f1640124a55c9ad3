"""The driver, which ``cargo xtask bench`` calls: ``python -m bench.driver``."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import chart, group_statistics, picture, plans, report, scaling, sweep
from .processor import processor
from .run import Bench, Run, problems, say
from .summary import Row, row
from .workloads import Workload, read, select

__all__ = ["main"]

DOCS = Path(__file__).parent.parent / "docs"

# Extensions that make a difference here, as /proc/cpuinfo calls them.
_EXTENSIONS = ["avx2", "avx512f", "avx512_fp16", "asimd", "sve"]


def main() -> int:
    options = _options()
    if options.sweep:
        return sweep.main(options.out, options.quick, options.docs)
    if options.plans:
        return plans.main(options.out, options.quick, options.docs)
    if options.statistics:
        return group_statistics.main(options.out, options.quick, options.docs)
    if options.scaling:
        out, quick, docs = options.out, options.quick, options.docs
        return scaling.main(out, options.workloads, quick, docs)
    workloads = read()
    try:
        chosen = select(workloads, options.workloads)
    except ValueError as error:
        say(f"error: {error}")
        return 2
    repeat = options.repeat or (3 if options.quick else 7)
    results: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "machine": _machine(),
        "repeat": repeat,
        "bandwidth": json.loads(options.bandwidth.read_text()) if options.bandwidth else {},
        "versions": {},
        "problems": [],
        "runs": [],
    }
    runs: list[Run] = []
    rows: list[Row] = []
    for run, versions in _measure(workloads, chosen, options, repeat):
        runs.append(run)
        results["versions"] |= versions
        results["problems"] = problems(runs)
        results["runs"] = [_with_medians(run) for run in runs]
        # Written after each workload, so that an interrupted bench keeps its results.
        rows = [row(workloads[run.workload], run.threads, run.entries) for run in runs]
        _write(results, rows, options.out)
    say(f"wrote {options.out}/results.json, results.md and chart.svg")
    if options.docs:
        _write_docs(results, rows)
    wrong = results["problems"]
    short = report.missed(rows)
    say(f"{len(short)} not reached" + (":" if short else ""))
    for line in short:
        say(f"    {line}")
    for problem in wrong:
        say(f"FAILED: {problem}")
    return 1 if wrong else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--bandwidth", type=Path)
    parser.add_argument("--peers", type=lambda text: text.split(",") if text else [], default=[])
    parser.add_argument("--workloads", type=lambda text: text.split(","), default=[])
    parser.add_argument("--threads", type=lambda text: text.split(","), default=["1", "all"])
    parser.add_argument("--repeat", type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--plans", action="store_true")
    parser.add_argument("--statistics", action="store_true")
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--docs", action="store_true")
    return parser.parse_args()


def _measure(
    workloads: dict[str, Workload],
    chosen: list[Workload],
    options: argparse.Namespace,
    repeat: int,
) -> Iterator[tuple[Run, dict[str, str]]]:
    """All workloads, with one thread and then with all, and the contenders' versions."""
    processors = len(os.sched_getaffinity(0))
    done: set[int] = set()
    for threads in options.threads:
        alone = threads == "1"
        label = 1 if alone else processors
        if label in done:
            continue
        done.add(label)
        bench = Bench(workloads, options.peers, 1 if alone else 0, options.out)
        try:
            for number, workload in enumerate(chosen, 1):
                head = f"[{number}/{len(chosen)}, {threads} threads] {workload.name}"
                say(f"{head}: {workload.title}")
                run = bench.run(workload, repeat, label)
                _tell(row(workload, label, run.entries))
                yield run, bench.versions()
        finally:
            bench.close()


def _tell(summed: Row) -> None:
    """Prints a line of progress."""
    strew = report.time_text(summed.strew) if summed.strew else "no right answer"
    line = f"    strew {strew}"
    if summed.best is not None:
        line += f"; best peer {report.named(summed.best)} {report.time_text(summed.best)}"
    if (ratio := summed.ratio(summed.best)) is not None:
        line += f"; ratio {ratio:.2f}"
    if (loop := summed.ratio(summed.plain)) is not None:
        line += f"; plain / strew {loop:.2f}"
    say(line)
    for reasons in (summed.wrong, summed.failed):
        for name, why in reasons.items():
            say(f"    {name}: {why}")


def _with_medians(run: Run) -> dict[str, Any]:
    record = dataclasses.asdict(run)
    for entry, raw in zip(run.entries, record["entries"], strict=True):
        raw["median"] = entry.median if entry.seconds else None
    return record


def _machine() -> dict[str, Any]:
    """What the figures depend on, in general words."""
    flags: set[str] = set()
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.lower().startswith(("flags", "features")):
                flags |= set(line.split(":", 1)[1].split())
    extensions = [name for name in _EXTENSIONS if name in flags]
    # Strew alone can be told to do with less.
    if chosen := os.environ.get("STREW_ISA"):
        extensions.append(f"(strew: {chosen})")
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": processor(),
        "processors": len(os.sched_getaffinity(0)),
        "instructions": " ".join([platform.machine(), *extensions]),
        "memory": round(pages / 2**30),
        "python": platform.python_version(),
    }


def _write(results: dict[str, Any], rows: list[Row], folder: Path) -> None:
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    _write_table(results, rows, folder / "results.md", folder / "chart.svg")


def _write_docs(results: dict[str, Any], rows: list[Row]) -> None:
    _write_table(results, rows, DOCS / "bench.md", DOCS / "bench.svg")
    picture.write()
    say("wrote docs/bench.md, docs/bench.svg and docs/speed.svg")


def _write_table(results: dict[str, Any], rows: list[Row], table: Path, drawing: Path) -> None:
    drawn = chart.draw(rows, drawing)
    if not drawn:
        # One from before would be taken for this run's.
        drawing.unlink(missing_ok=True)
    table.write_text(report.markdown(rows, results, drawing.name if drawn else None))


if __name__ == "__main__":
    sys.exit(main())
