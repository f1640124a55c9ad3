//! `gather`, `gather_nd`, `take_along_axis`.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::expect_i32_or_i64;
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::index_tuples::tuples;
use crate::dialect::framework::scatter_forms::elements;
use crate::dialect::paddle::{along_class, call, class, own_axis, slices, value_class, vector};
use strew_engine::checks::expect_shape;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::gather::Gather;
use strew_kernel::error::{Class, Error, Problem};

const X: &str = "the tensor to read from: any dtype";

operators! {
    <T: Element, I: Index> dyn (
        x: tensor<T> => X;
        index: tensor<I> =>
            "which slices: int32 or int64, 1-d, 0-d for one without its axis, or 2-d with one column; negative counts from the end";
        axis: none_int = 0 =>
            "the axis that index points along; negative counts from the end, None: the first one";
    ) -> out;

    /// The slices of `x` that `index` names along `axis`. Bits are copied.
    ///
    /// * `index`: integers, 1-d or 2-d with one column; 0-d for one slice, of which the result
    ///   then has no axis. Negative ones count from the end.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let out = strew::paddle::gather(&array![[1, 2], [3, 4], [5, 6]], &[-1i64, 0], 0)?;
    /// assert_eq!(out.as_slice(), [5, 6, 1, 2]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`] for a wrong axis and an index out of range, [`Class::Value`] for everything
    /// else.
    pub fn gather, pub fn gather_dyn = lower_gather;
    const GATHER = "paddle.gather":
        "The slices of x that index names along axis";
}

operators! {
    <T: Element, I: Index> dyn (
        x: tensor<T> => X;
        index: tensor<I> =>
            "index tuples along the last axis: int32 or int64; negative counts from the end";
    ) -> out;

    /// The windows of `x` that tuples along the last axis of `index` name. Bits are copied.
    ///
    /// * `index`: integers; tuples of `K` entries, at most as many as `x` has axes. Negative ones
    ///   count from the end. A tuple without entries names all of `x`.
    /// * The result has the shape `index.shape[..-1] + x.shape[K..]`.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let out = strew::paddle::gather_nd(&array![[1, 2], [3, 4]], &array![[1i64, -2], [0, 1]])?;
    /// assert_eq!(out.as_slice(), [3, 2]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Value`].
    pub fn gather_nd, pub fn gather_nd_dyn = lower_nd;
    const GATHER_ND = "paddle.gather_nd":
        "The windows of x that index tuples name";
}

operators! {
    <T: Element, I: Index> dyn (
        arr: tensor<T> => "the tensor to read from: rank 1 or more, any dtype";
        indices: tensor<I> =>
            "from where along axis each element comes: int32 or int64, of arr's rank; negative counts from the end";
        axis: int => "the axis that indices point along; negative counts from the end";
        broadcast: bool = true =>
            "whether arr and indices are broadcast to each other, apart from axis";
    ) -> out;

    /// The elements of `arr` that `indices` name along `axis`: the way back of
    /// [`put_along_axis`](crate::dialect::paddle::along::put_along_axis()). Bits are copied.
    ///
    /// * `indices`: integers, of `arr`'s rank; negative ones count from the end.
    /// * `broadcast`: both are broadcast to each other, apart from `axis`. If it is false,
    ///   `indices` are no larger than `arr` apart from `axis`, and go with its leading corner.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let arr = array![[10, 30, 20], [60, 40, 50]];
    /// let out = strew::paddle::take_along_axis(&arr, &array![[1i64], [-1]], 1, true)?;
    /// assert_eq!(out.as_slice(), [30, 50]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Type`] for an index type, [`Class::Index`] for an index out of range,
    /// [`Class::Value`] for everything else; [`Class::Runtime`] for indices that are too large
    /// where `broadcast` is false.
    pub fn take_along_axis, pub fn take_along_axis_dyn = lower_take;
    const TAKE_ALONG_AXIS = "paddle.take_along_axis":
        "The elements of arr that indices name along axis";
}

