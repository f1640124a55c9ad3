//! The element type of bools.

/// A bool as memory holds it: any byte, of which 0 is false and the others are true.
#[derive(Clone, Copy, PartialEq)]
#[repr(transparent)]
pub(crate) struct Bool(pub(crate) u8);

impl Bool {
    #[inline(always)]
    pub(crate) fn get(self) -> bool {
        self.0 != 0
    }
}
