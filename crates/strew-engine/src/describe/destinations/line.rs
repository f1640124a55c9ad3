//! Destinations that one list of numbers says, whatever the other axes.

use crate::describe::destinations::{Destinations, Place};
use strew_kernel::tensor::DynView;

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Destinations<'_> {
    /// The same along the scattered axis alone, if the index is a list of numbers that lies along
    /// it: where an update goes on the other axes is where it comes from.
    pub fn line(&self) -> Option<Destinations<'_>> {
        let [component] = self.components.as_slice() else {
            return None;
        };
        let axis = component.axis;
        let alike = self.updates.len() == self.shape.len()
            && (0..self.shape.len()).all(|k| {
                k == axis || (self.onto[k] == Some((k, 1)) && self.shape[k] == self.updates[k])
            });
        if component.place.axes != (axis..axis + 1) || !alike {
            return None;
        }
        let mut index: DynView<'_> = component.index.view().clone();
        for _ in 0..axis {
            index = index.select(0, 0)?;
        }
        while index.rank() > 1 {
            index = index.select(1, 0)?;
        }
        let place = Place {
            axes: 0..1,
            tuple: None,
        };
        let size = &[self.shape[axis]];
        Destinations::elements(size, component.argument, &index, 0, place, self.bounds).ok()
    }
}
