//! Rows of few bytes or elements, which have loops that read the index themselves: gathers, maxima
//! and counts. A naive loop says what they are to make.

use strew::scatter::{Destinations, Reduction, Scatter, Start, Target};
use strew::{
    Bounds, Combine, DynTensor, DynView, Element, GatherOptions, Nan, Problem, Strategy, Tensor,
    TensorView, gather_dyn,
};

/// A number below `limit` for each `k`, in no order.
fn spread(k: usize, limit: usize) -> usize {
    (k.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) % limit
}

fn view<'a, T: Element>(values: &'a [T], shape: &[usize]) -> DynView<'a> {
    TensorView::from_slice(values, shape).unwrap().into_dyn()
}

/// An index of both types that have such loops.
fn indices(values: &[i64]) -> [DynTensor; 2] {
    let narrow: Vec<i32> = values.iter().map(|&v| v as i32).collect();
    let shape = [values.len()];
    [view(values, &shape), view(&narrow, &shape)].map(|index| index.to_tensor().unwrap())
}

const ROWS: usize = 37;

fn options(bounds: Bounds) -> GatherOptions {
    GatherOptions {
        bounds,
        fill_value: None,
    }
}

#[test]
fn gathers_of_rows_of_every_few_bytes() {
    // One more than a whole number of eights.
    let picks: Vec<i64> = (0..201).map(|k| spread(k, ROWS) as i64).collect();
    let from_end: Vec<i64> = (0..201)
        .map(|k| spread(k, 2 * ROWS) as i64 - ROWS as i64)
        .collect();
    for bytes in 1..=17 {
        let bytes_of_rows: Vec<u8> = (0..ROWS * bytes).map(|k| spread(k, 256) as u8).collect();
        let src = view(&bytes_of_rows, &[ROWS, bytes]);
        for (mode, values) in [("error", &picks), ("wrap", &picks), ("wrap", &from_end)] {
            let row = |&v: &i64| v.rem_euclid(ROWS as i64) as usize * bytes;
            let expected: Vec<u8> = values
                .iter()
                .flat_map(|v| bytes_of_rows[row(v)..][..bytes].to_vec())
                .collect();
            let bounds: Bounds = mode.parse().unwrap();
            for index in indices(values) {
                let made = gather_dyn(src.clone(), index.view(), 0, options(bounds)).unwrap();
                assert!(made.as_bytes() == expected, "{bytes} bytes, {mode}");
            }
        }
    }
}

#[test]
fn gathers_refuse_what_names_no_row() {
    let src = view(&[0u32; ROWS], &[ROWS]);
    let rows = ROWS as i64;
    for (mode, wrong) in [
        ("error", -1),
        ("error", rows),
        ("wrap", -rows - 1),
        ("wrap", rows),
        ("wrap", i64::from(i32::MIN)),
    ] {
        for position in [0, 7, 63, 128, 129] {
            let mut values = vec![0; 130];
            values[position] = wrong;
            let bounds: Bounds = mode.parse().unwrap();
            for index in indices(&values) {
                let made = gather_dyn(src.clone(), index.view(), 0, options(bounds));
                match made.unwrap_err().problem() {
                    Problem::IndexOutOfBounds {
                        position: at,
                        value,
                        ..
                    } => {
                        assert_eq!(
                            (at.as_slice(), value.integer()),
                            (&[position][..], Some(wrong.into()))
                        );
                    }
                    other => panic!("{other}"),
                }
            }
        }
    }
}

#[test]
fn gathers_of_elements_along_each_axis() {
    let (planes, rows, columns) = (3, 5, 70);
    let src: Vec<u64> = (0..planes * rows * columns).map(|k| k as u64).collect();
    let src = view(&src, &[planes, rows, columns]);
    let sizes = [planes, rows, columns];
    for (dim, &size) in sizes.iter().enumerate() {
        let index: Vec<i64> = (0..planes * rows * columns)
            .map(|k| spread(k, size) as i64)
            .collect();
        let at = view(&index, &sizes);
        let made = gather_dyn(src.clone(), at, dim as i64, GatherOptions::default());
        let made = made.unwrap();
        let step = sizes[dim + 1..].iter().product::<usize>();
        for (k, (&made, &at)) in made
            .typed::<u64>()
            .unwrap()
            .as_slice()
            .iter()
            .zip(&index)
            .enumerate()
        {
            let along = k / step % size;
            assert_eq!(made as usize, k - along * step + at as usize * step);
        }
    }
}

