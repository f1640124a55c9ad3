//! Moments of groups in one pass: variance, standard deviation and error, skewness, kurtosis.
//!
//! ```text
//! record = (count 0, first, mean 0, squares 0)
//! for each value:
//!     count += 1; first = the value if it is the first
//!     apart = (value - first) - mean
//!     mean += apart / count
//!     squares += apart * ((value - first) - mean)
//! variance = squares / (count - ddof)
//! ```
//!
//! This is Welford's update of the differences from the first value. Taking that value off first
//! keeps the mean small, so data that are far from zero lose no digits. Of finite values whose
//! differences overflow, the squares are infinite. Differences of integers are
//! computed as integers, from the float nearest to the first one. Powers beyond the second are
//! Terriberry's. A chunk that follows another goes on with its record, with the bits of one pass.
//!
//! Cost: one division per value.

use crate::group_stats::cell::{Cell, Shape, Spread};
use crate::group_stats::output::{Results, Row};
use crate::group_stats::point::Point;
use crate::group_stats::running::{Fold, put};
use crate::group_stats::statistics::{Statistic, Value};

/// Mean and squared differences: var, std and sem.
pub(crate) struct Variance;

impl<T: Value> Fold<T> for Variance
where
    T::Point: Cell,
{
    type Cell = Spread<T::Point>;
    const START: Spread<T::Point> = Spread {
        count: 0.0,
        first: T::Point::ORIGIN,
        mean: T::Point::ORIGIN,
        squares: 0.0,
    };

    #[inline(always)]
    fn join(cell: &mut Spread<T::Point>, value: T, _: usize) {
        let count = cell.count + 1.0;
        let first = match cell.count == 0.0 {
            true => T::Point::of(value.complex()),
            false => cell.first,
        };
        let given = value;
        let value = value.apart(first);
        let apart = value.minus(cell.mean);
        let mean = cell.mean.plus(apart.divided(count));
        let mut squares = cell.squares + apart.dot(value.minus(mean));
        // Differences of finite values that overflow: so does their variance.
        if squares.is_nan() && !cell.squares.is_nan() && given.complex().is_finite() {
            squares = f64::INFINITY;
        }
        *cell = Spread {
            count,
            first,
            mean,
            squares,
        };
    }

    fn finish(cells: &[Spread<T::Point>], statistic: Statistic, row: &mut Row<T>) {
        if let Results::Real(to) = &mut row.numbers {
            put(cells, to, &mut row.set, |cell| variance(cell, statistic));
        }
    }
}

/// What is made of a variance's moments; `None` of too few values.
pub(crate) fn variance<P>(cell: Spread<P>, statistic: Statistic) -> Option<f64> {
    let of = |ddof: f64| {
        let enough = cell.count > 0.0 && cell.count > ddof;
        enough.then(|| cell.squares / (cell.count - ddof))
    };
    match statistic {
        Statistic::Var { ddof } => of(ddof),
        Statistic::Std { ddof } => of(ddof).map(f64::sqrt),
        Statistic::Sem { ddof } => of(ddof).map(|variance| (variance / cell.count).sqrt()),
        _ => None,
    }
}

/// Mean and the powers up to the fourth: skew and kurt. Of complex numbers the real parts.
pub(crate) struct Powers;

impl<T: Value> Fold<T> for Powers {
    type Cell = Shape;
    const START: Shape = Shape {
        count: 0.0,
        first: 0.0,
        mean: 0.0,
        squares: 0.0,
        cubes: 0.0,
        fourths: 0.0,
    };

    #[inline(always)]
    fn join(cell: &mut Shape, value: T, _: usize) {
        let before = cell.count;
        let count = before + 1.0;
        let first = match before == 0.0 {
            true => value.complex().re,
            false => cell.first,
        };
        let value = value.apart(T::Point::of(first.into())).real();
        let apart = value - cell.mean;
        let step = apart / count;
        let square = apart * step * before;
        let fourths = square * step * step * (count * count - 3.0 * count + 3.0)
            + 6.0 * step * step * cell.squares
            - 4.0 * step * cell.cubes;
        let cubes = square * step * (count - 2.0) - 3.0 * step * cell.squares;
        *cell = Shape {
            count,
            first,
            mean: cell.mean + step,
            squares: cell.squares + square,
            cubes: cell.cubes + cubes,
            fourths: cell.fourths + fourths,
        };
    }

    fn finish(cells: &[Shape], statistic: Statistic, row: &mut Row<T>) {
        if let Results::Real(to) = &mut row.numbers {
            put(cells, to, &mut row.set, |cell| match statistic {
                Statistic::Skew => skew(cell),
                Statistic::Kurt => kurt(cell),
                _ => None,
            });
        }
    }
}

