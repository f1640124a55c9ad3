//! `cargo xtask check`: what can be said about the sources without running them.

use crate::places::{cargo, command, root};
use crate::python::Venv;
use crate::stages::{Outcome, Stages, needs, run};
use crate::{imports, layers, readme, unsafe_blocks};
use std::process::ExitCode;

/// Check the sources: format, lints, documentation, circles of files, unsafe, README
///
/// Rust: formatting (rustfmt), lints (clippy, warnings denied; of `strew` also with no framework
/// and with one), documentation (rustdoc, warnings denied), no circle of files within a crate,
/// `unsafe` only where it may stand, and the table of it in docs/robustness.md. Python: format and
/// lints (ruff), types (mypy), layers (import-linter). README.md has examples in every language;
/// `cargo xtask test` runs them and those of docs/tour.md.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// Rewrite what can be rewritten: formats, and the table of unsafe
    #[arg(long)]
    fix: bool,
}

/// The tools of the Python stages.
const TOOLS: [&str; 4] = [
    "import-linter==2.17",
    "ruff==0.17.6",
    "mypy==2.4.1",
    "numpy==2.4.6",
];

/// The folders of Python sources.
const PYTHON: [&str; 4] = ["python", "bench", "examples", "docs/site"];

impl Check {
    pub(crate) fn run(&self) -> ExitCode {
        let mut stages = Stages::default();
        stages.run("format", || {
            let fmt = ["fmt", "--all"];
            match self.fix {
                true => run(&mut cargo(fmt)),
                false => run(cargo(fmt).arg("--check")),
            }
        });
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
        stages.run("lints, some features only", || {
            let some = [
                ("strew", ""),
                ("strew", "torch"),
                ("strew-cli", ""),
                ("strew-cli", "columns"),
            ];
            for (package, features) in some {
                let some = ["clippy", "-p", package, "--no-default-features"];
                let lints = ["--features", features, "--", "-D", "warnings"];
                run(cargo(some).args(lints))?;
            }
            Ok(())
        });
        stages.run("documentation", || {
            let doc = ["doc", "--workspace", "--no-deps"];
            run(cargo(doc).env("RUSTDOCFLAGS", "-D warnings"))
        });
        stages.run("circles of files", imports::check_circles);
        stages.run("order of folders", layers::check_order);
        stages.run("places of unsafe", imports::check_unsafe);
        stages.run("table of unsafe", || unsafe_blocks::check(self.fix));
        stages.run("README", readme::check);
        let venv = stages.run("tools for Python", || {
            let venv = Venv::make("venv-check")?;
            venv.install(["--quiet"].into_iter().chain(TOOLS))?;
            Ok(venv)
        });
        let tool = |name: &str, arguments: &[&str]| -> Outcome {
            let venv = needs(venv.as_ref(), "tools for Python")?;
            run(command(venv.bin().join(name)).args(arguments))
        };
        stages.run("format, Python", || {
            let check: &[&str] = if self.fix { &[] } else { &["--check"] };
            tool("ruff", &[&["format"], check, &PYTHON].concat())
        });
        stages.run("lints, Python", || {
            tool("ruff", &[&["check"], &PYTHON[..]].concat())
        });
        stages.run("types, Python", || tool("mypy", &[]));
        stages.run("layers, Python", || {
            let venv = needs(venv.as_ref(), "tools for Python")?;
            let mut lint = command(venv.bin().join("lint-imports"));
            lint.args(["--no-logo", "--no-cache"]);
            run(lint.env("PYTHONPATH", root().join("python")))
        });
        stages.finish()
    }
}
