//! The canonical scatter: tuples of an index name windows, or each element has its own index; and
//! what an index that names no cell means.

use super::array::Fold;
use super::{Array, Outcome, coordinates};
use strew::{Bounds, Negative, OutOfRange};

/// The cell that a value means on an axis of this size; `None`: its update is left out.
///
/// # Errors
/// If the value names no cell.
pub(crate) fn resolve(bounds: Bounds, value: i128, size: usize) -> Result<Option<usize>, ()> {
    let size = size as i128;
    let mut at = value;
    if bounds.ignored == Some(value) {
        return Ok(None);
    }
    if at < 0 && bounds.negative == Negative::Drop {
        return Ok(None);
    }
    if at < 0 && bounds.negative == Negative::Wrap {
        at += size;
    }
    if (0..size).contains(&at) {
        return Ok(Some(at as usize));
    }
    match bounds.out_of_range {
        OutOfRange::Drop => Ok(None),
        OutOfRange::Clip if size > 0 => Ok(Some(if at < 0 { 0 } else { size as usize - 1 })),
        _ => Err(()),
    }
}

/// How updates join their cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Join {
    Assign,
    Sum,
    Sub,
    Div,
    /// The cell and its updates, divided by the number of updates.
    Mean,
    /// Likewise, integers rounded toward zero.
    MeanTowardZero,
    /// Likewise, divided by the square root of that number.
    ByRoot,
}

impl Join {
    /// What is made of a cell's total and number of updates.
    fn finish(self, fold: Fold, out: &mut Outcome) {
        fold.finish_by(&mut out.array, |total, count| match self {
            Self::Mean => total.divide(count),
            Self::MeanTowardZero => total.divide_toward_zero(count),
            Self::ByRoot => total.divide_by_root(count),
            Self::Assign | Self::Sum | Self::Sub | Self::Div => total,
        });
    }
}

/// The position and the component of the first index that names no cell.
pub(crate) type Bad = (Vec<usize>, usize);

/// Tuples of `components` (one array per entry, all of one shape) name the axes `axes`; the other
/// axes of the destination are the window.
pub(crate) fn rows(
    into: &Array,
    components: &[Array],
    axes: &[usize],
    updates: &Array,
    bounds: Bounds,
    join: Join,
) -> Result<Outcome, Bad> {
    let batch = &components[0].shape;
    let window: Vec<usize> = (0..into.shape.len())
        .filter(|a| !axes.contains(a))
        .collect();
    let sizes: Vec<usize> = window.iter().map(|&a| into.shape[a]).collect();
    let mut out = Outcome::untouched(into.clone());
    let mut fold = Fold::new(into);
    for (at, b) in coordinates(batch).enumerate() {
        let mut cell = vec![0; into.shape.len()];
        let mut kept = true;
        for (k, (component, &axis)) in components.iter().zip(axes).enumerate() {
            match resolve(bounds, component.int(at), into.shape[axis]) {
                Ok(Some(to)) => cell[axis] = to,
                Ok(None) => kept = false,
                Err(()) => return Err((b, k)),
            }
        }
        if !kept {
            continue;
        }
        for w in coordinates(&sizes) {
            for (&axis, &k) in window.iter().zip(&w) {
                cell[axis] = k;
            }
            let from = updates.flat(&[&b[..], &w[..]].concat());
            put(&mut out, &mut fold, &cell, updates, from, join);
        }
    }
    join.finish(fold, &mut out);
    Ok(out)
}

/// Each element of the updates has its own index along `axis`.
pub(crate) fn elements(
    into: &Array,
    index: &Array,
    axis: usize,
    updates: &Array,
    bounds: Bounds,
    join: Join,
) -> Result<Outcome, Bad> {
    let mut out = Outcome::untouched(into.clone());
    let mut fold = Fold::new(into);
    for (at, c) in coordinates(&index.shape).enumerate() {
        let mut cell = c.clone();
        match resolve(bounds, index.int(at), into.shape[axis]) {
            Ok(Some(to)) => cell[axis] = to,
            Ok(None) => continue,
            Err(()) => return Err((c, 0)),
        }
        put(&mut out, &mut fold, &cell, updates, at, join);
    }
    join.finish(fold, &mut out);
    Ok(out)
}

/// Update `c` goes to the cell `start + c * step`.
pub(crate) fn affine(
    into: &Array,
    start: &[usize],
    step: &[isize],
    updates: &Array,
    join: Join,
) -> Outcome {
    let mut out = Outcome::untouched(into.clone());
    let mut fold = Fold::new(into);
    for (at, c) in coordinates(&updates.shape).enumerate() {
        let along = |axis: usize| start[axis].wrapping_add_signed(c[axis] as isize * step[axis]);
        let cell: Vec<usize> = (0..c.len()).map(along).collect();
        put(&mut out, &mut fold, &cell, updates, at, join);
    }
    join.finish(fold, &mut out);
    out
}

fn put(
    out: &mut Outcome,
    fold: &mut Fold,
    cell: &[usize],
    updates: &Array,
    from: usize,
    join: Join,
) {
    let to = out.array.flat(cell);
    let (start, value) = (out.array.num(to), updates.num(from));
    match join {
        Join::Assign => out.array.data[to] = updates.data[from],
        Join::Sub => fold.sub(to, start, value),
        Join::Div => fold.div(to, start, value),
        Join::Sum | Join::Mean | Join::MeanTowardZero | Join::ByRoot => {
            fold.sum(to, start, value);
        }
    }
    out.touched[to] = true;
}
