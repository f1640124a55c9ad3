//! What strew chose where the operators' documents leave something open: one test for each choice.

use ndarray::array;
use strew::torch_scatter::{scatter, scatter_max, scatter_min, scatter_out};
use strew::{
    Class, Complex32, TensorView, bf16, f16, mindspore, mxnet, openvino, torch, torch_scatter,
};

mod mxnet_scatter_nd {
    use super::*;

    #[test]
    fn negative_and_large_indices_are_errors() {
        for bad in [-1i32, 2] {
            let error = mxnet::scatter_nd([1.0f32], &array![[bad]], &[2], None).unwrap_err();
            assert_eq!(error.class(), Class::Index);
        }
    }

    #[test]
    fn the_last_of_duplicates_stays() {
        let out = mxnet::scatter_nd([1, 2, 3], &array![[1u8, 1, 1]], &[2], None).unwrap();
        assert_eq!(out.as_slice(), [0, 3]);
        // As bits: -0.0 and the NaN's payload too.
        let nan = f32::from_bits(0x7fa0_1234);
        let out = mxnet::scatter_nd([1.0, nan, -0.0], &array![[1u8, 1, 0]], &[2], None).unwrap();
        let bits: Vec<u32> = out.as_slice().iter().map(|v| v.to_bits()).collect();
        assert_eq!(bits, [0x8000_0000, 0x7fa0_1234]);
    }

    #[test]
    fn every_integer_type_is_an_index_and_floats_are_truncated() {
        let floats = array![[2.7f64, -0.9, 1.0]];
        let out = mxnet::scatter_nd([1, 2, 3], &floats, &[3], None).unwrap();
        assert_eq!(out.as_slice(), [2, 3, 1]);
        let out = mxnet::scatter_nd([true], &array![[f16::from_f32(1.5)]], &[2], None).unwrap();
        assert_eq!(out.as_slice(), [false, true]);
        let out = mxnet::scatter_nd([7u64], &array![[1u64]], &[2], None).unwrap();
        assert_eq!(out.as_slice(), [0, 7]);
        let error = mxnet::scatter_nd([7], &array![[true]], &[2], None).unwrap_err();
        assert_eq!(error.class(), Class::Type);
        let nan = mxnet::scatter_nd([7], &array![[f32::NAN]], &[2], None).unwrap_err();
        assert_eq!(nan.class(), Class::Index);
    }

    #[test]
    fn a_tuple_of_no_entries_is_an_error() {
        let none = ndarray::Array2::<i64>::zeros((0, 1));
        let error = mxnet::scatter_nd(&array![[1, 2]], &none, &[2], None).unwrap_err();
        assert_eq!(error.class(), Class::Value);
    }

    #[test]
    fn a_name_labels_errors() {
        let error = mxnet::scatter_nd([1], &array![[5]], &[2], Some("edges")).unwrap_err();
        assert_eq!(error.operator(), "mxnet.scatter_nd 'edges'");
    }
}

mod openvino_slice_scatter {
    use super::*;

    fn slice(updates: &[i32], start: i64, stop: i64, step: i64) -> strew::Result<Vec<i32>> {
        let data = &[0, 1, 2, 3];
        let out = openvino::slice_scatter(data, updates, &[start], &[stop], &[step], None)?;
        Ok(out.as_slice().to_vec())
    }

    #[test]
    fn negative_steps_clamp_as_in_python() {
        assert_eq!(slice(&[9, 8, 7, 6], 99, -99, -1).unwrap(), [6, 7, 8, 9]);
        // -1 is the last element, so nothing lies between.
        assert_eq!(slice(&[], 3, -1, -1).unwrap(), [0, 1, 2, 3]);
        assert_eq!(slice(&[9, 8], 3, -5, -2).unwrap(), [0, 8, 2, 9]);
    }

    #[test]
    fn the_lowest_step_selects_one_element() {
        assert_eq!(slice(&[9], 3, i64::MIN, i64::MIN).unwrap(), [0, 1, 2, 9]);
    }

    #[test]
    fn nothing_is_broadcast() {
        assert_eq!(slice(&[9], 0, 3, 1).unwrap_err().class(), Class::Value);
    }

