//! How fast this machine's memory is: the bound that no scatter gets past.

use crate::stages::Outcome;
use memmap2::MmapMut;
use serde_json::json;
use std::hint::black_box;
use std::path::Path;
use std::thread;
use std::time::Instant;

/// How much is read or written: more than any cache holds.
const BYTES: usize = 1 << 30;

/// How often each is measured. The best one counts: nothing makes memory look faster than it is.
const TIMES: usize = 5;

/// Bytes per second that go to or from the memory.
///
/// One thread that only reads, in safe code, waits for as many cache lines as the processor lets it
/// ask for at a time, which may be less than the memory can give. What is changed in place is
/// written back later, by itself, so `update` comes nearest to all that the memory can do.
struct Bandwidth {
    read: f64,
    write: f64,
    copy: f64,
    update: f64,
}

/// Measures with one thread and with all, and writes it down as JSON, in bytes per second.
pub(crate) fn write(path: &Path) -> Outcome {
    let all = thread::available_parallelism().map_or(1, usize::from);
    let mut found = serde_json::Map::new();
    for threads in [1, all] {
        let rates = measure(threads).map_err(|e| format!("memory to measure with: {e}"))?;
        println!(
            "{threads} threads: read {:.1}, write {:.1}, copy {:.1}, update {:.1} GB/s",
            rates.read / 1e9,
            rates.write / 1e9,
            rates.copy / 1e9,
            rates.update / 1e9
        );
        let Bandwidth {
            read,
            write,
            copy,
            update,
        } = rates;
        let rates = json!({ "read": read, "write": write, "copy": copy, "update": update });
        found.insert(threads.to_string(), rates);
    }
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    std::fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    let text = serde_json::Value::from(found).to_string();
    std::fs::write(path, text + "\n").map_err(failed)
}

/// Goes through memory that has been touched before, each thread through a part of its own.
fn measure(threads: usize) -> std::io::Result<Bandwidth> {
    let (mut from, mut to) = (touched()?, touched()?);
    let part = BYTES.div_ceil(threads);
    // How many streams are read fastest differs from machine to machine.
    let readers = [sum::<1>, sum::<2>, sum::<4>, sum::<8>, differ];
    let read = readers.map(|reader: fn(&[u8]) -> u64| {
        best(|| {
            thread::scope(|scope| {
                for part in from.chunks(part) {
                    scope.spawn(move || black_box(reader(black_box(part))));
                }
            });
        })
    });
    let write = best(|| {
        thread::scope(|scope| {
            for part in to.chunks_mut(part) {
                scope.spawn(|| black_box(part).fill(black_box(0)));
            }
        });
    });
    let copy = best(|| {
        thread::scope(|scope| {
            for (from, to) in from.chunks(part).zip(to.chunks_mut(part)) {
                scope.spawn(|| black_box(to).copy_from_slice(black_box(from)));
            }
        });
    });
    let update = best(|| {
        thread::scope(|scope| {
            for part in from.chunks_mut(part) {
                scope.spawn(|| add(black_box(part)));
            }
        });
    });
    let bytes = BYTES as f64;
    Ok(Bandwidth {
        read: bytes / read.into_iter().fold(f64::INFINITY, f64::min),
        write: bytes / write,
        copy: 2.0 * bytes / copy,
        update: 2.0 * bytes / update,
    })
}

/// Memory that is there, in large pages where the system has them: it takes longer to find small
/// ones than to read them.
fn touched() -> std::io::Result<MmapMut> {
    let mut memory = MmapMut::map_anon(BYTES)?;
    #[cfg(target_os = "linux")]
    // A system without large pages measures with small ones.
    let _ = memory.advise(memmap2::Advice::HugePage);
    memory.fill(1);
    Ok(memory)
}

/// The sum of the words, read as several streams side by side, a cache line of each in turn.
fn sum<const STREAMS: usize>(bytes: &[u8]) -> u64 {
    const LINE: usize = 64;
    let length = bytes.len() / STREAMS / LINE * LINE;
    let streams: [&[u8]; STREAMS] = std::array::from_fn(|s| &bytes[s * length..][..length]);
    // One sum for each word of a line, so that a line is added at once.
    let mut sums = [0u64; LINE / 8];
    for at in (0..length).step_by(LINE) {
        for stream in &streams {
            let (words, _) = stream[at..at + LINE].as_chunks();
            for (sum, word) in sums.iter_mut().zip(words) {
                *sum = sum.wrapping_add(u64::from_ne_bytes(*word));
            }
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

/// Whether the halves differ, as the C library finds it out: with the widest loads that there are.
fn differ(bytes: &[u8]) -> u64 {
    let (left, right) = bytes.split_at(bytes.len() / 2);
    u64::from(left != right)
}

/// Adds one to each byte of both halves, side by side.
fn add(bytes: &mut [u8]) {
    let (left, right) = bytes.split_at_mut(bytes.len() / 2);
    for (a, b) in left.iter_mut().zip(right) {
        *a = a.wrapping_add(1);
        *b = b.wrapping_add(1);
    }
}

/// The shortest time in seconds.
fn best(mut work: impl FnMut()) -> f64 {
    let times = (0..TIMES).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reader_reads_all_of_it() {
        let bytes = [1u8; 1024];
        let all = u64::from_ne_bytes([1; 8]).wrapping_mul(128);
        for reader in [sum::<1>, sum::<2>, sum::<4>, sum::<8>] {
            assert_eq!(reader(&bytes), all);
        }
        let mut last = bytes;
        last[1023] = 2;
        assert_eq!((differ(&bytes), differ(&last)), (0, 1));
    }

    #[test]
    fn every_byte_is_changed() {
        let mut bytes = [1u8; 1000];
        add(&mut bytes);
        assert_eq!(bytes, [2; 1000]);
    }
}
