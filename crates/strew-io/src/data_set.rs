//! Several files as one table: their rows one after the other.
//!
//! The folders above a file may be columns, too: of `year=2013/month=1/part-0.parquet` these are
//! `year` and `month`. A column that the file itself has comes first.
//!
//! Files are opened one after the other: there may be more than a process can have open.

use crate::chunks::Chunks;
use crate::csv_file::{CsvOptions, Seen, Type, constant};
use crate::elements::Kind;
use crate::error::{Error, Result};
use crate::origin::Origin;
use crate::table::{Format, Table};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray, UInt32Array};
use arrow_schema::DataType;
use arrow_select::take::take;
use std::path::PathBuf;
use std::sync::Arc;

/// What Hive calls the folder of a missing value.
const NO_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// Rows of a chunk of a file of which nothing is read.
const CHUNK: usize = 1 << 16;

/// One of the files.
#[derive(Debug)]
pub struct Part {
    name: String,
    format: Format,
    origin: Option<Origin>,
    /// Names and values of the folders that it lies in.
    folders: Vec<(String, Option<String>)>,
    /// A CSV file that was looked through, or a table in memory.
    table: Option<Table>,
    /// For each column that is wanted.
    places: Vec<Place>,
    /// The types of those that the file itself has.
    types: Vec<DataType>,
    rows: usize,
}

/// Where a part has a column.
#[derive(Clone, Debug)]
enum Place {
    Column(usize),
    /// One value for all of its rows.
    Folder(Option<String>),
}

impl Part {
    /// A file of this name and path; folders in the path are columns if they are called as in
    /// `year=2013`.
    #[must_use]
    pub fn new(path: PathBuf, format: Format) -> Self {
        let folders = path
            .parent()
            .into_iter()
            .flat_map(|folder| folder.components());
        let folders = folders.filter_map(|one| folder(&one.as_os_str().to_string_lossy()));
        Self {
            folders: folders.collect(),
            ..Self::file(path.display().to_string(), Origin::Path(path), format)
        }
    }

    /// A file of this name for messages.
    #[must_use]
    pub fn file(name: String, origin: Origin, format: Format) -> Self {
        Self {
            name,
            format,
            origin: Some(origin),
            folders: Vec::new(),
            table: None,
            places: Vec::new(),
            types: Vec::new(),
            rows: 0,
        }
    }

    /// A table that is there already.
    #[must_use]
    pub fn of(table: Table) -> Self {
        Self {
            name: String::new(),
            format: Format::Arrow,
            origin: None,
            folders: Vec::new(),
            table: Some(table),
            places: Vec::new(),
            types: Vec::new(),
            rows: 0,
        }
    }

