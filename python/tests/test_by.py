"""strew.aggregate with ``by=``: keys in place of an index."""

import pickle

import numpy as np
import pytest
import strew

VALUES = np.array([5.0, 2.0, 7.0, 1.0, np.nan])
KEYS = {
    "strings": np.array(["b", "a", "b", "c", "a"]),
    "list": ["b", "a", "b", "c", "a"],
    "bytes": np.array([b"b", b"a", b"b", b"c", b"a"]),
    "integers": np.array([7, -3, 7, 2**62, -3]),
    "floats": np.array([0.5, -1.0, 0.5, np.inf, -1.0]),
    "bools": np.array([True, False, True, True, False]),
    "dates": np.array(["2020", "2019", "2020", "2021", "2019"], "M8[D]"),
    "durations": np.array([3, 1, 3, 9, 1], "m8[s]"),
    "objects": np.array(["b", "a", "b", "c", "a"], object),
}


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("reduce", ["sum", "mean", "len", "median", np.ptp])
def test_keys(kind, reduce):
    found = strew.aggregate(VALUES, by=KEYS[kind], reduce=reduce)
    assert type(found) is strew.Grouped
    keys, values = found
    assert keys.tolist() == sorted(set(np.asarray(KEYS[kind]).tolist()))
    for key, value in zip(keys, values, strict=True):
        group = VALUES[np.asarray(KEYS[kind]) == key]
        expected = strew.aggregate(group, np.zeros(len(group), int), reduce)
        np.testing.assert_array_equal(value, expected[0])


def test_several_columns():
    columns = (["x", "y", "x", "x", "y"], [1, 1, 2, 1, 1])
    (words, numbers), (total, count) = strew.aggregate(VALUES, by=columns, reduce=["sum", "len"])
    assert (words.tolist(), numbers.tolist()) == (["x", "x", "y"], [1, 2, 1])
    np.testing.assert_array_equal(total, [6.0, 7.0, np.nan])
    assert count.tolist() == [2, 1, 2]
    keys, _ = strew.aggregate(VALUES, by={"word": columns[0], "number": columns[1]})
    assert list(keys) == ["word", "number"]


def test_missing_keys_belong_to_no_group():
    keys, total = strew.aggregate([1.0, 2.0, 4.0, 8.0], by=["b", None, "a", float("nan")])
    assert (keys.tolist(), total.tolist()) == (["a", "b"], [4.0, 1.0])
    keys, total = strew.aggregate([1.0, 2.0], by=np.array([np.nan, 3.0]))
    assert (keys.tolist(), total.tolist()) == ([3.0], [2.0])
    _, sums = strew.aggregate([1.0, 2.0, 4.0], by=["b", None, "b"], reduce="cumsum", fill_value=-1)
    assert sums.tolist() == [1.0, -1.0, 5.0]


def test_shapes_and_options():
    src = np.arange(12.0).reshape(3, 4)
    keys, found = strew.aggregate(src, by=["b", "a", "b", "b"], dim=1, reduce="topk", k=2)
    assert keys.tolist() == ["a", "b"]
    np.testing.assert_array_equal(found[1], [[5, np.nan], [7, 6]])
    keys, found = strew.aggregate(
        src, by=np.array([["b", "a", "b", "b"]]).repeat(3, 0).ravel(), dim=None
    )
    assert found.tolist() == [15.0, 51.0]
    _, mean = strew.aggregate(src[0], by=["b", "a", "b", "b"], reduce="mean", weights=[1, 1, 1, 2])
    assert mean.tolist() == [1.0, 2.0]


def test_no_keys():
    keys, total = strew.aggregate(np.zeros((0, 2)), by=np.array([], "U1"))
    assert (keys.shape, total.shape) == ((0,), (0, 2))
    keys, total = strew.aggregate(np.ones(2), by=[None, None])
    assert (len(keys), total.shape) == (0, (0,))


def test_a_result_can_be_pickled():
    found = strew.aggregate([1, 2], by=["a", "b"])
    keys, values = pickle.loads(pickle.dumps(found))
    assert (keys.tolist(), values.tolist()) == (["a", "b"], [1, 2])
    assert found._fields == ("keys", "values")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"index": [0, 1], "by": ["a", "b"]}, ValueError, "index cannot be combined"),
        ({"by": ["a", "b"], "size": 3}, ValueError, "size cannot be combined"),
        ({"by": ["a", "b"], "dim_size": 3}, ValueError, "size cannot be combined"),
        ({"by": ["a", "b"], "mode": "drop"}, ValueError, "mode cannot be combined"),
        (
            {"by": ["a", "b"], "ignore_index": -1, "mode": "wrap"},
            ValueError,
            "mode and ignore_index cannot",
        ),
        ({}, TypeError, "pass index, or by"),
        ({"by": ["a", 1]}, TypeError, "by: the keys cannot be ordered"),
        ({"by": (["a"], [1, 2])}, ValueError, "by: the columns have the lengths"),
        ({"by": ()}, ValueError, "by: there are no keys"),
        ({"by": np.zeros((2, 2))}, ValueError, "by: a column of keys has 2 dimensions"),
        ({"by": ["a"]}, ValueError, "src has shape"),
    ],
)
def test_errors(arguments, error, words):
    with pytest.raises(error, match=f"^aggregate: .*{words}"):
        strew.aggregate([1.0, 2.0], **arguments)
