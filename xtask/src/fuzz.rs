//! `cargo xtask fuzz`: libFuzzer on every target.

use crate::places::{cargo, command, host, root, target};
use crate::stages::{Outcome, Stages, needs, run};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// The targets, as the library of `fuzz/` lists them.
const TARGETS: [&str; 12] = [
    "calls",
    "engine",
    "npy",
    "npz",
    "safetensors",
    "parquet",
    "arrow",
    "csv",
    "zarr",
    "arguments",
    "plan",
    "accumulator",
];

/// More inputs than this of a target do not go into the repository: the last ones add an edge each.
const MOST_KEPT: usize = 300;

/// What the compiler adds to each edge and comparison, for libFuzzer to see. It is an ordinary pass: any toolchain has it.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Longer inputs are seldom better ones.
const LONGEST: u32 = 600;

/// Look for inputs that break strew, with libFuzzer (needs a C++ compiler)
///
/// Builds `fuzz/` with coverage into a folder of its own under the target folder, and runs each target for its share of the
/// time, on one core. What was found before is kept there, too, and its archive in `fuzz/corpus` is where each begins.
///
/// Ends with a table: executions, edges that were covered and those that there are, inputs that are kept, findings. The
/// exit status is 1 on a finding; the input is then in the target folder, with the command that runs it again.
#[derive(Debug, clap::Args)]
pub(crate) struct Fuzz {
    /// How long, for all targets together
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Only these targets
    #[arg(long, value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(TARGETS))]
    targets: Vec<String>,
    /// Afterwards, keep the fewest inputs that cover as much in the archive
    #[arg(long)]
    minimise: bool,
}

impl Fuzz {
    pub(crate) fn run(&self) -> ExitCode {
        let mut stages = Stages::default();
        let built = stages.run("build", build);
        let chosen =
            |name: &&str| self.targets.is_empty() || self.targets.iter().any(|t| t == name);
        let chosen: Vec<&'static str> = TARGETS.into_iter().filter(chosen).collect();
        let seconds = (self.minutes * 60.0 / chosen.len() as f64).max(1.0);
        let mut rows = Vec::new();
        for name in chosen {
            stages.run(name, || {
                let fuzzer = Fuzzer::new(needs(built.as_ref(), "build")?, name)?;
                let found = fuzzer.fuzz(seconds.ceil() as u64);
                rows.push(fuzzer.row()?);
                found?;
                match self.minimise {
                    true => fuzzer.minimise(),
                    false => Ok(()),
                }
            });
        }
        println!("\n{}", table(&rows));
        stages.finish()
    }
}

/// Builds the fuzzer, and says where it is.
fn build() -> Outcome<PathBuf> {
    let host = host()?;
    let folder = target("fuzz");
    let mut build = cargo(["build", "--package", "strew-fuzz", "--profile", "fuzz"]);
    build.args(["--features", "libfuzzer", "--target", &host]);
    build.arg("--target-dir").arg(&folder);
    // Another target than the host's own: what runs while compiling is left as it is.
    run(build.env("RUSTFLAGS", COVERAGE))?;
    let name = format!("strew-fuzz{}", std::env::consts::EXE_SUFFIX);
    Ok(folder.join(host).join("fuzz").join(name))
}

/// A target, and where its things are.
struct Fuzzer<'f> {
    binary: &'f Path,
    name: &'static str,
    /// What libFuzzer keeps.
    kept: PathBuf,
    /// What is in the repository.
    archive: PathBuf,
    /// The same, as files.
    corpus: PathBuf,
    findings: PathBuf,
    log: PathBuf,
}

