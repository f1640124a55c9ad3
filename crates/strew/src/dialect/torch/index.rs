//! `index_add`, `index_copy`, `index_fill`, `index_reduce`: slices that a vector names along one
//! axis.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use crate::dialect::torch::arguments::{DIM, INPUT, in_place};
use crate::dialect::torch::reduce::Reduce;
use crate::dialect::torch::scatter::repeated;
use crate::dialect::torch::{Input, Refusal, call, context, index_class, index_error};
use strew_engine::checks::{axis, expect_dtype, expect_shape};
use strew_engine::scatter::bounds::Bounds;
use strew_engine::scatter::destinations::{Destinations, Place};
use strew_engine::scatter::reduction::Reduction;
use strew_engine::scatter::{Scatter, Start, Target};
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{
    DType, Dims, DynTensor, DynView, DynViewMut, Element, Held, Scalar, Tensor, TensorView,
    TensorViewMut,
};

const INDEX: Argument = Argument::needed(
    "index",
    Kind::Tensor,
    "where along dim each slice of source goes: int32 or int64, 1-d or 0-d",
);

const LONG: Argument = Argument {
    doc: "the slices along dim that are written: int64, 1-d or 0-d",
    ..INDEX
};

const SOURCE: Argument = Argument::needed(
    "source",
    Kind::Tensor,
    "the slices, of input's dtype: input's shape, but for dim as many as index has elements",
);

const ADD: [Argument; 5] = [
    INPUT,
    DIM,
    INDEX,
    SOURCE,
    Argument::needed(
        "alpha",
        Kind::Scalar,
        "what source is multiplied with, made an element of input's dtype",
    )
    .or("1"),
];

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

const COPY: [Argument; 4] = [INPUT, DIM, LONG, SOURCE];

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

pub(super) const INDEX_ADD: Operator = Operator {
    name: "torch.index_add",
    summary: "A copy of input with slices of source added to those that index names along dim",
    arguments: &ADD,
    returns: &["out"],
    lower: |args| {
        let input = args.tensor("input")?;
        add_from_table(args, "torch.index_add", input.into())
    },
};

pub(super) const INDEX_ADD_: Operator = Operator {
    name: "torch.index_add_",
    summary: "Adds slices of source, in place, to those that index names along dim",
    arguments: &in_place(ADD),
    returns: &["input"],
    lower: |args| {
        let input = args.target("input")?;
        add_from_table(args, "torch.index_add_", input.into())
    },
};

pub(super) const INDEX_REDUCE: Operator = Operator {
    name: "torch.index_reduce",
    summary: "A copy of input with slices of source reduced into those that index names along dim",
    arguments: &REDUCE,
    returns: &["out"],
    lower: |args| {
        let input = args.tensor("input")?;
        reduce_from_table(args, "torch.index_reduce", input.into())
    },
};

pub(super) const INDEX_REDUCE_: Operator = Operator {
    name: "torch.index_reduce_",
    summary: "Reduces slices of source, in place, into those that index names along dim",
    arguments: &in_place(REDUCE),
    returns: &["input"],
    lower: |args| {
        let input = args.target("input")?;
        reduce_from_table(args, "torch.index_reduce_", input.into())
    },
};

pub(super) const INDEX_COPY: Operator = Operator {
    name: "torch.index_copy",
    summary: "A copy of input with the slices that index names along dim replaced by those of source",
    arguments: &COPY,
    returns: &["out"],
    lower: |args| {
        let input = args.tensor("input")?;
        copy_from_table(args, "torch.index_copy", input.into())
    },
};

pub(super) const INDEX_COPY_: Operator = Operator {
    name: "torch.index_copy_",
    summary: "Replaces, in place, the slices that index names along dim by those of source",
    arguments: &in_place(COPY),
    returns: &["input"],
    lower: |args| {
        let input = args.target("input")?;
        copy_from_table(args, "torch.index_copy_", input.into())
    },
};

