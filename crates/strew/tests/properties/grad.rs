//! Derivatives: those of every operator have the bits of the rules' own loops, on any number of threads.

use crate::naive::grad::{Forward, Own, Road, Rule, torch_road};
use crate::naive::number::same;
use crate::naive::{self, Array, Num, coordinates};
use crate::support::derivatives::{arguments, gradient};
use crate::support::memory::array_of;
use crate::support::ways::with_threads;
use crate::support::{Placement, Random, Spread, Strided, Style};
use crate::{Basis, cases, shape};
use proptest::prelude::*;
use strew::{DType, DynTensor, Value, grad};

const FIELDS: [DType; 6] = [
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
];

pub(crate) const THREADS: [usize; 4] = [1, 2, 3, 8];

prop_compose! {
    fn basis()(
        dtype in prop::sample::select(FIELDS.to_vec()),
        style in prop::sample::select(Style::ALL.to_vec()),
        spread in prop::sample::select(Spread::ALL.to_vec()),
        seed in any::<u64>(),
    ) -> Basis {
        Basis { dtype, style, spread, seed }
    }
}

/// An element, of few values half of the time: then there are ties and zeros.
pub(crate) fn values(random: &mut Random, dtype: DType, shape: &[usize], style: Style) -> Array {
    let mut array = random.array(dtype, shape, style);
    if random.chance(2) {
        let few = [0.0, 0.0, -0.0, 1.0, 2.0, -3.0, 0.5, 7.0];
        for bits in &mut array.data {
            if !random.chance(8) {
                let (re, im) = (random.pick(&few), random.pick(&few));
                let num = match dtype {
                    DType::F64 => Num::F64(re),
                    DType::C64 => Num::C32([re as f32, im as f32]),
                    DType::C128 => Num::C64([re, im]),
                    _ => Num::F32(re as f32),
                };
                *bits = naive::number::write(dtype, num);
            }
        }
    }
    array
}

#[track_caller]
pub(crate) fn assert_same(found: &DynTensor, wanted: &Array, what: &dyn Fn() -> String) {
    let found = array_of(found);
    assert_eq!(found.dtype, wanted.dtype, "{}", what());
    assert_eq!(found.shape, wanted.shape, "{}", what());
    for (at, (&found, &wanted_bits)) in found.data.iter().zip(&wanted.data).enumerate() {
        assert!(
            same(wanted.dtype, found, wanted_bits),
            "element {at} is {found:#x}, not {wanted_bits:#x}: {}",
            what()
        );
    }
}

pub(crate) fn rule(reduce: &str) -> Rule {
    match reduce {
        "sum" | "add" => Rule::Sum,
        "mean" => Rule::Mean,
        "prod" | "mul" => Rule::Prod,
        "amax" | "amin" => Rule::Ties,
        "min" => Rule::Min,
        "max" => Rule::Max,
        "assign" => Rule::Assign,
        other => panic!("{other}"),
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) basis: Basis,
    pub(crate) shape: Vec<usize>,
    pub(crate) dim: usize,
    pub(crate) along: usize,
    pub(crate) reduce: &'static str,
    pub(crate) include_self: bool,
}

prop_compose! {
    pub(crate) fn case(reduces: &'static [&'static str], ranks: std::ops::Range<usize>)
        (shape in shape(ranks), basis in basis())(
        dim in 0..shape.len().max(1),
        along in 0usize..20,
        reduce in prop::sample::select(reduces.to_vec()),
        include_self in any::<bool>(),
        shape in Just(shape),
        basis in Just(basis),
    ) -> Case {
        Case { basis, shape, dim, along, reduce, include_self }
    }
}

pub(crate) fn defined(case: &Case) -> bool {
    let extreme = matches!(case.reduce, "amax" | "amin" | "max" | "min");
    !(extreme && case.basis.dtype.is_complex())
}

/// An array somewhere in memory.
pub(crate) fn placed(random: &mut Random, array: &mut Array) -> Strided {
    let how = Placement::random_input(random, array);
    Strided::new(array, &how)
}

