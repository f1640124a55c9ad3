//! The CSR inverse of row numbers: which updates each row takes, in their order.
//!
//! ```text
//! for g in 0..len:  row(g) takes update(k) for k in start(g)..start(g + 1)
//! ```
//!
//! Three ways make it, and all give the same grouping:
//!
//! * row numbers that ascend: one pass, and no `order` is kept ([`sorted`]);
//! * 32-bit row numbers: a parallel counting sort ([`sort`]);
//! * anything else: a comparison sort of (row, update) pairs, in `O(n log n)`.
//!
//! Memory: 4 or 8 bytes for each update in `order`, and for each group in `starts`. Rows are listed
//! only if at most half of them are touched.
//!
//! The loops turn rows and updates into addresses without further checks, so
//! [`Csr`] checks all of its lists once when it is made.

use crate::error::Problem;
use crate::groups::row_ids::{Facts, RowIds, SPARSE, UpdateOrder};
use crate::groups::sorted::SortedPart;
use crate::groups::{sort, sorted};
use crate::runtime::chunks;
use crate::tensor::try_vec;

/// For each row of a destination, its updates in their order.
///
/// Group `g` is row `row(g)`. It takes the updates `update(k)` for `k` from `start(g)` up to
/// `start(g + 1)`. Rows
/// ascend. All numbers have been checked: every row is below `size`, every update below `updates`.
#[derive(Debug)]
pub struct Csr {
    /// `None`: every row is a group, which may be empty.
    rows: Option<RowIds>,
    /// Where each group begins in `order`, and where the last one ends.
    starts: RowIds,
    /// `None`: the updates are in the order of their rows.
    order: Option<RowIds>,
    size: usize,
    updates: usize,
}

impl Csr {
    /// Groups updates by their row. Numbers that are not below `size` are left out.
    pub fn new(numbers: &RowIds, size: usize, facts: Facts) -> Result<Self, Problem> {
        let updates = numbers.len();
        let kept = updates - facts.dropped;
        let made = match numbers {
            _ if facts.sorted && facts.dropped == 0 => {
                let (rows, starts) = lists(kept, size, |k| numbers.get(k))?;
                Self {
                    rows,
                    starts,
                    order: None,
                    size,
                    updates,
                }
            }
            RowIds::Narrow(list) if sort::fits(updates, size) => {
                let sorted = sort::sort(list, size, kept, chunks::threads(updates))?;
                Self {
                    rows: sorted.rows.map(RowIds::Narrow),
                    starts: RowIds::Narrow(sorted.starts),
                    order: Some(RowIds::Narrow(sorted.order)),
                    size,
                    updates,
                }
            }
            _ => {
                let what = "the order of a plan's updates";
                let mut pairs: Vec<(usize, usize)> = try_vec(what, kept)?;
                let updates_of = numbers.iter().zip(0..);
                pairs.extend(updates_of.filter(|&(row, _)| row < size));
                pairs.sort_unstable();
                let mut order = RowIds::with_room(what, kept, updates)?;
                for &(_, update) in &pairs {
                    order.push(update);
                }
                let (rows, starts) = lists(kept, size, |k| pairs[k].0)?;
                Self {
                    rows,
                    starts,
                    order: Some(order),
                    size,
                    updates,
                }
            }
        };
        assert!(
            made.is_sound() && made.kept() == kept,
            "updates are grouped by row"
        );
        Ok(made)
    }

