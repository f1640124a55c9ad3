//! Reading plans and accumulators from bytes that may be anything.

use strew_kernel::error::Problem;

/// Bytes that have not been read. All integers are little-endian.
pub(crate) struct Rest<'b> {
    pub(crate) bytes: &'b [u8],
    /// What they should be, as in "accumulator".
    what: &'static str,
}

impl<'b> Rest<'b> {
    pub(crate) fn new(bytes: &'b [u8], what: &'static str) -> Self {
        Self { bytes, what }
    }

    /// The problem with these bytes.
    pub(crate) fn refuse(&self, why: &str) -> Problem {
        Problem::Layout {
            argument: "bytes".into(),
            why: format!("these bytes are no {}: {why}", self.what),
        }
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'b [u8], Problem> {
        let split = self.bytes.split_at_checked(count);
        let (taken, rest) = split.ok_or_else(|| self.refuse("they are cut off"))?;
        self.bytes = rest;
        Ok(taken)
    }

    pub(crate) fn word(&mut self) -> Result<u32, Problem> {
        let mut word = [0; 4];
        word.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(word))
    }

    pub(crate) fn long(&mut self) -> Result<u64, Problem> {
        let mut long = [0; 8];
        long.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(long))
    }

    pub(crate) fn size(&mut self) -> Result<usize, Problem> {
        usize::try_from(self.long()?).map_err(|_| self.refuse("a size is too large"))
    }

    /// What the bytes begin with, and the version, which `read` reads.
    pub(crate) fn begin(
        &mut self,
        magic: &[u8],
        version: u64,
        read: impl FnOnce(&mut Self) -> Result<u64, Problem>,
    ) -> Result<(), Problem> {
        if self.take(magic.len())? != magic {
            return Err(self.refuse("they do not begin like that"));
        }
        match read(self)? {
            found if found == version => Ok(()),
            found => Err(self.refuse(&format!(
                "they are of version {found}, and {version} is known"
            ))),
        }
    }
}
