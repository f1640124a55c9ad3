//! `ufunc.at`: functions applied to cells in place, once for each time that an index names them.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use crate::dialect::numpy::ufunc_at::lower;
use strew_kernel::elementwise::ufunc::Ufunc;
use strew_kernel::error::Result;
use strew_kernel::tensor::{AsTensor, DynView, DynViewMut, Element, TensorViewMut};

const A: Argument = Argument::needed(
    "a",
    Kind::Target,
    "the array that is changed: any shape, a dtype that the function takes",
);

const INDICES: Argument = Argument::needed(
    "indices",
    Kind::Tensors,
    "what stands between the brackets: integers or masks, one for each of the first axes; None takes one whole",
);

const B: Argument = Argument::needed(
    "b",
    Kind::Tensor,
    "the second operands, broadcast to what is indexed",
);

pub(super) const ADD: Operator = Operator {
    name: "numpy.add.at",
    summary: "Adds b to what is indexed, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.add.at", Ufunc::Add),
};

/// `numpy.add.at(a, indices, b)`: adds `b` to what is indexed, in place; a cell that is indexed
/// several times is added to as often, in row-major order.
///
/// * `indices`: integers of any type, broadcast together, or masks, for the first axes of `a`;
///   `None` takes an axis whole. Negative ones count from the end. What is indexed stands where the
///   indexed axes are, or in front if they are no neighbours.
/// * `b`: broadcast to what is indexed.
///
/// Each step is an assignment: sums of 16-bit floats are rounded one by one.
///
/// ```
/// use strew::TensorView;
/// use strew::numpy::add_at;
///
/// let mut a = [1, 2, 3, 4];
/// let places = TensorView::from(&[0i64, 1, 2, 2, -1]).into_dyn();
/// add_at(&mut a, &[Some(places)], &[1])?;
/// assert_eq!(a, [2, 3, 5, 5]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Index`](crate::Class::Index) for an index that is out of bounds, of another type or
/// shape than an index has, or one too many; [`Class::Type`](crate::Class::Type) for types that the
/// function does not take; [`Class::Value`](crate::Class::Value) for a `b` that does not broadcast,
/// and for memory that overlaps. `a` is then unchanged.
pub fn add_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    add_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`add_at`] with element types known at run time. Where they differ, each step is computed in the
/// type that NumPy promotes them to, and becomes `a`'s as C casts it: integers modulo 2^k,
/// fractions cut off. The errors are the same.
pub fn add_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.add.at", Ufunc::Add, a, indices, b)
}

pub(super) const SUBTRACT: Operator = Operator {
    name: "numpy.subtract.at",
    summary: "Subtracts b from what is indexed, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.subtract.at", Ufunc::Subtract),
};

/// `numpy.subtract.at`: subtracts `b`; see [`add_at`]. Not for `bool`.
///
/// # Errors
/// As [`add_at`].
pub fn subtract_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    subtract_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`subtract_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn subtract_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.subtract.at", Ufunc::Subtract, a, indices, b)
}

pub(super) const MULTIPLY: Operator = Operator {
    name: "numpy.multiply.at",
    summary: "Multiplies what is indexed by b, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.multiply.at", Ufunc::Multiply),
};

/// `numpy.multiply.at`: multiplies by `b`; see [`add_at`].
///
/// # Errors
/// As [`add_at`].
pub fn multiply_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    multiply_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`multiply_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn multiply_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.multiply.at", Ufunc::Multiply, a, indices, b)
}

pub(super) const DIVIDE: Operator = Operator {
    name: "numpy.divide.at",
    summary: "Divides what is indexed by b, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.divide.at", Ufunc::Divide),
};

/// `numpy.divide.at`: divides by `b`; see [`add_at`]. Integers are divided in `f64`, and each
/// quotient becomes an integer by its fraction being cut off.
///
/// # Errors
/// As [`add_at`].
pub fn divide_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    divide_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`divide_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn divide_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.divide.at", Ufunc::Divide, a, indices, b)
}

pub(super) const FLOOR_DIVIDE: Operator = Operator {
    name: "numpy.floor_divide.at",
    summary: "Divides what is indexed by b and rounds down, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.floor_divide.at", Ufunc::FloorDivide),
};

/// `numpy.floor_divide.at`: divides by `b` and rounds down; see [`add_at`]. Integers by 0 are 0.
/// Not for complex numbers.
///
/// # Errors
/// As [`add_at`].
pub fn floor_divide_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    floor_divide_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`floor_divide_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn floor_divide_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.floor_divide.at", Ufunc::FloorDivide, a, indices, b)
}

pub(super) const POWER: Operator = Operator {
    name: "numpy.power.at",
    summary: "Raises what is indexed to the power of b, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.power.at", Ufunc::Power),
};

