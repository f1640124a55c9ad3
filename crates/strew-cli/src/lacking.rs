//! What the binary says when memory runs out.

use crate::interrupt::remove_part_files;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static JSON: AtomicBool = AtomicBool::new(false);
static BEFORE: OnceLock<fn()> = OnceLock::new();

/// Sets what is done before a message is written: the binary may have closed standard error.
pub fn before_messages(work: fn()) {
    let _ = BEFORE.set(work);
}

/// Errors are said in JSON.
pub(crate) fn say_json(json: bool) {
    JSON.store(json, Ordering::Relaxed);
}

/// A message follows.
pub(crate) fn message_follows() {
    if let Some(work) = BEFORE.get() {
        work();
    }
}

/// Removes the part files of a process that ends for lack of memory, and gives the line to say.
pub fn without_memory() -> &'static str {
    remove_part_files();
    match JSON.load(Ordering::Relaxed) {
        false => "strew: there is not enough memory\n",
        true => concat!(
            r#"{"error":{"argument":null,"class":"MemoryError","file":null,"#,
            r#""message":"there is not enough memory","operator":null}}"#,
            "\n"
        ),
    }
}
