//! Exact sums of cells as planes of integers.
//!
//! ```text
//! value of a cell = sum over p of plane[p][cell] * 2^(32 p - 1074)
//! add(cell, x):  x = sign * mantissa * 2^(position - 1074)
//!                mantissa << (position mod 32) = three pieces of 32 bits
//!                plane[position / 32 + i][cell] += sign * piece[i]
//! merge:         plane[p][cell] += other.plane[p][cell]
//! carry:         for p upwards: c = nearest integer to plane[p][cell] / 2^32
//!                plane[p][cell] -= c * 2^32; plane[p + 1][cell] += c
//! round(cell):   the sum as one large integer, rounded once to nearest even
//! ```
//!
//! No addition rounds. The sum of a cell is therefore the same for every order of the values and
//! for every division of the values among states that are merged.
//!
//! Cost: an addition is about 20 integer operations and changes at most three planes. A plane takes
//! 8 bytes per cell and is allocated when a value first has a bit in it. Ordinary float32 data
//! touches two or three planes, and float64 data three to five. A carry pass reads and writes every
//! plane once; one is due after 2^30 additions. Rounding is a 128-bit shift for a cell whose set
//! bits lie in three neighbouring planes, and a loop over the planes for the others.
//!
//! [`Exact`](crate::exact::sums::Exact) adds many values faster and hands over its sums as planes.
//! Planes are the state to store and to merge, because they are plain integers.

use crate::error::Problem;
pub use crate::exact::digits::PLANES;
use crate::exact::digits::{
    LIMIT, MINUS_INFINITY, NAN, PLUS_INFINITY, carry_of, flag_of, number_of, pieces, special,
};
use crate::exact::number::{Format, Number};
use crate::exact::one_sum::OneSum;
use crate::tensor::spread::Spread;
use crate::tensor::{List, try_vec};

/// Largest absolute value of an entry that [`Planes::from_parts`] takes.
const MAX_ENTRY: u64 = 1 << 62;

/// Largest absolute value of an entry of the last plane that [`Planes::from_parts`] takes. It is
/// more than 2^63 additions give. It keeps the last plane, which has no carry, from overflowing.
const MAX_LAST: u64 = 1 << 20;

/// Cells that are done together, so that the nearest cache holds them.
const TOGETHER: usize = 256;

/// The exact sum of each cell.
#[derive(Debug)]
pub struct Planes {
    cells: usize,
    /// Empty or one entry per cell. The entries of plane p count multiples of 2^(32 p - 1074).
    planes: [List<i64>; PLANES],
    /// The touched planes lie between these two, which are included.
    low: usize,
    high: usize,
    /// Empty or one byte per cell.
    flags: Vec<u8>,
    /// Upper bound of all entries' absolute values in units of 2^32.
    pending: u64,
    /// Largest value of `pending` that needs no carry. Tests lower it.
    limit: u64,
}

impl Planes {
    /// Sums of zero. Allocates nothing.
    #[must_use]
    pub fn new(cells: usize) -> Self {
        Self {
            cells,
            planes: [const { List::empty() }; PLANES],
            low: PLANES,
            high: 0,
            flags: Vec::new(),
            pending: 0,
            limit: LIMIT,
        }
    }

    /// Makes the sums of planes and flags that come from outside, such as a file.
    ///
    /// `planes` has the number and the entries of each plane. `flags` is empty or has the flags of
    /// each cell.
    ///
    /// # Errors
    /// What is wrong with the parts.
    pub fn from_parts(
        cells: usize,
        planes: Vec<(usize, Vec<i64>)>,
        flags: Vec<u8>,
    ) -> Result<Self, &'static str> {
        let mut made = Self::new(cells);
        if !flags.is_empty() && flags.len() != cells {
            return Err("the flags must be as many as the cells");
        }
        if flags
            .iter()
            .any(|&f| f > NAN | PLUS_INFINITY | MINUS_INFINITY)
        {
            return Err("a cell has an unknown flag");
        }
        for (number, plane) in planes {
            let to = made
                .planes
                .get_mut(number)
                .ok_or("a plane's number is above 67")?;
            if !to.is_empty() {
                return Err("a plane is given twice");
            }
            if plane.len() != cells {
                return Err("a plane must have one entry per cell");
            }
            let largest = plane.iter().map(|v| v.unsigned_abs()).max().unwrap_or(0);
            if largest
                > if number == PLANES - 1 {
                    MAX_LAST
                } else {
                    MAX_ENTRY
                }
            {
                return Err("a plane's entry is out of range");
            }
            if largest > 0 {
                *to = List::zeroed(&|| "a plane".into(), cells).map_err(|_| "it is too large")?;
                to.copy_from_slice(&plane);
                made.low = made.low.min(number);
                made.high = made.high.max(number);
                made.pending = made.pending.max(largest.div_ceil(1 << 32));
            }
        }
        made.flags = flags;
        Ok(made)
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// The allocated planes: their numbers and entries, in ascending order.
    ///
    /// Equal sums have equal planes after [`carry`](Self::carry).
    pub fn planes(&self) -> impl Iterator<Item = (usize, &[i64])> {
        let planes = self.planes.iter().enumerate();
        planes
            .filter(|(_, plane)| !plane.is_empty())
            .map(|(p, plane)| (p, &plane[..]))
    }

