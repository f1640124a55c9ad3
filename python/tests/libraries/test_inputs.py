"""What pandas, pyarrow, Polars and xarray hold: the table of docs/inputs.md, cell by cell.

Masked arrays, dates and durations of NumPy are in python/tests/test_inputs.py and
test_input_times.py.
"""

import datetime
import pathlib
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import strew
import xarray as xr
from inputs_reference import NAMES, expected
from strew._arrays import kinds as _kinds

VALUES = [5, None, 7, 1, 2, None, 7, 4]
GROUPS = np.array([0, 1, 0, 2, 0, 1, 2, 0])
SIZE = 4
LABELS = list("hgfedcba")
LIST = [None if one is None else float(one) for one in VALUES]


def listed(values):
    """A result as a list, with None where it is missing."""
    if isinstance(values, (pd.Series, pd.Index, pd.api.extensions.ExtensionArray)):
        values = pd.Series(values).astype(object)
        return [None if one is pd.NA or one is pd.NaT else one for one in values.to_list()]
    if isinstance(values, xr.DataArray):
        return values.values.tolist()
    return values.to_pylist() if hasattr(values, "to_pylist") else values.to_list()


# Kinds in which a value can be missing, whatever its dtype is.
NULLABLE = {
    "pandas Int64": lambda v: pd.Series(v, LABELS[: len(v)], "Int64", "x"),
    "pandas Int32": lambda v: pd.Series(v, LABELS[: len(v)], "Int32", "x"),
    "pandas UInt8": lambda v: pd.Series(v, LABELS[: len(v)], "UInt8", "x"),
    "pandas Float32": lambda v: pd.Series(v, LABELS[: len(v)], "Float32", "x"),
    "pandas Float64": lambda v: pd.Series(v, LABELS[: len(v)], "Float64", "x"),
    "pandas Index": lambda v: pd.Index(v, "Int64", name="x"),
    "pandas array": lambda v: pd.array(v, "Int64"),
    "pandas int64[pyarrow]": lambda v: pd.Series(v, LABELS[: len(v)], "int64[pyarrow]", "x"),
    "pandas float[pyarrow]": lambda v: pd.Series(v, LABELS[: len(v)], "float[pyarrow]", "x"),
    "pyarrow int64": lambda v: pa.array(v, "int64"),
    "pyarrow uint16": lambda v: pa.array(v, "uint16"),
    "pyarrow float": lambda v: pa.array(v, "float32"),
    "pyarrow slice": lambda v: pa.array([9, None, *v, 3], "int64")[2:-1],
    "pyarrow chunks": lambda v: pa.chunked_array([v[:3], v[3:3], v[3:]], "int64"),
    "pyarrow chunk": lambda v: pa.chunked_array([v], "int64"),
    "pyarrow no chunk": lambda v: pa.chunked_array([v] if v else [], "int64"),
    "Polars Int64": lambda v: pl.Series("x", v, pl.Int64),
    "Polars UInt8": lambda v: pl.Series("x", v, pl.UInt8),
    "Polars Float32": lambda v: pl.Series("x", v, pl.Float32),
    "Polars chunks": lambda v: pl.Series("x", v[:3], pl.Int64).append(
        pl.Series("x", v[3:], pl.Int64)
    ),
}
BOOLS = {
    "pandas boolean": lambda v: pd.Series(v, dtype="boolean"),
    "pandas bool[pyarrow]": lambda v: pd.Series(v, dtype="bool[pyarrow]"),
    "pyarrow bool": lambda v: pa.array(v, "bool"),
    "pyarrow bool slice": lambda v: pa.array([True, None, *v], "bool")[2:],
    "Polars Boolean": lambda v: pl.Series("x", v, pl.Boolean),
}
# Kinds of NumPy's dtypes, in which NaN is a number.
PLAIN = {
    "pandas float64": lambda v: pd.Series(np.array(v), LABELS[: len(v)], name="x"),
    "pandas int64": lambda v: pd.Series(np.nan_to_num(np.array(v), nan=3).astype(int), name="x"),
    "pandas index float64": lambda v: pd.Index(np.array(v), name="x"),
    "pandas sparse": lambda v: pd.Series(pd.arrays.SparseArray(np.array(v)), name="x"),
    "xarray": lambda v: xr.DataArray(
        np.array(v), {"t": LABELS[: len(v)]}, "t", "x", {"units": "m"}
    ),
}
# Dates and durations, in which NaT or null is a missing value.
TIMES = {
    "pandas dates": lambda v: pd.Series(pd.to_datetime(v, unit="s"), LABELS[: len(v)], name="x"),
    "pandas zone": lambda v: pd.Series(
        pd.to_datetime(v, unit="s", utc=True).tz_convert("Europe/Berlin"), LABELS[: len(v)]
    ),
    "pandas date index": lambda v: pd.DatetimeIndex(pd.to_datetime(v, unit="s"), name="x"),
    "pandas durations": lambda v: pd.Series(pd.to_timedelta(v, unit="s"), name="x"),
    "pandas timestamp[pyarrow]": lambda v: pd.Series(
        pd.arrays.ArrowExtensionArray(pa.array(v, pa.timestamp("us")))
    ),
    "pyarrow timestamp": lambda v: pa.array(v, pa.timestamp("ns", "UTC")),
    "pyarrow duration": lambda v: pa.array(v, pa.duration("s")),
    "pyarrow date32": lambda v: pa.array(v, pa.date32()),
    "pyarrow date64": lambda v: pa.array(
        [None if one is None else one * 86_400_000 for one in v], pa.date64()
    ),
    "Polars Datetime": lambda v: pl.Series("x", v, pl.Int64).cast(pl.Datetime("us", "UTC")),
    "Polars Duration": lambda v: pl.Series("x", v, pl.Int64).cast(pl.Duration("ms")),
    "Polars Date": lambda v: pl.Series("x", v, pl.Int32).cast(pl.Date),
    "xarray dates": lambda v: xr.DataArray(np.array(v, "M8[s]"), {"t": LABELS[: len(v)]}, "t"),
}
KINDS = NULLABLE | BOOLS | PLAIN | TIMES


