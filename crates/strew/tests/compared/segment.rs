//! torch_scatter's `segment_coo`, `segment_csr`, `gather_coo` and `gather_csr`.

use super::Basis;
use crate::naive::{Array, Outcome, segment};
use crate::support::ways::{Needs, Way, assert_matches, call, made, positions, run};
use crate::support::{Placement, Random, Strided};
use strew::{DType, Value};

/// The names of the reductions.
pub(crate) const REDUCES: [&str; 5] = ["sum", "add", "mean", "min", "max"];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    SegmentCoo,
    SegmentCsr,
    GatherCoo,
    GatherCsr,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [
        Self::SegmentCoo,
        Self::SegmentCsr,
        Self::GatherCoo,
        Self::GatherCsr,
    ];
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) basis: Basis,
    pub(crate) shape: Vec<usize>,
    /// The axis of the groups: the last of the index.
    pub(crate) dim: usize,
    pub(crate) kind: Kind,
    pub(crate) reduce: &'static str,
    /// Groups, or rows of the result.
    pub(crate) groups: usize,
    pub(crate) out: bool,
    pub(crate) long: bool,
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

/// Panics unless every way to run the case has the bits of the naive loop.
pub(crate) fn check(case: &Case, ways: impl Iterator<Item = Way>) {
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
    for way in ways {
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