pub(super) const INDEX_FILL: Operator = Operator {
    name: "torch.index_fill",
    summary: "A copy of input with the slices that index names along dim filled with value",
    arguments: &FILL,
    returns: &["out"],
    lower: |args| {
        let input = args.tensor("input")?;
        fill_from_table(args, "torch.index_fill", input.into())
    },
};

pub(super) const INDEX_FILL_: Operator = Operator {
    name: "torch.index_fill_",
    summary: "Fills, in place, the slices that index names along dim with value",
    arguments: &in_place(FILL),
    returns: &["input"],
    lower: |args| {
        let input = args.target("input")?;
        fill_from_table(args, "torch.index_fill_", input.into())
    },
};

fn add_from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    input: Input<'a>,
) -> Result<Call<'a>> {
    let dim = args.int("dim")?;
    let index = args.tensor("index")?;
    let source = args.tensor("source")?;
    let alpha = args.optional_scalar("alpha").unwrap_or(Scalar::Int(1));
    lower_add(operator, input, dim, index, source, alpha)
}

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

fn copy_from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    input: Input<'a>,
) -> Result<Call<'a>> {
    let dim = args.int("dim")?;
    let index = args.tensor("index")?;
    lower_copy(operator, input, dim, index, args.tensor("source")?)
}

fn fill_from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    input: Input<'a>,
) -> Result<Call<'a>> {
    let dim = args.int("dim")?;
    let index = args.tensor("index")?;
    lower_fill(operator, input, dim, index, args.scalar("value")?)
}

/// `input` with slices of `source`, times `alpha`, added to those that `index` names along `dim`.
///
/// For a 3-d tensor and `dim == 0`: `out[index[i]][j][k] += alpha * source[i][j][k]`, in the order
/// of `index`. Sums of 16-bit floats accumulate in `f32` and are rounded once; integers wrap; for
/// bool it is a logical or. `alpha * source` is of `T`: for 16-bit floats it is rounded too.
///
/// * `index`: `i32` or `i64` in `0..input.shape[dim]`, 1-d, or 0-d for a single slice.
/// * `source`: of `input`'s shape, but for `dim` of `index`'s length; nothing is broadcast.
/// * `alpha`: made an element of `T`; fractions are cut off for integers.
///
/// ```
/// use ndarray::array;
///
/// let input = array![[1, 1], [1, 1], [1, 1]];
/// let out = strew::torch::index_add(&input, 0, &[0i64, 2, 0], &array![[1, 2], [3, 4], [5, 6]], -1)?;
/// assert_eq!(out.as_slice(), [-5, -7, 1, 1, -2, -3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Index`](crate::Class::Index) for a `dim` that is none, an `index` of more dimensions
/// and one out of bounds; [`Class::Runtime`](crate::Class::Runtime) for everything else.
pub fn index_add<'a, T: Element, I: Element>(
    input: impl Into<TensorView<'a, T>>,
    dim: i64,
    index: impl Into<TensorView<'a, I>>,
    source: impl Into<TensorView<'a, T>>,
    alpha: impl Into<Scalar>,
) -> Result<Tensor<T>> {
    let input = input.into().into_dyn();
    lower_add(
        "torch.index_add",
        input.into(),
        dim,
        index.into().into_dyn(),
        source.into().into_dyn(),
        alpha.into(),
    )?
    .run_typed()
}

/// [`index_add`] with element types known at run time, and the same errors.
pub fn index_add_dyn<'a>(
    input: DynView<'a>,
    dim: i64,
    index: DynView<'a>,
    source: DynView<'a>,
    alpha: Scalar,
) -> Result<DynTensor> {
    lower_add("torch.index_add", input.into(), dim, index, source, alpha)?.run_dyn()
}

