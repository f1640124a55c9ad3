//! Columns of Parquet and Arrow files as tensors of calls.

#![cfg(feature = "columns")]

mod common;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use common::{Folder, read_npy};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::ops::Range;
use std::sync::Arc;

const ROWS: usize = 3000;

fn value(n: usize) -> f64 {
    ((n * 37) % 101) as f64 / 4.0
}

fn group(n: usize) -> i64 {
    (n * n % 17) as i64
}

/// Values and groups; those whose name ends in `?` lack some.
fn batch(rows: Range<usize>) -> RecordBatch {
    let some = |every: usize, n: usize| (n % every != 1).then_some(n);
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "v",
            Arc::new(Float64Array::from_iter_values(rows.clone().map(value))),
        ),
        (
            "v?",
            Arc::new(Float64Array::from_iter(
                rows.clone().map(|n| some(5, n).map(value)),
            )),
        ),
        (
            "g",
            Arc::new(Int64Array::from_iter_values(rows.clone().map(group))),
        ),
        (
            "g?",
            Arc::new(Int64Array::from_iter(
                rows.clone().map(|n| some(7, n).map(group)),
            )),
        ),
        (
            "t",
            Arc::new(StringArray::from_iter_values(rows.map(|n| format!("{n}")))),
        ),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn parquet(rows: Range<usize>) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(700))
        .set_compression(Compression::SNAPPY)
        .build();
    let all = batch(rows);
    let mut writer = ArrowWriter::try_new(Vec::new(), all.schema(), Some(properties)).unwrap();
    writer.write(&all).unwrap();
    writer.into_inner().unwrap()
}

fn arrow(rows: Range<usize>) -> Vec<u8> {
    let all = batch(rows);
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &all.schema()).unwrap();
    writer.write(&all).unwrap();
    writer.into_inner().unwrap()
}

/// The same rows in every format, as one file and as three.
fn files() -> Folder {
    let folder = Folder::new();
    folder.write("t.parquet", parquet(0..ROWS));
    folder.write("t.arrow", arrow(0..ROWS));
    for (n, rows) in [(1, 0..1000), (2, 1000..1001), (10, 1001..ROWS)] {
        folder.write(&format!("p-{n}.parquet"), parquet(rows));
    }
    let values: Vec<f64> = (0..ROWS).map(value).collect();
    let groups: Vec<i64> = (0..ROWS).map(group).collect();
    folder.npy("v.npy", &[ROWS as u64], &values);
    folder.npy("g.npy", &[ROWS as u64], &groups);
    folder
}

#[test]
fn columns_are_tensors_of_aggregate() {
    let folder = files();
    let rest = "--reduce sum,std,argmax,first,median --json";
    let expected = folder.strew(&format!("aggregate --src v.npy --index g.npy {rest}"));
    let expected = expected.json();
    for (src, index) in [
        ("t.parquet:v", "t.parquet:g"),
        ("t.arrow:v", "t.arrow:g"),
        ("t.parquet:v", "g.npy"),
        ("p-*.parquet:v", "t.arrow:g"),
    ] {
        let line = format!("aggregate --src {src} --index {index} {rest}");
        assert_eq!(folder.strew(&line).json(), expected, "{line}");
    }
    let chunked = "--reduce sum,std,argmax,first --json";
    let line = format!("aggregate --src v.npy --index g.npy {chunked}");
    let expected = folder.strew(&line).json();
    let line =
        format!("aggregate --src p-*.parquet:v --index t.arrow:g {chunked} --memory-limit 40K");
    assert_eq!(folder.strew(&line).json(), expected);
}

