//! Sums in a window: one to three integers per cell, which count multiples of powers of two.
//!
//! ```text
//! unit[i] = bound / 2^(47 (i + 1))
//! for each word i: q[i] = nearest integer to x / unit[i]; x -= q[i] * unit[i]
//! if x is 0 now and -2^47 <= q[0] < 2^47: sums[row][i] += q[i] for each i
//! ```
//!
//! Blocks of 64 values are converted by float64 additions, which run as vectors. x + M with
//! M = 1.5 * 2^52 units has x / unit in its lowest bits, rounded to an integer, and (x + M) - M is
//! that integer times the unit. Infinities, NaN and large multiples of a unit may leave a rest of
//! zero, but then x + M is far from M, and so are its bits: q[0] shows it. A sum that overflows 64
//! bits wraps, and the planes receive the 2^64 units that it lost.
//!
//! Cost: 8 N bytes per cell besides the planes. Per value, one read and write of the cell and about
//! 4 + 4 N vector operations. [`sums`](crate::exact::sums) chooses the windows.

use crate::cpu::LINE;
use crate::cpu::prefetch::prefetch;
use crate::cpu::vectorized::compiled;
use crate::error::Problem;
use crate::exact::cells::{Cells, Neighbours};
use crate::exact::number::{Format, LOWEST, Number};
use crate::exact::one_sum::OneSum;
use crate::exact::planes::Planes;
use crate::runtime::machine::L2;
use crate::tensor::List;
use crate::tensor::spread::Spread;
use crate::walk::offsets::PrefetchHints;

/// Values that are added one by one if one of them does not fit the window.
const BLOCK: usize = 64;

/// Blocks that are converted in one call.
const BLOCKS: usize = 4;

/// Bits of a word that a value may set. The sum of a word overflows after 2^16 largest values.
const WORD_BITS: i32 = 47;

/// Maximum number of lines of a row that are prefetched.
const MOST_LINES: usize = 16;

/// Adds units to the words of a cell. What they lose goes to the planes.
///
/// # Errors
/// [`Problem::Memory`].
#[inline(always)]
fn add<const N: usize>(
    sums: &mut [i64; N],
    units: &[i64; N],
    cell: usize,
    positions: &[u32; N],
    planes: &mut Planes,
) -> Result<(), Problem> {
    for ((sum, &units), &position) in sums.iter_mut().zip(units).zip(positions) {
        let (wrapped, overflow) = sum.overflowing_add(units);
        *sum = wrapped;
        if overflow {
            planes.add_power(cell, wrapped >= 0, position + 64)?;
        }
    }
    Ok(())
}

/// What has been added.
#[derive(Debug)]
pub(super) struct Added {
    /// Values that missed the window.
    pub(super) missed: u64,
    /// Every value had a cell.
    pub(super) all_there: bool,
}

impl Added {
    /// Notes that a value has no cell. It is not inlined, so that loops keep no register for it.
    #[cold]
    #[inline(never)]
    fn note_stray(&mut self) {
        self.all_there = false;
    }
}

impl Default for Added {
    fn default() -> Self {
        Self {
            missed: 0,
            all_there: true,
        }
    }
}

/// Bits that tell whether a window fits a value, or each of some, by an `or` of theirs. Comparisons
/// of each value would take longer.
#[derive(Clone, Copy, Default)]
struct Misfit {
    /// Of what the words leave of the value: those of 0.0 or of -0.0.
    rest: u64,
    /// Of the first word's units, moved up so that allowed ones are below 2^48.
    first: u64,
}

impl Misfit {
    #[inline(always)]
    fn is_none(self) -> bool {
        (self.rest << 1 == 0) & (self.first >> (WORD_BITS + 1) == 0)
    }
}

/// Some integers per cell. Word i counts multiples of 2^(`positions[i]` - 1074).
#[derive(Debug)]
pub(super) struct Window<const N: usize> {
    /// The words of all cells, one cell after the other.
    sums: List<i64>,
    /// 1.5 * 2^52 units of each word.
    magics: [f64; N],
    positions: [u32; N],
}