    /// Whether it is text, whose columns have the types of what they hold.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(self.format, Format::Csv | Format::Tsv)
    }

    fn open(&mut self, options: &CsvOptions) -> Result<Table> {
        if let Some(table) = self.table.take() {
            return Ok(table);
        }
        let origin = match &self.origin {
            Some(Origin::Path(path)) => Origin::Path(path.clone()),
            Some(file) => Origin::File(file.file()?),
            None => return Err(Error::new("it was read already")),
        };
        Table::read(origin, self.format, options)
    }

    /// The names of its columns, and those of its folders behind them.
    fn names(&mut self, options: &CsvOptions) -> Result<Vec<String>> {
        let table = self.open(options)?;
        let mut names: Vec<String> = table.names().map(str::to_owned).collect();
        self.table = Some(table);
        let folders = self.folders.iter().map(|(name, _)| name.clone());
        let others: Vec<String> = folders.filter(|name| !names.contains(name)).collect();
        names.extend(others);
        Ok(names)
    }

    /// Finds columns, and adds to what is seen of those whose types are not known.
    fn look(&mut self, wanted: &[String], settings: &Settings, seen: &mut [Seen]) -> Result<()> {
        let names = self.names(&settings.options)?;
        let mut table = self.open(&settings.options)?;
        for (name, given) in &settings.given {
            table.give(name, *given);
        }
        let own = table.names().len();
        self.places.clear();
        for name in wanted {
            let mut at = (0..names.len()).filter(|&at| names[at] == *name);
            let place = match (at.next(), at.next()) {
                (Some(at), None) if at < own => Place::Column(at),
                (Some(_), None) => {
                    let folder = self.folders.iter().rfind(|(folder, _)| folder == name);
                    Place::Folder(folder.and_then(|(_, value)| value.clone()))
                }
                (Some(_), Some(_)) => {
                    return Err(Error::new(format!("it has more than one column '{name}'")));
                }
                (None, _) => {
                    let name = name.clone();
                    return Err(Error::NoColumn { name, names });
                }
            };
            self.places.push(place);
        }
        let mut looked = table.look(&self.columns())?.into_iter();
        for (place, seen) in self.places.iter().zip(seen) {
            match place {
                Place::Column(_) => {
                    let Some(mut found) = looked.next() else {
                        continue;
                    };
                    if settings.several {
                        found.name_file(&self.name);
                    }
                    seen.add(&found, 0);
                }
                Place::Folder(value) => value.iter().for_each(|text| seen.see_text(text)),
            }
        }
        self.rows = table.rows();
        self.types = self
            .columns()
            .iter()
            .map(|&at| table.data_type(at).clone())
            .collect();
        if self.is_text() || self.origin.is_none() {
            self.table = Some(table);
        }
        Ok(())
    }

    /// The places of the columns that it has itself.
    fn columns(&self) -> Vec<usize> {
        let own = self.places.iter().filter_map(|place| match place {
            Place::Column(at) => Some(*at),
            Place::Folder(_) => None,
        });
        own.collect()
    }

    /// Settles the types that depend on what was seen, and gives those of all columns.
    fn settle(&mut self, seen: &[Seen], folders: &[Type]) -> Result<Vec<DataType>> {
        if let (true, Some(table)) = (self.is_text(), &mut self.table) {
            let mut types = Vec::new();
            for (place, seen) in self.places.iter().zip(seen) {
                if let Place::Column(at) = place {
                    table.settle(*at, seen)?;
                    types.push(table.data_type(*at).clone());
                }
            }
            self.types = types;
        }
        let mut own = self.types.iter().cloned();
        let each = self
            .places
            .iter()
            .zip(folders)
            .map(|(place, folder)| match place {
                Place::Column(_) => own.next(),
                Place::Folder(_) => Some(folder.data_type()),
            });
        Ok(each.map(|found| found.unwrap_or(DataType::Null)).collect())
    }

    /// Chunks of the columns that were looked for.
    fn chunks(&mut self, settings: &Settings, folders: &[Type]) -> Result<Chunks> {
        let columns = self.columns();
        let table = self.open(&settings.options)?;
        let mut constants = Vec::new();
        for (place, &folder) in self.places.iter().zip(folders) {
            constants.push(match place {
                Place::Column(_) => None,
                Place::Folder(value) => Some(constant(value.as_deref(), folder)?),
            });
        }
        let filled = move |rows: usize, own: Vec<ArrayRef>| {
            let mut own = own.into_iter();
            let zeros = UInt32Array::from_value(0, rows);
            let each = constants.iter().map(|constant| match constant {
                Some(one) => take(one, &zeros, None).map_err(|e| Error::broken("Arrow", e)),
                None => own
                    .next()
                    .ok_or_else(|| Error::new("a chunk of it lacks a column")),
            });
            each.collect()
        };
        if columns.is_empty() {
            let rows = self.rows;
            let starts = (0..rows).step_by(CHUNK);
            let chunks = starts.map(move |at| filled(CHUNK.min(rows - at), Vec::new()));
            return Ok(Box::new(chunks));
        }
        let chunks = table.batches(&columns, 0)?;
        Ok(Box::new(chunks.map(move |own| {
            let own = own?;
            filled(own.first().map_or(0, |column| column.len()), own)
        })))
    }

    fn named(&self, error: Error) -> Error {
        match (&*self.name, error) {
            ("", error) | (_, error @ Error::InFile { .. }) => error,
            (name, error) => error.in_file(name),
        }
    }
}

/// What is said of all files.
#[derive(Debug)]
struct Settings {
    options: CsvOptions,
    /// The types that `options` give.
    given: Vec<(String, Type)>,
    /// Whether there is more than one file.
    several: bool,
}

/// Several files as one table.
#[derive(Debug)]
pub struct DataSet {
    parts: Vec<Part>,
    settings: Settings,
    /// The types that folders have as columns.
    folders: Vec<Type>,
    /// The types of the columns that are read.
    types: Vec<DataType>,
    /// Why those of text are text.
    reasons: Vec<String>,
}

impl DataSet {
    /// These files, one after the other.
    #[must_use]
    pub fn new(parts: Vec<Part>, options: CsvOptions) -> Self {
        Self {
            settings: Settings {
                options,
                given: Vec::new(),
                several: parts.len() > 1,
            },
            parts,
            folders: Vec::new(),
            types: Vec::new(),
            reasons: Vec::new(),
        }
    }

    /// The names of all columns, as the first file has them.
    ///
    /// # Errors
    /// If it cannot be read, or if there is no file.
    pub fn names(&mut self) -> Result<Vec<String>> {
        let none = || Error::new("there is no file");
        let first = self.parts.first_mut().ok_or_else(none)?;
        first
            .names(&self.settings.options)
            .map_err(|error| first.named(error))
    }

