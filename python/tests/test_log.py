"""Lines of the logger "strew", and that there are none without it."""

import logging
import subprocess
import sys

import numpy as np
import pytest
import strew

SRC, INDEX = np.arange(4.0), np.array([0, 1, 1, 0])


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.DEBUG, logger="strew")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "strew"]


CALLS = {
    "scatter": lambda: strew.scatter(SRC, INDEX),
    "scatter by a plan": lambda: strew.scatter(SRC, None, plan=strew.Plan(INDEX)),
    "scatter of a masked array": lambda: strew.scatter(np.ma.array(SRC), INDEX),
    "aggregate": lambda: strew.aggregate(SRC, INDEX, ["std", np.ptp]),
    "aggregate by keys": lambda: strew.aggregate(SRC, by=list("abbb")),
    "gather": lambda: strew.gather(SRC, INDEX),
    "gather of all axes": lambda: strew.gather(SRC, INDEX, None),
}


@pytest.mark.parametrize("call", CALLS)
def test_one_line_says_what_ran(lines, call):
    CALLS[call]()
    said = lines()[-1]
    name = call.split()[0]
    assert said.startswith(f"{name}: ") and said.endswith(" us")
    assert "src=float64 (4,)" in said and f"threads={strew.get_num_threads()}" in said
    assert ("plan=Plan" in said) == (call == "scatter by a plan")


def test_what_is_shown(lines):
    strew.scatter(SRC, None, plan=strew.Plan(INDEX))
    assert "reduce=sum" in lines()[-1] and "strategy=small" in lines()[-1]
    big = np.arange(1_000_000) % 10
    strew.scatter(np.ones(len(big)), None, plan=strew.Plan(big), reduce="max")
    assert "strategy=" in lines()[-1] and "strategy=small" not in lines()[-1]
    strew.aggregate(SRC, INDEX, ["std", np.ptp])
    assert "reduce=[std, ptp]" in lines()[-1]
    assert "result=(float64 (2,), float64 (2,))" in lines()[-1]
    strew.aggregate(SRC, by=list("abab"))
    assert "by=[a, b, a, b]" in lines()[-1]


PLAN = {
    "scatter": (lambda plan: plan.scatter(SRC, "max"), "reduce=max, "),
    "scatter into": (lambda plan: plan.scatter(SRC, out=np.zeros(2)), "reduce=sum, "),
    "reduce": (lambda plan: plan.reduce(SRC, ["sum", "max"]), "reduce=[sum, max], "),
    "gather": (lambda plan: plan.gather(SRC[:2]), ""),
}


@pytest.mark.parametrize("method", PLAN)
def test_runs_of_a_plan(lines, method):
    call, reduce = PLAN[method]
    call(strew.Plan(INDEX))
    said = lines()[-1]
    shape = "(2,)" if method == "gather" else "(4,)"
    assert said.startswith(
        f"Plan.{method.split()[0]}: {reduce}src=float64 {shape}, updates=4, rows=2"
    )
    assert ("strategy=small" in said) == (method != "gather") and said.endswith(" us")


def test_a_scatter_by_an_index_names_its_strategy(lines):
    strew.scatter(SRC, INDEX)
    assert "strategy=small" in lines()[-1]
    strew.scatter(SRC, INDEX, out=np.zeros(2), reduce="max")
    assert "strategy=small" in lines()[-1]


def test_no_line_of_a_call_that_fails_or_without_the_level(lines, caplog):
    with pytest.raises(IndexError):
        strew.scatter(SRC, INDEX - 1)
    caplog.set_level(logging.INFO, logger="strew")
    for call in CALLS.values():
        call()
    assert lines() == []


def test_the_level_of_the_root_counts():
    code = "import logging, strew; logging.basicConfig(level=10); strew.scatter([1.0], [0])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stderr.startswith("DEBUG:strew:scatter: reduce=sum, src=list, index=list, "), run
    code = "import strew; strew.scatter([1.0], [0])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("", "")
