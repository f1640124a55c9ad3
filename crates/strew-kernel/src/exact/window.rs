//! Exact sums of many values: a window of one to three integers per cell in front of the planes.
//!
//! ```text
//! look at the exponents of the first values; choose the number of words N and the window's place
//! unit[i] = bound / 2^(47 (i + 1))
//! for each value x:
//!     for each word i: q[i] = nearest integer to x / unit[i]; x -= q[i] * unit[i]
//!     if x was below the bound and is 0 now: sums[row][i] += q[i] for each i
//!     else: planes.add(row, x)
//! when too many values miss the window: planes += sums; choose again
//! at the end: planes += sums
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
//! Blocks of 64 values are converted by float64 additions, which run as vectors. x + M with
//! M = 1.5 * 2^52 units has x / unit in its lowest bits, rounded to an integer, and (x + M) - M is
//! that integer times the unit. Infinities, NaN and large multiples of a unit pass the final test for
//! zero or may pass it, so that |x| is tested too. A sum that overflows 64 bits wraps, and the planes
//! receive the 2^64 units that it lost.
//!
//! Relies on the default floating-point environment: round to nearest, subnormal numbers kept.
//!
//! Cost: 8 N bytes per cell besides the planes. Per value, one read and write of the cell and about
//! 4 + 4 N vector operations.

use crate::cpu::LINE;
use crate::cpu::prefetch::prefetch;
use crate::cpu::vectorized::compiled;
use crate::error::Problem;
use crate::exact::number::{Format, LOWEST, Number, SPECIAL};
use crate::exact::planes::Planes;
use crate::runtime::machine::L2;
use crate::tensor::List;
use crate::walk::offsets::PrefetchHints;

/// Values that are converted at a time.
const BLOCK: usize = 64;

/// Values between two looks at how many missed the window. A choice reads at most that many.
const PART: usize = 1 << 14;

/// Bits of a word that a value may set. The sum of a word overflows after 2^16 largest values.
const WORD_BITS: i32 = 47;

/// Maximum number of lines of a row that are prefetched.
const MOST_LINES: usize = 16;

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

