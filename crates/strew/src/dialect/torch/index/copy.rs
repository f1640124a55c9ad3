//! `index_copy`: slices that are replaced.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::is_rust_index;
use crate::dialect::framework::declaration::*;
use crate::dialect::torch::arguments::{DIM, pair};
use crate::dialect::torch::index::{LONG, SOURCE, along, without};
use crate::dialect::torch::{Input, Refusal, call, context, index_class, index_error};
use strew_engine::checks::{axis, expect_dtype, expect_shape};
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::reduction::Reduction;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::DType;

pair! {
    <T: Element, I: Index> (
        dim: int => DIM;
        index: tensor<I> => LONG;
        source: tensor<T> => SOURCE;
    );

    /// `input` with the slices that `index` names along `dim` replaced by those of `source`.
    ///
    /// For a 3-d tensor and `dim == 0`: `out[index[i]][j][k] = source[i][j][k]`, in the order of
    /// `index`, so that of several the last one stays.
    ///
    /// * `index`: integers in `0..input.shape[dim]`, 1-d, or 0-d for a single slice.
    /// * `source`: of `input`'s shape, but for `dim` of `index`'s length; 0-d for a single element.
    ///
    /// ```
    /// let out = strew::torch::index_copy(&[1, 2, 3], 0, &[2i64, 0, 2], &[10, 20, 30])?;
    /// assert_eq!(out.as_slice(), [20, 2, 30]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`](crate::Class::Index) for a wrong `dim`, ranks and lengths that do not fit
    /// and an index out of bounds; [`Class::Runtime`](crate::Class::Runtime) for everything else.
    pub fn index_copy, pub fn index_copy_dyn = lower_copy;
    const INDEX_COPY = "torch.index_copy":
        "A copy of input with the slices that index names along dim replaced by those of source";

    pub fn index_copy_, pub fn index_copy_dyn_;
    const INDEX_COPY_ = "torch.index_copy_":
        "Replaces, in place, the slices that index names along dim by those of source";
}

fn lower_copy<'a>(
    operator: &'static str,
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    source: DynView<'a>,
) -> Result<Call<'a>> {
    let describe = || {
        let dim = axis("dim", dim, input.shape().len())?;
        expect_copies(&input, dim, &index, &source)?;
        let reduction = Reduction::into_self(Combine::Assign);
        along(
            input,
            dim,
            &index,
            "source",
            source.into(),
            reduction,
            Bounds::STRICT,
        )
    };
    call(context(operator, index_class), describe())
}

/// What `index_copy` wants of index and source, in PyTorch's order.
fn expect_copies(
    input: &Input<'_>,
    dim: usize,
    index: &DynView<'_>,
    source: &DynView<'_>,
) -> Result<(), Refusal> {
    expect_shape("index", index.shape(), index.rank() < 2, || {
        format!(
            "index_copy_(): Index should have dimension 1 or 0 (got {})",
            index.rank()
        )
    })
    .map_err(index_error)?;
    let (shape, found, count) = (input.shape(), source.shape(), index.len());
    expect_shape("source", found, !found.is_empty() || count == 1, || {
        format!("index_copy_(): When source is scalar, index should have one element (got {count})")
    })
    .map_err(index_error)?;
    let alike = found.len() == shape.len() || found.is_empty() || shape.is_empty();
    expect_shape("source", found, alike, || {
        format!(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. \
             Source dimensionality ({}), destination dimensionality ({})",
            found.len(),
            shape.len()
        )
    })
    .map_err(index_error)?;
    expect_dtype(
        "index",
        index.dtype(),
        index.dtype() == DType::I64 || is_rust_index(index),
        "index_copy_(): Expected a long tensor for index",
    )?;
    expect_dtype(
        "source",
        source.dtype(),
        source.dtype() == input.dtype(),
        format_args!(
            "index_copy_(): self and source expected to have the same dtype, {}",
            input.dtype()
        ),
    )?;
    let (to, from) = (without(shape, dim), without(found, dim));
    expect_shape("source", found, to == from, || {
        format!(
            "index_copy_(): Source/destination tensor must have same slice shapes. \
             Destination slice shape: {to:?} at dimension {dim} and source slice shape: {from:?} at dimension 0."
        )
    })?;
    let slices = found.get(dim).copied().unwrap_or(1);
    expect_shape("source", found, count == slices, || {
        format!(
            "index_copy_(): Number of indices ({count}) should be equal to source.size(dim) ({slices})"
        )
    })
    .map_err(index_error)
}
