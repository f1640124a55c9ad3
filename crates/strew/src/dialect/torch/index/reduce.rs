//! `index_reduce`: slices that are reduced.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use crate::dialect::torch::arguments::{DIM, INPUT, in_place};
use crate::dialect::torch::index::{INDEX, SOURCE, along, expect_slices};
use crate::dialect::torch::reduce::Reduce;
use crate::dialect::torch::{Input, Refusal, call, context, index_class};
use strew_engine::checks::axis;
use strew_engine::scatter::bounds::Bounds;
use strew_kernel::error::Result;
use strew_kernel::tensor::{
    AsTensor, DynTensor, DynView, DynViewMut, Element, Index, Tensor, TensorViewMut,
};

const REDUCE: [Argument; 6] = [
    INPUT,
    DIM,
    INDEX,
    SOURCE,
    Argument::needed("reduce", Kind::Text, "prod, mean, amax or amin")
        .of(&["prod", "mean", "amax", "amin"]),
    Argument::needed(
        "include_self",
        Kind::Bool,
        "whether what input holds takes part where slices of source go",
    )
    .or("True"),
];

pub(in crate::dialect::torch) const INDEX_REDUCE: Operator = Operator {
    name: "torch.index_reduce",
    summary: "A copy of input with slices of source reduced into those that index names along dim",
    arguments: &REDUCE,
    returns: &["out"],
    lower: |args| {
        let input = args.tensor("input")?;
        reduce_from_table(args, "torch.index_reduce", input.into())
    },
};

pub(in crate::dialect::torch) const INDEX_REDUCE_: Operator = Operator {
    name: "torch.index_reduce_",
    summary: "Reduces slices of source, in place, into those that index names along dim",
    arguments: &in_place(REDUCE),
    returns: &["input"],
    lower: |args| {
        let input = args.target("input")?;
        reduce_from_table(args, "torch.index_reduce_", input.into())
    },
};

fn reduce_from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    input: Input<'a>,
) -> Result<Call<'a>> {
    let dim = args.int("dim")?;
    let index = args.tensor("index")?;
    let source = args.tensor("source")?;
    let word = args.text("reduce")?;
    let include_self = args.bool_or("include_self", true);
    lower_reduce(operator, input, dim, index, source, &word, include_self)
}

/// `input` with slices of `source` reduced into those that `index` names along `dim`.
///
/// [`index_add`](crate::torch::index_add) with another reduction: [`Reduce::Prod`],
/// [`Reduce::Mean`], [`Reduce::Amax`] or [`Reduce::Amin`], each with the rules of
/// [`scatter_reduce`](crate::torch::scatter_reduce).
///
/// ```
/// use strew::torch::{Reduce, index_reduce};
///
/// let out = index_reduce(&[2, 2, 2], 0, &[0i64, 2, 0], &[3, 4, 5], Reduce::Prod, true)?;
/// assert_eq!(out.as_slice(), [30, 2, 8]);
/// let out = index_reduce(&[2, 2, 2], 0, &[0i64, 2, 0], &[3, 4, 5], Reduce::Mean, false)?;
/// assert_eq!(out.as_slice(), [4, 2, 4]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`index_add`](crate::torch::index_add); [`Class::Runtime`](crate::Class::Runtime) for
/// [`Reduce::Sum`] too, and [`Class::NotImplemented`](crate::Class::NotImplemented) for a reduction
/// that the type has not.
pub fn index_reduce<T: Element, I: Index>(
    input: impl AsTensor<T>,
    dim: i64,
    index: impl AsTensor<I>,
    source: impl AsTensor<T>,
    reduce: Reduce,
    include_self: bool,
) -> Result<Tensor<T>> {
    lower_reduce(
        "torch.index_reduce",
        input.as_tensor().of_rust().into(),
        dim,
        index.as_tensor().of_rust(),
        source.as_tensor().of_rust(),
        reduce.name(),
        include_self,
    )?
    .run_typed()
}

/// [`index_reduce`] with element types known at run time, and words as PyTorch's. The errors are
/// the same.
pub fn index_reduce_dyn<'a>(
    input: DynView<'a>,
    dim: i64,
    index: DynView<'a>,
    source: DynView<'a>,
    reduce: &str,
    include_self: bool,
) -> Result<DynTensor> {
    lower_reduce(
        "torch.index_reduce",
        input.into(),
        dim,
        index,
        source,
        reduce,
        include_self,
    )?
    .run_dyn()
}

/// [`index_reduce`] in place.
///
/// # Errors
/// As [`index_reduce`]; `input` is then unchanged.
pub fn index_reduce_<'a, T: Element, I: Index>(
    input: impl Into<TensorViewMut<'a, T>>,
    dim: i64,
    index: impl AsTensor<I>,
    source: impl AsTensor<T>,
    reduce: Reduce,
    include_self: bool,
) -> Result<()> {
    lower_reduce(
        "torch.index_reduce_",
        input.into().into_dyn().into(),
        dim,
        index.as_tensor().of_rust(),
        source.as_tensor().of_rust(),
        reduce.name(),
        include_self,
    )?
    .run_in_place()
}

/// [`index_reduce_`] with element types known at run time, and words as PyTorch's. The errors are
/// the same.
pub fn index_reduce_dyn_<'a>(
    input: DynViewMut<'a>,
    dim: i64,
    index: DynView<'a>,
    source: DynView<'a>,
    reduce: &str,
    include_self: bool,
) -> Result<()> {
    lower_reduce(
        "torch.index_reduce_",
        input.into(),
        dim,
        index,
        source,
        reduce,
        include_self,
    )?
    .run_in_place()
}

fn lower_reduce<'a>(
    operator: &'static str,
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    source: DynView<'a>,
    reduce: &str,
    include_self: bool,
) -> Result<Call<'a>> {
    let describe = || {
        if !matches!(reduce, "prod" | "mean" | "amax" | "amin") {
            return Err(Refusal::from(wrong_value(
                "reduce",
                format_args!("{reduce:?}"),
                "index_reduce(): Expected reduce to be one of prod, mean, amax or amin",
            )));
        }
        let reduction = Reduce::parse(reduce)?.reduction(include_self);
        let dim = axis("dim", dim, input.shape().len())?;
        expect_slices("index_reduce", &input, dim, &index, &source)?;
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
