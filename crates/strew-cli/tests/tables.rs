//! Tables of the shell: what a CSV column is, several files, folders, standard input.

#![cfg(feature = "columns")]

mod common;

use arrow_array::{ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use common::{Done, Folder};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;

/// Runs a line with a text as its standard input.
fn piped(folder: &Folder, line: &str, input: &[u8]) -> Done {
    let mut command = folder.command();
    command.args(line.split(' ')).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let done = child.wait_with_output().unwrap();
    Done {
        code: done.status.code(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}

/// Runs words that may have spaces.
fn words(folder: &Folder, words: &[&str]) -> Done {
    let done = folder.command().args(words).output().unwrap();
    Done {
        code: done.status.code(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let all = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), all.schema(), None).unwrap();
    writer.write(&all).unwrap();
    writer.into_inner().unwrap()
}

/// The rows of the result of a call.
fn rows(folder: &Folder, line: &str) -> Value {
    folder.strew(&format!("aggregate {line} --json")).json()["rows"].take()
}

/// The types of the columns that a call reads.
fn types(folder: &Folder, line: &str) -> Value {
    let told = folder.strew(&format!("aggregate {line} --dry-run --json"));
    told.json()["types"].take()
}

#[test]
fn keys_with_leading_zeros_are_text() {
    let folder = Folder::new();
    folder.write("t.csv", "zip,v\n00060,1\n60,2\n00060,4\n");
    let expected = json!([{"zip": "00060", "sum": 5}, {"zip": "60", "sum": 2}]);
    assert_eq!(rows(&folder, "--by zip --value v t.csv"), expected);
    assert_eq!(
        types(&folder, "--by zip --value v t.csv"),
        json!({"zip": "text", "v": "int64"})
    );
    let one = json!([{"zip": 60, "sum": 7}]);
    assert_eq!(
        rows(&folder, "--by zip --value v --types zip=int64 t.csv"),
        one
    );
    // One word far behind changes nothing but its own group.
    let mut text = "zip,v\n".to_owned();
    for n in 0..200_000 {
        text.push_str(["00060,1\n", "60,1\n"][n % 2]);
    }
    folder.write("long.csv", &text);
    let before = rows(&folder, "--by zip --value v long.csv");
    folder.write("long.csv", text + "word,1\n");
    let after = rows(&folder, "--by zip --value v long.csv");
    assert_eq!(
        before,
        json!([{"zip": "00060", "sum": 100_000}, {"zip": "60", "sum": 100_000}])
    );
    assert_eq!(
        after.as_array().unwrap()[..2],
        before.as_array().unwrap()[..]
    );
}

#[test]
fn quotes_throughout_make_text() {
    let folder = Folder::new();
    folder.write("t.csv", "k,v\n\"1\",1\n\"\",2\n\"01\",3\n,4\n");
    let expected = json!([
        {"k": "", "sum": 2}, {"k": "01", "sum": 3}, {"k": "1", "sum": 1}, {"k": null, "sum": 4},
    ]);
    assert_eq!(
        rows(&folder, "--by k --value v --nulls zero t.csv"),
        expected
    );
    // Quotes around some numbers mean nothing.
    folder.write("some.csv", "k,v\n\"1\",1\n1,2\n");
    assert_eq!(
        rows(&folder, "--by k --value v some.csv"),
        json!([{"k": 1, "sum": 3}])
    );
    // A type that is given goes through quotes, and a quoted empty field is no number.
    folder.write("all.csv", "k,v\n\"1\",\"1.5\"\n\"1\",\"\"\n\"1\",\"NA\"\n");
    let told = folder.strew("aggregate --by k --value v all.csv").refused();
    let part = "all.csv: column 'v' has values of type Utf8, which no tensor has: it has '' in row 1; \
                --missing names words that are missing values, and --types the types of columns";
    assert!(told.contains(part), "{told}");
    let call = "--by k --value v --types v=float64,k=int8 --missing NA --nulls skip --reduce sum,count all.csv";
    assert_eq!(
        rows(&folder, call),
        json!([{"k": 1, "sum": 1.5, "count": 1}])
    );
}

#[test]
fn only_the_empty_field_is_missing_unless_words_are_named() {
    let folder = Folder::new();
    folder.write("t.csv", "k,v\nNA,1\nnull,2\nN/A,3\n-,4\nNULL,5\n");
    let keys = |line: &str| -> Vec<Value> {
        let rows = rows(&folder, line);
        rows.as_array()
            .unwrap()
            .iter()
            .map(|row| row["k"].clone())
            .collect()
    };
    assert_eq!(
        keys("--by k --value v t.csv"),
        ["-", "N/A", "NA", "NULL", "null"]
    );
    let call = "--by k --value v --nulls drop t.csv";
    assert_eq!(
        keys(&format!("{call} --missing NA,-")),
        ["N/A", "NULL", "null"]
    );
    assert_eq!(
        keys(&format!("{call} --missing NA --missing null,-")),
        ["N/A", "NULL"]
    );
    folder.write("v.csv", "k,v\na,1\na,?\na,\na,3\n");
    let told = folder.strew("aggregate --by k --value v v.csv").refused();
    assert!(told.contains("it has '?' in row 1; --missing"), "{told}");
    let call = "--by k --value v --missing ?,NA v.csv --reduce sum,mean";
    let told = folder.strew(&format!("aggregate {call}")).refused();
    assert!(
        told.contains("v.csv: column 'v' has no value in row 1; --nulls drop"),
        "{told}"
    );
    assert_eq!(
        rows(&folder, &format!("{call} --nulls drop")),
        json!([{"k": "a", "sum": 4, "mean": 2.0}])
    );
    // The same words for columns that are tensors.
    folder.npy("i.npy", &[4], &[0i64, 0, 0, 1]);
    let made =
        folder.strew("aggregate --src v.csv:v --index i.npy --missing ? --nulls zero --json");
    assert_eq!(made.json()["outputs"]["sum"]["values"], json!([1, 3]));
}

#[test]
fn skip_leaves_each_column_its_own_missing_values() {
    let folder = Folder::new();
    folder.write("t.csv", "k,a,b\nx,1,\nx,,2\ny,3,4\ny,5,6\n,7,8\nz,,9\n");
    let reduce = "--reduce sum,mean,max,len,count,argmax";
    let made = rows(
        &folder,
        &format!("--by k --value a,b --nulls skip {reduce} t.csv"),
    );
    let row = |k: &str, a: [Value; 6], b: [Value; 6]| {
        let mut row = serde_json::Map::new();
        row.insert("k".into(), k.into());
        for (column, values) in [("a", a), ("b", b)] {
            let names = ["sum", "mean", "max", "len", "count", "argmax"];
            for (name, value) in names.iter().zip(values) {
                row.insert(format!("{column}_{name}"), value);
            }
        }
        Value::Object(row)
    };
    let all = |values: [Value; 6]| values;
    let expected = json!([
        row(
            "x",
            all([1.into(), 1.0.into(), 1.into(), 2.into(), 1.into(), 0.into()]),
            all([2.into(), 2.0.into(), 2.into(), 2.into(), 1.into(), 1.into()])
        ),
        row(
            "y",
            all([8.into(), 4.0.into(), 5.into(), 2.into(), 2.into(), 3.into()]),
            all([
                10.into(),
                5.0.into(),
                6.into(),
                2.into(),
                2.into(),
                3.into()
            ])
        ),
        // Without a value a sum is 0, and everything else is missing, in the last group too.
        row(
            "z",
            all([
                0.into(),
                Value::Null,
                Value::Null,
                1.into(),
                0.into(),
                Value::Null
            ]),
            all([9.into(), 9.0.into(), 9.into(), 1.into(), 1.into(), 4.into()])
        ),
    ]);
    assert_eq!(made, expected);
    // The same where all values are needed at once.
    let median = rows(
        &folder,
        "--by k --value a,b --nulls skip --reduce median,sum,len t.csv",
    );
    assert_eq!(median[0]["a_median"], 1.0);
    assert_eq!(
        (
            &median[2]["a_median"],
            &median[2]["a_sum"],
            &median[2]["a_len"]
        ),
        (&Value::Null, &json!(0), &json!(1))
    );
    let filled = rows(
        &folder,
        "--by k --value a --nulls skip --reduce max --fill-value -7 t.csv",
    );
    assert_eq!(filled[2]["max"], -7);
    let told = folder
        .strew("aggregate --src t.csv:a --index [0,0,0,0,0,0] --nulls skip")
        .refused();
    assert!(told.contains("--nulls skip goes with --by"), "{told}");
}

#[test]
fn large_integers_have_a_type_or_an_error() {
    let folder = Folder::new();
    folder.write("u.csv", "k,v\na,18446744073709551615\na,0\n");
    assert_eq!(
        rows(&folder, "--by k --value v --reduce max u.csv"),
        json!([{"k": "a", "max": u64::MAX}])
    );
    folder.write("key.csv", "k\n18446744073709551615\n9223372036854775808\n");
    let made = rows(&folder, "--by k --reduce len key.csv");
    assert_eq!(made[1]["k"], u64::MAX);
    folder.write("huge.csv", "k,v\na,1\na,18446744073709551616\n");
    let told = folder
        .strew("aggregate --by k --value v huge.csv")
        .refused();
    let part = "huge.csv: column 'v' has the integer '18446744073709551616' in row 1, which is beyond 64 bits: --types \
                'v=text' keeps its digits, and --types 'v=float64' rounds it";
    assert!(told.contains(part), "{told}");
    let made = rows(&folder, "--by k --value v --types v=float64 huge.csv");
    assert_eq!(made[0]["sum"], 18446744073709551616.0);
    assert_eq!(
        types(&folder, "--by v --types v=text huge.csv --reduce len")["v"],
        "text"
    );
    folder.write("mixed.csv", "k,v\na,-1\na,9223372036854775808\n");
    let told = folder
        .strew("aggregate --by k --value v mixed.csv")
        .refused();
    assert!(
        told.contains("row 1, which is beyond int64, and others that are negative"),
        "{told}"
    );
}

#[test]
fn broken_files_are_named_with_their_line() {
    let folder = Folder::new();
    for (text, part) in [
        (
            &b"k,v\na,1\nb,\"2\n3,4\n"[..],
            "line 3 begins quotes, and the file ends within them",
        ),
        (
            b"k,v\na,1\n\"b\n\n\",2\nc\n",
            "line 6 has 1 field, and the line of names has 2",
        ),
        (
            b"k,v\na,1,2\n",
            "line 2 has 3 fields, and the line of names has 2",
        ),
        (b"\"k,v\na,1\n", "line 1: the file ends within quotes"),
        (b"\xff\xfek\0,\0v\0", "it is UTF-16; save it as UTF-8"),
        (b"", "it has no line of names"),
    ] {
        folder.write("t.csv", text);
        let told = folder.strew("aggregate --by k --value v t.csv").refused();
        let shown = String::from_utf8_lossy(text);
        assert!(
            told.contains("t.csv: it is not a readable CSV file: "),
            "{shown}: {told}"
        );
        assert!(told.contains(part), "{shown}: {told}");
    }
    folder.write("t.csv", "k,v\na,300\n");
    let told = folder
        .strew("aggregate --by k --value v --types v=int8 t.csv")
        .refused();
    assert!(
        told.contains("column 'v' has '300' in row 0 (line 2), which is no int8"),
        "{told}"
    );
}

#[test]
fn names_may_have_commas() {
    let folder = Folder::new();
    folder.write("t.csv", "\"last, first\",v,\"a,b=c\"\nx,1,01\ny,2,2\n");
    let call = [
        "aggregate",
        "--by",
        "last, first",
        "--value",
        "v",
        "t.csv",
        "--json",
    ];
    let made = words(&folder, &call).json();
    assert_eq!(
        made["rows"],
        json!([{"last, first": "x", "sum": 1}, {"last, first": "y", "sum": 2}])
    );
    let call = [
        "aggregate",
        "--by",
        "v",
        "--by",
        "a,b=c",
        "--types",
        "a,b=c=int16",
        "--types",
        "v=text",
        "--reduce",
        "len",
        "t.csv",
        "--json",
    ];
    let made = words(&folder, &call).json();
    assert_eq!(made["types"], json!({"v": "text", "a,b=c": "int16"}));
    assert_eq!(made["rows"][0], json!({"v": "1", "a,b=c": 1, "len": 1}));
    let told = words(
        &folder,
        &["aggregate", "--by", "v,v", "--reduce", "len", "t.csv"],
    )
    .refused();
    assert!(told.contains("--by: v is there twice"), "{told}");
}

#[test]
fn several_files_are_one_table() {
    let folder = Folder::new();
    folder.write("part-1.csv", "k,v\na,1\n07,2\n");
    folder.write("part-2.csv", "v,k,w\n0.5,7,0\n4,a,0\n");
    folder.write("part-10.csv", "k,v\nb,8\n");
    let expected = json!([
        {"k": "07", "first": 2.0, "sum": 2.0}, {"k": "7", "first": 0.5, "sum": 0.5},
        {"k": "a", "first": 1.0, "sum": 5.0}, {"k": "b", "first": 8.0, "sum": 8.0},
    ]);
    let call = "--by k --value v --reduce first,sum";
    assert_eq!(rows(&folder, &format!("{call} part-*.csv")), expected);
    assert_eq!(
        rows(
            &folder,
            &format!("{call} part-1.csv part-2.csv part-10.csv")
        ),
        expected
    );
    fs::create_dir(folder.path("d")).unwrap();
    for name in ["part-1.csv", "part-2.csv", "part-10.csv"] {
        fs::copy(folder.path(name), folder.path("d").join(name)).unwrap();
    }
    folder.write("d/_SUCCESS", "");
    folder.write("d/.hidden.csv", "x\n1\n");
    folder.write("d/notes.txt", "no table");
    assert_eq!(rows(&folder, &format!("{call} d")), expected);
    let told = folder
        .strew("aggregate --by k --value w part-1.csv part-2.csv")
        .refused();
    assert!(told.contains("w"), "{told}");
    for (line, part) in [
        (
            "--by k --value w part-2.csv part-1.csv",
            "part-1.csv: it has no column 'w', but k, v",
        ),
        (
            "--by k --value v part-1.csv part-1.csv",
            "part-1.csv: it is there twice",
        ),
        (
            "--by k --value v part-1.csv none.csv",
            "none.csv: there is no such file",
        ),
        (
            "--by k --value v none-*.csv",
            "no file has a name like none-*.csv",
        ),
        (
            "--by key --value v part-1.csv",
            "it has no column 'key', but k, v; did you mean k?",
        ),
        (
            "--by k --value v --types v=real part-1.csv",
            "--types: there is no type 'real', but text, bool,",
        ),
        (
            "--by k --value v --types x=text part-1.csv",
            "it has no column 'x'",
        ),
        (
            "--by k --value v --types v part-1.csv",
            "--types: 'v' is not as in name=text",
        ),
        (
            "--by k --value v --types v=text --types v=int8 part-1.csv",
            "--types gives 'v' two types",
        ),
    ] {
        let told = folder.strew(&format!("aggregate {line}")).refused();
        assert!(told.contains(part), "{line}: {told}");
    }
}

#[test]
fn files_that_do_not_agree_are_named() {
    let folder = Folder::new();
    let keys = || -> ArrayRef { Arc::new(StringArray::from(vec!["a", "b"])) };
    folder.write(
        "1.parquet",
        parquet(vec![
            ("k", keys()),
            ("v", Arc::new(Int64Array::from(vec![1, 2]))),
        ]),
    );
    folder.write(
        "2.parquet",
        parquet(vec![
            ("v", Arc::new(Int32Array::from(vec![3, 4]))),
            ("k", keys()),
        ]),
    );
    let told = folder
        .strew("aggregate --by k --value v 1.parquet 2.parquet")
        .refused();
    let part =
        "2.parquet: column 'v' has values of type Int32, and in 1.parquet they are of type Int64";
    assert!(told.contains(part), "{told}");
    // Columns that are not used may differ.
    let made = rows(&folder, "--by k --reduce len 1.parquet 2.parquet");
    assert_eq!(made, json!([{"k": "a", "len": 2}, {"k": "b", "len": 2}]));
    let told = folder
        .strew("aggregate --by k --value v --types v=int8 1.parquet")
        .refused();
    assert!(told.contains("--types: 1.parquet is no CSV file"), "{told}");
    let large: ArrayRef = Arc::new(arrow_array::LargeStringArray::from(vec!["b", "c"]));
    folder.write(
        "3.parquet",
        parquet(vec![
            ("k", large),
            ("v", Arc::new(Int64Array::from(vec![8, 16]))),
        ]),
    );
    let made = rows(&folder, "--by k --value v 1.parquet 3.parquet");
    assert_eq!(
        made,
        json!([{"k": "a", "sum": 1}, {"k": "b", "sum": 10}, {"k": "c", "sum": 16}])
    );
}

#[test]
fn folders_of_a_data_set_are_columns() {
    let folder = Folder::new();
    let file = |values: &[f64]| parquet(vec![("v", Arc::new(Float64Array::from(values.to_vec())))]);
    for (path, values) in [
        ("d/year=2013/city=New%20York", &[1.0, 2.0][..]),
        ("d/year=2013/city=__HIVE_DEFAULT_PARTITION__", &[4.0]),
        ("d/year=2014/city=a%2Fb", &[8.0]),
        ("d/year=2014/city=New%20York", &[16.0]),
    ] {
        fs::create_dir_all(folder.path(path)).unwrap();
        folder.write(&format!("{path}/part-0.parquet"), file(values));
    }
    let made = rows(&folder, "--by year,city --value v --nulls zero d");
    let expected = json!([
        {"year": 2013, "city": "New York", "sum": 3.0}, {"year": 2013, "city": null, "sum": 4.0},
        {"year": 2014, "city": "New York", "sum": 16.0}, {"year": 2014, "city": "a/b", "sum": 8.0},
    ]);
    assert_eq!(made, expected);
    // Nothing is read of the files themselves.
    let made = rows(&folder, "--by year --reduce len d/");
    assert_eq!(
        made,
        json!([{"year": 2013, "len": 3}, {"year": 2014, "len": 2}])
    );
    let made = rows(
        &folder,
        "--by year --types year=text --value v --reduce max d/year=2014 d/year=2013",
    );
    assert_eq!(
        made,
        json!([{"year": "2013", "max": 4.0}, {"year": "2014", "max": 16.0}])
    );
    let told = folder.strew("aggregate --by city --value v d").refused();
    assert!(
        told.contains("city=__HIVE_DEFAULT_PARTITION__/part-0.parquet: column 'city' has no value"),
        "{told}"
    );
    let told = folder.strew("aggregate --by yaer --value v d").refused();
    assert!(
        told.contains("it has no column 'yaer', but v, year, city; did you mean year?"),
        "{told}"
    );
    // Months with a zero in front are text, as in a CSV file.
    fs::create_dir_all(folder.path("e/month=01")).unwrap();
    folder.write("e/month=01/x.csv", "v\n1\n");
    assert_eq!(
        types(&folder, "--by month --value v e"),
        json!({"month": "text", "v": "int64"})
    );
}

#[test]
fn compressed_files_and_standard_input_are_read() {
    let folder = Folder::new();
    let text = "k\tv\na\t1\nb\t2\na\t3\n";
    let expected = json!([{"k": "a", "sum": 4}, {"k": "b", "sum": 2}]);
    let csv = text.replace('\t', ",");
    let gzip = |text: &str| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    // Two members, as `cat a.gz b.gz` makes.
    let (first, second) = csv.split_at(10);
    folder.write("t.csv.gz", [gzip(first), gzip(second)].concat());
    folder.write("t.csv.zst", zstd::encode_all(csv.as_bytes(), 1).unwrap());
    folder.write("t.tsv.gz", gzip(text));
    for name in ["t.csv.gz", "t.csv.zst", "t.tsv.gz"] {
        assert_eq!(
            rows(&folder, &format!("--by k --value v {name}")),
            expected,
            "{name}"
        );
        let whole = folder.read(name);
        folder.write(&format!("cut.{name}"), &whole[..whole.len() - 5]);
        let told = folder
            .strew(&format!("aggregate --by k --value v cut.{name}"))
            .refused();
        assert!(told.contains(&format!("cut.{name}: it ")), "{told}");
    }
    let call = "aggregate --by k --value v --json";
    for (line, bytes) in [
        (format!("{call} -"), csv.clone().into_bytes()),
        (format!("{call} --format tsv -"), text.into()),
        (format!("{call} -"), folder.read("t.csv.gz")),
    ] {
        assert_eq!(
            piped(&folder, &line, &bytes).json()["rows"],
            expected,
            "{line}"
        );
    }
    let keys: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "a"]));
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let bytes = parquet(vec![("k", keys), ("v", values)]);
    let line = format!("{call} --format parquet -");
    assert_eq!(piped(&folder, &line, &bytes).json()["rows"], expected);
    folder.write("t", &csv);
    assert_eq!(rows(&folder, "--by k --value v --format csv t"), expected);
    let told = piped(&folder, &format!("{call} - -"), b"").err;
    assert!(told.contains("it is there twice"), "{told}");
    let told = folder.strew(&format!("{call} t.csv.gz -o t2.csv.gz")).err;
    assert!(
        told.contains("a table goes to a .csv, .parquet or .arrow file"),
        "{told}"
    );
}

