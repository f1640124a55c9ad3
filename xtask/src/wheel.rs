//! `cargo xtask wheel`: what goes to PyPI.

use crate::places::{command, files, path_with, target};
use crate::python::{COMPRESSION, Venv, compression_setting};
use crate::size::check_wheel;
use crate::stages::{Outcome, Stages, needs, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What builds and checks. ziglang links with the C library of an old release of Linux.
const TOOLS: [&str; 4] = ["maturin>=1.16,<2", "abi3audit", "twine", "pip"];
const TOOLS_ON_LINUX: [&str; 2] = ["ziglang", "auditwheel"];

/// The C library that the wheel needs on Linux: that of 2014, the oldest that Rust's standard
/// library runs with.
const LINUX: &str = "manylinux_2_17";

/// Build the wheel, or with --sdist the source distribution, that PyPI takes, and check it
///
/// The files go to `dist` in the target folder. On Linux the wheel runs with glibc 2.17 and newer,
/// and `auditwheel` checks that. On all systems `abi3audit` checks that it needs no more than
/// Python 3.10's stable ABI, and `twine` its metadata; the command in it is run. The source
/// distribution is built in an empty folder with an environment that holds no more than PATH and
/// HOME.
#[derive(Debug, clap::Args)]
pub(crate) struct Wheel {
    /// Make the source distribution instead
    #[arg(long)]
    sdist: bool,
    /// Take the file that is in `dist` already, and only check it
    #[arg(long)]
    built: bool,
}

impl Wheel {
    pub(crate) fn run(&self) -> ExitCode {
        let mut stages = Stages::default();
        let venv = stages.run("tools", tools);
        let tools = needs(venv.as_ref(), "tools");
        let ext = if self.sdist { "gz" } else { "whl" };
        let made = stages.run("build", || match self.built {
            true => one(ext),
            false => build(tools.clone()?, ext),
        });
        let made = needs(made.as_ref(), "build").map(PathBuf::as_path);
        stages.run("metadata", || {
            let twine = ["-m", "twine", "check", "--strict"];
            run(tools.clone()?.python().args(twine).arg(made.clone()?))
        });
        if self.sdist {
            stages.run("build in an empty folder", || from_sdist(made.clone()?));
        } else {
            stages.run("size", || check_wheel(made.clone()?));
            if cfg!(target_os = "linux") {
                stages.run("auditwheel", || audit(tools.clone()?, made.clone()?));
            }
            stages.run("abi3audit", || {
                let abi = ["--strict", "--verbose"];
                let abi3audit = tools.clone()?.bin().join("abi3audit");
                run(command(abi3audit).args(abi).arg(made.clone()?))
            });
            stages.run("installation", || installed(made.clone()?));
        }
        stages.finish()
    }
}

fn tools() -> Outcome<Venv> {
    let venv = Venv::make("venv-wheel")?;
    venv.install(["--quiet"].into_iter().chain(TOOLS))?;
    if cfg!(target_os = "linux") {
        venv.install(["--quiet"].into_iter().chain(TOOLS_ON_LINUX))?;
    }
    Ok(venv)
}

/// Builds the wheel (`whl`) or the source distribution (`gz`), the only one of its kind in `dist`.
fn build(venv: &Venv, ext: &str) -> Outcome<PathBuf> {
    let folder = target("dist");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for old in files(&folder, ext)? {
        fs::remove_file(&old).map_err(|e| format!("{}: {e}", old.display()))?;
    }
    let mut maturin = venv.python();
    maturin.args(["-m", "maturin"]);
    // zig is looked for with the `python3` of the path.
    maturin.env("PATH", path_with([venv.bin()])?);
    match ext {
        "gz" => maturin.arg("sdist"),
        _ => maturin
            .args(["build", "--release", "--locked"])
            .args(COMPRESSION),
    };
    if ext == "whl" && cfg!(target_os = "linux") {
        maturin.args(["--zig", "--compatibility", LINUX]);
    }
    run(maturin.arg("--out").arg(&folder))?;
    one(ext)
}

/// The only file in `dist` that ends in `.ext`.
fn one(ext: &str) -> Outcome<PathBuf> {
    let folder = target("dist");
    match files(&folder, ext)?.as_slice() {
        [one] => Ok(one.clone()),
        other => Err(format!(
            "{} must hold one file .{ext}, and holds {}",
            folder.display(),
            other.len()
        )),
    }
}

/// auditwheel finds that the wheel runs wherever its name says.
fn audit(venv: &Venv, wheel: &Path) -> Outcome {
    let mut auditwheel = command(venv.bin().join("auditwheel"));
    let said = auditwheel.arg("show").arg(wheel).output();
    let said = said.map_err(|e| format!("auditwheel: {e}"))?;
    let text = String::from_utf8_lossy(&said.stdout);
    println!("{text}{}", String::from_utf8_lossy(&said.stderr));
    // Its lines are broken anywhere.
    let words: Vec<&str> = text.split_whitespace().collect();
    let verdict = format!("consistent with the following platform tag: \"{LINUX}_");
    match words.join(" ").contains(&verdict) {
        true => Ok(()),
        false => Err(format!("auditwheel does not say {verdict}...\"")),
    }
}

/// A virtual environment without anything.
fn empty_venv(name: &str) -> Outcome<Venv> {
    let folder = target(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    Venv::make(name)
}

/// The installed package is imported, and its command runs in both forms.
fn installed(wheel: &Path) -> Outcome {
    let venv = empty_venv("venv-wheel-installed")?;
    venv.install(["--quiet", &wheel.to_string_lossy()])?;
    let call = "import strew; print(strew.scatter([1.0, 2.0, 4.0], [1, 0, 1]))";
    // Not in the root: its folder `python` is not what is installed.
    let folder = target("dist");
    run(venv.python().current_dir(&folder).args(["-c", call]))?;
    let module = ["-m", "strew", "ops", "torch.gather"];
    run(venv.python().current_dir(&folder).args(module))?;
    for argument in ["--version", "demo"] {
        let mut strew = Command::new(venv.bin().join("strew"));
        run(strew.current_dir(&folder).arg(argument))?;
    }
    Ok(())
}

/// Builds a wheel of the source distribution with nothing of the checkout or of the caller's
/// environment, and installs it.
fn from_sdist(sdist: &Path) -> Outcome {
    let venv = empty_venv("venv-sdist")?;
    let folder = std::env::temp_dir().join(format!("strew-sdist-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut pip = venv.python();
    pip.env_clear().current_dir(&folder);
    for name in [
        "PATH",
        "HOME",
        "USERPROFILE",
        "SYSTEMROOT",
        "PIP_CERT",
        "SSL_CERT_FILE",
    ] {
        pip.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    // Without the cache, where a wheel of an earlier run may lie: it would be taken, unbuilt.
    pip.args(["-m", "pip", "--no-cache-dir", "wheel", "--no-deps"]);
    pip.arg(compression_setting()).arg("--wheel-dir");
    let built = run(pip.arg(&folder).arg(sdist));
    let wheel = built.and_then(|()| files(&folder, "whl"));
    let outcome = wheel.and_then(|found| match found.as_slice() {
        [wheel] => check_wheel(wheel).and_then(|()| installed(wheel)),
        _ => Err(format!("pip left {} wheels", found.len())),
    });
    let _ = fs::remove_dir_all(&folder);
    outcome
}
