//! What is made of the values of each group, column by column.

use crate::describe::bounds::Bounds;
use crate::plan::division::division;
use crate::plan::values::{Visit, visit};
use crate::plan::{Plan, rows_of};
use crate::threads::crew::Crew;
use crate::threads::meter::{Meter, MeteredRows, MeteredValues};
use crate::threads::share::threads;
use std::sync::OnceLock;
use strew_kernel::error::Problem;
use strew_kernel::group_stats::blocks::GroupStats;
use strew_kernel::group_stats::output::{Count, Summary};
use strew_kernel::group_stats::parts::Division;
use strew_kernel::group_stats::read::{ReadRows, ReadValues};
use strew_kernel::group_stats::statistics::Value;
use strew_kernel::group_stats::stream::{Stream, is_streamed};
use strew_kernel::tensor::{DynTensor, DynView};

/// Which values count.
#[derive(Clone, Copy, Debug)]
pub struct Among {
    /// NaN does not.
    pub skip: bool,
    /// Of fewer values than this nothing is made.
    pub least: usize,
}

/// The groups that values belong to.
pub enum Groups<'g> {
    Plan(&'g Plan),
    Index(Numbers<'g>),
}

/// An index that is used once: statistics that take one pass read it as they go.
pub struct Numbers<'n> {
    index: DynView<'n>,
    bounds: Bounds,
    size: usize,
    /// What errors call the index.
    argument: &'static str,
    /// For statistics that need all values of a group together.
    plan: OnceLock<Plan>,
}

impl<'n> Numbers<'n> {
    /// An index into `size` groups, or into as many as it names.
    ///
    /// # Errors
    /// [`Problem::Shape`], [`Problem::DType`], [`Problem::Value`] for a size that is none.
    pub fn new(
        index: &DynView<'n>,
        size: Option<usize>,
        bounds: Bounds,
        argument: &'static str,
    ) -> Result<Self, Problem> {
        let size = rows_of(index, size, bounds).map_err(|problem| named(problem, argument))?;
        let (bounds, index) = bounds.of_index(index);
        Ok(Self {
            index,
            bounds,
            size,
            argument,
            plan: OnceLock::new(),
        })
    }

    pub(crate) fn index(&self) -> &DynView<'n> {
        &self.index
    }

    pub(crate) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// How many groups there are.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The numbers, if they are stored one after the other as 64-bit integers.
    fn stored(&self) -> Option<&[i64]> {
        self.index.typed::<i64>()?.as_slice()
    }

    fn plan(&self) -> Result<&Plan, Problem> {
        if let Some(plan) = self.plan.get() {
            return Ok(plan);
        }
        let made = Plan::analyse(&self.index, Some(self.size), self.bounds, None);
        let made = made.map_err(|problem| named(problem, self.argument))?;
        Ok(self.plan.get_or_init(|| made))
    }
}

impl Groups<'_> {
    /// The problem with the first number that names no group, if there is one.
    fn expect_groups(&self) -> Result<(), Problem> {
        let Self::Index(numbers) = self else {
            return Ok(());
        };
        let Numbers {
            index,
            bounds,
            size,
            argument,
            ..
        } = numbers;
        match bounds.first_error(index, *size, index.len()) {
            None => Ok(()),
            Some(at) => Err(Problem::IndexOutOfBounds {
                argument,
                position: vec![at],
                value: bounds.value(index, &[at]),
                axis: 0,
                size: Some(*size),
            }),
        }
    }
}

/// The problem with another name for the index.
fn named(mut problem: Problem, argument: &'static str) -> Problem {
    if let Problem::IndexOutOfBounds { argument: of, .. }
    | Problem::Shape { argument: of, .. }
    | Problem::DType { argument: of, .. } = &mut problem
    {
        *of = argument;
    }
    problem
}

