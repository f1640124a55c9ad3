//! `.npy`: one array, as NumPy saves it.
//!
//! The header is a Python dictionary of three keys. It is read here and not by a library because
//! the one for this format multiplies sizes unchecked, follows nested brackets without limit and
//! reserves whatever length a file claims; a header comes from strangers.

use super::{Loaded, Part, Purpose, Storage, swap, unreadable, zeros};
use crate::failure::{Failure, Result};
use crate::progress;
use std::fs::File;
use std::io::{Read, Write};
use strew::{DType, DynTensor, Layout};

/// Longer headers than this only belong to types with fields, which are not supported.
const LONGEST_HEADER: usize = 1 << 16;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    dtype: DType,
    swapped: bool,
    fortran: bool,
    shape: Vec<usize>,
}

/// Reads the array of a whole file.
pub(super) fn load(file: &File, bf16: bool, purpose: Purpose) -> Result<Loaded> {
    load_part(&Part::whole(file)?, bf16, purpose)
}

/// Reads the array of a part of a file: mapped unless it must be changed.
pub(super) fn load_part(part: &Part<'_>, bf16: bool, purpose: Purpose) -> Result<Loaded> {
    let (header, at) = Header::read(&mut part.reader(0)?, bf16)?;
    let layout = header.stored_layout()?;
    let purpose = match purpose {
        // Its rows lie apart.
        Purpose::Rows if header.fortran && header.shape.len() > 1 => Purpose::Read,
        other => other,
    };
    let purpose = match purpose {
        Purpose::Read if header.swapped => Purpose::Change,
        other => other,
    };
    let storage = part.tensor(at, &layout, purpose)?;
    header.finish(storage, purpose)
}

/// Reads the array of a stream that holds nothing else. The stream is `len` bytes long, if that is
/// known.
pub(super) fn load_stream(
    mut stream: impl Read,
    len: Option<u64>,
    bf16: bool,
    purpose: Purpose,
) -> Result<Loaded> {
    let (header, at) = Header::read(&mut stream, bf16)?;
    let layout = header.stored_layout()?;
    let bytes = (layout.len() * layout.dtype().size()) as u64;
    if let Some(len) = len.filter(|len| *len != at.saturating_add(bytes)) {
        return Err(Failure::new(format!(
            "its header speaks of {bytes} bytes of data, and it holds {}",
            len.saturating_sub(at)
        )));
    }
    let mut tensor = zeros(layout.dtype(), layout.shape())?;
    progress::read_exact(&mut stream, tensor.as_bytes_mut()).map_err(unreadable)?;
    // The checksum of an archive's member is compared at its end.
    if stream.read(&mut [0]).map_err(unreadable)? != 0 {
        return Err(Failure::new(
            "more bytes follow its array than there should be",
        ));
    }
    header.finish(Storage::Owned(tensor), purpose)
}

impl Header {
    /// Reads a header, and says how many bytes it took.
    fn read(from: &mut impl Read, bf16: bool) -> Result<(Self, u64)> {
        let (text, at) = text(from)?;
        let header = parse(&text, bf16).map_err(|why| not_understood(&why))?;
        Ok((header, at))
    }

    /// How the elements lie in the file: the axes of a Fortran-ordered array are reversed.
    fn stored_layout(&self) -> Result<Layout> {
        let mut shape = self.shape.clone();
        if self.fortran {
            shape.reverse();
        }
        Layout::contiguous(self.dtype, &shape).map_err(|p| Failure::new(p.to_string()))
    }

    fn finish(&self, mut storage: Storage, purpose: Purpose) -> Result<Loaded> {
        let reversed = self.fortran && self.shape.len() > 1;
        match &mut storage {
            Storage::Owned(tensor) if self.swapped => swap(self.dtype, tensor.as_bytes_mut()),
            Storage::Left(left) => left.swapped = self.swapped,
            _ => {}
        }
        Ok(match storage {
            Storage::Owned(tensor) if reversed && purpose == Purpose::Change => {
                Loaded::owned(row_major(&tensor, &self.shape)?)
            }
            storage => Loaded { storage, reversed },
        })
    }
}

fn not_understood(why: &str) -> Failure {
    Failure::new(format!("its .npy header is not understood: {why}"))
}

