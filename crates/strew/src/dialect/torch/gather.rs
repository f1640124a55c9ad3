//! `gather`, `take_along_dim`: elements that each say from where along one axis they come.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_torch_index, is_rust_index};
use crate::dialect::framework::declaration::*;
use crate::dialect::torch::arguments::DIM;
use crate::dialect::torch::{call, class, context};
use strew_engine::checks::{axis, expect_dtype, expect_shape};
use strew_engine::describe::bounds::{Bounds, Negative};
use strew_engine::describe::destinations::{Destinations, Place};
use strew_engine::describe::gather::Gather;
use strew_kernel::error::Problem;
use strew_kernel::tensor::{DType, Dims, Held};

const READ: &str = "the tensor to read from: any shape and dtype";

operators! {
    <T: Element, I: Index> dyn<'a> (
        input: tensor<T> => READ;
        dim: int => DIM;
        index: tensor<I> =>
            "from where along dim each element comes: int32 or int64, no larger than input apart from dim";
        - sparse_grad: bool = false => "what a gradient would be; taken, and without effect";
    ) -> out;

    /// The elements of `input` that `index` names along `dim`: the way back of
    /// [`scatter`](super::scatter).
    ///
    /// For a 3-d tensor and `dim == 0`: `out[i][j][k] = input[index[i][j][k]][j][k]`. Bits are
    /// copied.
    ///
    /// * `index`: integers in `0..input.shape[dim]`, of as many dimensions as `input` (0-d counts
    ///   as 1-d), no larger than `input` apart from `dim`. The result has its shape. An empty one
    ///   of any type gives an empty result.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let input = array![[1, 2], [3, 4]];
    /// let out = strew::torch::gather(&input, 1, &array![[0i64, 0], [1, 0]])?;
    /// assert_eq!(out.as_slice(), [1, 1, 4, 3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`](crate::Class::Index) for a wrong `dim`,
    /// [`Class::Runtime`](crate::Class::Runtime) for everything else.
    pub fn gather, pub fn gather_dyn = lower_gather;
    const GATHER = "torch.gather":
        "The elements of input that index names along dim";
}

operators! {
    <T: Element, I: Index> dyn<'a> (
        input: tensor<T> => READ;
        indices: tensor<I> =>
            "from where along dim each element comes: int64, of input's rank; negative counts from the end";
        dim: optional_int =>
            "the axis that indices point along; None: input and indices as one row each";
    ) -> out;

    /// The elements of `input` that `indices` name along `dim`, where both are broadcast apart from
    /// `dim`.
    ///
    /// * `indices`: integers in `-input.shape[dim]..input.shape[dim]`, of as many dimensions as
    ///   `input`; negative ones count from the end.
    /// * `dim`: `None`: elements of `input`, row by row, as a 1-d tensor; `indices` are integers,
    ///   and not negative.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let input = array![[10, 30, 20], [60, 40, 50]];
    /// let out = strew::torch::take_along_dim(&input, &array![[1i64], [0]], Some(1))?;
    /// assert_eq!(out.as_slice(), [30, 60]);
    /// let out = strew::torch::take_along_dim(&input, &array![[5i64, 0]], None)?;
    /// assert_eq!((out.shape(), out.as_slice()), (&[2][..], &[50, 10][..]));
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`gather`].
    pub fn take_along_dim, pub fn take_along_dim_dyn = lower_take;
    const TAKE_ALONG_DIM = "torch.take_along_dim":
        "The elements of input that indices name along dim, both broadcast apart from dim";
}

fn lower_gather<'a>(
    operator: &'static str,
    input: DynView<'a>,
    dim: i64,
    index: DynView<'a>,
) -> Result<Call<'a>> {
    let described = describe(input, dim, index);
    call(context(operator, class), described.map_err(Into::into))
}

