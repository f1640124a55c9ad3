//! What can be wrong with a file.

use std::fmt;

/// The result of reading.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A value is missing, and nothing says what stands for it.
    Null {
        /// The column.
        column: String,
        /// The first row without a value.
        row: usize,
    },
    /// There is no column of this name.
    NoColumn {
        /// The name that was asked for.
        name: String,
        /// Those that are there.
        names: Vec<String>,
    },
    /// The error of one of several files.
    InFile {
        /// Its name.
        file: String,
        /// What is wrong with it.
        error: Box<Self>,
    },
    /// Anything else, in words.
    Other(String),
}

impl Error {
    /// An error in words.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Other(message.into())
    }

    /// The error of a file.
    pub(crate) fn in_file(self, file: &str) -> Self {
        Self::InFile {
            file: file.to_owned(),
            error: Box::new(self),
        }
    }

    /// An error of the operating system.
    pub(crate) fn system(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Self::new("it is truncated"),
            _ => Self::new(format!("it cannot be read: {error}")),
        }
    }

    /// What the reader of a format says of a file.
    pub(crate) fn broken(format: &str, error: impl fmt::Display) -> Self {
        Self::new(format!("it is not a readable {format} file: {error}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null { column, row } => {
                write!(f, "column '{column}' has no value in row {row}")
            }
            Self::NoColumn { name, names } => {
                let names = listed(names.iter().map(String::as_str));
                write!(f, "it has no column '{name}', but {names}")
            }
            Self::InFile { file, error } => write!(f, "{file}: {error}"),
            Self::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

/// Names for a message: not more than fit a line.
pub(crate) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const FEW: usize = 12;
    let all = names.len();
    let few: Vec<&str> = names.take(FEW).collect();
    match all {
        0 => "none at all".to_owned(),
        _ if all > FEW => format!("{}, ... ({all} in all)", few.join(", ")),
        _ => few.join(", "),
    }
}
