//! Runs long enough for rows to be joined by the rule of their index many at a time, with more and
//! fewer values that are not used as they are.

use strew::{Bounds, Element, Index, Reduce, ScatterOptions, Tensor, scatter};

/// Cells, and the value that is ignored where one is.
const CELLS: i64 = 37;
const IGNORED: i64 = 5;

/// Rules, and the cell that each gives to a value.
type Rule = (Bounds, fn(i64) -> Option<i64>);

fn rules() -> [Rule; 5] {
    let ignored = |value: i64| Bounds {
        ignored: Some(value.into()),
        ..Bounds::STRICT
    };
    [
        (Bounds::DROP, |v| (0..CELLS).contains(&v).then_some(v)),
        (Bounds::CLIP, |v| Some(v.clamp(0, CELLS - 1))),
        (Bounds::WRAP, |v| Some(if v < 0 { v + CELLS } else { v })),
        (ignored(IGNORED), |v| (v != IGNORED).then_some(v)),
        (ignored(CELLS), |v| (v != CELLS).then_some(v)),
    ]
}

/// Numbers that look random, below `below`.
fn random(state: &mut u64, below: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    (*state >> 33) % below
}

/// An index of which one value in `one_of` is not a cell's number as it is, for rule `rule`.
fn index(count: usize, rule: usize, one_of: u64) -> Vec<i64> {
    let mut state = one_of + rule as u64;
    (0..count)
        .map(|_| {
            let row = random(&mut state, CELLS as u64) as i64;
            if random(&mut state, one_of) > 0 {
                return row;
            }
            match rule {
                0 | 1 => [-1 - row, CELLS + row][row as usize % 2],
                2 => row - CELLS,
                3 => IGNORED,
                _ => CELLS,
            }
        })
        .collect()
}

/// Sums of rows by each rule are the loop over the updates, bit for bit.
fn check<T, I>(element: impl Fn(u64) -> T, add: fn(T, T) -> T, narrow: impl Fn(i64) -> I)
where
    T: Element + PartialEq + Default,
    I: Index,
{
    for (width, count) in [
        (1, 40_000),
        (2, 20_000),
        (3, 9000),
        (8, 9000),
        (16, 4000),
        (40, 3000),
    ] {
        let mut state = 3;
        let mut src = Tensor::<T>::zeros(&[count, width]).unwrap();
        for value in src.as_mut_slice() {
            *value = element(random(&mut state, 1000));
        }
        for (rule, (bounds, cell)) in rules().into_iter().enumerate() {
            for one_of in [2, 20, 500, 5000, 1 << 40] {
                let index = index(count, rule, one_of);
                let mut sums = vec![T::default(); CELLS as usize * width];
                for (row, &value) in src.as_slice().chunks(width).zip(&index) {
                    let Some(cell) = cell(value) else { continue };
                    let cells = &mut sums[cell as usize * width..][..width];
                    for (cell, &value) in cells.iter_mut().zip(row) {
                        *cell = add(*cell, value);
                    }
                }
                let options = ScatterOptions {
                    dim_size: Some(CELLS as usize),
                    bounds,
                    ..ScatterOptions::default()
                };
                let index: Vec<I> = index.into_iter().map(&narrow).collect();
                let made = scatter(src.view(), &index, 0, Reduce::Sum, options).unwrap();
                assert!(
                    made.as_slice() == sums,
                    "{bounds:?}, 1 of {one_of}, width {width}"
                );
            }
        }
    }
}

#[test]
#[allow(clippy::cast_precision_loss)]
fn of_float32_and_int64() {
    check(|n| 1.0 + n as f32 / 7.0, |a, b| a + b, |v| v);
}

#[test]
#[allow(clippy::cast_precision_loss)]
fn of_float64_and_int32() {
    let narrow = |v| i32::try_from(v).unwrap();
    check(|n| 1.0 + n as f64 / 7.0, |a, b| a + b, narrow);
}

#[test]
fn of_int16_and_int8() {
    let narrow = |v| i8::try_from(v).unwrap();
    check(|n| n as i16, i16::wrapping_add, narrow);
}

#[test]
fn a_value_that_no_rule_takes_is_found_behind_those_that_one_takes() {
    let src = vec![1.0f32; 40_000];
    let mut index = index(src.len(), 2, 20);
    index[39_000] = CELLS;
    let options = ScatterOptions {
        dim_size: Some(CELLS as usize),
        bounds: Bounds::WRAP,
        ..ScatterOptions::default()
    };
    let error = scatter(&src, &index, 0, Reduce::Sum, options).unwrap_err();
    assert!(error.to_string().contains("index[39000] = 37"), "{error}");
}
