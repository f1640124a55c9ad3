//! `index_fill`: slices that become one number.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{is_rust_index, wrong_value};
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use crate::dialect::torch::arguments::{DIM, INPUT, in_place};
use crate::dialect::torch::index::{LONG, along, at_least_1d};
use crate::dialect::torch::scatter::repeated;
use crate::dialect::torch::{Input, Refusal, call, context, index_class, index_error};
use strew_engine::checks::{axis, expect_dtype, expect_shape};
use strew_engine::scatter::reduction::Reduction;
use strew_kernel::error::Result;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{
    AsTensor, DType, DynTensor, DynView, DynViewMut, Element, Index, Scalar, Tensor, TensorViewMut,
};

const FILL: [Argument; 4] = [
    INPUT,
    DIM,
    LONG,
    Argument::needed(
        "value",
        Kind::Scalar,
        "what the slices become, made an element of input's dtype",
    ),
];

pub(in crate::dialect::torch) const INDEX_FILL: Operator = Operator {
    name: "torch.index_fill",
    summary: "A copy of input with the slices that index names along dim filled with value",
    arguments: &FILL,
    returns: &["out"],
    lower: |args| {
        let input = args.tensor("input")?;
        fill_from_table(args, "torch.index_fill", input.into())
    },
};

pub(in crate::dialect::torch) const INDEX_FILL_: Operator = Operator {
    name: "torch.index_fill_",
    summary: "Fills, in place, the slices that index names along dim with value",
    arguments: &in_place(FILL),
    returns: &["input"],
    lower: |args| {
        let input = args.target("input")?;
        fill_from_table(args, "torch.index_fill_", input.into())
    },
};

fn fill_from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    input: Input<'a>,
) -> Result<Call<'a>> {
    let dim = args.int("dim")?;
    let index = args.tensor("index")?;
    lower_fill(operator, input, dim, index, args.scalar("value")?)
}

/// `input` with the slices that `index` names along `dim` filled with `value`.
///
/// * `index`: integers in `-input.shape[dim]..input.shape[dim]`, 1-d or 0-d; negative counts from
///   the end.
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
/// [`Class::Index`](crate::Class::Index) for a wrong `dim`, another type of `index` and one out of
/// bounds; [`Class::Runtime`](crate::Class::Runtime) for everything else.
pub fn index_fill<T: Element, I: Index>(
    input: impl AsTensor<T>,
    dim: i64,
    index: impl AsTensor<I>,
    value: impl Into<Scalar>,
) -> Result<Tensor<T>> {
    lower_fill(
        "torch.index_fill",
        input.as_tensor().of_rust().into(),
        dim,
        index.as_tensor().of_rust(),
        value.into(),
    )?
    .run_typed()
}

/// [`index_fill`] with element types known at run time, and the same errors.
pub fn index_fill_dyn<'a>(
    input: DynView<'a>,
    dim: i64,
    index: DynView<'a>,
    value: Scalar,
) -> Result<DynTensor> {
    lower_fill("torch.index_fill", input.into(), dim, index, value)?.run_dyn()
}

/// [`index_fill`] in place.
///
/// # Errors
/// As [`index_fill`]; `input` is then unchanged.
pub fn index_fill_<'a, T: Element, I: Index>(
    input: impl Into<TensorViewMut<'a, T>>,
    dim: i64,
    index: impl AsTensor<I>,
    value: impl Into<Scalar>,
) -> Result<()> {
    lower_fill(
        "torch.index_fill_",
        input.into().into_dyn().into(),
        dim,
        index.as_tensor().of_rust(),
        value.into(),
    )?
    .run_in_place()
}

/// [`index_fill_`] with element types known at run time, and the same errors.
pub fn index_fill_dyn_<'a>(
    input: DynViewMut<'a>,
    dim: i64,
    index: DynView<'a>,
    value: Scalar,
) -> Result<()> {
    lower_fill("torch.index_fill_", input.into(), dim, index, value)?.run_in_place()
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
