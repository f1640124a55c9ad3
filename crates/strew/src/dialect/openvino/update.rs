//! `ScatterElementsUpdate-12`, `ScatterNDUpdate-15`, `ScatterUpdate-3`.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{
    expect_axes, expect_dtype_of, expect_integers, expect_rank_of, unknown_word,
};
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::index_tuples::{expect_windows, tuples};
use crate::dialect::framework::scatter_forms::{elements, into_copy};
use crate::dialect::openvino::call;
use strew_engine::checks::{axis, expect_shape};
use strew_engine::describe::Scatter;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::destinations::take::PickedAxes;
use strew_engine::describe::reduction::{Finish, Init, Reduction};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::{Combine, Nan};

const ELEMENT_REDUCTIONS: &[&str] = &["none", "sum", "prod", "min", "max", "mean"];

const WINDOW_REDUCTIONS: &[&str] = &["none", "sum", "sub", "prod", "min", "max"];

const DATA: &str = "the tensor to start from: any shape and dtype";

const AXIS: &str = "the axis that indices point along; negative counts from the end";

const REDUCTION: &str = "how updates join a cell: none replaces it";

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        indices: tensor<I> =>
            "where along axis each update goes: any integer dtype, of data's rank; negative counts from the end";
        updates: tensor<T> => "an element for each of indices: its shape, data's dtype";
        axis: int => AXIS;
        reduction: text = "none" => REDUCTION, ELEMENT_REDUCTIONS;
        use_init_val: bool = true => "whether what data holds in a cell takes part in its reduction";
    ) -> out;

    /// A copy of `data` with each element of `updates` joined to the cell that its index names
    /// along `axis`, in row-major order.
    ///
    /// * `indices`: any integer type, of `data`'s rank, no larger than it apart from `axis`;
    ///   negative ones count from the end.
    /// * `updates`: shape of `indices`.
    /// * `reduction`: `"none"` (the last update of a cell stays), `"sum"`, `"prod"`, `"min"`,
    ///   `"max"` (both leave NaN out) or `"mean"` (of integers rounded toward zero).
    /// * `use_init_val`: whether what `data` holds in a cell that is named takes part.
    ///
    /// ```
    /// use strew::openvino::scatter_elements_update;
    ///
    /// let out = scatter_elements_update(&[-7, 0], &[0i32, 0], &[1, 2], 0, "mean", false)?;
    /// assert_eq!(out.as_slice(), [1, 0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Type`](crate::Class::Type) for an index type, [`Class::Index`](crate::Class::Index)
    /// for an index out of range, [`Class::Value`](crate::Class::Value) for everything else.
    pub fn scatter_elements_update,
    /// Updates of another type give a [`Class::Type`](crate::Class::Type).
    pub fn scatter_elements_update_dyn = lower_elements;
    const SCATTER_ELEMENTS_UPDATE = "openvino.scatter_elements_update":
        "ScatterElementsUpdate-12: a copy of data with updates joined to the cells that indices name along axis";
}

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        indices: tensor<I> =>
            "index tuples along the last axis: any integer dtype; negative counts from the end";
        updates: tensor<T> =>
            "windows, of shape indices.shape[:-1] + data.shape[indices.shape[-1]:] and data's dtype";
        reduction: text = "none" => REDUCTION, WINDOW_REDUCTIONS;
    ) -> out;

    /// A copy of `data` with each window of `updates` joined to the one that its index tuple names,
    /// in row-major order.
    ///
    /// * `indices`: any integer type; its last axis holds tuples, of at most as many entries as
    ///   `data` has axes. Negative ones count from the end. A tuple without entries names all of
    ///   `data`.
    /// * `updates`: shape `indices.shape[..-1] + data.shape[K..]` for tuples of `K` entries; `[1]`
    ///   for a single number as well.
    /// * `reduction`: `"none"` (the last update of a cell stays), `"sum"`, `"sub"`, `"prod"`,
    ///   `"min"` or `"max"` (both leave NaN out).
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let indices = array![[2i8], [-1]];
    /// let out = strew::openvino::scatter_nd_update(&[1, 2, 3], &indices, &[10, 20], "sub")?;
    /// assert_eq!(out.as_slice(), [1, 2, -27]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_elements_update`].
    pub fn scatter_nd_update,
    /// Updates of another type give a [`Class::Type`](crate::Class::Type).
    pub fn scatter_nd_update_dyn = lower_nd;
    const SCATTER_ND_UPDATE = "openvino.scatter_nd_update":
        "ScatterNDUpdate-15: a copy of data with updates joined to the windows that index tuples name";
}

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        indices: tensor<I> =>
            "where along axis each slice goes: any shape and integer dtype, not negative";
        updates: tensor<T> =>
            "slices, of shape data.shape[:axis] + indices.shape + data.shape[axis + 1:] and data's dtype";
        axis: int => AXIS;
    ) -> out;

    /// A copy of `data` with slices along `axis` replaced: `data[.., indices[i], ..] = updates[..,
    /// i, ..]`. Of several updates of a slice, the last one stays.
    ///
    /// * `indices`: any integer type and shape, values in `0..data.shape[axis]`.
    /// * `updates`: shape `data.shape[..axis] + indices.shape + data.shape[axis + 1..]`.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let data = array![[1, 2, 3], [4, 5, 6]];
    /// let updates = array![[10, 20], [30, 40]];
    /// let out = strew::openvino::scatter_update(&data, &[2u8, 0], &updates, 1)?;
    /// assert_eq!(out.as_slice(), [20, 2, 10, 40, 5, 30]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_elements_update`].
    pub fn scatter_update,
    /// Updates of another type give a [`Class::Type`](crate::Class::Type).
    pub fn scatter_update_dyn = lower_slices;
    const SCATTER_UPDATE = "openvino.scatter_update":
        "ScatterUpdate-3: a copy of data with slices along axis replaced by updates";
}

