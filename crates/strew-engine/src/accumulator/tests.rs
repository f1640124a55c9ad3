//! Chunks one after the other, merges in any order, hostile bytes.

use crate::accumulator::Accumulator;
use crate::describe::bounds::Bounds;
use crate::plan::{Aggregate, AggregateOptions, Plan, aggregate_dyn};
use std::ops::Range;
use strew_kernel::error::Class;
use strew_kernel::tensor::{DType, DynTensor, Scalar, TensorView};

const STREAMED: [Aggregate; 20] = [
    Aggregate::Sum,
    Aggregate::Prod,
    Aggregate::SumSquares,
    Aggregate::Mean,
    Aggregate::Var,
    Aggregate::Std,
    Aggregate::Sem,
    Aggregate::Skew,
    Aggregate::Kurt,
    Aggregate::Min,
    Aggregate::Max,
    Aggregate::First,
    Aggregate::Last,
    Aggregate::Len,
    Aggregate::Count,
    Aggregate::Any,
    Aggregate::All,
    Aggregate::AnyNan,
    Aggregate::ArgMin,
    Aggregate::ArgMax,
];

fn random(state: &mut u64) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    (*state >> 33) as usize
}

fn chance(state: &mut u64, one_in: usize) -> bool {
    random(state).is_multiple_of(one_in)
}

/// Updates with two columns, and what is made of them.
struct Case {
    index: Vec<i64>,
    values: DynTensor,
    wanted: Vec<Aggregate>,
    size: Option<usize>,
    bounds: Bounds,
    options: AggregateOptions,
}

impl Case {
    fn new(state: &mut u64, dtype: DType, wanted: &[Aggregate]) -> Self {
        let updates = [0, 1, 7, 300, 5000][random(state) % 5];
        // Few of the last ones get values, so that only these have a record.
        let rows = [1, 3, 40, 3000][random(state) % 4];
        let index = (0..updates).map(|_| (random(state) % rows) as i64);
        let index = index.collect();
        let mut values = DynTensor::zeros(dtype, &[updates, 2]).unwrap();
        let small = |state: &mut u64| match random(state) % 9 {
            0 => f64::NAN,
            1 => -0.0,
            n => (random(state) % 100) as f64 / 8.0 - n as f64,
        };
        let cells = values.as_bytes_mut().chunks_exact_mut(dtype.size());
        for cell in cells {
            match dtype {
                DType::F32 => cell.copy_from_slice(&(small(state) as f32).to_ne_bytes()),
                DType::F64 => cell.copy_from_slice(&small(state).to_ne_bytes()),
                DType::C128 => {
                    cell[..8].copy_from_slice(&small(state).to_ne_bytes());
                    cell[8..].copy_from_slice(&small(state).to_ne_bytes());
                }
                _ => cell[0] = (random(state) % 7) as u8,
            }
        }
        Self {
            index,
            values,
            wanted: wanted.to_vec(),
            size: chance(state, 2).then_some(rows + random(state) % 3),
            bounds: Bounds {
                ignored: chance(state, 2).then_some(2),
                ..Bounds::STRICT
            },
            options: AggregateOptions {
                skip_nan: chance(state, 2),
                min_count: random(state) % 3,
                fill_value: chance(state, 2).then_some(Scalar::Int(1)),
                ddof: (random(state) % 2) as f64,
                ..AggregateOptions::default()
            },
        }
    }

    /// Exact sums, of values over all magnitudes.
    fn exact(mut self, state: &mut u64) -> Self {
        self.options.exact = true;
        let dtype = self.values.dtype();
        let wide = chance(state, 2);
        let mut wild = || {
            let high = random(state) as u64;
            let bits = high << 33 ^ random(state) as u64;
            let near = (bits & !(0x7ff << 52)) | (1000 + bits % 40) << 52;
            f64::from_bits(if wide { bits } else { near })
        };
        for cell in self.values.as_bytes_mut().chunks_exact_mut(dtype.size()) {
            match dtype {
                DType::F32 => cell.copy_from_slice(&(wild() as f32).to_ne_bytes()),
                DType::F64 | DType::C128 => cell
                    .chunks_exact_mut(8)
                    .for_each(|part| part.copy_from_slice(&wild().to_ne_bytes())),
                _ => {}
            }
        }
        self
    }

