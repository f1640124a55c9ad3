//! torch_scatter's functions of groups that are more than one reduction.

use crate::naive::composite::{What, composite};
use crate::naive::{Array, Outcome};
use crate::support::ways::{assert_matches, call, made, with_threads};
use crate::support::{Placement, Spread, Strided, Style};
use crate::{Basis, basis, cases, shape};
use proptest::prelude::*;
use strew::{DType, Problem, Scalar, Split, Value};

#[derive(Clone, Debug)]
struct Case {
    basis: Basis,
    shape: Vec<usize>,
    dim: usize,
    what: What,
    /// How many of src's axes the index has; 1: it lies along dim.
    index_rank: usize,
    groups: usize,
    given: bool,
    out: bool,
    long: bool,
}

fn what() -> impl Strategy<Value = What> {
    let eps = prop::sample::select(vec![1e-12, 0.0, 0.5]);
    prop_oneof![
        any::<bool>().prop_map(|unbiased| What::Std { unbiased }),
        eps.clone().prop_map(|eps| What::LogSumExp { eps }),
        Just(What::Softmax),
        eps.prop_map(|eps| What::LogSoftmax { eps }),
    ]
}

prop_compose! {
    fn case()(shape in shape(1..6), basis in basis())(
        dim in 0..shape.len(),
        what in what(),
        index_rank in 0..=shape.len(),
        groups in 1usize..8,
        given in any::<bool>(),
        out in any::<bool>(),
        long in any::<bool>(),
        shape in Just(shape),
        basis in Just(basis),
    ) -> Case {
        Case { basis, shape, dim, what, index_rank, groups, given, out, long }
    }
}

fn name(what: What) -> &'static str {
    match what {
        What::Std { .. } => "torch_scatter.scatter_std",
        What::LogSumExp { .. } => "torch_scatter.scatter_logsumexp",
        What::Softmax => "torch_scatter.scatter_softmax",
        What::LogSoftmax { .. } => "torch_scatter.scatter_log_softmax",
    }
}

fn check(case: &Case) {
    let (basis, dim, what) = (&case.basis, case.dim, case.what);
    let dtype = basis.dtype;
    let integers = dtype.is_integer() && matches!(what, What::Std { .. });
    if !dtype.is_float() && !integers {
        return;
    }
    let mut random = basis.random();
    let mut index_shape = match case.index_rank {
        1 => vec![case.shape[dim]],
        rank => case.shape[..rank].to_vec(),
    };
    for n in &mut index_shape {
        if random.chance(6) {
            *n = 1;
        }
    }
    let count = index_shape.iter().product();
    let values = random.indices(count, case.groups, basis.spread);
    let index_type = if case.long { DType::I64 } else { DType::I32 };
    let mut index = Array::of_ints(index_type, &index_shape, &values);
    let mut src = random.array(dtype, &case.shape, basis.style);
    let index_memory = Placement::random_input(&mut random, &mut index);
    let src_memory = Placement::random_input(&mut random, &mut src);
    let mut out_shape = case.shape.clone();
    out_shape[dim] = case.groups;
    let to = if integers { DType::F32 } else { dtype };
    let out = random.array(to, &out_shape, basis.style);
    let out_memory = Placement::random(&mut random, out_shape.len());
    let given = (case.out && what.reduces()).then_some(&out);
    let dim_size = (given.is_some() || case.given).then_some(case.groups);
    let expected = composite(what, &src, &index, dim, given, dim_size);

    let index = Strided::new(&index, &index_memory);
    let src = Strided::new(&src, &src_memory);
    for threads in [1, 2, 3, 8] {
        let mut changed = Strided::new(&out, &out_memory);
        let mut values = vec![
            ("src", src.input()),
            ("index", index.input()),
            ("dim", Value::Int(dim as i64 - case.shape.len() as i64)),
        ];
        if given.is_some() {
            values.push(("out", changed.target()));
        } else if let Some(size) = dim_size {
            values.push(("dim_size", Value::Int(size as i64)));
        }
        match what {
            What::Std { unbiased } => values.push(("unbiased", Value::Bool(unbiased))),
            What::LogSumExp { eps } | What::LogSoftmax { eps } => {
                values.push(("eps", Value::Scalar(Scalar::Float(eps))));
            }
            What::Softmax => {}
        }
        let call = call(name(what), values).unwrap();
        call.execution().unwrap();
        let output = with_threads(threads, || call.run()).unwrap();
        changed.assert_guards();
        let found = match given {
            Some(_) => {
                assert!(output.tensor.is_none());
                changed.read()
            }
            None => made(&output),
        };
        matches(&found, &expected, &|| {
            format!("{threads} threads, {case:?}")
        });
        assert!(output.arg.is_none());
    }
}

fn matches(found: &Array, expected: &Outcome, what: &dyn Fn() -> String) {
    assert_matches(found, expected, false, what);
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn has_the_naive_loops_bits(case in case()) {
        check(&case);
    }
}

/// Enough elements for each of eight threads.
#[test]
fn long_ones_have_the_naive_loops_bits() {
    let mut seed = 1;
    for dtype in [DType::F32, DType::F16, DType::F64, DType::I32] {
        for (shape, dim, index_rank, groups) in [
            (vec![5000, 40], 0, 1, 300),
            (vec![200_000], 0, 1, 90_000),
            (vec![3, 70_000], 1, 1, 5),
            (vec![400, 500], 1, 2, 30),
            (vec![2, 30_000, 3], 1, 2, 7000),
        ] {
            for what in [
                What::Std { unbiased: true },
                What::LogSumExp { eps: 1e-12 },
                What::Softmax,
                What::LogSoftmax { eps: 1e-12 },
            ] {
                for spread in [Spread::Uniform, Spread::Skewed] {
                    seed += 1;
                    let basis = Basis {
                        dtype,
                        style: Style::Tame,
                        spread,
                        seed,
                    };
                    check(&Case {
                        basis,
                        shape: shape.clone(),
                        dim,
                        what,
                        index_rank,
                        groups,
                        given: true,
                        out: seed % 2 == 0,
                        long: seed % 3 == 0,
                    });
                }
            }
        }
    }
}

/// Every pass goes its own way: none can be forced.
#[test]
fn no_strategy_can_be_forced() {
    let array = Array::of_ints(DType::I64, &[2], &[0, 1]);
    let mut src = array.clone();
    src.dtype = DType::F64;
    let (src, index) = (Strided::plain(&src), Strided::plain(&array));
    let named = |error: strew::Error| match error.problem() {
        Problem::Strategy { strategy, .. } => *strategy,
        other => panic!("{other}"),
    };
    for strategy in strew::Strategy::ALL {
        let values = || vec![("src", src.input()), ("index", index.input())];
        let run = || call("torch_scatter.scatter_softmax", values()).unwrap();
        let forced = || run().with_strategy(Some(strategy));
        assert_eq!(named(forced().execution().unwrap_err()), strategy.name());
        assert_eq!(named(forced().run().unwrap_err()), strategy.name());
        let split = run().with_split(Some((Split::Owner, 2)));
        assert_eq!(named(split.run().unwrap_err()), Split::Owner.name());
    }
}
