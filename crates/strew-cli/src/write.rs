//! Output files: written under a temporary name beside the final one, then renamed, so that a file
//! appears whole or not at all.

use crate::failure::{Failure, Result};
use crate::interrupt::Registered;
use crate::progress;
use crate::read::{Format, files, safetensors_dtype, write_folder, write_npy_header, write_table};
use safetensors::tensor::{Metadata, TensorInfo};
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use strew::{DType, DynTensor, Layout};
use tempfile::{Builder, NamedTempFile, TempDir};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// What an output may replace.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    /// Whether it may replace a file that exists.
    force: bool,
    inputs: Vec<Input>,
}

/// A file that the command reads. No output replaces it.
#[derive(Debug)]
struct Input {
    argument: String,
    path: PathBuf,
}

impl Guard {
    pub(crate) fn new(force: bool) -> Self {
        let inputs = Vec::new();
        Self { force, inputs }
    }

    /// The command reads this file, for an argument that an error may name.
    pub(crate) fn reads(&mut self, argument: &str, path: &Path) {
        if let Ok(path) = fs::canonicalize(path) {
            let argument = argument.to_owned();
            self.inputs.push(Input { argument, path });
        }
    }

    /// The command reads the files that this text names, for an argument.
    pub(crate) fn reads_text(&mut self, argument: &str, text: &str) {
        for path in files(text) {
            self.reads(&format!("--{argument}"), &path);
        }
    }

    /// Refuses a path that no output may take. Its links are resolved. `shown` is its name on the
    /// command line.
    fn check(&self, path: &Path, shown: &Path) -> Result<()> {
        if let Some(input) = self.inputs.iter().find(|input| input.path == *path) {
            let argument = &input.argument;
            let why = format!("it is an input ({argument}): an output never replaces one");
            return Err(Failure::file(shown, why));
        }
        match !self.force && path.exists() {
            true => Err(Failure::file(
                shown,
                "it exists already; --force replaces it",
            )),
            false => Ok(()),
        }
    }
}

/// A path that could be written when it was checked, before anything is computed.
#[derive(Clone, Debug)]
pub(crate) struct Writable {
    path: PathBuf,
    /// Whether it may replace a file.
    force: bool,
}

impl Writable {
    pub(crate) fn new(name: &str, guard: &Guard) -> Result<Self> {
        let path = PathBuf::from(name);
        // A link stays a link: what it points at is replaced.
        let path = match fs::canonicalize(&path) {
            Ok(path) => path,
            Err(_) if path.is_symlink() => {
                return Err(Failure::file(&path, "it is a link that leads nowhere"));
            }
            Err(_) => path,
        };
        if !directory(&path).is_dir() {
            return Err(Failure::file(&path, "its directory does not exist"));
        }
        if path.is_dir() {
            return Err(Failure::file(&path, "it is a directory"));
        }
        // A device or a pipe would be replaced by a file.
        if path.exists() && !path.is_file() {
            return Err(Failure::file(&path, "it is not a regular file"));
        }
        guard.check(&path, Path::new(name))?;
        let force = guard.force;
        Ok(Self { path, force })
    }

