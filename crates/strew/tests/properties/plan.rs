//! `Plan`: both ways, on any number of threads, have the bits of the loop without a plan.

use crate::naive::number::extremes;
use crate::naive::{self, Array, Outcome, coordinates};
use crate::support::memory::array_of;
use crate::support::ways::assert_matches;
use crate::support::{INTEGERS, Placement, Random, Spread, Strided, Style};
use crate::{Basis, basis, cases, shape};
use proptest::prelude::*;
use strew::{Bounds, DType, Negative, OutOfRange, Plan, PlanIntoOptions, Reduce, Way};

/// Numbers beyond the size are left out.
const DROP: Bounds = Bounds {
    negative: Negative::Drop,
    out_of_range: OutOfRange::Drop,
    ignored: None,
};

#[derive(Clone, Debug)]
struct Case {
    basis: Basis,
    shape: Vec<usize>,
    dim: usize,
    reduce: Reduce,
    index_type: DType,
    /// Rows of the destination.
    size: usize,
    /// Some updates are left out.
    drops: bool,
}

prop_compose! {
    fn case()(shape in shape(1..5), basis in basis())(
        dim in 0..shape.len(),
        reduce in prop::sample::select(Reduce::ALL.to_vec()),
        index_type in prop::sample::select(INTEGERS.to_vec()),
        size in prop_oneof![4 => 1usize..8, 1 => 20usize..120],
        drops in prop::bool::weighted(0.3),
        shape in Just(shape),
        basis in Just(basis),
    ) -> Case {
        Case { basis, shape, dim, reduce, index_type, size, drops }
    }
}

/// Every way and number of threads, the cost model's choice first.
fn plans(plan: &Plan) -> Vec<Plan> {
    let mut all = vec![plan.clone()];
    for way in Way::ALL {
        for threads in [1, 2, 3, 8] {
            let forced = plan.clone().with_way(Some(way));
            all.push(forced.with_threads(Some(threads)));
        }
    }
    all
}

/// Whether the reduction is defined for the type.
fn defined(reduce: Reduce, dtype: DType) -> bool {
    match reduce {
        Reduce::Sum | Reduce::ExactSum | Reduce::Prod | Reduce::Assign => true,
        Reduce::Mean | Reduce::ExactMean => dtype != DType::Bool,
        _ => !dtype.is_complex(),
    }
}

/// The name in torch_scatter.
fn word(reduce: Reduce) -> &'static str {
    match reduce {
        Reduce::Prod => "mul",
        other => other.name(),
    }
}

/// The coordinates along `dim` that are not left out.
fn kept(index: &[i64], size: usize) -> Vec<usize> {
    let fits = |k: &usize| usize::try_from(index[*k]).is_ok_and(|v| v < size);
    (0..index.len()).filter(fits).collect()
}

/// Those coordinates of an array.
fn selected(array: &Array, dim: usize, which: &[usize]) -> Array {
    let mut shape = array.shape.clone();
    shape[dim] = which.len();
    let mut made = Array::filled(array.dtype, &shape, 0);
    for (at, mut c) in coordinates(&shape).enumerate() {
        c[dim] = which[c[dim]];
        made.data[at] = array.data[array.flat(&c)];
    }
    made
}

/// The loop of assign: the last update of a cell stays.
fn assigned(src: &Array, index: &Array, dim: usize, out: &Array) -> Outcome {
    let expanded = naive::torch_scatter::expand(index, src, dim);
    let mut all = Outcome::untouched(out.clone());
    for (at, mut c) in coordinates(&src.shape).enumerate() {
        c[dim] = expanded.int(at) as usize;
        let cell = out.flat(&c);
        all.array.data[cell] = src.data[at];
        all.touched[cell] = true;
    }
    all
}

