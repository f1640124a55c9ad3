//! PaddlePaddle's operators.

use crate::naive::{self, Array, Outcome};
use crate::support::ways::{Needs, assert_matches, call, made, run, ways, with_threads};
use crate::support::{Placement, Random, Strided};
use crate::{Basis, basis, cases, shape};
use proptest::prelude::*;
use strew::{DType, Value};

#[derive(Clone, Debug)]
struct Case {
    basis: Basis,
    shape: Vec<usize>,
    axis: usize,
    long: bool,
}

prop_compose! {
    fn case()(
        shape in shape(1..5),
        basis in basis(),
        axis in any::<prop::sample::Index>(),
        long in any::<bool>(),
    ) -> Case {
        let axis = axis.index(shape.len());
        Case { basis, shape, axis, long }
    }
}

impl Case {
    fn index_type(&self) -> DType {
        if self.long { DType::I64 } else { DType::I32 }
    }

    /// Indices of a shape along an axis of this size, of which some count from the end.
    fn index(&self, random: &mut Random, shape: &[usize], size: usize) -> Array {
        let values = random.indices(shape.iter().product(), size.max(1), self.basis.spread);
        let values: Vec<i64> = values
            .into_iter()
            .map(|v| if random.chance(3) { v - size as i64 } else { v })
            .collect();
        Array::of_ints(self.index_type(), shape, &values)
    }

    fn array(&self, random: &mut Random, shape: &[usize]) -> Array {
        random.array(self.basis.dtype, shape, self.basis.style)
    }

    /// The axis, or as it counts from the end.
    fn axis(&self) -> Value<'static> {
        let back = if self.long { self.shape.len() } else { 0 };
        Value::Int(self.axis as i64 - back as i64)
    }
}

/// An array somewhere in memory; repeated along some axes it may be constant there.
fn laid(random: &mut Random, array: &mut Array) -> Strided {
    let how = Placement::random_input(random, array);
    Strided::new(array, &how)
}

/// How a call may be run.
enum Goes {
    /// In all ways that a reduction of this name has.
    As(&'static str),
    /// In steps of its own, on any number of threads.
    Stepwise,
}

#[track_caller]
fn compare<'a>(
    case: &Case,
    name: &str,
    goes: &Goes,
    values: impl Fn() -> Vec<(&'static str, Value<'a>)>,
    expected: &Outcome,
    what: &str,
) {
    for way in ways() {
        let call = call(name, values()).unwrap();
        let output = match goes {
            Goes::As(reduce) => run(call, way, Needs::of(reduce, case.basis.dtype)),
            Goes::Stepwise if way.force.is_some() || way.split.is_some() => None,
            Goes::Stepwise => Some(with_threads(way.threads, || call.run()).unwrap()),
        };
        if let Some(output) = output {
            let copies = matches!(goes, Goes::As("assign" | ""));
            let what = || format!("{name} {what} {way:?} {case:?}");
            assert_matches(&made(&output), expected, copies, &what);
        }
    }
}

fn check_scatter(case: &Case) {
    let mut random = case.basis.random();
    let overwrite = case.basis.dtype == DType::Bool || random.chance(2);
    let size = case.shape[0];
    let count = random.below(6);
    let mut x = case.array(&mut random, &case.shape);
    let form = random.below(3);
    let own: &[usize] = match form {
        0 => &[],
        1 => &[count],
        _ => &[count, 1],
    };
    let mut index = case.index(&mut random, own, size);
    let rows = count + random.below(3);
    let shape = match form {
        0 => case.shape[1..].to_vec(),
        _ => [&[rows], &case.shape[1..]].concat(),
    };
    let mut updates = case.array(&mut random, &shape);
    let x_memory = laid(&mut random, &mut x);
    let index_memory = laid(&mut random, &mut index);
    let updates_memory = laid(&mut random, &mut updates);
    let expected = naive::paddle::scatter(&x, &index, &updates, overwrite);
    let values = || {
        vec![
            ("x", x_memory.input()),
            ("index", index_memory.input()),
            ("updates", updates_memory.input()),
            ("overwrite", Value::Bool(overwrite)),
        ]
    };
    let goes = Goes::As(if overwrite { "assign" } else { "add" });
    compare(case, "paddle.scatter", &goes, values, &expected, "");
}

