//! Row numbers in 32 or 64 bits, and facts that one pass over them finds.
//!
//! A number that is not below the destination's size stands for an update that is left out. All
//! bits set is the value that [`RowIds::push`] and [`RowIdsPart::set`] write for it.
//!
//! # Unsafe
//!
//! - Buys: row numbers as an index without a copy
//! - Measured: a copy: P1-order 1.33, P-order 1.01, P-order-small 1.15
//! - Holds: the list is borrowed as long as the view

use crate::error::Problem;
use crate::runtime::chunks;
use crate::runtime::threads::share;
use crate::tensor::{DType, DynView, Layout, List};

/// Rows are listed if the destination has at least this many rows for each touched row. Otherwise
/// every row is a group.
pub(crate) const SPARSE: usize = 2;

/// A list of numbers, 32 bits wide where they fit.
#[derive(Debug, PartialEq)]
pub enum RowIds {
    Narrow(List<u32>),
    Wide(List<u64>),
}

impl RowIds {
    /// An empty list with room for `count` numbers below `limit`, or the number for none.
    pub fn with_room(what: &str, count: usize, limit: usize) -> Result<Self, Problem> {
        Ok(match Self::width(limit) {
            4 => Self::Narrow(List::with_room(what, count)?),
            _ => Self::Wide(List::with_room(what, count)?),
        })
    }

    /// Bytes of a number below `limit`. The top bit stays free, so that [`view`](Self::view) can
    /// have a signed index type.
    pub fn width(limit: usize) -> usize {
        match i32::try_from(limit) {
            Ok(_) => 4,
            Err(_) => 8,
        }
    }

    /// Adds a number, for which there must be room. A number that does not fit becomes the number
    /// for none: all bits set.
    #[inline(always)]
    pub fn push(&mut self, number: usize) {
        match self {
            Self::Narrow(list) => list.push(u32::try_from(number).unwrap_or(u32::MAX)),
            Self::Wide(list) => list.push(number as u64),
        }
    }

    /// A list of `count` numbers below `limit` that hold any value until their [parts](Self::parts)
    /// are set.
    pub fn unset(what: &str, count: usize, limit: usize) -> Result<Self, Problem> {
        Ok(match Self::width(limit) {
            4 => Self::Narrow(List::scratch(what, count)?),
            _ => Self::Wide(List::scratch(what, count)?),
        })
    }

    /// Consecutive parts of up to `each` numbers, and where each begins.
    pub fn parts(&mut self, each: usize) -> Vec<(usize, RowIdsPart<'_>)> {
        let parts: Vec<RowIdsPart<'_>> = match self {
            Self::Narrow(list) => list.chunks_mut(each).map(RowIdsPart::Narrow).collect(),
            Self::Wide(list) => list.chunks_mut(each).map(RowIdsPart::Wide).collect(),
        };
        parts
            .into_iter()
            .enumerate()
            .map(|(n, part)| (n * each, part))
            .collect()
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(list) => list.len(),
            Self::Wide(list) => list.len(),
        }
    }

    /// The size of the list in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Narrow(list) => size_of_val(&**list),
            Self::Wide(list) => size_of_val(&**list),
        }
    }

    #[inline(always)]
    pub fn get(&self, at: usize) -> usize {
        match self {
            Self::Narrow(list) => list[at] as usize,
            Self::Wide(list) => list[at] as usize,
        }
    }

    /// Reads consecutive numbers from one place on.
    ///
    /// # Panics
    /// If there are not as many.
    pub(crate) fn read(&self, from: usize, to: &mut [i64]) {
        fn copy<N: Copy>(list: &[N], to: &mut [i64], widen: impl Fn(N) -> i64) {
            for (to, &number) in to.iter_mut().zip(list) {
                *to = widen(number);
            }
        }
        let range = from..from + to.len();
        match self {
            Self::Narrow(list) => copy(&list[range], to, i64::from),
            Self::Wide(list) => copy(&list[range], to, u64::cast_signed),
        }
    }

    /// Whether all are below `limit`.
    pub(crate) fn are_below(&self, limit: usize) -> bool {
        match self {
            Self::Narrow(list) => {
                list.is_empty() || (range(list, [0, u32::MAX]).1 as usize) < limit
            }
            Self::Wide(list) => list.is_empty() || (range(list, [0, u64::MAX]).1 as usize) < limit,
        }
    }

    /// Whether the numbers ascend; `strictly`: without equal neighbours.
    pub(crate) fn ascend(&self, strictly: bool) -> bool {
        fn pairs<T: PartialOrd>(list: &[T], strictly: bool) -> bool {
            match strictly {
                true => list.is_sorted_by(|a, b| a < b),
                false => list.is_sorted(),
            }
        }
        match self {
            Self::Narrow(list) => pairs(list, strictly),
            Self::Wide(list) => pairs(list, strictly),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The list as a 1-d view of signed integers, as the fastest loops read them; none is -1.
    pub fn view(&self) -> DynView<'_> {
        let (at, dtype) = match self {
            Self::Narrow(list) => (list.as_ptr().cast::<u8>(), DType::I32),
            Self::Wide(list) => (list.as_ptr().cast::<u8>(), DType::I64),
        };
        let layout = Layout::contiguous(dtype, &[self.len()]).expect("the list is in memory");
        // SAFETY: the layout has as many elements as the list, of the list's element size, and the
        // list is borrowed for as long as the view lives.
        unsafe { DynView::from_raw_parts(at, layout) }.expect("the list is aligned")
    }
}

