//! The bytes of a text that end something: separators, line ends and quotes.
//!
//! ```text
//! for 64 bytes at once: a byte of ones for each mark, by comparisons that become vector instructions
//! eight of these bytes become eight bits by one multiplication
//! the marks are the bits that are set
//! ```
//!
//! A search for each field, as with `memchr`, takes longer: fields are short.

/// Bytes that are compared at once.
const STEP: usize = 64;

/// The places of separators, line ends and quotes, in order.
#[derive(Clone, Debug)]
pub(crate) struct Marks<'a> {
    rest: &'a [u8],
    /// Where the bytes begin that `found` is of, and a bit for each mark among them.
    from: usize,
    found: u64,
    /// Where `rest` begins.
    next: usize,
    separator: u8,
}

impl<'a> Marks<'a> {
    pub(crate) fn new(bytes: &'a [u8], separator: u8) -> Self {
        Self {
            rest: bytes,
            from: 0,
            found: 0,
            next: 0,
            separator,
        }
    }

    /// Goes on to bytes that have a mark; false at the end.
    fn advance(&mut self) -> bool {
        while self.found == 0 {
            self.from = self.next;
            self.next += STEP;
            if let Some((bytes, rest)) = self.rest.split_first_chunk::<STEP>() {
                self.found = marks(bytes, self.separator);
                self.rest = rest;
            } else if self.rest.is_empty() {
                return false;
            } else {
                // Zeros behind the end are no marks.
                let mut bytes = [0; STEP];
                bytes[..self.rest.len()].copy_from_slice(self.rest);
                self.found = marks(&bytes, self.separator);
                self.rest = &[];
            }
        }
        true
    }
}

impl Iterator for Marks<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.found == 0 && !self.advance() {
            return None;
        }
        let place = self.from + self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        Some(place)
    }
}

/// A bit for each of these bytes that is a mark.
fn marks(bytes: &[u8; STEP], separator: u8) -> u64 {
    let mut are = [0u8; STEP];
    for (is, &byte) in are.iter_mut().zip(bytes) {
        let ends = (byte == b'\n') | (byte == b'\r');
        *is = u8::from(ends | (byte == separator) | (byte == b'"'));
    }
    let mut bits = 0;
    for (n, eight) in are.as_chunks::<8>().0.iter().enumerate() {
        // Ones at the places 0, 8, ... go to the places 56, 57, ..., and meet nothing there.
        let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= gathered << (8 * n);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_where_a_look_at_each_byte_finds_them() {
        let mut state = 7u64;
        for len in 0..300 {
            let text: Vec<u8> = (0..len)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    b"ab,\"\n\r\x8c\xac\x00\x0b,"[(state >> 33) as usize % 11]
                })
                .collect();
            let expected: Vec<usize> = (0..len)
                .filter(|&n| b",\"\n\r".contains(&text[n]))
                .collect();
            let found: Vec<usize> = Marks::new(&text, b',').collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
