"""What people reported of other libraries, tried on strew: the kinds that NumPy alone shows."""

import fractions
import math

import numpy as np
import pytest
import strew

FAR = np.array(["1700-01-01", "2250-01-01"], "M8[ns]")


def test_deviations_of_dates_whose_group_spans_more_than_63_bits():
    groups = [0, 0]
    std = strew.aggregate(FAR, groups, "std")
    assert std.dtype == "m8[ns]" and std.view(np.int64).tolist() == [8678145600000000000]
    with pytest.raises(OverflowError, match="the std of a group .* is beyond what a duration"):
        strew.aggregate(np.array([-(2**63) + 1, 2**63 - 1], "M8[ns]"), groups, "std", ddof=1)
    durations = FAR - np.datetime64("1975-01-01", "ns")
    assert strew.aggregate(durations, groups, "std").view(np.int64).tolist() == [
        8678145600000000000
    ]


@pytest.mark.parametrize("q", [0.0, 0.1, 0.25, 0.5, 0.6, 0.9, 1.0])
def test_quantiles_of_dates_whose_group_spans_more_than_63_bits(q):
    low, high = FAR.view(np.int64).tolist()
    found = strew.aggregate(FAR, [0, 0], "quantile", q=q).view(np.int64).tolist()[0]
    # A float holds the distance to 12 bits.
    assert abs(found - (low + fractions.Fraction(q) * (high - low))) <= 4096
    if q == 0.6:
        assert strew.aggregate(FAR, [0, 0], "quantile", q=q)[0] == np.datetime64("2029-12-31T19:12")


@pytest.mark.parametrize("unit", ["7D", "2h", "25us", "3M"])
def test_units_with_a_multiple(unit):
    dates = np.array([0, 1, 4], f"M8[{unit}]")
    for reduce, expected in [("std", 1), ("sem", 0)]:
        found = strew.aggregate(dates, [0, 0, 0], reduce)
        assert found.dtype == f"m8[{unit}]" and found.view(np.int64).tolist() == [expected]
    assert strew.aggregate(dates, [0, 0, 0], "max").dtype == dates.dtype


@pytest.mark.parametrize("reduce", ["sum", "cumsum"])
def test_sums_of_durations_that_overflow(reduce):
    for values in [[2**62, 2**62], [-(2**62), -(2**62)], [2**63 - 1, 1]]:
        durations = np.array(values, "m8[ns]")
        with pytest.raises(OverflowError, match=f"the {reduce} of a group"):
            strew.aggregate(durations, [1, 1], reduce)
    for values in [[2**62, 2**62 - 1], [-(2**62), 1 - 2**62], [2**62, 2**62 - 1, -5]]:
        durations = np.array(values, "m8[ns]")
        found = strew.aggregate(durations, np.zeros(len(values), int), reduce)
        assert found[-1].view(np.int64) == sum(values)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_quantiles_beside_an_infinity(dtype):
    inf = math.inf
    for values, q, expected in [
        ([inf, 5, 4], 0.5, 5),
        ([-inf, 5, 4], 0.5, 4),
        ([inf, 5, 4], 1.0, inf),
        ([-inf, 5], 0.25, -inf),
        ([inf, 5], 0.25, inf),
        ([inf, inf, 1], 0.5, inf),
    ]:
        values = np.array(values, dtype)
        groups = np.zeros(len(values), int)
        assert strew.aggregate(values, groups, "quantile", q=q).tolist() == [expected]
        assert strew.aggregate(values, groups, "quantile", q=[[q]]).tolist() == [[expected]]
    assert strew.aggregate(np.array([inf, 5, 4], dtype), [0, 0, 0], "median").tolist() == [5]


