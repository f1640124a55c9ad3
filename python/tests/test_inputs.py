"""Masked arrays, dates and durations of NumPy in strew.aggregate, strew.scatter and strew.gather."""

import numpy as np
import pytest
import strew
from inputs_reference import NAMES, expected

DTYPES = "bool int8 int64 uint8 uint64 float16 float32 float64 complex64".split()
ORDERED = {"min", "max", "argmin", "argmax", "cummin", "cummax"}


def drawn(seed, dtype, shape=30):
    """Values of which some are missing, and the group of each along the first axis."""
    random = np.random.default_rng([seed, *dtype.encode()])
    values = random.integers(0, 9, shape).astype(dtype)
    if values.dtype.kind in "fc":
        values[random.random(values.shape) < 0.1] = np.nan
    missing = random.random(values.shape) < 0.3
    return values, missing, random.integers(0, 6, len(values)), 8


def same(found, values, missing):
    """Whether a masked array holds these values where none is missing."""
    assert type(found) is np.ma.MaskedArray
    assert (found.dtype, found.shape) == (values.dtype, values.shape)
    missing = np.zeros(values.shape, bool) if missing is None else missing
    np.testing.assert_array_equal(np.ma.getmaskarray(found), missing)
    np.testing.assert_array_equal(found.data[~missing], values[~missing])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_masked(name, dtype):
    for seed in range(10):
        values, missing, groups, size = drawn(seed, dtype)
        try:
            made, lost = expected(name, values, missing, groups, size)
        except TypeError:
            with pytest.raises(TypeError, match=f"^aggregate: .*{name}"):
                strew.aggregate(np.ma.array(values, mask=missing), groups, name, size=size)
            return
        # What stands under the mask does not matter.
        values = np.where(missing, np.array(1 if dtype == "bool" else 77, dtype), values)
        masked = np.ma.array(values, mask=missing)
        before = masked.copy()
        same(strew.aggregate(masked, groups, name, size=size), made, lost)
        np.testing.assert_array_equal(masked.mask, before.mask)


@pytest.mark.parametrize("name", NAMES)
def test_a_mask_of_nothing(name):
    values, _, groups, size = drawn(1, "int64")
    none = np.zeros(len(values), bool)
    made, lost = expected(name, values, none, groups, size)
    for mask in (np.ma.nomask, none):
        same(strew.aggregate(np.ma.array(values, mask=mask), groups, name, size=size), made, lost)


OPTIONS = [
    ("shift", {"periods": -2}),
    ("shift", {"periods": 3}),
    ("nth", {"n": 1}),
    ("topk", {"k": 3}),
    ("topk", {"k": 2, "largest": False}),
    ("argtopk", {"k": 3}),
    ("rank", {"method": "dense"}),
    ("quantile", {"q": 0.25}),
    ("quantile", {"q": [0.25, 1]}),
]


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_options(name, options):
    for seed in range(10):
        values, missing, groups, size = drawn(seed, "int64")
        made, lost = expected(name, values, missing, groups, size, **options)
        masked = np.ma.array(values, mask=missing)
        same(strew.aggregate(masked, groups, name, size=size, **options), made, lost)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dim", [0, 1, 2, -2])
def test_each_line_has_a_mask_of_its_own(name, dim):
    for seed in range(5):
        values, missing, _, _ = drawn(seed, "float64", (4, 5, 6))
        groups = np.random.default_rng(seed).integers(0, 3, values.shape[dim])
        masked = np.ma.array(values, mask=missing)
        found = strew.aggregate(masked, groups, name, dim=dim, size=3)
        for place in np.ndindex(*np.delete(values.shape, dim)):
            line = list(place)
            line.insert(dim % 3, slice(None))
            lines = tuple(line)
            made, lost = expected(name, values[lines], missing[lines], groups, 3)
            if name in ("topk", "argtopk"):
                made, lost = made.squeeze(1), None if lost is None else lost.squeeze(1)
                lines = (*lines[: dim % 3 + 1], 0, *lines[dim % 3 + 1 :])
            same(found[lines], made, lost)