    /// A folder that could be made, or that is a Zarr hierarchy and could be replaced.
    fn zarr(name: &str, guard: &Guard) -> Result<Self> {
        let path = PathBuf::from(name);
        if !directory(&path).is_dir() {
            return Err(Failure::file(&path, "its directory does not exist"));
        }
        let heads = ["zarr.json", ".zarray", ".zgroup"];
        if path.exists() && !heads.iter().any(|head| path.join(head).is_file()) {
            return Err(Failure::file(
                &path,
                "it is there and no Zarr hierarchy, so it is not replaced",
            ));
        }
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        guard.check(&real, &path)?;
        let force = guard.force;
        Ok(Self { path, force })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives a finished file this name. A file that has appeared there meanwhile stays.
    fn name(&self, file: NamedTempFile) -> Result<()> {
        let path = &self.path;
        if self.force {
            let named = file.persist(path);
            return named.map(drop).map_err(|e| unwritten(path, &e.error));
        }
        match file.persist_noclobber(path) {
            Ok(_) => Ok(()),
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists || path.exists() => Err(
                Failure::file(path, "it has appeared meanwhile; --force replaces it"),
            ),
            // A file system that knows no such renaming.
            Err(e) => {
                let named = e.file.persist(path);
                named.map(drop).map_err(|e| unwritten(path, &e.error))
            }
        }
    }
}

/// A file to write.
#[derive(Debug)]
pub(crate) struct Destination {
    to: Writable,
    format: Format,
}

impl Destination {
    /// Checks, before anything is computed, that the file could be written.
    pub(crate) fn new(name: &str, guard: &Guard) -> Result<Self> {
        let format = Format::of_result(name).ok_or_else(|| {
            Failure::file(
                Path::new(name),
                "an output is a .npy, .npz, .safetensors, .zarr, .parquet, .arrow or .csv file; -o - \
                 writes .npy to standard output",
            )
        })?;
        let to = match format {
            Format::Zarr => Writable::zarr(name, guard)?,
            _ => Writable::new(name, guard)?,
        };
        Ok(Self { to, format })
    }

    /// Whether all outputs of an operator go into this one file.
    pub(crate) fn takes_several(&self) -> bool {
        self.format != Format::Npy
    }

    pub(crate) fn path(&self) -> &Path {
        self.to.path()
    }

    pub(crate) fn folder(&self) -> &Path {
        directory(self.path())
    }
}

/// A `.npy` file that is written piece by piece, and appears when it is whole.
pub(crate) struct Growing {
    to: Writable,
    file: NamedTempFile,
    /// Behind the file, so that an interrupt finds it for as long as it is there.
    registered: Registered,
    /// How many bytes the elements take, and how many of them are still missing.
    bytes: u64,
    missing: u64,
}

impl Growing {
    pub(crate) fn new(to: &Destination, dtype: DType, shape: &[usize]) -> Result<Self> {
        let layout = Layout::contiguous(dtype, shape);
        let layout = layout.map_err(|p| Failure::file(to.path(), p))?;
        let bytes = (layout.len() * dtype.size()) as u64;
        let failed = |e: io::Error| unwritten(to.path(), &e);
        let (file, registered) = temporary(to.path()).map_err(failed)?;
        write_npy_header(&mut file.as_file(), dtype, shape).map_err(failed)?;
        Ok(Self {
            to: to.to.clone(),
            file,
            registered,
            bytes,
            missing: bytes,
        })
    }

    /// How many bytes the elements take.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes the next elements.
    pub(crate) fn append(&mut self, elements: &[u8]) -> Result<()> {
        let written = self.file.as_file().write_all(elements);
        written.map_err(|e| unwritten(self.to.path(), &e))?;
        self.missing = self.missing.saturating_sub(elements.len() as u64);
        Ok(())
    }

    /// Makes sure that the file is whole, and on the disk.
    pub(crate) fn finish(self) -> Result<Self> {
        if self.missing > 0 {
            let missing = self.missing;
            return Err(Failure::file(
                self.to.path(),
                format!("{missing} bytes of it were not made"),
            ));
        }
        let kept = self.file.as_file().sync_all();
        kept.map_err(|e| unwritten(self.to.path(), &e))?;
        Ok(self)
    }

