//! `index_add`: slices that are added.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::declaration::*;
use crate::dialect::torch::arguments::{DIM, pair};
use crate::dialect::torch::index::{INDEX, SOURCE, along, expect_slices};
use crate::dialect::torch::{Input, call, context, index_class};
use strew_engine::checks::axis;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{Dims, Held};

pair! {
    <T: Element, I: Index> (
        dim: int => DIM;
        index: tensor<I> => INDEX;
        source: tensor<T> => SOURCE;
        alpha: scalar = 1 => "what source is multiplied with, made an element of input's dtype";
    );

    /// `input` with slices of `source`, times `alpha`, added to those that `index` names along
    /// `dim`.
    ///
    /// For a 3-d tensor and `dim == 0`: `out[index[i]][j][k] += alpha * source[i][j][k]`, in the
    /// order of `index`. Sums of 16-bit floats accumulate in `f32` and are rounded once; integers
    /// wrap; for bool it is a logical or. `alpha * source` is of `T`: for 16-bit floats it is
    /// rounded too.
    ///
    /// * `index`: integers in `0..input.shape[dim]`, 1-d, or 0-d for a single slice.
    /// * `source`: of `input`'s shape, but for `dim` of `index`'s length; nothing is broadcast.
    /// * `alpha`: made an element of `T`; fractions are cut off for integers.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let input = array![[1, 1], [1, 1], [1, 1]];
    /// let source = array![[1, 2], [3, 4], [5, 6]];
    /// let out = strew::torch::index_add(&input, 0, &[0i64, 2, 0], &source, -1)?;
    /// assert_eq!(out.as_slice(), [-5, -7, 1, 1, -2, -3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`](crate::Class::Index) for a wrong `dim`, an `index` of more dimensions and
    /// one out of bounds; [`Class::Runtime`](crate::Class::Runtime) for everything else.
    pub fn index_add, pub fn index_add_dyn = lower_add;
    const INDEX_ADD = "torch.index_add":
        "A copy of input with slices of source added to those that index names along dim";

    pub fn index_add_, pub fn index_add_dyn_;
    const INDEX_ADD_ = "torch.index_add_":
        "Adds slices of source, in place, to those that index names along dim";
}

fn lower_add<'a>(
    operator: &'static str,
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    source: DynView<'a>,
    alpha: Scalar,
) -> Result<Call<'a>> {
    // PyTorch adds to tensors of more dimensions in another way, with another error.
    let class = match input.shape().len() {
        0 | 1 => index_class,
        _ => crate::dialect::torch::class,
    };
    let describe = || {
        let dim = axis("dim", dim, input.shape().len())?;
        expect_slices("index_add", &input, dim, &index, &source)?;
        let factor = alpha.tensor("alpha", input.dtype())?;
        let one = Scalar::Int(1).tensor("alpha", input.dtype())?;
        let source = match factor.as_bytes() == one.as_bytes() {
            true => Held::from(source),
            false => product(&Held::from(factor), source)?,
        };
        let reduction = Reduction::into_self(Combine::Sum);
        along(
            input,
            dim,
            &index,
            "source",
            source,
            reduction,
            Bounds::STRICT,
        )
    };
    Ok(call(context(operator, class), describe())?.with_factor(alpha))
}

/// A number times every element of a tensor: each product joins the number, once.
fn product<'a>(factor: &Held<'_>, tensor: DynView<'_>) -> Result<Held<'a>, Problem> {
    let shape = tensor.dims();
    let (zeros, ones) = (Dims::from_elem(0, shape.len()), vec![1; shape.len()]);
    let destinations = Destinations::affine(&shape, &zeros, &ones, &shape)?;
    let wide = factor.view().broadcast_to(&shape);
    let target = Target::New {
        dtype: tensor.dtype(),
        start: Start::CopyOf(wide.unwrap_or_else(|| tensor.clone())),
    };
    let reduction = Reduction::into_self(Combine::Prod);
    let scatter = Scatter::new(destinations, reduction, "source", tensor, target)?;
    let made = scatter.run()?.tensor;
    Ok(Held::from(made.expect("a new tensor")))
}
