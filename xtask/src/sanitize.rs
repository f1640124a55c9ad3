//! `cargo xtask sanitize`: the Rust tests under tools that see what a test does not.

use crate::places::{cargo, command, host, root, target};
use crate::stages::{Outcome, Stages, run};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Run the Rust tests under AddressSanitizer and valgrind's memcheck (Linux, x86-64)
///
/// `address`: all Rust tests but the documentation's. `memcheck`: the library's unit tests and those that run kernels on small
/// arrays, as far as AVX2; it needs valgrind. `thread`, which is run only when it is named: ThreadSanitizer on the tests that
/// share runs out among threads. It needs the sources of the standard library: that of the toolchain is not instrumented,
/// and each of its locks would be a race.
///
/// Each builds everything once more, into a folder of its own under the target folder. The sanitizers are parts of the
/// compiler that are not stable: RUSTC_BOOTSTRAP is set for these builds only.
#[derive(Debug, clap::Args)]
pub(crate) struct Sanitize {
    /// Which [default: address, memcheck]
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
        let usual = self.tools.is_empty();
        let wanted = |tool| self.tools.contains(&tool) || (usual && tool != Tool::Thread);
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
    tests.args(["--lib", "--bins", "--tests", "--"]);
    // It takes terabytes of addresses, which a limit would not give it.
    for limited in LIMITED {
        tests.args(["--skip", limited]);
    }
    // A failed allocation is an error of the library: it must come back as one.
    run(tests.env("ASAN_OPTIONS", "allocator_may_return_null=1"))
}

/// The tests that limit a process's addresses.
const LIMITED: [&str; 2] = [
    "memory_that_cannot_be_had",
    "a_table_of_contents_that_does_not_fit_the_memory",
];

fn thread() -> Outcome {
    let said = command("rustc").args(["--print", "sysroot"]).output();
    let said = said.map_err(|e| format!("rustc: {e}"))?.stdout;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&said).trim());
    if !sysroot.join("lib/rustlib/src/rust/library").is_dir() {
        return Err(
            "the sources of the standard library are needed: rustup component add rust-src".into(),
        );
    }
    let mut tests = sanitized("thread", &["strew"])?;
    tests.arg("-Zbuild-std");
    for test in PARALLEL {
        tests.args(["--test", test]);
    }
    // Fences, which ThreadSanitizer does not know, are written otherwise then.
    run(tests.env(
        "RUSTFLAGS",
        "-Zsanitizer=thread --cfg crossbeam_sanitize_thread",
    ))
}

/// The tests of runs that are shared out among threads.
const PARALLEL: [&str; 3] = ["sharing", "untouched", "segments"];

/// The tests that run kernels on arrays that memcheck can walk through in minutes. That of the floating-point environment is
/// none of them: valgrind keeps only the rounding of it.
const KERNELS: [&str; 3] = ["choices", "hostile", "segments"];

fn memcheck() -> Outcome {
    let mut build = cargo(["test", "--package", "strew", "--lib", "--no-run"]);
    for test in KERNELS {
        build.args(["--test", test]);
    }
    let suppressions = root().join("xtask/memcheck.supp");
    for binary in test_binaries(build.args(["--message-format", "json"]))? {
        let mut valgrind = command("valgrind");
        valgrind.args(["--error-exitcode=1", "--quiet", "--leak-check=no"]);
        valgrind.arg(format!("--suppressions={}", suppressions.display()));
        valgrind.current_dir(root().join("crates/strew"));
        // One thread at a time is all that valgrind runs; and who looks for a free processor asks a page of the
        // kernel's that valgrind takes away.
        valgrind.env("STREW_NUM_THREADS", "1");
        run(valgrind.arg(binary).arg("--test-threads=1"))?;
    }
    Ok(())
}

/// The test binaries that cargo says it has built.
fn test_binaries(build: &mut Command) -> Outcome<Vec<PathBuf>> {
    let failed = |e: std::io::Error| format!("cargo: {e}");
    let build = build.stderr(std::process::Stdio::inherit());
    let output = build.output().map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stdout);
    let found = said.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message.get("executable")?.as_str().map(PathBuf::from)
    });
    let found: Vec<PathBuf> = found.collect();
    match output.status.success() && !found.is_empty() {
        true => Ok(found),
        false => Err("the tests were not built".into()),
    }
}
