//! The place of the first of the largest or of the smallest values. A group with NaN has none.
//!
//! One comparison passes what is better than the best so far, and NaN. Few values pass.
//!
//! # Unsafe
//!
//! - Buys: states in memory of large pages
//! - Measured: states in a `Vec`: 4M values of float64 into 4M groups 1.35
//! - Holds: every bit pattern of the numbers is a value

use crate::aggregate::fold::{End, Fold, join_all};
use crate::aggregate::{Job, Made, Row, fill_of, finish, states, with_rows, with_values};
use crate::error::Problem;
use crate::tensor::{Element, Plain};

/// The best value so far, and its place.
#[derive(Clone, Copy, Debug)]
struct Best<V> {
    value: V,
    place: u32,
}

// SAFETY: every bit pattern of the two numbers is a value.
unsafe impl<V: Plain> Plain for Best<V> {}

/// The place of a group without values.
const NOWHERE: u32 = u32::MAX;

/// The place of a group with NaN.
const NONE: u32 = u32::MAX - 1;

trait Compared: Element + Plain {
    /// The best value of a group without values.
    fn start(max: bool) -> Self;
    /// Whether the value is better than the best one, or NaN, or the first of its group.
    fn passes<const MAX: bool>(self, best: Best<Self>) -> bool;
    /// If the value is NaN, what its group has from then on, which only NaN passes.
    fn after_nan(self, max: bool) -> Option<Self>;
}

macro_rules! floats {
    ($($t:ty),*) => {$(
        impl Compared for $t {
            fn start(_: bool) -> Self {
                Self::NAN
            }

            #[inline(always)]
            #[allow(clippy::neg_cmp_op_on_partial_ord)] // NaN passes.
            fn passes<const MAX: bool>(self, best: Best<Self>) -> bool {
                match MAX {
                    true => !(self <= best.value),
                    false => !(self >= best.value),
                }
            }

            fn after_nan(self, max: bool) -> Option<Self> {
                let most = if max { Self::INFINITY } else { Self::NEG_INFINITY };
                self.is_nan().then_some(most)
            }
        }
    )*};
}

floats!(f32, f64);

impl Compared for i64 {
    fn start(max: bool) -> Self {
        if max { Self::MIN } else { Self::MAX }
    }

    #[inline(always)]
    fn passes<const MAX: bool>(self, best: Best<Self>) -> bool {
        let better = match MAX {
            true => self > best.value,
            false => self < best.value,
        };
        better | (best.place == NOWHERE)
    }

    fn after_nan(self, _: bool) -> Option<Self> {
        None
    }
}

struct Arg<const MAX: bool>;

impl<V: Compared, const MAX: bool> Fold<V> for Arg<MAX> {
    type State = Best<V>;
    const WAITS: bool = false;

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // There are fewer values.
    fn join(best: &mut Best<V>, value: V, place: usize) {
        if value.passes::<MAX>(*best) {
            *best = match value.after_nan(MAX) {
                Some(value) => Best { value, place: NONE },
                None => Best {
                    value,
                    place: place as u32,
                },
            };
        }
    }
}

pub(super) fn arg<const MAX: bool>(job: Job<'_>) -> Result<Made, Problem> {
    if job.values.len() >= NONE as usize {
        return Ok(Made::None);
    }
    with_values!(job, |values: V| {
        with_rows!(job.rows, |rows| arg_of::<V, _, MAX>(&job, rows, values))
    })
}

fn arg_of<V: Compared, R: Row, const MAX: bool>(
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    let Some(fill) = fill_of::<i64>(job) else {
        return Ok(Made::None);
    };
    let mut all = states(
        job,
        Best {
            value: V::start(MAX),
            place: NOWHERE,
        },
    )?;
    match join_all::<Arg<MAX>, V, R>(job, rows, values, &mut all)? {
        End::Stray => Ok(Made::Stray),
        End::Done => finish(&all, |best| match best.place {
            NOWHERE | NONE => fill,
            place => i64::from(place),
        }),
    }
}
