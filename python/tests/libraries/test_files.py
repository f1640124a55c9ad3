"""The tool with files that pandas, Polars, pyarrow and zarr-python write, and the other way around.

Needs these, and the tool: `STREW_TOOL` names it, or else it is that of `cargo build --release`.
"""

import datetime
import gzip
import json
import os
import pathlib
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import zarr
from pyarrow import csv, feather, ipc, parquet

ROOT = pathlib.Path(__file__).parents[3]
TOOL = os.environ.get("STREW_TOOL", str(ROOT / "target" / "release" / "strew"))
ROWS = 5000

CODECS = ["none", "snappy", "gzip", "lz4", "zstd"]
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64"]


def strew(folder, *words):
    done = subprocess.run([TOOL, *words], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def run(folder, *words):
    code, out, err = strew(folder, *words)
    assert (code, err) == (0, ""), err
    return out


def columns():
    random = np.random.default_rng(1)
    made = {name: random.integers(0, 2, ROWS).astype(name) for name in DTYPES}
    made["group"] = random.integers(0, 9, ROWS)
    made["value"] = random.standard_normal(ROWS)
    return made


def write(folder, table, kind):
    if kind == "feather":
        feather.write_feather(table, folder / "t.feather", compression="lz4", chunksize=700)
        return "t.feather"
    if kind == "stream":
        with ipc.new_stream(folder / "t.arrows", table.schema) as writer:
            writer.write_table(table, max_chunksize=700)
        return "t.arrows"
    if kind == "v2":
        options = {"data_page_version": "2.0", "version": "2.6", "compression": "zstd"}
    else:
        options = {"compression": kind}
    parquet.write_table(
        table, folder / "t.parquet", row_group_size=1200, data_page_size=2000, **options
    )
    return "t.parquet"


@pytest.mark.parametrize("kind", [*CODECS, "v2", "feather", "stream"])
def test_columns_are_read(tmp_path, kind):
    made = columns()
    name = write(tmp_path, pa.table(made), kind)
    np.save(tmp_path / "group.npy", made["group"])
    for dtype in [*DTYPES, "value"]:
        np.save(tmp_path / "value.npy", made[dtype])
        words = ["--reduce", "max,first,argmax,len", "--json"]
        expected = run(tmp_path, "aggregate", "--src", "value.npy", "--index", "group.npy", *words)
        src, index = f"{name}:{dtype}", f"{name}:group"
        found = run(tmp_path, "aggregate", "--src", src, "--index", index, *words)
        assert json.loads(found) == json.loads(expected), dtype


@pytest.mark.parametrize("kind", ["snappy", "feather"])
def test_dates_lists_dictionaries_and_nulls(tmp_path, kind):
    days = [datetime.date(1969, 12, 31) + datetime.timedelta(days=n % 5) for n in range(ROWS)]
    pairs = np.arange(2 * ROWS, dtype="float32")
    lacks = [None if n % 3 == 1 else n for n in range(ROWS)]
    table = pa.table(
        {
            "day": days,
            "time": pa.array(range(ROWS), pa.timestamp("us", tz="UTC")),
            "pair": pa.FixedSizeListArray.from_arrays(pairs, 2),
            "word": pa.array([f"w{n % 4}" for n in range(ROWS)]).dictionary_encode(),
            "lacks": lacks,
            "one": np.zeros(ROWS, "int64"),
        }
    )
    name = write(tmp_path, table, kind)
    found = run(
        tmp_path,
        "aggregate",
        "--src",
        f"{name}:pair",
        "--index",
        f"{name}:one",
        "--reduce",
        "last",
        "-o",
        "o.npy",
    )
    assert found == ""
    assert np.load(tmp_path / "o.npy").tolist() == [[2 * ROWS - 2, 2 * ROWS - 1]]
    call = ["aggregate", "--by", "day,word", "--value", "lacks", "--reduce", "sum,len", "--json"]
    code, _, err = strew(tmp_path, *call, name)
    assert code == 2 and "column 'lacks' has no value in row 1" in err
    rows = json.loads(run(tmp_path, *call, name, "--nulls", "drop"))["rows"]
    expected = {}
    for n in range(ROWS):
        if lacks[n] is not None:
            total, count = expected.get((str(days[n]), f"w{n % 4}"), (0, 0))
            expected[str(days[n]), f"w{n % 4}"] = (total + n, count + 1)
    assert [(r["day"], r["word"]) for r in rows] == sorted(expected)
    assert [(r["sum"], r["len"]) for r in rows] == [expected[key] for key in sorted(expected)]
    latest = run(
        tmp_path, "aggregate", "--by", "word", "--value", "time", name, "--reduce", "max", "--json"
    )
    assert json.loads(latest)["rows"][3]["max"] == ROWS - 1


def test_tables_are_read_by_pyarrow(tmp_path):
    made = columns()
    table = pa.table({**made, "carrier": [f"c{n % 3}" for n in range(ROWS)]})
    parquet.write_table(table, tmp_path / "t.parquet")
    csv.write_csv(table.drop_columns(["float16"]), tmp_path / "t.csv")
    reduce = ["--reduce", "sum,mean,count"]
    for name in ["t.parquet", "t.csv"]:
        call = ["aggregate", "--by", "carrier,group", "--value", "value", name, *reduce]
        run(tmp_path, *call, "-o", "o.parquet", "--force")
        run(tmp_path, *call, "-o", "o.csv", "--force")
        found = parquet.read_table(tmp_path / "o.parquet")
        assert found.schema.names == ["carrier", "group", "sum", "mean", "count"]
        assert csv.read_csv(tmp_path / "o.csv").to_pydict() == found.to_pydict()
        expected = table.group_by(["carrier", "group"], use_threads=False)
        expected = expected.aggregate([("value", "sum"), ("value", "count")])
        expected = expected.sort_by([("carrier", "ascending"), ("group", "ascending")])
        assert found["carrier"].to_pylist() == expected["carrier"].to_pylist()
        assert found["group"].to_pylist() == expected["group"].to_pylist()
        assert found["count"].to_pylist() == expected["value_count"].to_pylist()
        np.testing.assert_allclose(found["sum"], expected["value_sum"], rtol=1e-12)


ZARR = {
    "v3": {"zarr_format": 3, "chunks": (700, 2)},
    "v3 sharded": {"zarr_format": 3, "chunks": (100, 1), "shards": (1000, 2)},
    "v3 gzip": {"zarr_format": 3, "chunks": (700, 3), "compressors": zarr.codecs.GzipCodec()},
    "v3 plain": {"zarr_format": 3, "chunks": (5000, 3), "compressors": None},
    "v3 big": {
        "zarr_format": 3,
        "chunks": (700, 3),
        "serializer": zarr.codecs.BytesCodec(endian="big"),
    },
    "v2": {"zarr_format": 2, "chunks": (700, 2)},
    "v2 columns": {"zarr_format": 2, "chunks": (700, 2), "order": "F"},
}


@pytest.mark.parametrize("kind", ZARR)
@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128"])
def test_zarr_is_read(tmp_path, kind, dtype):
    random = np.random.default_rng(2)
    values = random.integers(0, 2, (ROWS, 3)).astype(dtype)
    options = dict(ZARR[kind])
    if values.itemsize == 1:
        # One byte has no order.
        options.pop("serializer", None)
    zarr.create_array(tmp_path / "v.zarr", data=values, **options)
    np.save(tmp_path / "i.npy", random.integers(0, 9, ROWS))
    np.save(tmp_path / "v.npy", values)
    words = ["--index", "i.npy", "--reduce", "first,last,len", "--json"]
    expected = run(tmp_path, "aggregate", "--src", "v.npy", *words)
    if kind.startswith("v2") and dtype in ["bool", "complex64", "complex128"]:
        # The reader takes numbers only as their fill value.
        code, _, err = strew(tmp_path, "aggregate", "--src", "v.zarr", *words)
        assert code == 2 and "it is not a readable Zarr file" in err
        return
    for limit in [[], ["--memory-limit", "60K"]]:
        found = run(tmp_path, "aggregate", "--src", "v.zarr", *words, *limit)
        assert json.loads(found) == json.loads(expected)


def test_missing_chunks_have_the_fill_value(tmp_path):
    array = zarr.create_array(
        tmp_path / "v.zarr", shape=(10,), chunks=(2,), dtype="f8", fill_value=7
    )
    array[2:5] = [1, 2, 3]
    np.save(tmp_path / "i.npy", np.zeros(10, "i8"))
    found = run(tmp_path, "aggregate", "--src", "v.zarr", "--index", "i.npy", "--json")
    assert json.loads(found)["outputs"]["sum"]["values"] == [55.0]


@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128"])
def test_zarr_is_read_by_zarr_python(tmp_path, dtype):
    random = np.random.default_rng(3)
    values = random.integers(0, 2, (ROWS, 3)).astype(dtype)
    np.save(tmp_path / "v.npy", values)
    np.save(tmp_path / "i.npy", random.integers(0, 900, ROWS))
    call = ["aggregate", "--src", "v.npy", "--index", "i.npy", "--reduce"]
    run(tmp_path, *call, "first,len", "-o", "o.npz")
    run(tmp_path, *call, "first,len", "-o", "o.zarr")
    run(tmp_path, *call, "first", "-o", "one.zarr")
    expected = np.load(tmp_path / "o.npz")
    found = zarr.open_group(tmp_path / "o.zarr", mode="r")
    for name in ["first", "len"]:
        assert found[name].dtype == expected[name].dtype
        np.testing.assert_array_equal(found[name][...], expected[name])
    np.testing.assert_array_equal(
        zarr.open_array(tmp_path / "one.zarr", mode="r")[...], expected["first"]
    )


def test_a_codec_that_is_not_supported_is_named(tmp_path):
    blosc = zarr.codecs.BloscCodec()
    zarr.create_array(tmp_path / "v.zarr", data=np.zeros(10), compressors=blosc)
    code, _, err = strew(tmp_path, "aggregate", "--src", "v.zarr", "--index", "[0]")
    assert code == 2 and "blosc" in err and err.count("\n") == 1


def trips():
    """A table with keys like numbers, and values that are missing here and there."""
    random = np.random.default_rng(7)
    zips = np.array(["00060", "60", "0", "10001", "1e3"])
    return pd.DataFrame(
        {
            "zip": zips[random.integers(0, 5, ROWS)],
            "who, where": np.array(["a,b", 'q"q', "line\nend", "", "NA"])[
                random.integers(0, 5, ROWS)
            ],
            "fare": np.where(random.random(ROWS) < 0.2, np.nan, random.integers(-50, 50, ROWS) / 4),
            "miles": pd.array(random.integers(0, 1 << 62, ROWS), dtype="Int64"),
        }
    )


def compare(rows, expected, keys):
    """The rows of `--json` are those of a frame of pandas."""
    assert [[row[key] for key in keys] for row in rows] == [
        [row[key] for key in keys] for row in expected.to_dict("records")
    ]
    for name in expected.columns.drop(keys):
        found = pd.Series([row[name] for row in rows], dtype="Float64")
        np.testing.assert_allclose(
            found.astype(float), expected[name].astype("Float64").astype(float), rtol=1e-12
        )


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "csv.zst", "polars", "parquet", "arrow", "-"])
def test_groups_are_those_of_pandas(tmp_path, kind):
    frame = trips()
    frame.loc[::11, "miles"] = pd.NA
    path = tmp_path / f"t.{kind}"
    if kind in ["parquet", "arrow"]:
        getattr(frame, {"parquet": "to_parquet", "arrow": "to_feather"}[kind])(path)
    elif kind == "polars":
        path = tmp_path / "t.csv"
        pl.from_pandas(frame).write_csv(path, quote_style="non_numeric")
    elif kind == "-":
        path = tmp_path / "t.csv"
        path.write_bytes(gzip.compress(frame.to_csv(index=False, quoting=2).encode()))
    else:
        # Quotes around text only, as R and pandas write them, so that NA is a word.
        text = frame.to_csv(index=False, quoting=2).encode()
        codec = {"csv": None, "csv.gz": "gzip", "csv.zst": "zstd"}[kind]
        with pa.output_stream(path, compression=codec) as file:
            file.write(text)
    expected = (
        frame.groupby(["who, where", "zip"])
        .agg(
            fare_sum=("fare", "sum"),
            fare_std=("fare", "std"),
            fare_count=("fare", "count"),
            fare_len=("fare", "size"),
            miles_max=("miles", "max"),
            miles_count=("miles", "count"),
        )
        .reset_index()
    )
    expected = expected.sort_values(
        ["who, where", "zip"], key=lambda s: s.map(lambda text: text.encode())
    )
    call = ["aggregate", "--by", "who, where", "--by", "zip", "--value", "fare,miles", "--json"]
    call += ["--reduce", "sum,std,count,len,max", "--ddof", "1", "--nulls", "skip"]
    if kind not in ["parquet", "arrow"]:
        # pandas writes "" for a missing number where it quotes text: an empty string, without types.
        call += ["--types", "fare=float64,miles=int64"]
    if kind == "arrow":
        # A NaN of pandas is a null in Arrow's files.
        assert feather.read_table(path)["fare"].null_count > 0
    rows = json.loads(run(tmp_path, *call, str(path)))["rows"]
    compare(rows, expected, ["who, where", "zip"])


