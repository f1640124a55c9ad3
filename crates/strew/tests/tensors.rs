//! Tensors as text.

use strew::{Complex64, Tensor};

#[test]
fn elements_are_shown_in_nested_brackets() {
    let mut scalar = Tensor::<f64>::zeros(&[]).unwrap();
    scalar.as_mut_slice()[0] = -2.0;
    assert_eq!(scalar.to_string(), "-2.0");
    let empty = Tensor::<i8>::zeros(&[0]).unwrap();
    assert_eq!(empty.to_string(), "[]");
    let rows = Tensor::<i8>::zeros(&[2, 0]).unwrap();
    assert_eq!(rows.to_string(), "[[], []]");
    let flags = Tensor::<bool>::zeros(&[1, 2]).unwrap();
    assert_eq!(flags.to_string(), "[[false, false]]");
    let mut pair = Tensor::<Complex64>::zeros(&[1]).unwrap();
    pair.as_mut_slice()[0] = Complex64::new(1.0, -2.5);
    assert_eq!(pair.to_string(), "[1-2.5i]");
    assert_eq!(format!("{pair:.2}"), "[1.00-2.50i]");
}

#[test]
fn long_tensors_show_their_ends() {
    let mut wide = Tensor::<usize>::zeros(&[2, 600]).unwrap();
    for (k, element) in wide.as_mut_slice().iter_mut().enumerate() {
        *element = k;
    }
    assert_eq!(
        wide.to_string(),
        "[[0, 1, 2, ..., 597, 598, 599], [600, 601, 602, ..., 1197, 1198, 1199]]"
    );
    let seven = Tensor::<u8>::zeros(&[7, 1, 200]).unwrap().to_string();
    assert_eq!(seven.matches("[[0").count(), 6);
    assert_eq!(seven.matches("]], ..., [[").count(), 1);
    let six = Tensor::<u8>::zeros(&[6, 200]).unwrap().to_string();
    assert_eq!(six.matches("], ..., [").count(), 0);
}
