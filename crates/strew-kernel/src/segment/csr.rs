//! The inverse of row numbers: which updates each row takes, in their order.

use crate::error::Problem;
use crate::runtime::chunks;
use crate::segment::row_ids::{Facts, Order, RowIds};
use crate::segment::sorted::SortedPart;
use crate::segment::{sort, sorted};
use crate::tensor::try_vec;

/// For each row of a destination, the updates that go there, in their order.
///
/// Group `g` is row `row(g)`, and takes the updates `update(k)` for `k` in `bounds(g)`. Rows
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

/// Groups are listed only for rows that are touched if there are this many rows for each.
pub(crate) const SPARSE: usize = 2;

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

    /// The groups of `updates` that come in the order of their rows, of which stretches are given in order; `None` if they do not,
    /// or not all go to a row below `size`.
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

    /// Whether [`from_sorted`](Self::from_sorted) groups so many updates of so many rows: 32 bits hold all numbers.
    pub fn can_be_from_sorted(updates: usize, size: usize) -> bool {
        sort::fits(updates, size)
    }

    /// Bytes that it takes at most to group so many updates of any index, its numbers included.
    pub fn most(updates: usize, size: usize) -> usize {
        let numbers = updates.saturating_mul(RowIds::width(size));
        let any = Facts::default();
        numbers.saturating_add(Self::room(updates, size, any, size.min(updates)))
    }

    /// Bytes that it takes at most to make the groups, what is left of that included.
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
        // The order, and by its side what sorts it.
        let order = kept.saturating_mul(RowIds::width(updates));
        let sorting = match sort::fits(updates, size) {
            true => sort::room(updates, size),
            false => kept.saturating_mul(size_of::<(usize, usize)>()),
        };
        order.saturating_add(sorting).saturating_add(lists)
    }

    /// Whether all that the loops rely on holds.
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

    /// Updates, those that are left out included.
    pub fn updates(&self) -> usize {
        self.updates
    }

    /// Updates that go somewhere.
    pub fn kept(&self) -> usize {
        self.starts.get(self.len())
    }

    /// Where a group begins in the order; the number of groups is taken as well.
    #[inline(always)]
    pub fn start(&self, group: usize) -> usize {
        self.starts.get(group)
    }

    /// The row of a group.
    #[inline(always)]
    pub fn row(&self, group: usize) -> usize {
        self.rows.as_ref().map_or(group, |rows| rows.get(group))
    }

    /// The number of the `k`th update in the order of the groups.
    pub fn update(&self, k: usize) -> usize {
        self.order().get(k)
    }

    pub(crate) fn order(&self) -> Order<'_> {
        Order::of(self.order.as_ref())
    }

    /// Whether updates are taken one after the other.
    pub fn in_order(&self) -> bool {
        self.order.is_none()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let lists = [self.rows.as_ref(), Some(&self.starts), self.order.as_ref()];
        lists.into_iter().flatten().map(RowIds::bytes).sum()
    }

    /// Rows that are touched, and how often the one that is touched most is.
    pub fn multiplicity(&self) -> (usize, usize) {
        let sizes = (0..self.len()).map(|g| self.start(g + 1) - self.start(g));
        sizes.fold((0, 0), |(touched, most), n| {
            (touched + usize::from(n > 0), most.max(n))
        })
    }
}

/// The rows that are touched, unless most are, and where the updates of each begin; `row` says the row of each of the `kept`
/// ones, in order.
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
