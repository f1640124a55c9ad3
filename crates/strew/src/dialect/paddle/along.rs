//! `put_along_axis`: elements that each have an index along one axis.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::{Call, Work};
use crate::dialect::framework::checks::{expect_dtype_of, expect_i32_or_i64, unknown_word};
use crate::dialect::framework::custom::{Steps, Stepwise};
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::scatter_forms::elements;
use crate::dialect::paddle::{along_class, call, expect_number, into_copy, own_axis};
use num_complex::Complex64;
use std::str::FromStr;
use strew_engine::checks::expect_shape;
use strew_engine::describe::reduction::{Finish, Init, Reduction};
use strew_engine::describe::{Output, Scatter};
use strew_kernel::error::{Class, Error, Problem};
use strew_kernel::ops::cast::converted;
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::Held;

const WORDS: &[&str] = &["assign", "add", "mul", "multiply", "mean", "amax", "amin"];

operators! {
    <T: Element, I: Index> dyn (
        arr: tensor<T> => "the tensor to start from: rank 1 or more, any dtype";
        indices: tensor<I> =>
            "where along axis each value goes: int32 or int64, of arr's rank; negative counts from the end";
        values: tensor<T> =>
            "the values, of arr's dtype: broadcast to indices, or if that is not wanted as many at least. A 0-d one is a number of any dtype, which becomes arr's";
        axis: int => "the axis that indices point along; negative counts from the end";
        reduce: word<PutReduce> = "assign" => "how values join a cell: assign replaces it", WORDS;
        include_self: bool = true => "whether what arr holds in a cell that is named takes part";
        broadcast: bool = true =>
            "whether indices that are nowhere larger than arr are repeated to its shape, apart from axis";
    ) -> out;

    /// A copy of `arr` with each of `values` joined to the cell that its index names along `axis`,
    /// in row-major order.
    ///
    /// * `indices`: integers, of `arr`'s rank; negative ones count from the end.
    /// * `include_self`: whether what `arr` holds in a cell that is named takes part. If not, the
    ///   first value takes its place; complex products start from 1.
    /// * `broadcast`: `indices` that are on no axis larger than `arr` are repeated to its shape,
    ///   apart from `axis`, and `values` are broadcast to them. If it is false, `indices` stay as
    ///   they are, and of `values`, which are as large at least, the leading corner is taken, and a
    ///   0-d one counts for all.
    ///
    /// Sums and means of 16-bit floats accumulate in `f32` and are rounded once. Integers wrap, and
    /// their means are rounded down. Of maxima and minima, a NaN that comes first stays, and others
    /// are left out; of equal values the first stays. Where one of the tensors has no elements,
    /// indices are not checked.
    ///
    /// ```
    /// use ndarray::array;
    /// use strew::paddle::{PutReduce, put_along_axis};
    ///
    /// let arr = array![[10, 30, 20], [60, 40, 50]];
    /// let out = put_along_axis(&arr, &array![[0i64]], &[99], 0, PutReduce::Assign, true, true)?;
    /// assert_eq!(out.as_slice(), [99, 99, 99, 60, 40, 50]);
    ///
    /// let (indices, values) = (array![[0i32, 0], [0, 0]], array![[1, 2], [3, 4]]);
    /// let out = put_along_axis(&arr, &indices, &values, 0, PutReduce::Mean, true, false)?;
    /// assert_eq!(out.as_slice(), [4, 12, 20, 60, 40, 50]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Type`] for an index type, [`Class::Index`] for an index out of range,
    /// [`Class::Runtime`] for a reduction that the type has not, [`Class::Value`] for everything
    /// else. Where `broadcast` is false, sizes that do not fit and indices beyond the end are
    /// [`Class::Runtime`].
    pub fn put_along_axis,
    /// Words are PaddlePaddle's.
    pub fn put_along_axis_dyn = lower;
    const PUT_ALONG_AXIS = "paddle.put_along_axis":
        "A copy of arr with values joined to the cells that indices name along axis";
}

/// How values join the cell that they go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PutReduce {
    /// The last one stays.
    Assign,
    /// Their sum.
    Add,
    /// Their product.
    Multiply,
    /// Their mean; integers are rounded down.
    Mean,
    /// The largest. A NaN that comes first stays, others are left out.
    Amax,
    /// The smallest, with the same rule for NaN.
    Amin,
}

impl PutReduce {
    /// The name in PaddlePaddle.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Assign => "assign",
            Self::Add => "add",
            Self::Multiply => "multiply",
            Self::Mean => "mean",
            Self::Amax => "amax",
            Self::Amin => "amin",
        }
    }

    fn parse(word: &str) -> Result<Self, Problem> {
        Ok(match word {
            "assign" => Self::Assign,
            "add" => Self::Add,
            "mul" | "multiply" => Self::Multiply,
            "mean" => Self::Mean,
            "amax" => Self::Amax,
            "amin" => Self::Amin,
            other => {
                return Err(unknown_word("reduce", other, WORDS));
            }
        })
    }

    fn combine(self) -> Combine {
        match self {
            Self::Assign => Combine::Assign,
            Self::Add | Self::Mean => Combine::Sum,
            Self::Multiply => Combine::Prod,
            Self::Amax => Combine::Max(Nan::Ignore),
            Self::Amin => Combine::Min(Nan::Ignore),
        }
    }

    fn reduction(self, init: Init) -> Reduction {
        let finish = match self {
            Self::Mean => Finish::Mean {
                count_self: init == Init::Current,
            },
            _ => Finish::None,
        };
        Reduction {
            combine: self.combine(),
            init,
            finish,
        }
    }
}