def made_of(kind):
    """The column of VALUES in a kind, as this kind holds them, and where it has none."""
    source = VALUES
    if kind in BOOLS:
        source = [None if one is None else one > 4 for one in VALUES]
    elif kind in PLAIN:
        source = [np.nan if one is None else float(one) for one in VALUES]
    elif kind == "xarray dates":
        source = [one if one is not None else "NaT" for one in VALUES]
    return KINDS[kind](source)


def dtype_of(kind):
    held = _kinds.find(made_of(kind))("aggregate", "src", made_of(kind))
    return held.values.dtype


def family(given):
    """The class of what is the same kind with values of another dtype."""
    extension = pd.api.extensions.ExtensionArray
    of = [pd.Series, pd.Index, extension, pa.ChunkedArray, pa.Array, pl.Series, xr.DataArray]
    return next(one for one in of if isinstance(given, one))


def check_kind(found, given):
    """Whether a result is of the kind of the values, and has their name."""
    assert isinstance(found, family(given))
    if isinstance(given, pd.Series):
        assert found.name == given.name
    if isinstance(given, (pl.Series, xr.DataArray)):
        assert found.name == given.name


# The column of values, and what comes out.


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [*NULLABLE, *BOOLS])
def test_missing_values_are_left_out(kind, name):
    given = made_of(kind)
    dtype = dtype_of(kind)
    missing = np.array([one is None for one in VALUES])
    values = np.array([0 if one is None else one for one in listed(given)]).astype(dtype)
    try:
        made, lost = expected(name, values, missing, GROUPS, SIZE)
    except TypeError:
        with pytest.raises(TypeError, match=f"^aggregate: .*{name}"):
            strew.aggregate(given, GROUPS, name, size=SIZE)
        return
    found = strew.aggregate(given, GROUPS, name, size=SIZE)
    lost = np.zeros(made.shape, bool) if lost is None else np.broadcast_to(lost, made.shape)
    if made.ndim > 1:
        assert type(found) is np.ma.MaskedArray
        np.testing.assert_array_equal(np.ma.getmaskarray(found), lost)
        np.testing.assert_array_equal(found.data[~lost], made[~lost])
        return
    check_kind(found, given)
    out = listed(found)
    assert [one is None for one in out] == lost.tolist()
    assert [one for one in out if one is not None] == made[~lost].tolist()


