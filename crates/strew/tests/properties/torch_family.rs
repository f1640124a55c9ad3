//! The rest of PyTorch's scatters: `scatter`, `gather`, the `index_` operators, `put` and slices.

use crate::naive::{self, Array, Outcome, coordinates};
use crate::support::ways::{Needs, assert_matches, call, made, run, ways};
use crate::support::{Placement, Random, Strided};
use crate::{Basis, basis, cases, shape};
use proptest::prelude::*;
use strew::{DType, Value};

/// The operator, and its form in place if it has one, make of an input what was expected, in all ways.
struct Check<'c> {
    name: &'c str,
    input: &'c Array,
    expected: &'c Outcome,
    how: &'c str,
    in_place: bool,
}

impl Check<'_> {
    fn run<'v>(
        &self,
        random: &mut Random,
        rest: impl Fn() -> Vec<(&'static str, Value<'v>)>,
        case: &dyn std::fmt::Debug,
    ) {
        let memory = Placement::random(random, self.input.shape.len());
        let copies = self.how == "assign";
        let needs = Needs::of(self.how, self.input.dtype);
        for way in ways() {
            let what = || format!("{} {way:?} {case:?}", self.name);
            let fixed = Strided::new(self.input, &memory);
            let mut values = vec![("input", fixed.input())];
            values.extend(rest());
            let fresh = call(self.name, values).unwrap();
            if let Some(output) = run(fresh, way, needs) {
                assert_matches(&made(&output), self.expected, copies, &what);
            }
            assert_eq!(&fixed.read(), self.input);
            if !self.in_place {
                continue;
            }
            let mut changed = Strided::new(self.input, &memory);
            let mut values = vec![("input", changed.target())];
            values.extend(rest());
            let in_place = call(&format!("{}_", self.name), values).unwrap();
            let ran = run(in_place, way, needs).is_some();
            changed.assert_guards();
            if ran {
                assert_matches(&changed.read(), self.expected, copies, &what);
            } else {
                assert_eq!(&changed.read(), self.input);
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Case {
    basis: Basis,
    shape: Vec<usize>,
    dim: usize,
    /// How many updates go along `dim`.
    along: usize,
    how: &'static str,
    long: bool,
}

prop_compose! {
    fn case(least: usize)(shape in shape(least..5), basis in basis())(
        dim in 0..shape.len().max(1),
        along in 0usize..20,
        how in prop::sample::select(vec!["assign", "add", "multiply"]),
        long in any::<bool>(),
        shape in Just(shape),
        basis in Just(basis),
    ) -> Case {
        Case { basis, shape, dim, along, how, long }
    }
}

impl Case {
    fn size(&self) -> usize {
        self.shape.get(self.dim).copied().unwrap_or(1)
    }

    fn signed(&self) -> i64 {
        let back = if self.basis.seed.is_multiple_of(2) {
            0
        } else {
            self.shape.len().max(1)
        };
        self.dim as i64 - back as i64
    }

    fn index_type(&self) -> DType {
        if self.long { DType::I64 } else { DType::I32 }
    }

    /// An index of elements, no larger than the input apart from `dim`.
    fn index(&self, random: &mut Random) -> Array {
        let mut shape = self.shape.clone();
        for (axis, n) in shape.iter_mut().enumerate() {
            if axis == self.dim {
                *n = if self.size() == 0 { 0 } else { self.along };
            } else if random.chance(3) {
                *n = random.below(*n + 1);
            }
        }
        let count = shape.iter().product();
        let values = random.indices(count, self.size().max(1), self.basis.spread);
        Array::of_ints(self.index_type(), &shape, &values)
    }

    /// An index of slices; with `wrap`, some count from the end.
    fn vector(&self, random: &mut Random, dtype: DType, wrap: bool) -> Array {
        let size = self.size();
        let count = if size == 0 { 0 } else { self.along };
        let mut values = random.indices(count, size.max(1), self.basis.spread);
        for value in values.iter_mut().filter(|_| wrap) {
            if random.chance(3) {
                *value -= size as i64;
            }
        }
        match count == 1 && random.chance(2) {
            true => Array::of_ints(dtype, &[], &values),
            false => Array::of_ints(dtype, &[count], &values),
        }
    }
}

/// What `Needs` calls a reduction.
fn need(how: &str) -> &str {
    if how == "multiply" { "mul" } else { how }
}

fn elements(case: &Case) {
    let (dtype, mut random) = (case.basis.dtype, case.basis.random());
    let input = random.array(dtype, &case.shape, case.basis.style);
    let mut index = case.index(&mut random);
    let index_memory = Placement::random_input(&mut random, &mut index);
    let mut larger = index.shape.clone();
    for n in &mut larger {
        if random.chance(3) {
            *n += random.below(3);
        }
    }
    let mut src = random.array(dtype, &larger, case.basis.style);
    let src_memory = Placement::random_input(&mut random, &mut src);
    let expected = naive::torch::scatter(&input, case.dim, &index, &src, case.how);
    let (index_at, src_at) = (
        Strided::new(&index, &index_memory),
        Strided::new(&src, &src_memory),
    );
    let check = |name, how| Check {
        name,
        input: &input,
        expected: &expected,
        how: need(how),
        in_place: true,
    };
    let rest = || {
        let mut values = vec![
            ("dim", Value::Int(case.signed())),
            ("index", index_at.input()),
            ("src", src_at.input()),
        ];
        if case.how != "assign" {
            values.push(("reduce", Value::Text(case.how.into())));
        }
        values
    };
    check("torch.scatter", case.how).run(&mut random, rest, case);
    if case.how == "add" {
        let rest = || rest().into_iter().take(3).collect();
        check("torch.scatter_add", case.how).run(&mut random, rest, case);
    }
    if dtype == DType::I64 {
        // One number for all of the index.
        let value = random.array(DType::I64, &[], case.basis.style);
        let expected = naive::torch::scatter(&input, case.dim, &index, &value, case.how);
        let check = Check {
            expected: &expected,
            ..check("torch.scatter", case.how)
        };
        let rest = || {
            let mut values = rest();
            values[2] = ("value", Value::Int(value.data[0] as i64));
            values
        };
        check.run(&mut random, rest, case);
    }
}

fn gathers(case: &Case) {
    let (dtype, mut random) = (case.basis.dtype, case.basis.random());
    let mut input = random.array(dtype, &case.shape, case.basis.style);
    Placement::random_input(&mut random, &mut input);
    let mut index = case.index(&mut random);
    let memory = Placement::random_input(&mut random, &mut index);
    let expected = Outcome::untouched(naive::torch::gather(&input, case.dim, &index));
    let index_at = Strided::new(&index, &memory);
    let check = Check {
        name: "torch.gather",
        input: &input,
        expected: &expected,
        how: "assign",
        in_place: false,
    };
    let rest = || {
        vec![
            ("dim", Value::Int(case.signed())),
            ("index", index_at.input()),
        ]
    };
    check.run(&mut random, rest, case);
}

/// The array repeated to a shape along its axes of size 1.
fn repeated(array: &Array, shape: &[usize]) -> Array {
    let mut wide = Array::filled(array.dtype, shape, 0);
    for (at, c) in coordinates(shape).enumerate() {
        let own = c.iter().zip(&array.shape).map(|(&c, &n)| c.min(n - 1));
        wide.data[at] = array.data[array.flat(&own.collect::<Vec<_>>())];
    }
    wide
}

fn takes(case: &Case) {
    let (dtype, mut random) = (case.basis.dtype, case.basis.random());
    let (mut from, mut to) = (case.shape.clone(), case.shape.clone());
    to[case.dim] = if case.size() == 0 { 0 } else { case.along };
    let (mut from_all, to_all) = (from.clone(), to.clone());
    for axis in (0..from.len()).filter(|&axis| axis != case.dim) {
        match random.below(3) {
            0 => from[axis] = 1,
            1 => to[axis] = 1,
            _ => {}
        }
    }
    from_all[case.dim] = case.size();
    let input = random.array(dtype, &from, case.basis.style);
    let values = random.indices(to.iter().product(), case.size().max(1), case.basis.spread);
    let indices = Array::of_ints(DType::I64, &to, &values);
    let memory = Placement::random(&mut random, to.len());
    let wide = (repeated(&input, &from_all), repeated(&indices, &to_all));
    let expected = Outcome::untouched(naive::torch::gather(&wide.0, case.dim, &wide.1));
    let at = Strided::new(&indices, &memory);
    let check = |expected| Check {
        name: "torch.take_along_dim",
        input: &input,
        expected,
        how: "assign",
        in_place: false,
    };
    let rest = || vec![("indices", at.input()), ("dim", Value::Int(case.signed()))];
    check(&expected).run(&mut random, rest, case);

    // Without an axis: elements row by row.
    if !input.data.is_empty() {
        let values = random.indices(values.len(), input.data.len(), case.basis.spread);
        let indices = Array::of_ints(DType::I64, &to, &values);
        let at = Strided::new(&indices, &memory);
        let mut out = Array::filled(dtype, &[values.len()], 0);
        out.data = values.iter().map(|&v| input.data[v as usize]).collect();
        let rest = || vec![("indices", at.input())];
        check(&Outcome::untouched(out)).run(&mut random, rest, case);
    }
}

fn slices(case: &Case) {
    let (dtype, mut random) = (case.basis.dtype, case.basis.random());
    let input = random.array(dtype, &case.shape, case.basis.style);
    let index = case.vector(&mut random, case.index_type(), false);
    let mut shape = case.shape.clone();
    if let Some(n) = shape.get_mut(case.dim) {
        *n = index.data.len();
    } else if index.data.len() != 1 {
        return;
    }
    let mut source = random.array(dtype, &shape, case.basis.style);
    let memory = Placement::random_input(&mut random, &mut source);
    let source_at = Strided::new(&source, &memory);
    let index_at = Strided::plain(&index);
    let check = |name, expected, how| Check {
        name,
        input: &input,
        expected,
        how,
        in_place: true,
    };
    let rest = || {
        vec![
            ("dim", Value::Int(case.signed())),
            ("index", index_at.input()),
            ("source", source_at.input()),
        ]
    };
    let wide = naive::torch::expanded(&one(&case.shape), case.dim, &index);
    match case.how {
        "add" => {
            let expected = naive::torch::scatter(&input, case.dim, &wide, &source, "add");
            check("torch.index_add", &expected, "add").run(&mut random, rest, case);
        }
        "assign" if case.long => {
            let expected = naive::torch::scatter(&input, case.dim, &wide, &source, "assign");
            check("torch.index_copy", &expected, "assign").run(&mut random, rest, case);
            // One number for all of the slices, some of which are counted from the end.
            let index = case.vector(&mut random, DType::I64, true);
            let index_at = Strided::plain(&index);
            let value = random.array(DType::I64, &[], case.basis.style);
            if dtype == DType::I64 {
                let expected = naive::torch::index_join(&input, case.dim, &index, &value, "assign");
                let rest = || {
                    vec![
                        ("dim", Value::Int(case.signed())),
                        ("index", index_at.input()),
                        ("value", Value::Int(value.data[0] as i64)),
                    ]
                };
                check("torch.index_fill", &expected, "assign").run(&mut random, rest, case);
            }
        }
        _ => {
            let reduce = random.pick(&["prod", "mean", "amax", "amin"]);
            let include_self = random.chance(2);
            if !crate::compared::torch::defined(dtype, reduce) {
                return;
            }
            let expected = naive::torch::scatter_reduce(
                &input,
                case.dim,
                &wide,
                &source,
                reduce,
                include_self,
            );
            let rest = || {
                let mut values = rest();
                values.push(("reduce", Value::Text(reduce.into())));
                values.push(("include_self", Value::Bool(include_self)));
                values
            };
            check("torch.index_reduce", &expected, reduce).run(&mut random, rest, case);
        }
    }
}

fn one(shape: &[usize]) -> Vec<usize> {
    if shape.is_empty() {
        vec![1]
    } else {
        shape.to_vec()
    }
}

fn positions(case: &Case) {
    let (dtype, mut random) = (case.basis.dtype, case.basis.random());
    let input = random.array(dtype, &case.shape, case.basis.style);
    let size = input.data.len();
    let shape: Vec<usize> = match (size, random.below(3)) {
        (0, _) => vec![0],
        (_, 0) => vec![case.along],
        (_, 1) => vec![case.along, 2],
        _ => vec![],
    };
    let count: usize = shape.iter().product();
    let mut values = random.indices(count, size.max(1), case.basis.spread);
    for value in &mut values {
        if random.chance(3) {
            *value -= size as i64;
        }
    }
    let index = Array::of_ints(DType::I64, &shape, &values);
    let memory = Placement::random(&mut random, shape.len());
    let index_at = Strided::new(&index, &memory);
    let flat = if random.chance(2) { vec![count] } else { shape };
    let source = random.array(dtype, &flat, case.basis.style);
    let memory = Placement::random(&mut random, flat.len());
    let source_at = Strided::new(&source, &memory);
    let accumulate = case.how == "add";
    let how = if accumulate { "add" } else { "assign" };
    let expected = naive::torch::put(&input, &values, &source.data, how);
    let check = Check {
        name: "torch.put",
        input: &input,
        expected: &expected,
        how,
        in_place: true,
    };
    let rest = || {
        vec![
            ("index", index_at.input()),
            ("source", source_at.input()),
            ("accumulate", Value::Bool(accumulate)),
        ]
    };
    check.run(&mut random, rest, case);
}

fn masks(case: &Case) {
    let (dtype, mut random) = (case.basis.dtype, case.basis.random());
    let input = random.array(dtype, &case.shape, case.basis.style);
    let mask = random.array(DType::Bool, &case.shape, case.basis.style);
    let found: Vec<i64> = (0i64..)
        .zip(&mask.data)
        .filter(|(_, b)| **b != 0)
        .map(|(at, _)| at)
        .collect();
    let shape = [found.len().div_ceil(2) + random.below(3), 2];
    let source = random.array(dtype, &shape, case.basis.style);
    let expected = naive::torch::put(&input, &found, &source.data[..found.len()], "assign");
    let placements = [case.shape.len(), 2].map(|rank| Placement::random(&mut random, rank));
    let (mask_at, source_at) = (
        Strided::new(&mask, &placements[0]),
        Strided::new(&source, &placements[1]),
    );
    let check = Check {
        name: "torch.masked_scatter",
        input: &input,
        expected: &expected,
        how: "assign",
        in_place: true,
    };
    let rest = || vec![("mask", mask_at.input()), ("source", source_at.input())];
    check.run(&mut random, rest, case);
}

fn tuples(case: &Case) {
    let (dtype, mut random) = (case.basis.dtype, case.basis.random());
    let rank = case.shape.len();
    let input = random.array(dtype, &case.shape, case.basis.style);
    // Which axes are named, by a tensor each or by a mask for the first two.
    let masked = rank >= 2 && random.chance(3);
    let mut named: Vec<usize> = (0..rank).filter(|_| random.chance(2)).collect();
    if masked {
        named = vec![0, 1];
    }
    if named.iter().any(|&axis| case.shape[axis] == 0) {
        return;
    }
    let accumulate = case.how == "add";
    let how = if accumulate { "add" } else { "assign" };
    let mut list: Vec<Option<Strided>> = Vec::new();
    let (mut tuples, mut batch) = (Vec::new(), vec![case.along % 5, 2]);
    if masked {
        let shape = [case.shape[0], case.shape[1]];
        let mask = random.array(DType::Bool, &shape, case.basis.style);
        for (at, c) in coordinates(&shape).enumerate() {
            if mask.data[at] != 0 {
                tuples.push(c.iter().map(|&c| c as i64).collect());
            }
        }
        batch = vec![tuples.len()];
        let memory = Placement::random(&mut random, 2);
        list.push(Some(Strided::new(&mask, &memory)));
    } else {
        let count = batch.iter().product();
        tuples = vec![Vec::new(); count];
        for axis in 0..rank {
            if !named.contains(&axis) {
                list.push(None);
                continue;
            }
            let size = case.shape[axis];
            // Some are broadcast: one column, for both.
            let own = if random.chance(2) {
                vec![batch[0], 1]
            } else {
                batch.clone()
            };
            let mut values = random.indices(own.iter().product(), size, case.basis.spread);
            for value in &mut values {
                if random.chance(3) {
                    *value -= size as i64;
                }
            }
            for (n, tuple) in tuples.iter_mut().enumerate() {
                tuple.push(if own[1] == 1 {
                    values[n / 2]
                } else {
                    values[n]
                });
            }
            let index = Array::of_ints(case.index_type(), &own, &values);
            let memory = Placement::random(&mut random, 2);
            list.push(Some(Strided::new(&index, &memory)));
        }
        if named.is_empty() {
            (tuples, batch) = (vec![Vec::new()], vec![]);
        } else if list
            .iter()
            .flatten()
            .all(|index| index.read().shape[1] == 1)
        {
            // Nothing makes it two columns.
            (batch[1], tuples) = (1, tuples.into_iter().step_by(2).collect());
        }
    }
    // The values as PyTorch lays them out, and in the order of the loop.
    let rest: Vec<usize> = (0..rank).filter(|a| !named.contains(a)).collect();
    let neighbours = named.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let place = if neighbours {
        named.first().copied().unwrap_or(0)
    } else {
        0
    };
    let mut layout: Vec<usize> = rest.iter().map(|&a| case.shape[a]).collect();
    layout.splice(place..place, batch.iter().copied());
    let values = random.array(dtype, &layout, case.basis.style);
    let window: Vec<usize> = rest.iter().map(|&a| case.shape[a]).collect();
    let mut ordered = Vec::new();
    for b in coordinates(&batch) {
        for w in coordinates(&window) {
            let mut c = w.clone();
            c.splice(place..place, b.iter().copied());
            ordered.push(values.data[values.flat(&c)]);
        }
    }
    let expected = naive::torch::index_put(&input, &named, &tuples, &ordered, how);
    let memory = Placement::random(&mut random, layout.len());
    let values_at = Strided::new(&values, &memory);
    let check = Check {
        name: "torch.index_put",
        input: &input,
        expected: &expected,
        how,
        in_place: true,
    };
    let list = &list;
    let rest = || {
        let indices = list
            .iter()
            .map(|index| index.as_ref().map(Strided::view))
            .collect();
        vec![
            ("indices", Value::Tensors(indices)),
            ("values", values_at.input()),
            ("accumulate", Value::Bool(accumulate)),
        ]
    };
    check.run(&mut random, rest, case);
}

fn cuts(case: &Case) {
    let (dtype, mut random) = (case.basis.dtype, case.basis.random());
    let input = random.array(dtype, &case.shape, case.basis.style);
    let size = case.size() as i64;
    let bound = |random: &mut Random| match random.below(6) {
        0 => None,
        1 => Some(random.pick(&[i64::MIN, i64::MAX])),
        _ => Some(random.below(2 * size as usize + 5) as i64 - size - 2),
    };
    let (start, end, step) = (
        bound(&mut random),
        bound(&mut random),
        1 + random.below(4) as i64,
    );
    let at = |bound: i64| {
        (if bound < 0 {
            bound.saturating_add(size)
        } else {
            bound
        })
        .clamp(0, size)
    };
    let first = at(start.unwrap_or(0));
    let picked: Vec<i64> = (first..at(end.unwrap_or(i64::MAX)))
        .step_by(step as usize)
        .collect();
    let index = Array::of_ints(DType::I64, &[picked.len()], &picked);
    let mut shape = case.shape.clone();
    shape[case.dim] = picked.len();
    let mut src = random.array(dtype, &shape, case.basis.style);
    let memory = Placement::random_input(&mut random, &mut src);
    let wide = naive::torch::expanded(&case.shape, case.dim, &index);
    let expected = naive::torch::scatter(&input, case.dim, &wide, &src, "assign");
    let src_at = Strided::new(&src, &memory);
    let check = |name, expected| Check {
        name,
        input: &input,
        expected,
        how: "assign",
        in_place: false,
    };
    let rest = || {
        let mut values = vec![
            ("src", src_at.input()),
            ("dim", Value::Int(case.signed())),
            ("step", Value::Int(step)),
        ];
        values.extend(start.map(|at| ("start", Value::Int(at))));
        values.extend(end.map(|at| ("end", Value::Int(at))));
        values
    };
    check("torch.slice_scatter", &expected).run(&mut random, rest, case);

    if size > 0 {
        let at = random.below(size as usize) as i64;
        let index = Array::of_ints(DType::I64, &[1], &[at]);
        shape.remove(case.dim);
        let src = random.array(dtype, &shape, case.basis.style);
        let wide = naive::torch::expanded(&case.shape, case.dim, &index);
        let mut slice = src.clone();
        slice.shape.insert(case.dim, 1);
        let expected = naive::torch::scatter(&input, case.dim, &wide, &slice, "assign");
        let memory = Placement::random(&mut random, shape.len());
        let src_at = Strided::new(&src, &memory);
        let signed = if random.chance(2) { at } else { at - size };
        let rest = || {
            vec![
                ("src", src_at.input()),
                ("dim", Value::Int(case.signed())),
                ("index", Value::Int(signed)),
            ]
        };
        check("torch.select_scatter", &expected).run(&mut random, rest, case);
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn scatter_has_the_naive_loops_bits(case in case(0)) {
        elements(&case);
    }

    #[test]
    fn gather_has_the_naive_loops_bits(case in case(0)) {
        gathers(&case);
    }

    #[test]
    fn take_along_dim_has_the_naive_loops_bits(case in case(1)) {
        takes(&case);
    }

    #[test]
    fn index_operators_have_the_naive_loops_bits(case in case(0)) {
        slices(&case);
    }

    #[test]
    fn put_has_the_naive_loops_bits(case in case(0)) {
        positions(&case);
    }

    #[test]
    fn masked_scatter_has_the_naive_loops_bits(case in case(0)) {
        masks(&case);
    }

    #[test]
    fn index_put_has_the_naive_loops_bits(case in case(1)) {
        tuples(&case);
    }

    #[test]
    fn slices_have_the_naive_loops_bits(case in case(1)) {
        cuts(&case);
    }
}
