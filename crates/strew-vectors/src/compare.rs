//! Whether what came is what was expected.

use super::tensor::{Scalar, Values};
use super::vectors::Tolerance;
use strew::DType;

/// How far results of a type may be from the expected ones when a case does not say.
pub(super) fn tolerance(dtype: DType) -> Tolerance {
    let (rtol, atol) = match dtype {
        DType::F64 | DType::C128 => (1e-9, 1e-12),
        DType::F32 | DType::C64 => (2e-6, 1e-6),
        DType::F16 => (2e-3, 2e-3),
        DType::BF16 => (1.6e-2, 1e-2),
        _ => (0.0, 0.0),
    };
    Tolerance { rtol, atol }
}

/// No difference at all, but any NaN is like any other.
pub(super) const SAME: Tolerance = Tolerance {
    rtol: 0.0,
    atol: 0.0,
};

/// The first difference, if there is one.
pub(super) fn difference(got: &Values, wanted: &Values, tol: Tolerance) -> Option<String> {
    if got.dtype != wanted.dtype {
        return Some(format!("dtype {}, expected {}", got.dtype, wanted.dtype));
    }
    if got.shape != wanted.shape {
        return Some(format!(
            "shape {:?}, expected {:?}",
            got.shape, wanted.shape
        ));
    }
    let pairs = got.data.iter().zip(&wanted.data);
    let mut wrong = pairs
        .enumerate()
        .filter(|(_, (g, w))| !close(**g, **w, tol));
    let (at, (g, w)) = wrong.next()?;
    let more = match wrong.count() {
        0 => String::new(),
        n => format!(" (and {n} more elements)"),
    };
    let position = coordinate(at, &got.shape);
    Some(format!(
        "{position:?}: got {}, expected {}{more}",
        show(*g),
        show(*w)
    ))
}

fn coordinate(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut position: Vec<_> = shape
        .iter()
        .rev()
        .map(|&n| {
            let here = at % n;
            at /= n;
            here
        })
        .collect();
    position.reverse();
    position
}

fn show(scalar: Scalar) -> String {
    match scalar {
        Scalar::Bool(v) => v.to_string(),
        Scalar::Int(v) => v.to_string(),
        Scalar::Float(v) => format!("{v:?}"),
        Scalar::Complex(v) => format!("[{:?}, {:?}]", v.re, v.im),
    }
}

fn close(got: Scalar, wanted: Scalar, tol: Tolerance) -> bool {
    match (got, wanted) {
        (Scalar::Bool(g), Scalar::Bool(w)) => g == w,
        (Scalar::Int(g), Scalar::Int(w)) => g == w,
        (Scalar::Float(g), Scalar::Float(w)) => near(g, w, tol),
        (Scalar::Complex(g), Scalar::Complex(w)) => near(g.re, w.re, tol) && near(g.im, w.im, tol),
        _ => false,
    }
}

fn near(got: f64, wanted: f64, tol: Tolerance) -> bool {
    if got.is_nan() || wanted.is_nan() {
        return got.is_nan() && wanted.is_nan();
    }
    if tol.rtol == 0.0 && tol.atol == 0.0 {
        // The sign of a zero counts as well.
        return got.to_bits() == wanted.to_bits();
    }
    got == wanted
        || (wanted.is_finite() && (got - wanted).abs() <= tol.atol + tol.rtol * wanted.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_compared_by_kind_and_tolerance() {
        let tol = tolerance(DType::F32);
        assert!(near(1.0 + 1e-6, 1.0, tol));
        assert!(!near(1.0 + 1e-5, 1.0, tol));
        assert!(near(f64::NAN, f64::NAN, tol) && !near(0.0, f64::NAN, tol));
        assert!(near(f64::INFINITY, f64::INFINITY, tol));
        assert!(
            !near(f64::NEG_INFINITY, f64::INFINITY, tol) && !near(f64::MAX, f64::INFINITY, tol)
        );
        assert!(near(-0.0, 0.0, tol) && !near(-0.0, 0.0, SAME));
    }

    #[test]
    fn a_difference_says_where_and_what() {
        let values = |data: &[i128]| Values {
            dtype: DType::I64,
            shape: vec![2, 2],
            data: data.iter().map(|&v| Scalar::Int(v)).collect(),
        };
        let found = difference(&values(&[1, 2, 3, 5]), &values(&[1, 2, 4, 4]), SAME);
        assert_eq!(
            found.as_deref(),
            Some("[1, 0]: got 3, expected 4 (and 1 more elements)")
        );
    }
}
