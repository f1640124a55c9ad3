//! torch_scatter (`pytorch_scatter`), the scatter library of graph networks.
//!
//! Source of the semantics: torch_scatter 2.1.2, `torch_scatter/scatter.py`,
//! `torch_scatter/utils.py`, `csrc/cpu/scatter_cpu.cpp` and runs on CPU; see also `COMPARE.md`.

pub(crate) mod checks;
pub(crate) mod composite;
pub(crate) mod gather;
pub(crate) mod segment;

use crate::dialect::framework::call::{Call, Describe};
use crate::dialect::framework::checks::{
    expect_axes, expect_dtype_of, expect_size, expect_torch_index, wrong_value,
};
use crate::dialect::framework::declaration::*;
use crate::dialect::torch_scatter::checks::{check_out_shape, target};
use std::str::FromStr;
use strew_engine::checks::axis;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::{Destinations, Place};
use strew_engine::describe::reduction::{Finish, Init, Reduction};
use strew_engine::describe::{Scatter, Start};
use strew_kernel::error::{Class, Error, Problem};
use strew_kernel::ops::reduction::{Combine, Nan};

pub(crate) use crate::dialect::framework::call::context;
pub use composite::*;
pub use gather::*;
pub use segment::*;

const SRC: &str = "the elements to reduce: rank 1 or more, any dtype";

pub(crate) const INDEX: &str = "the group of each element along dim: int32 or int64; a 1-d index \
     lies along dim, others are padded on the right, then both are expanded to src's shape";

pub(crate) const DIM: &str = "the axis that index points along; negative counts from the end";

pub(crate) const OUT: &str =
    "a tensor to go on reducing into, in place: src's shape but for dim, src's dtype";

pub(crate) const DIM_SIZE: &str =
    "the output's size along dim; None: index.max() + 1, or 0 for an empty index";

const WORDS: &[&str] = &["sum", "add", "mul", "mean", "min", "max"];

operators! {
    <T: Element, I: Index> dyn (
        src: tensor<T> => SRC;
        index: tensor<I> => INDEX;
        dim: int = -1 => DIM;
        ~ out: optional_target => OUT;
        dim_size: optional_size => DIM_SIZE;
        reduce: word<Reduce> = "sum" => "sum (or add), mul, mean, min or max", WORDS;
    ) -> out;

    /// Reduces the elements of `src` that share an index along `dim` into a new tensor.
    ///
    /// * `index`: integers, not negative. A 1-d index lies along `dim`; one of more dimensions is
    ///   padded with axes of size 1 on the right (never on the left); then it is expanded to `src`'s
    ///   shape.
    /// * The output has `src`'s shape but for `dim`, where its size is `dim_size`, or `index.max() + 1`
    ///   without it, or 0 if `index` is empty.
    ///
    /// Groups without elements are 0 (1 for `Mul`; but an empty `src` gives 0 for every reduction). For
    /// `Min` and `Max`, NaN never wins, and a group whose result is the type's extreme finite value, or
    /// that holds nothing but the infinity beyond it, is 0 like an empty one. 16-bit floats accumulate
    /// in `f32` and are rounded once. To reduce into an existing tensor, use [`scatter_out`].
    ///
    /// ```
    /// use ndarray::array;
    /// use strew::torch_scatter::{Reduce, scatter};
    ///
    /// let src = array![[1.0f32, 4.0, 2.0], [3.0, 5.0, 9.0]];
    /// let out = scatter(&src, &[0i64, 2, 0], -1, None, Reduce::Mean)?;
    /// assert_eq!(out.to_ndarray(), array![[1.5, 0.0, 4.0], [6.0, 0.0, 5.0]].into_dyn());
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`] for a wrong `dim` and for a 0-d `src`, [`Class::Runtime`] for everything else:
    /// shapes that do not expand, index types, indices out of range.
    pub fn scatter = lower_word;
    const SCATTER = "torch_scatter.scatter":
        "Reduces the elements of src that share an index along dim";
}

operators! {
    <T: Element, I: Index> dyn (
        src: tensor<T> => SRC;
        index: tensor<I> => INDEX;
        dim: int = -1 => DIM;
        ~ out: optional_target => OUT;
        ~ dim_size: optional_int => DIM_SIZE;
    ) -> out;

    /// The sum of each group; 0 without elements. [`scatter`] with [`Reduce::Sum`], into as many groups
    /// as `index` names: for a number of your own, call [`scatter`] itself.
    ///
    /// ```
    /// let prices = vec![2.5f64, 4.0, 1.0];
    /// let shop: Vec<usize> = vec![1, 0, 1];
    /// let sums = strew::torch_scatter::scatter_sum(&prices, &shop, 0)?;
    /// assert_eq!(sums.as_slice(), [4.0, 3.5]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter`].
    pub fn scatter_sum = lower(Reduce::Sum, false);
    const SCATTER_SUM = "torch_scatter.scatter_sum":
        "Sums the elements of src that share an index along dim";

    /// [`scatter_sum`] by its other name.
    ///
    /// # Errors
    /// As [`scatter`].
    pub fn scatter_add = lower(Reduce::Sum, false);
    const SCATTER_ADD = "torch_scatter.scatter_add":
        "Sums the elements of src that share an index along dim";

    /// The product of each group; 1 without elements. Otherwise as [`scatter_sum`].
    ///
    /// ```
    /// let products = strew::torch_scatter::scatter_mul([2, 3, 5], [0u32, 2, 0], 0)?;
    /// assert_eq!(products.as_slice(), [10, 1, 3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter`].
    pub fn scatter_mul = lower(Reduce::Mul, false);
    const SCATTER_MUL = "torch_scatter.scatter_mul":
        "Multiplies the elements of src that share an index along dim";

    /// The mean of each group; 0 without elements, and rounded down if the elements are integers.
    /// Otherwise as [`scatter_sum`].
    ///
    /// ```
    /// let means = strew::torch_scatter::scatter_mean(&[2.5, 4.0, 1.0], &[1u8, 0, 1], 0)?;
    /// assert_eq!(means.into_vec(), [4.0, 1.75]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter`].
    pub fn scatter_mean = lower(Reduce::Mean, false);
    const SCATTER_MEAN = "torch_scatter.scatter_mean":
        "Averages the elements of src that share an index along dim";
}

