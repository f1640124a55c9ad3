//! `segment_reduce`: elements that lie in the order of their groups, reduced group by group.
//!
//! Source of the semantics: PyTorch 2.15, `aten/src/ATen/native/SegmentReduce.cpp` and runs on CPU;
//! see also `COMPARE.md`.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_i32_or_i64, wrong_value};
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::operator::Arguments;
use crate::dialect::torch::reduce::Reduce;
use crate::dialect::torch::{Refusal, call, class, context, index_error};
use crate::dialect::typed;
use strew_engine::checks::{axis, expect_shape};
use strew_engine::describe::destinations::{Destinations, Place, Shapes};
use strew_engine::describe::pairing::Pairing;
use strew_engine::describe::reduction::{Finish, Init, Reduction};
use strew_engine::describe::{Output, Scatter, Start, Target, identity_element};
use strew_kernel::error::{Class, Problem};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DType, Dims, Held, try_vec};

const NAME: &str = "torch.segment_reduce";

rows! {
    (
        data: tensor<T> => "the elements to reduce: rank 1 or more, any dtype";
        reduce: text => "sum, prod, mean, max (or amax) or min (or amin)",
            &["sum", "prod", "mean", "max", "min", "amax", "amin"];
        lengths: optional_tensor =>
            "how many elements each group has: int32 or int64, data's sizes up to axis, its last";
        indices: optional_tensor =>
            "not to be given: PyTorch has an argument of this name that it refuses";
        offsets: optional_tensor =>
            "where each group begins, and where the last one ends: int32 or int64, data's sizes up to axis, its last; taken if there are lengths too";
        axis: int = 0 =>
            "the axis of the groups: the last of lengths or offsets; negative counts from the end";
        unchecked["unsafe"]: bool = false =>
            "whether lengths may leave the last elements of data out";
        initial: optional_scalar => "what each group starts from, and an empty one stays";
    ) -> out;

    const SEGMENT_REDUCE = "torch.segment_reduce":
        "The elements of data along axis reduced group by group, as they lie"
        = from_table(lower_from);
}

fn lower_from<'a>(args: &mut Arguments<'a>) -> Result<Call<'a>> {
    let data = args.tensor("data")?;
    let reduce = args.text("reduce")?;
    let lengths = args.optional_tensor("lengths");
    let indices = args.optional_tensor("indices");
    let offsets = args.optional_tensor("offsets");
    let axis = args.optional_int("axis").unwrap_or(0);
    let unchecked = args.bool_or("unsafe", false);
    let initial = args.optional_scalar("initial");
    if indices.is_some() {
        let refused = Err(Refusal::from(wrong_value(
            "indices",
            "a tensor",
            "indices based reduction is not supported yet",
        )));
        return call(
            context(NAME, class),
            refused.map(|scatter: Scatter<'_>| scatter),
        );
    }
    lower(data, &reduce, lengths, offsets, axis, unchecked, initial)
}

/// How the groups of [`segment_reduce`] are said.
#[derive(Clone, Copy, Debug)]
pub enum Segments<V> {
    /// How many elements each has; all of them together have all of `data`'s.
    Lengths(V),
    /// Where each begins, and where the last one ends.
    Offsets(V),
}

/// Reduces the elements of `data` along `axis` group by group, as they lie.
///
/// PyTorch's `segment_reduce`. `lengths` or `offsets`, of integers, have `data`'s axes up to
/// `axis` with its sizes, but for `axis` itself: there they say which of `data`'s elements belong
/// to each group. The result has `data`'s shape but for `axis`, where it has a row for each group.
///
/// A group starts from `initial`; without it a sum from 0, a product from 1, a maximum from the
/// lowest value (-inf) and a minimum from the highest. An empty group stays that; a mean without
/// `initial` is NaN then. NaN propagates. Sums, products and means of 16-bit floats accumulate in
/// `f32` and are rounded once.
///
/// ```
/// use strew::torch::{Reduce, Segments, segment_reduce};
///
/// let data = [1.0f32, 2.0, 4.0, 8.0];
/// let out = segment_reduce(&data, Reduce::Sum, Segments::Lengths(&[1i64, 0, 3]), 0, None)?;
/// assert_eq!(out.as_slice(), [1.0, 0.0, 14.0]);
/// let out = segment_reduce(&data, Reduce::Amax, Segments::Offsets(&[1i64, 3]), 0, Some(3.into()))?;
/// assert_eq!(out.as_slice(), [4.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Index`](crate::Class::Index) for a wrong `axis`,
/// [`Class::NotImplemented`](crate::Class::NotImplemented) for a mean of integers or bool and an
/// extreme of complex numbers, [`Class::Runtime`](crate::Class::Runtime) for everything else:
/// shapes that do not fit, types, negative lengths and those that do not add up, offsets that
/// descend or are outside.
pub fn segment_reduce<T: Element, I: Index>(
    data: impl AsTensor<T>,
    reduce: Reduce,
    segments: Segments<impl AsTensor<I>>,
    axis: i64,
    initial: Option<Scalar>,
) -> Result<Tensor<T>> {
    let (lengths, offsets) = match &segments {
        Segments::Lengths(view) => (Some(view.as_tensor().of_rust()), None),
        Segments::Offsets(view) => (None, Some(view.as_tensor().of_rust())),
    };
    let data = data.as_tensor().of_rust();
    let made = segment_reduce_dyn(data, reduce.name(), lengths, offsets, axis, false, initial)?;
    Ok(typed(made.tensor))
}

