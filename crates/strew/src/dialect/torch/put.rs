//! `put`, `masked_scatter`: cells that positions or a mask name.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::is_rust_index;
use crate::dialect::framework::declaration::*;
use crate::dialect::torch::arguments::pair;
use crate::dialect::torch::{Input, Refusal, call, class, context, index_class, index_error};
use strew_engine::checks::{expect_dtype, expect_shape};
use strew_engine::describe::Scatter;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::Reduction;
use strew_kernel::elementwise::nonzero::{nonzero, unravel};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DType, Held};

pub(super) const ACCUMULATE: &str =
    "whether elements are added to what is there, instead of replacing it";

pair! {
    <T: Element, I: Index> (
        index: tensor<I> =>
            "positions in input, counted row by row: int64, of any shape; negative counts from the end";
        source: tensor<T> => "the elements, of input's dtype: as many as index has, row by row";
        accumulate: bool = false => ACCUMULATE;
    );

    /// `input` with elements of `source` at the positions of `index`, counted row by row.
    ///
    /// * `index`: integers, of any shape; negative positions count from the end.
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
    pub fn put, pub fn put_dyn = lower_put;
    const PUT = "torch.put":
        "A copy of input with elements of source at the positions of index, counted row by row";

    pub fn put_, pub fn put_dyn_;
    const PUT_ = "torch.put_":
        "Puts elements of source, in place, at the positions of index, counted row by row";
}

pair! {
    <T: Element> (
        mask: tensor<bool> =>
            "bool: which cells are written; of a shape that broadcasts with input's";
        source: tensor<T> =>
            "the elements, of input's dtype, taken row by row: at least as many as mask is true";
    );

    /// `input` with elements of `source`, in order, where `mask` is true.
    ///
    /// * `mask`: of a shape that broadcasts with `input`'s; in place, to it.
    /// * `source`: of any shape, with at least as many elements as `mask` is true; they are taken
    ///   row by row, and the rest is not used.
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
    pub fn masked_scatter, pub fn masked_scatter_dyn = lower_masked;
    const MASKED_SCATTER = "torch.masked_scatter":
        "A copy of input with elements of source, in order, where mask is true";

    pub fn masked_scatter_, pub fn masked_scatter_dyn_;
    const MASKED_SCATTER_ = "torch.masked_scatter_":
        "Puts elements of source, in place and in order, where mask is true";
}

pub(super) fn assign_or_add(accumulate: bool) -> Reduction {
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
            index.dtype() == DType::I64 || is_rust_index(&index),
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
        positions(
            input,
            index.into(),
            ("source", source),
            assign_or_add(accumulate),
        )
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
        positions(
            input,
            places,
            ("source", some),
            Reduction::into_self(Combine::Assign),
        )
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
pub(super) fn positions<'a>(
    input: Input<'a>,
    index: Held<'a>,
    (updates, source): (&'static str, Held<'a>),
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
    let scatter = Scatter::new(destinations, reduction, updates, source, input.target())?;
    Ok(scatter.shaped(&shape))
}