impl<'f> Fuzzer<'f> {
    fn new(binary: &'f Path, name: &'static str) -> Outcome<Self> {
        let folder = target("fuzz");
        let fuzzer = Self {
            binary,
            name,
            kept: folder.join("kept").join(name),
            archive: root().join(format!("fuzz/corpus/{name}.zip")),
            corpus: folder.join("corpus").join(name),
            findings: folder.join("findings").join(name),
            log: folder.join(format!("{name}.log")),
        };
        for folder in [&fuzzer.kept, &fuzzer.findings] {
            fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        empty(&fuzzer.corpus)?;
        unpack(&fuzzer.archive, &fuzzer.corpus)
            .map_err(|e| format!("{}: {e}", fuzzer.archive.display()))?;
        Ok(fuzzer)
    }

    fn command(&self) -> std::process::Command {
        let mut fuzzer = command(self.binary);
        fuzzer.env("STREW_FUZZ_TARGET", self.name);
        fuzzer
    }

    /// Runs it; the error says what was found.
    fn fuzz(&self, seconds: u64) -> Outcome {
        let log = File::create(&self.log).map_err(|e| format!("{}: {e}", self.log.display()))?;
        let mut fuzzer = self.command();
        fuzzer.arg(format!("-max_total_time={seconds}"));
        fuzzer.arg(format!("-max_len={LONGEST}"));
        // An input takes microseconds: one of seconds is a finding.
        fuzzer.args(["-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1"]);
        fuzzer.arg(format!("-artifact_prefix={}/", self.findings.display()));
        fuzzer.args([&self.kept, &self.corpus]).stderr(log);
        let ended = run(&mut fuzzer);
        println!("what it said: {}", self.log.display());
        let (name, binary) = (self.name, self.binary.display());
        ended.map_err(|_| match self.newest_finding() {
            Some(input) => format!(
                "{}: again with STREW_FUZZ_TARGET={name} {binary} {}",
                input.display(),
                input.display()
            ),
            None => format!(
                "it ended badly without an input: see {}",
                self.log.display()
            ),
        })
    }

    fn newest_finding(&self) -> Option<PathBuf> {
        let files = fs::read_dir(&self.findings).ok()?;
        let files = files.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        files.max_by_key(|path| path.metadata().and_then(|m| m.modified()).ok())
    }

    /// Puts the fewest inputs that cover what all kept ones cover into the archive, or the first of them.
    fn minimise(&self) -> Outcome {
        let fewest = target("fuzz").join("fewest").join(self.name);
        let failed = |e: std::io::Error| format!("{}: {e}", fewest.display());
        empty(&fewest)?;
        let log = File::create(self.log.with_extension("merge.log")).map_err(failed)?;
        let mut fuzzer = self.command();
        // By edges alone: how often each is taken would keep ten times as many.
        fuzzer.args(["-set_cover_merge=1", "-use_counters=0"]);
        fuzzer.arg(format!("-max_len={LONGEST}"));
        run(fuzzer.args([&fewest, &self.kept, &self.corpus]).stderr(log))?;
        let mut new: Vec<_> = fs::read_dir(&fewest).map_err(failed)?.flatten().collect();
        // They were written in the order of what each adds.
        new.sort_by_key(|file| file.metadata().and_then(|m| m.modified()).ok());
        new.truncate(MOST_KEPT);
        // What has a name of its own is an input that once found something.
        let old = fs::read_dir(&self.corpus).map_err(failed)?.flatten();
        let found = old.filter(|old| old.file_name().len() != 40);
        let inputs = new.into_iter().chain(found).map(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            fs::read(file.path()).map(|bytes| (name, bytes))
        });
        let inputs: BTreeMap<_, _> = inputs.collect::<Result<_, _>>().map_err(failed)?;
        pack(&inputs, &self.archive).map_err(|e| format!("{}: {e}", self.archive.display()))
    }

    /// What the fuzzer said it did.
    fn row(&self) -> Outcome<[String; 6]> {
        let log = fs::read(&self.log).map_err(|e| format!("{}: {e}", self.log.display()))?;
        let said = Said::read(&String::from_utf8_lossy(&log));
        let findings = fs::read_dir(&self.findings).map_or(0, Iterator::count);
        Ok([
            self.name.to_owned(),
            said.executions.to_string(),
            said.covered.to_string(),
            said.edges.to_string(),
            said.kept.to_string(),
            findings.to_string(),
        ])
    }
}