/// `numpy.power.at`: raises to the power of `b`; see [`add_at`]. Integers wrap.
///
/// # Errors
/// As [`add_at`]; [`Class::Value`](crate::Class::Value) for a negative power of integers.
pub fn power_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    power_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`power_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn power_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.power.at", Ufunc::Power, a, indices, b)
}

pub(super) const MAXIMUM: Operator = Operator {
    name: "numpy.maximum.at",
    summary: "Raises what is indexed to b, in place; NaN wins",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.maximum.at", Ufunc::Maximum),
};

/// `numpy.maximum.at`: raises to `b`; see [`add_at`]. NaN is the result where there is one; complex
/// numbers are compared by their real parts first.
///
/// # Errors
/// As [`add_at`].
pub fn maximum_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    maximum_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`maximum_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn maximum_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.maximum.at", Ufunc::Maximum, a, indices, b)
}

pub(super) const MINIMUM: Operator = Operator {
    name: "numpy.minimum.at",
    summary: "Lowers what is indexed to b, in place; NaN wins",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.minimum.at", Ufunc::Minimum),
};

/// `numpy.minimum.at`: lowers to `b`; see [`maximum_at`].
///
/// # Errors
/// As [`add_at`].
pub fn minimum_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    minimum_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`minimum_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn minimum_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.minimum.at", Ufunc::Minimum, a, indices, b)
}

pub(super) const FMAX: Operator = Operator {
    name: "numpy.fmax.at",
    summary: "Raises what is indexed to b, in place; NaN loses",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.fmax.at", Ufunc::Fmax),
};

/// `numpy.fmax.at`: raises to `b`; see [`add_at`]. NaN is the result only where there is nothing
/// else.
///
/// # Errors
/// As [`add_at`].
pub fn fmax_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    fmax_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`fmax_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn fmax_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.fmax.at", Ufunc::Fmax, a, indices, b)
}

pub(super) const FMIN: Operator = Operator {
    name: "numpy.fmin.at",
    summary: "Lowers what is indexed to b, in place; NaN loses",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.fmin.at", Ufunc::Fmin),
};

/// `numpy.fmin.at`: lowers to `b`; see [`fmax_at`].
///
/// # Errors
/// As [`add_at`].
pub fn fmin_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    fmin_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`fmin_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn fmin_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.fmin.at", Ufunc::Fmin, a, indices, b)
}

pub(super) const BITWISE_AND: Operator = Operator {
    name: "numpy.bitwise_and.at",
    summary: "Keeps the bits of what is indexed that b has, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.bitwise_and.at", Ufunc::BitwiseAnd),
};

/// `numpy.bitwise_and.at`, of integers and bools; see [`add_at`].
///
/// # Errors
/// As [`add_at`].
pub fn bitwise_and_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    bitwise_and_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`bitwise_and_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn bitwise_and_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.bitwise_and.at", Ufunc::BitwiseAnd, a, indices, b)
}

pub(super) const BITWISE_OR: Operator = Operator {
    name: "numpy.bitwise_or.at",
    summary: "Sets the bits of what is indexed that b has, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.bitwise_or.at", Ufunc::BitwiseOr),
};

/// `numpy.bitwise_or.at`, of integers and bools; see [`add_at`].
///
/// # Errors
/// As [`add_at`].
pub fn bitwise_or_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    bitwise_or_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`bitwise_or_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn bitwise_or_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.bitwise_or.at", Ufunc::BitwiseOr, a, indices, b)
}

pub(super) const BITWISE_XOR: Operator = Operator {
    name: "numpy.bitwise_xor.at",
    summary: "Flips the bits of what is indexed that b has, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.bitwise_xor.at", Ufunc::BitwiseXor),
};

/// `numpy.bitwise_xor.at`, of integers and bools; see [`add_at`].
///
/// # Errors
/// As [`add_at`].
pub fn bitwise_xor_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    bitwise_xor_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`bitwise_xor_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn bitwise_xor_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.bitwise_xor.at", Ufunc::BitwiseXor, a, indices, b)
}

pub(super) const LOGICAL_AND: Operator = Operator {
    name: "numpy.logical_and.at",
    summary: "Whether what is indexed and b are true, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.logical_and.at", Ufunc::LogicalAnd),
};

/// `numpy.logical_and.at`: 1 where both are true (not zero), else 0; see [`add_at`].
///
/// # Errors
/// As [`add_at`].
pub fn logical_and_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    logical_and_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`logical_and_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn logical_and_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.logical_and.at", Ufunc::LogicalAnd, a, indices, b)
}

pub(super) const LOGICAL_OR: Operator = Operator {
    name: "numpy.logical_or.at",
    summary: "Whether what is indexed or b is true, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.logical_or.at", Ufunc::LogicalOr),
};

/// `numpy.logical_or.at`: 1 where one is true (not zero), else 0; see [`add_at`].
///
/// # Errors
/// As [`add_at`].
pub fn logical_or_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    logical_or_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`logical_or_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn logical_or_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.logical_or.at", Ufunc::LogicalOr, a, indices, b)
}

pub(super) const LOGICAL_XOR: Operator = Operator {
    name: "numpy.logical_xor.at",
    summary: "Whether either what is indexed or b is true, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.logical_xor.at", Ufunc::LogicalXor),
};

