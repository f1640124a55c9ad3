"""numpy_groupies.aggregate of dates and durations, against a loop."""

import datetime

import numpy as np
import pytest
import strew

aggregate = strew.numpy_groupies.aggregate


def naive(groups, values, func, size, fill):
    """One result for each group of 1-d values."""
    made = np.full(size, fill, values.dtype)
    for group in range(size):
        of_group = values[groups == group]
        if func.startswith("nan"):
            of_group = of_group[~np.isnat(of_group)]
        name = func.removeprefix("nan")
        if len(of_group):
            pick = {"first": lambda v: v[0], "last": lambda v: v[-1]}
            made[group] = pick.get(name, getattr(np, name, None))(of_group)
    return made


def times(dtype, shape, share, random):
    """Times that float64 does not tell apart, some of them missing."""
    values = (2**56 + random.integers(0, 9, shape)).view(dtype.lstrip("<>")).astype(dtype)
    values[random.random(shape) < share] = "NaT"
    return values


@pytest.mark.parametrize("dtype", ["M8[ns]", "m8[s]", "<M8[D]", ">M8[us]", ">m8[ms]"])
@pytest.mark.parametrize("share", [0, 0.2, 1])
@pytest.mark.parametrize(
    ("shape", "axis", "of_lines"), [((60,), None, False), ((3, 40), 1, False), ((40, 3), 0, True)]
)
def test_results(dtype, share, shape, axis, of_lines):
    random = np.random.default_rng(len(shape))
    values, along = times(dtype, shape, share, random), axis or 0
    groups = random.integers(0, 12, shape if of_lines else shape[along])
    functions = ["min", "max", "first", "last"] + ["sum"] * ("m8" in dtype)
    lines = np.moveaxis(values, along, -1)
    numbers = np.broadcast_to(np.moveaxis(groups, along, -1) if of_lines else groups, lines.shape)
    for func in [*functions, *(f"nan{name}" for name in functions)]:
        for fill in [np.array(7, values.dtype)[()], np.array("NaT", values.dtype)[()]]:
            got = aggregate(groups, values, func, size=14, fill_value=fill, axis=axis)
            want = np.empty((*lines.shape[:-1], 14), values.dtype)
            for place in np.ndindex(*lines.shape[:-1]):
                want[place] = naive(numbers[place], lines[place], func, 14, fill)
            assert got.dtype == values.dtype.newbyteorder("=")
            np.testing.assert_array_equal(got, np.moveaxis(want, -1, along))


def test_counts_and_flags():
    groups = np.array([0, 0, 2, 2, 3])
    values = np.array(["2020-01-01", "NaT", "NaT", "NaT", "2021-05-05"], "M8[D]")
    for func, want in [
        ("len", [2, 0, 2, 1]),
        ("nanlen", [1, 0, 0, 1]),
        ("anynan", [True, False, True, False]),
        ("allnan", [False, False, True, False]),
    ]:
        assert aggregate(groups, values, func).tolist() == want


def test_several_axes_of_groups():
    values = np.array([5, 3, "NaT", 9], "m8[s]")
    groups = np.array([[0, 0, 1, 0], [1, 1, 0, 1]])
    got = aggregate(groups, values, "nanmin", size=(2, 2), fill_value=np.timedelta64("NaT"))
    assert got.astype("i8").tolist() == [[np.iinfo(np.int64).min, 3], [np.iinfo(np.int64).min] * 2]


def test_a_given_dtype():
    values = np.array([5, 3], "m8[s]")
    got = aggregate(np.array([0, 0]), values, "max", dtype="m8[ms]")
    assert (got.dtype, got.tolist()) == (np.dtype("m8[ms]"), [np.timedelta64(5, "s")])


def test_lists_and_one_duration():
    second = np.timedelta64(1, "s")
    for values in [[second, second, 4 * second], (second, second, 4 * second)]:
        assert aggregate([0, 0, 2], values, "sum").astype(int).tolist() == [2, 0, 4]
    groups = [[0, 0, 1], [0, 0, 1]]
    for one in [second, np.array(second)]:
        assert aggregate([0, 0, 2], one, "sum").astype(int).tolist() == [2, 0, 1]
        assert aggregate(groups, one, "sum").astype(int).tolist() == [[2, 0], [0, 1]]
        assert aggregate([0, 0, 2], one, "len").tolist() == [2, 0, 1]
    with pytest.raises(ValueError, match="one number is taken only by sum, prod and len"):
        aggregate([0, 0, 2], second, "max")


@pytest.mark.parametrize(
    ("fill_value", "want"),
    [
        (np.nan, "NaT"),
        (np.timedelta64("NaT"), "NaT"),
        (86400, "1970-01-02"),
        (86400.0, "1970-01-02"),
        (datetime.date(1970, 1, 2), "1970-01-02"),
        (np.datetime64("1970-01-02"), "1970-01-02"),
        (np.datetime64("1970-01-02T00:00:00.000"), "1970-01-02"),
    ],
)
def test_fill_values(fill_value, want):
    made = aggregate([1], np.array(["2020-01-01"], "M8[s]"), "max", fill_value=fill_value)
    np.testing.assert_array_equal(made[0], np.datetime64(want))


@pytest.mark.parametrize(
    "fill_value",
    [1.5, np.inf, np.datetime64("2020-01-01T00:00:00.5"), np.timedelta64(3, "s"), "tomorrow"],
)
def test_fill_values_that_do_not_fit(fill_value):
    with pytest.raises((TypeError, ValueError), match=r"fill_value = .*: it is no datetime64\[s\]"):
        aggregate([1], np.array(["2020-01-01"], "M8[s]"), "max", fill_value=fill_value)


@pytest.mark.parametrize(
    ("func", "options", "message"),
    [
        ("mean", {}, "mean is not defined for datetime64"),
        ("sum", {}, "sum is not defined for datetime64"),
        ("max", {"dtype": "m8[s]"}, "max of datetime64"),
        ("max", {"fill_value": "tomorrow"}, "fill_value = 'tomorrow'"),
    ],
)
def test_errors(func, options, message):
    with pytest.raises(TypeError, match=message):
        aggregate(np.array([0]), np.array(["2020-01-01"], "M8[s]"), func, **options)