/// What a new tensor must hold, by the loop typed from the semantics of torch or torch_scatter.
fn expected_anew(src: &Array, index: &Array, dim: usize, size: usize, reduce: Reduce) -> Outcome {
    let mut shape = src.shape.clone();
    shape[dim] = size;
    match reduce {
        Reduce::Assign => assigned(src, index, dim, &Array::filled(src.dtype, &shape, 0)),
        Reduce::Amin | Reduce::Amax | Reduce::ExactSum | Reduce::ExactMean => {
            let zeros = Array::filled(src.dtype, &shape, 0);
            let index = naive::torch_scatter::expand(index, src, dim);
            naive::torch::scatter_reduce(&zeros, dim, &index, src, reduce.name(), false)
        }
        // Unlike torch_scatter, an empty source gives what empty groups hold.
        Reduce::Prod if src.data.is_empty() => {
            let one = naive::number::write(src.dtype, naive::Num::one(src.dtype));
            Outcome::untouched(Array::filled(src.dtype, &shape, one))
        }
        _ => naive::torch_scatter::scatter(src, index, dim, None, Some(size), word(reduce)),
    }
}

/// What a tensor that is there must hold.
fn expected_into(
    src: &Array,
    index: &Array,
    dim: usize,
    out: &Array,
    reduce: Reduce,
    include_self: bool,
) -> Outcome {
    if reduce == Reduce::Assign {
        return assigned(src, index, dim, out);
    }
    let expanded = naive::torch_scatter::expand(index, src, dim);
    if !matches!(reduce, Reduce::Min | Reduce::Max) {
        let name = reduce.name();
        return naive::torch::scatter_reduce(out, dim, &expanded, src, name, include_self);
    }
    let mut out = out.clone();
    if !include_self {
        let (low, high) = extremes(src.dtype);
        for (at, mut c) in coordinates(&src.shape).enumerate() {
            c[dim] = expanded.int(at) as usize;
            let cell = out.flat(&c);
            out.data[cell] = if reduce == Reduce::Max { low } else { high };
        }
    }
    naive::torch_scatter::scatter(src, index, dim, Some(&out), None, reduce.name())
}

fn index_values(random: &mut Random, case: &Case) -> Vec<i64> {
    let count = case.shape[case.dim];
    let mut values = random.indices(count, case.size, case.basis.spread);
    if case.drops {
        for value in &mut values {
            if random.chance(3) {
                *value = 125;
            }
        }
    }
    values
}

fn check(case: &Case) {
    let (dim, reduce) = (case.dim, case.reduce);
    let dtype = case.basis.dtype;
    if !defined(reduce, dtype) {
        return;
    }
    let mut random = case.basis.random();
    let values = index_values(&mut random, case);
    let mut index = Array::of_ints(case.index_type, &[values.len()], &values);
    let index_memory = Placement::random_input(&mut random, &mut index);
    let values: Vec<i64> = (0..index.data.len()).map(|k| index.int(k) as i64).collect();
    let mut src = random.array(dtype, &case.shape, case.basis.style);
    let src_memory = Placement::random_input(&mut random, &mut src);
    let mut out_shape = case.shape.clone();
    out_shape[dim] = case.size;
    let out = random.array(dtype, &out_shape, case.basis.style);
    let out_memory = Placement::random(&mut random, out_shape.len());
    let include_self = random.chance(2);

    let which = kept(&values, case.size);
    let (src_kept, index_kept) = (selected(&src, dim, &which), selected(&index, 0, &which));
    let anew = expected_anew(&src_kept, &index_kept, dim, case.size, reduce);
    let into = expected_into(&src_kept, &index_kept, dim, &out, reduce, include_self);

    let index = Strided::new(&index, &index_memory);
    let src = Strided::new(&src, &src_memory);
    let plan = Plan::new_dyn(&index.view(), Some(case.size), DROP, None).unwrap();
    assert_facts(&plan, &values, case.size);
    let again = Plan::from_bytes(&plan.to_bytes().unwrap()).unwrap();
    assert_facts(&again, &values, case.size);
    let given = match case.basis.seed % 2 {
        0 => dim as i64,
        _ => dim as i64 - case.shape.len() as i64,
    };
    for plan in plans(if random.chance(2) { &plan } else { &again }) {
        let what = || format!("{plan:?} {case:?}");
        let made = plan.scatter_dyn(&src.view(), given, reduce).unwrap();
        assert_matches(&array_of(&made), &anew, false, &what);
        let mut changed = Strided::new(&out, &out_memory);
        plan.scatter_into_dyn(
            &src.view(),
            given,
            reduce,
            changed.view_mut(),
            PlanIntoOptions { include_self },
        )
        .unwrap();
        changed.assert_guards();
        assert_matches(&changed.read(), &into, false, &what);
    }
}

