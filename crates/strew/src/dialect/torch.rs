//! PyTorch: operators of `torch.Tensor`.
//!
//! Source of the semantics: PyTorch 2.15, the `Tensor.scatter_reduce_` document,
//! `aten/src/ATen/native/ScatterGatherChecks.h` and runs on CPU; see also `COMPARE.md`.

use super::operator::{
    Argument, Arguments, Call, Context, Kind, Operator, axis, expect_dtype, expect_shape,
};
use crate::error::{Class, Error, Problem, Result};
use crate::kernel::{Combine, Nan};
use crate::plan::Bounds;
use crate::scatter::{Destinations, Finish, Init, Place, Reduction, Scatter, Start, Target};
use crate::tensor::{
    DType, Dims, DynTensor, DynView, DynViewMut, Element, Tensor, TensorView, TensorViewMut,
};
use std::str::FromStr;

const ARGUMENTS: [Argument; 6] = [
    Argument {
        name: "input",
        kind: Kind::Tensor,
        default: None,
        doc: "the tensor to reduce into: any shape and dtype",
        words: &[],
    },
    Argument {
        name: "dim",
        kind: Kind::Int,
        default: None,
        doc: "the axis that index points along; negative counts from the end",
        words: &[],
    },
    Argument {
        name: "index",
        kind: Kind::Tensor,
        default: None,
        doc: "where along dim each element of src goes: int32 or int64, no larger than src, nor than input apart from dim",
        words: &[],
    },
    Argument {
        name: "src",
        kind: Kind::Tensor,
        default: None,
        doc: "the elements to reduce, of input's dtype; only its leading corner of index's shape is used",
        words: &[],
    },
    Argument {
        name: "reduce",
        kind: Kind::Text,
        default: None,
        doc: "sum, prod, mean, amax or amin",
        words: &["sum", "prod", "mean", "amax", "amin"],
    },
    Argument {
        name: "include_self",
        kind: Kind::Bool,
        default: Some("True"),
        doc: "whether what input holds takes part where elements of src go",
        words: &[],
    },
];

const IN_PLACE: [Argument; 6] = {
    let mut arguments = ARGUMENTS;
    arguments[0].kind = Kind::Target;
    arguments
};

/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[
    Operator {
        name: "torch.scatter_reduce",
        summary: "A copy of input with elements of src reduced into the cells that index names along dim",
        arguments: &ARGUMENTS,
        returns: &["out"],
        lower: |args| {
            let input = args.tensor("input")?;
            lower_from(args, Input::New(input))
        },
    },
    Operator {
        name: "torch.scatter_reduce_",
        summary: "Reduces elements of src, in place, into the cells that index names along dim",
        arguments: &IN_PLACE,
        returns: &["input"],
        lower: |args| {
            let input = args.target("input")?;
            lower_from(args, Input::InPlace(input))
        },
    },
];

fn lower_from<'a>(args: &mut Arguments<'a>, input: Input<'a>) -> Result<Call<'a>> {
    let dim = args.int("dim")?;
    let index = args.tensor("index")?;
    let src = args.tensor("src")?;
    let reduce = args.text("reduce")?;
    let include_self = args.bool_or("include_self", true);
    lower(input, dim, index, src, &reduce, include_self)
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
}

impl Reduce {
    /// The name in PyTorch.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Prod => "prod",
            Self::Mean => "mean",
            Self::Amax => "amax",
            Self::Amin => "amin",
        }
    }

    fn parse(name: &str) -> Result<Self, Problem> {
        match name {
            "sum" => Ok(Self::Sum),
            "prod" => Ok(Self::Prod),
            "mean" => Ok(Self::Mean),
            // The short names are taken by current releases too.
            "amax" | "max" => Ok(Self::Amax),
            "amin" | "min" => Ok(Self::Amin),
            other => Err(Problem::Value {
                argument: "reduce".into(),
                value: format!("{other:?}"),
                expected: "reduce argument must be either sum, prod, mean, amax or amin".into(),
            }),
        }
    }

    fn reduction(self, include_self: bool) -> Reduction {
        let (combine, finish) = match self {
            Self::Sum => (Combine::Sum, Finish::None),
            Self::Prod => (Combine::Prod, Finish::None),
            Self::Mean => (
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
        Self::parse(name).map_err(|p| context("torch.scatter_reduce").error(p))
    }
}

/// `input` with elements of `src` reduced into the cells that `index` names along `dim`.
///
/// For a 3-d tensor and `dim == 0` and the sum: `out[index[i][j][k]][j][k] += src[i][j][k]`, for
/// every element of `index`, in row-major order.
///
/// * `index`: `i32` or `i64` in `0..input.shape[dim]`, of as many dimensions as `input` and `src`
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
/// # Errors
/// [`Class::Index`] for a `dim` that is none, [`Class::NotImplemented`] for a reduction that the
/// type has not, [`Class::Runtime`] for everything else.
pub fn scatter_reduce<'a, T: Element, I: Element>(
    input: impl Into<TensorView<'a, T>>,
    dim: i64,
    index: impl Into<TensorView<'a, I>>,
    src: impl Into<TensorView<'a, T>>,
    reduce: Reduce,
    include_self: bool,
) -> Result<Tensor<T>> {
    let input = Input::New(input.into().into_dyn());
    let (index, src) = (index.into().into_dyn(), src.into().into_dyn());
    let call = lower(input, dim, index, src, reduce.name(), include_self)?;
    Ok(super::typed(call.run()?.tensor))
}

