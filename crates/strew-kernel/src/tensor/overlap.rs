//! Do two strided views share a byte, or one view with itself?
//!
//! Both questions are bounded linear equations. The first element of a pair at byte `p + Σ iₖ·sₖ`,
//! the second at `q + Σ jₖ·tₖ`, each `w` bytes wide, overlap when the difference of the two lies
//! strictly between `-w` and `w`. With the steps made positive and sorted, a depth-first search
//! over the largest step first needs to try only the few multiples that bring the rest within
//! reach, and gcds cut branches that cannot meet. Common layouts are decided at once; the rare
//! one that is not within `BUDGET` counts as overlapping, which is the safe answer.

use crate::tensor::layout::Layout;
use crate::tensor::view::{DynView, DynViewMut};
use smallvec::{SmallVec, smallvec};

/// Branches to try before giving up.
const BUDGET: u32 = 20_000;

/// One unknown: `step · n` with `0 <= n <= most`.
#[derive(Clone, Copy)]
struct Unknown {
    step: i128,
    most: i128,
}

type Unknowns = SmallVec<[Unknown; 4]>;

/// Whether two views that start at addresses `a` and `b` share a byte.
pub fn overlap_each_other(a: usize, left: &Layout, b: usize, right: &Layout) -> bool {
    if left.is_empty() || right.is_empty() {
        return false;
    }
    let (a, b) = (a as i128, b as i128);
    let (left_low, left_high) = left.extent();
    let (right_low, right_high) = right.extent();
    if a + left_high as i128 <= b + right_low as i128
        || b + right_high as i128 <= a + left_low as i128
    {
        return false;
    }
    // left element - right element = (a - b) + Σ i·s - Σ j·t
    let mut start = a - b;
    let mut unknowns = Unknowns::new();
    for (layout, sign) in [(left, 1), (right, -1)] {
        for (&len, &stride) in layout.shape().iter().zip(layout.strides()) {
            push(
                &mut unknowns,
                &mut start,
                sign * stride as i128,
                len as i128 - 1,
            );
        }
    }
    // Overlap: -left size < difference < right size.
    let low = 1 - left.dtype().size() as i128;
    let high = right.dtype().size() as i128 - 1;
    reachable(unknowns, start, low, high)
}

/// Whether a destination shares no byte with a source, no two of its elements share one, and it may
/// hold the source's elements.
///
/// A [`DynViewMut`] made from raw parts may overlap itself or an input, so a loop that copies
/// between two views asks this once before it begins.
pub fn apart(src: &DynView<'_>, dst: &mut DynViewMut<'_>) -> bool {
    let at = dst.as_mut_ptr().addr();
    let layout = dst.layout();
    !overlaps_itself(layout)
        && !overlap_each_other(at, layout, src.as_ptr().addr(), src.layout())
        && dst.may_hold(src)
}

/// Whether two different coordinates of one view share a byte.
pub fn overlaps_itself(layout: &Layout) -> bool {
    if layout.is_empty() || layout.is_contiguous() {
        return false;
    }
    let mut axes: SmallVec<[(i128, i128); 4]> = layout
        .shape()
        .iter()
        .zip(layout.strides())
        .filter(|(len, _)| **len > 1)
        .map(|(&len, &stride)| ((stride as i128).abs(), len as i128 - 1))
        .collect();
    axes.sort_unstable();
    let size = layout.dtype().size() as i128;
    // The common case: every step is beyond all that the smaller steps can reach.
    let mut reach = size;
    let nested = axes.iter().all(|&(step, most)| {
        let clear = step >= reach;
        reach += step * most;
        clear
    });
    if nested {
        return false;
    }
    // Two coordinates that agree before axis `k` and differ by at least 1 on it.
    (0..axes.len()).any(|k| {
        let mut start = axes[k].0;
        let mut unknowns = Unknowns::new();
        push(&mut unknowns, &mut start, axes[k].0, axes[k].1 - 1);
        for &(step, most) in &axes[k + 1..] {
            // A difference of coordinates from -most to most.
            start -= step * most;
            push(&mut unknowns, &mut start, step, 2 * most);
        }
        reachable(unknowns, start, 1 - size, size - 1)
    })
}

/// Adds `step · n`, `0 <= n <= most`, with the sign of the step moved into the start.
fn push(unknowns: &mut Unknowns, start: &mut i128, step: i128, most: i128) {
    if step == 0 || most <= 0 {
        return;
    }
    if step < 0 {
        *start += step * most;
    }
    unknowns.push(Unknown {
        step: step.abs(),
        most,
    });
}

