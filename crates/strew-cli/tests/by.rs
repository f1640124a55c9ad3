//! Groups by keys: `strew aggregate --by`.

#![cfg(feature = "columns")]

mod common;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray,
};
use common::Folder;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let all = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(100))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), all.schema(), Some(properties)).unwrap();
    writer.write(&all).unwrap();
    writer.into_inner().unwrap()
}

const CARRIERS: [&str; 4] = ["UA", "AA", "é\n", "B6"];

fn month(n: usize) -> i32 {
    [7, -2, 12][n * n % 3]
}

fn carrier(n: usize) -> &'static str {
    CARRIERS[n * 7 % 11 % 4]
}

fn delay(n: usize) -> Option<f64> {
    (n % 13 != 5).then_some((n * 31 % 257) as f64 / 8.0 - 9.0)
}

const ROWS: usize = 1000;

fn flights() -> Folder {
    let folder = Folder::new();
    let rows = 0..ROWS;
    folder.write(
        "flights.parquet",
        parquet(vec![
            (
                "month",
                Arc::new(Int32Array::from_iter_values(rows.clone().map(month))),
            ),
            (
                "carrier",
                Arc::new(StringArray::from_iter_values(rows.clone().map(carrier))),
            ),
            (
                "delay",
                Arc::new(Float64Array::from_iter(rows.clone().map(delay))),
            ),
            (
                "miles",
                Arc::new(Int64Array::from_iter_values(
                    rows.clone().map(|n| n as i64 % 50),
                )),
            ),
            (
                "late",
                Arc::new(BooleanArray::from_iter(
                    rows.clone().map(|n| Some(n % 4 == 0)),
                )),
            ),
            (
                "day",
                Arc::new(Date32Array::from_iter_values(
                    rows.clone().map(|n| 19_000 + n as i32 % 3),
                )),
            ),
            (
                "short",
                Arc::new(Float32Array::from_iter_values(rows.map(|n| n as f32))),
            ),
        ]),
    );
    let mut text = "month,carrier,delay,miles\n".to_owned();
    for n in 0..ROWS {
        let delay = delay(n).map_or("NA".to_owned(), |d| d.to_string());
        text.push_str(&format!(
            "{},\"{}\",{delay},{}\n",
            month(n),
            carrier(n),
            n % 50
        ));
    }
    folder.write("flights.csv", text);
    folder
}

#[test]
fn groups_have_the_results_of_their_rows() {
    let folder = flights();
    let mut groups: BTreeMap<(i32, &str), Vec<f64>> = BTreeMap::new();
    for n in 0..ROWS {
        if let Some(delay) = delay(n) {
            groups
                .entry((month(n), carrier(n)))
                .or_default()
                .push(delay);
        }
    }
    let expected: Vec<_> = groups
        .iter()
        .map(|(&(month, carrier), values)| {
            let sum: f64 = values.iter().sum();
            let max = values.iter().copied().fold(f64::MIN, f64::max);
            json!({
                "month": month, "carrier": carrier, "sum": sum,
                "mean": sum / values.len() as f64, "max": max, "count": values.len(),
            })
        })
        .collect();
    for file in ["flights.parquet", "flights.csv"] {
        let words = if file.ends_with("csv") {
            "--missing NA"
        } else {
            ""
        };
        let call =
            format!("aggregate --by month,carrier --value delay {file} --nulls drop {words}");
        let made = folder
            .strew(&format!("{call} --reduce sum,mean,max,count --json"))
            .json();
        let keys = json!(["month", "carrier"]);
        let month = if file.ends_with("csv") {
            "int64"
        } else {
            "int32"
        };
        let types = json!({"month": month, "carrier": "text", "delay": "float64"});
        assert_eq!(
            made,
            json!({"operator": "aggregate", "keys": keys, "types": types, "rows": expected})
        );
        // All values at once: the median is no record of a group.
        let made = folder
            .strew(&format!("{call} --reduce median,sum --json"))
            .json();
        for (row, (key, values)) in made["rows"].as_array().unwrap().iter().zip(&groups) {
            let mut values = values.clone();
            values.sort_by(f64::total_cmp);
            let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
            assert_eq!(row["median"], (low + high) / 2.0, "{key:?}");
            assert_eq!(row["sum"], values.iter().sum::<f64>());
        }
    }
}

