//! `cargo xtask check`: what can be said about the sources without running them.

use crate::places::cargo;
use crate::stages::{Stages, run};
use crate::{imports, readme, unsafe_blocks};
use std::process::ExitCode;

/// Check the sources: format, lints, documentation, import direction, README
///
/// Formatting (rustfmt), lints (clippy, warnings denied), documentation (rustdoc, warnings denied),
/// the direction of imports between the rooms of the library, where `unsafe` may stand, that the table
/// of it in docs/robustness.md is right, and that README.md has examples in every language. `cargo xtask test` runs those examples.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {}

impl Check {
    pub(crate) fn run(&self) -> ExitCode {
        let mut stages = Stages::default();
        stages.run("format", || run(&mut cargo(["fmt", "--all", "--check"])));
        stages.run("lints", || {
            let clippy = [
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ];
            run(&mut cargo(clippy))
        });
        stages.run("documentation", || {
            let doc = ["doc", "--workspace", "--no-deps"];
            run(cargo(doc).env("RUSTDOCFLAGS", "-D warnings"))
        });
        stages.run("direction of imports", imports::check_direction);
        stages.run("places of unsafe", imports::check_unsafe);
        stages.run("table of unsafe", unsafe_blocks::check);
        stages.run("README", readme::check);
        stages.finish()
    }
}
