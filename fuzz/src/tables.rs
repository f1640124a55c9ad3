//! Columns of files from strangers: whatever a file holds, it is read or refused, and pieces give
//! what the whole gives.

use arbitrary::{Arbitrary, Result, Unstructured};
use std::cell::RefCell;
use std::fs::File;
use std::io::{Seek, Write};
use std::sync::Arc;
use strew_io::{
    Column, CsvOptions, DataSet, Format, Groups, Kept, Missing, Nulls, Origin, Part, Rows, Table,
};

/// Rows that are read of a column: a short file may say that it has billions.
const ROWS: usize = 4096;

/// The target `parquet`.
pub(crate) fn parquet(bytes: &[u8]) {
    check(bytes, Format::Parquet);
}

/// The target `arrow`.
pub(crate) fn arrow(bytes: &[u8]) {
    check(bytes, Format::Arrow);
}

/// The target `csv`.
pub(crate) fn csv(bytes: &[u8]) {
    check(bytes, Format::Csv);
}

thread_local! {
    /// A file without a name, which ends with the process.
    static FILE: RefCell<File> = RefCell::new(tempfile::tempfile().expect("a temporary file"));
}

/// A file, and how its columns are read.
fn check(bytes: &[u8], format: Format) {
    crate::set_up();
    FILE.with_borrow_mut(|file| {
        file.set_len(0).expect("a temporary file can be cut");
        file.rewind().expect("a temporary file has a beginning");
        file.write_all(bytes)
            .expect("a temporary file can be written");
        let Ok(table) = Table::open(file, format, &CsvOptions::default()) else {
            return;
        };
        // How columns are read depends on the bytes, too.
        let from = &mut Unstructured::new(bytes);
        let names: Vec<String> = table.names().take(8).map(str::to_owned).collect();
        for name in &names {
            let _ = column(file, format, name, from);
        }
        groups(file, format, &names);
    });
}

/// The whole of a column, and pieces of it.
fn column(file: &File, format: Format, name: &str, from: &mut Unstructured<'_>) -> Result<()> {
    let open = || {
        let table = Table::open(file, format, &CsvOptions::default());
        table.expect("it opened before")
    };
    let missing = match u8::arbitrary(from)? % 3 {
        0 => Missing::Refused,
        1 => Missing::Zero,
        _ => Kept::of(&mut open(), Some(name))
            .map_or(Missing::Zero, |kept| Missing::Left(Arc::new(kept))),
    };
    let Ok(column) = Column::new(open(), Some(name), missing) else {
        return Ok(());
    };
    let rows = column.rows().min(ROWS);
    let whole = column.tensor(0, rows);
    let step = 1 + usize::from(u8::arbitrary(from)?);
    let mut pieces = Vec::new();
    let mut fails = false;
    for start in (0..rows).step_by(step) {
        match column.tensor(start, step.min(rows - start)) {
            Ok(piece) => pieces.extend_from_slice(piece.as_bytes()),
            Err(_) => fails = true,
        }
    }
    match whole {
        Ok(whole) => assert!(!fails && whole.as_bytes() == pieces, "{name}"),
        Err(error) => drop(error.to_string()),
    }
    Ok(())
}

/// The groups by each column, with the values of the next one.
fn groups(file: &File, format: Format, names: &[String]) {
    for (key, value) in names.iter().zip(names.iter().cycle().skip(1)) {
        let keys = [key.clone()];
        let origin = Origin::File(file.try_clone().expect("a temporary file can be shared"));
        let part = Part::file("file".to_owned(), origin, format);
        let data = DataSet::new(vec![part], CsvOptions::default());
        let Ok(mut rows) = Rows::new(data, &keys, std::slice::from_ref(value), Nulls::Skip) else {
            continue;
        };
        let mut groups = Groups::new(&keys);
        let mut read = 0;
        while let Ok(Some(chunk)) = rows.next(&mut groups) {
            read += chunk.groups.layout().len();
            if read > ROWS {
                break;
            }
        }
        assert!(groups.count() <= read);
    }
}
