//! torch_scatter's `segment_coo`, `segment_csr`, `gather_coo` and `gather_csr`.

use crate::compared::segment::{Case, Kind, REDUCES, check};
use crate::support::ways::ways;
use crate::{Basis, basis, cases, shape};
use proptest::prelude::*;
use strew::DType;

prop_compose! {
    fn case()(shape in shape(1..6), basis in basis())(
        dim in 0..shape.len(),
        kind in prop::sample::select(
            vec![Kind::SegmentCoo, Kind::SegmentCoo, Kind::SegmentCsr, Kind::SegmentCsr, Kind::GatherCoo, Kind::GatherCsr]
        ),
        reduce in prop::sample::select(REDUCES.to_vec()),
        groups in 1usize..8,
        out in any::<bool>(),
        long in any::<bool>(),
        shape in Just(shape),
        basis in Just(basis),
    ) -> Case {
        Case { basis, shape, dim, kind, reduce, groups, out, long }
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn has_the_naive_loops_bits(case in case()) {
        check(&case, ways());
    }
}

/// Enough rows for several blocks of runs and pieces of columns, shared out or not.
#[test]
fn long_ones_have_the_naive_loops_bits() {
    use crate::support::{Spread, Style};
    let mut seed = 1;
    for dtype in [DType::F32, DType::F16, DType::I64, DType::Bool] {
        for (shape, dim, groups) in [
            (vec![3000, 3], 0, 700),
            (vec![900], 0, 1500),
            (vec![900], 0, 5),
            (vec![40, 600], 0, 5),
            (vec![2, 1500, 2], 1, 400),
            (vec![700, 3], 1, 2),
        ] {
            for kind in Kind::ALL {
                for reduce in ["sum", "mean", "max"] {
                    seed += 1;
                    let gathers = matches!(kind, Kind::GatherCoo | Kind::GatherCsr);
                    if gathers && reduce != "sum" {
                        continue;
                    }
                    let basis = Basis {
                        dtype,
                        style: if groups == 5 {
                            Style::Special
                        } else {
                            Style::Tame
                        },
                        spread: Spread::Uniform,
                        seed,
                    };
                    let case = Case {
                        basis,
                        shape: shape.clone(),
                        dim,
                        kind,
                        reduce,
                        groups,
                        out: seed % 2 == 0,
                        long: seed % 3 == 0,
                    };
                    check(&case, ways());
                }
            }
        }
    }
}
