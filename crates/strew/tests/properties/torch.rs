//! `torch.scatter_reduce` and `scatter_reduce_`.

use crate::compared::torch::{Case, REDUCES, check};
use crate::support::ways::ways;
use crate::{basis, cases, shape};
use proptest::prelude::*;

prop_compose! {
    fn case()(shape in shape(0..6), basis in basis())(
        dim in 0..shape.len().max(1),
        along in 0usize..20,
        reduce in prop::sample::select(REDUCES.to_vec()),
        include_self in any::<bool>(),
        long in any::<bool>(),
        shape in Just(shape),
        basis in Just(basis),
    ) -> Case {
        Case { basis, shape, dim, along, reduce, include_self, long }
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn has_the_naive_loops_bits(case in case()) {
        check(&case, ways());
    }
}
