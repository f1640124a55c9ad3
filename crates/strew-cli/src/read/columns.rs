//! Columns of Parquet and Arrow files, and what their missing values are.

use super::{Format, Loaded, Place, Purpose, Series, Storage, npy, open};
use crate::failure::{Failure, Result};
use crate::flags::Columns;
use crate::suggest;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use strew::{DType, DynTensor};
use strew_io::{CsvOptions, Error, Frame, Kept, Table, ZarrArray};

pub(crate) use strew_io::Missing;

/// The column of the cells' numbers.
const CELL: &str = "cell";

/// What `--nulls` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// Rows with a missing value are left out.
    Drop,
    /// A missing value is left out of its own column.
    Skip,
    /// A missing value is 0.
    Zero,
}

/// A column, or an array of chunks, that is read some rows at a time.
#[derive(Debug)]
pub(super) enum Column {
    Table(Box<strew_io::Column>),
    Zarr(Box<ZarrArray>),
}

impl Column {
    pub(super) fn dtype(&self) -> DType {
        match self {
            Self::Table(column) => column.dtype(),
            Self::Zarr(array) => array.dtype(),
        }
    }

    pub(super) fn shape(&self) -> Vec<usize> {
        match self {
            Self::Table(column) => column.shape(),
            Self::Zarr(array) => array.shape().to_vec(),
        }
    }

    pub(super) fn rows(&self, from: usize, count: usize) -> Result<DynTensor> {
        let rows = match self {
            Self::Table(column) => column.tensor(from, count),
            Self::Zarr(array) => array.rows(from, count),
        };
        rows.map_err(failure)
    }

    /// The elements from `from` on, as bytes; `row` is how many a row has.
    pub(super) fn elements(&self, from: usize, row: usize, to: &mut [u8]) -> Result<()> {
        let size = self.dtype().size();
        let first = from / row;
        let last = (from + to.len() / size).div_ceil(row);
        let rows = self.rows(first, last - first)?;
        let skipped = (from - first * row) * size;
        to.copy_from_slice(&rows.as_bytes()[skipped..skipped + to.len()]);
        Ok(())
    }
}

pub(crate) fn failure(error: Error) -> Failure {
    let hint = match &error {
        Error::InFile { file, error } => {
            return failure((**error).clone()).in_file(file.clone());
        }
        Error::Null { .. } => {
            "; --nulls drop leaves such rows out, and --nulls zero makes them 0".to_owned()
        }
        Error::NoColumn { name, names } => {
            let near = suggest::among(name, names.iter().map(String::as_str));
            match (&near[..], &names[..]) {
                ([], [one]) if one.contains([';', '\t', '|']) => {
                    "; fields must have commas between them, or tabs in a .tsv file".to_owned()
                }
                ([], _) => String::new(),
                (near, _) => format!("; {}", suggest::did_you_mean(near, "")),
            }
        }
        _ => String::new(),
    };
    Failure::new(format!("{error}{hint}"))
}

/// The same for files of columns.
pub(super) fn file_format(format: Format) -> strew_io::Format {
    match format {
        Format::Arrow => strew_io::Format::Arrow,
        Format::Csv => strew_io::Format::Csv,
        Format::Tsv => strew_io::Format::Tsv,
        _ => strew_io::Format::Parquet,
    }
}

/// How CSV files are read in this process.
static CSV: OnceLock<CsvOptions> = OnceLock::new();

fn table(file: &File, format: Format) -> Result<Table> {
    let usual = CsvOptions::default();
    let options = CSV.get().unwrap_or(&usual);
    Table::open(file, file_format(format), options).map_err(failure)
}

