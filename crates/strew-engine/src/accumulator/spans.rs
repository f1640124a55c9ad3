//! Which positions have been taken: ranges in ascending order, with gaps between them.

use std::ops::Range;
use strew_kernel::error::Problem;
use strew_kernel::tensor::try_vec;

/// Positions that have been taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spans(Vec<Range<usize>>);

impl Spans {
    /// Ranges that are not empty, ascend, and have gaps between them. `None` if they are not so.
    pub(super) fn of(all: Vec<Range<usize>>) -> Option<Self> {
        let apart = all.windows(2).all(|pair| pair[0].end < pair[1].start);
        let some = all.iter().all(|span| span.start < span.end);
        (apart && some).then_some(Self(all))
    }

    pub(super) fn ranges(&self) -> &[Range<usize>] {
        &self.0
    }

    /// The position after the last one.
    pub(super) fn end(&self) -> usize {
        self.0.last().map_or(0, |span| span.end)
    }

    /// How many positions there are.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|span| span.len()).sum()
    }

    pub(super) fn memory(&self) -> usize {
        self.0.capacity() * size_of::<Range<usize>>()
    }

    /// Makes room for one more range.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(super) fn reserve(&mut self) -> Result<(), Problem> {
        if self.0.len() == self.0.capacity() {
            let mut more = try_vec(
                "the list of positions of an accumulator",
                self.0.len() * 2 + 4,
            )?;
            more.append(&mut self.0);
            self.0 = more;
        }
        Ok(())
    }

    /// Takes positions behind all others.
    pub(super) fn push(&mut self, span: Range<usize>) {
        match self.0.last_mut() {
            _ if span.is_empty() => {}
            Some(last) if last.end == span.start => last.end = span.end,
            _ => self.0.push(span),
        }
    }

    /// The first position that both have.
    pub(super) fn shared(&self, other: &Self) -> Option<usize> {
        let (mut mine, mut others) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(a), Some(b)) = (mine.peek(), others.peek()) {
            let start = a.start.max(b.start);
            if start < a.end.min(b.end) {
                return Some(start);
            }
            match a.end < b.end {
                true => mine.next(),
                false => others.next(),
            };
        }
        None
    }

    /// The positions of both.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(super) fn joined(&self, other: &Self) -> Result<Self, Problem> {
        let room = self.0.len() + other.0.len();
        let mut all: Vec<Range<usize>> = try_vec("the list of positions of an accumulator", room)?;
        all.extend(self.0.iter().chain(&other.0).cloned());
        all.sort_unstable_by_key(|span| span.start);
        all.dedup_by(|next, last| {
            let touches = next.start <= last.end;
            if touches {
                last.end = last.end.max(next.end);
            }
            touches
        });
        Ok(Self(all))
    }
}

#[cfg(test)]
mod tests {
    use super::Spans;

    #[test]
    #[allow(clippy::single_range_in_vec_init)]
    fn spans_that_touch_become_one() {
        let mut spans = Spans::default();
        for span in [0..3, 3..3, 3..5, 8..9] {
            spans.push(span);
        }
        assert_eq!(spans.ranges(), [0..5, 8..9]);
        assert_eq!((spans.end(), spans.len()), (9, 6));
        let other = Spans::of(vec![5..8, 12..13]).unwrap();
        assert_eq!(spans.shared(&other), None);
        assert_eq!(spans.joined(&other).unwrap().ranges(), [0..9, 12..13]);
        assert_eq!(other.shared(&Spans::of(vec![0..6]).unwrap()), Some(5));
        assert!(Spans::of(vec![0..3, 3..4]).is_none());
        assert!(Spans::of(vec![4..4]).is_none());
    }
}
