//! What strew chose where torch_scatter's segment and gather functions leave something open or are wrong:
//! one test for each choice.

use ndarray::array;
use strew::torch_scatter::{
    Reduce, gather_coo, gather_csr, gather_csr_dyn, segment_coo, segment_coo_out, segment_csr,
    segment_csr_out, segment_max_coo, segment_max_csr, segment_min_coo, segment_min_csr,
};
use strew::{Class, Complex32, TensorView, TensorViewMut, f16};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

#[test]
fn out_goes_on_at_the_row_of_the_first_index() {
    for (reduce, expected) in [
        (Reduce::Sum, [10.0, 23.0]),
        (Reduce::Mean, [10.0, 11.5]),
        (Reduce::Min, [10.0, 1.0]),
        (Reduce::Max, [10.0, 20.0]),
    ] {
        let mut out = [10.0f32, 20.0];
        segment_coo_out([1.0f32, 2.0], [1i64, 1], &mut out, reduce).unwrap();
        assert_eq!(out, expected, "{reduce:?}");
        segment_csr_out([1.0f32, 2.0], [0i64, 0, 2], &mut out, Reduce::Sum).unwrap();
        assert_eq!(out, [0.0, 3.0]);
    }
}

#[test]
fn nobody_has_the_position_of_somebody_else() {
    let src = [3.0, -INF, NAN, 2.0];
    let (out, arg) = segment_max_coo(src, [0i64, 1, 2, 3], Some(5)).unwrap();
    assert_eq!(out.as_slice(), [3.0, 0.0, 0.0, 2.0, 0.0]);
    assert_eq!(arg.as_slice(), [0, 4, 4, 3, 4]);
    let (out, arg) = segment_max_csr(src, [0i64, 1, 2, 3, 4, 4]).unwrap();
    assert_eq!(out.as_slice(), [3.0, -INF, 0.0, 2.0, 0.0]);
    assert_eq!(arg.as_slice(), [0, 1, 4, 3, 4]);
}

#[test]
fn rows_at_the_end_of_a_type_are_not_masked() {
    let (out, arg) = segment_min_csr([i8::MAX, 3, i8::MAX], [0i32, 1, 3]).unwrap();
    assert_eq!(
        (out.as_slice(), arg.as_slice()),
        (&[i8::MAX, 3][..], &[0, 1][..])
    );
    let out = segment_csr([INF, NAN, INF], [0i32, 1, 2, 3], Reduce::Min).unwrap();
    assert_eq!(out.as_slice(), [INF, 0.0, INF]);
    // By index they are, as by `scatter`.
    let (out, arg) = segment_min_coo([i8::MAX, 3], [0i32, 1], None).unwrap();
    assert_eq!((out.as_slice(), arg.as_slice()), (&[0, 3][..], &[2, 1][..]));
}

#[test]
fn of_equals_the_first_wins() {
    let (out, arg) = segment_max_csr([0.0f32, -0.0, -0.0, 0.0], [0i64, 2, 4]).unwrap();
    let bits: Vec<u32> = out.as_slice().iter().map(|v| v.to_bits()).collect();
    assert_eq!((bits, arg.as_slice()), (vec![0, 1 << 31], &[0, 2][..]));
    let (out, arg) = segment_max_csr([false, false, true, true], [0i64, 2, 4]).unwrap();
    assert_eq!(
        (out.as_slice(), arg.as_slice()),
        (&[false, true][..], &[0, 2][..])
    );
}

#[test]
fn few_pointers_are_no_rows() {
    for pointers in [&[][..], &[0i64]] {
        let out = segment_csr([1.0f32, 2.0], pointers, Reduce::Mean).unwrap();
        assert_eq!(out.shape(), [0]);
    }
    let mut none: [f32; 0] = [];
    segment_csr_out([1.0f32], [1i64], &mut none, Reduce::Sum).unwrap();
}

