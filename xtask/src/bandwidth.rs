//! How fast this machine's memory is: the bound that no scatter gets past.

use crate::stages::Outcome;
use serde_json::json;
use std::hint::black_box;
use std::path::Path;
use std::thread;
use std::time::Instant;

/// The size of what is read or written, in 8-byte words: more than any cache holds.
const WORDS: usize = 1 << 27;

/// How often each is measured. The best one counts: nothing makes memory look faster than it is.
const TIMES: usize = 5;

/// Bytes per second.
struct Bandwidth {
    read: f64,
    write: f64,
    copy: f64,
}

/// Measures with one thread and with all, and writes it down as JSON, in bytes per second.
pub(crate) fn write(path: &Path) -> Outcome {
    let all = thread::available_parallelism().map_or(1, usize::from);
    let mut found = serde_json::Map::new();
    for threads in [1, all] {
        let Bandwidth { read, write, copy } = measure(threads);
        println!(
            "{threads} threads: read {:.1}, write {:.1}, copy {:.1} GB/s",
            read / 1e9,
            write / 1e9,
            copy / 1e9
        );
        let rates = json!({ "read": read, "write": write, "copy": copy });
        found.insert(threads.to_string(), rates);
    }
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    std::fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    let text = serde_json::Value::from(found).to_string();
    std::fs::write(path, text + "\n").map_err(failed)
}

/// Streams through memory that has been touched before, each thread through a part of its own.
fn measure(threads: usize) -> Bandwidth {
    let bytes = (WORDS * 8) as f64;
    let mut from = vec![1u64; WORDS];
    let mut to = vec![1u64; WORDS];
    let part = WORDS.div_ceil(threads);
    // A scatter reads its index and its source side by side, and several streams are read faster
    // than one: the best of both is what reading can come to.
    let streams = [1, 2].map(|streams| {
        best(|| {
            thread::scope(|scope| {
                for part in from.chunks(part) {
                    scope.spawn(move || black_box(sum(part, streams)));
                }
            });
        })
    });
    let write = best(|| {
        thread::scope(|scope| {
            for part in from.chunks_mut(part) {
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
    Bandwidth {
        read: bytes / streams[0].min(streams[1]),
        write: bytes / write,
        copy: 2.0 * bytes / copy,
    }
}

/// The sum of the words, read as one or as two streams.
fn sum(words: &[u64], streams: usize) -> u64 {
    match streams {
        1 => words.iter().fold(0, |sum, word| sum.wrapping_add(*word)),
        _ => {
            let (left, right) = words.split_at(words.len() / 2);
            left.iter()
                .zip(right)
                .fold(0, |sum, (a, b)| sum.wrapping_add(*a).wrapping_add(*b))
        }
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