/// The adjusted Fisher-Pearson skewness G1, as pandas has it; 0 if all values are equal.
fn skew(cell: Shape) -> Option<f64> {
    let (n, squares) = (cell.count, cell.squares);
    if n < 3.0 {
        return None;
    }
    if squares == 0.0 {
        return Some(0.0);
    }
    let adjusted = n * (n - 1.0).sqrt() / (n - 2.0);
    Some(adjusted * (cell.cubes / (squares * squares.sqrt())))
}

/// The unbiased excess kurtosis G2, as pandas has it; 0 if all values are equal.
fn kurt(cell: Shape) -> Option<f64> {
    let (n, squares) = (cell.count, cell.squares);
    if n < 4.0 {
        return None;
    }
    if squares == 0.0 {
        return Some(0.0);
    }
    let rest = (n - 2.0) * (n - 3.0);
    let normal = 3.0 * (n - 1.0) * (n - 1.0) / rest;
    Some(n * (n + 1.0) * (n - 1.0) * cell.fourths / (rest * squares * squares) - normal)
}

/// One of these statistics of values in their order; `None` of too few values.
#[cfg(test)]
pub(crate) fn of_values<T: Value>(values: &[T], statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::Skew | Statistic::Kurt => {
            let mut cell = <Powers as Fold<T>>::START;
            for &value in values {
                Powers::join(&mut cell, value, 0);
            }
            match statistic {
                Statistic::Skew => skew(cell),
                _ => kurt(cell),
            }
        }
        _ => {
            let mut cell = <Variance as Fold<T>>::START;
            for &value in values {
                Variance::join(&mut cell, value, 0);
            }
            variance(cell, statistic)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::of_values;
    use crate::group_stats::statistics::Statistic;

    fn close(found: f64, expected: f64) {
        let apart = (found - expected).abs() / expected.abs();
        assert!(apart < 1e-12, "{found} instead of {expected}");
    }

    #[test]
    fn values_far_from_zero_keep_their_digits() {
        let small: Vec<f64> = (0..4000).map(|n| f64::from(n * 7919 % 1021)).collect();
        let var = Statistic::Var { ddof: 1.0 };
        for statistic in [var, Statistic::Skew, Statistic::Kurt] {
            let expected = of_values(&small, statistic).unwrap();
            for offset in [1e6, 1e9, -1e12] {
                let far: Vec<f64> = small.iter().map(|value| value + offset).collect();
                close(of_values(&far, statistic).unwrap(), expected);
            }
        }
    }

    #[test]
    fn integers_that_no_float_holds_keep_their_differences() {
        let var = Statistic::Var { ddof: 0.0 };
        assert_eq!(of_values(&[1i64 << 60, (1 << 60) + 1], var), Some(0.25));
        assert_eq!(of_values(&[i64::MIN, i64::MIN + 3], var), Some(2.25));
        assert_eq!(of_values(&[u64::MAX, u64::MAX - 4], var), Some(4.0));
        let small = [3i64, 1, 4, 1, 5];
        let far = small.map(|value| value + (1 << 61));
        for statistic in [Statistic::Skew, Statistic::Kurt] {
            let expected = of_values(&small, statistic).unwrap();
            close(of_values(&far, statistic).unwrap(), expected);
        }
    }

    #[test]
    fn a_variance_that_overflows_is_infinite() {
        let var = Statistic::Var { ddof: 0.0 };
        let far = [-1.7e308, 1.7e308, 0.0, 1.7e308];
        for count in 2..=far.len() {
            assert_eq!(of_values(&far[..count], var), Some(f64::INFINITY));
        }
        for odd in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            for at in 0..far.len() {
                let mut values = far;
                values[at] = odd;
                assert!(of_values(&values, var).is_some_and(f64::is_nan));
            }
        }
    }

    #[test]
    fn moments_of_a_few_values_are_known() {
        let values = [1.0, 2.0, 3.0, 10.0];
        let of = |statistic| of_values(&values, statistic).unwrap();
        close(of(Statistic::Var { ddof: 0.0 }), 12.5);
        close(of(Statistic::Std { ddof: 0.0 }), 12.5f64.sqrt());
        close(of(Statistic::Sem { ddof: 1.0 }), (50.0f64 / 12.0).sqrt());
        // Of pandas.
        close(of(Statistic::Skew), 1.763_632_614_803_888);
        close(of(Statistic::Kurt), 3.228);
        assert_eq!(of_values(&values[..2], Statistic::Skew), None);
        assert_eq!(of_values(&values[..3], Statistic::Kurt), None);
        assert_eq!(of_values(&[5.0; 4], Statistic::Kurt), Some(0.0));
    }
}
