//! `scatter`, `scatter_add`: elements that each say where along one axis they go.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::operator::{Argument, Arguments, Kind};
use crate::dialect::torch::faces::{DIM, INPUT};
use crate::dialect::torch::{Input, call, class, context};
use std::str::FromStr;
use strew_engine::checks::{axis, expect_dtype, expect_shape};
use strew_engine::scatter::Scatter;
use strew_engine::scatter::bounds::Bounds;
use strew_engine::scatter::destinations::{Destinations, Place};
use strew_engine::scatter::reduction::Reduction;
use strew_kernel::error::{Error, Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DType, DynView, Held, Scalar};

pub(super) const INDEX: Argument = Argument::needed(
    "index",
    Kind::Tensor,
    "where along dim each element of src goes: int32 or int64, no larger than src, nor than input apart from dim",
);

pub(super) const SRC: Argument = Argument::needed(
    "src",
    Kind::Tensor,
    "the elements to write, of input's dtype; only its leading corner of index's shape is used",
);

const ARGUMENTS: [Argument; 6] = [
    INPUT,
    DIM,
    INDEX,
    SRC.or("None"),
    Argument::needed(
        "value",
        Kind::Scalar,
        "instead of src: one number for all of index, made an element of input's dtype",
    )
    .or("None"),
    Argument::needed(
        "reduce",
        Kind::Text,
        "how elements join what is there: add or multiply; None: they replace it",
    )
    .or("None")
    .of(&["add", "multiply"]),
];

const ADD: [Argument; 4] = [INPUT, DIM, INDEX, SRC];

entries! {
    SCATTER, SCATTER_: "torch.scatter", ARGUMENTS, from_table,
    "A copy of input with elements of src written into the cells that index names along dim",
    "Writes elements of src, in place, into the cells that index names along dim",
}

entries! {
    SCATTER_ADD, SCATTER_ADD_: "torch.scatter_add", ADD, add_from_table,
    "A copy of input with elements of src added to the cells that index names along dim",
    "Adds elements of src, in place, to the cells that index names along dim",
}

fn from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    input: Input<'a>,
) -> Result<Call<'a>> {
    let dim = args.int("dim")?;
    let index = args.tensor("index")?;
    let src = args.optional_tensor("src");
    let value = args.optional_scalar("value");
    let reduce = args.optional_text("reduce");
    let updates = match (src, value) {
        (Some(src), None) => Updates::Src(src),
        (None, Some(value)) => Updates::Value(value),
        (None, None) => return Err(refuse(operator, Problem::Missing { argument: "src" })),
        (Some(_), Some(_)) => {
            let problem = Problem::Kind {
                argument: "value".into(),
                expected: "left out where src is given".into(),
                found: "both".into(),
            };
            return Err(refuse(operator, problem));
        }
    };
    lower(operator, input, dim, index, updates, reduce.as_deref())
}

fn add_from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    input: Input<'a>,
) -> Result<Call<'a>> {
    let dim = args.int("dim")?;
    let index = args.tensor("index")?;
    lower_add(operator, input, dim, index, args.tensor("src")?)
}

fn refuse(operator: &'static str, problem: Problem) -> Error {
    context(operator, class).error(problem)
}

/// How elements join what is in their cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// They are added; for bool, whether any is true.
    Add,
    /// They are multiplied; for bool, whether all are true.
    Multiply,
}

impl Join {
    /// The name in PyTorch.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Multiply => "multiply",
        }
    }

    fn parse(name: &str) -> Result<Self, Problem> {
        match name {
            "add" => Ok(Self::Add),
            "multiply" => Ok(Self::Multiply),
            other => Err(Problem::Value {
                argument: "reduce".into(),
                value: format!("{other:?}"),
                expected: "reduce argument must be either add or multiply.".into(),
            }),
        }
    }
}

impl FromStr for Join {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::parse(name).map_err(|problem| refuse("torch.scatter", problem))
    }
}