/// The text of a header, and how many bytes all of it takes.
fn text(from: &mut impl Read) -> Result<(String, u64)> {
    let mut start = [0; 8];
    let magic = from.read_exact(&mut start);
    if magic.is_err() || &start[..6] != MAGIC {
        return Err(Failure::new(
            "it is not a .npy file: it does not begin like one",
        ));
    }
    let mut size = [0; 4];
    let digits = match start[6] {
        1 => 2,
        2 | 3 => 4,
        other => {
            return Err(Failure::new(format!(
                "version {other} of the .npy format is not known"
            )));
        }
    };
    from.read_exact(&mut size[..digits]).map_err(unreadable)?;
    let size = u32::from_le_bytes(size) as usize;
    if size > LONGEST_HEADER {
        return Err(Failure::new(format!(
            "its header of {size} bytes is longer than any of a plain array"
        )));
    }
    let mut text = vec![0; size];
    from.read_exact(&mut text).map_err(unreadable)?;
    let text = String::from_utf8(text).map_err(|_| not_understood("it is not text"))?;
    Ok((text, (8 + digits + size) as u64))
}

/// The bytes of a 1-d array of strings or dates, and its element type as NumPy writes it; `None` if
/// its elements are something else.
#[cfg(feature = "columns")]
pub(super) fn load_words(file: &File) -> Result<Option<(String, Vec<u8>)>> {
    let part = Part::whole(file)?;
    let (text, at) = text(&mut part.reader(0)?)?;
    let fields = fields(&text).map_err(|why| not_understood(&why))?;
    let kind = fields.descr.get(1..2).unwrap_or_default();
    if !["U", "S", "M"].contains(&kind) {
        return Ok(None);
    }
    if fields.shape.len() != 1 {
        return Err(Failure::new("strings and dates must be 1-d"));
    }
    let mut bytes = Vec::new();
    part.reader(at)?
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    let digits = fields
        .descr
        .trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits = digits.split('[').next().unwrap_or_default();
    let letter = if kind == "U" { 4 } else { 1 };
    let size = digits
        .parse::<usize>()
        .ok()
        .and_then(|n| n.checked_mul(letter));
    let wanted = size.and_then(|size| size.checked_mul(fields.shape[0]));
    match wanted == Some(bytes.len()) {
        true => Ok(Some((fields.descr.to_owned(), bytes))),
        false => Err(Failure::new(format!(
            "its header speaks of {} elements of type {}, and it holds {} bytes",
            fields.shape[0],
            fields.descr,
            bytes.len()
        ))),
    }
}

/// The elements of a tensor whose axes are stored in reverse, row by row.
fn row_major(stored: &DynTensor, shape: &[usize]) -> Result<DynTensor> {
    let size = stored.dtype().size();
    let mut rows = zeros(stored.dtype(), shape)?;
    let from = stored.as_bytes();
    let mut at = vec![0usize; shape.len()];
    for element in rows.as_bytes_mut().chunks_exact_mut(size) {
        // Horner's rule over the reversed axes: the first axis is the fastest.
        let place = at.iter().zip(shape).rev().fold(0, |n, (&c, &d)| n * d + c) * size;
        element.copy_from_slice(&from[place..place + size]);
        for axis in (0..shape.len()).rev() {
            at[axis] += 1;
            if at[axis] < shape[axis] {
                break;
            }
            at[axis] = 0;
        }
    }
    Ok(rows)
}

/// What the dictionary of a header has.
struct Fields<'t> {
    descr: &'t str,
    fortran: bool,
    shape: Vec<usize>,
}

