//! `bincount`, along an axis too.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::into_out::{Delivered, Made};
use crate::dialect::framework::operator::int;
use crate::dialect::numpy::call_with;
use crate::dialect::typed;
use strew_engine::checks::{axis, expect_dtype, expect_shape};
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::take::Pointer;
use strew_engine::describe::destinations::{Destinations, Place, Shapes};
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::{Class, Problem};
use strew_kernel::ops::cast::converted;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DType, Dims, Held};
use strew_kernel::update::converted::converts;

rows! {
    (
        x: tensor => "the numbers: integers or bools, none negative; 1-d, or of any rank with an axis";
        weights: optional_tensor =>
            "what each counts for: of x's shape, or with an axis x's numbers stand along that axis; any dtype";
        minlength: int = 0 => "bins at least";
        axis: optional_int =>
            "the axis along which numbers are counted, each row by itself; None: x is 1-d";
        out: optional_target =>
            "overwritten with the result; its size along the axis is the number of bins";
    ) -> out;

    const BINCOUNT = "numpy.bincount":
        "Counts how often each number occurs, or adds up its weights"
        = lower;
}

/// Counts how often each number occurs: numpy's `bincount(x, minlength=minlength)`.
///
/// * `x`: integers of any type or bools, none negative, 1-d.
/// * `minlength`: the least number of bins. There is also a bin for each number up to the largest.
///
/// ```
/// let keys: Vec<u32> = vec![3, 1, 3, 0];
/// let counts = strew::numpy::bincount(&keys, 0)?;
/// assert_eq!(counts.as_slice(), [1, 1, 0, 2]);
/// assert_eq!(strew::numpy::bincount(&keys, 6)?.as_slice(), [1, 1, 0, 2, 0, 0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Value`] for a negative number and another rank, [`Class::Type`] for another type,
/// [`Class::Memory`].
pub fn bincount<I: Index>(x: impl AsTensor<I>, minlength: usize) -> Result<Tensor<i64>> {
    counted(x.as_tensor().of_rust(), None, minlength)
}

/// Adds up the weights of each number: numpy's `bincount(x, weights, minlength)`.
///
/// * `x`, `minlength`: as by [`bincount`].
/// * `weights`: as many as `x` has numbers. They are added up in the order of `x`.
///
/// ```
/// let (bins, prices) = (vec![0usize, 2, 2], vec![0.5, 1.0, 2.0]);
/// let sums = strew::numpy::bincount_weights(&bins, &prices, 4)?;
/// assert_eq!(sums.as_slice(), [0.5, 0.0, 3.0, 0.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`bincount`], and [`Class::Value`] for another number of weights.
pub fn bincount_weights<I: Index>(
    x: impl AsTensor<I>,
    weights: impl AsTensor<f64>,
    minlength: usize,
) -> Result<Tensor<f64>> {
    let weights = weights.as_tensor().of_rust();
    counted(x.as_tensor().of_rust(), Some(weights), minlength)
}

fn counted<T: Element>(
    x: DynView<'_>,
    weights: Option<DynView<'_>>,
    minlength: usize,
) -> Result<Tensor<T>> {
    bincount_dyn(x, weights, int(minlength), None, None).map(typed)
}

/// Counts how often each number occurs, or adds up its weights: numpy's `bincount`, with more than
/// it has.
///
/// * `x`: integers or bools, none negative. 1-d, or with `axis` of any rank: then each row along it
///   has bins of its own, where the axis was.
/// * `weights`: of `x`'s shape; with `axis`, `x` may be 1-d and count for all rows along that axis.
///   Real ones are added up in `float64`, complex ones in `complex128`, in row-major order; without
///   any the result is `int64`.
/// * `minlength`: the least number of bins. There is also a bin for each number up to the largest.
/// * `out`: the result is written there instead; its size along the axis is the number of bins, of
///   which none is there for a larger number.
///
/// ```
/// use strew::TensorView;
/// use strew::numpy::bincount_dyn;
///
/// let x = TensorView::from(&[0i64, 1, 1, 3]).into_dyn();
/// let counts = bincount_dyn(x.clone(), None, 0, None, None)?.unwrap();
/// assert_eq!(counts.typed::<i64>().unwrap().as_slice(), [1, 2, 0, 1]);
/// let weights = TensorView::from(&[0.5f32, 1.0, 2.0, 4.0]).into_dyn();
/// let sums = bincount_dyn(x, Some(weights), 6, None, None)?.unwrap();
/// assert_eq!(sums.typed::<f64>().unwrap().as_slice(), [0.5, 3.0, 0.0, 4.0, 0.0, 0.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Value`] for a negative number, one that `out` has no bin for, and shapes that do not
/// fit, [`Class::Type`] for types, [`Class::Index`] for a wrong axis. `out` is then unchanged.
pub fn bincount_dyn<'a>(
    x: DynView<'a>,
    weights: Option<DynView<'a>>,
    minlength: i64,
    axis: Option<i64>,
    out: Option<DynViewMut<'a>>,
) -> Result<Option<DynTensor>> {
    Ok(lower("numpy.bincount", x, weights, minlength, axis, out)?
        .run()?
        .tensor)
}

