//! `ufunc.at`: functions applied to cells in place, once for each time that an index names them.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::custom::{Steps, Stepwise};
use crate::dialect::framework::indexing::indexed;
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use crate::dialect::numpy::call;
use crate::dialect::numpy::casting::computed_in;
use strew_engine::scatter::bounds::{Bounds, Negative, OutOfRange};
use strew_engine::scatter::destinations::row_ids::RowNumbers;
use strew_engine::scatter::reduction::Reduction;
use strew_engine::scatter::{Output, Scatter, Start, Target};
use strew_kernel::elementwise::ufunc::{Ufunc, apply};
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::cast::{converted, same_values};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::{
    DType, DynTensor, DynView, DynViewMut, Element, Held, TensorView, TensorViewMut,
    overlap_each_other,
};

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

const WRAP: Bounds = Bounds {
    negative: Negative::Wrap,
    out_of_range: OutOfRange::Error,
    ignored: None,
};

macro_rules! of_two {
    ($(
        $(#[$doc:meta])*
        $entry:ident $operator:literal $name:ident, $erased:ident = $ufunc:expr, $summary:literal;
    )*) => {$(
        pub(super) const $entry: Operator = Operator {
            name: $operator,
            summary: $summary,
            arguments: &[A, INDICES, B],
            returns: &["out"],
            lower: |args| from_table(args, $operator, $ufunc),
        };

        $(#[$doc])*
        pub fn $name<'a, T: Element>(
            a: impl Into<TensorViewMut<'a, T>>,
            indices: &[Option<DynView<'a>>],
            b: impl Into<TensorView<'a, T>>,
        ) -> Result<()> {
            $erased(a.into().into_dyn(), indices, b.into().into_dyn())
        }

        #[doc = concat!("[`", stringify!($name), "`] with element types known at run time. Where they differ, each step is computed in")]
        /// the type that NumPy promotes them to, and becomes `a`'s as C casts it: integers modulo 2^k, fractions
        /// cut off.
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($name), "`].")]
        pub fn $erased<'a>(
            a: DynViewMut<'a>,
            indices: &[Option<DynView<'a>>],
            b: DynView<'a>,
        ) -> Result<()> {
            lower($operator, $ufunc, a, indices, Some(b))?.run().map(drop)
        }
    )*};
}

macro_rules! of_one {
    ($(
        $(#[$doc:meta])*
        $entry:ident $operator:literal $name:ident, $erased:ident = $ufunc:expr, $summary:literal;
    )*) => {$(
        pub(super) const $entry: Operator = Operator {
            name: $operator,
            summary: $summary,
            arguments: &[A, INDICES],
            returns: &["out"],
            lower: |args| from_table(args, $operator, $ufunc),
        };

        $(#[$doc])*
        pub fn $name<'a, T: Element>(
            a: impl Into<TensorViewMut<'a, T>>,
            indices: &[Option<DynView<'a>>],
        ) -> Result<()> {
            $erased(a.into().into_dyn(), indices)
        }

        #[doc = concat!("[`", stringify!($name), "`] with an element type known at run time.")]
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($name), "`].")]
        pub fn $erased<'a>(a: DynViewMut<'a>, indices: &[Option<DynView<'a>>]) -> Result<()> {
            lower($operator, $ufunc, a, indices, None)?.run().map(drop)
        }
    )*};
}

