//! `put`, `masked_scatter`, `index_put`: cells that positions, a mask or a tuple of tensors name.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use crate::dialect::torch::arguments::{INPUT, in_place};
use crate::dialect::torch::{Input, Refusal, call, class, context, index_class, index_error};
use strew_engine::checks::{expect_dtype, expect_shape};
use strew_engine::scatter::Scatter;
use strew_engine::scatter::destinations::Destinations;
use strew_engine::scatter::reduction::Reduction;
use strew_kernel::elementwise::nonzero::{nonzero, unravel};
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{
    DType, Dims, DynTensor, DynView, DynViewMut, Element, Held, Tensor, TensorView, TensorViewMut,
};

const ACCUMULATE: Argument = Argument::needed(
    "accumulate",
    Kind::Bool,
    "whether elements are added to what is there, instead of replacing it",
)
.or("False");

const POSITIONS: [Argument; 4] = [
    INPUT,
    Argument::needed(
        "index",
        Kind::Tensor,
        "positions in input, counted row by row: int64, of any shape; negative counts from the end",
    ),
    Argument::needed(
        "source",
        Kind::Tensor,
        "the elements, of input's dtype: as many as index has, row by row",
    ),
    ACCUMULATE,
];

const MASKED: [Argument; 3] = [
    INPUT,
    Argument::needed(
        "mask",
        Kind::Tensor,
        "bool: which cells are written; of a shape that broadcasts with input's",
    ),
    Argument::needed(
        "source",
        Kind::Tensor,
        "the elements, of input's dtype, taken row by row: at least as many as mask is true",
    ),
];

const TUPLE: [Argument; 4] = [
    INPUT,
    Argument::needed(
        "indices",
        Kind::Tensors,
        "one tensor for each of the first axes: int32 or int64, or bool for as many axes as it has; None: all of the axis",
    ),
    Argument::needed(
        "values",
        Kind::Tensor,
        "the elements, of input's dtype; broadcast to the shape of what indices name",
    ),
    ACCUMULATE,
];

pub(super) const PUT: Operator = Operator {
    name: "torch.put",
    summary: "A copy of input with elements of source at the positions of index, counted row by row",
    arguments: &POSITIONS,
    returns: &["out"],
    lower: |args| {
        let input = args.tensor("input")?;
        put_from_table(args, "torch.put", input.into())
    },
};

pub(super) const PUT_: Operator = Operator {
    name: "torch.put_",
    summary: "Puts elements of source, in place, at the positions of index, counted row by row",
    arguments: &in_place(POSITIONS),
    returns: &["input"],
    lower: |args| {
        let input = args.target("input")?;
        put_from_table(args, "torch.put_", input.into())
    },
};

pub(super) const MASKED_SCATTER: Operator = Operator {
    name: "torch.masked_scatter",
    summary: "A copy of input with elements of source, in order, where mask is true",
    arguments: &MASKED,
    returns: &["out"],
    lower: |args| {
        let input = args.tensor("input")?;
        masked_from_table(args, "torch.masked_scatter", input.into())
    },
};

pub(super) const MASKED_SCATTER_: Operator = Operator {
    name: "torch.masked_scatter_",
    summary: "Puts elements of source, in place and in order, where mask is true",
    arguments: &in_place(MASKED),
    returns: &["input"],
    lower: |args| {
        let input = args.target("input")?;
        masked_from_table(args, "torch.masked_scatter_", input.into())
    },
};

pub(super) const INDEX_PUT: Operator = Operator {
    name: "torch.index_put",
    summary: "A copy of input with values at what a tuple of tensors names: input[indices] = values",
    arguments: &TUPLE,
    returns: &["out"],
    lower: |args| {
        let input = args.tensor("input")?;
        index_put_from_table(args, "torch.index_put", input.into())
    },
};

