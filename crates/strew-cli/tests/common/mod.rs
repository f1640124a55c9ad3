//! Runs the real program, and makes files for it without using its own code.

#![allow(dead_code)] // Each test file uses its own part.

use npyz::WriterBuilder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What the program did.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    /// Its output, if it succeeded and had nothing to complain about.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""));
        self.out
    }

    /// Its one line of complaint, if it failed as it should.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!(self.code, Some(2), "{}{}", self.out, self.err);
        assert_eq!(self.out, "", "nothing on standard output");
        assert_eq!(self.err.lines().count(), 1, "one line: {}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.err.trim_end().to_owned()
    }

    #[track_caller]
    pub(crate) fn json(self) -> serde_json::Value {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }
}

/// A folder of its own, in which the program runs.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strew"));
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command
            .env_remove("STREW_NUM_THREADS")
            .env_remove("OMP_NUM_THREADS")
            .env_remove("STREW_MEMORY_LIMIT");
        command
    }

    /// Runs a line; words are split at spaces, so literals hold none.
    pub(crate) fn strew(&self, line: &str) -> Done {
        let words = line.split(' ').filter(|word| !word.is_empty());
        let Output {
            status,
            stdout,
            stderr,
        } = self.command().args(words).output().unwrap();
        Done {
            code: status.code(),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Everything that is there, hidden files too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A `.npy` file in row-major order.
    pub(crate) fn npy<T: npyz::AutoSerialize + Copy>(
        &self,
        name: &str,
        shape: &[u64],
        values: &[T],
    ) {
        self.write(name, npy_bytes(npyz::Order::C, shape, values));
    }

    pub(crate) fn npy_fortran<T: npyz::AutoSerialize + Copy>(
        &self,
        name: &str,
        shape: &[u64],
        stored: &[T],
    ) {
        self.write(name, npy_bytes(npyz::Order::Fortran, shape, stored));
    }
}

/// What another implementation makes of an array.
pub(crate) fn npy_bytes<T: npyz::AutoSerialize + Copy>(
    order: npyz::Order,
    shape: &[u64],
    values: &[T],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(shape)
        .order(order)
        .writer(&mut bytes)
        .begin_nd()
        .unwrap();
    writer.extend(values.iter().copied()).unwrap();
    writer.finish().unwrap();
    bytes
}

/// Shape and elements of a `.npy` file, as another implementation reads them.
pub(crate) fn read_npy<T: npyz::Deserialize>(path: &Path) -> (Vec<u64>, Vec<T>) {
    let bytes = fs::read(path).unwrap();
    parse_npy(&bytes)
}

pub(crate) fn parse_npy<T: npyz::Deserialize>(bytes: &[u8]) -> (Vec<u64>, Vec<T>) {
    let file = npyz::NpyFile::new(bytes).unwrap();
    let shape = file.shape().to_vec();
    (shape, file.into_vec().unwrap())
}

/// A `.npy` file with a header written by hand.
pub(crate) fn raw_npy(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let mut header = dictionary.to_owned();
    while !(10 + header.len() + 1).is_multiple_of(16) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}