/// Some integers per cell. Word i counts multiples of 2^(`positions[i]` - 1074).
#[derive(Debug)]
struct Window<const N: usize> {
    /// The words of all cells, one cell after the other.
    sums: List<i64>,
    /// 1.5 * 2^52 units of each word.
    magics: [f64; N],
    positions: [u32; N],
    /// Absolute values are below this.
    bound: f64,
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
}

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
        for (rows, values) in rows.chunks(PART).zip(values.chunks(PART)) {
            self.add_part(rows, values, PrefetchHints::NONE)?;
        }
        Ok(())
    }

    /// [`add_all`](Self::add_all) of at most some thousand values.
    ///
    /// # Errors
    /// [`Problem::Memory`]. Some of the values have been added then.
    pub(crate) fn add_part<V: Copy + Into<f64>>(
        &mut self,
        rows: &[usize],
        values: &[V],
        ahead: PrefetchHints,
    ) -> Result<(), Problem> {
        self.prepare(values)?;
        let planes = &mut self.planes;
        self.missed += match &mut self.tier {
            Tier::One(window) => window.add_all(rows, values, planes, ahead)?,
            Tier::Two(window) => window.add_all(rows, values, planes, ahead)?,
            Tier::Three(window) => window.add_all(rows, values, planes, ahead)?,
            Tier::Unset | Tier::Direct => {
                planes.add_all(rows, values)?;
                0
            }
        };
        Ok(())
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

    /// Adds all sums of another state.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    ///
    /// # Panics
    /// If the numbers of cells differ.
    pub fn merge(&mut self, other: Self) -> Result<(), Problem> {
        assert_eq!(self.cells(), other.cells());
        if self.planes.is_empty() && matches!(self.tier, Tier::Unset) {
            *self = other;
            return Ok(());
        }
        let planes = &mut self.planes;
        let joined = match (&mut self.tier, &other.tier) {
            _ if !other.planes.is_empty() => false,
            (Tier::One(sums), Tier::One(others)) => sums.join(others, planes)?,
            (Tier::Two(sums), Tier::Two(others)) => sums.join(others, planes)?,
            (Tier::Three(sums), Tier::Three(others)) => sums.join(others, planes)?,
            _ => false,
        };
        match joined {
            true => Ok(()),
            false => self.planes.merge(&other.into_planes()?),
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
        if !self.planes.is_empty() || matches!(self.tier, Tier::Three(_)) {
            self.fold()?;
            self.tier = Tier::Direct;
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
            Tier::One(window) => window.results(first, count, format, to),
            Tier::Two(window) => window.results(first, count, format, to),
            // Its sums have been folded.
            Tier::Unset | Tier::Direct | Tier::Three(_) => {
                for (cell, to) in (first..).zip(to) {
                    *to = match count {
                        None => self.planes.round(cell, format),
                        Some(count) => self.planes.mean(cell, count, format),
                    };
                }
            }
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

impl<const N: usize> Window<N> {
    /// A window without cells, if at most `bearable` of some values miss it. `top` is the largest
    /// exponent field of most of them.
    fn fitting(top: i32, values: impl Iterator<Item = f64>, bearable: usize) -> Option<Self> {
        let window = Self::new(top);
        let missed = values
            .filter(|&value| window.units(value).is_none())
            .count();
        (missed <= bearable).then_some(window)
    }

    /// A window without cells for values with exponent fields up to `top` and two more.
    fn new(top: i32) -> Self {
        // The bound and all M must be normal numbers.
        let lowest = (N as i32 * WORD_BITS - 1074).max(-1022);
        let bound = (top - 1023 + 3).clamp(lowest, 1023 - 52 + WORD_BITS);
        let units: [i32; N] = std::array::from_fn(|i| bound - (i as i32 + 1) * WORD_BITS);
        Self {
            sums: List::empty(),
            magics: units.map(|unit| 1.5 * power(unit + 52)),
            positions: units.map(|unit| (unit + 1074) as u32),
            bound: power(bound),
        }
    }

    /// The window with sums of zero.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    fn with_cells(mut self, cells: usize) -> Result<Self, Problem> {
        let what = || format!("exact sums of {cells} cells");
        self.sums = List::zeroed(&what, cells.saturating_mul(N))?;
        Ok(self)
    }

    /// Bytes of memory that the sums take.
    fn bytes(&self) -> usize {
        self.sums.len() * size_of::<i64>()
    }

    /// A value in units of each word, and whether the window fits it.
    #[inline(always)]
    fn split(&self, value: f64) -> ([i64; N], bool) {
        let mut units = [0; N];
        let mut rest = value;
        for (units, &magic) in units.iter_mut().zip(&self.magics) {
            let moved = rest + magic;
            *units = moved.to_bits().wrapping_sub(magic.to_bits()) as i64;
            rest -= moved - magic;
        }
        (units, (rest == 0.0) & (value.abs() < self.bound))
    }

    /// A value in units of each word, if the window fits it.
    #[inline(always)]
    fn units(&self, value: f64) -> Option<[i64; N]> {
        let (units, fits) = self.split(value);
        fits.then_some(units)
    }

    /// Converts some values to units. Returns whether the window fits all of them.
    #[inline(always)]
    fn convert<V: Copy + Into<f64>>(&self, values: &[V], units: &mut [[i64; N]]) -> bool {
        let mut all = true;
        for (&value, units) in values.iter().zip(units) {
            let fits;
            (*units, fits) = self.split(value.into());
            all &= fits;
        }
        all
    }

    /// Adds values to their rows' cells. Returns how many missed the window.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[inline(never)]
    fn add_all<V: Copy + Into<f64>>(
        &mut self,
        rows: &[usize],
        values: &[V],
        planes: &mut Planes,
        ahead: PrefetchHints,
    ) -> Result<u64, Problem> {
        let mut missed = 0;
        let (whole_rows, last_rows) = rows.as_chunks::<BLOCK>();
        let (whole_values, last_values) = values.as_chunks::<BLOCK>();
        compiled(
            #[inline(always)]
            || self.add_blocks(whole_rows, whole_values, planes, ahead, &mut missed),
        )?;
        // The shorter of the two ends the values.
        let (rows, values) = if whole_rows.len() <= whole_values.len() {
            (last_rows, &values[whole_rows.len() * BLOCK..])
        } else {
            (&rows[whole_values.len() * BLOCK..], last_values)
        };
        Ok(missed + self.add_some(rows.iter().copied(), values, planes)?)
    }

    /// Adds whole blocks, to be compiled for one instruction set.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[inline(always)]
    fn add_blocks<V: Copy + Into<f64>>(
        &mut self,
        rows: &[[usize; BLOCK]],
        values: &[[V; BLOCK]],
        planes: &mut Planes,
        ahead: PrefetchHints,
        missed: &mut u64,
    ) -> Result<(), Problem> {
        let mut units = [[0; N]; BLOCK];
        let far = self.bytes() > L2 / 2;
        for (n, (block, values)) in rows.iter().zip(values).enumerate() {
            // One index value of each line.
            for row in (0..BLOCK).step_by(LINE / size_of::<i64>()) {
                ahead.prefetch(n * BLOCK + row);
            }
            if far && let Some(next) = rows.get(n + 1) {
                next.iter().for_each(|&row| self.prefetch(row, 1));
            }
            let rows = block;
            if self.convert(values, &mut units) {
                for (&row, units) in rows.iter().zip(&units) {
                    self.add_units(row, units, planes)?;
                }
            } else {
                *missed += self.add_some(rows.iter().copied(), values, planes)?;
            }
        }
        Ok(())
    }

    /// Prefetches neighbouring cells.
    #[inline(always)]
    fn prefetch(&self, first: usize, cells: usize) {
        let at = self.sums.as_ptr().wrapping_add(first.wrapping_mul(N));
        let bytes = cells * size_of::<[i64; N]>();
        prefetch(at.cast(), bytes.div_ceil(LINE).min(MOST_LINES));
    }

    /// Adds values to neighbouring cells, all of which exist. Returns how many missed the window.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[inline(never)]
    fn add_row<V: Copy + Into<f64>>(
        &mut self,
        first: usize,
        values: &[V],
        planes: &mut Planes,
    ) -> Result<u64, Problem> {
        let mut missed = 0;
        let mut first = first;
        for values in values.chunks(BLOCK) {
            let fits = compiled(
                #[inline(always)]
                || self.add_piece(first, values),
            );
            if !fits {
                missed += self.add_some(first.., values, planes)?;
            }
            first += values.len();
        }
        Ok(missed)
    }

    /// Adds at most a block of values to neighbouring cells, to be compiled for one instruction
    /// set. Adds none, and returns false, if one misses the window or a sum would overflow.
    #[inline(always)]
    fn add_piece<V: Copy + Into<f64>>(&mut self, first: usize, values: &[V]) -> bool {
        let mut units = [[0; N]; BLOCK];
        let units = &mut units[..values.len()];
        if !self.convert(values, units) {
            return false;
        }
        let range = first * N..(first + values.len()) * N;
        let sums = self.sums.get_mut(range).unwrap_or(&mut []);
        let pairs = sums.iter().zip(units.as_flattened());
        // An overflow shows in the sign: the sum's is neither that of one addend nor of the other.
        let overflow = pairs.fold(0, |any, (&sum, &units)| {
            let wrapped = sum.wrapping_add(units);
            any | (sum ^ wrapped) & (units ^ wrapped)
        });
        if overflow < 0 {
            return false;
        }
        for (sum, units) in sums.iter_mut().zip(units.as_flattened()) {
            *sum = sum.wrapping_add(*units);
        }
        true
    }

    /// Adds values one by one, some of which may miss the window. Returns how many did.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[inline(never)]
    fn add_some<V: Copy + Into<f64>>(
        &mut self,
        cells: impl Iterator<Item = usize>,
        values: &[V],
        planes: &mut Planes,
    ) -> Result<u64, Problem> {
        let mut missed = 0;
        for (cell, &value) in cells.zip(values) {
            let value = value.into();
            if let Some(units) = self.units(value) {
                self.add_units(cell, &units, planes)?;
            } else {
                planes.add(cell, value)?;
                missed += 1;
            }
        }
        Ok(missed)
    }

    /// Adds the sums of the same window of other values. False if it is another window.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    fn join(&mut self, other: &Self, planes: &mut Planes) -> Result<bool, Problem> {
        if self.positions != other.positions {
            return Ok(false);
        }
        for (cell, units) in other.sums.as_chunks::<N>().0.iter().enumerate() {
            self.add_units(cell, units, planes)?;
        }
        Ok(true)
    }

    /// Adds units to a cell. Ignores a cell that does not exist.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[inline(always)]
    fn add_units(
        &mut self,
        cell: usize,
        units: &[i64; N],
        planes: &mut Planes,
    ) -> Result<(), Problem> {
        if let Some(sums) = self.sums.as_chunks_mut::<N>().0.get_mut(cell) {
            for ((sum, &units), &position) in sums.iter_mut().zip(units).zip(&self.positions) {
                let (wrapped, overflow) = sum.overflowing_add(units);
                *sum = wrapped;
                if overflow {
                    planes.add_power(cell, wrapped >= 0, position + 64)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the sums to the planes and sets them to zero.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    fn fold(&mut self, planes: &mut Planes) -> Result<(), Problem> {
        for (word, &position) in self.positions.iter().enumerate() {
            planes.take(self.sums.as_chunks_mut::<N>().0, word, position)?;
        }
        Ok(())
    }

    /// The results of cells whose planes are zero. `N` is at most two.
    #[inline(never)]
    fn results(&self, first: usize, count: Option<u64>, format: Format, to: &mut [f64]) {
        let exponent = self.positions[N - 1].cast_signed() + LOWEST;
        let sums = &self.sums.as_chunks::<N>().0[first..];
        for (words, to) in sums.iter().zip(to) {
            // 63 bits of the first word above 47 of the second are fewer than 128.
            let sum = (words.iter()).fold(0, |sum, &word| (sum << WORD_BITS) + i128::from(word));
            let number = Number::new(sum, exponent).map(|number| match count {
                None => number,
                Some(count) => number.divide(count),
            });
            *to = number.map_or(0.0, |number| number.round(format));
        }
    }
}

impl Window<1> {
    /// A unit, if it is far enough from the ends of the exponents of a format: then its multiples
    /// by integers of 64 bits are zero or normal numbers.
    fn unit(&self, format: Format) -> Option<f64> {
        let exponent = self.positions[0].cast_signed() + LOWEST;
        let inside = exponent >= format.min_exponent && exponent + 64 <= format.max_exponent;
        inside.then(|| power(exponent))
    }

    /// [`results`](Window::results) without a count as `float64`. An integer is rounded once when
    /// it becomes a float, and its product with a power of two is exact.
    fn f64_results(&self, first: usize, to: &mut [f64]) {
        match self.unit(Format::F64) {
            Some(unit) => {
                for (&sum, to) in self.sums[first..].iter().zip(to) {
                    *to = sum as f64 * unit;
                }
            }
            None => self.results(first, None, Format::F64, to),
        }
    }

    /// Likewise as `float32`.
    fn f32_results(&self, first: usize, to: &mut [f64]) {
        match self.unit(Format::F32) {
            Some(unit) => {
                for (&sum, to) in self.sums[first..].iter().zip(to) {
                    *to = f64::from(sum as f32) * unit;
                }
            }
            None => self.results(first, None, Format::F32, to),
        }
    }
}

/// 2^exponent, a normal number.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests;