def test_several_at_once_and_keys():
    values = np.ma.array([5, 1, 7, 2], mask=[0, 1, 0, 0])
    total, most = strew.aggregate(values, ([0, 0, 1, 1], [0, 1, 0, 0]), ["sum", "max"])
    assert total.tolist() == [[5, 0], [9, 0]]
    assert most.tolist() == [[5, None], [7, None]]
    keys, most = strew.aggregate(values, by=list("abab"), reduce="max")
    assert (keys.tolist(), most.tolist()) == (["a", "b"], [7, 2])
    keys, most = strew.aggregate(values, by=np.ma.array([3, 1, 3, 1], mask=[1, 0, 0, 0]))
    assert (keys.tolist(), most.tolist()) == ([1, 3], [2, 7])


def test_a_plan_weights_and_a_dtype():
    values = np.ma.array([5, 1, 7, 2], mask=[0, 1, 0, 0])
    plan = strew.Plan([0, 0, 1, 1], 3)
    assert strew.aggregate(values, plan, "mean").tolist() == [5, 4.5, None]
    weighted = strew.aggregate(values, plan, "mean", weights=[9, 9, 1, 4])
    assert weighted.tolist() == [5, 3, None]
    weighted = strew.aggregate(values, plan, "mean", weights=[0, 9, 1, 4])
    assert weighted.tolist() == [None, 3, None]
    rows = np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    weighted = strew.aggregate(rows, [0, 0], weights=[[1, 2], [3, 4]])
    assert weighted.tolist() == [[10, 16]]
    made = strew.aggregate(values, plan, dtype=np.float32)
    assert (made.dtype, made.tolist()) == (np.float32, [5, 9, 0])
    exact = np.ma.array([1e16, 1, -1e16, 9], mask=[0, 0, 0, 1])
    assert strew.aggregate(exact, [0, 0, 0, 0], exact=True).tolist() == [1]


def test_fill_values_and_counts():
    values = np.ma.array([5, 1, 7, 2], mask=[0, 1, 0, 0])
    found = strew.aggregate(values, [0, 1, 2, 2], "max", fill_value=-1, size=4)
    assert found.tolist() == [5, -1, 7, -1] and not np.ma.getmaskarray(found).any()
    found = strew.aggregate(values, [0, 1, 2, 2], "cumsum", fill_value=-1)
    assert found.tolist() == [5, -1, 7, 9]
    found = strew.aggregate(values, [0, 1, 2, 2], "mean", min_count=2)
    assert found.tolist() == [None, None, 4.5]
    with_nan = np.ma.array([np.nan, 1, 2, 3], mask=[0, 1, 0, 0])
    assert strew.aggregate(with_nan, [0, 0, 0, 1], "len", skipna=True).tolist() == [1, 1]
    np.testing.assert_array_equal(
        strew.aggregate(with_nan, [0, 0, 0, 1], "sum").data, [np.nan, 3.0]
    )
    assert strew.aggregate(with_nan, [0, 0, 0, 1], "sum", skipna=True).tolist() == [2, 3]
    no_mask = np.ma.array([np.nan, 1.0])
    assert strew.aggregate(no_mask, [0, 1], "max", skipna=True).tolist() == [None, 1]


def test_a_function_sees_the_mask():
    values = np.ma.array([[5, 1], [7, 2], [3, 4]], mask=[[0, 1], [0, 0], [1, 1]])
    found = strew.aggregate(values, [0, 0, 1], lambda group: group.max(axis=0), size=3)
    assert found.tolist()[0] == [7, 2]
    found = strew.aggregate(values[:, 0], [0, 0, 1], np.ma.max, size=3)
    assert found.tolist() == [7, None, None]
    found = strew.aggregate(values[:, 0], [0, 1, 1], [np.ma.count, "max"])
    assert [one.tolist() for one in found] == [[1, 1], [5, 7]]
    found = strew.aggregate(values[:, 0], [0, 1, 3], len, fill_value=-1)
    assert found.tolist() == [1, 1, -1, -1]
    for options, words in [({"skipna": True}, "skipna"), ({"weights": [1] * 3}, "weights")]:
        with pytest.raises(ValueError, match=f"^aggregate: .*{words}"):
            strew.aggregate(values, [0, 0, 1], len, **options)