/// The smallest and the largest number. An empty list gives the type's largest number and 0.
fn range<T: Copy + Ord>(list: &[T], [least, most]: [T; 2]) -> (T, T) {
    vectorized!(|_| list
        .iter()
        .fold((most, least), |(low, high), &n| (low.min(n), high.max(n))))
}

/// Consecutive numbers of a list.
pub enum RowIdsPart<'p> {
    Narrow(&'p mut [u32]),
    Wide(&'p mut [u64]),
}

impl RowIdsPart<'_> {
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(list) => list.len(),
            Self::Wide(list) => list.len(),
        }
    }

    /// Sets the numbers from place `at` on. A negative number, or one that does not fit, becomes
    /// the number for none.
    ///
    /// # Panics
    /// If they reach beyond the part.
    pub fn set(&mut self, at: usize, numbers: &[isize]) {
        match self {
            Self::Narrow(list) => {
                let list = &mut list[at..at + numbers.len()];
                vectorized!(|_| for (to, &number) in list.iter_mut().zip(numbers) {
                    *to = u32::try_from(number).unwrap_or(u32::MAX);
                });
            }
            Self::Wide(list) => {
                let list = &mut list[at..at + numbers.len()];
                for (to, &number) in list.iter_mut().zip(numbers) {
                    *to = number as u64;
                }
            }
        }
    }
}

/// The order of the updates of a grouping, looked up once before a loop. `Same`: update `k` is `k`.
#[derive(Clone, Copy)]
pub(crate) enum UpdateOrder<'a> {
    Same,
    Narrow(&'a [u32]),
    Wide(&'a [u64]),
}

impl<'a> UpdateOrder<'a> {
    pub(crate) fn of(numbers: Option<&'a RowIds>) -> Self {
        match numbers {
            None => Self::Same,
            Some(RowIds::Narrow(list)) => Self::Narrow(list),
            Some(RowIds::Wide(list)) => Self::Wide(list),
        }
    }

    #[inline(always)]
    pub(crate) fn get(self, at: usize) -> usize {
        match self {
            Self::Same => at,
            Self::Narrow(list) => list[at] as usize,
            Self::Wide(list) => list[at] as usize,
        }
    }
}

/// Facts that one pass over the row numbers finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The row numbers ascend, without those that are left out.
    pub sorted: bool,
    /// How many updates are left out.
    pub dropped: usize,
    /// The smallest and the largest row number that is not left out.
    pub range: Option<(usize, usize)>,
}

impl Facts {
    /// Finds the facts of a list.
    pub fn of(numbers: &RowIds, size: usize) -> Self {
        match numbers {
            RowIds::Narrow(list) => Self::of_list(list, size, [0, u32::MAX], |n| n as usize),
            RowIds::Wide(list) => Self::of_list(list, size, [0, u64::MAX], |n| n as usize),
        }
    }

    fn of_list<T: Copy + Ord + Send + Sync>(
        list: &[T],
        size: usize,
        limits: [T; 2],
        number: impl Fn(T) -> usize,
    ) -> Self {
        let threads = chunks::threads(list.len());
        let each = list.len().div_ceil(threads).max(1);
        let mut found = vec![(limits[1], limits[0], true); threads];
        let stretches = list.chunks(each).zip((0..).step_by(each));
        share(threads, stretches.zip(&mut found), |((part, at), found)| {
            let (low, high) = range(part, limits);
            let behind = at == 0 || list[at - 1] <= part[0];
            *found = (low, high, behind && part.is_sorted());
        });
        let all = found.into_iter();
        let (low, high, sorted) = all
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1), a.2 && b.2))
            .unwrap_or((limits[1], limits[0], true));
        if list.is_empty() || number(high) < size {
            return Self {
                sorted,
                dropped: 0,
                range: (!list.is_empty()).then(|| (number(low), number(high))),
            };
        }
        let kept = || list.iter().map(|&n| number(n)).filter(|&n| n < size);
        Self {
            sorted: kept().is_sorted(),
            dropped: list.len() - kept().count(),
            range: kept().min().zip(kept().max()),
        }
    }
}
