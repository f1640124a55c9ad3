//! `segment_coo` and `segment_csr`: reductions of elements that lie in the order of their groups.
//!
//! Source of the semantics: torch_scatter 2.1.2, `torch_scatter/segment_coo.py`,
//! `torch_scatter/segment_csr.py`, `csrc/cpu/segment_coo_cpu.cpp`, `csrc/cpu/segment_csr_cpu.cpp`
//! and runs on CPU; see also `COMPARE.md`.

use crate::dialect::framework::call::{Call, Describe};
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::declaration::*;
use crate::dialect::torch_scatter::checks::{check_out, check_ranks, expand, place, target};
use crate::dialect::torch_scatter::{DIM_SIZE, Reduce, context, size_along};
use strew_engine::checks::expect_shape;
use strew_engine::describe::destinations::{Destinations, Shapes};
use strew_engine::describe::pairing::Pairing;
use strew_engine::describe::reduction::{Finish, Init, Reduction};
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::{Class, Problem};

const SRC: &str = "the elements to reduce: rank 1 or more, any dtype";

const INDEX: &str = "the group of each element along index's last axis, where it must ascend: int32 \
     or int64; expanded to src's first axes";

pub(super) const INDPTR: &str = "where each group begins along indptr's last axis, and where the \
     last one ends: int32 or int64; its other axes are expanded to src's";

const OUT_COO: &str = "a tensor to go on reducing into, in place: src's dtype, and its shape but \
     for index's last axis";

const OUT_CSR: &str = "a tensor to write the result to, in place: src's dtype, and its shape but \
     for indptr's last axis";

const WORDS: &[&str] = &["sum", "add", "mean", "min", "max"];

operators! {
    <T: Element, I: Index> dyn (
        src: tensor<T> => SRC;
        index: tensor<I> => INDEX;
        ~ out: optional_target => OUT_COO;
        dim_size: optional_size => DIM_SIZE;
        reduce: word<Reduce> = "sum" => "sum (or add), mean, min or max", WORDS;
    ) -> out;

    /// Reduces the elements of `src` whose index is the same; the index ascends.
    ///
    /// torch_scatter's `segment_coo`. With `d` the number of `index`'s axes, group `i` along axis `d -
    /// 1` takes the elements of `src` whose index is `i`; `index` is expanded to `src`'s first `d`
    /// axes. The result has `src`'s shape and dtype but for that axis, where its size is `dim_size`, by
    /// default the last index plus 1.
    ///
    /// Groups without elements are 0. Minima and maxima start from the type's largest and lowest finite
    /// value; a group that is still there in the end becomes 0, as by
    /// [`scatter`](crate::dialect::torch_scatter::scatter). Means of integers are rounded toward zero.
    /// 16-bit floats accumulate in `f32` and are rounded once.
    ///
    /// ```
    /// use strew::torch_scatter::{Reduce, segment_coo};
    ///
    /// let out = segment_coo(&[1.0f32, 3.0, 4.0, 8.0], &[0i64, 0, 2, 2], Some(4), Reduce::Mean)?;
    /// assert_eq!(out.as_slice(), [2.0, 0.0, 6.0, 0.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Value`] for [`Reduce::Mul`], [`Class::NotImplemented`] for a mean of bool and an
    /// extreme of complex numbers, [`Class::Runtime`] for everything else: shapes that do not expand,
    /// index types, indices that do not ascend or are out of range.
    pub fn segment_coo = lower_coo_word;
    const SEGMENT_COO = "torch_scatter.segment_coo":
        "Reduces the elements of src that share an index, which ascends";
}

rows! {
    (
        src: tensor<T> => SRC;
        index: tensor => INDEX;
        out: optional_target => OUT_COO;
        dim_size: optional_int => DIM_SIZE;
    ) -> out;

    const SEGMENT_SUM_COO = "torch_scatter.segment_sum_coo":
        "Sums the elements of src that share an index, which ascends"
        = lower_coo(Reduce::Sum, false);
    const SEGMENT_ADD_COO = "torch_scatter.segment_add_coo":
        "Sums the elements of src that share an index, which ascends"
        = lower_coo(Reduce::Sum, false);
    const SEGMENT_MEAN_COO = "torch_scatter.segment_mean_coo":
        "Averages the elements of src that share an index, which ascends"
        = lower_coo(Reduce::Mean, false);
}