/// Reads the dictionary `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
fn fields(text: &str) -> Result<Fields<'_>, String> {
    let mut scan = Scan(text.trim());
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    scan.expect('{')?;
    while !scan.take('}') {
        let key = scan.word()?;
        scan.expect(':')?;
        let again = match key {
            "descr" if scan.0.starts_with(['[', '(']) => {
                return Err("arrays of records are not supported".into());
            }
            "descr" => descr.replace(scan.word()?).is_some(),
            "fortran_order" => fortran.replace(scan.truth()?).is_some(),
            "shape" => shape.replace(scan.sizes()?).is_some(),
            other => return Err(format!("unknown key '{other}'")),
        };
        if again {
            return Err(format!("'{key}' is there twice"));
        }
        if !scan.take(',') && !scan.0.starts_with('}') {
            return Err(format!("',' or '}}' is missing at '{}'", scan.here()));
        }
    }
    if !scan.0.is_empty() {
        return Err(format!("'{}' follows its end", scan.here()));
    }
    Ok(Fields {
        descr: descr.ok_or("it has no 'descr'")?,
        fortran: fortran.ok_or("it has no 'fortran_order'")?,
        shape: shape.ok_or("it has no 'shape'")?,
    })
}

fn parse(text: &str, bf16: bool) -> Result<Header, String> {
    let fields = fields(text)?;
    let (dtype, swapped) = element(fields.descr, bf16)?;
    Ok(Header {
        dtype,
        swapped,
        fortran: fields.fortran,
        shape: fields.shape,
    })
}

/// The element type of `<f4` and the like, and whether its bytes must be swapped.
fn element(descr: &str, bf16: bool) -> Result<(DType, bool), String> {
    let unknown = || format!("elements of type '{descr}' are not supported");
    let order = descr.chars().next().ok_or_else(unknown)?;
    let dtype = match descr.get(order.len_utf8()..).ok_or_else(unknown)? {
        "V2" | "u2" if bf16 => DType::BF16,
        _ if bf16 => {
            return Err(format!(
                "elements of type '{descr}' cannot be read as bfloat16: only V2 and u2 can"
            ));
        }
        "V2" => {
            return Err(
                "its elements are 2 bytes without a name; if they are bfloat16, add ':bf16' to the file's name"
                    .into(),
            );
        }
        "b1" => DType::Bool,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "u1" => DType::U8,
        "u2" => DType::U16,
        "u4" => DType::U32,
        "u8" => DType::U64,
        "f2" => DType::F16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        "c8" => DType::C64,
        "c16" => DType::C128,
        _ => return Err(unknown()),
    };
    let swapped = match order {
        '<' => cfg!(target_endian = "big"),
        '>' => cfg!(target_endian = "little"),
        '|' | '=' => false,
        _ => return Err(unknown()),
    };
    Ok((dtype, swapped && dtype.size() > 1))
}

/// What is left of the header.
struct Scan<'a>(&'a str);

impl<'a> Scan<'a> {
    fn here(&self) -> String {
        self.0.chars().take(12).collect()
    }

    fn take(&mut self, c: char) -> bool {
        let Some(rest) = self.0.strip_prefix(c) else {
            return false;
        };
        self.0 = rest.trim_start();
        true
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        match self.take(c) {
            true => Ok(()),
            false => Err(format!("'{c}' is missing at '{}'", self.here())),
        }
    }

    /// A quoted word.
    fn word(&mut self) -> Result<&'a str, String> {
        let quote = self.0.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let found = quote.and_then(|q| self.0[1..].split_once(q));
        let (word, rest) =
            found.ok_or_else(|| format!("a word is missing at '{}'", self.here()))?;
        self.0 = rest.trim_start();
        Ok(word)
    }

    fn truth(&mut self) -> Result<bool, String> {
        for (name, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.0.strip_prefix(name) {
                self.0 = rest.trim_start();
                return Ok(value);
            }
        }
        Err(format!("True or False is missing at '{}'", self.here()))
    }

    /// A tuple of sizes. Python 2 wrote them as `3L`.
    fn sizes(&mut self) -> Result<Vec<usize>, String> {
        let mut sizes = Vec::new();
        self.expect('(')?;
        while !self.take(')') {
            let end = self
                .0
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(self.0.len());
            let (digits, rest) = self.0.split_at(end);
            let size = digits
                .parse()
                .map_err(|_| format!("a size is missing or too large at '{}'", self.here()))?;
            sizes.push(size);
            self.0 = rest.strip_prefix('L').unwrap_or(rest).trim_start();
            if !self.take(',') && !self.0.starts_with(')') {
                return Err(format!("',' or ')' is missing at '{}'", self.here()));
            }
        }
        Ok(sizes)
    }
}

