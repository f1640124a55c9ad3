//! `torch_scatter.scatter` and its relatives.

use super::Basis;
use crate::naive::{self, Array};
use crate::support::ways::{Needs, Way, assert_matches, call, made, positions, run};
use crate::support::{Placement, Strided};
use strew::{DType, Value};

/// The names of the reductions.
pub(crate) const REDUCES: [&str; 6] = ["sum", "add", "mul", "mean", "min", "max"];

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) basis: Basis,
    pub(crate) shape: Vec<usize>,
    pub(crate) dim: usize,
    pub(crate) reduce: &'static str,
    /// How many of src's axes the index has; 1: it lies along dim.
    pub(crate) index_rank: usize,
    /// Groups along dim.
    pub(crate) groups: usize,
    pub(crate) size: Size,
    pub(crate) long: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Size {
    OfIndex,
    Given,
    Out,
}

impl Size {
    pub(crate) const ALL: [Self; 3] = [Self::OfIndex, Self::Given, Self::Out];
}

/// Panics unless every way to run the case has the bits of the naive loop.
pub(crate) fn check(case: &Case, ways: impl Iterator<Item = Way>) {
    let Case {
        basis,
        dim,
        reduce,
        groups,
        ..
    } = case.clone();
    let dtype = basis.dtype;
    let extreme = reduce == "min" || reduce == "max";
    if (dtype == DType::Bool && reduce == "mean") || (dtype.is_complex() && extreme) {
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
    let values = random.indices(count, groups, basis.spread);
    let index_type = if case.long { DType::I64 } else { DType::I32 };
    let mut index = Array::of_ints(index_type, &index_shape, &values);
    let mut src = random.array(dtype, &case.shape, basis.style);
    let index_memory = Placement::random_input(&mut random, &mut index);
    let src_memory = Placement::random_input(&mut random, &mut src);
    let mut out_shape = case.shape.clone();
    out_shape[dim] = groups;
    if reduce == "sum" || reduce == "add" {
        // Sums may go into the corner of a larger out.
        for n in &mut out_shape {
            *n += random.pick(&[0, 0, 0, 2]);
        }
    }
    let out = random.array(dtype, &out_shape, basis.style);
    let out_memory = Placement::random(&mut random, out_shape.len());
    let given = (case.size == Size::Out).then_some(&out);
    let dim_size = (case.size == Size::Given).then_some(groups);
    let expected = naive::torch_scatter::scatter(&src, &index, dim, given, dim_size, reduce);

    let needs = Needs::of(reduce, dtype);
    let index = Strided::new(&index, &index_memory);
    let src = Strided::new(&src, &src_memory);
    for way in ways {
        let what = || format!("{way:?} {case:?}");
        let mut changed = Strided::new(&out, &out_memory);
        let mut values = vec![
            ("src", src.input()),
            ("index", index.input()),
            (
                "dim",
                Value::Int(
                    dim as i64
                        - if basis.seed.is_multiple_of(2) {
                            0
                        } else {
                            case.shape.len() as i64
                        },
                ),
            ),
        ];
        if let Some(size) = dim_size {
            values.push(("dim_size", Value::Int(size as i64)));
        }
        if given.is_some() {
            values.push(("out", changed.target()));
        }
        // By the general name, or by the reduction's own, which for extremes gives positions too.
        let own = random.chance(2);
        let name = format!(
            "torch_scatter.scatter{}",
            if own {
                format!("_{reduce}")
            } else {
                String::new()
            }
        );
        if !own {
            values.push(("reduce", Value::Text(reduce.into())));
        }
        let output = run(call(&name, values).unwrap(), way, needs);
        changed.assert_guards();
        let Some(output) = output else {
            assert_eq!(changed.read(), out);
            continue;
        };
        if given.is_some() {
            assert!(output.tensor.is_none());
            assert_matches(&changed.read(), &expected, false, &what);
        } else {
            assert_matches(&made(&output), &expected, false, &what);
        }
        if own && extreme {
            assert_eq!(Some(positions(&output)), expected.arg, "{}", what());
        } else {
            assert!(output.arg.is_none());
        }
    }
}
