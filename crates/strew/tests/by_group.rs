//! Calls that sort their updates by row first, because the rows are far apart: how they are chosen, and what they make.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use strew::scatter::{Destinations, Finish, Init, Reduction, Scatter, Start, Target};
use strew::{
    Bounds, Combine, DType, Nan, Negative, OutOfRange, Plan, PlanIntoOptions, Problem, Reduce,
    Strategy, Tensor, TensorView, Way,
};

/// Limits are those of the whole process.
static ONE: Mutex<()> = Mutex::new(());

const WIDTH: usize = 64;

/// A destination of 17 MiB for several threads, and one of 34 MiB for one.
const ROWS: [usize; 2] = [70_000, 140_000];

/// Index values in no order; a few rows get none, and the last one many.
fn index(updates: usize, rows: usize) -> Vec<i64> {
    let mut state = 5u64;
    let mut row = |k: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        match k % 50 {
            0 => rows - 1,
            _ => 3 + (state >> 33) as usize % (rows - 5),
        }
    };
    (0..updates).map(|k| row(k) as i64).collect()
}

fn values(len: usize, times: usize) -> Tensor<f32> {
    let mut made = Tensor::<f32>::zeros(&[len, WIDTH]).unwrap();
    for (n, value) in made.as_mut_slice().iter_mut().enumerate() {
        *value = (n * times % 1013) as f32 / 16.0 - 20.0;
    }
    made
}

/// Each update in order into the cells of `start`, and how many each row got.
fn naive(
    start: &[f32],
    index: &[i64],
    src: &[f32],
    anew: Option<f32>,
    join: impl Fn(f32, f32) -> f32,
) -> (Vec<f32>, Vec<f32>) {
    let mut cells = start.to_vec();
    let mut counts = vec![0.0; start.len() / WIDTH];
    for (&row, values) in index.iter().zip(src.chunks(WIDTH)) {
        let row = row as usize;
        let cells = &mut cells[row * WIDTH..(row + 1) * WIDTH];
        if let Some(anew) = anew.filter(|_| counts[row] == 0.0) {
            cells.fill(anew);
        }
        counts[row] += 1.0;
        for (cell, &value) in cells.iter_mut().zip(values) {
            *cell = join(*cell, value);
        }
    }
    (cells, counts)
}

fn scatter<'a>(
    index: &'a [i64],
    src: &'a Tensor<f32>,
    rows: usize,
    reduction: Reduction,
    target: Target<'a>,
) -> Scatter<'a> {
    let index = TensorView::from(index).into_dyn();
    let shape = [rows, WIDTH];
    let destinations = Destinations::rows(&shape, "index", &[index], &[0], None, Bounds::STRICT);
    let src = src.view().into_dyn();
    Scatter::new(destinations.unwrap(), reduction, "src", src, target).unwrap()
}

fn anew(start: Start<'_>) -> Target<'_> {
    Target::New {
        dtype: DType::F32,
        start,
    }
}

fn into(cells: &mut Tensor<f32>) -> Target<'_> {
    Target::InPlace {
        argument: "cells",
        view: cells.view_mut().into_dyn(),
    }
}

