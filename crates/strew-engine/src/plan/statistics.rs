//! What is made of the values of each group, column by column.

use crate::describe::bounds::Bounds;
use crate::plan::division::{division, suits_one};
use crate::plan::values::{Visit, visit};
use crate::plan::{Plan, rows_of};
use crate::threads::crew::Crew;
use crate::threads::meter::{Meter, MeteredRows, MeteredValues};
use crate::threads::share::threads;
use std::sync::OnceLock;
use strew_kernel::aggregate::of_single_values;
use strew_kernel::error::Problem;
use strew_kernel::group_stats::blocks::GroupStats;
use strew_kernel::group_stats::parts::Division;
use strew_kernel::group_stats::stream::Stream;
use strew_kernel::statistic::output::{Among, Task, Wanted};
use strew_kernel::statistic::pass::{Job, Made, RowSlice, has_nan};
use strew_kernel::statistic::read::{ReadRows, ReadValues};
use strew_kernel::statistic::value::Value;
use strew_kernel::statistic::what::Statistic;
use strew_kernel::tensor::{DType, DynTensor, DynView};

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

    /// As those of [`Groups`].
    fn stored_rows(&self) -> Option<(RowSlice<'_>, bool)> {
        let leaves_out = match self.bounds {
            Bounds::STRICT => false,
            Bounds::DROP => true,
            _ => return None,
        };
        Some((RowSlice::of_index(&self.index)?, leaves_out))
    }

    /// Whether most updates have the row of the one before, by a sample.
    pub(crate) fn repeats(&self) -> bool {
        self.stored_rows().is_some_and(|(rows, _)| rows.repeat())
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
        wanted: &[Wanted],
        among: Among,
    ) -> Result<Vec<DynTensor>, Problem> {
        let torn = || Problem::Layout {
            argument: "src".into(),
            why: "it has no such axis, of as many values as there are in the index".into(),
        };
        if src.shape().get(axis) != Some(&self.updates()) {
            return Err(torn());
        }
        let mut made = self.by_their_own_loops(src, axis, wanted, among)?;
        let others: Vec<&Wanted> = (wanted.iter().zip(&made))
            .filter_map(|(wanted, made)| made.is_none().then_some(wanted))
            .collect();
        if !others.is_empty() {
            let left = OfAnyType {
                groups: self,
                axis,
                wanted: &others,
                among,
            };
            let mut results = visit(src, left)?.into_iter();
            let places = made.iter_mut().filter(|made| made.is_none());
            places.for_each(|place| *place = results.next());
        }
        Ok(made.into_iter().flatten().collect())
    }

    /// The results of statistics that have a loop of their own for these values; `None`: it has
    /// none.
    fn by_their_own_loops(
        &self,
        src: &DynView<'_>,
        axis: usize,
        wanted: &[Wanted],
        among: Among,
    ) -> Result<Vec<Option<DynTensor>>, Problem> {
        let mut made: Vec<Option<DynTensor>> = wanted.iter().map(|_| None).collect();
        let single = src.len() == self.updates() && src.layout().is_contiguous();
        let Some((rows, leaves_out)) = self.stored_rows().filter(|_| single) else {
            return Ok(made);
        };
        let skips = among.skip
            && match src.dtype() {
                DType::F32 | DType::F64 => has_nan(src),
                other => !other.is_integer(),
            };
        if skips || among.least > 1 {
            return Ok(made);
        }
        let values = src.reshape(&[src.len()]);
        let Some(values) = values else {
            return Ok(made);
        };
        let meter = Meter::new(src.len().saturating_mul(wanted.len()));
        let step = |done| meter.step(done);
        let threads = threads(src.len().saturating_mul(src.dtype().size()));
        // By groups, several quantiles are made of one reading of the values. Two quantiles of 4M
        // values in 100,000 groups take as long as by two loops, and in fewer groups longer.
        let is_of_ranks = |wanted: &&Wanted| {
            matches!(
                wanted.statistic,
                Statistic::Median | Statistic::Quantile(..)
            )
        };
        let several = wanted.iter().filter(is_of_ranks).count() > 2;
        for (wanted, made) in wanted.iter().zip(&mut made) {
            let shared = several && is_of_ranks(&wanted);
            if shared || !suits_one(wanted.statistic, src.dtype(), self.size(), threads) {
                continue;
            }
            let job = Job {
                rows,
                values: &values,
                size: self.size(),
                fill: &wanted.fill,
                leaves_out,
                step: &step,
            };
            match of_single_values(wanted.statistic, job)? {
                Made::Results(results) => {
                    let mut shape = src.dims();
                    if !wanted.statistic.is_of_each() {
                        shape[axis] = self.size();
                    }
                    *made = results.reshape(&shape).ok();
                }
                Made::Stray => self.expect_groups()?,
                Made::None => {}
            }
        }
        Ok(made)
    }

    /// Whether values have a loop of their own for their extremes.
    pub(crate) fn has_own_loop(numbers: &Numbers<'_>, src: &DynView<'_>) -> bool {
        let single = src.len() == numbers.updates() && src.layout().is_contiguous();
        let common = matches!(src.dtype(), DType::F32 | DType::F64 | DType::I64);
        single && common && numbers.stored_rows().is_some()
    }

    /// The rows, if they are stored one after the other, and whether those that are none of the
    /// groups are left out.
    fn stored_rows(&self) -> Option<(RowSlice<'_>, bool)> {
        match self {
            Self::Plan(plan) => Some((RowSlice::of_index(&plan.numbers().view())?, true)),
            Self::Index(numbers) => numbers.stored_rows(),
        }
    }

    fn each<T: Value>(
        &self,
        src: &DynView<'_>,
        axis: usize,
        values: &dyn ReadValues<T>,
        wanted: &[&Wanted],
        among: Among,
    ) -> Result<Vec<DynTensor>, Problem> {
        let shape = src.shape();
        let (outer, inner) = (
            shape[..axis].iter().product(),
            shape[axis + 1..].iter().product(),
        );
        let rows = |wanted: &Wanted| match wanted.statistic.is_of_each() {
            true => self.updates(),
            false => self.size().saturating_mul(wanted.statistic.per_group()),
        };
        let cells = |wanted: &&Wanted| wanted.cells([outer, rows(wanted), inner]);
        let few = among.skip || among.least > 1;
        let (streamed, others): (Vec<usize>, Vec<usize>) =
            (0..wanted.len()).partition(|&n| wanted[n].statistic.is_streamed(few));
        let mut made: Vec<Option<DynTensor>> = wanted.iter().map(|_| None).collect();
        for (some, streams) in [(streamed, true), (others, false)] {
            if some.is_empty() {
                continue;
            }
            let of: Vec<&Wanted> = some.iter().map(|&n| wanted[n]).collect();
            let task = Task { wanted: &of, among };
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
                while !make(&stream, &mut results, task, threads)? {
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
                share(&columns, &mut results, task, threads)?;
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

/// A task, whatever type the values have.
struct OfAnyType<'w> {
    groups: &'w Groups<'w>,
    axis: usize,
    wanted: &'w [&'w Wanted],
    among: Among,
}

impl Visit for OfAnyType<'_> {
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
    task: Task<'_>,
    threads: usize,
) -> Result<bool, Problem> {
    let (division, most) = division(stream, task.wanted, threads);
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
    let parts = stream.parts(made, task, division, crew.threads())?;
    let done = crew.each(parts, |mut part, _| {
        let read = stream.make_part(&mut part, task)?;
        Ok((read, part.into_records()))
    });
    let no_index = || unreachable!("groups have been read before");
    let done = done.map_err(|fault| fault.into_problem(no_index))?;
    meter.check()?;
    let read = done.iter().all(|(read, _)| *read);
    if read {
        let records = done.into_iter().filter_map(|(_, records)| records);
        stream.merge(records, made, task)?;
    }
    Ok(read)
}