pub(super) const INDEX_PUT_: Operator = Operator {
    name: "torch.index_put_",
    summary: "Puts values, in place, at what a tuple of tensors names: input[indices] = values",
    arguments: &in_place(TUPLE),
    returns: &["input"],
    lower: |args| {
        let input = args.target("input")?;
        index_put_from_table(args, "torch.index_put_", input.into())
    },
};

fn put_from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    input: Input<'a>,
) -> Result<Call<'a>> {
    let index = args.tensor("index")?;
    let source = args.tensor("source")?;
    let accumulate = args.bool_or("accumulate", false);
    lower_put(operator, input, index, source, accumulate)
}

fn masked_from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    input: Input<'a>,
) -> Result<Call<'a>> {
    let mask = args.tensor("mask")?;
    lower_masked(operator, input, mask, args.tensor("source")?)
}

fn index_put_from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    input: Input<'a>,
) -> Result<Call<'a>> {
    let indices = args.tensors("indices")?;
    let values = args.tensor("values")?;
    let accumulate = args.bool_or("accumulate", false);
    lower_index_put(operator, input, &indices, values, accumulate)
}

/// `input` with elements of `source` at the positions of `index`, counted row by row.
///
/// * `index`: `i64`, of any shape; negative positions count from the end.
/// * `source`: as many elements as `index`, of any shape.
/// * `accumulate`: elements are added to what is there; otherwise the last of several stays.
///
/// ```
/// use ndarray::array;
///
/// let input = array![[4, 3, 5], [6, 7, 8]];
/// let out = strew::torch::put(&input, &[1i64, -3], &[9, 10], false)?;
/// assert_eq!(out.as_slice(), [4, 9, 5, 10, 7, 8]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Index`](crate::Class::Index) for another number of elements and a position out of
/// bounds, [`Class::Runtime`](crate::Class::Runtime) for dtypes and overlap.
pub fn put<'a, T: Element, I: Element>(
    input: impl Into<TensorView<'a, T>>,
    index: impl Into<TensorView<'a, I>>,
    source: impl Into<TensorView<'a, T>>,
    accumulate: bool,
) -> Result<Tensor<T>> {
    let input = input.into().into_dyn();
    lower_put(
        "torch.put",
        input.into(),
        index.into().into_dyn(),
        source.into().into_dyn(),
        accumulate,
    )?
    .run_typed()
}

/// [`put`] with element types known at run time, and the same errors.
pub fn put_dyn<'a>(
    input: DynView<'a>,
    index: DynView<'a>,
    source: DynView<'a>,
    accumulate: bool,
) -> Result<DynTensor> {
    lower_put("torch.put", input.into(), index, source, accumulate)?.run_dyn()
}

/// [`put`] in place.
///
/// # Errors
/// As [`put`]; `input` is then unchanged.
pub fn put_<'a, T: Element, I: Element>(
    input: impl Into<TensorViewMut<'a, T>>,
    index: impl Into<TensorView<'a, I>>,
    source: impl Into<TensorView<'a, T>>,
    accumulate: bool,
) -> Result<()> {
    let input = input.into().into_dyn();
    lower_put(
        "torch.put_",
        input.into(),
        index.into().into_dyn(),
        source.into().into_dyn(),
        accumulate,
    )?
    .run_in_place()
}

/// [`put_`] with element types known at run time, and the same errors.
pub fn put_dyn_<'a>(
    input: DynViewMut<'a>,
    index: DynView<'a>,
    source: DynView<'a>,
    accumulate: bool,
) -> Result<()> {
    lower_put("torch.put_", input.into(), index, source, accumulate)?.run_in_place()
}