fn check_nd(case: &Case) {
    let mut random = case.basis.random();
    let mut x = case.array(&mut random, &case.shape);
    let entries = random.below(case.shape.len() + 1);
    let empty = case.shape[..entries].contains(&0);
    let mut batch: Vec<usize> = (0..random.below(3)).map(|_| random.below(5)).collect();
    if empty {
        batch.push(0);
    }
    let count: usize = batch.iter().product();
    let mut index = Array::of_ints(
        case.index_type(),
        &[&*batch, &[entries]].concat(),
        &vec![0; count * entries],
    );
    for k in 0..entries {
        let one = case.index(&mut random, &[count], case.shape[k]);
        for i in 0..count {
            index.data[i * entries + k] = one.data[i];
        }
    }
    // The entries of a tuple are of different axes: they are not repeated.
    let how = Placement::random(&mut random, index.shape.len());
    let index_memory = Strided::new(&index, &how);
    let x_memory = laid(&mut random, &mut x);
    let expected = naive::paddle::gather_nd(&x, &index);
    let values = || vec![("x", x_memory.input()), ("index", index_memory.input())];
    compare(
        case,
        "paddle.gather_nd",
        &Goes::As(""),
        values,
        &expected,
        "",
    );
    if case.basis.dtype == DType::Bool {
        return;
    }

    let mut updates = case.array(&mut random, &[&*batch, &case.shape[entries..]].concat());
    let updates_memory = laid(&mut random, &mut updates);
    let expected = naive::paddle::scatter_nd_add(&x, &index, &updates);
    let values = || {
        vec![
            ("x", x_memory.input()),
            ("index", index_memory.input()),
            ("updates", updates_memory.input()),
        ]
    };
    compare(
        case,
        "paddle.scatter_nd_add",
        &Goes::As("add"),
        values,
        &expected,
        "",
    );

    let zero = naive::number::write(x.dtype, naive::Num::zero(x.dtype));
    let zeros = Array::filled(x.dtype, &case.shape, zero);
    let expected = naive::paddle::scatter_nd_add(&zeros, &index, &updates);
    let shape: Vec<i64> = case.shape.iter().map(|&n| n as i64).collect();
    let values = || {
        vec![
            ("index", index_memory.input()),
            ("updates", updates_memory.input()),
            ("shape", Value::Integers(shape.clone().into())),
        ]
    };
    compare(
        case,
        "paddle.scatter_nd",
        &Goes::As("add"),
        values,
        &expected,
        "",
    );
}

fn check_along(case: &Case) {
    let mut random = case.basis.random();
    let (dtype, axis) = (case.basis.dtype, case.axis);
    let mut arr = case.array(&mut random, &case.shape);
    let arr_memory = laid(&mut random, &mut arr);
    let broadcast = random.chance(2);
    let mut shape: Vec<usize> = case.shape.clone();
    for (a, n) in shape.iter_mut().enumerate() {
        *n = match (a == axis, broadcast) {
            (true, _) => random.below(6),
            (false, true) => random.pick(&[1, *n]),
            (false, false) => random.below(*n + 1),
        };
    }
    let larger = shape.iter().zip(&case.shape).any(|(n, own)| n > own);
    if broadcast
        && larger
        && case
            .shape
            .iter()
            .zip(&shape)
            .enumerate()
            .any(|(a, (own, n))| a != axis && n > own)
    {
        return;
    }
    let empty = case.shape[axis] == 0;
    if empty {
        shape[axis] = 0;
    }
    let mut indices = case.index(&mut random, &shape, case.shape[axis]);
    let indices_memory = laid(&mut random, &mut indices);
    let expected = naive::paddle::take_along_axis(&arr, &indices, axis, broadcast);
    let values = || {
        vec![
            ("arr", arr_memory.input()),
            ("indices", indices_memory.input()),
            ("axis", case.axis()),
            ("broadcast", Value::Bool(broadcast)),
        ]
    };
    compare(
        case,
        "paddle.take_along_axis",
        &Goes::As(""),
        values,
        &expected,
        "",
    );

    let mut wanted = shape.clone();
    if broadcast && !larger {
        wanted.clone_from(&case.shape);
        wanted[axis] = shape[axis];
    }
    let values_shape: Vec<usize> = match (random.below(3), broadcast) {
        (0, _) => vec![],
        (_, false) => wanted.iter().map(|n| n + random.below(2)).collect(),
        (_, true) => {
            let from = random.below(wanted.len());
            wanted[from..]
                .iter()
                .map(|&n| random.pick(&[1, n]))
                .collect()
        }
    };
    let mut source = case.array(&mut random, &values_shape);
    let source_memory = laid(&mut random, &mut source);
    let include_self = random.chance(2);
    for reduce in ["assign", "add", "multiply", "mean", "amax", "amin"] {
        let ordered = matches!(reduce, "amax" | "amin");
        if (dtype == DType::Bool && reduce != "assign") || (dtype.is_complex() && ordered) {
            continue;
        }
        let expected = naive::paddle::put_along_axis(
            &arr,
            &indices,
            &source,
            axis,
            reduce,
            include_self,
            broadcast,
        );
        let values = || {
            vec![
                ("arr", arr_memory.input()),
                ("indices", indices_memory.input()),
                ("values", source_memory.input()),
                ("axis", case.axis()),
                ("reduce", Value::Text(reduce.into())),
                ("include_self", Value::Bool(include_self)),
                ("broadcast", Value::Bool(broadcast)),
            ]
        };
        let alone = !include_self && !dtype.is_integer() && reduce != "assign";
        let goes = match reduce {
            "multiply" => Goes::As("mul"),
            _ if alone => Goes::Stepwise,
            other => Goes::As(other),
        };
        let what = format!("{reduce} include_self={include_self} broadcast={broadcast}");
        compare(
            case,
            "paddle.put_along_axis",
            &goes,
            values,
            &expected,
            &what,
        );
    }
}