fn check_torch(case: &Case) {
    let Case {
        basis,
        dim,
        reduce,
        include_self,
        ..
    } = case.clone();
    let (dtype, style) = (basis.dtype, basis.style);
    let mut random = basis.random();
    let mut input = values(&mut random, dtype, &case.shape, style);
    let size = case.shape.get(dim).copied().unwrap_or(1);
    let mut index_shape = case.shape.clone();
    for (axis, n) in index_shape.iter_mut().enumerate() {
        if axis == dim {
            *n = if size == 0 { 0 } else { case.along };
        } else if random.chance(3) {
            *n = random.below(*n + 1);
        }
    }
    let mut src_shape = index_shape.clone();
    for n in &mut src_shape {
        if random.chance(3) {
            *n += random.below(3);
        }
    }
    let count = index_shape.iter().product();
    let numbers = random.indices(count, size.max(1), basis.spread);
    let mut index = Array::of_ints(DType::I64, &index_shape, &numbers);
    let mut src = values(&mut random, dtype, &src_shape, style);
    let mut grad = values(&mut random, dtype, &case.shape, style);
    let mut to_input = values(&mut random, dtype, &case.shape, style);
    let mut to_src = values(&mut random, dtype, &src_shape, style);
    let at_index = placed(&mut random, &mut index);
    let at_src = placed(&mut random, &mut src);
    let at_input = placed(&mut random, &mut input);
    let at_grad = placed(&mut random, &mut grad);
    let at_to_input = placed(&mut random, &mut to_input);
    let at_to_src = placed(&mut random, &mut to_src);
    let signed = match basis.seed.is_multiple_of(2) {
        true => dim as i64,
        false => dim as i64 - case.shape.len().max(1) as i64,
    };
    let (input_view, index_view, src_view) = (at_input.view(), at_index.view(), at_src.view());
    let result = strew::torch::scatter_reduce_dyn(
        input_view.clone(),
        signed,
        index_view.clone(),
        src_view.clone(),
        reduce,
        include_self,
    );
    let result = result.unwrap();
    let made = array_of(&result);
    let forward = Forward {
        road: torch_road(&input, dim, &index, &src),
        rule: rule(reduce),
        own: match include_self {
            true => Own::Counted(&input),
            false => Own::Replaced(&input),
        },
        src: &src,
        result: &made,
    };
    let wanted = forward.vjp(&grad);
    let wanted_tangent = forward.jvp(Some(&to_input), &to_src);
    let wanted_double =
        (reduce == "prod").then(|| forward.double_vjp(&grad, Some(&to_input), &to_src));
    for threads in THREADS {
        let what = || format!("{threads} threads, {case:?}");
        with_threads(threads, || {
            let found = grad::torch::scatter_reduce_vjp_dyn(
                &at_grad.view(),
                &input_view,
                signed,
                &index_view,
                &src_view,
                &result.view(),
                reduce,
                include_self,
            );
            let (own, src) = found.unwrap();
            assert_same(&own, &wanted.0, &what);
            assert_same(&src, &wanted.1, &what);
            let found = grad::torch::scatter_reduce_jvp_dyn(
                &at_to_input.view(),
                &at_to_src.view(),
                &input_view,
                signed,
                &index_view,
                &src_view,
                &result.view(),
                reduce,
                include_self,
            );
            assert_same(&found.unwrap(), &wanted_tangent, &what);
            if let Some(wanted) = &wanted_double {
                let found = grad::torch::scatter_reduce_prod_double_vjp_dyn(
                    &at_grad.view(),
                    &input_view,
                    signed,
                    &index_view,
                    &src_view,
                    include_self,
                    &at_to_input.view(),
                    &at_to_src.view(),
                );
                let (to_grad, own, src) = found.unwrap();
                assert_same(&to_grad, &wanted.0, &what);
                assert_same(&own, &wanted.1, &what);
                assert_same(&src, &wanted.2, &what);
            }
        });
    }
    for memory in [
        &at_grad,
        &at_input,
        &at_src,
        &at_index,
        &at_to_input,
        &at_to_src,
    ] {
        memory.assert_guards();
    }
}

