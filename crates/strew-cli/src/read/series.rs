//! One tensor, or several files as one, read some rows at a time.
//!
//! `part-*.npy` are all files of such a name, in natural order: `part-2.npy` comes before
//! `part-10.npy`. They are one tensor, one behind the other along the first axis.

use super::{Loaded, Place, Purpose, Storage, stdin, zeros};
use crate::failure::{Failure, Result};
use crate::literal;
use std::cmp::Ordering;
use std::path::PathBuf;
use strew::{DType, DynTensor, DynView};

/// Rows of one or several files.
#[derive(Debug)]
pub(crate) struct Series {
    files: Vec<One>,
    dtype: DType,
    /// That of one row.
    shape: Vec<usize>,
}

/// One file's tensor.
#[derive(Debug)]
struct One {
    name: String,
    loaded: Loaded,
    /// How many rows come before it.
    start: usize,
    rows: usize,
}

/// Some rows.
pub(crate) enum Piece<'a> {
    There(DynView<'a>),
    Read(DynTensor),
}

impl Piece<'_> {
    pub(crate) fn view(&self) -> DynView<'_> {
        match self {
            Piece::There(view) => view.clone(),
            Piece::Read(tensor) => tensor.view(),
        }
    }
}

impl Series {
    /// Opens what a text names: a file, several, or a literal.
    pub(crate) fn open(text: &str) -> Result<Self> {
        let mut files: Vec<One> = Vec::new();
        let mut first: Option<(DType, Vec<usize>)> = None;
        for (name, loaded) in opened(text)? {
            let (dtype, shape) = loaded.kind()?;
            let (rows, row) = shape
                .split_first()
                .map_or((0, &[][..]), |(&n, row)| (n, row));
            if shape.is_empty() {
                return Err(Failure::new("it must have at least one dimension").in_file(name));
            }
            let start = files.last().map_or(0, |last| last.start + last.rows);
            match &first {
                None => first = Some((dtype, row.to_vec())),
                Some((dtype_0, row_0)) if (*dtype_0, &row_0[..]) != (dtype, row) => {
                    return Err(Failure::new(format!(
                        "its rows are of dtype {dtype} and shape {row:?}, and those of {} are of dtype \
                         {dtype_0} and shape {row_0:?}",
                        files.first().map_or("", |one| &one.name),
                    ))
                    .in_file(name));
                }
                Some(_) => {}
            }
            if start.checked_add(rows).is_none() {
                return Err(Failure::new("there are too many rows").in_file(name));
            }
            files.push(One {
                name,
                loaded,
                start,
                rows,
            });
        }
        let (dtype, shape) =
            first.ok_or_else(|| Failure::new(format!("no file has a name like {text}")))?;
        Ok(Self {
            files,
            dtype,
            shape,
        })
    }

    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape of one row.
    pub(crate) fn row_shape(&self) -> &[usize] {
        &self.shape
    }

    /// The shape of all rows.
    pub(crate) fn shape(&self) -> Vec<usize> {
        [&[self.rows()][..], &self.shape].concat()
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.files.last().map_or(0, |last| last.start + last.rows)
    }

    /// The bytes of one row.
    pub(crate) fn row_bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size()
    }

    /// The bytes of all rows.
    pub(crate) fn bytes(&self) -> u64 {
        (self.rows() as u64).saturating_mul(self.row_bytes() as u64)
    }

    /// The tensor, if it is one that is in memory.
    pub(crate) fn in_memory(&self) -> Option<&Loaded> {
        match &self.files[..] {
            [one] if matches!(one.loaded.storage, Storage::Owned(_)) => Some(&one.loaded),
            _ => None,
        }
    }

    /// Whether it is more than one file.
    pub(crate) fn is_several(&self) -> bool {
        self.files.len() > 1
    }

    /// How many rows from this one on lie in one file.
    pub(crate) fn together(&self, from: usize) -> usize {
        let one = self.at(from);
        one.map_or(0, |one| one.start + one.rows - from)
    }

    /// The rows from `from` on, all in one file.
    pub(crate) fn piece(&self, from: usize, count: usize) -> Result<Piece<'_>> {
        let Some(one) = self.at(from) else {
            return Err(Failure::new(format!("it has no row {from}")));
        };
        let named = |failure: Failure| failure.in_file(one.name.clone());
        let from = from - one.start;
        match &one.loaded.storage {
            Storage::Left(left) => return left.rows(from, count).map(Piece::Read).map_err(named),
            Storage::Column(column) => {
                return column.rows(from, count).map(Piece::Read).map_err(named);
            }
            Storage::Mapped(_) | Storage::Owned(_) => {}
        }
        let view = one.loaded.view().map_err(named)?;
        let some = view.narrow(0, from, count);
        some.map(Piece::There)
            .ok_or_else(|| named(Failure::new(format!("it has no row {}", from + count))))
    }

    /// The elements from `from` on, counted in row-major order, as a 1-d tensor.
    pub(crate) fn elements(&self, from: usize, count: usize) -> Result<DynTensor> {
        let mut tensor = zeros(self.dtype, &[count])?;
        let size = self.dtype.size();
        let row: usize = self.shape.iter().product();
        let mut done = 0;
        while done < count {
            let at = from + done;
            let Some(one) = self.at(at / row.max(1)) else {
                return Err(Failure::new(format!("it has no element {at}")));
            };
            let first = one.start * row;
            let now = (count - done).min(first + one.rows * row - at);
            let to = &mut tensor.as_bytes_mut()[done * size..(done + now) * size];
            let read = one.elements(at - first, row, to);
            read.map_err(|failure| failure.in_file(one.name.clone()))?;
            done += now;
        }
        Ok(tensor)
    }

    /// All of it.
    pub(crate) fn whole(&self) -> Result<DynTensor> {
        let mut shape = self.shape.clone();
        shape.insert(0, self.rows());
        let mut all = zeros(self.dtype, &shape)?;
        let row = self.row_bytes();
        for one in &self.files {
            if one.rows == 0 {
                continue;
            }
            let piece = self.piece(one.start, one.rows);
            let to = one.start * row..(one.start + one.rows) * row;
            match piece? {
                Piece::Read(tensor) => all.as_bytes_mut()[to].copy_from_slice(tensor.as_bytes()),
                Piece::There(view) => {
                    let copy = view.to_tensor().map_err(|p| Failure::new(p.to_string()))?;
                    all.as_bytes_mut()[to].copy_from_slice(copy.as_bytes());
                }
            }
        }
        Ok(all)
    }

    fn at(&self, row: usize) -> Option<&One> {
        let after = self
            .files
            .partition_point(|one| one.start + one.rows <= row);
        self.files.get(after)
    }
}