FAMILIES = {
    "pandas Int64": ("Int64", "Float64", "boolean"),
    "pandas UInt8": ("UInt8", "Float64", "boolean"),
    "pandas Float32": ("Float32", "Float32", "boolean"),
    "pandas boolean": ("boolean", "Float64", "boolean"),
    "pandas int64[pyarrow]": ("int64[pyarrow]", "double[pyarrow]", "bool[pyarrow]"),
    "pandas float64": ("float64", "float64", "bool"),
    "pyarrow uint16": ("uint16", "double", "bool"),
    "pyarrow float": ("float", "float", "bool"),
    "Polars UInt8": ("UInt8", "Float64", "Boolean"),
    "Polars Float32": ("Float32", "Float32", "Boolean"),
}


@pytest.mark.parametrize("kind", FAMILIES)
def test_dtypes_are_of_the_same_family(kind):
    found = strew.aggregate(made_of(kind), GROUPS, ["max", "mean", "anynan"], size=SIZE)
    names = [str(one.type if hasattr(one, "type") else one.dtype) for one in found]
    assert tuple(names) == FAMILIES[kind]


@pytest.mark.parametrize("name", ["sum", "mean", "max", "cumsum", "median", "len", "first"])
@pytest.mark.parametrize("kind", PLAIN)
def test_nan_is_missing_where_a_kind_has_no_other_mark(kind, name):
    given = made_of(kind)
    values = np.asarray(given)
    for options in ({}, {"skipna": True}, {"skipna": False}):
        found = strew.aggregate(given, GROUPS, name, size=SIZE, **options)
        check_kind(found, given)
        plain = strew.aggregate(values, GROUPS, name, size=SIZE, **options)
        if not options and kind.startswith("pandas"):
            masked = np.ma.masked_invalid(values)
            plain = strew.aggregate(masked, GROUPS, name, size=SIZE).filled(
                np.nan if plain.dtype.kind == "f" else 0
            )
        np.testing.assert_array_equal(np.asarray(found), plain)
    if kind != "pandas int64":
        np.testing.assert_array_equal(
            np.asarray(strew.scatter(given, GROUPS, reduce="nanmax", size=SIZE)),
            strew.scatter(values, GROUPS, reduce="nanmax", size=SIZE),
        )


@pytest.mark.parametrize("name", "min max first last median mean cummin sort shift argmax".split())
@pytest.mark.parametrize("kind", TIMES)
def test_dates_and_durations(kind, name):
    given = made_of(kind)
    missing = np.array([one is None for one in VALUES])
    dtype = dtype_of(kind)
    held = _kinds.find(given)("aggregate", "src", given)
    found = strew.aggregate(given, GROUPS, name, size=SIZE)
    plain = np.where(missing, np.array("NaT", dtype), held.values)
    expected_of_numpy = strew.aggregate(plain, GROUPS, name, size=SIZE)
    check_kind(found, given)
    if name == "argmax":
        assert listed(found) == expected_of_numpy.tolist()
        return
    read = _kinds.find(found)("aggregate", "src", found)
    assert read.values.dtype == expected_of_numpy.dtype
    lost = np.isnat(expected_of_numpy)
    np.testing.assert_array_equal(
        read.missing if lost.any() else ~lost, lost if lost.any() else ~lost
    )
    np.testing.assert_array_equal(read.values[~lost], expected_of_numpy[~lost])
    if hasattr(given, "type"):
        assert found.type == given.type
    elif not isinstance(given, xr.DataArray):
        assert found.dtype == given.dtype


def test_a_zone_and_a_type_stay():
    given = made_of("pandas zone")
    found = strew.aggregate(given, GROUPS, "max")
    assert found.dtype == given.dtype and str(found.dtype.tz) == "Europe/Berlin"
    assert found[0] == given.iloc[[0, 2, 4, 7]].max()
    spread = strew.aggregate(given, GROUPS, "std")
    assert spread.dtype.kind == "m"
    for kind in ("pyarrow timestamp", "Polars Datetime"):
        spread = strew.aggregate(made_of(kind), GROUPS, "std")
        assert "uration" in str(spread.type if hasattr(spread, "type") else spread.dtype)