def test_variances_that_overflow_are_infinite():
    for values in [[-1.7e308, 1.7e308], [1.7e308, 1.7e308, -1.7e308]]:
        groups = np.zeros(len(values), int)
        for reduce in ["var", "std", "sem"]:
            assert strew.aggregate(values, groups, reduce).tolist() == [math.inf]
        weights = np.ones(len(values))
        assert strew.aggregate(values, groups, "var", weights=weights).tolist() == [math.inf]
        made = strew.numpy_groupies.aggregate(groups, np.array(values), "var")
        assert made.tolist() == [math.inf]
    assert strew.aggregate([-1.7e308, 1.7e308], [0, 0], "std", exact=True).tolist() == [1.7e308]
    assert np.isnan(strew.aggregate([1.0, math.inf], [0, 0], "var")).all()


METHODS = ["linear", "lower", "higher", "nearest", "midpoint"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_methods_of_quantiles_are_those_of_numpy(method, dtype):
    random = np.random.default_rng(3)
    values = (random.normal(size=300) * 100).astype(dtype)
    groups = random.integers(0, 40, 300)
    fractions_of_each = random.choice([0, 0.1, 0.25, 1 / 3, 0.5, 0.75, 1], (3, 40))
    each = strew.aggregate(values, groups, "quantile", q=fractions_of_each, method=method)
    for q in (0, 0.1, 0.5, 0.7, 1):
        found = strew.aggregate(values, groups, "quantile", q=q, method=method)
        all_same = strew.aggregate(
            values, groups, "quantile", q=np.full((1, 40), q), method=method
        )[0]
        assert found.tobytes() == all_same.tobytes() and found.dtype == all_same.dtype
        for group in range(40):
            expected = np.quantile(values[groups == group].astype(float), q, method=method)
            assert np.isclose(found[group], expected, rtol=1e-6)
    for row in range(3):
        for group in range(40):
            one = strew.aggregate(
                values, groups, "quantile", q=fractions_of_each[row, group], method=method
            )
            assert each[row, group] == one[group]


def test_a_q_for_each_group():
    values, groups = np.array([1.0, 2, 3, np.nan, 5, 7]), [0, 0, 0, 1, 1, 3]
    q = np.array([0.5, 0.5, 0.5, 0.25])
    np.testing.assert_array_equal(
        strew.aggregate(values, groups, "quantile", q=q[None]), [[2, np.nan, np.nan, 7]]
    )
    np.testing.assert_array_equal(
        strew.aggregate(values, groups, "quantile", q=q[None], skipna=True, fill_value=-1),
        [[2, 5, -1, 7]],
    )
    mean, of_each = strew.aggregate(values, groups, ["mean", "quantile"], q=q[None])
    assert mean.shape == (4,) and of_each.shape == (1, 4)
    rows = np.stack([values, -values])
    found = strew.aggregate(rows, groups, "quantile", dim=1, q=q[None])
    assert found.shape == (1, 2, 4) and found[0, 1, 0] == -2
    with pytest.raises(ValueError, match="it must have 4 columns"):
        strew.aggregate(values, groups, "quantile", q=[[0.5]])
    with pytest.raises(ValueError, match=r"q\[0, 1\] = 2.0: it must be from 0 to 1"):
        strew.aggregate(values, groups, "quantile", q=[[0, 2, 0, 0]])


@pytest.mark.parametrize("reduce", [*METHODS, "average", "dense"])
def test_methods_of_the_other_reduction(reduce):
    other = "rank" if reduce in METHODS else "quantile"
    with pytest.raises(ValueError, match=f'method = "{reduce}": of a {other} it must be one of'):
        strew.aggregate([1.0], [0], other, method=reduce)
    strew.aggregate([1.0], [0], ["rank", "quantile"], method=reduce)
    with pytest.raises(ValueError, match='method = "highest": it must be one of'):
        strew.aggregate([1.0], [0], ["rank", "quantile"], method="highest")


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8"])
def test_negative_fill_values_of_unsigned_results(dtype):
    values = np.ones(2, dtype)
    for reduce in ["max", "sum", "first", "median"]:
        for fill_value in (-1, -1.0, np.int64(-1)):
            if reduce == "median":
                made = strew.aggregate(values, [0, 2], reduce, fill_value=fill_value)
                assert made[1] == -1
                continue
            with pytest.raises(ValueError, match="without overflow"):
                strew.aggregate(values, [0, 2], reduce, fill_value=fill_value)
    for call in [
        lambda: strew.scatter(values, [0, 2], reduce="assign", fill_value=-1),
        lambda: strew.gather(values, [5], mode="drop", fill_value=-1),
        lambda: strew.scatter(values, None, plan=strew.Plan([0, 2]), reduce="max", fill_value=-1),
        lambda: strew.Accumulator(3, reduce="max", dtype=values.dtype.name, fill_value=-1).result(),
    ]:
        with pytest.raises(ValueError, match="without overflow"):
            call()
    assert strew.aggregate(values, [0, 2], "argmax", fill_value=-5)[1] == -5


# Memory that a machine does not read where it lies.
def packed(array):
    record = np.zeros(array.shape, [("other", "u1"), ("field", array.dtype)])
    record["field"] = array
    return record["field"]


def swapped(array):
    return array.astype(array.dtype.newbyteorder())


@pytest.mark.parametrize("odd", [packed, swapped])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u2", "c16"])
def test_packed_fields_and_swapped_bytes(odd, dtype):
    values, index = np.arange(6).astype(dtype), np.array([1, 0, 1, 3, 0, 1])
    expected = strew.scatter(values, index)
    assert strew.scatter(odd(values), odd(index)).tolist() == expected.tolist()
    assert strew.aggregate(odd(values), odd(index), "sum").tolist() == expected.tolist()
    assert strew.gather(odd(values), odd(index)).tolist() == values[index].tolist()
    out = odd(np.ones(4, dtype))
    assert strew.scatter(odd(values), odd(index), out=out) is out
    assert out.tolist() == (expected + 1).tolist()
    plan = strew.Plan(odd(index))
    out = odd(np.ones(4, dtype))
    assert plan.scatter(odd(values), out=out) is out and out.tolist() == (expected + 1).tolist()
    a = odd(np.zeros(4, dtype))
    strew.numpy.add.at(a, odd(index), odd(values))
    assert a.tolist() == expected.tolist()
    a = odd(np.zeros(4, dtype))
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        strew.numpy.add.at(a, index, values)
    if dtype in ("f8", "i4"):
        weights = odd(np.arange(6.0))
        found = strew.aggregate(values, index, "sum", weights=weights)
        assert (
            found.tolist() == strew.aggregate(values, index, "sum", weights=np.arange(6.0)).tolist()
        )
        state = strew.Accumulator(4, reduce="sum", dtype=dtype)
        state.update(odd(values), odd(index))
        assert state.result()[0].tolist() == expected.tolist()


UFUNCS = ["remainder", "fmod", "hypot", "gcd", "lcm", "logaddexp", "float_power", "arctan2"]


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_that_are_numpys_own(name):
    dtype = int if name in ("gcd", "lcm") else float
    a, indices, b = np.array([5, 7, 9], dtype), [0, 2, 2], np.array([2, 4, 6], dtype)
    expected = a.copy()
    getattr(np, name).at(expected, indices, b)
    assert getattr(strew.numpy, name).at(a, indices, b) is a
    assert a.tolist() == expected.tolist()


def test_other_ufuncs():
    a = np.array([4.0, 9.0])
    strew.numpy.sqrt.at(a, [1])
    assert a.tolist() == [4.0, 3.0]
    for name in ["matmul", "divmod", "nothing", "sum"]:
        with pytest.raises(AttributeError, match=name):
            getattr(strew.numpy, name)
    with pytest.raises(ValueError, match="second operand"):
        strew.numpy.hypot.at(a, [0])


def test_ufuncs_of_numpy_take_the_right_operands():
    a = np.full(4, 100.0)
    strew.numpy.fmod.at(a, np.array([[0, 1], [2, 3]]), np.array([7.0, 9.0]))
    assert a.tolist() == [2, 1, 2, 1]
    a.flags.writeable = False
    with pytest.raises(ValueError, match="fmod.at: a is read-only"):
        strew.numpy.fmod.at(a, [0], 2)


def test_ufuncs_of_dates():
    dates = np.array(["2020-01-01", "2021-01-01"], "M8[D]")
    strew.numpy.add.at(dates, [0, 0], np.timedelta64(1, "D"))
    assert dates.tolist()[0].isoformat() == "2020-01-03"
    strew.numpy.maximum.at(dates, [1], np.datetime64("2022-01-01"))
    assert dates.tolist()[1].isoformat() == "2022-01-01"


@pytest.mark.parametrize("dtype", [float, "f4", "f8", np.float64, complex])
@pytest.mark.parametrize(
    "func", ["sum", "nansum", "prod", "cumsum", "cumprod", "sumofsquares", "nansumofsquares"]
)
def test_integers_do_not_wrap_where_the_result_is_of_floats(func, dtype):
    values = np.array([2**62, 2**62, 3, 2**62])
    if dtype == "f4" and func.endswith(("prod", "squares")):
        # float32 does not hold them.
        values = values >> 40
    found = strew.numpy_groupies.aggregate(np.zeros(4, int), values, func, dtype=dtype)
    floats = values.astype(complex if dtype is complex else float)
    plain = {"sum": np.sum, "prod": np.prod, "cumsum": np.cumsum, "cumprod": np.cumprod}
    if func.endswith("sumofsquares"):
        expected = (floats**2).sum()
    else:
        expected = plain[func.removeprefix("nan")](floats)
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_allclose(found.reshape(-1), np.reshape(expected, -1).astype(dtype), rtol=1e-6)


def test_integers_of_other_axes_and_dtypes_do_not_wrap():
    for dtype in ["u8", "i8", "u4", "?"]:
        values = np.full((4, 3), np.iinfo(dtype).max if dtype != "?" else 1, dtype)
        for axis in (0, 1):
            groups = np.zeros(values.shape[axis], int)
            found = strew.numpy_groupies.aggregate(groups, values, "sum", axis=axis, dtype=float)
            np.testing.assert_allclose(found.ravel(), values.sum(axis=axis, dtype=float))


def test_keys_that_may_be_rows_or_columns():
    rows = [("a", "x"), ("a", "y")]
    for call in [
        lambda: strew.aggregate([1.0, 2.0], by=rows),
        lambda: strew.factorize(rows),
    ]:
        with pytest.raises(ValueError, match="list of tuples, which may be rows or columns"):
            call()
    keys, sums = strew.aggregate([1.0, 2.0], by=tuple(zip(*rows, strict=True)))
    assert [key.tolist() for key in keys] == [["a", "a"], ["x", "y"]] and sums.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [float, "f4", np.float32, "float64", np.dtype("i2")])
