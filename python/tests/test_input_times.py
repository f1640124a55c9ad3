"""Dates and durations of NumPy in strew.aggregate, strew.scatter and strew.gather."""

from fractions import Fraction

import numpy as np
import pytest
import strew

NAT = np.iinfo(np.int64).min
# Nanoseconds of our time, of a distant one, and around zero.
RANGES = {
    "now": (1_700_000_000 * 10**9, 1_800_000_000 * 10**9),
    "extreme": (-(2**63) + 1, 2**63),
    "small": (-9, 9),
}
DTYPES = ["M8[ns]", "m8[ns]", "M8[D]", "m8[s]", ">M8[us]", "m8[25us]"]


def drawn(seed, dtype, span="now", count=40):
    """Integers, of which None is NaT, the same as dates or durations, and groups."""
    random = np.random.default_rng([seed, *dtype.encode()])
    numbers = random.integers(*RANGES[span], count)
    numbers[random.random(count) < 0.2] = NAT
    values = numbers.view(np.dtype(dtype).newbyteorder("=")).astype(dtype)
    listed = [None if one == NAT else one for one in numbers.tolist()]
    return listed, values, random.integers(0, 8, count), 10


def toward_zero(fraction):
    return int(fraction)


def median(group):
    group = sorted(group)
    return Fraction(group[(len(group) - 1) // 2] + group[len(group) // 2], 2)


EXACT = {
    "min": min,
    "max": max,
    "first": lambda group: group[0],
    "last": lambda group: group[-1],
    "mean": lambda group: toward_zero(Fraction(sum(group), len(group))),
    "median": lambda group: toward_zero(median(group)),
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("span", RANGES)
def test_exact(name, dtype, span):
    """Against integers of Python, which neither round nor overflow."""
    for seed in range(10):
        numbers, values, groups, size = drawn(seed, dtype, span)
        found = strew.aggregate(values, groups, name, size=size)
        assert found.dtype == values.dtype.newbyteorder("=")
        for group in range(size):
            of_group = [one for one, at in zip(numbers, groups) if at == group and one is not None]
            expected = EXACT[name](of_group) if of_group else NAT
            assert found.view(np.int64)[group] == expected


def test_sums_of_durations():
    values = np.array([5, "NaT", 7, 2], "m8[s]")
    assert (
        strew.aggregate(values, [0, 0, 0, 2]).tolist()
        == strew.scatter(values, [0, 0, 0, 2]).tolist()
    )
    found = strew.aggregate(values, [0, 0, 0, 2])
    assert found.dtype == "m8[s]" and found.astype(int).tolist() == [12, 0, 2]
    running = strew.aggregate(values, [0, 0, 0, 2], "cumsum")
    assert np.array_equal(running, np.array([5, "NaT", 12, 2], "m8[s]"), equal_nan=True)
    for name in ("sum", "cumsum", "prod", "var", "any", "logsumexp", "softmax"):
        with pytest.raises(TypeError, match=f"^aggregate: reduce = '{name}' is not defined for "):
            strew.aggregate(np.array(["2020"], "M8[D]"), [0], name)


def test_order_positions_and_counts():
    values = np.array(["2020-03", "NaT", "2020-01", "2020-03", "NaT"], "M8[M]")
    groups = [0, 0, 0, 0, 2]

    def made(name, **options):
        return strew.aggregate(values, groups, name, **options)

    assert made("len").tolist() == [4, 0, 1]
    assert made("count").tolist() == [3, 0, 0]
    assert made("len", skipna=True).tolist() == [3, 0, 0]
    assert made("nunique").tolist() == [2, 0, 0]
    assert made("anynan").tolist() == [True, False, True]
    assert made("allnan").tolist() == [False, True, True]
    assert made("argmin").tolist() == [2, -1, -1]
    assert made("argmax").tolist() == [0, -1, -1]
    assert made("cumcount").tolist() == [0, 1, 2, 3, 0]
    assert made("argsort").tolist() == [2, 0, 3, 1, 4]
    np.testing.assert_array_equal(made("rank"), [2.5, np.nan, 1, 2.5, np.nan])
    np.testing.assert_array_equal(made("sort"), values[[2, 0, 3, 1, 4]])
    np.testing.assert_array_equal(made("shift"), values[[1, 0, 1, 2, 1]])
    np.testing.assert_array_equal(made("cummin"), values[[0, 1, 2, 2, 1]])
    np.testing.assert_array_equal(made("mode"), values[[0, 1, 1]])
    np.testing.assert_array_equal(made("nth", n=1), values[[2, 1, 1]])
    np.testing.assert_array_equal(made("topk", k=4), values[[[0, 3, 2, 1], [1] * 4, [1] * 4]])
    assert made("argtopk", k=2).tolist() == [[0, 3], [-1, -1], [-1, -1]]


def test_quantiles_and_spreads():
    values = np.array([0, 10, 20, "NaT", -5], "m8[s]")
    found = strew.aggregate(values, [0, 0, 0, 0, 1], "quantile", q=[0, 0.3, 1], size=3)
    assert np.array_equal(
        found,
        np.array([[0, -5, "NaT"], [6, -5, "NaT"], [20, -5, "NaT"]], "m8[s]"),
        equal_nan=True,
    )
    for name in ("std", "sem"):
        for kind in ("m8[s]", "M8[s]"):
            found = strew.aggregate(values.astype(kind), [0, 0, 0, 0, 1], name, ddof=1)
            expected = strew.aggregate([0.0, 10, 20], [0, 0, 0], name, ddof=1)
            assert found.dtype == "m8[s]"
            assert found[0] == np.timedelta64(int(expected[0]), "s") and np.isnat(found[1])
    with pytest.raises(ValueError, match="^aggregate: q = "):
        strew.aggregate(values, [0] * 5, "quantile", q=2)


def test_fill_values_and_least_counts():
    values = np.array(["2020-03-01", "NaT", "2020-01-01"], "M8[D]")
    fill = np.datetime64("1999-01-01")
    for name in ("max", "median", "first"):
        found = strew.aggregate(values, [0, 1, 2], name, fill_value=fill, size=4)
        assert found.tolist() == np.array([values[0], fill, values[2], fill]).tolist()
    found = strew.aggregate(values, [0, 0, 0], ["mean", "max"], min_count=3)
    assert [np.isnat(one).tolist() for one in found] == [[True], [True]]
    with pytest.raises(TypeError, match=r"^aggregate: fill_value = .* it is no datetime64\[D\]"):
        strew.aggregate(values, [0, 1, 2], "max", fill_value=np.timedelta64(1, "D"))
    with pytest.raises(TypeError, match="^aggregate: weights cannot be combined with values of"):
        strew.aggregate(values, [0, 1, 2], "mean", weights=[1, 1, 1])
    with pytest.raises(TypeError, match="^aggregate: dtype cannot be combined with values of"):
        strew.aggregate(values, [0, 1, 2], "mean", dtype=float)


@pytest.mark.parametrize("name", ["min", "mean", "median", "last", "nanmax", "assign"])
def test_scatter_is_aggregate(name):
    _, values, groups, size = drawn(3, "M8[ns]")
    found = strew.scatter(values, groups, reduce=name, size=size)
    of_name = {"nanmax": "max", "assign": "last"}.get(name, name)
    expected = strew.aggregate(values, groups, of_name, size=size)
    if name == "assign":
        last = {group: values[at] for at, group in enumerate(groups.tolist())}
        expected = np.array([last.get(group, np.datetime64("NaT")) for group in range(size)])
    np.testing.assert_array_equal(found, expected)
    lines = np.stack([values, values[::-1]])
    index = np.stack([groups, groups[::-1]])
    of_lines = strew.scatter(lines, index, 1, reduce=name, size=size)
    np.testing.assert_array_equal(of_lines[0], found)
    with pytest.raises(TypeError, match="make a new array: out must be None"):
        strew.scatter(values, groups, out=np.zeros(size, "M8[ns]"))


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("name", ["median", "mean", "argmax", "sort", "shift", "count"])
def test_several_axes_are_each_line(dim, name):
    _, values, _, _ = drawn(5, "m8[s]", "small", 60)
    values = values.reshape(3, 4, 5)
    groups = np.arange(values.shape[dim]) % 2
    found = strew.aggregate(values, groups, name, dim=dim)
    for place in np.ndindex(*np.delete(values.shape, dim)):
        line = list(place)
        line.insert(dim, slice(None))
        expected = strew.aggregate(values[tuple(line)], groups, name)
        np.testing.assert_array_equal(found[tuple(line)], expected)


def test_gather_lists_and_functions():
    values = np.array(["2020-03", "NaT", "2020-01"], "M8[M]")
    np.testing.assert_array_equal(strew.gather(values, [2, 1, 0]), values[[2, 1, 0]])
    dropped = strew.gather(values, [2, 9], mode="drop")
    assert dropped[0] == values[2] and np.isnat(dropped[1])
    filled = strew.gather(values, [9], mode="drop", fill_value=np.datetime64("1999-01"))
    assert filled.tolist() == np.array(["1999-01"], "M8[M]").tolist()
    found = strew.aggregate(list(values), [0, 0, 1], "max")
    np.testing.assert_array_equal(found, values[[0, 2]])
    found = strew.aggregate(values, [0, 0, 2], np.ptp)
    assert found.dtype == "m8[M]" and np.isnat(found).tolist() == [True, True, False]
    found = strew.aggregate(values, [0, 0, 2], len)
    assert found.tolist() == [2, 0, 1]
    with pytest.raises(TypeError, match="^aggregate: src has dtype object: all must be dates, or"):
        strew.aggregate([values[0], "x", 3], [0, 0, 0], "max")
