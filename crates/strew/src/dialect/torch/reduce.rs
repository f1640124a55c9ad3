//! `scatter_reduce`: elements that are reduced into the cells that an index names along one axis.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use crate::dialect::torch::arguments::{DIM, INPUT, in_place};
use crate::dialect::torch::scatter::{INDEX, SRC, Updates, describe};
use crate::dialect::torch::{Input, call, class, context};
use std::str::FromStr;
use strew_engine::scatter::reduction::{Finish, Init, Reduction};
use strew_kernel::error::{Error, Problem, Result};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::{
    AsTensor, DynTensor, DynView, DynViewMut, Element, Index, Tensor, TensorViewMut,
};

const ARGUMENTS: [Argument; 6] = [
    INPUT,
    DIM,
    INDEX,
    SRC,
    Argument::needed(
        "reduce",
        Kind::Text,
        "sum, prod, mean, amax or amin; of strew's own, exact_sum or exact_mean: rounded once",
    )
    .of(&[
        "sum",
        "prod",
        "mean",
        "amax",
        "amin",
        "exact_sum",
        "exact_mean",
    ]),
    Argument::needed(
        "include_self",
        Kind::Bool,
        "whether what input holds takes part where elements of src go",
    )
    .or("True"),
];

pub(super) const SCATTER_REDUCE: Operator = Operator {
    name: "torch.scatter_reduce",
    summary: "A copy of input with elements of src reduced into the cells that index names along dim",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| {
        let input = args.tensor("input")?;
        from_table(args, "torch.scatter_reduce", input.into())
    },
};

pub(super) const SCATTER_REDUCE_: Operator = Operator {
    name: "torch.scatter_reduce_",
    summary: "Reduces elements of src, in place, into the cells that index names along dim",
    arguments: &in_place(ARGUMENTS),
    returns: &["input"],
    lower: |args| {
        let input = args.target("input")?;
        from_table(args, "torch.scatter_reduce_", input.into())
    },
};

fn from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    input: Input<'a>,
) -> Result<Call<'a>> {
    let dim = args.int("dim")?;
    let index = args.tensor("index")?;
    let src = args.tensor("src")?;
    let reduce = args.text("reduce")?;
    let include_self = args.bool_or("include_self", true);
    lower(operator, input, dim, index, src, &reduce, include_self)
}

/// How elements that go to the same cell are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduce {
    /// Their sum; for bool, whether any is true.
    Sum,
    /// Their product; for bool, whether all are true.
    Prod,
    /// Their mean; integers are rounded down. Not for bool.
    Mean,
    /// The largest; NaN if any is NaN. Not for complex numbers.
    Amax,
    /// The smallest; NaN if any is NaN. Not for complex numbers.
    Amin,
    /// The sum, of floats and complex numbers the nearest to the exact one, whatever the order.
    /// PyTorch has none. Only for [`scatter_reduce`].
    ExactSum,
    /// The exact sum divided by the count, rounded once. Likewise.
    ExactMean,
}

impl Reduce {
    /// The name in PyTorch, or that of an exact form.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Prod => "prod",
            Self::Mean => "mean",
            Self::Amax => "amax",
            Self::Amin => "amin",
            Self::ExactSum => "exact_sum",
            Self::ExactMean => "exact_mean",
        }
    }

    fn is_exact(self) -> bool {
        matches!(self, Self::ExactSum | Self::ExactMean)
    }

    /// A word of PyTorch's or an exact form.
    fn parse_any(name: &str) -> Result<Self, Problem> {
        match name {
            "exact_sum" => Ok(Self::ExactSum),
            "exact_mean" => Ok(Self::ExactMean),
            other => Self::parse(other),
        }
    }

    /// A word of PyTorch's.
    pub(super) fn parse(name: &str) -> Result<Self, Problem> {
        match name {
            "sum" => Ok(Self::Sum),
            "prod" => Ok(Self::Prod),
            "mean" => Ok(Self::Mean),
            // The short names are taken by current releases too.
            "amax" | "max" => Ok(Self::Amax),
            "amin" | "min" => Ok(Self::Amin),
            other => Err(wrong_value(
                "reduce",
                format_args!("{other:?}"),
                "reduce argument must be either sum, prod, mean, amax or amin",
            )),
        }
    }

    pub(super) fn reduction(self, include_self: bool) -> Reduction {
        let (combine, finish) = match self {
            Self::Sum | Self::ExactSum => (Combine::Sum, Finish::None),
            Self::Prod => (Combine::Prod, Finish::None),
            Self::Mean | Self::ExactMean => (
                Combine::Sum,
                Finish::Mean {
                    count_self: include_self,
                },
            ),
            Self::Amax => (Combine::Max(Nan::Propagate), Finish::None),
            Self::Amin => (Combine::Min(Nan::Propagate), Finish::None),
        };
        let init = if include_self {
            Init::Current
        } else {
            Init::Identity
        };
        Reduction {
            combine,
            init,
            finish,
        }
    }
}

