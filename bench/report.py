"""The Markdown report."""

from __future__ import annotations

import statistics
from typing import Any

from .contenders.table import CONTENDERS, PLAIN, STREW
from .summary import Claim, Entry, Row, bound
from .workloads import INDEX

__all__ = ["markdown", "missed", "named", "time_text"]


def time_text(entry: Entry) -> str:
    """The median and the quartiles, in milliseconds or microseconds."""
    scale, unit = (1e6, "us") if entry.median < 1e-4 else (1e3, "ms")
    low, high = (end * scale for end in entry.spread)
    return f"{_short(entry.median * scale)} {unit} ({_short(low)}-{_short(high)})"


def named(entry: Entry) -> str:
    """The contender, with the dtype of its index if it is not the workload's."""
    return entry.contender + _marked(entry)


def _marked(entry: Entry) -> str:
    return "" if entry.index == INDEX else f" ({entry.index})"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _megabytes(size: int | None) -> str:
    return "" if size is None else f"{size / 1e6:.0f}"


def markdown(rows: list[Row], results: dict[str, Any], chart: str | None) -> str:
    """The report: how it was measured, a table for each number of threads, what was not right."""
    parts = ["# Benchmarks", "", *_how(results), ""]
    if chart is not None:
        parts += [f"![strew against its peers]({chart})", ""]
    by_threads = {
        threads: [row for row in rows if row.threads == threads]
        for threads in sorted({row.threads for row in rows})
    }
    for place, (threads, among) in enumerate(by_threads.items()):
        parts += [f"## {_threads(threads)}", "", *_mean(among, results["machine"])]
        parts += [*_table(among, results, titles=place == 0), ""]
    parts += _ratios(by_threads) + _waits(rows) + _claims(by_threads) + _not_right(rows)
    return "\n".join(parts).rstrip() + "\n"


def missed(rows: list[Row]) -> list[str]:
    """A line for everything that was to be reached and was not."""
    lines = []
    for row in rows:
        where = f"{row.workload.name}, {_threads(row.threads)}"
        if row.best is not None and row.reached is False:
            peer = f"{named(row.best)} / strew = {row.ratio(row.best):.2f}"
            lines.append(f"{where}: {peer}, to reach {row.reach:g}")
        lines += [f"{where}: {claim.text}" for claim in row.claims() if not claim.holds]
    return lines


