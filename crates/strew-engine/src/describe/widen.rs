//! Elements as another type.

use crate::describe::destinations::Destinations;
use crate::describe::reduction::Reduction;
use crate::describe::{Scatter, Start, Target};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DType, Dims, DynTensor, DynView, Strides};

/// The elements, row by row, as those of a type that holds all of them.
///
/// # Errors
/// [`Problem::DType`] if it does not, [`Problem::Memory`].
pub fn widened(view: &DynView<'_>, to: DType) -> Result<DynTensor, Problem> {
    let rank = view.rank();
    let (first, steps) = (Dims::from_elem(0, rank), Strides::from_elem(1, rank));
    let all = Destinations::affine(view.shape(), &first, &steps, view.shape())?;
    let target = Target::New {
        dtype: to,
        start: Start::Zero,
    };
    let copy = Reduction::into_self(Combine::Assign);
    let made = Scatter::new(all, copy, "tensor", view.clone(), target)?.run()?;
    Ok(made.tensor.expect("a scatter into a new tensor makes one"))
}
