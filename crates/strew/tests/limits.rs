//! The memory limit, and memory that a run must not take.
//!
//! One test, because limit and peak belong to the whole process.

use std::fs;
use strew::scatter::{Destinations, Place, Reduction, Scatter, Start, Target};
use strew::torch_scatter::{Reduce, scatter, scatter_max};
use strew::{
    Aggregate, AggregateOptions, Bounds, Class, Combine, DType, DynView, Layout, Negative,
    OutOfRange, TensorView, aggregate_dyn, bf16,
};

#[test]
fn memory() {
    the_limit_that_was_set();
    tables_count_too();
    memory_that_is_kept_holds_nothing_old();
    an_index_that_is_wrong_is_found_without_a_copy();
    #[cfg(target_os = "linux")]
    dropping_everything_copies_nothing();
}

/// Results of the same size again and again: each starts from its own start.
fn memory_that_is_kept_holds_nothing_old() {
    const CELLS: usize = 3 << 20;
    let filled = |start: f32, reduce: Reduce| {
        let out = scatter([start, start], [7i64, 7], -1, Some(CELLS), reduce).unwrap();
        let untouched = out.as_slice()[..7].iter().chain(&out.as_slice()[8..]);
        let identity = if reduce == Reduce::Mul { 1.0 } else { 0.0 };
        assert!(untouched.into_iter().all(|&v| v == identity), "{reduce:?}");
        out.as_slice()[7]
    };
    for _ in 0..2 {
        assert_eq!(filled(3.0, Reduce::Sum), 6.0);
        assert_eq!(filled(4.0, Reduce::Mul), 16.0);
        assert_eq!(filled(5.0, Reduce::Max), 5.0);
    }
    strew::set_kept_memory(Some(0));
    assert_eq!(strew::kept_memory(), 0);
    assert_eq!(filled(3.0, Reduce::Sum), 6.0);
    strew::set_kept_memory(None);
    assert!(strew::kept_memory() > 0);
}

/// A copy of the index's numbers would take four bytes for each.
fn an_index_that_is_wrong_is_found_without_a_copy() {
    let (values, mut index) = (vec![1.0f32; 1 << 20], vec![3usize; 1 << 20]);
    let last = index.len() - 1;
    index[last] = 9;
    let (src, index) = (
        TensorView::from(&values).into_dyn(),
        TensorView::from(&index).into_dyn(),
    );
    strew::set_kept_memory(Some(0));
    strew::set_memory_limit(Some(1 << 20));
    for wanted in [
        Aggregate::Var,
        Aggregate::Mean,
        Aggregate::Max,
        Aggregate::ArgMax,
    ] {
        let options = AggregateOptions::default();
        let made = aggregate_dyn(&src, &index, 0, &[wanted], Some(9), Bounds::STRICT, options);
        let error = made.unwrap_err();
        assert_eq!(error.class(), Class::Index, "{error}");
        assert!(
            error.to_string().contains(&format!("index[{last}] = 9")),
            "{error}"
        );
    }
    strew::set_memory_limit(None);
    strew::set_kept_memory(None);
}

fn the_limit_that_was_set() {
    let default = strew::memory_limit();
    strew::set_memory_limit(Some(4000));
    assert_eq!(strew::memory_limit(), Some(4000));
    let groups = |n: usize| scatter([1.0f32], [0i64], -1, Some(n), Reduce::Sum);
    assert_eq!(groups(1000).unwrap().shape(), [1000]);
    let error = groups(1001).unwrap_err();
    assert_eq!(error.class(), Class::Memory);
    assert_eq!(
        error.to_string(),
        "torch_scatter.scatter: a tensor of shape [1001] and dtype float32 needs 4004 bytes, and 4000 are available: make it smaller, or raise the limit (STREW_MEMORY_LIMIT, in bytes)"
    );
    let error = scatter_max([1.0f32], [0i64], -1, Some(501)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "torch_scatter.scatter_max: a tensor of shape [501] and dtype int64 needs 4008 bytes, and 4000 are available: make it smaller, or raise the limit (STREW_MEMORY_LIMIT, in bytes)"
    );
    strew::set_memory_limit(Some(0));
    assert!(groups(1).is_err());
    let none: [f32; 0] = [];
    scatter(none, [0i64; 0], -1, Some(0), Reduce::Sum).unwrap();
    strew::set_memory_limit(None);
    assert_eq!(strew::memory_limit().is_some(), default.is_some());
    groups(1001).unwrap();
}

/// Nothing is written in place when there is no room for the table.
fn tables_count_too() {
    let mut input = vec![bf16::ONE; 2000];
    let index = [5i64, 5, 7];
    let src = [bf16::ONE; 3];
    for (limit, reduce, message) in [
        (
            7000,
            "sum",
            "a tensor of shape [2000] and dtype float32 needs 8000 bytes, and 7000 are available",
        ),
        (
            9000,
            "mean",
            "a table of 2000 sums and their counts needs 16000 bytes, and 9000 are available",
        ),
    ] {
        strew::set_memory_limit(Some(limit));
        let reduce = reduce.parse().unwrap();
        let error =
            strew::torch::scatter_reduce_(&mut input, 0, index, src, reduce, true).unwrap_err();
        strew::set_memory_limit(None);
        assert_eq!(error.class(), Class::Memory);
        assert_eq!(
            error.to_string(),
            format!(
                "torch.scatter_reduce_: {message}: make it smaller, or raise the limit (STREW_MEMORY_LIMIT, in bytes)"
            )
        );
        assert_eq!(input, [bf16::ONE; 2000]);
    }
}

/// An expanded index for an axis of size 0 is looked at where it is.
#[cfg(target_os = "linux")]
fn dropping_everything_copies_nothing() {
    let peak = || -> usize {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let (one, zero) = ([5i64], [0i8]);
    let shape = [1 << 14, 1 << 13];
    let layout = Layout::new(DType::I64, &shape, &[0, 0]).unwrap();
    // SAFETY: every element is the one word.
    let index = unsafe { DynView::from_raw_parts(one.as_ptr().cast(), layout).unwrap() };
    let zero = strew::TensorView::from(&zero).into_dyn();
    let source = zero.insert_axis(0).broadcast_to(&shape).unwrap();
    let before = peak();
    for (out_of_range, fails) in [(OutOfRange::Drop, false), (OutOfRange::Error, true)] {
        let bounds = Bounds {
            negative: Negative::Drop,
            out_of_range,
            ignored: None,
        };
        let place = Place::default();
        let into = [0, shape[1]];
        let destinations =
            Destinations::elements(&into, "index", &index, 0, place, bounds).unwrap();
        let target = Target::New {
            dtype: DType::I8,
            start: Start::Zero,
        };
        let reduction = Reduction::into_self(Combine::Sum);
        let scatter = Scatter::new(destinations, reduction, "updates", source.clone(), target);
        assert_eq!(scatter.unwrap().run().is_err(), fails);
    }
    let more = peak() - before;
    assert!(more < 64 << 10, "{more} KiB more for an index of one value");
}