/// `input` with elements of `source`, in order, where `mask` is true.
///
/// * `mask`: of a shape that broadcasts with `input`'s; in place, to it.
/// * `source`: of any shape, with at least as many elements as `mask` is true; they are taken row
///   by row, and the rest is not used.
///
/// ```
/// let mask = [true, false, true, true];
/// let out = strew::torch::masked_scatter(&[1, 2, 3, 4], &mask, &[10, 20, 30, 40])?;
/// assert_eq!(out.as_slice(), [10, 2, 20, 30]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Runtime`](crate::Class::Runtime).
pub fn masked_scatter<'a, T: Element>(
    input: impl Into<TensorView<'a, T>>,
    mask: impl Into<TensorView<'a, bool>>,
    source: impl Into<TensorView<'a, T>>,
) -> Result<Tensor<T>> {
    let input = input.into().into_dyn();
    lower_masked(
        "torch.masked_scatter",
        input.into(),
        mask.into().into_dyn(),
        source.into().into_dyn(),
    )?
    .run_typed()
}

/// [`masked_scatter`] with element types known at run time, and the same errors.
pub fn masked_scatter_dyn<'a>(
    input: DynView<'a>,
    mask: DynView<'a>,
    source: DynView<'a>,
) -> Result<DynTensor> {
    lower_masked("torch.masked_scatter", input.into(), mask, source)?.run_dyn()
}

/// [`masked_scatter`] in place.
///
/// # Errors
/// As [`masked_scatter`]; `input` is then unchanged.
pub fn masked_scatter_<'a, T: Element>(
    input: impl Into<TensorViewMut<'a, T>>,
    mask: impl Into<TensorView<'a, bool>>,
    source: impl Into<TensorView<'a, T>>,
) -> Result<()> {
    let input = input.into().into_dyn();
    lower_masked(
        "torch.masked_scatter_",
        input.into(),
        mask.into().into_dyn(),
        source.into().into_dyn(),
    )?
    .run_in_place()
}

/// [`masked_scatter_`] with element types known at run time, and the same errors.
pub fn masked_scatter_dyn_<'a>(
    input: DynViewMut<'a>,
    mask: DynView<'a>,
    source: DynView<'a>,
) -> Result<()> {
    lower_masked("torch.masked_scatter_", input.into(), mask, source)?.run_in_place()
}

/// `input` with `values` at what `indices` name: `input[indices] = values`.
///
/// * `indices`: for each of the first axes a tensor of `int32` or `int64`, which are broadcast
///   together, or `None` for all of the axis. A `bool` tensor stands for as many axes as it has,
///   and names where it is true. Negative indices count from the end.
/// * `values`: broadcast to the shape of what is named: that of the tensors in the place of their
///   axes, or in front if these are not neighbours, and the other axes.
/// * `accumulate`: elements are added to what is there; otherwise the last of several stays.
///
/// ```
/// use ndarray::array;
/// use strew::TensorView;
///
/// let input = array![[1, 2, 3], [4, 5, 6]];
/// let columns = TensorView::from(&[-1i64, 0]).into_dyn();
/// let out = strew::torch::index_put(&input, &[None, Some(columns)], &[70, 80], true)?;
/// assert_eq!(out.as_slice(), [81, 2, 73, 84, 5, 76]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Index`](crate::Class::Index) for indices: their number, types, shapes and values;
/// [`Class::Runtime`](crate::Class::Runtime) for everything else.
pub fn index_put<'a, T: Element>(
    input: impl Into<TensorView<'a, T>>,
    indices: &[Option<DynView<'a>>],
    values: impl Into<TensorView<'a, T>>,
    accumulate: bool,
) -> Result<Tensor<T>> {
    let input = input.into().into_dyn();
    lower_index_put(
        "torch.index_put",
        input.into(),
        indices,
        values.into().into_dyn(),
        accumulate,
    )?
    .run_typed()
}

/// [`index_put`] with element types known at run time, and the same errors.
pub fn index_put_dyn<'a>(
    input: DynView<'a>,
    indices: &[Option<DynView<'a>>],
    values: DynView<'a>,
    accumulate: bool,
) -> Result<DynTensor> {
    lower_index_put("torch.index_put", input.into(), indices, values, accumulate)?.run_dyn()
}