#[test]
fn columns_are_tensors_of_operators() {
    let folder = files();
    let call = "run torch_scatter.scatter --dim_size 17 --reduce sum";
    folder
        .strew(&format!("{call} --src v.npy --index g.npy -o a.npy"))
        .ok();
    let (_, expected) = read_npy::<f64>(&folder.path("a.npy"));
    for limit in ["", "--memory-limit 2K"] {
        let line = format!("{call} --src t.parquet:v --index t.arrow:g -o b.npy --force {limit}");
        folder.strew(&line).ok();
        assert_eq!(
            read_npy::<f64>(&folder.path("b.npy")).1,
            expected,
            "{limit}"
        );
    }
    let told = folder.strew("explain torch_scatter.scatter --src t.parquet:v --index t.parquet:g --reduce sum --no-measure");
    assert!(told.ok().contains("torch_scatter.scatter"));
}

#[test]
fn results_are_columns_beside_the_cells_number() {
    let folder = files();
    let call = "aggregate --src v.npy --index g.npy --reduce sum,argmax";
    folder.strew(&format!("{call} -o o.csv")).ok();
    folder.strew(&format!("{call} -o o.parquet")).ok();
    let text = String::from_utf8(folder.read("o.csv")).unwrap();
    assert_eq!(text.lines().next(), Some("cell,sum,argmax"));
    let made = folder.strew(&format!("{call} --json")).json();
    for column in ["sum", "argmax"] {
        for file in ["o.csv", "o.parquet"] {
            let line = format!(
                "aggregate --src {file}:{column} --index {file}:cell --reduce first --json"
            );
            let found = folder.strew(&line).json();
            let (found, made) = (
                &found["outputs"]["first"]["values"],
                &made["outputs"][column]["values"],
            );
            assert_eq!(found, made, "{column} {file}");
        }
    }
    let folder = Folder::new();
    let call = "run torch_scatter.scatter --dim 0 --reduce sum --index [0,0] --src";
    folder.strew(&format!("{call} [[1,2],[3,4]] -o o.csv")).ok();
    assert_eq!(folder.read("o.csv"), b"cell,out[0],out[1]\n0,4,6\n");
    folder
        .strew(&format!("{call} [1+2j,3]:complex64 -o o.csv --force"))
        .ok();
    assert_eq!(folder.read("o.csv"), b"cell,out.real,out.imag\n0,4.0,2.0\n");
    folder
        .strew(&format!("{call} [1.5,2]:bfloat16 -o o.csv --force"))
        .ok();
    assert_eq!(folder.read("o.csv"), b"cell,out\n0,3.5\n");
}

#[test]
fn zarr_folders_are_written_and_read() {
    let folder = files();
    let call = "aggregate --src v.npy --index g.npy --reduce sum,argmax";
    let made = folder.strew(&format!("{call} --json")).json();
    folder.strew(&format!("{call} -o o.zarr")).ok();
    let said = folder.strew(&format!("{call} -o o.zarr")).refused();
    assert!(said.contains("o.zarr: it exists already"), "{said}");
    folder.strew(&format!("{call} -o o.zarr --force")).ok();
    for name in ["sum", "argmax"] {
        let line = format!("run strew.gather --src o.zarr:{name} --index [0,5,16] --json");
        let found = folder.strew(&line).json();
        let values = &made["outputs"][name]["values"];
        let expected = serde_json::json!([values[0], values[5], values[16]]);
        assert_eq!(found["outputs"]["out"]["values"], expected, "{found}");
    }
    folder
        .strew("run torch_scatter.scatter --src v.npy --index g.npy --reduce sum -o s.zarr")
        .ok();
    for limit in ["", "--memory-limit 100"] {
        let line = format!("aggregate --src s.zarr --index g.npy --reduce sum {limit}");
        let told = folder.strew(&line).refused();
        assert!(told.contains("17"), "{told}");
    }
    let others = folder
        .names()
        .into_iter()
        .filter(|name| name.contains(".strew-"));
    assert_eq!(others.count(), 0);
    std::fs::create_dir(folder.path("d.zarr")).unwrap();
    for (line, part) in [
        (
            "--src v.npy --index g.npy -o d.zarr",
            "it is there and no Zarr hierarchy",
        ),
        (
            "--src v.npy --index g.npy -o x/d.zarr",
            "its directory does not exist",
        ),
        (
            "--src none.zarr --index g.npy",
            "none.zarr: there is no such folder",
        ),
        (
            "--src d.zarr --index g.npy",
            "d.zarr: it is not a readable Zarr file",
        ),
        (
            "--src o.zarr --index g.npy",
            "o.zarr: it is not a readable Zarr file",
        ),
    ] {
        let told = folder.strew(&format!("aggregate {line}")).refused();
        assert!(told.contains(part), "{line}: {told}");
    }
}

