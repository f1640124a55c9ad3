//! Blocks of a text: each ends with a line that ends outside quotes.
//!
//! ```text
//! read BLOCK bytes behind what was left
//! walk from quote to quote: is it the first or the last of a field, or neither?
//! cut behind the last line end outside quotes; what is left begins the next block
//! ```
//!
//! A text without quotes costs one `memchr` and one `memrchr` for each block.

use crate::error::{Error, Result};
use memchr::{memchr, memrchr2};
use std::io::Read;

/// Bytes of a block, unless a record is longer.
pub(crate) const BLOCK: usize = 1 << 20;
/// A longer record is a quote that nothing closes.
const LONGEST: usize = 1 << 28;

/// Some whole lines.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) bytes: Vec<u8>,
    /// The file ends within quotes, which begin here.
    pub(crate) open: Option<usize>,
}

/// Cuts a text into blocks.
pub(crate) struct Blocks<R> {
    from: R,
    left: Vec<u8>,
    separator: u8,
    ended: bool,
}

impl<R: Read> Blocks<R> {
    /// `left` is what has been read of the text already.
    pub(crate) fn new(from: R, left: Vec<u8>, separator: u8) -> Self {
        Self {
            from,
            left,
            separator,
            ended: false,
        }
    }

    fn block(&mut self) -> Result<Option<Block>> {
        let mut bytes = std::mem::take(&mut self.left);
        let mut walk = Walk::default();
        loop {
            if !self.ended {
                self.ended = read(&mut self.from, &mut bytes, BLOCK)? < BLOCK;
            }
            walk.advance(&bytes, self.separator, self.ended);
            if self.ended {
                let open = walk.open;
                return Ok((!bytes.is_empty()).then_some(Block { bytes, open }));
            }
            if walk.end > 0 {
                // What is left is read with one more block behind it.
                let left = &bytes[walk.end..];
                self.left = with_room(left.len() + BLOCK)?;
                self.left.extend_from_slice(left);
                bytes.truncate(walk.end);
                return Ok(Some(Block { bytes, open: None }));
            }
            if bytes.len() > LONGEST {
                return Err(Error::broken(
                    "CSV",
                    format!("a line is longer than {LONGEST} bytes: is a quote not closed?"),
                ));
            }
        }
    }
}

impl<R: Read> Iterator for Blocks<R> {
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Self::Item> {
        self.block().transpose()
    }
}

/// Room for bytes, or an error.
pub(crate) fn with_room(bytes: usize) -> Result<Vec<u8>> {
    let mut room = Vec::new();
    match room.try_reserve_exact(bytes) {
        Ok(()) => Ok(room),
        Err(_) => Err(Error::new(format!(
            "there is no memory for {bytes} bytes of it"
        ))),
    }
}

/// Appends up to `count` bytes: fewer only at the end.
pub(crate) fn read(from: &mut impl Read, to: &mut Vec<u8>, count: usize) -> Result<usize> {
    if to.try_reserve(count).is_err() {
        return Err(Error::new(format!(
            "there is no memory for {count} bytes of it"
        )));
    }
    let limit = count as u64;
    from.take(limit)
        .read_to_end(to)
        .map_err(|error| Error::system(&error))
}

/// Where in a block quotes and lines end.
#[derive(Debug, Default)]
struct Walk {
    at: usize,
    /// Where the quotes begin that are open.
    open: Option<usize>,
    /// The end of the last line outside quotes.
    end: usize,
}

impl Walk {
    /// Goes on to the end of the bytes; `ended` says that no more follow.
    fn advance(&mut self, bytes: &[u8], separator: u8, ended: bool) {
        let is_begin = |at: usize| match at.checked_sub(1).map(|before| bytes[before]) {
            None | Some(b'\n' | b'\r') => true,
            Some(before) => before == separator,
        };
        while self.at < bytes.len() {
            let quote = memchr(b'"', &bytes[self.at..]).map(|n| self.at + n);
            let until = quote.unwrap_or(bytes.len());
            if self.open.is_none() {
                if let Some(line) = memrchr2(b'\n', b'\r', &bytes[self.at..until]) {
                    self.end = self.at + line + 1;
                }
                self.open = quote.filter(|&quote| is_begin(quote));
                self.at = until + usize::from(quote.is_some());
                continue;
            }
            let Some(quote) = quote else {
                self.at = bytes.len();
                return;
            };
            match bytes.get(quote + 1) {
                // It is not known yet whether another quote follows.
                None if !ended => {
                    self.at = quote;
                    return;
                }
                Some(b'"') => self.at = quote + 2,
                _ => {
                    self.open = None;
                    self.at = quote + 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time, so that every place is an end of what has been read.
    fn ends(text: &[u8]) -> (Vec<usize>, Option<usize>) {
        let mut walk = Walk::default();
        let mut ends = Vec::new();
        for len in 0..=text.len() {
            walk.advance(&text[..len], b',', len == text.len());
            ends.push(walk.end);
        }
        (ends, walk.open)
    }

    #[test]
    fn lines_within_quotes_are_no_ends() {
        let text = b"a,\"b\n\"\"\n\",5\"\nx\"\n,\"\"\n\"y\n";
        let (ends, open) = ends(text);
        let found: Vec<usize> = (1..ends.len()).filter(|&n| ends[n] > ends[n - 1]).collect();
        // A line end counts once it is read, and the one behind `""` once it is known to be closed.
        let lines: Vec<usize> = found.iter().map(|&n| ends[n]).collect();
        assert_eq!(lines, [13, 16, 20]);
        assert_eq!(open, Some(20));
    }

    #[test]
    fn blocks_are_the_text() {
        let line = format!("{},\"{}\n\"\n", "a".repeat(1000), "b".repeat(70));
        let text = line.repeat(5000);
        let blocks: Vec<Block> = Blocks::new(text.as_bytes(), Vec::new(), b',')
            .collect::<Result<_>>()
            .unwrap();
        assert!(blocks.len() > 4);
        assert!(blocks.iter().all(|block| block.bytes.ends_with(b"\n\"\n")));
        let joined = blocks.into_iter().flat_map(|block| block.bytes);
        assert!(joined.eq(text.bytes()));
    }
}
