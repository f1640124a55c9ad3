//! Watching and stopping: nothing is written before a stop, and a run that has begun to write
//! what the caller can see goes on to its end.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use strew::torch::{Reduce, scatter_reduce, scatter_reduce_};
use strew::{Class, Monitor, Problem, bf16, watch};

const COUNT: usize = 2000;

/// Stops at the call of this number, and notes what it saw.
struct Stop {
    at: usize,
    calls: Cell<usize>,
    seen: RefCell<Vec<(u64, u64)>>,
}

impl Stop {
    fn at(at: usize) -> Rc<Self> {
        Rc::new(Self {
            at,
            calls: Cell::new(0),
            seen: RefCell::default(),
        })
    }
}

impl Monitor for Stop {
    fn progress(&self, done: u64, total: u64) -> bool {
        self.seen.borrow_mut().push((done, total));
        self.calls.replace(self.calls.get() + 1) != self.at
    }
}

fn updates(count: usize) -> (Vec<i64>, Vec<f32>) {
    let index = (0..count).map(|n| (n % 7) as i64).collect();
    let src = (0..count).map(|n| n as f32 * 0.1).collect();
    (index, src)
}

/// In place: 40,000 updates are three pieces of the pass that checks them, and three lines of the pass
/// that writes.
#[test]
fn in_place_until_the_first_write() {
    let (index, src) = updates(40_000);
    let mut expected = [1.5f32; 7];
    scatter_reduce_(&mut expected, 0, &index, &src, Reduce::Sum, true).unwrap();
    for at in 0..9 {
        let mut into = [1.5f32; 7];
        let stop = Stop::at(at);
        let result = watch(stop.clone(), || {
            scatter_reduce_(&mut into, 0, &index, &src, Reduce::Sum, true)
        });
        if at < 3 {
            let error = result.unwrap_err();
            assert_eq!(error.class(), Class::Interrupt);
            assert!(matches!(error.problem(), Problem::Interrupted));
            assert_eq!(
                error.to_string(),
                "torch.scatter_reduce_: interrupted before anything was written"
            );
            assert_eq!(into, [1.5; 7]);
            assert_eq!(stop.calls.get(), at + 1);
        } else {
            result.unwrap();
            assert_eq!(into, expected);
            assert_eq!(stop.calls.get(), 6);
            let pieces = [16_384, 32_768, 40_000, 56_384, 72_768, 80_000];
            assert_eq!(*stop.seen.borrow(), pieces.map(|done| (done, 80_000)));
        }
    }
}

/// The other ways to write in place: from the identity, and out of a table.
#[test]
fn in_place_with_more_passes_and_tables() {
    let (index, src) = updates(COUNT);
    let narrow: Vec<bf16> = src.iter().map(|&v| bf16::from_f32(v)).collect();
    for at in 0..20 {
        let mut floats = [1.5f32; 7];
        let result = watch(Stop::at(at), || {
            scatter_reduce_(&mut floats, 0, &index, &src, Reduce::Amax, false)
        });
        assert_eq!(result.is_err(), at < 1);
        assert_eq!(floats == [1.5; 7], at < 1);

        let mut narrows = [bf16::ONE; 7];
        let result = watch(Stop::at(at), || {
            scatter_reduce_(&mut narrows, 0, &index, &narrow, Reduce::Sum, true)
        });
        assert_eq!(result.is_err(), at < 1);
        assert_eq!(narrows == [bf16::ONE; 7], at < 1);

        // So large that the touched rows are numbered first: two passes, neither of them visible.
        let mut many = vec![bf16::ONE; 200_000];
        let result = watch(Stop::at(at), || {
            scatter_reduce_(&mut many, 0, &index, &narrow, Reduce::Mean, true)
        });
        assert_eq!(result.is_err(), at < 8);
        assert_eq!(many[..7] == [bf16::ONE; 7], at < 8);
    }
}

/// A copy in which a slice is replaced on the way: it is asked after each mebibyte.
#[test]
fn a_large_copy_stops_anywhere() {
    let input = strew::Tensor::<f32>::zeros(&[4352, 2048]).unwrap();
    let updates = strew::Tensor::<f32>::zeros(&[2176, 1024]).unwrap();
    strew::set_num_threads(std::num::NonZeroUsize::new(1));
    for at in [0, 5, 33, 34] {
        let stop = Stop::at(at);
        let made = watch(stop.clone(), || {
            strew::openvino::slice_scatter(&input, &updates, &[0, 0], &[4352, 2048], &[2, 2], None)
        });
        assert_eq!(stop.calls.get(), at.min(33) + 1);
        let seen = stop.seen.borrow();
        let all = 2176 * 1024;
        assert!(
            seen.iter()
                .all(|&(done, total)| total == all && done <= all)
        );
        match made {
            Ok(_) => assert_eq!((at, seen.last()), (34, Some(&(all, all)))),
            Err(error) => assert_eq!(
                error.to_string(),
                "openvino.slice_scatter: interrupted before anything was written"
            ),
        }
    }
}