/// [`index_add`] in place.
///
/// # Errors
/// As [`index_add`]; `input` is then unchanged.
pub fn index_add_<'a, T: Element, I: Element>(
    input: impl Into<TensorViewMut<'a, T>>,
    dim: i64,
    index: impl Into<TensorView<'a, I>>,
    source: impl Into<TensorView<'a, T>>,
    alpha: impl Into<Scalar>,
) -> Result<()> {
    let input = input.into().into_dyn();
    lower_add(
        "torch.index_add_",
        input.into(),
        dim,
        index.into().into_dyn(),
        source.into().into_dyn(),
        alpha.into(),
    )?
    .run_in_place()
}

/// [`index_add_`] with element types known at run time, and the same errors.
pub fn index_add_dyn_<'a>(
    input: DynViewMut<'a>,
    dim: i64,
    index: DynView<'a>,
    source: DynView<'a>,
    alpha: Scalar,
) -> Result<()> {
    lower_add("torch.index_add_", input.into(), dim, index, source, alpha)?.run_in_place()
}

/// `input` with slices of `source` reduced into those that `index` names along `dim`.
///
/// [`index_add`] with another reduction: [`Reduce::Prod`], [`Reduce::Mean`], [`Reduce::Amax`] or
/// [`Reduce::Amin`], each with the rules of [`scatter_reduce`](super::scatter_reduce).
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
/// As [`index_add`]; [`Class::Runtime`](crate::Class::Runtime) for [`Reduce::Sum`] too, and
/// [`Class::NotImplemented`](crate::Class::NotImplemented) for a reduction that the type has not.
pub fn index_reduce<'a, T: Element, I: Element>(
    input: impl Into<TensorView<'a, T>>,
    dim: i64,
    index: impl Into<TensorView<'a, I>>,
    source: impl Into<TensorView<'a, T>>,
    reduce: Reduce,
    include_self: bool,
) -> Result<Tensor<T>> {
    let input = input.into().into_dyn();
    lower_reduce(
        "torch.index_reduce",
        input.into(),
        dim,
        index.into().into_dyn(),
        source.into().into_dyn(),
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
pub fn index_reduce_<'a, T: Element, I: Element>(
    input: impl Into<TensorViewMut<'a, T>>,
    dim: i64,
    index: impl Into<TensorView<'a, I>>,
    source: impl Into<TensorView<'a, T>>,
    reduce: Reduce,
    include_self: bool,
) -> Result<()> {
    let input = input.into().into_dyn();
    lower_reduce(
        "torch.index_reduce_",
        input.into(),
        dim,
        index.into().into_dyn(),
        source.into().into_dyn(),
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

/// `input` with the slices that `index` names along `dim` replaced by those of `source`.
///
/// For a 3-d tensor and `dim == 0`: `out[index[i]][j][k] = source[i][j][k]`, in the order of
/// `index`, so that of several the last one stays.
///
/// * `index`: `i64` in `0..input.shape[dim]`, 1-d, or 0-d for a single slice.
/// * `source`: of `input`'s shape, but for `dim` of `index`'s length; 0-d for a single element.
///
/// ```
/// let out = strew::torch::index_copy(&[1, 2, 3], 0, &[2i64, 0, 2], &[10, 20, 30])?;
/// assert_eq!(out.as_slice(), [20, 2, 30]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Index`](crate::Class::Index) for a `dim` that is none, ranks and lengths that do not
/// fit and an index out of bounds; [`Class::Runtime`](crate::Class::Runtime) for everything else.
pub fn index_copy<'a, T: Element, I: Element>(
    input: impl Into<TensorView<'a, T>>,
    dim: i64,
    index: impl Into<TensorView<'a, I>>,
    source: impl Into<TensorView<'a, T>>,
) -> Result<Tensor<T>> {
    let input = input.into().into_dyn();
    lower_copy(
        "torch.index_copy",
        input.into(),
        dim,
        index.into().into_dyn(),
        source.into().into_dyn(),
    )?
    .run_typed()
}

/// [`index_copy`] with element types known at run time, and the same errors.
pub fn index_copy_dyn<'a>(
    input: DynView<'a>,
    dim: i64,
    index: DynView<'a>,
    source: DynView<'a>,
) -> Result<DynTensor> {
    lower_copy("torch.index_copy", input.into(), dim, index, source)?.run_dyn()
}

/// [`index_copy`] in place.
///
/// # Errors
/// As [`index_copy`]; `input` is then unchanged.
pub fn index_copy_<'a, T: Element, I: Element>(
    input: impl Into<TensorViewMut<'a, T>>,
    dim: i64,
    index: impl Into<TensorView<'a, I>>,
    source: impl Into<TensorView<'a, T>>,
) -> Result<()> {
    let input = input.into().into_dyn();
    lower_copy(
        "torch.index_copy_",
        input.into(),
        dim,
        index.into().into_dyn(),
        source.into().into_dyn(),
    )?
    .run_in_place()
}