/// Arrays of files as the columns of a table, each with its text as its name.
pub(crate) fn table_of_arrays(names: &[String]) -> Result<Table> {
    let mut frame = Frame::default();
    for name in names {
        let place = Place::parse(name).ok_or_else(|| {
            let why = "without a file of columns, each key and each value is an array: file.npy";
            Failure::new(format!("'{name}' is no array; {why}"))
        })?;
        let named = |f: Failure| f.in_file(name.clone());
        if place.format == Format::Npy
            && let Some((descr, bytes)) = npy::load_words(&open(&place.path)?).map_err(named)?
        {
            let pushed = frame.push_words(name, &descr, &bytes);
            pushed.map_err(failure).map_err(named)?;
            continue;
        }
        let tensor = Series::open(name)?.whole()?;
        if tensor.shape().len() != 1 {
            let shape = tensor.shape();
            return Err(named(Failure::new(format!(
                "it must be 1-d, and has shape {shape:?}"
            ))));
        }
        let order: Vec<usize> = (0..tensor.shape()[0]).collect();
        let pushed = frame.push(name, &tensor, &order);
        pushed.map_err(failure).map_err(named)?;
    }
    Table::of(frame).map_err(failure)
}

/// Writes tensors as a table: the number of the cell, and a column for each tensor.
pub(crate) fn write_table(
    format: Format,
    tensors: &[(&str, &DynTensor)],
    to: &mut (dyn Write + Send),
) -> io::Result<()> {
    let sizes = tensors
        .iter()
        .map(|(_, tensor)| tensor.shape().first().copied());
    let rows = sizes.flatten().max().unwrap_or(0);
    let order: Vec<usize> = (0..rows).collect();
    let mut frame = Frame::numbered(CELL, rows);
    for (name, tensor) in tensors {
        frame.push(name, tensor, &order).map_err(io::Error::other)?;
    }
    match format {
        Format::Csv => frame.write_csv(to),
        Format::Arrow => frame.write_arrow(to),
        _ => frame.write_parquet(to),
    }
}

/// Reads a column, or keeps it in its file.
pub(super) fn load(
    file: &File,
    format: Format,
    name: Option<&str>,
    missing: Missing,
    purpose: Purpose,
) -> Result<Loaded> {
    let column = strew_io::Column::new(table(file, format)?, name, missing).map_err(failure)?;
    if purpose == Purpose::Rows {
        return Ok(Loaded {
            storage: Storage::Column(Column::Table(Box::new(column))),
            reversed: false,
        });
    }
    let whole = column.tensor(0, column.rows());
    whole.map(Loaded::owned).map_err(failure)
}

/// Reads an array of a folder, or keeps it there.
pub(super) fn load_zarr(folder: &Path, inner: Option<&str>, purpose: Purpose) -> Result<Loaded> {
    if !folder.exists() {
        return Err(Failure::new("there is no such folder"));
    }
    if !folder.is_dir() {
        return Err(Failure::new("it is no folder: a Zarr hierarchy is one"));
    }
    let array = ZarrArray::open(folder, inner).map_err(failure)?;
    if purpose == Purpose::Rows && !array.shape().is_empty() {
        return Ok(Loaded {
            storage: Storage::Column(Column::Zarr(Box::new(array))),
            reversed: false,
        });
    }
    array.whole().map(Loaded::owned).map_err(failure)
}

/// Writes tensors into an empty folder.
pub(crate) fn write_folder(folder: &Path, tensors: &[(&str, &DynTensor)]) -> Result<()> {
    strew_io::write_zarr(folder, tensors).map_err(failure)
}

/// What is done with missing values in this process.
enum Treatment {
    Zero,
    /// The rows that are read of each file.
    Left(HashMap<PathBuf, Arc<Kept>>),
}

static TREATMENT: OnceLock<Treatment> = OnceLock::new();

/// What a missing value of this file is.
pub(super) fn missing(path: &Path) -> Result<Missing> {
    Ok(match TREATMENT.get() {
        None => Missing::Refused,
        Some(Treatment::Zero) => Missing::Zero,
        Some(Treatment::Left(files)) => files
            .get(path)
            .map_or(Missing::Refused, |kept| Missing::Left(kept.clone())),
    })
}

