//! How to do it: facts about the updates, the strategy that they lead to, and its run.

mod blocks;
mod by_updates;
mod check;
mod cost;
mod decode;
mod explain;
mod explanation;
mod gather;
mod grouped;
mod run;
mod runs;
mod space;
mod split;
mod tiles;
mod traffic;
mod trial;
mod way;
mod wide;
mod zeros;

pub use cost::Strategy;
pub(crate) use cost::{may_group, private_pays, unset_pays};
pub use decode::{Bounds, Negative, OutOfRange};
pub use explain::Execution;
pub use explanation::Explanation;
pub(crate) use explanation::bytes;
pub(crate) use grouped::{Reductions, are_few, hand_back, last, picked, reduce};
pub(crate) use run::{Before, Fault, Outputs};
pub use runs::Pairing;
pub(crate) use runs::{Paired, RunsOutputs};
pub(crate) use space::{Lookup, Space, SpaceAxis};
pub use split::Split;
pub(crate) use traffic::{Around, Began};
pub use traffic::{Move, Stage, Traffic};
pub use way::Way;
pub(crate) use way::{Work, choose, threads};

use crate::kernel::{Combine, Mean};

/// What a run is asked to do with its updates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) combine: Combine,
    /// Touched cells start from the reduction's identity, not from what they hold.
    pub(crate) from_identity: bool,
    /// Cells that no update has reached yet are unset, and start from the reduction's identity.
    pub(crate) unset: bool,
    /// The destination is a table of its shape, from which the caller's is set in the end.
    pub(crate) private: bool,
    /// Every cell of the destination holds the reduction's identity.
    pub(crate) blank: bool,
    /// Divide by the number of updates.
    pub(crate) mean: Option<Mean>,
    /// The caller can see the destination, so nothing may be written before all is checked.
    pub(crate) visible: bool,
    /// Every index value has been checked before, and nobody else can change it.
    pub(crate) proven: bool,
    /// Lists of the updates by block of the destination are there already, but for the elements.
    pub(crate) listed: bool,
    /// Why updates cannot be grouped by their row, if so.
    pub(crate) ungrouped: Option<&'static str>,
    /// A strategy to use whatever the cost model says.
    pub(crate) force: Option<Strategy>,
    /// How to share the run out, and among how many threads, whatever the cost model says.
    pub(crate) split: Option<(Split, usize)>,
}

impl Request {
    /// Updates join what is in their cells, in whatever way, and that is all.
    pub(crate) fn is_plain(&self) -> bool {
        let counted = self.mean.is_some() || self.from_identity || self.unset;
        !counted && self.force.is_none() && self.split.is_none()
    }
}
