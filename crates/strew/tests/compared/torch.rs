//! `torch.scatter_reduce` and `scatter_reduce_`.

use super::Basis;
use crate::naive::{self, Array};
use crate::support::ways::{Needs, Way, assert_matches, call, made, run};
use crate::support::{Placement, Strided};
use strew::{DType, Value};

/// The names of the reductions.
pub(crate) const REDUCES: [&str; 9] = [
    "sum",
    "prod",
    "mean",
    "amax",
    "amin",
    "max",
    "min",
    "exact_sum",
    "exact_mean",
];

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) basis: Basis,
    pub(crate) shape: Vec<usize>,
    pub(crate) dim: usize,
    /// How many updates go along `dim`.
    pub(crate) along: usize,
    pub(crate) reduce: &'static str,
    pub(crate) include_self: bool,
    pub(crate) long: bool,
}

/// Whether PyTorch's rules give the type this reduction.
pub(crate) fn defined(dtype: DType, reduce: &str) -> bool {
    match reduce {
        "sum" | "prod" | "exact_sum" => true,
        "mean" | "exact_mean" => dtype != DType::Bool,
        _ => !dtype.is_complex(),
    }
}

/// Panics unless every way to run the case has the bits of the naive loop.
pub(crate) fn check(case: &Case, ways: impl Iterator<Item = Way>) {
    let Case {
        basis,
        dim,
        reduce,
        include_self,
        ..
    } = case.clone();
    let dtype = basis.dtype;
    if !defined(dtype, reduce) {
        return;
    }
    let mut random = basis.random();
    let input = random.array(dtype, &case.shape, basis.style);
    let size = case.shape.get(dim).copied().unwrap_or(1);

    // The index is no larger than input apart from dim; src is no smaller than the index.
    let mut index_shape = case.shape.clone();
    for (axis, n) in index_shape.iter_mut().enumerate() {
        if axis == dim {
            *n = if size == 0 { 0 } else { case.along };
        } else if random.chance(3) {
            *n = random.below(*n + 1);
        }
    }
    let mut src_shape = index_shape.clone();
    for n in &mut src_shape {
        if random.chance(3) {
            *n += random.below(3);
        }
    }
    let count = index_shape.iter().product();
    let index_type = if case.long { DType::I64 } else { DType::I32 };
    let values = random.indices(count, size.max(1), basis.spread);
    let mut index = Array::of_ints(index_type, &index_shape, &values);
    let mut src = random.array(dtype, &src_shape, basis.style);
    let index_memory = Placement::random_input(&mut random, &mut index);
    let src_memory = Placement::random_input(&mut random, &mut src);
    let input_memory = Placement::random(&mut random, input.shape.len());

    let expected = naive::torch::scatter_reduce(&input, dim, &index, &src, reduce, include_self);
    let needs = Needs::of(reduce, dtype);
    let (index, src) = (
        Strided::new(&index, &index_memory),
        Strided::new(&src, &src_memory),
    );
    let signed = if basis.seed.is_multiple_of(2) {
        dim as i64
    } else {
        dim as i64 - case.shape.len().max(1) as i64
    };
    for way in ways {
        let rest = |first| {
            vec![
                ("input", first),
                ("dim", Value::Int(signed)),
                ("index", index.input()),
                ("src", src.input()),
                ("reduce", Value::Text(reduce.into())),
                ("include_self", Value::Bool(include_self)),
            ]
        };
        let what = || format!("{way:?} {case:?}");
        let fixed = Strided::new(&input, &input_memory);
        let fresh = call("torch.scatter_reduce", rest(fixed.input())).unwrap();
        if let Some(output) = run(fresh, way, needs) {
            assert_matches(&made(&output), &expected, false, &what);
        }
        assert_eq!(fixed.read(), input);

        let mut changed = Strided::new(&input, &input_memory);
        let in_place = call("torch.scatter_reduce_", rest(changed.target())).unwrap();
        let ran = run(in_place, way, needs).is_some();
        changed.assert_guards();
        if ran {
            assert_matches(&changed.read(), &expected, false, &what);
        } else {
            assert_eq!(changed.read(), input);
        }
    }
}
