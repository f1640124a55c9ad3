//! The canonical scatter: every index type under every bounds rule.

use crate::compared::canonical::{
    Case, JOINS, NEGATIVE, OUT_OF_RANGE, check_affine, check_elements, check_rows,
};
use crate::support::INTEGERS;
use crate::support::ways::ways;
use crate::{basis, cases, shape};
use proptest::prelude::*;
use strew::Bounds;

prop_compose! {
    fn case()(
        shape in shape(1..5),
        batch in shape(0..4),
        basis in basis(),
        index in prop::sample::select(INTEGERS.to_vec()),
        negative in prop::sample::select(NEGATIVE.to_vec()),
        out_of_range in prop::sample::select(OUT_OF_RANGE.to_vec()),
        join in prop::sample::select(JOINS.to_vec()),
        ignored in prop::sample::select(vec![None, None, None, Some(-1), Some(0), Some(2), Some(i64::MIN.into())]),
        odd in prop::sample::select(vec![3, 40, 1_000_000]),
    ) -> Case {
        let join = Case::join_of(join, basis.dtype);
        let bounds = Bounds { negative, out_of_range, ignored };
        Case { basis, shape, batch, index, bounds, join, odd }
    }
}

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn rows_have_the_naive_loops_bits(case in case()) {
        check_rows(&case, ways());
    }

    #[test]
    fn elements_have_the_naive_loops_bits(case in case()) {
        check_elements(&case, ways());
    }

    #[test]
    fn slices_have_the_naive_loops_bits(case in case()) {
        check_affine(&case, ways());
    }
}
