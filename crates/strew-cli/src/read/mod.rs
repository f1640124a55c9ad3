//! Tensors from files: `.npy`, members of `.npz`, tensors of `.safetensors`, columns of Parquet and
//! Arrow.
//!
//! Headers are copied into memory before they are looked at, and nothing in them is believed: what
//! they claim is checked against the file's length before memory is taken or mapped. The length of
//! standard input is not known: what its header claims must fit the memory limit.

#[cfg(feature = "columns")]
mod columns;
#[cfg(not(feature = "columns"))]
#[path = "no_columns.rs"]
mod columns;
mod npy;
mod npz;
mod safetensors;
mod series;
pub(crate) mod stdin;
#[cfg(feature = "columns")]
mod tables;

pub(crate) use columns::{Nulls, treat, write_folder, write_table};
#[cfg(feature = "columns")]
pub(crate) use columns::{failure as columns_failure, table_of_arrays};
pub(crate) use npy::write_header as write_npy_header;
pub(crate) use safetensors::dtype_of as safetensors_dtype;
pub(crate) use series::{Series, files};
#[cfg(feature = "columns")]
pub(crate) use tables::{Tables, names_of};

use crate::failure::{Failure, Result};
use crate::mapped::Mapped;
use crate::progress;
use columns::{Column, Missing};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use strew::{DType, DynTensor, DynView, DynViewMut, Layout};

/// A tensor that was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    storage: Storage,
    /// The storage holds the axes in reverse: a Fortran-ordered file, seen without a copy.
    reversed: bool,
}

#[derive(Debug)]
enum Storage {
    Mapped(Mapped),
    Owned(DynTensor),
    Left(Left),
    /// It stays in its file, too.
    #[cfg_attr(not(feature = "columns"), allow(dead_code))]
    Column(Column),
}

/// A tensor that stays in its file and is read some rows at a time.
#[derive(Debug)]
struct Left {
    file: File,
    /// Where its elements begin.
    at: u64,
    layout: Layout,
    /// The bytes of each number are in the other order.
    swapped: bool,
}

impl Left {
    /// The elements from `from` on, in row-major order, as bytes.
    fn elements(&self, from: usize, to: &mut [u8]) -> Result<()> {
        let size = self.layout.dtype().size();
        let part = Part {
            file: &self.file,
            start: self.at,
            len: (self.layout.len() * size) as u64,
        };
        part.reader((from * size) as u64)?
            .read_exact(to)
            .map_err(unreadable)?;
        if self.swapped {
            swap(self.layout.dtype(), to);
        }
        Ok(())
    }

    fn rows(&self, from: usize, count: usize) -> Result<DynTensor> {
        let shape = self.layout.shape();
        let mut wanted = shape.to_vec();
        if let Some(rows) = wanted.first_mut() {
            *rows = count;
        }
        let mut tensor = zeros(self.layout.dtype(), &wanted)?;
        // The layout's elements are in the file, so a row has no more than its length.
        let row: usize = shape.iter().skip(1).product();
        self.elements(from * row, tensor.as_bytes_mut())?;
        Ok(tensor)
    }
}

/// Reverses the bytes of each number. A complex number is two, each with its own order.
fn swap(dtype: DType, elements: &mut [u8]) {
    let numbers = if dtype.is_complex() { 2 } else { 1 };
    for number in elements.chunks_exact_mut(dtype.size() / numbers) {
        number.reverse();
    }
}

/// What a tensor is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It is only read, so it can stay where it is.
    Read,
    /// It is changed, so it must be a copy.
    Change,
    /// It is read some rows at a time, so it stays in its file, and none of it is mapped.
    Rows,
}

impl Loaded {
    pub(crate) fn owned(tensor: DynTensor) -> Self {
        Self {
            storage: Storage::Owned(tensor),
            reversed: false,
        }
    }

    pub(crate) fn mapped(mapped: Mapped) -> Self {
        Self {
            storage: Storage::Mapped(mapped),
            reversed: false,
        }
    }

