//! One fast, exact, deterministic engine for the *scatter* family of tensor operators.
//!
//! A scatter writes or reduces many updates into the cells of an n-d array that an index names.
//! Every framework spells it its own way, with its own corner cases. strew speaks each spelling
//! exactly, runs all of them on one engine, and never touches memory outside its arrays:
//!
//! ```
//! use ndarray::array;
//!
//! // torch_scatter: the sums of groups.
//! let (fares, carrier) = (vec![1.0, 2.0, 4.0], vec![1usize, 0, 1]);
//! let sums = strew::torch_scatter::scatter_sum(&fares, &carrier, 0)?;
//! assert_eq!(sums.as_slice(), [2.0, 5.0]);
//!
//! // PyTorch: reduce rows of `src` into rows of a matrix, in place.
//! let mut totals = array![[10, 20], [30, 40]];
//! strew::torch::scatter_reduce_(&mut totals, 0, &array![[1i64, 0]], &array![[5, 6]], "sum".parse()?, true)?;
//! assert_eq!(totals, array![[10, 26], [35, 40]]);
//! # Ok::<(), strew::Error>(())
//! ```
//!
//! Each framework's operators are in the module of its name, such as [`torch`];
//! [`scatter`](fn@scatter) and [`gather`] are for code without a framework in mind. Each has two
//! forms: a typed one over slices, `ndarray` arrays and [`Tensor`]s, and an erased one (`..._dyn`)
//! over [`DynView`]s. [`OPERATORS`] lists them as data. Their derivatives are in [`grad`].
//!
//! # What goes in and what comes out
//!
//! A typed operator takes its inputs by value or by reference ([`AsTensor`]): vectors, boxed slices,
//! slices, arrays, also of arrays (`[[f32; 2]; 3]` has two axes), [`Tensor`]s, and arrays and views
//! of `ndarray`. [`TensorView::from_slice`] gives a slice a shape: it is `None` if the shape has
//! another number of elements. An index can be of any integer type ([`Index`]), `usize` included;
//! floats do not compile (only MXNet's operators take them, as MXNet does):
//!
//! ```compile_fail,E0277
//! let sums = strew::torch_scatter::scatter_sum([1.0, 2.0], vec![0.0, 1.0], 0);
//! ```
//!
//! The rules of a framework about index types are for its own
//! arrays: the erased forms, Python and the command line keep to them.
//!
//! Options come last and by value: `ScatterOptions::default()`. The reduction stands before them,
//! and before the tensor that is reduced into.
//!
//! The result is a [`Tensor`]: [`as_slice`](Tensor::as_slice) or [`into_vec`](Tensor::into_vec) for
//! its elements, `len()`, `{}` to print it, `try_into()` for an `Array1`, `Array2`, ... of `ndarray`.
//!
//! ```
//! use ndarray::{Array2, array};
//!
//! let src = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
//! let sums = strew::torch_scatter::scatter_sum(src.t(), vec![0u32, 0, 1], 1)?;
//! assert_eq!(sums.to_string(), "[[4.0, 5.0], [6.0, 6.0]]");
//! let sums: Array2<f64> = sums.try_into()?;
//! assert_eq!(sums, array![[4.0, 5.0], [6.0, 6.0]]);
//!
//! // The gradient of an embedding, of which three rows of two numbers lie in a vector.
//! let (grad, tokens) = (vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], vec![3usize, 0, 3]);
//! let grad = strew::TensorView::from_slice(&grad, &[3, 2]).expect("3 * 2 elements");
//! let options = strew::ScatterOptions { dim_size: Some(4), ..Default::default() };
//! let table = strew::scatter(grad, &tokens, 0, strew::Reduce::Sum, options)?;
//! assert_eq!(table.to_string(), "[[3.0, 4.0], [0.0, 0.0], [0.0, 0.0], [6.0, 8.0]]");
//! # Ok::<(), strew::Error>(())
//! ```
//!
//! # Where to begin
//!
//! | you want | use |
//! |---|---|
//! | one reduction of groups: sum, mean, min, max, product | [`scatter`](fn@scatter), or the framework's function that you know |
//! | one statistic of groups: median, variance, count, ... | [`aggregate`](fn@aggregate), with one of [`aggregates`] |
//! | an index that is used more than once, several results at once | [`Plan`] |
//! | a reduction of your own | [`Fold`] and [`Plan::fold`] |
//! | an operator of your own or of another framework | [`mod@scatter`], and `examples/dialect.rs` |
//! | values that come chunk by chunk | [`Accumulator`] |
//!
//! By the names that people know:
//!
//! | job | call |
//! |---|---|
//! | group-by mean | [`torch_scatter::scatter_mean`]`(values, groups, 0)` |
//! | size of each group, counts of keys, `bincount` | [`Plan::counts`], or [`numpy::bincount`]`(keys, 0)` |
//! | histogram with weights | [`numpy::bincount_weights`]`(bins, weights, count)` |
//! | several statistics of groups | [`Plan::aggregates`] |
//! | gradient of an embedding | [`scatter`](fn@scatter)`(grad, tokens, 0, Reduce::Sum, options)` with `dim_size: Some(vocabulary)` |
//! | max pooling by segment, with positions | [`torch_scatter::scatter_max`]`(values, segments, 0, None)` |
//! | update of a KV cache, rows replaced in place | [`scatter_into`] with [`Reduce::Assign`] |
//! | message passing | [`Plan::gather`] of the sources, then [`Plan::scatter`] into the targets |
//! | sums that do not depend on the order | [`Reduce::ExactSum`] |
//! | numbers outside of the range left out | [`Bounds::DROP`] in [`ScatterOptions`] or [`Plan::builder`] |
//!
//! An index has numbers. Keys of another type, such as strings, become numbers first:
//!
//! ```
//! let carriers = ["UA", "AA", "UA"];
//! let mut names = carriers.to_vec();
//! names.sort_unstable();
//! names.dedup();
//! let number = |name: &&str| names.partition_point(|other| other < name);
//! let groups: Vec<usize> = carriers.iter().map(number).collect();
//! let means = strew::torch_scatter::scatter_mean([80.0, 120.0, 100.0], groups, 0)?;
//! assert_eq!((names, means.into_vec()), (vec!["AA", "UA"], vec![120.0, 90.0]));
//! # Ok::<(), strew::Error>(())
//! ```
//!
//! # Features
//!
//! Each framework is a feature of its module's name: `jax`, `mindspore`, `mxnet`, `numpy`,
//! `numpy_groupies`, `onnx`, `openvino`, `paddle`, `stablehlo`, `tensorflow`, `torch` and
//! `torch_scatter`. `frameworks` has all of them. `ndarray` has conversions from and to the arrays
//! of ndarray 0.17. All are on by default. `ndarray_0_16` has the same conversions for ndarray
//! 0.16, and both can be on. For PyTorch's operators and their derivatives only:
//!
//! ```toml
//! strew = { version = "0.1", default-features = false, features = ["torch"] }
//! ```
//!
//! [`scatter`](fn@scatter), [`gather`] and [`Plan`] need no feature.
//!
//! # The contract
//!
//! 1. Every operator *is* the sequential loop over the updates in row-major order: same bits,
//!    whatever strategy runs and on however many threads. Only which NaN a NaN is (its sign and
//!    payload) is left open: compilers exchange the operands of an addition as they like.
//! 2. On an error, the destination is as it was.
//! 3. No index value, shape or stride reaches memory outside the arrays.
//! 4. Nothing panics or aborts on any input; what is wrong is an [`Error`].
//! 5. 16-bit floats accumulate in `f32` and are rounded once; integers wrap; counts are exact.
//!
//! # Errors
//!
//! Nothing has been written when an operator returns an [`Error`]:
//!
//! ```
//! let index = [0i64, 7];
//! let err = strew::torch_scatter::scatter(&[1.0f32, 2.0], &index, -1, Some(3), "sum".parse()?)
//!     .unwrap_err();
//! assert_eq!(
//!     err.to_string(),
//!     "torch_scatter.scatter: index[1] = 7: index 7 is out of bounds for dimension 0 with size 3"
//! );
//! let strew::Problem::IndexOutOfBounds { position, value, size, .. } = err.problem() else {
//!     unreachable!()
//! };
//! assert_eq!((&position[..], value.integer(), *size), (&[1][..], Some(7), Some(3)));
//! # Ok::<(), strew::Error>(())
//! ```
//!
//! # Progress and interrupts
//!
//! [`watch`] shows the progress of operators to a [`Monitor`], which may stop them:
//!
//! ```
//! use std::{cell::Cell, rc::Rc};
//!
//! struct Never(Cell<u64>);
//! impl strew::Monitor for Never {
//!     fn progress(&self, _done: u64, total: u64) -> bool {
//!         self.0.set(total);
//!         false
//!     }
//! }
//!
//! let monitor = Rc::new(Never(Cell::new(0)));
//! let mut x = [1.0f32, 1.0];
//! let result = strew::watch(monitor.clone(), || {
//!     strew::mindspore::scatter_mul(&mut x, &[0i32, 1], &[5.0f32, 7.0])
//! });
//! assert!(matches!(result.unwrap_err().problem(), strew::Problem::Interrupted));
//! assert_eq!(x, [1.0, 1.0]);
//! ```

