//! Gathers and scatters of several frameworks on random problems: the bits of plain loops, in every way to
//! run.

mod naive;
mod support;

use naive::canonical::resolve;
use naive::{Array, Num, Outcome, coordinates};
use std::borrow::Cow;
use strew::{Bounds, DType, Negative, OutOfRange, Value};
use support::ways::{Needs, assert_matches, call, made, run, ways};
use support::{Placement, Random, Strided, Style};

const ROUNDS: u64 = 150;

const DTYPES: [DType; 7] = [
    DType::F32,
    DType::F64,
    DType::F16,
    DType::I8,
    DType::U16,
    DType::I64,
    DType::C64,
];

/// Numbers from `low` to before `high`.
fn numbers(random: &mut Random, shape: &[usize], low: i64, high: i64) -> Array {
    let count = shape.iter().product();
    let span = (high - low).max(1).unsigned_abs() as usize;
    let all: Vec<i64> = (0..count)
        .map(|_| low + random.below(span) as i64)
        .collect();
    Array::of_ints(DType::I64, shape, &all)
}

fn sizes(random: &mut Random, rank: usize, most: usize) -> Vec<usize> {
    (0..rank).map(|_| 1 + random.below(most)).collect()
}

fn placed(random: &mut Random, array: &Array) -> Strided {
    let how = Placement::random(random, array.shape.len());
    Strided::new(array, &how)
}

fn list(axes: &[usize]) -> Value<'static> {
    Value::Integers(Cow::Owned(axes.iter().map(|&axis| axis as i64).collect()))
}