/// `numpy.logical_xor.at`: 1 where only one is true (not zero), else 0; see [`add_at`].
///
/// # Errors
/// As [`add_at`].
pub fn logical_xor_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    logical_xor_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`logical_xor_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn logical_xor_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.logical_xor.at", Ufunc::LogicalXor, a, indices, b)
}

pub(super) const LEFT_SHIFT: Operator = Operator {
    name: "numpy.left_shift.at",
    summary: "Moves the bits of what is indexed up by b, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.left_shift.at", Ufunc::LeftShift),
};

/// `numpy.left_shift.at`: moves bits up by `b`; see [`add_at`]. By as many as there are, or more,
/// or a negative number: 0.
///
/// # Errors
/// As [`add_at`].
pub fn left_shift_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    left_shift_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`left_shift_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn left_shift_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.left_shift.at", Ufunc::LeftShift, a, indices, b)
}

pub(super) const RIGHT_SHIFT: Operator = Operator {
    name: "numpy.right_shift.at",
    summary: "Moves the bits of what is indexed down by b, in place",
    arguments: &[A, INDICES, B],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.right_shift.at", Ufunc::RightShift),
};

/// `numpy.right_shift.at`: moves bits down by `b`; see [`left_shift_at`]. What is negative stays
/// negative.
///
/// # Errors
/// As [`add_at`].
pub fn right_shift_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView>],
    b: impl AsTensor<T>,
) -> Result<()> {
    right_shift_at_dyn(a.into().into_dyn(), indices, b.as_tensor().of_rust())
}

/// [`right_shift_at`] with element types known at run time, as [`add_at_dyn`] has them.
pub fn right_shift_at_dyn<'a>(
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    binary("numpy.right_shift.at", Ufunc::RightShift, a, indices, b)
}

pub(super) const NEGATIVE: Operator = Operator {
    name: "numpy.negative.at",
    summary: "Changes the sign of what is indexed, in place",
    arguments: &[A, INDICES],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.negative.at", Ufunc::Negative),
};

/// `numpy.negative.at(a, indices)`: changes the sign of what is indexed, in place, as often as it
/// is indexed. Not for `bool`. `indices` are as for [`add_at`].
///
/// # Errors
/// As [`add_at`].
pub fn negative_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView<'a>>],
) -> Result<()> {
    negative_at_dyn(a.into().into_dyn(), indices)
}

/// [`negative_at`] with an element type known at run time. The errors are the same.
pub fn negative_at_dyn<'a>(a: DynViewMut<'a>, indices: &[Option<DynView<'a>>]) -> Result<()> {
    lower("numpy.negative.at", Ufunc::Negative, a, indices, None)?.run_in_place()
}

pub(super) const INVERT: Operator = Operator {
    name: "numpy.invert.at",
    summary: "Flips the bits of what is indexed, in place",
    arguments: &[A, INDICES],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.invert.at", Ufunc::Invert),
};

/// `numpy.invert.at`: flips all bits, of bools the one; see [`negative_at`].
///
/// ```
/// use strew::TensorView;
/// use strew::numpy::invert_at;
///
/// let mut bits = [0b01u8, 0b10];
/// let places = TensorView::from(&[0i64, 1, 1]).into_dyn();
/// invert_at(&mut bits, &[Some(places)])?;
/// assert_eq!(bits, [0xfe, 0b10]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`add_at`].
pub fn invert_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView<'a>>],
) -> Result<()> {
    invert_at_dyn(a.into().into_dyn(), indices)
}

/// [`invert_at`] with an element type known at run time. The errors are the same.
pub fn invert_at_dyn<'a>(a: DynViewMut<'a>, indices: &[Option<DynView<'a>>]) -> Result<()> {
    lower("numpy.invert.at", Ufunc::Invert, a, indices, None)?.run_in_place()
}

pub(super) const ABSOLUTE: Operator = Operator {
    name: "numpy.absolute.at",
    summary: "The absolute value of what is indexed, in place",
    arguments: &[A, INDICES],
    returns: &["out"],
    lower: |args| from_table(args, "numpy.absolute.at", Ufunc::Absolute),
};

/// `numpy.absolute.at`: the absolute value, of complex numbers with an imaginary part of 0; see
/// [`negative_at`].
///
/// # Errors
/// As [`add_at`].
pub fn absolute_at<'a, T: Element>(
    a: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView<'a>>],
) -> Result<()> {
    absolute_at_dyn(a.into().into_dyn(), indices)
}

/// [`absolute_at`] with an element type known at run time. The errors are the same.
pub fn absolute_at_dyn<'a>(a: DynViewMut<'a>, indices: &[Option<DynView<'a>>]) -> Result<()> {
    lower("numpy.absolute.at", Ufunc::Absolute, a, indices, None)?.run_in_place()
}

fn binary<'a>(
    operator: &'static str,
    ufunc: Ufunc,
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: DynView<'a>,
) -> Result<()> {
    lower(operator, ufunc, a, indices, Some(b))?.run_in_place()
}

fn from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    ufunc: Ufunc,
) -> Result<Call<'a>> {
    let a = args.target("a")?;
    let indices = args.tensors("indices")?;
    let b = match ufunc {
        Ufunc::Negative | Ufunc::Invert | Ufunc::Absolute => None,
        _ => Some(args.tensor("b")?),
    };
    lower(operator, ufunc, a, &indices, b)
}
