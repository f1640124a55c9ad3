//! How a call sees an argument: as a whole, or as a view of some of its elements in another order.

use crate::grad::route::packed;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::gather::Gather;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DynTensor, DynView, Tensor, shaped};

/// The elements of a tensor that a call sees.
pub(super) enum Seen {
    /// All, row by row.
    Whole,
    /// For each one that is seen its number in the tensor. One that is repeated comes several times.
    Numbers(Tensor<i64>),
}

impl Seen {
    /// `tensor` lies row by row.
    pub(super) fn new(
        argument: &str,
        view: &DynView<'_>,
        tensor: &DynView<'_>,
    ) -> Result<Self, Problem> {
        let alike = view.len() == tensor.len();
        if alike && (view.is_empty() || view.layout().is_contiguous()) {
            return Ok(Self::Whole);
        }
        match numbers(view, tensor)? {
            Some(numbers) => Ok(Self::Numbers(numbers)),
            // The operator made a copy, such as one of another type.
            None if alike => Ok(Self::Whole),
            None => Err(Problem::Layout {
                argument: argument.into(),
                why: "it is repeated after a conversion: give it in the result's dtype".into(),
            }),
        }
    }

    /// How many elements are seen of the tensor.
    pub(super) fn len(&self, tensor: &DynView<'_>) -> usize {
        match self {
            Self::Whole => tensor.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    /// What is seen of a tensor of the same shape, with one axis.
    pub(super) fn take(&self, tensor: &DynView<'_>) -> Result<DynTensor, Problem> {
        let line = packed(tensor, &[tensor.len()])?;
        match self {
            Self::Whole => line.view().to_tensor(),
            Self::Numbers(numbers) => {
                let made = Gather::new(places(numbers, tensor.len())?, line.view())?.run()?;
                Ok(made.tensor.expect("a gather makes a tensor"))
            }
        }
    }

    /// For each element of the tensor the sum of what belongs to it; 0 for those that are not seen.
    pub(super) fn give_back(
        &self,
        seen: DynTensor,
        tensor: &DynView<'_>,
    ) -> Result<DynTensor, Problem> {
        let numbers = match self {
            Self::Whole => return shaped(seen, tensor.shape()),
            Self::Numbers(numbers) => numbers,
        };
        let target = Target::New {
            dtype: seen.dtype(),
            start: Start::Zero,
        };
        let line = packed(&seen.view(), &[numbers.len()])?;
        let sum = Reduction::into_self(Combine::Sum);
        let to = places(numbers, tensor.len())?;
        let made = Scatter::new(to, sum, "grad", line.view(), target)?.run()?;
        let made = made.tensor.expect("a scatter into a new tensor makes one");
        shaped(made, tensor.shape())
    }
}

fn places(numbers: &Tensor<i64>, size: usize) -> Result<Destinations<'_>, Problem> {
    let index = [numbers.view().into_dyn()];
    Destinations::rows(&[size], "numbers", &index, &[0], None, Bounds::STRICT)
}

/// The number in the tensor of each element of a view of it; `None` for a view of other memory.
fn numbers(view: &DynView<'_>, tensor: &DynView<'_>) -> Result<Option<Tensor<i64>>, Problem> {
    if view.is_empty() {
        return Tensor::zeros(&[0]).map(Some);
    }
    let size = tensor.dtype().size().cast_signed();
    let moved = (view.as_ptr() as isize).wrapping_sub(tensor.as_ptr() as isize);
    let (low, high) = view.layout().extent();
    let bytes = size.saturating_mul(tensor.len().cast_signed());
    let inside = moved.saturating_add(low) >= 0 && moved.saturating_add(high) <= bytes;
    if !inside || view.dtype() != tensor.dtype() {
        return Ok(None);
    }
    let mut numbers = Tensor::<i64>::zeros(&[view.len()])?;
    let axes: Vec<(usize, isize)> = view
        .shape()
        .iter()
        .copied()
        .zip(steps(view, size))
        .collect();
    let mut position = vec![0usize; axes.len()];
    let mut at = moved / size;
    for number in numbers.as_mut_slice() {
        *number = at as i64;
        for (place, &(len, step)) in position.iter_mut().zip(&axes).rev() {
            *place += 1;
            at += step;
            if *place < len {
                break;
            }
            at -= step * len.cast_signed();
            *place = 0;
        }
    }
    Ok(Some(numbers))
}

/// Strides in elements.
fn steps<'v>(view: &'v DynView<'_>, size: isize) -> impl Iterator<Item = isize> + 'v {
    view.layout()
        .strides()
        .iter()
        .map(move |stride| stride / size)
}
