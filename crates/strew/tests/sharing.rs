//! Sharing runs out among threads: what must hold besides the bits, which the properties compare.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::rc::Rc;
use strew::scatter::{Destinations, Reduction, Scatter, Target};
use strew::{Bounds, Combine, DType, DynTensor, DynView, Layout, Monitor, Problem, Split};

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
    for split in [Split::Owner, Split::Axis(0)] {
        let refused = into_eight(&index, &ones, &mut cells, (split, 0)).run();
        assert!(matches!(refused, Err(Problem::Strategy { .. })));
    }
    for threads in [1, 2, 1000, usize::MAX] {
        let wrong = into_eight(&index, &ones, &mut cells, (Split::Owner, threads)).run();
        assert!(matches!(wrong, Err(Problem::IndexOutOfBounds { .. })));
        assert_eq!(cells.as_bytes(), [0; 8]);
    }
    index[1999] = 7;
    for threads in [1, 2, 1000, usize::MAX] {
        into_eight(&index, &ones, &mut cells, (Split::Owner, threads))
            .run()
            .unwrap();
        // 1999 modulo 256.
        assert_eq!(cells.as_bytes(), [0, 207, 0, 0, 0, 0, 0, 1]);
        cells.as_bytes_mut().fill(0);
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
    let (rows, width) = (1000, 4096);
    let index: Vec<i64> = (0..rows).map(|n| n % 100).collect();
    let src = vec![1.0f32; rows as usize * width];
    let src = strew::TensorView::from_slice(&src, &[rows as usize, width]).unwrap();
    for threads in [1, 2, 3] {
        strew::set_num_threads(NonZeroUsize::new(threads));
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
    strew::set_num_threads(None);
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
    strew::set_num_threads(NonZeroUsize::new(4));
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
    strew::set_num_threads(None);
}