/// Maxima and minima by the loop of each strategy; the bits must be those of the naive loop.
fn extremes<T: Element + PartialOrd>(rows: usize, width: usize, index: &[i64], values: &[T]) {
    let src = view(values, &[index.len(), width]);
    let nan = |v: T| v.partial_cmp(&v).is_none();
    for (combine, max) in [
        (Combine::Max(Nan::Propagate), true),
        (Combine::Min(Nan::Propagate), false),
    ] {
        let mut expected = Tensor::<T>::zeros(&[rows, width]).unwrap();
        let cells = expected.as_mut_slice();
        for (&row, values) in index.iter().zip(values.chunks(width)) {
            for (cell, &value) in cells[row as usize * width..].iter_mut().zip(values) {
                let better = if max { *cell < value } else { value < *cell };
                if better || nan(value) {
                    *cell = value;
                }
            }
        }
        let expected = expected.into_dyn();
        for index in indices(index) {
            for forced in [None, Some(Strategy::Grouped)] {
                let shape = [rows, width];
                let at: DynView<'_> = index.view();
                let at = Destinations::rows(&shape, "index", &[at], &[0], None, Bounds::STRICT);
                let target = Target::New {
                    dtype: T::DTYPE,
                    start: Start::Zero,
                };
                let reduction = Reduction::into_self(combine);
                let scatter = Scatter::new(at.unwrap(), reduction, "src", src.clone(), target);
                let scatter = scatter.unwrap();
                let made = scatter.with_strategy(forced).run().unwrap().tensor.unwrap();
                let same = made.as_bytes() == expected.as_bytes();
                assert!(same, "{} of {width}, {combine:?}, {forced:?}", T::DTYPE);
            }
        }
    }
}

#[test]
fn extremes_of_narrow_rows_are_those_of_the_loop() {
    let rows = 50;
    for width in 2..=33 {
        let mut index: Vec<i64> = (0..301).map(|k| spread(k, rows) as i64).collect();
        for sorted in [false, true] {
            if sorted {
                index.sort_unstable();
            }
            let of = |k: usize| spread(k, 19) as i64 - 9;
            let count = index.len() * width;
            let whole: Vec<i64> = (0..count).map(of).collect();
            let floats: Vec<f32> = whole
                .iter()
                .enumerate()
                .map(|(k, &v)| match (k % 97, v) {
                    (5, _) => f32::NAN,
                    (_, 0) => -0.0,
                    (_, v) => v as f32,
                })
                .collect();
            let doubles: Vec<f64> = floats.iter().map(|&v| f64::from(v)).collect();
            let ints: Vec<i32> = whole.iter().map(|&v| v as i32).collect();
            extremes(rows, width, &index, &floats);
            extremes(rows, width, &index, &doubles);
            extremes(rows, width, &index, &ints);
            extremes(rows, width, &index, &whole);
        }
    }
}

/// Numbers that are counted.
const MANY: usize = 1 << 20;

#[test]
fn counts_have_a_bin_for_the_largest_number() {
    let mut numbers: Vec<i32> = (0..MANY).map(|k| spread(k, 300) as i32).collect();
    // At neither end.
    let hidden = MANY / 2 + 77;
    for most in [0, 299, 1000, 5] {
        numbers[hidden] = most;
        for least in [0, 300, 700, 2000] {
            let mut expected =
                vec![0i64; least.max(1 + numbers.iter().max().map_or(0, |&m| m as usize))];
            for &number in &numbers {
                expected[number as usize] += 1;
            }
            let x = TensorView::from(&numbers).into_dyn();
            let made = strew::numpy::bincount_dyn(x, None, least as i64, None, None);
            let made = made.unwrap().unwrap();
            assert!(
                made.typed::<i64>().unwrap().as_slice() == expected,
                "{most}, {least}"
            );
        }
    }
    numbers[hidden] = -1;
    let x = TensorView::from(&numbers).into_dyn();
    let error = strew::numpy::bincount_dyn(x, None, 0, None, None).unwrap_err();
    let Problem::IndexOutOfBounds {
        position, value, ..
    } = error.problem()
    else {
        panic!("{error}");
    };
    assert_eq!(
        (position.as_slice(), value.integer()),
        (&[hidden][..], Some(-1))
    );
}
