//! Arrays in memory with guard bytes around them and in their gaps.

use super::Random;
use crate::naive::Array;
use strew::{DynTensor, DynView, DynViewMut, Layout, Value};

const GUARD: u128 = 0xa5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5;

/// How an array lies in memory.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    /// The axes as memory has them, outermost first.
    order: Vec<usize>,
    /// Per axis: backwards?
    flipped: Vec<bool>,
    /// Per axis: unused room between neighbours, in units of the type's alignment.
    gap: Vec<usize>,
    /// Per axis: the same memory for every coordinate (stride 0)?
    repeated: Vec<bool>,
}

impl Placement {
    /// Row by row, without gaps.
    pub(crate) fn plain(rank: usize) -> Self {
        Self {
            order: (0..rank).collect(),
            flipped: vec![false; rank],
            gap: vec![0; rank],
            repeated: vec![false; rank],
        }
    }

    /// Column by column, without gaps.
    pub(crate) fn turned(rank: usize) -> Self {
        Self {
            order: (0..rank).rev().collect(),
            ..Self::plain(rank)
        }
    }

    /// Anything that a destination may be.
    pub(crate) fn random(random: &mut Random, rank: usize) -> Self {
        let mut all = Self::plain(rank);
        if random.chance(3) {
            return all;
        }
        if random.chance(2) {
            all.order = random.shuffled(rank);
        }
        for axis in 0..rank {
            all.flipped[axis] = random.chance(4);
            all.gap[axis] = if random.chance(4) { random.below(4) } else { 0 };
        }
        all
    }

    /// Anything that an input may be: some axes are repeated, and the array made constant there.
    pub(crate) fn random_input(random: &mut Random, array: &mut Array) -> Self {
        let mut all = Self::random(random, array.shape.len());
        for axis in 0..array.shape.len() {
            if random.chance(6) && array.shape[axis] > 0 {
                all.repeated[axis] = true;
                *array = array.constant_along(axis);
            }
        }
        all
    }
}

/// An array in memory of its own.
pub(crate) struct Strided {
    words: Vec<u128>,
    origin: usize,
    layout: Layout,
}

impl Strided {
    pub(crate) fn new(array: &Array, how: &Placement) -> Self {
        let (size, align) = (array.dtype.size(), array.dtype.align());
        let mut strides = vec![0isize; array.shape.len()];
        let (mut step, mut origin) = (size, 5 * 16 + align);
        for &axis in how.order.iter().rev() {
            if how.repeated[axis] {
                continue;
            }
            step += how.gap[axis] * align;
            let len = array.shape[axis].max(1);
            strides[axis] = step.cast_signed();
            if how.flipped[axis] {
                strides[axis] = -strides[axis];
                origin += step * (len - 1);
            }
            step *= len;
        }
        let layout = Layout::new(array.dtype, &array.shape, &strides).unwrap();
        let words = vec![GUARD; (origin + step) / 16 + 6];
        let mut made = Self {
            words,
            origin,
            layout,
        };
        for (at, &bits) in made.offsets().zip(&array.data) {
            made.bytes_mut()[at..at + size].copy_from_slice(&bits.to_ne_bytes()[..size]);
        }
        made
    }

    pub(crate) fn plain(array: &Array) -> Self {
        Self::new(array, &Placement::plain(array.shape.len()))
    }

    /// Where each element begins, row by row. It steps from one to the next: a list of coordinates for each would take most
    /// of a test's time, and under a sanitizer, to which an allocation is much work, nearly all of it.
    fn offsets(&self) -> impl Iterator<Item = usize> + use<> {
        let (shape, strides) = (self.layout.shape().to_vec(), self.layout.strides().to_vec());
        let mut c = vec![0; shape.len()];
        let mut next = self.origin.cast_signed();
        (0..shape.iter().product::<usize>()).map(move |_| {
            let here = next;
            for ((c, &len), &stride) in c.iter_mut().zip(&shape).zip(&strides).rev() {
                *c += 1;
                next += stride;
                if *c < len {
                    break;
                }
                next -= stride * c.cast_signed();
                *c = 0;
            }
            usize::try_from(here).unwrap()
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        let len = self.words.len() * 16;
        // SAFETY: the words are initialised, and bytes have no alignment.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), len) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let len = self.words.len() * 16;
        // SAFETY: as above, borrowed mutably; every byte is valid in a word.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), len) }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn view(&self) -> DynView<'_> {
        let ptr = self.words.as_ptr().cast::<u8>().wrapping_add(self.origin);
        // SAFETY: `new` has made the words long enough for the layout.
        unsafe { DynView::from_raw_parts(ptr, self.layout.clone()).unwrap() }
    }

    pub(crate) fn view_mut(&mut self) -> DynViewMut<'_> {
        let ptr = self.words.as_mut_ptr().cast::<u8>();
        let ptr = ptr.wrapping_add(self.origin);
        // SAFETY: as above, and the words are borrowed mutably.
        unsafe { DynViewMut::from_raw_parts(ptr, self.layout.clone()).unwrap() }
    }

    /// The view as an argument.
    pub(crate) fn input(&self) -> Value<'_> {
        Value::Tensor(self.view())
    }

    /// The view as an argument that is written.
    pub(crate) fn target(&mut self) -> Value<'_> {
        Value::Target(self.view_mut())
    }

    pub(crate) fn read(&self) -> Array {
        let size = self.layout.dtype().size();
        let shape = self.layout.shape();
        let element = |at: usize| {
            let mut bits = [0; 16];
            bits[..size].copy_from_slice(&self.bytes()[at..][..size]);
            u128::from_ne_bytes(bits)
        };
        Array {
            dtype: self.layout.dtype(),
            shape: shape.to_vec(),
            data: self.offsets().map(element).collect(),
        }
    }

    /// Panics if a byte that belongs to no element has changed.
    pub(crate) fn assert_guards(&self) {
        let mut bytes = self.bytes().to_vec();
        let guard = GUARD.to_ne_bytes()[0];
        for at in self.offsets() {
            bytes[at..at + self.layout.dtype().size()].fill(guard);
        }
        let broken = bytes.iter().position(|&b| b != guard);
        assert_eq!(broken, None, "a byte outside {:?}", self.layout);
    }
}

/// A tensor that an operator made, as an array.
pub(crate) fn array_of(tensor: &DynTensor) -> Array {
    assert_eq!(tensor.as_bytes().as_ptr().addr() % 64, 0);
    let size = tensor.dtype().size();
    let element = |bytes: &[u8]| {
        let mut bits = [0; 16];
        bits[..size].copy_from_slice(bytes);
        u128::from_ne_bytes(bits)
    };
    Array {
        dtype: tensor.dtype(),
        shape: tensor.shape().to_vec(),
        data: tensor.as_bytes().chunks_exact(size).map(element).collect(),
    }
}
