//! The files of columns that a call names: files, patterns, folders, standard input.

use super::columns::{csv_options, failure, file_format};
use super::{Format, alike, is_pattern, open, series, stdin};
use crate::failure::{Failure, Result};
use crate::flags::Columns;
use crate::outputs::PIPE;
use std::fs;
use std::path::{Path, PathBuf};
use strew_io::{DataSet, Origin, Part};

/// Folders within folders beyond this depth lead in a circle.
const DEPTH: usize = 64;

/// Files of columns, in the order of their rows.
pub(crate) struct Tables {
    files: Vec<(PathBuf, Format)>,
}

impl Tables {
    /// The files that these words name. `format` is that of all of them, whatever they are called.
    pub(crate) fn named(words: &[&str], format: Option<Format>) -> Result<Self> {
        let mut found = Self { files: Vec::new() };
        for word in words {
            let path = Path::new(word);
            if *word == PIPE {
                let usual = format.unwrap_or(Format::Csv);
                found.files.push((path.to_owned(), usual));
            } else if is_pattern(path) {
                let paths = alike(path)?;
                if paths.is_empty() {
                    return Err(Failure::new(format!("no file has a name like {word}")));
                }
                paths.iter().try_for_each(|path| found.add(path, format))?;
            } else {
                found.add(path, format)?;
            }
        }
        let mut files = found.files.iter().enumerate();
        match files.find(|(n, (path, _))| found.files[..*n].iter().any(|(other, _)| other == path))
        {
            Some((_, (path, _))) => Err(Failure::file(path, "it is there twice")),
            None => Ok(found),
        }
    }

    /// Adds a file, or those of a folder.
    fn add(&mut self, path: &Path, format: Option<Format>) -> Result<()> {
        if path.is_dir() {
            let before = self.files.len();
            self.add_folder(path, format, DEPTH)?;
            return match self.files.len() == before {
                false => Ok(()),
                true => Err(Failure::file(
                    path,
                    "there is no table in this folder, or it is called in another way than *.parquet or \
                     *.csv: --format says what its files are",
                )),
            };
        }
        let named = Format::of(&path.to_string_lossy()).filter(|format| format.is_table());
        let format = format.or(named).ok_or_else(|| {
            let kinds = "a table is a .parquet, .pq, .arrow, .arrows, .feather, .csv or .tsv file, or one \
                         of these two with .gz or .zst; --format names the format of another file";
            Failure::file(path, kinds)
        })?;
        open(path)?;
        self.files.push((path.to_owned(), format));
        Ok(())
    }

    /// Adds the tables of a folder and of those in it. Names that begin with a dot or an underscore
    /// are those of other files, such as `_SUCCESS`.
    fn add_folder(&mut self, folder: &Path, format: Option<Format>, depth: usize) -> Result<()> {
        let unread = |e: std::io::Error| Failure::file(folder, format!("it cannot be read: {e}"));
        if depth == 0 {
            return Err(Failure::file(folder, "its folders lead in a circle"));
        }
        let mut inner = Vec::new();
        for entry in fs::read_dir(folder).map_err(unread)? {
            let entry = entry.map_err(unread)?;
            if !entry.file_name().to_string_lossy().starts_with(['.', '_']) {
                inner.push(entry.path());
            }
        }
        series::sort(&mut inner);
        for path in inner {
            let named = Format::of(&path.to_string_lossy()).filter(|format| format.is_table());
            if path.is_dir() {
                self.add_folder(&path, format, depth - 1)?;
            } else if format.or(named).is_some() {
                self.add(&path, format)?;
            }
        }
        Ok(())
    }

    /// The files that are read, but standard input.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        let paths = self.files.iter().map(|(path, _)| path.as_path());
        paths.filter(|path| *path != Path::new(PIPE))
    }

    /// How many files there are.
    pub(crate) fn count(&self) -> usize {
        self.files.len()
    }

    /// The tables as one.
    pub(crate) fn open(&self, given: &Columns) -> Result<DataSet> {
        let is_text = |(_, format): &(PathBuf, Format)| matches!(format, Format::Csv | Format::Tsv);
        if let Some(flag) = given.of_text()
            && let Some((path, _)) = self.files.first()
            && !self.files.iter().any(is_text)
            && !(flag == "types" && self.files.iter().any(|(path, _)| has_columns(path)))
        {
            let why = format!(
                "{} is no CSV file: its columns have types of their own",
                path.display()
            );
            return Err(Failure::new(why).for_argument(flag));
        }
        let parts = self.files.iter().map(|(path, format)| {
            if path != Path::new(PIPE) {
                return Ok(Part::new(path.clone(), file_format(*format)));
            }
            let origin = Origin::File(stdin::spool()?);
            Ok(Part::file(
                stdin::NAME.to_owned(),
                origin,
                file_format(*format),
            ))
        });
        Ok(DataSet::new(
            parts.collect::<Result<_>>()?,
            csv_options(given),
        ))
    }
}

/// Whether folders of the path are columns, as in `year=2013/part.parquet`.
fn has_columns(path: &Path) -> bool {
    path.parent()
        .is_some_and(|folder| folder.to_string_lossy().contains('='))
}

/// The names of all columns.
pub(crate) fn names_of(data: &mut DataSet) -> Result<Vec<String>> {
    data.names().map_err(failure)
}