/// Whether `start + Σ step·n` can lie in `low..=high`.
fn reachable(mut unknowns: Unknowns, start: i128, low: i128, high: i128) -> bool {
    unknowns.sort_unstable_by_key(|u| std::cmp::Reverse(u.step));
    // Equal steps are one unknown with a wider range.
    unknowns.dedup_by(|next, kept| {
        let same = next.step == kept.step;
        if same {
            kept.most += next.most;
        }
        same
    });
    // What the unknowns from `k` on can add at most, and what divides everything they add.
    let mut reach: SmallVec<[i128; 5]> = smallvec![0; unknowns.len() + 1];
    let mut divisor: SmallVec<[i128; 5]> = smallvec![0; unknowns.len() + 1];
    for (k, u) in unknowns.iter().enumerate().rev() {
        reach[k] = reach[k + 1] + u.step * u.most;
        divisor[k] = gcd(u.step, divisor[k + 1]);
    }
    let mut budget = BUDGET;
    search(&unknowns, &reach, &divisor, start, (low, high), &mut budget)
}

fn search(
    unknowns: &[Unknown],
    reach: &[i128],
    divisor: &[i128],
    at: i128,
    target: (i128, i128),
    budget: &mut u32,
) -> bool {
    let (low, high) = target;
    let Some(u) = unknowns.first() else {
        return low <= at && at <= high;
    };
    if at > high || at + reach[0] < low {
        return false;
    }
    // Some value congruent to `at` must lie in the target.
    if at + (high - at).div_euclid(divisor[0]) * divisor[0] < low {
        return false;
    }
    // n must leave a rest that the others can make up for.
    let least = (low - reach[1] - at + u.step - 1).div_euclid(u.step).max(0);
    let most = (high - at).div_euclid(u.step).min(u.most);
    let mut n = most;
    while n >= least {
        let Some(left) = budget.checked_sub(1) else {
            return true;
        };
        *budget = left;
        let next = at + n * u.step;
        if search(
            &unknowns[1..],
            &reach[1..],
            &divisor[1..],
            next,
            target,
            budget,
        ) {
            return true;
        }
        n -= 1;
    }
    false
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::dtype::DType;

    fn layout(shape: &[usize], strides: &[isize]) -> Layout {
        Layout::new(DType::U8, shape, strides).unwrap()
    }

    fn bytes(at: usize, layout: &Layout) -> Vec<isize> {
        let mut all = vec![at.cast_signed()];
        for (&len, &stride) in layout.shape().iter().zip(layout.strides()) {
            all = all
                .iter()
                .flat_map(|&b| (0..len.cast_signed()).map(move |i| b + i * stride))
                .collect();
        }
        all
    }

    #[test]
    fn agrees_with_listing_every_byte() {
        let strides = [-7, -3, -1, 0, 1, 2, 3, 4, 6, 7];
        let mut layouts = Vec::new();
        for &s in &strides {
            for &t in &strides {
                layouts.push(layout(&[3, 2], &[s, t]));
            }
        }
        for left in &layouts {
            let all = bytes(100, left);
            let mut distinct = all.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(
                overlaps_itself(left),
                distinct.len() < all.len(),
                "{left:?}"
            );
            for right in layouts.iter().step_by(7) {
                for at in 85..115 {
                    let other = bytes(at, right);
                    let shared = all.iter().any(|b| other.contains(b));
                    assert_eq!(overlap_each_other(100, left, at, right), shared);
                }
            }
        }
    }

    #[test]
    fn columns_of_one_matrix_are_apart() {
        let part = Layout::new(DType::F32, &[1000, 3], &[28, 4]).unwrap();
        let rest = Layout::new(DType::F32, &[1000, 4], &[28, 4]).unwrap();
        assert!(!overlap_each_other(4096, &part, 4096 + 12, &rest));
        assert!(overlap_each_other(4096, &part, 4096 + 8, &rest));
    }

    /// Found by fuzzing: a bool in the last byte of an index was taken for apart from it.
    #[test]
    fn elements_of_different_sizes() {
        let dtypes = [DType::U8, DType::I16, DType::I32, DType::F64, DType::C128];
        let every = |dtype: DType| {
            let size = dtype.size().cast_signed();
            [-2, -1, 0, 1, 3].map(|n| Layout::new(dtype, &[2], &[n * size]).unwrap())
        };
        let all = |at: usize, layout: &Layout| -> Vec<isize> {
            let size = layout.dtype().size().cast_signed();
            let firsts = bytes(at, layout).into_iter();
            firsts.flat_map(|b| b..b + size).collect()
        };
        for left in dtypes.iter().flat_map(|&dtype| every(dtype)) {
            let own = all(100, &left);
            for right in dtypes.iter().flat_map(|&dtype| every(dtype)) {
                for at in 50..150 {
                    let other = all(at, &right);
                    let shared = own.iter().any(|b| other.contains(b));
                    let found = overlap_each_other(100, &left, at, &right);
                    assert_eq!(found, shared, "{left:?} {at} {right:?}");
                }
            }
        }
    }
}
