//! Sharing runs out among threads: what must hold besides the bits, which the properties compare.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use strew::scatter::{Destinations, Reduction, Scatter, Start, Target};
use strew::{
    Bounds, Combine, DType, DynTensor, DynView, Layout, Monitor, Problem, Split, Strategy,
};

/// The number of threads that a run may use is one for the whole process: whoever sets it is alone meanwhile.
struct Threads {
    _alone: MutexGuard<'static, ()>,
}

impl Threads {
    fn mine() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        Self {
            _alone: ALONE.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    fn set(&self, threads: usize) {
        strew::set_num_threads(NonZeroUsize::new(threads));
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        strew::set_num_threads(None);
    }
}

/// Two thousand additions into eight cells, the last of them out of range.
fn into_eight<'a>(
    index: &'a [i64],
    ones: &'a DynTensor,
    cells: &'a mut DynTensor,
    split: (Split, usize),
) -> Scatter<'a> {
    let index = strew::TensorView::from(index).into_dyn();
    let bounds = Bounds::STRICT;
    let destinations = Destinations::rows(&[8], "index", &[index], &[0], None, bounds).unwrap();
    let target = Target::InPlace {
        argument: "cells",
        view: cells.view_mut(),
    };
    let reduction = Reduction::into_self(Combine::Sum);
    Scatter::new(destinations, reduction, "ones", ones.view(), target)
        .unwrap()
        .with_split(Some(split))
}

fn ones(count: usize) -> DynTensor {
    let mut ones = DynTensor::zeros(DType::U8, &[count]).unwrap();
    ones.as_bytes_mut().fill(1);
    ones
}

#[test]
fn no_thread_at_all_is_refused_and_too_many_are_not() {
    let mut index = vec![1; 2000];
    index[1999] = 99;
    let (ones, mut cells) = (ones(2000), DynTensor::zeros(DType::U8, &[8]).unwrap());
    for split in [Split::Owner, Split::Axis(0), Split::Updates] {
        let refused = into_eight(&index, &ones, &mut cells, (split, 0)).run();
        assert!(matches!(refused, Err(Problem::Strategy { .. })));
    }
    let threads = [1, 2, 1000, usize::MAX];
    let ways = [Split::Owner, Split::Updates].map(|split| threads.map(|threads| (split, threads)));
    for way in ways.into_iter().flatten() {
        let wrong = into_eight(&index, &ones, &mut cells, way).run();
        assert!(matches!(wrong, Err(Problem::IndexOutOfBounds { .. })));
        assert_eq!(cells.as_bytes(), [0; 8]);
    }
    index[1999] = 7;
    for way in ways.into_iter().flatten() {
        into_eight(&index, &ones, &mut cells, way).run().unwrap();
        // 1999 modulo 256.
        assert_eq!(cells.as_bytes(), [0, 207, 0, 0, 0, 0, 0, 1]);
        cells.as_bytes_mut().fill(0);
    }
}

/// Indices below `cells` and values that say in which order they were joined; some are zeros of either sign.
fn random(count: usize, cells: usize) -> (Vec<i64>, Vec<f32>) {
    let mut state = 7u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let index = (0..count).map(|_| (next() % cells as u64) as i64).collect();
    let value = |n: u64| match n % 10 {
        0 => 0.0,
        1 => -0.0,
        _ => (n % 2001) as f32 / 7.0 - 143.0,
    };
    (index, (0..count).map(|_| value(next())).collect())
}

/// A run in place of values along an axis, with everything that it says of itself on the way.
fn watched(scatter: Scatter<'_>, what: &str) -> Result<(), Problem> {
    let notes = Rc::new(Notes::default());
    let done = strew::watch(notes.clone(), || scatter.run().map(|_| ()));
    let seen = notes.0.borrow();
    let part = |&(done, total): &(u64, u64)| done as f64 / total as f64;
    assert!(
        seen.windows(2).all(|w| part(&w[0]) <= part(&w[1])),
        "{what}"
    );
    if done.is_ok() {
        assert_eq!(seen.last().map(part), Some(1.0), "{what}");
    }
    done
}

/// Rows of `width` values into `cells` of such rows.
fn rows<'a>(
    index: &'a [i64],
    values: &'a DynTensor,
    cells: &'a mut DynTensor,
    combine: Combine,
) -> Scatter<'a> {
    let shape = cells.shape().to_vec();
    let target = Target::InPlace {
        argument: "cells",
        view: cells.view_mut(),
    };
    rows_into(&shape, index, values, target, combine)
}

