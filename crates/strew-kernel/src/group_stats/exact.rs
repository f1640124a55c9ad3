//! Statistics of groups whose exact value is rounded once: sum, mean, sum of squares, variance,
//! standard deviation and error.
//!
//! ```text
//! record = exact sum of the values, exact sum of their squares, count
//! sum = round(sum); mean = round(sum / n)
//! variance = round((n * squares - sum^2) / (n * (n - ddof)))
//! ```
//!
//! They do not depend on the order of the values, so records of other values are merged by
//! additions. The sums are those of [`exact`](crate::exact). The parts that a wanted statistic does
//! not need are not kept.
//!
//! A square is two float64 numbers whose sum it is: the rounded product and its error. Squares of
//! very small and very large values would leave the range of float64. They are squares of values by
//! a power of two, in sums of their own.

use crate::error::Problem;
use crate::exact::digits::carry_of;
use crate::exact::number::Format;
use crate::exact::planes::{PLANES, Planes};
use crate::exact::quotient::Scaled;
use crate::exact::sums::Exact;
use crate::group_stats::records::{Block, Records, grow};
use crate::statistic::cell::Cell;
use crate::statistic::output::{Results, Row, Wanted};
use crate::statistic::value::Value;
use crate::statistic::what::{ExactOf, Statistic};
use crate::tensor::spread::Spread;
use crate::tensor::{DType, List, try_vec};
use num_complex::Complex64;
use smallvec::SmallVec;
use std::any::Any as Erased;

/// The parts of a record that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    sums: bool,
    squares: bool,
    counts: bool,
}

impl Parts {
    /// Those that a statistic is made of.
    pub(crate) fn of(statistic: ExactOf) -> Self {
        let squares = !matches!(statistic, ExactOf::Sum | ExactOf::Mean);
        Self {
            sums: statistic != ExactOf::SumOfSquares,
            squares,
            counts: !matches!(statistic, ExactOf::Sum | ExactOf::SumOfSquares),
        }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            sums: self.sums | other.sums,
            squares: self.squares | other.squares,
            counts: self.counts | other.counts,
        }
    }
}

/// Values of at least this have squares by 2^-1080.
const HUGE: f64 = power(500);

/// Values below this have squares by 2^1080.
const TINY: f64 = power(-480);

/// Squares of these values are multiplied by it twice.
const DOWN: f64 = power(-540);
const UP: f64 = power(540);