impl ReadRows for Numbers<'_> {
    fn updates(&self) -> usize {
        self.index.len()
    }

    fn read_rows<'r>(&'r self, from: usize, room: &'r mut [i64]) -> Option<&'r [i64]> {
        // The fold is negative if a number is negative or not below the size. It needs no
        // comparison of 64-bit numbers, which the oldest vector instructions lack.
        let last = self.size.cast_signed().wrapping_sub(1);
        let inside = |rows: &[i64]| {
            let outside = |all, &row: &i64| all | row | (last as i64).wrapping_sub(row);
            !self.bounds.ignores() && rows.iter().fold(0, outside) >= 0
        };
        if let Some(stored) = self.stored() {
            let rows = stored.get(from..from.checked_add(room.len())?)?;
            if inside(rows) {
                return Some(rows);
            }
            room.copy_from_slice(rows);
        } else {
            let step = self.index.layout().strides().first().copied().unwrap_or(0);
            let first = from.cast_signed().wrapping_mul(step);
            if !self.index.read_integers(first, step, room) {
                return None;
            }
            if inside(room) {
                return Some(room);
            }
        }
        for row in &mut *room {
            let found = self.bounds.resolve(*row, self.size).ok()?;
            *row = found.unwrap_or(-1);
        }
        Some(room)
    }

    fn unchecked_rows(&self, from: usize, count: usize) -> Option<&[i64]> {
        match self.bounds == Bounds::STRICT {
            true => self.stored()?.get(from..from.checked_add(count)?),
            false => None,
        }
    }
}

impl Groups<'_> {
    pub(crate) fn updates(&self) -> usize {
        match self {
            Self::Plan(plan) => plan.len(),
            Self::Index(numbers) => numbers.updates(),
        }
    }

    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Plan(plan) => plan.size(),
            Self::Index(numbers) => numbers.size,
        }
    }

    fn rows(&self) -> &dyn ReadRows {
        match self {
            Self::Plan(plan) => &**plan.numbers(),
            Self::Index(numbers) => numbers,
        }
    }

    /// A plan of the groups.
    fn plan(&self) -> Result<&Plan, Problem> {
        match self {
            Self::Plan(plan) => Ok(plan),
            Self::Index(numbers) => numbers.plan(),
        }
    }

    /// Reduces the values along an axis in several ways. Integers and bools are computed in 64
    /// bits, floats in `float64`, complex numbers in `complex128`; results become elements as C
    /// casts them, each rounded once.
    ///
    /// # Errors
    /// [`Problem::Layout`] if there is no such axis, of as many values as the index has;
    /// [`Problem::IndexOutOfBounds`]; [`Problem::Memory`]; [`Problem::Interrupted`].
    pub fn statistics(
        &self,
        src: &DynView<'_>,
        axis: usize,
        wanted: &[Summary],
        among: Among,
    ) -> Result<Vec<DynTensor>, Problem> {
        let torn = || Problem::Layout {
            argument: "src".into(),
            why: "it has no such axis, of as many values as there are in the index".into(),
        };
        if src.shape().get(axis) != Some(&self.updates()) {
            return Err(torn());
        }
        visit(
            src,
            Wanted {
                groups: self,
                axis,
                wanted,
                among,
            },
        )
    }

    fn each<T: Value>(
        &self,
        src: &DynView<'_>,
        axis: usize,
        values: &dyn ReadValues<T>,
        wanted: &[Summary],
        among: Among,
    ) -> Result<Vec<DynTensor>, Problem> {
        let shape = src.shape();
        let (outer, inner) = (
            shape[..axis].iter().product(),
            shape[axis + 1..].iter().product(),
        );
        let rows = |wanted: &Summary| match wanted.statistic.is_of_each() {
            true => self.updates(),
            false => self.size().saturating_mul(wanted.statistic.per_group()),
        };
        let cells = |wanted: &&Summary| wanted.cells([outer, rows(wanted), inner]);
        let few = among.skip || among.least > 1;
        let (streamed, others): (Vec<usize>, Vec<usize>) =
            (0..wanted.len()).partition(|&n| is_streamed(wanted[n].statistic, few));
        let mut made: Vec<Option<DynTensor>> = wanted.iter().map(|_| None).collect();
        for (some, streams) in [(streamed, true), (others, false)] {
            if some.is_empty() {
                continue;
            }
            let of: Vec<&Summary> = some.iter().map(|&n| &wanted[n]).collect();
            let count = Count {
                wanted: &of,
                skip: among.skip,
                least: among.least,
            };
            let mut results = of.iter().map(cells).collect::<Result<Vec<_>, _>>()?;
            if streams {
                let mut stream = Stream {
                    rows: self.rows(),
                    size: self.size(),
                    values,
                    outer,
                    inner,
                };
                let threads = threads(src.len().saturating_mul(src.dtype().size()));
                while !make(&stream, &mut results, count, threads)? {
                    self.expect_groups()?;
                    // The index has changed meanwhile: a copy of its numbers does not.
                    stream.rows = &**self.plan()?.numbers();
                }
            } else {
                let columns = GroupStats {
                    groups: self.plan()?.groups()?,
                    values,
                    outer,
                    inner,
                };
                let threads = threads(src.len().saturating_mul(src.dtype().size()));
                share(&columns, &mut results, count, threads)?;
            }
            for (n, result) in some.into_iter().zip(results) {
                made[n] = Some(result);
            }
        }
        let made: Vec<DynTensor> = made.into_iter().flatten().collect();
        let done = made.into_iter().zip(wanted).map(|(made, wanted)| {
            let mut cells = src.dims();
            if !wanted.statistic.is_of_each() {
                cells[axis] = self.size();
            }
            if wanted.statistic.has_axis() {
                cells.insert(axis + 1, wanted.statistic.per_group());
            }
            made.reshape(&cells).map_err(|_| Problem::Layout {
                argument: "src".into(),
                why: "its results would have another shape".into(),
            })
        });
        done.collect()
    }
}