fn check_torch_scatter(case: &Case) {
    let Case {
        basis, dim, reduce, ..
    } = case.clone();
    let (dtype, style) = (basis.dtype, basis.style);
    let mut random = basis.random();
    let groups = case.along.max(1);
    let mut index_shape = match random.below(case.shape.len() + 1) {
        1 => vec![case.shape[dim]],
        rank => case.shape[..rank].to_vec(),
    };
    for n in &mut index_shape {
        if random.chance(6) {
            *n = 1;
        }
    }
    let count = index_shape.iter().product();
    let numbers = random.indices(count, groups, basis.spread);
    let mut index = Array::of_ints(DType::I32, &index_shape, &numbers);
    let mut src = values(&mut random, dtype, &case.shape, style);
    let mut to_src = values(&mut random, dtype, &case.shape, style);
    let at_index = placed(&mut random, &mut index);
    let at_src = placed(&mut random, &mut src);
    let at_to_src = placed(&mut random, &mut to_src);
    let signed = dim as i64 - case.shape.len() as i64;
    let with_arg = matches!(reduce, "min" | "max");
    let output = strew::torch_scatter::scatter_dyn(
        at_src.view(),
        at_index.view(),
        signed,
        None,
        Some(groups as i64),
        reduce,
        with_arg,
    );
    let output = output.unwrap();
    let result = array_of(&output.tensor.unwrap());
    let mut grad = values(&mut random, dtype, &result.shape, style);
    let at_grad = placed(&mut random, &mut grad);
    let expanded = naive::torch_scatter::expand(&index, &src, dim);
    let forward = Forward {
        road: torch_road(&result, dim, &expanded, &src),
        rule: rule(reduce),
        own: Own::Nothing,
        src: &src,
        result: &result,
    };
    let wanted = forward.vjp(&grad).1;
    let wanted_tangent = forward.jvp(None, &to_src);
    let double = (reduce == "mul").then(|| forward.double_vjp(&grad, None, &to_src));
    for threads in THREADS {
        let what = || format!("{threads} threads, {case:?}");
        with_threads(threads, || {
            let (src, index) = (at_src.view(), at_index.view());
            let (grad, tangent) = (at_grad.view(), at_to_src.view());
            let found = grad::torch_scatter::scatter_vjp_dyn(&grad, &src, &index, signed, reduce);
            assert_same(&found.unwrap(), &wanted, &what);
            let size = Some(groups as i64);
            let found =
                grad::torch_scatter::scatter_jvp_dyn(&tangent, &src, &index, signed, size, reduce);
            assert_same(&found.unwrap(), &wanted_tangent, &what);
            if let Some(arg) = &output.arg {
                let arg = arg.view();
                let along = case.shape[dim];
                let found = grad::torch_scatter::scatter_arg_vjp_dyn(&grad, &arg, signed, along);
                assert_same(&found.unwrap(), &wanted, &what);
                let found = grad::torch_scatter::scatter_arg_jvp_dyn(&tangent, &arg, signed);
                assert_same(&found.unwrap(), &wanted_tangent, &what);
            }
            if let Some((to_grad, _, to_src)) = &double {
                let found = grad::torch_scatter::scatter_mul_double_vjp_dyn(
                    &grad, &src, &index, signed, &tangent,
                );
                let found = found.unwrap();
                assert_same(&found.0, to_grad, &what);
                assert_same(&found.1, to_src, &what);
            }
        });
    }
}

