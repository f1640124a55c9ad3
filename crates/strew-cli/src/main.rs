//! The binary `strew`: see the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(strew_cli::run(std::env::args_os()))
}
