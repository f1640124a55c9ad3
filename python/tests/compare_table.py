"""The operators of compare.toml, as the tests read them."""

import ast
import functools
import re

from compare_write import FRAMEWORKS, clauses, names
from strew import _strew, pyg_lib

OWN = {"jax.at_power", "strew.aggregate", "strew.Plan.scatter"} | {
    f"pyg_lib.{name}" for name in pyg_lib.__all__
}
"""What has a row and is no operator of a dialect: of strew's own face, and made of operators."""

TABLE = [(names(row["names"]), row) for framework in FRAMEWORKS for row in framework["operator"]]
"""For each row its names, which may be patterns, and its cells by their column."""


def rows():
    """The cells of every operator. A name that one row lists and another row's pattern fits belongs to the first."""
    known = [*_strew.operators(), *sorted(OWN)]
    listed = [(name, cells) for named, cells in TABLE for name in named]
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
