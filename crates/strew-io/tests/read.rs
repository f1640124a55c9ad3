//! Columns of every format, in pieces of every size.

mod made;

use made::{ROWS, file, files};
use std::sync::Arc;
use strew::{DType, DynTensor};
use strew_io::{Column, CsvOptions, Error, Format, Kept, Missing, Table};

fn open(bytes: &[u8], format: Format) -> Table {
    Table::open(&file(bytes), format, &CsvOptions::default()).unwrap()
}

fn column(bytes: &[u8], format: Format, name: &str, missing: Missing) -> Column {
    Column::new(open(bytes, format), Some(name), missing).unwrap()
}

fn numbers(tensor: &DynTensor) -> Vec<i64> {
    tensor.view().to_integers().unwrap()
}

#[test]
fn every_format_gives_every_type() {
    for (what, format, bytes) in files() {
        let table = open(&bytes, format);
        assert_eq!(table.rows(), ROWS, "{what}");
        let get = |name| {
            let column = column(&bytes, format, name, Missing::Zero);
            (column.dtype(), column.tensor(0, ROWS).unwrap())
        };
        let all = 0..ROWS as i64;
        let cases: [(&str, DType, Vec<i64>); 7] = [
            ("i64", DType::I64, all.clone().map(|n| n - 5).collect()),
            (
                "i32?",
                DType::I32,
                all.clone()
                    .map(|n| if n % 7 == 3 { 0 } else { n })
                    .collect(),
            ),
            ("u8", DType::U8, all.clone().map(|n| n % 251).collect()),
            ("date", DType::I32, all.clone().map(|n| 19000 + n).collect()),
            ("time", DType::I64, all.clone().map(|n| n * 1000).collect()),
            (
                "word",
                DType::I64,
                all.clone().map(|n| 10 * (1 + n % 3)).collect(),
            ),
            ("pair", DType::I32, all.flat_map(|n| [n, n + 1]).collect()),
        ];
        for (name, dtype, expected) in cases {
            let (found, tensor) = get(name);
            assert_eq!(
                (found, numbers(&tensor)),
                (dtype, expected),
                "{what} {name}"
            );
        }
        assert_eq!(get("pair").1.shape(), [ROWS, 2]);
        let (dtype, truths) = get("bool?");
        let expected = (0..ROWS).map(|n| u8::from(n % 7 != 3 && n % 2 == 1));
        assert_eq!(
            (dtype, truths.as_bytes()),
            (DType::Bool, &expected.collect::<Vec<_>>()[..])
        );
        let (dtype, halves) = get("f16");
        let expected = (0..ROWS).flat_map(|n| half::f16::from_f32((n % 64) as f32).to_ne_bytes());
        assert_eq!(
            (dtype, halves.as_bytes()),
            (DType::F16, &expected.collect::<Vec<_>>()[..])
        );
    }
}

#[test]
fn pieces_in_any_order_are_parts_of_the_whole() {
    for (what, format, bytes) in files() {
        let whole = column(&bytes, format, "i64", Missing::Refused);
        let all = whole.tensor(0, ROWS).unwrap();
        for size in [1, 7, 64, 299, 300, 301, ROWS] {
            let mut made = Vec::new();
            for from in (0..ROWS).step_by(size) {
                let piece = whole.tensor(from, size.min(ROWS - from)).unwrap();
                made.extend_from_slice(piece.as_bytes());
            }
            assert_eq!(made, all.as_bytes(), "{what} {size}");
        }
        for from in [999, 0, 640, 299, 300, 801, 5] {
            let piece = whole.tensor(from, (ROWS - from).min(9)).unwrap();
            assert_eq!(numbers(&piece)[0], from as i64 - 5, "{what}");
        }
        assert!(whole.tensor(999, 2).is_err() && whole.tensor(ROWS, 0).is_ok());
    }
}

#[test]
fn missing_values_are_what_is_said() {
    for (what, format, bytes) in files() {
        let error = column(&bytes, format, "i32?", Missing::Refused).tensor(0, ROWS);
        let expected = Error::Null {
            column: "i32?".into(),
            row: 3,
        };
        assert_eq!(error.unwrap_err(), expected, "{what}");
        let late = column(&bytes, format, "i32?", Missing::Refused).tensor(704, 200);
        assert!(
            matches!(late, Err(Error::Null { row: 710, .. })),
            "{what} {late:?}"
        );
        let mut table = open(&bytes, format);
        let kept = Kept::of(&mut table, Some("i32?")).unwrap();
        let kept = kept
            .and(&Kept::of(&mut table, Some("f64?")).unwrap())
            .unwrap();
        let rows: Vec<i64> = (0..ROWS as i64)
            .filter(|n| n % 7 != 3 && n % 7 != 2)
            .collect();
        assert_eq!((kept.count(), kept.of_all()), (rows.len(), ROWS));
        let left = column(&bytes, format, "i32?", Missing::Left(Arc::new(kept)));
        assert_eq!(left.rows(), rows.len());
        for size in [1, 5, 64, 300, rows.len()] {
            let mut made = Vec::new();
            for from in (0..rows.len()).step_by(size) {
                let piece = left.tensor(from, size.min(rows.len() - from)).unwrap();
                made.extend(numbers(&piece));
            }
            assert_eq!(made, rows, "{what} {size}");
        }
        assert_eq!(numbers(&left.tensor(500, 1).unwrap()), [rows[500]]);
    }
}

#[test]
fn what_is_no_tensor_is_refused() {
    for (what, format, bytes) in files() {
        let fails = |name: Option<&str>| {
            let made = Column::new(open(&bytes, format), name, Missing::Refused);
            made.unwrap_err().to_string()
        };
        let text = fails(Some("text"));
        assert!(
            text.contains("column 'text' has values of type Utf8"),
            "{what}: {text}"
        );
        let none = fails(Some("x"));
        assert!(
            none.starts_with("it has no column 'x', but i64, i32?, "),
            "{what}: {none}"
        );
        assert!(fails(None).starts_with("name one of its columns"), "{what}");
    }
}