    /// Looks for columns in all files, and finds their types.
    pub(crate) fn prepare(&mut self, wanted: &[String]) -> Result<()> {
        let names = self.names()?;
        self.settings.given = self.settings.options.types_of(&names)?;
        let mut seen = vec![Seen::default(); wanted.len()];
        for part in &mut self.parts {
            let looked = part.look(wanted, &self.settings, &mut seen);
            looked.map_err(|error| part.named(error))?;
        }
        self.reasons = seen.iter().map(Seen::why_text).collect();
        self.folders.clear();
        for (n, name) in wanted.iter().enumerate() {
            let given = self.settings.given.iter().find(|(given, _)| given == name);
            let is_open =
                |part: &Part| part.is_text() || matches!(part.places[n], Place::Folder(_));
            self.folders.push(match given {
                Some((_, given)) => *given,
                None if self.parts.iter().any(is_open) => {
                    let decided = seen[n].decide(name);
                    // Of several files, the message names the one that decided.
                    decided.map_err(|error| match &self.parts[..] {
                        [one] => one.named(error),
                        _ => error,
                    })?
                }
                None => Type::Text,
            });
        }
        let mut first: Option<(String, Vec<DataType>)> = None;
        for part in &mut self.parts {
            let settled = part.settle(&seen, &self.folders);
            let types = settled.map_err(|error| part.named(error))?;
            let Some((name_0, types_0)) = &first else {
                first = Some((part.name.clone(), types));
                continue;
            };
            for ((name, of), of_0) in wanted.iter().zip(&types).zip(types_0) {
                if plain(of) != plain(of_0) {
                    let why = format!(
                        "column '{name}' has values of type {of}, and in {name_0} they are of type {of_0}"
                    );
                    return Err(part.named(Error::new(why)));
                }
            }
        }
        self.types = first.map(|(_, types)| types).unwrap_or_default();
        Ok(())
    }

    /// The types of the columns that it was prepared for.
    pub(crate) fn types(&self) -> &[DataType] {
        &self.types
    }

    /// What tensor such a column is.
    pub(crate) fn kind(&self, at: usize, name: &str) -> Result<Kind> {
        let why = self
            .parts
            .iter()
            .any(Part::is_text)
            .then(|| &*self.reasons[at]);
        Kind::of_column(name, &self.types[at], why)
    }

    /// How many rows the files have.
    pub(crate) fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.rows).sum()
    }

    /// The name of a file.
    pub(crate) fn file(&self, part: usize) -> &str {
        self.parts.get(part).map_or("", |part| &part.name)
    }

    /// Chunks of a file; `None` behind the last file.
    pub(crate) fn chunks(&mut self, part: usize) -> Option<Result<Chunks>> {
        let settings = &self.settings;
        let part = self.parts.get_mut(part)?;
        let chunks = part.chunks(settings, &self.folders);
        let chunks = chunks.map_err(|error| part.named(error));
        // Strings of several files have one type.
        Some(match self.settings.several {
            true => chunks.map(|chunks| Box::new(chunks.map(|chunk| one_type(chunk?))) as Chunks),
            false => chunks,
        })
    }
}

/// The type of the values, which several types may have.
fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        DataType::LargeUtf8 | DataType::Utf8View => &DataType::Utf8,
        other => other,
    }
}

/// Columns whose strings are of the type that all files have in common.
fn one_type(mut columns: Vec<ArrayRef>) -> Result<Vec<ArrayRef>> {
    let broken = |error| Error::broken("Arrow", error);
    for column in &mut columns {
        if let DataType::Dictionary(_, _) = column.data_type() {
            let dictionary = column.as_any_dictionary();
            *column = take(dictionary.values(), dictionary.keys(), None).map_err(broken)?;
        }
        if let Some(texts) = column.as_string_opt::<i64>() {
            *column = Arc::new(StringArray::from_iter(texts.iter()));
        } else if let Some(texts) = column.as_string_view_opt() {
            *column = Arc::new(StringArray::from_iter(texts.iter()));
        }
    }
    Ok(columns)
}

/// The column that a folder of this name is, and its value.
fn folder(name: &str) -> Option<(String, Option<String>)> {
    let (name, value) = name.split_once('=').filter(|(name, _)| !name.is_empty())?;
    let value = Some(value).filter(|value| !matches!(*value, "" | NO_VALUE));
    Some((decoded(name), value.map(decoded)))
}

/// A text in which `%2F` stands for a slash, and so on.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = &after[if byte.is_some() { 2 } else { 0 }..];
    }
    // What is no text then was not encoded so.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_columns() {
        let found =
            |name: &str| folder(name).map(|(name, value)| (name, value.unwrap_or("-".into())));
        for (name, column, value) in [
            ("year=2013", "year", "2013"),
            ("a%20b=x%2Fy%3d", "a b", "x/y="),
            ("k=__HIVE_DEFAULT_PARTITION__", "k", "-"),
            ("k=", "k", "-"),
            ("k=50%", "k", "50%"),
            ("k=%zz%4", "k", "%zz%4"),
            ("k=%ff", "k", "%ff"),
            ("k=%C3%A9", "k", "\u{e9}"),
        ] {
            assert_eq!(found(name), Some((column.into(), value.into())), "{name}");
        }
        assert_eq!((found("year"), found("=5")), (None, None));
    }
}
