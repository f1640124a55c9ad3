//! `strew.scatter` and `strew.gather`.

use crate::naive::{self, Array};
use crate::support::ways::{Needs, assert_matches, call, made, run, ways};
use crate::support::{INTEGERS, Placement, Random, Strided};
use crate::{Basis, basis, cases, shape};
use proptest::prelude::*;
use strew::{Bounds, DType, Scalar, Value};

const REDUCE: [&str; 8] = [
    "sum",
    "mean",
    "prod",
    "amin",
    "amax",
    "assign",
    "exact_sum",
    "exact_mean",
];

#[derive(Clone, Debug)]
struct Case {
    basis: Basis,
    shape: Vec<usize>,
    dim: usize,
    reduce: &'static str,
    /// How many of src's axes the index has; 1: it lies along dim.
    index_rank: usize,
    index: DType,
    /// Cells along dim.
    cells: usize,
    mode: &'static str,
    ignored: Option<i64>,
    /// One index in so many is any number.
    odd: usize,
    target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    New,
    Filled,
    Out { include_self: bool },
}

prop_compose! {
    fn case()(shape in shape(1..5), basis in basis())(
        dim in 0..shape.len(),
        reduce in prop::sample::select(REDUCE.to_vec()),
        index_rank in 0..=shape.len(),
        index in prop::sample::select(INTEGERS.to_vec()),
        cells in 1usize..8,
        mode in prop::sample::select(vec!["error", "wrap", "drop", "clip"]),
        ignored in prop::sample::select(vec![None, None, Some(-1), Some(0), Some(3), Some(100)]),
        odd in prop::sample::select(vec![3, 40, 1_000_000]),
        target in prop::sample::select(vec![
            Target::New,
            Target::Filled,
            Target::Out { include_self: true },
            Target::Out { include_self: false },
        ]),
        shape in Just(shape),
        basis in Just(basis),
    ) -> Case {
        Case { basis, shape, dim, reduce, index_rank, index, cells, mode, ignored, odd, target }
    }
}

impl Case {
    fn bounds(&self) -> Bounds {
        Bounds {
            ignored: self.ignored.map(Into::into),
            ..self.mode.parse().unwrap()
        }
    }

    /// An index of this shape into so many cells, of which some are odd.
    fn numbers(&self, random: &mut Random, shape: &[usize], cells: usize) -> Array {
        let count = shape.iter().product();
        let mut values = random.indices(count, cells.max(1), self.basis.spread);
        let signed = !matches!(self.index, DType::U8 | DType::U16 | DType::U32 | DType::U64);
        for value in &mut values {
            if random.chance(self.odd) {
                *value = random.pick(&[3, 100, cells as i64, -i64::from(signed)]);
            } else if random.chance(20) {
                *value = self.ignored.filter(|&v| signed || v >= 0).unwrap_or(*value);
            }
        }
        Array::of_ints(self.index, shape, &values)
    }

    fn common<'a>(&self, values: &mut Vec<(&'static str, Value<'a>)>) {
        let back = if self.basis.seed.is_multiple_of(2) {
            0
        } else {
            self.shape.len() as i64
        };
        values.push(("dim", Value::Int(self.dim as i64 - back)));
        values.push(("mode", Value::Text(self.mode.into())));
        if let Some(ignored) = self.ignored {
            values.push(("ignore_index", Value::Int(ignored)));
        }
    }
}

/// One or zero.
fn element(dtype: DType, value: i64) -> u128 {
    match value {
        0 => 0,
        _ => naive::number::write(dtype, naive::Num::one(dtype)),
    }
}