of_two! {
    /// `numpy.add.at(a, indices, b)`: adds `b` to what is indexed, in place; a cell that is indexed several times
    /// is added to as often, in row-major order.
    ///
    /// * `indices`: integers of any type, broadcast together, or masks, for the first axes of `a`; `None`
    ///   takes an axis whole. Negative ones count from the end. What is indexed stands where the indexed axes
    ///   are, or in front if they are no neighbours.
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
    /// [`Class::Index`](strew_kernel::error::Class::Index) for an index that is out of bounds, of another type or shape than
    /// an index has, or one too many; [`Class::Type`](strew_kernel::error::Class::Type) for types that the function does not
    /// take; [`Class::Value`](strew_kernel::error::Class::Value) for a `b` that does not broadcast, and for memory that
    /// overlaps. `a` is then unchanged.
    ADD "numpy.add.at" add_at, add_at_dyn = Ufunc::Add, "Adds b to what is indexed, in place";

    /// `numpy.subtract.at`: subtracts `b`; see [`add_at`]. Not for `bool`.
    ///
    /// # Errors
    /// As [`add_at`].
    SUBTRACT "numpy.subtract.at" subtract_at, subtract_at_dyn = Ufunc::Subtract,
        "Subtracts b from what is indexed, in place";

    /// `numpy.multiply.at`: multiplies by `b`; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    MULTIPLY "numpy.multiply.at" multiply_at, multiply_at_dyn = Ufunc::Multiply,
        "Multiplies what is indexed by b, in place";

    /// `numpy.divide.at`: divides by `b`; see [`add_at`]. Integers are divided in `f64`, and each quotient
    /// becomes an integer by its fraction being cut off.
    ///
    /// # Errors
    /// As [`add_at`].
    DIVIDE "numpy.divide.at" divide_at, divide_at_dyn = Ufunc::Divide,
        "Divides what is indexed by b, in place";

    /// `numpy.floor_divide.at`: divides by `b` and rounds down; see [`add_at`]. Integers by 0 are 0. Not for
    /// complex numbers.
    ///
    /// # Errors
    /// As [`add_at`].
    FLOOR_DIVIDE "numpy.floor_divide.at" floor_divide_at, floor_divide_at_dyn = Ufunc::FloorDivide,
        "Divides what is indexed by b and rounds down, in place";

    /// `numpy.power.at`: raises to the power of `b`; see [`add_at`]. Integers wrap.
    ///
    /// # Errors
    /// As [`add_at`]; [`Class::Value`](strew_kernel::error::Class::Value) for a negative power of integers.
    POWER "numpy.power.at" power_at, power_at_dyn = Ufunc::Power,
        "Raises what is indexed to the power of b, in place";

    /// `numpy.maximum.at`: raises to `b`; see [`add_at`]. NaN is the result where there is one; complex numbers
    /// are compared by their real parts first.
    ///
    /// # Errors
    /// As [`add_at`].
    MAXIMUM "numpy.maximum.at" maximum_at, maximum_at_dyn = Ufunc::Maximum,
        "Raises what is indexed to b, in place; NaN wins";

    /// `numpy.minimum.at`: lowers to `b`; see [`maximum_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    MINIMUM "numpy.minimum.at" minimum_at, minimum_at_dyn = Ufunc::Minimum,
        "Lowers what is indexed to b, in place; NaN wins";

    /// `numpy.fmax.at`: raises to `b`; see [`add_at`]. NaN is the result only where there is nothing else.
    ///
    /// # Errors
    /// As [`add_at`].
    FMAX "numpy.fmax.at" fmax_at, fmax_at_dyn = Ufunc::Fmax,
        "Raises what is indexed to b, in place; NaN loses";

    /// `numpy.fmin.at`: lowers to `b`; see [`fmax_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    FMIN "numpy.fmin.at" fmin_at, fmin_at_dyn = Ufunc::Fmin,
        "Lowers what is indexed to b, in place; NaN loses";

    /// `numpy.bitwise_and.at`, of integers and bools; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    BITWISE_AND "numpy.bitwise_and.at" bitwise_and_at, bitwise_and_at_dyn = Ufunc::BitwiseAnd,
        "Keeps the bits of what is indexed that b has, in place";

    /// `numpy.bitwise_or.at`, of integers and bools; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    BITWISE_OR "numpy.bitwise_or.at" bitwise_or_at, bitwise_or_at_dyn = Ufunc::BitwiseOr,
        "Sets the bits of what is indexed that b has, in place";

    /// `numpy.bitwise_xor.at`, of integers and bools; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    BITWISE_XOR "numpy.bitwise_xor.at" bitwise_xor_at, bitwise_xor_at_dyn = Ufunc::BitwiseXor,
        "Flips the bits of what is indexed that b has, in place";

    /// `numpy.logical_and.at`: 1 where both are true (not zero), else 0; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    LOGICAL_AND "numpy.logical_and.at" logical_and_at, logical_and_at_dyn = Ufunc::LogicalAnd,
        "Whether what is indexed and b are true, in place";

    /// `numpy.logical_or.at`: 1 where one is true (not zero), else 0; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    LOGICAL_OR "numpy.logical_or.at" logical_or_at, logical_or_at_dyn = Ufunc::LogicalOr,
        "Whether what is indexed or b is true, in place";

    /// `numpy.logical_xor.at`: 1 where only one is true (not zero), else 0; see [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    LOGICAL_XOR "numpy.logical_xor.at" logical_xor_at, logical_xor_at_dyn = Ufunc::LogicalXor,
        "Whether either what is indexed or b is true, in place";

    /// `numpy.left_shift.at`: moves bits up by `b`; see [`add_at`]. By as many as there are, or more, or a
    /// negative number: 0.
    ///
    /// # Errors
    /// As [`add_at`].
    LEFT_SHIFT "numpy.left_shift.at" left_shift_at, left_shift_at_dyn = Ufunc::LeftShift,
        "Moves the bits of what is indexed up by b, in place";

    /// `numpy.right_shift.at`: moves bits down by `b`; see [`left_shift_at`]. What is negative stays negative.
    ///
    /// # Errors
    /// As [`add_at`].
    RIGHT_SHIFT "numpy.right_shift.at" right_shift_at, right_shift_at_dyn = Ufunc::RightShift,
        "Moves the bits of what is indexed down by b, in place";
}

