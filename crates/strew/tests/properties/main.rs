//! Properties: on random shapes, strides, element types, values and indices, every operator has
//! the bits of its naive loop, with every strategy and any number of threads.

#[path = "../compared/mod.rs"]
mod compared;
#[path = "../naive/mod.rs"]
mod naive;
#[path = "../support/mod.rs"]
mod support;

mod canonical;
mod composite;
mod explained;
mod grad;
mod grad_groups;
mod grad_passes;
mod grad_plan;
mod mindspore;
mod mxnet;
mod openvino;
mod own;
mod paddle;
mod plan;
mod segment;
mod segment_reduce;
mod thresholds;
mod torch;
mod torch_family;
mod torch_scatter;

use compared::Basis;
use proptest::prelude::*;
use strew::DType;
use support::{Spread, Style};

prop_compose! {
    fn basis()(
        dtype in prop::sample::select(DType::ALL.to_vec()),
        style in prop::sample::select(Style::ALL.to_vec()),
        spread in prop::sample::select(Spread::ALL.to_vec()),
        seed in any::<u64>(),
    ) -> Basis {
        Basis { dtype, style, spread, seed }
    }
}

/// A shape of these ranks, sizes 0 (not often) to 7.
fn shape(ranks: std::ops::Range<usize>) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![1 => Just(0usize), 15 => 1usize..8], ranks)
}

/// So many cases, or fewer where `PROPTEST_CASES` says so, and no files of seeds.
fn cases(n: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    let fewer = std::env::var_os("PROPTEST_CASES").map(|_| n.min(usual.cases));
    ProptestConfig {
        cases: fewer.unwrap_or(n),
        failure_persistence: None,
        ..usual
    }
}
