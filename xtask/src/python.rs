//! Virtual environments and the wheel.

use crate::places::{command, files, target};
use crate::stages::{Outcome, run, run_with_retries};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names under which a Python may be found, in the order of preference.
const NAMES: [&str; 7] = [
    "python3.11",
    "python3",
    "python3.12",
    "python3.13",
    "python3.14",
    "python3.10",
    "python",
];

/// What a Python must be able to do: the interpreter that runs this is not too old and can make
/// virtual environments with pip.
const PROBE: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";

/// The Python that the variable `PYTHON` names, else the first on the path that is 3.10 or newer
/// and has `venv`.
pub(crate) fn find() -> Outcome<PathBuf> {
    if let Some(set) = std::env::var_os("PYTHON") {
        return works(&set).then(|| set.clone().into()).ok_or_else(|| {
            let set = set.display();
            format!("PYTHON is {set}, which is no Python 3.10 or newer with venv")
        });
    }
    let found = NAMES.iter().find(|name| works(OsStr::new(name)));
    found.map(PathBuf::from).ok_or_else(|| {
        format!(
            "no Python 3.10 or newer with venv on the path (looked for {})",
            NAMES.join(", ")
        )
    })
}

/// A Python that is 3.12 or newer, for packages whose newest releases need one.
pub(crate) fn newer() -> Option<PathBuf> {
    let names = ["python3.14", "python3.13", "python3.12"];
    let found = names.iter().find(|name| works(OsStr::new(name)));
    found.map(PathBuf::from)
}

fn works(name: &OsStr) -> bool {
    let mut probe = Command::new(name);
    probe.args(["-c", PROBE]).stderr(Stdio::null());
    probe.status().is_ok_and(|s| s.success())
}

/// A virtual environment.
pub(crate) struct Venv {
    folder: PathBuf,
    is_removed: bool,
}

impl Venv {
    /// Makes it under the target folder, or refreshes the one that is there.
    pub(crate) fn make(name: &str) -> Outcome<Self> {
        Self::make_of(name, &find()?)
    }

    /// The same of this Python.
    pub(crate) fn make_of(name: &str, python: &Path) -> Outcome<Self> {
        let folder = target(name);
        run(command(python).args(["-m", "venv"]).arg(&folder))?;
        let is_removed = false;
        Ok(Self { folder, is_removed })
    }

    /// The same, but removed with all that it holds when this value goes. It keeps no downloads.
    pub(crate) fn that_is_removed(mut self) -> Self {
        self.is_removed = true;
        self
    }

    /// One that was made before.
    pub(crate) fn at(name: &str) -> Self {
        Self {
            folder: target(name),
            is_removed: false,
        }
    }

    /// Where its programs are.
    pub(crate) fn bin(&self) -> PathBuf {
        self.folder
            .join(if cfg!(windows) { "Scripts" } else { "bin" })
    }

    /// Its Python, to run in the root.
    pub(crate) fn python(&self) -> Command {
        let mut command = command(self.bin().join("python"));
        // Nothing of the caller's may be found by accident.
        command.env_remove("PYTHONPATH").env_remove("PYTHONHOME");
        command
    }

    /// `pip install` of these.
    pub(crate) fn install<'a>(&self, what: impl IntoIterator<Item = &'a str>) -> Outcome {
        let mut pip = self.python();
        pip.args(["-m", "pip", "install", "--disable-pip-version-check"]);
        if self.is_removed {
            pip.arg("--no-cache-dir");
        }
        run_with_retries(pip.args(what))
    }

    /// Installs a wheel of ours with its extras, or alone if there are none. An installed one of the
    /// same version is replaced.
    pub(crate) fn install_wheel(&self, wheel: &Path, extras: &str) -> Outcome {
        let wheel = wheel.to_string_lossy();
        if !extras.is_empty() {
            self.install([&*format!("{wheel}[{extras}]"), "--quiet"])?;
        }
        self.install(["--force-reinstall", "--no-deps", &wheel])
    }
}

impl Drop for Venv {
    fn drop(&mut self) {
        if self.is_removed
            && let Err(error) = fs::remove_dir_all(&self.folder)
        {
            println!("{} stays: {error}", self.folder.display());
        }
    }
}

/// What maturin is told, so that a wheel is 3% smaller.
pub(crate) const COMPRESSION: [&str; 2] = ["--compression-level", "9"];

/// The same, as pip passes it on to maturin.
pub(crate) fn compression_setting() -> String {
    let arguments = COMPRESSION.join(" ");
    format!("--config-settings=maturin.build-args={arguments}")
}

/// Builds the wheel as `pip install .` does, and says where it is.
pub(crate) fn wheel(venv: &Venv) -> Outcome<PathBuf> {
    let folder = target("wheels");
    // A wheel from before would be taken for the one that is built now.
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let mut pip = venv.python();
    pip.args([
        "-m",
        "pip",
        "wheel",
        ".",
        "--no-deps",
        "--disable-pip-version-check",
    ]);
    pip.arg(compression_setting());
    run_with_retries(pip.arg("--wheel-dir").arg(&folder))?;
    built_wheel()
}

/// The wheel that was built last.
pub(crate) fn built_wheel() -> Outcome<PathBuf> {
    let folder = target("wheels");
    match files(&folder, "whl")?.as_slice() {
        [one] => Ok(one.clone()),
        other => Err(format!(
            "{} must hold one wheel, and holds {}",
            folder.display(),
            other.len()
        )),
    }
}
