"""What a notebook shows of a plan and of an accumulator: a table of facts, and a picture.

The picture says how many rows take how many updates: none, 1, 2 to 3, 4 to 7, and so on.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from .._strew import Accumulator, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeAlias

    # A fact's name, and what is said of it.
    _Facts: TypeAlias = Iterable[tuple[str, str]]

# Above that many rows or updates there is no picture: it would take as much memory as a run.
_MOST = 1 << 25

# The facts that `Plan.explain` gives, in the order of the table.
_TOLD = (
    "row numbers",
    "most updates of one row",
    "updates left out",
    "sorted",
    "unique",
    "bytes of the plan",
    "way",
    "strategy",
    "predicted time",
)


def _html_of_plan(self: Plan) -> str:
    """A plan in HTML: facts, the way of a float32 sum and its predicted time, and a picture.

    The memory's bandwidth is measured for the time, as by `Plan.explain`.
    """
    plan, told = self, _told(self)
    run = "a sum of float32 numbers"
    facts = [
        ("updates", f"{len(plan):,}"),
        ("rows", f"{plan.size:,}, of which {plan.touched:,} take updates"),
        *((name, told[name]) for name in _TOLD[:6] if name in told),
        *((f"{name} of {run}", told[name]) for name in _TOLD[6:] if name in told),
    ]
    title = "strew.Plan" if plan.name is None else f"strew.Plan {plan.name!r}"
    picture = ""
    if max(plan.size, len(plan)) <= _MOST and plan.size:
        picture = _svg(*_histogram(plan))
    return _table(title, facts) + picture


def _html_of_accumulator(self: Accumulator) -> str:
    """An accumulator in HTML: a table of facts."""
    acc = self
    facts = [
        ("aggregates", ", ".join(acc.reduce)),
        ("groups", f"{acc.size:,}"),
        ("values", f"of {acc.dtype}" + (f", of the shape {acc.shape}" if acc.shape else "")),
        ("next position", f"{acc.position:,}"),
        ("bytes of the records", f"{acc.nbytes:,}"),
    ]
    return _table("strew.Accumulator", facts)


class Explained(str):
    """The text of `Plan.explain`, which a notebook shows as a page with pictures.

    Parameters
    ----------
    text : str
        The sentence and the table.
    page : callable
        Makes the page, in HTML.
    """

    __slots__ = ("_page",)

    _page: Callable[[], str]

    def __new__(cls, text: str, page: Callable[[], str]) -> Explained:
        """The text; the page is made when it is asked for."""
        told = super().__new__(cls, text)
        told._page = page
        return told

    def _repr_html_(self) -> str:
        """The page."""
        return self._page()

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """A copy is a plain text."""
        return str, (str(self),)


def _told(plan: Plan) -> dict[str, str]:
    """What `Plan.explain` says, by name."""
    try:
        text = plan.explain((len(plan),), "float32", "sum")
    except MemoryError:
        # There is no room to measure the memory in.
        text = plan.explain((len(plan),), "float32", "sum", measure=False)
    lines = (line.split("  ", 1) for line in text.splitlines())
    return {parts[0]: parts[1].strip() for parts in lines if len(parts) == 2}


def _histogram(plan: Plan) -> tuple[list[str], list[int]]:
    """Ranges of numbers of updates, and how many rows take that many."""
    ones = np.broadcast_to(np.int64(1), (len(plan),))
    counts = plan.scatter(ones)
    # 0, 1, 2 to 3, 4 to 7: the number of bits.
    bits = np.frexp(counts.astype(np.float64))[1]
    rows = np.bincount(bits, minlength=1)
    names = ["0", "1"]
    names += [f"{1 << at}-{(2 << at) - 1}" for at in range(1, len(rows) - 1)]
    return names[: len(rows)], rows.tolist()


def _svg(names: Sequence[str], rows: Sequence[int]) -> str:
    """Bars as high as the logarithms of the numbers of rows."""
    width, height, gap = 48, 60, 4
    heights = np.log10(1 + np.array(rows, float))
    heights = heights / max(heights.max(initial=0), 1e-9) * height
    bars = []
    for at, (name, count, high) in enumerate(zip(names, rows, heights, strict=True)):
        left, middle = at * (width + gap), at * (width + gap) + width / 2
        bars.append(
            f'<rect x="{left}" y="{height - high + 12:.1f}" width="{width}" height="{high:.1f}" '
            f'fill="#4c78a8"><title>updates {name}, rows {count:,}</title></rect>'
            f'<text x="{middle}" y="{height - high + 9:.1f}">{_short(count)}</text>'
            f'<text x="{middle}" y="{height + 24}">{name}</text>'
        )
    across = len(rows) * (width + gap)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{height + 44}" '
        'role="img" aria-label="How many rows take how many updates" font-size="9" '
        'font-family="sans-serif" fill="currentColor" text-anchor="middle">'
        f"{''.join(bars)}"
        f'<text x="{across / 2}" y="{height + 40}">rows by their number of updates (log)</text>'
        "</svg>"
    )


def _short(count: int) -> str:
    """A count in at most five characters."""
    for unit, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= unit:
            return f"{count / unit:.3g}{letter}"
    return str(count)


def _table(title: str, facts: _Facts) -> str:
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(said)}</td></tr>'
        for name, said in facts
    )
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"


# The classes are of the extension; what only Python needs is added here. A plan does not change, so
# that it is its own copy.
_ADDED: dict[type, dict[str, Any]] = {
    Plan: {
        "_repr_html_": _html_of_plan,
        "__copy__": lambda self: self,
        "__deepcopy__": lambda self, memo: self,
    },
    Accumulator: {"_repr_html_": _html_of_accumulator},
}


def add_methods() -> None:
    """Gives plans and accumulators their HTML, and plans their copies."""
    for kind, methods in _ADDED.items():
        for name, method in methods.items():
            setattr(kind, name, method)