of_one! {
    /// `numpy.negative.at(a, indices)`: changes the sign of what is indexed, in place, as often as it is indexed.
    /// Not for `bool`. `indices` are as for [`add_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    NEGATIVE "numpy.negative.at" negative_at, negative_at_dyn = Ufunc::Negative,
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
    INVERT "numpy.invert.at" invert_at, invert_at_dyn = Ufunc::Invert,
        "Flips the bits of what is indexed, in place";

    /// `numpy.absolute.at`: the absolute value, of complex numbers with an imaginary part of 0; see
    /// [`negative_at`].
    ///
    /// # Errors
    /// As [`add_at`].
    ABSOLUTE "numpy.absolute.at" absolute_at, absolute_at_dyn = Ufunc::Absolute,
        "The absolute value of what is indexed, in place";
}

fn from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    ufunc: Ufunc,
) -> Result<Call<'a>> {
    let a = args.target("a")?;
    let indices = args.tensors("indices")?;
    let alone = matches!(ufunc, Ufunc::Negative | Ufunc::Invert | Ufunc::Absolute);
    let b = if alone { None } else { Some(args.tensor("b")?) };
    lower(operator, ufunc, a, &indices, b)
}

fn lower<'a>(
    operator: &'static str,
    ufunc: Ufunc,
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: Option<DynView<'a>>,
) -> Result<Call<'a>> {
    let described = describe(ufunc, a, indices, b);
    match described {
        Ok(Described::Scatter(scatter)) => call(operator, Ok(scatter)),
        Ok(Described::Steps(each)) => call(operator, Ok(Stepwise::new(each))),
        Err(problem) => call(operator, Err::<Scatter<'_>, _>(problem)),
    }
}

/// What the call comes to.
#[allow(clippy::large_enum_variant)] // There is one at a time.
enum Described<'a> {
    Scatter(Scatter<'a>),
    Steps(OneByOne<'a>),
}

fn describe<'a>(
    ufunc: Ufunc,
    mut a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: Option<DynView<'a>>,
) -> Result<Described<'a>, Problem> {
    let own = a.dtype();
    let of = b.as_ref().map_or(own, DynView::dtype);
    let via = computed_in(ufunc, own, of).ok_or_else(|| Problem::Unsupported {
        what: format!("the function, given {of},"),
        dtype: own,
    })?;
    let places = indexed(a.shape(), "indices", indices, WRAP)?;
    let operands: Held<'a> = match b {
        None => DynTensor::zeros(via, &[])?.into(),
        Some(b) => {
            let (at, layout) = (b.as_ptr().addr(), b.layout());
            // NumPy, too, reads what stood there before.
            let shared = overlap_each_other(a.as_mut_ptr().addr(), a.layout(), at, layout);
            match b.dtype() == via && !shared {
                true => b.into(),
                false => converted(&b, via)?.into(),
            }
        }
    };
    let operands = match own == via {
        true => operands,
        false => narrowed(ufunc, operands, own)?,
    };
    let wanted = places.updates_shape();
    let found = operands.view().shape().to_vec();
    let operands = operands.map(|operands| operands.broadcast_to(wanted));
    let operands = operands.ok_or_else(|| Problem::Shape {
        argument: "b",
        found,
        expected: format!("it must broadcast to what is indexed, {wanted:?}"),
    })?;
    let target = |view| Target::InPlace {
        argument: "a",
        view,
    };
    if operands.view().dtype() == own
        && let Some(combine) = loops_of(ufunc, own)
    {
        let reduction = Reduction::into_self(combine);
        let scatter = Scatter::new(places, reduction, "b", operands, target(a))?;
        return Ok(Described::Scatter(scatter));
    }
    // What it is checked as: no element of it runs.
    let dtype = operands.view().dtype();
    let start = Start::Zero;
    let copy = Reduction::into_self(Combine::Assign);
    let checks = Scatter::new(places, copy, "b", operands, Target::New { dtype, start })?;
    Ok(Described::Steps(OneByOne { ufunc, checks, a }))
}