/// [`index_put`] in place.
///
/// # Errors
/// As [`index_put`]; `input` is then unchanged.
pub fn index_put_<'a, T: Element>(
    input: impl Into<TensorViewMut<'a, T>>,
    indices: &[Option<DynView<'a>>],
    values: impl Into<TensorView<'a, T>>,
    accumulate: bool,
) -> Result<()> {
    let input = input.into().into_dyn();
    lower_index_put(
        "torch.index_put_",
        input.into(),
        indices,
        values.into().into_dyn(),
        accumulate,
    )?
    .run_in_place()
}

/// [`index_put_`] with element types known at run time, and the same errors.
pub fn index_put_dyn_<'a>(
    input: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    values: DynView<'a>,
    accumulate: bool,
) -> Result<()> {
    lower_index_put(
        "torch.index_put_",
        input.into(),
        indices,
        values,
        accumulate,
    )?
    .run_in_place()
}

fn assign_or_add(accumulate: bool) -> Reduction {
    Reduction::into_self(match accumulate {
        true => Combine::Sum,
        false => Combine::Assign,
    })
}

fn lower_put<'a>(
    operator: &'static str,
    input: Input<'a>,
    index: DynView<'a>,
    source: DynView<'a>,
    accumulate: bool,
) -> Result<Call<'a>> {
    let describe = || {
        expect_dtype(
            "index",
            index.dtype(),
            index.dtype() == DType::I64,
            "put_(): Expected a long tensor for index",
        )?;
        expect_dtype(
            "source",
            source.dtype(),
            source.dtype() == input.dtype(),
            format_args!(
                "put_(): self and source expected to have the same dtype, {}",
                input.dtype()
            ),
        )?;
        expect_shape("source", source.shape(), source.len() == index.len(), || {
            format!(
                "put_(): Expected source and index to have the same number of elements, but got {} and {}",
                source.len(),
                index.len()
            )
        })
        .map_err(index_error)?;
        let empty = input.shape().contains(&0) && !index.is_empty();
        expect_shape("input", input.shape(), !empty, || {
            "put_(): Tried to put elements into an empty tensor".into()
        })
        .map_err(index_error)?;
        let shape = index.dims();
        // Elements go to positions in the order of both.
        let source = match source.shape() == &*shape {
            true => Held::from(source),
            false => {
                let flat = Held::from(source).flat()?;
                flat.clone().map(|flat| flat.unflat(&shape)).unwrap_or(flat)
            }
        };
        positions(input, index.into(), source, assign_or_add(accumulate))
    };
    call(context(operator, index_class), describe())
}

fn lower_masked<'a>(
    operator: &'static str,
    input: Input<'a>,
    mask: DynView<'a>,
    source: DynView<'a>,
) -> Result<Call<'a>> {
    let describe = || {
        expect_dtype(
            "source",
            source.dtype(),
            source.dtype() == input.dtype(),
            format_args!(
                "masked_scatter: expected self and source to have same dtypes, {}",
                input.dtype()
            ),
        )?;
        expect_dtype(
            "mask",
            mask.dtype(),
            mask.dtype() == DType::Bool,
            "masked_scatter_ only supports boolean masks",
        )?;
        let (input, mask) = broadcast(input, &mask)?;
        let places = Held::from(nonzero(&mask)?.into_dyn());
        let count = places.view().len();
        expect_shape("source", source.shape(), source.len() >= count, || {
            format!("Number of elements of source < number of ones in mask, {count}")
        })?;
        let source = Held::from(source).flat()?;
        let some = source.map(|flat| flat.narrow(0, 0, count));
        let some = some.unwrap_or_else(|| DynView::nothing(input.dtype()).into());
        positions(input, places, some, Reduction::into_self(Combine::Assign))
    };
    call(context(operator, class), describe())
}

