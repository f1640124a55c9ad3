//! Exact sums of many values: a window of one to three integers per cell in front of the planes.
//!
//! ```text
//! look at the exponents of the first values; choose the number of words and the window's place
//! for each value that fits the window: sums[row] += the value
//! for each other one: planes.add(row, value)
//! when too many values miss the window: planes += sums; choose again
//! at the end: results of the window, or planes += sums and results of the planes
//! ```
//!
//! | words | bits below the bound | for |
//! |---|---|---|
//! | 1 | 47 | ordinary float32 data |
//! | 2 | 94 | ordinary float64 data, float32 data over 68 exponents |
//! | 3 | 141 | float64 data over 86 exponents |
//! | none | all | other values: they go to the planes |
//!
//! Every choice is exact. It changes the time, never a sum.
//!
//! Relies on the default floating-point environment: round to nearest, subnormal numbers kept.

use crate::error::Problem;
use crate::exact::cells::Cells;
use crate::exact::number::{Format, SPECIAL};
use crate::exact::one_sum::OneSum;
use crate::exact::planes::Planes;
use crate::exact::window::Window;
use crate::tensor::spread::Spread;
use crate::walk::offsets::PrefetchHints;

/// Values between two looks at how many missed the window. A choice reads at most that many.
const PART: usize = 1 << 14;

/// Choices of a window before all values go to the planes.
const CHOICES: u32 = 8;

/// The sums so far, beside the planes.
#[derive(Debug)]
enum Tier {
    /// No window is chosen yet.
    Unset,
    /// A window of one word.
    One(Window<1>),
    /// A window of two words.
    Two(Window<2>),
    /// A window of three words.
    Three(Window<3>),
    /// All values go to the planes.
    Direct,
}

/// The exact sum of each cell, for many values.
#[derive(Debug)]
pub struct Exact {
    planes: Planes,
    tier: Tier,
    /// Windows that were chosen so far.
    choices: u32,
    /// Values since the last choice, and those of them that missed the window.
    seen: u64,
    missed: u64,
    /// The cells that have something in the planes beside the window, in ascending order, once the
    /// sums are settled.
    mixed: Vec<usize>,
}

/// Maximum share of such cells: the sums of the others are rounded without a look at the planes,
/// but those of these cells take some 200 ns each.
const MIXED: usize = 64;

impl Exact {
    /// Sums of zero. Allocates nothing.
    #[must_use]
    pub fn new(cells: usize) -> Self {
        Self {
            planes: Planes::new(cells),
            tier: Tier::Unset,
            choices: 0,
            seen: 0,
            missed: 0,
            mixed: Vec::new(),
        }
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.planes.cells()
    }

    /// Bytes of memory that the window and the planes take.
    pub fn bytes(&self) -> usize {
        let window = match &self.tier {
            Tier::One(window) => window.bytes(),
            Tier::Two(window) => window.bytes(),
            Tier::Three(window) => window.bytes(),
            Tier::Unset | Tier::Direct => 0,
        };
        window + self.planes.bytes()
    }

    /// Adds each value to the cell of its row. Ignores rows that are not below the number of cells.
    ///
    /// # Errors
    /// [`Problem::Memory`]. Some of the values have been added then.
    pub fn add_all<V: Copy + Into<f64>>(
        &mut self,
        rows: &[usize],
        values: &[V],
    ) -> Result<(), Problem> {
        let count = rows.len().min(values.len());
        let (rows, values) = (&rows[..count], &values[..count]);
        for (rows, values) in rows.chunks(PART).zip(values.chunks(PART)) {
            self.add_part(rows, values, None)?;
        }
        Ok(())
    }

