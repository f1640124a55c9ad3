//! [`Held`]: a view of borrowed memory, or of a tensor that it owns.
//!
//! # Unsafe
//!
//! - Buys: views of owned tensors without a copy
//! - Measured: that of `tensor/owned.rs`
//! - Holds: the view borrows the tensor that it is made of

use crate::error::Problem;
use crate::tensor::owned::DynTensor;
use crate::tensor::view::DynView;
use std::sync::Arc;

/// A view of borrowed memory, or of a tensor that it owns (a scalar made into an element, or the
/// indices of a mask).
///
/// A clone shares the owned tensor.
#[derive(Clone, Debug)]
pub struct Held<'a> {
    view: DynView<'a>,
    kept: Option<Arc<DynTensor>>,
}

impl<'a> From<DynView<'a>> for Held<'a> {
    #[inline(always)] // A view is large: it is made where it stays.
    fn from(view: DynView<'a>) -> Self {
        Self { view, kept: None }
    }
}

impl From<DynTensor> for Held<'_> {
    fn from(tensor: DynTensor) -> Self {
        let kept = Arc::new(tensor);
        let view = kept.view();
        // SAFETY: the memory belongs to the tensor on the heap and does not move with it. The `Arc`
        // keeps the tensor alive as long as `self`, and an `Arc` gives no mutable access, so
        // nothing writes. No method gives out a view that outlives the borrow of `self`.
        let view = unsafe { DynView::from_borrowed(view.as_ptr(), view.layout().clone()) };
        Self {
            view,
            kept: Some(kept),
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl<'a> Held<'a> {
    /// The view, if it is of borrowed memory.
    pub fn borrowed(&self) -> Option<DynView<'a>> {
        self.kept.is_none().then(|| self.view.clone())
    }
}

impl Held<'_> {
    /// The view, for as long as this is there.
    #[must_use]
    #[inline(always)]
    pub fn view(&self) -> &DynView<'_> {
        &self.view
    }

    /// Another view of the same memory, if there is such a one.
    #[must_use]
    pub fn map(
        self,
        other: impl for<'v> FnOnce(&DynView<'v>) -> Option<DynView<'v>>,
    ) -> Option<Self> {
        let view = other(&self.view)?;
        Some(Self { view, ..self })
    }

    /// The elements along one axis in row-major order: a copy of them, unless they have equal
    /// distances.
    ///
    /// # Errors
    /// [`Problem::Memory`] if a copy does not fit.
    pub fn flat(self) -> Result<Self, Problem> {
        if let Some(flat) = self.clone().map(|view| view.flat()) {
            return Ok(flat);
        }
        let copy = Self::from(self.view.to_tensor()?);
        Ok(copy.clone().map(|view| view.flat()).unwrap_or(copy))
    }
}
