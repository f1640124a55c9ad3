//! What index values outside an axis mean, for the frameworks that agree about it.

use strew_engine::describe::bounds::{Bounds, Negative, OutOfRange};

/// Negative indices count from the end.
pub(crate) const WRAP: Bounds = Bounds {
    negative: Negative::Wrap,
    ..Bounds::STRICT
};

/// Updates whose index is negative or out of range are left out.
pub(crate) const DROP: Bounds = Bounds {
    negative: Negative::Drop,
    out_of_range: OutOfRange::Drop,
    ignored: None,
};