fn check_mindspore(case: &Case) {
    let Case { basis, .. } = case.clone();
    let (dtype, style) = (basis.dtype, basis.style);
    if dtype.is_complex() {
        return;
    }
    let mut random = basis.random();
    let updates_type = match (random.chance(3), dtype) {
        (true, DType::F32) => random.pick(&[DType::F16, DType::BF16]),
        (true, DType::F64) => random.pick(&[DType::F16, DType::BF16, DType::F32]),
        (_, same) => same,
    };
    let rows = case.shape[0];
    let mut batch: Vec<usize> = (0..random.below(3)).map(|_| random.below(5)).collect();
    if rows == 0 {
        batch.push(0);
    }
    let count = batch.iter().product();
    let numbers = random.indices(count, rows.max(1), basis.spread);
    let mut indices = Array::of_ints(DType::I64, &batch, &numbers);
    let updates_shape = [&batch, &case.shape[1..]].concat();
    let mut input = values(&mut random, dtype, &case.shape, style);
    let mut grad = values(&mut random, dtype, &case.shape, style);
    let mut to_input = values(&mut random, dtype, &case.shape, style);
    let mut updates = values(&mut random, updates_type, &updates_shape, style);
    let mut to_updates = values(&mut random, updates_type, &updates_shape, style);
    let at_indices = placed(&mut random, &mut indices);
    let at_input = placed(&mut random, &mut input);
    let at_grad = placed(&mut random, &mut grad);
    let at_to_input = placed(&mut random, &mut to_input);
    let at_updates = placed(&mut random, &mut updates);
    let at_to_updates = placed(&mut random, &mut to_updates);
    let mut road = Road {
        to: Vec::new(),
        position: Vec::new(),
    };
    for c in coordinates(&updates.shape) {
        let row = indices.int(indices.flat(&c[..batch.len()])) as usize;
        road.to
            .push(Some(input.flat(&[&[row], &c[batch.len()..]].concat())));
        road.position.push(0);
    }
    let result = naive::mindspore::scatter_mul(&input, &indices, &updates).array;
    let forward = Forward {
        road,
        rule: Rule::Prod,
        own: Own::Counted(&input),
        src: &updates,
        result: &result,
    };
    let wanted = forward.vjp(&grad);
    let tangent = forward.jvp(Some(&to_input), &to_updates);
    let double = forward.double_vjp(&grad, Some(&to_input), &to_updates);
    for threads in THREADS {
        let what = || format!("{threads} threads, updates {updates_type}, {case:?}");
        with_threads(threads, || {
            let g = at_grad.view();
            let tangents = [
                ("input_x", at_to_input.view()),
                ("updates", at_to_updates.view()),
            ];
            let mut cells = at_input.view().to_tensor().unwrap();
            let mut call = |run: &mut dyn FnMut(strew::Arguments<'_>)| {
                let values = [
                    ("input_x", Value::Target(cells.view_mut())),
                    ("indices", Value::Tensor(at_indices.view())),
                    ("updates", Value::Tensor(at_updates.view())),
                ];
                run(arguments("mindspore.scatter_mul", values).unwrap());
            };
            call(&mut |given| {
                let found = grad::vjp(given, &g).unwrap();
                assert_same(&found[0].1, &wanted.0, &what);
                assert_same(&found[1].1, &wanted.1, &what);
            });
            call(&mut |given| assert_same(&grad::jvp(given, &tangents).unwrap(), &tangent, &what));
            call(&mut |given| {
                let (to_grad, rest) = grad::double_vjp(given, &g, &tangents).unwrap();
                assert_same(&to_grad, &double.0, &what);
                assert_same(&rest[0].1, &double.1, &what);
                assert_same(&rest[1].1, &double.2, &what);
            });
        });
    }
}

fn check_mxnet(case: &Case) {
    let Case { basis, .. } = case.clone();
    let (dtype, style) = (basis.dtype, basis.style);
    let mut random = basis.random();
    let depth = 1 + random.below(case.shape.len());
    let some = case.shape[..depth].iter().all(|&n| n > 0);
    let batch: Vec<usize> = (0..1 + random.below(2))
        .map(|_| if some { random.below(6) } else { 0 })
        .collect();
    let count: usize = batch.iter().product();
    let mut all = Vec::new();
    for &n in &case.shape[..depth] {
        all.extend(random.indices(count, n.max(1), basis.spread));
    }
    let indices_shape = [&[depth], &batch[..]].concat();
    let indices = Array::of_ints(DType::I32, &indices_shape, &all);
    let mut grad = values(&mut random, dtype, &case.shape, style);
    let at_grad = placed(&mut random, &mut grad);
    // Not repeated: what names a cell on one axis need not on another.
    let how = Placement::random(&mut random, indices.shape.len());
    let at_indices = Strided::new(&indices, &how);
    let data_shape = [&batch, &case.shape[depth..]].concat();
    let mut data = values(&mut random, dtype, &data_shape, style);
    let at_data = placed(&mut random, &mut data);
    let mut road = Road {
        to: Vec::new(),
        position: Vec::new(),
    };
    for c in coordinates(&data_shape) {
        let at = |m: usize| indices.int(indices.flat(&[&[m], &c[..batch.len()]].concat()));
        let mut cell: Vec<usize> = (0..depth).map(|m| at(m) as usize).collect();
        cell.extend(&c[batch.len()..]);
        road.to.push(Some(grad.flat(&cell)));
        road.position.push(0);
    }
    let forward = Forward {
        road,
        rule: Rule::Assign,
        own: Own::Nothing,
        src: &data,
        result: &grad,
    };
    let wanted = forward.vjp(&grad).1;
    for threads in THREADS {
        let what = || format!("{threads} threads, depth {depth}, {batch:?}, {case:?}");
        with_threads(threads, || {
            let sizes: Vec<i64> = case.shape.iter().map(|&n| n as i64).collect();
            let values = [
                ("data", Value::Tensor(at_data.view())),
                ("indices", Value::Tensor(at_indices.view())),
                ("shape", Value::Integers(sizes.into())),
            ];
            let given = arguments("mxnet.scatter_nd", values).unwrap();
            let found = grad::vjp(given, &at_grad.view()).unwrap();
            assert_same(&gradient(found, "data"), &wanted, &what);
        });
    }
}

