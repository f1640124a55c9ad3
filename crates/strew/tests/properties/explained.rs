//! What runs is what was explained, at sizes that the other properties do not reach.

use crate::support::ways::{call, ran, with_threads};
use crate::support::{Random, Spread};
use strew::{DType, DynTensor, Strategy, TensorView, Value};
use strew_engine::strategy::record::Did;

fn zeros(dtype: DType, shape: &[usize]) -> DynTensor {
    DynTensor::zeros(dtype, shape).unwrap()
}

/// Runs a call on one thread and on two, and gives the strategies that ran.
fn strategies<'v>(name: &str, values: impl Fn() -> Vec<(&'v str, Value<'v>)>) -> [Strategy; 2] {
    [1, 2].map(|threads| {
        with_threads(threads, || {
            let (_, told) = ran(call(name, values()).unwrap());
            let ran = told.iter().find_map(|did| match did {
                Did::Strategy(strategy) => Some(*strategy),
                _ => None,
            });
            ran.expect("a run tells its strategy")
        })
    })
}

/// Copies with a replaced slice: small and large ones, with few updates and many, and of layouts
/// that are no plain rows.
#[test]
fn slices_are_replaced_as_explained() {
    let of = |rows: usize, width: usize, taken: usize, step: i64| {
        let input = zeros(DType::F32, &[rows, width]);
        let src = zeros(DType::F32, &[taken, width]);
        strategies("torch.slice_scatter", || {
            vec![
                ("input", Value::Tensor(input.view())),
                ("src", Value::Tensor(src.view())),
                ("dim", Value::Int(0)),
                ("start", Value::Int(0)),
                ("end", Value::Int(taken as i64 * step)),
                ("step", Value::Int(step)),
            ]
        })
    };
    // From 32 MiB on; an update of 256 elements is small there, too.
    assert_eq!(of(1 << 13, 1 << 10, 3, 1), [Strategy::ReplaceSlice; 2]);
    assert_eq!(of(1 << 13, 1 << 10, 300, 3), [Strategy::ReplaceSlice; 2]);
    assert_eq!(of((1 << 13) - 1, 1 << 10, 3, 1), [Strategy::InOrder; 2]);
    assert_eq!(of(1 << 15, 1 << 8, 1, 1), [Strategy::Small; 2]);
    // Rows that are no whole cache lines.
    assert_eq!(of(1 << 15, (1 << 8) + 1, 300, 3), [Strategy::InOrder; 2]);
}

/// Rows and elements into destinations of many sizes, into new tensors and into copies.
#[test]
fn sums_and_maxima_go_as_explained() {
    let mut random = Random(11);
    let mut seen = Vec::new();
    for (cells, width) in [(7, 1), (4000, 1), (1 << 20, 1), (50, 64), (1 << 17, 64)] {
        for count in [3, 300, 40_000] {
            for spread in [Spread::Uniform, Spread::Sorted] {
                let values = random.indices(count, cells, spread);
                let index = TensorView::from_slice(&values, &[count, 1]).unwrap();
                let index = index.into_dyn().broadcast_to(&[count, width]).unwrap();
                for dtype in [DType::F32, DType::F16, DType::I64] {
                    let src = zeros(dtype, &[count, width]);
                    for reduce in ["sum", "mean", "max", "mul"] {
                        let values = || {
                            vec![
                                ("src", Value::Tensor(src.view())),
                                ("index", Value::Tensor(index.clone())),
                                ("dim", Value::Int(0)),
                                ("dim_size", Value::Int(cells as i64)),
                                ("reduce", Value::Text(reduce.into())),
                            ]
                        };
                        seen.extend(strategies("torch_scatter.scatter", values));
                    }
                    let input = zeros(dtype, &[cells, width]);
                    for (reduce, include_self) in [
                        ("sum", false),
                        ("amax", false),
                        ("sum", true),
                        ("exact_sum", true),
                    ] {
                        let values = || {
                            vec![
                                ("input", Value::Tensor(input.view())),
                                ("dim", Value::Int(0)),
                                ("index", Value::Tensor(index.clone())),
                                ("src", Value::Tensor(src.view())),
                                ("reduce", Value::Text(reduce.into())),
                                ("include_self", Value::Bool(include_self)),
                            ]
                        };
                        seen.extend(strategies("torch.scatter_reduce", values));
                    }
                }
            }
        }
    }
    for strategy in [
        Strategy::Small,
        Strategy::InOrder,
        Strategy::DenseTable,
        Strategy::CompactTable,
        Strategy::Grouped,
    ] {
        assert!(seen.contains(&strategy), "{strategy}");
    }
}
