//! `cargo xtask bench`: strew beside its peers.

use crate::bandwidth;
use crate::places::{cargo, files, root, target};
use crate::python::{self, Venv};
use crate::stages::{Outcome, Stages, needs, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The group that strew itself, the driver and the charts live in.
const OWN: &str = "strew";

/// The peer that is no library but a crate of ours, and what tells its worker where that is.
const PLAIN: &str = "plain";
pub(crate) const PLAIN_LIBRARY: &str = "STREW_BENCH_PLAIN";

/// Where everything of the bench goes, from the target folder.
const OUT: &str = "bench";

/// Measure strew beside its peers, and write a table and a chart
///
/// Builds the wheel and the plain loops, installs each peer into an environment of its own under the target folder (a
/// download of gigabytes, kept for the next time), measures the machine's bandwidth, and lets all
/// contenders take turns on each workload of `bench/workloads.toml`, on one thread and on all.
/// Answers are checked. The results are results.json, results.md and chart.svg in the target
/// folder's `bench`; what did not come to the ratio that it is to reach is listed at the end, and is
/// no failure. Linux only: processes are pinned and stopped, and /proc is read.
///
/// Exit status: 1 if an installation failed, if strew gave a wrong answer, or if its bits depended
/// on the number of threads or on the index's dtype.
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    /// Only these peers (numpy,jax): the files' names in bench/environments; "none" for none
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    peers: Vec<String>,
    /// Only these workloads (`W1a,W2*`)
    #[arg(long, value_delimiter = ',', value_name = "PATTERNS")]
    workloads: Vec<String>,
    /// Only these numbers of threads: 1, all
    #[arg(long, value_delimiter = ',', value_name = "NUMBERS", value_parser = ["1", "all"])]
    threads: Vec<String>,
    /// How many rounds: 7, or 3 with --quick
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    /// Few rounds: figures to look at, not to quote
    #[arg(long)]
    quick: bool,
    /// Walk strew alone through sizes, widths, dtypes and skews instead, and look for cliffs
    #[arg(long, conflicts_with_all = ["peers", "workloads", "threads", "repeat"])]
    sweep: bool,
    /// Compare planned runs of strew with its unplanned ones instead
    #[arg(long, conflicts_with_all = ["sweep", "peers", "workloads", "threads", "repeat"])]
    plans: bool,
    /// Compare strew.aggregate with numpy_groupies, numbagg, pandas, Polars, NumPy and torch instead
    #[arg(long, conflicts_with_all = ["sweep", "plans", "peers", "workloads", "threads", "repeat"])]
    statistics: bool,
    /// Measure the processor time of all threads of strew with 1, 2, 16 and 64 of them instead
    #[arg(
        long,
        conflicts_with_all = ["sweep", "plans", "statistics", "peers", "threads", "repeat"]
    )]
    scaling: bool,
    /// Also write the table and the chart to docs/
    #[arg(long)]
    docs: bool,
}

impl Bench {
    pub(crate) fn run(&self) -> ExitCode {
        let mut stages = Stages::default();
        let peers = stages.run("peers", || self.chosen());
        let own = stages.run("wheel", || {
            let venv = environment(OWN)?;
            let wheel = python::wheel(&venv)?;
            venv.install_wheel(&wheel, "")?;
            Ok(venv)
        });
        let plain = stages.run("plain loops", || match peers.as_ref() {
            Some(peers) if !self.statistics && !peers.iter().any(|peer| peer == PLAIN) => Ok(None),
            _ => plain_loops().map(Some),
        });
        let installed = stages.run("environments", || {
            let peers = needs(peers.as_ref(), "peers")?;
            let failed: Vec<_> = peers
                .iter()
                .filter_map(|peer| environment(peer).err().map(|why| (peer, why)))
                .collect();
            let Some((peer, why)) = failed.first() else {
                return Ok(peers);
            };
            let names: Vec<_> = failed.iter().map(|(peer, _)| peer.as_str()).collect();
            let rest = peers.iter().map(String::as_str);
            let rest: Vec<_> = rest.filter(|peer| !names.contains(peer)).collect();
            let rest = if rest.is_empty() { vec!["none"] } else { rest };
            Err(format!(
                "{} could not be installed ({peer}: {why}); to leave out what fails: --peers {}",
                names.join(", "),
                rest.join(",")
            ))
        });
        let measured = stages.run("bandwidth", || {
            let path = target(OUT).join("bandwidth.json");
            bandwidth::write(&path)?;
            Ok(path)
        });
        stages.run("measurement", || {
            let peers = needs(installed.as_ref(), "environments")?;
            let venv = needs(own.as_ref(), "wheel")?;
            let plain = needs(plain.as_ref(), "plain loops")?.as_deref();
            self.measure(venv, peers, plain, needs(measured.as_ref(), "bandwidth")?)
        });
        stages.finish()
    }

    /// Whether no peer's environment is needed.
    fn is_alone(&self) -> bool {
        self.sweep || self.plans || self.statistics || self.scaling
    }