/// A folder without files.
fn empty(folder: &Path) -> Outcome {
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)
}

/// Writes the files of an archive into a folder; of a new target there is none.
fn unpack(archive: &Path, folder: &Path) -> zip::result::ZipResult<()> {
    match archive.exists() {
        true => ZipArchive::new(File::open(archive)?)?.extract(folder),
        false => Ok(()),
    }
}

/// Writes inputs by their names into an archive, whose bytes depend on nothing else.
fn pack(inputs: &BTreeMap<String, Vec<u8>>, archive: &Path) -> zip::result::ZipResult<()> {
    let mut writer = ZipWriter::new(File::create(archive)?);
    for (name, bytes) in inputs {
        writer.start_file(name, SimpleFileOptions::DEFAULT)?;
        writer.write_all(bytes)?;
    }
    writer.finish().map(|_| ())
}

/// Numbers from libFuzzer's lines.
#[derive(Debug, Default, PartialEq)]
struct Said {
    executions: u64,
    covered: u64,
    edges: u64,
    kept: u64,
}

impl Said {
    fn read(log: &str) -> Self {
        let mut said = Self::default();
        let number = |text: &str| {
            let end = text.find(|c: char| !c.is_ascii_digit());
            text[..end.unwrap_or(text.len())].parse().ok()
        };
        let behind = |line: &str, word: &str| {
            let (_, rest) = line.split_once(word)?;
            number(rest.trim_start())
        };
        for line in log.lines() {
            if let Some(rest) = line.strip_prefix('#') {
                said.executions = number(rest).unwrap_or(said.executions).max(said.executions);
                said.covered = behind(line, "cov:").unwrap_or(said.covered);
                said.kept = behind(line, "corp:").unwrap_or(said.kept);
            } else if let Some((_, rest)) = line.split_once("modules") {
                said.edges = behind(rest, "(").unwrap_or(said.edges);
            } else if let Some(done) = behind(line, "stat::number_of_executed_units:") {
                said.executions = done;
            }
        }
        said
    }
}

/// A table in Markdown.
fn table(rows: &[[String; 6]]) -> String {
    let head = ["target", "executions", "edges", "of", "kept", "findings"];
    let head = head.map(str::to_owned);
    let all: Vec<&[String; 6]> = [&head].into_iter().chain(rows).collect();
    let width = |column: usize| all.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let line = |row: &[String; 6]| {
        let cells = row.iter().enumerate();
        let cells = cells.map(|(n, cell)| format!("{cell:>width$}", width = width(n)));
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule: [String; 6] = std::array::from_fn(|n| "-".repeat(width(n)));
    let rule = line(&rule).replace("- |", "-:|");
    let body = rows.iter().map(line);
    [line(&head), rule]
        .into_iter()
        .chain(body)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fuzzers_lines_are_understood() {
        let log = "INFO: Loaded 1 modules   (226415 inline 8-bit counters): 226415 [0x1, 0x2),\n\
                   #2\tINITED cov: 104 ft: 105 corp: 1/1b exec/s: 0 rss: 41Mb\n\
                   #4096\tpulse  cov: 911 ft: 2300 corp: 83/1205b lim: 17 exec/s: 2048 rss: 55Mb\n\
                   stat::number_of_executed_units: 5003\n";
        let wanted = Said {
            executions: 5003,
            covered: 911,
            edges: 226_415,
            kept: 83,
        };
        assert_eq!(Said::read(log), wanted);
        // One that crashed has no statistics.
        let cut = log.replace("stat::", "");
        assert_eq!(Said::read(&cut).executions, 4096);
    }

    #[test]
    fn the_targets_are_those_of_the_crate() {
        let text = fs::read_to_string(root().join("fuzz/src/lib.rs")).unwrap();
        let names: Vec<_> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("name: \""))
            .collect();
        let names: Vec<_> = names
            .iter()
            .map(|rest| rest.trim_end_matches("\","))
            .collect();
        assert_eq!(names, TARGETS);
    }
}
