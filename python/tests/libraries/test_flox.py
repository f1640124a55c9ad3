"""flox and numpy_groupies with strew in the engines' place. Needs flox, numpy_groupies and xarray."""

import flox
import numpy as np
import numpy_groupies
import pytest
import strew
import xarray

FUNCTIONS = ["sum", "nansum", "mean", "nanmean", "min", "nanmax", "var", "nanstd", "first"]
FUNCTIONS += ["nanlast", "count", "any", "argmax", "nanargmin", "median", "quantile", "prod"]


@pytest.fixture
def calls(monkeypatch):
    """The functions that strew was called for, while it is in the engines' place."""
    found = []
    run = strew.numpy_groupies.aggregate

    def counted(group_idx, a, func="sum", *args, **kwargs):
        found.append(func)
        return run(group_idx, a, func, *args, **kwargs)

    monkeypatch.setattr(strew.numpy_groupies, "aggregate", counted)
    with strew.numpy_groupies.install():
        yield found


@pytest.mark.parametrize("func", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_flox_gives_the_same(func, dtype, calls):
    random = np.random.default_rng(1)
    values = (random.standard_normal((4, 200)) * 100).astype(dtype)
    by = random.integers(0, 9, 200)
    options = {"func": func, "expected_groups": np.arange(10), "fill_value": 0}
    if func == "quantile":
        options["finalize_kwargs"] = {"q": 0.3}
    made, *_ = flox.groupby_reduce(values, by, engine="numpy", **options)
    assert calls
    strew.numpy_groupies.uninstall()
    want, *_ = flox.groupby_reduce(values, by, engine="numpy", **options)
    assert made.dtype == want.dtype
    np.testing.assert_allclose(made, want, rtol=1e-12)


@pytest.mark.parametrize("func", ["nanmin", "nanmax", "first", "nanlast"])
def test_flox_groups_dates(func, calls):
    values = np.datetime64("2020-01-01") + np.arange(20)
    values[3] = "NaT"
    by = np.arange(20) % 3
    made, *_ = flox.groupby_reduce(values, by, func=func, engine="numpy")
    assert func in calls
    strew.numpy_groupies.uninstall()
    want, *_ = flox.groupby_reduce(values, by, func=func, engine="numpy")
    np.testing.assert_array_equal(made, want)


def test_xarray_groups_by_strew(calls):
    data = xarray.DataArray(np.arange(12.0), dims="x", coords={"k": ("x", np.arange(12) % 4)})
    with xarray.set_options(use_flox=True):
        made = data.groupby("k").mean(engine="numpy")
    assert calls
    assert made.values.tolist() == [4.0, 5.0, 6.0, 7.0]


@pytest.mark.parametrize("dtype", ["float32", "int16", "complex64"])
@pytest.mark.parametrize("func", ["sum", "prod", "mean", "nanvar", "max", "first", "any", "argmin"])
def test_a_call_without_a_fill_value_has_that_of_numpy_groupies(func, dtype, calls):
    groups, values = np.array([0, 0, 2]), np.array([1, 2, 3], dtype)
    made = numpy_groupies.aggregate_numpy.aggregate(groups, values, func, 4)
    strew.numpy_groupies.uninstall()
    want = numpy_groupies.aggregate_numpy.aggregate(groups, values, func, 4)
    np.testing.assert_array_equal(made, want)


def test_lists_of_groups_without_values(calls):
    made = numpy_groupies.aggregate_np(np.array([0, 2]), np.array([1.5, 2.5]), "array")
    assert [one.tolist() for one in made] == [[1.5], [], [2.5]]


@pytest.mark.parametrize(
    ("values", "options"),
    [
        (np.array([100, 100, 3], "int8"), {"func": "sumofsquares"}),
        (np.array([100, 100, 3], "int8"), {"func": "max", "fill_value": 0.5}),
        (np.array([1j, 2, 3]), {"func": "var"}),
        (np.array([1j, 2, 3]), {"func": "sumofsquares"}),
        (np.array([1, 2, 3]), {"func": lambda values: len(values) / 2}),
        (np.array([1.0, 2.0, 3.0]), {"func": "sum", "size": 1}),
        (np.array([1.0, 2.0, 3.0]), {"func": "sum", "fill_value": None}),
        (np.array([1.0, 2.0, 3.0]), {"func": 3}),
    ],
)
def test_what_strew_refuses_or_makes_otherwise_stays(values, options, calls):
    def outcome():
        try:
            made = numpy_groupies.aggregate_numpy.aggregate(np.array([0, 0, 2]), values, **options)
        except (TypeError, ValueError) as error:
            return str(error)
        return made.dtype, made.tolist()

    made = outcome()
    strew.numpy_groupies.uninstall()
    assert repr(made) == repr(outcome())


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize("count", [2, 3, 300])
def test_sums_of_small_integers_have_the_dtype_of_numpy_groupies(dtype, count, calls):
    run = numpy_groupies.aggregate_numpy.aggregate
    highest = True if dtype == "bool" else np.iinfo(dtype).max
    lines = np.full((2, count), highest, dtype)
    groups = np.zeros(count, int)
    made = run(groups, lines[0]), run(groups, lines, axis=1, size=3), run(groups, 1 - lines[0])
    assert len(calls) == 3
    strew.numpy_groupies.uninstall()
    run = numpy_groupies.aggregate_numpy.aggregate
    want = run(groups, lines[0]), run(groups, lines, axis=1, size=3), run(groups, 1 - lines[0])
    for got, wanted in zip(made, want, strict=True):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


def test_sums_of_the_smallest_integers_do_not_wrap(calls):
    made = numpy_groupies.aggregate_np(np.zeros(257, int), np.full(257, -128, "int8"))
    assert made.tolist() == [-128 * 257]


@pytest.mark.parametrize("func", ["mean", "nanmean"])
@pytest.mark.parametrize("odd", [complex("nan"), complex(1, np.nan), complex(np.inf, 2)])
def test_means_of_complex_numbers_that_are_not_finite(func, odd, calls):
    groups, values = np.array([0, 0, 1, 2]), np.array([1 + 2j, odd, 3 + 1j, 5 + 5j])
    with np.errstate(invalid="ignore"):
        made = numpy_groupies.aggregate_np(groups, values, func)
        strew.numpy_groupies.uninstall()
        want = numpy_groupies.aggregate_np(groups, values, func)
    np.testing.assert_array_equal(made.real, want.real)
    np.testing.assert_array_equal(made.imag, want.imag)


@pytest.mark.parametrize("options", [{}, {"size": 3}, {"size": 3, "func": "argmax"}])
def test_no_value_at_all(options, calls):
    def outcome():
        try:
            return numpy_groupies.aggregate_np(np.array([], int), np.array([]), **options).tolist()
        except ValueError as error:
            return str(error)

    made = outcome()
    strew.numpy_groupies.uninstall()
    assert made == outcome()


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize(
    ("func", "values"),
    [
        ("mean", [2**53 + 1, 0, 0]),
        ("nanmean", [2**52, 2**52, 0]),
        ("mean", [2**63 - 1, 0, 1]),
        ("var", [0, 2**63, 1]),
        ("nanstd", [0, 2**63, 1]),
    ],
)
def test_integers_that_float64_may_not_hold_stay(func, values, dtype, calls):
    # Beyond int64 the range counts, which is the same lower down.
    lower = 2**62 if dtype == "int64" and max(values) == 2**63 else 0
    values = np.array([value - lower for value in values], dtype)

    def outcome():
        try:
            return numpy_groupies.aggregate_np(np.zeros(3, int), values, func).tolist()
        except OverflowError as error:
            return str(error)

    made = outcome()
    strew.numpy_groupies.uninstall()
    assert made == outcome()
    assert calls == []


def test_means_of_ordinary_integers_are_those_of_strew(calls):
    values = np.arange(2**20, 2**20 + 300, dtype="int64")
    assert numpy_groupies.aggregate_np(np.arange(300) % 2, values, "mean").tolist() == [
        2**20 + 149.0,
        2**20 + 150.0,
    ]
    assert calls == ["mean"]


def test_running_functions_of_groups_along_several_axes_stay(calls):
    groups, values = np.array([[0, 0], [0, 1]]), np.array([1.0, 2.0])
    made = numpy_groupies.aggregate_np(groups, values, "cumsum")
    strew.numpy_groupies.uninstall()
    want = numpy_groupies.aggregate_np(groups, values, "cumsum")
    assert (made.tolist(), calls) == (want.tolist(), [])


def test_what_strew_does_not_have_stays(calls):
    engine = numpy_groupies.aggregate_numpy.aggregate
    words = np.array(["b", "a", "c"], object)
    assert engine(np.array([0, 0, 1]), words, func="first").tolist() == ["b", "c"]
    assert engine(np.array([0, 0, 1]), np.array([2.0, 2.0, 1.0]), func="nunique").tolist() == [1, 1]
    assert calls == []


def test_blocks_within_blocks():
    before = numpy_groupies.aggregate_numpy.aggregate
    with strew.numpy_groupies.install():
        with strew.numpy_groupies.install():
            pass
        assert numpy_groupies.aggregate_numpy.aggregate is not before
    assert numpy_groupies.aggregate_numpy.aggregate is before


def test_installed_twice_and_taken_away():
    before = numpy_groupies.aggregate, numpy_groupies.aggregate_numpy.aggregate
    strew.numpy_groupies.install()
    strew.numpy_groupies.install()
    assert numpy_groupies.aggregate is not before[0]
    assert numpy_groupies.aggregate_np(np.array([0, 1, 1]), np.arange(3.0)).tolist() == [0.0, 3.0]
    strew.numpy_groupies.uninstall()
    strew.numpy_groupies.uninstall()
    assert (numpy_groupies.aggregate, numpy_groupies.aggregate_numpy.aggregate) == before


def large(kind):
    """Values that float64 does not hold, or whose sums 64 bits do not hold."""
    random = np.random.default_rng(5)
    small = random.integers(-5, 6, 60)
    if kind == "dates":
        return np.datetime64("2023-01-01", "ns") + small * np.timedelta64(10**10, "ns")
    if kind == "durations":
        return (small * 10**9).astype("m8[ns]")
    return (2**62 + small) if kind == "int64" else (2**63 + small.astype(object)).astype(np.uint64)


@pytest.mark.parametrize("func", [*FUNCTIONS, "mean", "std", "nanvar", "max", "nanmin"])
@pytest.mark.parametrize("kind", ["int64", "uint64", "dates", "durations"])
def test_large_values_are_those_of_flox_alone(func, kind):
    values, by = large(kind), np.random.default_rng(6).integers(0, 4, 60)
    options = {"finalize_kwargs": {"q": 0.3}} if func == "quantile" else {}

    def run():
        try:
            return flox.groupby_reduce(values, by, func=func, engine="numpy", **options)[0]
        except Exception as error:
            return type(error)

    expected = run()
    with strew.numpy_groupies.install():
        found = run()
    if isinstance(expected, type):
        assert found is expected
        return
    assert found.dtype == expected.dtype
    as_floats = [
        one.astype(np.int64 if one.dtype.kind in "mM" else one.dtype).astype(float)
        for one in (found, expected)
    ]
    np.testing.assert_allclose(*as_floats, rtol=1e-9)


def test_deviations_of_dates_in_xarray():
    dates = np.datetime64("2023-01-01", "ns") + np.arange(10) * np.timedelta64(10**9, "ns")
    array = xarray.DataArray(dates, {"k": ("t", np.zeros(10, int))}, "t")
    alone = array.groupby("k").max()
    with strew.numpy_groupies.install():
        assert (array.groupby("k").max() == alone).all()
        std = flox.groupby_reduce(dates, np.zeros(10, int), func="std", engine="numpy")[0]
    assert std.astype(np.int64).tolist() == [2872281323]
