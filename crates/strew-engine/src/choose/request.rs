//! What a run is asked to do with its updates: the input of every choice.

use crate::choose::split::Split;
use crate::choose::strategy::Strategy;
use strew_kernel::ops::number::Mean;
use strew_kernel::ops::reduction::Combine;

/// What a run is asked to do with its updates.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub combine: Combine,
    /// Touched cells start from the reduction's identity, not from what they hold.
    pub from_identity: bool,
    /// Cells that no update has reached yet are unset, and start from the reduction's identity.
    pub unset: bool,
    /// The destination is a table of its shape, from which the caller's is set in the end.
    pub private: bool,
    /// Every cell of the destination holds the reduction's identity.
    pub blank: bool,
    /// Divide by the number of updates.
    pub mean: Option<Mean>,
    /// The caller can see the destination, so nothing may be written before all is checked.
    pub visible: bool,
    /// Every index value has been checked before, and no other thread can change the index.
    pub proven: bool,
    /// Lists of the updates by block of the destination are there already, but for the elements.
    pub listed: bool,
    /// Why updates cannot be grouped by their row, if so.
    pub ungrouped: Option<&'static str>,
    /// A strategy to use whatever the cost model says.
    pub force: Option<Strategy>,
    /// How to share the run out, and among how many threads, whatever the cost model says.
    pub split: Option<(Split, usize)>,
}

impl Request {
    /// Updates join what is in their cells, in whatever way, and that is all.
    pub(crate) fn is_plain(&self) -> bool {
        let counted = self.mean.is_some() || self.from_identity || self.unset;
        !counted && self.force.is_none() && self.split.is_none()
    }
}
