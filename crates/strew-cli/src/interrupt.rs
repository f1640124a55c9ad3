//! Ctrl-C: the command ends at once and leaves no half-written file behind.
//!
//! Input files are never written to, and an output gets its name only when it is whole, so there is
//! nothing to undo but the temporary files.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};

static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn temporary() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes temporary files when the process is asked to end, then ends it as the shell expects.
pub(crate) fn install() {
    // Without a handler the process still ends; only a temporary file could stay.
    let _ = ctrlc::set_handler(|| {
        for path in temporary().drain(..) {
            // Whichever of the two it is.
            let _ = std::fs::remove_file(&path);
            let _ = std::fs::remove_dir_all(path);
        }
        process::exit(130);
    });
}

/// A temporary file or folder to remove on an interrupt, while this lives.
pub(crate) struct Registered(PathBuf);

impl Registered {
    pub(crate) fn new(path: &Path) -> Self {
        temporary().push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        temporary().retain(|path| *path != self.0);
    }
}
