//! Loops that move elements and compute nothing.
//!
//! | file | moves |
//! |---|---|
//! | [`fill`] | one value to whole rows |
//! | [`repeat`] | each source row to a run of destination rows |
//! | [`replace_slice`] | an input to a new output, with the updates in place of one slice |
//! | [`strided`] | a strided view to a contiguous copy; rows past the caches |
//! | [`take`] | the rows that a list of row numbers names |
//! | [`take_walk`] | the cells that a [`Walk`](crate::walk::Walk) names |
//! | [`tile`] | columns of a destination to a private block and back |

pub mod fill;
pub mod repeat;
pub mod replace_slice;
pub mod strided;
pub mod take;
pub mod take_walk;
pub mod tile;

#[cfg(test)]
mod tests {
    use crate::copy::{repeat::RepeatRows, replace_slice::ReplaceSlice, take};
    use crate::segment::row_ids::RowIds;
    use crate::tensor::{DType, DynTensor, DynView, DynViewMut, TensorView, TensorViewMut};

    /// The rows of a tensor from `first` on, to read, and the others or all, to write.
    fn parts(of: &mut DynTensor, first: usize, all: bool) -> (DynView<'_>, DynViewMut<'_>) {
        let mut view = of.view_mut();
        let (at, layout) = (view.as_mut_ptr(), view.layout().clone());
        // SAFETY: the same elements; no loop may run if they are written too.
        let whole = unsafe { DynView::from_raw_parts(at, layout) }.unwrap();
        let input = whole.narrow(0, first, whole.shape()[0] - first).unwrap();
        let output = match all {
            true => view,
            false => view.split_at(0, first).unwrap().0,
        };
        (input, output)
    }

    #[test]
    fn outputs_that_overlap_their_input_are_refused() {
        let mut numbers = RowIds::with_room("row numbers", 2, 2).unwrap();
        (0..2).for_each(|row| numbers.push(row));
        let mut tensor = DynTensor::zeros(DType::F32, &[4, 128]).unwrap();
        for all in [true, false] {
            let (input, mut output) = parts(&mut tensor, 2, all);
            let taken = take::gather(&numbers, 0..2, &input, &mut output, 0, &mut |_| true);
            assert_eq!(taken.is_err(), all);
            assert_eq!(RepeatRows::new(&input, output, 0).is_err(), all);
        }
        let updates = TensorView::from(&[1.0f32; 64]).into_dyn().insert_axis(0);
        for first in [0, 2] {
            let (input, mut output) = parts(&mut tensor, first, first == 0);
            let replace = ReplaceSlice::new(&input, &updates, &[0, 0], [1, 1]).unwrap();
            assert_eq!(replace.parts(&mut output).is_none(), first == 0);
            let updates = input.corner(&[1, 64]).unwrap();
            let other = DynTensor::zeros(DType::F32, output.shape()).unwrap();
            let other = other.view();
            let replace = ReplaceSlice::new(&other, &updates, &[0, 0], [1, 1]).unwrap();
            assert_eq!(replace.parts(&mut output).is_none(), first == 0);
        }
    }

    #[test]
    fn bools_take_no_other_bytes() {
        let numbers = RowIds::with_room("row numbers", 1, 1).unwrap();
        let mut input = DynTensor::zeros(DType::Bool, &[1]).unwrap();
        for byte in 0..=2 {
            input.as_bytes_mut()[0] = byte;
            let mut output = [false];
            let mut view = TensorViewMut::from(&mut output).into_dyn();
            let taken = take::gather(&numbers, 0..0, &input.view(), &mut view, 0, &mut |_| true);
            assert_eq!(taken.is_err(), byte == 2);
            let view = view.reshape(&[1]).unwrap();
            assert_eq!(RepeatRows::new(&input.view(), view, 0).is_err(), byte == 2);
        }
    }
}