impl<const N: usize> Window<N> {
    /// A window without cells, if at most `bearable` of some values miss it. `top` is the largest
    /// exponent field of most of them.
    pub(super) fn fitting(
        top: i32,
        values: impl Iterator<Item = f64>,
        bearable: usize,
    ) -> Option<Self> {
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
        }
    }

    /// The window with sums of zero.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(super) fn with_cells(mut self, cells: usize) -> Result<Self, Problem> {
        let what = || format!("exact sums of {cells} cells");
        self.sums = List::zeroed(&what, cells.saturating_mul(N))?;
        Ok(self)
    }

    /// Makes sums of zero at the end until there are `cells`.
    ///
    /// # Errors
    /// [`Problem::Memory`]. The sums are as they were then.
    pub(super) fn grow(&mut self, cells: usize) -> Result<(), Problem> {
        let what = || format!("exact sums of {cells} cells");
        let mut grown = List::zeroed(&what, cells.saturating_mul(N))?;
        grown[..self.sums.len()].copy_from_slice(&self.sums);
        self.sums = grown;
        Ok(())
    }

    /// The same sums in the cells of a longer window.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(super) fn spread(&self, to: Spread<'_>) -> Result<Self, Problem> {
        let window = Self {
            sums: List::empty(),
            ..*self
        };
        let mut made = window.with_cells(to.cells)?;
        to.of_numbers(N).copy(&self.sums, &mut made.sums);
        Ok(made)
    }

    /// Adds the sum of a cell to one.
    pub(super) fn add_to(&self, cell: usize, one: &mut OneSum) {
        let words = self.sums.as_chunks::<N>().0.get(cell);
        for (&sum, &position) in words.into_iter().flatten().zip(&self.positions) {
            one.add_integer(sum, position);
        }
    }

    /// Bytes of memory that the sums take.
    pub(super) fn bytes(&self) -> usize {
        self.sums.len() * size_of::<i64>()
    }

    /// A value in units of each word, and what tells whether the window fits it.
    #[inline(always)]
    fn split(&self, value: f64) -> ([i64; N], Misfit) {
        let mut units = [0; N];
        let mut rest = value;
        for (units, &magic) in units.iter_mut().zip(&self.magics) {
            let moved = rest + magic;
            *units = moved.to_bits().wrapping_sub(magic.to_bits()) as i64;
            rest -= moved - magic;
        }
        let misfit = Misfit {
            rest: rest.to_bits(),
            first: units[0].wrapping_add(1 << WORD_BITS) as u64,
        };
        (units, misfit)
    }

    /// A value in units of each word, if the window fits it.
    #[inline(always)]
    fn units(&self, value: f64) -> Option<[i64; N]> {
        let (units, misfit) = self.split(value);
        misfit.is_none().then_some(units)
    }

    /// Converts some values to units. Returns whether the window fits all of them.
    #[inline(always)]
    fn convert<V: Copy + Into<f64>>(&self, values: &[V], units: &mut [[i64; N]]) -> bool {
        let mut any = Misfit::default();
        for (&value, units) in values.iter().zip(units) {
            let misfit;
            (*units, misfit) = self.split(value.into());
            any.rest |= misfit.rest;
            any.first |= misfit.first;
        }
        any.is_none()
    }

    /// Adds values to their cells. Says which it added in `added`.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[inline(never)]
    pub(super) fn add_all<V: Copy + Into<f64>>(
        &mut self,
        cells: impl Cells,
        values: &[V],
        planes: &mut Planes,
        ahead: Option<PrefetchHints>,
    ) -> Result<Added, Problem> {
        let (blocks, last) = values.as_chunks::<BLOCK>();
        let mut added = Added::default();
        self.add_blocks(cells, blocks, planes, ahead, &mut added)?;
        let cells = cells.part(values.len() - last.len(), last.len());
        self.add_some(cells, last, planes, &mut added)?;
        Ok(added)
    }

    /// [`convert`](Self::convert) of some blocks, compiled for each instruction set, apart from the
    /// loops over the cells, of which there are many. Returns whether the window fits each block.
    #[inline(never)]
    fn convert_blocks<V: Copy + Into<f64>>(
        &self,
        blocks: &[[V; BLOCK]],
        units: &mut [[[i64; N]; BLOCK]; BLOCKS],
    ) -> [bool; BLOCKS] {
        compiled(
            #[inline(always)]
            || {
                let mut fits = [false; BLOCKS];
                for ((block, units), fits) in blocks.iter().zip(units).zip(&mut fits) {
                    *fits = self.convert(block, units);
                }
                fits
            },
        )
    }

    /// Adds whole blocks.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[inline(always)]
    fn add_blocks<V: Copy + Into<f64>>(
        &mut self,
        cells: impl Cells,
        values: &[[V; BLOCK]],
        planes: &mut Planes,
        ahead: Option<PrefetchHints>,
        added: &mut Added,
    ) -> Result<(), Problem> {
        let mut units = [[[0; N]; BLOCK]; BLOCKS];
        let far = self.bytes() > L2 / 2;
        let mut at = 0;
        for blocks in values.chunks(BLOCKS) {
            let fits = self.convert_blocks(blocks, &mut units);
            for ((block, units), fits) in blocks.iter().zip(&units).zip(fits) {
                if let Some(ahead) = ahead {
                    // One index value of each line.
                    for row in (0..BLOCK).step_by(LINE / size_of::<i64>()) {
                        ahead.prefetch(at + row);
                    }
                }
                let these = cells.part(at, BLOCK);
                at += BLOCK;
                if !fits {
                    self.add_some(these, block, planes, added)?;
                } else if far && at < values.len() * BLOCK {
                    let next = cells.part(at, BLOCK);
                    self.add_block(these, |k| Some(next.at(k)), units, planes, added)?;
                } else {
                    self.add_block(these, |_| None, units, planes, added)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the units of a block. `next` gives cells that will be added to later, if they are far.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[inline(always)]
    fn add_block(
        &mut self,
        cells: impl Cells,
        next: impl Fn(usize) -> Option<usize>,
        units: &[[i64; N]; BLOCK],
        planes: &mut Planes,
        added: &mut Added,
    ) -> Result<(), Problem> {
        // All that the loop uses is in registers: the sums might be anywhere in memory.
        let (sums, positions) = (self.sums.as_chunks_mut::<N>().0, self.positions);
        for (k, units) in units.iter().enumerate() {
            if let Some(next) = next(k) {
                prefetch(sums.as_ptr().wrapping_add(next).cast(), 1);
            }
            let cell = cells.at(k);
            match sums.get_mut(cell) {
                Some(sums) => add(sums, units, cell, &positions, planes)?,
                None => added.note_stray(),
            }
        }
        Ok(())
    }

    /// Prefetches neighbouring cells.
    #[inline(always)]
    pub(super) fn prefetch(&self, first: usize, cells: usize) {
        let at = self.sums.as_ptr().wrapping_add(first.wrapping_mul(N));
        let bytes = cells * size_of::<[i64; N]>();
        prefetch(at.cast(), bytes.div_ceil(LINE).min(MOST_LINES));
    }

    /// Adds values to neighbouring cells, all of which exist. Says how many missed the window.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[inline(never)]
    pub(super) fn add_row<V: Copy + Into<f64>>(
        &mut self,
        first: usize,
        values: &[V],
        planes: &mut Planes,
    ) -> Result<u64, Problem> {
        let mut added = Added::default();
        let mut first = first;
        for values in values.chunks(BLOCK) {
            let fits = compiled(
                #[inline(always)]
                || self.add_piece(first, values),
            );
            if !fits {
                self.add_some(Neighbours { first }, values, planes, &mut added)?;
            }
            first += values.len();
        }
        Ok(added.missed)
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

    /// Adds values one by one, some of which may miss the window.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[inline(never)]
    fn add_some<V: Copy + Into<f64>>(
        &mut self,
        cells: impl Cells,
        values: &[V],
        planes: &mut Planes,
        added: &mut Added,
    ) -> Result<(), Problem> {
        for (n, &value) in values.iter().enumerate() {
            let (cell, value) = (cells.at(n), value.into());
            if let Some(units) = self.units(value) {
                added.all_there &= self.add_units(cell, &units, planes)?;
            } else {
                planes.add(cell, value)?;
                added.all_there &= cell < planes.cells();
                added.missed += 1;
            }
        }
        Ok(())
    }

    /// Whether another window counts the same units.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.positions == other.positions
    }

    /// Adds the sums of a window that [counts the same units](Self::is_like).
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(super) fn join(&mut self, other: &Self, planes: &mut Planes) -> Result<(), Problem> {
        for (cell, units) in other.sums.as_chunks::<N>().0.iter().enumerate() {
            self.add_units(cell, units, planes)?;
        }
        Ok(())
    }

    /// Adds units to a cell. False if it does not exist.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[inline(always)]
    fn add_units(
        &mut self,
        cell: usize,
        units: &[i64; N],
        planes: &mut Planes,
    ) -> Result<bool, Problem> {
        match self.sums.as_chunks_mut::<N>().0.get_mut(cell) {
            Some(sums) => add(sums, units, cell, &self.positions, planes).map(|()| true),
            None => Ok(false),
        }
    }

    /// Adds the sums to the planes and sets them to zero.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(super) fn fold(&mut self, planes: &mut Planes) -> Result<(), Problem> {
        for (word, &position) in self.positions.iter().enumerate() {
            planes.take(self.sums.as_chunks_mut::<N>().0, word, position)?;
        }
        Ok(())
    }

    /// Adds the sums to planes, and keeps them.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(super) fn copy_into(&self, planes: &mut Planes) -> Result<(), Problem> {
        let mut copy = List::scratch("exact sums", self.sums.len())?;
        copy.copy_from_slice(&self.sums);
        for (word, &position) in self.positions.iter().enumerate() {
            planes.take(copy.as_chunks_mut::<N>().0, word, position)?;
        }
        Ok(())
    }

    /// The results of cells whose planes are zero. `N` is at most two.
    #[inline(never)]
    pub(super) fn results(&self, first: usize, count: Option<u64>, format: Format, to: &mut [f64]) {
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

impl Window<2> {
    /// [`results`](Window::results) without a count as `float64`. Words below 2^53 are floats, so
    /// the addition of their multiples of powers of two is all that rounds.
    pub(super) fn f64_results(&self, first: usize, to: &mut [f64]) {
        let [high, low] = self.positions.map(|at| at.cast_signed() + LOWEST);
        let inside = low >= Format::F64.min_exponent && high + 53 <= Format::F64.max_exponent + 1;
        let sums = &self.sums.as_chunks::<2>().0[first..];
        let (high, low) = (power(high), power(low));
        for (n, (words, to)) in sums.iter().zip(to).enumerate() {
            let small = words.map(|word| word.unsigned_abs() < 1 << 53);
            match inside && small == [true, true] {
                true => *to = words[0] as f64 * high + words[1] as f64 * low,
                false => self.results(first + n, None, Format::F64, std::slice::from_mut(to)),
            }
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
    pub(super) fn f64_results(&self, first: usize, to: &mut [f64]) {
        match self.unit(Format::F64) {
            Some(unit) => {
                for (&sum, to) in self.sums[first..].iter().zip(to) {
                    *to = sum as f64 * unit;
                }
            }
            None => self.results(first, None, Format::F64, to),
        }
    }

    /// [`results`](Window::results) without a count as `float32`, rounded in the same way.
    pub(super) fn f32_results(&self, first: usize, to: &mut [f64]) {
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