/// Rows of values into a target of this shape.
fn rows_into<'a>(
    shape: &[usize],
    index: &'a [i64],
    values: &'a DynTensor,
    target: Target<'a>,
    combine: Combine,
) -> Scatter<'a> {
    let index = strew::TensorView::from(index).into_dyn();
    let bounds = Bounds::STRICT;
    let destinations = Destinations::rows(shape, "index", &[index], &[0], None, bounds).unwrap();
    let reduction = Reduction::into_self(combine);
    Scatter::new(destinations, reduction, "values", values.view(), target).unwrap()
}

fn tensor<T: strew::Element>(values: &[T], shape: &[usize]) -> DynTensor {
    let view = strew::TensorView::from_slice(values, shape).unwrap();
    view.into_dyn().to_tensor().unwrap()
}

/// Short rows have several threads where a cache does not hold the destination.
#[test]
fn threads_that_own_short_rows_change_no_bit() {
    let all = Threads::mine();
    for (width, cells) in [(1, 3_200_000), (3, 1_100_000), (16, 200_000), (31, 30_000)] {
        let count = (37 << 20) / 4 / width;
        let (mut index, mut values) = random(count, cells);
        values.resize(count * width, 0.5);
        let src = tensor(&values, &[count, width][..1 + usize::from(width > 1)]);
        let shape = &[cells, width][..1 + usize::from(width > 1)];
        let mut expected = vec![1.0f32; cells * width];
        for (&at, row) in index.iter().zip(values.chunks_exact(width)) {
            let row_of = &mut expected[at as usize * width..][..width];
            row_of.iter_mut().zip(row).for_each(|(cell, v)| *cell += v);
        }
        let expected = tensor(&expected, shape);
        let expected = expected.as_bytes();
        for threads in [1, 2, 3] {
            all.set(threads);
            let what = format!("rows of {width} on {threads} threads");
            let mut made = tensor(&vec![1.0f32; cells * width], shape);
            let run = rows(&index, &src, &mut made, Combine::Sum);
            let plan = run.execution().unwrap();
            assert_eq!(plan.strategy(), Strategy::InOrder);
            assert_eq!(
                plan.split(),
                (threads > 1).then_some((Split::Owner, threads))
            );
            watched(run, &what).unwrap();
            assert!(made.as_bytes() == expected, "{what}");
            // What is wrong at the very end changes nothing at the beginning.
            let last = std::mem::replace(&mut index[count - 1], cells as i64);
            let wrong = watched(rows(&index, &src, &mut made, Combine::Sum), &what);
            assert!(matches!(wrong, Err(Problem::IndexOutOfBounds { .. })));
            assert!(made.as_bytes() == expected, "{what}");
            index[count - 1] = last;
        }
    }
}

/// One thread joins sums of short rows into a destination that a cache holds, and what is mostly one
/// row. Extremes take longer.
#[test]
fn a_second_thread_starts_where_it_pays() {
    let all = Threads::mine();
    all.set(2);
    let shared = |width: usize, cells: usize, hot: i64, combine| {
        let count = (37 << 20) / 4 / width;
        let (mut index, _) = random(count, cells);
        for at in index.iter_mut().filter(|at| **at % hot == 0) {
            *at = 7;
        }
        let src = tensor(&vec![0.5f32; count * width], &[count, width]);
        let mut made = DynTensor::zeros(DType::F32, &[cells, width]).unwrap();
        let run = rows(&index, &src, &mut made, combine);
        run.execution().unwrap().split().is_some()
    };
    let (never, max) = (i64::MAX, Combine::Max(strew::Nan::Propagate));
    assert!(!shared(16, 30_000, never, Combine::Sum));
    assert!(shared(16, 200_000, never, Combine::Sum));
    assert!(!shared(16, 200_000, 5, Combine::Sum));
    assert!(shared(16, 200_000, 5, max) && shared(16, 30_000, never, max));
    assert!(shared(32, 1_000, never, Combine::Sum));
    assert!(shared(64, 30_000, 5, Combine::Sum) && !shared(64, 30_000, 2, Combine::Sum));
    assert!(shared(128, 30_000, 2, Combine::Sum));
}