#[test]
fn an_empty_source_gives_zeros() {
    let none: [f32; 0] = [];
    let index: [i64; 0] = [];
    let out = segment_coo(none, index, Some(2), Reduce::Max).unwrap();
    assert_eq!(out.as_slice(), [0.0, 0.0]);
    assert_eq!(
        segment_coo(none, index, None, Reduce::Sum).unwrap().shape(),
        [0]
    );
    let (out, arg) = segment_max_csr(none, [0i64, 0, 0]).unwrap();
    assert_eq!(
        (out.as_slice(), arg.as_slice()),
        (&[0.0, 0.0][..], &[0, 0][..])
    );
    let mut out = [7.0f32, 8.0];
    segment_csr_out(none, [0i64, 0, 0], &mut out, Reduce::Sum).unwrap();
    assert_eq!(out, [0.0, 0.0]);
    segment_coo_out(none, index, &mut out, Reduce::Sum).unwrap();
    assert_eq!(gather_coo([1, 2], index).unwrap().shape(), [0]);
    assert_eq!(gather_csr(none, [0i64]).unwrap().shape(), [0]);
}

#[test]
fn runs_may_overlap_leave_gaps_and_descend() {
    let out = segment_csr([1, 2, 4, 8], [1i64, 3, 0, 4, 4], Reduce::Sum).unwrap();
    assert_eq!(out.as_slice(), [6, 0, 15, 0]);
    // The last one stays.
    let out = gather_csr([5, 6, 7], [0i64, 3, 1, 4]).unwrap();
    assert_eq!(out.as_slice(), [5, 7, 7, 7]);
    let out = gather_csr(&array![[1, 2], [3, 4]], &array![[1i64, 2, 2], [0, 1, 4]]).unwrap();
    assert_eq!(
        out.to_ndarray(),
        array![[0, 1, 0, 0], [3, 4, 4, 4]].into_dyn()
    );
    let mut out = [9, 9, 9];
    let (src, pointers) = (&[5], &[1i64, 2]);
    gather_csr_dyn(
        TensorView::from(src).into_dyn(),
        &TensorView::from(pointers).into_dyn(),
        Some(TensorViewMut::from(&mut out).into_dyn()),
    )
    .unwrap();
    assert_eq!(out, [9, 5, 9]);
}

#[test]
fn means_are_exact_and_rounded_once() {
    let out = segment_csr([-8i8, 1, 7, -8], [0i64, 2, 4], Reduce::Mean).unwrap();
    assert_eq!(out.as_slice(), [-3, 0]);
    let out = segment_coo([i64::MIN, 1, 0], [0i64; 3], None, Reduce::Mean).unwrap();
    assert_eq!(out.as_slice(), [(i64::MIN + 1) / 3]);
    // The sum of 300 int8 ones wraps to 44; their count does not wrap.
    let out = segment_csr([1i8; 300], [0i64, 300], Reduce::Mean).unwrap();
    assert_eq!(out.as_slice(), [0]);
    // The sum, 2049, is no f16.
    let src = [2048.0, 1.0, 0.0].map(f16::from_f32);
    let out = segment_csr(src, [0i64, 3], Reduce::Mean).unwrap();
    assert_eq!(out.as_slice()[0].to_f32(), 683.0);
}

#[test]
fn bool_and_complex() {
    let out = segment_csr([true, false, false], [0i64, 2, 3], Reduce::Sum).unwrap();
    assert_eq!(out.as_slice(), [true, false]);
    let out = segment_coo([true, false, false], [0i64, 0, 2], None, Reduce::Min).unwrap();
    assert_eq!(out.as_slice(), [false, false, false]);
    let i = Complex32::new(0.0, 1.0);
    let out = segment_csr([i, i], [0i64, 2], Reduce::Mean).unwrap();
    assert_eq!(out.as_slice(), [i]);
    let refused = segment_csr([i], [0i64, 1], Reduce::Max).unwrap_err();
    assert_eq!(refused.class(), Class::NotImplemented);
}