fn lower_gather<'a>(
    operator: &'static str,
    x: DynView<'a>,
    index: DynView<'a>,
    axis: i64,
) -> Result<Call<'a>> {
    let places = vector(index).and_then(|index| {
        let axis = own_axis(axis, x.rank())?;
        expect_i32_or_i64("index", &index)?;
        slices(x.shape(), axis, &index)
    });
    call(operator, class, places.and_then(|at| read(x, at)))
}

fn lower_nd<'a>(operator: &'static str, x: DynView<'a>, index: DynView<'a>) -> Result<Call<'a>> {
    let places = expect_i32_or_i64("index", &index)
        .and_then(|()| tuples(x.shape(), "index", &index, 0..=x.rank(), WRAP));
    call(operator, value_class, places.and_then(|at| read(x, at)))
}

fn lower_take<'a>(
    operator: &'static str,
    arr: DynView<'a>,
    indices: DynView<'a>,
    axis: i64,
    broadcast: bool,
) -> Result<Call<'a>> {
    let rank = arr.rank();
    let alike = expect_shape("indices", indices.shape(), indices.rank() == rank, || {
        format!("`indices` and `arr` must have the same number of dimensions, {rank}")
    });
    let axis = match alike.and_then(|()| own_axis(axis, rank)) {
        Ok(axis) => axis,
        Err(problem) => return Err(Error::new(operator, along_class(&problem), problem)),
    };
    let (class, fitted): (fn(&Problem) -> Class, _) = match broadcast {
        true => (along_class, repeated(arr, indices, axis)),
        false => (exact_class, expect_corner(arr, indices, axis)),
    };
    let described = fitted.and_then(|(arr, indices)| {
        expect_i32_or_i64("indices", &indices)?;
        let shape = arr.shape();
        let places = elements(shape, "indices", &indices, axis, WRAP)?;
        read(arr, places)
    });
    call(operator, class, described)
}

fn exact_class(problem: &Problem) -> Class {
    match problem {
        Problem::Shape { .. } => Class::Runtime,
        other => along_class(other),
    }
}

/// A tensor and indices, repeated to each other's shape.
fn repeated<'a>(
    arr: DynView<'a>,
    indices: DynView<'a>,
    axis: usize,
) -> Result<(DynView<'a>, DynView<'a>), Problem> {
    let (mut from, mut to) = (arr.dims(), indices.dims());
    for a in (0..from.len()).filter(|&a| a != axis) {
        let both = if from[a] == 1 { to[a] } else { from[a] };
        (from[a], to[a]) = (both, both);
    }
    match (arr.broadcast_to(&from), indices.broadcast_to(&to)) {
        (Some(arr), Some(indices)) => Ok((arr, indices)),
        _ => Err(Problem::Shape {
            argument: "indices",
            found: indices.shape().to_vec(),
            expected: format!(
                "it must broadcast with arr, {:?}, apart from dimension {axis}",
                arr.shape()
            ),
        }),
    }
}

fn expect_corner<'a>(
    arr: DynView<'a>,
    indices: DynView<'a>,
    axis: usize,
) -> Result<(DynView<'a>, DynView<'a>), Problem> {
    let (whole, found) = (arr.shape(), indices.shape());
    let fits = (0..found.len()).all(|a| a == axis || found[a] <= whole[a]);
    expect_shape("indices", found, fits, || {
        format!("it must be no larger than arr, {whole:?}, apart from dimension {axis}")
    })?;
    Ok((arr, indices))
}

/// The elements in these places. Where there are none, indices are not checked.
fn read<'a>(x: DynView<'a>, places: Destinations<'a>) -> Result<Gather<'a>, Problem> {
    match places.updates_shape().contains(&0) {
        false => Gather::new(places, x),
        true => {
            let none = Gather::new(Destinations::none(x.shape()), x)?;
            Ok(none.shaped(places.updates_shape()))
        }
    }
}
