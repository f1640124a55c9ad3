//! Row numbers, and what a look at each of them tells.

use crate::error::Problem;
use crate::runtime::chunks;
use crate::runtime::threads::share;
use crate::tensor::{DType, DynView, Layout, List};

/// A list of numbers, 32 bits wide where they fit.
#[derive(Debug, PartialEq)]
pub enum RowIds {
    Narrow(List<u32>),
    Wide(List<u64>),
}

impl RowIds {
    /// An empty list for `count` numbers, each below `limit`; one more value is there to stand for
    /// none.
    pub fn with_room(what: &str, count: usize, limit: usize) -> Result<Self, Problem> {
        Ok(match Self::width(limit) {
            4 => Self::Narrow(List::with_room(what, count)?),
            _ => Self::Wide(List::with_room(what, count)?),
        })
    }

    /// Bytes of a number below `limit`. One bit is left over, so that [`view`](Self::view) is of a
    /// type that indices usually have.
    pub fn width(limit: usize) -> usize {
        match i32::try_from(limit) {
            Ok(_) => 4,
            Err(_) => 8,
        }
    }

    /// Adds a number, for which there must be room; what does not fit becomes the one for none, all bits set.
    #[inline(always)]
    pub fn push(&mut self, number: usize) {
        match self {
            Self::Narrow(list) => list.push(u32::try_from(number).unwrap_or(u32::MAX)),
            Self::Wide(list) => list.push(number as u64),
        }
    }

    /// A list of `count` numbers, each below `limit`, whose [parts](Self::parts) have yet to be set; until then they are any.
    pub fn unset(what: &str, count: usize, limit: usize) -> Result<Self, Problem> {
        Ok(match Self::width(limit) {
            4 => Self::Narrow(List::scratch(what, count)?),
            _ => Self::Wide(List::scratch(what, count)?),
        })
    }

    /// Stretches of up to `each` numbers, and where they begin.
    pub fn parts(&mut self, each: usize) -> Vec<(usize, Part<'_>)> {
        let parts: Vec<Part<'_>> = match self {
            Self::Narrow(list) => list.chunks_mut(each).map(Part::Narrow).collect(),
            Self::Wide(list) => list.chunks_mut(each).map(Part::Wide).collect(),
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

    /// Bytes that it takes.
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

    /// Whether all are below `limit`.
    pub(crate) fn are_below(&self, limit: usize) -> bool {
        match self {
            Self::Narrow(list) => {
                list.is_empty() || (range(list, [0, u32::MAX]).1 as usize) < limit
            }
            Self::Wide(list) => list.is_empty() || (range(list, [0, u64::MAX]).1 as usize) < limit,
        }
    }

    /// Whether none is smaller than the one before, nor, if so `strictly`, as large.
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
        // SAFETY: the list is borrowed for as long as the view, and has as many elements.
        unsafe { DynView::from_raw_parts(at, layout) }.expect("the list is aligned")
    }
}

/// The smallest and the largest; of none the largest there is, and 0.
fn range<T: Copy + Ord>(list: &[T], [least, most]: [T; 2]) -> (T, T) {
    vectorized!(|_| list
        .iter()
        .fold((most, least), |(low, high), &n| (low.min(n), high.max(n))))
}

/// A stretch of a list.
pub enum Part<'p> {
    Narrow(&'p mut [u32]),
    Wide(&'p mut [u64]),
}

impl Part<'_> {
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(list) => list.len(),
            Self::Wide(list) => list.len(),
        }
    }

    /// Sets the numbers from place `at` on; a negative one becomes that for none, as does what does not fit.
    ///
    /// # Panics
    /// If they reach beyond the stretch.
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

/// A list that may be the numbers from 0 on.
#[derive(Clone, Copy)]
pub(crate) enum Order<'a> {
    Same,
    Narrow(&'a [u32]),
    Wide(&'a [u64]),
}

impl<'a> Order<'a> {
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

/// What a look at each row number tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// None is smaller than the one before; those that are left out do not count.
    pub sorted: bool,
    /// How many are left out.
    pub dropped: usize,
    /// The smallest and the largest.
    pub range: Option<(usize, usize)>,
}

impl Facts {
    /// Looks at every number.
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
