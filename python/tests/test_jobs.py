"""docs/jobs.toml: the lists that name calls for jobs say what it says."""

import pathlib
import re

import pytest
from strew._native import hints

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

ROOT = pathlib.Path(__file__).parents[2]
PAGE, HELP = ROOT / "docs/which.md", ROOT / "crates/strew-cli/src/topics/jobs.txt"
LIBRARY, DATA = ROOT / "crates/strew/src/lib.rs", ROOT / "docs/jobs.toml"

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the documents are not in the package")


def plain(name):
    return re.sub("[-_]", " ", name).lower()


def jobs():
    """Each job by each of its names."""
    listed = tomllib.loads(DATA.read_text(encoding="utf-8"))["job"]
    named = [(plain(name), job) for job in listed for name in job["names"]]
    assert len(dict(named)) == len(named), "a name of two jobs"
    return dict(named)


def of_a_table(text):
    """Names and call of each row of a Markdown table, without links and marks of code."""
    text = re.sub(r"\[([^\]\[]*`)\](\([^)]*\))?", r"\1", text).replace("`", "")
    rows = re.findall(r"^(?://! )?\| (.+?) \| (.+?) \|", text, flags=re.M)
    assert rows[0][1] == "call"
    return rows[1:]


def of_the_page():
    return of_a_table(PAGE.read_text(encoding="utf-8"))


def of_the_hints():
    return [(name, call.replace("'", '"')) for name, call in hints._JOBS.items()]


def of_the_library():
    _, _, text = LIBRARY.read_text(encoding="utf-8").partition("By the names that people know:")
    return of_a_table(text.partition("//!\n//! An index")[0])


def of_the_help():
    text = HELP.read_text(encoding="utf-8")
    return re.findall(r"^  (\S.*)\n    (strew .+)$", text, flags=re.M)


LISTS = [
    pytest.param(of_the_page, "python", id="which.md"),
    pytest.param(of_the_hints, "python", id="hints.py"),
    pytest.param(of_the_library, "rust", id="lib.rs"),
    pytest.param(of_the_help, "command", id="jobs.txt"),
]


@pytest.mark.parametrize("rows, face", LISTS)
def test_a_list_says_what_the_data_says(rows, face):
    known = jobs()
    assert len(rows()) > 9
    for names, call in rows():
        for name in [names] if plain(names) in known else names.split(", "):
            assert plain(name) in known, f"docs/jobs.toml has no job {name!r}"
            assert known[plain(name)].get(face) == call, name


@pytest.mark.parametrize("face", ["python", "rust", "command"])
def test_each_call_is_in_a_list(face):
    lists = [case.values for case in LISTS]
    told = {call for rows, of in lists if of == face for _, call in rows()}
    assert {job[face] for job in jobs().values() if face in job} == told