impl FromStr for Reduce {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::parse_any(name).map_err(|p| context("torch.scatter_reduce", class).error(p))
    }
}

/// `input` with elements of `src` reduced into the cells that `index` names along `dim`.
///
/// For a 3-d tensor and `dim == 0` and the sum: `out[index[i][j][k]][j][k] += src[i][j][k]`, for
/// every element of `index`, in row-major order.
///
/// * `index`: integers in `0..input.shape[dim]`, of as many dimensions as `input` and `src`
///   (0-d counts as 1-d), no larger than `src` on any axis, nor than `input` apart from `dim`.
/// * `include_self`: whether what `input` holds takes part. If not, cells that are not addressed
///   still keep it.
///
/// Sums and means of 16-bit floats accumulate in `f32` and are rounded once. Integer means are
/// rounded down. NaN propagates through `amax` and `amin`; of equal values the first stays.
///
/// ```
/// use strew::torch::{Reduce, scatter_reduce};
///
/// let out = scatter_reduce(
///     &[1.0f32, 2.0, 3.0, 4.0],
///     0,
///     &[0i64, 1, 0, 1, 2, 1],
///     &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
///     Reduce::Sum,
///     false,
/// )?;
/// assert_eq!(out.as_slice(), [4.0, 12.0, 5.0, 4.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// In place:
///
/// ```
/// use ndarray::array;
/// use strew::torch::{Reduce, scatter_reduce_};
///
/// let mut table = array![[1.0, 5.0], [2.0, 6.0]];
/// scatter_reduce_(&mut table, 1, &array![[0i64, 0], [1, 0]], &array![[7.0, 3.0], [4.0, 9.0]], Reduce::Amax, true)?;
/// assert_eq!(table, array![[7.0, 5.0], [9.0, 6.0]]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Index`](crate::Class::Index) for a wrong `dim`,
/// [`Class::NotImplemented`](crate::Class::NotImplemented) for a reduction that the type has not,
/// [`Class::Runtime`](crate::Class::Runtime) for everything else.
pub fn scatter_reduce<T: Element, I: Index>(
    input: impl AsTensor<T>,
    dim: i64,
    index: impl AsTensor<I>,
    src: impl AsTensor<T>,
    reduce: Reduce,
    include_self: bool,
) -> Result<Tensor<T>> {
    lower(
        "torch.scatter_reduce",
        input.as_tensor().of_rust().into(),
        dim,
        index.as_tensor().of_rust(),
        src.as_tensor().of_rust(),
        reduce.name(),
        include_self,
    )?
    .run_typed()
}

/// [`scatter_reduce`] with element types known at run time, and words as PyTorch's. The errors are
/// the same.
pub fn scatter_reduce_dyn<'a>(
    input: DynView<'a>,
    dim: i64,
    index: DynView<'a>,
    src: DynView<'a>,
    reduce: &str,
    include_self: bool,
) -> Result<DynTensor> {
    lower(
        "torch.scatter_reduce",
        input.into(),
        dim,
        index,
        src,
        reduce,
        include_self,
    )?
    .run_dyn()
}

/// [`scatter_reduce`] in place.
///
/// # Errors
/// As [`scatter_reduce`]; `input` is then unchanged.
pub fn scatter_reduce_<'a, T: Element, I: Index>(
    input: impl Into<TensorViewMut<'a, T>>,
    dim: i64,
    index: impl AsTensor<I>,
    src: impl AsTensor<T>,
    reduce: Reduce,
    include_self: bool,
) -> Result<()> {
    lower(
        "torch.scatter_reduce_",
        input.into().into_dyn().into(),
        dim,
        index.as_tensor().of_rust(),
        src.as_tensor().of_rust(),
        reduce.name(),
        include_self,
    )?
    .run_in_place()
}

/// [`scatter_reduce_`] with element types known at run time, and words as PyTorch's. The errors are
/// the same.
pub fn scatter_reduce_dyn_<'a>(
    input: DynViewMut<'a>,
    dim: i64,
    index: DynView<'a>,
    src: DynView<'a>,
    reduce: &str,
    include_self: bool,
) -> Result<()> {
    lower(
        "torch.scatter_reduce_",
        input.into(),
        dim,
        index,
        src,
        reduce,
        include_self,
    )?
    .run_in_place()
}

fn lower<'a>(
    operator: &'static str,
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    src: DynView<'a>,
    reduce: &str,
    include_self: bool,
) -> Result<Call<'a>> {
    let mut exact = false;
    let reduction = || {
        let reduce = Reduce::parse_any(reduce)?;
        exact = reduce.is_exact();
        Ok(reduce.reduction(include_self))
    };
    let described = describe(input, dim, index, Updates::Src(src), reduction);
    let described = described.and_then(|scatter| scatter.exactly(exact));
    call(context(operator, class), described.map_err(Into::into))
}
