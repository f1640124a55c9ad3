//! The loops.
//!
//! They know neither frameworks nor index types nor negative indices: destinations reach them as
//! blocks of checked byte offsets ([`Walk`], [`Block`]). Element type and reduction are looked up
//! once per run ([`loops`]); strategies call what was found once per block.

#[macro_use]
mod simd;

mod accumulators;
mod afresh;
mod arg;
mod ascent;
mod by_row;
mod cast;
mod columns;
mod combine;
mod coming;
mod convert;
mod copy;
mod counted;
mod decode;
mod extremes;
mod fetch;
mod few;
mod fill;
mod floats;
mod fresh;
mod gather;
mod grouped;
mod groups;
mod half;
mod handed;
mod in_registers;
mod lane;
mod line;
mod listed;
mod loops;
mod multiplicity;
mod number;
mod numbers;
mod panels;
mod partition;
mod places;
mod pointwise;
mod real;
mod repeated;
mod round;
mod rows;
mod runs;
mod shares;
mod short;
mod sift;
mod sinks;
mod spread;
mod stream;
mod sums;
mod table;
mod tile;
mod touched;
mod tournament;
mod ufunc;
mod unset;
mod walk;
mod weave;
mod winners;

use crate::tensor::DType;

pub(crate) use self::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
pub(crate) use accumulators::{Fold, Seed, Take};
pub(crate) use arg::Arg;
pub(crate) use ascent::Ascent;
pub(crate) use cast::{converted, same_values};
pub(crate) use columns::{Statistic, Value};
pub(crate) use combine::{Direct, clear, clear_equal};
pub(crate) use copy::{duplicate, fence};
pub(crate) use counted::{counted_like, counted_size, divide};
pub(crate) use decode::{Scale, Stretch};
pub(crate) use fetch::Fetch;
pub(crate) use few::{FEW, Few};
pub(crate) use floats::DefaultFloats;
pub(crate) use fresh::Fresh;
pub(crate) use gather::{gather, last};
pub(crate) use grouped::{Grouped, is_past_caches};
pub(crate) use groups::Groups;
pub(crate) use handed::handed_back;
pub(crate) use lane::Lane;
pub(crate) use listed::{Listed, Lists};
pub(crate) use loops::{finite_start, identity};
pub(crate) use multiplicity::Multiplicity;
pub(crate) use number::{Divisor, Mean, converts};
pub(crate) use numbers::{Facts, Numbers};
pub(crate) use panels::{Columns, Count};
pub(crate) use partition::{BLOCK, Blocks, Partition};
pub(crate) use places::{nonzero, unravel};
pub(crate) use pointwise::Pointwise;
pub(crate) use real::Real;
pub(crate) use round::{merge, round, wide_like};
pub(crate) use runs::{Batch, RunFold, RunStart, Runs};
pub(crate) use shares::{Share, Source};
pub(crate) use sift::Wanted;
pub(crate) use sinks::Summary;
pub(crate) use spread::Spread;
pub(crate) use stream::{ask_for, compiled, copy_past_caches};
pub(crate) use table::{Begin, Table};
pub(crate) use tile::Tile;
pub(crate) use touched::Touched;
pub(crate) use ufunc::{Ufunc, apply};
pub(crate) use unset::{Unset, adopt, may_be_negative_zero, take};
pub(crate) use walk::{Axis, Block, Cursor, Geometry, OutOfBounds, Read, Step, Term, Walk};
pub(crate) use weave::{Strip, Weave};

/// How an update joins what is in its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Combine {
    /// The update replaces the cell; of several, the last one stays. Bits are copied.
    Assign,
    /// Addition. Integers wrap, `bool` is a logical or.
    Sum,
    /// Multiplication. Integers wrap, `bool` is a logical and.
    Prod,
    /// Subtraction of the update from the cell. Integers wrap.
    Sub,
    /// Division of the cell by the update. Integers are rounded toward zero and wrap; by 0 they become 0.
    Div,
    /// The smaller one.
    Min(Nan),
    /// The larger one.
    Max(Nan),
}

impl Combine {
    /// Whether the running result is an accumulator, and not an element.
    #[inline(always)]
    pub(crate) fn folds(self) -> bool {
        matches!(self, Self::Sum | Self::Prod | Self::Sub | Self::Div)
    }

    /// Whether to join elements takes longer than to read rows of them at random: they are compared one by one, or are products of
    /// products.
    pub(crate) fn computes(self, dtype: DType) -> bool {
        match self {
            Self::Min(_) | Self::Max(_) => dtype == DType::F16,
            Self::Prod => dtype.is_complex(),
            Self::Sum | Self::Sub | Self::Div | Self::Assign => false,
        }
    }
}

/// What a minimum or maximum makes of NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nan {
    /// A NaN on either side is the result.
    Propagate,
    /// Only a strict comparison moves the cell: a NaN update is ignored, and so are ties.
    Ignore,
}