/// The reduction of the engine that does the same, in loops made for it. It would round sums of 16-bit floats once,
/// and not at each step.
fn loops_of(ufunc: Ufunc, dtype: DType) -> Option<Combine> {
    let ordered = !dtype.is_complex();
    let stepwise = dtype.accumulator() != dtype;
    match ufunc {
        Ufunc::Add | Ufunc::Subtract | Ufunc::Multiply | Ufunc::Divide if stepwise => None,
        Ufunc::Add => Some(Combine::Sum),
        Ufunc::Subtract => Some(Combine::Sub),
        Ufunc::Multiply => Some(Combine::Prod),
        Ufunc::Divide if dtype.is_float() => Some(Combine::Div),
        Ufunc::Maximum if ordered => Some(Combine::Max(Nan::Propagate)),
        Ufunc::Minimum if ordered => Some(Combine::Min(Nan::Propagate)),
        _ => None,
    }
}

/// The operands as the cells' type where the results are the same: integers modulo 2^k are, whatever they are
/// computed in, and so are numbers that lose nothing, since a result in twice the digits rounds to the one in half
/// of them.
fn narrowed<'a>(ufunc: Ufunc, operands: Held<'a>, own: DType) -> Result<Held<'a>, Problem> {
    let via = operands.view().dtype();
    let wraps = own.is_integer() && via.is_integer();
    let modular = matches!(
        ufunc,
        Ufunc::Add
            | Ufunc::Subtract
            | Ufunc::Multiply
            | Ufunc::BitwiseAnd
            | Ufunc::BitwiseOr
            | Ufunc::BitwiseXor
    );
    let rounds = matches!(
        ufunc,
        Ufunc::Add
            | Ufunc::Subtract
            | Ufunc::Multiply
            | Ufunc::Divide
            | Ufunc::Maximum
            | Ufunc::Minimum
            | Ufunc::Fmax
            | Ufunc::Fmin
    );
    let floats = own.is_float() && via.is_float() && rounds;
    if !(wraps && modular || floats) {
        return Ok(operands);
    }
    let narrow = converted(operands.view(), own)?;
    match wraps || same_values(&narrow.view(), operands.view()) {
        true => Ok(narrow.into()),
        false => Ok(operands),
    }
}

/// Cells and operands that go one by one.
#[derive(Debug)]
struct OneByOne<'a> {
    ufunc: Ufunc,
    /// Where the operands go, and what they are.
    checks: Scatter<'a>,
    a: DynViewMut<'a>,
}

impl Steps for OneByOne<'_> {
    fn elements(&self) -> usize {
        let updates = self.checks.destinations().updates_shape().iter();
        updates.fold(1, |all, &len| all.saturating_mul(len))
    }

    fn perform(&mut self) -> Result<Output, Problem> {
        self.checks.check_overlap("a", &mut self.a)?;
        let operands = self.checks.updates();
        if self.ufunc == Ufunc::Power {
            expect_no_negative(operands)?;
        }
        let RowNumbers { numbers, width, .. } = self.checks.destinations().row_numbers()?;
        apply(self.ufunc, &mut self.a, &numbers, width, operands);
        Ok(Output::default())
    }
}

/// Integers have no negative powers.
fn expect_no_negative(exponents: &DynView<'_>) -> Result<(), Problem> {
    if !exponents.dtype().is_integer() || exponents.dtype() == DType::U64 {
        return Ok(());
    }
    let mut found = None;
    exponents.without_repeats().all_integers(|block| {
        found = block.iter().copied().find(|&value| value < 0);
        found.is_none()
    });
    match found {
        None => Ok(()),
        Some(value) => Err(Problem::Value {
            argument: "b".into(),
            value: value.to_string(),
            expected: "Integers to negative integer powers are not allowed".into(),
        }),
    }
}
