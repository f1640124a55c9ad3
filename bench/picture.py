"""The picture in README.md: times of strew beside the fastest right peer, from docs/bench.md.

``python -m bench.picture`` writes docs/speed.svg. ``cargo xtask bench --docs`` writes it, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

__all__ = ["Bar", "bars", "draw", "write"]

DOCS = Path(__file__).parents[1] / "docs"
# One workload of each kind, from the closest race to the widest.
_WORKLOADS = {
    "W1b": "sum of 16M values into 1M cells",
    "W2c": "sum of 2M rows of 64, sorted index",
    "W6": "product of 2M rows of 64 into 200k",
    "W2a": "sum of 2M rows of 64 into 200k",
    "W2d": "maximum of 2M rows of 64 into 200k",
    "W3b": "elements of 64 x 512 x 1024, axis 1",
    "W8-step": "message passing and its gradient",
    "W8-sum": "gradient of a sum of rows",
}
_ROW = 46
_LEFT, _WIDTH = 290, 420
_TIME = re.compile(r"([\d.]+) ms")


@dataclass(frozen=True)
class Bar:
    """A workload: milliseconds of strew and of the best correct peer, and the peer's name."""

    title: str
    strew: float
    peer: float
    name: str


def bars(text: str) -> tuple[str, list[Bar]]:
    """The heading of the last table of docs/bench.md (all threads), and its rows to draw.

    An index of 32 bits is compared with an index of 32 bits, as in the table's ratio.
    """
    machine = re.search(r"^\d{4}-\d{2}-\d{2}; (.+?)\.$", text, re.MULTILINE)
    tables = re.split(r"^## (\d+ threads?)$", text, flags=re.MULTILINE)
    if machine is None or len(tables) < 3:
        raise ValueError("docs/bench.md has no line of the machine, or no table of times")
    # Another section has other tables.
    lines = [line for line in tables[-1].partition("\n## ")[0].splitlines() if line[:1] == "|"]
    heads, *cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines] or [[]]
    rows = {row[0]: dict(zip(heads, row, strict=True)) for row in cells if row[0] in _WORKLOADS}
    found = []
    # A run of a part of the workloads has fewer.
    for workload, title in [(w, t) for w, t in _WORKLOADS.items() if w in rows]:
        best = rows[workload]["best correct peer"]
        own = _TIME.match(rows[workload]["strew, int32" if "(int32)" in best else "strew"])
        peer = re.match(r"(\S+)( \(int32\))? ([\d.]+) ms", best)
        if own is None or peer is None:
            raise ValueError(f"docs/bench.md: {workload} has no time in ms")
        name = peer[1] + (", int32 index" if peer[2] else "")
        found.append(Bar(title, float(own[1]), float(peer[3]), name))
    return f"{tables[-2]}; {machine[1]}", found


def draw(heading: str, rows: list[Bar]) -> str:
    """The picture as SVG: both bars of a row have the row's scale, on which the peer's is whole."""
    height = 96 + _ROW * len(rows)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {height}"'
        ' font-family="system-ui, sans-serif" font-size="13">',
        "  <title>Times of strew beside the fastest other library with the right result</title>",
        f'  <rect width="860" height="{height}" fill="#ffffff"/>',
        '  <text x="20" y="28" font-size="16" font-weight="600" fill="#1d2b44">'
        "Time of strew beside the fastest other library whose result is right</text>",
        f'  <text x="20" y="48" fill="#5b6472">{escape(heading)}</text>',
    ]
    for place, row in enumerate(rows):
        top = 66 + _ROW * place
        own = _WIDTH * row.strew / max(row.strew, row.peer)
        other = _WIDTH * row.peer / max(row.strew, row.peer)
        lines += [
            f'  <text x="{_LEFT - 12}" y="{top + 22}" text-anchor="end" fill="#1d2b44">'
            f"{escape(row.title)}</text>",
            f'  <rect x="{_LEFT}" y="{top}" width="{own:.1f}" height="16" fill="#0072B2"/>',
            f'  <text x="{_LEFT + own + 6:.1f}" y="{top + 13}" fill="#0072B2" font-weight="600">'
            f"strew {row.strew:g} ms</text>",
            f'  <rect x="{_LEFT}" y="{top + 18}" width="{other:.1f}" height="16" fill="#c9ced6"/>',
            f'  <text x="{_LEFT + 6}" y="{top + 31}" fill="#33415c">'
            f"{escape(row.name)} {row.peer:g} ms</text>",
        ]
    lines += [
        f'  <text x="20" y="{height - 12}" fill="#5b6472">Each pair of bars has its own scale. '
        "The contenders, their versions and all workloads: docs/bench.md.</text>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def write() -> None:
    """Writes docs/speed.svg from docs/bench.md."""
    text = (DOCS / "bench.md").read_text(encoding="utf-8")
    (DOCS / "speed.svg").write_text(draw(*bars(text)), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