fn word(text: &'static str) -> Value<'static> {
    Value::Text(Cow::Borrowed(text))
}

/// Joins an update with a cell, as a region does.
fn join(region: &str, dtype: DType, cell: Num, update: Num) -> Num {
    let nan = cell.is_nan() || update.is_nan();
    match region {
        "set" => update,
        "add" => cell.add(dtype, update),
        "mul" => cell.mul(dtype, update),
        "min" if nan => {
            if cell.is_nan() {
                cell
            } else {
                update
            }
        }
        "max" if nan => {
            if cell.is_nan() {
                cell
            } else {
                update
            }
        }
        "min" => {
            if update.less(cell) {
                update
            } else {
                cell
            }
        }
        _ => {
            if cell.less(update) {
                update
            } else {
                cell
            }
        }
    }
}

/// A scatter as StableHLO's specification has it.
struct Problem {
    operand: Array,
    indices: Array,
    updates: Array,
    window: Vec<usize>,
    inserted: Vec<usize>,
    batching: Vec<usize>,
    beside: Vec<usize>,
    pointed: Vec<usize>,
    vectors: usize,
}

impl Problem {
    fn random(random: &mut Random) -> Self {
        let rank = 1 + random.below(4);
        let shape = sizes(random, rank, 5);
        let roles: Vec<usize> = (0..rank).map(|_| random.below(5)).collect();
        let axes = |role: &[usize]| -> Vec<usize> {
            (0..rank).filter(|&k| role.contains(&roles[k])).collect()
        };
        // Of the operand's axes some go with batches, some are inserted, the others are windows'.
        let batching = axes(&[0]);
        let inserted = axes(&[1, 2]);
        let free = axes(&[3, 4]);
        let mut pointed: Vec<usize> = inserted.clone();
        pointed.extend(free.iter().copied().filter(|_| random.chance(2)));
        let order = random.shuffled(pointed.len());
        let pointed: Vec<usize> = order.into_iter().map(|k| pointed[k]).collect();
        // The indices' own axes: those beside batches, and others.
        let extra = random.below(3);
        let mut own: Vec<usize> = batching.iter().map(|&axis| shape[axis]).collect();
        own.extend(sizes(random, extra, 4));
        let mixed = random.shuffled(own.len());
        let mut index_shape: Vec<usize> = mixed.iter().map(|&k| own[k]).collect();
        let vectors = random.below(own.len() + 1);
        let implicit = pointed.len() == 1 && random.chance(2);
        let vectors = if implicit { own.len() } else { vectors };
        let shift = |at: usize| at + usize::from(!implicit && at >= vectors);
        let beside: Vec<usize> = (0..batching.len())
            .map(|k| shift(mixed.iter().position(|&m| m == k).unwrap()))
            .collect();
        let scatter = index_shape.clone();
        if !implicit {
            index_shape.insert(vectors, pointed.len());
        }
        let windows: Vec<usize> = free
            .iter()
            .map(|&axis| 1 + random.below(shape[axis]))
            .collect();
        let total = scatter.len() + windows.len();
        let mut window: Vec<usize> = random.shuffled(total)[..windows.len()].to_vec();
        window.sort_unstable();
        let (mut scatters, mut wides) = (scatter.into_iter(), windows.into_iter());
        let updates: Vec<usize> = (0..total)
            .map(|k| match window.contains(&k) {
                true => wides.next().unwrap(),
                false => scatters.next().unwrap(),
            })
            .collect();
        let dtype = random.pick(&DTYPES);
        let high = *shape.iter().max().unwrap() as i64 + 1;
        Self {
            operand: random.array(dtype, &shape, Style::Special),
            indices: numbers(random, &index_shape, -2, high),
            updates: random.array(dtype, &updates, Style::Special),
            window,
            inserted,
            batching,
            beside,
            pointed,
            vectors,
        }
    }

    /// The loop over the updates.
    fn solve(&self, region: &str, by_element: bool) -> Outcome {
        let dtype = self.operand.dtype;
        let shape = &self.operand.shape;
        let mut out = Outcome::untouched(self.operand.clone());
        let mut totals: Vec<Num> = (0..out.array.data.len())
            .map(|k| out.array.num(k))
            .collect();
        let free: Vec<usize> = (0..shape.len())
            .filter(|k| !self.inserted.contains(k) && !self.batching.contains(k))
            .collect();
        for (from, at) in coordinates(&self.updates.shape).enumerate() {
            let scatter: Vec<usize> = (0..at.len())
                .filter(|k| !self.window.contains(k))
                .map(|k| at[k])
                .collect();
            // Where the window begins, and where in it this update is.
            let mut begin = vec![0i64; shape.len()];
            let mut within = vec![0i64; shape.len()];
            for (n, &axis) in self.pointed.iter().enumerate() {
                let mut place = scatter.clone();
                if self.vectors < self.indices.shape.len() {
                    place.insert(self.vectors, n);
                }
                begin[axis] = self.indices.int(self.indices.flat(&place)) as i64;
            }
            for (&axis, &beside) in self.batching.iter().zip(&self.beside) {
                let own = beside - usize::from(beside > self.vectors);
                begin[axis] = scatter[own] as i64;
            }
            let mut fits = true;
            for (&axis, &along) in free.iter().zip(&self.window) {
                within[axis] = at[along] as i64;
                let last = shape[axis] as i64 - self.updates.shape[along] as i64;
                fits &= (0..=last).contains(&begin[axis]);
            }
            let cell: Vec<i64> = begin.iter().zip(&within).map(|(a, b)| a + b).collect();
            let inside = cell
                .iter()
                .zip(shape)
                .all(|(&c, &n)| (0..n as i64).contains(&c));
            if !(inside && (fits || by_element)) {
                continue;
            }
            let cell: Vec<usize> = cell.into_iter().map(|c| c as usize).collect();
            let to = out.array.flat(&cell);
            out.touched[to] = true;
            match region {
                "set" => out.array.data[to] = self.updates.data[from],
                _ => totals[to] = join(region, dtype, totals[to], self.updates.num(from)),
            }
        }
        if region != "set" {
            for (to, total) in totals
                .into_iter()
                .enumerate()
                .filter(|(to, _)| out.touched[*to])
            {
                out.array.data[to] = naive::number::write(dtype, total);
            }
        }
        out
    }
}

#[test]
fn stablehlo_has_the_loops_bits() {
    for seed in 0..ROUNDS {
        let random = &mut Random(seed);
        let problem = Problem::random(random);
        let regions: &[&'static str] = match problem.operand.dtype.is_complex() {
            true => &["set", "add", "mul"],
            false => &["set", "add", "mul", "min", "max"],
        };
        let region = random.pick(regions);
        let granularity = random.pick(&["window", "element"]);
        let expected = problem.solve(region, granularity == "element");
        let operand = placed(random, &problem.operand);
        let indices = placed(random, &problem.indices);
        let updates = placed(random, &problem.updates);
        let needs = Needs::of(region, problem.operand.dtype);
        for way in ways() {
            let call = call(
                "stablehlo.scatter",
                vec![
                    ("operand", operand.input()),
                    ("indices", indices.input()),
                    ("updates", updates.input()),
                    ("update_window_dims", list(&problem.window)),
                    ("inserted_window_dims", list(&problem.inserted)),
                    ("input_batching_dims", list(&problem.batching)),
                    ("scatter_indices_batching_dims", list(&problem.beside)),
                    ("scatter_dims_to_operand_dims", list(&problem.pointed)),
                    ("index_vector_dim", Value::Int(problem.vectors as i64)),
                    ("region", word(region)),
                    ("out_of_bounds", word(granularity)),
                ],
            );
            let what = || format!("seed {seed}, {way:?}, {region}, {granularity}");
            let call = call.unwrap_or_else(|error| panic!("{error}: {}", what()));
            if let Some(output) = run(call, way, needs) {
                assert_matches(&made(&output), &expected, region == "set", &what);
            }
        }
    }
}

/// The cell of an index that may be left out; `None`: zeros.
fn resolved(bounds: Bounds, value: i128, size: usize) -> Option<usize> {
    resolve(bounds, value, size).unwrap()
}

#[test]
fn gathers_have_the_loops_bits() {
    let zeros = Bounds {
        negative: Negative::Wrap,
        out_of_range: OutOfRange::Drop,
        ignored: None,
    };
    for seed in 0..ROUNDS {
        let random = &mut Random(!seed);
        let rank = 1 + random.below(4);
        let shape = sizes(random, rank, 5);
        let axis = random.below(rank);
        let batch = random.below(axis + 1);
        let extra = random.below(3);
        let mut index_shape = shape[..batch].to_vec();
        index_shape.extend(sizes(random, extra, 4));
        let dtype = random.pick(&DTYPES);
        let data = random.array(dtype, &shape, Style::Bits);
        let size = shape[axis] as i64;
        let indices = numbers(random, &index_shape, -size - 2, size + 2);
        let mut wanted = shape[..axis].to_vec();
        wanted.extend_from_slice(&index_shape[batch..]);
        wanted.extend_from_slice(&shape[axis + 1..]);
        let mut expected = Outcome::untouched(Array::filled(dtype, &wanted, 0));
        for (to, at) in coordinates(&wanted).enumerate() {
            let inner = index_shape.len() - batch;
            let mut place = at[..batch].to_vec();
            place.extend_from_slice(&at[axis..axis + inner]);
            let value = indices.int(indices.flat(&place));
            if let Some(from) = resolved(zeros, value, shape[axis]) {
                let mut cell = at[..axis].to_vec();
                cell.push(from);
                cell.extend_from_slice(&at[axis + inner..]);
                expected.array.data[to] = data.data[data.flat(&cell)];
            }
        }
        let (from, index) = (placed(random, &data), placed(random, &indices));
        let needs = Needs::of("", dtype);
        for way in ways().filter(|way| way.force.is_none()) {
            let call = call(
                "openvino.gather",
                vec![
                    ("data", from.input()),
                    ("indices", index.input()),
                    ("axis", Value::Int(axis as i64)),
                    ("batch_dims", Value::Int(batch as i64)),
                ],
            );
            if let Some(output) = run(call.unwrap(), way, needs) {
                let what =
                    || format!("seed {seed}, {way:?}, {shape:?}, {index_shape:?}, {axis}, {batch}");
                assert_matches(&made(&output), &expected, true, &what);
            }
        }
    }
}

#[test]
fn tuples_have_the_loops_bits() {
    for seed in 0..ROUNDS {
        let random = &mut Random(seed ^ 77);
        let rank = 1 + random.below(3);
        let shape = sizes(random, rank, 5);
        let depth = random.below(rank + 1);
        let lead = random.below(3);
        let batch = sizes(random, lead, 5);
        let mut index_shape = batch.clone();
        index_shape.push(depth);
        let least = shape[..depth].iter().copied().min().unwrap_or(1) as i64;
        let indices = numbers(random, &index_shape, -least, least);
        let dtype = random.pick(&DTYPES);
        let data = random.array(dtype, &shape, Style::Special);
        let mut wide = batch.clone();
        wide.extend_from_slice(&shape[depth..]);
        let updates = random.array(dtype, &wide, Style::Special);
        let reductions: &[&'static str] = match dtype.is_complex() {
            true => &["none", "add", "mul"],
            false => &["none", "add", "mul", "min", "max"],
        };
        let reduction = random.pick(reductions);
        let region = if reduction == "none" {
            "set"
        } else {
            reduction
        };
        let mut expected = Outcome::untouched(data.clone());
        let mut totals: Vec<Num> = (0..data.data.len()).map(|k| data.num(k)).collect();
        for (from, at) in coordinates(&wide).enumerate() {
            let mut cell: Vec<usize> = (0..depth)
                .map(|k| {
                    let place = [&at[..lead], &[k]].concat();
                    let value = indices.int(indices.flat(&place));
                    value.rem_euclid(shape[k] as i128) as usize
                })
                .collect();
            cell.extend_from_slice(&at[lead..]);
            let to = data.flat(&cell);
            expected.touched[to] = true;
            match region {
                "set" => expected.array.data[to] = updates.data[from],
                _ => totals[to] = join(region, dtype, totals[to], updates.num(from)),
            }
        }
        if region != "set" {
            for (to, total) in totals
                .into_iter()
                .enumerate()
                .filter(|(to, _)| expected.touched[*to])
            {
                expected.array.data[to] = naive::number::write(dtype, total);
            }
        }
        let (into, index) = (placed(random, &data), placed(random, &indices));
        let from = placed(random, &updates);
        let needs = Needs::of(region, dtype);
        for way in ways() {
            let call = call(
                "onnx.scatter_nd",
                vec![
                    ("data", into.input()),
                    ("indices", index.input()),
                    ("updates", from.input()),
                    ("reduction", word(reduction)),
                ],
            );
            if let Some(output) = run(call.unwrap(), way, needs) {
                let what =
                    || format!("seed {seed}, {way:?}, {reduction}, {shape:?}, {index_shape:?}");
                assert_matches(&made(&output), &expected, region == "set", &what);
            }
        }
    }
}