impl FromStr for PutReduce {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        Self::parse(word)
            .map_err(|problem| Error::new("paddle.put_along_axis", Class::Value, problem))
    }
}

#[allow(clippy::too_many_arguments)] // The operator's name, and its seven arguments.
fn lower<'a>(
    operator: &'static str,
    arr: DynView<'a>,
    indices: DynView<'a>,
    values: DynView<'a>,
    axis: i64,
    reduce: &str,
    include_self: bool,
    broadcast: bool,
) -> Result<Call<'a>> {
    let ranks = expect_ranks(&arr, &indices, &values, broadcast);
    let axis = match ranks.and_then(|()| own_axis(axis, arr.rank())) {
        Ok(axis) => axis,
        Err(problem) => return Err(Error::new(operator, along_class(&problem), problem)),
    };
    let (class, fit): (fn(&Problem) -> Class, _) = match broadcast {
        true => (along_class, repeated as Fit<'a>),
        false => (exact_class, corner as Fit<'a>),
    };
    let fitted = of_dtype(values, &arr).and_then(|values| fit(&arr, indices, values, axis));
    let described = fitted.and_then(|(indices, values)| {
        let put = Put {
            arr,
            indices,
            values,
            axis,
        };
        put.describe(reduce, include_self)
    });
    call(operator, class, described)
}

/// Makes the shapes of indices and values fit each other and the tensor.
type Fit<'a> =
    fn(&DynView<'_>, DynView<'a>, Held<'a>, usize) -> Result<(DynView<'a>, Held<'a>), Problem>;

/// A number becomes an element of the tensor that it is put into.
fn of_dtype<'a>(values: DynView<'a>, arr: &DynView<'_>) -> Result<Held<'a>, Problem> {
    match values.rank() == 0 && values.dtype() != arr.dtype() {
        true => Ok(converted(&values, arr.dtype())?.into()),
        false => Ok(values.into()),
    }
}

/// Without broadcasting, PaddlePaddle checks sizes and indices beyond the end in another place,
/// with another error.
fn exact_class(problem: &Problem) -> Class {
    match problem {
        Problem::Shape { .. } => Class::Runtime,
        Problem::IndexOutOfBounds { value, .. } if value.integer() >= Some(0) => Class::Runtime,
        other => along_class(other),
    }
}

fn expect_ranks(
    arr: &DynView<'_>,
    indices: &DynView<'_>,
    values: &DynView<'_>,
    broadcast: bool,
) -> Result<(), Problem> {
    let rank = arr.rank();
    expect_shape("indices", indices.shape(), indices.rank() == rank, || {
        format!("`indices` and `arr` must have the same number of dimensions, {rank}")
    })?;
    let alike = broadcast || values.rank() == 0 || values.rank() == rank;
    expect_shape("values", values.shape(), alike, || {
        format!("`indices` and `values` must have the same number of dimensions, {rank}")
    })
}

/// Indices and values, repeated as far as they may be.
fn repeated<'a>(
    arr: &DynView<'_>,
    indices: DynView<'a>,
    values: Held<'a>,
    axis: usize,
) -> Result<(DynView<'a>, Held<'a>), Problem> {
    if indices.is_empty() {
        // Nothing is put, whatever the values' shape.
        let shape = indices.dims();
        let none = values.clone();
        if let Some(none) = none.map(|values| DynView::nothing(values.dtype()).reshape(&shape)) {
            return Ok((indices, none));
        }
    }
    let mut pairs = arr.shape().iter().zip(indices.shape());
    let mut wanted = indices.dims();
    if !pairs.any(|(own, n)| n > own) {
        wanted = arr.dims();
        wanted[axis] = indices.shape()[axis];
    }
    let wrong = |argument, found: &[usize]| Problem::Shape {
        argument,
        found: found.to_vec(),
        expected: format!("it must broadcast to {:?}", &wanted[..]),
    };
    let wide = indices.broadcast_to(&wanted);
    let indices = wide.ok_or_else(|| wrong("indices", indices.shape()))?;
    let found = values.view().dims();
    let values = values.map(|values| values.broadcast_to(&wanted));
    Ok((indices, values.ok_or_else(|| wrong("values", &found))?))
}

/// Indices as they are, and as many values from the leading corner.
fn corner<'a>(
    arr: &DynView<'_>,
    indices: DynView<'a>,
    values: Held<'a>,
    axis: usize,
) -> Result<(DynView<'a>, Held<'a>), Problem> {
    let (whole, found, given) = (arr.shape(), indices.dims(), values.view().dims());
    let fits = (0..found.len()).all(|a| a == axis || found[a] <= whole[a]);
    let part = values.map(|values| match values.rank() {
        0 => values.broadcast_to(&found),
        _ => values.corner(&found),
    });
    match part.filter(|_| fits) {
        Some(values) => Ok((indices, values)),
        None => Err(Problem::Shape {
            argument: "indices",
            found: found.to_vec(),
            expected: format!(
                "it must be no larger than arr, {whole:?}, apart from dimension {axis}, and than values, {given:?}"
            ),
        }),
    }
}

