//! Records of a block of text, and their fields.
//!
//! The rules are those of the crate `csv`, with which the tests compare them: a quote begins a
//! quoted field only where the field begins, `""` within it is one quote, what stands behind the
//! closing quote belongs to the field, and a line without a byte is no record.

use super::marks::Marks;
use std::borrow::Cow;

/// A field: its bytes, without the quotes around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    raw: &'a [u8],
    pub(crate) quoted: bool,
    /// There are more quotes in it than the two around it, and `raw` has all of them.
    escaped: bool,
}

impl<'a> Field<'a> {
    /// A text that is no part of a file.
    pub(crate) fn of(text: &'a str) -> Self {
        Self {
            raw: text.as_bytes(),
            quoted: false,
            escaped: false,
        }
    }

    /// The bytes that are meant.
    pub(crate) fn bytes(&self) -> Cow<'a, [u8]> {
        match self.escaped {
            true => Cow::Owned(unescaped(self.raw)),
            false => Cow::Borrowed(self.raw),
        }
    }

    /// The same if they are there as they are meant. Of a number they always are.
    pub(crate) fn plain(&self) -> &'a [u8] {
        self.raw
    }
}

/// The bytes of a field that begins with a quote.
fn unescaped(raw: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut inside = true;
    let mut rest = raw.iter().skip(1).peekable();
    while let Some(&byte) = rest.next() {
        let is_quote = inside && byte == b'"';
        if !is_quote || rest.next_if(|&&next| next == b'"').is_some() {
            bytes.push(byte);
        } else {
            inside = false;
        }
    }
    bytes
}

/// Records, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Records<'a> {
    bytes: &'a [u8],
    marks: Marks<'a>,
    /// Where the next field begins.
    at: usize,
    /// How many fields of a record are kept.
    kept: usize,
}

impl<'a> Records<'a> {
    /// The records of a block, which begins with a record. Of each, the first `kept` fields are of
    /// interest.
    pub(crate) fn new(bytes: &'a [u8], separator: u8, kept: usize) -> Self {
        Self {
            bytes,
            marks: Marks::new(bytes, separator),
            at: 0,
            kept,
        }
    }

    /// Where the last record ended.
    pub(crate) fn place(&self) -> usize {
        self.at
    }

    /// How many fields the next record has; 0 at the end. The first of them go to `fields`.
    pub(crate) fn next(&mut self, fields: &mut Vec<Field<'a>>) -> usize {
        fields.clear();
        let mut count = 0;
        let mut quotes = Quotes::None;
        while let Some(mark) = self.marks.next() {
            let byte = self.bytes[mark];
            if byte == b'"' {
                if mark == self.at {
                    quotes = self.closing();
                }
                continue;
            }
            let is_end = byte == b'\n' || byte == b'\r';
            // An empty line, or the second half of a line end, is no record.
            if is_end && mark == self.at && count == 0 {
                self.at = mark + 1;
                continue;
            }
            if count < self.kept {
                fields.push(self.field(mark, quotes));
            }
            quotes = Quotes::None;
            count += 1;
            self.at = mark + 1;
            if is_end {
                return count;
            }
        }
        // The last line of a file may lack its end.
        if self.at < self.bytes.len() || count > 0 {
            if count < self.kept {
                fields.push(self.field(self.bytes.len(), quotes));
            }
            count += 1;
            self.at = self.bytes.len();
        }
        count
    }

    /// The field that ends in front of `to`.
    fn field(&self, to: usize, quotes: Quotes) -> Field<'a> {
        let from = self.at;
        match quotes {
            Quotes::Around(close) if close + 1 == to => Field {
                raw: &self.bytes[from + 1..close],
                quoted: true,
                escaped: false,
            },
            _ => Field {
                raw: &self.bytes[from..to],
                quoted: quotes != Quotes::None,
                escaped: quotes != Quotes::None,
            },
        }
    }

    /// Goes on to the quote that ends a quoted field.
    fn closing(&mut self) -> Quotes {
        let mut others = false;
        while let Some(mark) = self.marks.next() {
            if self.bytes[mark] != b'"' {
                continue;
            }
            if self.bytes.get(mark + 1) != Some(&b'"') {
                return match others {
                    true => Quotes::Inside,
                    false => Quotes::Around(mark),
                };
            }
            self.marks.next();
            others = true;
        }
        Quotes::Inside
    }
}

/// Where a field has quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    None,
    /// Around it: the place of the closing one.
    Around(usize),
    /// In it, too.
    Inside,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let mut records = Records::new(text, b',', usize::MAX);
        let (mut all, mut fields) = (Vec::new(), Vec::new());
        while records.next(&mut fields) > 0 {
            all.push(
                fields
                    .iter()
                    .map(|field| field.bytes().into_owned())
                    .collect(),
            );
        }
        all
    }

    #[test]
    fn records_are_those_of_the_crate_csv() {
        let mut state = 1u64;
        for round in 0..40_000 {
            let text: Vec<u8> = (0..round % 23)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    b"ab,\"\",\n\r\"\n"[(state >> 33) as usize % 10]
                })
                .collect();
            let mut reader = csv::ReaderBuilder::new();
            let reader = reader.has_headers(false).flexible(true);
            let expected: Vec<Vec<Vec<u8>>> = reader
                .from_reader(&text[..])
                .byte_records()
                .map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect())
                .collect();
            let shown = String::from_utf8_lossy(&text);
            assert_eq!(records(&text), expected, "{shown:?}");
        }
    }

    #[test]
    fn a_field_says_whether_it_was_quoted() {
        let mut fields = Vec::new();
        Records::new(b"a,\"b\",\"\",,\"c\"\"\"\n", b',', 5).next(&mut fields);
        let told: Vec<_> = fields.iter().map(|f| (f.bytes(), f.quoted)).collect();
        let expected: [(&[u8], bool); 5] = [
            (b"a", false),
            (b"b", true),
            (b"", true),
            (b"", false),
            (b"c\"", true),
        ];
        assert!(told.iter().map(|(b, q)| (&**b, *q)).eq(expected));
    }
}