/// [`index_copy_`] with element types known at run time, and the same errors.
pub fn index_copy_dyn_<'a>(
    input: DynViewMut<'a>,
    dim: i64,
    index: DynView<'a>,
    source: DynView<'a>,
) -> Result<()> {
    lower_copy("torch.index_copy_", input.into(), dim, index, source)?.run_in_place()
}

/// `input` with the slices that `index` names along `dim` filled with `value`.
///
/// * `index`: `i64` in `-input.shape[dim]..input.shape[dim]`, 1-d or 0-d; negative counts from the
///   end.
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
/// [`Class::Index`](crate::Class::Index) for a `dim` that is none, another type of `index` and one
/// out of bounds; [`Class::Runtime`](crate::Class::Runtime) for everything else.
pub fn index_fill<'a, T: Element, I: Element>(
    input: impl Into<TensorView<'a, T>>,
    dim: i64,
    index: impl Into<TensorView<'a, I>>,
    value: impl Into<Scalar>,
) -> Result<Tensor<T>> {
    let input = input.into().into_dyn();
    lower_fill(
        "torch.index_fill",
        input.into(),
        dim,
        index.into().into_dyn(),
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
pub fn index_fill_<'a, T: Element, I: Element>(
    input: impl Into<TensorViewMut<'a, T>>,
    dim: i64,
    index: impl Into<TensorView<'a, I>>,
    value: impl Into<Scalar>,
) -> Result<()> {
    let input = input.into().into_dyn();
    lower_fill(
        "torch.index_fill_",
        input.into(),
        dim,
        index.into().into_dyn(),
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

fn lower_add<'a>(
    operator: &'static str,
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    source: DynView<'a>,
    alpha: Scalar,
) -> Result<Call<'a>> {
    // PyTorch adds to tensors of more dimensions in another way, with another error.
    let class = match input.shape().len() {
        0 | 1 => index_class,
        _ => crate::dialect::torch::class,
    };
    let describe = || {
        let dim = axis("dim", dim, input.shape().len())?;
        expect_slices("index_add", &input, dim, &index, &source)?;
        let alpha = alpha.tensor("alpha", input.dtype())?;
        let one = Scalar::Int(1).tensor("alpha", input.dtype())?;
        let source = match alpha.as_bytes() == one.as_bytes() {
            true => Held::from(source),
            false => product(&Held::from(alpha), source)?,
        };
        let reduction = Reduction::into_self(Combine::Sum);
        along(
            input,
            dim,
            &index,
            "source",
            source,
            reduction,
            Bounds::STRICT,
        )
    };
    call(context(operator, class), describe())
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
            index.dtype() == DType::I64,
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

/// What `index_add` and `index_reduce` want of index and source, in PyTorch's order.
fn expect_slices(
    name: &str,
    input: &Input<'_>,
    dim: usize,
    index: &DynView<'_>,
    source: &DynView<'_>,
) -> Result<(), Refusal> {
    expect_shape("index", index.shape(), index.rank() <= 1, || {
        format!(
            "{name}_(): Index is supposed to be a vector, but got dim: {}",
            index.rank()
        )
    })
    .map_err(index_error)?;
    expect_dtype(
        "index",
        index.dtype(),
        matches!(index.dtype(), DType::I32 | DType::I64),
        format_args!("{name}_(): Expected dtype int32/int64 for index"),
    )?;
    expect_dtype(
        "source",
        source.dtype(),
        source.dtype() == input.dtype(),
        format_args!(
            "{name}_(): self ({}) and source must have the same scalar type",
            input.dtype()
        ),
    )?;
    let (shape, found) = (input.shape(), source.shape());
    expect_shape("source", found, dim == 0 || dim < found.len(), || {
        format!(
            "{name}_(): Indexing dim {dim} is out of bounds of the source tensor with dim {}",
            found.len()
        )
    })?;
    let slices = found.get(dim).copied().unwrap_or(1);
    expect_shape("source", found, index.len() == slices, || {
        format!(
            "{name}_(): Number of indices ({}) should be equal to source.size(dim): ({slices}), for dim: {dim}",
            index.len()
        )
    })?;
    let alike = match (shape.len(), found.len()) {
        (0, _) | (_, 0) => shape == found,
        _ => without(shape, dim) == without(found, dim),
    };
    expect_shape("source", found, alike, || {
        format!(
            "source tensor shape must match self tensor shape, excluding the specified dimension. \
             Got self.shape = {shape:?}"
        )
    })?;
    Ok(())
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
        index.dtype() == DType::I64,
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

/// The sizes of all axes but one.
fn without(shape: &[usize], axis: usize) -> Dims {
    let others = shape.iter().enumerate().filter(|&(a, _)| a != axis);
    others.map(|(_, &size)| size).collect()
}

fn at_least_1d(shape: &[usize]) -> Dims {
    Dims::from_slice(if shape.is_empty() { &[1] } else { shape })
}

/// Slices along `dim` that a vector names.
fn along<'a>(
    input: Input<'a>,
    dim: usize,
    index: &DynView<'a>,
    updates: &'static str,
    source: Held<'a>,
    reduction: Reduction,
    bounds: Bounds,
) -> Result<Scatter<'a>, Refusal> {
    let (scalar, whole) = (input.shape().is_empty(), at_least_1d(input.shape()));
    let flat = |view: &DynView<'_>| view.rank() == 0;
    let source = match flat(source.view()) {
        true => source.map(|view| Some(view.at_least_1d())),
        false => Some(source),
    };
    let place = Place {
        axes: dim..dim + index.rank(),
        tuple: None,
    };
    let mut vector = index.at_least_1d();
    for _ in 0..dim {
        vector = vector.insert_axis(0);
    }
    while vector.rank() < whole.len() {
        vector = vector.insert_axis(vector.rank());
    }
    let mut slices = whole.clone();
    slices[dim] = index.len();
    let (Some(source), Some(vector)) = (source, vector.broadcast_to(&slices)) else {
        return Err(Refusal::from(Problem::Layout {
            argument: "index".into(),
            why: format!("it cannot be repeated to shape {slices:?}"),
        }));
    };
    let destinations = Destinations::elements(&whole, "index", &vector, dim, place, bounds)?;
    let scatter = Scatter::new(destinations, reduction, updates, source, input.target())?;
    Ok(match scalar {
        true => scatter.shaped(&[]),
        false => scatter,
    })
}

/// A number times every element of a tensor: each product joins the number, once.
fn product<'a>(factor: &Held<'_>, tensor: DynView<'_>) -> Result<Held<'a>, Problem> {
    let shape = tensor.dims();
    let (zeros, ones) = (Dims::from_elem(0, shape.len()), vec![1; shape.len()]);
    let destinations = Destinations::affine(&shape, &zeros, &ones, &shape)?;
    let wide = factor.view().broadcast_to(&shape);
    let target = Target::New {
        dtype: tensor.dtype(),
        start: Start::CopyOf(wide.unwrap_or_else(|| tensor.clone())),
    };
    let reduction = Reduction::into_self(Combine::Prod);
    let scatter = Scatter::new(destinations, reduction, "source", tensor, target)?;
    let made = scatter.run()?.tensor;
    Ok(Held::from(made.expect("a new tensor")))
}
