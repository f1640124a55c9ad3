//! Sizes and strides of a layout's axes.

/// Layouts of more axes than this keep them on the heap.
const FEW: usize = 4;

/// A size and a stride for each axis.
///
/// A short call copies layouts more than a dozen times: those of a few axes are a fixed number of words,
/// whose copy takes no call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Axes {
    /// Beyond the rank there are zeros.
    Few {
        rank: u8,
        shape: [usize; FEW],
        strides: [isize; FEW],
    },
    Many {
        shape: Vec<usize>,
        strides: Vec<isize>,
    },
}

impl Axes {
    /// `rank` axes. `axis` gives size and stride of each; it is asked for the last one first.
    #[inline(always)]
    pub(super) fn new(rank: usize, mut axis: impl FnMut(usize) -> (usize, isize)) -> Self {
        if rank > FEW {
            let (mut shape, mut strides) = (vec![0; rank], vec![0; rank]);
            for a in (0..rank).rev() {
                (shape[a], strides[a]) = axis(a);
            }
            return Self::Many { shape, strides };
        }
        let (mut shape, mut strides) = ([0; FEW], [0; FEW]);
        // A loop of a known length: without it, lists are copied by a call.
        for a in (0..FEW).rev() {
            if a < rank {
                (shape[a], strides[a]) = axis(a);
            }
        }
        Self::Few {
            rank: rank as u8,
            shape,
            strides,
        }
    }

    #[inline(always)]
    pub(super) fn shape(&self) -> &[usize] {
        match self {
            Self::Few { rank, shape, .. } => &shape[..usize::from(*rank)],
            Self::Many { shape, .. } => shape,
        }
    }

    #[inline(always)]
    pub(super) fn strides(&self) -> &[isize] {
        match self {
            Self::Few { rank, strides, .. } => &strides[..usize::from(*rank)],
            Self::Many { strides, .. } => strides,
        }
    }
}