    /// Adds at most some thousand values to as many cells. False if some of the cells do not exist;
    /// their values are left out.
    ///
    /// # Errors
    /// [`Problem::Memory`]. Some of the values have been added then.
    pub(crate) fn add_part<V: Copy + Into<f64>>(
        &mut self,
        cells: impl Cells,
        values: &[V],
        ahead: Option<PrefetchHints>,
    ) -> Result<bool, Problem> {
        self.prepare(values)?;
        let planes = &mut self.planes;
        let added = match &mut self.tier {
            Tier::One(window) => window.add_all(cells, values, planes, ahead)?,
            Tier::Two(window) => window.add_all(cells, values, planes, ahead)?,
            Tier::Three(window) => window.add_all(cells, values, planes, ahead)?,
            Tier::Unset | Tier::Direct => {
                let mut all_there = true;
                let mut rows = [0; 64];
                for (part, values) in values.chunks(rows.len()).enumerate() {
                    for (n, row) in rows[..values.len()].iter_mut().enumerate() {
                        *row = cells.at(part * 64 + n);
                        all_there &= *row < planes.cells();
                    }
                    planes.add_all(&rows[..values.len()], values)?;
                }
                return Ok(all_there);
            }
        };
        self.missed += added.missed;
        Ok(added.all_there)
    }

    /// Prefetches neighbouring cells.
    pub(crate) fn prefetch(&self, first: usize, cells: usize) {
        match &self.tier {
            Tier::One(window) => window.prefetch(first, cells),
            Tier::Two(window) => window.prefetch(first, cells),
            Tier::Three(window) => window.prefetch(first, cells),
            Tier::Unset | Tier::Direct => {}
        }
    }

    /// Adds a row of `width` values to the cells of each row: value j of update i to cell
    /// `rows[i] * width + j`. Ignores cells that do not exist.
    ///
    /// # Errors
    /// [`Problem::Memory`]. Some of the values have been added then.
    pub fn add_rows(
        &mut self,
        rows: &[usize],
        width: usize,
        values: &[f64],
    ) -> Result<(), Problem> {
        match width {
            0 => Ok(()),
            1 => self.add_all(rows, values),
            _ => (rows.iter().zip(values.chunks(width)))
                .try_for_each(|(&row, values)| self.add_row(row.saturating_mul(width), values)),
        }
    }

    /// Adds values to neighbouring cells from `first` on. Ignores cells that do not exist.
    ///
    /// # Errors
    /// [`Problem::Memory`]. Some of the values have been added then.
    pub fn add_row<V: Copy + Into<f64>>(
        &mut self,
        first: usize,
        values: &[V],
    ) -> Result<(), Problem> {
        let cells = self.cells();
        if first >= cells {
            return Ok(());
        }
        let values = &values[..values.len().min(cells - first)];
        for (part, values) in values.chunks(PART).enumerate() {
            let first = first + part * PART;
            self.prepare(values)?;
            self.missed += match &mut self.tier {
                Tier::One(window) => window.add_row(first, values, &mut self.planes)?,
                Tier::Two(window) => window.add_row(first, values, &mut self.planes)?,
                Tier::Three(window) => window.add_row(first, values, &mut self.planes)?,
                Tier::Unset | Tier::Direct => {
                    self.planes.add_row(first, values)?;
                    0
                }
            };
        }
        Ok(())
    }

