//! `scatter`, `scatter_add`: elements that each say where along one axis they go.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_torch_index, wrong_value};
use crate::dialect::framework::declaration::*;
use crate::dialect::torch::arguments::{DIM, INPUT, pair};
use crate::dialect::torch::{Input, call, class, context};
use std::str::FromStr;
use strew_engine::checks::{axis, expect_dtype, expect_shape};
use strew_engine::describe::Scatter;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::{Destinations, Place};
use strew_engine::describe::reduction::Reduction;
use strew_kernel::error::{Error, Problem};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DType, Held};

pub(super) const INDEX: &str = "where along dim each element of src goes: int32 or int64, no larger \
     than src, nor than input apart from dim";

const VALUE: &str = "instead of src: one number for all of index, made an element of input's dtype";

const REDUCE: &str = "how elements join what is there: add or multiply; None: they replace it";

pub(super) const SRC: &str =
    "the elements to write, of input's dtype; only its leading corner of index's shape is used";

rows! {
    (
        input: tensor<T> => INPUT;
        dim: int => DIM;
        index: tensor => INDEX;
        src: optional_tensor<T> => SRC;
        value: optional_scalar => VALUE;
        reduce: optional_word => REDUCE, &["add", "multiply"];
    ) -> out;

    const SCATTER = "torch.scatter":
        "A copy of input with elements of src written into the cells that index names along dim"
        = from_src_or_value;
}

rows! {
    (
        input: target<T> => INPUT;
        dim: int => DIM;
        index: tensor => INDEX;
        src: optional_tensor<T> => SRC;
        value: optional_scalar => VALUE;
        reduce: optional_word => REDUCE, &["add", "multiply"];
    ) -> in place input;

    const SCATTER_ = "torch.scatter_":
        "Writes elements of src, in place, into the cells that index names along dim"
        = from_src_or_value;
}

pair! {
    <T: Element, I: Index> (
        dim: int => DIM;
        index: tensor<I> => INDEX;
        src: tensor<T> => SRC;
    );

    /// `input` with elements of `src` added to the cells that `index` names along `dim`.
    ///
    /// For a 3-d tensor and `dim == 0`: `out[index[i][j][k]][j][k] += src[i][j][k]`, for every
    /// element of `index` in row-major order: [`scatter_reduce`](super::scatter_reduce) by sum.
    /// Sums of 16-bit floats accumulate in `f32` and are rounded once; integers wrap; for bool it
    /// is a logical or.
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
    pub fn scatter_add, pub fn scatter_add_dyn = lower_add;
    const SCATTER_ADD = "torch.scatter_add":
        "A copy of input with elements of src added to the cells that index names along dim";

    pub fn scatter_add_, pub fn scatter_add_dyn_;
    const SCATTER_ADD_ = "torch.scatter_add_":
        "Adds elements of src, in place, to the cells that index names along dim";
}

fn from_src_or_value<'a>(
    operator: &'static str,
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    src: Option<DynView<'a>>,
    value: Option<Scalar>,
    reduce: Option<&str>,
) -> Result<Call<'a>> {
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
    lower(operator, input, dim, index, updates, reduce)
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
            other => Err(wrong_value(
                "reduce",
                format_args!("{other:?}"),
                "reduce argument must be either add or multiply.",
            )),
        }
    }
}

impl FromStr for Join {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::parse(name).map_err(|problem| refuse("torch.scatter", problem))
    }
}

pair! {
    <T: Element, I: Index> (
        dim: int;
        index: tensor<I>;
        src: tensor<T>;
        reduce: optional_word<Join>;
    );

    /// `input` with elements of `src` written into the cells that `index` names along `dim`.
    ///
    /// For a 3-d tensor and `dim == 0`: `out[index[i][j][k]][j][k] = src[i][j][k]`, for every
    /// element of `index` in row-major order, so that of several the last one stays.
    ///
    /// * `index`: integers in `0..input.shape[dim]`, of as many dimensions as `input` and `src`
    ///   (0-d counts as 1-d), no larger than `src` on any axis, nor than `input` apart from `dim`.
    ///   An empty one of any shape and type changes nothing.
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
    /// [`Class::Index`](crate::Class::Index) for a wrong `dim`,
    /// [`Class::Runtime`](crate::Class::Runtime) for everything else.
    pub fn scatter,
    /// Words are PyTorch's.
    pub fn scatter_dyn = of_src;
    "torch.scatter";

    pub fn scatter_, pub fn scatter_dyn_;
    "torch.scatter_";
}

pair! {
    <T: Element, I: Index> (
        dim: int;
        index: tensor<I>;
        value: scalar;
        reduce: optional_word<Join>;
    );

    /// [`scatter`] of one number: it goes into every cell that `index` names along `dim`.
    ///
    /// `value` is made an element of `T`: fractions are cut off for integers, everything but zero
    /// is true.
    ///
    /// ```
    /// let join = "add".parse().ok();
    /// let out = strew::torch::scatter_value(&[2.0f32; 4], 0, &[1i64, 3, 3], 1.5, join)?;
    /// assert_eq!(out.as_slice(), [2.0, 3.5, 2.0, 5.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter`]; [`Class::Runtime`](crate::Class::Runtime) too for a `value` that `T` cannot
    /// hold.
    pub fn scatter_value,
    /// Words are PyTorch's.
    pub fn scatter_value_dyn = of_value;
    "torch.scatter";

    pub fn scatter_value_, pub fn scatter_value_dyn_;
    "torch.scatter_";
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
    expect_torch_index("index", &index)?;
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
        let source = source(updates, input.dtype(), whole, dim, &found)?;
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

/// The updates of an index of shape `found` into a tensor of shape `whole`. Checks that the index
/// is no larger than either.
fn source<'a>(
    updates: Updates<'a>,
    dtype: DType,
    whole: &[usize],
    dim: usize,
    found: &[usize],
) -> Result<Held<'a>, Problem> {
    let smaller = |(a, &n): (usize, &usize)| a == dim || n <= whole[a];
    let fits = found.iter().enumerate().all(smaller);
    match updates {
        Updates::Src(src) => {
            let given = src.at_least_1d();
            expect_shape("src", given.shape(), found.len() == given.rank(), || {
                format!(
                    "Index tensor must have the same number of dimensions as src tensor, but is {found:?}"
                )
            })?;
            let corner = given.corner(found);
            expect_shape("index", found, fits && corner.is_some(), || {
                format!(
                    "Expected index {found:?} to be no larger than self {whole:?} apart from dimension {dim} \
                     and to be no larger size than src {:?}",
                    given.shape()
                )
            })?;
            Ok(Held::from(corner.unwrap_or(given)))
        }
        Updates::Value(value) => {
            expect_shape("index", found, fits, || {
                format!(
                    "Expected index {found:?} to be no larger than self {whole:?} apart from dimension {dim}"
                )
            })?;
            repeated(value, dtype, found)
        }
    }
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