/// [`segment_reduce`] with element types known at run time, and `reduce` as PyTorch's word.
///
/// One of `lengths` and `offsets` must be there; of both, `offsets` are taken. With `unchecked`,
/// PyTorch's `unsafe`, lengths may leave the last elements out. Whatever could lead outside is an
/// error all the same.
///
/// # Errors
/// As [`segment_reduce`].
pub fn segment_reduce_dyn<'a>(
    data: DynView<'a>,
    reduce: &str,
    lengths: Option<DynView<'a>>,
    offsets: Option<DynView<'a>>,
    axis: i64,
    unchecked: bool,
    initial: Option<Scalar>,
) -> Result<Output> {
    lower(data, reduce, lengths, offsets, axis, unchecked, initial)?.run()
}

fn lower<'a>(
    data: DynView<'a>,
    reduce: &str,
    lengths: Option<DynView<'a>>,
    offsets: Option<DynView<'a>>,
    axis: i64,
    unchecked: bool,
    initial: Option<Scalar>,
) -> Result<Call<'a>> {
    let given = Given {
        lengths,
        offsets,
        axis,
        unchecked,
    };
    let described = describe(data, reduce, given, initial);
    call(context(NAME, class), described)
}

/// What says where the groups are.
struct Given<'a> {
    lengths: Option<DynView<'a>>,
    offsets: Option<DynView<'a>>,
    axis: i64,
    unchecked: bool,
}

fn describe<'a>(
    data: DynView<'a>,
    reduce: &str,
    given: Given<'a>,
    initial: Option<Scalar>,
) -> Result<Scatter<'a>, Refusal> {
    let axis = axis("axis", given.axis, data.rank()).map_err(index_error)?;
    let reduce = Reduce::parse(reduce)?;
    let (argument, pointers) = match (given.offsets, given.lengths) {
        (Some(offsets), _) => {
            expect_lines("offsets", &offsets, &data, axis)?;
            expect_ascending(&offsets)?;
            ("offsets", Held::from(offsets))
        }
        (None, Some(lengths)) => {
            expect_lines("lengths", &lengths, &data, axis)?;
            let made = added_up(&lengths, data.shape()[axis], given.unchecked)?;
            ("lengths", Held::from(made))
        }
        (None, None) => {
            return Err(Refusal {
                class: Some(Class::Runtime),
                problem: Problem::Missing {
                    argument: "lengths (or offsets)",
                },
            });
        }
    };
    let mut shape = data.dims();
    shape[axis] = pointers.view().shape()[axis] - 1;
    let dtype = data.dtype();
    let reduction = reduction(reduce, dtype, initial.is_some())?;
    let start = match initial {
        Some(initial) => filled(&initial.tensor("initial", dtype)?),
        None => empty(reduction, dtype)?,
    };
    let place = Place {
        axes: 0..axis + 1,
        tuple: None,
    };
    let shapes = Shapes {
        destination: &shape,
        updates: data.shape(),
    };
    let cells = Destinations::runs(shapes, argument, pointers, axis, place, Pairing::Pointers)?;
    let target = Target::New { dtype, start };
    Ok(Scatter::new(cells, reduction, "data", data, target)?)
}

fn reduction(reduce: Reduce, dtype: DType, initial: bool) -> Result<Reduction, Problem> {
    if reduce == Reduce::Mean && !(dtype.is_float() || dtype.is_complex()) {
        return Err(Problem::Unsupported {
            what: "mean".into(),
            dtype,
        });
    }
    let Reduction {
        combine, finish, ..
    } = reduce.reduction(false);
    let init = match initial {
        true => Init::Current,
        false => Init::Identity,
    };
    Ok(Reduction {
        combine,
        init,
        finish,
    })
}

