//! Destinations that are a slice.

use crate::describe::destinations::Destinations;

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Destinations<'_> {
    /// Where the updates begin on each of the destination's axes, and in which steps they go on, if
    /// axis by axis they do so.
    pub fn slice(&self) -> Option<(&[usize], impl Iterator<Item = isize>)> {
        let alike = self.onto.len() == self.shape.len()
            && (0..)
                .zip(&self.onto)
                .all(|(k, onto)| onto.is_some_and(|(axis, _)| axis == k));
        let plain = self.components.is_empty() && self.pairing.is_none();
        let steps = self
            .onto
            .iter()
            .map(|onto| onto.map_or(1, |(_, step)| step));
        (alike && plain).then_some((&self.start[..], steps))
    }
}
