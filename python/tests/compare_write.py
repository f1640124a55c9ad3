"""Writes the tables of COMPARE.md from compare.toml: `python python/tests/compare_write.py`.

Needs no strew. What stands outside the markers in COMPARE.md is written by hand.
"""

import pathlib
import re

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

DATA = pathlib.Path(__file__).with_name("compare.toml")
DOCUMENT = DATA.parents[2] / "COMPARE.md"
_TABLES = tomllib.loads(DATA.read_text(encoding="utf-8"))
FRAMEWORKS, SHARED = _TABLES["framework"], _TABLES["shared"]
COLUMNS = {
    "below_0": "index < 0",
    "too_large": "index too large",
    "duplicates": "duplicates",
    "untouched": "untouched cells",
    "nan": "NaN in min/max",
    "integer_mean": "integer mean",
    "dtypes": "dtypes",
    "gradient": "gradient",
}
"""The cells of an operator in the data, and the heads of their columns."""


def begin(key):
    return f"<!-- {key}: written by python/tests/compare_write.py from compare.toml. -->\n"


END = "<!-- End. -->\n"


def clauses(cell):
    """Pairs of what a phrase is for (None: all other ways) and the phrase. None for an empty cell."""
    if cell in ("", "cannot occur"):
        return []
    if not isinstance(cell, dict):
        cell = {"otherwise": cell}
    return [
        (None if condition == "otherwise" else condition, phrase)
        for condition, phrases in cell.items()
        for phrase in ([phrases] if isinstance(phrases, str) else phrases)
    ]


def shown(cell):
    """A cell as people read it."""
    return "; ".join(_texts(cell, True) + _texts(cell, False)) or cell


def _texts(cell, general):
    """The phrases that hold for all other ways, or those that hold for one."""
    return [
        phrase if condition is None else f"{_when(condition)}: {phrase}"
        for condition, phrase in clauses(cell)
        if (condition is None) == general
    ]


def _when(condition):
    return f"with {condition}" if "`" in condition else " and ".join(condition.rsplit(", ", 1))


class Notes:
    """What cells say of single ways, below their table: the same words have one number."""

    NUMBERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    SHORT = 28
    """Words of at most this length stay in their cell."""

    def __init__(self):
        self.texts = []

    def shown(self, cell):
        general, single = "; ".join(_texts(cell, True)), "; ".join(_texts(cell, False))
        if not general or len(single) <= self.SHORT:
            return shown(cell)
        if single not in self.texts:
            self.texts.append(single)
        return general + self._number(self.texts.index(single))

    def _number(self, place):
        return str(place + 1).translate(self.NUMBERS)

    def lines(self):
        numbered = (f"{self._number(place)} {text}" for place, text in enumerate(self.texts))
        return "".join(f"\n{line}\\" for line in numbered).removesuffix("\\") + "\n" * bool(
            self.texts
        )


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def operators(framework):
    """What holds for all of a framework's operators, and a table of the rest, with its notes.

    A column that is empty for all of them is left out. Both kinds of wrong index have one column
    where each operator treats them alike.
    """
    rows, heads = framework["operator"], dict(COLUMNS)
    if all(row.get("below_0") == row.get("too_large") for row in rows):
        heads["below_0"] = "index < 0 or too large"
        del heads["too_large"]
    cells = {column: [row[column] for row in rows if column in row] for column in heads}
    alike = {column for column, some in cells.items() if some and some == some[:1] * len(some)}
    lines = [
        f"- {heads[column]}: {shown(cells[column][0])}\n" for column in heads if column in alike
    ]
    columns = [column for column in heads if cells[column] and column not in alike]
    of_all = f"\nFor all operators that it concerns:\n\n{''.join(lines)}" if lines else ""
    if not columns:
        return f"\n{', '.join(_names(framework, row) for row in rows)}:\n\n{''.join(lines)}"
    notes = Notes()
    listed = [
        [_names(framework, row), *(notes.shown(row.get(column, "")) for column in columns)]
        for row in rows
    ]
    return (
        f"{of_all}\n{table(['operator', *(heads[one] for one in columns)], listed)}{notes.lines()}"
    )


def _names(framework, row):
    module = "" if framework["key"] == "strew" else f"{framework['key']}."
    return ", ".join(f"`{name.removeprefix(module)}`" for name in row["names"])


def differences(framework):
    """What strew does otherwise, and then what it does alike."""
    key = framework["key"]
    original = "other libraries" if key == "strew" else framework["name"]
    rows = framework.get("difference", [])
    alike = [one for one in rows if one["strew"] in ("the same", one["original"])]
    others = [one for one in rows if one not in alike]
    marks = "".join(sorted({f"\n† In {one['also']} too.\n" for one in rows if "also" in one}))
    text = (
        f"\nWhere strew differs, or {original} {'say' if key == 'strew' else 'says'} nothing:\n\n"
    )
    text += table(
        ["where", "case", original, "strew"],
        [[*_where(one), one["original"], one["strew"]] for one in others],
    )
    if alike:
        text += f"\nWhere strew does what {original} {'do' if key == 'strew' else 'does'}:\n\n"
        text += table(["where", "case", "both"], [[*_where(one), one["original"]] for one in alike])
    return text + marks


def _where(one):
    return one["where"] + " †" * ("also" in one), one.get("case", "")


def shared():
    """What several frameworks do otherwise than strew: a table for each difference."""
    parts = (f"\n{one['title']}\n\n{table(['', 'where', ''], one['rows'])}" for one in SHARED)
    return "".join(parts) + "\n"


def examples(framework):
    pairs = [pair for one in framework.get("difference", []) for pair in one.get("examples", [])]
    if not pairs:
        return ""
    calls = "".join(f"{call}  # {outcome}\n" for call, outcome in pairs)
    return f"\n```python\n{framework.get('setup', '')}{calls}```\n"


def section(framework):
    return f"{operators(framework)}{differences(framework)}{examples(framework)}\n"


def document(text):
    """COMPARE.md with its tables, and the list of versions, from the data."""
    parts = {
        "versions": "\n" + ", ".join(one for f in FRAMEWORKS for one in f["versions"]) + ".\n\n",
        "shared": shared(),
    }
    parts |= {framework["key"]: section(framework) for framework in FRAMEWORKS}
    for key, part in parts.items():
        before, marker, rest = text.partition(begin(key))
        if not marker or END not in rest:
            raise ValueError(f"COMPARE.md has no place for {key}")
        text = before + marker + part + END + rest.partition(END)[2]
    return text


def names(patterns):
    """`a.b_{c,d}`: a.b_c, a.b_d."""
    found = []
    for pattern in patterns:
        words = re.search(r"\{(.+)\}", pattern)
        each = words[1].split(",") if words else [""]
        found += [pattern.replace(words[0], word) if words else pattern for word in each]
    return found


if __name__ == "__main__":
    DOCUMENT.write_text(document(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
