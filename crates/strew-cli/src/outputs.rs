//! Where the results of a call go: to files, or to standard output.

use crate::failure::{Failure, Result};
use crate::show;
use crate::write::{self, Destination, Guard, Named};
use std::io::Write;
use strew::{DType, DynTensor};

/// Where each output goes.
#[derive(Default)]
pub(crate) struct Outputs {
    /// A file, with the outputs that go there; the first output's is in front.
    files: Vec<(Destination, Vec<&'static str>)>,
    printed: Vec<&'static str>,
    /// The output whose `.npy` bytes go to standard output.
    piped: Option<&'static str>,
}

/// What is asked for.
pub(crate) struct Asked<'m> {
    /// What `-o` says.
    pub(crate) first: Option<&'m String>,
    pub(crate) guard: Guard,
    pub(crate) json: bool,
    /// Whether standard output is a terminal.
    pub(crate) terminal: bool,
}

/// What `-o` says for standard output.
pub(crate) const PIPE: &str = "-";

/// An output that is in its file.
pub(crate) struct Written {
    pub(crate) name: &'static str,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
}

impl Outputs {
    /// The outputs of these names. `-o` is the file of the first one, and of all if it takes
    /// several. Without `-o` they are printed. `own` gives the file of another one.
    pub(crate) fn new<'m>(
        names: &[&'static str],
        asked: &Asked<'m>,
        own: impl Fn(&str) -> Option<&'m String>,
    ) -> Result<Self> {
        let mut main = Vec::new();
        let mut files = Vec::new();
        let mut printed = Vec::new();
        let is_pipe = asked.first.is_some_and(|name| name == PIPE);
        let piped = names.first().copied().filter(|_| is_pipe);
        if piped.is_some() {
            asked.check_pipe()?;
        }
        let file = asked.first.filter(|_| !is_pipe);
        let file = file.map(|name| Destination::new(name, &asked.guard));
        let file = file.transpose()?;
        for (n, &name) in names.iter().enumerate() {
            let own = if n == 0 { None } else { own(name) };
            match (own, &file) {
                (Some(own), _) => files.push((Destination::new(own, &asked.guard)?, vec![name])),
                (None, None) if is_pipe => {}
                (None, None) => printed.push(name),
                (None, Some(file)) if n == 0 || file.takes_several() => main.push(name),
                (None, Some(_)) => {}
            }
        }
        if let Some(file) = file {
            files.insert(0, (file, main));
        }
        for (n, (one, _)) in files.iter().enumerate() {
            if files[..n]
                .iter()
                .any(|(other, _)| other.path() == one.path())
            {
                return Err(Failure::file(
                    one.path(),
                    "two outputs cannot go to the same file",
                ));
            }
        }
        Ok(Self {
            files,
            printed,
            piped,
        })
    }

    /// Refuses names of which one has no place: a `.npy` file takes one output.
    pub(crate) fn take_all(&self, names: &[&str]) -> Result<()> {
        let takes = self.files.iter().map(|(_, held)| held.len()).sum::<usize>();
        let many = names.len();
        let why = format!("a .npy file takes one result, not {many}: write a .npz file");
        match (self.piped, self.files.first()) {
            (Some(_), _) if takes + 1 < many => Err(Failure::new(why)),
            (None, Some((file, _))) if takes < many => Err(Failure::file(file.path(), why)),
            _ => Ok(()),
        }
    }

    /// Where an output goes, in words.
    pub(crate) fn place(&self, name: &str) -> String {
        let mut files = self.files.iter();
        match files.find(|(_, names)| names.contains(&name)) {
            Some((file, _)) => file.path().display().to_string(),
            None if self.piped == Some(name) => "standard output, as .npy".to_owned(),
            None if self.printed.contains(&name) => "printed".to_owned(),
            None => "not kept".to_owned(),
        }
    }

