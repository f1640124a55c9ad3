"""The figures that docs/bench.md and docs/sweep.md state, for the page with charts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from documents import ROOT


def fill(page: Path) -> None:
    """Puts the figures, and what they were measured with, into the page with charts."""
    bench = (ROOT / "docs/bench.md").read_text(encoding="utf-8")
    sweep = (ROOT / "docs/sweep.md").read_text(encoding="utf-8")
    figures = {"ratios": list(ratios(bench)), "sweep": list(times(sweep))}
    if not all(figures.values()):
        raise SystemExit("docs/bench.md or docs/sweep.md has no figures where charts.py looks")
    text = page.read_text(encoding="utf-8")
    text = text.replace("(measured: bench)", bench.split("\n\n")[1])
    caches = next(line for line in sweep.splitlines() if line.startswith("Caches of the machine"))
    text = text.replace("(measured: sweep)", caches)
    data = json.dumps(figures).replace("</", "<\\/")
    block = f'<script type="application/json" id="figures">{data}</script>'
    page.write_text(text.replace("(figures)", block), encoding="utf-8")


def sections(text: str) -> Iterator[tuple[str, list[list[list[str]]]]]:
    """The title of each section and its tables, each a list of rows of cells."""
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        tables = re.findall(r"(?:^\|.*\n)+", body, flags=re.M)
        yield title, [[_cells(line) for line in table.splitlines()] for table in tables]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def ratios(text: str) -> Iterator[dict[str, Any]]:
    """Each library's time divided by strew's, by workload and number of threads."""
    found = dict(sections(text))
    measured = [title for title in found if re.fullmatch(r"\d+ threads?", title)]
    if not measured or not found.get("Ratios"):
        return
    names = {row[0]: row[1] for row in found[measured[0]][0][2:]}
    header, _, *rows = found["Ratios"][0]
    for workload, *cells in rows:
        for library, cell in zip(header[1:], cells, strict=True):
            for title, part in zip(measured, cell.split(", "), strict=False):
                number = re.match(r"[\d.]+", part)
                if number is not None:
                    yield {
                        "threads": title,
                        "label": f"{workload}: {names.get(workload, '')}",
                        "series": library,
                        "value": float(number[0]),
                        "shown": part,
                    }


def times(text: str) -> Iterator[dict[str, Any]]:
    """Nanoseconds per element, by what is varied and number of threads."""
    for title, tables in sections(text):
        for header, _, *rows in tables[:1]:
            for label, *cells in rows:
                for head, cell in zip(header[1:], cells, strict=True):
                    what, _, threads = head.rpartition(", ")
                    number = re.match(r"[\d.]+$", cell)
                    if "thread" in threads and number is not None:
                        yield {
                            "what": f"{title}, {what}",
                            "label": f"{header[0]}: {label}",
                            "series": threads,
                            "value": float(cell),
                            "shown": f"{cell} ns",
                        }
