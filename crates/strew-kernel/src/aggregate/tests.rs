//! Moments and ordered statistics beside their definitions.

use crate::aggregate::median::of_ranks;
use crate::aggregate::mode::{different, mode};
use crate::aggregate::rank::ranks;
use crate::aggregate::skew::{self, Powers};
use crate::aggregate::sort::{places, sort};
use crate::aggregate::topk::top;
use crate::aggregate::var::{Variance, variance};
use crate::statistic::fold::Fold;
use crate::statistic::in_order::{InOrder, Room};
use crate::statistic::value::Value;
use crate::statistic::what::{Between, Statistic, Ties};
use num_complex::Complex64;
use std::cmp::Ordering;

/// One of these statistics of values in their order; `None` of too few values.
pub(crate) fn of_values<T: Value>(values: &[T], statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::Skew | Statistic::Kurt => {
            let mut cell = <Powers as Fold<T>>::START;
            for &value in values {
                Powers::join(&mut cell, value, 0);
            }
            match statistic {
                Statistic::Skew => skew::skew(cell),
                _ => skew::kurt(cell),
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

fn median(order: &mut InOrder<f64>, values: &[f64]) -> Option<f64> {
    of_ranks(Statistic::Median, order, values)
}

fn quantile(order: &mut InOrder<f64>, values: &[f64], q: f64, between: Between) -> Option<f64> {
    of_ranks(Statistic::Quantile(q, between), order, values)
}

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

/// A sequence of small numbers that looks random.
fn numbers(seed: u64, count: usize) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 40
    })
    .take(count)
}

/// Few different values, with both zeros and, if `nan`, different NaN.
fn floats(seed: u64, count: usize, nan: bool) -> Vec<f64> {
    let special = [f64::NAN, -f64::NAN, f64::from_bits(0x7ff8_0000_0000_0001)];
    let of = |n: u64| match n % 11 {
        0 => -0.0,
        1 => 0.0,
        2 if nan => special[(n / 11 % 3) as usize],
        3 => f64::INFINITY,
        4 => f64::NEG_INFINITY,
        _ => (n % 29) as f64 / 4.0 - 3.0,
    };
    numbers(seed, count).map(of).collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The order that values have by their own comparison, NaN last.
fn compared(a: &f64, b: &f64) -> Ordering {
    let last = || a.is_nan().cmp(&b.is_nan());
    a.partial_cmp(b).unwrap_or_else(last)
}

fn with_room<T: Value>() -> InOrder<T> {
    InOrder::with_room(Room::default()).unwrap()
}

#[test]
fn sorted_values_have_the_bits_of_a_stable_sort() {
    for seed in 0..300 {
        let values = floats(seed, (seed % 60) as usize, seed % 2 == 0);
        let mut expected = values.clone();
        expected.sort_by(compared);
        let mut sorted = values.clone();
        sort(&mut with_room(), &values, &mut sorted, false);
        assert_eq!(bits(&sorted), bits(&expected));
        expected = values.clone();
        expected.sort_by(|a, b| match a.is_nan() == b.is_nan() {
            true => compared(b, a),
            false => compared(a, b),
        });
        sort(&mut with_room(), &values, &mut sorted, true);
        assert_eq!(bits(&sorted), bits(&expected));
    }
}

#[test]
fn selected_values_have_the_bits_of_sorted_ones() {
    for seed in 0..300 {
        let values = floats(seed, 1 + (seed % 60) as usize, false);
        let mut sorted = values.clone();
        sorted.sort_by(compared);
        let mut order = with_room();
        for rank in numbers(seed, 9) {
            let rank = rank as usize % values.len();
            let (low, high) = order.pair(&values, rank);
            let next = (rank + 1).min(values.len() - 1);
            assert_eq!(bits(&[low, high]), bits(&[sorted[rank], sorted[next]]));
        }
        let half = values.len() / 2;
        let expected = match values.len() % 2 {
            1 => sorted[half],
            _ => f64::midpoint(sorted[half - 1], sorted[half]),
        };
        let found = median(&mut with_room(), &values).unwrap();
        assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan());
    }
}

#[test]
fn runs_of_equal_values_are_counted() {
    for seed in 0..300 {
        let values = floats(seed, 1 + (seed % 60) as usize, seed % 2 == 0);
        let mut sorted = values.clone();
        sorted.sort_by(compared);
        let runs = sorted.chunk_by(|a, b| compared(a, b).is_eq());
        let runs: Vec<&[f64]> = runs.collect();
        let expected = runs.iter().rev().max_by_key(|run| run.len()).unwrap()[0];
        let mut order = with_room();
        assert_eq!(different(&mut order, &values), runs.len());
        let found = mode(&mut order, &values).unwrap();
        assert_eq!(found.to_bits(), expected.to_bits());
    }
}