REDUCES = ["sum", "mul", "mean", "amin", "max", "assign", "nansum", "median", "std", "cumsum"]


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("dtype", ["int16", "uint64", "float32", "float64"])
def test_scatter(reduce, dtype):
    """As without the values that are missing: the same bits."""
    for seed in range(10):
        values, missing, groups, size = drawn(seed, dtype)
        masked = np.ma.array(values, mask=missing)
        found = strew.scatter(masked, groups, reduce=reduce, size=size)
        few = strew.scatter(values[~missing], groups[~missing], reduce=reduce, size=size)
        assert found.dtype == few.dtype
        lost = np.ma.getmaskarray(found)
        if reduce == "assign":
            last = [np.flatnonzero(groups == group)[-1:] for group in range(size)]
            assert lost.tolist() == [not len(at) or bool(missing[at[0]]) for at in last]
            continue
        if reduce == "cumsum":
            assert lost.tolist() == missing.tolist()
            assert found.data[~lost].tobytes() == few.tobytes()
            continue
        counts = np.bincount(groups[~missing], minlength=size)
        always = reduce in ("sum", "mul", "nansum")
        assert lost.tolist() == [not always and not count for count in counts]
        assert found.data[~lost].tobytes() == few[~lost].tobytes()


def test_scatter_by_lines_and_into_an_array():
    values = np.ma.array([[5, 1, 7], [2, 8, 4]], mask=[[0, 1, 0], [0, 0, 1]])
    index = np.array([[0, 0, 1], [1, 0, 1]])
    assert strew.scatter(values, index, 1, reduce="max").tolist() == [[5, 7], [8, 2]]
    assert strew.scatter(values, index, 0, reduce="max").tolist() == [[5, 8, None], [2, None, 7]]
    out = np.array([[10, 10], [10, 10]])
    assert strew.scatter(values, index, 1, out=out) is out
    assert out.tolist() == [[15, 17], [18, 12]]
    out = np.array([[10, 10, 10]])
    assert strew.scatter(values, [0, 0], 0, out=out, reduce="mul", include_self=False) is out
    assert out.tolist() == [[10, 8, 7]]
    with pytest.raises(IndexError, match=r"^scatter: index\[1\] = 1: index 1 is out of bounds"):
        strew.scatter(values, [0, 1], 0, out=out)
    with pytest.raises(ValueError, match=r"^scatter: src\[0, 1\] is missing, but out has no"):
        strew.scatter(values, [0, 0], 0, out=out, reduce="assign")
    assert out.tolist() == [[10, 8, 7]]
    with pytest.raises(TypeError, match="without a mask"):
        strew.scatter(values, [0, 0], 0, out=np.ma.array(out))


def test_gather():
    values = np.ma.array([[5, 1, 7], [2, 8, 4]], mask=[[0, 1, 0], [0, 0, 1]])
    assert strew.gather(values, [1, 0], 1).tolist() == [[None, 5], [8, 2]]
    assert strew.gather(values, [0, 9], 0, mode="drop").tolist() == [[5, None, 7], [None] * 3]
    found = strew.gather(values, [0, 9], 0, mode="drop", fill_value=-1)
    assert found.tolist() == [[5, None, 7], [-1] * 3]
    assert strew.gather(values, [[1, 5]], None).tolist() == [[None, None]]
    found = strew.gather(values, None, 0, plan=strew.Plan([1], 2))
    assert found.tolist() == [[2, 8, None]]


