"""What people reported of other libraries, tried on strew: columns, labelled arrays, chunked arrays."""

import datetime
import zoneinfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import strew
import xarray as xr

DAYS = [datetime.date(2020, 1, day) for day in (1, 2, 5)]


@pytest.mark.parametrize(
    "column",
    [
        pl.Series(DAYS),
        pa.array(DAYS),
        pa.array(DAYS, pa.date64()),
        pa.chunked_array([DAYS]),
        pd.Series(DAYS, dtype="date32[pyarrow]"),
        pd.Series(pd.to_datetime(DAYS)),
    ],
    ids=str,
)
@pytest.mark.parametrize("reduce", ["std", "sem"])
def test_deviations_of_days_are_durations(column, reduce):
    found = strew.aggregate(column, [0, 0, 0], reduce)
    one = found[0] if not hasattr(found[0], "as_py") else found[0].as_py()
    exact = np.std([0, 1, 4]) / (1 if reduce == "std" else np.sqrt(3))
    # In the unit of the column: date64 is in milliseconds.
    seconds = one.total_seconds()
    assert 0 <= exact * 86400 - seconds < 86400
    assert isinstance(one, datetime.timedelta)


@pytest.mark.parametrize("make", [pl.Series, pa.array, pd.Series, np.ma.array])
def test_sums_of_durations_that_overflow(make):
    column = make(np.array([2**62, 2**62], "m8[ns]"))
    with pytest.raises(OverflowError, match="convert the values to a longer unit"):
        strew.aggregate(column, [0, 0], "sum")


def test_labelled_keys_lie_along_their_dimension():
    a = xr.DataArray(np.arange(9.0).reshape(3, 3), dims=("x", "t"))
    keys = xr.DataArray(["p", "q", "p"], dims="t")
    for by in (keys, (keys, keys)):
        with pytest.raises(ValueError, match="by lies along 't', but dim = 0 of src is 'x': pass"):
            strew.aggregate(a, by=by)
    found = strew.aggregate(a, by=keys, dim="t").values
    assert found.values.tolist() == [[2, 1], [8, 4], [14, 7]]
    numbers = xr.DataArray([0, 1, 0], dims="t")
    weights = xr.DataArray([1.0, 2.0, 1.0], dims="t")
    with pytest.raises(ValueError, match="index lies along 't'"):
        strew.aggregate(a, numbers)
    with pytest.raises(ValueError, match="weights lies along 't'"):
        strew.aggregate(a, [0, 1, 0], weights=weights)
    each = xr.DataArray(np.zeros((3, 3), int), dims=("t", "x"))
    for call in [
        lambda: strew.scatter(a, each),
        lambda: strew.gather(a, each, 0),
        lambda: strew.aggregate(a, each, dim=None),
    ]:
        with pytest.raises(ValueError, match=r"transpose\('x', 't'\)"):
            call()
    with pytest.raises(ValueError, match=r"weights has the dimensions \('t', 'x'\)"):
        strew.aggregate(a, [0, 1, 0], weights=each)
    assert strew.scatter(a, each.transpose("x", "t")).shape == (3, 1)


BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
TIMES = [datetime.datetime(2020, 1, day, tzinfo=BERLIN) for day in (2, 1, 2)]


@pytest.mark.parametrize(
    "keys",
    [
        pa.array(TIMES, pa.timestamp("us", "Europe/Berlin")),
        pa.chunked_array([pa.array(TIMES, pa.timestamp("ns", "Europe/Berlin"))]),
        pl.Series(TIMES, dtype=pl.Datetime("us", "Europe/Berlin")),
        pd.Series(TIMES),
        pd.Index(TIMES),
        pd.Series(TIMES, dtype="timestamp[us, Europe/Berlin][pyarrow]"),
    ],
    ids=lambda keys: type(keys).__name__,
)
def test_keys_keep_their_time_zone(keys):
    found, sums = strew.aggregate([1.0, 2.0, 4.0], by=keys)
    assert sums.tolist() == [2, 5]
    first = found[0].as_py() if hasattr(found[0], "as_py") else found[0]
    assert first.utcoffset() == datetime.timedelta(hours=1)
    assert first == TIMES[1]
    series = strew.aggregate(pd.Series([1.0, 2.0, 4.0]), by=keys)[1]
    assert series.index[0] == TIMES[1] and series.index[0].utcoffset().seconds == 3600


@pytest.mark.parametrize(
    "keys",
    [
        pl.Series(["low", "high", "low"], dtype=pl.Enum(["low", "high"])),
        pd.Categorical(["low", "high", "low"], ["low", "high"]),
        pa.DictionaryArray.from_arrays([0, 1, 0], ["low", "high"], ordered=True),
    ],
    ids=lambda keys: type(keys).__name__,
)
def test_ordered_categories_keep_their_order(keys):
    found, sums = strew.aggregate([1.0, 2.0, 4.0], by=keys)
    assert list(found) == ["low", "high"] and sums.tolist() == [5, 2]