/// Many blocks, on several threads: the bits of one loop over the rows.
#[test]
fn threads_change_nothing() {
    let folder = Folder::new();
    let (mut text, mut sums) = ("k,text,v,w\n".to_owned(), [0.0f64; 7]);
    for n in 0..300_000usize {
        let value = (n * 7919 % 10_007) as f64 / 7.0;
        let line_end = if n % 5 == 0 { "\r\n" } else { "\n" };
        let words = match n % 11 {
            0 => "\"a\n\"\"b\"\"\n,\"",
            1 => "5\" pipe",
            _ => "plain",
        };
        text.push_str(&format!("g{},{words},{value},1{line_end}", n % 7));
        sums[n % 7] += value;
    }
    assert!(text.len() > 5 << 20);
    folder.write("t.csv", &text);
    folder.write("t.csv.zst", zstd::encode_all(text.as_bytes(), 1).unwrap());
    let call = "--by k --value v,w --reduce sum,len,mean,argmax";
    let one = rows(&folder, &format!("{call} --threads 1 t.csv"));
    for (n, sum) in sums.iter().enumerate() {
        assert_eq!(one[n]["v_sum"], *sum);
    }
    for line in [
        "--threads 2 t.csv",
        "--threads 7 t.csv",
        "--threads 3 t.csv.zst",
    ] {
        assert_eq!(rows(&folder, &format!("{call} {line}")), one, "{line}");
    }
    let broken = text + "g0,\"open\n";
    let lines = broken.matches('\n').count();
    folder.write("t.csv", broken);
    let told = folder.strew("aggregate --by k --value v t.csv").refused();
    assert!(
        told.contains(&format!("line {lines} begins quotes")),
        "{told}"
    );
}

#[test]
fn text_comes_back_as_text() {
    let folder = Folder::new();
    folder.write("t.csv", "k,v\n\"1\",1\n\"\",2\n\"2\",3\n\"a,\"\"b\",4\n");
    let call = "aggregate --by k --value v t.csv";
    folder.strew(&format!("{call} -o one.csv")).ok();
    assert_eq!(
        folder.read("one.csv"),
        b"k,sum\n\"\",2\n1,1\n2,3\n\"a,\"\"b\",4\n"
    );
    folder.write("t.csv", "k,v\n\"1\",1\n\"2\",3\n");
    folder.strew(&format!("{call} -o two.csv")).ok();
    assert_eq!(folder.read("two.csv"), b"k,sum\n\"1\",1\n\"2\",3\n");
    folder.strew(&format!("{call} -o three.arrow")).ok();
    for name in ["one.csv", "two.csv", "three.arrow"] {
        assert_eq!(
            types(&folder, &format!("--by k --value sum {name}"))["k"],
            "text",
            "{name}"
        );
    }
}
