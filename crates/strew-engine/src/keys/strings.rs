//! Keys that are strings of bytes: most are told apart by their first eight.

use super::{Numbered, called, hashed, mixed};
use std::cmp::Ordering;
use strew_kernel::error::Result;

/// Numbers strings of bytes in ascending order, byte by byte. `None` is missing.
///
/// That is also the order of texts in UTF-8 by their code points.
///
/// ```
/// # mod strew { pub use strew_engine::keys::*; pub use strew_kernel::error::Error; }
/// use strew::number_strings;
///
/// let carriers = [Some("UA"), Some("AA"), None, Some("UA")];
/// let bytes = carriers.iter().map(|text| text.map(str::as_bytes));
/// let numbered = number_strings(bytes)?;
/// assert_eq!(numbered.index.as_slice(), [1, 0, -1, 1]);
/// assert_eq!(numbered.first.as_slice(), [1, 0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Value`](strew_kernel::error::Class::Value) for more than 4,294,967,294 different keys;
/// [`Class::Memory`](strew_kernel::error::Class::Memory).
pub fn number_strings<'k>(
    keys: impl ExactSizeIterator<Item = Option<&'k [u8]>>,
) -> Result<Numbered> {
    let keys = keys.map(|key| key.map(Key::new));
    hashed(keys, Key::hash).map_err(|problem| called("number_strings", problem))
}

#[derive(Clone, Copy)]
struct Key<'k> {
    /// The first eight bytes, the first one highest; zeros where there are fewer.
    head: u64,
    bytes: &'k [u8],
}

impl<'k> Key<'k> {
    #[inline(always)]
    fn new(bytes: &'k [u8]) -> Self {
        let head = head(bytes);
        Self { head, bytes }
    }

    #[inline(always)]
    fn hash(&self) -> u64 {
        let hash = mixed(self.head ^ self.bytes.len() as u64);
        let rest = self.bytes.get(8..).unwrap_or_default().chunks(8);
        rest.fold(hash, |hash, part| mixed(hash ^ head(part)))
    }
}

/// The first eight bytes as a number, the first one highest; zeros where there are fewer.
#[inline(always)]
fn head(bytes: &[u8]) -> u64 {
    // Of a short string its first and its last bytes, which overlap.
    let up = 64 - 8 * bytes.len().min(8);
    if let Some(all) = bytes.first_chunk() {
        return u64::from_be_bytes(*all);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u32::from_be_bytes(*first), u32::from_be_bytes(*last));
        return u64::from(first) << 32 | u64::from(last) << up;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u16::from_be_bytes(*first), u16::from_be_bytes(*last));
        return u64::from(first) << 48 | u64::from(last) << up;
    }
    bytes.first().map_or(0, |&byte| u64::from(byte) << 56)
}

impl PartialEq for Key<'_> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.head == other.head
            && self.bytes.len() == other.bytes.len()
            && (self.bytes.len() <= 8 || self.bytes == other.bytes)
    }
}

impl Eq for Key<'_> {}

impl Ord for Key<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let heads = self.head.cmp(&other.head);
        heads.then_with(|| self.bytes.cmp(other.bytes))
    }
}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{naive, parts, random};
    use super::number_strings;

    #[test]
    fn strings_are_numbered_in_their_order() {
        // Short and long ones, zeros at their ends, and equal beginnings.
        for (longest, alphabet) in [(1, 256), (3, 2), (8, 2), (9, 2), (20, 3), (40, 256)] {
            let lengths = random(longest, 600, longest + 1);
            let strings: Vec<Option<Vec<u8>>> = lengths
                .iter()
                .zip(0..)
                .map(|(&length, seed)| {
                    let bytes = random(seed, length as usize, alphabet);
                    let made = bytes.iter().map(|&byte| byte as u8).collect();
                    (seed % 7 != 0).then_some(made)
                })
                .collect();
            let keys: Vec<Option<&[u8]>> = strings.iter().map(Option::as_deref).collect();
            let made = number_strings(keys.iter().copied()).unwrap();
            assert_eq!(parts(&made), naive(&keys), "up to {longest} bytes");
        }
    }

    #[test]
    fn no_strings() {
        assert_eq!(
            parts(&number_strings([].into_iter()).unwrap()),
            (vec![], vec![])
        );
        let missing = [None, None].into_iter();
        assert_eq!(
            parts(&number_strings(missing).unwrap()),
            (vec![-1, -1], vec![])
        );
    }
}
