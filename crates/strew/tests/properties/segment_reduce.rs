//! PyTorch's `segment_reduce`.

use crate::naive::{Array, Num, segment};
use crate::support::ways::{Needs, assert_matches, call, made, run, ways};
use crate::support::{Placement, Spread, Strided, Style};
use crate::{Basis, basis, cases, shape};
use proptest::prelude::*;
use strew::{DType, Scalar, Value};

#[derive(Clone, Debug)]
struct Case {
    basis: Basis,
    shape: Vec<usize>,
    axis: usize,
    reduce: &'static str,
    groups: usize,
    /// By lengths, not by offsets.
    lengths: bool,
    initial: Option<u8>,
    long: bool,
}

prop_compose! {
    fn case()(shape in shape(1..6), basis in basis())(
        axis in 0..shape.len(),
        reduce in prop::sample::select(vec!["sum", "prod", "mean", "amax", "amin"]),
        groups in 0usize..8,
        lengths in any::<bool>(),
        initial in prop::option::of(0u8..2),
        long in any::<bool>(),
        shape in Just(shape),
        basis in Just(basis),
    ) -> Case {
        Case { basis, shape, axis, reduce, groups, lengths, initial, long }
    }
}

fn check(case: &Case) {
    let dtype = case.basis.dtype;
    let floats = dtype.is_float() || dtype.is_complex();
    let extreme = case.reduce == "amax" || case.reduce == "amin";
    let size = case.shape[case.axis];
    // Without a group there is nobody to take the elements.
    let whole = case.lengths && case.groups == 0 && size > 0;
    if (case.reduce == "mean" && !floats) || (extreme && dtype.is_complex()) || whole {
        return;
    }
    let mut random = case.basis.random();
    let lines = case.shape[..case.axis].iter().product();
    let (mut offsets, mut lengths) = (Vec::new(), Vec::new());
    for _ in 0..lines {
        let count = case.groups + 1;
        let mut line: Vec<i64> = (0..count).map(|_| random.below(size + 1) as i64).collect();
        line.sort_unstable();
        if case.lengths {
            line[0] = 0;
            line[case.groups] = size as i64;
        }
        lengths.extend(line.windows(2).map(|pair| pair[1] - pair[0]));
        offsets.extend(line);
    }
    let index_type = if case.long { DType::I64 } else { DType::I32 };
    let mut index_shape = case.shape[..case.axis].to_vec();
    index_shape.push(case.groups + 1);
    let offsets = Array::of_ints(index_type, &index_shape, &offsets);
    index_shape[case.axis] = case.groups;
    let lengths = Array::of_ints(index_type, &index_shape, &lengths);

    let mut data = random.array(dtype, &case.shape, case.basis.style);
    let data_memory = Placement::random_input(&mut random, &mut data);
    let initial = case.initial.map(|n| match n {
        0 => Num::zero(dtype),
        _ => Num::one(dtype),
    });
    let expected = segment::segment_reduce(&data, &offsets, case.reduce, initial);

    let data = Strided::new(&data, &data_memory);
    let (name, groups) = match case.lengths {
        true => ("lengths", &lengths),
        false => ("offsets", &offsets),
    };
    let groups = Strided::new(groups, &Placement::random(&mut random, case.axis + 1));
    for way in ways() {
        let what = || format!("{way:?} {case:?}");
        let mut values = vec![
            ("data", data.input()),
            ("reduce", Value::Text(case.reduce.into())),
            (name, groups.input()),
            ("axis", Value::Int(case.axis as i64)),
        ];
        if let Some(initial) = case.initial {
            values.push(("initial", Value::Scalar(Scalar::Int(initial.into()))));
        }
        let call = call("torch.segment_reduce", values).unwrap();
        if let Some(output) = run(call, way, Needs::runs(dtype)) {
            assert_matches(&made(&output), &expected, false, &what);
        }
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn has_the_naive_loops_bits(case in case()) {
        check(&case);
    }
}

/// Enough rows for several blocks of runs and pieces of columns.
#[test]
fn long_ones_have_the_naive_loops_bits() {
    let mut seed = 1;
    for dtype in [DType::F32, DType::F16, DType::C64] {
        for (shape, axis, groups) in [
            (vec![3000, 3], 0, 700),
            (vec![900], 0, 1500),
            (vec![40, 600], 0, 5),
            (vec![2, 1500, 2], 1, 400),
        ] {
            for reduce in ["sum", "prod", "mean", "amax"] {
                for style in [Style::Tame, Style::Special] {
                    seed += 1;
                    let basis = Basis {
                        dtype,
                        style,
                        spread: Spread::Uniform,
                        seed,
                    };
                    check(&Case {
                        basis,
                        shape: shape.clone(),
                        axis,
                        reduce,
                        groups,
                        lengths: seed % 2 == 0,
                        initial: (seed % 3 == 0).then_some(1),
                        long: seed % 5 == 0,
                    });
                }
            }
        }
    }
}