def test_dictionaries_without_an_order_are_sorted():
    for keys in [
        pa.array(["low", "high", "low"]).dictionary_encode(),
        pl.Series(["low", "high", "low"], dtype=pl.Categorical),
        pa.DictionaryArray.from_arrays([0, 1, 2, None], ["low", "high", "low"]),
    ]:
        index, found = strew.factorize(keys)
        assert found.tolist() == ["high", "low"] and index.tolist()[:3] == [1, 0, 1]


def test_keys_that_numpy_has_no_dtype_for():
    for dtype in (pl.Int128, pl.Decimal(38, 2), pl.Binary, pl.Time):
        values = {pl.Binary: [b"b", b"a", b"b"], pl.Time: [datetime.time(2), datetime.time(1)]}
        keys = pl.Series(values.get(dtype, [2, 1, 2]), dtype=dtype)
        index, found = strew.factorize(keys)
        assert index.tolist() == [1, 0, 1][: len(keys)] and len(found) == 2
    with pytest.raises(TypeError, match="Int128 of Polars"):
        strew.aggregate(pl.Series([1], dtype=pl.Int128), [0])
    levels = pd.MultiIndex.from_tuples([("a", 2), ("a", 1), ("a", 2)], names=["k", "n"])
    found, sums = strew.aggregate([1.0, 2.0, 4.0], by=levels)
    assert found["n"].tolist() == [1, 2] and sums.tolist() == [2, 5]


def test_fill_values_and_counts_of_nullable_columns():
    column = pd.Series([1, None, 3], dtype="Int64")
    assert strew.aggregate(column, [0, 1, 2], "sum").tolist() == [1, 0, 3]
    for options in [{"min_count": 1}, {"fill_value": pd.NA}]:
        found = strew.aggregate(column, [0, 1, 2], "sum", **options)
        assert found.isna().tolist() == [False, True, False]
    floats = pd.Series([1, None, 3.0])
    found = strew.aggregate(floats, [0, 1, 2], "sum", min_count=1)
    assert found.isna().tolist() == [False, True, False]
    for make in (pl.Series, pa.array):
        found = strew.aggregate(make([1, None, 3]), [0, 1, 1], "prod", min_count=2)
        assert (
            found.is_null().to_pylist() == [True, True]
            if make is pa.array
            else found.is_null().all()
        )


def test_chunked_arrays_are_not_loaded_without_a_word():
    import dask.array as da

    values = da.ones(4, chunks=2)
    for call in [
        lambda: strew.scatter(values, [0, 0, 1, 1]),
        lambda: strew.aggregate(values, [0, 0, 1, 1]),
        lambda: strew.gather(values, [0]),
        lambda: strew.scatter(np.ones(4), values),
        lambda: strew.aggregate(xr.DataArray(values), [0, 0, 1, 1]),
    ]:
        with pytest.raises(TypeError, match="strew.dask"):
            call()
    dates = da.from_array(np.zeros(4, "M8[s]"), chunks=2)
    with pytest.raises(TypeError, match=r"src has dtype datetime64\[s\]: .* pass their integers"):
        strew.dask.aggregate(dates, [0, 0, 1, 1], "max", size=2)
    matrix = da.from_array(np.arange(8).reshape(2, 4), chunks=2)
    found = strew.dask.aggregate(matrix, [0, 0, 1, 1], "sum", size=2, axis=1)
    assert found.compute().tolist() == [[1, 5], [9, 13]]
    with pytest.raises(TypeError, match="dim and axis are one argument"):
        strew.dask.scatter(matrix, [0, 0, 1, 1], size=2, axis=1, dim=1)


def test_means_of_large_integers_in_chunks():
    import dask.array as da

    for dtype, large in [("u8", 2**64 - 1), ("i8", 2**63 - 1)]:
        values = np.full(6, large, dtype)
        found = strew.dask.aggregate(da.from_array(values, 2), [0] * 6, "mean", size=1)
        assert found.compute().tolist() == [float(large)]


def test_cubed_takes_values_beside_a_chunked_index(tmp_path):
    cubed = pytest.importorskip("cubed")
    import cubed.array_api as xp

    spec = cubed.Spec(work_dir=str(tmp_path), allowed_mem="200MB")
    index = xp.asarray([0, 1, 0], chunks=2, spec=spec)
    found = strew.cubed.scatter(np.array([1.0, 2.0, 4.0]), index, size=2, axis=0)
    assert np.asarray(found.compute()).tolist() == [5, 2]
