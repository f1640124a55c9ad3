//! The canonical scatter: every index type under every bounds rule.

use super::Basis;
use crate::naive::canonical::{self, Bad, Join};
use crate::naive::{Array, Outcome};
use crate::support::ways::{Needs, Way, assert_matches, picky, with_threads};
use crate::support::{Placement, Random, Strided};
use strew::scatter::{Destinations, Finish, Place, Reduction, Scatter, Target};
use strew::{Bounds, Combine, DType, DynView, Negative, OutOfRange, Problem};

pub(crate) const NEGATIVE: [Negative; 3] = [Negative::Reject, Negative::Wrap, Negative::Drop];
pub(crate) const OUT_OF_RANGE: [OutOfRange; 3] =
    [OutOfRange::Error, OutOfRange::Drop, OutOfRange::Clip];

pub(crate) const JOINS: [Join; 7] = [
    Join::Assign,
    Join::Sum,
    Join::Sub,
    Join::Div,
    Join::Mean,
    Join::MeanTowardZero,
    Join::ByRoot,
];

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) basis: Basis,
    pub(crate) shape: Vec<usize>,
    pub(crate) batch: Vec<usize>,
    pub(crate) index: DType,
    pub(crate) bounds: Bounds,
    pub(crate) join: Join,
    /// One index in so many names no cell, or a negative one.
    pub(crate) odd: usize,
}

impl Case {
    /// The join that is meant for this type by a name that not all types have.
    pub(crate) fn join_of(join: Join, dtype: DType) -> Join {
        let whole = !dtype.is_float() && !dtype.is_complex();
        match join {
            Join::Sub | Join::Div | Join::Mean | Join::MeanTowardZero | Join::ByRoot
                if dtype == DType::Bool =>
            {
                Join::Sum
            }
            Join::ByRoot if whole => Join::MeanTowardZero,
            other => other,
        }
    }
}

/// Indices for an axis of `size`, some of them odd, as far as the type holds them.
fn indices(case: &Case, random: &mut Random, shape: &[usize], size: usize) -> Array {
    let count = shape.iter().product();
    let mut all = random.indices(count, size.max(1), case.basis.spread);
    let n = size as i64;
    for value in &mut all {
        if random.chance(case.odd) {
            *value = match random.below(8) {
                0 => -1,
                1 => -n,
                2 => -n - 1,
                3 => n,
                4 => n + 1,
                5 => i64::MIN,
                6 => i64::MAX,
                _ => -random.below(300).cast_signed() as i64,
            };
        }
    }
    let mut index = Array::of_ints(case.index, shape, &all);
    if case.index == DType::U64 && random.chance(3) {
        // Beyond i64.
        if let Some(last) = index.data.last_mut() {
            *last = u64::MAX.into();
        }
    }
    index
}

fn reduction(join: Join) -> Reduction {
    let mut reduction = Reduction::into_self(match join {
        Join::Assign => Combine::Assign,
        Join::Sub => Combine::Sub,
        Join::Div => Combine::Div,
        Join::Sum | Join::Mean | Join::MeanTowardZero | Join::ByRoot => Combine::Sum,
    });
    reduction.finish = match join {
        Join::Mean => Finish::Mean { count_self: false },
        Join::MeanTowardZero => Finish::MeanTowardZero { count_self: false },
        Join::ByRoot => Finish::DivideByRoot,
        Join::Assign | Join::Sum | Join::Sub | Join::Div => Finish::None,
    };
    reduction
}

/// Runs a scatter in place and compares it with what the naive loop did.
#[allow(clippy::too_many_arguments)] // All of one problem.
fn compare(
    case: &Case,
    components: &[Strided],
    destinations: impl for<'v> Fn(&[DynView<'v>]) -> Destinations<'v>,
    into: &Array,
    updates: &Strided,
    expected: &Result<Outcome, Bad>,
    tuple: bool,
    ways: impl Iterator<Item = Way>,
) {
    let mut random = Random(!case.basis.seed);
    let memory = Placement::random(&mut random, into.shape.len());
    let reduce = match case.join {
        Join::Assign => "assign",
        Join::Sum => "sum",
        Join::Sub => "sub",
        Join::Div => "div",
        Join::Mean | Join::MeanTowardZero | Join::ByRoot => "mean",
    };
    let needs = Needs::of(reduce, into.dtype);
    for way in ways {
        if way.force.is_some_and(|strategy| !needs.allow(strategy)) {
            continue;
        }
        let views: Vec<_> = components.iter().map(Strided::view).collect();
        let mut changed = Strided::new(into, &memory);
        let target = Target::InPlace {
            argument: "into",
            view: changed.view_mut(),
        };
        let reduction = reduction(case.join);
        let what = || format!("{way:?} {case:?}");
        let scatter = Scatter::new(
            destinations(&views),
            reduction,
            "updates",
            updates.view(),
            target,
        );
        let scatter = scatter
            .unwrap()
            .with_strategy(way.force)
            .with_split(way.split.map(|split| (split, way.threads)));
        let picky = way.force.is_some_and(picky);
        if (way.split.is_some() || picky) && scatter.execution().is_err() {
            continue;
        }
        if let Some(forced) = way.force {
            assert_eq!(scatter.execution().unwrap().strategy(), forced);
        }
        let result = with_threads(way.threads, || scatter.run());
        changed.assert_guards();
        match (&result, expected) {
            (Ok(_), Ok(expected)) => {
                let copies = case.join == Join::Assign;
                assert_matches(&changed.read(), expected, copies, &what);
            }
            (Err(Problem::IndexOutOfBounds { position, .. }), Err((at, entry))) => {
                let mut at = at.clone();
                if tuple {
                    at.insert(0, *entry);
                }
                assert_eq!(*position, at, "{}", what());
                assert_eq!(changed.read(), *into, "written: {}", what());
            }
            _ => panic!(
                "{result:?}, but {:?}: {}",
                expected.as_ref().map(|_| ()),
                what()
            ),
        }
    }
}