    pub(crate) fn view(&self) -> Result<DynView<'_>> {
        let view = match &self.storage {
            Storage::Mapped(mapped) => mapped.view().map_err(|p| Failure::new(p.to_string()))?,
            Storage::Owned(tensor) => tensor.view(),
            Storage::Left(_) | Storage::Column(_) => {
                return Err(Failure::new("it was opened to be read by rows"));
            }
        };
        if !self.reversed {
            return Ok(view);
        }
        let order: Vec<usize> = (0..view.rank()).rev().collect();
        Ok(view.permute(&order).unwrap_or(view))
    }

    /// Its element type and shape, without a look at its elements.
    fn kind(&self) -> Result<(DType, Vec<usize>)> {
        match &self.storage {
            Storage::Left(left) => return Ok((left.layout.dtype(), left.layout.shape().to_vec())),
            Storage::Column(column) => return Ok((column.dtype(), column.shape())),
            Storage::Mapped(_) | Storage::Owned(_) => {}
        }
        let view = self.view()?;
        Ok((view.dtype(), view.shape().to_vec()))
    }

    /// The tensor to change; `None` if it was not read for that.
    pub(crate) fn view_mut(&mut self) -> Option<DynViewMut<'_>> {
        match &mut self.storage {
            Storage::Owned(tensor) if !self.reversed => Some(tensor.view_mut()),
            _ => None,
        }
    }

    /// What was changed.
    pub(crate) fn into_tensor(self) -> Option<DynTensor> {
        match self.storage {
            Storage::Owned(tensor) if !self.reversed => Some(tensor),
            _ => None,
        }
    }
}

/// Which tensor of which file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    path: PathBuf,
    format: Format,
    /// The member of an archive, or the column.
    member: Option<String>,
    /// 2-byte elements without a name are bfloat16.
    bf16: bool,
}

/// What a file's name says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Npy,
    Npz,
    Safetensors,
    Parquet,
    Arrow,
    Csv,
    Tsv,
    Zarr,
}

impl Format {
    const ALL: [(Self, &'static str); 15] = [
        (Self::Npy, ".npy"),
        (Self::Npz, ".npz"),
        (Self::Safetensors, ".safetensors"),
        (Self::Parquet, ".parquet"),
        (Self::Parquet, ".pq"),
        (Self::Arrow, ".arrow"),
        (Self::Arrow, ".arrows"),
        (Self::Arrow, ".feather"),
        (Self::Csv, ".csv"),
        (Self::Csv, ".csv.gz"),
        (Self::Csv, ".csv.zst"),
        (Self::Tsv, ".tsv"),
        (Self::Tsv, ".tsv.gz"),
        (Self::Tsv, ".tsv.zst"),
        (Self::Zarr, ".zarr"),
    ];

    /// Whether its files hold columns.
    #[cfg(feature = "columns")]
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow | Self::Csv | Self::Tsv)
    }

    /// The format of a result in a file of this name; `None` if none is written so.
    pub(crate) fn of_result(name: &str) -> Option<Self> {
        let is_written = |format: &Self| match format {
            Self::Npy | Self::Npz | Self::Safetensors => true,
            Self::Parquet | Self::Csv => cfg!(feature = "columns"),
            Self::Zarr => cfg!(feature = "zarr"),
            Self::Arrow => {
                cfg!(feature = "columns") && !name.to_ascii_lowercase().ends_with(".arrows")
            }
            Self::Tsv => false,
        };
        let packed = [".gz", ".zst"]
            .iter()
            .any(|end| name.to_ascii_lowercase().ends_with(end));
        Self::of(name).filter(is_written).filter(|_| !packed)
    }

    /// The format of a file of this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let named = |&(_, ending): &(Self, &str)| {
            name.len()
                .checked_sub(ending.len())
                .and_then(|from| name.get(from..))
                .is_some_and(|end| end.eq_ignore_ascii_case(ending))
        };
        Self::ALL
            .iter()
            .find(|f| named(f))
            .map(|&(format, _)| format)
    }
}