    #[test]
    fn empty_lists_slice_nothing() {
        let out = openvino::slice_scatter([0, 1], [8, 9], &[], &[], &[], None).unwrap();
        assert_eq!(out.as_slice(), [8, 9]);
    }

    #[test]
    fn axes_are_unique_after_they_are_made_positive() {
        let data = array![[1, 2], [3, 4]];
        let axes: &[i64] = &[0, -2];
        let error = openvino::slice_scatter(&data, &data, &[0, 0], &[2, 2], &[1, 1], Some(axes));
        assert_eq!(error.unwrap_err().class(), Class::Value);
    }

    /// Ranks come before types, types before lists, lists before what they hold.
    #[test]
    fn the_order_of_errors() {
        let bad = openvino::slice_scatter([0, 1], &array![[1]], &[0, 0], &[], &[0], None);
        assert!(bad.unwrap_err().to_string().contains("updates has shape"));
        let bad = openvino::slice_scatter([0, 1], [1], &[0, 0], &[], &[0], None);
        assert!(bad.unwrap_err().to_string().contains("start has shape"));
        let bad = openvino::slice_scatter([0, 1], [1, 2, 3], &[0], &[], &[0], None);
        assert!(bad.unwrap_err().to_string().contains("stop has shape"));
        let bad = openvino::slice_scatter([0, 1], [1, 2, 3], &[0], &[1], &[0], None);
        assert!(bad.unwrap_err().to_string().contains("step[0] = 0"));
    }

    #[test]
    fn bool_is_a_type_like_others() {
        let out = openvino::slice_scatter([true, true], [false], &[1], &[2], &[1], None);
        assert_eq!(out.unwrap().as_slice(), [true, false]);
    }
}

mod torch_scatter_reduce {
    use super::*;
    use torch::{Reduce, scatter_reduce, scatter_reduce_};

    #[test]
    fn an_index_out_of_range_leaves_all_as_it_was() {
        for bad in [-1i64, 2] {
            let mut into = [1, 2];
            let result = scatter_reduce_(&mut into, 0, [0, 1, bad], [5, 6, 7], Reduce::Sum, true);
            assert_eq!(result.unwrap_err().class(), Class::Runtime);
            assert_eq!(into, [1, 2]);
        }
    }

    #[test]
    fn integer_means_are_rounded_down() {
        let out = scatter_reduce([-8i8, 7], 0, [0i64, 1], [1, -8], Reduce::Mean, true).unwrap();
        assert_eq!(out.as_slice(), [-4, -1]);
    }

    #[test]
    fn counts_are_exact() {
        // The sum of int8 wraps; 256, the count, does not.
        let mut src = [0i8; 256];
        src[9] = 100;
        let index = [0i64; 256];
        let out = scatter_reduce([0i8], 0, index, src, Reduce::Mean, false).unwrap();
        assert_eq!(out.as_slice(), [0]);
        let ones = [1i8; 200];
        let out = scatter_reduce([0i8], 0, &index[..200], &ones[..], Reduce::Mean, false);
        assert_eq!(out.unwrap().as_slice(), [-1]);
        let (index, ones) = (vec![0i64; 70_000], vec![f16::ONE; 70_000]);
        let out = scatter_reduce([f16::ZERO], 0, &index, &ones, Reduce::Mean, false).unwrap();
        assert_eq!(out.as_slice(), [f16::ONE]);
    }

    #[test]
    fn untouched_cells_keep_self_without_include_self() {
        let out = scatter_reduce([5, 6, 7], 0, [1i64], [2], Reduce::Prod, false).unwrap();
        assert_eq!(out.as_slice(), [5, 2, 7]);
    }

    #[test]
    fn sums_and_products_without_self_start_from_the_identity() {
        let lone = [-0.0f32];
        let sum = scatter_reduce([9.0f32], 0, [0i64], lone, Reduce::Sum, false).unwrap();
        assert_eq!(sum.as_slice()[0].to_bits(), 0);
        let product = scatter_reduce([9.0f32], 0, [0i64], lone, Reduce::Prod, false).unwrap();
        assert_eq!(product.as_slice()[0].to_bits(), 0x8000_0000);
        let kept = scatter_reduce([-0.0f32], 0, [0i64], lone, Reduce::Sum, true).unwrap();
        assert_eq!(kept.as_slice()[0].to_bits(), 0x8000_0000);
    }

