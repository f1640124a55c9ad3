//! The machine: the caches and threads that thresholds are written for, and how fast its memory is,
//! measured on the spot.
//!
//! The sizes are constants, so that the same call goes the same way on every machine. Those of the
//! machines that thresholds were measured on lie within a factor of two of them.

use crate::cpu::LINE;
use crate::error::Problem;
use crate::runtime::threads::{Team, available};
use crate::tensor::memory::memory_limit;
use memmap2::MmapMut;
use std::hint::black_box;
use std::time::Instant;

/// What is read and written at least, in bytes: more than most caches hold.
const BYTES: usize = 128 << 20;

/// How often each is measured. The best time counts: nothing makes memory look faster than it is.
const TIMES: usize = 2;

/// The parts of it into which rows are scattered at random, in bytes: next to a core, in a cache of
/// its own, in a shared one, in none.
const REACHES: [usize; 4] = [256 << 10, 4 << 20, 32 << 20, 96 << 20];

/// Bytes of a row of several lines.
const ROW: usize = 256;

/// How many rows of each kind are scattered.
const SINGLES: usize = 1 << 18;

const ROWS: usize = 1 << 15;

/// A small page in bytes: the system has memory for a larger one once any of it is touched.
pub const PAGE: usize = 4096;

/// Bytes of the first-level cache of a core.
pub const L1: usize = 32 << 10;

/// Bytes of the second-level cache of a core.
pub const L2: usize = 1 << 20;

/// Bytes of the last-level cache, which all cores share.
pub const L3: usize = 32 << 20;

/// Minimum bytes of work for one more thread: about what a core streams while a sleeping thread
/// wakes up.
pub const WAKE: usize = 1 << 20;

/// Speeds of memory in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rates {
    /// Reading, of two streams or of one, whichever is faster.
    pub read: f64,
    /// Writing to memory that has been touched before; its lines are read first.
    pub write: f64,
    /// What is read and what is written by a copy.
    pub copy: f64,
    /// The first touch of fresh memory, which the system has to find and to clear.
    pub fresh: f64,
}

impl Rates {
    /// Those of `threads` threads, where it is known what one and what `most` of them reach.
    fn between(one: &Self, all: &Self, threads: usize, most: usize) -> Self {
        let part = match most {
            0 | 1 => 0.0,
            _ => (threads.clamp(1, most) - 1) as f64 / (most - 1) as f64,
        };
        let mix = |one: f64, all: f64| one + (all - one) * part;
        Self {
            read: mix(one.read, all.read),
            write: mix(one.write, all.write),
            copy: mix(one.copy, all.copy),
            fresh: mix(one.fresh, all.fresh),
        }
    }
}

/// Seconds that a row takes that is added to one of many rows at random, its own reading included.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Random {
    /// Bytes over which the rows are spread.
    reach: usize,
    /// A row of a single element, and one of [`ROW`] bytes.
    single: f64,
    row: f64,
}

/// What a machine's memory was measured to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    threads: usize,
    one: Rates,
    all: Rates,
    random: [Random; REACHES.len()],
}

impl Machine {
    /// Measures with one thread and with as many as a run may have. Takes some tenths of a second,
    /// and 128 MiB of memory meanwhile.
    ///
    /// ```
    /// # mod strew { pub use strew_kernel::{error::Problem, runtime::machine::Machine}; }
    /// let machine = strew::Machine::measure()?;
    /// assert!(machine.rates(1).read > 0.0);
    /// # Ok::<(), strew::Problem>(())
    /// ```
    ///
    /// # Errors
    /// [`Problem::Memory`] if there is no room to measure in.
    pub fn measure() -> Result<Self, Problem> {
        let threads = available();
        let measured = |threads| {
            let mut room = Probed::fresh(BYTES)?;
            let rates = room.rates(threads, TIMES);
            Ok((room, rates))
        };
        // Pages that nobody in this system has had for long come slower than all that follow.
        touch(&mut Probed::fresh(BYTES)?.memory);
        let (mut room, one) = measured(1)?;
        let random = REACHES.map(|reach| room.random(reach));
        drop(room);
        let all = match threads {
            1 => one,
            _ => measured(threads)?.1,
        };
        Ok(Self {
            threads,
            one,
            all,
            random,
        })
    }

    /// How many threads "all" were.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The speeds that so many threads reach together.
    #[must_use]
    pub fn rates(&self, threads: usize) -> Rates {
        Rates::between(&self.one, &self.all, threads, self.threads)
    }

    /// Seconds that one thread takes to add a row of so many bytes to one of many at random, which
    /// are spread over `reach` bytes.
    #[must_use]
    pub fn random(&self, reach: usize, row: usize) -> f64 {
        let more = row.div_ceil(LINE).saturating_sub(1) as f64 / (ROW / LINE - 1) as f64;
        let cost = |r: &Random| r.single + (r.row - r.single).max(0.0) * more;
        let above = self.random.iter().position(|r| r.reach >= reach);
        match above {
            Some(0) => cost(&self.random[0]),
            None => cost(&self.random[REACHES.len() - 1]),
            Some(k) => {
                let (low, high) = (&self.random[k - 1], &self.random[k]);
                let log = |bytes: usize| (bytes as f64).ln();
                let part = (log(reach) - log(low.reach)) / (log(high.reach) - log(low.reach));
                cost(low) + (cost(high) - cost(low)) * part
            }
        }
    }
}