fn check_openvino(case: &Case) {
    let mut random = case.basis.random();
    let rank = case.shape.len();
    let count = random.below(rank + 1);
    let axes: Vec<i64> = random.shuffled(rank)[..count]
        .iter()
        .map(|&a| a as i64 - if random.chance(2) { rank as i64 } else { 0 })
        .collect();
    let bound =
        |random: &mut Random| random.pick(&[-9, -3, -2, -1, 0, 1, 2, 5, i64::MIN, i64::MAX]);
    let (mut start, mut stop, mut step) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        start.push(bound(&mut random));
        stop.push(bound(&mut random));
        step.push(random.pick(&[1, 1, 2, 3, -1, -2, i64::MIN]));
    }
    let mut picked: Vec<Vec<usize>> = case.shape.iter().map(|&n| (0..n).collect()).collect();
    for k in 0..count {
        let axis = axes[k].rem_euclid(rank as i64) as usize;
        picked[axis] = naive::openvino::selected(case.shape[axis], start[k], stop[k], step[k]);
    }
    let mut grad = values(&mut random, case.basis.dtype, &case.shape, case.basis.style);
    let at_grad = placed(&mut random, &mut grad);
    let part: Vec<usize> = picked.iter().map(Vec::len).collect();
    let (mut to_data, mut to_updates) = (grad.clone(), Array::filled(grad.dtype, &part, 0));
    for (at, c) in coordinates(&part).enumerate() {
        let cell: Vec<usize> = c.iter().zip(&picked).map(|(&c, p)| p[c]).collect();
        let cell = grad.flat(&cell);
        to_updates.data[at] = grad.data[cell];
        to_data.data[cell] = 0;
    }
    let mut updates = values(&mut random, grad.dtype, &part, case.basis.style);
    let at_updates = placed(&mut random, &mut updates);
    let what = || format!("{start:?} {stop:?} {step:?} {axes:?} {case:?}");
    for threads in THREADS {
        with_threads(threads, || {
            let given = [
                ("data", Value::Tensor(at_grad.view())),
                ("updates", Value::Tensor(at_updates.view())),
                ("start", Value::Integers(start[..].into())),
                ("stop", Value::Integers(stop[..].into())),
                ("step", Value::Integers(step[..].into())),
                ("axes", Value::Integers(axes[..].into())),
            ];
            let given = arguments("openvino.slice_scatter", given).unwrap();
            let found = grad::vjp(given, &at_grad.view()).unwrap();
            assert_same(&found[0].1, &to_data, &what);
            assert_same(&found[1].1, &to_updates, &what);
        });
    }
}

proptest! {
    #![proptest_config(cases(1200))]

    #[test]
    fn torch(case in case(&["sum", "prod", "mean", "amax", "amin"], 0..6)) {
        if defined(&case) {
            check_torch(&case);
        }
    }

    #[test]
    fn torch_scatter(case in case(&["sum", "mul", "mean", "min", "max"], 1..6)) {
        if defined(&case) {
            check_torch_scatter(&case);
        }
    }

    #[test]
    fn mindspore(case in case(&["prod"], 1..5)) {
        check_mindspore(&case);
    }

    #[test]
    fn mxnet(case in case(&["assign"], 1..5)) {
        check_mxnet(&case);
    }

    #[test]
    fn openvino(case in case(&["assign"], 1..6)) {
        check_openvino(&case);
    }
}

/// Past every threshold from which runs are shared out.
#[test]
fn large_runs_have_the_bits_too() {
    for (shape, dim, along) in [
        (vec![50_000usize], 0, 300_000usize),
        (vec![2_000, 48], 0, 9_000),
        (vec![60, 900, 3], 1, 2_000),
    ] {
        for (seed, reduce) in ["sum", "prod", "mean", "amax", "amin"]
            .into_iter()
            .enumerate()
        {
            let case = Case {
                basis: Basis {
                    dtype: [DType::F32, DType::F16, DType::F64][seed % 3],
                    style: Style::Tame,
                    spread: Spread::Uniform,
                    seed: seed as u64,
                },
                shape: shape.clone(),
                dim,
                along,
                reduce,
                include_self: seed % 2 == 0,
            };
            check_torch(&case);
        }
    }
}