    #[test]
    fn nan_propagates_and_of_equal_values_the_first_stays() {
        for reduce in [Reduce::Amax, Reduce::Amin] {
            for (own, src) in [(f32::NAN, 1.0), (1.0, f32::NAN)] {
                let out = scatter_reduce([own], 0, [0i64], [src], reduce, true).unwrap();
                assert!(out.as_slice()[0].is_nan());
            }
            let out = scatter_reduce([0.0f32], 0, [0i64], [-0.0], reduce, true).unwrap();
            assert_eq!(out.as_slice()[0].to_bits(), 0);
            let out = scatter_reduce([-0.0f32], 0, [0i64], [0.0], reduce, true).unwrap();
            assert_eq!(out.as_slice()[0].to_bits(), 0x8000_0000);
        }
    }

    #[test]
    fn zero_dimensions_count_as_one() {
        let scalar = ndarray::arr0(40);
        let out = scatter_reduce(&scalar, 0, [0i32, 0], [1, 1], Reduce::Sum, true).unwrap();
        assert_eq!((out.shape(), out.as_slice()), (&[][..], &[42][..]));
    }

    #[test]
    fn an_empty_index_may_be_of_any_type_and_rank() {
        let none = TensorView::from(&[0.0f32; 0]).into_dyn();
        let (input, src) = (array![[1, 2]], [7, 8, 9]);
        let (input, src) = (
            TensorView::from(&input).into_dyn(),
            TensorView::from(&src).into_dyn(),
        );
        let out = torch::scatter_reduce_dyn(input, 0, none, src, "sum", false);
        assert_eq!(out.unwrap().typed::<i32>().unwrap().as_slice(), [1, 2]);
    }

    #[test]
    fn int32_is_an_index_and_uint8_is_one_in_typed_calls_only() {
        scatter_reduce([1], 0, [0i32], [1], Reduce::Sum, true).unwrap();
        scatter_reduce([1], 0, [0u8], [1], Reduce::Sum, true).unwrap();
        let one = [1i32];
        let erased = |index: TensorView<'_, u8>| {
            let (input, src) = (TensorView::from(&one), TensorView::from(&one));
            let (input, index, src) = (input.into_dyn(), index.into_dyn(), src.into_dyn());
            strew::torch::scatter_reduce_dyn(input, 0, index, src, "sum", true)
        };
        assert_eq!(erased((&[0]).into()).unwrap_err().class(), Class::Runtime);
    }

    #[test]
    fn sixteen_bit_floats_are_rounded_once() {
        let (index, ones) = (vec![0i64; 4096], vec![f16::ONE; 4096]);
        let out = scatter_reduce([f16::ZERO], 0, &index, &ones, Reduce::Sum, true).unwrap();
        assert_eq!(out.as_slice()[0].to_f32(), 4096.0);
        let ones = vec![bf16::ONE; 4096];
        let out = scatter_reduce([bf16::ZERO], 0, &index, &ones, Reduce::Sum, true).unwrap();
        assert_eq!(out.as_slice()[0].to_f32(), 4096.0);
    }

    #[test]
    fn bool_and_complex() {
        let out = scatter_reduce(
            [false, true],
            0,
            [0i64, 1],
            [true, false],
            Reduce::Sum,
            true,
        );
        assert_eq!(out.unwrap().as_slice(), [true, true]);
        let out = scatter_reduce(
            [true, true],
            0,
            [0i64, 1],
            [true, false],
            Reduce::Prod,
            true,
        );
        assert_eq!(out.unwrap().as_slice(), [true, false]);
        let i = Complex32::new(0.0, 1.0);
        let out = scatter_reduce([i], 0, [0i64, 0], [i, i], Reduce::Prod, true).unwrap();
        assert_eq!(out.as_slice(), [-i]);
        let error = scatter_reduce([i], 0, [0i64], [i], Reduce::Amax, true).unwrap_err();
        assert_eq!(error.class(), Class::NotImplemented);
    }

    #[test]
    fn unsigned_means_and_extremes_are_defined() {
        let out = scatter_reduce([7u16], 0, [0i64], [4], Reduce::Mean, true).unwrap();
        assert_eq!(out.as_slice(), [5]);
        let out = scatter_reduce([7u64], 0, [0i64], [u64::MAX], Reduce::Amax, true).unwrap();
        assert_eq!(out.as_slice(), [u64::MAX]);
    }

    #[test]
    fn max_and_min_are_taken_too() {
        assert_eq!("max".parse::<Reduce>().unwrap(), Reduce::Amax);
        assert_eq!("min".parse::<Reduce>().unwrap(), Reduce::Amin);
    }
}