    fn empty(&self) -> Accumulator {
        let (dtype, bounds) = (self.values.dtype(), self.bounds);
        Accumulator::new(
            self.size,
            &self.wanted,
            dtype,
            &[2],
            bounds,
            self.options.clone(),
        )
        .unwrap()
    }

    /// Takes some of the updates, at their positions.
    fn take(&self, all: &mut Accumulator, updates: Range<usize>) {
        let row = 2 * self.values.dtype().size();
        let mut values = DynTensor::zeros(self.values.dtype(), &[updates.len(), 2]).unwrap();
        let bytes = &self.values.as_bytes()[updates.start * row..updates.end * row];
        values.as_bytes_mut().copy_from_slice(bytes);
        let index = TensorView::from(&self.index[updates.clone()]).into_dyn();
        let start = Some(updates.start);
        all.update_dyn(&values.view(), &index, start).unwrap();
    }

    fn of(&self, updates: Range<usize>) -> Accumulator {
        let mut all = self.empty();
        self.take(&mut all, updates);
        all
    }

    /// Three positions at which the updates are cut, in order.
    fn cuts(&self, state: &mut u64) -> [usize; 4] {
        let mut cut = || random(state) % (self.index.len() + 1);
        let mut cuts = [0, cut(), cut(), self.index.len()];
        cuts.sort_unstable();
        cuts
    }
}

/// The results, with one bit pattern for all NaN and for both zeros where `zeros` is true.
fn shown(results: &[DynTensor], zeros: bool) -> Vec<String> {
    let one = |result: &DynTensor| match result.dtype() {
        DType::F64 if zeros => {
            let view = result.view();
            let values = view.typed::<f64>().unwrap().as_slice().unwrap();
            let values = values.iter().map(|value| value + 0.0);
            format!("{:?}", values.collect::<Vec<_>>())
        }
        _ => format!("{:?}", result.as_bytes()),
    };
    results.iter().map(one).collect()
}

#[test]
fn chunks_one_after_the_other_give_the_bits_of_one_call() {
    let mut state = 5;
    for round in 0..120 {
        let dtype = [DType::F64, DType::F32, DType::I64, DType::U8, DType::C128][round % 5];
        let real = !dtype.is_complex();
        let shapes =
            |wanted: &Aggregate| real || !matches!(wanted, Aggregate::Skew | Aggregate::Kurt);
        let wanted: Vec<Aggregate> = STREAMED.into_iter().filter(shapes).collect();
        let case = Case::new(&mut state, dtype, &wanted);
        let index = TensorView::from(&case.index[..]).into_dyn();
        let (size, bounds) = (case.size, case.bounds);
        let once = aggregate_dyn(
            &case.values.view(),
            &index,
            0,
            &case.wanted,
            size,
            bounds,
            case.options.clone(),
        );
        let mut all = case.empty();
        let cuts = case.cuts(&mut state);
        for (n, pair) in cuts.windows(2).enumerate() {
            case.take(&mut all, pair[0]..pair[1]);
            if n == 1 {
                let bytes = all.to_bytes().unwrap();
                all = Accumulator::from_bytes(&bytes).unwrap();
                assert_eq!(all.to_bytes().unwrap(), bytes);
            }
        }
        let (results, once) = (all.result().unwrap(), once.unwrap());
        for (found, expected) in results.iter().zip(&once) {
            assert_eq!(found.shape(), expected.shape(), "round {round}");
        }
        assert_eq!(shown(&results, false), shown(&once, false), "round {round}");
    }
}

