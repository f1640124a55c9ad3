//! Memory that tensors of any layout lie in, one beside the other or one over the other.

use crate::made::{below, chance, element, pick, without_nan};
use arbitrary::{Arbitrary, Result, Unstructured};
use std::marker::PhantomData;
use strew::{DType, DynView, DynViewMut, Layout};

/// Bytes that all tensors of a call share.
const ROOM: usize = 1 << 15;

/// No axis that is not repeated is longer, and no tensor has more elements.
const MOST: usize = 1 << 12;

/// All memory of a call.
pub(crate) struct Memory {
    words: Vec<u128>,
    /// Behind the last tensor.
    end: usize,
}

/// A tensor in the memory.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    origin: usize,
    layout: Layout,
}

impl Place {
    /// Where each element begins, in row-major order.
    fn elements(&self) -> impl Iterator<Item = usize> {
        let (shape, strides) = (self.layout.shape(), self.layout.strides());
        (0..self.layout.len()).map(move |mut rest| {
            let mut at = self.origin.cast_signed();
            for (&size, &stride) in shape.iter().zip(strides).rev() {
                at += (rest % size).cast_signed() * stride;
                rest /= size;
            }
            at.cast_unsigned()
        })
    }
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self {
            words: vec![0; ROOM / 16],
            end: 64,
        }
    }

    fn bytes(&self) -> &[u8] {
        let len = self.words.len() * 16;
        // SAFETY: the words are initialised, and bytes have no alignment.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), len) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let len = self.words.len() * 16;
        // SAFETY: as above, borrowed mutably; every byte is valid in a word.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), len) }
    }

    /// A copy of all of it.
    pub(crate) fn keep(&self) -> Vec<u128> {
        self.words.clone()
    }

    /// Makes it what it was.
    pub(crate) fn restore(&mut self, kept: &[u128]) {
        self.words.copy_from_slice(kept);
    }

    /// Finds a place for a tensor, and fills it.
    pub(crate) fn place(
        &mut self,
        from: &mut Unstructured<'_>,
        dtype: DType,
        shape: &[usize],
    ) -> Result<Place> {
        let layout = layout(from, dtype, shape)?;
        let (low, high) = layout.extent();
        let span = high.wrapping_sub(low).unsigned_abs();
        // Over another tensor, sometimes.
        let over = chance(from, 32)?;
        let start = if over { 64 } else { self.end };
        let beside = if over {
            dtype.align() * below(from, 64)?
        } else {
            0
        };
        let start = start.next_multiple_of(16) + beside;
        let fits = span < ROOM - 64 && start + span < ROOM - 64;
        let place = match fits {
            true => Place {
                origin: start.wrapping_add_signed(low.wrapping_neg()),
                layout,
            },
            // There is always room for one element, seen many times.
            false => Place {
                origin: 64,
                layout: repeated(dtype, shape),
            },
        };
        if fits && !over {
            self.end = start + span;
        }
        if fits {
            self.fill(from, &place)?;
        }
        Ok(place)
    }

    /// Fills a tensor with elements of one kind.
    fn fill(&mut self, from: &mut Unstructured<'_>, place: &Place) -> Result<()> {
        let dtype = place.layout.dtype();
        let (kind, seed) = (u8::arbitrary(from)?, u8::arbitrary(from)?);
        let mut state = u64::from(seed) << 1 | 1;
        for (n, at) in place.elements().enumerate() {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let high = (state >> 56) as u8;
            let byte = match kind % 8 {
                0..=2 => u8::arbitrary(from)?,
                3 => seed,
                // Ascending, as pointers and segments must.
                4 => (n / usize::from(1 + seed % 4)).min(7) as u8,
                5 => high % 192,
                6 => high % (1 + seed % 8),
                _ => high,
            };
            let bytes = element(dtype, byte);
            self.bytes_mut()[at..at + dtype.size()].copy_from_slice(&bytes[..dtype.size()]);
        }
        Ok(())
    }

    /// What a tensor holds, in which one NaN is as good as another.
    pub(crate) fn read(&self, place: &Place) -> Vec<u8> {
        let size = place.layout.dtype().size();
        let mut all = Vec::with_capacity(place.layout.len() * size);
        for at in place.elements() {
            all.extend(&self.bytes()[at..at + size]);
            let begin = all.len() - size;
            without_nan(place.layout.dtype(), &mut all[begin..]);
        }
        all
    }

    /// The first byte that differs from what was kept and belongs to none of these tensors.
    pub(crate) fn changed(&self, kept: &[u128], but: &[&Place]) -> Option<usize> {
        if self.words == kept {
            return None;
        }
        let mut allowed = vec![false; ROOM];
        for place in but {
            for at in place.elements() {
                allowed[at..at + place.layout.dtype().size()].fill(true);
            }
        }
        let before = kept.iter().flat_map(|word| word.to_ne_bytes());
        let mut pairs = before.zip(self.bytes()).zip(allowed);
        pairs.position(|((before, after), allowed)| !allowed && before != *after)
    }

    /// The tensors in it, as an operator takes them.
    pub(crate) fn views(&mut self) -> Views<'_> {
        Views {
            start: self.words.as_mut_ptr().cast(),
            memory: PhantomData,
        }
    }
}

