//! torch_scatter's `segment_coo`, `segment_csr`, `gather_coo` and `gather_csr`.

use crate::naive::{Array, Outcome, segment};
use crate::support::ways::{Needs, assert_matches, call, made, positions, run, ways};
use crate::support::{Placement, Random, Strided};
use crate::{Basis, basis, cases, shape};
use proptest::prelude::*;
use strew::{DType, Value};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    SegmentCoo,
    SegmentCsr,
    GatherCoo,
    GatherCsr,
}

#[derive(Clone, Debug)]
struct Case {
    basis: Basis,
    shape: Vec<usize>,
    /// The axis of the groups: the last of the index.
    dim: usize,
    kind: Kind,
    reduce: &'static str,
    /// Groups, or rows of the result.
    groups: usize,
    out: bool,
    long: bool,
}

prop_compose! {
    fn case()(shape in shape(1..6), basis in basis())(
        dim in 0..shape.len(),
        kind in prop::sample::select(
            vec![Kind::SegmentCoo, Kind::SegmentCoo, Kind::SegmentCsr, Kind::SegmentCsr, Kind::GatherCoo, Kind::GatherCsr]
        ),
        reduce in prop::sample::select(vec!["sum", "add", "mean", "min", "max"]),
        groups in 1usize..8,
        out in any::<bool>(),
        long in any::<bool>(),
        shape in Just(shape),
        basis in Just(basis),
    ) -> Case {
        Case { basis, shape, dim, kind, reduce, groups, out, long }
    }
}

/// Ascending numbers below `size`, line by line of the last axis.
fn ascending(random: &mut Random, case: &Case, shape: &[usize], size: usize) -> Vec<i64> {
    let line = shape[shape.len() - 1];
    let mut all = Vec::new();
    for _ in 0..shape[..shape.len() - 1].iter().product() {
        let mut values = random.indices(line, size, case.basis.spread);
        values.sort_unstable();
        all.extend(values);
    }
    all
}

/// Pointers up to `size`: in order, or anyhow.
fn pointers(random: &mut Random, shape: &[usize], size: usize) -> Vec<i64> {
    let line = shape[shape.len() - 1];
    let mut all = Vec::new();
    for _ in 0..shape[..shape.len() - 1].iter().product() {
        let mut values: Vec<i64> = (0..line).map(|_| random.below(size + 1) as i64).collect();
        if !random.chance(3) {
            values.sort_unstable();
        }
        all.extend(values);
    }
    all
}

struct Prepared {
    src: Array,
    index: Array,
    out: Array,
    expected: Outcome,
    /// Given as an argument.
    dim_size: Option<usize>,
}

/// Arrays for a case, and what the naive loop makes of them; `None` if it has no meaning.
fn prepare(case: &Case, random: &mut Random) -> Option<(Prepared, [Placement; 3])> {
    let (dtype, style) = (case.basis.dtype, case.basis.style);
    let extreme = case.reduce == "min" || case.reduce == "max";
    let gathers = matches!(case.kind, Kind::GatherCoo | Kind::GatherCsr);
    if !gathers
        && ((dtype == DType::Bool && case.reduce == "mean") || (dtype.is_complex() && extreme))
    {
        return None;
    }
    let dim = case.dim;
    let mut shape = case.shape.clone();
    let mut index_shape = case.shape[..=dim].to_vec();
    let index_type = if case.long { DType::I64 } else { DType::I32 };
    let expands = case.kind != Kind::GatherCoo;
    for n in &mut index_shape[..dim] {
        if expands && random.chance(4) {
            *n = 1;
        }
    }
    let values = match case.kind {
        Kind::SegmentCoo => {
            if random.chance(8) {
                index_shape[dim] = 1;
            }
            ascending(random, case, &index_shape, case.groups)
        }
        Kind::SegmentCsr => {
            index_shape[dim] = case.groups;
            pointers(random, &index_shape, shape[dim])
        }
        Kind::GatherCoo => {
            if shape[dim] == 0 {
                return None;
            }
            index_shape[dim] = case.groups;
            ascending(random, case, &index_shape, shape[dim])
        }
        Kind::GatherCsr => {
            index_shape[dim] = shape[dim] + 1;
            let mut values = pointers(random, &index_shape, case.groups);
            if let Some(last) = values.last_mut() {
                *last = case.groups as i64;
            }
            values
        }
    };
    let mut index = Array::of_ints(index_type, &index_shape, &values);
    let mut src = random.array(dtype, &shape, style);
    // Repeated along its last axis, an index still ascends; pointers would point elsewhere.
    let index_memory = match case.kind {
        Kind::SegmentCoo | Kind::GatherCoo => Placement::random_input(random, &mut index),
        _ => Placement::random(random, index_shape.len()),
    };
    let src_memory = Placement::random_input(random, &mut src);
    shape[dim] = match case.kind {
        Kind::SegmentCsr => case.groups - 1,
        _ => case.groups,
    };
    let out = random.array(dtype, &shape, style);
    let out_memory = Placement::random(random, shape.len());
    let given = case.out.then_some(&out);
    let mut dim_size = None;
    let expected = match case.kind {
        Kind::SegmentCoo => {
            dim_size = random.chance(2).then_some(case.groups);
            segment::segment_coo(&src, &index, given, dim_size, case.reduce)
        }
        Kind::SegmentCsr => segment::segment_csr(&src, &index, case.reduce),
        Kind::GatherCoo => segment::gather_coo(&src, &index),
        Kind::GatherCsr => segment::gather_csr(&src, &index, given),
    };
    let prepared = Prepared {
        src,
        index,
        out,
        expected,
        dim_size,
    };
    Some((prepared, [src_memory, index_memory, out_memory]))
}

