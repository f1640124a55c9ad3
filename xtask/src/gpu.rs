//! `cargo xtask gpu`: what only a machine with a card can show.

use crate::places::{command, root};
use crate::python;
use crate::stages::run;
use std::fs::File;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};

/// Compare with the CPU engine's bits on a CUDA card, and time the kernels there
///
/// Takes a Python with strew's wheel, torch built for CUDA, and pytest. At most 5 minutes. The
/// report is Markdown; the exit status is 1 unless everything that ran was right.
#[derive(Debug, clap::Args)]
pub(crate) struct Gpu {
    /// The Python that has them; by default the one of the variable PYTHON, or of the path
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Where the report goes; by default it is printed
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Time a sixteenth of the usual sizes
    #[arg(long)]
    quick: bool,
}

impl Gpu {
    pub(crate) fn run(&self) -> ExitCode {
        let outcome = self
            .python
            .clone()
            .map_or_else(python::find, Ok)
            .and_then(|python| {
                let mut report = command(python);
                report.arg(root().join("bench/gpu.py"));
                if self.quick {
                    report.arg("--quick");
                }
                if let Some(path) = &self.report {
                    let file =
                        File::create(path).map_err(|e| format!("{}: {e}", path.display()))?;
                    report.stdout(Stdio::from(file));
                }
                run(&mut report)
            });
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                println!("FAILED: {why}");
                ExitCode::FAILURE
            }
        }
    }
}
