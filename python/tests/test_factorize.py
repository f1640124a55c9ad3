"""strew.factorize of what NumPy holds, and of lists."""

import numpy as np
import pytest
import strew


def check(keys, missing=()):
    """The values ascend, each is there, and they are the keys at the places of the index."""
    index, values = strew.factorize(keys)
    assert index.dtype == np.int64
    assert np.flatnonzero(index < 0).tolist() == list(missing)
    assert sorted(set(values.tolist())) == values.tolist()
    assert set(index[index >= 0].tolist()) == set(range(len(values)))
    keys = np.asarray(keys)
    assert values[index[index >= 0]].tolist() == keys[index >= 0].tolist()
    return values


@pytest.mark.parametrize(
    "dtype", ["int8", "uint64", "float32", "bool", "U5", "S5", "M8[D]", "m8[s]"]
)
def test_dtypes(dtype):
    random = np.random.default_rng(1)
    keys = random.integers(0, 9, 100)
    made = keys.astype("m8[s]") if dtype == "m8[s]" else keys.astype(dtype)
    assert check(made).dtype == made.dtype


def test_missing_keys():
    assert check(np.array([2.0, np.nan, 1.0, np.nan]), [1, 3]).tolist() == [1.0, 2.0]
    assert check(np.array(["2020", "NaT", "2019"], "M8[D]"), [1]).dtype == "M8[D]"
    assert check(["b", None, "a", float("nan")], [1, 3]).tolist() == ["a", "b"]
    assert check([None, None], [0, 1]).tolist() == []


def test_masked_keys():
    index, values = strew.factorize(np.ma.array([5, 1, 5, 7], mask=[0, 0, 0, 1]))
    assert (index.tolist(), values.tolist()) == ([1, 0, 1, -1], [1, 5])
    index, values = strew.factorize(np.ma.array([2.0, np.nan, 1.0, 2.0], mask=[0, 0, 1, 0]))
    assert (index.tolist(), values.tolist()) == ([0, -1, -1, 0], [2.0])
    index, values = strew.factorize(np.ma.array(["b", "a"]))
    assert (index.tolist(), values.tolist()) == ([1, 0], ["a", "b"])


def test_missing_keys_of_other_dtypes():
    strings = np.dtypes.StringDType(na_object=None)
    assert check(np.array(["b", None, "a"], strings), [1]).tolist() == ["a", "b"]
    dtype = pytest.importorskip("ml_dtypes").bfloat16
    assert check(np.array([2, np.nan, 0.5], dtype), [1]).tolist() == [0.5, 2.0]


@pytest.mark.parametrize("dtype", [">i4", ">f8", ">U3", ">m8[s]"])
def test_swapped_bytes(dtype):
    keys = np.array([3, 1, 3]).astype(dtype)
    assert check(keys).dtype == keys.dtype.newbyteorder("=")


def test_lists_keep_different_keys_apart():
    for keys in [[2**64 - 1, -1], [2**53, 2**53 + 1, 1.5, float("inf")]]:
        index, values = strew.factorize(keys)
        assert values[index].tolist() == keys
        assert values.tolist() == sorted(keys)
    for keys in [["a\0", "a"], [b"a\0", b"a"]]:
        index, values = strew.factorize(keys)
        assert index.tolist() == [1, 0]
        assert values.tolist() == keys[::-1]


def test_long_doubles():
    check(np.array([1, 0, np.nextafter(np.longdouble(1), 2)], np.longdouble))


def test_lists_and_nothing():
    assert check([3, 1, 3]).tolist() == [1, 3]
    assert check([]).tolist() == []
    assert check(np.zeros(0, "U3")).tolist() == []


def test_several_columns():
    random = np.random.default_rng(2)
    years = random.integers(2000, 2004, 300)
    names = np.array(["AA", "DL", "UA", "WN"])[random.integers(0, 4, 300)]
    hours = random.integers(0, 24, 300).astype(float)
    hours[::50] = np.nan
    index, values = strew.factorize((years, names, hours))
    there = index >= 0
    assert np.flatnonzero(~there).tolist() == list(range(0, 300, 50))
    for column, found in zip((years, names, hours), values, strict=True):
        assert (found[index[there]] == column[there]).all()
    rows = list(zip(*(one.tolist() for one in values), strict=True))
    assert rows == sorted(set(rows)) and len(rows) == index.max() + 1


def test_names_of_columns():
    index, values = strew.factorize({"year": [2001, 2000], "name": ["b", "a"]})
    assert index.tolist() == [1, 0]
    assert {name: found.tolist() for name, found in values.items()} == {
        "year": [2000, 2001],
        "name": ["a", "b"],
    }


def test_the_index_is_one_for_aggregate():
    index, values = strew.factorize(["b", None, "a", "b"])
    sums = strew.aggregate([1.0, 2.0, 4.0, 8.0], index, "sum", size=len(values), ignore_index=-1)
    assert dict(zip(values.tolist(), sums.tolist(), strict=True)) == {"a": 4.0, "b": 9.0}


@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        (([1, 2], [1]), ValueError, r"the columns have the lengths \[2, 1\]"),
        ((), ValueError, "there are no keys"),
        (np.zeros((2, 2)), ValueError, "has 2 dimensions"),
        (5, ValueError, "has 0 dimensions"),
        (["a", 1], TypeError, "the keys cannot be ordered"),
        (["a", b"a"], TypeError, "the keys cannot be ordered"),
        (np.ma.zeros((2, 2)), ValueError, "has 2 dimensions"),
    ],
)
def test_errors(keys, error, message):
    with pytest.raises(error, match=message):
        strew.factorize(keys)
