//! The key of a rank among many, and the next one.
//!
//! ```text
//! inside = all keys
//! until few keys are inside, or all that are inside are equal:
//!     count the keys inside by the next bits of those in which they differ
//!     inside = the keys with those bits that the key of the rank has
//! select among the few
//! ```
//!
//! Cost: one pass to see in which bits keys differ, and two for each step. Mostly there is one step,
//! and few keys are left after it.

use std::ops::{BitAnd, BitOr, BitXor};

/// A key as bits. Keys are in the order of their numbers.
pub trait Bits:
    Ord + Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>
{
    const ZERO: Self;
    const HIGHEST: Self;
    /// How many bits there are from the highest one that is set to the lowest.
    fn length(self) -> u32;
    /// All bits above the `lowest` lowest ones.
    fn all_above(lowest: u32) -> Self;
    /// The lowest bits of the key without its `shift` lowest ones.
    fn digit(self, shift: u32) -> usize;
    fn of_digit(digit: usize, shift: u32) -> Self;
}

macro_rules! bits {
    ($($t:ty),*) => {$(
        impl Bits for $t {
            const ZERO: Self = 0;
            const HIGHEST: Self = <$t>::MAX;

            fn length(self) -> u32 {
                <$t>::BITS - self.leading_zeros()
            }

            fn all_above(lowest: u32) -> Self {
                <$t>::MAX.checked_shl(lowest).unwrap_or(0)
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation)]
            fn digit(self, shift: u32) -> usize {
                (self >> shift) as usize
            }

            fn of_digit(digit: usize, shift: u32) -> Self {
                (digit as $t) << shift
            }
        }
    )*};
}

bits!(u64, u128);

/// Fewer keys are selected by exchanging them.
const MANY: usize = 2 * FEW;

/// So few keys are copied.
const FEW: usize = 1024;

/// Bits of a digit, at most.
const DIGIT: u32 = 11;

/// The keys that share their highest bits with `like`.
#[derive(Clone, Copy)]
struct Inside<K> {
    like: K,
    /// The bits that they share.
    shared: K,
}

impl<K: Bits> Inside<K> {
    #[inline(always)]
    fn has(self, key: K) -> bool {
        (key ^ self.like) & self.shared == K::ZERO
    }
}

/// The key of a rank, and the one of the next rank or, if it is the last, the same. There are more
/// keys than `rank`, which may change places.
pub(crate) fn pair<K: Bits>(keys: &mut [K], rank: usize) -> (K, K) {
    if (MANY..u32::MAX as usize).contains(&keys.len()) {
        return ranked(keys, rank);
    }
    let (_, &mut key, above) = keys.select_nth_unstable(rank);
    (key, above.iter().copied().min().unwrap_or(key))
}

/// [`pair`], of fewer than 2^32 keys, which stay where they are.
#[inline(never)] // For size.
fn ranked<K: Bits>(keys: &[K], rank: usize) -> (K, K) {
    let first = keys.first().copied().unwrap_or(K::ZERO);
    let differing = keys.iter().fold(K::ZERO, |all, &key| all | key ^ first);
    // The number of lowest bits in which keys inside may differ.
    let mut differ = differing.length();
    let mut inside = Inside {
        like: first,
        shared: K::all_above(differ),
    };
    let (mut many, mut below) = (keys.len(), 0);
    let widest = many.max(1).ilog2().saturating_sub(2).clamp(1, DIGIT);
    while differ > 0 && many > FEW {
        let shift = differ - widest.min(differ);
        let counts = count(keys, inside, shift, differ - shift);
        let mut digit = 0;
        for (next, (&one, &other)) in counts[0].iter().zip(&counts[1]).enumerate() {
            (digit, many) = (next, one as usize + other as usize);
            if rank - below < many {
                break;
            }
            below += many;
        }
        inside.like = inside.like & inside.shared | K::of_digit(digit, shift);
        inside.shared = K::all_above(shift);
        differ = shift;
    }
    let (ranked, next) = match differ {
        0 => (
            inside.like,
            (rank + 1 - below < many).then_some(inside.like),
        ),
        _ => among_few(keys, inside, rank - below),
    };
    let next = next.unwrap_or_else(|| match rank + 1 < keys.len() {
        true => {
            let above = keys.iter().copied().filter(|&key| key > ranked);
            above.fold(K::HIGHEST, Ord::min)
        }
        false => ranked,
    });
    (ranked, next)
}

type Counts = [u32; 1 << DIGIT];

/// How many keys have which digit, in two parts: neighbours with the same one need not wait for each
/// other.
#[inline(never)] // For size.
fn count<K: Bits>(keys: &[K], inside: Inside<K>, shift: u32, width: u32) -> [Counts; 2] {
    let mut counts = [[0; 1 << DIGIT]; 2];
    let mask = (1 << width.min(DIGIT)) - 1;
    let mut add = |part: usize, key: K| {
        counts[part][key.digit(shift) & mask] += u32::from(inside.has(key));
    };
    let (pairs, rest) = keys.as_chunks::<2>();
    for &[one, other] in pairs {
        add(0, one);
        add(1, other);
    }
    rest.iter().for_each(|&key| add(0, key));
    counts
}

/// The key of a rank among the few inside, and the next one of them.
#[inline(never)] // For size.
fn among_few<K: Bits>(keys: &[K], inside: Inside<K>, rank: usize) -> (K, Option<K>) {
    // What lies behind the last one is written over.
    let mut few = [inside.like; FEW + 1];
    let mut found = 0;
    for &key in keys {
        few[found.min(FEW)] = key;
        found += usize::from(inside.has(key));
    }
    let few = &mut few[..found.min(FEW)];
    if rank >= few.len() {
        return (inside.like, None);
    }
    let (_, &mut ranked, above) = few.select_nth_unstable(rank);
    (ranked, above.iter().copied().min())
}

#[cfg(test)]
mod tests {
    use super::{FEW, ranked};

    /// Keys of a kind: spread evenly, or over all magnitudes, or with few different ones.
    fn some(seed: u64, count: u64, kind: u64) -> Vec<u64> {
        let mixed = |n: u64| {
            let mut x = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (n >> 31);
            x = (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x ^ (x >> 32)
        };
        let keys = (0..count).map(|n| mixed(seed * 1_000_003 + n));
        match kind {
            0 => keys.collect(),
            1 => keys.map(|key| key >> (key % 64)).collect(),
            2 => keys.map(|key| key % 5 + 77).collect(),
            3 => keys.map(|key| ((key % 3) << 62) | (key % 1000)).collect(),
            _ => keys.map(|_| u64::MAX).collect(),
        }
    }

    #[test]
    fn ranked_keys_are_those_of_sorted_ones() {
        for seed in 0..60 {
            let count = [1, 2, FEW as u64, FEW as u64 + 1, 1000, 5001][seed as usize % 6];
            let keys = some(seed, count, seed / 6 % 5);
            let wide: Vec<u128> = keys.iter().map(|&key| u128::from(key) << 60 | 3).collect();
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            for step in 0..20 {
                let rank = step * (keys.len() - 1) / 19;
                let next = (rank + 1).min(keys.len() - 1);
                let expected = (sorted[rank], sorted[next]);
                assert_eq!(ranked(&keys, rank), expected, "{seed}, rank {rank}");
                let (low, high) = ranked(&wide, rank);
                assert_eq!(
                    (low >> 60, high >> 60),
                    (expected.0.into(), expected.1.into())
                );
            }
        }
    }
}
