//! `ufunc.at`: functions applied to cells in place, once for each time that an index names them.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::declaration::*;
use crate::dialect::numpy::ufunc_at::lower;
use strew_kernel::elementwise::ufunc::Ufunc;

const A: &str = "the array that is changed: any shape, a dtype that the function takes";

const INDICES: &str = "what stands between the brackets: integers or masks, one for each of the \
     first axes; None takes one whole";

operators! {
    <'a, V: Element> dyn<'a> (
        a: target<V> => A;
        indices: tensors => INDICES;
        b: tensor<V> => "the second operands, broadcast to what is indexed";
    ) -> in place out;

    /// `numpy.add.at(a, indices, b)`: adds `b` to what is indexed, in place; a cell that is indexed
    /// several times is added to as often, in row-major order.
    ///
    /// * `indices`: integers of any type, broadcast together, or masks, for the first axes of `a`;
    ///   `None` takes an axis whole. Negative ones count from the end. What is indexed stands where
    ///   the indexed axes are, or in front if they are no neighbours.
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
    /// shape than an index has, or one too many; [`Class::Type`](crate::Class::Type) for types that
    /// the function does not take; [`Class::Value`](crate::Class::Value) for a `b` that does not
    /// broadcast, and for memory that overlaps. `a` is then unchanged.
    pub fn add_at,
    /// Where the types differ, each step is computed in the type that NumPy promotes them to, and
    /// becomes `a`'s as C casts it: integers modulo 2^k, fractions cut off.
    pub fn add_at_dyn = lower(Ufunc::Add);
    const ADD = "numpy.add.at":
        "Adds b to what is indexed, in place";

    /// `numpy.subtract.at`: subtracts `b`; see [`add_at`]. Not for `bool`.
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn subtract_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn subtract_at_dyn = lower(Ufunc::Subtract);
    const SUBTRACT = "numpy.subtract.at":
        "Subtracts b from what is indexed, in place";

    /// `numpy.multiply.at`: multiplies by `b`; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn multiply_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn multiply_at_dyn = lower(Ufunc::Multiply);
    const MULTIPLY = "numpy.multiply.at":
        "Multiplies what is indexed by b, in place";

    /// `numpy.divide.at`: divides by `b`; see [`add_at`]. Integers are divided in `f64`, and each
    /// quotient becomes an integer by its fraction being cut off.
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn divide_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn divide_at_dyn = lower(Ufunc::Divide);
    const DIVIDE = "numpy.divide.at":
        "Divides what is indexed by b, in place";

    /// `numpy.floor_divide.at`: divides by `b` and rounds down; see [`add_at`]. Integers by 0 are
    /// 0. Not for complex numbers.
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn floor_divide_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn floor_divide_at_dyn = lower(Ufunc::FloorDivide);
    const FLOOR_DIVIDE = "numpy.floor_divide.at":
        "Divides what is indexed by b and rounds down, in place";

    /// `numpy.power.at`: raises to the power of `b`; see [`add_at`]. Integers wrap.
    ///
    /// # Errors
    /// As [`add_at`]; [`Class::Value`](crate::Class::Value) for a negative power of integers.
    pub fn power_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn power_at_dyn = lower(Ufunc::Power);
    const POWER = "numpy.power.at":
        "Raises what is indexed to the power of b, in place";

    /// `numpy.maximum.at`: raises to `b`; see [`add_at`]. NaN is the result where there is one;
    /// complex numbers are compared by their real parts first.
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn maximum_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn maximum_at_dyn = lower(Ufunc::Maximum);
    const MAXIMUM = "numpy.maximum.at":
        "Raises what is indexed to b, in place; NaN wins";

    /// `numpy.minimum.at`: lowers to `b`; see [`maximum_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn minimum_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn minimum_at_dyn = lower(Ufunc::Minimum);
    const MINIMUM = "numpy.minimum.at":
        "Lowers what is indexed to b, in place; NaN wins";

    /// `numpy.fmax.at`: raises to `b`; see [`add_at`]. NaN is the result only where there is
    /// nothing else.
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn fmax_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn fmax_at_dyn = lower(Ufunc::Fmax);
    const FMAX = "numpy.fmax.at":
        "Raises what is indexed to b, in place; NaN loses";

    /// `numpy.fmin.at`: lowers to `b`; see [`fmax_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn fmin_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn fmin_at_dyn = lower(Ufunc::Fmin);
    const FMIN = "numpy.fmin.at":
        "Lowers what is indexed to b, in place; NaN loses";

    /// `numpy.bitwise_and.at`, of integers and bools; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn bitwise_and_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn bitwise_and_at_dyn = lower(Ufunc::BitwiseAnd);
    const BITWISE_AND = "numpy.bitwise_and.at":
        "Keeps the bits of what is indexed that b has, in place";

    /// `numpy.bitwise_or.at`, of integers and bools; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn bitwise_or_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn bitwise_or_at_dyn = lower(Ufunc::BitwiseOr);
    const BITWISE_OR = "numpy.bitwise_or.at":
        "Sets the bits of what is indexed that b has, in place";

    /// `numpy.bitwise_xor.at`, of integers and bools; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn bitwise_xor_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn bitwise_xor_at_dyn = lower(Ufunc::BitwiseXor);
    const BITWISE_XOR = "numpy.bitwise_xor.at":
        "Flips the bits of what is indexed that b has, in place";

    /// `numpy.logical_and.at`: 1 where both are true (not zero), else 0; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn logical_and_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn logical_and_at_dyn = lower(Ufunc::LogicalAnd);
    const LOGICAL_AND = "numpy.logical_and.at":
        "Whether what is indexed and b are true, in place";

    /// `numpy.logical_or.at`: 1 where one is true (not zero), else 0; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn logical_or_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn logical_or_at_dyn = lower(Ufunc::LogicalOr);
    const LOGICAL_OR = "numpy.logical_or.at":
        "Whether what is indexed or b is true, in place";

    /// `numpy.logical_xor.at`: 1 where only one is true (not zero), else 0; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn logical_xor_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn logical_xor_at_dyn = lower(Ufunc::LogicalXor);
    const LOGICAL_XOR = "numpy.logical_xor.at":
        "Whether either what is indexed or b is true, in place";

    /// `numpy.left_shift.at`: moves bits up by `b`; see [`add_at`]. By as many as there are, or
    /// more, or a negative number: 0.
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn left_shift_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn left_shift_at_dyn = lower(Ufunc::LeftShift);
    const LEFT_SHIFT = "numpy.left_shift.at":
        "Moves the bits of what is indexed up by b, in place";

    /// `numpy.right_shift.at`: moves bits down by `b`; see [`left_shift_at`]. What is negative
    /// stays negative.
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn right_shift_at,
    /// Types that differ are promoted as by [`add_at_dyn`].
    pub fn right_shift_at_dyn = lower(Ufunc::RightShift);
    const RIGHT_SHIFT = "numpy.right_shift.at":
        "Moves the bits of what is indexed down by b, in place";
}

// Not `T`: they have no rule for derivatives.
operators! {
    <'a, E: Element> dyn<'a> (a: target<E> => A; indices: tensors => INDICES;) -> in place out;

    /// `numpy.negative.at(a, indices)`: changes the sign of what is indexed, in place, as often as it
    /// is indexed. Not for `bool`. `indices` are as for [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn negative_at, pub fn negative_at_dyn = lower_unary(Ufunc::Negative);
    const NEGATIVE = "numpy.negative.at":
        "Changes the sign of what is indexed, in place";

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
    pub fn invert_at, pub fn invert_at_dyn = lower_unary(Ufunc::Invert);
    const INVERT = "numpy.invert.at":
        "Flips the bits of what is indexed, in place";

    /// `numpy.absolute.at`: the absolute value, of complex numbers with an imaginary part of 0; see
    /// [`negative_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    pub fn absolute_at, pub fn absolute_at_dyn = lower_unary(Ufunc::Absolute);
    const ABSOLUTE = "numpy.absolute.at":
        "The absolute value of what is indexed, in place";
}

fn lower_unary<'a>(
    operator: &'static str,
    ufunc: Ufunc,
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
) -> Result<Call<'a>> {
    lower(operator, ufunc, a, indices, None)
}