#[test]
fn a_table_is_for_people() {
    let folder = Folder::new();
    folder.write("t.csv", "who,n,x\nb,1,0.5\na,10,\nb,2,1\n,3,\n");
    let made = folder.strew("aggregate --by who --value n,x t.csv --reduce sum,max --nulls zero");
    let expected = "\
who   n_sum  n_max  x_sum  x_max
a        10     10    0.0    0.0
b         3      2    1.5    1.0
null      3      3    0.0    0.0
";
    assert_eq!(made.ok(), expected);
    let made = folder.strew("aggregate --by who --value n t.csv --reduce topk --k 2 --nulls drop");
    assert_eq!(
        made.ok(),
        "who  topk[0]  topk[1]\na         10        0\nb          2        1\n"
    );
    let many: String = (0..100).map(|n| format!("{n},1\n")).collect();
    folder.write("many.csv", format!("k,v\n{many}"));
    let text = folder.strew("aggregate --by k --value v many.csv").ok();
    assert_eq!(text.lines().count(), 1 + 10 + 1 + 10 + 1, "{text}");
    assert!(text.ends_with(" 99    1\n(100 rows)\n"), "{text}");
    folder.write("none.csv", "k,v\n");
    assert_eq!(
        folder.strew("aggregate --by k --value v none.csv").ok(),
        "k  sum\n"
    );
}

