//! A reduction as data: how to join, from where, and what to do at the end.

use strew_kernel::ops::reduction::Combine;

/// What happens to the updates of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// How an update joins the running result.
    pub combine: Combine,
    /// What the running result starts from.
    pub init: Init,
    /// What is done to it at the end.
    pub finish: Finish,
}

impl Reduction {
    /// Updates join what is in the cell, and that is the result.
    #[must_use]
    pub const fn into_self(combine: Combine) -> Self {
        Self {
            combine,
            init: Init::Current,
            finish: Finish::None,
        }
    }
}

/// What the running result of a touched cell starts from. Untouched cells keep what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Init {
    /// What the cell holds.
    Current,
    /// The reduction's identity: 0, 1, the highest or the lowest value.
    Identity,
}

/// What is done to the running results at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finish {
    /// Nothing.
    None,
    /// Touched cells are divided by their number of updates; integers are rounded down, of runs
    /// toward zero.
    Mean {
        /// What the cell held at first counts as one more.
        count_self: bool,
    },
    /// Likewise, integers rounded toward zero.
    MeanTowardZero {
        /// What the cell held at first counts as one more.
        count_self: bool,
    },
    /// Touched cells are divided by the square root of their number of updates.
    DivideByRoot,
    /// Cells of a new destination that still equal the value they started from become 0.
    ZeroIfStart,
}