mod mindspore_scatter_mul {
    use super::*;

    #[test]
    fn an_index_out_of_range_is_an_error_as_on_cpu() {
        for bad in [-1, 2] {
            let mut x = [3, 4];
            let error = mindspore::scatter_mul(&mut x, [0, bad], [2, 2]).unwrap_err();
            assert_eq!((error.class(), x), (Class::Runtime, [3, 4]));
        }
    }

    #[test]
    fn a_parameter_is_never_promoted() {
        let error = mindspore::scatter_mul(&mut [3i8], [0], [2i16]).unwrap_err();
        assert_eq!(error.class(), Class::TypeAndRuntime);
        let mut x = [3i16];
        mindspore::scatter_mul(&mut x, [0], [2i8]).unwrap();
        assert_eq!(x, [6]);
    }

    #[test]
    fn bool_parameters_are_refused_and_bool_updates_are_not() {
        let error = mindspore::scatter_mul(&mut [true], [0], [true]).unwrap_err();
        assert_eq!(error.class(), Class::TypeAndRuntime);
        let mut x = [3.0f32, 4.0];
        mindspore::scatter_mul(&mut x, [0, 1], [true, false]).unwrap();
        assert_eq!(x, [3.0, 0.0]);
    }

    #[test]
    fn integers_wrap() {
        let mut x = [200u8];
        mindspore::scatter_mul(&mut x, [0, 0], [2u8, 3]).unwrap();
        assert_eq!(x, [176]);
    }

    #[test]
    fn zero_dimensional_and_empty_indices() {
        let mut x = array![[2, 3], [4, 5]];
        mindspore::scatter_mul(&mut x, ndarray::arr0(1), [10, 10]).unwrap();
        assert_eq!(x, array![[2, 3], [40, 50]]);
        let none = ndarray::Array2::<i32>::zeros((0, 2));
        mindspore::scatter_mul(&mut x, [0i32; 0], &none).unwrap();
        assert_eq!(x, array![[2, 3], [40, 50]]);
    }

    #[test]
    fn sixteen_bit_floats_are_rounded_once() {
        // 1 + 2^-10 to the fourth power: rounding each step would lose 2^-9 of it.
        let step = f16::from_f32(1.000_976_6);
        let mut x = [step];
        mindspore::scatter_mul(&mut x, [0; 40], [step; 40]).unwrap();
        let exact = 1.000_976_562_5f64.powi(41);
        assert_eq!(x[0], f16::from_f64(exact));
    }
}

mod torch_scatter_scatter {
    use super::*;
    use torch_scatter::Reduce;

    #[test]
    fn empty_groups() {
        for (reduce, empty) in [
            (Reduce::Sum, 0.0),
            (Reduce::Mul, 1.0),
            (Reduce::Mean, 0.0),
            (Reduce::Min, 0.0),
            (Reduce::Max, 0.0),
        ] {
            let out = scatter([5.0f32], [1i64], -1, Some(3), reduce).unwrap();
            assert_eq!(out.as_slice(), [empty, 5.0, empty]);
            let none: [f32; 0] = [];
            let out = scatter(none, [0i64; 0], -1, Some(2), reduce).unwrap();
            assert_eq!(out.as_slice(), [0.0, 0.0]);
        }
    }