/// The elements to put: an index and a value for each.
#[derive(Clone, Debug)]
struct Put<'a> {
    arr: DynView<'a>,
    indices: DynView<'a>,
    values: Held<'a>,
    axis: usize,
}

impl<'a> Put<'a> {
    fn describe(self, reduce: &str, include_self: bool) -> Result<Work<'a>, Problem> {
        expect_i32_or_i64("indices", &self.indices)?;
        let reduce = PutReduce::parse(reduce)?;
        let dtype = self.arr.dtype();
        if reduce != PutReduce::Assign {
            expect_number("a reduction", dtype)?;
        }
        expect_dtype_of("values", self.values.view().dtype(), "arr", dtype)?;
        let init = match include_self || reduce == PutReduce::Assign {
            true => Init::Current,
            false => Init::Identity,
        };
        let scatter = self.scatter(reduce.reduction(init))?;
        // Integers and products may start from the identity: the result is that of starting from
        // the first value.
        let exact = dtype.is_integer() || reduce == PutReduce::Multiply;
        Ok(match init == Init::Current || exact {
            true => scatter.into(),
            false => Stepwise::new(Alone { put: self, reduce }).into(),
        })
    }

    fn scatter(&self, reduction: Reduction) -> Result<Scatter<'a>, Problem> {
        self.scatter_into(
            self.arr.clone(),
            &self.indices,
            self.values.clone(),
            reduction,
        )
    }

    fn scatter_into<'v>(
        &self,
        copied: DynView<'v>,
        indices: &DynView<'v>,
        values: impl Into<Held<'v>>,
        reduction: Reduction,
    ) -> Result<Scatter<'v>, Problem> {
        let shape = self.arr.shape();
        let places = elements(shape, "indices", indices, self.axis, WRAP)?;
        into_copy(copied, places, reduction, "values", values)
    }
}

/// Floats without what the cells hold: the first value replaces that, also NaN or -0.0, and the
/// others join it.
#[derive(Debug)]
struct Alone<'a> {
    put: Put<'a>,
    reduce: PutReduce,
}

impl Alone<'_> {
    /// A copy whose cells hold a value that the first value joins unchanged.
    fn begun(&self) -> Result<DynTensor, Problem> {
        let (put, assign) = (&self.put, Reduction::into_self(Combine::Assign));
        let made = match self.reduce.combine() {
            // -0.0 plus any value is that value, also -0.0.
            Combine::Sum => {
                let zero = Scalar::Complex(-Complex64::ZERO).tensor("values", put.arr.dtype())?;
                let zeros = Held::from(zero).map(|zero| zero.broadcast_to(put.indices.shape()));
                let zeros = zeros.unwrap_or_else(|| put.values.clone());
                put.scatter_into(put.arr.clone(), &put.indices, zeros, assign)?
            }
            // Only elements along the axis share a cell. Assigned backwards, the first one stays.
            _ => {
                let axis = put.axis;
                let indices = backwards(&put.indices, axis).unwrap_or_else(|| put.indices.clone());
                let values = put.values.clone().map(|values| backwards(values, axis));
                let values = values.unwrap_or_else(|| put.values.clone());
                put.scatter_into(put.arr.clone(), &indices, values, assign)?
            }
        };
        Ok(crate::dialect::tensor(made.run()?.tensor))
    }
}

impl Steps for Alone<'_> {
    fn elements(&self) -> usize {
        self.put.arr.len().max(self.put.indices.len())
    }

    fn perform(&mut self) -> Result<Output, Problem> {
        let put = &self.put;
        let reduction = Reduction {
            init: Init::Current,
            ..self.reduce.reduction(Init::Identity)
        };
        // A wrong index is looked for forwards: the error names the first one.
        let begun = match self.begun() {
            Err(Problem::IndexOutOfBounds { .. }) => return put.scatter(reduction)?.run(),
            begun => begun?,
        };
        put.scatter_into(begun.view(), &put.indices, put.values.clone(), reduction)?
            .run()
    }
}

/// The elements in the opposite order along an axis.
fn backwards<'a>(view: &DynView<'a>, axis: usize) -> Option<DynView<'a>> {
    let count = view.shape()[axis];
    let last = count.checked_sub(1)?;
    view.slice(axis, last, -1, count)
}
