//! What is made of the values of each group, column by column.

use crate::choose::plan_cost::threads;
use crate::exec::crew::Crew;
use crate::plan::{Plan, rows_of};
use crate::scatter::bounds::Bounds;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use std::cell::OnceCell;
use strew_kernel::copy::strided::duplicate;
use strew_kernel::error::Problem;
use strew_kernel::group_stats::blocks::{Count, GroupStats};
use strew_kernel::group_stats::output::Summary;
use strew_kernel::group_stats::read::{ReadRows, ReadValues};
use strew_kernel::group_stats::statistics::Value;
use strew_kernel::group_stats::stream::{Stream, is_streamed};
use strew_kernel::tensor::{DType, DynTensor, DynView, Element, Held};

/// Which values count.
#[derive(Clone, Copy, Debug)]
pub struct Among {
    /// NaN does not.
    pub skip: bool,
    /// Of fewer values than this nothing is made.
    pub least: usize,
}

/// Values as they are computed.
struct Same<'v, T>(&'v [T]);

impl<T: Value> ReadValues<T> for Same<'_, T> {
    fn copy_values(&self, from: usize, to: &mut [T]) {
        to.copy_from_slice(&self.0[from..from + to.len()]);
    }

    fn read_values<'r>(&'r self, from: usize, room: &'r mut [T]) -> &'r [T] {
        &self.0[from..from + room.len()]
    }
}

/// Values of another type than that in which they are computed.
struct Widened<'v, S, W> {
    values: &'v [S],
    widen: W,
}

impl<S: Element, T: Value, W: Fn(S) -> T + Sync> ReadValues<T> for Widened<'_, S, W> {
    fn copy_values(&self, from: usize, to: &mut [T]) {
        let values = &self.values[from..from + to.len()];
        for (to, &value) in to.iter_mut().zip(values) {
            *to = (self.widen)(value);
        }
    }
}

/// The groups that values belong to.
pub enum Groups<'g> {
    Plan(&'g Plan),
    Index(Numbers<'g>),
}

/// An index that is used once: statistics that take one pass read it as they go.
pub struct Numbers<'n> {
    index: &'n DynView<'n>,
    bounds: Bounds,
    size: usize,
    /// What errors call the index.
    argument: &'static str,
    /// For statistics that need all values of a group together.
    plan: OnceCell<Plan>,
}

impl<'n> Numbers<'n> {
    /// An index into `size` groups, or into as many as it names.
    ///
    /// # Errors
    /// [`Problem::Shape`], [`Problem::DType`], [`Problem::Value`] for a size that is none.
    pub fn new(
        index: &'n DynView<'n>,
        size: Option<usize>,
        bounds: Bounds,
        argument: &'static str,
    ) -> Result<Self, Problem> {
        let size = rows_of(index, size, bounds).map_err(|problem| named(problem, argument))?;
        Ok(Self {
            index,
            bounds,
            size,
            argument,
            plan: OnceCell::new(),
        })
    }

    fn plan(&self) -> Result<&Plan, Problem> {
        if let Some(plan) = self.plan.get() {
            return Ok(plan);
        }
        let made = Plan::analyse(self.index, Some(self.size), self.bounds, None);
        let made = made.map_err(|problem| named(problem, self.argument))?;
        Ok(self.plan.get_or_init(|| made))
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

    fn read_rows(&self, from: usize, rows: &mut [i64]) -> bool {
        let step = self.index.layout().strides().first().copied().unwrap_or(0);
        let first = from.cast_signed().wrapping_mul(step);
        let size = self.size as u64;
        if !self.index.read_integers(first, step, rows) {
            return false;
        }
        let inside = |all, row: &i64| all & (row.cast_unsigned() < size);
        if !self.bounds.ignores() && rows.iter().fold(true, inside) {
            return true;
        }
        rows.iter_mut().all(|row| {
            let resolved = self.bounds.resolve(*row, self.size);
            resolved.is_ok_and(|found| {
                *row = found.unwrap_or(-1);
                true
            })
        })
    }
}

impl Groups<'_> {
    pub(crate) fn updates(&self) -> usize {
        match self {
            Self::Plan(plan) => plan.len(),
            Self::Index(numbers) => numbers.updates(),
        }
    }

    fn size(&self) -> usize {
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
    /// [`Problem::IndexOutOfBounds`]; [`Problem::Memory`].
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
        let held: Held<'_> = match src.layout().is_contiguous() {
            true => src.clone().into(),
            false => duplicate(src)?.into(),
        };
        let src = held.view();
        macro_rules! of {
            ($from:ty as $to:ty, |$values:ident| $read:expr) => {{
                let $values = src.typed::<$from>().ok_or_else(torn)?;
                let $values = $values.as_slice().ok_or_else(torn)?;
                self.each::<$to>(src, axis, &$read, wanted, among)
            }};
            ($from:ty, $to:ty, $widen:expr) => {
                of!($from as $to, |values| Widened {
                    values,
                    widen: $widen
                })
            };
        }
        match src.dtype() {
            DType::Bool => of!(bool, u64, u64::from),
            DType::U8 => of!(u8, u64, u64::from),
            DType::U16 => of!(u16, u64, u64::from),
            DType::U32 => of!(u32, u64, u64::from),
            DType::U64 => of!(u64 as u64, |values| Same(values)),
            DType::I8 => of!(i8, i64, i64::from),
            DType::I16 => of!(i16, i64, i64::from),
            DType::I32 => of!(i32, i64, i64::from),
            DType::I64 => of!(i64 as i64, |values| Same(values)),
            DType::F16 => of!(f16, f64, f64::from),
            DType::BF16 => of!(bf16, f64, f64::from),
            DType::F32 => of!(f32, f64, f64::from),
            DType::F64 => of!(f64 as f64, |values| Same(values)),
            DType::C64 => of!(Complex32, Complex64, widened),
            DType::C128 => of!(Complex64 as Complex64, |values| Same(values)),
        }
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
            false => self.size(),
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
                while !stream.make(&mut results, count)? {
                    // Finds the number, unless the index has changed meanwhile.
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
            made.reshape(&cells).map_err(|_| Problem::Layout {
                argument: "src".into(),
                why: "its results would have another shape".into(),
            })
        });
        done.collect()
    }
}

fn widened(value: Complex32) -> Complex64 {
    Complex64::new(value.re.into(), value.im.into())
}

/// Makes everything, in parts that have groups of their own.
fn share<T: Value>(
    columns: &GroupStats<'_, T>,
    made: &mut [DynTensor],
    count: Count<'_>,
    threads: usize,
) -> Result<(), Problem> {
    let crew = Crew::new(threads, None);
    let parts = columns.parts(made, count.wanted, crew.threads());
    let done = crew.each(parts, |part, _| Ok(columns.make(part, count)?));
    let no_index = || unreachable!("groups have been read before");
    done.map(drop).map_err(|fault| fault.into_problem(no_index))
}
