//! Index values as they are stored, made into values that are checked against their axis.

use std::ops::RangeInclusive;
use std::str::FromStr;
use strew_kernel::error::{Class, Error, IndexValue, Problem};
use strew_kernel::tensor::{DType, DynView};
use strew_kernel::walk::decode::Stretch;
use strew_kernel::walk::geometry::OutOfBounds;
use strew_kernel::walk::resolve::Resolve;

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
    /// It lies beyond the axis: a `uint64` value that `int64` cannot hold is read so, where one
    /// such value is ignored.
    #[doc(hidden)] // Internal: for the crates of strew alone.
    Beyond,
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
/// #     pub use strew_engine::{plan::*, describe::bounds::*};
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
    /// A value whose updates are left out, whatever else it would mean. One that the index's type
    /// cannot hold ignores nothing.
    pub ignored: Option<i128>,
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

    /// The same rule, but updates with this index are left out, whatever else it would mean.
    #[must_use]
    pub fn ignoring(self, value: impl Into<i128>) -> Self {
        let ignored = Some(value.into());
        Self { ignored, ..self }
    }

    /// The value at a coordinate of an index that [`of_index`](Self::of_index) gave.
    pub(crate) fn value(self, index: &DynView<'_>, at: &[usize]) -> IndexValue {
        match index.index_value(at).unwrap_or(IndexValue::Integer(0)) {
            IndexValue::Integer(value) if value < 0 && self.negative == Negative::Beyond => {
                (value + (1 << 64)).into()
            }
            value => value,
        }
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
            (Negative::Reject | Negative::Beyond, OutOfRange::Error) => 0,
        };
        match self.out_of_range {
            OutOfRange::Error => low..=size - 1,
            // There is no nearest cell where there is none.
            OutOfRange::Clip if size == 0 => match self.negative {
                Negative::Drop => low..=-1,
                _ => RangeInclusive::new(0, -1),
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
        let ignored = self.ignored.and_then(|value| i64::try_from(value).ok());
        if let Some(ignored) = ignored.filter(|ignored| !valid.contains(ignored)) {
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

    /// The number, row by row, of the first value among the first `most` that is an error on an
    /// axis of this size.
    pub(crate) fn first_error(
        self,
        index: &DynView<'_>,
        size: usize,
        most: usize,
    ) -> Option<usize> {
        let valid = self.valid(size);
        let (mut at, mut found) = (0, None);
        index.all_integers(|block| {
            let outside = |all, value: &i64| all | !valid.contains(value);
            if block.iter().fold(false, outside) {
                let error = |&value: &i64| self.resolve(value, size).is_err();
                found = block.iter().position(error).map(|first| at + first);
            }
            at += block.len();
            found.is_none() && at < most
        });
        found.filter(|&at| at < most)
    }

    /// The values that are not ignored; what lies beyond `i64` is its largest value.
    fn kept(self, values: &[i64]) -> impl Iterator<Item = i64> {
        let ignored = self.ignored;
        let beyond = self.negative == Negative::Beyond;
        let kept = values.iter().copied();
        let kept = kept.filter(move |&value| ignored != Some(value.into()));
        kept.map(move |value| if beyond && value < 0 { i64::MAX } else { value })
    }

    /// Whether one value inside the bounds is left out.
    pub(crate) fn ignores(self) -> bool {
        self.ignored.is_some()
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Bounds {
    /// The rule of a word.
    ///
    /// # Errors
    /// [`Problem::Value`] for another word than the four.
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

    /// The same rule for an index whose values are read as `i64`, and the index to read them from.
    ///
    /// Values beyond `i64` are all read as the largest one. That is enough to tell that they name
    /// no cell, but not which of them is ignored: then they are read as negative ones.
    #[must_use]
    pub fn of_index<'a>(self, index: &DynView<'a>) -> (Self, DynView<'a>) {
        let fits = |value: &i128| match index.dtype() {
            DType::U64 => u64::try_from(*value).is_ok(),
            _ => i64::try_from(*value).is_ok(),
        };
        let ignored = self.ignored.filter(fits);
        match ignored.map(u64::try_from) {
            Some(Ok(value)) if value >= i64::MAX as u64 && index.dtype() == DType::U64 => {
                let beyond = Self {
                    negative: Negative::Beyond,
                    ignored: Some(value.cast_signed().into()),
                    ..self
                };
                (beyond, index.as_signed())
            }
            _ => (Self { ignored, ..self }, index.clone()),
        }
    }

    /// How many cells an index needs of which the largest value names the last: none if it names
    /// none.
    ///
    /// Values that are ignored do not count, nor does an index of other things than integers.
    ///
    /// # Errors
    /// [`Problem::IndexOutOfBounds`] for a value that is too large for any axis.
    pub fn cells(self, index: &DynView<'_>, argument: &'static str) -> Result<usize, Problem> {
        let (bounds, index) = self.of_index(index);
        let most = match bounds.ignored {
            _ if index.is_empty() => None,
            None => index.max_integer(),
            Some(_) => {
                let mut most = None;
                index.all_integers(|block| {
                    most = most.max(bounds.kept(block).max());
                    true
                });
                most
            }
        };
        let most = most.unwrap_or(-1);
        if most < i64::MAX {
            return Ok(usize::try_from(most + 1).unwrap_or(0));
        }
        let mut at = 0;
        index.all_integers(|block| {
            let beyond = |value: &i64| bounds.kept(&[*value]).max() == Some(i64::MAX);
            let found = block.iter().position(beyond);
            at += found.unwrap_or(block.len());
            found.is_none()
        });
        let position = match at < index.len() {
            true => index.coordinate(at),
            // Somebody else changed it meanwhile.
            false => index.coordinate(0),
        };
        Err(Problem::IndexOutOfBounds {
            argument,
            value: bounds.value(&index, &position),
            position: position.to_vec(),
            axis: 0,
            size: None,
        })
    }

    /// The cell that an index value means: `Ok(None)` for an update that is left out.
    ///
    /// # Errors
    /// [`OutOfBounds`] if the value names no cell.
    pub fn resolve(self, value: i64, size: usize) -> Result<Option<i64>, OutOfBounds> {
        // No axis is longer than isize::MAX.
        let size = size as i64;
        let mut at = value;
        if self.ignored == Some(value.into()) {
            return Ok(None);
        }
        if at < 0 {
            match self.negative {
                Negative::Reject => {}
                Negative::Beyond => at = i64::MAX,
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

    /// Whether values below the size that are not negative are used as they are.
    pub(crate) fn keeps_inside(self) -> bool {
        let inside = |value: i128| (0..self.size as i128).contains(&value);
        !self.bounds.ignored.is_some_and(inside)
    }

    /// Applies the rule to values in place. What is not below the size afterwards is out of bounds
    /// or, if the rule drops, left out.
    pub(crate) fn apply(self, values: &mut [i64]) -> Result<(), OutOfBounds> {
        if self.is_strict() || self.bounds == Bounds::DROP {
            return Ok(());
        }
        if self.size == 0 || self.bounds.negative == Negative::Beyond {
            for value in values {
                *value = self.bounds.resolve(*value, self.size)?.unwrap_or(-1);
            }
            return Ok(());
        }
        let rule = Resolve {
            size: self.size as i64,
            ignored: self.bounds.ignored.and_then(|it| i64::try_from(it).ok()),
            drops_negative: self.bounds.negative == Negative::Drop,
            wraps: self.bounds.negative == Negative::Wrap,
            clips: self.bounds.out_of_range == OutOfRange::Clip,
            fails: self.bounds.out_of_range == OutOfRange::Error,
        };
        match rule.apply(values) {
            true => Ok(()),
            false => Err(OutOfBounds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew_kernel::tensor::TensorView;

    #[test]
    fn values_that_are_applied_are_those_that_resolve() {
        use Negative as N;
        use OutOfRange as O;
        let interesting = [i64::MIN, -6, -5, -4, -1, 0, 1, 4, 5, 6, i64::MAX];
        for negative in [N::Reject, N::Wrap, N::Drop, N::Beyond] {
            for (out_of_range, ignored) in [O::Error, O::Drop, O::Clip]
                .into_iter()
                .flat_map(|o| [None, Some(-1), Some(2), Some(7)].map(|i| (o, i)))
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
                    let mut values = [value];
                    let applied = Rule::new(bounds, size).apply(&mut values);
                    let inside = |at: i64| (0..size as i64).contains(&at).then_some(at);
                    // A value that is still outside is left out, or an error.
                    let found = match (applied, inside(values[0])) {
                        (Ok(()), at) if at.is_some() || bounds.drops() => Ok(at),
                        _ => Err(OutOfBounds),
                    };
                    let expected = bounds.resolve(value, size);
                    assert_eq!(found, expected, "{bounds:?}, {value} of {size}");
                }
            }
        }
    }

    #[test]
    fn valid_values_are_those_that_resolve() {
        use Negative as N;
        use OutOfRange as O;
        let interesting = [i64::MIN, -6, -5, -4, -1, 0, 1, 4, 5, 6, i64::MAX];
        let outcomes = [O::Error, O::Drop, O::Clip];
        let ignored = [None, Some(-1), Some(2), Some(5), Some(i64::MAX.into())];
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
                    if ignored == Some(value.into()) {
                        assert!(bounds.drops() && matches!(resolves, Ok(None)));
                    }
                }
            }
        }
    }
}