#[test]
fn merges_in_any_order_give_the_same() {
    let whole = [
        Aggregate::Sum,
        Aggregate::Prod,
        Aggregate::SumSquares,
        Aggregate::Mean,
    ];
    let any = [
        Aggregate::Min,
        Aggregate::Max,
        Aggregate::First,
        Aggregate::Last,
        Aggregate::Len,
        Aggregate::Count,
        Aggregate::Any,
        Aggregate::All,
        Aggregate::AnyNan,
        Aggregate::AllNan,
        Aggregate::ArgMin,
        Aggregate::ArgMax,
    ];
    let mut state = 11;
    for round in 0..120 {
        let (dtype, wanted) = match round % 3 {
            0 => (DType::I64, [&whole[..], &any].concat()),
            1 => (DType::U8, [&whole[..], &any].concat()),
            _ => (DType::F64, any.to_vec()),
        };
        let case = Case::new(&mut state, dtype, &wanted);
        let [zero, one, two, end] = case.cuts(&mut state);
        let (a, b, c) = (
            || case.of(zero..one),
            || case.of(one..two),
            || case.of(two..end),
        );
        let joined = |mut left: Accumulator, right: &Accumulator| {
            left.merge(right).unwrap();
            left
        };
        let all = case.of(zero..end);
        for merged in [
            joined(joined(a(), &b()), &c()),
            joined(a(), &joined(b(), &c())),
            joined(c(), &joined(a(), &b())),
            joined(joined(b(), &c()), &a()),
            joined(case.empty(), &all),
            joined(case.of(zero..end), &case.empty()),
        ] {
            let (found, expected) = (merged.result().unwrap(), all.result().unwrap());
            assert_eq!(shown(&found, true), shown(&expected, true), "round {round}");
            assert_eq!(merged.position(), all.position());
        }
    }
}

const EXACT: [Aggregate; 7] = [
    Aggregate::Sum,
    Aggregate::Mean,
    Aggregate::SumSquares,
    Aggregate::Var,
    Aggregate::Std,
    Aggregate::Sem,
    Aggregate::Count,
];

#[test]
fn exact_sums_are_the_same_in_any_chunks_and_merges() {
    let mut state = 17;
    for round in 0..150 {
        let dtype = [DType::F64, DType::F32, DType::C128, DType::I64][round % 4];
        let some = 1 + random(&mut state) % EXACT.len();
        let case = Case::new(&mut state, dtype, &EXACT[EXACT.len() - some..]).exact(&mut state);
        let [zero, one, two, end] = case.cuts(&mut state);
        let index = TensorView::from(&case.index[..]).into_dyn();
        let once = aggregate_dyn(
            &case.values.view(),
            &index,
            0,
            &case.wanted,
            case.size,
            case.bounds,
            case.options.clone(),
        );
        let once = shown(&once.unwrap(), true);
        let mut merged = case.of(two..end);
        merged.merge(&case.of(zero..one)).unwrap();
        let written = merged.to_bytes().unwrap();
        let mut merged = Accumulator::from_bytes(&written).unwrap();
        assert_eq!(merged.to_bytes().unwrap(), written);
        merged.merge(&case.of(one..two)).unwrap();
        assert_eq!(
            shown(&merged.result().unwrap(), true),
            once,
            "round {round}"
        );
        let mut chunks = case.of(zero..one);
        let early = chunks.result().unwrap().len();
        case.take(&mut chunks, one..two);
        case.take(&mut chunks, two..end);
        assert_eq!(early, case.wanted.len());
        assert_eq!(
            shown(&chunks.result().unwrap(), true),
            once,
            "round {round}"
        );
    }
}

#[test]
fn hostile_exact_sums_are_refused_or_are_an_accumulator() {
    let mut state = 23;
    let mut case = Case::new(&mut state, DType::F64, &EXACT).exact(&mut state);
    while case.index.len() < 7 {
        case = Case::new(&mut state, DType::F64, &EXACT).exact(&mut state);
    }
    let bytes = case.of(0..7).to_bytes().unwrap();
    for cut in 0..bytes.len() {
        assert!(Accumulator::from_bytes(&bytes[..cut]).is_err(), "{cut}");
    }
    for bit in (0..bytes.len() * 8).step_by(29) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(mut read) = Accumulator::from_bytes(&flipped) {
            assert_eq!(read.to_bytes().unwrap(), flipped);
            let again = Accumulator::from_bytes(&flipped).unwrap();
            let results = read.result().map(|results| shown(&results, true));
            assert_eq!(results, again.result().map(|results| shown(&results, true)));
            let _ = read.merge(&again).is_ok();
        }
    }
}