@pytest.mark.parametrize("name", ["min", "max", "first", "last", "median", "mean"])
@pytest.mark.parametrize("kind", ["pandas dates", "pandas zone", "pandas durations"])
def test_as_pandas_has_it(kind, name):
    given = made_of(kind)
    found = strew.aggregate(given, GROUPS, name)
    theirs = getattr(given.groupby(GROUPS), name)()
    # Both are cut off to the unit; the floats of pandas hold these small ones.
    assert found.dtype == theirs.dtype
    assert listed(found) == listed(theirs)


@pytest.mark.parametrize("name", ["sum", "cumsum", "std"])
def test_durations_as_pandas_has_them(name):
    given = made_of("pandas durations")
    found = strew.aggregate(given, GROUPS, name, ddof=1)
    theirs = getattr(given.groupby(GROUPS), name)()
    assert listed(found) == listed(theirs)


@pytest.mark.parametrize(
    "name", "sum mean min max first last median count nunique cumsum cummax shift rank".split()
)
@pytest.mark.parametrize("kind", ["pandas Int64", "pandas Float64", "pandas int64[pyarrow]"])
def test_numbers_as_pandas_has_them(kind, name):
    given = made_of(kind)
    found = strew.aggregate(given, GROUPS, name)
    theirs = getattr(given.groupby(GROUPS), name)()
    assert listed(found) == listed(theirs)
    assert found.index.tolist() == theirs.index.tolist()


# Memory.


def address_of(given):
    """Where the memory of the values begins."""
    if isinstance(given, pa.ChunkedArray):
        given = given.chunk(0)
    if isinstance(given, pa.Array):
        return given.buffers()[1].address + given.offset * given.type.bit_width // 8
    if isinstance(given, pl.Series):
        return given.to_physical().to_arrow().buffers()[1].address
    if isinstance(given, xr.DataArray):
        return given.values.ctypes.data
    return np.asarray(given).ctypes.data


SHARED = {
    "pandas float64": PLAIN["pandas float64"],
    "pandas dates": TIMES["pandas dates"],
    "xarray": PLAIN["xarray"],
    "pyarrow float": lambda v: pa.array(v, "float64"),
    "pyarrow nulls": lambda v: pa.array([None, *v], "float64"),
    "pyarrow slice": lambda v: pa.array([1.0, *v], "float64")[1:],
    "pyarrow chunk": lambda v: pa.chunked_array([v], "float64"),
    "pyarrow timestamp": lambda v: pa.array([int(one) for one in v], pa.timestamp("s")),
    "pandas int64[pyarrow]": lambda v: pd.Series(v, dtype="double[pyarrow]"),
    "Polars": lambda v: pl.Series(v),
    "Polars Datetime": lambda v: pl.Series([int(one) for one in v]).cast(pl.Datetime("us")),
}


@pytest.mark.parametrize("kind", SHARED)
def test_the_memory_is_shared(kind):
    given = SHARED[kind]([1.0, 2.0, 3.0])
    held = _kinds.find(given)("aggregate", "src", given)
    where = given.array.__arrow_array__() if kind == "pandas int64[pyarrow]" else given
    assert held.values.ctypes.data == address_of(where)


def test_the_memory_of_nullable_numbers_of_pandas_is_shared():
    values = np.arange(3.0)
    given = pd.arrays.FloatingArray(values, np.zeros(3, bool))
    for one in (given, pd.Series(given, copy=False)):
        held = _kinds.find(one)("aggregate", "src", one)
        assert np.shares_memory(held.values, values)


# Labels.


def test_labels_of_pandas():
    given = made_of("pandas Int64")
    per_group, per_value = strew.aggregate(given, GROUPS, ["max", "cumsum"], size=SIZE)
    assert per_group.index.tolist() == [0, 1, 2, 3]
    assert per_value.index.tolist() == LABELS
    keys, most = strew.aggregate(
        given, by=pd.Series(list("babcbacb"), LABELS, name="k"), reduce="max"
    )
    assert keys.tolist() == most.index.tolist() == ["a", "b", "c"]
    assert (most.index.name, most.name) == ("k", "x")
    frame = pd.DataFrame({"k": list("babcbacb"), "n": GROUPS % 2}, LABELS)
    keys, (total, count) = strew.aggregate(given, by=frame, reduce=["sum", "len"])
    theirs = given.groupby([frame["k"], frame["n"]]).sum()
    assert list(keys) == list(theirs.index.names) == list(total.index.names)
    assert total.index.tolist() == theirs.index.tolist()
    assert total.tolist() == theirs.tolist()
    assert count.tolist() == given.groupby([frame["k"], frame["n"]]).size().tolist()


