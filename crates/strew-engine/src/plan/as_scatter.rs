//! Aggregates that are a scatter: one sum, product, mean or extreme in the values' own type, or one
//! exact sum or mean.
//!
//! ```text
//! cells = the fill value
//! for each value: the first one of a cell replaces the fill value, the others join
//! ```
//!
//! It is for an index that is used once. The results have the bits of
//! [`statistics`](crate::plan::statistics), since both join one value after the other in the same
//! type.

use crate::describe::{Destinations, Init, Place, Reduction, Scatter, Start, Target};
use crate::plan::division::{is_faster_as_extreme, is_faster_as_scatter};
use crate::plan::reduce::Reduce;
use crate::plan::statistics::{Groups, Numbers};
use crate::plan::{Aggregate, AggregateOptions};
use strew_kernel::error::Problem;
use strew_kernel::ops::identity::identity;
use strew_kernel::tensor::{DType, DynTensor, DynView};

/// The reduction of a scatter that gives the same as an aggregate, if there is one.
fn reduction(aggregate: Aggregate, dtype: DType, options: &AggregateOptions) -> Option<Reduce> {
    if options.skip_nan || options.min_count > 1 {
        return None;
    }
    if options.exact {
        return match aggregate {
            Aggregate::Sum if dtype.is_float() => Some(Reduce::ExactSum),
            Aggregate::Mean if dtype.is_float() => Some(Reduce::ExactMean),
            _ => None,
        };
    }
    let wide = matches!(dtype, DType::F64 | DType::C128);
    let whole = matches!(dtype, DType::I64 | DType::U64);
    match aggregate {
        Aggregate::Sum if wide || whole => Some(Reduce::Sum),
        Aggregate::Prod if wide || whole => Some(Reduce::Prod),
        Aggregate::Mean if wide => Some(Reduce::Mean),
        Aggregate::Min if !dtype.is_complex() && dtype != DType::Bool => Some(Reduce::Amin),
        Aggregate::Max if !dtype.is_complex() && dtype != DType::Bool => Some(Reduce::Amax),
        _ => None,
    }
}

/// The result of a single aggregate with this fill value along an axis that the index lies along.
/// `None` if it is no scatter, or if that is not the fastest way.
///
/// # Errors
/// Those of [`Scatter::run`].
pub(crate) fn as_scatter(
    numbers: &Numbers<'_>,
    src: &DynView<'_>,
    axis: usize,
    wanted: &[Aggregate],
    fill: &DynTensor,
    options: &AggregateOptions,
) -> Result<Option<DynTensor>, Problem> {
    let dtype = src.dtype();
    let &[aggregate] = wanted else {
        return Ok(None);
    };
    let reduce = reduction(aggregate, dtype, options).filter(|_| fill.dtype() == dtype);
    let mut shape = src.dims();
    shape[axis] = numbers.size();
    let cells = shape[axis..]
        .iter()
        .fold(1, |all: usize, &len| all.saturating_mul(len));
    let extreme = matches!(aggregate, Aggregate::Min | Aggregate::Max);
    let faster = || match extreme && Groups::has_own_loop(numbers, src) {
        true => is_faster_as_extreme(dtype.size(), cells, || numbers.repeats()),
        false => is_faster_as_scatter(dtype.size(), cells),
    };
    let Some(reduce) = reduce.filter(|_| options.exact || faster()) else {
        return Ok(None);
    };
    let mut index = numbers.index().clone();
    for _ in axis + 1..src.rank() {
        index = index.insert_axis(index.rank());
    }
    let Some(index) = index.broadcast_to(src.shape()) else {
        return Ok(None);
    };
    let place = Place {
        axes: axis..axis + 1,
        tuple: None,
    };
    let bounds = numbers.bounds();
    let destinations = Destinations::elements(&shape, "index", &index, axis, place, bounds)?;
    let mut bytes = [0; 16];
    bytes[..dtype.size()].copy_from_slice(fill.as_bytes());
    let (own, made) = reduce.for_new();
    let begins = match own {
        Start::Identity => identity(dtype, made.combine),
        _ => Some([0; 16]),
    };
    let (start, init) = match begins == Some(bytes) {
        // What cells begin with is their result without values, too.
        true => (own, made.init),
        false => (Start::Filled(bytes), Init::Identity),
    };
    let reduction = Reduction { init, ..made };
    let target = Target::New { dtype, start };
    let scatter = Scatter::new(destinations, reduction, "src", src.clone(), target)?;
    Ok(scatter.exactly(options.exact)?.run()?.tensor)
}