operators! {
    <T: Element, I: Index> dyn (
        src: tensor<T> => SRC;
        index: tensor<I> => INDEX;
        ~ out: optional_target => OUT_COO;
        dim_size: optional_size => DIM_SIZE;
    ) -> out arg;

    /// The smallest element of each group, and its position along the groups' axis in `src`.
    ///
    /// Values as by [`segment_coo`]. Of equal elements the first wins, and NaN never does; a group
    /// whose value is 0 because it has no winner has the size of `src` along that axis as its position.
    ///
    /// ```
    /// let (out, arg) = strew::torch_scatter::segment_min_coo(&[3.0f32, 2.0, 2.0], &[0i64, 2, 2], None)?;
    /// assert_eq!(out.as_slice(), [3.0, 0.0, 2.0]);
    /// assert_eq!(arg.as_slice(), [0, 3, 1]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`segment_coo`].
    pub fn segment_min_coo = lower_coo(Reduce::Min, true);
    const SEGMENT_MIN_COO = "torch_scatter.segment_min_coo":
        "The smallest of the elements of src that share an index, which ascends, and where each came from";

    /// The largest element of each group, and its position along the groups' axis in `src`; see
    /// [`segment_min_coo`].
    ///
    /// # Errors
    /// As [`segment_coo`].
    pub fn segment_max_coo = lower_coo(Reduce::Max, true);
    const SEGMENT_MAX_COO = "torch_scatter.segment_max_coo":
        "The largest of the elements of src that share an index, which ascends, and where each came from";
}

operators! {
    <T: Element, I: Index> dyn (
        src: tensor<T> => SRC;
        indptr: tensor<I> => INDPTR;
        ~ out: optional_target => OUT_CSR;
        reduce: word<Reduce> = "sum" => "sum (or add), mean, min or max", WORDS;
    ) -> out;

    /// Reduces the elements of `src` from one pointer to the next.
    ///
    /// torch_scatter's `segment_csr`. With `d` the number of `indptr`'s axes, row `n` along axis `d -
    /// 1` of the result takes the elements of `src` from `indptr[.., n]` up to `indptr[.., n + 1]`; the
    /// other axes of `indptr` are expanded to `src`'s first. There is one row less than there are
    /// pointers. Pointers need not begin at 0 or end with `src`, and runs may overlap; where a pointer
    /// is not larger than the one before it the row has no elements.
    ///
    /// Rows without elements are 0, and so are minima and maxima of nothing but NaN, which never wins.
    /// Means of integers are rounded toward zero. 16-bit floats accumulate in `f32` and are rounded
    /// once.
    ///
    /// ```
    /// use strew::torch_scatter::{Reduce, segment_csr};
    ///
    /// let out = segment_csr(&[1.0f32, 3.0, 4.0, 8.0], &[0i64, 2, 2, 4], Reduce::Sum)?;
    /// assert_eq!(out.as_slice(), [4.0, 0.0, 12.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Value`] for [`Reduce::Mul`], [`Class::NotImplemented`] for a mean of bool and an
    /// extreme of complex numbers, [`Class::Runtime`] for everything else: shapes that do not expand,
    /// pointer types, pointers outside `src`.
    pub fn segment_csr = lower_csr_word;
    const SEGMENT_CSR = "torch_scatter.segment_csr":
        "Reduces the elements of src from one pointer to the next";
}

rows! {
    (
        src: tensor<T> => SRC;
        indptr: tensor => INDPTR;
        out: optional_target => OUT_CSR;
    ) -> out;

    const SEGMENT_SUM_CSR = "torch_scatter.segment_sum_csr":
        "Sums the elements of src from one pointer to the next"
        = lower_csr(Reduce::Sum, false);
    const SEGMENT_ADD_CSR = "torch_scatter.segment_add_csr":
        "Sums the elements of src from one pointer to the next"
        = lower_csr(Reduce::Sum, false);
    const SEGMENT_MEAN_CSR = "torch_scatter.segment_mean_csr":
        "Averages the elements of src from one pointer to the next"
        = lower_csr(Reduce::Mean, false);
}

