//! How fast this machine's memory is, for the report: the bound that no scatter gets past.

use crate::stages::Outcome;
use serde_json::json;
use std::path::Path;
use strew::{Machine, Rates};

/// The bytes that are read or written: more than any cache holds.
const BYTES: usize = 1 << 30;

/// How often each is measured. The best one counts.
const TIMES: usize = 5;

/// Measures with one thread and with all, and writes it down as JSON, in bytes per second.
pub(crate) fn write(path: &Path) -> Outcome {
    let machine = Machine::measure_over(BYTES, TIMES).map_err(|problem| problem.to_string())?;
    let mut found = serde_json::Map::new();
    for threads in [1, machine.threads()] {
        let Rates {
            read, write, copy, ..
        } = machine.rates(threads);
        println!(
            "{threads} threads: read {:.1}, write {:.1}, copy {:.1} GB/s",
            read / 1e9,
            write / 1e9,
            copy / 1e9
        );
        let rates = json!({ "read": read, "write": write, "copy": copy });
        found.insert(threads.to_string(), rates);
    }
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    std::fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    let text = serde_json::Value::from(found).to_string();
    std::fs::write(path, text + "\n").map_err(failed)
}
