//! The command `strew` of the Python package.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command line and gives its exit status. Other threads go on meanwhile.
///
/// The words come from Python: what the system says of this process begins with the interpreter.
#[pyfunction]
#[pyo3(name = "_command", signature = (words, /))]
pub(crate) fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| strew_cli::run(words))
}
