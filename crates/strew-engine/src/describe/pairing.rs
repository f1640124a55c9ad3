//! Rows that belong together because they lie one after the other.

/// How an array says which rows belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pairing {
    /// Row n of the destination takes the source's rows from pointer n up to pointer n + 1, none if
    /// that is not larger.
    Pointers,
    /// Row k of the source goes to the destination's row that index k names; the index ascends.
    Ascending,
    /// Row n of the source is copied to the destination's rows from pointer n up to pointer n + 1.
    Spread,
    /// Row k of the destination is a copy of the source's row that index k names; the index
    /// ascends.
    Picked,
}

impl Pairing {
    /// Rows are copied, not reduced.
    #[must_use]
    pub fn copies(self) -> bool {
        matches!(self, Self::Spread | Self::Picked)
    }

    /// The array holds pointers, one more than there are rows.
    #[must_use]
    pub fn points(self) -> bool {
        matches!(self, Self::Pointers | Self::Spread)
    }
}