/// What is made of the values of groups.
struct Wanted<'w> {
    groups: &'w Groups<'w>,
    axis: usize,
    wanted: &'w [Summary],
    among: Among,
}

impl Visit for Wanted<'_> {
    type Made = Vec<DynTensor>;

    fn visit<T: Value>(
        self,
        src: &DynView<'_>,
        values: &dyn ReadValues<T>,
    ) -> Result<Self::Made, Problem> {
        self.groups
            .each(src, self.axis, values, self.wanted, self.among)
    }
}

/// Computes in parts what takes one pass over the values. False if an update has no row: then the
/// results have unspecified values.
fn make<T: Value>(
    stream: &Stream<'_, T>,
    made: &mut [DynTensor],
    count: Count<'_>,
    threads: usize,
) -> Result<bool, Problem> {
    let (division, most) = division(stream, count.wanted, threads);
    let crew = Crew::new(most, None);
    let elements = stream
        .rows
        .updates()
        .saturating_mul(stream.outer)
        .saturating_mul(stream.inner);
    let meter = Meter::new(match division {
        // Each part reads all rows.
        Division::Rows => elements.saturating_mul(crew.threads()),
        Division::Outer | Division::Updates => elements,
    });
    let rows = MeteredRows {
        rows: stream.rows,
        meter: &meter,
        each: stream.inner,
    };
    let stream = Stream {
        rows: &rows,
        ..*stream
    };
    let parts = stream.parts(made, count, division, crew.threads())?;
    let done = crew.each(parts, |mut part, _| {
        let read = stream.make_part(&mut part, count)?;
        Ok((read, part.into_records()))
    });
    let no_index = || unreachable!("groups have been read before");
    let done = done.map_err(|fault| fault.into_problem(no_index))?;
    meter.check()?;
    let read = done.iter().all(|(read, _)| *read);
    if read {
        let records = done.into_iter().filter_map(|(_, records)| records);
        stream.merge(records, made, count)?;
    }
    Ok(read)
}

/// Makes everything, in parts that have groups of their own.
fn share<T: Value>(
    columns: &GroupStats<'_, T>,
    made: &mut [DynTensor],
    count: Count<'_>,
    threads: usize,
) -> Result<(), Problem> {
    let crew = Crew::new(threads, None);
    let kept = columns.groups.kept();
    let meter = Meter::new(
        kept.saturating_mul(columns.outer)
            .saturating_mul(columns.inner),
    );
    let values = MeteredValues {
        values: columns.values,
        meter: &meter,
    };
    let columns = GroupStats {
        values: &values,
        ..*columns
    };
    let parts = columns.parts(made, count.wanted, crew.threads());
    let done = crew.each(parts, |part, _| Ok(columns.make(part, count)?));
    let no_index = || unreachable!("groups have been read before");
    done.map_err(|fault| fault.into_problem(no_index))?;
    meter.check()
}