/// The facts, counted plainly.
fn assert_facts(plan: &Plan, values: &[i64], size: usize) {
    let rows: Vec<usize> = kept(values, size)
        .iter()
        .map(|&k| values[k] as usize)
        .collect();
    let counts: Vec<usize> = (0..size)
        .map(|r| rows.iter().filter(|&&v| v == r).count())
        .collect();
    assert_eq!((plan.len(), plan.size()), (values.len(), size));
    assert_eq!(plan.dropped(), values.len() - rows.len());
    assert_eq!(plan.is_sorted(), rows.is_sorted());
    assert_eq!(plan.is_unique(), counts.iter().all(|&n| n < 2));
    assert_eq!(
        plan.max_multiplicity(),
        counts.iter().copied().max().unwrap_or(0)
    );
    assert_eq!(plan.touched(), counts.iter().filter(|&&n| n > 0).count());
    assert_eq!(plan.min(), rows.iter().copied().min());
    assert_eq!(plan.max(), rows.iter().copied().max());
    let counted: Vec<i64> = counts.iter().map(|&n| n as i64).collect();
    assert_eq!(plan.counts().unwrap().as_slice(), counted);
}

fn check_fused(case: &Case) {
    let dtype = case.basis.dtype;
    let mut random = case.basis.random();
    let values = index_values(&mut random, case);
    let index = Array::of_ints(DType::I64, &[values.len()], &values);
    let mut src = random.array(dtype, &case.shape, case.basis.style);
    let memory = Placement::random_input(&mut random, &mut src);
    let count = random.below(9);
    let all: Vec<Reduce> = Reduce::ALL
        .into_iter()
        .filter(|&r| defined(r, dtype))
        .collect();
    let reduces: Vec<Reduce> = (0..count).map(|_| random.pick(&all)).collect();
    let which = kept(&values, case.size);
    let (src_kept, index_kept) = (
        selected(&src, case.dim, &which),
        selected(&index, 0, &which),
    );
    let index = Strided::plain(&index);
    let src = Strided::new(&src, &memory);
    let plan = Plan::new_dyn(&index.view(), Some(case.size), DROP, None).unwrap();
    for plan in plans(&plan) {
        let made = plan
            .reduce_dyn(&src.view(), case.dim as i64, &reduces)
            .unwrap();
        assert_eq!(made.len(), reduces.len());
        for (made, &reduce) in made.iter().zip(&reduces) {
            let expected = expected_anew(&src_kept, &index_kept, case.dim, case.size, reduce);
            let what = || format!("{reduce} of {reduces:?} {plan:?} {case:?}");
            assert_matches(&array_of(made), &expected, false, &what);
        }
    }
}

/// Positions are compared with those of the loop that is typed from torch_scatter's semantics, among
/// the updates that are not left out.
fn check_with_arg(case: &Case) {
    let (dim, dtype) = (case.dim, case.basis.dtype);
    if !defined(Reduce::Max, dtype) {
        return;
    }
    let mut random = case.basis.random();
    let values = index_values(&mut random, case);
    let index = Array::of_ints(DType::I64, &[values.len()], &values);
    let mut src = random.array(dtype, &case.shape, case.basis.style);
    let memory = Placement::random_input(&mut random, &mut src);
    let which = kept(&values, case.size);
    let (src_kept, index_kept) = (selected(&src, dim, &which), selected(&index, 0, &which));
    let index = Strided::plain(&index);
    let plan = Plan::new_dyn(&index.view(), Some(case.size), DROP, None).unwrap();
    let src = Strided::new(&src, &memory);
    for reduce in [Reduce::Min, Reduce::Max] {
        let mut expected = expected_anew(&src_kept, &index_kept, dim, case.size, reduce);
        let positions = expected.arg.take().unwrap().into_iter();
        // Among all updates, those that were left out included.
        let positions = positions.map(|at| which.get(at as usize).map_or(values.len(), |&k| k));
        let positions: Vec<i64> = positions.map(|at| at as i64).collect();
        for plan in plans(&plan) {
            let what = || format!("{reduce} {plan:?} {case:?}");
            let (made, arg) = plan
                .scatter_with_arg_dyn(&src.view(), dim as i64, reduce)
                .unwrap();
            assert_matches(&array_of(&made), &expected, false, &what);
            assert_eq!(arg.shape(), made.shape());
            let arg = array_of(&arg);
            let found: Vec<i64> = (0..arg.data.len()).map(|k| arg.int(k) as i64).collect();
            assert_eq!(found, positions, "{}", what());
        }
    }
}

