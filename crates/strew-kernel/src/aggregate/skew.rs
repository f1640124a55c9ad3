//! Skewness and kurtosis, in one pass: the powers of the differences from the mean, by Terriberry's
//! update of them. The first value is taken off all, as for [variances](crate::aggregate::var).

use crate::statistic::cell::Shape;
use crate::statistic::fold::{Fold, put};
use crate::statistic::output::{Results, Row};
use crate::statistic::point::Point;
use crate::statistic::value::Value;
use crate::statistic::what::{Facts, Kind, Order, ResultType, Statistic};

pub(crate) const SKEW: Facts = Facts {
    name: "skew",
    kind: Kind::Real,
    results: ResultType::Real,
    order: Order::Matters,
    ..Facts::USUAL
};

pub(crate) const KURT: Facts = Facts {
    name: "kurt",
    ..SKEW
};

/// Mean and the powers up to the fourth: skew and kurt.
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
pub(crate) fn skew(cell: Shape) -> Option<f64> {
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
pub(crate) fn kurt(cell: Shape) -> Option<f64> {
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