pub(crate) fn check_rows(case: &Case, ways: impl Iterator<Item = Way>) {
    let mut random = case.basis.random();
    let rank = case.shape.len();
    let axes = random.shuffled(rank);
    let axes = &axes[..1 + random.below(rank.min(2))];
    let into = random.array(case.basis.dtype, &case.shape, case.basis.style);
    let components: Vec<Array> = axes
        .iter()
        .map(|&a| indices(case, &mut random, &case.batch, case.shape[a]))
        .collect();
    let window = (0..rank).filter(|a| !axes.contains(a));
    let mut updates_shape = case.batch.clone();
    updates_shape.extend(window.map(|a| case.shape[a]));
    let mut updates = random.array(case.basis.dtype, &updates_shape, case.basis.style);
    let updates_memory = Placement::random_input(&mut random, &mut updates);
    let expected = canonical::rows(&into, &components, axes, &updates, case.bounds, case.join);
    if updates.data.is_empty() && expected.is_err() {
        // No update, so no index of one is looked at.
        return;
    }
    let placed: Vec<Strided> = components
        .iter()
        .map(|c| Strided::new(c, &Placement::random(&mut random, c.shape.len())))
        .collect();
    let updates = Strided::new(&updates, &updates_memory);
    compare(
        case,
        &placed,
        |views| rows(case, axes, views),
        &into,
        &updates,
        &expected,
        true,
        ways,
    );
}

fn rows<'v>(case: &Case, axes: &[usize], views: &[DynView<'v>]) -> Destinations<'v> {
    Destinations::rows(&case.shape, "index", views, axes, Some(0), case.bounds).unwrap()
}

pub(crate) fn check_elements(case: &Case, ways: impl Iterator<Item = Way>) {
    let mut random = case.basis.random();
    let rank = case.shape.len();
    let axis = random.below(rank);
    let into = random.array(case.basis.dtype, &case.shape, case.basis.style);
    let mut index_shape = case.shape.clone();
    for (a, n) in index_shape.iter_mut().enumerate() {
        *n = if a == axis {
            random.below(20)
        } else {
            random.below(*n + 1)
        };
    }
    let mut index = indices(case, &mut random, &index_shape, case.shape[axis]);
    let mut updates = random.array(case.basis.dtype, &index_shape, case.basis.style);
    let index_memory = Placement::random_input(&mut random, &mut index);
    let updates_memory = Placement::random_input(&mut random, &mut updates);
    let expected = canonical::elements(&into, &index, axis, &updates, case.bounds, case.join);
    let index = Strided::new(&index, &index_memory);
    let updates = Strided::new(&updates, &updates_memory);
    compare(
        case,
        &[index],
        |views| elements(case, axis, &views[0]),
        &into,
        &updates,
        &expected,
        false,
        ways,
    );
}

fn elements<'v>(case: &Case, axis: usize, index: &DynView<'v>) -> Destinations<'v> {
    let place = Place {
        axes: 0..case.shape.len(),
        tuple: None,
    };
    Destinations::elements(&case.shape, "index", index, axis, place, case.bounds).unwrap()
}

/// A slice: along each axis so many cells from one on, in steps.
pub(crate) fn check_affine(case: &Case, ways: impl Iterator<Item = Way>) {
    let mut random = case.basis.random();
    let into = random.array(case.basis.dtype, &case.shape, case.basis.style);
    let (mut start, mut step, mut count) = (vec![], vec![], vec![]);
    for &size in &case.shape {
        let by = 1 + random.below(3);
        let from = random.below(size.max(1));
        let back = random.chance(2);
        let room = if back {
            from
        } else {
            size.saturating_sub(from + 1)
        };
        let most = if size == 0 { 0 } else { room / by + 1 };
        start.push(from);
        count.push(if random.chance(8) { 0 } else { most });
        step.push(if back { -1 } else { 1 } * by.cast_signed());
    }
    let mut updates = random.array(case.basis.dtype, &count, case.basis.style);
    let memory = Placement::random_input(&mut random, &mut updates);
    let expected = canonical::affine(&into, &start, &step, &updates, case.join);
    let updates = Strided::new(&updates, &memory);
    compare(
        case,
        &[],
        |_| Destinations::affine(&case.shape, &start, &step, &count).unwrap(),
        &into,
        &updates,
        &Ok(expected),
        false,
        ways,
    );
}
