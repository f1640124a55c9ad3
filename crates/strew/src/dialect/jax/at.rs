//! `x.at[indices]` and its methods.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::unknown_word;
use crate::dialect::framework::indexing::indexed;
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use crate::dialect::framework::scatter_forms::into_copy;
use crate::dialect::jax::call;
use strew_engine::checks::expect_dtype;
use strew_engine::scatter::Scatter;
use strew_engine::scatter::bounds::{Bounds, Negative, OutOfRange};
use strew_engine::scatter::gather::Gather;
use strew_engine::scatter::reduction::Reduction;
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::{AsTensor, DType, DynTensor, DynView, Element, Scalar, Tensor};

/// What becomes of an index that is out of range, once a negative one has counted from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Its update is left out; [`at_get`] gives the fill value.
    Drop,
    /// The nearest one is meant.
    Clip,
    /// It is an error, which JAX's own modes never are.
    Error,
}

const MODES: &[&str] = &["fill", "drop", "clip", "promise_in_bounds", "error"];

impl Mode {
    fn parse(word: Option<&str>, default: Self) -> Result<Self, Problem> {
        match word {
            None | Some("promise_in_bounds") => Ok(default),
            Some("fill" | "drop") => Ok(Self::Drop),
            Some("clip") => Ok(Self::Clip),
            Some("error") => Ok(Self::Error),
            Some(other) => Err(unknown_word("mode", other, MODES)),
        }
    }

    fn bounds(self) -> Bounds {
        Bounds {
            negative: Negative::Wrap,
            out_of_range: match self {
                Self::Drop => OutOfRange::Drop,
                Self::Clip => OutOfRange::Clip,
                Self::Error => OutOfRange::Error,
            },
            ignored: None,
        }
    }
}

const INDICES: Argument = Argument::needed(
    "indices",
    Kind::Tensors,
    "what stands between the brackets: integers or masks, one for each of the first axes; None takes one whole",
);

const ARGUMENTS: [Argument; 4] = [
    Argument::needed(
        "x",
        Kind::Tensor,
        "the array to start from: any shape and dtype",
    ),
    INDICES,
    Argument::needed(
        "y",
        Kind::Tensor,
        "the updates, broadcast to what is indexed; a dtype that becomes x's without loss",
    ),
    Argument::needed(
        "mode",
        Kind::Text,
        "what becomes of an index out of range: it is left out (None, fill, drop), the nearest one is meant, or it is an error",
    )
    .or("None")
    .of(MODES),
];

pub(super) const AT_GET: Operator = Operator {
    name: "jax.at_get",
    summary: "x[indices]",
    arguments: &[
        Argument::needed("x", Kind::Tensor, "the array to read from: any shape and dtype"),
        INDICES,
        Argument::needed(
            "mode",
            Kind::Text,
            "what becomes of an index out of range: the nearest one is meant (None, clip), it gives fill_value, or it is an error",
        )
        .or("None")
        .of(MODES),
        Argument::needed(
            "fill_value",
            Kind::Scalar,
            "what stands where an index is out of range; None: NaN, the lowest or highest integer, true",
        )
        .or("None"),
    ],
    returns: &["out"],
    lower: |args| {
        let x = args.tensor("x")?;
        let indices = args.tensors("indices")?;
        let mode = args.optional_text("mode");
        let fill_value = args.optional_scalar("fill_value");
        lower_get(x, &indices, Mode::parse(mode.as_deref(), Mode::Clip), fill_value)
    },
};

const MIN: Combine = Combine::Min(Nan::Propagate);

const MAX: Combine = Combine::Max(Nan::Propagate);

fn from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    combine: Combine,
) -> Result<Call<'a>> {
    let x = args.tensor("x")?;
    let indices = args.tensors("indices")?;
    let y = args.tensor("y")?;
    let mode = args.optional_text("mode");
    let described = Mode::parse(mode.as_deref(), Mode::Drop)
        .and_then(|mode| describe(combine, x, &indices, y, mode));
    call(operator, described)
}

pub(super) const AT_SET: Operator = Operator {
    name: "jax.at_set",
    summary: "x.at[indices].set(y): a copy of x with what is indexed replaced",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "jax.at_set", Combine::Assign),
};