#[test]
fn results_are_those_of_the_loop() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    // New memory would be zeros without being cleared; that of a result that was dropped is not.
    strew::set_kept_memory(Some(1 << 30));
    let max = Combine::Max(Nan::Propagate);
    let add = |a: f32, b: f32| a + b;
    for (threads, rows) in [(1, ROWS[1]), (2, ROWS[0]), (3, ROWS[0])] {
        strew::set_num_threads(NonZeroUsize::new(threads));
        let index = index(8 * rows, rows);
        let src = values(index.len(), 1);
        let old = values(rows, 7);
        let (src_values, zeros) = (src.as_slice(), vec![0.0; rows * WIDTH]);
        let check = |scatter: Scatter<'_>, expected: &[f32], what: &str| {
            assert_eq!(
                scatter.execution().unwrap().strategy(),
                Strategy::Grouped,
                "{what}"
            );
            let made = scatter.run().unwrap().tensor;
            if let Some(made) = made {
                let cells = made.as_bytes().chunks_exact(4).zip(expected);
                let same = cells
                    .filter(|(cell, value)| **cell == value.to_ne_bytes())
                    .count();
                assert_eq!(same, expected.len(), "{what}, {threads} threads");
            }
        };
        let sum = Reduction::into_self(Combine::Sum);
        let (expected, counts) = naive(&zeros, &index, src_values, None, add);
        check(
            scatter(&index, &src, rows, sum, anew(Start::Zero)),
            &expected,
            "sum",
        );
        let mean = Reduction {
            finish: Finish::Mean { count_self: false },
            ..sum
        };
        let means = expected.iter().zip(0..);
        let means: Vec<f32> = means
            .map(|(sum, n): (_, usize)| sum / counts[n / WIDTH].max(1.0))
            .collect();
        check(
            scatter(&index, &src, rows, mean, anew(Start::Zero)),
            &means,
            "mean",
        );

        let old_view = old.view().into_dyn();
        for (combine, first, what) in [(Combine::Sum, 0.0, "sum"), (max, f32::NEG_INFINITY, "max")]
        {
            for init in [Init::Current, Init::Identity] {
                let reduction = Reduction {
                    init,
                    ..Reduction::into_self(combine)
                };
                let alone = (init == Init::Identity).then_some(first);
                let join = move |a: f32, b: f32| if combine == max { a.max(b) } else { a + b };
                let (expected, _) = naive(old.as_slice(), &index, src_values, alone, join);
                let copied = anew(Start::CopyOf(old_view.clone()));
                check(
                    scatter(&index, &src, rows, reduction, copied),
                    &expected,
                    what,
                );
                let mut cells = values(rows, 7);
                check(
                    scatter(&index, &src, rows, reduction, into(&mut cells)),
                    &expected,
                    what,
                );
                assert!(
                    cells.as_slice() == expected,
                    "{what} in place, {threads} threads"
                );
            }
        }
    }
    strew::set_num_threads(None);
    strew::set_kept_memory(None);
}

#[test]
fn rows_that_are_near_or_in_order_go_in_order() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let sum = Reduction::into_self(Combine::Sum);
    let chosen = |index: &[i64], rows: usize, threads: usize| {
        strew::set_num_threads(NonZeroUsize::new(threads));
        let src = Tensor::<f32>::zeros(&[index.len(), WIDTH]).unwrap();
        let scatter = scatter(index, &src, rows, sum, anew(Start::Zero));
        scatter.execution().unwrap().strategy()
    };
    let (small, large) = (ROWS[0], ROWS[1]);
    assert_eq!(
        chosen(&index(4 * small, small), small, 2),
        Strategy::Grouped
    );
    assert_eq!(
        chosen(&index(4 * small - 1, small), small, 2),
        Strategy::InOrder
    );
    assert_eq!(
        chosen(&index(8 * small, small), small, 1),
        Strategy::InOrder
    );
    assert_eq!(
        chosen(&index(4 * large, large), large, 1),
        Strategy::InOrder
    );
    assert_eq!(
        chosen(&index(8 * large, large), large, 1),
        Strategy::Grouped
    );
    let mut sorted = index(4 * small, small);
    sorted.sort_unstable();
    assert_eq!(chosen(&sorted, small, 2), Strategy::InOrder);
    // Unless there are so many that none are in a cache.
    let mut sorted = index(4 * large, large);
    sorted.sort_unstable();
    assert_eq!(chosen(&sorted, large, 2), Strategy::Grouped);
    let last = sorted.len() - 1;
    sorted.swap(0, last);
    assert_eq!(chosen(&sorted, large, 2), Strategy::InOrder);
    let few: Vec<i64> = index(4 * small, 20_000);
    assert_eq!(chosen(&few, small, 2), Strategy::InOrder);
    strew::set_num_threads(None);
}