operators! {
    <T: Element, I: Index> dyn (
        src: tensor<T> => SRC;
        indptr: tensor<I> => INDPTR;
        ~ out: optional_target => OUT_CSR;
    ) -> out arg;

    /// The smallest element of each row, and its position along the rows' axis in `src`.
    ///
    /// Values as by [`segment_csr`]. Of equal elements the first wins, and NaN never does; a row whose
    /// value is 0 because it has no winner has the size of `src` along that axis as its position.
    ///
    /// ```
    /// let (out, arg) = strew::torch_scatter::segment_min_csr(&[3.0f32, 2.0, 2.0], &[0i64, 1, 1, 3])?;
    /// assert_eq!(out.as_slice(), [3.0, 0.0, 2.0]);
    /// assert_eq!(arg.as_slice(), [0, 3, 1]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`segment_csr`].
    pub fn segment_min_csr = lower_csr(Reduce::Min, true);
    const SEGMENT_MIN_CSR = "torch_scatter.segment_min_csr":
        "The smallest of the elements of src from one pointer to the next, and where it came from";

    /// The largest element of each row, and its position along the rows' axis in `src`; see
    /// [`segment_min_csr`].
    ///
    /// # Errors
    /// As [`segment_csr`].
    pub fn segment_max_csr = lower_csr(Reduce::Max, true);
    const SEGMENT_MAX_CSR = "torch_scatter.segment_max_csr":
        "The largest of the elements of src from one pointer to the next, and where it came from";
}

fn lower_coo<'a>(
    name: &'static str,
    reduce: Reduce,
    with_arg: bool,
    src: DynView<'a>,
    index: DynView<'a>,
    out: Option<DynViewMut<'a>>,
    dim_size: Option<i64>,
) -> Result<Call<'a>> {
    let scatter = describe_coo(src, &index, out, dim_size, reduce, with_arg);
    context(name, class).call(scatter)
}

fn lower_coo_word<'a>(
    name: &'static str,
    src: DynView<'a>,
    index: DynView<'a>,
    out: Option<DynViewMut<'a>>,
    dim_size: Option<i64>,
    reduce: &str,
) -> Result<Call<'a>> {
    lower_coo(name, parse(name, reduce)?, false, src, index, out, dim_size)
}

fn lower_csr<'a>(
    name: &'static str,
    reduce: Reduce,
    with_arg: bool,
    src: DynView<'a>,
    indptr: DynView<'a>,
    out: Option<DynViewMut<'a>>,
) -> Result<Call<'a>> {
    context(name, class).call(describe_csr(src, &indptr, out, reduce, with_arg))
}

fn lower_csr_word<'a>(
    name: &'static str,
    src: DynView<'a>,
    indptr: DynView<'a>,
    out: Option<DynViewMut<'a>>,
    reduce: &str,
) -> Result<Call<'a>> {
    lower_csr(name, parse(name, reduce)?, false, src, indptr, out)
}

/// [`segment_coo`] with `out=`: goes on reducing into `out`, in place.
///
/// Sums, minima and maxima take what `out` holds as one more element. A mean is `(out + sum) /
/// count` where there are elements. Only elements are counted.
///
/// ```
/// use strew::torch_scatter::{Reduce, segment_coo_out};
///
/// let mut totals = [10.0f32, 20.0];
/// segment_coo_out(&[1.0f32, 2.0], &[1i64, 1], &mut totals, Reduce::Sum)?;
/// assert_eq!(totals, [10.0, 23.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`segment_coo`]; `out` is then unchanged.
pub fn segment_coo_out<'a, T: Element, I: Index>(
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    out: impl Into<TensorViewMut<'a, T>>,
    reduce: Reduce,
) -> Result<()> {
    let name = "torch_scatter.segment_coo";
    let (src, index) = (src.as_tensor().of_rust(), index.as_tensor().of_rust());
    let out = Some(out.into().into_dyn());
    let scatter =
        allowed(reduce).and_then(|()| describe_coo(src, &index, out, None, reduce, false));
    context(name, class).call(scatter)?.run_in_place()
}

