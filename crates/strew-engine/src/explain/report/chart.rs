//! Bars as SVG.

use super::escaped;
use std::fmt::Write as _;

/// The picture's size, in units of its own.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 120.0;

/// One bar.
pub(super) struct Bar {
    /// What stands below it.
    pub(super) label: String,
    /// What a pointer on it shows.
    pub(super) title: String,
    pub(super) value: f64,
}

/// A picture of bars, the largest as high as it is, with what it shows in words.
pub(super) fn bars(caption: &str, bars: &[Bar]) -> String {
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let step = WIDTH / bars.len().max(1) as f64;
    let full = HEIGHT + 16.0;
    let mut out = format!(
        "<figure><svg viewBox=\"0 0 {WIDTH} {full}\" role=\"img\" aria-label=\"{caption}\">\n"
    );
    for (n, bar) in bars.iter().enumerate() {
        let high = bar.value / most.max(f64::MIN_POSITIVE) * HEIGHT;
        let (left, top, wide) = (n as f64 * step, HEIGHT - high, step * 0.9);
        let (middle, below) = (left + wide / 2.0, HEIGHT + 12.0);
        let (title, label) = (escaped(&bar.title), escaped(&bar.label));
        let _ = writeln!(
            out,
            "<rect class=\"bar\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\">\
             <title>{title}</title></rect>\
             <text x=\"{middle:.1}\" y=\"{below}\" text-anchor=\"middle\">{label}</text>"
        );
    }
    let _ = writeln!(out, "</svg><figcaption>{caption}.</figcaption></figure>");
    out
}