operators! {
    <T: Element, I: Index> dyn (
        src: tensor<T> => SRC;
        index: tensor<I> => INDEX;
        dim: int = -1 => DIM;
        ~ out: optional_target => OUT;
        dim_size: optional_size => DIM_SIZE;
    ) -> out arg;

    /// The smallest element of each group, and its position along `dim` in `src`.
    ///
    /// * `src`, `index` and the values are as by [`scatter`] with [`Reduce::Min`].
    /// * `dim_size`: the number of groups. `None`: as many as `index` names, its largest number plus 1.
    /// * Of equal elements the first wins. A group without a winner has the value 0 and the position
    ///   `src.shape[dim]`.
    ///
    /// ```
    /// let (src, index) = ([3.0f32, 1.0, 2.0, 1.0], [0i64, 2, 0, 2]);
    /// let (out, arg) = strew::torch_scatter::scatter_min(&src, &index, -1, None)?;
    /// assert_eq!(out.as_slice(), [2.0, 0.0, 1.0]);
    /// assert_eq!(arg.as_slice(), [2, 4, 1]);
    ///
    /// // Four groups, of which the last has no element either.
    /// let (out, arg) = strew::torch_scatter::scatter_min(&src, &index, -1, Some(4))?;
    /// assert_eq!(out.as_slice(), [2.0, 0.0, 1.0, 0.0]);
    /// assert_eq!(arg.as_slice(), [2, 4, 1, 4]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter`].
    pub fn scatter_min = lower(Reduce::Min, true);
    const SCATTER_MIN = "torch_scatter.scatter_min":
        "The smallest of the elements of src that share an index along dim, and where each came from";

    /// The largest element of each group, and its position along `dim` in `src`. The arguments are
    /// those of [`scatter_min`]: the last one is the number of groups.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let (rows, group) = (array![[1.0, 5.0], [3.0, -1.0], [-2.0, -7.0]], vec![0usize, 0, 1]);
    /// let (most, row) = strew::torch_scatter::scatter_max(&rows, &group, 0, None)?;
    /// assert_eq!(most.to_ndarray(), array![[3.0, 5.0], [-2.0, -7.0]].into_dyn());
    /// assert_eq!(row.to_ndarray(), array![[1, 0], [2, 2]].into_dyn());
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter`].
    pub fn scatter_max = lower(Reduce::Max, true);
    const SCATTER_MAX = "torch_scatter.scatter_max":
        "The largest of the elements of src that share an index along dim, and where each came from";
}

/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[
    SCATTER,
    SCATTER_SUM,
    SCATTER_ADD,
    SCATTER_MUL,
    SCATTER_MEAN,
    SCATTER_MIN,
    SCATTER_MAX,
    composite::SCATTER_STD,
    composite::SCATTER_LOGSUMEXP,
    composite::SCATTER_SOFTMAX,
    composite::SCATTER_LOG_SOFTMAX,
    segment::SEGMENT_COO,
    segment::SEGMENT_SUM_COO,
    segment::SEGMENT_ADD_COO,
    segment::SEGMENT_MEAN_COO,
    segment::SEGMENT_MIN_COO,
    segment::SEGMENT_MAX_COO,
    segment::SEGMENT_CSR,
    segment::SEGMENT_SUM_CSR,
    segment::SEGMENT_ADD_CSR,
    segment::SEGMENT_MEAN_CSR,
    segment::SEGMENT_MIN_CSR,
    segment::SEGMENT_MAX_CSR,
    gather::GATHER_COO,
    gather::GATHER_CSR,
];

/// How the elements of a group are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduce {
    /// Their sum (also called `add`); 0 for an empty group.
    Sum,
    /// Their product; 1 for an empty group. Not of segments.
    Mul,
    /// Their mean; integers are rounded down (by the segment operators toward zero), 0 for an empty
    /// group. Not for bool.
    Mean,
    /// The smallest, NaN left out; 0 for an empty group. Not for complex numbers.
    Min,
    /// The largest, NaN left out; 0 for an empty group. Not for complex numbers.
    Max,
}

impl Reduce {
    fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mul => "mul",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    fn parse(name: &str) -> Result<Self, Problem> {
        match name {
            "sum" | "add" => Ok(Self::Sum),
            "mul" => Ok(Self::Mul),
            "mean" => Ok(Self::Mean),
            "min" => Ok(Self::Min),
            "max" => Ok(Self::Max),
            other => Err(wrong_value(
                "reduce",
                format_args!("{other:?}"),
                "it must be sum, add, mul, mean, min or max",
            )),
        }
    }

    fn combine(self) -> Combine {
        match self {
            Self::Sum | Self::Mean => Combine::Sum,
            Self::Mul => Combine::Prod,
            Self::Min => Combine::Min(Nan::Ignore),
            Self::Max => Combine::Max(Nan::Ignore),
        }
    }
}

impl FromStr for Reduce {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::parse(name).map_err(|p| context("torch_scatter.scatter", class).error(p))
    }
}

/// [`scatter`] with `out=`: goes on reducing into `out`, in place.
///
/// Sums, products, minima and maxima take what `out` holds as one more element; a mean is
/// `(out + sum) / max(count, 1)`, where only `src`'s elements count.
///
/// ```
/// use strew::torch_scatter::{Reduce, scatter_out};
///
/// let mut totals = [10.0f32, 20.0];
/// scatter_out(&[1.0f32, 2.0, 4.0], &[1i64, 1, 0], -1, &mut totals, Reduce::Sum)?;
/// assert_eq!(totals, [14.0, 23.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter`]; `out` is then unchanged.
pub fn scatter_out<'a, T: Element, I: Index>(
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    out: impl Into<TensorViewMut<'a, T>>,
    reduce: Reduce,
) -> Result<()> {
    let (src, index) = (src.as_tensor().of_rust(), index.as_tensor().of_rust());
    let (name, out) = ("torch_scatter.scatter", Some(out.into().into_dyn()));
    lower(name, reduce, false, src, index, dim, out, None)?.run_in_place()
}