    /// The groups of `updates` whose row numbers ascend, made of the scans of consecutive parts.
    /// `None` if the row numbers do not ascend, or one is not below `size`.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn from_sorted(
        ascents: &[SortedPart],
        size: usize,
        updates: usize,
    ) -> Result<Option<Self>, Problem> {
        let Some(lists) = sorted::joined(ascents, size, updates)? else {
            return Ok(None);
        };
        let made = Self {
            rows: lists.rows.map(RowIds::Narrow),
            starts: RowIds::Narrow(lists.starts),
            order: None,
            size,
            updates,
        };
        assert!(made.is_sound(), "updates are grouped by row");
        Ok(Some(made))
    }

    /// Whether [`from_sorted`](Self::from_sorted) can group `updates` updates of `size` rows: 32
    /// bits must hold all numbers.
    pub fn can_be_from_sorted(updates: usize, size: usize) -> bool {
        sort::fits(updates, size)
    }

    /// Upper bound in bytes of the memory that grouping takes for any index, row numbers included.
    pub fn most(updates: usize, size: usize) -> usize {
        let numbers = updates.saturating_mul(RowIds::width(size));
        let any = Facts::default();
        numbers.saturating_add(Self::room(updates, size, any, size.min(updates)))
    }

    /// Upper bound in bytes of the memory that grouping takes, the groups themselves included.
    pub fn room(updates: usize, size: usize, facts: Facts, touched: usize) -> usize {
        let kept = updates - facts.dropped;
        let groups = if touched.saturating_mul(SPARSE) <= size {
            touched
        } else {
            size
        };
        let lists = (groups + 1)
            .saturating_mul(RowIds::width(kept))
            .saturating_add(touched.saturating_mul(RowIds::width(size)));
        if facts.sorted && facts.dropped == 0 {
            return lists;
        }
        // The order, and the working memory of the sort.
        let order = kept.saturating_mul(RowIds::width(updates));
        let sorting = match sort::fits(updates, size) {
            true => sort::room(updates, size),
            false => kept.saturating_mul(size_of::<(usize, usize)>()),
        };
        order.saturating_add(sorting).saturating_add(lists)
    }

    /// Whether everything holds that the loops rely on.
    fn is_sound(&self) -> bool {
        let groups = self.len();
        let rows = match &self.rows {
            Some(rows) => rows.len() == groups && rows.ascend(true) && rows.are_below(self.size),
            None => groups == self.size,
        };
        let kept = self.kept();
        let order = match &self.order {
            Some(order) => order.len() == kept && order.are_below(self.updates),
            None => kept == self.updates,
        };
        rows && self.starts.ascend(false) && order
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The destination's rows.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The number of updates, including those that are left out.
    pub fn updates(&self) -> usize {
        self.updates
    }

    /// The number of updates that go to a row.
    pub fn kept(&self) -> usize {
        self.starts.get(self.len())
    }

    /// Where a group begins in the order. `start(len())` is the end of the last group.
    #[inline(always)]
    pub fn start(&self, group: usize) -> usize {
        self.starts.get(group)
    }

    /// The row of a group.
    #[inline(always)]
    pub fn row(&self, group: usize) -> usize {
        self.rows.as_ref().map_or(group, |rows| rows.get(group))
    }

    /// The `k`th update in group order.
    pub fn update(&self, k: usize) -> usize {
        self.order().get(k)
    }

    /// Replaces `updates` with `count` updates in group order, from the `first` one on.
    pub(crate) fn read_updates(&self, first: usize, count: usize, updates: &mut Vec<usize>) {
        updates.clear();
        let range = first..first + count;
        match &self.order {
            None => updates.extend(range),
            Some(RowIds::Narrow(list)) => updates.extend(list[range].iter().map(|&n| n as usize)),
            Some(RowIds::Wide(list)) => updates.extend(list[range].iter().map(|&n| n as usize)),
        }
    }

    pub(crate) fn order(&self) -> UpdateOrder<'_> {
        UpdateOrder::of(self.order.as_ref())
    }

    /// Whether group order is the order of the updates.
    pub fn in_order(&self) -> bool {
        self.order.is_none()
    }

    /// The size of the groups in bytes.
    pub fn bytes(&self) -> usize {
        let lists = [self.rows.as_ref(), Some(&self.starts), self.order.as_ref()];
        lists.into_iter().flatten().map(RowIds::bytes).sum()
    }

    /// The number of touched rows, and the largest number of updates that one row takes.
    pub fn multiplicity(&self) -> (usize, usize) {
        let sizes = (0..self.len()).map(|g| self.start(g + 1) - self.start(g));
        sizes.fold((0, 0), |(touched, most), n| {
            (touched + usize::from(n > 0), most.max(n))
        })
    }
}

/// The `rows` and `starts` of updates in group order. `row(k)` is the row of the `k`th of the
/// `kept` updates.
fn lists(
    kept: usize,
    size: usize,
    row: impl Fn(usize) -> usize,
) -> Result<(Option<RowIds>, RowIds), Problem> {
    let mut touched = 0;
    let mut last = usize::MAX;
    for k in 0..kept {
        let now = row(k);
        touched += usize::from(now != last);
        last = now;
    }
    let sparse = touched.saturating_mul(SPARSE) <= size;
    let groups = if sparse { touched } else { size };
    let mut starts = RowIds::with_room("the groups of a plan", groups + 1, kept)?;
    let mut rows = match sparse {
        true => Some(RowIds::with_room("the rows of a plan", touched, size)?),
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
    Ok((rows, starts))
}