/// Writes the header of a row-major array. bfloat16 has no name in NumPy: it goes as `<V2`, as
/// NumPy with `ml_dtypes` writes it.
pub(crate) fn write_header(
    to: &mut impl Write,
    dtype: DType,
    shape: &[usize],
) -> std::io::Result<()> {
    let order = match (dtype.size(), cfg!(target_endian = "little")) {
        (1, _) => '|',
        (_, true) => '<',
        (_, false) => '>',
    };
    let kind = match dtype {
        DType::Bool => 'b',
        DType::BF16 => 'V',
        t if t.is_float() => 'f',
        t if t.is_complex() => 'c',
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => 'i',
        _ => 'u',
    };
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let mut text = format!(
        "{{'descr': '{order}{kind}{}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        dtype.size(),
        sizes.join(", "),
    );
    // Magic, version and length take 10 bytes; the data begins at a multiple of 64.
    let padding = 63 - (10 + text.len()) % 64;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let len = u16::try_from(text.len()).map_err(|_| {
        std::io::Error::new(
            std::io::ErrorKind::InvalidInput,
            "it has too many dimensions",
        )
    })?;
    to.write_all(MAGIC)?;
    to.write_all(&[1, 0])?;
    to.write_all(&len.to_le_bytes())?;
    to.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(dtype: DType, swapped: bool, fortran: bool, shape: &[usize]) -> Header {
        Header {
            dtype,
            swapped,
            fortran,
            shape: shape.to_vec(),
        }
    }

    #[test]
    fn headers_are_read() {
        let plain = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n";
        assert_eq!(
            parse(plain, false),
            Ok(header(DType::F32, false, false, &[3, 4]))
        );
        let odd = "{\"shape\":(),'fortran_order':True,'descr':'>c16'}";
        assert_eq!(parse(odd, false), Ok(header(DType::C128, true, true, &[])));
        let old = "{'descr': '|u1', 'fortran_order': False, 'shape': (5L,)}";
        assert_eq!(parse(old, false), Ok(header(DType::U8, false, false, &[5])));
        let void = "{'descr': '<V2', 'fortran_order': False, 'shape': (5,)}";
        assert_eq!(
            parse(void, true),
            Ok(header(DType::BF16, false, false, &[5]))
        );
    }

    #[test]
    fn headers_that_are_none_are_refused() {
        let cases = [
            ("", "'{' is missing"),
            ("{", "a word is missing"),
            ("{}", "no 'descr'"),
            ("{'descr': '<f4'}", "no 'fortran_order'"),
            ("{'descr': '<f4', 'descr': '<f4'}", "twice"),
            ("{'descr': '<f4' 'shape': ()}", "is missing at"),
            ("{'descr': [('a', '<f4')]}", "records"),
            ("{'x': 1}", "unknown key 'x'"),
            ("{'fortran_order': 1}", "True or False"),
            ("{'shape': (1, -1)}", "size"),
            ("{'shape': (99999999999999999999,)}", "size"),
            ("{'shape': ((((((((((", "size"),
            ("{'shape': (3 4)}", "is missing at"),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
                "follows",
            ),
            (
                "{'descr': '', 'fortran_order': False, 'shape': ()}",
                "not supported",
            ),
            (
                "{'descr': 'é', 'fortran_order': False, 'shape': ()}",
                "not supported",
            ),
            (
                "{'descr': '<O8', 'fortran_order': False, 'shape': ()}",
                "not supported",
            ),
            (
                "{'descr': '<V2', 'fortran_order': False, 'shape': ()}",
                ":bf16",
            ),
        ];
        for (text, part) in cases {
            let why = parse(text, false).expect_err(text);
            assert!(why.contains(part), "{text}: {why}");
        }
    }

    #[test]
    fn every_written_header_is_read_again() {
        for dtype in DType::ALL {
            for shape in [&[][..], &[7], &[0, 3], &[2, 3, 4]] {
                let mut bytes = Vec::new();
                write_header(&mut bytes, dtype, shape).unwrap();
                assert_eq!(bytes.len() % 64, 0);
                let (found, at) = Header::read(&mut &bytes[..], dtype == DType::BF16).unwrap();
                assert_eq!(found, header(dtype, false, false, shape));
                assert_eq!(at, bytes.len() as u64);
            }
        }
    }
}