    /// Adds all sums of another state of as many cells.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn merge(&mut self, other: Self) -> Result<(), Problem> {
        let unused = self.planes.is_empty() && matches!(self.tier, Tier::Unset);
        if unused && self.cells() == other.cells() {
            *self = other;
            return Ok(());
        }
        self.merge_from(&other)
    }

    /// Adds all sums of another state. Cells that it has beyond these are left out.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn merge_from(&mut self, other: &Self) -> Result<(), Problem> {
        let alike = match (&self.tier, &other.tier) {
            (Tier::One(sums), Tier::One(others)) => sums.is_like(others),
            (Tier::Two(sums), Tier::Two(others)) => sums.is_like(others),
            (Tier::Three(sums), Tier::Three(others)) => sums.is_like(others),
            _ => false,
        };
        if !alike {
            return self.planes.merge(&other.to_planes()?);
        }
        self.planes.merge(&other.planes)?;
        let planes = &mut self.planes;
        match (&mut self.tier, &other.tier) {
            (Tier::One(sums), Tier::One(others)) => sums.join(others, planes),
            (Tier::Two(sums), Tier::Two(others)) => sums.join(others, planes),
            (Tier::Three(sums), Tier::Three(others)) => sums.join(others, planes),
            _ => Ok(()),
        }
    }

    /// Makes sums of zero at the end until there are `cells`.
    ///
    /// # Errors
    /// [`Problem::Memory`]. The sums are as they were then.
    pub(crate) fn grow(&mut self, cells: usize) -> Result<(), Problem> {
        if cells <= self.cells() {
            return Ok(());
        }
        match &mut self.tier {
            Tier::One(window) => window.grow(cells)?,
            Tier::Two(window) => window.grow(cells)?,
            Tier::Three(window) => window.grow(cells)?,
            Tier::Unset | Tier::Direct => {}
        }
        self.planes.grow(cells)
    }

    /// The same sums in the cells of a longer state.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn spread(&self, to: Spread<'_>) -> Result<Self, Problem> {
        let tier = match &self.tier {
            Tier::One(window) => Tier::One(window.spread(to)?),
            Tier::Two(window) => Tier::Two(window.spread(to)?),
            Tier::Three(window) => Tier::Three(window.spread(to)?),
            Tier::Unset => Tier::Unset,
            Tier::Direct => Tier::Direct,
        };
        Ok(Self {
            planes: self.planes.spread(to)?,
            tier,
            mixed: Vec::new(),
            ..*self
        })
    }

    /// Sums that were stored as planes.
    pub(crate) fn of(planes: Planes) -> Self {
        Self {
            planes,
            ..Self::new(0)
        }
    }

    /// A copy of the sums as planes, after a carry.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn to_planes(&self) -> Result<Planes, Problem> {
        let mut planes = Planes::new(self.cells());
        planes.merge(&self.planes)?;
        match &self.tier {
            Tier::One(window) => window.copy_into(&mut planes)?,
            Tier::Two(window) => window.copy_into(&mut planes)?,
            Tier::Three(window) => window.copy_into(&mut planes)?,
            Tier::Unset | Tier::Direct => {}
        }
        planes.carry()?;
        Ok(planes)
    }

    /// The sum of a cell.
    pub(crate) fn one(&self, cell: usize) -> OneSum {
        let mut one = self.planes.one(cell);
        match &self.tier {
            Tier::One(window) => window.add_to(cell, &mut one),
            Tier::Two(window) => window.add_to(cell, &mut one),
            Tier::Three(window) => window.add_to(cell, &mut one),
            Tier::Unset | Tier::Direct => {}
        }
        one.carry();
        one
    }

    /// The sums of neighbouring cells from `first` on, divided by their counts if there are any,
    /// each as the nearest number of a format.
    pub(crate) fn round(
        &self,
        first: usize,
        counts: Option<&[u64]>,
        format: Format,
        to: &mut [f64],
    ) {
        let whole = match &self.tier {
            Tier::One(_) | Tier::Two(_) => self.planes.is_empty(),
            Tier::Three(_) => false,
            Tier::Unset | Tier::Direct => true,
        };
        match (whole, counts) {
            (true, None) => self.results(first, None, format, to),
            (true, Some(counts)) => {
                for ((cell, to), &count) in (first..).zip(to).zip(counts) {
                    self.results(cell, Some(count), format, std::slice::from_mut(to));
                }
            }
            (false, None) => {
                for (cell, to) in (first..).zip(to) {
                    *to = self.one(cell).round(format);
                }
            }
            (false, Some(counts)) => {
                for ((cell, to), &count) in (first..).zip(to).zip(counts) {
                    *to = self.one(cell).mean(count, format);
                }
            }
        }
    }

    /// The sums as planes.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn into_planes(mut self) -> Result<Planes, Problem> {
        self.fold()?;
        Ok(self.planes)
    }

    /// Prepares for [`results`](Self::results).
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn settle(&mut self) -> Result<(), Problem> {
        self.mixed = Vec::new();
        let windowed = matches!(self.tier, Tier::One(_) | Tier::Two(_));
        if windowed && self.planes.is_empty() {
            return Ok(());
        }
        let mixed = match windowed {
            true => self.planes.touched(self.cells() / MIXED)?,
            false => None,
        };
        match mixed {
            Some(cells) => self.mixed = cells,
            None => {
                self.fold()?;
                self.tier = Tier::Direct;
            }
        }
        Ok(())
    }

    /// The sums of neighbouring cells from `first` on, divided by a count if there is one, each as
    /// the nearest number of a format. [`settle`](Self::settle) comes before.
    ///
    /// # Panics
    /// If there are no such cells.
    pub fn results(&self, first: usize, count: Option<u64>, format: Format, to: &mut [f64]) {
        assert!(first + to.len() <= self.cells());
        match &self.tier {
            Tier::One(window) if count.is_none() && format == Format::F64 => {
                window.f64_results(first, to);
            }
            Tier::One(window) if count.is_none() && format == Format::F32 => {
                window.f32_results(first, to);
            }
            Tier::Two(window) if count.is_none() && format == Format::F64 => {
                window.f64_results(first, to);
            }
            Tier::One(window) => window.results(first, count, format, to),
            Tier::Two(window) => window.results(first, count, format, to),
            // Its sums have been folded.
            Tier::Unset | Tier::Direct | Tier::Three(_) => {
                for (cell, to) in (first..).zip(&mut *to) {
                    *to = match count {
                        None => self.planes.round(cell, format),
                        Some(count) => self.planes.mean(cell, count, format),
                    };
                }
            }
        }
        let mixed = self.mixed.partition_point(|&cell| cell < first);
        for &cell in &self.mixed[mixed..] {
            let Some(to) = to.get_mut(cell - first) else {
                break;
            };
            let one = self.one(cell);
            *to = match count {
                None => one.round(format),
                Some(count) => one.mean(count, format),
            };
        }
    }

    /// Adds the window to the planes and sets it to zero.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    fn fold(&mut self) -> Result<(), Problem> {
        match &mut self.tier {
            Tier::One(window) => window.fold(&mut self.planes),
            Tier::Two(window) => window.fold(&mut self.planes),
            Tier::Three(window) => window.fold(&mut self.planes),
            Tier::Unset | Tier::Direct => Ok(()),
        }
    }

    /// Makes sure that the window fits some values, which are added next.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[inline]
    fn prepare<V: Copy + Into<f64>>(&mut self, values: &[V]) -> Result<(), Problem> {
        let bearable = (self.seen / 64)
            .max(1024)
            .max(self.planes.cells() as u64 / 64);
        if self.missed > bearable {
            self.fold()?;
            self.tier = if self.choices < CHOICES {
                Tier::Unset
            } else {
                Tier::Direct
            };
        }
        if let Tier::Unset = self.tier {
            self.choose(values)?;
        }
        self.seen += values.len() as u64;
        Ok(())
    }

    /// Chooses the cheapest tier whose window at most 1/128 of some values miss. Leaves the choice
    /// open if all of them are zero.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[cold]
    #[inline(never)]
    fn choose<V: Copy + Into<f64>>(&mut self, values: &[V]) -> Result<(), Problem> {
        let bits = || {
            values
                .iter()
                .map(|&value| value.into().to_bits() & !(1 << 63))
        };
        let mut of_exponent = [0u32; 1 << 11];
        let mut count = 0;
        for bits in bits().filter(|&bits| bits != 0) {
            of_exponent[(bits >> 52) as usize] += 1;
            count += 1;
        }
        // A few outliers must not move the window away from the others.
        let bearable = count / 128;
        let mut above = 0;
        let top = of_exponent.iter().rposition(|&values| {
            above += values;
            above > bearable / 2
        });
        let (Some(top), true) = (top, count > 0) else {
            return Ok(());
        };
        self.choices += 1;
        (self.seen, self.missed) = (0, 0);
        let top = (top as u64).min(SPECIAL - 1) as i32;
        let values = || values.iter().map(|&value| value.into());
        let bearable = bearable as usize;
        self.tier = if let Some(window) = Window::fitting(top, values(), bearable) {
            Tier::One(window.with_cells(self.cells())?)
        } else if let Some(window) = Window::fitting(top, values(), bearable) {
            Tier::Two(window.with_cells(self.cells())?)
        } else if let Some(window) = Window::fitting(top, values(), bearable) {
            Tier::Three(window.with_cells(self.cells())?)
        } else {
            Tier::Direct
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests;