def test_a_data_set_of_pyarrow_is_a_folder(tmp_path):
    frame = trips()
    frame["year"] = np.arange(ROWS) % 3 + 2013
    frame["city"] = np.array(["New York", "a/b", None, "50%"], dtype=object)[np.arange(ROWS) % 4]
    table = pa.Table.from_pandas(frame, preserve_index=False)
    parquet.write_to_dataset(table, tmp_path / "d", partition_cols=["year", "city"])
    call = ["aggregate", "--by", "city,year", "--value", "fare", "--reduce", "sum,count"]
    rows = json.loads(run(tmp_path, *call, "--nulls", "skip", "--json", "d"))["rows"]
    expected = frame.groupby(["city", "year"])["fare"].agg(["sum", "count"]).reset_index()
    compare(rows, expected, ["city", "year"])


def test_what_is_written_is_read_the_same_by_polars(tmp_path):
    frame = trips()
    frame.to_csv(tmp_path / "t.csv", index=False, quoting=2)
    call = ["aggregate", "--by", "zip", "--value", "fare", "t.csv", "--nulls", "skip"]
    call += ["--types", "fare=float64"]
    for name in ["o.csv", "o.parquet", "o.arrow"]:
        run(tmp_path, *call, "--reduce", "sum,count", "-o", name)
    expected = pl.read_parquet(tmp_path / "o.parquet")
    assert expected.schema == {"zip": pl.String, "sum": pl.Float64, "count": pl.Int64}
    assert pl.read_ipc(tmp_path / "o.arrow").equals(expected)
    found = pl.read_csv(tmp_path / "o.csv", schema_overrides={"zip": pl.String})
    assert found.equals(expected)