#[test]
fn tables_are_written_and_read_again() {
    let folder = flights();
    let call = "aggregate --by day,late --value short flights.parquet --reduce mean,len,argmax";
    folder.strew(&format!("{call} -o out.parquet")).ok();
    folder.strew(&format!("{call} -o out.csv")).ok();
    let text = String::from_utf8(folder.read("out.csv")).unwrap();
    assert_eq!(text.lines().next(), Some("day,late,mean,len,argmax"));
    assert!(
        text.lines()
            .nth(1)
            .unwrap()
            .starts_with("2022-01-08,false,"),
        "{text}"
    );
    let file = File::open(folder.path("out.parquet")).unwrap();
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    let batch = reader.next().unwrap().unwrap();
    let types: Vec<String> = batch
        .schema()
        .fields()
        .iter()
        .map(|f| f.data_type().to_string())
        .collect();
    assert_eq!(types, ["Date32", "Boolean", "Float32", "Int64", "Int64"]);
    assert_eq!(batch.num_rows(), text.lines().count() - 1);
    let again = folder
        .strew("aggregate --by day --value len out.parquet --json")
        .json();
    let total: i64 = again["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["sum"].as_i64().unwrap())
        .sum();
    assert_eq!(total, ROWS as i64);
    let told = folder
        .strew(&format!("{call} -o out.csv --force --json"))
        .json();
    assert_eq!(told["groups"], 6);
    // A dash stands for CSV on standard output, as in the file.
    assert_eq!(folder.strew(&format!("{call} -o -")).ok(), text);
    let told = folder.strew(&format!("{call} -o - --json")).refused();
    assert!(told.contains("-o - writes CSV where --json"), "{told}");
    assert_eq!(
        folder.names(),
        ["flights.csv", "flights.parquet", "out.csv", "out.parquet"]
    );
}

#[test]
fn arrays_are_keys() {
    let folder = Folder::new();
    folder.npy("n.npy", &[4], &[2i64, -1, 2, 2]);
    folder.npy("v.npy", &[4], &[1.5f64, 2.0, 3.0, 4.0]);
    let words: Vec<u8> = "beaabebe"
        .chars()
        .flat_map(|c| (c as u32).to_le_bytes())
        .collect();
    let header = "{'descr': '<U2', 'fortran_order': False, 'shape': (4,), }";
    folder.write("w.npy", common::raw_npy(header, &words));
    let days = [18000i64, 18000, 17999, 18000]
        .map(i64::to_le_bytes)
        .concat();
    let header = "{'descr': '<M8[D]', 'fortran_order': False, 'shape': (4,), }";
    folder.write("d.npy", common::raw_npy(header, &days));
    let made = folder
        .strew("aggregate --by n.npy --value v.npy --json")
        .json();
    let rows = json!([{"n.npy": -1, "sum": 2.0}, {"n.npy": 2, "sum": 8.5}]);
    assert_eq!(made["rows"], rows);
    let made = folder
        .strew("aggregate --by d.npy,w.npy --value v.npy,n.npy --json")
        .json();
    let row = |day: &str, word: &str, v: f64, n: i64| json!({"d.npy": day, "w.npy": word, "v.npy_sum": v, "n.npy_sum": n});
    let rows = [
        row("2019-04-13", "be", 3.0, 2),
        row("2019-04-14", "aa", 2.0, -1),
        row("2019-04-14", "be", 5.5, 4),
    ];
    assert_eq!(made["rows"], json!(rows), "{made}");
    folder.npy("short.npy", &[3], &[1i64, 2, 3]);
    folder.npy("two.npy", &[2, 2], &[1i64, 2, 3, 4]);
    folder.write("cut.npy", common::raw_npy(header, &days[1..]));
    for (by, part) in [
        ("short.npy", "keys and values have not as many rows"),
        ("two.npy", "two.npy: it must be 1-d, and has shape [2, 2]"),
        (
            "cut.npy",
            "cut.npy: its header speaks of 4 elements of type <M8[D], and it holds 31 bytes",
        ),
        ("month", "'month' is no array"),
        ("none.npy", "none.npy: there is no such file"),
    ] {
        let told = folder
            .strew(&format!("aggregate --by {by} --value v.npy"))
            .refused();
        assert!(told.contains(part), "{by}: {told}");
    }
}

#[test]
fn groups_are_drawn() {
    let folder = Folder::new();
    folder.write("t.csv", "k,v\n<a>,1\n\"b\n\",-2\nc,4\n");
    let call = "aggregate --by k --value v t.csv --plot p.svg --force";
    let told = folder.strew(&format!("{call} --dry-run")).ok();
    assert!(told.contains("groups v by k"), "{told}");
    assert_eq!(folder.names(), ["t.csv"]);
    assert_eq!(folder.strew(call).ok(), "");
    let text = String::from_utf8(folder.read("p.svg")).unwrap();
    assert_eq!(text.matches("<rect x=").count(), 3, "{text}");
    assert!(text.contains(">sum by k<") && text.contains(">&lt;a&gt;<") && text.contains(">-2<"));
    // The longest of 560 pixels spans -2 to 4.
    assert!(
        text.contains("width=\"373.3\"") && text.contains("width=\"186.7\""),
        "{text}"
    );
    assert!(folder.strew(&format!("{call} --json")).json()["rows"][2]["sum"] == 4);
    let many: String = (0..1000).map(|n| format!("{n},{}\n", n * n)).collect();
    folder.write("t.csv", format!("k,v\n{many}"));
    folder.strew(call).ok();
    let text = String::from_utf8(folder.read("p.svg")).unwrap();
    assert_eq!(text.matches("<rect x=").count(), 40);
    assert!(
        text.contains("1000 groups by k: how many have which sum"),
        "{text}"
    );
    let told = folder
        .strew("aggregate --by k --value v t.csv --plot p.png")
        .refused();
    assert!(told.contains("--plot: 'p.png' is no .svg file"), "{told}");
}

#[test]
fn what_is_wrong_is_said() {
    let folder = flights();
    folder.write("ragged.csv", "a,b\n1,2\n3\n");
    folder.write("latin.csv", b"a,b\n1,2\n\xe9,3\n");
    folder.write("empty.csv", b"");
    let by = "aggregate --by month --value delay";
    let cases = [
        (
            format!("{by} flights.parquet"),
            "flights.parquet: column 'delay' has no value in row 5; --nulls",
        ),
        (
            "aggregate --by delay --value miles flights.parquet --nulls drop".into(),
            "Float64, which are no keys",
        ),
        (
            "aggregate --by month --value carrier flights.parquet".into(),
            "column 'carrier' has values of type Utf8",
        ),
        (
            "aggregate --by x --value delay flights.csv".into(),
            "it has no column 'x', but month, carrier, delay, miles",
        ),
        (
            format!("{by} flights.csv --reduce cumsum"),
            "--reduce: cumsum has a result for each value",
        ),
        (
            format!("{by} flights.csv -o x.npy"),
            "a table goes to a .csv, .parquet or .arrow file",
        ),
        (format!("{by} t.npy"), "a table is a .parquet"),
        (format!("{by} none.csv"), "there is no such file"),
        (
            "aggregate --by a,a --value b ragged.csv".into(),
            "--by: a is there twice",
        ),
        (
            "aggregate --by a --value b ragged.csv".into(),
            "ragged.csv: it is not a readable CSV file: ",
        ),
        (
            "aggregate --by a --value b latin.csv".into(),
            "line 3 is not UTF-8",
        ),
        (
            "aggregate --by a --value b empty.csv".into(),
            "it has no line of names",
        ),
        (
            format!("{by} flights.csv --src x.npy"),
            "cannot be used with",
        ),
        ("aggregate --by month flights.csv".into(), "--value"),
        (
            "aggregate flights.csv --src a.npy --index b.npy".into(),
            "--by",
        ),
        ("aggregate --index b.npy".into(), "--src"),
    ];
    for (line, part) in cases {
        let told = folder.strew(&line).refused();
        assert!(told.contains(part), "{line}: {told}");
    }
}
