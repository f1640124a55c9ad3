//! Sizes and strides of a layout's axes, inline for up to four axes, and neighbours made one.

use smallvec::SmallVec;

/// Layouts of more axes than this keep them on the heap.
const INLINE: usize = 4;

/// A size and a stride for each axis.
///
/// A short call copies layouts more than a dozen times: those of a few axes are a fixed number of
/// words, whose copy takes no call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Axes {
    /// Beyond the rank there are zeros.
    Inline {
        rank: u8,
        shape: [usize; INLINE],
        strides: [isize; INLINE],
    },
    Heap {
        shape: Vec<usize>,
        strides: Vec<isize>,
    },
}

impl Axes {
    /// `rank` axes. `axis` gives size and stride of each; it is asked for the last one first.
    #[inline(always)]
    pub(super) fn new(rank: usize, mut axis: impl FnMut(usize) -> (usize, isize)) -> Self {
        if rank > INLINE {
            let (mut shape, mut strides) = (vec![0; rank], vec![0; rank]);
            for a in (0..rank).rev() {
                (shape[a], strides[a]) = axis(a);
            }
            return Self::Heap { shape, strides };
        }
        let (mut shape, mut strides) = ([0; INLINE], [0; INLINE]);
        // A loop of a known length: without it, lists are copied by a call.
        for a in (0..INLINE).rev() {
            if a < rank {
                (shape[a], strides[a]) = axis(a);
            }
        }
        Self::Inline {
            rank: rank as u8,
            shape,
            strides,
        }
    }

    #[inline(always)]
    pub(super) fn shape(&self) -> &[usize] {
        match self {
            Self::Inline { rank, shape, .. } => &shape[..usize::from(*rank)],
            Self::Heap { shape, .. } => shape,
        }
    }

    #[inline(always)]
    pub(super) fn strides(&self) -> &[isize] {
        match self {
            Self::Inline { rank, strides, .. } => &strides[..usize::from(*rank)],
            Self::Heap { strides, .. } => strides,
        }
    }
}

/// Whether `len` steps of an inner axis are one of the next outer axis: the two are walked as one.
#[inline(always)]
pub fn continues(outer: isize, inner: isize, len: usize) -> bool {
    inner.checked_mul(len.cast_signed()) == Some(outer)
}

/// Axes as a length and their steps in each of some layouts, outermost first. Those of length 1 are
/// left out, and neighbours that lie one after the other in all layouts are made one.
pub fn joined<S: AsRef<[isize]>>(
    axes: impl IntoIterator<Item = (usize, S)>,
) -> SmallVec<[(usize, S); 4]> {
    let mut all: SmallVec<[(usize, S); 4]> = SmallVec::new();
    for (len, steps) in axes {
        let inside = |outer: &S| {
            let mut pairs = outer.as_ref().iter().zip(steps.as_ref());
            pairs.all(|(&outer, &inner)| continues(outer, inner, len))
        };
        match all.last_mut() {
            _ if len == 1 => {}
            Some((outer, old)) if inside(old) => {
                (*outer, *old) = (outer.saturating_mul(len), steps);
            }
            _ => all.push((len, steps)),
        }
    }
    all
}
