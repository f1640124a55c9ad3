//! Index values as they are stored, made into values that are checked against their axis.

use std::ops::RangeInclusive;
use std::str::FromStr;
use strew_kernel::error::{Class, Error, Problem};
use strew_kernel::tensor::DynView;
use strew_kernel::walk::decode::Stretch;
use strew_kernel::walk::geometry::OutOfBounds;

/// Index values that are looked at between two looks at whether somebody wants to stop.
const PIECE: usize = 1 << 14;

/// What a negative index means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Negative {
    /// It is out of range like any other.
    Reject,
    /// It counts from the end, once; what is still negative is out of range.
    Wrap,
    /// Its update is left out.
    Drop,
}

/// What an index beyond its axis means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutOfRange {
    /// An error, and nothing is written.
    Error,
    /// Its update is left out.
    Drop,
    /// The nearest index is meant.
    Clip,
}

/// What indices that name no cell mean.
///
/// Four rules have names: [`STRICT`](Self::STRICT), [`WRAP`](Self::WRAP), [`DROP`](Self::DROP) and
/// [`CLIP`](Self::CLIP). Their words, for `parse`, are `error`, `wrap`, `drop` and `clip`.
///
/// ```
/// # mod strew {
/// #     pub use strew_engine::{plan::*, scatter::bounds::*};
/// #     pub use strew_kernel::error::Error;
/// # }
/// use strew::{Bounds, Plan};
///
/// let index = [0i64, 7, -1, 1];
/// let counts = |bounds| Plan::builder(&index).size(2).bounds(bounds).build()?.counts();
/// assert_eq!(counts(Bounds::DROP)?.as_slice(), [1, 1]);
/// assert_eq!(counts(Bounds::CLIP)?.as_slice(), [2, 2]);
/// assert!(counts(Bounds::WRAP).unwrap_err().to_string().contains("index[1] = 7"));
///
/// let without_minus_one = Bounds::CLIP.ignoring(-1);
/// assert_eq!(counts(without_minus_one)?.as_slice(), [1, 2]);
/// assert_eq!("drop".parse::<Bounds>()?, Bounds::DROP);
/// # Ok::<(), strew::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Those below zero.
    pub negative: Negative,
    /// Those at or beyond the size, and those below zero that [`Negative`] leaves.
    pub out_of_range: OutOfRange,
    /// A value whose updates are left out, whatever else it would mean.
    pub ignored: Option<i64>,
}

impl Bounds {
    /// Only `0..size` is valid; everything else is an error.
    pub const STRICT: Self = Self {
        negative: Negative::Reject,
        out_of_range: OutOfRange::Error,
        ignored: None,
    };

    /// A negative index counts from the end. Everything else outside of `0..size` is an error.
    pub const WRAP: Self = Self {
        negative: Negative::Wrap,
        out_of_range: OutOfRange::Error,
        ignored: None,
    };

    /// Updates whose index is outside of `0..size` are left out.
    pub const DROP: Self = Self {
        negative: Negative::Drop,
        out_of_range: OutOfRange::Drop,
        ignored: None,
    };

    /// An index outside of `0..size` means the nearest one inside.
    pub const CLIP: Self = Self {
        negative: Negative::Reject,
        out_of_range: OutOfRange::Clip,
        ignored: None,
    };

    /// The rule of a word.
    ///
    /// # Errors
    /// [`Problem::Value`] for another word than the four.
    #[doc(hidden)] // Internal: for the crates of strew alone.
    pub fn named(mode: &str) -> Result<Self, Problem> {
        match mode {
            "error" => Ok(Self::STRICT),
            "wrap" => Ok(Self::WRAP),
            "drop" => Ok(Self::DROP),
            "clip" => Ok(Self::CLIP),
            other => Err(Problem::Value {
                argument: "mode".into(),
                value: format!("{other:?}"),
                expected: "it must be error, wrap, drop or clip".into(),
            }),
        }
    }

    /// The same rule, but updates with this index are left out, whatever else it would mean.
    #[must_use]
    pub fn ignoring(self, value: i64) -> Self {
        let ignored = Some(value);
        Self { ignored, ..self }
    }

    /// True if some index values leave their update out.
    #[must_use]
    pub fn drops(self) -> bool {
        self.negative == Negative::Drop
            || self.out_of_range == OutOfRange::Drop
            || self.ignored.is_some()
    }

    /// The same with an error for each index that names no cell by itself.
    pub(crate) fn refusing(self) -> Self {
        Self {
            negative: match self.negative {
                Negative::Drop => Negative::Reject,
                other => other,
            },
            out_of_range: OutOfRange::Error,
            ignored: None,
        }
    }

    /// The values that are no error on an axis of this size, besides the one that is ignored.
    pub(crate) fn valid(self, size: usize) -> RangeInclusive<i64> {
        // No axis is longer than isize::MAX.
        let size = size as i64;
        let low = match (self.negative, self.out_of_range) {
            (Negative::Drop, _) | (_, OutOfRange::Drop | OutOfRange::Clip) => i64::MIN,
            (Negative::Wrap, OutOfRange::Error) => -size,
            (Negative::Reject, OutOfRange::Error) => 0,
        };
        match self.out_of_range {
            OutOfRange::Error => low..=size - 1,
            // There is no nearest cell where there is none.
            OutOfRange::Clip if size == 0 => match self.negative {
                Negative::Drop => low..=-1,
                Negative::Reject | Negative::Wrap => RangeInclusive::new(0, -1),
            },
            OutOfRange::Drop | OutOfRange::Clip => low..=i64::MAX,
        }
    }