/// From four threads on, single values without an order are listed by block of the destination.
#[test]
fn lists_of_several_threads_change_no_bit() {
    let all = Threads::mine();
    let (count, cells) = ((25 << 20) / 4, 300_000);
    let (mut index, values) = random(count, cells);
    let src = tensor(&values, &[count]);
    let mut expected = vec![1.0f32; cells];
    for (&at, value) in index.iter().zip(&values) {
        expected[at as usize] += value;
    }
    let expected = tensor(&expected, &[cells]);
    let chosen = |index: &[i64]| {
        let mut made = DynTensor::zeros(DType::F32, &[cells]).unwrap();
        let run = rows(index, &src, &mut made, Combine::Sum);
        run.execution().unwrap().strategy()
    };
    for (threads, strategy) in [
        (3, Strategy::InOrder),
        (4, Strategy::Partition),
        (8, Strategy::Partition),
    ] {
        all.set(threads);
        let what = format!("{threads} threads");
        assert_eq!(chosen(&index), strategy, "{what}");
        let mut made = tensor(&vec![1.0f32; cells], &[cells]);
        watched(rows(&index, &src, &mut made, Combine::Sum), &what).unwrap();
        assert!(made.as_bytes() == expected.as_bytes(), "{what}");
        let right = std::mem::replace(&mut index[count - 1], -1);
        let wrong = watched(rows(&index, &src, &mut made, Combine::Sum), &what);
        assert!(matches!(wrong, Err(Problem::IndexOutOfBounds { .. })));
        assert!(made.as_bytes() == expected.as_bytes(), "{what}");
        index[count - 1] = right;
    }
    // One thread joins all updates of a hot cell, and cells in order stay in the caches.
    let hot: Vec<i64> = (index.iter().enumerate())
        .map(|(n, &at)| if n % 5 == 0 { 77 } else { at })
        .collect();
    index.sort_unstable();
    assert_eq!(
        [chosen(&hot), chosen(&index), chosen(&vec![3; count])],
        [Strategy::InOrder; 3]
    );
    index.reverse();
    assert_eq!(chosen(&index), Strategy::InOrder);
}

/// Rows of values added in their order to cells that hold `start`.
fn sums_of_rows(index: &[i64], values: &[f32], start: f32, shape: [usize; 2]) -> DynTensor {
    let [cells, width] = shape;
    let mut sums = vec![start; cells * width];
    for (&at, row) in index.iter().zip(values.chunks_exact(width)) {
        let cells = &mut sums[at as usize * width..][..width];
        cells.iter_mut().zip(row).for_each(|(cell, v)| *cell += v);
    }
    tensor(&sums, &shape)
}

/// Rows of which one takes most updates: threads share its columns.
#[test]
fn columns_of_a_hot_row_change_no_bit() {
    let all = Threads::mine();
    let (count, cells, width) = (6000, 50, 130);
    let (mut index, _) = random(count, cells);
    let (_, values) = random(count * width, 1);
    let src = tensor(&values, &[count, width]);
    for hot in [0, 17, 49] {
        for at in index.iter_mut().step_by(3) {
            *at = hot;
        }
        let expected = sums_of_rows(&index, &values, 1.0, [cells, width]);
        for threads in [1, 2, 3, 8, 64] {
            all.set(threads);
            let what = format!("row {hot}, {threads} threads");
            let mut made = tensor(&vec![1.0f32; cells * width], &[cells, width]);
            let run = rows(&index, &src, &mut made, Combine::Sum);
            watched(run.with_split(Some((Split::Owner, threads))), &what).unwrap();
            assert!(made.as_bytes() == expected.as_bytes(), "{what}");
        }
    }
}

