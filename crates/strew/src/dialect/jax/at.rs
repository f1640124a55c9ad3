//! `x.at[indices]` and its methods.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::unknown_word;
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::indexing::indexed;
use crate::dialect::framework::operator::Arguments;
use crate::dialect::framework::scatter_forms::into_copy;
use crate::dialect::jax::call;
use strew_engine::checks::expect_dtype;
use strew_engine::describe::bounds::{Bounds, Negative, OutOfRange};
use strew_engine::describe::gather::Gather;
use strew_engine::describe::reduction::Reduction;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::DType;

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
    fn from_table(args: &mut Arguments<'_>) -> Result<Self, Problem> {
        Self::parse(args.optional_text("mode").as_deref(), Self::Drop)
    }

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

const INDICES: &str = "what stands between the brackets: integers or masks, one for each of the \
     first axes; None takes one whole";

rows! {
    (
        x: tensor<T> => "the array to read from: any shape and dtype";
        indices: tensors => INDICES;
        mode: optional_word =>
            "what becomes of an index out of range: the nearest one is meant (None, clip), it gives fill_value, or it is an error",
            MODES;
        fill_value: optional_scalar =>
            "what stands where an index is out of range; None: NaN, the lowest or highest integer, true";
    ) -> out;

    const AT_GET = "jax.at_get":
        "x[indices]"
        = lower_get_word;
}

const MIN: Combine = Combine::Min(Nan::Propagate);

const MAX: Combine = Combine::Max(Nan::Propagate);

operators! {
    <T: Element> dyn<'a> (
        x: tensor<T> => "the array to start from: any shape and dtype";
        indices: tensors => INDICES;
        y: tensor<T> =>
            "the updates, broadcast to what is indexed; a dtype that becomes x's without loss";
        mode: choice<Mode> = "None" =>
            "what becomes of an index out of range: it is left out (None, fill, drop), the nearest one is meant, or it is an error",
            MODES;
    ) -> out;

    /// `x.at[indices].set(y)`: a copy of `x` with what is indexed replaced; of several updates of
    /// an element, the last one stays, in row-major order.
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
    /// [`Class::Type`](crate::Class::Type) for an index type, and for updates that would lose
    /// something as `x`'s; [`Class::Value`](crate::Class::Value) for shapes that do not fit, and
    /// with [`Mode::Error`] for an index out of range.
    pub fn at_set, pub fn at_set_dyn = lower(Combine::Assign);
    const AT_SET = "jax.at_set":
        "x.at[indices].set(y): a copy of x with what is indexed replaced";

    /// `x.at[indices].add(y)`; see [`at_set`]. All updates of an element count.
    ///
    /// # Errors
    /// As [`at_set`].
    pub fn at_add, pub fn at_add_dyn = lower(Combine::Sum);
    const AT_ADD = "jax.at_add":
        "x.at[indices].add(y): a copy of x with y added to what is indexed";

    /// `x.at[indices].subtract(y)`; see [`at_add`].
    ///
    /// # Errors
    /// As [`at_set`].
    pub fn at_subtract, pub fn at_subtract_dyn = lower(Combine::Sub);
    const AT_SUBTRACT = "jax.at_subtract":
        "x.at[indices].subtract(y): a copy of x with y subtracted from what is indexed";

    /// `x.at[indices].multiply(y)`; see [`at_add`].
    ///
    /// # Errors
    /// As [`at_set`].
    pub fn at_multiply, pub fn at_multiply_dyn = lower(Combine::Prod);
    const AT_MULTIPLY = "jax.at_multiply":
        "x.at[indices].multiply(y): a copy of x with what is indexed multiplied by y";

    /// `x.at[indices].divide(y)`, of floats and complex numbers; see [`at_add`].
    ///
    /// # Errors
    /// As [`at_set`]; [`Class::Type`](crate::Class::Type) for integers, whose quotients are none.
    pub fn at_divide, pub fn at_divide_dyn = lower(Combine::Div);
    const AT_DIVIDE = "jax.at_divide":
        "x.at[indices].divide(y): a copy of x with what is indexed divided by y";

    /// `x.at[indices].min(y)`; see [`at_add`]. NaN is the result where there is one.
    ///
    /// # Errors
    /// As [`at_set`].
    pub fn at_min, pub fn at_min_dyn = lower(MIN);
    const AT_MIN = "jax.at_min":
        "x.at[indices].min(y): a copy of x with what is indexed lowered to y";

    /// `x.at[indices].max(y)`; see [`at_min`].
    ///
    /// # Errors
    /// As [`at_set`].
    pub fn at_max, pub fn at_max_dyn = lower(MAX);
    const AT_MAX = "jax.at_max":
        "x.at[indices].max(y): a copy of x with what is indexed raised to y";
}

operators! {
    <T: Element> dyn<'a> (
        x: tensor<T>;
        indices: tensors;
        mode: choice<Mode>;
        fill_value: optional_scalar;
    ) -> out;

    /// `x.at[indices].get(mode=mode, fill_value=fill_value)`: what is indexed. Bits are copied.
    ///
    /// * `indices`: as for [`at_set`].
    /// * `fill_value`: what [`Mode::Drop`] gives for an index out of range; `None`: NaN for floats,
    ///   the lowest number for signed integers, the highest for unsigned ones, `true`.
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
    pub fn at_get, pub fn at_get_dyn = lower_get;
    "jax.at_get";
}

fn lower_get_word<'a>(
    operator: &'static str,
    x: DynView<'a>,
    indices: &[Option<DynView<'a>>],
    mode: Option<&str>,
    fill_value: Option<Scalar>,
) -> Result<Call<'a>> {
    lower_get(
        operator,
        x,
        indices,
        Mode::parse(mode, Mode::Clip),
        fill_value,
    )
}

fn lower_get<'a>(
    operator: &'static str,
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
    call(operator, described)
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
    mode: Result<Mode, Problem>,
) -> Result<Call<'a>> {
    let describe = || {
        let bounds = mode?.bounds();
        let difference = combine == Combine::Sub && x.dtype() == DType::Bool;
        expect_dtype("x", x.dtype(), !difference, "it must not be bool")?;
        let whole = combine == Combine::Div && (x.dtype().is_integer() || x.dtype() == DType::Bool);
        expect_dtype(
            "x",
            x.dtype(),
            !whole,
            "it must be a floating-point or complex type",
        )?;
        let destinations = indexed(x.shape(), "indices", indices, bounds)?;
        let wanted = destinations.updates_shape();
        let y = y.broadcast_to(wanted).ok_or_else(|| Problem::Shape {
            argument: "y",
            found: y.shape().to_vec(),
            expected: format!("it must broadcast to what is indexed, {wanted:?}"),
        })?;
        into_copy(x, destinations, Reduction::into_self(combine), "y", y)
    };
    call(operator, describe())
}
