//! `TensorScatter-24`: a step of a sequence into a cache of keys or values.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_dtype_of, wrong_value};
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::scatter_forms::into_copy;
use crate::dialect::onnx::{OPSET, call};
use strew_engine::checks::{axis, expect_dtype, expect_shape};
use strew_engine::describe::Scatter;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::Reduction;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DType, Held};

operators! {
    <'a, T: Element> dyn (
        past_cache: tensor<T> => "the cache: (batch, .., sequence, ..), any dtype";
        update: tensor<T> =>
            "what is written: past_cache's dtype, and its shape but for a sequence that is no longer";
        write_indices: optional_tensor<i64> =>
            "where each batch's update begins: (batch,), int64; None: at 0";
        mode: text = "linear" =>
            "whether a sequence that goes beyond the end is an error (linear) or goes on at 0",
            &["linear", "circular"];
        axis: int = -2 => "the sequence's axis, not the first one; negative counts from the end";
        - opset: int = 24 => OPSET;
    ) -> new present_cache;

    /// A copy of `past_cache` in which batch `b` has `update[b]` along `axis` from `write_indices[b]`
    /// on.
    ///
    /// * `past_cache`: shape `(B, .., S, ..)`.
    /// * `update`: its shape, but for the size along `axis`, which is at most `S`.
    /// * `write_indices`: `B` numbers; `None`: all 0.
    /// * `mode`: `"linear"`: the update must end within the cache; `"circular"`: it goes on at 0, also
    ///   from a number beyond the end.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let cache = array![[[0], [0], [0]], [[0], [0], [0]]];
    /// let update = array![[[1], [2]], [[3], [4]]];
    /// let out = strew::onnx::tensor_scatter(&cache, &update, Some((&[1i64, 2]).into()), "circular", -2)?;
    /// assert_eq!(out.as_slice(), [0, 1, 2, 4, 0, 3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`](crate::Class::Index) for an update that would begin or end outside,
    /// [`Class::Value`](crate::Class::Value) for everything else.
    pub fn tensor_scatter,
    ///
    /// # Errors
    /// [`Class::Type`](crate::Class::Type) for types that do not fit.
    pub fn tensor_scatter_dyn = lower;
    const TENSOR_SCATTER = "onnx.tensor_scatter":
        "A copy of past_cache with update written from write_indices on, along a sequence's axis";
}

fn lower<'a>(
    operator: &'static str,
    past_cache: DynView<'a>,
    update: DynView<'a>,
    write_indices: Option<DynView<'a>>,
    mode: &str,
    along: i64,
) -> Result<Call<'a>> {
    let described = describe(past_cache, update, write_indices, mode, along);
    call(operator, described)
}

fn describe<'a>(
    past_cache: DynView<'a>,
    update: DynView<'a>,
    write_indices: Option<DynView<'a>>,
    mode: &str,
    along: i64,
) -> Result<Scatter<'a>, Problem> {
    let circular = match mode {
        "linear" => false,
        "circular" => true,
        _ => {
            return Err(wrong_value("mode", mode, "it must be linear or circular"));
        }
    };
    expect_dtype_of("update", update.dtype(), "past_cache", past_cache.dtype())?;
    let (whole, part) = (past_cache.dims(), update.dims());
    expect_shape("past_cache", &whole, whole.len() >= 2, || {
        "it must have at least two dimensions".into()
    })?;
    let rank = whole.len();
    let along = axis("axis", along, rank)?;
    if along == 0 {
        return Err(wrong_value("axis", "0", "the first axis is the batch's"));
    }
    let fits = part.len() == rank
        && (0..rank).all(|k| part[k] == whole[k] || (k == along && part[k] <= whole[k]));
    expect_shape("update", &part, fits, || {
        format!("it must be past_cache's shape, {whole:?}, and along axis {along} no longer")
    })?;
    let places = places(&past_cache, part[along], along, write_indices, circular)?;
    let batches = whole[0];
    // The sequence's axis is moved next to the batch's: an index tuple names both.
    let order: Vec<usize> = [0, along]
        .into_iter()
        .chain((1..rank).filter(|&k| k != along))
        .collect();
    let update = update.permute(&order).unwrap_or(update);
    let numbers = table(batches, part[along], |batch, _| batch)?;
    let components = [
        Held::from(numbers.into_dyn()),
        Held::from(places.into_dyn()),
    ];
    let bounds = Bounds::STRICT;
    let destinations = Destinations::rows(
        &whole,
        "write_indices",
        &components,
        &[0, along],
        None,
        bounds,
    )?;
    let reduction = Reduction::into_self(Combine::Assign);
    into_copy(past_cache, destinations, reduction, "update", update)
}

/// Where along the sequence each step of each batch goes.
fn places(
    past_cache: &DynView<'_>,
    steps: usize,
    along: usize,
    write_indices: Option<DynView<'_>>,
    circular: bool,
) -> Result<Tensor<i64>, Problem> {
    let (batches, size) = (past_cache.shape()[0], past_cache.shape()[along]);
    let starts = match write_indices {
        None => vec![0; batches],
        Some(given) => {
            expect_dtype(
                "write_indices",
                given.dtype(),
                given.dtype() == DType::I64,
                "it must be int64",
            )?;
            expect_shape(
                "write_indices",
                given.shape(),
                given.shape() == [batches],
                || format!("it must be a number for each batch, [{batches}]"),
            )?;
            given.to_integers().unwrap_or_default()
        }
    };
    let last = match circular {
        true => usize::MAX,
        false => size - steps + 1,
    };
    let outside = |&start: &i64| usize::try_from(start).map_or(true, |start| start >= last);
    if let Some(batch) = starts.iter().position(outside) {
        return Err(Problem::IndexOutOfBounds {
            argument: "write_indices",
            position: vec![batch],
            value: starts[batch].into(),
            axis: along,
            size: Some(last.min(size)),
        });
    }
    let start = |batch: usize| starts[batch].unsigned_abs() as usize;
    table(batches, steps, |batch, step| {
        (start(batch) % size + step) % size
    })
}

/// A matrix of the numbers that `number` gives for each row and column.
fn table(
    rows: usize,
    columns: usize,
    number: impl Fn(usize, usize) -> usize,
) -> Result<Tensor<i64>, Problem> {
    let mut made = Tensor::zeros(&[rows, columns])?;
    for (row, numbers) in made.as_mut_slice().chunks_mut(columns.max(1)).enumerate() {
        for (column, place) in numbers.iter_mut().enumerate() {
            *place = number(row, column) as i64;
        }
    }
    Ok(made)
}
