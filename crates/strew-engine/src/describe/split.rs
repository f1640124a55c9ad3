//! The ways to share a run out among threads.

/// How a run is shared out among threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Along an axis of the updates that walks along an axis of the destination of its own: each
    /// part takes its stretch of both.
    Axis(usize),
    /// Along the destination's axis that the first index component points into: each part reads
    /// the whole index and keeps what is its own.
    Owner,
    /// Along the updates: each part but the first has a table of the destination's shape for its
    /// stretch, and the tables are joined into the destination in their order. Only of reductions
    /// whose bits do not depend on how updates are bracketed: sums and products of integers, minima
    /// and maxima.
    Updates,
}

impl Split {
    /// The name by which it is shown.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Axis(_) => "by-axis",
            Self::Owner => "by-owner",
            Self::Updates => "by-updates",
        }
    }
}
