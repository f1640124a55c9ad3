//! What is told about a run that has not happened yet.

use std::fmt;

/// How something would run: names and values, and as text a line for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    facts: Vec<(&'static str, String)>,
}

impl Explanation {
    #[doc(hidden)] // Internal: for the crates of strew alone.
    pub fn new(facts: Vec<(&'static str, String)>) -> Self {
        Self { facts }
    }

    /// Names and values.
    #[must_use]
    pub fn facts(&self) -> &[(&'static str, String)] {
        &self.facts
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.facts.iter().map(|(name, _)| name.len()).max();
        for (name, value) in &self.facts {
            writeln!(f, "{name:width$}  {value}", width = width.unwrap_or(0))?;
        }
        Ok(())
    }
}

/// A number of bytes in a unit that suits it, in powers of 1000, as bandwidths are given.
pub fn bytes(count: u64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let mut scaled = count as f64;
    let mut unit = "bytes";
    for larger in units {
        // What would be shown as 1000.0 is 1.0 of the next unit.
        if scaled < 999.95 {
            break;
        }
        scaled /= 1000.0;
        unit = larger;
    }
    match unit {
        "bytes" => format!("{count} bytes"),
        _ => format!("{scaled:.1} {unit}"),
    }
}

/// A time in a unit that suits it.
pub(crate) fn seconds(time: f64) -> String {
    match time {
        t if t < 1e-3 => format!("{:.1} us", t * 1e6),
        t if t < 1.0 => format!("{:.1} ms", t * 1e3),
        t => format!("{t:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1000), "1.0 kB");
        assert_eq!(bytes(999_960), "1.0 MB");
        assert_eq!(bytes(256_000_000), "256.0 MB");
        assert_eq!(bytes(u64::MAX), "18.4 EB");
        assert_eq!(seconds(2e-6), "2.0 us");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(2.0), "2.00 s");
    }
}
