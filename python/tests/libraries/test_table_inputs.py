"""What strew.aggregate of a frame does with keys, weights and columns of unusual kinds."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import strew

MAKE = {"pandas": lambda f: f, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


def rows_of(frame):
    """The rows of a frame as tuples, with None for what is missing."""
    frame = frame.to_pandas() if isinstance(frame, pa.Table) else frame
    frame = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
    return [
        tuple(None if pd.isna(value) else value for value in row)
        for row in frame.itertuples(index=False)
    ]


@pytest.mark.parametrize("library", MAKE)
def test_a_plan_knows_the_key_of_each_row(library):
    frame = MAKE[library](pd.DataFrame({"k": ["c", "a", "b"], "v": [3.0, 1.0, 2.0]}))
    for reduce in ("cumsum", "rank", "shift", "cumcount", "sort", "softmax"):
        by_plan = strew.aggregate(frame, strew.group(frame, "k"), {"v": reduce})
        by_name = strew.aggregate(frame, by="k", reduce={"v": reduce})
        assert rows_of(by_plan) == rows_of(by_name)
    words = ["c", "a", None, "a"]
    frame = MAKE[library](pd.DataFrame({"k": words, "v": [3.0, 1.0, 2.0, 5.0]}))
    found = strew.aggregate(frame, strew.group(frame, "k"), {"v": "cumsum"})
    assert rows_of(found) == [("c", 3.0), ("a", 1.0), (None, None), ("a", 6.0)]


def test_a_plan_keeps_the_labels_of_rows():
    frame = pd.DataFrame({"k": ["c", "a", "c"], "v": [3.0, 1.0, 2.0]}, index=[2, 0, 1])
    found = strew.aggregate(frame, strew.group(frame, "k"), {"v": "cumsum"})
    assert found.index.tolist() == [2, 0, 1]
    assert found.k.tolist() == ["c", "a", "c"] and found.v.tolist() == [3.0, 1.0, 5.0]


def test_labels_that_differ_are_refused():
    frame = pd.DataFrame({"k": ["a", "b", "b"], "v": [1.0, 2.0, 3.0]})
    back = frame[::-1]
    for call, name in [
        (lambda: strew.aggregate(frame, by=back.k, reduce={"v": "sum"}), "by"),
        (lambda: strew.aggregate(frame, by=["k", back.k.rename("z")], reduce="len"), "by"),
        (lambda: strew.aggregate(frame, by=back[["k"]], reduce={"v": "sum"}), "by"),
        (lambda: strew.aggregate(frame, by="k", reduce={"v": "mean"}, weights=back.v), "weights"),
        (lambda: strew.aggregate(frame, pd.Series([0, 1, 1], [3, 4, 5]), {"v": "sum"}), "index"),
    ]:
        with pytest.raises(ValueError, match=f"^aggregate: {name} and src have different labels"):
            call()
    same = strew.aggregate(frame, by=frame.k, reduce={"v": "sum"}, weights=frame.v)
    assert same.v.tolist() == [1.0, 13.0]


def test_a_float_series_has_nan_where_nothing_is_gathered():
    picked = strew.gather(pd.Series([10.0, 20.0]), [0, -1, 1], ignore_index=-1)
    assert picked[[0, 2]].tolist() == [10.0, 20.0] and np.isnan(picked[1])
    filled = strew.gather(pd.Series([10.0]), [0, -1], ignore_index=-1, fill_value=7)
    assert filled.tolist() == [10.0, 7.0]
    assert strew.gather(pd.Series([10]), [0, -1], ignore_index=-1).tolist() == [10, 0]


def test_deviations_of_dates_are_not_cut_to_days():
    dates = [dt.date(2020, 1, 1), None, dt.date(2020, 1, 2)]
    frame = pl.DataFrame({"k": [1, 1, 1], "d": dates})
    seconds = int(86_400 * 0.5**0.5)
    for reduce, ddof in (("std", 1), ("sem", 1)):
        found = strew.aggregate(frame, by="k", reduce={"d": reduce}, ddof=ddof)
        wanted = 86_400_000 * 0.5**0.5 / (2**0.5 if reduce == "sem" else 1)
        assert found["d"].to_physical().to_list() == [int(wanted)]
        assert found["d"].dtype == pl.Duration("ms")
    arrow = strew.aggregate(frame.to_arrow(), by="k", reduce={"d": "std"}, ddof=1)
    assert arrow["d"].to_pylist() == [dt.timedelta(seconds=seconds)]
    days = np.array(["2020-01-01", "2020-01-02"], "M8[D]")
    assert strew.aggregate(days, [0, 0], "std", ddof=1) == np.array([0], "m8[D]")


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (pl.Float32, "float32"),
        (pl.Float64(), "float64"),
        (pa.float32(), "float32"),
        (pd.Float32Dtype(), "float32"),
        (pd.ArrowDtype(pa.float64()), "float64"),
        ("Float64", "float64"),
    ],
)
def test_dtypes_of_any_library(dtype, name):
    assert strew.aggregate(np.ones(2, np.float32), [0, 0], "sum", dtype=dtype).dtype == name


@pytest.mark.parametrize("dtype", [pl.String, pa.string(), pd.CategoricalDtype(), object])
def test_dtypes_that_are_no_numbers(dtype):
    with pytest.raises(TypeError, match="it must be a dtype of numbers or bools"):
        strew.aggregate([1.0], [0], "sum", dtype=dtype)


def test_columns_without_an_order():
    frame = pl.DataFrame({"k": [1, 1, 2], "v": [{"a": 1}, None, {"a": 3}], "w": [[1], [2], None]})
    wanted = ["len", "count", "first", "last"]
    found = strew.aggregate(frame, by="k", reduce={"v": wanted, "w": wanted})
    assert found["v_len"].to_list() == [2, 1] and found["w_count"].to_list() == [2, 0]
    assert found["v_first"].to_list() == [{"a": 1}, {"a": 3}]
    assert found["w_last"].to_list() == [[2], None]
    assert found["v_first"].dtype == frame["v"].dtype
    arrow = strew.aggregate(frame.to_arrow(), by="k", reduce={"v": wanted})
    assert arrow["v_count"].to_pylist() == [1, 1]
    objects = pd.DataFrame({"k": [1, 1, 2], "v": [None, {"a"}, 3]})
    found = strew.aggregate(objects, by="k", reduce={"v": wanted})
    assert found.v_first.tolist() == [{"a"}, 3] and found.v_count.tolist() == [1, 1]
    with pytest.raises(
        TypeError, match=r"^aggregate: column 'v': nunique: these values have no or"
    ):
        strew.aggregate(frame, by="k", reduce={"v": "nunique"})


def test_mistakes_are_named():
    frame = pd.DataFrame({"k": ["a", "b"], "v": [1.0, 2.0]})
    polars = pl.from_pandas(frame)
    for error, words, call in [
        (ValueError, "did you mean nunique", lambda: (polars, "v", {"k": "nuniq"})),
        (ValueError, "is no Expr", lambda: (polars, pl.col("k"), "sum")),
        (ValueError, "is no Grouper", lambda: (frame, pd.Grouper(key="k"), "sum")),
        (ValueError, "is no GroupPlan", lambda: (frame, strew.group(frame, "k"), "sum")),
        (ValueError, "the column 'x', which is", lambda: (polars, "k", {"x": pl.col("v").mean()})),
        (ValueError, "a key and a result have", lambda: (frame, frame.v > 1, {"v": "mean"})),
        (ValueError, "no columns", lambda: (pd.DataFrame(index=[1]), "k", "sum")),
        (ValueError, "name the results", lambda: (frame, "k", {"v": [lambda v: 1, lambda v: 2]})),
    ]:
        src, by, reduce = call()
        with pytest.raises(error, match=f"^aggregate: .*{words}"):
            strew.aggregate(src, by=by, reduce=reduce)
    with pytest.raises(TypeError, match="pass the frame, and the keys as by="):
        strew.aggregate(frame.groupby("k"), reduce="mean")


def test_a_named_aggregation_of_pandas():
    frame = pd.DataFrame({"k": ["a", "b", "b"], "v": [1.0, 2.0, 3.0]})
    found = strew.aggregate(frame, by="k", reduce={"total": pd.NamedAgg("v", "sum")})
    assert found.total.tolist() == [1.0, 5.0]
