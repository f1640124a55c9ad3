//! The roofline: what the machine's memory allows, and where the run lies below it.
//!
//! ```text
//! x: elements joined for each byte that is moved     y: elements joined in a second
//! slope:  y = x * bandwidth                          a run that only streams
//! ceiling: y = elements / seconds of random access   a run whose rows are visited at random
//! ```
//! Both axes are logarithmic.

use super::Report;
use crate::traffic::text::bytes;
use std::fmt::Write as _;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 260.0;
/// Powers of ten to each side of the run.
const DECADES: f64 = 2.0;

/// The picture's frame, as logarithms.
struct Frame {
    left: f64,
    bottom: f64,
}

/// A place in the picture.
struct Point {
    x: f64,
    y: f64,
}

impl Frame {
    fn place(&self, intensity: f64, rate: f64) -> Point {
        let part = |value: f64, from: f64| (value.log10() - from) / (2.0 * DECADES);
        Point {
            x: part(intensity, self.left) * WIDTH,
            y: HEIGHT - part(rate, self.bottom) * HEIGHT,
        }
    }
}

/// Adds the roofline, or says why there is none.
pub(super) fn section(report: &Report<'_>, out: &mut String) {
    out.push_str("<h2>Roofline</h2>\n");
    let (Some(traffic), Some(machine)) = (report.traffic, report.machine) else {
        out.push_str("<p>The memory was not measured, so there is no roofline.</p>\n");
        return;
    };
    let (moved, time) = (traffic.total() as f64, traffic.seconds(machine));
    let elements = report.elements as f64;
    if moved <= 0.0 || time <= 0.0 || elements <= 0.0 {
        out.push_str("<p>The run moves nothing, so there is no roofline.</p>\n");
        return;
    }
    let bandwidth = machine.rates(traffic.threads()).read;
    let random = traffic.random_seconds(machine);
    let (intensity, rate) = (elements / moved, elements / time);
    let frame = Frame {
        left: intensity.log10() - DECADES,
        bottom: rate.log10() - DECADES,
    };
    let run = frame.place(intensity, rate);
    let far = 10f64.powf(DECADES);
    let low = frame.place(intensity / far, intensity / far * bandwidth);
    let high = frame.place(intensity * far, intensity * far * bandwidth);
    let _ = write!(
        out,
        "<figure><svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"Roofline\">\n\
         <line class=\"axis\" x1=\"0\" y1=\"{HEIGHT}\" x2=\"{WIDTH}\" y2=\"{HEIGHT}\"/>\
         <line class=\"axis\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"{HEIGHT}\"/>\n\
         <text x=\"4\" y=\"{:.1}\">{:.1e} elements/byte</text>\
         <text x=\"{WIDTH}\" y=\"{:.1}\" text-anchor=\"end\">{:.1e} elements/byte</text>\
         <text x=\"4\" y=\"10\">{:.1e} elements/s</text>\n\
         <path class=\"roof\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"><title>bandwidth</title></path>\n",
        HEIGHT + 16.0,
        HEIGHT + 12.0,
        intensity / far,
        HEIGHT + 12.0,
        intensity * far,
        rate * far,
        low.x,
        low.y,
        high.x,
        high.y
    );
    let mut said = format!(
        "The slope is streaming at {}/s of {} thread{}",
        bytes(bandwidth as u64),
        traffic.threads(),
        if traffic.threads() == 1 { "" } else { "s" },
    );
    if random > 0.0 {
        let y = frame.place(intensity, elements / random).y;
        let _ = writeln!(
            out,
            "<path class=\"roof\" d=\"M0 {y:.1}H{WIDTH}\"><title>random access</title></path>\
             <text x=\"4\" y=\"{:.1}\">random access</text>",
            y - 4.0
        );
        said += ", the level line is random access to the rows of this run";
    }
    let _ = writeln!(
        out,
        "<circle class=\"run\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"6\"><title>this run</title></circle>\
         <text x=\"{:.1}\" y=\"{:.1}\">this run: {rate:.1e} elements/s, {intensity:.1e} elements/byte</text>\n\
         </svg><figcaption>Elements joined in a second, by elements joined for each byte moved; both \
         axes are logarithmic. {said}. The run is drawn where it is predicted.</figcaption></figure>",
        run.x,
        run.y,
        run.x + 10.0,
        run.y + 14.0
    );
}