/// Reads the tensor that a text names: in one file, in several, or in standard input. `None` if it
/// names none of these.
pub(crate) fn load(text: &str, purpose: Purpose) -> Result<Option<Loaded>> {
    if stdin::is_meant(text) {
        return stdin::load(text, purpose).map(Some);
    }
    let Some(place) = Place::parse(text) else {
        return Ok(None);
    };
    let loaded = match place.is_pattern() {
        true => Loaded::owned(Series::open(text)?.whole()?),
        false => place.load(purpose)?,
    };
    Ok(Some(loaded))
}

impl Place {
    /// Takes `x.npy`, `x.npy:bf16`, `file.npz:member`, `file.npz:member:bf16`,
    /// `file.safetensors:name`, `file.parquet:column` apart; `None` if it names no such file.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // The path ends at the first colon behind a known ending, or with the text.
        let colons = text.match_indices(':').map(|(at, _)| at);
        let (path, format, mut rest) = colons
            .chain([text.len()])
            .find_map(|at| Some((&text[..at], Format::of(&text[..at])?, text.get(at + 1..))))?;
        let mut bf16 = false;
        if matches!(format, Format::Npy | Format::Npz) {
            let (before, last) = match rest {
                Some(r) => r.rsplit_once(':').map_or((None, r), |(b, l)| (Some(b), l)),
                None => (None, ""),
            };
            if matches!(last, "bf16" | "bfloat16") {
                (bf16, rest) = (true, before);
            }
        }
        if format == Format::Npy && rest.is_some() {
            return None;
        }
        Some(Self {
            path: path.into(),
            format,
            member: rest.map(str::to_owned),
            bf16,
        })
    }

    /// Whether it names all files of a kind, as `part-*.npy` does.
    pub(crate) fn is_pattern(&self) -> bool {
        is_pattern(&self.path)
    }

    /// Whether it is a column.
    #[cfg(feature = "columns")]
    pub(crate) fn is_column(&self) -> bool {
        self.format.is_table()
    }

    /// The files that it names, in natural order.
    fn files(&self) -> Result<Vec<Self>> {
        if !self.is_pattern() {
            return Ok(vec![self.clone()]);
        }
        let one = |path| Self {
            path,
            ..self.clone()
        };
        Ok(alike(&self.path)?.into_iter().map(one).collect())
    }

    /// Reads the tensor, or maps it.
    pub(crate) fn load(&self, purpose: Purpose) -> Result<Loaded> {
        let loaded = match self.format {
            Format::Zarr => columns::load_zarr(&self.path, self.member.as_deref(), purpose),
            _ => columns::missing(&self.path)
                .and_then(|missing| self.load_from(&open(&self.path)?, purpose, missing)),
        };
        let mut loaded =
            loaded.map_err(|failure| failure.in_file(self.path.display().to_string()))?;
        if let Storage::Mapped(mapped) = &mut loaded.storage {
            let shorter = "somebody made it shorter while it was read";
            mapped.watch(&Failure::file(&self.path, shorter));
        }
        Ok(loaded)
    }

    /// The same from the file that is open, whatever its name is; `missing` is what a column's
    /// missing values are.
    pub(crate) fn load_from(
        &self,
        file: &File,
        purpose: Purpose,
        missing: Missing,
    ) -> Result<Loaded> {
        let member = self.member.as_deref();
        match self.format {
            Format::Npy => npy::load(file, self.bf16, purpose),
            Format::Npz => npz::load(file, member, self.bf16, purpose),
            Format::Safetensors => safetensors::load(file, member, purpose),
            Format::Parquet | Format::Arrow | Format::Csv | Format::Tsv => {
                columns::load(file, self.format, member, missing, purpose)
            }
            Format::Zarr => Err(Failure::new("a Zarr hierarchy is a folder")),
        }
    }
}

/// A part of a file that begins at `start` and is `len` bytes long.
#[derive(Debug)]
struct Part<'a> {
    file: &'a File,
    start: u64,
    len: u64,
}

impl<'a> Part<'a> {
    fn whole(file: &'a File) -> Result<Self> {
        let len = file.metadata().map_err(unreadable)?.len();
        Ok(Self {
            file,
            start: 0,
            len,
        })
    }