@pytest.mark.parametrize("function", [strew.aggregate, strew.scatter, strew.gather])
def test_a_masked_index(function):
    index = np.ma.array([1, 0, 1], mask=[0, 1, 0])
    words = rf'^{function.__name__}: index\[1\] is missing: .*; mode="drop" leaves out'
    for mode in ("error", "wrap", "clip"):
        with pytest.raises(IndexError, match=words):
            function(np.array([5, 1, 7]), index, mode=mode)
    found = function(np.array([5, 1, 7]), index, mode="drop")
    assert type(found) is np.ndarray
    assert found.tolist() == ([1, 0, 1] if function is strew.gather else [0, 12])
    unmasked = np.ma.array([1, 0, 1])
    assert function(np.array([5, 1, 7]), unmasked).tolist() in ([1, 5, 1], [1, 12])
    big = np.ma.array([2**64 - 1, 0, 1], dtype=np.uint64, mask=[0, 1, 0])
    size = {} if function is strew.gather else {"size": 2}
    assert function(np.array([5, 1, 7]), big, mode="drop", **size).tolist() in ([0, 0, 1], [0, 7])
    with pytest.raises(TypeError, match="it must be an integer type"):
        function(np.array([5, 1, 7]), np.ma.array([0.5, 1, 2]))


def test_masked_keys_of_an_index_and_weights():
    keys = (np.ma.array([0, 1], mask=[0, 1]), [0, 0])
    with pytest.raises(IndexError, match=r"^aggregate: index\[0\]\[1\] is missing"):
        strew.aggregate([1.0, 2.0], keys)
    assert strew.aggregate([1.0, 2.0], keys, mode="drop").tolist() == [[1.0]]
    with pytest.raises(ValueError, match=r"^aggregate: weights\[1\] is missing: it must be a num"):
        strew.aggregate([1.0, 2.0], [0, 0], weights=np.ma.array([1, 2], mask=[0, 1]))
    weighted = strew.aggregate([1.0, 2.0], [0, 0], weights=np.ma.array([1, 2]))
    assert type(weighted) is np.ndarray and weighted.tolist() == [5.0]


def test_memory_is_shared():
    from strew._arrays import kinds as _kinds

    for array in (
        np.ma.array(np.arange(6.0).reshape(2, 3).T, mask=np.eye(3, 2)),
        np.arange(3).astype("M8[s]"),
        np.arange(9).astype("m8[ms]")[::2],
    ):
        held = _kinds.find(array)("aggregate", "src", array)
        assert np.shares_memory(held.values, np.asarray(array))


def test_empty_and_one():
    empty = np.ma.array(np.zeros((0, 2), int))
    assert strew.aggregate(empty, np.zeros(0, int), "max", size=1).tolist() == [[None, None]]
    empty = np.zeros((0, 2), "M8[s]")
    assert np.isnat(strew.aggregate(empty, np.zeros(0, int), "median", size=1)).all()
    with pytest.raises(IndexError, match="^aggregate: dim = 0: src has 0 dimensions"):
        strew.aggregate(np.ma.array(3, mask=True), [0])
    assert strew.aggregate(np.ma.array(3, mask=True), 0, "max", dim=None).tolist() == [None]
    assert strew.aggregate(np.ma.array([[3, 4]]), [[0, 1]], dim=None).tolist() == [3, 4]
    masked = np.ma.array([[3, 4]], mask=[[1, 0]])
    assert strew.aggregate(masked, [[0, 1]], ["max", "cumsum"], dim=None)[1].tolist() == [[None, 4]]


@pytest.mark.parametrize("function", [strew.aggregate, strew.scatter])
def test_errors(function):
    masked = np.ma.array([1, 2], mask=[0, 1])
    with pytest.raises(IndexError, match=f"^{function.__name__}: index.1. = 5: index 5 is out"):
        function(masked, [0, 5], size=2)
    with pytest.raises(ValueError, match=f"^{function.__name__}: src has shape .2.: its size"):
        function(masked, [0, 1, 1])
    with pytest.raises(TypeError, match=f"^{function.__name__}: index"):
        function(masked, [0.5, 1])
    with pytest.raises(ValueError, match="medain"):
        function(masked, [0, 1], reduce="medain")
    with pytest.raises((TypeError, ValueError)):
        function(masked, [0, 1], reduce=3)
    with pytest.raises(ValueError, match="fill_value = 1.5"):
        function(masked, [0, 1], reduce="max", fill_value=1.5)