faces! {
    /// `input` with elements of `src` written into the cells that `index` names along `dim`.
    ///
    /// For a 3-d tensor and `dim == 0`: `out[index[i][j][k]][j][k] = src[i][j][k]`, for every element of
    /// `index` in row-major order, so that of several the last one stays.
    ///
    /// * `index`: `i32` or `i64` in `0..input.shape[dim]`, of as many dimensions as `input` and `src`
    ///   (0-d counts as 1-d), no larger than `src` on any axis, nor than `input` apart from `dim`. An
    ///   empty one of any shape and type changes nothing.
    /// * `reduce`: `Some`: elements are added to what is there, or multiplied with it.
    ///
    /// ```
    /// use strew::torch::{Join, scatter};
    ///
    /// let out = scatter(&[1, 2, 3], 0, &[2i64, 0, 2], &[10, 20, 30], None)?;
    /// assert_eq!(out.as_slice(), [20, 2, 30]);
    /// let out = scatter(&[1, 2, 3], 0, &[2i64, 0, 2], &[10, 20, 30], Some(Join::Multiply))?;
    /// assert_eq!(out.as_slice(), [20, 2, 900]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`](strew_kernel::error::Class::Index) for a `dim` that is none,
    /// [`Class::Runtime`](strew_kernel::error::Class::Runtime) for everything else.
    "torch.scatter" scatter, scatter_dyn, scatter_, scatter_dyn_ <T, I>
    (dim: plain i64, index: tensor I, src: tensor T, reduce: joins Join) = of_src
}

faces! {
    /// [`scatter`] of one number: it goes into every cell that `index` names along `dim`.
    ///
    /// `value` is made an element of `T`: fractions are cut off for integers, everything but zero is true.
    ///
    /// ```
    /// let out = strew::torch::scatter_value(&[2.0f32; 4], 0, &[1i64, 3, 3], 1.5, "add".parse().ok())?;
    /// assert_eq!(out.as_slice(), [2.0, 3.5, 2.0, 5.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter`]; [`Class::Runtime`](strew_kernel::error::Class::Runtime) too for a `value` that `T` cannot hold.
    "torch.scatter" scatter_value, scatter_value_dyn, scatter_value_, scatter_value_dyn_ <T, I>
    (dim: plain i64, index: tensor I, value: scalar Scalar, reduce: joins Join) = of_value
}

faces! {
    /// `input` with elements of `src` added to the cells that `index` names along `dim`.
    ///
    /// For a 3-d tensor and `dim == 0`: `out[index[i][j][k]][j][k] += src[i][j][k]`, for every element of
    /// `index` in row-major order: [`scatter_reduce`](super::scatter_reduce) by sum. Sums of 16-bit
    /// floats accumulate in `f32` and are rounded once; integers wrap; for bool it is a logical or.
    ///
    /// Shapes and types are those of [`scatter`].
    ///
    /// ```
    /// let out = strew::torch::scatter_add(&[1.0, 2.0], 0, &[1i64, 1, 0], &[10.0, 20.0, 30.0])?;
    /// assert_eq!(out.as_slice(), [31.0, 32.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter`].
    "torch.scatter_add" scatter_add, scatter_add_dyn, scatter_add_, scatter_add_dyn_ <T, I>
    (dim: plain i64, index: tensor I, src: tensor T) = lower_add
}

fn of_src<'a>(
    operator: &'static str,
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    src: DynView<'a>,
    reduce: Option<&str>,
) -> Result<Call<'a>> {
    lower(operator, input, dim, index, Updates::Src(src), reduce)
}

fn of_value<'a>(
    operator: &'static str,
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    value: Scalar,
    reduce: Option<&str>,
) -> Result<Call<'a>> {
    lower(operator, input, dim, index, Updates::Value(value), reduce)
}

fn lower<'a>(
    operator: &'static str,
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    updates: Updates<'a>,
    reduce: Option<&str>,
) -> Result<Call<'a>> {
    let reduction = || {
        let combine = match reduce.map(Join::parse).transpose()? {
            None => Combine::Assign,
            Some(Join::Add) => Combine::Sum,
            Some(Join::Multiply) => Combine::Prod,
        };
        Ok(Reduction::into_self(combine))
    };
    let described = describe(input, dim, index, updates, reduction);
    call(context(operator, class), described.map_err(Into::into))
}