#[test]
fn a_nan_is_the_median_and_every_quantile() {
    let values = [1.0, f64::NAN, 2.0];
    assert!(median(&mut with_room(), &values).unwrap().is_nan());
    let quantile = quantile(&mut with_room(), &values, 0.0, Between::Linear);
    assert!(quantile.unwrap().is_nan());
}

#[test]
fn a_quantile_takes_only_the_values_beside_its_place() {
    let (inf, most) = (f64::INFINITY, f64::MAX);
    let cases: [(&[f64], f64, f64); 9] = [
        (&[inf, 5.0, 4.0], 0.5, 5.0),
        (&[-inf, 5.0, 4.0], 0.5, 4.0),
        (&[-inf, 5.0, 4.0], 1.0, 5.0),
        (&[inf, 5.0, 4.0], 0.6, inf),
        (&[-inf, 5.0], 0.25, -inf),
        (&[-inf, 5.0], 0.75, -inf),
        (&[-most, most], 0.5, 0.0),
        (&[-most, most], 0.25, -most * 0.75 + most * 0.25),
        (&[inf, inf], 0.3, inf),
    ];
    for (values, q, expected) in cases {
        let found = quantile(&mut with_room(), values, q, Between::Linear);
        assert_eq!(found, Some(expected), "{values:?} {q}");
    }
    let opposite = quantile(&mut with_room(), &[-inf, inf], 0.5, Between::Linear);
    assert!(opposite.unwrap().is_nan());
}

#[test]
fn a_quantile_between_two_values_follows_its_method() {
    let values = [1.0, 2.0, 4.0, 9.0];
    for (between, at_the_middle, beyond, on_a_value) in [
        (Between::Linear, 3.0, 6.5, 4.0),
        (Between::Lower, 2.0, 4.0, 4.0),
        (Between::Higher, 4.0, 9.0, 4.0),
        // Halfway between the ranks 1 and 2, and between 2 and 3: to the even one.
        (Between::Nearest, 4.0, 4.0, 4.0),
        (Between::Midpoint, 3.0, 6.5, 4.0),
    ] {
        let of = |q| quantile(&mut with_room(), &values, q, between).unwrap();
        assert_eq!(of(0.5), at_the_middle);
        assert_eq!(of(2.5 / 3.0), beyond);
        assert_eq!(of(2.0 / 3.0), on_a_value);
    }
}

#[test]
fn keys_have_the_order_of_their_values() {
    let extremes = [i64::MIN, -1, 0, 1, i64::MAX];
    assert!(extremes.is_sorted_by_key(|value| value.key()));
    assert!(
        extremes
            .iter()
            .all(|&value| i64::of_key(value.key()) == value)
    );
    let complex = [
        (-1.0, 5.0),
        (-0.0, -2.0),
        (0.0, 3.0),
        (0.0, 4.0),
        (2.0, f64::NAN),
    ];
    let complex = complex.map(|(re, im)| Complex64::new(re, im));
    assert!(complex.is_sorted_by_key(|value| value.key()));
    let mut sorted = complex;
    let reversed: Vec<_> = complex.iter().rev().copied().collect();
    sort(&mut with_room(), &reversed, &mut sorted, false);
    assert_eq!(sorted[..4], complex[..4]);
    assert!(sorted[1].re.is_sign_negative() && sorted[4].im.is_nan());
}

#[test]
fn the_first_in_order_come_with_the_first_of_equal_ones() {
    let values = [3.0, f64::NAN, 1.0, 3.0, -0.0, 0.0];
    let top = |count, largest| top(&mut with_room(), &values, count, largest).collect::<Vec<_>>();
    assert_eq!(top(4, true), [1, 0, 3, 2]);
    assert_eq!(top(9, false), [4, 5, 2, 0, 3, 1]);
    assert_eq!(top(2, false), [4, 5]);
    assert_eq!(
        places(&mut with_room(), &values).collect::<Vec<_>>(),
        [4, 5, 2, 0, 3, 1]
    );
}

#[test]
fn equal_values_share_their_ranks() {
    let values = [3.0, f64::NAN, 1.0, 3.0, f64::NAN];
    for (ties, expected) in [
        (Ties::Average, [2.5, 4.5, 1.0, 2.5, 4.5]),
        (Ties::Min, [2.0, 4.0, 1.0, 2.0, 4.0]),
        (Ties::Max, [3.0, 5.0, 1.0, 3.0, 5.0]),
        (Ties::Dense, [2.0, 3.0, 1.0, 2.0, 3.0]),
        (Ties::Ordinal, [2.0, 4.0, 1.0, 3.0, 5.0]),
    ] {
        let mut found = [0.0; 5];
        ranks(&mut with_room(), &values, ties, |place, rank| {
            found[place] = rank
        });
        assert_eq!(found, expected);
    }
}