    /// The flags of each cell: the sum of `NAN` (1), `PLUS_INFINITY` (2) and `MINUS_INFINITY` (4).
    /// Empty if there are none.
    pub fn flags(&self) -> &[u8] {
        &self.flags
    }

    /// Bytes of memory that the planes and flags take.
    pub fn bytes(&self) -> usize {
        let entries: usize = self.planes.iter().map(|plane| plane.len()).sum();
        entries * size_of::<i64>() + self.flags.capacity()
    }

    /// Whether no value has been added.
    pub(crate) fn is_empty(&self) -> bool {
        self.low > self.high && self.flags.is_empty()
    }

    /// The cells whose sum is not zero, in ascending order; `None` if they are more than `most`.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn touched(&self, most: usize) -> Result<Option<Vec<usize>>, Problem> {
        let mut found = try_vec("cells of exact sums", most.min(self.cells))?;
        for start in (0..self.cells).step_by(TOGETHER) {
            let end = self.cells.min(start + TOGETHER);
            let any = |start: usize, end: usize| {
                let flags = self.flags.get(start..end).unwrap_or(&[]);
                let of_planes = self.planes().fold(0, |any, (_, plane)| {
                    plane[start..end]
                        .iter()
                        .fold(any, |any, &entry| any | entry)
                });
                of_planes != 0 || flags.iter().any(|&flag| flag != 0)
            };
            if !any(start, end) {
                continue;
            }
            for cell in (start..end).filter(|&cell| any(cell, cell + 1)) {
                if found.len() == most {
                    return Ok(None);
                }
                found.push(cell);
            }
        }
        Ok(Some(found))
    }

    /// Makes sums of zero at the end until there are `cells`.
    ///
    /// # Errors
    /// [`Problem::Memory`]. The sums are as they were then.
    pub fn grow(&mut self, cells: usize) -> Result<(), Problem> {
        if cells <= self.cells {
            return Ok(());
        }
        let what = || format!("exact sums of {cells} cells");
        let mut grown = [const { List::empty() }; PLANES];
        for (to, from) in grown.iter_mut().zip(&self.planes) {
            if !from.is_empty() {
                *to = List::zeroed(&what, cells)?;
                to[..from.len()].copy_from_slice(from);
            }
        }
        if !self.flags.is_empty() {
            let mut flags = try_vec("flags of exact sums", cells)?;
            flags.extend_from_slice(&self.flags);
            flags.resize(cells, 0);
            self.flags = flags;
        }
        (self.planes, self.cells) = (grown, cells);
        Ok(())
    }

    /// The same sums in the cells of longer planes.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn spread(&self, to: Spread<'_>) -> Result<Self, Problem> {
        let what = || format!("exact sums of {} cells", to.cells);
        let mut made = Self::new(to.cells);
        for (spread, from) in made.planes.iter_mut().zip(&self.planes) {
            if !from.is_empty() {
                *spread = List::zeroed(&what, to.cells)?;
                to.copy(from, spread);
            }
        }
        if !self.flags.is_empty() {
            made.flags = try_vec("flags of exact sums", to.cells)?;
            made.flags.resize(to.cells, 0);
            to.copy(&self.flags, &mut made.flags);
        }
        Ok(Self {
            low: self.low,
            high: self.high,
            pending: self.pending,
            limit: self.limit,
            ..made
        })
    }

    /// The sum of a cell, without its window. It is zero for a cell that does not exist.
    pub(crate) fn one(&self, cell: usize) -> OneSum {
        let mut one = OneSum::new();
        for (number, plane) in self.planes() {
            one.set_entry(number, plane.get(cell).copied().unwrap_or(0));
        }
        one.add_flags(self.flags.get(cell).copied().unwrap_or(0));
        one.carry();
        one
    }

    /// Adds a value to a cell. Ignores a cell that does not exist.
    ///
    /// # Errors
    /// [`Problem::Memory`]. The sum is unchanged then.
    pub fn add(&mut self, cell: usize, value: f64) -> Result<(), Problem> {
        if cell >= self.cells {
            return Ok(());
        }
        self.reserve(1)?;
        self.place(cell, value)
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
        let part = usize::try_from(self.limit / 2)
            .unwrap_or(usize::MAX)
            .clamp(1, 1 << 16);
        for (rows, values) in rows.chunks(part).zip(values.chunks(part)) {
            self.reserve(values.len() as u64)?;
            for (&row, &value) in rows.iter().zip(values) {
                if row < self.cells {
                    self.place(row, value.into())?;
                }
            }
        }
        Ok(())
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
        self.reserve(1)?;
        for (cell, &value) in (first..self.cells).zip(values) {
            self.place(cell, value.into())?;
        }
        Ok(())
    }

    /// Adds all sums of another state. Cells that it has beyond these are left out.
    ///
    /// # Errors
    /// [`Problem::Memory`]. The sums are unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<(), Problem> {
        if self.pending.saturating_add(other.pending) > self.limit {
            self.carry()?;
        }
        for (number, _) in other.planes() {
            self.touch(number)?;
        }
        if !other.flags.is_empty() && self.flags.is_empty() {
            self.flags = self.no_flags()?;
        }
        for (to, from) in self.planes.iter_mut().zip(&other.planes) {
            for (to, &from) in to.iter_mut().zip(&**from) {
                *to = to.wrapping_add(from);
            }
        }
        for (to, &from) in self.flags.iter_mut().zip(&other.flags) {
            *to |= from;
        }
        self.pending = self.pending.saturating_add(other.pending);
        if self.pending > self.limit {
            self.carry()?;
        }
        Ok(())
    }

    /// Brings all entries but those of the last plane into -2^31..2^31. Frees the planes that are
    /// zero then. The sums stay the same. Equal sums have the same entries afterwards.
    ///
    /// Signed entries keep the planes above a small negative sum zero.
    ///
    /// # Errors
    /// [`Problem::Memory`]. The sums are unchanged then.
    pub fn carry(&mut self) -> Result<(), Problem> {
        let mut number = self.low;
        while number <= self.high && number < PLANES - 1 {
            let any = self.planes[number]
                .iter()
                .fold(0, |any, &entry| any | carry_of(entry));
            if any != 0 {
                self.touch(number + 1)?;
                let (below, above) = self.planes.split_at_mut(number + 1);
                if let (Some(here), Some(next)) = (below.last_mut(), above.first_mut()) {
                    for (entry, next) in here.iter_mut().zip(&mut **next) {
                        let carry = carry_of(*entry);
                        *entry = entry.wrapping_sub(carry << 32);
                        *next = next.wrapping_add(carry);
                    }
                }
            }
            number += 1;
        }
        let (mut low, mut high) = (PLANES, 0);
        for (number, plane) in self.planes.iter_mut().enumerate() {
            if plane.iter().fold(0, |any, &entry| any | entry) == 0 {
                *plane = List::empty();
            } else {
                low = low.min(number);
                high = number;
            }
        }
        (self.low, self.high) = (low, high);
        if self.flags.iter().all(|&flag| flag == 0) {
            self.flags = Vec::new();
        }
        self.pending = 1;
        Ok(())
    }

    /// The sum of a cell as the nearest number of a format: of two, the one whose last bit is zero.
    ///
    /// The sum is rounded once. Too large a sum gives an infinity, as IEEE 754 says. A sum of zero
    /// is +0, also if all values were -0. A NaN, or both infinities, among the values give NaN. One
    /// infinity gives that infinity. A cell that does not exist has the sum zero.
    pub fn round(&self, cell: usize, format: Format) -> f64 {
        if let Some(special) = self.special(cell) {
            return special;
        }
        self.number(cell).map_or(0.0, |number| number.round(format))
    }

    /// The sum of a cell divided by a count, as the nearest number of a format.
    ///
    /// The quotient is rounded once, by the rules of [`round`](Self::round). A count of zero gives
    /// NaN.
    pub fn mean(&self, cell: usize, count: u64, format: Format) -> f64 {
        if count == 0 {
            return f64::NAN;
        }
        if let Some(special) = self.special(cell) {
            return special;
        }
        self.number(cell)
            .map_or(0.0, |number| number.divide(count).round(format))
    }

    /// Makes room for additions: carries if the entries could grow too large.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[inline]
    fn reserve(&mut self, additions: u64) -> Result<(), Problem> {
        if self.pending.saturating_add(additions) > self.limit {
            self.carry()?;
        }
        self.pending += additions;
        Ok(())
    }

    /// Allocates a plane unless it is there.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[cold]
    #[inline(never)]
    fn touch(&mut self, number: usize) -> Result<(), Problem> {
        let Some(plane) = self.planes.get_mut(number) else {
            return Ok(());
        };
        if plane.is_empty() && self.cells > 0 {
            let what = || format!("exact sums of {} cells", self.cells);
            *plane = List::zeroed(&what, self.cells)?;
            self.low = self.low.min(number);
            self.high = self.high.max(number);
        }
        Ok(())
    }

    /// Adds a value to a cell that exists. [`reserve`](Self::reserve) has counted the addition.
    ///
    /// # Errors
    /// [`Problem::Memory`]. The sum is unchanged then.
    #[inline(always)]
    fn place(&mut self, cell: usize, value: f64) -> Result<(), Problem> {
        let Some((first, pieces)) = pieces(value) else {
            return self.flag(cell, value);
        };
        for (i, &piece) in pieces.iter().enumerate() {
            if piece != 0 && self.planes[first + i].is_empty() {
                self.touch(first + i)?;
            }
        }
        for (i, &piece) in pieces.iter().enumerate() {
            if let Some(entry) = self.planes[first + i].get_mut(cell) {
                *entry = entry.wrapping_add(piece);
            }
        }
        Ok(())
    }

    /// Notes a NaN or an infinity that was added to a cell.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[cold]
    #[inline(never)]
    fn flag(&mut self, cell: usize, value: f64) -> Result<(), Problem> {
        if self.flags.is_empty() {
            self.flags = self.no_flags()?;
        }
        if let Some(flags) = self.flags.get_mut(cell) {
            *flags |= flag_of(value);
        }
        Ok(())
    }

    /// A flag of 0 for each cell.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    fn no_flags(&self) -> Result<Vec<u8>, Problem> {
        let mut flags = try_vec("flags of exact sums", self.cells)?;
        flags.resize(self.cells, 0);
        Ok(flags)
    }

    /// Adds 2^(`position` - 1074), or subtracts it.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    #[cold]
    #[inline(never)]
    pub(crate) fn add_power(
        &mut self,
        cell: usize,
        negative: bool,
        position: u32,
    ) -> Result<(), Problem> {
        self.reserve(1)?;
        let number = (position / 32) as usize;
        self.touch(number)?;
        if let Some(entry) = self
            .planes
            .get_mut(number)
            .and_then(|plane| plane.get_mut(cell))
        {
            let power = 1i64 << (position % 32);
            *entry = entry.wrapping_add(if negative { -power } else { power });
        }
        Ok(())
    }

    /// Adds `sums[cell][word] * 2^(position - 1074)` to each cell and sets these words to zero.
    ///
    /// # Errors
    /// [`Problem::Memory`]. Nothing has been added then.
    pub(crate) fn take<const N: usize>(
        &mut self,
        sums: &mut [[i64; N]],
        word: usize,
        position: u32,
    ) -> Result<(), Problem> {
        self.reserve(1)?;
        let (first, shift) = ((position / 32) as usize, position % 32);
        let piece = |sum: u64, i: usize| (u128::from(sum) << shift >> (32 * i)) as u32;
        // The bits that are set in any sum tell which planes are needed.
        let set = sums
            .iter()
            .fold(0, |set, sum| set | sum[word].unsigned_abs());
        let used = [0, 1, 2].map(|i| piece(set, i) != 0);
        for (i, _) in used.iter().enumerate().filter(|(_, used)| **used) {
            self.touch(first + i)?;
        }
        for start in (0..sums.len()).step_by(TOGETHER) {
            let end = sums.len().min(start + TOGETHER);
            let sums = &mut sums[start..end];
            for (i, plane) in self.planes.iter_mut().skip(first).take(3).enumerate() {
                if let (true, Some(plane)) = (used[i], plane.get_mut(start..end)) {
                    for (entry, sum) in plane.iter_mut().zip(&*sums) {
                        let piece = i64::from(piece(sum[word].unsigned_abs(), i));
                        *entry = entry.wrapping_add(if sum[word] < 0 { -piece } else { piece });
                    }
                }
            }
            for sum in sums {
                sum[word] = 0;
            }
        }
        Ok(())
    }

    /// The result of a cell to which a NaN or an infinity was added.
    fn special(&self, cell: usize) -> Option<f64> {
        self.flags.get(cell).and_then(|&flags| special(flags))
    }

    /// The finite sum of a cell. `None` for zero.
    fn number(&self, cell: usize) -> Option<Number> {
        let entry = |number: usize| self.planes[number].get(cell).copied().unwrap_or(0);
        number_of(entry, self.low..(self.high + 1).max(self.low))
    }
}

#[cfg(test)]
mod tests;
