//! Arguments that several operators of this dialect have, and the arguments of their forms in
//! place.

use crate::dialect::framework::operator::{Argument, Kind};

/// The arguments of the form in place: the first one is written to.
pub(super) const fn in_place<const N: usize>(mut arguments: [Argument; N]) -> [Argument; N] {
    arguments[0].kind = Kind::Target;
    arguments
}

pub(super) const INPUT: Argument = Argument::needed(
    "input",
    Kind::Tensor,
    "the tensor to write into: any shape and dtype",
);

pub(super) const DIM: Argument = Argument::needed(
    "dim",
    Kind::Int,
    "the axis that index points along; negative counts from the end",
);
