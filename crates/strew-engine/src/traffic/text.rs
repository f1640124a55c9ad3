//! What is told about a run that has not happened yet.

use std::fmt;

/// How something would run: a sentence, then names and values. As text the values are a table with
/// a line for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    sentence: String,
    facts: Vec<(&'static str, String)>,
}

impl Explanation {
    /// What the run does and why, what it moves, and, on a machine that was measured, how long that
    /// takes and what bounds it. It begins with a verb, without a capital, and has no full stop.
    #[must_use]
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// Names and values.
    #[must_use]
    pub fn facts(&self) -> &[(&'static str, String)] {
        &self.facts
    }

    /// Names and values, as a line for each.
    #[must_use]
    pub fn table(&self) -> String {
        let width = self.facts.iter().map(|(name, _)| name.len()).max();
        let width = width.unwrap_or(0);
        let lines = self.facts.iter();
        lines
            .map(|(name, value)| format!("{name:width$}  {value}\n"))
            .collect()
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Explanation {
    pub fn new(sentence: String, facts: Vec<(&'static str, String)>) -> Self {
        Self { sentence, facts }
    }
}

impl fmt::Display for Explanation {
    /// The sentence, an empty line, and the table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.sentence.chars();
        let first = said.next().map(|c| c.to_ascii_uppercase());
        let first = first.map_or(String::new(), String::from);
        write!(f, "{first}{}.\n\n{}", said.as_str(), self.table())
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
