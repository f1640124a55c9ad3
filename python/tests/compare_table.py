"""The table "Side by side" of COMPARE.md, as its tests read it."""

import ast
import functools
import pathlib
import re

import pytest
from strew import _strew

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "COMPARE.md"
if not DOCUMENT.exists():
    pytest.skip("COMPARE.md is not in the package", allow_module_level=True)

OWN = {"strew.aggregate", "strew.Plan.scatter"}
"""Operators of strew's own face that have rows, beside those of the dialects."""


def table():
    """For each row the names, and its cells by their column."""
    _, _, text = DOCUMENT.read_text(encoding="utf-8").partition("\n## Side by side\n")
    lines = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("|")]
    head, _, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return [(names(cells[0]), dict(zip(head[1:], cells[1:], strict=True))) for cells in body]


def names(cell):
    """`a.b_{c,d}`, `e`: a.b_c, a.b_d, a.e."""
    found = []
    for name in re.findall("`([^`]+)`", cell):
        if found and not name.startswith(module := found[0].rpartition(".")[0]):
            name = f"{module}.{name}"
        before, _, rest = name.partition("{")
        inside, _, after = rest.partition("}")
        found += [before + word + after for word in inside.split(",")]
    return found


def rows():
    """The cells of every operator. Whom one row names and another one's pattern fits belongs to the
    first.
    """
    known = [*_strew.operators(), *sorted(OWN)]
    listed = [(name, cells) for named, cells in table() for name in named]
    named = [one for one in listed if "*" not in one[0]]
    found = [
        (f"{name}{form}", cells)
        for name, cells in named
        for form in ("", "_")
        if not form or f"{name}_" in known
    ]
    taken = {name for name, _ in found}
    for pattern, cells in listed:
        if "*" in pattern:
            fits = re.compile(re.escape(pattern).replace(r"\*", "[a-z_]*"))
            found += [(name, cells) for name in known if fits.fullmatch(name) and name not in taken]
    return found, known


ROWS, KNOWN = rows()
CELLS = dict(ROWS)


def clauses(cell):
    """Pairs of what a clause is for (None: what is left) and its phrase."""
    if cell in ("", "cannot occur"):
        return []
    parts = [
        re.fullmatch("(?:with )?(?:(?!Rust)([^:]+): )?(.+)", part).groups()
        for part in cell.split("; ")
    ]
    return [(condition, phrase) for condition, phrase in parts if phrase != "cannot occur"]


def words(condition):
    return re.split(", | and ", condition)


def options(condition):
    """Of `name=value`, and of `name`, which adapters take as true."""
    name, _, value = condition.strip("`").partition("=")
    return {name: ast.literal_eval(value) if value else True}


def ways(adapters, cell):
    """What the cell says of each way of an operator, and under each option: word, call, phrase, and
    the option.
    """
    listed = clauses(cell)
    general = [phrase for condition, phrase in listed if condition is None]
    found = []
    for word, call in adapters.items():
        own = [phrase for condition, phrase in listed if condition and word in words(condition)]
        found += [(word, call, phrase, None) for phrase in own or general]
    for condition, phrase in listed:
        if condition and "`" in condition:
            given = options(condition)
            found += [
                (word, functools.partial(call, **given), phrase, *given)
                for word, call in adapters.items()
            ]
    return found
