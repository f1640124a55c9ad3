//! Accumulators as bytes. docs/accumulator.md describes them.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `strewacc` |
//! | 8 | version: 1 |
//! | text | the dtype's name |
//! | list | the shape of one update |
//! | 8, 8 | 1 if the number of groups was given, else 0; the number of groups |
//! | 8 | what negative numbers mean: 0 reject, 1 wrap, 2 drop |
//! | 8 | what numbers out of range mean: 0 error, 1 drop, 2 clip |
//! | 8, 8 | 1 if an int64 is ignored, 2 if a uint64 beyond int64 is, else 0; that number, or 0 |
//! | 8, 8, 8 | 1 if NaN is skipped, else 0; `min_count`; `ddof` |
//! | 8 | 1 if sums are exact, else 0 |
//! | 8 | the fill value: 0 none, 1 bool, 2 int64, 3 uint64, 4 float64, 5 complex128 |
//! | 8, 8 | its two parts |
//! | list of texts | the names of the statistics |
//! | list of 8, 8 | the positions taken: the first of each range, and the one after its last |
//! | 8 | 1 if only some groups have records, else 0 |
//! | list of 8 | those groups, in ascending order, if only some have records |
//! | | the records of these or all groups, table by table |
//!
//! All integers and floats are little-endian. A text is its length and its UTF-8 bytes; a list is
//! its length and its items.

use crate::accumulator::spans::Spans;
use crate::accumulator::touched::Touched;
use crate::accumulator::{Accumulator, context};
use crate::bytes::Rest;
use crate::describe::bounds::{Bounds, Negative, OutOfRange};
use crate::plan::{Aggregate, AggregateOptions};
use num_complex::Complex64;
use strew_kernel::error::{Problem, Result};
use strew_kernel::tensor::{DType, Scalar, try_vec};

const MAGIC: &[u8; 8] = b"strewacc";

const VERSION: u64 = 1;

const NEGATIVE: [Negative; 3] = [Negative::Reject, Negative::Wrap, Negative::Drop];

const OUT_OF_RANGE: [OutOfRange; 3] = [OutOfRange::Error, OutOfRange::Drop, OutOfRange::Clip];

