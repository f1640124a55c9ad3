//! `SliceScatter-15`.
//!
//! Source of the semantics: the operator's document and
//! `src/core/shape_inference/include/slice_scatter_shape_inference.hpp`.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_axes, expect_dtype_of, wrong_value};
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::operator::Arguments;
use crate::dialect::framework::scatter_forms::into_copy;
use crate::dialect::openvino::call;
use smallvec::SmallVec;
use std::borrow::Cow;
use strew_engine::checks::{axis, expect_shape};
use strew_engine::describe::Scatter;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::Reduction;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{Dims, Strides};

rows! {
    (
        data: tensor<T> => "the tensor to change, of rank 1 or more, any dtype";
        updates: tensor<T> => "the slice's new values: data's dtype, and exactly the slice's shape";
        start: integers => "where each sliced axis begins; negative counts from the end";
        stop: integers => "where each sliced axis ends, not included; negative counts from the end";
        step: integers => "the step of each sliced axis; not 0";
        axes: optional_integers => "the axes that start, stop and step speak of; None: the first ones";
    ) -> out;

    const SLICE_SCATTER = "openvino.slice_scatter":
        "SliceScatter-15: a copy of data with the slice start:stop:step replaced by updates"
        = from_table(lower_from);
}

fn lower_from<'a>(args: &mut Arguments<'a>) -> Result<Call<'a>> {
    let data = args.tensor("data")?;
    let updates = args.tensor("updates")?;
    let slice = Slice {
        start: args.integers("start")?,
        stop: args.integers("stop")?,
        step: args.integers("step")?,
        axes: args.optional_integers("axes"),
    };
    lower(data, updates, &slice)
}

/// The slice's own arguments.
#[derive(Clone, Debug)]
pub(crate) struct Slice<'a> {
    pub(crate) start: Integers<'a>,
    pub(crate) stop: Integers<'a>,
    pub(crate) step: Integers<'a>,
    pub(crate) axes: Option<Integers<'a>>,
}

/// What a slice selects: on each axis the first coordinate, the step, and how many.
#[derive(Debug)]
pub(crate) struct Selected {
    pub(crate) first: Dims,
    pub(crate) step: Strides,
    pub(crate) count: Dims,
}

/// A copy of `data` in which the slice `start:stop:step` along `axes` is replaced by `updates`.
///
/// `start`, `stop` and `step` follow Python's slice rule on each axis (negative values count from
/// the end, then everything is clamped); `updates` must have exactly the slice's shape: nothing is
/// broadcast. Empty lists slice nothing, so `updates` replaces all of `data`.
///
/// ```
/// let out = strew::openvino::slice_scatter(&[0, 1, 2, 3, 4, 5], &[10, 30], &[4], &[0], &[-2], None)?;
/// assert_eq!(out.as_slice(), [0, 1, 30, 3, 10, 5]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Value`](crate::Class::Value) for lengths, axes, steps or shapes that do not fit.
pub fn slice_scatter<T: Element>(
    data: impl AsTensor<T>,
    updates: impl AsTensor<T>,
    start: &[i64],
    stop: &[i64],
    step: &[i64],
    axes: Option<&[i64]>,
) -> Result<Tensor<T>> {
    let (data, updates) = (data.as_tensor().of_rust(), updates.as_tensor().of_rust());
    let slice = Slice {
        start: start.into(),
        stop: stop.into(),
        step: step.into(),
        axes: axes.map(Integers::from),
    };
    lower(data, updates, &slice)?.run_typed()
}

/// [`slice_scatter`] with element types known at run time, and start, stop, step and axes as lists
/// or as tensors of any integer type.
///
/// # Errors
/// As [`slice_scatter`]; [`Class::Type`](crate::Class::Type) for dtypes that do not fit.
pub fn slice_scatter_dyn<'a>(
    data: DynView<'a>,
    updates: DynView<'a>,
    start: Integers<'_>,
    stop: Integers<'_>,
    step: Integers<'_>,
    axes: Option<Integers<'_>>,
) -> Result<DynTensor> {
    let slice = Slice {
        start,
        stop,
        step,
        axes,
    };
    lower(data, updates, &slice)?.run_dyn()
}