#[cfg(test)]
mod tests {
    use crate::describe::bounds::{Bounds, Negative, OutOfRange};
    use crate::plan::{Aggregate, AggregateOptions, aggregate_dyn};
    use strew_kernel::tensor::{DType, DynTensor, Scalar, TensorView};

    /// Values of a type, some of them special.
    fn values(dtype: DType, count: usize, state: &mut u64) -> DynTensor {
        let mut random = || {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            *state >> 33
        };
        let mut made = DynTensor::zeros(dtype, &[count / 3, 3]).unwrap();
        for cell in made.as_bytes_mut().chunks_exact_mut(dtype.size()) {
            let value = match random() % 9 {
                0 => f64::NAN,
                1 => -0.0,
                2 => 0.0,
                3 => f64::NEG_INFINITY,
                n => (random() % 1000) as f64 / 7.0 - (n * n * n) as f64,
            };
            match dtype {
                DType::F32 => cell.copy_from_slice(&(value as f32).to_ne_bytes()),
                DType::F64 => cell.copy_from_slice(&value.to_ne_bytes()),
                DType::C128 => {
                    cell[..8].copy_from_slice(&value.to_ne_bytes());
                    cell[8..].copy_from_slice(&(value + 1.0).to_ne_bytes());
                }
                _ => cell[0] = random() as u8,
            }
        }
        made
    }

    /// The bytes, with the same ones for every NaN of `float64`.
    fn shown(made: &DynTensor) -> Vec<u8> {
        let mut bytes = made.as_bytes().to_vec();
        if matches!(made.dtype(), DType::F64 | DType::C128) {
            for part in bytes.as_chunks_mut().0 {
                if f64::from_ne_bytes(*part).is_nan() {
                    *part = f64::NAN.to_ne_bytes();
                }
            }
        }
        bytes
    }

    #[test]
    fn a_single_aggregate_has_the_bits_of_one_among_several() {
        let mut state = 3;
        let dtypes = [
            DType::F64,
            DType::F32,
            DType::C128,
            DType::I64,
            DType::U64,
            DType::I8,
        ];
        let all = [
            Aggregate::Sum,
            Aggregate::Prod,
            Aggregate::Mean,
            Aggregate::Min,
            Aggregate::Max,
        ];
        let fills = [
            None,
            Some(Scalar::Int(1)),
            Some(Scalar::Int(0)),
            Some(Scalar::Int(7)),
        ];
        for (round, fill_value) in fills.into_iter().cycle().take(24).enumerate() {
            for dtype in dtypes {
                let src = values(dtype, 3 * 200, &mut state);
                let index: Vec<i64> = (0..200).map(|n| n * n * 7 % 60 - 1).collect();
                let index = TensorView::from(&index[..]).into_dyn();
                let ignored = (round % 3 == 0).then_some(5);
                let bounds = Bounds {
                    out_of_range: OutOfRange::Drop,
                    negative: Negative::Drop,
                    ignored,
                };
                for aggregate in all {
                    if dtype.is_complex() && matches!(aggregate, Aggregate::Min | Aggregate::Max) {
                        continue;
                    }
                    let sums = matches!(aggregate, Aggregate::Sum | Aggregate::Mean);
                    let options = AggregateOptions {
                        fill_value,
                        exact: round % 2 == 1 && sums,
                        ..AggregateOptions::default()
                    };
                    let make = |wanted: &[Aggregate]| {
                        let view = src.view();
                        aggregate_dyn(&view, &index, 0, wanted, Some(70), bounds, options.clone())
                            .unwrap()
                            .swap_remove(0)
                    };
                    let (one, several) = (make(&[aggregate]), make(&[aggregate, Aggregate::Len]));
                    assert_eq!(one.dtype(), several.dtype());
                    assert_eq!(one.shape(), several.shape());
                    let told = (aggregate, dtype, fill_value, options.exact);
                    assert!(shown(&one) == shown(&several), "{told:?}");
                }
            }
        }
    }
}
