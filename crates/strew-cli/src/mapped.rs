//! Tensors in mapped files.
//!
//! The mapping is private and read-only. The engine takes a private copy of every index value before it
//! checks and uses it, and whatever the elements are, they decide nothing but the result. So somebody
//! who *changes* the file meanwhile changes what is read, not where.
//! Somebody who *shrinks* it ends the command with an error as soon as a page that is gone is touched
//! (`signals.rs`); nothing has been written by then. Replacing a file by renaming another over it, as
//! strew's own output does, is always safe: the mapping keeps the old one.
//!
//! # Unsafe
//!
//! - Buys: an input is read in place
//! - Measured: no other way
//! - Holds: the mapping has as many bytes as the layout spans; a page that disappears ends the
//!   process

use crate::failure::Failure;
use crate::signals::Watched;
use memmap2::{MmapOptions, MmapRaw};
use std::fs::File;
use std::io;
use strew::{DynView, Layout, Problem};

/// The elements of a tensor in a file, in row-major order.
#[derive(Debug)]
pub(crate) struct Mapped {
    /// In front of the mapping: it is dropped first.
    watched: Option<Watched>,
    map: MmapRaw,
    layout: Layout,
}

impl Mapped {
    /// Maps a contiguous tensor that begins `offset` bytes into the file and has at least one
    /// element. `None` if its elements would not be aligned there, or if the file ends before it.
    pub(crate) fn new(file: &File, offset: u64, layout: Layout) -> io::Result<Option<Self>> {
        let bytes = layout.len().saturating_mul(layout.dtype().size());
        let end = offset.checked_add(bytes as u64);
        let aligned = offset.is_multiple_of(layout.dtype().align() as u64);
        if bytes == 0 || !layout.is_contiguous() || !aligned {
            return Ok(None);
        }
        if end.is_none_or(|end| file.metadata().map_or(0, |m| m.len()) < end) {
            return Ok(None);
        }
        let map = MmapOptions::new()
            .offset(offset)
            .len(bytes)
            .map_raw_read_only(file)?;
        Ok(Some(Self {
            watched: None,
            map,
            layout,
        }))
    }

    /// From now on, a page that is gone is this failure.
    pub(crate) fn watch(&mut self, failure: &Failure) {
        self.watched = Some(Watched::new(self.map.as_ptr(), self.map.len(), failure));
    }

    /// The tensor to read.
    pub(crate) fn view(&self) -> Result<DynView<'_>, Problem> {
        // SAFETY: `new` mapped as many bytes as the contiguous layout spans, readable for as long
        // as `self` is borrowed. A page that goes because the file shrinks ends the process when
        // it is touched, so nothing wrong is ever read.
        unsafe { DynView::from_raw_parts(self.map.as_ptr(), self.layout.clone()) }
    }
}