#[test]
fn nothing_is_changed_by_a_wrong_index_and_groups_without_memory_are_done_without() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    strew::set_num_threads(NonZeroUsize::new(2));
    let rows = ROWS[0];
    let sum = Reduction::into_self(Combine::Sum);
    let (mut index, src) = (index(4 * rows, rows), values(4 * rows, 1));
    let old = values(rows, 7);
    let (expected, _) = naive(old.as_slice(), &index, src.as_slice(), None, |a, b| a + b);

    let (mut cells, mut others) = (values(rows, 7), values(rows, 7));
    strew::set_memory_limit(Some(100));
    let in_place = scatter(&index, &src, rows, sum, into(&mut cells));
    assert_eq!(in_place.execution().unwrap().strategy(), Strategy::Grouped);
    in_place.run().unwrap();
    assert!(cells.as_slice() == expected);
    // Who asks for groups is told.
    let in_place = scatter(&index, &src, rows, sum, into(&mut others));
    let error = in_place.with_strategy(Some(Strategy::Grouped)).run();
    assert!(matches!(error.unwrap_err(), Problem::Memory { .. }));
    assert!(others.as_slice() == old.as_slice());
    strew::set_memory_limit(None);

    let last = index.len() - 1;
    index[last] = rows as i64;
    let error = scatter(&index, &src, rows, sum, into(&mut others)).run();
    match error.unwrap_err() {
        Problem::IndexOutOfBounds {
            position, value, ..
        } => assert_eq!((position, value), (vec![last], 70_000.into())),
        other => panic!("{other}"),
    }
    assert!(others.as_slice() == old.as_slice());
    strew::set_num_threads(None);
}

#[test]
fn updates_in_order_are_grouped_on_several_threads() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let rows = 5000;
    let add = |a: f32, b: f32| a + b;
    // Enough that each thread takes a stretch; the second half may begin within a row.
    let count = 1_200_000;
    let mut sorted: Vec<i64> = index(count, rows);
    sorted.sort_unstable();
    // Out of range, and left out: at the beginning of a stretch, within one, and at the end.
    let mut holes = sorted.clone();
    for at in [0, count / 3, count / 2, count - 1] {
        holes[at] = -1;
        holes[at.saturating_sub(1)] = rows as i64;
    }
    // The second thread's stretch begins with one.
    let mut hole = sorted.clone();
    hole[count / 2] = -1;
    let mut broken = sorted.clone();
    broken.swap(count / 2, count - 1);
    // One vector of columns, and some more.
    const NARROW: usize = 23;
    let mut src = Tensor::<f32>::zeros(&[count, NARROW]).unwrap();
    for (n, value) in src.as_mut_slice().iter_mut().enumerate() {
        *value = (n * 7 % 1013) as f32 / 16.0 - 20.0;
    }
    let drops = Bounds {
        negative: Negative::Drop,
        out_of_range: OutOfRange::Drop,
        ..Bounds::STRICT
    };
    for (what, index, bounds) in [
        ("in order", &sorted, Bounds::STRICT),
        ("holes", &holes, drops),
        ("a hole", &hole, drops),
        ("nearly in order", &broken, Bounds::STRICT),
    ] {
        let mut expected = vec![0.0f32; rows * NARROW];
        for (&row, values) in index.iter().zip(src.as_slice().chunks(NARROW)) {
            if let Some(cells) = usize::try_from(row).ok().filter(|&row| row < rows) {
                let cells = &mut expected[cells * NARROW..(cells + 1) * NARROW];
                for (cell, &value) in cells.iter_mut().zip(values) {
                    *cell = add(*cell, value);
                }
            }
        }
        for threads in [1, 2, 3, 4] {
            strew::set_num_threads(NonZeroUsize::new(threads));
            let view = TensorView::from(&index[..]).into_dyn();
            let shape = [rows, NARROW];
            let to = Destinations::rows(&shape, "index", &[view], &[0], None, bounds).unwrap();
            let src = src.view().into_dyn();
            let sum = Reduction::into_self(Combine::Sum);
            let scatter = Scatter::new(to, sum, "src", src, anew(Start::Zero)).unwrap();
            let made = scatter.with_strategy(Some(Strategy::Grouped)).run();
            let made = made.unwrap().tensor.unwrap();
            let cells = made.as_bytes().chunks_exact(4).zip(&expected);
            let wrong = cells.filter(|(cell, value)| **cell != value.to_ne_bytes());
            assert_eq!(wrong.count(), 0, "{what}, {threads} threads");
        }
    }
    strew::set_num_threads(None);
}