/// Memory to measure in.
struct Probed {
    memory: MmapMut,
}

impl Probed {
    /// Memory as a large result gets it: not touched yet, in huge pages if the system has them.
    fn fresh(bytes: usize) -> Result<Self, Problem> {
        let memory = MmapMut::map_anon(bytes).map_err(|_| Problem::Memory {
            what: "memory to measure the machine in".into(),
            needed: bytes as u128,
            available: memory_limit().map_or(0, u128::from),
        })?;
        #[cfg(target_os = "linux")]
        // Without huge pages it is only slower.
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(Self { memory })
    }

    fn rates(&mut self, threads: usize, times: usize) -> Rates {
        let bytes = self.memory.len();
        let part = bytes.div_ceil(threads).next_multiple_of(2 * ROW);
        let team = Team::new(threads);
        // One piece for each thread.
        let mut share = |work: &(dyn Fn(&mut [u8]) + Sync)| {
            let pieces = self.memory.chunks_mut(part);
            let start = Instant::now();
            match &team {
                Some(team) => team.share(pieces, work, work),
                None => pieces.for_each(work),
            }
            start.elapsed().as_secs_f64()
        };
        let mut best = |times: usize, work: &(dyn Fn(&mut [u8]) + Sync)| {
            (0..times)
                .map(|_| share(work))
                .fold(f64::INFINITY, f64::min)
        };
        let fresh = best(1, &touch);
        let one = best(times, &|piece| {
            black_box(sum(piece, &[]));
        });
        let two = best(times, &|piece| {
            let (left, right) = piece.split_at(piece.len() / 2);
            black_box(sum(left, right));
        });
        let write = best(times, &|piece| fill(piece, 2));
        let copy = best(times, &|piece| {
            let (left, right) = piece.split_at_mut(piece.len() / 2);
            let len = left.len().min(right.len());
            black_box(&mut left[..len]).copy_from_slice(black_box(&right[..len]));
        });
        let bytes = bytes as f64;
        Rates {
            read: bytes / one.min(two),
            write: bytes / write,
            copy: bytes / copy,
            fresh: bytes / fresh,
        }
    }

    fn random(&mut self, reach: usize) -> Random {
        let (cells, source) = self.memory.split_at_mut(reach);
        let mut seconds = |width, count| {
            let source = &source[..count * width];
            // Once more: the first time, the cells come from elsewhere into their cache.
            let times = (0..2).map(|_| {
                let start = Instant::now();
                scatter(black_box(&mut *cells), source, width);
                start.elapsed().as_secs_f64() / count as f64
            });
            times.fold(f64::INFINITY, f64::min)
        };
        Random {
            reach,
            single: seconds(size_of::<f32>(), SINGLES),
            row: seconds(ROW, ROWS),
        }
    }
}

/// Writes to every page.
fn touch(piece: &mut [u8]) {
    for page in black_box(piece).chunks_mut(PAGE) {
        page[0] = 1;
    }
}

fn fill(piece: &mut [u8], word: u64) {
    for bytes in black_box(piece).chunks_exact_mut(8) {
        bytes.copy_from_slice(&word.to_ne_bytes());
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_ne_bytes)
}

/// The sum of the words, of one stream or of two.
fn sum(left: &[u8], right: &[u8]) -> u64 {
    let add = |sum: u64, bytes: &[u8]| sum.wrapping_add(word(bytes));
    match right.is_empty() {
        true => left.chunks_exact(8).fold(0, add),
        false => {
            let pairs = left.chunks_exact(8).zip(right.chunks_exact(8));
            pairs.fold(0, |sum, (a, b)| add(add(sum, a), b))
        }
    }
}

/// Adds each row of the source, `width` bytes, to one of the cells' rows, whose number nothing
/// foretells.
fn scatter(cells: &mut [u8], source: &[u8], width: usize) {
    let rows = (cells.len() / width) as u64;
    for (n, row) in source.chunks_exact(width).enumerate() {
        // Knuth's multiplicative hash, twice.
        let hash = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let at = ((hash * rows) >> 32) as usize * width;
        let pairs = cells[at..at + width].chunks_exact_mut(4);
        for (cell, value) in pairs.zip(row.chunks_exact(4)) {
            let sum = f32_of(cell) + f32_of(value);
            cell.copy_from_slice(&sum.to_ne_bytes());
        }
    }
}

fn f32_of(bytes: &[u8]) -> f32 {
    bytes.try_into().map_or(0.0, f32::from_ne_bytes)
}
