//! `index_fill`: slices that become one number.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{is_rust_index, wrong_value};
use crate::dialect::framework::declaration::*;
use crate::dialect::torch::arguments::{DIM, pair};
use crate::dialect::torch::index::{LONG, along, at_least_1d};
use crate::dialect::torch::scatter::repeated;
use crate::dialect::torch::{Input, Refusal, call, context, index_class, index_error};
use strew_engine::checks::{axis, expect_dtype, expect_shape};
use strew_engine::describe::reduction::Reduction;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::DType;

pair! {
    <T: Element, I: Index> (
        dim: int => DIM;
        index: tensor<I> => LONG;
        value: scalar => "what the slices become, made an element of input's dtype";
    );

    /// `input` with the slices that `index` names along `dim` filled with `value`.
    ///
    /// * `index`: integers in `-input.shape[dim]..input.shape[dim]`, 1-d or 0-d; negative counts
    ///   from the end.
    /// * `value`: made an element of `T`; fractions are cut off for integers.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let out = strew::torch::index_fill(&array![[1, 2, 3], [4, 5, 6]], 1, &[0i64, -1], -1)?;
    /// assert_eq!(out.as_slice(), [-1, 2, -1, -1, 5, -1]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`](crate::Class::Index) for a wrong `dim`, another type of `index` and one out
    /// of bounds; [`Class::Runtime`](crate::Class::Runtime) for everything else.
    pub fn index_fill, pub fn index_fill_dyn = lower_fill;
    const INDEX_FILL = "torch.index_fill":
        "A copy of input with the slices that index names along dim filled with value";

    pub fn index_fill_, pub fn index_fill_dyn_;
    const INDEX_FILL_ = "torch.index_fill_":
        "Fills, in place, the slices that index names along dim with value";
}

fn lower_fill<'a>(
    operator: &'static str,
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    value: Scalar,
) -> Result<Call<'a>> {
    let describe = || {
        expect_dtype(
            "index",
            index.dtype(),
            index.dtype() == DType::I64 || is_rust_index(&index),
            "index_fill_(): Expected dtype int64 for index",
        )
        .map_err(index_error)?;
        if matches!(value, Scalar::Complex(_)) && !input.dtype().is_complex() {
            return Err(Refusal::from(wrong_value(
                "value",
                value,
                "index_fill_(): Converting complex Scalar to non-complex type is not supported",
            )));
        }
        let dim = axis("dim", dim, input.shape().len())?;
        expect_shape("index", index.shape(), index.rank() <= 1, || {
            "Index has to be a vector/scalar".into()
        })?;
        let mut slices = at_least_1d(input.shape());
        slices[dim] = index.len();
        let value = repeated(value, input.dtype(), &slices)?;
        let reduction = Reduction::into_self(Combine::Assign);
        along(input, dim, &index, "value", value, reduction, WRAP)
    };
    call(context(operator, index_class), describe())
}
