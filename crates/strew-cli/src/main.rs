//! The binary `strew`: see the library of this crate.

#[cfg(unix)]
mod memory;

use std::process::ExitCode;

#[cfg(unix)]
#[global_allocator]
static MEMORY: memory::Noted = memory::Noted;

fn main() -> ExitCode {
    #[cfg(unix)]
    memory::install();
    ExitCode::from(strew_cli::run(std::env::args_os()))
}