fn lower<'a>(data: DynView<'a>, updates: DynView<'a>, slice: &Slice<'_>) -> Result<Call<'a>> {
    call("openvino.slice_scatter", describe(data, updates, slice))
}

fn describe<'a>(
    data: DynView<'a>,
    updates: DynView<'a>,
    slice: &Slice<'_>,
) -> Result<Scatter<'a>, Problem> {
    let rank = data.rank();
    expect_axes("data", data.shape())?;
    expect_shape("updates", updates.shape(), updates.rank() == rank, || {
        format!("it must have data's {rank} dimensions")
    })?;
    expect_dtype_of("updates", updates.dtype(), "data", data.dtype())?;
    let Selected { first, step, count } = slice.select(data.shape())?;
    expect_shape(
        "updates",
        updates.shape(),
        updates.shape() == &*count,
        || format!("it must be the slice's shape, {count:?}; nothing is broadcast"),
    )?;
    let destinations = Destinations::affine(data.shape(), &first, &step, &count)?;
    let reduction = Reduction::into_self(Combine::Assign);
    into_copy(data, destinations, reduction, "updates", updates)
}

impl Slice<'_> {
    /// What it selects of a tensor of this shape.
    pub(crate) fn select(&self, shape: &[usize]) -> Result<Selected, Problem> {
        let (slice, rank) = (self, shape.len());
        let start = listed("start", &slice.start, rank)?;
        let stop = listed("stop", &slice.stop, rank)?;
        let step = listed("step", &slice.step, rank)?;
        let axes = slice
            .axes
            .as_ref()
            .map(|axes| listed("axes", axes, rank))
            .transpose()?;
        for (name, other) in [("stop", &stop), ("step", &step)]
            .into_iter()
            .chain(axes.as_ref().map(|a| ("axes", a)))
        {
            expect_shape(name, &[other.len()], other.len() == start.len(), || {
                format!("it must have as many values as start, {}", start.len())
            })?;
        }
        let mut first = Dims::from_elem(0, rank);
        let mut by = Strides::from_elem(1, rank);
        let mut count = Dims::from_slice(shape);
        let mut taken = SmallVec::<[bool; 4]>::from_elem(false, rank);
        for k in 0..start.len() {
            let named = axes.as_ref().map_or(k as i64, |axes| axes[k]);
            let along = axis(format_args!("axes[{k}]"), named, rank)?;
            let refuse = |argument: &str, value: i64, expected: &str| {
                wrong_value(format_args!("{argument}[{k}]"), value, expected)
            };
            if std::mem::replace(&mut taken[along], true) {
                return Err(refuse(
                    "axes",
                    named,
                    "it names an axis that was named before",
                ));
            }
            if step[k] == 0 {
                return Err(refuse("step", 0, "it must not be 0"));
            }
            let picked = slice_of(shape[along], start[k], stop[k], step[k]);
            (first[along], by[along], count[along]) = picked;
        }
        Ok(Selected {
            first,
            step: by,
            count,
        })
    }
}

fn listed<'v>(
    argument: &'static str,
    values: &'v Integers<'_>,
    rank: usize,
) -> Result<Cow<'v, [i64]>, Problem> {
    let list = values.list(argument)?;
    expect_shape(argument, &[list.len()], list.len() <= rank, || {
        format!("it must have at most as many values as data has dimensions, {rank}")
    })?;
    Ok(list)
}

/// First coordinate, step and count of Python's slice on an axis of `size`; `step` is not 0.
#[allow(clippy::cast_possible_truncation)]
fn slice_of(size: usize, start: i64, stop: i64, step: i64) -> (usize, isize, usize) {
    // In i128 no sum of two i64 overflows, nor does a division of their difference.
    let (n, step) = (size as i128, i128::from(step));
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let clamp = |value: i64| {
        let value = i128::from(value);
        let value = if value < 0 { value + n } else { value };
        value.clamp(low, high)
    };
    let (start, stop) = (clamp(start), clamp(stop));
    let span = if step > 0 { stop - start } else { start - stop };
    // No more than one beyond the size, so that 64 bits hold it: they are divided much faster.
    let count = (span.max(0) as u64).div_ceil(step.unsigned_abs() as u64);
    // A single cell needs no step; more of them keep it below the size.
    let step = if count > 1 { step as isize } else { 1 };
    (start.max(0) as usize, step, count as usize)
}