/// `x.at[indices].set(y)`: a copy of `x` with what is indexed replaced; of several updates of an
/// element, the last one stays, in row-major order.
///
/// * `indices`: integers of any type, broadcast together, or masks, for the first axes of `x`;
///   `None` takes an axis whole. Negative ones count from the end, once.
/// * `y`: broadcast to what is indexed.
///
/// ```
/// use strew::TensorView;
/// use strew::jax::{Mode, at_set};
///
/// let rows = TensorView::from(&[-1i64, 5]).into_dyn();
/// let out = at_set(&[1, 2, 3], &[Some(rows)], &[10, 20], Mode::Drop)?;
/// assert_eq!(out.as_slice(), [1, 2, 10]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Type`](crate::Class::Type) for an index type, and for updates that would lose something
/// as `x`'s; [`Class::Value`](crate::Class::Value) for shapes that do not fit, and with
/// [`Mode::Error`] for an index out of range.
pub fn at_set<T: Element>(
    x: impl AsTensor<T>,
    indices: &[Option<DynView>],
    y: impl AsTensor<T>,
    mode: Mode,
) -> Result<Tensor<T>> {
    let (x, y) = (x.as_tensor().of_rust(), y.as_tensor().of_rust());
    lower("jax.at_set", Combine::Assign, x, indices, y, mode)?.run_typed()
}

/// [`at_set`] with element types known at run time, and the same errors.
pub fn at_set_dyn<'a>(
    x: DynView<'a>,
    indices: &[Option<DynView<'a>>],
    y: DynView<'a>,
    mode: Mode,
) -> Result<DynTensor> {
    lower("jax.at_set", Combine::Assign, x, indices, y, mode)?.run_dyn()
}

pub(super) const AT_ADD: Operator = Operator {
    name: "jax.at_add",
    summary: "x.at[indices].add(y): a copy of x with y added to what is indexed",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "jax.at_add", Combine::Sum),
};

/// `x.at[indices].add(y)`; see [`at_set`]. All updates of an element count.
///
/// # Errors
/// As [`at_set`].
pub fn at_add<T: Element>(
    x: impl AsTensor<T>,
    indices: &[Option<DynView>],
    y: impl AsTensor<T>,
    mode: Mode,
) -> Result<Tensor<T>> {
    let (x, y) = (x.as_tensor().of_rust(), y.as_tensor().of_rust());
    lower("jax.at_add", Combine::Sum, x, indices, y, mode)?.run_typed()
}

/// [`at_add`] with element types known at run time, and the same errors.
pub fn at_add_dyn<'a>(
    x: DynView<'a>,
    indices: &[Option<DynView<'a>>],
    y: DynView<'a>,
    mode: Mode,
) -> Result<DynTensor> {
    lower("jax.at_add", Combine::Sum, x, indices, y, mode)?.run_dyn()
}

pub(super) const AT_SUBTRACT: Operator = Operator {
    name: "jax.at_subtract",
    summary: "x.at[indices].subtract(y): a copy of x with y subtracted from what is indexed",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "jax.at_subtract", Combine::Sub),
};

/// `x.at[indices].subtract(y)`; see [`at_add`].
///
/// # Errors
/// As [`at_set`].
pub fn at_subtract<T: Element>(
    x: impl AsTensor<T>,
    indices: &[Option<DynView>],
    y: impl AsTensor<T>,
    mode: Mode,
) -> Result<Tensor<T>> {
    let (x, y) = (x.as_tensor().of_rust(), y.as_tensor().of_rust());
    lower("jax.at_subtract", Combine::Sub, x, indices, y, mode)?.run_typed()
}

/// [`at_subtract`] with element types known at run time, and the same errors.
pub fn at_subtract_dyn<'a>(
    x: DynView<'a>,
    indices: &[Option<DynView<'a>>],
    y: DynView<'a>,
    mode: Mode,
) -> Result<DynTensor> {
    lower("jax.at_subtract", Combine::Sub, x, indices, y, mode)?.run_dyn()
}

pub(super) const AT_MULTIPLY: Operator = Operator {
    name: "jax.at_multiply",
    summary: "x.at[indices].multiply(y): a copy of x with what is indexed multiplied by y",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "jax.at_multiply", Combine::Prod),
};