const fn power(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The exact sums of all groups.
pub(crate) struct ExactRecords {
    parts: Parts,
    cells: usize,
    /// Of real numbers one, of complex numbers two.
    sums: SmallVec<[Exact; 2]>,
    /// Of the squares, of those that are too large, and of those that are too small.
    squares: SmallVec<[Exact; 3]>,
    counts: List<u64>,
    /// Cells and numbers on their way to a sum.
    places: Vec<usize>,
    numbers: Vec<f64>,
    /// Why the sums lack some values.
    failed: Option<Problem>,
}

impl ExactRecords {
    pub(crate) fn new<T: Value>(parts: Parts, cells: usize) -> Result<Self, Problem> {
        let mut counts = List::empty();
        grow(&mut counts, if parts.counts { cells } else { 0 }, 0)?;
        let sums = match (parts.sums, T::COMPLEX) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => 2,
        };
        let squares = if parts.squares { 3 } else { 0 };
        Ok(Self {
            parts,
            cells,
            sums: (0..sums).map(|_| Exact::new(cells)).collect(),
            squares: (0..squares).map(|_| Exact::new(cells)).collect(),
            counts,
            places: Vec::new(),
            numbers: Vec::new(),
            failed: None,
        })
    }

    fn all(&self) -> impl Iterator<Item = &Exact> {
        self.sums.iter().chain(&self.squares)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Exact> {
        self.sums.iter_mut().chain(&mut self.squares)
    }

    /// Makes room for numbers on their way to a sum.
    fn reserve(&mut self, count: usize) -> Result<(), Problem> {
        let what = "values of exact sums";
        if self.numbers.capacity() < count {
            self.places = try_vec(what, count)?;
            self.numbers = try_vec(what, count)?;
        }
        Ok(())
    }

    fn add<T: Value>(&mut self, block: &Block<'_, T>) -> Result<(), Problem> {
        // A square has at most six numbers, a value two.
        let each = if self.parts.squares { 6 } else { 2 };
        self.reserve(block.values.len().saturating_mul(each))?;
        let plain = !block.skip && !self.parts.squares && !self.parts.counts;
        if let (true, Some(values)) = (plain, T::floats(block.values)) {
            self.places.clear();
            let places = block.rows.iter().map(|&row| row as usize);
            self.places.extend(places);
            let (places, width) = (&self.places, block.inner);
            let add = |sums: &mut Exact| sums.add_rows(places, width, values);
            return self.sums.iter_mut().try_for_each(add);
        }
        let rows = block.rows.iter().zip(block.values.chunks(block.inner));
        let elements = rows
            .filter(|(row, _)| **row >= 0)
            .flat_map(|(&row, values)| {
                let first = (row as usize).saturating_mul(block.inner);
                (first..).zip(values)
            });
        let counted = |&(_, value): &(usize, &T)| !(block.skip && value.nan());
        let elements = elements.filter(counted);
        if self.parts.counts {
            for (cell, _) in elements.clone() {
                if let Some(count) = self.counts.get_mut(cell) {
                    *count += 1;
                }
            }
        }
        for (part, sums) in self.sums.iter_mut().enumerate() {
            self.places.clear();
            self.numbers.clear();
            for (cell, value) in elements.clone() {
                let [first, second] = value.pieces();
                self.places.push(cell);
                self.numbers.push([first, second][part]);
                if !T::COMPLEX && second != 0.0 {
                    self.places.push(cell);
                    self.numbers.push(second);
                }
            }
            sums.add_all(&self.places, &self.numbers)?;
        }
        if self.parts.squares {
            self.add_squares::<T>(elements.map(|(cell, value)| (cell, value.pieces())))?;
        }
        Ok(())
    }

    fn add_squares<T: Value>(
        &mut self,
        elements: impl Iterator<Item = (usize, [f64; 2])>,
    ) -> Result<(), Problem> {
        let Self {
            squares,
            places,
            numbers,
            ..
        } = self;
        let [usual, huge, tiny] = &mut squares[..] else {
            return Ok(());
        };
        places.clear();
        numbers.clear();
        let mut square = |cell: usize, value: f64, twice: f64| -> Result<(), Problem> {
            let size = value.abs();
            let (of_its_own, scale) = match size {
                HUGE..f64::INFINITY => (Some(&mut *huge), DOWN),
                _ if size < TINY && value != 0.0 => (Some(&mut *tiny), UP),
                _ => (None, 1.0),
            };
            let (a, b) = (value * scale, twice * scale);
            let product = a * b;
            let error = a.mul_add(b, -product);
            let pair = [product, if product.is_finite() { error } else { 0.0 }];
            let pair = &pair[..if pair[1] == 0.0 { 1 } else { 2 }];
            match of_its_own {
                None => {
                    places.extend(pair.iter().map(|_| cell));
                    numbers.extend(pair);
                    Ok(())
                }
                Some(sums) => sums.add_all(&[cell, cell][..pair.len()], pair),
            }
        };
        for (cell, [first, second]) in elements {
            square(cell, first, first)?;
            if second != 0.0 || second.is_nan() {
                square(cell, second, second)?;
                // Two pieces of an integer, which is their sum.
                if !T::COMPLEX {
                    square(cell, second, 2.0 * first)?;
                }
            }
        }
        usual.add_all(places, numbers)
    }

    /// The sum of the squares of a cell; `None` if a value is not finite.
    fn square(&self, cell: usize) -> Option<Scaled> {
        let mut all = Scaled::zero();
        for (sums, shift) in self.squares.iter().zip([0, 1080, -1080]) {
            all = all.plus(Scaled::of(sums.one(cell).finite()?, shift));
        }
        Some(all)
    }

    /// The variance of a cell, or what else is made of it. NaN if a value is not finite.
    fn variance(&self, cell: usize, of: ExactOf, format: Format) -> Option<f64> {
        let count = self.counts[cell];
        let (ddof, root, error) = match of {
            ExactOf::Var { ddof } => (ddof, false, false),
            ExactOf::Std { ddof } => (ddof, true, false),
            ExactOf::Sem { ddof } => (ddof, true, true),
            _ => return None,
        };
        let n = Scaled::of_count(count);
        if !ddof.is_finite() || count == 0 {
            return None;
        }
        let free = n.clone().minus(Scaled::of_float(ddof));
        if !free.is_positive() {
            return None;
        }
        let finite = || {
            let mut over = self.square(cell)?.times(&n);
            for sums in &self.sums {
                let sum = Scaled::of(sums.one(cell).finite()?, 0);
                over = over.minus(sum.times(&sum));
            }
            Some(over)
        };
        let mut under = free.times(&n);
        if error {
            under = under.times(&n);
        }
        Some(finite().map_or(f64::NAN, |over| over.divided(&under, root, format)))
    }

    /// Some results of sums, or of means.
    fn round(&self, part: usize, from: usize, of: ExactOf, format: Format, to: &mut [f64]) {
        let counts = (of == ExactOf::Mean).then(|| &self.counts[from..from + to.len()]);
        self.sums[part].round(from, counts, format, to);
    }
}

impl<T: Value> Records<T> for ExactRecords {
    fn begin(&mut self) {
        let cells = self.cells;
        self.all_mut().for_each(|sums| *sums = Exact::new(cells));
        self.counts.fill(0);
    }

    fn grow(&mut self, cells: usize) -> Result<(), Problem> {
        if cells > self.cells {
            // The sums grow to twice as many at least, so that they are copied seldom.
            for sums in self.sums.iter_mut().chain(&mut self.squares) {
                if cells > sums.cells() {
                    sums.grow(cells.max(sums.cells().saturating_mul(2)))?;
                }
            }
            if self.parts.counts {
                grow(&mut self.counts, cells, 0)?;
            }
            self.cells = cells;
        }
        Ok(())
    }

    fn join(&mut self, block: &Block<'_, T>) -> bool {
        if self.failed.is_none() {
            self.failed = self.add(block).err();
        }
        let rows = self.cells / block.inner;
        block.rows.iter().all(|&row| (row as usize) < rows)
    }

    fn merge(&mut self, other: &dyn Records<T>) {
        let other: &dyn Erased = other;
        let Some(other) = other.downcast_ref::<Self>() else {
            return;
        };
        let merged = (self.all_mut().zip(other.all()))
            .try_for_each(|(sums, others)| sums.merge_from(others));
        for (count, other) in self.counts.iter_mut().zip(other.counts.iter()) {
            *count = count.wrapping_add(*other);
        }
        let failed = merged.err().or_else(|| other.failed.clone());
        self.failed = self.failed.take().or(failed);
    }

    fn copy_from(&mut self, other: &dyn Records<T>, to: Spread<'_>) -> Result<(), Problem> {
        let other: &dyn Erased = other;
        let Some(other) = other.downcast_ref::<Self>() else {
            return Ok(());
        };
        let spread = |sums: &Exact| sums.spread(to);
        let sums = other.sums.iter().map(spread).collect::<Result<_, _>>()?;
        self.squares = other.squares.iter().map(spread).collect::<Result<_, _>>()?;
        self.sums = sums;
        to.copy(&other.counts, &mut self.counts);
        Ok(())
    }

    fn check(&self) -> Result<(), Problem> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn finish(&self, statistic: Statistic, from: usize, row: &mut Row<T>) {
        let Statistic::Exact(of, format) = statistic else {
            return;
        };
        match &mut row.numbers {
            Results::Same(to) => {
                let mut parts = [0, 1].map(|_| vec![0.0; to.len()]);
                for (part, to) in parts.iter_mut().enumerate() {
                    self.round(part, from, of, format, to);
                }
                for (to, (&re, &im)) in to.iter_mut().zip(parts[0].iter().zip(&parts[1])) {
                    *to = T::of(Complex64::new(re, im));
                }
            }
            Results::Real(to) => match of {
                ExactOf::Sum | ExactOf::Mean => self.round(0, from, of, format, to),
                ExactOf::SumOfSquares => {
                    let one = Scaled::of_float(1.0);
                    for (cell, to) in (from..).zip(to) {
                        let usual = self.squares[0].one(cell);
                        *to = match self.square(cell) {
                            Some(square) => square.divided(&one, false, format),
                            None => usual.round(format),
                        };
                    }
                }
                _ => {
                    for ((cell, to), set) in (from..).zip(to).zip(&mut row.set) {
                        match self.variance(cell, of, format).filter(|_| *set) {
                            Some(value) => *to = value,
                            None => *set = false,
                        }
                    }
                }
            },
            Results::Whole(_) => {}
        }
    }

    fn may_lack_values(&self) -> bool {
        true
    }

    fn starts_with_fill(&self, wanted: &Wanted) -> bool {
        let sum = matches!(
            wanted.statistic,
            Statistic::Exact(ExactOf::Sum | ExactOf::SumOfSquares, _)
        );
        sum && wanted.fill.as_bytes().iter().all(|&byte| byte == 0)
    }

    fn bytes(&self) -> usize {
        let sums = self.all().count();
        sums + if self.parts.counts { u64::BYTES } else { 0 }
    }

    fn memory(&self) -> usize {
        let sums: usize = self.all().map(Exact::bytes).sum();
        sums + (self.counts.len() + self.counts.room()) * size_of::<u64>()
    }

    /// For each sum how many planes there are, the number and the entries of each, and the flags;
    /// then the counts.
    fn write(&self, cells: usize, to: &mut Vec<u8>) -> Result<(), Problem> {
        for sums in self.all() {
            let planes = sums.to_planes()?;
            let all: SmallVec<[(usize, &[i64]); 8]> = planes.planes().collect();
            let bytes = all
                .len()
                .saturating_mul(8 * (cells + 1))
                .saturating_add(cells);
            to.try_reserve(bytes).map_err(|_| Problem::Memory {
                what: "exact sums as bytes".into(),
                needed: bytes as u128,
                available: to.capacity() as u128,
            })?;
            (all.len() as u64).write(to);
            for (number, plane) in all {
                (number as u64).write(to);
                plane[..cells].iter().for_each(|entry| entry.write(to));
            }
            match planes.flags() {
                [] => to.resize(to.len() + cells, 0),
                flags => to.extend_from_slice(&flags[..cells]),
            }
        }
        if self.parts.counts {
            let counts = self.counts[..cells].iter();
            counts.for_each(|&count| count.write(to));
        }
        Ok(())
    }

    fn read(&mut self, from: &mut &[u8]) -> Option<()> {
        let cells = self.cells;
        for sums in self.all_mut() {
            let count = usize::try_from(u64::read(from)?).ok()?;
            if count > PLANES {
                return None;
            }
            let mut planes: Vec<(usize, Vec<i64>)> = Vec::with_capacity(count);
            for _ in 0..count {
                let number = usize::try_from(u64::read(from)?).ok()?;
                let (entries, rest) = from.split_at_checked(cells.checked_mul(8)?)?;
                *from = rest;
                let mut plane = try_vec("exact sums", cells).ok()?;
                let (entries, _) = entries.as_chunks();
                plane.extend(entries.iter().map(|&entry| i64::from_le_bytes(entry)));
                let ascends = planes.last().is_none_or(|&(last, _)| last < number);
                if !ascends || !is_written(number, &plane) {
                    return None;
                }
                planes.push((number, plane));
            }
            let (flags, rest) = from.split_at_checked(cells)?;
            *from = rest;
            let flags = match flags.iter().all(|&flag| flag == 0) {
                true => Vec::new(),
                false => flags.to_vec(),
            };
            *sums = Exact::of(Planes::from_parts(cells, planes, flags).ok()?);
        }
        for count in self.counts.iter_mut() {
            *count = u64::read(from)?;
        }
        Some(())
    }
}

/// Whether a plane is one that is written: it is not all zeros, and its carries were taken.
fn is_written(number: usize, plane: &[i64]) -> bool {
    let any = plane.iter().any(|&entry| entry != 0);
    // The last plane has no plane above it to carry to.
    any && (number == PLANES - 1 || plane.iter().all(|&entry| carry_of(entry) == 0))
}

/// The format that results of a type are rounded to.
#[must_use]
pub fn format_of(dtype: DType) -> Format {
    match dtype {
        DType::F16 => Format::F16,
        DType::BF16 => Format::BF16,
        DType::F32 | DType::C64 => Format::F32,
        _ => Format::F64,
    }
}
