"""strew.flox: the bits of `strew.aggregate` with ``exact=True``, for all chunks. Needs flox and dask."""

import itertools
import pathlib
import pickle
import re

import dask.array as da
import flox
import numpy as np
import pytest
import strew
import strew.flox
import xarray
from flox.xarray import xarray_reduce

FILL = {"sum": 0, "mean": np.nan}
MAKE = {"sum": strew.flox.exact_sum, "mean": strew.flox.exact_mean}
FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]
WHOLE = ["int8", "uint16", "int64", "uint64"]
CASES = [*itertools.product(["sum", "mean"], FLOATS), *itertools.product(["mean"], WHOLE)]


def values(dtype, shape, random):
    kind = np.dtype(dtype).kind
    if kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return random.integers(
            low, high, shape, dtype="uint64" if dtype == "uint64" else "int64"
        ).astype(dtype)
    made = random.standard_normal(shape) * np.exp2(random.integers(-12, 12, shape))
    return (made * (1 - 3j)).astype(dtype) if kind == "c" else made.astype(dtype)


def same(got, want):
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert got.tobytes() == np.ascontiguousarray(want).tobytes()


@pytest.mark.parametrize(("reduce", "dtype"), CASES)
def test_all_ways_give_the_same_bits(reduce, dtype):
    random = np.random.default_rng(1)
    src, by = values(dtype, (3, 400), random), random.integers(0, 9, 400)
    want = strew.aggregate(src, by, reduce, dim=1, size=10, exact=True)
    func = MAKE[reduce](dtype)
    options = {"func": func, "expected_groups": np.arange(10), "fill_value": FILL[reduce]}
    made, *_ = flox.groupby_reduce(src, by, engine="numpy", **options)
    # The last group is empty. Its fill value is flox's.
    same(made[:, :-1], want[:, :-1])
    for chunks, method in [((3, 400), "map-reduce"), ((2, 33), "map-reduce"), ((1, 90), "cohorts")]:
        chunked = da.from_array(src, chunks=chunks)
        made, *_ = flox.groupby_reduce(chunked, by, method=method, engine="numpy", **options)
        same(made.compute(scheduler="synchronous")[:, :-1], want[:, :-1])


@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("reindex", [True, False])
def test_groups_that_are_found_by_the_chunks(reduce, reindex):
    random = np.random.default_rng(2)
    src, by = random.standard_normal(300).astype("float32"), np.repeat(np.arange(10), 30)
    want = strew.aggregate(src, by, reduce, exact=True)
    chunked = da.from_array(src, chunks=41)
    options = {"func": MAKE[reduce]("float32"), "method": "map-reduce", "engine": "numpy"}
    expected = {"expected_groups": np.arange(10)} if reindex else {}
    made, _ = flox.groupby_reduce(chunked, by, reindex=reindex or None, **expected, **options)
    same(made.compute(), want)
    lazy = da.from_array(by, chunks=41)
    made, _ = flox.groupby_reduce(chunked, lazy, **options)
    same(made.compute(), want)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_values_of_all_magnitudes(dtype):
    with np.errstate(over="ignore"):
        every = np.ldexp(1.0, np.arange(-1074, 1024)).astype(dtype)
    every = every[np.isfinite(every)]
    src = np.concatenate([every, -every[:-1], np.full(5, -every[-1]), np.full(5, every[-1])])
    by = np.arange(len(src)) % 3
    chunked = da.from_array(src, chunks=37)
    for reduce in ("sum", "mean"):
        want = strew.aggregate(src, by, reduce, exact=True)
        made, _ = flox.groupby_reduce(chunked, by, func=MAKE[reduce](dtype), method="map-reduce")
        same(made.compute(), want)


@pytest.mark.parametrize("skipna", [False, True])
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_values_that_are_not_finite(reduce, skipna):
    src = np.array([1, np.nan, np.inf, 2, -np.inf, np.inf, np.nan, 5, 0.1, 0.2])
    by = np.array([0, 0, 1, 1, 2, 2, 3, 4, 4, 4])
    want = strew.aggregate(src, by, reduce, skipna=skipna, exact=True)
    func = MAKE[reduce](skipna=skipna)
    for array in (src, da.from_array(src, chunks=3)):
        made, _ = flox.groupby_reduce(
            array,
            by,
            func=func,
            engine="numpy",
        )
        np.testing.assert_array_equal(np.asarray(made), want)


