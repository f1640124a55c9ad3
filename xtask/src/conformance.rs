//! `cargo xtask conformance`: the tool that runs vectors, built and called.

use crate::places::{cargo, command, target};
use crate::stages::{Outcome, run};
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

/// Run a folder of conformance vectors against the engine (--help tells more)
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Conformance {
    /// What the tool takes: a folder, and options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Conformance {
    pub(crate) fn run(&self) -> ExitCode {
        let mut tool = cargo(["run", "--quiet", "--package", "strew-vectors", "--"]);
        match tool.args(&self.arguments).status() {
            Ok(status) => ExitCode::from(status.code().map_or(1, |code| code as u8)),
            Err(error) => {
                eprintln!("error: cargo: {error}");
                ExitCode::FAILURE
            }
        }
    }
}

/// Runs vectors with the tool that the tests of the whole workspace have built: by its name it would be built
/// anew, with the library, which has other features as one package.
pub(crate) fn with_tested(arguments: &[&OsStr]) -> Outcome {
    let tool = target(&format!(
        "debug/strew-vectors{}",
        std::env::consts::EXE_SUFFIX
    ));
    run(command(tool).args(arguments))
}
