//! Panics of foreign readers become errors.
//!
//! The readers of Parquet and Arrow check most of what a file says, and panic on some of the rest.

use crate::error::{Error, Result};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Does `work` of a reader of `format`; a panic in it is an error.
pub(crate) fn guarded<T>(format: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    stay_silent();
    let before = GUARDED.replace(true);
    // After a panic, what was being read is dropped. Nothing reads it half changed.
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    outcome.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Error::broken(format, said.unwrap_or("its reader failed")))
    })
}

/// Makes the panic hook print nothing about panics that become errors.
fn stay_silent() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                hook(info);
            }
        }));
    });
}

/// An error if there is no memory for this number of bytes. Without this check a reader that takes
/// them would end the process.
pub(crate) fn room(bytes: u64) -> Result<()> {
    let wanted = usize::try_from(bytes).unwrap_or(usize::MAX);
    match Vec::<u8>::new().try_reserve_exact(wanted) {
        Ok(()) => Ok(()),
        Err(_) => Err(Error::new(format!(
            "a part of it takes {bytes} bytes, and there is no memory for them"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_errors() {
        let done: Result<()> = guarded("Arrow", || panic!("range end {} out of range", 7));
        let said = done.unwrap_err().to_string();
        assert_eq!(
            said,
            "it is not a readable Arrow file: range end 7 out of range"
        );
        assert_eq!(guarded("Arrow", || Ok(1)), Ok(1));
        assert!(room(u64::MAX).is_err() && room(1 << 60).is_err() && room(8).is_ok());
    }
}
