//! `-`: a `.npy` file or a table from standard input.

use super::{Loaded, Purpose, npy};
use crate::failure::{Failure, Result};
#[cfg(feature = "columns")]
use std::fs::File;
use std::io::{self, IsTerminal, StdinLock};
use std::sync::atomic::{AtomicBool, Ordering};

/// What an error calls it.
pub(crate) const NAME: &str = "standard input";

/// Whether an argument has it already.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether a text stands for standard input: `-`, or `-:bf16`.
pub(crate) fn is_meant(text: &str) -> bool {
    text == "-" || is_bf16(text)
}

fn is_bf16(text: &str) -> bool {
    matches!(text, "-:bf16" | "-:bfloat16")
}

/// Reads it to its end.
pub(super) fn load(text: &str, purpose: Purpose) -> Result<Loaded> {
    let input = taken("the bytes of a .npy file")?;
    let loaded = npy::load_stream(input, None, is_bf16(text), purpose);
    loaded.map_err(|failure| failure.in_file(NAME.to_owned()))
}

/// Standard input, which can be taken once; `what` should be piped into it.
fn taken(what: &str) -> Result<StdinLock<'static>> {
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(Failure::new(
            "only one argument can be read from standard input",
        ));
    }
    let input = io::stdin().lock();
    match input.is_terminal() {
        true => Err(Failure::new(format!(
            "standard input is a terminal: pipe {what} into it"
        ))),
        false => Ok(input),
    }
}

/// Copies a table to a file without a name: a table is read twice.
#[cfg(feature = "columns")]
pub(super) fn spool() -> Result<File> {
    let mut input = taken("a table")?;
    let spooled = tempfile::tempfile().and_then(|mut file| {
        io::copy(&mut input, &mut file)?;
        Ok(file)
    });
    spooled.map_err(|e| {
        let why = format!("it cannot be copied to a temporary file: {e}");
        Failure::new(why).in_file(NAME.to_owned())
    })
}
