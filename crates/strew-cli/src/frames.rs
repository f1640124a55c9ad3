//! Where tables of results go: to a file, or to standard output.

use crate::failure::{Failure, Result};
use crate::outputs::{PIPE, quoted};
use crate::read::Format;
use crate::write::{Guard, Writable, replace};
use std::io::Write;
use std::path::Path;
use strew_io::{Cell, Frame};

/// Tables of more rows than this are abbreviated for people.
const MANY: usize = 60;
/// How many rows an abbreviated table shows at each end.
const EDGE: usize = 10;

/// A table that was made.
pub(crate) struct Made<'a> {
    pub(crate) operator: &'a str,
    /// Its first columns.
    pub(crate) keys: &'a [String],
    /// The types of the columns that were read, by their names.
    pub(crate) types: &'a [(String, String)],
    pub(crate) frame: &'a Frame,
    pub(crate) groups: usize,
}

/// Where a table goes.
pub(crate) enum Target {
    /// As text, for people.
    Printed,
    /// As CSV, on standard output.
    Piped,
    Csv(Writable),
    Parquet(Writable),
    Arrow(Writable),
}

impl Target {
    /// Checks, before anything is computed, that the file could be written.
    pub(crate) fn new(name: Option<&String>, guard: &Guard, json: bool) -> Result<Self> {
        let Some(name) = name else {
            return Ok(Self::Printed);
        };
        if name == PIPE {
            let why = "-o - writes CSV where --json prints: leave one of them out";
            return match json {
                true => Err(Failure::new(why)),
                false => Ok(Self::Piped),
            };
        }
        let kind = match Format::of_result(name) {
            Some(Format::Csv) => Self::Csv,
            Some(Format::Parquet) => Self::Parquet,
            Some(Format::Arrow) => Self::Arrow,
            _ => {
                return Err(Failure::file(
                    Path::new(name),
                    "a table goes to a .csv, .parquet or .arrow file; -o - writes CSV to standard \
                     output",
                ));
            }
        };
        Writable::new(name, guard).map(kind)
    }

    /// Whether the table is for standard output.
    pub(crate) fn is_printed(&self) -> bool {
        matches!(self, Self::Printed)
    }

    /// Writes the table, or prints it.
    pub(crate) fn give(&self, made: &Made<'_>, json: bool, out: &mut impl Write) -> Result<()> {
        let frame = made.frame;
        let written = match self {
            Self::Printed if json => return print_json(made, out),
            Self::Printed => return print_text(frame, out),
            Self::Piped => return Ok(frame.write_csv(out)?),
            Self::Csv(path) => {
                replace(path, &mut |to| frame.write_csv(to))?;
                path.path()
            }
            Self::Parquet(path) => {
                replace(path, &mut |to| frame.write_parquet(to))?;
                path.path()
            }
            Self::Arrow(path) => {
                replace(path, &mut |to| frame.write_arrow(to))?;
                path.path()
            }
        };
        if json {
            writeln!(
                out,
                "{{\"operator\":{},\"groups\":{},\"columns\":{},\"types\":{},\"file\":{}}}",
                quoted(made.operator),
                made.groups,
                list(frame.names()),
                types(made.types),
                quoted(&written.to_string_lossy())
            )?;
        }
        Ok(())
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(quoted).collect();
    format!("[{}]", names.join(","))
}

/// An object with a type for each column.
fn types(types: &[(String, String)]) -> serde_json::Value {
    let each = types
        .iter()
        .map(|(name, of)| (name.clone(), of.clone().into()));
    serde_json::Value::Object(each.collect())
}

/// Columns under their names, with two spaces between them.
fn print_text(frame: &Frame, out: &mut impl Write) -> Result<()> {
    let rows = frame.rows();
    let shown: Vec<Option<usize>> = match rows > MANY {
        false => (0..rows).map(Some).collect(),
        true => {
            let tail = (rows - EDGE..rows).map(Some);
            (0..EDGE).map(Some).chain([None]).chain(tail).collect()
        }
    };
    let columns: Vec<(bool, Vec<String>)> = frame
        .names()
        .enumerate()
        .map(|(column, name)| {
            let cells = shown.iter().map(|row| match row {
                None => "...".to_owned(),
                Some(row) => match frame.cell(column, *row) {
                    Cell::Missing => "null".to_owned(),
                    Cell::Number(text) | Cell::Text(text) => printable(&text),
                },
            });
            let all = [printable(name)].into_iter().chain(cells).collect();
            (frame.is_number(column), all)
        })
        .collect();
    let width = |cells: &[String]| cells.iter().map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = columns.iter().map(|(_, cells)| width(cells)).collect();
    for line in 0..=shown.len() {
        let cells = columns
            .iter()
            .zip(&widths)
            .map(|((number, cells), &width)| match number {
                true => format!("{:>width$}", cells[line]),
                false => format!("{:<width$}", cells[line]),
            });
        let text = cells.collect::<Vec<_>>().join("  ");
        writeln!(out, "{}", text.trim_end())?;
    }
    if rows > MANY {
        writeln!(out, "({rows} rows)")?;
    }
    Ok(())
}

/// Names and strings may hold line breaks and escape sequences; a terminal shall not see them.
fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() {
            true => line.extend(c.escape_default()),
            false => line.push(c),
        }
    }
    line
}

/// An object for each row. NaN and the infinities are strings, as JSON has no such numbers.
fn print_json(made: &Made<'_>, out: &mut impl Write) -> Result<()> {
    let frame = made.frame;
    write!(
        out,
        "{{\"operator\":{},\"keys\":{},\"types\":{},\"rows\":[",
        quoted(made.operator),
        list(made.keys.iter().map(String::as_str)),
        types(made.types)
    )?;
    let names: Vec<String> = frame.names().map(quoted).collect();
    for row in 0..frame.rows() {
        let comma = if row > 0 { "," } else { "" };
        write!(out, "{comma}{{")?;
        for (column, name) in names.iter().enumerate() {
            let comma = if column > 0 { "," } else { "" };
            let value = match frame.cell(column, row) {
                Cell::Missing => "null".to_owned(),
                Cell::Number(text) if matches!(&*text, "NaN" | "inf" | "-inf") => quoted(&text),
                Cell::Number(text) => text,
                Cell::Text(text) => quoted(&text),
            };
            write!(out, "{comma}{name}:{value}")?;
        }
        write!(out, "}}")?;
    }
    writeln!(out, "]}}")?;
    Ok(())
}
