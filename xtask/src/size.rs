//! `cargo xtask size`: how large what we ship is.

use crate::places::binary;
use crate::python::built_wheel;
use crate::stages::{Outcome, Stages};
use std::path::Path;
use std::process::ExitCode;

// The command `strew`, which the extension links without the feature `io`, is 0.8 MB of it.
const WHEEL_LIMIT: u64 = 5_730_000;
// Without the feature `io`, which reads Parquet, Arrow and CSV, the tool has at most 20 MB; CI does
// not link it a second time.
const BINARY_LIMIT: u64 = 32_500_000;

/// Print the sizes of the wheel and of the command-line tool, and fail above the limits
///
/// Both must have been built before: `cargo xtask test` does that.
#[derive(Debug, clap::Args)]
pub(crate) struct Size {}

impl Size {
    pub(crate) fn run(&self) -> ExitCode {
        let mut stages = Stages::default();
        stages.run("sizes", check);
        stages.finish()
    }
}

/// Prints both sizes; the error names what is too large.
pub(crate) fn check() -> Outcome {
    let wheel = built_wheel().and_then(|w| check_wheel(&w));
    let binary = limit(&binary(), BINARY_LIMIT);
    wheel.and(binary)
}

/// Prints the size of a wheel, and fails if it is too large.
pub(crate) fn check_wheel(wheel: &Path) -> Outcome {
    limit(wheel, WHEEL_LIMIT)
}

fn limit(path: &Path, most: u64) -> Outcome {
    let name = path.display();
    let size = std::fs::metadata(path).map_err(|e| format!("{name}: {e}"))?;
    let size = size.len();
    println!("{name}: {size} bytes of at most {most}");
    if size > most {
        return Err(format!("{name} has {size} bytes, more than {most}"));
    }
    Ok(())
}