/// Makes everything, in parts that have groups of their own.
fn share<T: Value>(
    columns: &GroupStats<'_, T>,
    made: &mut [DynTensor],
    task: Task<'_>,
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
    let parts = columns.parts(made, task.wanted, crew.threads());
    let done = crew.each(parts, |part, _| Ok(columns.make(part, task)?));
    let no_index = || unreachable!("groups have been read before");
    done.map_err(|fault| fault.into_problem(no_index))?;
    meter.check()
}

#[cfg(test)]
mod tests {
    use crate::describe::bounds::Bounds;
    use crate::plan::{Aggregate, AggregateOptions, Plan, aggregate_dyn};
    use strew_kernel::tensor::{DType, DynTensor, Scalar, TensorView};

    const OWN: [Aggregate; 21] = [
        Aggregate::Sum,
        Aggregate::Prod,
        Aggregate::SumSquares,
        Aggregate::Median,
        Aggregate::Quantile,
        Aggregate::Mean,
        Aggregate::Min,
        Aggregate::Max,
        Aggregate::Len,
        Aggregate::Any,
        Aggregate::All,
        Aggregate::First,
        Aggregate::Last,
        Aggregate::ArgMin,
        Aggregate::ArgMax,
        Aggregate::Var,
        Aggregate::Sem,
        Aggregate::CumSum,
        Aggregate::CumProd,
        Aggregate::CumMin,
        Aggregate::CumMax,
    ];

