//! `mxnet.scatter_nd`.

use crate::naive::{self, Array};
use crate::support::ways::{Needs, assert_matches, call, made, run, ways};
use crate::support::{INTEGERS, Placement, Strided};
use crate::{Basis, basis, cases, shape};
use proptest::prelude::*;
use strew::{DType, Value};

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

#[derive(Clone, Debug)]
struct Case {
    basis: Basis,
    shape: Vec<usize>,
    batch: Vec<usize>,
    depth: usize,
    index: DType,
}

prop_compose! {
    fn case()(shape in shape(1..5), basis in basis())(
        depth in 1..=shape.len(),
        batch in shape_of_batch(),
        index in prop::sample::select([&INTEGERS[..], &FLOATS].concat()),
        shape in Just(shape),
        basis in Just(basis),
    ) -> Case {
        Case { basis, shape, batch, depth, index }
    }
}

fn shape_of_batch() -> impl Strategy<Value = Vec<usize>> {
    shape(1..4)
}

/// Index values as elements of a type; floats get a fraction, which is cut off.
fn indices(dtype: DType, shape: &[usize], values: &[i64]) -> Array {
    if !dtype.is_float() {
        return Array::of_ints(dtype, shape, values);
    }
    let mut array = Array::filled(dtype, shape, 0);
    for (bits, &v) in array.data.iter_mut().zip(values) {
        let v = v as f64 + 0.75;
        let num = match dtype {
            DType::F64 => naive::Num::F64(v),
            _ => naive::Num::F32(v as f32),
        };
        *bits = naive::number::write(dtype, num);
    }
    array
}

fn check(case: &Case) {
    let Case { basis, depth, .. } = case.clone();
    let mut random = basis.random();
    let mut batch = case.batch.clone();
    if case.shape[..depth].contains(&0) {
        // No index can be right, so there must be none.
        batch[0] = 0;
    }
    let count: usize = batch.iter().product();
    let index_shape = [&[depth], &batch[..]].concat();
    let mut values = Vec::new();
    for &size in &case.shape[..depth] {
        values.extend(random.indices(count, size.max(1), basis.spread));
    }
    let mut index = indices(case.index, &index_shape, &values);
    let data_shape = [&batch, &case.shape[depth..]].concat();
    let mut data = random.array(basis.dtype, &data_shape, basis.style);
    let original = index.clone();
    let mut index_memory = Placement::random_input(&mut random, &mut index);
    let flat = |m: usize| (0..count).map(move |y| m * count + y);
    if (0..depth).any(|m| flat(m).any(|at| index.int(at) >= case.shape[m] as i128)) {
        // Entries of a tuple point along different axes: a repeated entry may leave its own.
        index = original;
        index_memory = Placement::random(&mut random, index_shape.len());
    }
    let data_memory = Placement::random_input(&mut random, &mut data);

    let expected = naive::mxnet::scatter_nd(&data, &index, &case.shape);
    let needs = Needs::of("assign", basis.dtype);
    let data = Strided::new(&data, &data_memory);
    let index = Strided::new(&index, &index_memory);
    let sizes: Vec<i64> = case.shape.iter().map(|&n| n as i64).collect();
    for way in ways() {
        let values = vec![
            ("data", data.input()),
            ("indices", index.input()),
            ("shape", Value::Integers(sizes.clone().into())),
        ];
        let call = call("mxnet.scatter_nd", values).unwrap();
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