    #[test]
    fn out_goes_on() {
        for (reduce, expected) in [
            (Reduce::Sum, [13.0, 20.0]),
            (Reduce::Mul, [20.0, 20.0]),
            (Reduce::Mean, [6.5, 20.0]),
            (Reduce::Min, [1.0, 20.0]),
            (Reduce::Max, [10.0, 20.0]),
        ] {
            let mut out = [10.0f32, 20.0];
            scatter_out([1.0, 2.0], [0i64, 0], -1, &mut out, reduce).unwrap();
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn nan_is_left_out_and_the_extremes_are_like_nothing() {
        let src = [f32::NAN, f32::MIN, f32::NEG_INFINITY, f32::INFINITY, -0.0];
        let (out, arg) = scatter_max(src, [0i64, 1, 2, 3, 4], -1, None).unwrap();
        assert_eq!(out.as_slice(), [0.0, 0.0, 0.0, f32::INFINITY, 0.0]);
        assert_eq!(arg.as_slice(), [5, 5, 5, 3, 4]);
        let (out, arg) = scatter_min([i64::MAX, 5], [0i64, 1], -1, None).unwrap();
        assert_eq!((out.as_slice(), arg.as_slice()), (&[0, 5][..], &[2, 1][..]));
    }

    #[test]
    fn the_first_of_equal_elements_wins() {
        let (_, arg) = scatter_max([2, 7, 7, 1], [0i64; 4], -1, None).unwrap();
        assert_eq!(arg.as_slice(), [1]);
    }

    #[test]
    fn integer_means_are_rounded_down() {
        let out = scatter([-3, 0], [0i64, 0], -1, None, Reduce::Mean).unwrap();
        assert_eq!(out.as_slice(), [-2]);
    }

    #[test]
    fn an_index_is_padded_on_the_right() {
        let src = array![[[1, 2]], [[3, 4]]];
        let out = scatter(&src, &array![[1i64], [0]], 0, None, Reduce::Sum).unwrap();
        assert_eq!(out.to_ndarray(), array![[[3, 4]], [[1, 2]]].into_dyn());
    }

    #[test]
    fn int32_is_an_index_for_every_reduction() {
        for reduce in [
            Reduce::Sum,
            Reduce::Mul,
            Reduce::Mean,
            Reduce::Min,
            Reduce::Max,
        ] {
            let out = scatter([5, 5], [1i32, 1], -1, None, reduce).unwrap();
            assert_eq!(out.shape(), [2]);
        }
    }

    #[test]
    fn an_index_out_of_range_is_an_error_for_every_reduction() {
        for reduce in [
            Reduce::Sum,
            Reduce::Mul,
            Reduce::Mean,
            Reduce::Min,
            Reduce::Max,
        ] {
            for bad in [-1i64, 2] {
                let error = scatter([5], [bad], -1, Some(2), reduce).unwrap_err();
                assert_eq!(error.class(), Class::Runtime);
            }
        }
    }

    /// bool has no value beyond its own to start from, yet an empty group and one of only trues
    /// (for the minimum) are told apart.
    #[test]
    fn bool_minima_and_maxima() {
        let src = [true, true, false];
        let (out, arg) = scatter_min(src, [0i64, 1, 1], -1, Some(3)).unwrap();
        assert_eq!(out.as_slice(), [true, false, false]);
        assert_eq!(arg.as_slice(), [0, 2, 3]);
        let (out, arg) = scatter_max(src, [0i64, 1, 2], -1, Some(4)).unwrap();
        assert_eq!(out.as_slice(), [true, true, false, false]);
        assert_eq!(arg.as_slice(), [0, 1, 2, 3]);
    }

    #[test]
    fn complex_products() {
        let i = Complex32::new(0.0, 1.0);
        let out = scatter([i, i, i], [0i64; 3], -1, None, Reduce::Mul).unwrap();
        assert_eq!(out.as_slice(), [-i]);
    }

    #[test]
    fn means_of_sixteen_bit_floats_are_rounded_once() {
        // The sum, 2049, is no f16; rounded to 2048, its third would be 682.5.
        let src = [2048.0, 1.0, 0.0].map(f16::from_f32);
        let out = scatter(src, [0i64; 3], -1, None, Reduce::Mean).unwrap();
        assert_eq!(out.as_slice()[0].to_f32(), 683.0);
    }

    #[test]
    fn out_may_be_larger_for_sums_only() {
        let mut out = array![[0, 0], [0, 0]];
        scatter_out(&array![[1, 2]], [1i64, 1], 1, &mut out, Reduce::Sum).unwrap();
        assert_eq!(out, array![[0, 3], [0, 0]]);
        let error = scatter_out(&array![[1, 2]], [1i64, 1], 1, &mut out, Reduce::Max);
        assert_eq!(error.unwrap_err().class(), Class::Runtime);
    }
}