    /// A reader of the bytes from `at` on, counted from the part's start.
    fn reader(&self, at: u64) -> Result<std::io::Take<&'a File>> {
        let mut file = self.file;
        file.seek(SeekFrom::Start(self.start.saturating_add(at)))
            .map_err(unreadable)?;
        Ok(file.take(self.len.saturating_sub(at)))
    }

    /// The tensor of this layout whose elements begin at `at`: mapped if possible.
    fn tensor(&self, at: u64, layout: &Layout, purpose: Purpose) -> Result<Storage> {
        let bytes = (layout.len() * layout.dtype().size()) as u64;
        let there = self.len.saturating_sub(at);
        if bytes > there {
            return Err(Failure::new(format!(
                "it is truncated: a tensor of dtype {} and shape {:?} takes {bytes} bytes, and {there} are there",
                layout.dtype(),
                layout.shape(),
            )));
        }
        let start = self.start.saturating_add(at);
        if purpose == Purpose::Rows && layout.rank() > 0 {
            return Ok(Storage::Left(Left {
                file: self.file.try_clone().map_err(unreadable)?,
                at: start,
                layout: layout.clone(),
                swapped: false,
            }));
        }
        if purpose == Purpose::Read {
            // A file system that cannot map is read instead.
            if let Ok(Some(mapped)) = Mapped::new(self.file, start, layout.clone()) {
                return Ok(Storage::Mapped(mapped));
            }
        }
        let mut tensor = zeros(layout.dtype(), layout.shape())?;
        progress::read_exact(&mut self.reader(at)?, tensor.as_bytes_mut()).map_err(unreadable)?;
        Ok(Storage::Owned(tensor))
    }
}

/// Whether a path is that of no file, but a pattern.
fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?']) && !path.exists()
}

/// All that a pattern names, in natural order.
fn alike(pattern: &Path) -> Result<Vec<PathBuf>> {
    let found = glob::glob(&pattern.to_string_lossy())
        .map_err(|e| Failure::file(pattern, format!("it is no pattern: {e}")))?;
    let one = |path: glob::GlobResult| {
        path.map_err(|e| Failure::file(e.path(), format!("it cannot be read: {}", e.error())))
    };
    let mut paths = found.map(one).collect::<Result<Vec<_>>>()?;
    series::sort(&mut paths);
    Ok(paths)
}

fn open(path: &Path) -> Result<File> {
    let unopened = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => Failure::file(path, "there is no such file"),
        _ => Failure::file(path, format!("it cannot be opened: {e}")),
    };
    // Asked before it is opened: opening a pipe waits for somebody to write to it.
    if !path.metadata().map_err(unopened)?.is_file() {
        return Err(Failure::file(path, "it is not a regular file"));
    }
    File::open(path).map_err(unopened)
}

/// The names that a file holds, for messages: not more than fit a line.
fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const FEW: usize = 12;
    let all = names.len();
    let mut text = names.take(FEW).collect::<Vec<_>>().join(", ");
    if all == 0 {
        text.push_str("nothing");
    } else if all > FEW {
        text.push_str(&format!(", ... ({all} in all)"));
    }
    text
}

/// Refuses a table of contents that there is no memory for: the libraries that read one take memory
/// without asking, up to `times` as much as its own size, and the process would end.
fn room_for_contents(bytes: u64, times: u64) -> Result<()> {
    let needed = usize::try_from(bytes.saturating_mul(times));
    let room = needed.map(|needed| Vec::<u8>::new().try_reserve_exact(needed));
    match room {
        Ok(Ok(())) => Ok(()),
        _ => Err(Failure::new(format!(
            "there is no memory for its table of contents of {bytes} bytes"
        ))),
    }
}

fn zeros(dtype: DType, shape: &[usize]) -> Result<DynTensor> {
    DynTensor::zeros(dtype, shape).map_err(|p| Failure::new(p.to_string()))
}

