"""strew.show_config, and copies and pictures of plans and accumulators."""

import copy
import importlib.metadata
import os
import pickle
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
import strew

PARTS = ["caches", "environment", "memory", "packages", "processor", "python", "strew", "threads"]


def test_the_configuration_as_dicts():
    found = strew.show_config(mode="dicts")
    assert sorted(found) == PARTS
    assert found["strew"]["version"] == strew.__version__
    assert found["packages"]["numpy"] == np.__version__
    assert found["packages"].get("pandas") in (None, version_of("pandas"))
    assert found["threads"]["of a run"] == strew.get_num_threads()
    assert found["memory"]["kept for the next results"] == strew.get_kept_memory()
    assert found["processor"]["instruction set"] in ("baseline", "avx2", "avx512")
    assert all(size >= 1024 for size in found["caches"].values())


def version_of(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def test_the_configuration_is_printed(capsys):
    assert strew.show_config() is None
    said = capsys.readouterr().out
    for part, entries in strew.show_config(mode="dicts").items():
        assert f"{part}:\n" in said
        for name in entries:
            assert f"  {name}: " in said
    with pytest.raises(ValueError, match=r"^show_config: mode = 'x': it must be stdout or dicts"):
        strew.show_config("x")


def test_the_environment_is_shown_and_no_library_is_imported():
    code = """
import sys, strew
found = strew.show_config(mode="dicts")
print(found["environment"], found["processor"]["instruction set"], found["threads"]["of a run"])
print([name for name in ("torch", "jax", "pandas", "pyarrow") if name in sys.modules])
"""
    env = {**os.environ, "STREW_NUM_THREADS": "3", "STREW_ISA": "baseline"}
    env = {name: value for name, value in env.items() if name != "OMP_NUM_THREADS"}
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    lines = run.stdout.splitlines()
    assert lines[1] == "[]", run.stderr
    assert lines[0] == "{'STREW_NUM_THREADS': '3', 'STREW_ISA': 'baseline'} baseline 3"


INDICES = {
    "few": [2, 0, 2],
    "none": [],
    "sorted": [0, 0, 1, 5],
    "dropped": [-1, 9, 0],
    "skewed": [0] * 5000 + list(range(100)),
}


def plan_of(name):
    return strew.Plan(INDICES[name], 10 if name == "dropped" else None, mode="drop", name=name)


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{
        f"pickle {protocol}": lambda one, protocol=protocol: pickle.loads(
            pickle.dumps(one, protocol)
        )
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", INDICES)
def test_copies_of_a_plan(name, how):
    plan = plan_of(name)
    made = COPIES[how](plan)
    assert type(made) is strew.Plan
    # A plan does not change.
    assert (made is plan) == (not how.startswith("pickle"))
    assert made.to_bytes() == plan.to_bytes() and repr(made) == repr(plan)
    assert COPIES[how]([plan])[0].name == name


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("exact", [False, True])
def test_copies_of_an_accumulator(how, exact):
    acc = strew.Accumulator(3, ["mean", "max"], exact=exact, shape=(2,))
    acc.update(np.array([[1.0, 2.0], [5.0, 7.0]]), [0, 2])
    made = COPIES[how](acc)
    assert made is not acc and made.to_bytes() == acc.to_bytes() and repr(made) == repr(acc)
    made.update(np.array([[9.0, 9.0]]), [0])
    assert acc.result()[0][0].tolist() == [1, 2] and made.result()[0][0].tolist() == [5, 5.5]


def test_representations_are_one_line():
    acc = strew.Accumulator(3, ["mean", "max"])
    for one in (*map(plan_of, INDICES), acc):
        assert "\n" not in repr(one) and repr(one).startswith("strew.")
    assert repr(plan_of("few")) == 'strew.Plan("few", 3 updates into 3 rows)'
    assert repr(acc) == "strew.Accumulator(mean, max of 3 groups, 0 updates)"


def parsed(html):
    return ElementTree.fromstring(f"<div>{html}</div>")


@pytest.mark.parametrize("name", INDICES)
def test_a_plan_in_a_notebook(name):
    plan = plan_of(name)
    html = parsed(plan._repr_html_())
    facts = {row[0].text: row[1].text for row in html.iter("tr")}
    assert facts["updates"] == f"{len(plan):,}"
    assert facts["rows"] == f"{plan.size:,}, of which {plan.touched:,} take updates"
    assert facts["most updates of one row"] == str(plan.max_multiplicity)
    for fact in ("strategy", "predicted time"):
        # Without any update there is nothing to do.
        assert (f"{fact} of a sum of float32 numbers" in facts) == (name != "none")
    titles = [title.text for title in html.iter("{http://www.w3.org/2000/svg}title")]
    counts = plan.scatter(np.ones(len(plan), int)).tolist()
    shown = {
        "few": ["updates 0, rows 1", "updates 1, rows 1", "updates 2-3, rows 1"],
        "none": [],
        "sorted": ["updates 0, rows 3", "updates 1, rows 2", "updates 2-3, rows 1"],
        "dropped": ["updates 0, rows 8", "updates 1, rows 2"],
    }
    if name in shown:
        assert titles == shown[name]
    else:
        assert titles[1] == f"updates 1, rows {counts.count(1)}"
        assert titles[-1] == "updates 4096-8191, rows 1"


def test_names_are_escaped_and_large_plans_have_no_picture():
    plan = strew.Plan([0], 2**40, name="<script>&\"'")
    html = plan._repr_html_()
    assert "<script" not in html and "&lt;script&gt;" in html and "<svg" not in html
    parsed(html)


def test_an_accumulator_in_a_notebook():
    acc = strew.Accumulator(1000, ["mean", "max"], dtype="float32", shape=(2,))
    facts = {row[0].text: row[1].text for row in parsed(acc._repr_html_()).iter("tr")}
    assert facts == {
        "aggregates": "mean, max",
        "groups": "1,000",
        "values": "of float32, of the shape (2,)",
        "next position": "0",
        "bytes of the records": f"{acc.nbytes:,}",
    }
