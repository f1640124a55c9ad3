//! What a sample of an index tells: its order, how far its rows spread, and how hot the hottest is.

use crate::thresholds::{HOT_ROW, HOT_ROWS_PART, HOTTEST_ROW_PART};
use strew_kernel::tensor::DynView;

/// The order of the index, as its sample tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexOrder {
    /// No value is less than the one before it.
    Ascending,
    /// Nearly in order, or too many values name hot rows.
    Near,
    /// In no order. The number of rows is estimated, hot rows left out.
    Spread(usize),
}

/// Values of a sample that are less than the one before them.
fn falls(sample: &[i64]) -> usize {
    sample.windows(2).filter(|pair| pair[1] < pair[0]).count()
}

/// Whether this many falls among `all` values make an index nearly one in order.
fn is_nearly(falls: usize, all: usize) -> bool {
    falls * 4 < all
}

/// What a sample of an index tells about its order and its hottest row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skew {
    /// Values of the sample, and how many of them name the hottest row.
    all: usize,
    most: usize,
    /// The values come in order, ascending or descending, or nearly so.
    pub(crate) ordered: bool,
}

impl Skew {
    /// Values of the sample.
    const SAMPLE: usize = 1024;

    pub(crate) fn of(index: &DynView<'_>) -> Self {
        let mut sample = index.sample(Self::SAMPLE);
        let (all, falls) = (sample.len(), falls(&sample));
        sample.sort_unstable();
        let most = sample.chunk_by(|a, b| a == b).map(<[i64]>::len).max();
        Self {
            all,
            most: most.unwrap_or(0),
            ordered: is_nearly(falls, all) || is_nearly(all - falls, all),
        }
    }

    /// Whether more than one of `part` updates goes to the hottest row.
    pub(crate) fn is_hotter(self, part: usize) -> bool {
        self.most.saturating_mul(part) > self.all
    }
}

/// The order of an index into `cells` rows, of which `sample` is a sample.
pub(crate) fn order(sample: &[i64], cells: usize) -> IndexOrder {
    let all = sample.len();
    let falls = falls(sample);
    let ascending = falls == 0;
    if !ascending && is_nearly(falls, all) {
        return IndexOrder::Near;
    }
    let mut sorted = sample.to_vec();
    sorted.sort_unstable();
    let often = HOT_ROW * (1 + all / cells.max(1));
    let (mut rest, mut alike, mut most) = (0, 0, 0);
    for same in sorted.chunk_by(|a, b| a == b).map(<[i64]>::len) {
        most = most.max(same);
        if same < often {
            rest += same;
            alike += same * (same - 1) / 2;
        }
    }
    let hot = all - rest;
    if most > all / HOTTEST_ROW_PART {
        IndexOrder::Near
    } else if ascending {
        IndexOrder::Ascending
    } else if hot > all / HOT_ROWS_PART {
        IndexOrder::Near
    } else {
        IndexOrder::Spread(rest * rest.saturating_sub(1) / 2 / alike.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::{IndexOrder, order};
    use std::ops::Range;

    #[test]
    fn a_sample_tells_how_far_an_index_spreads() {
        let mut state = 1u64;
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as i64
        };
        let mut sample = |size: i64| -> Vec<i64> { (0..4096).map(|_| next() % size).collect() };
        for size in [500, 5000, 100_000] {
            let IndexOrder::Spread(found) = order(&sample(size), size as usize) else {
                panic!("they come in no order");
            };
            assert!((found as f64 / size as f64 - 1.0).abs() < 0.5, "{found}");
        }
        let mut sorted = sample(100_000);
        sorted.sort_unstable();
        assert_eq!(order(&sorted, 100_000), IndexOrder::Ascending);
        sorted[1000] = 0;
        assert_eq!(order(&sorted, 100_000), IndexOrder::Near);
        // A tenth, and then a half, go to one row; and half of all to a tenth of the rows.
        let mut skewed = |tenths: i64, hot: i64| -> IndexOrder {
            let to = |row: i64| if row % 10 < tenths { row % hot } else { row };
            let sample: Vec<i64> = sample(100_000).into_iter().map(to).collect();
            order(&sample, 100_000)
        };
        let among = |rows: Range<usize>, order| match order {
            IndexOrder::Spread(found) => rows.contains(&found),
            _ => false,
        };
        assert!(among(50_000..200_000, skewed(1, 1)));
        assert_eq!([skewed(5, 1), skewed(5, 100)], [IndexOrder::Near; 2]);
        assert!(among(1..50_000, skewed(5, 10_000)));
        let same = [order(&[3], 5), order(&[3; 100], 5)];
        assert_eq!(
            (order(&[], 5), same),
            (IndexOrder::Ascending, [IndexOrder::Near; 2])
        );
    }
}