#[test]
fn bytes_that_are_taken_are_the_bytes_that_are_written() {
    let mut state = 29;
    let mut taken = 0;
    for round in 0..60 {
        let dtype = [DType::F64, DType::F32, DType::I64, DType::U8, DType::C128][round % 5];
        let case = match round % 2 {
            0 => Case::new(&mut state, dtype, &EXACT).exact(&mut state),
            _ => Case::new(&mut state, dtype, &[Aggregate::Mean, Aggregate::First]),
        };
        let some = case.index.len().min(20);
        let bytes = case.of(0..some).to_bytes().unwrap();
        for _ in 0..200 {
            let mut changed = bytes.clone();
            for _ in 0..1 + random(&mut state) % 2 {
                let at = random(&mut state) % changed.len();
                changed[at] = match random(&mut state) % 4 {
                    0 => 0,
                    1 => 255,
                    2 => changed[at] ^ 1 << (random(&mut state) % 8),
                    _ => random(&mut state) as u8,
                };
            }
            if let Ok(read) = Accumulator::from_bytes(&changed) {
                taken += 1;
                assert_eq!(read.to_bytes().unwrap(), changed, "round {round}");
            }
        }
    }
    assert!(taken > 1000, "{taken}");
}

#[test]
fn planes_that_are_not_written_are_refused() {
    let options = AggregateOptions {
        exact: true,
        ..AggregateOptions::default()
    };
    let mut all = Accumulator::new(
        Some(1),
        &[Aggregate::Sum],
        DType::F64,
        &[],
        Bounds::STRICT,
        options.clone(),
    )
    .unwrap();
    let (values, index) = (TensorView::from(&[1.0f64]), TensorView::from(&[0i64]));
    all.update_dyn(&values.into_dyn(), &index.into_dyn(), None)
        .unwrap();
    let bytes = all.to_bytes().unwrap();
    // At the end stand the number of planes, a plane's number and entry, and the byte of flags.
    let planes = bytes.len() - 8 * 3 - 1;
    assert_eq!(
        bytes[planes..][..16],
        [1, 0, 0, 0, 0, 0, 0, 0, 33, 0, 0, 0, 0, 0, 0, 0]
    );
    let with = |planes_of: &[(u64, i64)]| {
        let mut made = bytes[..planes].to_vec();
        made.extend((planes_of.len() as u64).to_le_bytes());
        for (number, entry) in planes_of {
            made.extend(number.to_le_bytes());
            made.extend(entry.to_le_bytes());
        }
        made.extend(&bytes[bytes.len() - 1..]);
        Accumulator::from_bytes(&made).map(|read| read.to_bytes().unwrap() == made)
    };
    for good in [&[(33, 1 << 18)][..], &[], &[(0, -(1 << 31)), (67, 1 << 20)]] {
        assert_eq!(with(good), Ok(true), "{good:?}");
    }
    for bad in [
        &[(33, 0)][..],
        &[(33, 1 << 31)],
        &[(34, 1), (33, 1)],
        &[(33, 1), (33, 1)],
        &[(68, 1)],
    ] {
        assert_eq!(with(bad).unwrap_err().class(), Class::Value, "{bad:?}");
    }
}

#[test]
fn what_has_no_exact_form_is_refused() {
    let options = AggregateOptions {
        exact: true,
        ..AggregateOptions::default()
    };
    for wanted in [Aggregate::Prod, Aggregate::Skew, Aggregate::Kurt] {
        let made = Accumulator::new(
            Some(1),
            &[wanted],
            DType::F32,
            &[],
            Bounds::STRICT,
            options.clone(),
        );
        assert_eq!(made.unwrap_err().problem().argument(), Some("exact"));
    }
    let made = Accumulator::new(
        Some(1),
        &[Aggregate::Prod],
        DType::I8,
        &[],
        Bounds::STRICT,
        options.clone(),
    );
    assert!(made.is_ok());
}

