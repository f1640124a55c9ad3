//! What is made of the values of each group, column by column.

use crate::choose::plan_cost::threads;
use crate::exec::crew::Crew;
use crate::plan::Plan;
use crate::scatter::bounds::Bounds;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use strew_kernel::copy::strided::duplicate;
use strew_kernel::error::Problem;
use strew_kernel::group_stats::blocks::{Count, GroupStats};
use strew_kernel::group_stats::output::Summary;
use strew_kernel::group_stats::statistics::Value;
use strew_kernel::group_stats::stream::{Stream, is_streamed};
use strew_kernel::tensor::{DType, DynTensor, DynView, Held};

/// Which values count.
#[derive(Clone, Copy, Debug)]
pub struct Among {
    /// NaN does not.
    pub skip: bool,
    /// Of fewer values than this nothing is made.
    pub least: usize,
}

impl Plan {
    /// A plan of somebody's index, whose argument has that name.
    ///
    /// # Errors
    /// [`Problem::IndexOutOfBounds`], [`Problem::Shape`], [`Problem::DType`], [`Problem::Memory`].
    #[doc(hidden)] // Internal: for the crates of strew alone.
    pub fn analysed(
        index: &DynView<'_>,
        size: usize,
        bounds: Bounds,
        argument: &'static str,
    ) -> Result<Self, Problem> {
        Self::analyse(index, Some(size), bounds, None).map_err(|mut problem| {
            if let Problem::IndexOutOfBounds { argument: of, .. }
            | Problem::Shape { argument: of, .. }
            | Problem::DType { argument: of, .. } = &mut problem
            {
                *of = argument;
            }
            problem
        })
    }

    /// What is to be made of the values, along an axis, in one trip. Integers and bools are
    /// computed in 64 bits, floats in `float64`, complex numbers in `complex128`; results become
    /// elements as C casts them, each rounded once.
    ///
    /// # Errors
    /// [`Problem::Layout`] if there is no such axis, of as many values as the plan has updates;
    /// [`Problem::Memory`].
    #[doc(hidden)] // Internal: for the crates of strew alone.
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
        if src.shape().get(axis) != Some(&self.len()) {
            return Err(torn());
        }
        let held: Held<'_> = match src.layout().is_contiguous() {
            true => src.clone().into(),
            false => duplicate(src)?.into(),
        };
        let src = held.view();
        macro_rules! of {
            ($from:ty, $to:ty, $widen:expr) => {{
                let values = src.typed::<$from>().ok_or_else(torn)?;
                let values = values.as_slice().ok_or_else(torn)?;
                let read = |at: usize, row: &mut [$to]| {
                    let values = &values[at..at + row.len()];
                    for (to, &value) in row.iter_mut().zip(values) {
                        *to = $widen(value);
                    }
                };
                self.each(src, axis, &read, wanted, among)
            }};
        }
        match src.dtype() {
            DType::Bool => of!(bool, u64, u64::from),
            DType::U8 => of!(u8, u64, u64::from),
            DType::U16 => of!(u16, u64, u64::from),
            DType::U32 => of!(u32, u64, u64::from),
            DType::U64 => of!(u64, u64, u64::from),
            DType::I8 => of!(i8, i64, i64::from),
            DType::I16 => of!(i16, i64, i64::from),
            DType::I32 => of!(i32, i64, i64::from),
            DType::I64 => of!(i64, i64, i64::from),
            DType::F16 => of!(f16, f64, f64::from),
            DType::BF16 => of!(bf16, f64, f64::from),
            DType::F32 => of!(f32, f64, f64::from),
            DType::F64 => of!(f64, f64, f64::from),
            DType::C64 => of!(Complex32, Complex64, widened),
            DType::C128 => of!(Complex64, Complex64, Complex64::from),
        }
    }

    fn each<T: Value>(
        &self,
        src: &DynView<'_>,
        axis: usize,
        read: &(dyn Fn(usize, &mut [T]) + Sync),
        wanted: &[Summary],
        among: Among,
    ) -> Result<Vec<DynTensor>, Problem> {
        let shape = src.shape();
        let (outer, inner) = (
            shape[..axis].iter().product(),
            shape[axis + 1..].iter().product(),
        );
        let rows = |wanted: &Summary| match wanted.statistic.is_of_each() {
            true => self.len(),
            false => self.size(),
        };
        let cells = |wanted: &Summary| wanted.cells([outer, rows(wanted), inner]);
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
            let mut results = of
                .iter()
                .map(|wanted| cells(wanted))
                .collect::<Result<Vec<_>, _>>()?;
            if streams {
                let stream = Stream {
                    rows: self.numbers(),
                    size: self.size(),
                    read,
                    outer,
                    inner,
                };
                stream.make(&mut results, count)?;
            } else {
                let columns = GroupStats {
                    groups: self.groups()?,
                    read,
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
