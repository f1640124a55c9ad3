//! A machine that is asked about: how many cores it has, and how fast its memory is.

use crate::explain::text::bytes;
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use strew_kernel::error::Problem;
use strew_kernel::runtime::machine::Machine;

/// A run uses this many threads at most.
const MOST_CORES: usize = 256;

/// Maximum bandwidth in bytes per second of a machine of which only the cores are given: eight
/// channels of DDR4-3200.
const MOST_BANDWIDTH: f64 = 200e9;

/// Units of bandwidth, in bytes per second.
const UNITS: [(&str, f64); 8] = [
    ("KB/S", 1e3),
    ("MB/S", 1e6),
    ("GB/S", 1e9),
    ("TB/S", 1e12),
    ("KIB/S", 1024.0),
    ("MIB/S", 1_048_576.0),
    ("GIB/S", 1_073_741_824.0),
    ("TIB/S", 1_099_511_627_776.0),
];

/// A machine that times are predicted for. Its cores are as fast as those of this machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherMachine {
    cores: NonZeroUsize,
    /// Bytes per second of all cores together, if that is given.
    bandwidth: Option<f64>,
}

impl OtherMachine {
    /// How many cores it has: a run there has as many threads.
    #[must_use]
    pub fn cores(&self) -> NonZeroUsize {
        self.cores
    }

    /// Bytes per second of all cores together. If only the cores were given: what this machine was
    /// measured to reach on as many threads. With more cores than that, the bandwidth of one of its
    /// threads for each core, up to 200 GB/s.
    #[must_use]
    pub fn bandwidth(&self, measured: &Machine) -> f64 {
        let cores = self.cores.get();
        let here = measured.rates(cores).read;
        self.bandwidth.unwrap_or_else(|| {
            if cores <= measured.threads() {
                return here;
            }
            let each = measured.rates(1).read * cores as f64;
            each.min(MOST_BANDWIDTH).max(here)
        })
    }

    /// Cores and bandwidth as text.
    pub(crate) fn named(&self, measured: &Machine) -> String {
        let several = if self.cores.get() == 1 { "" } else { "s" };
        let bandwidth = bytes(self.bandwidth(measured) as u64);
        format!("{} core{several}, {bandwidth}/s", self.cores)
    }
}

impl FromStr for OtherMachine {
    type Err = Problem;

    /// `64x200GB/s` is 64 cores that reach 200 GB/s together, `64` is 64 cores.
    fn from_str(text: &str) -> Result<Self, Problem> {
        let refuse = |expected: String| Problem::Value {
            argument: "machine".into(),
            value: format!("{text:?}"),
            expected,
        };
        let (cores, speed) = match text.trim().split_once(['x', 'X']) {
            Some((cores, speed)) => (cores, Some(speed)),
            None => (text.trim(), None),
        };
        let cores = cores.trim().parse::<NonZeroUsize>().ok();
        let cores = cores.filter(|cores| cores.get() <= MOST_CORES);
        let cores = cores.ok_or_else(|| {
            refuse(format!(
                "it must begin with the number of cores, 1 to {MOST_CORES}, as in 64x200GB/s or 64"
            ))
        })?;
        let bandwidth = speed.map(|speed| {
            parse_speed(speed.trim()).ok_or_else(|| {
                refuse(
                    "behind the x it must have the bandwidth of all cores together, more than 0, in \
                     kB/s, MB/s, GB/s or TB/s, or in KiB/s, MiB/s, GiB/s or TiB/s"
                        .into(),
                )
            })
        });
        Ok(Self {
            cores,
            bandwidth: bandwidth.transpose()?,
        })
    }
}

/// Bytes per second; `None` if the text is no positive number with a unit.
fn parse_speed(text: &str) -> Option<f64> {
    let upper = text.to_ascii_uppercase();
    let (unit, scale) = UNITS.iter().find(|(unit, _)| upper.ends_with(unit))?;
    let number = upper[..upper.len() - unit.len()].trim_end();
    let plain = number.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    let speed = number.parse::<f64>().ok().filter(|_| plain)? * scale;
    (speed > 0.0 && speed.is_finite()).then_some(speed)
}

impl fmt::Display for OtherMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bandwidth {
            Some(speed) => write!(f, "{}x{}MB/s", self.cores, speed / 1e6),
            None => write!(f, "{}", self.cores),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> OtherMachine {
        text.parse().unwrap()
    }

    #[test]
    fn cores_and_bandwidth() {
        let asked = parsed("64x200GB/s");
        assert_eq!(asked.cores().get(), 64);
        assert_eq!(asked.bandwidth, Some(200e9));
        assert_eq!(parsed(" 8 X 1.5 gib/s ").bandwidth, Some(1_610_612_736.0));
        assert_eq!(parsed("2x750MB/s").bandwidth, Some(750e6));
        assert_eq!(parsed("256").bandwidth, None);
        for text in ["64x200GB/s", "3x0.5TB/s", "7"] {
            assert_eq!(parsed(&parsed(text).to_string()), parsed(text));
        }
    }

    #[test]
    fn what_is_no_machine() {
        for (text, part) in [
            ("", "1 to 256"),
            ("0", "1 to 256"),
            ("257x200GB/s", "1 to 256"),
            ("x200GB/s", "1 to 256"),
            ("-4x200GB/s", "1 to 256"),
            ("64x", "GiB/s"),
            ("64x200", "GiB/s"),
            ("64x200GB", "GiB/s"),
            ("64x0GB/s", "more than 0"),
            ("64x-1GB/s", "more than 0"),
            ("64xinfGB/s", "GiB/s"),
            ("64x1e3GB/s", "GiB/s"),
            ("64x200GB/s/s", "GiB/s"),
        ] {
            let problem = text.parse::<OtherMachine>().unwrap_err().to_string();
            assert!(problem.contains(part), "{text}: {problem}");
            assert!(problem.contains("machine"), "{problem}");
        }
    }
}