    /// The names of the peers that take part.
    fn chosen(&self) -> Outcome<Vec<String>> {
        let known = groups()?;
        let none = self.peers.iter().any(|peer| peer == "none");
        let chosen = match self.peers.as_slice() {
            _ if self.is_alone() || none => Vec::new(),
            [] => known,
            named => {
                if let Some(name) = named.iter().find(|name| !known.contains(name)) {
                    let known = known.join(", ");
                    return Err(format!("there is no peer {name}; there are {known}"));
                }
                named.to_vec()
            }
        };
        println!("{} peers: {}", chosen.len(), chosen.join(", "));
        Ok(chosen)
    }

    fn measure(
        &self,
        venv: &Venv,
        peers: &[String],
        plain: Option<&Path>,
        bandwidth: &Path,
    ) -> Outcome {
        let mut driver = venv.python();
        driver.envs(plain.map(|library| (PLAIN_LIBRARY, library)));
        driver.args(["-m", "bench.driver", "--out"]);
        driver.arg(target(OUT)).arg("--bandwidth").arg(bandwidth);
        driver.args(["--peers", &peers.join(",")]);
        for (option, values) in [
            ("--workloads", &self.workloads),
            ("--threads", &self.threads),
        ] {
            if !values.is_empty() {
                driver.args([option, &values.join(",")]);
            }
        }
        if let Some(repeat) = self.repeat {
            driver.args(["--repeat", &repeat.to_string()]);
        }
        for (option, given) in [
            ("--quick", self.quick),
            ("--sweep", self.sweep),
            ("--plans", self.plans),
            ("--statistics", self.statistics),
            ("--scaling", self.scaling),
            ("--docs", self.docs),
        ] {
            driver.args(given.then_some(option));
        }
        run(&mut driver)
    }
}

/// Compiles the plain loops as strew is, and says where the library is.
pub(crate) fn plain_loops() -> Outcome<PathBuf> {
    run(&mut cargo([
        "build",
        "--release",
        "--package",
        "strew-plain",
    ]))?;
    let (before, after) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    Ok(target("release").join(format!("{before}strew_plain{after}")))
}

/// The folder of the files that say what goes into each environment.
fn folder() -> PathBuf {
    root().join("bench/environments")
}

/// The names of the peers' environments.
fn groups() -> Outcome<Vec<String>> {
    let found = files(&folder(), "txt")?;
    let names = found.iter().filter_map(|path| path.file_stem()?.to_str());
    // NAME.build.txt belongs to NAME.txt.
    let names = names.filter(|name| *name != OWN && !name.contains('.'));
    Ok(names.map(str::to_owned).collect())
}

/// The line in the file of an environment whose packages need a new Python.
const NEWER: &str = "# python: 3.12 or newer";

/// The Python of an environment, from its file.
fn interpreter(name: &str, file: &str) -> Outcome<PathBuf> {
    if !file.lines().any(|line| line == NEWER) {
        return python::find();
    }
    let newer = python::newer();
    newer.ok_or_else(|| format!("{name} needs Python 3.12 or newer, which is not on the path"))
}

/// Makes an environment, unless it is there as its files say.
///
/// What NAME.txt lists is installed as pip does it. What NAME.build.txt lists is built against
/// that: pip would otherwise give the build an environment of its own, without it.
fn environment(name: &str) -> Outcome<Venv> {
    let read = |ending: &str| fs::read_to_string(folder().join(format!("{name}.{ending}")));
    let plain = read("txt").map_err(|e| format!("{name}.txt: {e}"))?;
    let built = read("build.txt").unwrap_or_default();
    let wanted = format!("{plain}{built}");
    let place = format!("{OUT}/env/{name}");
    // Written last and removed first: what was interrupted is done again.
    let stamp = target(&place).join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("{name}: is there");
        return Ok(Venv::at(&place));
    }
    if stamp.exists() {
        fs::remove_file(&stamp).map_err(|e| format!("{}: {e}", stamp.display()))?;
    }
    let venv = Venv::make_of(&place, &interpreter(name, &plain)?)?;
    let list = |ending: &str| format!("bench/environments/{name}.{ending}");
    venv.install(["--quiet", "--requirement", &list("txt")])?;
    if !built.is_empty() {
        let list = list("build.txt");
        venv.install(["--quiet", "--no-build-isolation", "--requirement", &list])?;
    }
    fs::write(&stamp, wanted).map_err(|e| format!("{}: {e}", stamp.display()))?;
    Ok(venv)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_builds_belongs_to_one_that_installs() {
        let groups = groups().unwrap();
        assert!(groups.contains(&"numpy".to_owned()) && !groups.contains(&OWN.to_owned()));
        for path in files(&folder(), "txt").unwrap() {
            let name = path.file_name().unwrap().to_str().unwrap();
            let group = name.split('.').next().unwrap();
            assert!(folder().join(format!("{group}.txt")).exists(), "{name}");
        }
    }
}
