//! What a small call asks the allocator for: the memory of its outputs, and nothing else.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use strew::{Arguments, TensorView, Value, find, mindspore, mxnet, openvino, torch, torch_scatter};

/// The system's allocator, which counts what each thread asks it for.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    COUNT.set(COUNT.get() + 1);
}

// SAFETY: every call is the system allocator's own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is the one asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(ptr, layout, size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often `work` asks for memory, once what is made by the first call has been made.
#[track_caller]
fn expect<R>(wanted: usize, mut work: impl FnMut() -> Result<R, strew::Error>) {
    work().unwrap();
    let before = COUNT.get();
    let made = work();
    let found = COUNT.get() - before;
    made.unwrap();
    assert_eq!(found, wanted, "allocations");
}

#[test]
fn a_small_call_allocates_its_outputs_only() {
    let src: Vec<f32> = (0u8..100).map(f32::from).collect();
    let index: Vec<i64> = (0..100).map(|i| i * 7 % 10).collect();
    let tuples = TensorView::from_slice(&index, &[1, 100]).unwrap();
    let pairs: Vec<i64> = index.iter().chain(&index).copied().collect();
    let pairs = TensorView::from_slice(&pairs, &[2, 100]).unwrap();
    let mut cells = [1.0f32; 10];
    let base = [0.0f32; 200];
    let sum = torch_scatter::Reduce::Sum;

    expect(1, || torch_scatter::scatter(&src, &index, 0, Some(10), sum));
    expect(1, || torch_scatter::scatter(&src, &index, 0, None, sum));
    expect(2, || torch_scatter::scatter_max(&src, &index, 0, Some(10)));
    expect(1, || {
        torch::scatter_reduce(cells, 0, &index, &src, torch::Reduce::Prod, false)
    });
    expect(1, || mxnet::scatter_nd(&src, &tuples, &[10], None));
    expect(1, || mxnet::scatter_nd(&src, &pairs, &[10, 10], None));
    expect(1, || {
        openvino::slice_scatter(base, &src, &[0], &[200], &[2], None)
    });

    expect(0, || {
        torch_scatter::scatter_out(&src, &index, 0, &mut cells, sum)
    });
    expect(0, || {
        torch::scatter_reduce_(&mut cells, 0, &index, &src, torch::Reduce::Amax, true)
    });
    expect(0, || mindspore::scatter_mul(&mut cells, &index, &src));
}

#[test]
fn rows_of_a_matrix_are_no_different() {
    let src: Vec<f32> = (0u8..96).map(f32::from).collect();
    let index: Vec<i64> = (0..12).map(|i| i % 5).collect();
    let src = TensorView::from_slice(&src, &[12, 8]).unwrap();
    let sum = torch_scatter::Reduce::Sum;
    expect(1, || torch_scatter::scatter(&src, &index, 0, Some(5), sum));

    let mut table = [1.0f32; 40];
    expect(0, || {
        let table = strew::TensorViewMut::from_slice(&mut table, &[5, 8]).unwrap();
        mindspore::scatter_mul(table, &index, &src)
    });
}

#[test]
fn an_erased_call_adds_nothing() {
    let (src, index) = ([1.0f32, 2.0, 4.0], [1i64, 0, 1]);
    let (src, index) = (TensorView::from(&src), TensorView::from(&index));
    let operator = find("torch_scatter.scatter").unwrap();
    expect(1, || {
        let mut arguments = Arguments::new(operator);
        arguments.set(0, Value::Tensor(src.clone().into_dyn()))?;
        arguments.set(1, Value::Tensor(index.clone().into_dyn()))?;
        arguments.set(5, Value::Text("sum".into()))?;
        arguments.run()
    });
}

/// Nor does a small call wake a thread, however many it may have: none of ours is ever there.
#[cfg(target_os = "linux")]
#[test]
fn a_small_call_has_no_helpers() {
    strew::set_num_threads(std::num::NonZeroUsize::new(8));
    a_small_call_allocates_its_outputs_only();
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    let names: Vec<_> = names.collect();
    assert!(!names.is_empty());
    assert!(
        !names.iter().any(|name| name.starts_with("strew-")),
        "{names:?}"
    );
}