/// The checks come in PyTorch's order.
fn describe<'a>(input: DynView<'a>, dim: i64, index: DynView<'a>) -> Result<Gather<'a>, Problem> {
    let dim = axis("dim", dim, input.rank())?;
    expect_torch_index("index", &index)?;
    let input = input.at_least_1d();
    if index.is_empty() {
        return Ok(Gather::new(Destinations::none(input.shape()), input)?.shaped(index.shape()));
    }
    let (out, index) = (index.dims(), index.at_least_1d());
    let (found, whole) = (index.dims(), input.dims());
    expect_shape("index", &found, found.len() == whole.len(), || {
        format!("Index tensor must have the same number of dimensions as input tensor, {whole:?}")
    })?;
    let larger = (0..found.len()).find(|&a| a != dim && found[a] > whole[a]);
    expect_shape("index", &found, larger.is_none(), || {
        format!(
            "Size does not match at dimension {} expected index {found:?} to be no larger than self {whole:?} \
             apart from dimension {dim}",
            larger.unwrap_or_default()
        )
    })?;
    Ok(along(input, "index", &index, dim, Bounds::STRICT)?.shaped(&out))
}

/// The elements of an input that each element of the index names along `dim`.
fn along<'a>(
    input: impl Into<Held<'a>>,
    argument: &'static str,
    index: &DynView<'a>,
    dim: usize,
    bounds: Bounds,
) -> Result<Gather<'a>, Problem> {
    let input = input.into();
    let place = Place {
        axes: 0..index.rank(),
        tuple: None,
    };
    let whole = input.view().dims();
    let places = Destinations::elements(&whole, argument, index, dim, place, bounds)?;
    Gather::new(places, input)
}

fn lower_take<'a>(
    operator: &'static str,
    input: DynView<'a>,
    indices: DynView<'a>,
    dim: Option<i64>,
) -> Result<Call<'a>> {
    let described = describe_take(input, indices, dim);
    call(context(operator, class), described.map_err(Into::into))
}

fn describe_take<'a>(
    input: DynView<'a>,
    indices: DynView<'a>,
    dim: Option<i64>,
) -> Result<Gather<'a>, Problem> {
    let Some(dim) = dim else {
        expect_torch_index("indices", &indices)?;
        return flat(input, indices);
    };
    let rank = input.rank();
    expect_shape("indices", indices.shape(), indices.rank() == rank, || {
        format!(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, \
             but got {rank} dimensions for input, and {} dimensions for indices",
            indices.rank()
        )
    })?;
    expect_dtype(
        "indices",
        indices.dtype(),
        indices.dtype() == DType::I64 || is_rust_index(&indices),
        "torch.take_along_dim(): dtype of indices should be Long",
    )?;
    let dim = axis("dim", dim, rank)?;
    let (input, indices) = (input.at_least_1d(), indices.at_least_1d());
    let (mut from, mut to) = (input.dims(), indices.dims());
    for a in (0..from.len()).filter(|&a| a != dim) {
        let (one, other) = (input.shape()[a], indices.shape()[a]);
        expect_shape(
            "indices",
            indices.shape(),
            one == other || one == 1 || other == 1,
            || {
                format!(
                    "The size of tensor a ({one}) must match the size of tensor b ({other}) at non-singleton dimension {a}"
                )
            },
        )?;
        let both = if one == 1 { other } else { one };
        (from[a], to[a]) = (both, both);
    }
    let whole = input.broadcast_to(&from);
    let index = indices.broadcast_to(&to);
    let (Some(whole), Some(index)) = (whole, index) else {
        return Err(too_large(&to));
    };
    let bounds = Bounds {
        negative: Negative::Wrap,
        ..Bounds::STRICT
    };
    let gather = along(whole, "indices", &index, dim, bounds)?;
    Ok(match rank {
        0 => gather.shaped(&[]),
        _ => gather,
    })
}

/// Elements of an input, of which each has an index along its rows, one after the other.
fn flat<'a>(input: DynView<'a>, indices: DynView<'a>) -> Result<Gather<'a>, Problem> {
    let input = Held::from(input).flat()?;
    let (whole, out) = (input.view().dims(), indices.len());
    let places = Destinations::rows(&whole, "indices", &[indices], &[0], None, Bounds::STRICT)?;
    Ok(Gather::new(places, input)?.shaped(&[out]))
}

fn too_large(shape: &Dims) -> Problem {
    Problem::Layout {
        argument: "indices".into(),
        why: format!("shape {shape:?} has too many elements"),
    }
}
