//! Where the results of a call go: to files, or to standard output.

use crate::failure::{Failure, Result};
use crate::show;
use crate::write::{self, Destination, Named};
use std::io::Write;
use strew::{DType, DynTensor};

/// Where each output goes.
pub(crate) struct Outputs {
    /// A file, with the outputs that go there; the first output's is in front.
    files: Vec<(Destination, Vec<&'static str>)>,
    printed: Vec<&'static str>,
}

/// An output that is in its file.
pub(crate) struct Written {
    pub(crate) name: &'static str,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
}

impl Outputs {
    /// The outputs of these names. `first` is the file of the first one, and of all if it takes
    /// several; none, or `-`, prints them. `own` gives the file of another one.
    pub(crate) fn new<'m>(
        names: &[&'static str],
        first: Option<&String>,
        own: impl Fn(&str) -> Option<&'m String>,
    ) -> Result<Self> {
        let mut main = Vec::new();
        let mut files = Vec::new();
        let mut printed = Vec::new();
        let file = first
            .filter(|name| *name != "-")
            .map(|name| Destination::new(name));
        let file = file.transpose()?;
        for (n, &name) in names.iter().enumerate() {
            let own = if n == 0 { None } else { own(name) };
            match (own, &file) {
                (Some(own), _) => files.push((Destination::new(own)?, vec![name])),
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
        Ok(Self { files, printed })
    }

    /// The first file, unless it has all outputs that were asked for.
    pub(crate) fn lacks(&self, names: &[&str]) -> Option<&Destination> {
        let (file, held) = self.files.first()?;
        (held.len() < names.len() && self.files.len() == 1).then_some(file)
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

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