/// [`scatter`] with element types known at run time, and `reduce` as torch_scatter's word.
///
/// With `out`, reduces into it and returns nothing. With `with_arg` (`min` and `max` only), also
/// gives the positions of the winners.
///
/// # Errors
/// As [`scatter`]; [`Class::Value`] for an unknown `reduce`.
pub fn scatter_dyn<'a>(
    src: DynView<'a>,
    index: DynView<'a>,
    dim: i64,
    out: Option<DynViewMut<'a>>,
    dim_size: Option<i64>,
    reduce: &str,
    with_arg: bool,
) -> Result<Output> {
    let name = "torch_scatter.scatter";
    let reduce = Reduce::parse(reduce).map_err(|p| context(name, class).error(p))?;
    lower(name, reduce, with_arg, src, index, dim, out, dim_size)?.run()
}

pub(crate) fn class(problem: &Problem) -> Class {
    match problem {
        Problem::Axis { .. } => Class::Index,
        Problem::Unsupported { .. } => Class::NotImplemented,
        Problem::Kind { .. } => Class::Type,
        Problem::Value { argument, .. } if argument == "reduce" => Class::Value,
        Problem::Shape {
            argument: "src",
            found,
            ..
        } if found.is_empty() => Class::Index,
        _ => Class::Runtime,
    }
}

#[allow(clippy::too_many_arguments)]
fn lower<'a>(
    name: &'static str,
    reduce: Reduce,
    with_arg: bool,
    src: DynView<'a>,
    index: DynView<'a>,
    dim: i64,
    out: Option<DynViewMut<'a>>,
    dim_size: Option<i64>,
) -> Result<Call<'a>> {
    let context = context(name, class);
    context.call(describe(src, index, dim, out, dim_size, reduce, with_arg))
}

