//! `index_put`: cells that a tuple of tensors names.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::is_rust_index;
use crate::dialect::framework::declaration::*;
use crate::dialect::torch::arguments::pair;
use crate::dialect::torch::put::{ACCUMULATE, assign_or_add};
use crate::dialect::torch::{Input, Refusal, call, context, index_class, index_error};
use strew_engine::checks::{expect_dtype, expect_shape};
use strew_engine::describe::Scatter;
use strew_engine::describe::destinations::Destinations;
use strew_kernel::elementwise::nonzero::{nonzero, unravel};
use strew_kernel::error::Problem;
use strew_kernel::tensor::{DType, Dims, Held};

pair! {
    <T: Element> (
        indices: tensors =>
            "one tensor for each of the first axes: int32 or int64, or bool for as many axes as it has; None: all of the axis";
        values: tensor<T> =>
            "the elements, of input's dtype; broadcast to the shape of what indices name";
        accumulate: bool = false => ACCUMULATE;
    );

    /// `input` with `values` at what `indices` name: `input[indices] = values`.
    ///
    /// * `indices`: for each of the first axes a tensor of `int32` or `int64`, which are broadcast
    ///   together, or `None` for all of the axis. A `bool` tensor stands for as many axes as it
    ///   has, and names where it is true. Negative indices count from the end.
    /// * `values`: broadcast to the shape of what is named: that of the tensors in the place of
    ///   their axes, or in front if these are not neighbours, and the other axes.
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
    pub fn index_put, pub fn index_put_dyn = lower;
    const INDEX_PUT = "torch.index_put":
        "A copy of input with values at what a tuple of tensors names: input[indices] = values";

    pub fn index_put_, pub fn index_put_dyn_;
    const INDEX_PUT_ = "torch.index_put_":
        "Puts values, in place, at what a tuple of tensors names: input[indices] = values";
}

fn lower<'a>(
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
    let source = batch_first(&values, &shape, &axes, &batch)?;
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

/// The values for a tensor of this shape whose `axes` are indexed, repeated to what the indices
/// name, with the axes of the indices, `batch`, in front. So elements of one cell stay in their
/// order.
fn batch_first<'a>(
    values: &DynView<'a>,
    shape: &[usize],
    axes: &[usize],
    batch: &[usize],
) -> Result<DynView<'a>, Problem> {
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
    let ahead = place..place + batch.len();
    let order: Vec<usize> = ahead
        .clone()
        .chain((0..result.len()).filter(|axis| !ahead.contains(axis)))
        .collect();
    Ok(wide.permute(&order).unwrap_or(wide))
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
        let known = matches!(index.dtype(), DType::I32 | DType::I64);
        expect_dtype(
            "indices",
            index.dtype(),
            mask || known || is_rust_index(index),
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