/// What a group without elements becomes, if there is nothing that it starts from.
fn empty<'a>(reduction: Reduction, dtype: DType) -> Result<Start<'a>, Problem> {
    if matches!(reduction.finish, Finish::Mean { .. }) {
        return Ok(filled(&Scalar::Float(f64::NAN).tensor("initial", dtype)?));
    }
    Ok(
        match (
            reduction.combine,
            identity_element(dtype, reduction.combine),
        ) {
            (Combine::Sum, _) | (_, None) => Start::Zero,
            (_, Some(bytes)) => Start::Filled(bytes),
        },
    )
}

fn filled<'a>(element: &DynTensor) -> Start<'a> {
    let mut bytes = [0; 16];
    let from = element.as_bytes();
    bytes[..from.len()].copy_from_slice(from);
    Start::Filled(bytes)
}

/// Lengths and offsets are lists along `axis`, one for each coordinate of `data` before it.
fn expect_lines(
    argument: &'static str,
    lines: &DynView<'_>,
    data: &DynView<'_>,
    axis: usize,
) -> Result<(), Problem> {
    expect_i32_or_i64(argument, lines)?;
    let last = lines.rank().checked_sub(1) == Some(axis);
    expect_shape(argument, lines.shape(), last && data.rank() > axis, || {
        format!("Expected axis to be the last dimension of {argument} but got {axis}")
    })?;
    let before = &data.shape()[..axis];
    expect_shape(
        argument,
        lines.shape(),
        lines.shape()[..axis] == *before,
        || format!("its sizes but the last must be data's, {before:?}"),
    )?;
    let some = argument == "lengths" || lines.shape()[axis] > 0;
    expect_shape(argument, lines.shape(), some, || {
        "it must say where the last group ends".into()
    })
}

/// Where the groups of these lengths begin, line by line, and where the last one ends.
fn added_up(lengths: &DynView<'_>, size: usize, unchecked: bool) -> Result<DynTensor, Problem> {
    let (count, lines) = match lengths.shape().split_last() {
        Some((&count, before)) => (count, before.iter().product::<usize>()),
        None => (0, 0),
    };
    let mut all: Vec<i64> = try_vec("the lengths of groups", lengths.len())?;
    lengths.all_integers(|block| {
        all.extend_from_slice(block);
        true
    });
    let mut shape = Dims::from_slice(lengths.shape());
    let last = shape.len().saturating_sub(1);
    shape[last] = count.saturating_add(1);
    let mut made = Tensor::<i64>::zeros(&shape)?;
    for line in 0..lines {
        let pointers = &mut made.as_mut_slice()[line * (count + 1)..][..=count];
        let mut end = 0usize;
        for at in 0..count {
            let length = all.get(line * count + at).copied().unwrap_or(0);
            let Ok(length) = usize::try_from(length) else {
                let why = "lengths contains negative value!";
                return Err(wrong("lengths", lengths, line, at, why));
            };
            end = end.saturating_add(length);
            if end > size {
                let why =
                    format!("with those before it, there are {end} elements, but data has {size}");
                return Err(wrong("lengths", lengths, line, at, &why));
            }
            pointers[at + 1] = end as i64;
        }
        if end != size && !unchecked {
            return Err(wrong_value(
                "lengths",
                format_args!("{end} in all"),
                format_args!(
                    "Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1), {size}, when !unsafe"
                ),
            ));
        }
    }
    Ok(made.into_dyn())
}

/// The problem of a value of a line.
fn wrong(argument: &str, lines: &DynView<'_>, line: usize, at: usize, why: &str) -> Problem {
    let (mut rest, mut position) = (line, vec![0; lines.rank()]);
    if let Some((last, before)) = position.split_last_mut() {
        *last = at;
        for (at, &len) in before.iter_mut().zip(lines.shape()).rev() {
            *at = rest % len.max(1);
            rest /= len.max(1);
        }
    }
    wrong_value(
        format_args!("{argument}{position:?}"),
        lines.show(&position).unwrap_or_default(),
        why,
    )
}

/// Refuses offsets that descend. Whether they are outside the run finds itself.
fn expect_ascending(offsets: &DynView<'_>) -> Result<(), Problem> {
    let count = offsets.shape().last().copied().unwrap_or(0);
    let (mut number, mut before) = (0usize, 0);
    let mut falls = None;
    offsets.all_integers(|block| {
        for &value in block {
            if number % count != 0 && value < before {
                falls = Some(before);
                return false;
            }
            before = value;
            number += 1;
        }
        true
    });
    match falls {
        None => Ok(()),
        Some(before) => {
            let why = format!("it must not be less than the value before it, {before}");
            Err(wrong(
                "offsets",
                offsets,
                number / count,
                number % count,
                &why,
            ))
        }
    }
}