/// [`segment_coo`] with element types known at run time, and `reduce` as torch_scatter's word.
///
/// With `out`, reduces into it and returns no values. With `with_arg` (`min` and `max` only), also
/// gives the positions of the winners.
///
/// # Errors
/// As [`segment_coo`]; [`Class::Value`] for an unknown `reduce`.
pub fn segment_coo_dyn<'a>(
    src: DynView<'a>,
    index: &DynView<'a>,
    out: Option<DynViewMut<'a>>,
    dim_size: Option<i64>,
    reduce: &str,
    with_arg: bool,
) -> Result<Output> {
    let name = "torch_scatter.segment_coo";
    let reduce = parse(name, reduce)?;
    let scatter = describe_coo(src, index, out, dim_size, reduce, with_arg);
    context(name, class).call(scatter)?.run()
}

/// [`segment_csr`] with `out=`: writes the result to `out`, whatever it holds.
///
/// ```
/// use strew::torch_scatter::{Reduce, segment_csr_out};
///
/// let mut out = [7.0f32, 7.0];
/// segment_csr_out(&[1.0f32, 2.0], &[0i64, 2, 2], &mut out, Reduce::Sum)?;
/// assert_eq!(out, [3.0, 0.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`segment_csr`]; `out` is then unchanged.
pub fn segment_csr_out<'a, T: Element, I: Index>(
    src: impl AsTensor<T>,
    indptr: impl AsTensor<I>,
    out: impl Into<TensorViewMut<'a, T>>,
    reduce: Reduce,
) -> Result<()> {
    let name = "torch_scatter.segment_csr";
    let (src, indptr) = (src.as_tensor().of_rust(), indptr.as_tensor().of_rust());
    let out = Some(out.into().into_dyn());
    let scatter = allowed(reduce).and_then(|()| describe_csr(src, &indptr, out, reduce, false));
    context(name, class).call(scatter)?.run_in_place()
}

/// [`segment_csr`] with element types known at run time, and `reduce` as torch_scatter's word.
///
/// With `out`, writes to it and returns no values. With `with_arg` (`min` and `max` only), also
/// gives the positions of the winners.
///
/// # Errors
/// As [`segment_csr`]; [`Class::Value`] for an unknown `reduce`.
pub fn segment_csr_dyn<'a>(
    src: DynView<'a>,
    indptr: &DynView<'a>,
    out: Option<DynViewMut<'a>>,
    reduce: &str,
    with_arg: bool,
) -> Result<Output> {
    let name = "torch_scatter.segment_csr";
    let reduce = parse(name, reduce)?;
    let scatter = describe_csr(src, indptr, out, reduce, with_arg);
    context(name, class).call(scatter)?.run()
}

pub(super) fn class(problem: &Problem) -> Class {
    match problem {
        Problem::Unsupported { .. } => Class::NotImplemented,
        Problem::Kind { .. } => Class::Type,
        Problem::Value { argument, .. } if argument == "reduce" => Class::Value,
        _ => Class::Runtime,
    }
}

fn unknown(word: &str) -> Problem {
    wrong_value(
        "reduce",
        format_args!("{word:?}"),
        "it must be sum, add, mean, min or max",
    )
}

fn parse(name: &'static str, word: &str) -> Result<Reduce> {
    let known = Reduce::parse(word).ok().filter(|&r| r != Reduce::Mul);
    known.ok_or_else(|| context(name, class).error(unknown(word)))
}

/// Products of segments are nobody's.
fn allowed(reduce: Reduce) -> Result<(), Problem> {
    match reduce {
        Reduce::Mul => Err(unknown("mul")),
        _ => Ok(()),
    }
}

