//! Loops refuse destinations that share memory with their source, or may not hold its elements.

use strew_kernel::copy::repeat::RepeatRows;
use strew_kernel::copy::replace_slice::ReplaceSlice;
use strew_kernel::copy::take;
use strew_kernel::groups::row_ids::RowIds;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DType, DynTensor, DynView, DynViewMut, TensorView, TensorViewMut};
use strew_kernel::update::small::SmallRun;

/// The rows of a tensor from `first` on, to read, and to write all of them or the rows before.
fn parts(of: &mut DynTensor, first: usize, all: bool) -> (DynView<'_>, DynViewMut<'_>) {
    let mut view = of.view_mut();
    let (at, layout) = (view.as_mut_ptr(), view.layout().clone());
    // SAFETY: the elements of the tensor, which is borrowed. No loop may run that writes them too.
    let whole = unsafe { DynView::from_raw_parts(at, layout) }.unwrap();
    let input = whole.narrow(0, first, whole.shape()[0] - first).unwrap();
    match all {
        true => (input, view),
        false => (input, view.split_at(0, first).unwrap().0),
    }
}

#[test]
fn copies_to_where_their_input_is() {
    let mut numbers = RowIds::with_room("row numbers", 2, 2).unwrap();
    (0..2).for_each(|row| numbers.push(row));
    let mut tensor = DynTensor::zeros(DType::F32, &[4, 128]).unwrap();
    for all in [true, false] {
        let (input, mut output) = parts(&mut tensor, 2, all);
        let taken = take::gather(&numbers, 0..2, &input, &mut output, 0, &mut |_| true);
        assert_eq!(taken.is_err(), all);
        assert_eq!(RepeatRows::new(&input, output, 0).is_err(), all);
    }
    let half = TensorView::from(&[1.0f32; 64]).into_dyn().insert_axis(0);
    for first in [0, 2] {
        let (input, mut output) = parts(&mut tensor, first, first == 0);
        let replace = ReplaceSlice::new(&input, &half, &[0, 0], [1, 1]).unwrap();
        assert_eq!(replace.parts(&mut output).is_none(), first == 0);
        let updates = input.corner(&[1, 64]).unwrap();
        let other = DynTensor::zeros(DType::F32, output.shape()).unwrap();
        let other = other.view();
        let replace = ReplaceSlice::new(&other, &updates, &[0, 0], [1, 1]).unwrap();
        assert_eq!(replace.parts(&mut output).is_none(), first == 0);
    }
}

#[test]
fn updates_that_are_their_cells() {
    let mut tensor = DynTensor::zeros(DType::F32, &[4]).unwrap();
    for all in [true, false] {
        let (source, mut cells) = parts(&mut tensor, 2, all);
        let small = SmallRun {
            start: &[0],
            onto: &[Some((0, 1))],
            components: &[],
        };
        assert!(small.can_join(cells.layout(), source.layout(), Combine::Sum));
        let joined = small.join(&mut cells, &source, Combine::Sum);
        assert_eq!(joined.is_none(), all);
    }
}

#[test]
fn bytes_that_are_no_bools() {
    let numbers = RowIds::with_room("row numbers", 1, 1).unwrap();
    let mut input = DynTensor::zeros(DType::Bool, &[1]).unwrap();
    for byte in 0..=2 {
        input.as_bytes_mut()[0] = byte;
        let input = input.view();
        let mut output = [false];
        let mut view = TensorViewMut::from(&mut output).into_dyn();
        let taken = take::gather(&numbers, 0..0, &input, &mut view, 0, &mut |_| true);
        assert_eq!(taken.is_err(), byte == 2);
        let view = view.reshape(&[1]).unwrap();
        assert_eq!(RepeatRows::new(&input, view, 0).is_err(), byte == 2);
    }
}