/// Rows of 16 bytes, whose maxima are taken by group if their rows come in order and their type has
/// no loop for short rows. The sample of an index may be in order where the index is not. Then
/// groups would take more memory than the choice reckoned with, and the updates go in order.
#[test]
fn narrow_maxima_are_grouped_in_order_if_they_have_no_loop_of_their_own() {
    const NARROW: usize = 4;
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    strew::set_num_threads(NonZeroUsize::new(1));
    let (count, rows) = (600_000, 60_000);
    let mut sorted = index(count, rows);
    sorted.sort_unstable();
    // The sample takes one value of 64 at least: the last one is not in it.
    let mut late = sorted.clone();
    late[count - 1] = 0;
    let mut floats = Tensor::<f32>::zeros(&[count, NARROW]).unwrap();
    for (n, value) in floats.as_mut_slice().iter_mut().enumerate() {
        *value = match n % 501 {
            0 => f32::NAN,
            n => n as f32 * 7.0 % 101.0,
        };
    }
    let mut integers = Tensor::<u32>::zeros(&[count, NARROW]).unwrap();
    for (n, value) in integers.as_mut_slice().iter_mut().enumerate() {
        *value = n as u32 % 501 * 7 % 101;
    }
    let sources = [
        (floats.into_dyn(), Strategy::InOrder, Strategy::Grouped),
        (integers.into_dyn(), Strategy::Grouped, Strategy::InOrder),
    ];
    let max = Reduction {
        init: Init::Identity,
        ..Reduction::into_self(Combine::Max(Nan::Propagate))
    };
    for (index, (src, chosen, other)) in [&sorted, &late]
        .into_iter()
        .flat_map(|index| sources.iter().map(move |source| (index, source)))
    {
        let make = |strategy| {
            let view = TensorView::from(&index[..]).into_dyn();
            let shape = [rows, NARROW];
            let to = Destinations::rows(&shape, "index", &[view], &[0], None, Bounds::STRICT);
            let target = Target::New {
                dtype: src.dtype(),
                start: Start::Zero,
            };
            let scatter = Scatter::new(to.unwrap(), max, "src", src.view(), target);
            scatter.unwrap().with_strategy(strategy)
        };
        assert_eq!(make(None).execution().unwrap().strategy(), *chosen);
        let made = make(None).run().unwrap().tensor.unwrap();
        let forced = make(Some(*other)).run().unwrap().tensor.unwrap();
        assert!(made.as_bytes() == forced.as_bytes());
    }
    strew::set_num_threads(None);
}