fn describe_coo<'a>(
    src: DynView<'a>,
    index: &DynView<'a>,
    out: Option<DynViewMut<'a>>,
    dim_size: Option<i64>,
    reduce: Reduce,
    with_arg: bool,
) -> Result<Scatter<'a>, Problem> {
    let dim = check_ranks(&src, "index", index)?;
    let expanded = expand("index", index, &src.shape()[..=dim])?;
    let mut shape = src.dims();
    if let Some(out) = &out {
        check_out(&src, out, dim)?;
        shape[dim] = out.shape()[dim];
    } else {
        // Where the index ascends, the last entries are the largest.
        let count = index.shape()[dim];
        let last = index.narrow(dim, count.saturating_sub(1), count.min(1));
        let values = if expanded.is_empty() {
            &expanded
        } else {
            last.as_ref().unwrap_or(index)
        };
        shape[dim] = size_along(values, dim_size)?;
    }
    let start = match reduce {
        Reduce::Min | Reduce::Max => Start::FiniteExtreme,
        Reduce::Sum | Reduce::Mean | Reduce::Mul => Start::Zero,
    };
    let finish = match reduce {
        Reduce::Mean => Finish::Mean { count_self: false },
        Reduce::Min | Reduce::Max if out.is_none() => Finish::ZeroIfStart,
        _ => Finish::None,
    };
    let reduction = Reduction {
        combine: reduce.combine(),
        init: Init::Current,
        finish,
    };
    let destinations = Destinations::runs(
        Shapes {
            destination: &shape,
            updates: src.shape(),
        },
        "index",
        expanded,
        dim,
        place(dim),
        Pairing::Ascending,
    )?;
    let target = target(&src, out, start);
    described(destinations, reduction, src, dim, target, reduce, with_arg)
}

fn describe_csr<'a>(
    src: DynView<'a>,
    indptr: &DynView<'a>,
    out: Option<DynViewMut<'a>>,
    reduce: Reduce,
    with_arg: bool,
) -> Result<Scatter<'a>, Problem> {
    let dim = check_ranks(&src, "indptr", indptr)?;
    let pointers = indptr.shape()[dim];
    let mut wanted = src.dims();
    wanted.truncate(dim);
    wanted.push(pointers);
    let expanded = expand("indptr", indptr, &wanted)?;
    let mut shape = src.dims();
    shape[dim] = pointers.saturating_sub(1);
    if let Some(out) = &out {
        check_out(&src, out, dim)?;
        let rows = out.shape()[dim];
        expect_shape(
            "out",
            out.shape(),
            src.is_empty() || rows == shape[dim],
            || {
                format!(
                    "its size along dimension {dim} must be {}, one less than there are pointers",
                    shape[dim]
                )
            },
        )?;
        shape[dim] = rows;
    }
    let reduction = Reduction {
        combine: reduce.combine(),
        init: Init::Identity,
        finish: match reduce {
            Reduce::Mean => Finish::Mean { count_self: false },
            _ => Finish::None,
        },
    };
    let destinations = Destinations::runs(
        Shapes {
            destination: &shape,
            updates: src.shape(),
        },
        "indptr",
        expanded,
        dim,
        place(dim),
        Pairing::Pointers,
    )?;
    let target = target(&src, out, Start::Zero);
    described(destinations, reduction, src, dim, target, reduce, with_arg)
}

fn described<'a>(
    destinations: Destinations<'a>,
    reduction: Reduction,
    src: DynView<'a>,
    dim: usize,
    target: Target<'a>,
    reduce: Reduce,
    with_arg: bool,
) -> Result<Scatter<'a>, Problem> {
    if with_arg && !matches!(reduce, Reduce::Min | Reduce::Max) {
        return Err(wrong_value(
            "reduce",
            format_args!("{reduce:?}"),
            "only min and max have positions",
        ));
    }
    let none = int(src.shape()[dim]);
    let scatter = Scatter::new(destinations, reduction, "src", src, target)?;
    Ok(match with_arg {
        true => scatter.with_arg(none),
        false => scatter,
    })
}