def test_labels_of_pandas_that_differ():
    given = made_of("pandas Int64")
    other = pd.Series(GROUPS, LABELS[::-1])
    for call in (
        lambda: strew.aggregate(given, other),
        lambda: strew.scatter(given, other),
        lambda: strew.aggregate(given, (other, other)),
    ):
        with pytest.raises(ValueError, match="index and src have different labels"):
            call()
    with pytest.raises(ValueError, match="^aggregate: by and src have different labels"):
        strew.aggregate(given, by=other)
    with pytest.raises(ValueError, match="^aggregate: weights and src have different labels"):
        strew.aggregate(given, GROUPS, weights=other)
    assert strew.aggregate(given, other.to_numpy()).tolist() == [18, 0, 8]
    assert strew.aggregate(given, pd.Series(GROUPS, LABELS)).tolist() == [18, 0, 8]
    # Without labels of their own, values go by position.
    assert strew.aggregate(np.arange(8), other).tolist() == [13, 6, 9]


def test_labels_of_xarray():
    given = xr.DataArray(
        np.arange(12.0).reshape(3, 4),
        {"lat": [10, 20, 30], "time": list("abcd"), "height": ("lat", [1, 2, 3])},
        ("lat", "time"),
        "t",
        {"units": "K"},
    )
    month = xr.DataArray([1, 0, 1, 1], {"time": list("abcd")}, "time", "month")
    found = strew.aggregate(given, month, "mean", dim="time")
    assert (found.dims, found.name, found.attrs) == (("lat", "month"), "t", {"units": "K"})
    assert set(found.coords) == {"lat", "height"}
    np.testing.assert_array_equal(found, strew.aggregate(given.values, month.values, "mean", dim=1))
    assert strew.aggregate(given, month, "mean", dim=-1).identical(found)
    running = strew.aggregate(given, month, "cumsum", axis="time")
    assert running.dims == given.dims and set(running.coords) == set(given.coords)
    keys, found = strew.aggregate(
        given, by=month, dim="time", reduce=["max", "topk", "quantile"], q=[0, 1], k=2
    )
    assert [one.dims for one in found] == [
        ("lat", "month"),
        ("lat", "month", "k"),
        ("quantile", "lat", "month"),
    ]
    assert found[0]["month"].values.tolist() == keys.tolist() == [0, 1]
    theirs = given.groupby(month).max()
    np.testing.assert_array_equal(found[0].transpose(*theirs.dims), theirs)
    found = strew.aggregate(given, (month, [0, 0, 1, 1]), dim="time")
    assert found.dims == ("lat", "month", "group_1")
    picked = strew.gather(given, [3, 0], dim="time")
    assert picked.values.tolist() == given.values[:, [3, 0]].tolist()
    assert strew.scatter(given, month, dim="time", reduce="max").dims == ("lat", "month")
    _, found = strew.aggregate(given, by=(month, list("xyxx")), dim="time")
    assert found.dims == ("lat", "month") or "month" in found.coords
    with pytest.raises(ValueError, match="^aggregate: index lies along 'time', but dim = 0"):
        strew.aggregate(given, month)
    with pytest.raises(ValueError, match="^aggregate: dim = 'x': src has the dimensions"):
        strew.aggregate(given, month, dim="x")
    with pytest.raises(ValueError, match="index and src have different labels along 'time'"):
        strew.aggregate(given, month.assign_coords(time=list("dcba")), dim="time")


# The column of the index.


INDICES = {
    "pandas int64": lambda v: pd.Series(v, dtype="int64"),
    "pandas Int32": lambda v: pd.Series(v, dtype="Int32"),
    "pandas Index": lambda v: pd.Index(v, dtype="Int64"),
    "pandas uint8[pyarrow]": lambda v: pd.Series(v, dtype="uint8[pyarrow]"),
    "pyarrow": lambda v: pa.array(v, "int16"),
    "pyarrow chunks": lambda v: pa.chunked_array([v[:1], v[1:]], "uint64"),
    "Polars": lambda v: pl.Series(v, dtype=pl.UInt32),
    "xarray": lambda v: xr.DataArray(np.array(v), dims="t"),
}
WITHOUT_MISSING = ("pandas int64", "xarray")