fn lower<'a>(
    operator: &'static str,
    x: DynView<'a>,
    weights: Option<DynView<'a>>,
    minlength: i64,
    axis: Option<i64>,
    out: Option<DynViewMut<'a>>,
) -> Result<Call<'a>> {
    let class = |problem: &Problem| match problem {
        Problem::IndexOutOfBounds { .. } => Class::Value,
        other => crate::dialect::numpy::class(other),
    };
    let Some(out) = out else {
        return call_with(operator, class, describe(x, weights, minlength, axis, None));
    };
    let described = describe(x, weights, minlength, axis, Some(out.shape()));
    let described = described.and_then(|sums| {
        let fits = out.dtype() == sums.dtype();
        let dtype = sums.dtype();
        expect_dtype("out", out.dtype(), fits, format_args!("it must be {dtype}"))?;
        Ok(Delivered::new(Made::Scatter(sums), out, Combine::Assign))
    });
    call_with(operator, class, described)
}

fn describe<'a>(
    x: DynView<'a>,
    weights: Option<DynView<'a>>,
    minlength: i64,
    given: Option<i64>,
    out: Option<&[usize]>,
) -> Result<Scatter<'a>, Problem> {
    let least = usize::try_from(minlength)
        .map_err(|_| wrong_value("minlength", minlength, "it must not be negative"))?;
    // NumPy makes integers of an empty list.
    let fits = x.dtype().is_integer() || x.dtype() == DType::Bool || x.is_empty();
    expect_dtype("x", x.dtype(), fits, "it must be of integers or bools")?;
    let updates = weights.as_ref().map_or(x.dims(), DynView::dims);
    let axis = match given {
        None => {
            expect_shape("x", x.shape(), x.rank() == 1, || {
                "it must have one dimension, unless axis is given".into()
            })?;
            0
        }
        Some(given) => axis("axis", given, updates.len())?,
    };
    let repeats = given.is_some() && x.rank() == 1 && updates.len() > 1;
    let fits = match repeats {
        true => x.shape() == &updates[axis..=axis],
        false => x.shape() == &updates[..] && !updates.is_empty(),
    };
    expect_shape("weights", &updates, fits, || {
        format!("it must be x's, {:?}", x.shape())
    })?;
    let x: Held<'a> = match x.dtype().is_integer() {
        true => x.into(),
        false => converted(&x, DType::U8)?.into(),
    };
    let shape = shape_of_sums(x.view(), &updates, axis, least, out)?;
    let index = match repeats {
        false => x,
        true => along_axis(x, axis, &updates)?,
    };
    let dtype = type_of_sums(weights.as_ref());
    let source = summands(weights, dtype, &updates)?;
    let place = Place {
        axes: if repeats {
            axis..axis + 1
        } else {
            0..updates.len()
        },
        tuple: None,
    };
    let bins = bins(&shape, &updates, Pointer { axis, index, place })?;
    let target = Target::New {
        dtype,
        start: Start::Zero,
    };
    let sum = Reduction::into_self(Combine::Sum);
    Scatter::new(bins, sum, "weights", source, target)
}

/// The bin that each update goes to: the one that `x` names, of the bins of its own row.
fn bins<'a>(
    shape: &[usize],
    updates: &[usize],
    x: Pointer<'a>,
) -> Result<Destinations<'a>, Problem> {
    let walks: Vec<_> = (0..updates.len())
        .map(|k| (k != x.axis).then_some(k))
        .collect();
    let shapes = Shapes {
        destination: shape,
        updates,
    };
    Destinations::placed(shapes, &walks, "x", vec![x], Bounds::STRICT)
}

/// The shape of the result: `out`'s if there is one, otherwise with a bin for each number up to the
/// largest one, and with `least` bins at least.
fn shape_of_sums(
    x: &DynView<'_>,
    updates: &[usize],
    axis: usize,
    least: usize,
    out: Option<&[usize]>,
) -> Result<Dims, Problem> {
    let bins = Bounds::STRICT.cells(x, "x")?;
    let mut shape = Dims::from_slice(updates);
    shape[axis] = bins.max(least);
    if let Some(out) = out {
        let mut wanted = shape.clone();
        let fits = out.len() == shape.len() && {
            wanted[axis] = out[axis];
            out == &wanted[..] && out[axis] >= least
        };
        expect_shape("out", out, fits, || {
            format!("it must be {wanted:?}, with {least} bins at least")
        })?;
        shape[axis] = out[axis];
    }
    Ok(shape)
}

/// Numbers along an axis, repeated to the shape of the updates.
fn along_axis<'a>(x: Held<'a>, axis: usize, updates: &[usize]) -> Result<Held<'a>, Problem> {
    let index = x.map(|x| {
        let behind = updates.len() - axis - 1;
        let spread = (0..behind).fold(x.clone(), |x, _| x.insert_axis(x.rank()));
        spread.broadcast_to(updates)
    });
    index.ok_or_else(|| Problem::Layout {
        argument: "x".into(),
        why: format!("it cannot be repeated to shape {updates:?}"),
    })
}

/// The type of sums: NumPy's largest one of the weights' kind, and integers where there are none.
fn type_of_sums(weights: Option<&DynView<'_>>) -> DType {
    match weights {
        None => DType::I64,
        Some(weights) if weights.dtype().is_complex() => DType::C128,
        Some(_) => DType::F64,
    }
}

/// What is added up: weights, of the sums' type unless they are converted on the way, or ones.
fn summands<'a>(
    weights: Option<DynView<'a>>,
    dtype: DType,
    updates: &[usize],
) -> Result<Held<'a>, Problem> {
    let source: Held<'a> = match weights {
        None => Scalar::Int(1).tensor("weights", dtype)?.into(),
        Some(weights) if converts(weights.dtype(), dtype) => weights.into(),
        Some(weights) => converted(&weights, dtype)?.into(),
    };
    let source = source.map(|source| source.broadcast_to(updates));
    source.ok_or_else(|| Problem::Layout {
        argument: "weights".into(),
        why: format!("it cannot be repeated to shape {updates:?}"),
    })
}