fn check(case: &Case) {
    let mut random = case.basis.random();
    let Some((prepared, [src_memory, index_memory, out_memory])) = prepare(case, &mut random)
    else {
        return;
    };
    let Prepared {
        src,
        index,
        out,
        expected,
        dim_size,
    } = prepared;
    let extreme = case.reduce == "min" || case.reduce == "max";
    let (family, copies, pointing) = match case.kind {
        Kind::SegmentCoo => ("coo", false, "index"),
        Kind::SegmentCsr => ("csr", false, "indptr"),
        Kind::GatherCoo => ("gather_coo", true, "index"),
        Kind::GatherCsr => ("gather_csr", true, "indptr"),
    };
    let needs = Needs::runs(case.basis.dtype);
    let index = Strided::new(&index, &index_memory);
    let src = Strided::new(&src, &src_memory);
    for way in ways() {
        let what = || format!("{way:?} {case:?}");
        let mut changed = Strided::new(&out, &out_memory);
        let mut values = vec![("src", src.input()), (pointing, index.input())];
        if case.out {
            values.push(("out", changed.target()));
        }
        if let Some(size) = dim_size {
            values.push(("dim_size", Value::Int(size as i64)));
        }
        let own = random.chance(2);
        let name = match (copies, own) {
            (true, _) => format!("torch_scatter.{family}"),
            (false, true) => format!("torch_scatter.segment_{}_{family}", case.reduce),
            (false, false) => {
                values.push(("reduce", Value::Text(case.reduce.into())));
                format!("torch_scatter.segment_{family}")
            }
        };
        let output = run(call(&name, values).unwrap(), way, needs);
        changed.assert_guards();
        let Some(output) = output else {
            assert_eq!(changed.read(), out);
            continue;
        };
        if case.out {
            assert!(output.tensor.is_none());
            assert_matches(&changed.read(), &expected, copies, &what);
        } else {
            assert_matches(&made(&output), &expected, copies, &what);
        }
        if own && extreme && !copies {
            assert_eq!(Some(positions(&output)), expected.arg, "{}", what());
        } else {
            assert!(output.arg.is_none());
        }
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn has_the_naive_loops_bits(case in case()) {
        check(&case);
    }
}

/// Enough rows for several blocks of runs and pieces of columns, shared out or not.
#[test]
fn long_ones_have_the_naive_loops_bits() {
    use crate::support::{Spread, Style};
    let mut seed = 1;
    for dtype in [DType::F32, DType::F16, DType::I64, DType::Bool] {
        for (shape, dim, groups) in [
            (vec![3000, 3], 0, 700),
            (vec![900], 0, 1500),
            (vec![40, 600], 0, 5),
            (vec![2, 1500, 2], 1, 400),
            (vec![700, 3], 1, 2),
        ] {
            for kind in [
                Kind::SegmentCoo,
                Kind::SegmentCsr,
                Kind::GatherCoo,
                Kind::GatherCsr,
            ] {
                for reduce in ["sum", "mean", "max"] {
                    seed += 1;
                    let gathers = matches!(kind, Kind::GatherCoo | Kind::GatherCsr);
                    if gathers && reduce != "sum" {
                        continue;
                    }
                    let basis = Basis {
                        dtype,
                        style: Style::Tame,
                        spread: Spread::Uniform,
                        seed,
                    };
                    check(&Case {
                        basis,
                        shape: shape.clone(),
                        dim,
                        kind,
                        reduce,
                        groups,
                        out: seed % 2 == 0,
                        long: seed % 3 == 0,
                    });
                }
            }
        }
    }
}
