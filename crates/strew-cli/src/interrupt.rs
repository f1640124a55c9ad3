//! Ctrl-C: the command ends at once and leaves no half-written file behind.
//!
//! Input files are never written to, and an output gets its name only when it is whole, so there is
//! nothing to undo but the temporary files.

use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often a lock that another thread holds for a moment is tried.
const TRIES: usize = 1000;

static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn temporary() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes temporary files when the process is asked to end, then ends it as the shell expects.
pub(crate) fn install() {
    // Without a handler the process still ends; only a temporary file could stay.
    let _ = ctrlc::set_handler(|| {
        remove(&mut temporary());
        process::exit(130);
    });
}

fn remove(paths: &mut Vec<PathBuf>) {
    for path in paths.drain(..) {
        // Whichever of the two it is.
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_dir_all(path);
    }
}

/// Removes the temporary files of outputs, in a process that is about to end. It does not wait for
/// a lock that its own thread may hold.
pub(crate) fn remove_part_files() {
    for _ in 0..TRIES {
        if let Ok(mut paths) = TEMPORARY.try_lock() {
            return remove(&mut paths);
        }
        std::thread::yield_now();
    }
}

/// A temporary file or folder to remove on an interrupt, while this lives.
pub(crate) struct Registered(PathBuf);

impl Registered {
    /// Makes a temporary file or folder. An interrupt comes before that or finds it.
    pub(crate) fn made<T: AsRef<Path>>(
        make: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<(T, Self)> {
        let mut paths = temporary();
        let made = make()?;
        let path = made.as_ref().to_owned();
        paths.push(path.clone());
        Ok((made, Self(path)))
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        temporary().retain(|path| *path != self.0);
    }
}
