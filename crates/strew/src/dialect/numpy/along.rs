//! `put_along_axis`.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::scatter_forms::in_place;
use crate::dialect::numpy::call_with;
use strew_engine::checks::{axis, expect_dtype, expect_shape};
use strew_engine::describe::Scatter;
use strew_engine::describe::destinations::take::Pointer;
use strew_engine::describe::destinations::{Destinations, Place, Shapes};
use strew_engine::describe::reduction::Reduction;
use strew_kernel::elementwise::nonzero::unravel;
use strew_kernel::error::{Class, Problem};
use strew_kernel::ops::cast::converted;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{Dims, Held};

operators! {
    <'a, T: Element, I: Index> dyn<'a> (
        arr: target<T> => "the array that is written: any shape and dtype";
        indices: tensor<I> =>
            "integers, of arr's rank; along other axes than the named one they and arr are repeated to each other's size";
        values: tensor<T> => "what is put there, broadcast to the indices; each becomes of arr's dtype";
        axis: optional_int =>
            "the axis; None: arr is seen as one row of elements, and indices have one axis";
    ) -> in place out;

    /// Puts `values` into the cells of `arr` that `indices` name along an axis: numpy's
    /// `put_along_axis`.
    ///
    /// * `indices`: integers of any type, of `arr`'s rank. Along other axes than `axis` they and
    ///   `arr` have one size, or one of them has size 1, which counts for all. Negative ones count
    ///   from the end.
    /// * `values`: broadcast to the indices; of several for a cell the last one stays, in row-major
    ///   order.
    /// * `axis`: `None`: `arr` is seen as one row of its elements, and `indices` have one axis.
    ///
    /// ```
    /// use strew::numpy::put_along_axis;
    /// use ndarray::array;
    ///
    /// let mut scores = array![[10, 30, 20], [60, 40, 50]];
    /// put_along_axis(&mut scores, &array![[1], [0]], &array![[99]], Some(1))?;
    /// assert_eq!(scores, array![[10, 99, 20], [99, 40, 50]]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`] for an index that is out of bounds or no integer, and for a wrong axis,
    /// [`Class::Value`] for shapes that do not fit and for memory that overlaps. `arr` is then
    /// unchanged.
    pub fn put_along_axis,
    /// Values become `arr`'s as C casts them, integers modulo 2^k and fractions cut off.
    pub fn put_along_axis_dyn = lower;
    const PUT_ALONG_AXIS = "numpy.put_along_axis":
        "Puts values into cells that indices name along an axis, in place";
}

fn lower<'a>(
    operator: &'static str,
    arr: DynViewMut<'a>,
    indices: DynView<'a>,
    values: DynView<'a>,
    axis: Option<i64>,
) -> Result<Call<'a>> {
    let class = |problem: &Problem| match problem {
        Problem::Shape { .. } => Class::Value,
        other => crate::dialect::numpy::class(other),
    };
    call_with(operator, class, describe(arr, indices, values, axis))
}

fn describe<'a>(
    arr: DynViewMut<'a>,
    indices: DynView<'a>,
    values: DynView<'a>,
    axis: Option<i64>,
) -> Result<Scatter<'a>, Problem> {
    expect_dtype(
        "indices",
        indices.dtype(),
        indices.dtype().is_integer(),
        "`indices` must be an integer array",
    )?;
    let dtype = arr.dtype();
    let (places, arr) = match axis {
        None => flat(arr, indices)?,
        Some(given) => (along(arr.shape(), indices, given)?, arr),
    };
    let values: Held<'a> = match values.dtype() == dtype {
        true => values.into(),
        false => converted(&values, dtype)?.into(),
    };
    let wanted = places.updates_shape();
    let found = values.view().shape().to_vec();
    let values = values.map(|values| values.broadcast_to(wanted));
    let values = values.ok_or_else(|| Problem::Shape {
        argument: "values",
        found,
        expected: format!("it must broadcast to the indexing result, {wanted:?}"),
    })?;
    let assign = Reduction::into_self(Combine::Assign);
    in_place(("arr", arr), places, assign, "values", values)
}

/// The cells that indices name among all elements, and the array as it is seen for that.
fn flat<'a>(
    arr: DynViewMut<'a>,
    indices: DynView<'a>,
) -> Result<(Destinations<'a>, DynViewMut<'a>), Problem> {
    expect_shape("indices", indices.shape(), indices.rank() == 1, || {
        "when axis=None, `indices` must have a single dimension".into()
    })?;
    match arr.flat() {
        Ok(arr) => {
            let places = Destinations::rows(arr.shape(), "indices", &[indices], &[0], None, WRAP)?;
            Ok((places, arr))
        }
        Err(arr) => {
            let parts = unravel("indices", &indices, arr.shape())?.into_iter();
            let parts: Vec<_> = parts.map(|part| Held::from(part.into_dyn())).collect();
            let axes: Dims = (0..parts.len()).collect();
            let places = Destinations::rows(arr.shape(), "indices", &parts, &axes, None, WRAP)?;
            Ok((places, arr))
        }
    }
}

/// The cells that indices name along an axis.
fn along<'a>(
    shape: &[usize],
    indices: DynView<'a>,
    given: i64,
) -> Result<Destinations<'a>, Problem> {
    expect_shape(
        "indices",
        indices.shape(),
        indices.rank() == shape.len() && !shape.is_empty(),
        || "`indices` and `arr` must have the same number of dimensions, at least one".into(),
    )?;
    let axis = axis("axis", given, shape.len())?;
    let mut updates = indices.dims();
    let mut walks = Vec::with_capacity(shape.len());
    for (k, size) in updates.iter_mut().enumerate() {
        let own = shape[k];
        let fits = k == axis || own == *size || own == 1 || *size == 1;
        expect_shape("indices", indices.shape(), fits, || {
            format!("along axis {k} it must have arr's size, {own}, or 1")
        })?;
        if k != axis && *size == 1 {
            *size = own;
        }
        walks.push((k != axis && own == *size).then_some(k));
    }
    let found = indices.shape().to_vec();
    let index = indices.broadcast_to(&updates).ok_or(Problem::Shape {
        argument: "indices",
        found,
        expected: format!("it cannot be repeated to shape {:?}", &updates[..]),
    })?;
    let pointer = Pointer {
        axis,
        index: index.into(),
        place: Place {
            axes: 0..updates.len(),
            tuple: None,
        },
    };
    let shapes = Shapes {
        destination: shape,
        updates: &updates,
    };
    Destinations::placed(shapes, &walks, "indices", vec![pointer], WRAP)
}
