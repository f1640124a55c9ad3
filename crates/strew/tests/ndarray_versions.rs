//! Arrays of ndarray 0.16 go in and come out as those of 0.17 do.

/// The same test for one version.
macro_rules! version {
    ($test:ident, $ndarray:ident) => {
        #[test]
        fn $test() -> Result<(), strew::Error> {
            use $ndarray::{Array1, Array2, ArrayD, ArrayViewD, Axis, array, s};
            use strew::torch_scatter::{Reduce, scatter, scatter_out, scatter_sum};

            let src = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
            let index: Array1<u32> = array![1, 0, 1];
            let wanted = array![[2.0, 4.0], [5.0, 10.0]];
            let made: Array2<f64> = scatter_sum(&src, &index, 1)?.try_into()?;
            assert_eq!(made, wanted);
            // Views by value, turned and reversed; arrays by value.
            let made: Array2<f64> = scatter_sum(src.t(), index.view(), 0)?.try_into()?;
            assert_eq!(made.t(), wanted);
            let backwards = src.slice(s![.., ..;-1]);
            let made = scatter_sum(backwards, index.clone(), -1)?;
            assert_eq!(ArrayViewD::from(&made), wanted.view().into_dyn());
            let made = ArrayD::try_from(scatter(src.clone(), index.clone(), 1, Some(2), Reduce::Sum)?)?;
            assert_eq!(made, wanted.into_dyn());

            let mut totals = Array2::zeros((2, 2));
            scatter_out(&src, &index, 1, &mut totals, Reduce::Sum)?;
            scatter_out(&src, &index, 1, totals.view_mut(), Reduce::Sum)?;
            assert_eq!(totals, array![[4.0, 8.0], [10.0, 20.0]]);
            let column = totals.index_axis_mut(Axis(1), 0);
            scatter_out(&[1.0], &[1usize], 0, column, Reduce::Sum)?;
            assert_eq!(totals, array![[4.0, 8.0], [11.0, 20.0]]);

            let error = Array1::try_from(scatter_sum(&src, &index, 1)?).unwrap_err();
            assert_eq!(
                error.to_string(),
                "Tensor::try_into: tensor has shape [2, 2]: the array must have 2 dimensions, not 1"
            );
            Ok(())
        }
    };
}

version!(arrays_of_the_current_version, ndarray);
version!(arrays_of_version_0_16, ndarray_0_16);