    /// Gives the file its name.
    pub(crate) fn appear(self) -> Result<()> {
        let Self {
            to,
            file,
            registered: _registered,
            ..
        } = self;
        to.name(file)
    }
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::file(path, format!("it cannot be written: {error}"))
}

/// Where a file without a directory in its name lies.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Tensors with their names.
pub(crate) type Named<'a> = Vec<(&'a str, &'a DynTensor)>;

/// Writes all files under temporary names, and only then gives them their own.
pub(crate) fn write(files: &[(&Destination, Named<'_>)]) -> Result<()> {
    let written: Vec<_> = files
        .iter()
        .map(|(to, tensors)| Ok((to, Part::new(to, tensors)?)))
        .collect::<Result<_>>()?;
    for (to, part) in written {
        part.appear(&to.to)?;
    }
    Ok(())
}

/// An output under a temporary name. What is removed on an interrupt stands behind it.
enum Part {
    File(NamedTempFile, Registered),
    Folder(TempDir, Registered),
}

impl Part {
    fn new(to: &Destination, tensors: &[(&str, &DynTensor)]) -> Result<Self> {
        let failed = |e: io::Error| unwritten(to.path(), &e);
        if to.format == Format::Zarr {
            let made = Registered::made(|| named().tempdir_in(directory(to.path())));
            let (folder, registered) = made.map_err(failed)?;
            let inner = folder.path().join(WHOLE);
            fs::create_dir(&inner).map_err(failed)?;
            let filled = write_folder(&inner, tensors);
            filled.map_err(|f| f.in_file(to.path().display().to_string()))?;
            return Ok(Self::Folder(folder, registered));
        }
        let (file, registered) = temporary(to.path()).map_err(failed)?;
        fill(file.as_file(), to, tensors)?;
        file.as_file().sync_all().map_err(failed)?;
        Ok(Self::File(file, registered))
    }

    /// Gives it its name.
    fn appear(self, to: &Writable) -> Result<()> {
        let path = to.path();
        match self {
            Self::File(file, _registered) => to.name(file),
            Self::Folder(folder, _registered) => {
                // What was there goes into the temporary folder, and with it.
                let (new, old) = (folder.path().join(WHOLE), folder.path().join("old"));
                let is_replaced = path.exists();
                if is_replaced {
                    fs::rename(path, &old).map_err(|e| unwritten(path, &e))?;
                }
                fs::rename(new, path).map_err(|e| {
                    // It comes back. If it cannot, at least it is not removed.
                    if is_replaced && fs::rename(old, path).is_err() {
                        let _ = folder.keep();
                    }
                    unwritten(path, &e)
                })
            }
        }
    }
}

/// The folder within a temporary one that becomes the output.
const WHOLE: &str = "new";

/// Writes bytes as one file, which appears whole or not at all.
pub(crate) fn write_bytes(to: &Writable, bytes: &[u8]) -> Result<()> {
    replace(to, &mut |mut to| progress::write_all(&mut to, bytes))
}

/// Writes a file, which appears whole or not at all.
pub(crate) fn replace(
    to: &Writable,
    fill: &mut dyn FnMut(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<()> {
    let failed = |e: io::Error| unwritten(to.path(), &e);
    let (file, _registered) = temporary(to.path()).map_err(failed)?;
    let mut buffered = BufWriter::with_capacity(1 << 20, file.as_file());
    fill(&mut buffered).map_err(failed)?;
    buffered.flush().map_err(failed)?;
    drop(buffered);
    file.as_file().sync_all().map_err(failed)?;
    to.name(file)
}

/// What temporary files and folders are called.
fn named() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".strew-").suffix(".part");
    builder
}

/// An empty file beside `path`, with the rights that a file of that name has or would get.
fn temporary(path: &Path) -> io::Result<(NamedTempFile, Registered)> {
    let mut builder = named();
    #[cfg(unix)]
    let wide = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(wide);
    let (file, registered) = Registered::made(|| builder.tempfile_in(directory(path)))?;
    if let Ok(existing) = fs::metadata(path) {
        file.as_file().set_permissions(existing.permissions())?;
    }
    Ok((file, registered))
}

fn fill(file: &File, to: &Destination, tensors: &[(&str, &DynTensor)]) -> Result<()> {
    let mut buffered = BufWriter::with_capacity(1 << 20, file);
    let done = match to.format {
        Format::Npy => tensors.iter().try_for_each(|(_, t)| npy(&mut buffered, t)),
        Format::Npz => npz(&mut buffered, tensors),
        Format::Safetensors => {
            // Wider elements first, so that all of them are aligned.
            let mut tensors = tensors.to_vec();
            tensors.sort_by_key(|(_, t)| std::cmp::Reverse(t.dtype().size()));
            let header =
                safetensors_header(&tensors).map_err(|why| Failure::file(to.path(), why))?;
            safetensors(&mut buffered, &header, &tensors)
        }
        // No destination has another format.
        Format::Parquet | Format::Csv | Format::Arrow | Format::Tsv | Format::Zarr => {
            write_table(to.format, tensors, &mut buffered)
        }
    };
    done.and_then(|()| buffered.flush())
        .map_err(|e| unwritten(to.path(), &e))
}

/// A `.npy` file.
pub(crate) fn npy(to: &mut impl Write, tensor: &DynTensor) -> io::Result<()> {
    write_npy_header(to, tensor.dtype(), tensor.shape())?;
    progress::write_all(to, tensor.as_bytes())
}

/// Stored, not deflated, as `numpy.savez` does: so the members can be mapped again.
fn npz(to: &mut BufWriter<&File>, tensors: &[(&str, &DynTensor)]) -> io::Result<()> {
    let mut to = Silent::new(to);
    let mut archive = ZipWriter::new(&mut to);
    for (name, tensor) in tensors {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .with_alignment(64)
            .large_file(tensor.as_bytes().len() > 1 << 31);
        archive.start_file(format!("{name}.npy"), options)?;
        npy(&mut archive, tensor)?;
    }
    archive.finish()?;
    to.failed.map_or(Ok(()), Err)
}

/// A new file that keeps its first error to itself, and takes what comes after it for written: an archive
/// that is told tries again when it is dropped, and complains to the error stream.
struct Silent<W> {
    to: W,
    failed: Option<io::Error>,
    at: u64,
    end: u64,
}

impl<W> Silent<W> {
    fn new(to: W) -> Self {
        Self {
            to,
            failed: None,
            at: 0,
            end: 0,
        }
    }

    fn attempt(&mut self, work: impl FnOnce(&mut W) -> io::Result<()>) {
        if self.failed.is_none() {
            self.failed = work(&mut self.to).err();
        }
    }
}

impl<W: Write> Write for Silent<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(|to| to.write_all(bytes));
        self.at += bytes.len() as u64;
        self.end = self.end.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt(W::flush);
        Ok(())
    }
}

impl<W: Seek> Seek for Silent<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        let at = SeekFrom::Start(self.at);
        self.attempt(|to| to.seek(at).map(drop));
        Ok(self.at)
    }
}

