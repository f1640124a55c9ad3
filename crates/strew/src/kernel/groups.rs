//! Row numbers, and their inverse: which updates each row takes, in their order.

use crate::error::Problem;
use crate::tensor::{DType, DynView, Layout, try_vec};

/// A list of numbers, 32 bits wide where they fit.
#[derive(Debug, PartialEq)]
pub(crate) enum Numbers {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Numbers {
    /// An empty list for `count` numbers, each below `limit`; one more value is there to stand for
    /// none.
    pub(crate) fn with_room(what: &str, count: usize, limit: usize) -> Result<Self, Problem> {
        Ok(match Self::width(limit) {
            4 => Self::Narrow(try_vec(what, count)?),
            _ => Self::Wide(try_vec(what, count)?),
        })
    }

    /// Bytes of a number below `limit`. One bit is left over, so that [`view`](Self::view) is of a
    /// type that indices usually have.
    pub(crate) fn width(limit: usize) -> usize {
        match i32::try_from(limit) {
            Ok(_) => 4,
            Err(_) => 8,
        }
    }

    /// Adds a number, for which there must be room; what does not fit becomes the one for none, all bits set.
    #[inline(always)]
    pub(crate) fn push(&mut self, number: usize) {
        match self {
            Self::Narrow(list) => list.push(u32::try_from(number).unwrap_or(u32::MAX)),
            Self::Wide(list) => list.push(number as u64),
        }
    }

    /// Likewise adds numbers; a negative one becomes that for none.
    pub(crate) fn extend(&mut self, numbers: &[isize]) {
        match self {
            Self::Narrow(list) => {
                let narrow = |&number| u32::try_from(number).unwrap_or(u32::MAX);
                list.extend(numbers.iter().map(narrow));
            }
            Self::Wide(list) => list.extend(numbers.iter().map(|&number| number as u64)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Narrow(list) => list.len(),
            Self::Wide(list) => list.len(),
        }
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Narrow(list) => size_of_val(list.as_slice()),
            Self::Wide(list) => size_of_val(list.as_slice()),
        }
    }