    /// Values, and the same in two columns, which have no loops of their own.
    fn values(
        dtype: DType,
        count: usize,
        nan: f64,
        zeros: bool,
        state: &mut u64,
    ) -> [DynTensor; 2] {
        let mut random = || {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            *state >> 33
        };
        let mut one = DynTensor::zeros(dtype, &[count]).unwrap();
        let mut two = DynTensor::zeros(dtype, &[count, 2]).unwrap();
        let size = dtype.size();
        let pairs = two.as_bytes_mut().chunks_exact_mut(2 * size);
        for (cell, pair) in one.as_bytes_mut().chunks_exact_mut(size).zip(pairs) {
            let float = match random() % 40 {
                0 => nan,
                1 => f64::INFINITY,
                2 => f64::NEG_INFINITY,
                3..10 if zeros => -0.0,
                10..20 if zeros => 0.0,
                n => (random() % 1000) as f64 / 7.0 - (n * n) as f64,
            };
            match dtype {
                DType::F32 => cell.copy_from_slice(&(float as f32).to_ne_bytes()),
                DType::F64 => cell.copy_from_slice(&float.to_ne_bytes()),
                _ => {
                    let whole = match random() % 9 {
                        0 => i64::MIN,
                        1 => i64::MAX,
                        2 | 3 => 0,
                        n => (random() % 100) as i64 - (n as i64) * 9,
                    };
                    cell.copy_from_slice(&whole.to_ne_bytes());
                }
            }
            pair[..size].copy_from_slice(cell);
            pair[size..].copy_from_slice(cell);
        }
        [one, two]
    }

    /// The bytes of each result, of the first of `columns`; the same ones for every NaN.
    fn shown(made: &DynTensor, columns: usize) -> Vec<[u8; 8]> {
        let size = made.dtype().size();
        let cells = made.as_bytes().chunks_exact(size).step_by(columns);
        let one = |cell: &[u8]| {
            let mut bytes = [0; 8];
            bytes[..size].copy_from_slice(cell);
            let nan = match made.dtype() {
                DType::F32 => f32::from_ne_bytes(*bytes.first_chunk().unwrap()).is_nan(),
                DType::F64 => f64::from_ne_bytes(bytes).is_nan(),
                _ => false,
            };
            if nan { [0xff; 8] } else { bytes }
        };
        cells.map(one).collect()
    }

    #[test]
    fn loops_of_their_own_give_what_records_give() {
        let mut state = 5;
        let sizes = [
            (0, 3),
            (1, 1),
            (300, 7),
            (300, 400),
            (2_000, 3),
            (140_000, 50),
        ];
        let rounds = sizes.into_iter().chain([(140_000, 4_000)]).cycle().take(28);
        for (round, (count, size)) in rounds.enumerate() {
            let mut index: Vec<i64> = (0..count as i64).map(|n| n * n * 7 % 91 - 3).collect();
            if round >= 14 {
                index.sort_unstable();
            }
            let strict = round % 2 == 1;
            if strict {
                index.iter_mut().for_each(|at| *at = at.rem_euclid(size));
            }
            let bounds = if strict { Bounds::STRICT } else { Bounds::DROP };
            let narrow: Vec<i32> = index.iter().map(|&at| at as i32).collect();
            let narrow = TensorView::from(&narrow[..]).into_dyn();
            let index = TensorView::from(&index[..]).into_dyn();
            let size = Some(size as usize);
            let plan = Plan::new_dyn(&index, size, bounds, None).unwrap();
            for dtype in [DType::F32, DType::F64, DType::I64] {
                let nan = if round % 4 == 0 { 3.0 } else { f64::NAN };
                // Medians leave their own loop where a result is made of zeros of both signs.
                let zeros = round % 3 != 1;
                let [one, two] = values(dtype, count, nan, zeros, &mut state);
                for aggregate in OWN {
                    let options = AggregateOptions {
                        fill_value: (round % 3 == 0).then_some(Scalar::Int(1)),
                        skip_nan: round % 8 < 2,
                        ..AggregateOptions::default()
                    };
                    let of = |src: &DynTensor, index| {
                        let wanted = [aggregate];
                        let (src, options) = (src.view(), options.clone());
                        aggregate_dyn(&src, index, 0, &wanted, size, bounds, options)
                            .unwrap()
                            .swap_remove(0)
                    };
                    let planned = plan.aggregate_dyn(&one.view(), 0, &[aggregate], options.clone());
                    let expected = of(&two, &index);
                    for made in [
                        of(&one, &index),
                        of(&one, &narrow),
                        planned.unwrap().swap_remove(0),
                    ] {
                        assert_eq!(made.dtype(), expected.dtype());
                        let told = (aggregate, dtype, count, size, round);
                        assert!(shown(&made, 1) == shown(&expected, 2), "{told:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_that_is_no_group_is_an_error_whatever_the_loop() {
        for at in [0, 4321, 99_999] {
            for bad in [-1, 9, i64::MIN, i64::MAX] {
                let mut index = vec![1i64; 100_000];
                index[at] = bad;
                let index = TensorView::from(&index).into_dyn();
                let values = vec![1.0f32; 100_000];
                let values = TensorView::from(&values).into_dyn();
                for aggregate in OWN {
                    let (wanted, options) = ([aggregate], AggregateOptions::default());
                    let strict = Bounds::STRICT;
                    let made = aggregate_dyn(&values, &index, 0, &wanted, Some(9), strict, options);
                    let error = made.unwrap_err().to_string();
                    assert!(error.contains(&format!("[{at}] = {bad}")), "{error}");
                }
            }
        }
    }
}