/// Extremes of short rows have loops of their own. Groups have others.
#[test]
fn extremes_of_short_rows_are_the_same_in_order_and_by_group() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    strew::set_num_threads(NonZeroUsize::new(1));
    let (count, rows) = (3000, 150);
    let random = index(count, rows);
    let mut sorted = random.clone();
    sorted.sort_unstable();
    for width in 2..=33 {
        let mut src = Tensor::<f32>::zeros(&[count, width]).unwrap();
        for (n, value) in src.as_mut_slice().iter_mut().enumerate() {
            *value = match n % 501 {
                0 => f32::NAN,
                1 => -0.0,
                2 => 0.0,
                3 => f32::NEG_INFINITY,
                n => n as f32 * 7.0 % 101.0 - 50.0,
            };
        }
        let src = src.into_dyn();
        let combines =
            [Nan::Propagate, Nan::Ignore].map(|nan| [Combine::Min(nan), Combine::Max(nan)]);
        for combine in combines.into_iter().flatten() {
            for init in [Init::Identity, Reduction::into_self(combine).init] {
                let reduction = Reduction {
                    init,
                    ..Reduction::into_self(combine)
                };
                for index in [&random, &sorted] {
                    let made = |strategy| {
                        let view = TensorView::from(&index[..]).into_dyn();
                        let shape = [rows + 1, width];
                        let to = Destinations::rows(
                            &shape,
                            "index",
                            &[view],
                            &[0],
                            None,
                            Bounds::STRICT,
                        );
                        let target = Target::New {
                            dtype: DType::F32,
                            start: Start::Zero,
                        };
                        let run = Scatter::new(to.unwrap(), reduction, "src", src.view(), target);
                        let run = run.unwrap().with_strategy(Some(strategy));
                        run.run().unwrap().tensor.unwrap()
                    };
                    let (in_order, grouped) = (made(Strategy::InOrder), made(Strategy::Grouped));
                    let what = || format!("{combine:?} of rows of {width}, {init:?}");
                    assert!(in_order.as_bytes() == grouped.as_bytes(), "{}", what());
                }
            }
        }
    }
    strew::set_num_threads(None);
}

/// How many updates each of some rows takes: none, few, and many more than its neighbours.
fn lengths(rows: usize) -> Vec<usize> {
    let some = [
        0, 1, 5, 16, 17, 100, 3000, 131, 0, 64, 40, 33, 2049, 2500, 2100, 3001, 2048, 7,
    ];
    (0..rows).map(|row| some[row % some.len()]).collect()
}

#[test]
fn planned_elements_in_order_are_reduced_one_after_the_other() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for rows in [1, 3, 4, 5, 8, 13, 17, 40] {
        let index: Vec<i64> = (0..)
            .zip(lengths(rows))
            .flat_map(|(row, count)| std::iter::repeat_n(row, count))
            .collect();
        let plan = Plan::new(&index, Some(rows), Bounds::STRICT).unwrap();
        let plan = plan.with_way(Some(Way::Grouped));
        let float = |n: usize| 1.0 + (n * 7 % 13) as f32 / 64.0 - (n % 2) as f32 / 8.0;
        let src: Vec<f32> = (0..index.len()).map(float).collect();
        let whole: Vec<i32> = (0..index.len() as i32).map(|n| 2 * n + 1).collect();
        for (reduce, first, how) in [
            (Reduce::Sum, 0.0, (|a, b| a + b) as fn(f32, f32) -> f32),
            (Reduce::Prod, 1.0, |a, b| a * b),
        ] {
            let mut fresh = vec![first; rows];
            let mut kept: Vec<f32> = (0..rows).map(float).collect();
            let begun = kept.clone();
            let mut numbers = vec![first as i32; rows];
            for (k, &row) in index.iter().enumerate() {
                let row = row as usize;
                fresh[row] = how(fresh[row], src[k]);
                kept[row] = how(kept[row], src[k]);
                numbers[row] = match reduce {
                    Reduce::Sum => numbers[row].wrapping_add(whole[k]),
                    _ => numbers[row].wrapping_mul(whole[k]),
                };
            }
            for threads in 1..=4 {
                let plan = plan.clone().with_threads(Some(threads));
                let case = format!("{reduce:?} of {rows} rows on {threads} threads");
                let made = plan.scatter(&src, 0, reduce).unwrap();
                assert_eq!(made.as_slice(), fresh, "{case}");
                let mut out = begun.clone();
                plan.scatter_into(&src, 0, reduce, &mut out, PlanIntoOptions::default())
                    .unwrap();
                assert_eq!(out, kept, "{case}, into cells");
                let made = plan.scatter(&whole, 0, reduce).unwrap();
                assert_eq!(made.as_slice(), numbers, "{case}, of integers");
            }
        }
    }
}