    /// Whether none of an index's values is an error on an axis of this size; false also as soon as
    /// `go_on`, which is told how many have been looked at, is.
    pub(crate) fn all_valid(
        self,
        index: &DynView<'_>,
        size: usize,
        mut go_on: impl FnMut(usize) -> bool,
    ) -> bool {
        let valid = self.valid(size);
        if let Some(ignored) = self.ignored.filter(|ignored| !valid.contains(ignored)) {
            return index.all_integers(|block| {
                let mut inside = block.iter().map(|v| *v == ignored || valid.contains(v));
                inside.all(|inside| inside) && go_on(block.len())
            });
        }
        index.all_runs(|at, stride, count| {
            (0..count).step_by(PIECE).all(|from| {
                let piece = Stretch {
                    index,
                    at: at + from.cast_signed() * stride,
                    stride,
                    count: PIECE.min(count - from),
                };
                piece.all_within(&valid) && go_on(piece.count)
            })
        })
    }

    /// How many cells an index needs of which the largest value names the last: none if it names
    /// none.
    ///
    /// Values that are ignored do not count, nor does an index of other things than integers.
    #[doc(hidden)] // Internal: for the crates of strew alone.
    pub fn cells(self, index: &DynView<'_>) -> usize {
        let most = match self.ignored {
            _ if index.is_empty() => None,
            None => index.max_integer(),
            Some(ignored) => {
                let mut most = None;
                index.all_integers(|block| {
                    let kept = block.iter().copied().filter(|&value| value != ignored);
                    most = most.max(kept.max());
                    true
                });
                most
            }
        };
        usize::try_from(most.map_or(0, |most| most.saturating_add(1))).unwrap_or(0)
    }

    /// Whether one value inside the bounds is left out.
    pub(crate) fn ignores(self) -> bool {
        self.ignored.is_some()
    }

    /// The cell that an index value means: `Ok(None)` for an update that is left out.
    ///
    /// # Errors
    /// [`OutOfBounds`] if the value names no cell.
    #[doc(hidden)] // Internal: for the crates of strew alone.
    pub fn resolve(self, value: i64, size: usize) -> Result<Option<i64>, OutOfBounds> {
        // No axis is longer than isize::MAX.
        let size = size as i64;
        let mut at = value;
        if self.ignored == Some(value) {
            return Ok(None);
        }
        if at < 0 {
            match self.negative {
                Negative::Reject => {}
                Negative::Wrap => at = at.saturating_add(size),
                Negative::Drop => return Ok(None),
            }
        }
        if (0..size).contains(&at) {
            return Ok(Some(at));
        }
        match self.out_of_range {
            OutOfRange::Error => Err(OutOfBounds),
            OutOfRange::Drop => Ok(None),
            OutOfRange::Clip if size == 0 => Err(OutOfBounds),
            OutOfRange::Clip => Ok(Some(at.clamp(0, size - 1))),
        }
    }
}

impl FromStr for Bounds {
    type Err = Error;

    fn from_str(mode: &str) -> Result<Self, Error> {
        Self::named(mode).map_err(|problem| Error::new("Bounds", Class::Value, problem))
    }
}

/// A bounds rule for one axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    bounds: Bounds,
    pub(crate) size: usize,
}

impl Rule {
    pub(crate) fn new(bounds: Bounds, size: usize) -> Self {
        Self { bounds, size }
    }

    /// Whether values below the size are used as they are, and all others are out of bounds.
    pub(crate) fn is_strict(self) -> bool {
        self.bounds == Bounds::STRICT
    }

    /// Whether negative values count from the end, and all others that are not below the size are
    /// out of bounds.
    pub(crate) fn wraps(self) -> bool {
        self.bounds == Bounds::WRAP
    }

    /// Applies the rule to values in place. What is not below the size afterwards is out of bounds
    /// or, if the rule drops, left out.
    pub(crate) fn apply(self, values: &mut [i64]) -> Result<(), OutOfBounds> {
        if self.is_strict() {
            return Ok(());
        }
        for value in values {
            *value = self.bounds.resolve(*value, self.size)?.unwrap_or(-1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew_kernel::tensor::TensorView;

    #[test]
    fn valid_values_are_those_that_resolve() {
        use Negative as N;
        use OutOfRange as O;
        let interesting = [i64::MIN, -6, -5, -4, -1, 0, 1, 4, 5, 6, i64::MAX];
        let outcomes = [O::Error, O::Drop, O::Clip];
        let ignored = [None, Some(-1), Some(2), Some(5), Some(i64::MAX)];
        for negative in [N::Reject, N::Wrap, N::Drop] {
            for (out_of_range, ignored) in
                outcomes.into_iter().flat_map(|o| ignored.map(|i| (o, i)))
            {
                let bounds = Bounds {
                    negative,
                    out_of_range,
                    ignored,
                };
                for (size, value) in [0, 1, 5]
                    .into_iter()
                    .flat_map(|s| interesting.map(|v| (s, v)))
                {
                    let index = [value];
                    let index = TensorView::from(&index).into_dyn();
                    let valid = bounds.all_valid(&index, size, |_| true);
                    let resolves = bounds.resolve(value, size);
                    assert_eq!(valid, resolves.is_ok(), "{bounds:?}, {value} of {size}");
                    if ignored == Some(value) {
                        assert!(bounds.drops() && matches!(resolves, Ok(None)));
                    }
                }
            }
        }
    }
}