    /// The `.npy` file of an output, if it goes to one.
    pub(crate) fn npy(&self, name: &str) -> Option<&Destination> {
        let mut files = self.files.iter();
        let found = files.find(|(_, names)| names.contains(&name));
        found
            .map(|(file, _)| file)
            .filter(|file| !file.takes_several())
    }

    pub(crate) fn write(&self, tensors: &[(&str, DynTensor)]) -> Result<()> {
        let named = |names: &[&str]| -> Named<'_> {
            let held = tensors.iter().filter(|(name, _)| names.contains(name));
            held.map(|(name, tensor)| (*name, tensor)).collect()
        };
        let files: Vec<_> = self
            .files
            .iter()
            .map(|(file, names)| (file, named(names)))
            .collect();
        write::write(&files)
    }

    pub(crate) fn print(
        &self,
        operator: &str,
        tensors: &[(&str, DynTensor)],
        json: bool,
        out: &mut impl Write,
    ) -> Result<()> {
        if let Some((_, tensor)) = tensors.iter().find(|(name, _)| self.piped == Some(*name)) {
            write::npy(out, tensor)?;
            return Ok(());
        }
        if !json {
            for (name, tensor) in tensors {
                if self.printed.contains(name) {
                    let (dtype, shape) = (tensor.dtype(), tensor.shape());
                    writeln!(out, "{name}: {dtype} {shape:?}\n{}", show::text(tensor))?;
                }
            }
            return Ok(());
        }
        // By hand and not as one value: a result may be larger than one would want to hold twice.
        write!(out, "{{\"operator\":{},\"outputs\":{{", quoted(operator))?;
        for (n, (name, tensor)) in tensors.iter().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            write!(out, "{comma}")?;
            self.describe(name, tensor.dtype(), tensor.shape(), out)?;
            if self.printed.contains(name) {
                write!(out, "\"values\":")?;
                show::write_json(tensor, out)?;
            } else {
                self.name_file(name, out)?;
            }
            write!(out, "}}")?;
        }
        writeln!(out, "}}}}")?;
        Ok(())
    }

    /// As [`print`](Self::print), for outputs that are in their files already.
    pub(crate) fn print_written(
        &self,
        operator: &str,
        written: &[Written],
        json: bool,
        out: &mut impl Write,
    ) -> Result<()> {
        if !json {
            return Ok(());
        }
        write!(out, "{{\"operator\":{},\"outputs\":{{", quoted(operator))?;
        for (n, Written { name, dtype, shape }) in written.iter().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            write!(out, "{comma}")?;
            self.describe(name, *dtype, shape, out)?;
            self.name_file(name, out)?;
            write!(out, "}}")?;
        }
        writeln!(out, "}}}}")?;
        Ok(())
    }

    fn describe(
        &self,
        name: &str,
        dtype: DType,
        shape: &[usize],
        out: &mut impl Write,
    ) -> Result<()> {
        let (name, dtype) = (quoted(name), dtype.name());
        write!(out, "{name}:{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},")?;
        Ok(())
    }

    fn name_file(&self, name: &str, out: &mut impl Write) -> Result<()> {
        let mut files = self.files.iter();
        match files.find(|(_, names)| names.contains(&name)) {
            Some((file, _)) => {
                write!(out, "\"file\":{}", quoted(&file.path().to_string_lossy()))?;
            }
            None => write!(out, "\"file\":null")?,
        }
        Ok(())
    }
}

impl Asked<'_> {
    /// Refuses bytes where text is wanted.
    fn check_pipe(&self) -> Result<()> {
        if self.json {
            let why =
                "-o - writes the bytes of a .npy file where --json prints: leave one of them out";
            return Err(Failure::new(why));
        }
        if self.terminal {
            let why = "-o - writes the bytes of a .npy file, and standard output is a terminal: leave \
                       -o out to see the result";
            return Err(Failure::new(why));
        }
        Ok(())
    }
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