/// Settles what is done with missing values of the tensors of a call. A tensor comes with the name
/// of its argument.
///
/// A row that is left out is left out of all columns of the call: the values of a row belong
/// together.
pub(crate) fn treat(given: &Columns, tensors: &[(&str, &str)]) -> Result<()> {
    // A process does one call.
    let _ = CSV.set(csv_options(given));
    let treatment = match given.nulls {
        None => return Ok(()),
        Some(Nulls::Zero) => Treatment::Zero,
        Some(Nulls::Skip) => {
            return Err(Failure::new(
                "--nulls skip goes with --by: use drop or zero",
            ));
        }
        Some(Nulls::Drop) => Treatment::Left(without_nulls(tensors)?),
    };
    let _ = TREATMENT.set(treatment);
    Ok(())
}

/// What was said of text files.
pub(super) fn csv_options(given: &Columns) -> CsvOptions {
    CsvOptions {
        missing: given.missing.clone(),
        types: given.types.clone(),
    }
}

/// The files of a tensor, with how many rows each has, and which rows have a value.
struct Known<'t> {
    argument: &'t str,
    files: Vec<(PathBuf, usize)>,
    kept: Kept,
}

fn without_nulls(tensors: &[(&str, &str)]) -> Result<HashMap<PathBuf, Arc<Kept>>> {
    let mut columns: Vec<Known<'_>> = Vec::new();
    let mut others = Vec::new();
    for &(argument, text) in tensors {
        match Place::parse(text).filter(Place::is_column) {
            Some(place) => {
                columns.push(known(argument, &place).map_err(|f| f.for_argument(argument))?);
            }
            None => others.push((argument, text)),
        }
    }
    let Some(first) = columns.first() else {
        return Ok(HashMap::new());
    };
    let mut all = first.kept.clone();
    for column in &columns[1..] {
        let (rows, wanted) = (column.kept.of_all(), all.of_all());
        all = all.and(&column.kept).ok_or_else(|| {
            let why = format!(
                "it has {rows} rows, and {} has {wanted}: --nulls drop leaves the same rows out of \
                 all columns",
                first.argument
            );
            Failure::new(why).for_argument(column.argument)
        })?;
    }
    if all.count() < all.of_all() {
        no_other_rows(&others, &all)?;
    }
    parts(&columns, &all)
}

fn known<'t>(argument: &'t str, place: &Place) -> Result<Known<'t>> {
    let (mut files, mut parts) = (Vec::new(), Vec::new());
    for one in place.files()? {
        let named = |f: Failure| f.in_file(one.path.display().to_string());
        let mut table = table(&open(&one.path)?, one.format).map_err(named)?;
        let kept = Kept::of(&mut table, one.member.as_deref());
        parts.push(kept.map_err(failure).map_err(named)?);
        files.push((one.path.clone(), table.rows()));
    }
    Ok(Known {
        argument,
        files,
        kept: Kept::join(&parts),
    })
}

/// Refuses a tensor that is no column and has a value for each row: it would keep the rows that the
/// columns lose, and stand beside others' values.
fn no_other_rows(others: &[(&str, &str)], kept: &Kept) -> Result<()> {
    for &(argument, text) in others {
        let rows = Series::open(text).map_or(0, |series| series.rows());
        if rows == kept.of_all() {
            let (lost, all) = (kept.of_all() - kept.count(), kept.of_all());
            let why = format!(
                "--nulls drop leaves {lost} of {all} rows out of the columns, and this tensor of {all} \
                 rows is no column: give it as one, or use --nulls zero"
            );
            return Err(Failure::new(why).for_argument(argument));
        }
    }
    Ok(())
}

/// The rows that are read of each file.
fn parts(columns: &[Known<'_>], all: &Kept) -> Result<HashMap<PathBuf, Arc<Kept>>> {
    let mut parts: HashMap<PathBuf, Arc<Kept>> = HashMap::new();
    for column in columns {
        let mut at = 0;
        for (path, rows) in &column.files {
            let part = all.part(at..at + rows).map(Arc::new);
            let part = part.ok_or_else(|| Failure::file(path, "it changes while it is read"))?;
            at += rows;
            if parts.get(path).is_some_and(|other| *other != part) {
                let twice = "it is there twice, and different rows of it are left out";
                return Err(Failure::file(path, twice).for_argument(column.argument));
            }
            parts.insert(path.clone(), part);
        }
    }
    Ok(parts)
}