fn lower_word<'a>(
    name: &'static str,
    src: DynView<'a>,
    index: DynView<'a>,
    dim: i64,
    out: Option<DynViewMut<'a>>,
    dim_size: Option<i64>,
    reduce: &str,
) -> Result<Call<'a>> {
    let reduce = Reduce::parse(reduce).map_err(|p| context(name, class).error(p))?;
    lower(name, reduce, false, src, index, dim, out, dim_size)
}

fn describe<'a>(
    src: DynView<'a>,
    index: DynView<'a>,
    dim: i64,
    out: Option<DynViewMut<'a>>,
    dim_size: Option<i64>,
    reduce: Reduce,
    with_arg: bool,
) -> Result<Scatter<'a>, Problem> {
    let (dim, expanded, place) = groups(&src, &index, dim)?;
    let along = src.shape()[dim];
    let none = int(along);

    let mut shape = src.dims();
    if let Some(out) = &out {
        expect_dtype_of("out", out.dtype(), "src", src.dtype())?;
        // As in torch's scatter_add_, sums may go into the corner of a larger out.
        check_out_shape(&src, out, dim, reduce == Reduce::Sum)?;
        shape = out.dims();
    } else {
        shape[dim] = groups_along(&src, &index, &expanded, dim_size)?;
    }

    let combine = reduce.combine();
    if with_arg && !matches!(reduce, Reduce::Min | Reduce::Max) {
        return Err(wrong_value(
            "reduce",
            format_args!("{reduce:?}"),
            "only min and max have positions",
        ));
    }
    let finish = match reduce {
        Reduce::Mean => Finish::Mean { count_self: false },
        Reduce::Min | Reduce::Max if out.is_none() => Finish::ZeroIfStart,
        _ => Finish::None,
    };
    let start = match reduce {
        // An empty src gives zeros whatever the reduction.
        _ if src.is_empty() => Start::Zero,
        Reduce::Sum | Reduce::Mean => Start::Zero,
        Reduce::Mul => Start::Identity,
        Reduce::Min | Reduce::Max => Start::FiniteExtreme,
    };
    let target = target(&src, out, start);
    let destinations =
        Destinations::elements(&shape, "index", &expanded, dim, place, Bounds::STRICT)?;
    let reduction = Reduction {
        combine,
        init: Init::Current,
        finish,
    };
    let mut scatter = Scatter::new(destinations, reduction, "src", src, target)?;
    if with_arg {
        scatter = scatter.with_arg(none);
    }
    Ok(scatter)
}

/// The axis of the groups, and the index as [`expand`] gives it.
pub(crate) fn groups<'a>(
    src: &DynView<'_>,
    index: &DynView<'a>,
    dim: i64,
) -> Result<(usize, DynView<'a>, Place), Problem> {
    expect_axes("src", src.shape())?;
    let dim = axis("dim", dim, src.rank())?;
    expect_torch_index("index", index)?;
    let (expanded, place) = expand(index, src, dim)?;
    Ok((dim, expanded, place))
}

/// The output's size along the axis of the groups when there is no `out`, of an index before and
/// after it is expanded.
pub(crate) fn groups_along(
    src: &DynView<'_>,
    index: &DynView<'_>,
    expanded: &DynView<'_>,
    dim_size: Option<i64>,
) -> Result<usize, Problem> {
    // Expanded to an empty src, an index has no value.
    let values = if src.is_empty() { expanded } else { index };
    size_along(values, dim_size)
}

/// The index seen with `src`'s shape, and which of those axes are its own.
fn expand<'a>(
    index: &DynView<'a>,
    src: &DynView<'_>,
    dim: usize,
) -> Result<(DynView<'a>, Place), Problem> {
    let mut padded = index.clone();
    let mut axes = 0..index.rank();
    if index.rank() == 1 {
        for _ in 0..dim {
            padded = padded.insert_axis(0);
        }
        axes = dim..dim + 1;
    }
    while padded.rank() < src.rank() {
        padded = padded.insert_axis(padded.rank());
    }
    let expanded = padded
        .broadcast_to(src.shape())
        .filter(|_| padded.rank() == src.rank());
    let place = Place { axes, tuple: None };
    expanded.map(|e| (e, place)).ok_or_else(|| Problem::Shape {
        argument: "index",
        found: index.shape().to_vec(),
        expected: format!(
            "padded to {:?} it must expand to src's shape {:?}",
            padded.shape(),
            src.shape()
        ),
    })
}

/// The output's size along the scattered axis when there is no `out`.
pub(crate) fn size_along(index: &DynView<'_>, dim_size: Option<i64>) -> Result<usize, Problem> {
    if let Some(size) = dim_size {
        return expect_size("dim_size", size);
    }
    // A negative maximum leaves no cell; the run then names the first index that is wrong.
    Bounds::STRICT.cells(index, "index")
}