/// [`scatter_reduce`] in place.
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
/// As [`scatter_reduce`]; `input` is then unchanged.
pub fn scatter_reduce_<'a, T: Element, I: Element>(
    input: impl Into<TensorViewMut<'a, T>>,
    dim: i64,
    index: impl Into<TensorView<'a, I>>,
    src: impl Into<TensorView<'a, T>>,
    reduce: Reduce,
    include_self: bool,
) -> Result<()> {
    let input = Input::InPlace(input.into().into_dyn());
    let (index, src) = (index.into().into_dyn(), src.into().into_dyn());
    lower(input, dim, index, src, reduce.name(), include_self)?.run()?;
    Ok(())
}

/// [`scatter_reduce`] with element types known at run time, and `reduce` as PyTorch's word.
///
/// # Errors
/// As [`scatter_reduce`].
pub fn scatter_reduce_dyn<'a>(
    input: DynView<'a>,
    dim: i64,
    index: DynView<'a>,
    src: DynView<'a>,
    reduce: &str,
    include_self: bool,
) -> Result<DynTensor> {
    let call = lower(Input::New(input), dim, index, src, reduce, include_self)?;
    Ok(super::tensor(call.run()?.tensor))
}

/// [`scatter_reduce_`] with element types known at run time, and `reduce` as PyTorch's word.
///
/// # Errors
/// As [`scatter_reduce`]; `input` is then unchanged.
pub fn scatter_reduce_dyn_<'a>(
    input: DynViewMut<'a>,
    dim: i64,
    index: DynView<'a>,
    src: DynView<'a>,
    reduce: &str,
    include_self: bool,
) -> Result<()> {
    lower(Input::InPlace(input), dim, index, src, reduce, include_self)?.run()?;
    Ok(())
}

/// What to reduce into.
enum Input<'a> {
    New(DynView<'a>),
    InPlace(DynViewMut<'a>),
}

impl Input<'_> {
    fn shape(&self) -> &[usize] {
        match self {
            Self::New(view) => view.shape(),
            Self::InPlace(view) => view.shape(),
        }
    }

    fn dtype(&self) -> DType {
        match self {
            Self::New(view) => view.dtype(),
            Self::InPlace(view) => view.dtype(),
        }
    }
}

fn class(problem: &Problem) -> Class {
    match problem {
        Problem::Axis { .. } => Class::Index,
        Problem::Unsupported { .. } => Class::NotImplemented,
        Problem::Kind { .. } => Class::Type,
        _ => Class::Runtime,
    }
}

fn context(operator: &'static str) -> Context {
    Context {
        operator: operator.into(),
        class,
    }
}

fn lower<'a>(
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    src: DynView<'a>,
    reduce: &str,
    include_self: bool,
) -> Result<Call<'a>> {
    let context = context(match input {
        Input::New(_) => "torch.scatter_reduce",
        Input::InPlace(_) => "torch.scatter_reduce_",
    });
    match describe(input, dim, index, src, reduce, include_self) {
        Ok(scatter) => Ok(Call { context, scatter }),
        Err(problem) => Err(context.error(problem)),
    }
}

/// The checks come in PyTorch's order.
fn describe<'a>(
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    src: DynView<'a>,
    reduce: &str,
    include_self: bool,
) -> Result<Scatter<'a>, Problem> {
    let shape = Dims::from_slice(input.shape());
    let dim = axis("dim", dim, shape.len())?;
    if !index.is_empty() {
        expect_dtype(
            "index",
            index.dtype(),
            matches!(index.dtype(), DType::I32 | DType::I64),
            "Expected dtype int32/int64 for index",
        )?;
    }
    expect_dtype(
        "src",
        src.dtype(),
        src.dtype() == input.dtype(),
        format_args!(
            "Expected self.dtype to be equal to src.dtype, {}",
            input.dtype()
        ),
    )?;
    let reduction = Reduce::parse(reduce)?.reduction(include_self);
    let whole = if shape.is_empty() { &[1] } else { &*shape };
    let (destinations, source) = if index.is_empty() {
        // Nothing is read of src, whatever its shape.
        (
            Destinations::none(whole),
            Some(DynView::nothing(src.dtype())),
        )
    } else {
        let index = index.at_least_1d();
        let (found, given) = (index.dims(), src.at_least_1d());
        expect_shape("index", &found, found.len() == whole.len(), || {
            format!(
                "Index tensor must have the same number of dimensions as self tensor, {whole:?}"
            )
        })?;
        expect_shape("src", given.shape(), found.len() == given.rank(), || {
            format!(
                "Index tensor must have the same number of dimensions as src tensor, but is {found:?}"
            )
        })?;
        let sizes = found.iter().enumerate();
        let fits = sizes.clone().all(|(a, &n)| a == dim || n <= whole[a])
            && sizes.clone().all(|(a, &n)| n <= given.shape()[a]);
        expect_shape("index", &found, fits, || {
            format!(
                "Expected index {found:?} to be no larger than self {whole:?} apart from dimension {dim} \
                 and to be no larger size than src {:?}",
                given.shape()
            )
        })?;
        let place = Place {
            axes: 0..found.len(),
            tuple: None,
        };
        (
            Destinations::elements(whole, "index", &index, dim, place, Bounds::STRICT)?,
            given.corner(&found),
        )
    };
    let source = source.ok_or_else(|| Problem::Shape {
        argument: "src",
        found: src.shape().to_vec(),
        expected: "it must hold the corner that index covers".into(),
    })?;
    let target = match input {
        Input::New(view) => Target::New {
            dtype: view.dtype(),
            start: Start::CopyOf(view.at_least_1d()),
        },
        Input::InPlace(view) => Target::InPlace {
            argument: "input",
            view: view.at_least_1d(),
        },
    };
    let scatter = Scatter::new(destinations, reduction, "src", source, target);
    if shape.is_empty() {
        scatter.map(|s| s.shaped(&[]))
    } else {
        scatter
    }
}