def test_dtypes_of_accumulators(dtype):
    state = strew.Accumulator(2, reduce="sum", dtype=dtype)
    state.update(np.array([1, 2], dtype), [0, 1])
    assert state.result()[0].tolist() == [1, 2]


def test_fill_values_that_are_missing():
    pandas = pytest.importorskip("pandas")
    assert np.isnan(strew.aggregate([1.0], [1], "sum", fill_value=pandas.NA)).tolist() == [1, 0]
    with pytest.raises(TypeError, match="without missing values"):
        strew.aggregate([1], [1], "sum", fill_value=pandas.NA)
    masked = np.ma.array([1, 2])
    found = strew.aggregate(masked, [1, 1], "sum", fill_value=pandas.NA)
    assert found.tolist() == [None, 3]


def test_sums_of_too_few_values_are_missing():
    masked = np.ma.array([1, 2, 3])
    for reduce in ["sum", "prod", "sumsq"]:
        assert strew.aggregate(masked, [1, 1, 2], reduce).tolist()[0] is not None
        found = strew.aggregate(masked, [1, 1, 2], reduce, min_count=2)
        assert [one is None for one in found.tolist()] == [True, False, True]
        assert strew.aggregate(masked, [1, 1, 2], reduce, min_count=0).tolist()[0] is not None