/// `x.at[indices].multiply(y)`; see [`at_add`].
///
/// # Errors
/// As [`at_set`].
pub fn at_multiply<T: Element>(
    x: impl AsTensor<T>,
    indices: &[Option<DynView>],
    y: impl AsTensor<T>,
    mode: Mode,
) -> Result<Tensor<T>> {
    let (x, y) = (x.as_tensor().of_rust(), y.as_tensor().of_rust());
    lower("jax.at_multiply", Combine::Prod, x, indices, y, mode)?.run_typed()
}

/// [`at_multiply`] with element types known at run time, and the same errors.
pub fn at_multiply_dyn<'a>(
    x: DynView<'a>,
    indices: &[Option<DynView<'a>>],
    y: DynView<'a>,
    mode: Mode,
) -> Result<DynTensor> {
    lower("jax.at_multiply", Combine::Prod, x, indices, y, mode)?.run_dyn()
}

pub(super) const AT_DIVIDE: Operator = Operator {
    name: "jax.at_divide",
    summary: "x.at[indices].divide(y): a copy of x with what is indexed divided by y",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "jax.at_divide", Combine::Div),
};

/// `x.at[indices].divide(y)`, of floats and complex numbers; see [`at_add`].
///
/// # Errors
/// As [`at_set`]; [`Class::Type`](crate::Class::Type) for integers, whose quotients are none.
pub fn at_divide<T: Element>(
    x: impl AsTensor<T>,
    indices: &[Option<DynView>],
    y: impl AsTensor<T>,
    mode: Mode,
) -> Result<Tensor<T>> {
    let (x, y) = (x.as_tensor().of_rust(), y.as_tensor().of_rust());
    lower("jax.at_divide", Combine::Div, x, indices, y, mode)?.run_typed()
}

/// [`at_divide`] with element types known at run time, and the same errors.
pub fn at_divide_dyn<'a>(
    x: DynView<'a>,
    indices: &[Option<DynView<'a>>],
    y: DynView<'a>,
    mode: Mode,
) -> Result<DynTensor> {
    lower("jax.at_divide", Combine::Div, x, indices, y, mode)?.run_dyn()
}

pub(super) const AT_MIN: Operator = Operator {
    name: "jax.at_min",
    summary: "x.at[indices].min(y): a copy of x with what is indexed lowered to y",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "jax.at_min", MIN),
};

/// `x.at[indices].min(y)`; see [`at_add`]. NaN is the result where there is one.
///
/// # Errors
/// As [`at_set`].
pub fn at_min<T: Element>(
    x: impl AsTensor<T>,
    indices: &[Option<DynView>],
    y: impl AsTensor<T>,
    mode: Mode,
) -> Result<Tensor<T>> {
    let (x, y) = (x.as_tensor().of_rust(), y.as_tensor().of_rust());
    lower("jax.at_min", MIN, x, indices, y, mode)?.run_typed()
}

/// [`at_min`] with element types known at run time, and the same errors.
pub fn at_min_dyn<'a>(
    x: DynView<'a>,
    indices: &[Option<DynView<'a>>],
    y: DynView<'a>,
    mode: Mode,
) -> Result<DynTensor> {
    lower("jax.at_min", MIN, x, indices, y, mode)?.run_dyn()
}

pub(super) const AT_MAX: Operator = Operator {
    name: "jax.at_max",
    summary: "x.at[indices].max(y): a copy of x with what is indexed raised to y",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "jax.at_max", MAX),
};

/// `x.at[indices].max(y)`; see [`at_min`].
///
/// # Errors
/// As [`at_set`].
pub fn at_max<T: Element>(
    x: impl AsTensor<T>,
    indices: &[Option<DynView>],
    y: impl AsTensor<T>,
    mode: Mode,
) -> Result<Tensor<T>> {
    let (x, y) = (x.as_tensor().of_rust(), y.as_tensor().of_rust());
    lower("jax.at_max", MAX, x, indices, y, mode)?.run_typed()
}

/// [`at_max`] with element types known at run time, and the same errors.
pub fn at_max_dyn<'a>(
    x: DynView<'a>,
    indices: &[Option<DynView<'a>>],
    y: DynView<'a>,
    mode: Mode,
) -> Result<DynTensor> {
    lower("jax.at_max", MAX, x, indices, y, mode)?.run_dyn()
}