/// Views of memory, which may lie one over the other: that is for strew to find out.
#[derive(Clone, Copy)]
pub(crate) struct Views<'m> {
    start: *mut u8,
    memory: PhantomData<&'m mut [u8]>,
}

impl<'m> Views<'m> {
    pub(crate) fn read(self, place: &Place) -> DynView<'m> {
        let ptr = self.start.wrapping_add(place.origin);
        // SAFETY: a place lies in the memory, which is borrowed for as long.
        let view = unsafe { DynView::from_raw_parts(ptr, place.layout.clone()) };
        view.expect("places are aligned")
    }

    pub(crate) fn write(self, place: &Place) -> DynViewMut<'m> {
        let ptr = self.start.wrapping_add(place.origin);
        // SAFETY: as above, and it is borrowed mutably.
        let view = unsafe { DynViewMut::from_raw_parts(ptr, place.layout.clone()) };
        view.expect("places are aligned")
    }
}

/// One element for all coordinates, of which there are not too many.
fn repeated(dtype: DType, shape: &[usize]) -> Layout {
    let all = Layout::new(dtype, shape, &vec![0; shape.len()]);
    let all = all.ok().filter(|layout| layout.len() <= MOST);
    all.unwrap_or_else(|| Layout::new(dtype, &[], &[]).expect("one element always fits"))
}

/// A layout of this shape with any strides, as far as there can be such a tensor.
fn layout(from: &mut Unstructured<'_>, dtype: DType, shape: &[usize]) -> Result<Layout> {
    let mut strides = vec![0isize; shape.len()];
    let kind = u8::arbitrary(from)? % 16;
    let mut order: Vec<usize> = (0..shape.len()).rev().collect();
    if kind == 1 {
        order.reverse();
    }
    let mut step = dtype.size().cast_signed();
    for axis in order {
        strides[axis] = match kind {
            0..=7 => step,
            8..=10 => {
                step = step.saturating_mul(pick(from, &[1, 1, 2, 3])?);
                pick(from, &[step, step.saturating_neg(), step, 0])?
            }
            11 => 0,
            _ => isize::from(i8::arbitrary(from)?).saturating_mul(pick(
                from,
                &[dtype.align().cast_signed(), step, 1, isize::MAX / 2],
            )?),
        };
        step = step.saturating_mul(shape[axis].max(1).cast_signed());
    }
    let made = Layout::new(dtype, shape, &strides);
    let made = made.ok().filter(|layout| layout.len() <= MOST);
    Ok(made.unwrap_or_else(|| repeated(dtype, shape)))
}