@pytest.mark.parametrize("kind", INDICES)
def test_an_index(kind):
    src = np.array([5.0, 1.0, 7.0])
    index = INDICES[kind]([2, 0, 2])
    assert strew.aggregate(src, index).tolist() == [1.0, 0.0, 12.0]
    assert strew.scatter(src, index).tolist() == [1.0, 0.0, 12.0]
    assert strew.gather(src, index).tolist() == [7.0, 5.0, 7.0]
    assert strew.aggregate(src, (index, index)).tolist() == np.diag([1.0, 0, 12.0]).tolist()
    assert strew.aggregate(src, index, weights=index).tolist() == [0.0, 0.0, 24.0]
    for function in (strew.aggregate, strew.scatter, strew.gather):
        assert type(function(src, index)) is np.ndarray


@pytest.mark.parametrize("kind", [one for one in INDICES if one not in WITHOUT_MISSING])
@pytest.mark.parametrize("function", [strew.aggregate, strew.scatter, strew.gather])
def test_an_index_with_a_missing_number(kind, function):
    src, index = np.array([5.0, 1.0, 7.0]), INDICES[kind]([2, None, 2])
    for mode in ("error", "wrap", "clip"):
        words = rf'^{function.__name__}: index\[1\] is missing: .*; mode="drop" leaves out'
        with pytest.raises(IndexError, match=words):
            function(src, index, mode=mode)
    found = function(src, index, mode="drop").tolist()
    assert found == ([7.0, 0.0, 7.0] if function is strew.gather else [0.0, 0.0, 12.0])


@pytest.mark.parametrize(
    "index", [pd.Series(["a", "b"]), pd.Series([0.5, 1]), pa.array([0.5, 1]), pl.Series([0.5, 1.0])]
)
def test_an_index_of_other_values(index):
    with pytest.raises(TypeError, match="^aggregate: index has (the |)d?type"):
        strew.aggregate([1.0, 2.0], index)


# The column of keys.


@pytest.mark.parametrize("kind", [*NULLABLE, *TIMES])
def test_keys(kind):
    keys, counts = strew.aggregate(np.ones(len(VALUES)), by=made_of(kind), reduce="len")
    assert (len(keys), counts.tolist()) == (5, [1, 1, 1, 1, 2])


# The column of gather.


@pytest.mark.parametrize("kind", KINDS)
def test_gather(kind):
    given = made_of(kind)
    found = strew.gather(given, [2, 1, 9], mode="drop")
    check_kind(found, given)
    picked = listed(strew.gather(given, [2, 2, 0]))
    assert picked == [listed(given)[at] for at in (2, 2, 0)]
    if kind in NULLABLE or kind in BOOLS:
        assert listed(found) == [listed(given)[2], None, None]


@pytest.mark.parametrize("kind", [*NULLABLE, *BOOLS, *TIMES])
@pytest.mark.parametrize("reduce", ["max", "assign", "first"])
def test_scatter(kind, reduce):
    given = made_of(kind)
    found = strew.scatter(given, GROUPS, reduce=reduce, size=SIZE)
    check_kind(found, given)
    name = "last" if reduce == "assign" else reduce
    if reduce == "assign":
        last = [listed(given)[np.flatnonzero(at == GROUPS)[-1]] for at in range(3)]
        assert listed(found)[:3] == last
    else:
        assert listed(found) == listed(strew.aggregate(given, GROUPS, name, size=SIZE))


# Functions, shapes, refusals.


@pytest.mark.parametrize("kind", KINDS)
def test_a_function_takes_the_kind(kind):
    given, seen = made_of(kind), []

    def count(group):
        seen.append(family(group))
        return len(group)

    found = strew.aggregate(given, GROUPS, [count, "len"], size=3)
    assert {family(given)} == set(seen)
    check_kind(found[0], given)
    # A group of missing values alone has no result.
    nothing = kind in NULLABLE or kind in BOOLS or kind in TIMES
    nothing = nothing or (kind.startswith("pandas") and kind != "pandas int64")
    counts = listed(found[0])
    assert [counts[0], counts[2]] == [4, 2]
    assert (counts[1] is None or counts[1] == 0) if nothing else counts[1] == 2