#![forbid(unsafe_code)]

mod dialect;
pub mod grad;

/// What to do: [`Scatter`](scatter::Scatter), the one description that every dialect lowers to.
pub mod scatter {
    pub use strew_engine::describe::{
        Component, Destinations, Finish, Gather, Init, Output, PickedAxes, Place, Pointer,
        Reduction, Scatter, Shapes, Start, Target, TupleEntry,
    };
}

pub use dialect::*;
pub use half::{bf16, f16};
pub use num_complex::{Complex32, Complex64};
pub use strew_engine::accumulator::Accumulator;
pub use strew_engine::describe::bounds::{Bounds, Negative, OutOfRange};
pub use strew_engine::describe::pairing::Pairing;
pub use strew_engine::describe::split::Split;
pub use strew_engine::describe::strategy::Strategy;
pub use strew_engine::explain::profile::Profile;
pub use strew_engine::explain::report::{Alternative, Report};
pub use strew_engine::keys::{Numbered, Word, join_keys, number_keys, number_strings};
pub use strew_engine::plan::way::Way;
pub use strew_engine::strategy::execution::Execution;
pub use strew_engine::traffic::text::Explanation;
pub use strew_engine::traffic::{Move, Stage, Traffic};
pub use strew_kernel::cpu::isa::{InstructionSet, instruction_set, set_instruction_set};
pub use strew_kernel::error::{Class, Error, IndexValue, Problem, Result};
pub use strew_kernel::ops::reduction::{Combine, Nan};
pub use strew_kernel::runtime::environment::check_environment;
pub use strew_kernel::runtime::machine::{Machine, Rates};
pub use strew_kernel::runtime::monitor::{Monitor, watch};
pub use strew_kernel::runtime::settings::parse_bytes;
#[doc(hidden)]
pub use strew_kernel::runtime::threads::room_for as room_for_threads;
pub use strew_kernel::runtime::threads::{
    after_fork, before_fork, num_threads, set_default_threads, set_num_threads, with_threads,
};
pub use strew_kernel::tensor::{
    AsTensor, DType, Dims, DynTensor, DynView, DynViewMut, Element, Held, Index, Layout, Scalar,
    Strides, Tensor, TensorView, TensorViewMut, UnknownDType, kept_memory, memory_limit,
    set_kept_memory, set_memory_limit,
};

/// The examples of README.md, as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
