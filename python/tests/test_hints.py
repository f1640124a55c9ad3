"""What an error says of what was meant: another name, argument or function."""

import re

import numpy as np
import pytest
import strew
from strew._native import hints as _hints

VALUES = np.array([1.0, 2.0, 3.0])
ROWS = np.ones((3, 2))
BY = "groups by keys are for strew.aggregate(values, by=keys)"


@pytest.mark.parametrize("run", [strew.aggregate, strew.scatter], ids=["aggregate", "scatter"])
@pytest.mark.parametrize(
    ("name", "meant"),
    [("avg", "mean"), ("size", "len"), ("medain", "median"), ("unique", "nunique")],
)
def test_a_reduction_by_another_name(run, name, meant):
    with pytest.raises(ValueError, match=f"; did you mean {meant}[?]$"):
        run(VALUES, [0, 1, 0], reduce=name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("nanmean", 'strew.aggregate takes reduce="mean" with skipna=True'),
        ("exact_std", 'strew.aggregate takes reduce="std" with exact=True'),
    ],
)
def test_an_option_in_the_name_of_a_reduction(name, meant):
    with pytest.raises(ValueError, match=f"; {meant}$"):
        strew.aggregate(VALUES, [0, 1, 0], name)


def test_a_name_that_is_like_no_other():
    with pytest.raises(ValueError, match="argtopk$"):
        strew.aggregate(VALUES, [0, 1, 0], "zzz")


def test_plans_and_accumulators_say_it_too():
    plan = strew.Plan([0, 1, 0])
    for run in (plan.scatter, lambda src, reduce: plan.reduce(src, [reduce])):
        with pytest.raises(ValueError, match=r"exact_mean; did you mean sum\?$"):
            run(VALUES, "add")
        with pytest.raises(ValueError, match="exact_mean; aggregate has median$"):
            run(VALUES, "median")
    with pytest.raises(ValueError, match=r"^Accumulator: .*; did you mean mean\?$"):
        strew.Accumulator(3, "avg")


@pytest.mark.parametrize("run", [strew.aggregate, strew.scatter], ids=["aggregate", "scatter"])
@pytest.mark.parametrize(
    "keys",
    [
        ["a", "b", "a"],
        np.array(["a", "b", "a"], object),
        np.array(["2020-01", "2020-02", "2020-01"], "M8[M]"),
    ],
    ids=["strings", "objects", "dates"],
)
def test_keys_in_place_of_numbers(run, keys):
    with pytest.raises(TypeError, match=re.escape(BY)):
        run(VALUES, keys)


def test_other_indices_of_the_wrong_type_are_no_keys():
    for index in ([0.0, 1.0, 0.0], [True, False, True], None):
        with pytest.raises(TypeError) as caught:
            strew.aggregate(VALUES, index)
        assert BY not in str(caught.value)


@pytest.mark.parametrize("reduce", ["sum", "median"])
def test_rows_along_another_axis(reduce):
    with pytest.raises(ValueError, match=r"; src has 3 along axis 0: pass axis=0$"):
        strew.scatter(ROWS, [0, 1, 0], reduce=reduce)
    with pytest.raises(ValueError, match=r"; src has 2 along axis 1: pass axis=1$"):
        strew.aggregate(ROWS, [0, 1], reduce)
    with pytest.raises(ValueError, match="shape") as caught:
        strew.scatter(ROWS, [0, 1, 0, 1], reduce=reduce)
    assert "axis=" not in str(caught.value)


@pytest.mark.parametrize("run", [strew.aggregate, strew.scatter], ids=["aggregate", "scatter"])
def test_numbers_of_groups_that_are_far_apart(run):
    with pytest.raises(
        MemoryError, match=r"; the largest .* strew.factorize numbers only"
    ) as large:
        run(VALUES, [0, 2**60, 0])
    assert str(large.value).startswith(("aggregate: ", "strew.scatter: "))
    with pytest.raises(MemoryError) as caught:
        run(VALUES, [0, 1, 0], size=2**60)
    assert "strew.factorize" not in str(caught.value)


@pytest.mark.parametrize("matrix", [np.ones((3, 2)), np.ma.masked_array(np.ones((3, 2)))])
def test_a_matrix_of_keys(matrix):
    with pytest.raises(ValueError, match=r"^aggregate: by: a column .* must have 1; tuple\(keys.T"):
        strew.aggregate(VALUES, by=matrix)
    assert strew.aggregate(VALUES, by=tuple(matrix.T)).values.tolist() == [6.0]
    with pytest.raises(ValueError, match=r"3 dimensions: it must have 1$"):
        strew.factorize(matrix[None])


@pytest.mark.parametrize("run", [strew.aggregate, strew.scatter], ids=["aggregate", "scatter"])
@pytest.mark.parametrize("reduce", [{"mean", "max"}, frozenset(["sum"]), {"mean": "fare"}])
def test_several_reductions_have_an_order(run, reduce):
    words = f"reduce is a {type(reduce).__name__}: it must be a name, a function, or a list of them"
    with pytest.raises(TypeError, match=words):
        run(VALUES, [0, 1, 0], reduce=reduce)


def test_the_name_of_a_column_is_no_column():
    with pytest.raises(ValueError, match=r"^aggregate: by: .* 0 dimensions: .* not its name$"):
        strew.aggregate(VALUES, by="carrier")
    with pytest.raises(ValueError, match=r"0 dimensions: it must have 1$"):
        strew.aggregate(VALUES, by=5)


def test_a_table_of_values():
    class Table:
        columns = ("x", "y")

    with pytest.raises(TypeError, match="^aggregate: src must be an array .*; pass one column of"):
        strew.aggregate(Table(), [0, 1])


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("bincount", ": use strew.numpy.bincount"),
        ("histogram", ": use strew.scatter(weights, np.digitize(values, edges) - 1, "),
        ("groupby", ": use strew.aggregate(values, by=keys, reduce='mean')"),
        ("value_counts", ": use strew.aggregate(by=keys, reduce='len')"),
        ("median", ": use strew.aggregate(values, groups, 'median')"),
        ("segment_max", ": use strew.jax.ops.segment_max or strew."),
        ("scatter_add", ": use strew.torch.scatter_add or strew.torch_scatter.scatter_add or "),
        ("zzz", ""),
        ("__wrapped__", ""),
    ],
)
def test_a_function_that_the_package_does_not_have(name, hint):
    begins = f"module 'strew' has no attribute '{name}'"
    with pytest.raises(AttributeError) as caught:
        getattr(strew, name)
    said = str(caught.value)
    assert said.startswith(begins + hint)
    assert hint or said == begins
    assert (caught.value.name, caught.value.obj) == (name, strew)
    assert not hasattr(strew, name)


def test_every_call_that_is_named_for_a_job_runs():
    numbers = np.array([2, 0, 2])
    known = {
        **dict.fromkeys(["rows", "columns", "tokens", "index", "labels"], numbers),
        **dict.fromkeys(["x_bin", "y_bin"], numbers),
        **dict(np=np, strew=strew, values=VALUES, weights=VALUES, ones=np.ones(3), table=ROWS),
        **dict(keys=["b", "a", "b"], edges=np.arange(4.0), classes=3),
    }
    for call in _hints._JOBS.values():
        assert eval(call, {}, known) is not None, call


def test_another_dtype_than_that_of_an_accumulator():
    said = 'it must be float64; make the accumulator with dtype="float32", or convert src$'
    with pytest.raises(TypeError, match=f"^Accumulator: src has dtype float32: {said}"):
        strew.Accumulator(2, "mean").update(VALUES.astype("float32"), [0, 1, 0])