def test_results_of_functions():
    given = made_of("pandas Int64")
    found = strew.aggregate(given, GROUPS, lambda group: group.max(), size=SIZE)
    assert listed(found) == [7, None, 7, None] and found.dtype == "Int64"
    found = strew.aggregate(given, GROUPS, lambda group: pd.NA if len(group) > 2 else 1)
    assert listed(found) == [None, None, 1]
    dates = made_of("pandas dates")
    found = strew.aggregate(dates, GROUPS, lambda group: group.max())
    assert found.dtype.kind == "M" and found[0] == dates.iloc[2]
    found = strew.aggregate(dates, GROUPS, lambda group: group.max() - group.min())
    assert found.dtype.kind == "m" and found[0] == datetime.timedelta(seconds=5)
    arrow = pa.array(VALUES)
    found = strew.aggregate(arrow, GROUPS, lambda group: group[0])
    assert found.to_pylist() == [5, None, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing(kind):
    given = KINDS[kind]([])
    if isinstance(given, xr.DataArray) or kind in ("pandas float64", "pandas index float64"):
        assert len(strew.aggregate(given, np.zeros(0, int), "max", size=2)) == 2
        return
    found = strew.aggregate(given, np.zeros(0, int), "max", size=2)
    check_kind(found, given)
    assert len(found) == 2


REFUSED = {
    "strings of pandas": pd.Series(["a", "b"]),
    "categories of pandas": pd.Series(["a", "b"], dtype="category"),
    "periods of pandas": pd.Series(pd.period_range("2020", periods=2, freq="D")),
    "strings of pyarrow": pa.array(["a", "b"]),
    "lists of pyarrow": pa.array([[1], [2]]),
    "decimals of pyarrow": pa.array([1, 2]).cast(pa.decimal128(20, 1)),
    "times of day of pyarrow": pa.array([1, 2], pa.time64("us")),
    "strings of Polars": pl.Series(["a", "b"]),
    "lists of Polars": pl.Series([[1], [2]]),
    "times of day of Polars": pl.Series([1, 2]).cast(pl.Time),
    "objects of xarray": xr.DataArray(np.array(["a", 1], object), dims="t"),
}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("function", [strew.aggregate, strew.scatter, strew.gather])
def test_other_types_are_refused(kind, function):
    with pytest.raises(TypeError, match=rf"^(strew\.)?{function.__name__}: src "):
        function(REFUSED[kind], [0, 0])


def test_arrays_of_dlpack_stay_as_they_are():
    assert _kinds.find(np.zeros(3)) is None
    assert _kinds.find([1, 2]) is None


def test_frames_are_matrices_where_they_are_no_tables():
    for make in [pd.DataFrame, pl.DataFrame, pa.table]:
        frame = make({"a": [1.0, 2.0, 4.0], "b": [1.0, 1.0, 8.0]})
        found = strew.scatter(frame, [0, 0, 1], 0)
        assert type(found) is np.ndarray and found.tolist() == [[3, 2], [4, 8]]
        assert strew.gather(frame, [2], 0).tolist() == [[4, 8]]
    for make in [pl.DataFrame, pa.table]:
        frame = make({"a": [1, None, 4], "b": [1, 1, None]})
        found = strew.scatter(frame, [0, 0, 1], 0, reduce="max")
        assert found.tolist() == [[1, 1], [4, None]]
        assert strew.gather(frame, [2], 0).tolist() == [[4, None]]


def test_the_examples_of_the_document():
    text = (pathlib.Path(__file__).resolve().parents[3] / "docs/inputs.md").read_text()
    names = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, names)
    assert listed(names["most"]) == [None, 7, 1] and names["most"].index.tolist() == ["a", "b", "c"]
    found = strew.aggregate(names["masked"], [1, 0, 1, 2], "max")
    assert found.tolist() == [None, 7, 1]
    assert strew.aggregate(names["dates"], [0, 0, 0], "mean") == np.datetime64("2020-01-06")
