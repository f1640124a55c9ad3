//! `mindspore.scatter_mul`.

use crate::naive::mindspore::takes;
use crate::naive::{self, Array};
use crate::support::ways::{Needs, assert_matches, call, run, ways};
use crate::support::{Placement, Strided};
use crate::{Basis, basis, cases, shape};
use proptest::prelude::*;
use strew::DType;

#[derive(Clone, Debug)]
struct Case {
    basis: Basis,
    shape: Vec<usize>,
    batch: Vec<usize>,
    updates: DType,
    long: bool,
}

prop_compose! {
    fn case()(
        shape in shape(1..5),
        batch in shape(0..4),
        basis in basis(),
        promoted in any::<prop::sample::Index>(),
        long in any::<bool>(),
    ) -> Case {
        let mut types = vec![basis.dtype; 2];
        types.extend(takes(basis.dtype));
        let updates = types[promoted.index(types.len())];
        Case { basis, shape, batch, updates, long }
    }
}

fn check(case: &Case) {
    let dtype = case.basis.dtype;
    if dtype == DType::Bool || dtype.is_complex() {
        return;
    }
    let mut random = case.basis.random();
    let mut batch = case.batch.clone();
    if case.shape[0] == 0 && batch.is_empty() {
        batch.push(0);
    } else if case.shape[0] == 0 {
        batch[0] = 0;
    }
    let count = batch.iter().product();
    let input = random.array(dtype, &case.shape, case.basis.style);
    let values = random.indices(count, case.shape[0].max(1), case.basis.spread);
    let index_type = if case.long { DType::I64 } else { DType::I32 };
    let mut indices = Array::of_ints(index_type, &batch, &values);
    let updates_shape = [&batch, &case.shape[1..]].concat();
    let mut updates = random.array(case.updates, &updates_shape, case.basis.style);
    let indices_memory = Placement::random_input(&mut random, &mut indices);
    let updates_memory = Placement::random_input(&mut random, &mut updates);
    let input_memory = Placement::random(&mut random, input.shape.len());
    let expected = naive::mindspore::scatter_mul(&input, &indices, &updates);

    let needs = Needs::of("prod", dtype);
    let indices = Strided::new(&indices, &indices_memory);
    let updates = Strided::new(&updates, &updates_memory);
    for way in ways() {
        let mut changed = Strided::new(&input, &input_memory);
        let values = vec![
            ("input_x", changed.target()),
            ("indices", indices.input()),
            ("updates", updates.input()),
        ];
        let ran = run(call("mindspore.scatter_mul", values).unwrap(), way, needs).is_some();
        changed.assert_guards();
        if ran {
            let what = || format!("{way:?} {case:?}");
            assert_matches(&changed.read(), &expected, false, &what);
        } else {
            assert_eq!(changed.read(), input);
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