fn lower_elements<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    along: i64,
    reduction: &str,
    use_init_val: bool,
) -> Result<Call<'a>> {
    let reduction = element_reduction(reduction, use_init_val);
    let described = reduction.and_then(|r| describe_elements(data, indices, updates, along, r));
    call(operator, described)
}

fn lower_nd<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    reduction: &str,
) -> Result<Call<'a>> {
    let combine = combine(reduction, WINDOW_REDUCTIONS);
    let described = combine.and_then(|c| describe_nd(data, indices, updates, c));
    call(operator, described)
}

fn lower_slices<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    along: i64,
) -> Result<Call<'a>> {
    let described = describe_slices(data, indices, updates, along);
    call(operator, described)
}

/// The reduction of a word, if the operator takes the word.
fn combine(word: &str, words: &[&str]) -> Result<Combine, Problem> {
    if !words.contains(&word) {
        return Err(unknown_word("reduction", word, words));
    }
    Ok(match word {
        "sum" | "mean" => Combine::Sum,
        "sub" => Combine::Sub,
        "prod" => Combine::Prod,
        "min" => Combine::Min(Nan::Ignore),
        "max" => Combine::Max(Nan::Ignore),
        _ => Combine::Assign,
    })
}

fn element_reduction(word: &str, use_init_val: bool) -> Result<Reduction, Problem> {
    let combine = combine(word, ELEMENT_REDUCTIONS)?;
    let init = match use_init_val || combine == Combine::Assign {
        true => Init::Current,
        false => Init::Identity,
    };
    let finish = match word {
        "mean" => Finish::MeanTowardZero {
            count_self: use_init_val,
        },
        _ => Finish::None,
    };
    Ok(Reduction {
        combine,
        init,
        finish,
    })
}

fn describe_elements<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    along: i64,
    reduction: Reduction,
) -> Result<Scatter<'a>, Problem> {
    expect_integers("indices", &indices)?;
    expect_dtype_of("updates", updates.dtype(), "data", data.dtype())?;
    expect_axes("data", data.shape())?;
    expect_rank_of("indices", indices.shape(), "data", data.rank())?;
    expect_shape(
        "updates",
        updates.shape(),
        updates.shape() == indices.shape(),
        || format!("it must be indices' shape, {:?}", indices.shape()),
    )?;
    let along = axis("axis", along, data.rank())?;
    let destinations = elements(data.shape(), "indices", &indices, along, WRAP)?;
    into_copy(data, destinations, reduction, "updates", updates)
}

fn describe_nd<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    combine: Combine,
) -> Result<Scatter<'a>, Problem> {
    expect_integers("indices", &indices)?;
    expect_dtype_of("updates", updates.dtype(), "data", data.dtype())?;
    expect_axes("indices", indices.shape())?;
    let destinations = tuples(data.shape(), "indices", &indices, 0..=data.rank(), WRAP)?;
    // A number may come as a tensor of one.
    let number = destinations.updates_shape().is_empty() && updates.shape() == [1];
    let updates = match updates.select(0, 0).filter(|_| number) {
        Some(number) => number,
        None => updates,
    };
    expect_windows("updates", updates.shape(), &destinations)?;
    let reduction = Reduction::into_self(combine);
    into_copy(data, destinations, reduction, "updates", updates)
}

fn describe_slices<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    along: i64,
) -> Result<Scatter<'a>, Problem> {
    expect_integers("indices", &indices)?;
    expect_dtype_of("updates", updates.dtype(), "data", data.dtype())?;
    expect_axes("data", data.shape())?;
    let along = axis("axis", along, data.rank())?;
    let index = std::slice::from_ref(&indices);
    let strict = Bounds::STRICT;
    let destinations = Destinations::picks(
        data.shape(),
        "indices",
        index,
        PickedAxes {
            batch: 0,
            first: along,
        },
        None,
        strict,
    )?;
    let wanted = destinations.updates_shape();
    expect_shape(
        "updates",
        updates.shape(),
        updates.shape() == wanted,
        || {
            format!(
                "it must be data.shape[:axis] + indices.shape + data.shape[axis + 1:], {wanted:?}"
            )
        },
    )?;
    let reduction = Reduction::into_self(Combine::Assign);
    into_copy(data, destinations, reduction, "updates", updates)
}