impl Accumulator {
    /// The accumulator as bytes, for [`from_bytes`](Self::from_bytes).
    ///
    /// # Errors
    /// [`Class::Memory`](strew_kernel::error::Class::Memory).
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.write().map_err(|problem| context().error(problem))
    }

    /// The accumulator that [`to_bytes`](Self::to_bytes) wrote. It takes memory in proportion to
    /// the bytes.
    ///
    /// ```
    /// # mod strew { pub use strew_engine::{accumulator::*, plan::*, describe::bounds::*}; pub use strew_kernel::{error::Error, tensor::*}; }
    /// use strew::{Accumulator, Aggregate, AggregateOptions, Bounds, DType};
    ///
    /// let (wanted, options) = ([Aggregate::Len], AggregateOptions::default());
    /// let all = Accumulator::new(Some(3), &wanted, DType::F32, &[], Bounds::STRICT, options.clone())?;
    /// let bytes = all.to_bytes()?;
    /// assert_eq!(Accumulator::from_bytes(&bytes)?.rows(), 3);
    /// assert!(Accumulator::from_bytes(&bytes[..20]).is_err());
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Value`](strew_kernel::error::Class::Value) for bytes that are no accumulator;
    /// [`Class::Memory`](strew_kernel::error::Class::Memory).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(bytes).map_err(|problem| context().error(problem))
    }

    fn write(&self) -> Result<Vec<u8>, Problem> {
        let cells = self.states.rows() * self.kept.inner;
        let groups = self.touched.as_ref().map_or(0, |touched| 8 * touched.len());
        let texts =
            groups + 64 * (self.wanted.len() + self.shape.len() + self.taken.ranges().len() + 8);
        let room = cells.saturating_mul(self.states.record_bytes());
        let mut to = Writer(try_vec(
            "an accumulator as bytes",
            room.saturating_add(texts),
        )?);
        to.0.extend(MAGIC);
        to.long(VERSION);
        to.text(self.dtype.name());
        to.list(&self.shape, |to, &axis| to.long(axis as u64));
        to.long(self.size.is_some().into());
        to.long(self.rows() as u64);
        let Bounds {
            negative,
            out_of_range,
            ignored,
        } = self.bounds;
        to.long(place(&NEGATIVE, negative));
        to.long(place(&OUT_OF_RANGE, out_of_range));
        ignored_parts(ignored)
            .into_iter()
            .for_each(|part| to.long(part));
        to.long(self.options.skip_nan.into());
        to.long(self.options.min_count as u64);
        to.long(self.options.ddof.to_bits());
        to.long(self.options.exact.into());
        fill_parts(self.options.fill_value)
            .into_iter()
            .for_each(|part| to.long(part));
        to.list(&self.wanted, |to, wanted| to.text(wanted.name()));
        to.list(self.taken.ranges(), |to, span| {
            to.long(span.start as u64);
            to.long(span.end as u64);
        });
        to.long(self.touched.is_some().into());
        match &self.touched {
            None => self.states.write(&self.kept, &mut to.0)?,
            Some(touched) => {
                let (groups, places) = touched.sorted()?;
                to.list(&groups, |to, &group| to.long(group.cast_unsigned()));
                let sorted = self.states.spread(&self.kept, &places, places.len())?;
                sorted.write(&self.kept, &mut to.0)?;
            }
        }
        Ok(to.0)
    }

    fn read(bytes: &[u8]) -> Result<Self, Problem> {
        let mut rest = Rest::new(bytes, "accumulator");
        rest.begin(MAGIC, VERSION, Rest::long)?;
        let dtype: DType = rest.name()?;
        let shape = rest.list(8, Rest::size)?;
        let fixed = rest.flag()?;
        let rows = rest.size()?;
        let bounds = rest.bounds()?;
        let options = rest.options()?;
        let wanted: Vec<Aggregate> = rest.list(8, Rest::name)?;
        let spans = rest.list(16, |rest| Ok(rest.size()?..rest.size()?))?;
        let size = fixed.then_some(rows);
        let mut made = Self::empty(size, &wanted, dtype, &shape, bounds, &options)?;
        let ends = spans
            .last()
            .is_none_or(|span| isize::try_from(span.end).is_ok());
        let taken = Spans::of(spans).filter(|_| ends);
        made.taken = taken.ok_or_else(|| rest.refuse("the positions do not ascend"))?;
        made.rows = rows;
        if rest.flag()? {
            let groups = rest.list(8, |rest| Ok(rest.long()?.cast_signed()))?;
            let inside = groups
                .last()
                .is_none_or(|&last| (last.cast_unsigned() as usize) < rows);
            let touched = Touched::of(&groups)?.filter(|_| inside);
            made.touched = Some(touched.ok_or_else(|| rest.refuse("the groups do not ascend"))?);
        }
        let records = made.touched.as_ref().map_or(rows, Touched::len);
        let bytes = records
            .checked_mul(made.kept.inner)
            .and_then(|cells| cells.checked_mul(made.states.record_bytes()));
        if bytes.is_none_or(|bytes| bytes > rest.bytes.len()) || isize::try_from(rows).is_err() {
            return Err(rest.refuse("they are cut off"));
        }
        made.states.grow(&made.kept, records)?;
        let read = made.states.read(&mut rest.bytes);
        read.ok_or_else(|| {
            rest.refuse("they are cut off, or a record is not one that is written")
        })?;
        match rest.bytes.is_empty() {
            true => Ok(made),
            false => Err(rest.refuse("they go on behind the end")),
        }
    }
}

fn place<T: PartialEq>(all: &[T], one: T) -> u64 {
    all.iter().position(|known| *known == one).unwrap_or(0) as u64
}

/// The kind of an ignored number, and the number.
fn ignored_parts(ignored: Option<i128>) -> [u64; 2] {
    let Some(number) = ignored else {
        return [0, 0];
    };
    match (i64::try_from(number), u64::try_from(number)) {
        (Ok(number), _) => [1, number.cast_unsigned()],
        (_, Ok(number)) => [2, number],
        // No index has such a number.
        _ => [0, 0],
    }
}

/// The kind of a fill value, and its two parts.
fn fill_parts(fill: Option<Scalar>) -> [u64; 3] {
    match fill {
        None => [0, 0, 0],
        Some(Scalar::Bool(value)) => [1, value.into(), 0],
        Some(Scalar::Int(value)) => [2, value.cast_unsigned(), 0],
        Some(Scalar::Uint(value)) => [3, value, 0],
        Some(Scalar::Float(value)) => [4, value.to_bits(), 0],
        Some(Scalar::Complex(value)) => [5, value.re.to_bits(), value.im.to_bits()],
    }
}

/// Bytes that are being written.
struct Writer(Vec<u8>);

impl Writer {
    fn long(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.long(text.len() as u64);
        self.0.extend(text.as_bytes());
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.long(items.len() as u64);
        items.iter().for_each(|item| each(self, item));
    }
}

impl<'b> Rest<'b> {
    fn flag(&mut self) -> Result<bool, Problem> {
        match self.long()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.refuse("the header is not one that is written")),
        }
    }

    fn text(&mut self) -> Result<&'b str, Problem> {
        let len = self.size()?;
        std::str::from_utf8(self.take(len)?).map_err(|_| self.refuse("a name is not UTF-8"))
    }

    /// Something that is known by its name, which is the only one that is written for it.
    fn name<T: std::str::FromStr + Named>(&mut self) -> Result<T, Problem> {
        let name = self.text()?;
        let known = name.parse().ok().filter(|known: &T| known.named() == name);
        known.ok_or_else(|| self.refuse("a name is unknown"))
    }

    /// A list of items that take at least `bytes` each.
    fn list<T>(
        &mut self,
        bytes: usize,
        mut each: impl FnMut(&mut Self) -> Result<T, Problem>,
    ) -> Result<Vec<T>, Problem> {
        let len = self.size()?;
        if len > self.bytes.len() / bytes {
            return Err(self.refuse("they are cut off"));
        }
        let mut items = try_vec("an accumulator", len)?;
        for _ in 0..len {
            items.push(each(self)?);
        }
        Ok(items)
    }

    /// One of some rules.
    fn one_of<T: Copy>(&mut self, all: &[T]) -> Result<T, Problem> {
        let found = all.get(self.size()?).copied();
        found.ok_or_else(|| self.refuse("a rule for numbers is unknown"))
    }

    fn bounds(&mut self) -> Result<Bounds, Problem> {
        let (negative, out_of_range) = (self.one_of(&NEGATIVE)?, self.one_of(&OUT_OF_RANGE)?);
        let parts = [self.long()?, self.long()?];
        let ignored = match parts {
            [1, number] => Some(number.cast_signed().into()),
            [2, number] => Some(number.into()),
            _ => None,
        };
        if ignored_parts(ignored) != parts {
            return Err(self.refuse("the header is not one that is written"));
        }
        Ok(Bounds {
            negative,
            out_of_range,
            ignored,
        })
    }

    fn options(&mut self) -> Result<AggregateOptions, Problem> {
        let (skip_nan, min_count) = (self.flag()?, self.size()?);
        let ddof = f64::from_bits(self.long()?);
        let exact = self.flag()?;
        let parts = [self.long()?, self.long()?, self.long()?];
        let [kind, first, second] = parts;
        let fill_value = match kind {
            1 => Some(Scalar::Bool(first == 1)),
            2 => Some(Scalar::Int(first.cast_signed())),
            3 => Some(Scalar::Uint(first)),
            4 => Some(Scalar::Float(f64::from_bits(first))),
            5 => Some(Scalar::Complex(Complex64::new(
                f64::from_bits(first),
                f64::from_bits(second),
            ))),
            _ => None,
        };
        match fill_parts(fill_value) == parts {
            true => Ok(AggregateOptions {
                skip_nan,
                min_count,
                fill_value,
                ddof,
                exact,
                ..AggregateOptions::default()
            }),
            false => Err(self.refuse("the fill value is not one that is written")),
        }
    }
}

/// Something that has a name.
trait Named {
    fn named(&self) -> &'static str;
}

impl Named for DType {
    fn named(&self) -> &'static str {
        self.name()
    }
}

impl Named for Aggregate {
    fn named(&self) -> &'static str {
        self.name()
    }
}
