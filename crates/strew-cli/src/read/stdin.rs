//! `-`: a `.npy` file from standard input.

use super::{Loaded, Purpose, npy};
use crate::failure::{Failure, Result};
use std::io::{self, IsTerminal};
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
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(Failure::new(
            "only one argument can be read from standard input",
        ));
    }
    let input = io::stdin().lock();
    if input.is_terminal() {
        let why = "standard input is a terminal: pipe the bytes of a .npy file into it";
        return Err(Failure::new(why));
    }
    let loaded = npy::load_stream(input, None, is_bf16(text), purpose);
    loaded.map_err(|failure| failure.in_file(NAME.to_owned()))
}