/// `x.at[indices].get(mode=mode, fill_value=fill_value)`: what is indexed. Bits are copied.
///
/// * `indices`: as for [`at_set`].
/// * `fill_value`: what [`Mode::Drop`] gives for an index out of range; `None`: NaN for floats, the
///   lowest number for signed integers, the highest for unsigned ones, `true`.
///
/// ```
/// use strew::TensorView;
/// use strew::jax::{Mode, at_get};
///
/// let places = TensorView::from(&[0i64, 20]).into_dyn();
/// let out = at_get(&[1.0f32, 2.0], &[Some(places.clone())], Mode::Clip, None)?;
/// assert_eq!(out.as_slice(), [1.0, 2.0]);
/// let out = at_get(&[1.0f32, 2.0], &[Some(places)], Mode::Drop, Some((-1).into()))?;
/// assert_eq!(out.as_slice(), [1.0, -1.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`at_set`].
pub fn at_get<T: Element>(
    x: impl AsTensor<T>,
    indices: &[Option<DynView>],
    mode: Mode,
    fill_value: Option<Scalar>,
) -> Result<Tensor<T>> {
    lower_get(x.as_tensor().of_rust(), indices, Ok(mode), fill_value)?.run_typed()
}

/// [`at_get`] with element types known at run time, and the same errors.
pub fn at_get_dyn<'a>(
    x: DynView<'a>,
    indices: &[Option<DynView<'a>>],
    mode: Mode,
    fill_value: Option<Scalar>,
) -> Result<DynTensor> {
    lower_get(x, indices, Ok(mode), fill_value)?.run_dyn()
}

fn lower_get<'a>(
    x: DynView<'a>,
    indices: &[Option<DynView<'a>>],
    mode: Result<Mode, Problem>,
    fill_value: Option<Scalar>,
) -> Result<Call<'a>> {
    let described = mode.and_then(|mode| {
        let places = indexed(x.shape(), "indices", indices, mode.bounds())?;
        let fill = match fill_value {
            Some(value) => value.tensor("fill_value", x.dtype())?,
            None => usual_fill(x.dtype()).tensor("fill_value", x.dtype())?,
        };
        Ok(Gather::new(places, x)?.filled(fill))
    });
    call("jax.at_get", described)
}

/// The value that a gather gives for an index out of range.
fn usual_fill(dtype: DType) -> Scalar {
    match dtype {
        DType::Bool => Scalar::Bool(true),
        DType::I8 => Scalar::Int(i8::MIN.into()),
        DType::I16 => Scalar::Int(i16::MIN.into()),
        DType::I32 => Scalar::Int(i32::MIN.into()),
        DType::I64 => Scalar::Int(i64::MIN),
        DType::U8 => Scalar::Int(u8::MAX.into()),
        DType::U16 => Scalar::Int(u16::MAX.into()),
        DType::U32 => Scalar::Int(u32::MAX.into()),
        DType::U64 => Scalar::Uint(u64::MAX),
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::C64 | DType::C128 => {
            Scalar::Float(f64::NAN)
        }
    }
}

fn lower<'a>(
    operator: &'static str,
    combine: Combine,
    x: DynView<'a>,
    indices: &[Option<DynView<'a>>],
    y: DynView<'a>,
    mode: Mode,
) -> Result<Call<'a>> {
    call(operator, describe(combine, x, indices, y, mode))
}

fn describe<'a>(
    combine: Combine,
    x: DynView<'a>,
    indices: &[Option<DynView<'a>>],
    y: DynView<'a>,
    mode: Mode,
) -> Result<Scatter<'a>, Problem> {
    let difference = combine == Combine::Sub && x.dtype() == DType::Bool;
    expect_dtype("x", x.dtype(), !difference, "it must not be bool")?;
    let whole = combine == Combine::Div && (x.dtype().is_integer() || x.dtype() == DType::Bool);
    expect_dtype(
        "x",
        x.dtype(),
        !whole,
        "it must be a floating-point or complex type",
    )?;
    let destinations = indexed(x.shape(), "indices", indices, mode.bounds())?;
    let wanted = destinations.updates_shape();
    let y = y.broadcast_to(wanted).ok_or_else(|| Problem::Shape {
        argument: "y",
        found: y.shape().to_vec(),
        expected: format!("it must broadcast to what is indexed, {wanted:?}"),
    })?;
    into_copy(x, destinations, Reduction::into_self(combine), "y", y)
}
