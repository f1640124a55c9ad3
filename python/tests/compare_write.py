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
FRAMEWORKS = tomllib.loads(DATA.read_text(encoding="utf-8"))["framework"]
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
    if isinstance(cell, str):
        return cell
    texts = []
    for condition, phrase in clauses(cell):
        if condition is None:
            texts.append(phrase)
        elif "`" in condition:
            texts.append(f"with {condition}: {phrase}")
        else:
            texts.append(f"{' and '.join(condition.rsplit(', ', 1))}: {phrase}")
    return "; ".join(texts)


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def operators(framework):
    """A column that is empty for all of a framework's operators is left out."""
    rows = framework["operator"]
    columns = [column for column in COLUMNS if any(column in row for row in rows)]
    module = "" if framework["key"] == "strew" else f"{framework['key']}."
    return table(
        ["operator", *(COLUMNS[column] for column in columns)],
        [
            [
                ", ".join(f"`{name.removeprefix(module)}`" for name in row["names"]),
                *(shown(row.get(column, "")) for column in columns),
            ]
            for row in rows
        ],
    )


def differences(framework):
    original = "other libraries" if framework["key"] == "strew" else framework["name"]
    return table(
        ["where", "case", original, "strew"],
        [
            [one["where"], one.get("case", ""), one["original"], one["strew"]]
            for one in framework.get("difference", [])
        ],
    )


def examples(framework):
    pairs = [pair for one in framework.get("difference", []) for pair in one.get("examples", [])]
    if not pairs:
        return ""
    calls = "".join(f"{call}  # {outcome}\n" for call, outcome in pairs)
    return f"\n```python\n{framework.get('setup', '')}{calls}```\n"


def section(framework):
    return (
        f"\nWhat strew's operators do:\n\n{operators(framework)}"
        f"\nWhere they differ, or the framework says nothing:\n\n{differences(framework)}{examples(framework)}\n"
    )


def document(text):
    """COMPARE.md with its tables, and the list of versions, from the data."""
    parts = {
        "versions": "\n" + ", ".join(one for f in FRAMEWORKS for one in f["versions"]) + ".\n\n"
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