fn scatters(case: &Case) {
    let (dtype, dim, reduce) = (case.basis.dtype, case.dim, case.reduce);
    let extreme = reduce == "amin" || reduce == "amax";
    if (dtype == DType::Bool && reduce.ends_with("mean")) || (dtype.is_complex() && extreme) {
        return;
    }
    let mut random = case.basis.random();
    let mut index_shape = match case.index_rank {
        1 => vec![case.shape[dim]],
        rank => case.shape[case.shape.len() - rank..].to_vec(),
    };
    for n in &mut index_shape {
        if random.chance(6) {
            *n = 1;
        }
    }
    let mut index = case.numbers(&mut random, &index_shape, case.cells);
    let mut src = random.array(dtype, &case.shape, case.basis.style);
    let index_memory = Placement::random_input(&mut random, &mut index);
    let src_memory = Placement::random_input(&mut random, &mut src);
    let mut out_shape = case.shape.clone();
    out_shape[dim] = case.cells;
    let out = random.array(dtype, &out_shape, case.basis.style);
    let out_memory = Placement::random(&mut random, out_shape.len());
    let fill = (case.target == Target::Filled).then(|| i64::from(random.chance(2)));
    let bits = fill.map(|fill| element(dtype, fill));
    let (into, include_self) = match case.target {
        Target::Out { include_self } => (out.clone(), include_self),
        _ => (naive::own::fresh(&src, &out_shape, reduce, bits), false),
    };
    let expected = naive::own::scatter(
        &src,
        &index,
        dim,
        &into,
        reduce,
        include_self,
        case.bounds(),
    );

    let needs = Needs::of(reduce, dtype);
    let index = Strided::new(&index, &index_memory);
    let src = Strided::new(&src, &src_memory);
    for way in ways() {
        let what = || format!("{way:?} {case:?}");
        let mut changed = Strided::new(&out, &out_memory);
        let mut values = vec![("src", src.input()), ("index", index.input())];
        case.common(&mut values);
        values.push(("reduce", Value::Text(reduce.into())));
        match case.target {
            Target::Out { include_self } => {
                values.push(("out", changed.target()));
                values.push(("include_self", Value::Bool(include_self)));
            }
            _ => values.push(("dim_size", Value::Int(case.cells as i64))),
        }
        if let Some(fill) = fill {
            values.push(("fill_value", Value::Scalar(Scalar::Int(fill))));
        }
        let call = call("strew.scatter", values).unwrap();
        let Some(expected) = &expected else {
            // The first one that names no cell is named; nothing has changed.
            let error = call.run().unwrap_err();
            assert!(
                error.to_string().contains("out of bounds"),
                "{error}: {}",
                what()
            );
            assert_eq!(changed.read(), out);
            return;
        };
        let output = run(call, way, needs);
        changed.assert_guards();
        let Some(output) = output else {
            assert_eq!(changed.read(), out);
            continue;
        };
        let copies = reduce == "assign";
        match case.target {
            Target::Out { .. } => assert_matches(&changed.read(), expected, copies, &what),
            _ => assert_matches(&made(&output), expected, copies, &what),
        }
    }
}

fn gathers(case: &Case) {
    let (dtype, dim) = (case.basis.dtype, case.dim);
    let mut random = case.basis.random();
    let shape = match case.index_rank {
        0 | 1 => vec![case.cells],
        _ => {
            let mut shape = case.shape.clone();
            shape[dim] = case.cells;
            shape
        }
    };
    let index = case.numbers(&mut random, &shape, case.shape[dim]);
    let src = random.array(dtype, &case.shape, case.basis.style);
    let fill = random.chance(2).then_some(1);
    let bits = element(dtype, fill.unwrap_or(0));
    let expected = naive::own::gather(&src, &index, dim, bits, case.bounds());
    let mut values = vec![];
    let src = Strided::new(&src, &Placement::random(&mut random, src.shape.len()));
    let index = Strided::new(&index, &Placement::random(&mut random, index.shape.len()));
    values.extend([("src", src.input()), ("index", index.input())]);
    case.common(&mut values);
    if let Some(fill) = fill {
        values.push(("fill_value", Value::Scalar(Scalar::Int(fill))));
    }
    match (call("strew.gather", values).unwrap().run(), expected) {
        (Ok(output), Some(expected)) => assert_eq!(made(&output), expected, "{case:?}"),
        (Err(error), None) => assert!(error.to_string().contains("out of bounds"), "{error}"),
        (found, expected) => panic!("{found:?}, not {expected:?}: {case:?}"),
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn scatters_have_the_naive_loops_bits(case in case()) {
        scatters(&case);
    }

    #[test]
    fn gathers_have_the_naive_loops_bits(case in case()) {
        gathers(&case);
    }
}