#[test]
fn what_depends_on_the_order_is_not_merged() {
    let options = AggregateOptions::default();
    let new = |dtype: DType, wanted: &[Aggregate]| {
        Accumulator::new(Some(2), wanted, dtype, &[], Bounds::STRICT, options.clone()).unwrap()
    };
    for wanted in [
        Aggregate::Sum,
        Aggregate::Mean,
        Aggregate::Var,
        Aggregate::Kurt,
    ] {
        let error = new(DType::F32, &[wanted]).merge(&new(DType::F32, &[wanted]));
        let error = error.unwrap_err();
        assert_eq!(error.class(), Class::Value);
        assert!(error.to_string().contains("order"), "{error}");
    }
    let mut sums = new(DType::I8, &[Aggregate::Sum]);
    for other in [
        new(DType::I16, &[Aggregate::Sum]),
        new(DType::I8, &[Aggregate::Len]),
    ] {
        assert!(sums.merge(&other).unwrap_err().to_string().contains("same"));
    }
    // Positions count only where a statistic depends on them.
    let (one, zero) = ([1i8], [0i64]);
    let taken = |wanted: Aggregate| {
        let mut all = new(DType::I8, &[wanted]);
        let (values, index) = (TensorView::from(&one), TensorView::from(&zero));
        all.update_dyn(&values.into_dyn(), &index.into_dyn(), None)
            .unwrap();
        all
    };
    assert!(taken(Aggregate::Sum).merge(&taken(Aggregate::Sum)).is_ok());
    let error = taken(Aggregate::First)
        .merge(&taken(Aggregate::First))
        .unwrap_err();
    assert!(error.to_string().contains("position 0"), "{error}");
}

#[test]
fn an_update_that_fails_changes_nothing() {
    let (wanted, options) = (
        [Aggregate::Sum, Aggregate::First],
        AggregateOptions::default(),
    );
    let dtype = DType::F64;
    let mut all =
        Accumulator::new(None, &wanted, dtype, &[], Bounds::STRICT, options.clone()).unwrap();
    let values = [1.0f64, 2.0, 3.0];
    let view = TensorView::from(&values).into_dyn();
    let index = TensorView::from(&[0i64, 2, 1]).into_dyn();
    all.update_dyn(&view, &index, Some(4)).unwrap();
    let before = all.to_bytes().unwrap();
    let bad = TensorView::from(&[0i64, 7, -1]).into_dyn();
    let short = TensorView::from(&[0i64, 1]).into_dyn();
    let floats = TensorView::from(&[0.0f64, 1.0, 2.0]).into_dyn();
    let other = [1.0f32, 2.0, 3.0];
    let other = TensorView::from(&other).into_dyn();
    let failures = [
        (all.update_dyn(&view, &bad, None), Class::Index),
        (all.update_dyn(&view, &short, None), Class::Value),
        (all.update_dyn(&view, &floats, None), Class::Type),
        (all.update_dyn(&other, &index, None), Class::Type),
        (all.update_dyn(&view, &index, Some(6)), Class::Value),
        (
            all.update_dyn(&view, &index, Some(usize::MAX - 1)),
            Class::Value,
        ),
    ];
    for (failure, class) in failures {
        assert_eq!(failure.unwrap_err().class(), class);
    }
    assert_eq!(all.to_bytes().unwrap(), before);
    assert_eq!((all.rows(), all.position()), (3, 7));
}

