//! Accumulators from strangers: bytes are refused, or they are an accumulator that works like any
//! other.

use crate::made::{below, chance, pick, rest};
use arbitrary::{Arbitrary, Result, Unstructured};
use strew::{Accumulator, Aggregate, AggregateOptions, Bounds, DType, DynTensor, TensorView};

/// Names of statistics of which a record of each group is enough.
const NAMES: [&str; 21] = [
    "sum", "prod", "sumsq", "mean", "var", "std", "sem", "skew", "kurt", "min", "max", "first",
    "last", "len", "count", "any", "all", "anynan", "allnan", "argmin", "argmax",
];

/// The target `accumulator`.
pub(crate) fn accumulator(bytes: &[u8]) {
    crate::set_up();
    // Bytes that run out make no accumulator.
    let _ = attempt(&mut Unstructured::new(bytes));
}

fn attempt(from: &mut Unstructured<'_>) -> Result<()> {
    let seed = u8::arbitrary(from)?;
    let made = made(from, seed)?;
    let Ok(mut read) = Accumulator::from_bytes(&made) else {
        return Ok(());
    };
    let before = read.to_bytes().expect("what was read can be written");
    assert_eq!(before, made, "another one was written than was read");
    if update(&mut read, 3, seed).is_err() {
        let after = read.to_bytes().expect("what was read can be written");
        assert_eq!(after, before, "an update failed, and has changed something");
    }
    let other = Accumulator::from_bytes(&made).expect("it was read before");
    let _ = read.merge(&other).is_ok();
    if let Ok(results) = read.result() {
        assert_eq!(results.len(), read.aggregates().len());
        let rows = results.iter().all(|one| one.shape()[0] == read.rows());
        assert!(rows, "{read:?}");
    }
    Ok(())
}

/// Takes some values.
fn update(all: &mut Accumulator, updates: usize, seed: u8) -> strew::Result<()> {
    let mut shape = vec![updates];
    shape.extend(all.shape());
    let elements = shape
        .iter()
        .try_fold(1usize, |all, &axis| all.checked_mul(axis));
    if elements.is_none_or(|elements| elements > 1 << 12) {
        return Ok(());
    }
    let Ok(mut src) = DynTensor::zeros(all.dtype(), &shape) else {
        return Ok(());
    };
    let bytes = src.as_bytes_mut().iter_mut().enumerate();
    bytes.for_each(|(n, byte)| *byte = (n as u8).wrapping_mul(seed));
    let index: Vec<i64> = (0..updates as i64)
        .map(|n| n * i64::from(seed % 5))
        .collect();
    all.update_dyn(&src.view(), &TensorView::from(&index[..]).into_dyn(), None)
}

/// Bytes as they come, or those of an accumulator of which some are changed.
fn made(from: &mut Unstructured<'_>, seed: u8) -> Result<Vec<u8>> {
    if chance(from, 4)? {
        return Ok(rest(from)?.to_vec());
    }
    let size = pick(from, &[None, Some(0), Some(1), Some(5), Some(1 << 40)])?;
    let dtype = pick(from, &DType::ALL)?;
    let shape = pick(from, &[&[][..], &[2], &[0], &[1, 3]])?;
    let mut wanted: Vec<Aggregate> = Vec::new();
    for _ in 0..=below(from, 3)? {
        wanted.extend(pick(from, &NAMES)?.parse::<Aggregate>());
    }
    let options = AggregateOptions {
        skip_nan: bool::arbitrary(from)?,
        min_count: below(from, 3)?,
        exact: bool::arbitrary(from)?,
        ..AggregateOptions::default()
    };
    let Ok(mut all) = Accumulator::new(size, &wanted, dtype, shape, Bounds::STRICT, options) else {
        return Ok(Vec::new());
    };
    for _ in 0..below(from, 3)? {
        let _ = update(&mut all, below(from, 9)?, seed).is_ok();
    }
    let mut made = all.to_bytes().unwrap_or_default();
    for _ in 0..below(from, 3)? {
        let at = usize::from(u16::arbitrary(from)?);
        let byte = u8::arbitrary(from)?;
        if let Some(place) = made.get_mut(at) {
            *place = byte;
        }
    }
    if chance(from, 16)? {
        made.truncate(usize::from(u8::arbitrary(from)?));
    }
    Ok(made)
}
