//! `SliceScatter-15`: Python's slice rule on some axes, and the slice replaced.

use super::{Array, Outcome, coordinates};

/// The coordinates that `start:stop:step` selects on an axis of size `n`, found by walking it.
pub(crate) fn selected(n: usize, start: i64, stop: i64, step: i64) -> Vec<usize> {
    let n = n as i128;
    let (start, stop, step) = (i128::from(start), i128::from(stop), i128::from(step));
    let from_end = |v: i128| if v < 0 { v + n } else { v };
    let mut all = Vec::new();
    if step > 0 {
        let mut at = from_end(start).clamp(0, n);
        while at < from_end(stop).clamp(0, n) {
            all.push(at as usize);
            at += step;
        }
    } else {
        let mut at = from_end(start).clamp(-1, n - 1);
        while at > from_end(stop).clamp(-1, n - 1) {
            all.push(at as usize);
            at += step;
        }
    }
    all
}

pub(crate) fn slice_scatter(
    data: &Array,
    updates: &Array,
    start: &[i64],
    stop: &[i64],
    step: &[i64],
    axes: Option<&[i64]>,
) -> Outcome {
    let rank = data.shape.len();
    let mut picked: Vec<Vec<usize>> = data.shape.iter().map(|&n| (0..n).collect()).collect();
    for k in 0..start.len() {
        let axis = axes.map_or(k as i64, |a| a[k]);
        let axis = if axis < 0 { axis + rank as i64 } else { axis } as usize;
        picked[axis] = selected(data.shape[axis], start[k], stop[k], step[k]);
    }
    let mut out = Outcome::untouched(data.clone());
    for (from, c) in coordinates(&updates.shape).enumerate() {
        let cell: Vec<usize> = c.iter().zip(&picked).map(|(&c, p)| p[c]).collect();
        let to = out.array.flat(&cell);
        out.array.data[to] = updates.data[from];
        out.touched[to] = true;
    }
    out
}
