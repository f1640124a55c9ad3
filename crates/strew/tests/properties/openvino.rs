//! `openvino.slice_scatter`.

use crate::naive::{self, Array, openvino::selected};
use crate::support::ways::{Needs, assert_matches, call, made, run, ways};
use crate::support::{Placement, Random, Strided};
use crate::{Basis, basis, cases, shape};
use proptest::prelude::*;
use strew::{DType, Value};

#[derive(Clone, Debug)]
struct Case {
    basis: Basis,
    shape: Vec<usize>,
    index: DType,
    /// Start, stop, step.
    slices: Vec<(i64, i64, i64)>,
    axes: Option<Vec<i64>>,
}

fn bound() -> impl Strategy<Value = i64> {
    prop_oneof![
        12 => -10i64..11,
        1 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1]),
        1 => prop::sample::select(vec![-128i64, 127, -32768, i64::from(i32::MIN)]),
    ]
}

fn step() -> impl Strategy<Value = i64> {
    prop_oneof![
        12 => (-4i64..5).prop_filter("not 0", |&s| s != 0),
        1 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, i64::MAX]),
    ]
}

prop_compose! {
    fn case()(shape in shape(1..6), basis in basis())(
        slices in prop::collection::vec((bound(), bound(), step()), 0..=shape.len()),
        named in any::<bool>(),
        index in prop::sample::select(vec![DType::I8, DType::I16, DType::I32, DType::I64]),
        shape in Just(shape),
        basis in Just(basis),
    ) -> Case {
        let rank = shape.len();
        let mut random = Random(!basis.seed);
        let axes = named.then(|| {
            let all = random.shuffled(rank);
            let signed = |&a: &usize| a as i64 - if a % 2 == 0 { rank as i64 } else { 0 };
            all[..slices.len()].iter().map(signed).collect()
        });
        Case { basis, shape, index, slices, axes }
    }
}

fn check(case: &Case) {
    let mut random = case.basis.random();
    let clip = |v: i64| {
        // The values that the index type holds.
        let (low, high) = naive::number::range(case.index);
        i128::from(v).clamp(low, high) as i64
    };
    let list = |f: fn(&(i64, i64, i64)) -> i64| -> Vec<i64> {
        case.slices.iter().map(|s| clip(f(s))).collect()
    };
    let (start, stop, step) = (list(|s| s.0), list(|s| s.1), list(|s| s.2));
    let mut updates_shape = case.shape.clone();
    for k in 0..start.len() {
        let axis = case.axes.as_ref().map_or(k as i64, |a| a[k]);
        let axis = axis.rem_euclid(case.shape.len() as i64) as usize;
        updates_shape[axis] = selected(case.shape[axis], start[k], stop[k], step[k]).len();
    }
    let dtype = case.basis.dtype;
    let mut data = random.array(dtype, &case.shape, case.basis.style);
    let mut updates = random.array(dtype, &updates_shape, case.basis.style);
    let data_memory = Placement::random_input(&mut random, &mut data);
    let updates_memory = Placement::random_input(&mut random, &mut updates);
    let axes = case.axes.as_deref();
    let expected = naive::openvino::slice_scatter(&data, &updates, &start, &stop, &step, axes);

    let needs = Needs::of("assign", dtype);
    let data = Strided::new(&data, &data_memory);
    let updates = Strided::new(&updates, &updates_memory);
    let tensor = |v: &[i64]| Strided::plain(&Array::of_ints(case.index, &[v.len()], v));
    let tensors = [tensor(&start), tensor(&stop), tensor(&step)];
    for way in ways() {
        // As lists and as tensors.
        let integers = |list: &Vec<i64>, k: usize| match way.threads {
            1 => Value::Integers(list.clone().into()),
            _ => tensors[k].input(),
        };
        let mut values = vec![
            ("data", data.input()),
            ("updates", updates.input()),
            ("start", integers(&start, 0)),
            ("stop", integers(&stop, 1)),
            ("step", integers(&step, 2)),
        ];
        if let Some(axes) = &case.axes {
            values.push(("axes", Value::Integers(axes.clone().into())));
        }
        let call = call("openvino.slice_scatter", values).unwrap();
        if let Some(output) = run(call, way, needs) {
            let what = || format!("{way:?} {case:?}");
            assert_matches(&made(&output), &expected, true, &what);
        }
    }
}

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn has_the_naive_loops_bits(case in case()) {
        check(&case);
    }
}
