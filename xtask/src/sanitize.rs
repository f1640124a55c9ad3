//! `cargo xtask sanitize`: the Rust tests under tools that see what a test does not.

use crate::places::{cargo, command, files, host, root, target};
use crate::stages::{Outcome, Stages, run};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Run the Rust tests under AddressSanitizer, valgrind's memcheck and ThreadSanitizer (Linux, x86-64)
///
/// `address`: all Rust tests but the documentation's. `memcheck`: the library's unit tests and those that run kernels on small
/// arrays, as far as AVX2; it needs valgrind. `thread`: ThreadSanitizer on the library's tests. It needs a compiler
/// with the sources of its standard library (`rustup component add rust-src`): that of the toolchain is not instrumented, and
/// each of its locks would be a race.
///
/// The sanitizers build everything once more, each into a folder of its own under the target folder. They are parts of the
/// compiler that are not stable: RUSTC_BOOTSTRAP is set for these builds only.
#[derive(Debug, clap::Args)]
pub(crate) struct Sanitize {
    /// Which [default: all]
    #[arg(value_enum)]
    tools: Vec<Tool>,
    /// The compiler for `thread`, if rustc comes without sources: a distribution's, say. Where it has no run time of the
    /// sanitizer, it takes that of rustc
    #[arg(long, value_name = "PATH")]
    rustc: Option<PathBuf>,
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
            stages.run("ThreadSanitizer", || thread(self.rustc.as_deref()));
        }
        stages.finish()
    }
}

/// Tests of these packages, built with a sanitizer in a folder of its own.
fn sanitized(sanitizer: &str, packages: &[&str], flags: &[String]) -> Outcome<Command> {
    let host = host()?;
    let mut tests = cargo(["test", "--no-fail-fast", "--target", &host]);
    tests.arg("--target-dir").arg(target(sanitizer));
    for package in packages {
        tests.args(["--package", package]);
    }
    tests.env("RUSTC_BOOTSTRAP", "1");
    // They are built once: what the compiler would keep for the next time is some gigabytes.
    tests.env("CARGO_INCREMENTAL", "0");
    tests.env("PROPTEST_CASES", CASES);
    let mut all = vec![format!("-Zsanitizer={sanitizer}")];
    all.extend_from_slice(flags);
    // A path may have a blank in it.
    tests.env("CARGO_ENCODED_RUSTFLAGS", all.join("\x1f"));
    Ok(tests)
}

/// So many cases of each property: what all of them see, `cargo test` sees faster.
const CASES: &str = "100";

fn address() -> Outcome {
    // The extension module has no tests in Rust.
    let all = [
        "strew",
        "strew-cli",
        "strew-engine",
        "strew-kernel",
        "strew-plain",
        "strew-vectors",
        "strew-fuzz",
        "xtask",
    ];
    let mut tests = sanitized("address", &all, &[])?;
    tests.args(["--lib", "--bins", "--tests", "--"]);
    // It takes terabytes of addresses, which a limit would not give it.
    skip(&mut tests, &LIMITED);
    // A failed allocation is an error of the library: it must come back as one. Lost memory is not looked for: once a process
    // has made more threads than the system has numbers for, what some threads that are alive hold is taken for lost.
    run(tests.env("ASAN_OPTIONS", "allocator_may_return_null=1:detect_leaks=0"))
}

/// The tests that limit a process's addresses.
const LIMITED: [&str; 3] = [
    "memory_that_cannot_be_had",
    "every_limit_of_memory",
    "a_table_of_contents_that_does_not_fit_the_memory",
];

fn skip(tests: &mut Command, names: &[&str]) {
    for name in names {
        tests.args(["--skip", name]);
    }
}

fn thread(rustc: Option<&Path>) -> Outcome {
    let usual = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let usual = Path::new(&usual);
    let rustc = rustc.unwrap_or(usual);
    let own = sysroot(rustc)?;
    if !own.join("lib/rustlib/src/rust/library").is_dir() {
        return Err(format!(
            "{} has no sources of its standard library: rustup component add rust-src, or name a compiler that has them \
             with --rustc",
            rustc.display()
        ));
    }
    let mut flags = Vec::new();
    if run_time(&own)?.is_none() {
        let found = run_time(&sysroot(usual)?)?;
        let found = found.ok_or("neither compiler has the run time of ThreadSanitizer")?;
        flags.push("-Zexternal-clangrt".to_owned());
        // Before everything else, as the compiler does it with its own.
        let all = format!("--whole-archive,{},--no-whole-archive", found.display());
        flags.push(format!("-Zpre-link-arg=-Wl,{all}"));
    }
    // Fences, which ThreadSanitizer does not know, are written otherwise then.
    flags.extend(["--cfg", "crossbeam_sanitize_thread"].map(str::to_owned));
    let mut tests = sanitized("thread", &["strew", "strew-engine", "strew-kernel"], &flags)?;
    tests.args(["-Zbuild-std", "--lib", "--tests", "--"]);
    skip(&mut tests, &RACING);
    skip(&mut tests, &LARGE);
    run(tests.env("RUSTC", rustc))
}

/// The tests in which another thread changes what a run reads: races, on purpose.
const RACING: [&str; 1] = ["changing::"];

/// The tests of arrays so large that ThreadSanitizer, which keeps notes of several times their size, takes many minutes or
/// gigabytes for them. Smaller arrays go the same ways in other tests.
const LARGE: [&str; 3] = [
    "composite::long_ones",
    "large_runs_have_the_bits_of_small_ones",
    "results_that_no_cache_holds",
];

/// The folder of a compiler's libraries and sources.
fn sysroot(rustc: &Path) -> Outcome<PathBuf> {
    let said = command(rustc).args(["--print", "sysroot"]).output();
    let said = said.map_err(|e| format!("{}: {e}", rustc.display()))?;
    Ok(String::from_utf8_lossy(&said.stdout).trim().into())
}

/// ThreadSanitizer's run time, if it comes with the compiler. Its name has the release channel in it.
fn run_time(sysroot: &Path) -> Outcome<Option<PathBuf>> {
    let libraries = sysroot.join("lib/rustlib").join(host()?).join("lib");
    let is_it = |path: &PathBuf| path.to_string_lossy().ends_with("_rt.tsan.a");
    Ok(files(&libraries, "a")?.into_iter().find(is_it))
}

/// The tests that run kernels on arrays that memcheck can walk through in minutes. That of the floating-point environment is
/// none of them: valgrind keeps only the rounding of it.
const KERNELS: [&str; 3] = ["choices", "hostile", "segments"];

fn memcheck() -> Outcome {
    let mut build = cargo(["test", "--lib", "--no-run"]);
    for package in ["strew", "strew-engine", "strew-kernel"] {
        build.args(["--package", package]);
    }
    // By itself rustix looks for functions in a page that the kernel maps into each process, which valgrind takes away.
    build.args(["--features", "rustix/use-libc"]);
    for test in KERNELS {
        build.args(["--test", test]);
    }
    let suppressions = root().join("xtask/memcheck.supp");
    for binary in test_binaries(build.args(["--message-format", "json"]))? {
        let mut valgrind = command("valgrind");
        valgrind.args(["--error-exitcode=1", "--quiet", "--leak-check=no"]);
        valgrind.arg(format!("--suppressions={}", suppressions.display()));
        valgrind.current_dir(root().join("crates/strew"));
        valgrind.env("PROPTEST_CASES", "5");
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
