//! `torch_scatter.scatter` and its relatives.

use crate::compared::torch_scatter::{Case, REDUCES, Size, check};
use crate::support::ways::ways;
use crate::{basis, cases, shape};
use proptest::prelude::*;

prop_compose! {
    fn case()(shape in shape(1..6), basis in basis())(
        dim in 0..shape.len(),
        reduce in prop::sample::select(REDUCES.to_vec()),
        index_rank in 0..=shape.len(),
        groups in 1usize..8,
        size in prop::sample::select(Size::ALL.to_vec()),
        long in any::<bool>(),
        shape in Just(shape),
        basis in Just(basis),
    ) -> Case {
        Case { basis, shape, dim, reduce, index_rank, groups, size, long }
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn has_the_naive_loops_bits(case in case()) {
        check(&case, ways());
    }
}