fn safetensors_header(tensors: &[(&str, &DynTensor)]) -> Result<Vec<u8>, String> {
    let mut infos = Vec::with_capacity(tensors.len());
    let mut offset = 0;
    for (name, tensor) in tensors {
        let dtype = safetensors_dtype(tensor.dtype()).ok_or_else(|| {
            format!(
                "a .safetensors file cannot hold {}; use .npy or .npz",
                tensor.dtype()
            )
        })?;
        let end = offset + tensor.as_bytes().len();
        let info = TensorInfo {
            dtype,
            shape: tensor.shape().to_vec(),
            data_offsets: (offset, end),
        };
        infos.push(((*name).to_owned(), info));
        offset = end;
    }
    let metadata = Metadata::new(None, infos).map_err(|e| e.to_string())?;
    let mut text = serde_json::to_vec(&metadata).map_err(|e| e.to_string())?;
    // With its 8 bytes of length in front, the data begins at a multiple of 64.
    text.resize((text.len() + 8).next_multiple_of(64) - 8, b' ');
    Ok(text)
}

fn safetensors(
    to: &mut impl Write,
    header: &[u8],
    tensors: &[(&str, &DynTensor)],
) -> io::Result<()> {
    to.write_all(&(header.len() as u64).to_le_bytes())?;
    to.write_all(header)?;
    tensors
        .iter()
        .try_for_each(|(_, tensor)| progress::write_all(to, tensor.as_bytes()))
}