impl One {
    /// The elements from `from` on, as bytes; `row` is how many a row has.
    fn elements(&self, from: usize, row: usize, to: &mut [u8]) -> Result<()> {
        match &self.loaded.storage {
            Storage::Left(left) => return left.elements(from, to),
            Storage::Column(column) => return column.elements(from, row, to),
            Storage::Mapped(_) | Storage::Owned(_) => {}
        }
        let view = self.loaded.view()?;
        let size = view.dtype().size();
        let end = from + to.len() / size;
        let (first, last) = (from / row, end.div_ceil(row));
        let rows = view.narrow(0, first, last - first);
        let rows = rows.ok_or_else(|| Failure::new(format!("it has no row {last}")))?;
        let copy = rows.to_tensor().map_err(|p| Failure::new(p.to_string()))?;
        let skipped = (from - first * row) * size;
        to.copy_from_slice(&copy.as_bytes()[skipped..skipped + to.len()]);
        Ok(())
    }
}

/// The files that a text names: those of a list of tensors, too.
pub(crate) fn files(text: &str) -> Vec<PathBuf> {
    let items = text.split(',').chain([text]);
    let places = items.filter_map(|item| Place::parse(item.trim())?.files().ok());
    places.flatten().map(|place| place.path).collect()
}

/// Opens all that a text names, each with its name for messages.
fn opened(text: &str) -> Result<Vec<(String, Loaded)>> {
    if stdin::is_meant(text) {
        return Ok(vec![(
            stdin::NAME.to_owned(),
            stdin::load(text, Purpose::Rows)?,
        )]);
    }
    let Some(place) = Place::parse(text) else {
        let literal = literal::parse(text).ok_or_else(|| {
            Failure::new(format!(
                "'{text}' is no tensor: write file.npy, 'part-*.npy', file.npz:member, \
                 file.safetensors:name, file.parquet:column, or a literal as in [[0, 1], [1, 0]]:int64"
            ))
        })?;
        return Ok(vec![(text.to_owned(), Loaded::owned(literal?))]);
    };
    let load = |place: &Place| {
        let name = place.path.display().to_string();
        Ok((name, place.load(Purpose::Rows)?))
    };
    place.files()?.iter().map(load).collect()
}

/// Sorts paths in natural order.
pub(super) fn sort(paths: &mut [PathBuf]) {
    paths.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
}

/// Numbers in names are compared as numbers.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (x, y) = (run(left), run(right));
        if x.is_empty() || y.is_empty() {
            return x.len().cmp(&y.len()).then_with(|| a.cmp(b));
        }
        let order = match (number(x), number(y)) {
            (Some(x), Some(y)) => x.len().cmp(&y.len()).then_with(|| x.cmp(y)),
            _ => x.cmp(y),
        };
        if order != Ordering::Equal {
            return order;
        }
        (left, right) = (&left[x.len()..], &right[y.len()..]);
    }
}

/// The digits, or the other characters, that a text begins with.
fn run(text: &str) -> &str {
    let digit = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text.find(|c: char| c.is_ascii_digit() != digit);
    &text[..end.unwrap_or(text.len())]
}

/// A number without zeros in front.
fn number(run: &str) -> Option<&str> {
    run.starts_with(|c: char| c.is_ascii_digit())
        .then(|| run.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_natural_order() {
        let mut names = [
            "p10", "p2", "p", "p02", "q1", "p2b", "p2a10", "p2a9", "10", "9",
        ];
        names.sort_by(|a, b| natural(a, b));
        let sorted = [
            "9", "10", "p", "p02", "p2", "p2a9", "p2a10", "p2b", "p10", "q1",
        ];
        assert_eq!(names, sorted);
    }
}