#[test]
fn missing_values_need_a_word() {
    let folder = files();
    let line = "aggregate --src t.parquet:v? --index t.parquet:g";
    assert_eq!(
        folder.strew(line).refused(),
        "strew: aggregate: --src: t.parquet: column 'v?' has no value in row 1; --nulls drop leaves \
         such rows out, and --nulls zero makes them 0"
    );
    let sums = |keep: &dyn Fn(usize) -> bool| {
        let mut sums = vec![0.0; 17];
        (0..ROWS)
            .filter(|&n| keep(n))
            .for_each(|n| sums[group(n) as usize] += value(n));
        sums
    };
    let found = |line: &str| {
        let made = folder.strew(&format!("{line} --json --size 17")).json();
        let values = made["outputs"]["sum"]["values"].as_array().unwrap().clone();
        values
            .iter()
            .map(|v| v.as_f64().unwrap())
            .collect::<Vec<_>>()
    };
    let both = |n: usize| n % 5 != 1 && n % 7 != 1;
    let pairs = "aggregate --index t.parquet:g? --nulls drop --src";
    assert_eq!(found(&format!("{pairs} t.parquet:v?")), sums(&both));
    assert_eq!(found(&format!("{pairs} p-*.parquet:v?")), sums(&both));
    assert_eq!(
        found(&format!("{pairs} t.arrow:v? --memory-limit 40K")),
        sums(&both)
    );
    assert_eq!(
        found("aggregate --src t.arrow:v? --index t.arrow:g --nulls zero"),
        sums(&|n| n % 5 != 1)
    );
    let other = "aggregate --src v.npy --index t.parquet:g? --nulls drop";
    let told = folder.strew(other).refused();
    assert!(
        told.contains("--src") && told.contains("this tensor of 3000 rows is no column"),
        "{told}"
    );
    let fewer = "aggregate --src p-1.parquet:v? --index t.parquet:g? --nulls drop";
    let told = folder.strew(fewer).refused();
    assert!(
        told.contains("it has 3000 rows, and src has 1000"),
        "{told}"
    );
}

#[test]
fn what_is_wrong_with_a_column_is_said() {
    let folder = files();
    let mut cut = folder.read("t.parquet");
    cut.truncate(cut.len() - 100);
    folder.write("cut.parquet", &cut);
    folder.write("no.arrow", b"no such thing");
    for (src, part) in [
        (
            "t.parquet:t",
            "t.parquet: column 't' has values of type Utf8, which no tensor has",
        ),
        (
            "t.parquet:x",
            "t.parquet: it has no column 'x', but v, v?, g, g?, t",
        ),
        (
            "t.arrow",
            "t.arrow: name one of its columns, as in file:name; it has v, v?, g, g?, t",
        ),
        (
            "cut.parquet:v",
            "cut.parquet: it is not a readable Parquet file: ",
        ),
        ("no.arrow:v", "no.arrow: "),
        ("none.parquet:v", "none.parquet: there is no such file"),
    ] {
        let told = folder
            .strew(&format!("aggregate --src {src} --index g.npy"))
            .refused();
        assert!(told.contains(part), "{src}: {told}");
    }
    let out =
        folder.strew("run torch_scatter.scatter --src v.npy --index g.npy --reduce sum -o x.tsv");
    assert!(
        out.refused().contains(
            "an output is a .npy, .npz, .safetensors, .zarr, .parquet, .arrow or .csv file"
        )
    );
}
