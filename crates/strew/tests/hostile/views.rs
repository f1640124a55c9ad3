//! Views of memory: descriptions that cannot be, and odd ones that can.

use crate::support::ways::{call, made};
use crate::{counted, ints, text};
use strew::{DType, DynView, Layout, Problem, Value};

fn refused(result: Result<Layout, Problem>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn layouts_that_cannot_be() {
    let most = usize::MAX;
    for (shape, strides, message) in [
        (&[2][..], &[][..], "tensor: 1 sizes but 0 strides"),
        (&[2, 2], &[4], "tensor: 2 sizes but 1 strides"),
        (
            &[2],
            &[2],
            "tensor: a stride of 2 bytes misaligns float32 elements; copy the array first",
        ),
        (
            &[3],
            &[-6],
            "tensor: a stride of -6 bytes misaligns float32 elements; copy the array first",
        ),
    ] {
        assert_eq!(refused(Layout::new(DType::F32, shape, strides)), message);
    }
    for (shape, strides) in [
        (vec![most], vec![0]),
        (vec![1 << 40, 1 << 40], vec![0, 0]),
        (vec![1 << 62, 2], vec![0, 0]),
    ] {
        let message = format!("tensor: shape {shape:?} has too many elements");
        assert_eq!(refused(Layout::new(DType::F32, &shape, &strides)), message);
    }
    for (shape, strides) in [
        (vec![3], vec![isize::MAX - 3]),
        (vec![2, 2], vec![isize::MAX - 7, 8]),
        (vec![2, 2], vec![isize::MAX - 7, -8]),
        (vec![2], vec![isize::MIN]),
    ] {
        let message = format!(
            "tensor: shape {shape:?} with strides {strides:?} (bytes) reaches beyond the address space"
        );
        assert_eq!(refused(Layout::new(DType::F64, &shape, &strides)), message);
    }
    // Nobody steps along these axes.
    Layout::new(DType::F64, &[1], &[3]).unwrap();
    Layout::new(DType::F64, &[0, 5], &[isize::MAX, 3]).unwrap();
}

#[test]
fn pointers_that_cannot_be() {
    let layout = Layout::contiguous(DType::F64, &[2]).unwrap();
    let words = [0u64; 4];
    let odd = words.as_ptr().cast::<u8>().wrapping_add(4);
    // SAFETY: both are refused before anything is read.
    let (null, odd) = unsafe {
        (
            DynView::from_raw_parts(std::ptr::null(), layout.clone()),
            DynView::from_raw_parts(odd, layout),
        )
    };
    assert_eq!(
        null.unwrap_err().to_string(),
        "tensor: the data pointer is null"
    );
    assert_eq!(
        odd.unwrap_err().to_string(),
        "tensor: the data is not aligned to 8 bytes as float64 needs; copy the array first"
    );
}

#[test]
fn many_dimensions() {
    for rank in [33, 64, 200] {
        let mut shape = vec![1; rank];
        (shape[0], shape[rank / 2], shape[rank - 1]) = (2, 3, 2);
        let input = counted(DType::I32, &shape);
        let index = ints(DType::I64, &shape, &[1; 12]);
        for (dim, bad) in [(0, false), (rank / 2, false), (rank - 1, false), (1, true)] {
            let values = vec![
                ("input", input.input()),
                ("dim", Value::Int(dim as i64)),
                ("index", index.input()),
                ("src", input.input()),
                ("reduce", text("sum")),
            ];
            let result = call("torch.scatter_reduce", values).unwrap().run();
            if bad {
                let error = result.unwrap_err().to_string();
                assert!(error.ends_with("index 1 is out of bounds for dimension 1 with size 1"));
                continue;
            }
            let expected = crate::naive::torch::scatter_reduce(
                &input.read(),
                dim,
                &index.read(),
                &input.read(),
                "sum",
                true,
            );
            assert_eq!(made(&result.unwrap()), expected.array);
        }
    }
}

/// A tensor that may be written is one that may be read.
#[test]
fn targets_as_inputs() {
    let mut data = counted(DType::F32, &[1]);
    let mut indices = ints(DType::I64, &[1, 1], &[2]);
    let mut shape = ints(DType::I32, &[1], &[3]);
    let values = vec![
        ("data", data.target()),
        ("indices", indices.target()),
        ("shape", shape.target()),
    ];
    let output = call("mxnet.scatter_nd", values).unwrap().run().unwrap();
    assert_eq!(made(&output).shape, [3]);
}

/// A byte that is neither 0 nor 1 is true to an operator, but no `bool` of Rust's.
#[test]
fn bytes_that_are_no_rust_bools() {
    let bytes = counted(DType::Bool, &[3]);
    assert!(bytes.view().typed::<bool>().is_none());
    assert!(
        bytes
            .view()
            .narrow(0, 0, 1)
            .unwrap()
            .typed::<bool>()
            .is_some()
    );
    assert!(bytes.view().typed::<u8>().is_none());
    let index = ints(DType::I64, &[3], &[0, 0, 0]);
    let out =
        strew::torch_scatter::scatter_dyn(bytes.view(), index.view(), 0, None, None, "sum", false);
    let out = out.unwrap().tensor.unwrap().typed::<bool>().unwrap();
    assert_eq!(out.as_slice(), [true]);
}

/// `ndarray` views in any order, backwards and expanded.
#[test]
fn ndarray_views() {
    use ndarray::{Array2, Axis, array, s};
    let mut into = Array2::<i32>::zeros((3, 4));
    let src = array![[1, 2, 3], [4, 5, 6]];
    let mut slice = into.slice_mut(s![..;-1, ..;2]);
    slice.swap_axes(0, 1);
    // Two by three: columns 0 and 2, rows from the last.
    let index = array![[0i64, 1, 1]];
    let index = index.broadcast((2, 3)).unwrap();
    let sum = strew::torch::Reduce::Sum;
    strew::torch::scatter_reduce_(&mut slice, 1, index, src.slice(s![..;-1, ..]), sum, true)
        .unwrap();
    assert_eq!(into, array![[0, 0, 0, 0], [11, 0, 5, 0], [4, 0, 1, 0]]);
    let mut reversed = src.clone();
    reversed.invert_axis(Axis(1));
    let out =
        strew::torch_scatter::scatter(reversed.t(), [0i32, 0], 1, None, "max".parse().unwrap());
    assert_eq!(out.unwrap().to_ndarray(), array![[6], [5], [4]].into_dyn());
}
