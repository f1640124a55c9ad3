//! `slice_scatter`, `select_scatter`: slices that numbers name, without an index.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::declaration::*;
use crate::dialect::torch::arguments::INPUT;
use crate::dialect::torch::{Refusal, call, class, context, index_error};
use strew_engine::checks::{axis, expect_shape};
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{Dims, Strides};

const SRC: &str = "the new values, exactly of the slice's shape; of input's dtype, or of one that \
     becomes it without loss";

operators! {
    <T: Element> dyn<'a> (
        input: tensor<T> => INPUT;
        src: tensor<T> => SRC;
        dim: int = 0 => "the sliced axis; negative counts from the end";
        start: optional_int => "where the slice begins; negative counts from the end";
        end: optional_int => "where the slice ends, not included; negative counts from the end";
        step: int = 1 => "the step of the slice: positive";
    ) -> out;

    /// `input` with the slice `start..end` along `dim`, every `step`-th, replaced by `src`.
    ///
    /// Bounds follow Python's slice rule: negative ones count from the end, then everything is
    /// clamped; `None` is the axis's own end. `src` has exactly the slice's shape.
    ///
    /// ```
    /// let out = strew::torch::slice_scatter(&[0, 0, 0, 0, 0], &[1, 2], 0, Some(-4), None, 2)?;
    /// assert_eq!(out.as_slice(), [0, 1, 0, 2, 0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`](crate::Class::Index) for a wrong `dim`, and for a 0-d `input`;
    /// [`Class::Runtime`](crate::Class::Runtime) for everything else.
    pub fn slice_scatter, pub fn slice_scatter_dyn = lower_slice;
    const SLICE_SCATTER = "torch.slice_scatter":
        "A copy of input with the slice start:end:step along dim replaced by src";
}

operators! {
    <T: Element> dyn<'a> (
        input: tensor<T> => INPUT;
        src: tensor<T> => SRC;
        dim: int => "the axis that index is of; negative counts from the end";
        index: int => "which slice is replaced; negative counts from the end";
    ) -> out;

    /// `input` with the slice at `index` along `dim` replaced by `src`, which has `input`'s shape
    /// without `dim`.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let out = strew::torch::select_scatter(&array![[1, 2], [3, 4]], &[5, 6], 1, -1)?;
    /// assert_eq!(out.as_slice(), [1, 5, 3, 6]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`](crate::Class::Index) for a wrong `dim` or `index`, and for a 0-d `input`;
    /// [`Class::Runtime`](crate::Class::Runtime) for everything else.
    pub fn select_scatter, pub fn select_scatter_dyn = lower_select;
    const SELECT_SCATTER = "torch.select_scatter":
        "A copy of input with the slice at index along dim replaced by src";
}

#[allow(clippy::too_many_arguments)] // They are PyTorch's.
fn lower_slice<'a>(
    operator: &'static str,
    input: DynView<'a>,
    src: DynView<'a>,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Call<'a>> {
    let describe = || {
        expect_shape("input", input.shape(), input.rank() > 0, || {
            "slice() cannot be applied to a 0-dim tensor.".into()
        })
        .map_err(index_error)?;
        let dim = axis("dim", dim, input.rank())?;
        let by = usize::try_from(step).ok().filter(|&by| by > 0);
        let by = by.ok_or_else(|| wrong_value("step", step, "slice step must be positive"))?;
        let size = input.shape()[dim];
        let clamp = |bound: i64| {
            let from_end = if bound < 0 { size as i128 } else { 0 };
            (i128::from(bound) + from_end).clamp(0, size as i128) as usize
        };
        let first = clamp(start.unwrap_or(0));
        let behind = clamp(end.unwrap_or(i64::MAX)).max(first);
        let count = (behind - first).div_ceil(by);
        let mut shape = input.dims();
        shape[dim] = count;
        expect_same(&src, &shape)?;
        replace(input, src, dim, first, by, count)
    };
    call(context(operator, class), describe())
}

fn lower_select<'a>(
    operator: &'static str,
    input: DynView<'a>,
    src: DynView<'a>,
    dim: i64,
    index: i64,
) -> Result<Call<'a>> {
    let describe = || {
        expect_shape("input", input.shape(), input.rank() > 0, || {
            "select() cannot be applied to a 0-dim tensor.".into()
        })
        .map_err(index_error)?;
        let dim = axis("dim", dim, input.rank())?;
        let size = input.shape()[dim];
        let at = if index < 0 {
            index.saturating_add_unsigned(size as u64)
        } else {
            index
        };
        let at = usize::try_from(at).ok().filter(|&at| at < size);
        let at = at.ok_or_else(|| {
            index_error(wrong_value("index", index, format_args!(
                    "select(): index {index} out of range for tensor of size {:?} at dimension {dim}",
                    input.shape()
                )))
        })?;
        let mut shape = input.dims();
        shape.remove(dim);
        expect_same(&src, &shape)?;
        replace(input, src.insert_axis(dim), dim, at, 1, 1)
    };
    call(context(operator, class), describe())
}

fn expect_same(src: &DynView<'_>, shape: &[usize]) -> Result<(), Problem> {
    expect_shape("src", src.shape(), src.shape() == shape, || {
        format!("expected src to have a size equal to the slice of self, {shape:?}")
    })
}

/// Every `step`-th of the slices along an axis, from `first` on, `count` of them.
fn replace<'a>(
    input: DynView<'a>,
    src: DynView<'a>,
    dim: usize,
    first: usize,
    step: usize,
    count: usize,
) -> Result<Scatter<'a>, Refusal> {
    let shape = input.dims();
    let mut start = Dims::from_elem(0, shape.len());
    let mut by = Strides::from_elem(1, shape.len());
    let mut counts = shape.clone();
    (start[dim], counts[dim]) = (first, count);
    // A single slice needs no step; more of them keep it below the size.
    by[dim] = if count > 1 { step.cast_signed() } else { 1 };
    let destinations = Destinations::affine(&shape, &start, &by, &counts)?;
    let target = Target::New {
        dtype: input.dtype(),
        start: Start::CopyOf(input),
    };
    let reduction = Reduction::into_self(Combine::Assign);
    Ok(Scatter::new(destinations, reduction, "src", src, target)?)
}
