//! `--plot`: a chart of the groups as SVG.
//!
//! Up to [`BARS`] groups have a bar each, with the group's keys as its label. Of more groups the
//! chart is a histogram: how many groups have a result in each of [`BINS`] equal ranges.

use std::fmt::Write as _;
use strew_io::{Cell, Frame};

/// The most groups that have a bar each.
const BARS: usize = 80;
/// The ranges of a histogram.
const BINS: usize = 40;

/// Sizes in pixels.
const WIDTH: f64 = 560.0;
const LINE: f64 = 20.0;
const LETTER: f64 = 7.0;
const EDGE: f64 = 12.0;

/// A bar with its label.
struct Bar {
    label: String,
    length: f64,
    value: String,
}

/// A chart of a column of results; `keys` is how many columns in front of it are keys.
pub(crate) fn svg(frame: &Frame, keys: usize) -> String {
    let name = frame.names().nth(keys).unwrap_or_default();
    let by: Vec<&str> = frame.names().take(keys).collect();
    let by = by.join(", ");
    let rows = frame.rows();
    match rows <= BARS {
        true => chart(&format!("{name} by {by}"), &bars(frame, keys)),
        false => {
            let title = format!("{rows} groups by {by}: how many have which {name}");
            chart(&title, &histogram(frame, keys))
        }
    }
}

/// A result, and how it is written; none if there is none.
fn result(frame: &Frame, column: usize, row: usize) -> (Option<f64>, String) {
    match frame.cell(column, row) {
        Cell::Missing => (None, "null".to_owned()),
        Cell::Text(text) => (None, text),
        Cell::Number(text) => {
            let value = match &*text {
                "true" => Some(1.0),
                "false" => Some(0.0),
                number => number.parse().ok(),
            };
            (value.filter(|v: &f64| v.is_finite()), text)
        }
    }
}

/// A bar for each group.
fn bars(frame: &Frame, keys: usize) -> Vec<Bar> {
    let label = |row: usize| {
        let cells = (0..keys).map(|column| match frame.cell(column, row) {
            Cell::Missing => "null".to_owned(),
            Cell::Number(text) | Cell::Text(text) => text,
        });
        cells.collect::<Vec<_>>().join(", ")
    };
    let bar = |row: usize| {
        let (length, value) = result(frame, keys, row);
        Bar {
            label: label(row),
            length: length.unwrap_or(0.0),
            value,
        }
    };
    (0..frame.rows()).map(bar).collect()
}

/// A bar for each range of results: how many groups have one in it.
fn histogram(frame: &Frame, column: usize) -> Vec<Bar> {
    let results = (0..frame.rows()).filter_map(|row| result(frame, column, row).0);
    let results: Vec<f64> = results.collect();
    let low = results.iter().copied().fold(f64::INFINITY, f64::min);
    let high = results.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if results.is_empty() {
        return Vec::new();
    }
    let step = (high / BINS as f64 - low / BINS as f64).max(f64::MIN_POSITIVE);
    let mut counts = [0u64; BINS];
    for result in results {
        let bin = (result / step - low / step) as usize;
        counts[bin.min(BINS - 1)] += 1;
    }
    let bar = |(bin, count): (usize, &u64)| Bar {
        label: format!("from {:.4e}", low + step * bin as f64),
        length: *count as f64,
        value: count.to_string(),
    };
    counts.iter().enumerate().map(bar).collect()
}

/// Bars to the right of their labels; those of negative values begin at the same line and go to the
/// left.
fn chart(title: &str, bars: &[Bar]) -> String {
    let letters = bars
        .iter()
        .map(|bar| bar.label.chars().count())
        .max()
        .unwrap_or(0);
    let left = EDGE + LETTER * letters.min(40) as f64 + EDGE;
    let low = bars.iter().map(|bar| bar.length).fold(0.0, f64::min);
    let high = bars.iter().map(|bar| bar.length).fold(0.0, f64::max);
    // Halves, so that the widest range of numbers is still one.
    let span = (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE);
    let at = |value: f64| left + WIDTH * ((value / 2.0 - low / 2.0) / span);
    let (width, height) = (left + WIDTH + 120.0, LINE * (bars.len() + 2) as f64 + EDGE);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{EDGE}\" y=\"{LINE}\" font-weight=\"bold\">{}</text>\n",
        escaped(title)
    );
    for (n, bar) in bars.iter().enumerate() {
        let top = LINE * (n as f64 + 1.5);
        let (start, end) = (at(bar.length.min(0.0)), at(bar.length.max(0.0)));
        // A text that cannot be written to memory does not exist.
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{start:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.0}\" fill=\"#0072b2\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            left - 6.0,
            top + 12.0,
            escaped(&cut(&bar.label)),
            end - start,
            LINE - 4.0,
            end + 4.0,
            top + 12.0,
            escaped(&cut(&bar.value)),
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The first letters of a long label.
fn cut(label: &str) -> String {
    match label.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &label[..end]),
        None => label.to_owned(),
    }
}

/// Text within XML, which has no control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