fn lower_add<'a>(
    operator: &'static str,
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    src: DynView<'a>,
) -> Result<Call<'a>> {
    let reduction = || Ok(Reduction::into_self(Combine::Sum));
    let described = describe(input, dim, index, Updates::Src(src), reduction);
    call(context(operator, class), described.map_err(Into::into))
}

/// What goes into the cells.
pub(super) enum Updates<'a> {
    /// An element for each element of the index.
    Src(DynView<'a>),
    /// One number for all of it.
    Value(Scalar),
}

/// A scatter of elements that each have an index along `dim`. The checks come in PyTorch's order.
pub(super) fn describe<'a>(
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    updates: Updates<'a>,
    reduction: impl FnOnce() -> Result<Reduction, Problem>,
) -> Result<Scatter<'a>, Problem> {
    let shape = input.dims();
    let dim = axis("dim", dim, shape.len())?;
    expect_index("index", &index)?;
    if let Updates::Src(src) = &updates {
        expect_dtype(
            "src",
            src.dtype(),
            src.dtype() == input.dtype(),
            format_args!(
                "Expected self.dtype to be equal to src.dtype, {}",
                input.dtype()
            ),
        )?;
    }
    let whole = if shape.is_empty() { &[1] } else { &*shape };
    let (destinations, source) = if index.is_empty() {
        // Nothing is read of src, whatever its shape.
        let nothing = DynView::nothing(input.dtype());
        (Destinations::none(whole), Held::from(nothing))
    } else {
        let index = index.at_least_1d();
        let found = index.dims();
        expect_shape("index", &found, found.len() == whole.len(), || {
            format!(
                "Index tensor must have the same number of dimensions as self tensor, {whole:?}"
            )
        })?;
        let smaller = |(a, &n): (usize, &usize)| a == dim || n <= whole[a];
        let mut fits = found.iter().enumerate().all(smaller);
        let source = match updates {
            Updates::Src(src) => {
                let given = src.at_least_1d();
                expect_shape("src", given.shape(), found.len() == given.rank(), || {
                    format!(
                        "Index tensor must have the same number of dimensions as src tensor, but is {found:?}"
                    )
                })?;
                let corner = given.corner(&found);
                fits &= corner.is_some();
                expect_shape("index", &found, fits, || {
                    format!(
                        "Expected index {found:?} to be no larger than self {whole:?} apart from dimension {dim} \
                         and to be no larger size than src {:?}",
                        given.shape()
                    )
                })?;
                Held::from(corner.unwrap_or(given))
            }
            Updates::Value(value) => {
                expect_shape("index", &found, fits, || {
                    format!(
                        "Expected index {found:?} to be no larger than self {whole:?} apart from dimension {dim}"
                    )
                })?;
                repeated(value, input.dtype(), &found)?
            }
        };
        let place = Place {
            axes: 0..found.len(),
            tuple: None,
        };
        let destinations =
            Destinations::elements(whole, "index", &index, dim, place, Bounds::STRICT)?;
        (destinations, source)
    };
    let scatter = Scatter::new(destinations, reduction()?, "src", source, input.target())?;
    Ok(match shape.is_empty() {
        true => scatter.shaped(&[]),
        false => scatter,
    })
}

/// An index that is not empty holds `int32` or `int64`.
pub(super) fn expect_index(argument: &'static str, index: &DynView<'_>) -> Result<(), Problem> {
    expect_dtype(
        argument,
        index.dtype(),
        index.is_empty() || matches!(index.dtype(), DType::I32 | DType::I64),
        "Expected dtype int32/int64 for index",
    )
}

/// A number as the elements of a tensor of any size.
pub(super) fn repeated<'a>(
    value: Scalar,
    dtype: DType,
    shape: &[usize],
) -> Result<Held<'a>, Problem> {
    let one = Held::from(value.tensor("value", dtype)?);
    let wide = one.map(|one| one.broadcast_to(shape));
    wide.ok_or_else(|| Problem::Layout {
        argument: "value".into(),
        why: format!("it cannot be repeated to shape {shape:?}"),
    })
}