def test_missing_labels_and_a_fill_value():
    src, by = np.array([1.0, 2.0, 4.0, 8.0]), np.array([0, np.nan, 0, 2])
    options = {"expected_groups": np.arange(4), "fill_value": -1.0, "engine": "numpy"}
    for array in (src, da.from_array(src, chunks=1)):
        for func, want in [("sum", [5, -1, 8, -1]), ("mean", [2.5, -1, 8, -1])]:
            made, _ = flox.groupby_reduce(array, by, func=MAKE[func](), **options)
            assert np.asarray(made).tolist() == want


def test_labels_of_several_axes():
    random = np.random.default_rng(3)
    src, by = random.standard_normal((4, 5, 6)), random.integers(0, 3, (5, 6))
    want = strew.aggregate(src.reshape(4, 30), by.ravel(), "sum", dim=1, exact=True)
    for array in (src, da.from_array(src, chunks=(2, 2, 4))):
        made, _ = flox.groupby_reduce(array, by, func=strew.flox.exact_sum(), engine="numpy")
        same(np.asarray(made), want)


def test_many_groups_of_which_few_have_values():
    src, by = np.arange(60.0), np.arange(60) * 5000 % 50_000
    expected = np.arange(50_000)
    made, _ = flox.groupby_reduce(
        da.from_array(src, chunks=10),
        by,
        func=strew.flox.exact_sum(),
        expected_groups=expected,
        reindex=True,
    )
    same(made.compute(), strew.aggregate(src, by, "sum", size=50_000, exact=True))


def test_xarray():
    times = xarray.date_range("2020-01-01", periods=366)
    random = np.random.default_rng(4)
    src = random.standard_normal((366, 4, 5)).astype("float32")
    field = xarray.DataArray(src, dims=("time", "y", "x"), coords={"time": times})
    month = field.time.dt.month
    want = strew.aggregate(src, month.values - 1, "mean", exact=True)
    for chunks in (366, 31, 10):
        made = xarray_reduce(
            field.chunk(time=chunks, x=3),
            month,
            func=strew.flox.exact_mean("float32"),
            engine="numpy",
        )
        same(made.transpose("month", "y", "x").values, want)


@pytest.mark.parametrize(
    ("make", "dtype", "message"),
    [
        (strew.flox.exact_sum, "int64", "^exact_sum: dtype = int64: it must be float16"),
        (strew.flox.exact_mean, "datetime64[s]", "^exact_mean: dtype = datetime64"),
        (strew.flox.exact_mean, "longdouble", "^exact_mean: dtype = float128: it must be float16"),
    ],
)
def test_dtypes_that_are_refused(make, dtype, message):
    with pytest.raises(TypeError, match=message):
        make(dtype)


def test_values_of_another_dtype():
    with pytest.raises(TypeError, match=r'values are of float32: .* exact_sum\("float32"\)'):
        flox.groupby_reduce(
            np.ones(3, "float32"), np.zeros(3, int), func=strew.flox.exact_sum(), engine="numpy"
        )


def test_an_aggregation_can_be_pickled():
    func = pickle.loads(pickle.dumps(strew.flox.exact_sum("float32")))
    made, _ = flox.groupby_reduce(
        da.ones(30, chunks=7, dtype="float32"), np.arange(30) % 3, func=func
    )
    assert made.compute().tolist() == [10, 10, 10]


def test_the_document():
    text = (pathlib.Path(__file__).resolve().parents[3] / "docs/flox.md").read_text()
    for example in re.findall("```python\n(.*?)```", text, re.DOTALL):
        names = {}
        *setup, last = example.rstrip().splitlines()
        exec("\n".join(setup), names)
        call, told = last.split("  # ")
        np.testing.assert_array_equal(np.asarray(eval(call, names)), eval(told, names))