def _threads(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


def _how(results: dict[str, Any]) -> list[str]:
    machine = results["machine"]
    versions = ", ".join(f"{name} {v}" for name, v in sorted(results["versions"].items()))
    lines = [
        f"{results['date']}; {machine['processors']} processors ({machine['processor']}), "
        f"{machine['instructions']}, "
        f"{machine['memory']} GiB; Python {machine['python']}.",
        f"Contenders: {versions}.",
        "",
        "Contenders take turns on each workload. Each has its own process, and one process runs at "
        f"a time. There are {results['repeat']} rounds, each in its own order. Times are medians, "
        "with quartiles in brackets. Each call makes its output, except for in-place operators. "
        "Each answer is compared with the right one; a peer whose answer is wrong is not counted. "
        "torch-hugepages is torch with THP_MEM_ALLOC_ENABLE=1, which is not its default: it is "
        "shown, but not counted as best peer.",
        "",
        "*plain* is the same work as a plain loop in Rust, compiled as strew is, without threads, "
        "vector instructions of its own or prefetches. For rows of 2, 4, 8 and 16 it is the faster "
        "of two loops: one for any width and one for this width. It runs on one thread in every "
        "table, and is not counted as a peer. Its time for a call of W9 is mostly that of Python's "
        "ctypes. *plain / strew* is its time divided by strew's.",
        "",
        f"Indices are {INDEX}. A library that uses int32 by default, as JAX does, has half the "
        "index bytes to read: strew then runs with such an index, too. *ratio* is the peer's time "
        "divided by strew's time with an index of the same dtype. That dtype stands in brackets "
        f"where it is not {INDEX}. Where a library has several ways to write a workload, the right "
        "one with the smallest ratio counts. The best peer is chosen in the same way. A ratio that "
        "misses its target in bench/workloads.toml has the target behind it.",
        "",
        "*share* is the part of strew's time "
        f"(with the {INDEX} index) that the memory needs at least: for reading the inputs and "
        "writing the output once, whichever takes longer: each at the highest rate measured in "
        "this run, or both together at theirs"
        + _bandwidth(results["bandwidth"])
        + " *read* is the best "
        "of several ways to read, in 1 to 8 streams, without prefetch. *write* fills. *copy* and "
        "*update* (in place) count both directions. Above 100% a part of the inputs was still in a "
        "cache from the call before.",
        "",
        "*memory* is the most that a call adds to the process, including its output, in MB. "
        "strew, ONNX Runtime, OpenVINO and TensorFlow keep memory from call to call by default, "
        "which makes them faster. strew gives it back before its memory is measured. The memory "
        "that the others keep is not shown.",
    ]
    return lines


def _bandwidth(measured: dict[str, Any]) -> str:
    texts = [
        f"{_threads(int(threads))}: "
        + ", ".join(f"{what} {rate / 1e9:.1f}" for what, rate in rates.items())
        + " GB/s"
        for threads, rates in sorted(measured.items(), key=lambda item: int(item[0]))
    ]
    return f" ({'; '.join(texts)})." if texts else " (which was not measured)."


def _table(rows: list[Row], results: dict[str, Any], titles: bool) -> list[str]:
    # strew's other indices: those that peers read.
    indices = sorted({index for row in rows for index in row.own} - {INDEX})
    heads = ["", *["workload"] * titles, "strew", *(f"strew, {index}" for index in indices)]
    heads += ["best correct peer", "ratio", "plain / strew", "share"]
    heads += ["memory: strew", "peer"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        ratio, loop = row.ratio(row.best), row.ratio(row.plain)
        needs = bound(row.workload, results["bandwidth"].get(str(row.threads)))
        share = None if needs is None or row.strew is None else needs / row.strew.median
        missed = f", to reach {row.reach:g}" if row.reached is False else ""
        cells = [
            row.workload.name,
            *[row.workload.title] * titles,
            time_text(row.strew) if row.strew else "**no right answer**",
            *(time_text(row.own[index]) if index in row.own else "" for index in indices),
            f"{named(row.best)} {time_text(row.best)}" if row.best else "none",
            ""
            if ratio is None or row.best is None
            else f"**{ratio:.2f}**{_marked(row.best)}{missed}",
            _standing(row, PLAIN) if loop is None else f"{loop:.2f}",
            "" if share is None else f"{share:.0%}",
            _megabytes(row.strew.bytes if row.strew else None),
            _megabytes(row.best.bytes if row.best else None),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _mean(rows: list[Row], machine: dict[str, Any]) -> list[str]:
    """A line with the geometric mean of the best peers' ratios, if there is a peer."""
    ratios = [ratio for row in rows if (ratio := row.ratio(row.best)) is not None]
    if not ratios:
        return []
    mean = statistics.geometric_mean(ratios)
    return [
        f"Geometric mean of the best correct peer's time / strew's: **{mean:.2f}**, over "
        f"{len(ratios)} of {len(rows)} rows, on {machine['processor']}. The others have no correct "
        "peer.",
        "",
    ]


def _ratios(by_threads: dict[int, list[Row]]) -> list[str]:
    """A table with a column for each peer: its ratios with each number of threads."""
    rows = [row for among in by_threads.values() for row in among]
    taking_part = {name for row in rows for name in (*row.peers, *row.wrong, *row.failed)}
    names = [n for n, c in CONTENDERS.items() if n in taking_part and n != STREW and c.library]
    if not names:
        return []
    threads = " and ".join(_threads(number) for number in by_threads)
    lines = [f"Peer's time / strew's with {threads}, with an index of the same dtype:", ""]
    lines += [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for workload in dict.fromkeys(row.workload.name for row in rows):
        among = [row for row in rows if row.workload.name == workload]
        cells = [_together([_standing(row, name) for row in among]) for name in names]
        lines.append(f"| {workload} | {' | '.join(cells)} |")
    return ["## Ratios", "", *lines, ""]


def _together(standings: list[str]) -> str:
    """A peer's ratios, with what they share said once: "wrong", the dtype, or nothing at all."""
    if len(set(standings)) == 1 and not standings[0][:1].isdigit():
        return standings[0]
    marks = {standing.partition(" ")[2] for standing in standings}
    if len(marks) == 1 and (mark := marks.pop()):
        return f"{', '.join(standing.partition(' ')[0] for standing in standings)} {mark}"
    return ", ".join(standing or "-" for standing in standings)


def _standing(row: Row, name: str) -> str:
    """A peer's ratio, or why it has none."""
    entry = row.peers.get(name)
    ratio = row.ratio(entry)
    if entry is None:
        return "wrong" if name in row.wrong else "failed" if name in row.failed else ""
    return "" if ratio is None else f"{ratio:.2f}{_marked(entry)}"


def _waits(rows: list[Row]) -> list[str]:
    """What waits for the same stands in one line."""
    told: dict[str, list[str]] = {}
    for row in rows:
        names = told.setdefault(row.workload.waits, [])
        names += [row.workload.name] * (row.workload.name not in names)
    lines = [f"- {', '.join(names)}: {waits}" for waits, names in told.items() if waits]
    return ["## Where the time goes besides bandwidth", "", *lines, ""] if lines else []


def _claims(by_threads: dict[int, list[Row]]) -> list[str]:
    found: dict[tuple[str, str], dict[int, Claim]] = {}
    for threads, rows in by_threads.items():
        for row in rows:
            for claim in row.claims():
                found.setdefault((row.workload.name, claim.what), {})[threads] = claim
    if not found:
        return []
    heads = ["", "", "limit", *(_threads(threads) for threads in by_threads)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for (workload, what), claims in found.items():
        limits = dict.fromkeys(f"{claim.limit:g}" for claim in claims.values())
        least = "at least" if next(iter(claims.values())).least else "at most"
        cells = [_claimed(claims.get(threads)) for threads in by_threads]
        lines.append(f"| {workload} | {what} | {least} {', '.join(limits)} | {' | '.join(cells)} |")
    return ["## Other targets", "", "**Bold** does not hold.", "", *lines, ""]


def _claimed(claim: Claim | None) -> str:
    if claim is None:
        return ""
    return f"{claim.value:.2f}" if claim.holds else f"**{claim.value:.2f}**"


def _not_right(rows: list[Row]) -> list[str]:
    """What is the same with several numbers of threads stands in one line."""
    told: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        texts = [f"{name}, {why}" for name, why in row.wrong.items()]
        texts += [f"{name} gave no answer: {why}" for name, why in row.failed.items()]
        for text in texts:
            told.setdefault((row.workload.name, text), []).append(_threads(row.threads))
    lines = [f"- {name}, {' and '.join(t)}: {text}" for (name, text), t in told.items()]
    return ["## Wrong and missing answers", "", *lines, ""] if lines else []