fn check_gather(case: &Case) {
    let mut random = case.basis.random();
    let values = index_values(&mut random, case);
    let index = Array::of_ints(DType::I64, &[values.len()], &values);
    let mut shape = case.shape.clone();
    shape[case.dim] = case.size;
    let mut input = random.array(case.basis.dtype, &shape, case.basis.style);
    let memory = Placement::random_input(&mut random, &mut input);
    let mut expected = Array::filled(input.dtype, &case.shape, 0);
    for (at, mut c) in coordinates(&case.shape).enumerate() {
        c[case.dim] = values[c[case.dim]] as usize;
        if c[case.dim] < case.size {
            expected.data[at] = input.data[input.flat(&c)];
        }
    }
    let index = Strided::plain(&index);
    let input = Strided::new(&input, &memory);
    let plan = Plan::new_dyn(&index.view(), Some(case.size), DROP, None).unwrap();
    for plan in plans(&plan) {
        let made = plan.gather_dyn(&input.view(), case.dim as i64).unwrap();
        assert_eq!(array_of(&made), expected, "{plan:?} {case:?}");
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn has_the_naive_loops_bits(case in case()) {
        check(&case);
    }

    #[test]
    fn several_at_once_have_the_naive_loops_bits(case in case()) {
        check_fused(&case);
    }

    #[test]
    fn positions_are_those_of_the_naive_loop(case in case()) {
        check_with_arg(&case);
    }

    #[test]
    fn gathers_what_the_index_names(case in case()) {
        check_gather(&case);
    }
}

/// Past every threshold: many rows, wide rows, blocks of rows, several pieces of work.
#[test]
fn large_runs_have_the_bits_of_small_ones() {
    let mut random = Random(7);
    // Updates, elements in a row, rows of the destination.
    let sizes = [
        (3000, 700, 50),
        (40_000, 33, 9000),
        (300_000, 1, 2_000_000),
        (300_000, 1, 300_000_000),
        (9, 70_000, 4),
    ];
    for (updates, width, rows) in sizes {
        for spread in [Spread::Uniform, Spread::Sorted, Spread::Skewed] {
            let dtype = random.pick(&[DType::F32, DType::BF16, DType::I16]);
            // A destination that is too large for two tensors of every kind.
            let dtype = if rows > 3_000_000 { DType::I8 } else { dtype };
            let values = random.indices(updates, rows, spread);
            let index = Array::of_ints(DType::I64, &[updates], &values);
            let src = random.array(dtype, &[updates, width], Style::Special);
            let (index, src) = (Strided::plain(&index), Strided::plain(&src));
            let plan = Plan::new_dyn(&index.view(), Some(rows), Bounds::STRICT, None).unwrap();
            let reduces = [
                Reduce::Sum,
                Reduce::Mean,
                Reduce::Max,
                Reduce::Amin,
                Reduce::Assign,
            ];
            let mut plans = plans(&plan);
            let first = plans
                .remove(1)
                .reduce_dyn(&src.view(), 0, &reduces)
                .unwrap();
            // Two of each way are enough for the largest.
            plans.truncate(if rows > 3_000_000 { 2 } else { 9 });
            let with_arg = |plan: &Plan| {
                let (most, at) = plan
                    .scatter_with_arg_dyn(&src.view(), 0, Reduce::Max)
                    .unwrap();
                (array_of(&most), array_of(&at))
            };
            // Positions have eight bytes each: too many for the largest.
            let in_order = plan.clone().with_way(Some(Way::InOrder));
            let positions = (rows <= 3_000_000).then(|| with_arg(&in_order));
            for plan in plans {
                if let Some(positions) = &positions {
                    let same = with_arg(&plan) == *positions;
                    assert!(same, "{plan:?} {spread:?} {dtype}");
                }
                let made = plan.reduce_dyn(&src.view(), 0, &reduces).unwrap();
                for (made, first) in made.iter().zip(&first) {
                    let same = made.as_bytes() == first.as_bytes();
                    assert!(same || alike(made, first), "{plan:?} {spread:?} {dtype}");
                }
            }
        }
    }
}

/// Extremes of many single elements side by side: which zero, and that one NaN is enough.
#[test]
fn long_runs_of_extremes() {
    let mut random = Random(21);
    let groups = 60;
    for dtype in DType::ALL.into_iter().filter(|d| !d.is_complex()) {
        let float = |v: f32| match dtype {
            DType::F64 => naive::number::write(dtype, naive::Num::F64(v.into())),
            _ if dtype.is_float() => naive::number::write(dtype, naive::Num::F32(v)),
            _ => naive::number::write(dtype, naive::Num::Int(v as i128)),
        };
        let palettes = [
            [-1.0, -0.0, 0.0],
            [1.0, -0.0, 0.0],
            [f32::NAN, -2.0, 3.0],
            [f32::NAN, f32::NEG_INFINITY, f32::INFINITY],
        ]
        .map(|values| values.map(float));
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for group in 0..groups {
            let palette = random.pick(&palettes);
            for _ in 0..random.pick(&[1, 31, 32, 33, 47, 48, 64, 200]) {
                rows.push(group);
                // Those at the beginning of a palette are rare.
                let first = if random.chance(40) { 0 } else { 1 };
                values.push(palette[first + random.below(3 - first)]);
            }
        }
        let index = Array::of_ints(DType::I64, &[rows.len()], &rows);
        let mut src = Array::filled(dtype, &[rows.len()], 0);
        src.data = values;
        let size = groups as usize;
        let plan = Plan::new_dyn(&Strided::plain(&index).view(), Some(size), DROP, None).unwrap();
        for reduce in [Reduce::Min, Reduce::Max, Reduce::Amin, Reduce::Amax] {
            let expected = expected_anew(&src, &index, 0, size, reduce);
            for plan in plans(&plan) {
                let made = plan
                    .scatter_dyn(&Strided::plain(&src).view(), 0, reduce)
                    .unwrap();
                let what = || format!("{reduce} {dtype} {plan:?}");
                assert_matches(&array_of(&made), &expected, false, &what);
            }
        }
    }
}

/// Whether two tensors differ in nothing but the bits of NaN.
fn alike(a: &strew::DynTensor, b: &strew::DynTensor) -> bool {
    let (a, b) = (array_of(a), array_of(b));
    let mut pairs = a.data.iter().zip(&b.data);
    pairs.all(|(&x, &y)| x == y || naive::number::same(a.dtype, x, y))
}

/// Bytes that are no plan, and bytes that lie about one.
#[test]
fn bytes_are_not_believed() {
    let index = [3i64, -1, 0, 3, 2, 2];
    let plan = Plan::new(index, Some(5), DROP).unwrap();
    let bytes = plan.to_bytes().unwrap();
    for end in 0..bytes.len() {
        assert!(Plan::from_bytes(&bytes[..end]).is_err(), "{end} bytes");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(Plan::from_bytes(&longer).is_err());
    // Any bit of the header that changes is noticed, but for a size that is still large enough.
    let header = bytes.len() - 4 * index.len();
    for bit in 0..8 * header {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        if let Ok(plan) = Plan::from_bytes(&changed) {
            assert!((16..24).contains(&(bit / 8)), "bit {bit}");
            assert!(plan.size() > 3 && plan.touched() == 3);
            assert_eq!(plan.to_bytes().unwrap(), changed);
        }
    }
    // Row numbers that are changed lead nowhere outside, whatever they are.
    for at in header..bytes.len() {
        for byte in 0..=u8::MAX {
            let mut changed = bytes.clone();
            changed[at] = byte;
            if let Ok(plan) = Plan::from_bytes(&changed).map(|p| p.with_way(Some(Way::Grouped))) {
                let sums = plan.scatter([1i32; 6], 0, Reduce::Sum).unwrap();
                let total: i32 = sums.as_slice().iter().sum();
                assert_eq!(total as usize, plan.len() - plan.dropped());
                assert_eq!(plan.to_bytes().unwrap(), changed);
            }
        }
    }
}