fn unreadable(error: std::io::Error) -> Failure {
    Failure::new(match error.kind() {
        std::io::ErrorKind::UnexpectedEof => "it is truncated".to_owned(),
        _ => format!("it cannot be read: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> (String, Format, Option<String>, bool) {
        let p = Place::parse(text).unwrap_or_else(|| panic!("{text} is no place"));
        let path = p.path.display().to_string();
        (path, p.format, p.member, p.bf16)
    }

    #[test]
    fn places_are_taken_apart() {
        let some = |s: &str| Some(s.to_owned());
        assert_eq!(place("x.npy"), ("x.npy".into(), Format::Npy, None, false));
        assert_eq!(
            place("x.npy:bf16"),
            ("x.npy".into(), Format::Npy, None, true)
        );
        assert_eq!(
            place("C:/x.npz:a:b"),
            ("C:/x.npz".into(), Format::Npz, some("a:b"), false)
        );
        assert_eq!(
            place("x.NPZ:a.npy:bfloat16"),
            ("x.NPZ".into(), Format::Npz, some("a.npy"), true)
        );
        assert_eq!(
            place("m.safetensors:layer:bf16"),
            (
                "m.safetensors".into(),
                Format::Safetensors,
                some("layer:bf16"),
                false
            )
        );
        for no in ["x", "x.np", "x.npy:", "x.npy:float32", "[1]:int64", "é"] {
            assert_eq!(Place::parse(no), None, "{no}");
        }
    }

    /// A folder with a file of these bytes in it.
    fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let path = path.to_str().unwrap().to_owned();
        (folder, path)
    }

    fn npy(descr: &str, fortran: &str, padding: &str) -> Vec<u8> {
        let header = format!(
            "{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': (2, 3), }}{padding}\n"
        );
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend([1, 0, 0, 0].repeat(6));
        bytes
    }

    fn is_mapped(text: &str, purpose: Purpose) -> bool {
        let loaded = Place::parse(text).unwrap().load(purpose).unwrap();
        assert_eq!(loaded.view().unwrap().shape(), [2, 3]);
        matches!(loaded.storage, Storage::Mapped(_))
    }

    #[test]
    fn what_can_stay_in_its_file_does() {
        // Headers of 10 bytes and 70 more, and of one byte more than that.
        let pad = |fortran: &str, more: usize| {
            " ".repeat(70 - (npy("<i4", fortran, "").len() - 34) + more)
        };
        let (_a, aligned) = file("x.npy", &npy("<i4", "False", &pad("False", 0)));
        assert!(is_mapped(&aligned, Purpose::Read));
        assert!(!is_mapped(&aligned, Purpose::Change));
        let (_b, odd) = file("x.npy", &npy("<i4", "False", &pad("False", 1)));
        assert!(!is_mapped(&odd, Purpose::Read));
        let (_c, fortran) = file("x.npy", &npy("<i4", "True", &pad("True", 0)));
        assert!(is_mapped(&fortran, Purpose::Read));
        let (_d, swapped) = file("x.npy", &npy(">i4", "False", &pad("False", 0)));
        assert!(!is_mapped(&swapped, Purpose::Read));
    }

    #[test]
    fn what_strew_writes_can_be_mapped_again() {
        use crate::write::{Destination, Guard, write};
        let folder = tempfile::tempdir().unwrap();
        let tensor = zeros(DType::F64, &[2, 3]).unwrap();
        let odd = zeros(DType::U8, &[3]).unwrap();
        for (name, place) in [
            ("x.npy", "x.npy"),
            ("x.npz", "x.npz:b"),
            ("x.safetensors", "x.safetensors:b"),
        ] {
            let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
            let to = Destination::new(&path(name), &Guard::default()).unwrap();
            let tensors = match name {
                "x.npy" => vec![("b", &tensor)],
                _ => vec![("a", &odd), ("b", &tensor)],
            };
            write(&[(&to, tensors)]).unwrap();
            assert!(is_mapped(&path(place), Purpose::Read), "{place}");
        }
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        let names = ["n"; 1000];
        assert!(listed(names.into_iter()).ends_with(", ... (1000 in all)"));
        assert_eq!(listed(["a", "b"].into_iter()), "a, b");
        assert_eq!(listed([].into_iter()), "nothing");
    }
}
