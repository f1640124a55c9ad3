//! What is made of the values of each group, column by column.

use super::Plan;
use crate::error::Problem;
use crate::kernel::{Columns, Made, Results, Statistic, Value, converted};
use crate::plan::Bounds;
use crate::tensor::{DType, DynTensor, DynView, Element, Held};

/// What is to be made of the values that go to each row of a plan.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) statistic: Statistic,
    /// What stands where nothing is made: an element of the result's type.
    pub(crate) fill: DynTensor,
}

/// Which values count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Among {
    /// NaN does not.
    pub(crate) skip: bool,
    /// Of fewer values than this nothing is made.
    pub(crate) least: usize,
}

impl Plan {
    /// A plan of somebody's index, whose argument has that name.
    ///
    /// # Errors
    /// [`Problem::IndexOutOfBounds`], [`Problem::Shape`], [`Problem::DType`], [`Problem::Memory`].
    pub(crate) fn analysed(
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

    /// What is to be made of the values, along an axis, in one trip. Integers and bools are computed in 64 bits,
    /// floats in `float64`, complex numbers in `complex128`; results become elements as C casts them, each rounded
    /// once.
    ///
    /// # Errors
    /// [`Problem::Layout`] if there is no such axis, of as many values as the plan has updates;
    /// [`Problem::Memory`].
    pub(crate) fn statistics(
        &self,
        src: &DynView<'_>,
        axis: usize,
        wanted: &[Wanted],
        among: Among,
    ) -> Result<Vec<DynTensor>, Problem> {
        let wide = wide(src)?;
        match wide.view().dtype() {
            DType::I64 => self.each::<i64>(wide.view(), axis, wanted, among),
            DType::U64 => self.each::<u64>(wide.view(), axis, wanted, among),
            DType::F64 => self.each::<f64>(wide.view(), axis, wanted, among),
            _ => self.each::<num_complex::Complex64>(wide.view(), axis, wanted, among),
        }
    }

    fn each<T: Value>(
        &self,
        wide: &DynView<'_>,
        axis: usize,
        wanted: &[Wanted],
        among: Among,
    ) -> Result<Vec<DynTensor>, Problem> {
        let torn = || Problem::Layout {
            argument: "src".into(),
            why: "it has no such axis, of as many values as there are in the index".into(),
        };
        let shape = wide.shape();
        if shape.get(axis) != Some(&self.len()) {
            return Err(torn());
        }
        let values = wide.typed::<T>().ok_or_else(torn)?;
        let columns = Columns {
            groups: self.groups()?,
            values: values.as_slice().ok_or_else(torn)?,
            outer: shape[..axis].iter().product(),
            inner: shape[axis + 1..].iter().product(),
        };
        let statistics: Vec<Statistic> = wanted.iter().map(|wanted| wanted.statistic).collect();
        let made = columns.make(&statistics, among.skip, among.least)?;
        let done = made.into_iter().zip(wanted).map(|(made, wanted)| {
            let mut cells = wide.dims();
            if !wanted.statistic.is_of_each() {
                cells[axis] = self.size();
            }
            let done = finished(made, &wanted.fill)?;
            done.reshape(&cells).map_err(|_| torn())
        });
        done.collect()
    }
}

/// The values, row by row, in the type that they are computed in.
fn wide<'a>(src: &DynView<'a>) -> Result<Held<'a>, Problem> {
    let dtype = match src.dtype() {
        DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64 => DType::U64,
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => DType::I64,
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => DType::F64,
        DType::C64 | DType::C128 => DType::C128,
    };
    Ok(match src.dtype() == dtype && src.layout().is_contiguous() {
        true => src.clone().into(),
        false => converted(src, dtype)?.into(),
    })
}

/// Results as elements of a type.
fn finished<T: Element>(made: Made<T>, fill: &DynTensor) -> Result<DynTensor, Problem> {
    let dtype = fill.dtype();
    let numbers = match made.numbers {
        Results::Same(all) => all.into_dyn(),
        Results::Real(all) => all.into_dyn(),
        Results::Whole(all) => all.into_dyn(),
    };
    let mut done = match numbers.dtype() == dtype {
        true => numbers,
        false => converted(&numbers.view(), dtype)?,
    };
    let cells = done.as_bytes_mut().chunks_exact_mut(dtype.size());
    for (cell, _) in cells.zip(&made.set).filter(|(_, set)| !**set) {
        cell.copy_from_slice(fill.as_bytes());
    }
    Ok(done)
}
