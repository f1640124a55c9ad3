//! Counts the memory that a view touches, in whole cache lines, because memory moves in lines.
//!
//! ```text
//! block = element size
//! for each axis, by increasing step:
//!     the step leaves no line out -> block = step * (len - 1) + block
//!     otherwise                   -> block = lines(block) * len
//! ```
//!
//! The cost model uses it. Nothing is read or written.

use crate::cpu::LINE;

/// Bytes of the lines that a view touches. Its axes come as (length, bytes per step).
pub fn footprint(axes: impl IntoIterator<Item = (usize, isize)>, size: usize) -> usize {
    let mut axes: Vec<(usize, usize)> = axes
        .into_iter()
        .map(|(len, step)| (len, step.unsigned_abs()))
        .collect();
    if axes.iter().any(|&(len, _)| len == 0) {
        return 0;
    }
    axes.retain(|&(len, step)| len > 1 && step > 0);
    axes.sort_unstable_by_key(|&(_, step)| step);
    let mut block = size;
    for (len, step) in axes {
        // Steps within a line, or over what the inner axes touch already, leave no line out.
        block = match step <= block.max(LINE) {
            true => step.saturating_mul(len - 1).saturating_add(block),
            false => lines(block).saturating_mul(len),
        };
    }
    block
}

/// As many bytes, in whole lines.
pub fn lines(bytes: usize) -> usize {
    bytes.div_ceil(LINE).saturating_mul(LINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_once() {
        // 100 floats that lie one after the other, and every second of 100.
        assert_eq!(footprint([(100, 4)], 4), 400);
        assert_eq!(footprint([(50, 8)], 4), 396);
        // Every second of 4096 rows of 4096 floats, and of those every second.
        assert_eq!(footprint([(2048, 32768), (2048, 8)], 4), 2048 * 16384);
        // A column: a line for each.
        assert_eq!(footprint([(10, 4096)], 4), 640);
        // One element that stands for many, and none.
        assert_eq!(footprint([(1000, 0)], 4), 4);
        assert_eq!(footprint([(0, 4), (8, 4)], 4), 0);
        // Backwards, and columns first.
        assert_eq!(footprint([(64, 4), (10, -256)], 4), 2560);
    }
}