#[test]
fn memory_follows_the_groups_with_values_where_they_are_few() {
    let (wanted, options) = (
        [Aggregate::Sum, Aggregate::Len],
        AggregateOptions::default(),
    );
    let new = |size| {
        Accumulator::new(
            size,
            &wanted,
            DType::I64,
            &[],
            Bounds::STRICT,
            options.clone(),
        )
    };
    let values = TensorView::from(&[5i64, 6, 7]).into_dyn();
    let far = TensorView::from(&[1i64 << 60, 3, 1 << 60]).into_dyn();
    let plan = Plan::new([3i64, 4, 0], Some(1000), Bounds::STRICT).unwrap();
    for size in [None, Some(1 << 61)] {
        let mut all = new(size).unwrap();
        all.update_dyn(&values, &far, None).unwrap();
        assert_eq!(all.rows(), size.unwrap_or((1 << 60) + 1));
        let mut other = new(size).unwrap();
        other.update_planned_dyn(&values, &plan, Some(3)).unwrap();
        all.merge(&other).unwrap();
        assert!(all.memory() < 1000, "{}", all.memory());
        let bytes = all.to_bytes().unwrap();
        assert!(bytes.len() < 1000, "{}", bytes.len());
        let mut read = Accumulator::from_bytes(&bytes).unwrap();
        assert_eq!(read.to_bytes().unwrap(), bytes);
        read.update_dyn(&values, &far, None).unwrap();
        assert_eq!(read.result().unwrap_err().class(), Class::Memory);
    }
    // Groups beyond a small number of them leave those that are there where they are.
    let mut all = new(None).unwrap();
    all.update_planned_dyn(&values, &plan, None).unwrap();
    let index = TensorView::from(&[2i64, 2999, 2]).into_dyn();
    all.update_dyn(&values, &index, None).unwrap();
    let [sum, len] = <[_; 2]>::try_from(all.result().unwrap()).unwrap();
    let (sum, len) = (sum.typed::<i64>().unwrap(), len.typed::<i64>().unwrap());
    assert_eq!(sum.as_slice()[..5], [7, 0, 12, 5, 6]);
    assert_eq!((sum.as_slice()[2999], len.as_slice()[2999]), (6, 1));
    assert_eq!(sum.shape(), [3000]);
    assert_eq!(len.as_slice().iter().sum::<i64>(), 6);
}

#[test]
fn a_plan_of_a_chunk_is_an_index() {
    let (wanted, options) = ([Aggregate::Len], AggregateOptions::default());
    let new = |size| {
        Accumulator::new(
            size,
            &wanted,
            DType::I8,
            &[],
            Bounds::STRICT,
            options.clone(),
        )
    };
    let drop = "drop".parse().unwrap();
    let plan = Plan::new([1i64, 9, 1], Some(2), drop).unwrap();
    let values = [1i8, 2, 3];
    let values = TensorView::from(&values).into_dyn();
    for size in [None, Some(2), Some(5)] {
        let mut all = new(size).unwrap();
        all.update_planned_dyn(&values, &plan, None).unwrap();
        let counts = all.result().unwrap().remove(0).typed::<i64>().unwrap();
        assert_eq!(counts.as_slice()[..2], [0, 2]);
        assert_eq!(counts.as_slice().len(), size.unwrap_or(2));
    }
    let failed = new(Some(1))
        .unwrap()
        .update_planned_dyn(&values, &plan, None);
    assert_eq!(failed.unwrap_err().class(), Class::Value);
}

#[test]
fn arguments_that_do_not_fit_are_named() {
    let options = AggregateOptions::default();
    let wrap: Bounds = "wrap".parse().unwrap();
    for (size, wanted, bounds, argument) in [
        (Some(3), &[Aggregate::Median][..], Bounds::STRICT, "reduce"),
        (Some(3), &[Aggregate::CumSum][..], Bounds::STRICT, "reduce"),
        (Some(3), &[][..], Bounds::STRICT, "reduce"),
        (None, &[Aggregate::Sum][..], wrap, "size"),
        (
            Some(usize::MAX),
            &[Aggregate::Sum][..],
            Bounds::STRICT,
            "size",
        ),
    ] {
        let made = Accumulator::new(size, wanted, DType::F32, &[], bounds, options.clone());
        assert_eq!(made.unwrap_err().problem().argument(), Some(argument));
    }
}

#[test]
fn hostile_bytes_are_refused_or_are_an_accumulator() {
    let mut state = 3;
    let case = Case::new(&mut state, DType::F64, &STREAMED);
    let mut all = case.empty();
    case.take(&mut all, 0..case.index.len().min(9));
    let bytes = all.to_bytes().unwrap();
    for cut in 0..bytes.len() {
        assert!(Accumulator::from_bytes(&bytes[..cut]).is_err(), "{cut}");
    }
    for bit in 0..bytes.len().min(1500) * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(mut read) = Accumulator::from_bytes(&flipped) {
            assert_eq!(read.to_bytes().unwrap(), flipped);
            let _ = read.result().map(|results| results.len());
            let (values, index) = (TensorView::from(&[1.0f64, 2.0]), TensorView::from(&[0i64]));
            let values = values.into_dyn().reshape(&[1, 2]).unwrap();
            let _ = read.update_dyn(&values, &index.into_dyn(), None).is_ok();
        }
    }
}
