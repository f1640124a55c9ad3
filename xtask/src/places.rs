//! Where things are in the checkout.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// A path in cargo's target folder, where everything that is made goes.
pub(crate) fn target(path: &str) -> PathBuf {
    let set = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let folder = set.unwrap_or_else(|| "target".into());
    root().join(folder).join(path)
}

/// A command that runs in the root.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// The cargo that runs this chore.
pub(crate) fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}

/// What the compiler calls this machine.
pub(crate) fn host() -> Result<String, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = command(rustc).arg("-vV").output();
    let said = said.map_err(|e| format!("rustc: {e}"))?.stdout;
    let said = String::from_utf8_lossy(&said);
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "rustc does not say what this machine is".into())
}

/// The command-line tool, as `cargo build --release` leaves it.
pub(crate) fn binary() -> PathBuf {
    target("release").join(format!("strew{}", std::env::consts::EXE_SUFFIX))
}

/// The path on which programs are looked for, with these folders first.
pub(crate) fn path_with(folders: impl IntoIterator<Item = PathBuf>) -> Result<OsString, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = folders.into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(path).map_err(|e| e.to_string())
}

/// All files under a folder whose name ends in `.ext`, sorted.
pub(crate) fn files(folder: &Path, ext: &str) -> Result<Vec<PathBuf>, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            found.extend(files(&path, ext)?);
        } else if path.extension().is_some_and(|e| e == ext) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
