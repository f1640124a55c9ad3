//! `cargo xtask quick`: what a change to one crate needs, in a minute or two.

use crate::places::{cargo, command, root};
use crate::stages::{Outcome, Stages, run};
use std::process::ExitCode;

/// Check and test what a change to one crate needs, in a minute or two
///
/// Format, lints and tests of one crate, then about a hundred conformance vectors through every
/// strategy. Without a name, the lowest crate with a change that is not committed. `cargo xtask
/// test` and `cargo xtask check` must still pass before a change is committed.
#[derive(Debug, clap::Args)]
pub(crate) struct Quick {
    /// kernel, engine, strew, cli, vectors, fuzz, plain or xtask
    #[arg(value_name = "CRATE")]
    name: Option<String>,
}

/// A crate: its short name, its package, its folder, and the tests to run. Crates above come after
/// those that they use.
struct Crate {
    name: &'static str,
    package: &'static str,
    folder: &'static str,
    tests: &'static [&'static str],
}

const CRATES: [Crate; 9] = [
    Crate {
        name: "kernel",
        package: "strew-kernel",
        folder: "crates/strew-kernel/",
        tests: &["--features", "ndarray", "--lib"],
    },
    Crate {
        name: "engine",
        package: "strew-engine",
        folder: "crates/strew-engine/",
        tests: &["--lib"],
    },
    Crate {
        name: "strew",
        package: "strew",
        folder: "crates/strew/",
        tests: &["--lib", "--test", "frameworks"],
    },
    Crate {
        name: "io",
        package: "strew-io",
        folder: "crates/strew-io/",
        tests: &[],
    },
    Crate {
        name: "cli",
        package: "strew-cli",
        folder: "crates/strew-cli/",
        tests: &[],
    },
    Crate {
        name: "vectors",
        package: "strew-vectors",
        folder: "crates/strew-vectors/",
        tests: &[],
    },
    Crate {
        name: "fuzz",
        package: "strew-fuzz",
        folder: "fuzz/",
        tests: &[],
    },
    Crate {
        name: "plain",
        package: "strew-plain",
        folder: "bench/plain/",
        tests: &[],
    },
    Crate {
        name: "xtask",
        package: "xtask",
        folder: "xtask/",
        tests: &[],
    },
];

/// Operators whose vectors are about a hundred, of every form of destinations.
const VECTORS: &str = "mxnet.scatter_nd,mindspore.scatter_mul,torch_scatter.scatter,\
                       torch_scatter.segment_csr,torch.slice_scatter,torch.index_add,strew.scatter";

impl Quick {
    pub(crate) fn run(&self) -> ExitCode {
        let chosen = match self.choose() {
            Ok(chosen) => chosen,
            Err(why) => {
                eprintln!("error: {why}");
                return ExitCode::from(2);
            }
        };
        println!("{}", chosen.package);
        let package = ["--package", chosen.package];
        let mut stages = Stages::default();
        stages.run("format", || run(cargo(["fmt", "--check"]).args(package)));
        stages.run("lints", || {
            let clippy = ["--all-targets", "--", "-D", "warnings"];
            run(cargo(["clippy"]).args(package).args(clippy))
        });
        stages.run("tests", || {
            run(cargo(["test"]).args(package).args(chosen.tests))
        });
        if chosen.folder.starts_with("crates/") {
            stages.run("vectors", || {
                let tool = ["run", "--quiet", "--package", "strew-vectors", "--"];
                run(cargo(tool).args(["conformance", "--only", VECTORS]))
            });
        }
        stages.finish()
    }

    fn choose(&self) -> Outcome<&'static Crate> {
        let names = || CRATES.iter().map(|c| c.name).collect::<Vec<_>>().join(", ");
        match &self.name {
            Some(name) => CRATES
                .iter()
                .find(|c| c.name == name || c.package == name)
                .ok_or_else(|| format!("there is no crate {name}; there are {}", names())),
            None => {
                let changed = changed()?;
                CRATES
                    .iter()
                    .find(|c| changed.iter().any(|path| path.starts_with(c.folder)))
                    .ok_or_else(|| format!("no crate has a change: name one of {}", names()))
            }
        }
    }
}

/// The files with a change that is not committed, from the root.
fn changed() -> Outcome<Vec<String>> {
    let mut git = command("git");
    git.current_dir(root()).args(["status", "--porcelain"]);
    let said = git.output().map_err(|e| format!("git: {e}"))?.stdout;
    let lines = String::from_utf8_lossy(&said).into_owned();
    Ok(lines
        .lines()
        .filter_map(|line| line.get(3..))
        .map(str::to_owned)
        .collect())
}