fn check_slices(case: &Case) {
    let mut random = case.basis.random();
    let size = case.shape[case.axis];
    let count = if size == 0 { 0 } else { random.below(6) };
    let mut x = case.array(&mut random, &case.shape);
    let x_memory = laid(&mut random, &mut x);
    let own: &[usize] = match random.below(3) {
        0 if size > 0 => &[],
        1 => &[count, 1],
        _ => &[count],
    };
    let mut index = case.index(&mut random, own, size);
    let index_memory = laid(&mut random, &mut index);
    let expected = naive::paddle::gather(&x, &index, case.axis);
    let values = || {
        vec![
            ("x", x_memory.input()),
            ("index", index_memory.input()),
            ("axis", case.axis()),
        ]
    };
    compare(case, "paddle.gather", &Goes::As(""), values, &expected, "");

    let mut index = case.index(&mut random, &[count], size);
    let index_memory = laid(&mut random, &mut index);
    let number = random.below(7) as i64;
    let bits = match case.basis.dtype {
        DType::Bool => u128::from(number != 0),
        dtype if dtype.is_integer() => naive::number::write(dtype, naive::Num::Int(number.into())),
        dtype => {
            let one = naive::Num::one(dtype);
            let sum = (0..number).fold(naive::Num::zero(dtype), |sum, _| sum.add(dtype, one));
            naive::number::write(dtype, sum)
        }
    };
    let expected = naive::paddle::index_fill(&x, &index, case.axis, bits);
    let values = || {
        vec![
            ("x", x_memory.input()),
            ("index", index_memory.input()),
            ("axis", case.axis()),
            ("value", Value::Int(number)),
        ]
    };
    compare(
        case,
        "paddle.index_fill",
        &Goes::As("assign"),
        values,
        &expected,
        "",
    );
    if case.basis.dtype == DType::Bool {
        return;
    }

    let mut shape = case.shape.clone();
    shape[case.axis] = count;
    let mut value = case.array(&mut random, &shape);
    let value_memory = laid(&mut random, &mut value);
    let expected = naive::paddle::index_add(&x, &index, case.axis, &value);
    let values = || {
        vec![
            ("x", x_memory.input()),
            ("index", index_memory.input()),
            ("axis", case.axis()),
            ("value", value_memory.input()),
        ]
    };
    compare(
        case,
        "paddle.index_add",
        &Goes::As("add"),
        values,
        &expected,
        "",
    );
}

fn check_segments(case: &Case) {
    let dtype = case.basis.dtype;
    if dtype == DType::Bool {
        return;
    }
    let mut random = case.basis.random();
    let mut data = case.array(&mut random, &case.shape);
    let data_memory = laid(&mut random, &mut data);
    let mut at = random.below(3) as i64;
    let ids: Vec<i64> = (0..case.shape[0])
        .map(|_| {
            at += random.pick(&[0, 0, 0, 1, 1, 3]);
            at
        })
        .collect();
    let mut ids = Array::of_ints(case.index_type(), &[ids.len()], &ids);
    if random.chance(3) {
        ids.shape.push(1);
    }
    let ids_memory = Strided::plain(&ids);
    for (name, how, reduce) in [
        ("paddle.geometric.segment_sum", "add", "sum"),
        ("paddle.geometric.segment_mean", "mean toward zero", "mean"),
        ("paddle.geometric.segment_min", "min", "amin"),
        ("paddle.geometric.segment_max", "max", "amax"),
    ] {
        if dtype.is_complex() && matches!(reduce, "amin" | "amax") {
            continue;
        }
        let expected = naive::paddle::segment(&data, &ids, how);
        let values = || {
            vec![
                ("data", data_memory.input()),
                ("segment_ids", ids_memory.input()),
            ]
        };
        compare(case, name, &Goes::As(reduce), values, &expected, "");
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn rows_have_the_naive_loops_bits(case in case()) {
        check_scatter(&case);
    }

    #[test]
    fn windows_have_the_naive_loops_bits(case in case()) {
        check_nd(&case);
    }

    #[test]
    fn elements_have_the_naive_loops_bits(case in case()) {
        check_along(&case);
    }

    #[test]
    fn slices_have_the_naive_loops_bits(case in case()) {
        check_slices(&case);
    }

    #[test]
    fn segments_have_the_naive_loops_bits(case in case()) {
        check_segments(&case);
    }
}
