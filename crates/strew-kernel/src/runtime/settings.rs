//! The settings that come from the environment.

use crate::error::Problem;
use std::num::NonZeroUsize;
use std::sync::OnceLock;

pub(crate) const THREADS: &str = "STREW_NUM_THREADS";

/// OpenMP's variable, which other libraries follow too.
const OPENMP_THREADS: &str = "OMP_NUM_THREADS";

pub(crate) const MEMORY: &str = "STREW_MEMORY_LIMIT";

pub(crate) const KEPT: &str = "STREW_KEPT_MEMORY";

pub(crate) const ISA: &str = "STREW_ISA";

pub(crate) const PIN: &str = "STREW_PIN_THREADS";

/// A number of bytes: `1000`, `500M`, `2GiB`; the letters stand for powers of 1024.
///
/// ```
/// # use strew_kernel::runtime::settings as strew;
/// assert_eq!(strew::parse_bytes("2k"), Ok(2048));
/// assert!(strew::parse_bytes("2X").is_err());
/// ```
///
/// # Errors
/// [`Problem::Value`] if it is none, or beyond 64 bits.
pub fn parse_bytes(text: &str) -> Result<u64, Problem> {
    let text = text.trim();
    let letters = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(letters);
    let refuse = |expected: String| Problem::Value {
        argument: "bytes".into(),
        value: format!("{text:?}"),
        expected,
    };
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(refuse(format!("'{unit}' is no unit: use K, M, G or T"))),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| refuse("it must be a number of bytes".into()))?;
    let scaled = number.checked_mul(1 << shift);
    scaled.ok_or_else(|| refuse("it is too large".into()))
}

pub(crate) fn parse_threads(text: &str) -> Result<NonZeroUsize, Problem> {
    text.trim().parse().map_err(|_| Problem::Value {
        argument: "threads".into(),
        value: format!("{text:?}"),
        expected: "it must be a number of threads, at least 1".into(),
    })
}

/// The number of threads in OpenMP's variable: a list with one for each level of nested regions, of
/// which the first counts.
fn parse_openmp_threads(text: &str) -> Result<NonZeroUsize, Problem> {
    parse_threads(text.split(',').next().unwrap_or_default())
}

pub(crate) fn parse_switch(text: &str) -> Result<bool, Problem> {
    match text.trim() {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(Problem::Value {
            argument: "switch".into(),
            value: format!("{text:?}"),
            expected: "it must be 0 or 1".into(),
        }),
    }
}

/// Whether each thread of a run is woken on a processor of its own.
pub fn pins_threads() -> bool {
    static SET: OnceLock<bool> = OnceLock::new();
    *SET.get_or_init(|| read(PIN, parse_switch).ok().flatten().unwrap_or(false))
}

/// The number of threads that strew's own variable sets, if it does.
pub fn threads() -> Option<NonZeroUsize> {
    static SET: OnceLock<Option<NonZeroUsize>> = OnceLock::new();
    *SET.get_or_init(|| read(THREADS, parse_threads).ok().flatten())
}

/// The number of threads that OpenMP's variable sets. What cannot be read is taken as not set:
/// other programs may know what it means.
pub fn openmp_threads() -> Option<NonZeroUsize> {
    static SET: OnceLock<Option<NonZeroUsize>> = OnceLock::new();
    *SET.get_or_init(|| read(OPENMP_THREADS, parse_openmp_threads).ok().flatten())
}

/// The memory limit in bytes that is set, if one is.
pub fn memory() -> Option<u64> {
    static SET: OnceLock<Option<u64>> = OnceLock::new();
    *SET.get_or_init(|| read(MEMORY, parse_bytes).ok().flatten())
}

/// How much freed memory is kept, in bytes, if that is set.
pub fn kept() -> Option<u64> {
    static SET: OnceLock<Option<u64>> = OnceLock::new();
    *SET.get_or_init(|| read(KEPT, parse_bytes).ok().flatten())
}

pub(crate) fn read<T>(
    name: &str,
    parse: fn(&str) -> Result<T, Problem>,
) -> Result<Option<T>, Problem> {
    let Some(text) = std::env::var_os(name) else {
        return Ok(None);
    };
    match parse(&text.to_string_lossy()) {
        Ok(value) => Ok(Some(value)),
        Err(Problem::Value {
            value, expected, ..
        }) => Err(Problem::Value {
            argument: name.into(),
            value,
            expected,
        }),
        Err(other) => Err(other),
    }
}
