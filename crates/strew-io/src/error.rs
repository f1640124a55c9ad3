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
    /// Anything else, in words.
    Other(String),
}

impl Error {
    /// An error in words.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Other(message.into())
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
            Self::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}
