//! `cargo xtask sanitize`: the Rust tests under tools that see what a test does not.

use crate::places::{cargo, command, host, root, target};
use crate::stages::{Outcome, Stages, run};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Run the Rust tests under AddressSanitizer, valgrind's memcheck and ThreadSanitizer (Linux, x86-64)
///
/// `address`: all Rust tests but the documentation's. `memcheck`: the library's unit tests and those of its kernels, as
/// far as AVX2; it needs valgrind. `thread`: the tests that share runs out among threads, without the standard
/// library, which is not instrumented: xtask/thread.supp says what is left out and why.
///
/// Each builds everything once more, into a folder of its own under the target folder. The sanitizers are parts of the
/// compiler that are not stable: RUSTC_BOOTSTRAP is set for these builds only.
#[derive(Debug, clap::Args)]
pub(crate) struct Sanitize {
    /// Only these [default: all]
    #[arg(value_enum)]
    tools: Vec<Tool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Tool {
    Address,
    Memcheck,
    Thread,
}

impl Sanitize {
    pub(crate) fn run(&self) -> ExitCode {
        let mut stages = Stages::default();
        let wanted = |tool| self.tools.is_empty() || self.tools.contains(&tool);
        if wanted(Tool::Address) {
            stages.run("AddressSanitizer", address);
        }
        if wanted(Tool::Memcheck) {
            stages.run("memcheck", memcheck);
        }
        if wanted(Tool::Thread) {
            stages.run("ThreadSanitizer", thread);
        }
        stages.finish()
    }
}

/// Tests of these packages, built with a sanitizer in a folder of its own.
fn sanitized(sanitizer: &str, packages: &[&str]) -> Outcome<Command> {
    let host = host()?;
    let mut tests = cargo(["test", "--no-fail-fast", "--target", &host]);
    tests.arg("--target-dir").arg(target(sanitizer));
    for package in packages {
        tests.args(["--package", package]);
    }
    tests.env("RUSTC_BOOTSTRAP", "1");
    tests.env("RUSTFLAGS", format!("-Zsanitizer={sanitizer}"));
    Ok(tests)
}

fn address() -> Outcome {
    // The extension module has no tests in Rust.
    let all = ["strew", "strew-cli", "strew-vectors", "strew-fuzz", "xtask"];
    let mut tests = sanitized("address", &all)?;
    tests.args(["--lib", "--bins", "--tests"]);
    // A failed allocation is an error of the library: it must come back as one.
    run(tests.env("ASAN_OPTIONS", "allocator_may_return_null=1"))
}

fn thread() -> Outcome {
    let mut tests = sanitized("thread", &["strew"])?;
    for test in PARALLEL {
        tests.args(["--test", test]);
    }
    let suppressions = root().join("xtask/thread.supp");
    let options = format!("suppressions={}", suppressions.display());
    // One std for all sanitizers is what there is without its sources.
    let flags = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";
    run(tests.env("RUSTFLAGS", flags).env("TSAN_OPTIONS", options))
}

/// The tests of runs that are shared out among threads.
const PARALLEL: [&str; 3] = ["sharing", "untouched", "segments"];

fn memcheck() -> Outcome {
    let mut build = cargo(["test", "--package", "strew", "--lib", "--no-run"]);
    build.args(["--message-format", "json"]);
    let binary = test_binary(&mut build)?;
    let mut valgrind = command("valgrind");
    valgrind.args(["--error-exitcode=1", "--quiet", "--leak-check=no"]);
    // One thread at a time is all that valgrind runs.
    run(valgrind.arg(binary).arg("--test-threads=1"))
}

/// The test binary that cargo says it has built.
fn test_binary(build: &mut Command) -> Outcome<PathBuf> {
    let failed = |e: std::io::Error| format!("cargo: {e}");
    let output = build
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stdout);
    let found = said.lines().rev().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message.get("executable")?.as_str().map(PathBuf::from)
    });
    found.ok_or_else(|| "cargo built no tests".into())
}
