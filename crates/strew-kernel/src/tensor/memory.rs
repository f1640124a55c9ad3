//! Memory for results and working tables: aligned to 64 bytes, fallible, checked against a limit.
//!
//! | size | memory |
//! |---|---|
//! | 0 | none |
//! | below 2 MiB | a heap block |
//! | from 2 MiB | a mapping with huge pages, from the [mapping cache](mapping_cache) if one fits |
//! | sparse | a mapping with small pages, of which only touched ones exist |
//!
//! # Unsafe
//!
//! - Buys: memory that is not cleared first
//! - Measured: set first: C 1.33
//! - Holds: the caller promises to write all of it

use crate::error::Problem;
use crate::runtime::threads::{available, share};
use crate::tensor::free_memory::left;
use crate::tensor::mapping_cache;
use memmap2::MmapMut;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Alignment in bytes that every zero-copy consumer accepts. XLA requires it.
const ALIGN: usize = 64;

/// Below this, an allocation is not worth asking the system how much memory is left.
const CHECKED_FROM: usize = 64 << 20;

/// The caller's limit in bytes; `u64::MAX` stands for "none set".
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Sets how many bytes a single result or working table may take.
///
/// `None` goes back to the default: the environment variable `STREW_MEMORY_LIMIT` if it is set,
/// else the memory that the system reports as available at the time of the call. A set limit
/// replaces that report, so it can also allow more.
pub fn set_memory_limit(bytes: Option<u64>) {
    LIMIT.store(bytes.unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// How many bytes a single result or working table may take at this moment, if that is known.
#[must_use]
pub fn memory_limit() -> Option<u64> {
    set_limit().or_else(left)
}

/// The limit that was set, by a call or by the environment.
fn set_limit() -> Option<u64> {
    match LIMIT.load(Ordering::Relaxed) {
        u64::MAX => crate::runtime::settings::memory(),
        set => Some(set),
    }
}

/// Refuses `bytes` if they are more than there are.
fn check(what: &dyn Fn() -> String, bytes: usize) -> Result<(), Problem> {
    let too_many = |limit: Option<u64>| limit.is_some_and(|limit| bytes as u64 > limit);
    let refused = match set_limit() {
        None if bytes < CHECKED_FROM => false,
        // What is kept for reuse is there for this, too.
        None => too_many(left()) && (!mapping_cache::give_back() || too_many(left())),
        set => too_many(set),
    };
    match refused {
        true => Err(out_of_memory(what, bytes as u128)),
        false => Ok(()),
    }
}

fn out_of_memory(what: &dyn Fn() -> String, needed: u128) -> Problem {
    Problem::Memory {
        what: what(),
        needed,
        available: memory_limit().map_or(isize::MAX as u128, u128::from),
    }
}

/// Room for `count` elements in an empty vector, or an error.
pub fn try_vec<T>(what: &str, count: usize) -> Result<Vec<T>, Problem> {
    let name = || what.to_owned();
    let bytes = count.saturating_mul(size_of::<T>());
    check(&name, bytes)?;
    let mut vec = Vec::new();
    vec.try_reserve_exact(count)
        .map_err(|_| out_of_memory(&name, count as u128 * size_of::<T>() as u128))?;
    Ok(vec)
}

/// From this size on, memory is mapped on its own and asks for huge pages: the first touch of a
/// page costs more than what most strategies then do with it.
const MAPPED_FROM: usize = HUGE_PAGE;

/// The size of a huge page, to which mapped memory is aligned.
const HUGE_PAGE: usize = 2 << 20;

/// Owned bytes, aligned to 64 and initialised.
#[derive(Debug)]
pub struct Buffer {
    ptr: NonNull<u8>,
    bytes: usize,
    memory: Memory,
}

/// The allocation that a buffer's bytes are part of. Dropping the buffer releases it.
#[derive(Debug)]
enum Memory {
    Nothing,
    /// An empty vector's room.
    Block(#[expect(dead_code, reason = "it is there to be dropped")] Vec<u8>),
    /// A mapping with small pages, of which few exist.
    Sparse(#[expect(dead_code, reason = "it is there to be dropped")] MmapMut),
    /// A mapping that goes to the mapping cache when the buffer is dropped.
    Mapping(Option<MmapMut>),
}

// SAFETY: the buffer owns its bytes; nothing else points at them.
unsafe impl Send for Buffer {}

// SAFETY: shared access only reads.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// `bytes` zero bytes of which few will be touched. Small pages, so that only those exist.
    pub(crate) fn zeroed_sparse(what: &dyn Fn() -> String, bytes: usize) -> Result<Self, Problem> {
        Self::allocate(what, bytes, true, false)
    }

    /// `bytes` bytes that `init` must write, all of them, through the pointer it is given.
    ///
    /// # Safety
    /// When `init` returns, every byte must have been written.
    pub(super) unsafe fn written_by(
        what: &dyn Fn() -> String,
        bytes: usize,
        init: impl FnOnce(*mut u8),
    ) -> Result<Self, Problem> {
        let buffer = Self::allocate(what, bytes, false, true)?;
        init(buffer.ptr.as_ptr());
        Ok(buffer)
    }

    /// No bytes.
    pub(crate) const fn empty() -> Self {
        Self {
            ptr: NonNull::without_provenance(const { std::num::NonZero::new(ALIGN).unwrap() }),
            bytes: 0,
            memory: Memory::Nothing,
        }
    }

    fn allocate(
        what: &dyn Fn() -> String,
        bytes: usize,
        zero: bool,
        huge: bool,
    ) -> Result<Self, Problem> {
        check(what, bytes)?;
        if bytes == 0 {
            return Ok(Self::empty());
        }
        let none = || out_of_memory(what, bytes as u128);
        if bytes >= MAPPED_FROM {
            return match huge {
                true => Self::map(bytes, zero),
                false => Self::map_sparse(bytes),
            }
            .ok_or_else(none);
        }
        // Room to align the bytes instead of an aligned allocation: allocators keep free lists only
        // for requests of ordinary alignment.
        let mut block = Vec::new();
        block
            .try_reserve_exact(bytes + ALIGN - 1)
            .map_err(|_| none())?;
        let room: &mut [MaybeUninit<u8>] = block.spare_capacity_mut();
        let skip = room.as_ptr().align_offset(ALIGN);
        let room = &mut room[skip..skip + bytes];
        if zero {
            room.fill(MaybeUninit::new(0));
        }
        let ptr = NonNull::from(room).cast();
        Ok(Self {
            ptr,
            bytes,
            memory: Memory::Block(block),
        })
    }

    /// Zeros on pages of their own, which are there once they are touched.
    fn map_sparse(bytes: usize) -> Option<Self> {
        let mut mapping = MmapMut::map_anon(bytes).ok()?;
        Some(Self {
            ptr: NonNull::new(mapping.as_mut_ptr())?,
            bytes,
            memory: Memory::Sparse(mapping),
        })
    }

    /// Pages of their own, huge ones if the system has them: kept ones with whatever is in them,
    /// cleared if they are to be `zero`, or fresh ones.
    fn map(bytes: usize, zero: bool) -> Option<Self> {
        let room = bytes.checked_add(HUGE_PAGE)?;
        let kept = mapping_cache::take(room);
        let clear = zero && kept.is_some();
        let fresh = || match MmapMut::map_anon(room) {
            Err(_) if mapping_cache::give_back() => MmapMut::map_anon(room).ok(),
            mapping => mapping.ok(),
        };
        let mut mapping = kept.or_else(fresh)?;
        let skip = mapping.as_ptr().align_offset(HUGE_PAGE).min(HUGE_PAGE);
        #[cfg(target_os = "linux")]
        {
            // Not for a short end, which would take a whole one. Without huge pages it is only
            // slower.
            let huge = (bytes + HUGE_PAGE / 2) / HUGE_PAGE * HUGE_PAGE;
            let _ = mapping.advise_range(memmap2::Advice::HugePage, skip, huge.min(room - skip));
        }
        if clear {
            fill(&mut mapping[skip..skip + bytes], |piece| piece.fill(0));
        }
        let ptr = NonNull::new(mapping.as_mut_ptr().wrapping_add(skip))?;
        Some(Self {
            ptr,
            bytes,
            memory: Memory::Mapping(Some(mapping)),
        })
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Buffer {
    /// `bytes` zero bytes. `what` names them in the error.
    pub fn zeroed(what: &dyn Fn() -> String, bytes: usize) -> Result<Self, Problem> {
        Self::allocate(what, bytes, true, true)
    }

    /// `bytes` bytes with whatever is in them.
    pub fn scratch(what: &dyn Fn() -> String, bytes: usize) -> Result<Self, Problem> {
        // Fresh memory of the allocator's holds nothing that may be read.
        Self::allocate(what, bytes, bytes < MAPPED_FROM, true)
    }

    pub fn as_ptr(&self) -> *const u8 {
        self.ptr.as_ptr()
    }

    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    pub fn len(&self) -> usize {
        self.bytes
    }
}

/// Bytes that are worth a thread when they are set.
const PIECE: usize = 8 << 20;

/// Sets all bytes, piece by piece, on as many threads as a run may have.
pub(super) fn fill(bytes: &mut [u8], set: impl Fn(&mut [u8]) + Sync) {
    let threads = available().min(bytes.len() / PIECE).max(1);
    // Whole lines, so that every piece is aligned like the first.
    let piece = bytes.len().div_ceil(threads).max(1);
    let piece = piece.next_multiple_of(HUGE_PAGE);
    share(threads, bytes.chunks_mut(piece), set);
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Memory::Mapping(mapping) = &mut self.memory {
            mapping.take().into_iter().for_each(mapping_cache::give);
        }
    }
}
