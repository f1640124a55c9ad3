"""The Markdown report."""

from __future__ import annotations

from typing import Any

from .contenders.table import CONTENDERS, STREW
from .summary import Entry, Row, bound

__all__ = ["markdown", "time_text"]


def time_text(entry: Entry) -> str:
    """The median and the quartiles, in milliseconds or microseconds."""
    scale, unit = (1e6, "us") if entry.median < 1e-4 else (1e3, "ms")
    low, high = (end * scale for end in entry.spread)
    return f"{_short(entry.median * scale)} {unit} ({_short(low)}-{_short(high)})"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _megabytes(size: int | None) -> str:
    return "" if size is None else f"{size / 1e6:.0f}"


def markdown(rows: list[Row], results: dict[str, Any], chart: str) -> str:
    """The report: how it was measured, a table for each number of threads, what was not right."""
    parts = ["# Benchmarks", "", *_how(results), "", f"![strew against its peers]({chart})", ""]
    for threads in sorted({row.threads for row in rows}):
        among = [row for row in rows if row.threads == threads]
        parts += [f"## {_threads(threads)}", "", *_table(among, results), ""]
        parts += ["Peer's time / strew's:", "", *_ratios(among), ""]
    parts += _claims(rows) + _not_right(rows)
    return "\n".join(parts).rstrip() + "\n"


def _threads(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


def _how(results: dict[str, Any]) -> list[str]:
    machine = results["machine"]
    versions = ", ".join(f"{name} {v}" for name, v in sorted(results["versions"].items()))
    lines = [
        f"{results['date']}; {machine['processors']} processors, {machine['instructions']}, "
        f"{machine['memory']} GiB; Python {machine['python']}.",
        f"Contenders: {versions}.",
        "",
        "Contenders take turns on each workload, in processes of their own, of which one at a "
        f"time is awake: {results['repeat']} rounds, medians, quartiles in brackets. Outputs are "
        "made by each call, apart from operators in place. Each answer is compared with the right "
        "one; a peer whose answer is wrong is not counted. Of several ways in which a library can say a "
        "workload the fastest right one counts. Indices are int64, JAX's int32. torch-hugepages is "
        "torch with THP_MEM_ALLOC_ENABLE=1, which is not its default: it is shown, and not counted "
        "as best peer.",
        "",
        "*share* is the part of strew's time that the machine's memory needs at the least for "
        "reading the inputs and writing the output once, at the bandwidth measured in this run"
        + _bandwidth(results["bandwidth"]),
        "",
        "*memory* is the most that a call adds to the process, its output included, in MB. "
        "ONNX Runtime, OpenVINO and TensorFlow keep memory from call to call, which does not show.",
    ]
    return lines


def _bandwidth(measured: dict[str, Any]) -> str:
    texts = [
        f"{_threads(int(threads))}: read {b['read'] / 1e9:.1f}, write {b['write'] / 1e9:.1f}, "
        f"copy {b['copy'] / 1e9:.1f} GB/s"
        for threads, b in sorted(measured.items())
    ]
    return f" ({'; '.join(texts)})." if texts else " (which was not measured)."


def _table(rows: list[Row], results: dict[str, Any]) -> list[str]:
    lines = [
        "| | workload | strew | best correct peer | ratio | to reach | | hugepages | share "
        "| memory: strew | peer |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        ratio, huge = row.ratio(row.best), row.ratio(row.peers.get("torch-hugepages"))
        needs = bound(row.workload, results["bandwidth"].get(str(row.threads)))
        share = None if needs is None or row.strew is None else needs / row.strew.median
        cells = [
            row.workload.name,
            row.workload.title,
            time_text(row.strew) if row.strew else "**no right answer**",
            f"{row.best.contender} {time_text(row.best)}" if row.best else "none",
            "" if ratio is None else f"**{ratio:.2f}**",
            "" if row.reach is None else f"{row.reach:g}",
            {True: "reached", False: "**not reached**", None: ""}[row.reached],
            "" if huge is None else f"{huge:.2f}",
            "" if share is None else f"{share:.0%}",
            _megabytes(row.strew.bytes if row.strew else None),
            _megabytes(row.best.bytes if row.best else None),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _ratios(rows: list[Row]) -> list[str]:
    taking_part = {name for row in rows for name in (*row.peers, *row.wrong)}
    names = [name for name in CONTENDERS if name in taking_part and name != STREW]
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for row in rows:
        cells = []
        for name in names:
            ratio = row.ratio(row.peers.get(name))
            cells.append("wrong" if name in row.wrong else "" if ratio is None else f"{ratio:.2f}")
        lines.append(f"| {row.workload.name} | {' | '.join(cells)} |")
    return lines


def _claims(rows: list[Row]) -> list[str]:
    lines = []
    for row in rows:
        for claim, holds in row.claims():
            word = "holds" if holds else "**does not hold**"
            lines.append(f"- {row.workload.name}, {_threads(row.threads)}: {claim}: {word}")
    return ["## Besides", "", *lines, ""] if lines else []


def _not_right(rows: list[Row]) -> list[str]:
    lines = []
    for row in rows:
        where = f"{row.workload.name}, {_threads(row.threads)}"
        lines += [f"- {where}: {name}, {why}" for name, why in row.wrong.items()]
        lines += [f"- {where}: {name} gave no answer: {why}" for name, why in row.failed.items()]
    return ["## Wrong answers, and none", "", *lines, ""] if lines else []
