//! Plans from strangers: bytes are refused, or they are a plan whose facts are so and which runs like any other.

use crate::made::{below, chance, pick, rest, without_nans};
use arbitrary::{Arbitrary, Result, Unstructured};
use std::num::NonZeroUsize;
use strew::{Bounds, Class, DType, DynTensor, Plan, Reduce, Way};

/// The target `plan`.
pub(crate) fn plan(bytes: &[u8]) {
    crate::set_up();
    // Bytes that run out make no plan.
    let _ = attempt(&mut Unstructured::new(bytes));
}

fn attempt(from: &mut Unstructured<'_>) -> Result<()> {
    let run = Run {
        dtype: pick(from, &DType::ALL)?,
        reduce: pick(from, &Reduce::ALL)?,
        width: below(from, 4)?,
        threads: 1 + below(from, 3)?,
        seed: u8::arbitrary(from)?,
    };
    let made = made(from)?;
    let Ok(plan) = Plan::from_bytes(&made) else {
        return Ok(());
    };
    let again = plan.to_bytes().expect("what was read can be written");
    assert_eq!(again, made, "another plan was written than was read");
    run.check(&plan);
    Ok(())
}

/// Bytes as they come, or those of a plan of which some are changed.
fn made(from: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    if chance(from, 4)? {
        return Ok(rest(from)?.to_vec());
    }
    let sizes = [5, 1, 8, 40, 0, 1 << 20, 1 << 31, 1 << 33, 1 << 40];
    let size = pick(from, &sizes)?;
    let name = pick(from, &["", "plan", "été"])?;
    let len = below(from, 40)?;
    let ascends = bool::arbitrary(from)?;
    let mut rows = Vec::new();
    for n in 0..len {
        rows.push(match u8::arbitrary(from)? {
            255 => i64::MAX,
            254 => size as i64 - 1,
            byte if ascends => (n / usize::from(1 + byte % 3)) as i64,
            byte => i64::from(byte % 16),
        });
    }
    let drop = Bounds {
        out_of_range: strew::OutOfRange::Drop,
        ..Bounds::STRICT
    };
    let rows = strew::TensorView::from(&rows[..]).into_dyn();
    let name = Some(name).filter(|name| !name.is_empty());
    let Ok(plan) = Plan::new_dyn(&rows, Some(size), drop, name) else {
        return Ok(Vec::new());
    };
    let mut made = plan.to_bytes().unwrap_or_default();
    for _ in 0..below(from, 3)? {
        let at = usize::from(u8::arbitrary(from)?);
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

/// How an accepted plan is used.
#[derive(Debug)]
struct Run {
    dtype: DType,
    reduce: Reduce,
    width: usize,
    threads: usize,
    seed: u8,
}

impl Run {
    fn check(&self, plan: &Plan) {
        if plan.len() > 1 << 12 {
            return;
        }
        let Ok(mut src) = DynTensor::zeros(self.dtype, &[plan.len(), self.width]) else {
            return;
        };
        let bytes = src.as_bytes_mut().iter_mut().enumerate();
        bytes.for_each(|(n, byte)| *byte = (n as u8).wrapping_mul(self.seed));
        let one = |way: Way, threads: usize| {
            let forced = plan.clone().with_way(Some(way));
            let forced = forced.with_threads(Some(threads));
            strew::set_num_threads(NonZeroUsize::new(threads));
            forced.scatter_dyn(&src.view(), 0, self.reduce)
        };
        let first = one(Way::InOrder, 1);
        let second = one(Way::Grouped, self.threads);
        match (&first, &second) {
            (Ok(first), Ok(second)) => {
                assert_eq!(first.shape(), second.shape());
                assert_eq!(
                    without_nans(first),
                    without_nans(second),
                    "{self:?} {plan:?}"
                );
            }
            (Err(first), Err(second)) if first.class() == second.class() => {}
            (_, Err(error)) | (Err(error), _) if error.class() == Class::Memory => {}
            _ => panic!("{first:?}, but {second:?}: {self:?} {plan:?}"),
        }
        if let Ok(sums) = first {
            let back = plan.gather_dyn(&sums.view(), 0);
            let back = back.expect("what was scattered can be gathered");
            assert_eq!(back.shape(), [plan.len(), self.width]);
        }
        facts(plan);
    }
}

/// What the plan says of itself, counted.
fn facts(plan: &Plan) {
    let Ok(counts) = plan.counts() else {
        return; // More rows than memory has room for.
    };
    let counts = counts.as_slice();
    let most = counts.iter().copied().max().unwrap_or(0);
    let touched = counts.iter().filter(|count| **count > 0).count();
    assert_eq!(plan.max_multiplicity() as i64, most);
    assert_eq!(plan.touched(), touched);
    assert_eq!(plan.is_unique(), most <= 1);
    assert_eq!(
        plan.len() as i64,
        plan.dropped() as i64 + counts.iter().sum::<i64>()
    );
    let used = |row: &usize| counts[*row] > 0;
    assert_eq!(plan.min(), (0..counts.len()).find(used));
    assert_eq!(plan.max(), (0..counts.len()).rev().find(used));
}
