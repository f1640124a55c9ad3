//! The engine against naive loops, bit for bit: one case, run in a few of the ways there are.

use crate::compared::{Basis, canonical, segment, torch, torch_scatter};
use crate::made::{below, chance, pick};
use crate::support::ways::{Way, ways};
use crate::support::{INTEGERS, Spread, Style};
use arbitrary::{Arbitrary, Result, Unstructured};
use strew::{Bounds, DType};

/// The target `engine`.
pub(crate) fn engine(bytes: &[u8]) {
    crate::set_up();
    // Bytes that run out make no case.
    let _ = attempt(&mut Unstructured::new(bytes));
}

/// Three of many ways, which a mask of their numbers picks. To hand work to other threads takes longer than most runs, so
/// that few cases do.
fn some(mask: u16) -> impl Iterator<Item = Way> {
    let most = if mask % 8 == 7 { 3 } else { 1 };
    let few = ways().filter(move |way| way.threads <= most);
    let step = 1 + usize::from(mask / 8 % 5);
    few.skip(usize::from(mask >> 8) % 8).step_by(step).take(3)
}

fn attempt(from: &mut Unstructured<'_>) -> Result<()> {
    let (kind, mask) = (u8::arbitrary(from)?, u16::arbitrary(from)?);
    let ways = some(mask);
    match kind % 8 {
        0 => canonical::check_rows(&of_canonical(from)?, ways),
        1 => canonical::check_elements(&of_canonical(from)?, ways),
        2 => canonical::check_affine(&of_canonical(from)?, ways),
        3 | 4 => torch::check(&of_torch(from)?, ways),
        5 | 6 => torch_scatter::check(&of_torch_scatter(from)?, ways),
        _ => segment::check(&of_segment(from)?, ways),
    }
    Ok(())
}

fn basis(from: &mut Unstructured<'_>) -> Result<Basis> {
    Ok(Basis {
        dtype: pick(from, &DType::ALL)?,
        style: pick(from, &Style::ALL)?,
        spread: pick(from, &Spread::ALL)?,
        seed: u16::arbitrary(from)?.into(),
    })
}

/// A shape of a rank from the least to the most, sizes 0 to 7; one axis may be longer.
fn shape(from: &mut Unstructured<'_>, least: usize, most: usize) -> Result<Vec<usize>> {
    let rank = from.int_in_range(least..=most)?;
    let mut shape = (0..rank)
        .map(|_| pick(from, &[3, 2, 1, 4, 5, 6, 7, 0]))
        .collect::<Result<Vec<_>>>()?;
    if rank > 0 && rank < 4 && chance(from, 8)? {
        shape[below(from, rank)?] = pick(from, &[16, 33, 64, 130, 300])?;
    }
    // The naive loop is slow, and what is found in a large array is found in a small one.
    while shape.iter().product::<usize>() > 300 {
        let longest = shape.iter_mut().max();
        longest.into_iter().for_each(|size| *size /= 2);
    }
    Ok(shape)
}

fn of_canonical(from: &mut Unstructured<'_>) -> Result<canonical::Case> {
    let basis = basis(from)?;
    let join = pick(from, &canonical::JOINS)?;
    Ok(canonical::Case {
        join: canonical::Case::join_of(join, basis.dtype),
        basis,
        shape: shape(from, 1, 4)?,
        batch: shape(from, 0, 3)?,
        index: pick(from, &INTEGERS)?,
        bounds: Bounds {
            negative: pick(from, &canonical::NEGATIVE)?,
            out_of_range: pick(from, &canonical::OUT_OF_RANGE)?,
            ignored: pick(
                from,
                &[
                    None,
                    None,
                    None,
                    Some(-1),
                    Some(0),
                    Some(2),
                    Some(i64::MIN.into()),
                ],
            )?,
        },
        odd: pick(from, &[40, 3, 1_000_000])?,
    })
}

fn of_torch(from: &mut Unstructured<'_>) -> Result<torch::Case> {
    let (basis, shape) = (basis(from)?, shape(from, 0, 5)?);
    Ok(torch::Case {
        basis,
        dim: below(from, shape.len().max(1))?,
        shape,
        along: below(from, 20)?,
        reduce: pick(from, &torch::REDUCES)?,
        include_self: bool::arbitrary(from)?,
        long: bool::arbitrary(from)?,
    })
}

fn of_torch_scatter(from: &mut Unstructured<'_>) -> Result<torch_scatter::Case> {
    let (basis, shape) = (basis(from)?, shape(from, 1, 5)?);
    Ok(torch_scatter::Case {
        basis,
        dim: below(from, shape.len())?,
        index_rank: below(from, shape.len() + 1)?,
        shape,
        reduce: pick(from, &torch_scatter::REDUCES)?,
        groups: 1 + below(from, 7)?,
        size: pick(from, &torch_scatter::Size::ALL)?,
        long: bool::arbitrary(from)?,
    })
}

fn of_segment(from: &mut Unstructured<'_>) -> Result<segment::Case> {
    let (basis, shape) = (basis(from)?, shape(from, 1, 5)?);
    Ok(segment::Case {
        basis,
        dim: below(from, shape.len())?,
        shape,
        kind: pick(from, &segment::Kind::ALL)?,
        reduce: pick(from, &segment::REDUCES)?,
        groups: 1 + below(from, 7)?,
        out: bool::arbitrary(from)?,
        long: bool::arbitrary(from)?,
    })
}