/// Parts of an index that ascends read their own updates only. One that seems to ascend, but does
/// not, is read by all.
#[test]
fn parts_of_an_index_that_ascends() {
    let all = Threads::mine();
    let (count, cells) = (6000, 700);
    let (mut ascending, _) = random(count, cells);
    ascending.sort_unstable();
    // A sample of the index takes every sixth value.
    let mut nearly = ascending.clone();
    nearly.swap(1000, 4000);
    let few: Vec<i64> = (0..count).map(|n| [5, 6, 690][3 * n / count]).collect();
    for (index, kind) in [(&ascending, "all"), (&nearly, "nearly"), (&few, "few")] {
        for width in [1, 3, 8, 40, 130] {
            let (_, values) = random(count * width, 1);
            let src = tensor(&values, &[count, width]);
            let expected = sums_of_rows(index, &values, 0.0, [cells, width]);
            for threads in [1, 2, 3, 8, 64] {
                all.set(threads);
                let what = format!("{kind}, rows of {width}, {threads} threads");
                let split = Some((Split::Owner, threads));
                let mut made = tensor(&vec![0.0f32; cells * width], &[cells, width]);
                let run = rows(index, &src, &mut made, Combine::Sum).with_split(split);
                let told = run.execution().unwrap().facts();
                let shared = told.iter().find(|(name, _)| *name == "shared out");
                let stretches = shared.is_some_and(|(_, how)| how.contains("read a stretch"));
                assert!(stretches, "{what}: {told:?}");
                watched(run, &what).unwrap();
                assert!(made.as_bytes() == expected.as_bytes(), "{what}");
                // A new output, which the parts begin, also those without updates.
                let target = Target::New {
                    dtype: DType::F32,
                    start: Start::Zero,
                };
                let run = rows_into(&[cells, width], index, &src, target, Combine::Sum);
                let made = run.with_split(split).run().unwrap().tensor.unwrap();
                assert!(made.as_bytes() == expected.as_bytes(), "{what}, new");
            }
        }
    }
    let src = tensor(&vec![1.0f32; 8 * count], &[count, 8]);
    for (at, wrong) in [
        (0, -1),
        (count - 1, cells as i64),
        (3000, -7),
        (3000, i64::MAX),
    ] {
        let mut index = ascending.clone();
        index[at] = wrong;
        let mut made = tensor(&vec![0.0f32; cells * 8], &[cells, 8]);
        let run = rows(&index, &src, &mut made, Combine::Sum);
        match run.with_split(Some((Split::Owner, 3))).run() {
            Err(Problem::IndexOutOfBounds {
                position, value, ..
            }) => {
                assert_eq!((position, value), (vec![at], wrong.into()));
            }
            other => panic!("{at}: {other:?}"),
        }
        assert!(made.as_bytes().iter().all(|&byte| byte == 0));
    }
}

/// Sums of floats into a few cells go on one thread, for their order. Their index is looked at on all of them before that.
#[test]
fn an_index_is_looked_at_on_all_threads() {
    let all = Threads::mine();
    // Enough for four threads, and no whole number of pieces for any of them.
    let (count, cells) = ((16 << 20) / 8 + 1001, 100);
    let (mut index, values) = random(count, cells);
    let src = tensor(&values, &[count]);
    let mut expected = vec![1.0f32; cells];
    for (&at, value) in index.iter().zip(&values) {
        expected[at as usize] += value;
    }
    let expected = tensor(&expected, &[cells]);
    for threads in [1, 2, 3, 8] {
        all.set(threads);
        let what = format!("{threads} threads");
        let mut made = tensor(&vec![1.0f32; cells], &[cells]);
        let run = rows(&index, &src, &mut made, Combine::Sum);
        assert_eq!(run.execution().unwrap().split(), None, "{what}");
        watched(run, &what).unwrap();
        assert!(made.as_bytes() == expected.as_bytes(), "{what}");
        for at in (0..count).step_by(count / 13).chain([count - 1]) {
            for wrong in [-1, cells as i64, i64::MIN] {
                let right = std::mem::replace(&mut index[at], wrong);
                let done = watched(rows(&index, &src, &mut made, Combine::Sum), &what);
                let place = match done {
                    Err(Problem::IndexOutOfBounds {
                        position, value, ..
                    }) => (position, value),
                    other => panic!("{what}: {other:?}"),
                };
                assert_eq!(place, (vec![at], wrong.into()), "{what}");
                assert!(made.as_bytes() == expected.as_bytes(), "{what}");
                index[at] = right;
            }
        }
    }
}

