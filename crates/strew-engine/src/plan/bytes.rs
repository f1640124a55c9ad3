//! Plans as bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `strewpln` |
//! | 4 | version: 1 |
//! | 4 | bytes of a row number: 4 or 8 |
//! | 8 | rows of the destination |
//! | 8 | row numbers that follow |
//! | 8 | updates that are left out |
//! | 8 | rows that are touched |
//! | 8 | updates of the row that takes most |
//! | 8 | 1 if the numbers ascend, else 0 |
//! | 8 | bytes of the name |
//! | | the name in UTF-8, zeros up to a multiple of 8 |
//! | | the row numbers; all bits set stand for an update that is left out |
//!
//! All integers are little-endian. The facts are there to be compared: none is believed.

use crate::bytes::Rest;
use crate::plan::{Plan, context};
use std::sync::Arc;
use strew_kernel::error::{Problem, Result};
use strew_kernel::groups::row_ids::RowIds;
use strew_kernel::tensor::try_vec;

const MAGIC: &[u8; 8] = b"strewpln";

const VERSION: u32 = 1;

impl Plan {
    /// The plan as bytes, for [`from_bytes`](Self::from_bytes).
    ///
    /// # Errors
    /// [`Class::Memory`](strew_kernel::error::Class::Memory).
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.write()
            .map_err(|problem| self.context().error(problem))
    }

    /// The plan that [`to_bytes`](Self::to_bytes) wrote. All facts are proven anew.
    ///
    /// ```
    /// # mod strew { pub use strew_engine::{plan::*, plan::reduce::*, plan::aggregate::*, describe::bounds::*}; pub use strew_kernel::{error::Error, tensor::*}; }
    /// let plan = strew::Plan::new(&[2i64, 0, 2], None, strew::Bounds::STRICT)?;
    /// let bytes = plan.to_bytes()?;
    /// let again = strew::Plan::from_bytes(&bytes)?;
    /// assert_eq!((again.len(), again.size(), again.is_sorted()), (3, 3, false));
    /// assert!(strew::Plan::from_bytes(&bytes[..20]).is_err());
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Value`](strew_kernel::error::Class::Value) for bytes that are no plan, or whose
    /// facts are not those of its row numbers;
    /// [`Class::Memory`](strew_kernel::error::Class::Memory).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(bytes).map_err(|problem| context(None).error(problem))
    }

    fn write(&self) -> Result<Vec<u8>, Problem> {
        let name = self.name().unwrap_or_default().as_bytes();
        let numbers = &*self.index.numbers;
        let room = numbers.bytes() + name.len().next_multiple_of(8) + 128;
        let mut bytes = try_vec("a plan as bytes", room)?;
        let width = match numbers {
            RowIds::Narrow(_) => 4u32,
            RowIds::Wide(_) => 8,
        };
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(width.to_le_bytes());
        for value in self.claims() {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend((name.len() as u64).to_le_bytes());
        bytes.extend(name);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        match numbers {
            RowIds::Narrow(list) => list.iter().for_each(|n| bytes.extend(n.to_le_bytes())),
            RowIds::Wide(list) => list.iter().for_each(|n| bytes.extend(n.to_le_bytes())),
        }
        Ok(bytes)
    }

    /// What the bytes say of the row numbers, in their order.
    fn claims(&self) -> [u64; 6] {
        [
            self.size() as u64,
            self.len() as u64,
            self.dropped() as u64,
            self.touched() as u64,
            self.max_multiplicity() as u64,
            u64::from(self.is_sorted()),
        ]
    }

    fn read(bytes: &[u8]) -> Result<Self, Problem> {
        let mut rest = Rest::new(bytes, "plan");
        rest.begin(MAGIC, VERSION.into(), |rest| rest.word().map(u64::from))?;
        let width = rest.word()?;
        let mut claims = [0; 6];
        for claim in &mut claims {
            *claim = rest.long()?;
        }
        let size = usize::try_from(claims[0])
            .ok()
            .filter(|&size| isize::try_from(size).is_ok())
            .ok_or_else(|| rest.refuse("they have more rows than a tensor can have"))?;
        let len = usize::try_from(claims[1]).map_err(|_| rest.refuse("they are cut off"))?;
        let name_len =
            usize::try_from(rest.long()?).map_err(|_| rest.refuse("they are cut off"))?;
        let name = std::str::from_utf8(rest.take(name_len)?);
        let name = name.map_err(|_| rest.refuse("the name is not UTF-8"))?;
        let padding = name_len.next_multiple_of(8) - name_len;
        let zeros = rest.take(padding)?.iter().all(|&byte| byte == 0);
        if !zeros || width as usize != RowIds::width(size) {
            return Err(rest.refuse("the header is not one that is written"));
        }
        let wanted = len.checked_mul(width as usize);
        if wanted != Some(rest.bytes.len()) {
            return Err(rest.refuse("they are cut off, or go on behind the end"));
        }
        let mut numbers = RowIds::with_room("the list of row numbers of a plan", len, size)?;
        let mut good = true;
        for number in rest.bytes.chunks_exact(width as usize) {
            let mut long = [0; 8];
            long[..number.len()].copy_from_slice(number);
            let number = u64::from_le_bytes(long);
            let none = u64::MAX >> (64 - 8 * width);
            good &= number < size as u64 || number == none;
            numbers.push(match number == none {
                true => usize::MAX,
                false => usize::try_from(number).unwrap_or(usize::MAX),
            });
        }
        if !good {
            return Err(rest.refuse("a row number is beyond the destination"));
        }
        let plan = Self::of_numbers(Arc::new(numbers), size, (name_len > 0).then_some(name))?;
        match plan.claims() == claims {
            true => Ok(plan),
            false => Err(rest.refuse("what they say of the row numbers is not so")),
        }
    }
}