#[test]
fn a_new_result_stops_anywhere() {
    let (index, src) = updates(COUNT);
    // As one line, and, with an index of another type, as pieces of one.
    let narrow: Vec<i8> = index.iter().map(|&i| i8::try_from(i).unwrap()).collect();
    for at in 0..6 {
        let result = watch(Stop::at(at), || {
            scatter_reduce([0.0f32; 7], 0, &index, &src, Reduce::Prod, true)
        });
        assert_eq!(result.is_err(), at < 1);
        let bounds = strew::Bounds::STRICT;
        let index = strew::TensorView::from(&narrow).into_dyn();
        let place = strew::scatter::Place::default();
        let destinations =
            strew::scatter::Destinations::elements(&[7], "index", &index, 0, place, bounds);
        let target = strew::scatter::Target::New {
            dtype: strew::DType::F32,
            start: strew::scatter::Start::Zero,
        };
        let reduction = strew::scatter::Reduction::into_self(strew::Combine::Sum);
        let source = strew::TensorView::from(&src).into_dyn();
        let scatter =
            strew::scatter::Scatter::new(destinations.unwrap(), reduction, "src", source, target);
        let result = watch(Stop::at(at), || scatter.unwrap().run());
        assert_eq!(result.is_err(), at < 2, "{at}");
    }
}

/// Runs: the pointers are checked first where the caller can see the result, and then nothing stops it.
#[test]
fn runs_stop_until_the_first_write() {
    use strew::torch_scatter::{Reduce, segment_csr, segment_csr_out};
    let pointers: Vec<i64> = (0..=COUNT as i64).collect();
    let src: Vec<f32> = (0..COUNT).map(|n| n as f32).collect();
    let calls = |work: &mut dyn FnMut() -> strew::Result<()>| {
        let stop = Stop::at(usize::MAX);
        watch(stop.clone(), work).unwrap();
        stop.calls.get()
    };
    let all = calls(&mut || segment_csr(&src, &pointers, Reduce::Max).map(drop));
    assert!(all > 4);
    for at in 0..all {
        let made = watch(Stop::at(at), || segment_csr(&src, &pointers, Reduce::Max));
        assert_eq!(made.unwrap_err().class(), Class::Interrupt);
    }
    let mut out = vec![-1.0f32; COUNT];
    let twice = calls(&mut || segment_csr_out(&src, &pointers, &mut out, Reduce::Sum));
    assert_eq!(twice, 2 * all);
    for at in 0..twice {
        let mut out = vec![-1.0f32; COUNT];
        let stop = Stop::at(at);
        let done = watch(stop.clone(), || {
            segment_csr_out(&src, &pointers, &mut out, Reduce::Sum)
        });
        assert_eq!(done.is_err(), at < all);
        assert_eq!(out == src, at >= all);
        assert_eq!(out == vec![-1.0; COUNT], at < all);
        let (done, total) = *stop.seen.borrow().last().unwrap();
        assert!(done <= total && total == 2 * COUNT as u64);
    }
}

/// A watch is over when its work is, also by a panic, and one inside another takes its place.
#[test]
fn watches_nest() {
    let run = || strew::mindspore::scatter_mul(&mut [1.0f32], [0i32], [2.0f32]);
    let (outer, inner) = (Stop::at(99), Stop::at(99));
    watch(outer.clone(), || {
        watch(inner.clone(), run).unwrap();
        assert_eq!((outer.calls.get(), inner.calls.get()), (0, 2));
        run().unwrap();
        assert_eq!((outer.calls.get(), inner.calls.get()), (2, 2));
        let unwound = std::panic::catch_unwind(|| watch(Stop::at(0), || panic!("on purpose")));
        assert!(unwound.is_err());
        run().unwrap();
        assert_eq!(outer.calls.get(), 4);
    });
    run().unwrap();
    assert_eq!(outer.calls.get(), 4);
}

/// Statistics of groups, whose loops are told of after each 65,536 elements, and plans.
#[test]
fn statistics_and_plans_say_how_far_they_are() {
    use strew::{Aggregate, AggregateOptions, Bounds, Plan, TensorView, aggregate_dyn};
    const MANY: usize = 200_000;
    let (index, src) = updates(MANY);
    let index = TensorView::from(&index).into_dyn();
    let src = TensorView::from(&src).into_dyn();
    let once = |wanted: &[Aggregate]| {
        let options = AggregateOptions::default();
        aggregate_dyn(
            &src,
            &index,
            0,
            wanted,
            Some(7),
            Bounds::STRICT,
            options.clone(),
        )
    };
    for wanted in [
        &[Aggregate::Mean, Aggregate::Std][..],
        &[Aggregate::Count],
        &[Aggregate::Len],
        &[Aggregate::CumSum],
        &[Aggregate::Median],
        &[Aggregate::Rank],
    ] {
        strew::set_num_threads(std::num::NonZeroUsize::new(1));
        let expected = once(wanted).unwrap();
        let watched = Stop::at(usize::MAX);
        let made = watch(watched.clone(), || once(wanted)).unwrap();
        for (made, expected) in made.iter().zip(&expected) {
            assert_eq!(made.as_bytes(), expected.as_bytes(), "{wanted:?}");
        }
        let seen = watched.seen.borrow();
        assert!(seen.len() >= MANY >> 16, "{wanted:?}: {seen:?}");
        assert!(seen.iter().all(|&(done, total)| 0 < done && done <= total));
        for at in 0..seen.len() {
            let stop = Stop::at(at);
            let error = watch(stop.clone(), || once(wanted)).unwrap_err();
            assert_eq!(error.class(), Class::Interrupt, "{wanted:?} at {at}");
        }
    }
    let plan = || Plan::new_dyn(&index, Some(7), Bounds::STRICT, None);
    let watched = Stop::at(usize::MAX);
    let made = watch(watched.clone(), plan).unwrap();
    assert_eq!((made.len(), made.touched()), (MANY, 7));
    let seen = watched.seen.borrow();
    assert_eq!(seen.last(), Some(&(3 * MANY as u64, 3 * MANY as u64)));
    for at in 0..seen.len() {
        let error = watch(Stop::at(at), plan).unwrap_err();
        assert_eq!(error.class(), Class::Interrupt);
    }
}