/// Extremes, and sums of integers, have the same bits however the updates are bracketed: which NaN and which zero stays, too.
#[test]
fn tables_of_stretches_change_no_bit() {
    let all = Threads::mine();
    let (count, cells) = (3 << 20, 1000);
    let (index, mut values) = random(count, cells);
    for (n, value) in values.iter_mut().enumerate() {
        // Each NaN tells which one it is; a third of the cells have none.
        if n % 50_000 == 0 && index[n] % 3 != 0 {
            *value = f32::from_bits(0x7FC0_0000 + n as u32 / 50_000);
        }
    }
    let integers: Vec<i32> = values.iter().map(|v| v.to_bits().cast_signed()).collect();
    let start: Vec<f32> = (0..cells)
        .map(|n| if n % 2 == 0 { 0.0 } else { -0.0 })
        .collect();
    let of_floats = |join: fn(f32, f32) -> f32| -> Vec<u32> {
        let mut made = start.clone();
        for (&at, &value) in index.iter().zip(&values) {
            made[at as usize] = join(made[at as usize], value);
        }
        made.iter().map(|v| v.to_bits()).collect()
    };
    let larger = |a: f32, b: f32| if a < b || b.is_nan() { b } else { a };
    let smaller = |a: f32, b: f32| if b < a || b.is_nan() { b } else { a };
    let mut sums = vec![0i32; cells];
    let mut products = vec![1i32; cells];
    for (&at, &value) in index.iter().zip(&integers) {
        let at = at as usize;
        sums[at] = sums[at].wrapping_add(value);
        products[at] = products[at].wrapping_mul(value | 1);
    }
    let odd: Vec<i32> = integers.iter().map(|v| v | 1).collect();
    let bits = |all: &[i32]| -> Vec<u32> { all.iter().map(|v| v.cast_unsigned()).collect() };
    let (max, min) = (
        Combine::Max(strew::Nan::Propagate),
        Combine::Min(strew::Nan::Propagate),
    );
    let one_axis = &[count][..];
    let runs = [
        (
            max,
            tensor(&values, one_axis),
            tensor(&start, &[cells]),
            of_floats(larger),
        ),
        (
            min,
            tensor(&values, one_axis),
            tensor(&start, &[cells]),
            of_floats(smaller),
        ),
        (
            Combine::Sum,
            tensor(&integers, one_axis),
            tensor(&vec![0i32; cells], &[cells]),
            bits(&sums),
        ),
        (
            Combine::Prod,
            tensor(&odd, one_axis),
            tensor(&vec![1i32; cells], &[cells]),
            bits(&products),
        ),
    ];
    for (combine, src, start, expected) in runs {
        for threads in [1, 2, 3] {
            all.set(threads);
            let what = format!("{combine:?} on {threads} threads");
            let mut made = start.view().to_tensor().unwrap();
            let run = rows(&index, &src, &mut made, combine);
            let split = run.execution().unwrap().split();
            assert_eq!(
                split,
                (threads > 1).then_some((Split::Updates, threads)),
                "{what}"
            );
            watched(run, &what).unwrap();
            let words = made.as_bytes().chunks_exact(4);
            let words: Vec<u32> = words
                .map(|b| u32::from_ne_bytes(b.try_into().unwrap()))
                .collect();
            assert!(words == expected, "{what}");
        }
    }
}

/// Where the bits would depend on it, updates are not shared out among tables.
#[test]
fn sums_of_floats_are_not_bracketed() {
    let (index, values) = random(1000, 10);
    let src = tensor(&values, &[1000]);
    for combine in [Combine::Sum, Combine::Prod, Combine::Sub, Combine::Assign] {
        let mut cells = tensor(&[0.0f32; 10], &[10]);
        let run = rows(&index, &src, &mut cells, combine);
        let refused = run.with_split(Some((Split::Updates, 2))).run();
        assert!(matches!(
            refused,
            Err(Problem::Strategy {
                strategy: "by-updates",
                ..
            })
        ));
    }
}

#[test]
fn a_step_that_nobody_takes_may_be_any() {
    let size = 1 << 20;
    let mut memory = vec![0u8; 2 * size + 1];
    let layout = Layout::new(DType::U8, &[2, size], &[-1, 2]).unwrap();
    // SAFETY: from byte 1 on the view reaches back by 1, and ahead to byte 2 * size - 1.
    let view = unsafe {
        strew::DynViewMut::from_raw_parts(memory.as_mut_ptr().wrapping_add(1), layout).unwrap()
    };
    let ones = ones(size).reshape(&[1, size]).unwrap();
    let destinations =
        Destinations::affine(&[2, size], &[0, 0], &[isize::MIN, 1], &[1, size]).unwrap();
    let target = Target::InPlace {
        argument: "memory",
        view,
    };
    let reduction = Reduction::into_self(Combine::Assign);
    Scatter::new(destinations, reduction, "ones", ones.view(), target)
        .unwrap()
        .with_split(Some((Split::Axis(1), 2)))
        .run()
        .unwrap();
    assert!(memory.iter().skip(1).step_by(2).take(size).all(|&b| b == 1));
    assert!(memory.iter().step_by(2).all(|&b| b == 0));
}