/// Input and mask of one shape; what is written in place keeps its own.
fn broadcast<'a, 'm>(
    input: Input<'a>,
    mask: &DynView<'m>,
) -> Result<(Input<'a>, DynView<'m>), Problem> {
    let mut shape = input.dims();
    if let Input::New(_) = input {
        while shape.len() < mask.rank() {
            shape.insert(0, 1);
        }
        let lead = shape.len() - mask.rank();
        for (size, &other) in shape[lead..].iter_mut().zip(mask.shape()) {
            if *size == 1 {
                *size = other;
            }
        }
    }
    let wide = mask.broadcast_to(&shape);
    let input = match input {
        Input::New(view) => view.broadcast_to(&shape).map(Input::New),
        in_place => Some(in_place),
    };
    match (input, wide) {
        (Some(input), Some(mask)) => Ok((input, mask)),
        _ => Err(Problem::Shape {
            argument: "mask",
            found: mask.shape().to_vec(),
            expected: format!("it must broadcast to {shape:?}"),
        }),
    }
}

/// Elements that go to positions, counted row by row.
fn positions<'a>(
    input: Input<'a>,
    index: Held<'a>,
    source: Held<'a>,
    reduction: Reduction,
) -> Result<Scatter<'a>, Refusal> {
    let shape = input.dims();
    let flat = match input {
        Input::New(view) => view.flat().map(Input::New).ok_or(Input::New(view)),
        Input::InPlace(view) => view.flat().map(Input::InPlace).map_err(Input::InPlace),
    };
    let (components, input, whole) = match flat {
        Ok(flat) => {
            let whole = flat.dims();
            (vec![index], flat, whole)
        }
        Err(input) => {
            let components = unravel("index", index.view(), &shape)?;
            let components = components.into_iter().map(|c| Held::from(c.into_dyn()));
            (components.collect(), input, shape.clone())
        }
    };
    let axes: Vec<usize> = (0..components.len()).collect();
    let destinations = Destinations::rows(&whole, "index", &components, &axes, None, WRAP)?;
    let scatter = Scatter::new(destinations, reduction, "source", source, input.target())?;
    Ok(scatter.shaped(&shape))
}

fn lower_index_put<'a>(
    operator: &'static str,
    input: Input<'a>,
    indices: &[Option<DynView<'a>>],
    values: DynView<'a>,
    accumulate: bool,
) -> Result<Call<'a>> {
    let describe = || describe_indexed(input, indices, values, accumulate);
    call(context(operator, index_class), describe())
}

fn describe_indexed<'a>(
    input: Input<'a>,
    indices: &[Option<DynView<'a>>],
    values: DynView<'a>,
    accumulate: bool,
) -> Result<Scatter<'a>, Refusal> {
    let shape = input.dims();
    let named = components(&shape, indices)?;
    expect_dtype(
        "values",
        values.dtype(),
        values.dtype() == input.dtype(),
        format_args!(
            "Index put requires the source and destination dtypes match, got {} for the destination",
            input.dtype()
        ),
    )?;
    let batch = together(&named)?;
    let axes: Vec<usize> = named.iter().map(|(axis, _)| *axis).collect();
    // Axes that are neighbours leave what they name in their place.
    let neighbours = axes.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let place = match axes.first() {
        Some(&first) if neighbours => first,
        _ => 0,
    };
    let mut result: Dims = (0..shape.len())
        .filter(|axis| !axes.contains(axis))
        .map(|axis| shape[axis])
        .collect();
    result.insert_many(place, batch.iter().copied());
    let wide = values.broadcast_to(&result).ok_or_else(|| Problem::Shape {
        argument: "values",
        found: values.shape().to_vec(),
        expected: format!(
            "shape mismatch: value tensor of shape {:?} cannot be broadcast to indexing result of shape {result:?}",
            values.shape()
        ),
    })?;
    // What the tensors name comes first: elements of one cell stay in their order.
    let ahead = place..place + batch.len();
    let order: Vec<usize> = ahead
        .clone()
        .chain((0..result.len()).filter(|axis| !ahead.contains(axis)))
        .collect();
    let source = wide.permute(&order).unwrap_or(wide);
    let wrong = || Problem::Layout {
        argument: "indices".into(),
        why: format!("they cannot be repeated to shape {batch:?}"),
    };
    let broadcast = |(_, index): (usize, Held<'a>)| {
        let index = index.map(|index| index.broadcast_to(&batch));
        index.ok_or_else(wrong)
    };
    let tuple: Vec<Held<'a>> = named.into_iter().map(broadcast).collect::<Result<_, _>>()?;
    let destinations = Destinations::rows(&shape, "indices", &tuple, &axes, Some(0), WRAP)?;
    let reduction = assign_or_add(accumulate);
    let scalar = shape.is_empty();
    Ok(match scalar {
        false => Scatter::new(destinations, reduction, "values", source, input.target())?,
        // No axis, so that nothing can be named but the one element.
        true => {
            let whole = Destinations::affine(&[1], &[0], &[1], &[1])?;
            let source = source.at_least_1d();
            Scatter::new(whole, reduction, "values", source, input.target())?.shaped(&[])
        }
    })
}