    #[inline(always)]
    pub(crate) fn get(&self, at: usize) -> usize {
        match self {
            Self::Narrow(list) => list[at] as usize,
            Self::Wide(list) => list[at] as usize,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The list as a 1-d view of signed integers, as the fastest loops read them; none is -1.
    pub(crate) fn view(&self) -> DynView<'_> {
        let (at, dtype) = match self {
            Self::Narrow(list) => (list.as_ptr().cast::<u8>(), DType::I32),
            Self::Wide(list) => (list.as_ptr().cast::<u8>(), DType::I64),
        };
        let layout = Layout::contiguous(dtype, &[self.len()]).expect("the list is in memory");
        // SAFETY: the list is borrowed for as long as the view, and has as many elements.
        unsafe { DynView::from_raw_parts(at, layout) }.expect("the list is aligned")
    }
}

/// A list that may be the numbers from 0 on.
#[derive(Clone, Copy)]
pub(super) enum Places<'a> {
    Same,
    Narrow(&'a [u32]),
    Wide(&'a [u64]),
}

impl<'a> Places<'a> {
    pub(super) fn of(numbers: Option<&'a Numbers>) -> Self {
        match numbers {
            None => Self::Same,
            Some(Numbers::Narrow(list)) => Self::Narrow(list),
            Some(Numbers::Wide(list)) => Self::Wide(list),
        }
    }

    #[inline(always)]
    pub(super) fn get(self, at: usize) -> usize {
        match self {
            Self::Same => at,
            Self::Narrow(list) => list[at] as usize,
            Self::Wide(list) => list[at] as usize,
        }
    }
}

/// For each row of a destination, the updates that go there, in their order.
///
/// Group `g` is row `row(g)`, and takes the updates `update(k)` for `k` in `bounds(g)`. Rows
/// ascend. All numbers have been checked: every row is below `size`, every update below `updates`.
#[derive(Debug)]
pub(crate) struct Groups {
    /// `None`: every row is a group, which may be empty.
    rows: Option<Numbers>,
    /// Where each group begins in `order`, and where the last one ends.
    starts: Numbers,
    /// `None`: the updates are in the order of their rows.
    order: Option<Numbers>,
    size: usize,
    updates: usize,
}

/// So many rows are counted in a table that stays in a near cache; for more, updates are sorted
/// into blocks of rows first.
const BLOCK_BITS: u32 = 16;

/// Rows are counted in tables while there are at most so many for each update.
const COUNTED: usize = 16;

/// Groups are listed only for rows that are touched if there are this many rows for each.
const SPARSE: usize = 2;

impl Groups {
    /// Groups updates by their row. Numbers that are not below `size` are left out.
    pub(crate) fn new(numbers: &Numbers, size: usize, facts: Facts) -> Result<Self, Problem> {
        let updates = numbers.len();
        let kept = updates - facts.dropped;
        let order = match facts.sorted && facts.dropped == 0 {
            true => None,
            false => Some(sorted(numbers, size, kept)?),
        };
        // Once, at random; from here on one after the other.
        let ordered = match &order {
            None => None,
            Some(order) => {
                let mut rows = Numbers::with_room("the rows of a plan's updates", kept, size)?;
                for update in order.iter() {
                    rows.push(numbers.get(update));
                }
                Some(rows)
            }
        };
        let by_row = ordered.as_ref().unwrap_or(numbers);
        let row = |k: usize| by_row.get(k);
        let mut touched = 0;
        let mut last = usize::MAX;
        for k in 0..kept {
            let now = row(k);
            touched += usize::from(now != last);
            last = now;
        }
        let sparse = touched.saturating_mul(SPARSE) <= size;
        let groups = if sparse { touched } else { size };
        let mut starts = Numbers::with_room("the groups of a plan", groups + 1, kept)?;
        let mut rows = match sparse {
            true => Some(Numbers::with_room("the rows of a plan", touched, size)?),
            false => None,
        };
        let mut k = 0;
        for _ in 0..groups {
            starts.push(k);
            let this = match &mut rows {
                Some(rows) => {
                    rows.push(row(k));
                    row(k)
                }
                None => starts.len() - 1,
            };
            while k < kept && row(k) == this {
                k += 1;
            }
        }
        starts.push(k);
        let made = Self {
            rows,
            starts,
            order,
            size,
            updates,
        };
        assert!(made.is_sound() && k == kept, "updates are grouped by row");
        Ok(made)
    }

    /// Bytes that it takes at most to group so many updates of any index, its numbers included.
    pub(crate) fn most(updates: usize, size: usize) -> usize {
        let numbers = updates.saturating_mul(Numbers::width(size));
        let any = Facts::default();
        numbers.saturating_add(Self::room(updates, size, any, size.min(updates)))
    }

    /// Bytes that it takes at most to make the groups, what is left of that included.
    pub(crate) fn room(updates: usize, size: usize, facts: Facts, touched: usize) -> usize {
        let kept = updates - facts.dropped;
        let groups = if touched.saturating_mul(SPARSE) <= size {
            touched
        } else {
            size
        };
        let lists = (groups + 1)
            .saturating_mul(Numbers::width(kept))
            .saturating_add(touched.saturating_mul(Numbers::width(size)));
        if facts.sorted && facts.dropped == 0 {
            return lists;
        }
        // The order, and by its side first what sorts it, then the rows in their order and the lists.
        let order = kept.saturating_mul(Numbers::width(updates));
        let rows = kept.saturating_mul(Numbers::width(size));
        let counts = size
            .min((4 << BLOCK_BITS).max(size >> 11))
            .saturating_mul(4);
        let sorting = kept.saturating_mul(size_of::<(usize, usize)>());
        order
            + sorting
                .saturating_add(counts)
                .max(rows.saturating_add(lists))
    }

    /// Whether all that the loops rely on holds.
    fn is_sound(&self) -> bool {
        let groups = self.len();
        let ascend = |numbers: &Numbers, strictly: bool| {
            let pairs = numbers.iter().zip(numbers.iter().skip(1));
            pairs
                .into_iter()
                .all(|(a, b)| a < b || (!strictly && a == b))
        };
        let rows = match &self.rows {
            Some(rows) => {
                rows.len() == groups && ascend(rows, true) && rows.iter().all(|r| r < self.size)
            }
            None => groups == self.size,
        };
        let kept = self.kept();
        let order = match &self.order {
            Some(order) => order.len() == kept && order.iter().all(|u| u < self.updates),
            None => kept == self.updates,
        };
        rows && ascend(&self.starts, false) && order
    }

    /// How many groups there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The destination's rows.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Updates, those that are left out included.
    pub(crate) fn updates(&self) -> usize {
        self.updates
    }

    /// Updates that go somewhere.
    pub(crate) fn kept(&self) -> usize {
        self.starts.get(self.len())
    }

    /// Where a group begins in the order; the number of groups is taken as well.
    #[inline(always)]
    pub(crate) fn start(&self, group: usize) -> usize {
        self.starts.get(group)
    }

    /// The row of a group.
    #[inline(always)]
    pub(crate) fn row(&self, group: usize) -> usize {
        self.rows.as_ref().map_or(group, |rows| rows.get(group))
    }

    /// The number of the `k`th update in the order of the groups.
    pub(crate) fn update(&self, k: usize) -> usize {
        self.order().get(k)
    }

    pub(super) fn order(&self) -> Places<'_> {
        Places::of(self.order.as_ref())
    }

    /// Whether updates are taken one after the other.
    pub(crate) fn in_order(&self) -> bool {
        self.order.is_none()
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let lists = [self.rows.as_ref(), Some(&self.starts), self.order.as_ref()];
        lists.into_iter().flatten().map(Numbers::bytes).sum()
    }

    /// Rows that are touched, and how often the one that is touched most is.
    pub(crate) fn multiplicity(&self) -> (usize, usize) {
        let sizes = (0..self.len()).map(|g| self.start(g + 1) - self.start(g));
        sizes.fold((0, 0), |(touched, most), n| {
            (touched + usize::from(n > 0), most.max(n))
        })
    }
}

/// What a look at each row number tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// None is smaller than the one before; those that are left out do not count.
    pub(crate) sorted: bool,
    /// How many are left out.
    pub(crate) dropped: usize,
    /// The smallest and the largest.
    pub(crate) range: Option<(usize, usize)>,
}

impl Facts {
    /// Looks at every number.
    pub(crate) fn of(numbers: &Numbers, size: usize) -> Self {
        let (mut sorted, mut dropped, mut last) = (true, 0, 0);
        let mut range = None::<(usize, usize)>;
        for number in numbers.iter() {
            if number >= size {
                dropped += 1;
                continue;
            }
            sorted &= number >= last;
            last = number;
            range = Some(range.map_or((number, number), |(low, high)| {
                (low.min(number), high.max(number))
            }));
        }
        Self {
            sorted,
            dropped,
            range,
        }
    }
}

/// The updates in the order of their rows, those of one row in their own.
fn sorted(numbers: &Numbers, size: usize, kept: usize) -> Result<Numbers, Problem> {
    let room = "the order of a plan's updates";
    match numbers {
        // Tables that count rows cost in proportion to them: there must not be many for few updates.
        Numbers::Narrow(rows)
            if u32::try_from(rows.len()).is_ok() && size / COUNTED <= rows.len() =>
        {
            let mut order: Vec<u32> = try_vec(room, kept)?;
            order.resize(kept, 0);
            if size <= 1 << (BLOCK_BITS + 2) {
                let updates = rows.iter().zip(0..).map(|(&row, update)| (row, update));
                let updates = updates.filter(|&(row, _)| (row as usize) < size);
                count_sort(updates, size, &mut order)?;
            } else {
                by_block(rows, size, &mut order)?;
            }
            Ok(Numbers::Narrow(order))
        }
        _ => {
            let mut order = Numbers::with_room(room, kept, numbers.len())?;
            let mut pairs: Vec<(usize, usize)> = try_vec(room, kept)?;
            let updates = numbers
                .iter()
                .enumerate()
                .map(|(update, row)| (row, update));
            pairs.extend(updates.filter(|&(row, _)| row < size));
            pairs.sort_unstable();
            for (_, update) in pairs {
                order.push(update);
            }
            Ok(order)
        }
    }
}

/// Puts updates into the order of their rows, which are all below `size`.
fn count_sort(
    updates: impl Iterator<Item = (u32, u32)> + Clone,
    size: usize,
    order: &mut [u32],
) -> Result<(), Problem> {
    let mut ends: Vec<u32> = try_vec("counts of a plan's rows", size)?;
    ends.resize(size, 0);
    place(updates, &mut ends, order);
    Ok(())
}

/// [`count_sort`] with a table of zeros for its counts.
fn place(updates: impl Iterator<Item = (u32, u32)> + Clone, next: &mut [u32], order: &mut [u32]) {
    for (row, _) in updates.clone() {
        next[row as usize] += 1;
    }
    let mut sum = 0;
    for count in next.iter_mut() {
        sum += std::mem::replace(count, sum);
    }
    for (row, update) in updates {
        let at = &mut next[row as usize];
        order[*at as usize] = update;
        *at += 1;
    }
}

/// Likewise for many rows: updates are put down by block of rows, then sorted in each.
fn by_block(rows: &[u32], size: usize, order: &mut [u32]) -> Result<(), Problem> {
    // With very many rows, larger blocks: not more of them than the caches can write to at once.
    let bits = (size.ilog2() + 1).saturating_sub(12).max(BLOCK_BITS);
    let blocks = ((size - 1) >> bits) + 1;
    let mut starts: Vec<usize> = try_vec("the blocks of a plan's rows", blocks + 1)?;
    starts.resize(blocks + 1, 0);
    let kept = || {
        rows.iter()
            .zip(0u32..)
            .filter(|(row, _)| (**row as usize) < size)
    };
    for (row, _) in kept() {
        starts[(row >> bits) as usize + 1] += 1;
    }
    for block in 0..blocks {
        starts[block + 1] += starts[block];
    }
    let mut pairs: Vec<(u32, u32)> = try_vec("a plan's updates by block", order.len())?;
    pairs.resize(order.len(), (0, 0));
    let mut next = starts.clone();
    let mask = (1u32 << bits) - 1;
    for (&row, update) in kept() {
        let at = &mut next[(row >> bits) as usize];
        pairs[*at] = (row & mask, update);
        *at += 1;
    }
    let mut counts: Vec<u32> = try_vec("counts of a plan's rows", 1 << bits)?;
    for (block, &start) in starts[..blocks].iter().enumerate() {
        let range = start..starts[block + 1];
        counts.clear();
        counts.resize(1 << bits, 0);
        let updates = pairs[range.clone()].iter().copied();
        place(updates, &mut counts, &mut order[range]);
    }
    Ok(())
}