#[test]
fn the_stride_of_a_single_element_says_nothing() {
    let values = [1i64, 0, 1, 0];
    for stride in [3, isize::MAX, isize::MIN] {
        let layout = Layout::new(DType::I64, &[2, 1, 2], &[16, stride, 8]).unwrap();
        // SAFETY: two by two elements of the array.
        let index = unsafe { DynView::from_raw_parts(values.as_ptr().cast(), layout).unwrap() };
        let src = strew::TensorView::from_slice(&[1.0f32, 2.0, 4.0, 8.0], &[2, 1, 2]).unwrap();
        let made =
            strew::torch_scatter::scatter_dyn(src.into_dyn(), index, 2, None, None, "sum", false);
        let sums = made.unwrap().tensor.unwrap().typed::<f32>().unwrap();
        assert_eq!(sums.as_slice(), [2.0, 1.0, 8.0, 4.0]);
    }
}

/// Notes what it is told.
#[derive(Default)]
struct Notes(RefCell<Vec<(u64, u64)>>);

impl Monitor for Notes {
    fn progress(&self, done: u64, total: u64) -> bool {
        self.0.borrow_mut().push((done, total));
        true
    }
}

#[test]
fn progress_ends_at_its_total_on_any_number_of_threads() {
    let all = Threads::mine();
    let (rows, width) = (1000, 4096);
    let index: Vec<i64> = (0..rows).map(|n| n % 100).collect();
    let src = vec![1.0f32; rows as usize * width];
    let src = strew::TensorView::from_slice(&src, &[rows as usize, width]).unwrap();
    for threads in [1, 2, 3] {
        all.set(threads);
        let mut totals = strew::Tensor::<f32>::zeros(&[100, width]).unwrap();
        let notes = Rc::new(Notes::default());
        strew::watch(notes.clone(), || {
            let index = strew::TensorView::from_slice(&index, &[rows as usize, 1]).unwrap();
            let index = index.broadcast_to(&[rows as usize, width]).unwrap();
            strew::torch::scatter_reduce_dyn_(
                totals.view_mut().into_dyn(),
                0,
                index,
                src.clone().into_dyn(),
                "sum",
                true,
            )
            .unwrap();
        });
        let seen = notes.0.borrow();
        let part = |&(done, total): &(u64, u64)| done as f64 / total as f64;
        assert!(
            seen.windows(2).all(|w| part(&w[0]) <= part(&w[1])),
            "{threads} threads"
        );
        assert_eq!(seen.last().map(part), Some(1.0), "{threads} threads");
        assert_eq!(totals.as_slice()[0], 10.0);
    }
}

thread_local! {
    /// Whether this thread is in a call that nobody watches.
    static UNWATCHED: Cell<bool> = const { Cell::new(false) };
}

/// Counts what it is told, and what of that is not of its own call.
#[derive(Default)]
struct Witness {
    own: Cell<usize>,
    others: Cell<usize>,
}

impl Monitor for Witness {
    fn progress(&self, _done: u64, _total: u64) -> bool {
        let count = if UNWATCHED.get() {
            &self.others
        } else {
            &self.own
        };
        count.set(count.get() + 1);
        true
    }
}

/// A pool's thread that waits for the other parts of a watched run may be given work of somebody
/// else's: a monitor hears nothing of that, and so cannot stop it.
#[test]
fn a_watch_does_not_reach_other_calls_in_a_pool() {
    let all = Threads::mine();
    let (rows, width) = (512, 8192);
    let src = vec![1.0f32; rows * width];
    let index: Vec<i64> = (0..rows as i64).map(|n| n % 50).collect();
    let call = || {
        let src = strew::TensorView::from_slice(&src, &[rows, width]).unwrap();
        let sum = strew::torch_scatter::Reduce::Sum;
        let sums = strew::torch_scatter::scatter(src, &index, 0, Some(50), sum).unwrap();
        assert_eq!(sums.as_slice()[0], 11.0);
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(4)
        .build()
        .unwrap();
    all.set(4);
    pool.scope(|scope| {
        for n in 0..200 {
            let call = &call;
            scope.spawn(move |_| {
                // This may itself be work that a waiting thread was given.
                let before = UNWATCHED.replace(n % 2 != 0);
                if n % 2 == 0 {
                    let witness = Rc::new(Witness::default());
                    strew::watch(witness.clone(), call);
                    assert_eq!(witness.others.get(), 0);
                    assert!(witness.own.get() > 0);
                } else {
                    call();
                }
                UNWATCHED.set(before);
            });
        }
    });
}