/// A tensor of integers for each axis that is not taken whole.
fn components<'a>(
    shape: &[usize],
    indices: &[Option<DynView<'a>>],
) -> Result<Vec<(usize, Held<'a>)>, Refusal> {
    let rank = |index: &DynView<'_>| match index.dtype() {
        DType::Bool | DType::U8 => index.rank(),
        _ => 1,
    };
    let mut axis = 0;
    let mut named = Vec::new();
    for (number, index) in indices.iter().enumerate() {
        let Some(index) = index else {
            axis += 1;
            continue;
        };
        let wanted = rank(index);
        let mask = matches!(index.dtype(), DType::Bool | DType::U8);
        expect_dtype(
            "indices",
            index.dtype(),
            mask || matches!(index.dtype(), DType::I32 | DType::I64),
            "tensors used as indices must be long, int, byte or bool tensors",
        )
        .map_err(index_error)?;
        expect_rank(shape, axis + wanted)?;
        if !mask {
            named.push((axis, Held::from(index.clone())));
            axis += 1;
            continue;
        }
        expect_shape("indices", index.shape(), wanted > 0, || {
            "a mask must have at least one dimension".into()
        })
        .map_err(index_error)?;
        let own = &shape[axis..axis + wanted];
        expect_shape("indices", index.shape(), index.shape() == own, || {
            format!(
                "The shape of the mask {:?} at index {number} does not match the shape of the indexed tensor {shape:?} \
                 at index {axis}",
                index.shape()
            )
        })
        .map_err(index_error)?;
        let places = nonzero(index)?;
        for component in unravel("indices", &places.view(), own)? {
            named.push((axis, Held::from(component.into_dyn())));
            axis += 1;
        }
    }
    expect_rank(shape, axis)?;
    Ok(named)
}

fn expect_rank(shape: &[usize], taken: usize) -> Result<(), Refusal> {
    expect_shape("input", shape, taken <= shape.len(), || {
        format!(
            "too many indices for tensor of dimension {} (got {taken})",
            shape.len()
        )
    })
    .map_err(index_error)
}

/// The shape that the tensors are broadcast to.
fn together(named: &[(usize, Held<'_>)]) -> Result<Dims, Refusal> {
    let mut all = Dims::new();
    for (_, index) in named {
        let shape = index.view().shape();
        while all.len() < shape.len() {
            all.insert(0, 1);
        }
        let lead = all.len() - shape.len();
        for (size, &other) in all[lead..].iter_mut().zip(shape) {
            let fits = *size == other || *size == 1 || other == 1;
            expect_shape("indices", shape, fits, || {
                let shapes: Vec<_> = named.iter().map(|(_, index)| index.view().shape()).collect();
                format!(
                    "shape mismatch: indexing tensors could not be broadcast together with shapes {shapes:?}"
                )
            })
            .map_err(index_error)?;
            if *size == 1 {
                *size = other;
            }
        }
    }
    Ok(all)
}
