//! What the fuzzer kept is tried again, and each target for a moment with bytes of its own: without coverage, and
//! without more than a test needs.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};
use strew_fuzz::{TARGETS, Target};
use zip::ZipArchive;

/// How long each target runs on new bytes.
const MOMENT: Duration = Duration::from_secs(2);

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }
}

/// The inputs that were kept, by their names.
fn corpus(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let path = folder.join(format!("{}.zip", target.name));
    let file = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut archive = ZipArchive::new(file).unwrap();
    let inputs = (0..archive.len()).map(|at| {
        let mut input = archive.by_index(at).unwrap();
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).unwrap();
        (input.name().unwrap().into_owned(), bytes)
    });
    inputs.collect()
}

/// Runs a target, and says with which bytes it failed.
fn run(target: &Target, bytes: &[u8], what: &str) {
    let outcome = std::panic::catch_unwind(|| (target.run)(bytes));
    if let Err(panic) = outcome {
        println!("{}, {what}: {bytes:?}", target.name);
        std::panic::resume_unwind(panic);
    }
}

/// New bytes, or known ones of which some are changed.
fn bytes(random: &mut Random, known: &[Vec<u8>]) -> Vec<u8> {
    let mut made = match known.get(random.below(known.len())) {
        Some(known) if random.below(4) > 0 => known.clone(),
        _ => (0..random.below(200))
            .map(|_| random.next() as u8)
            .collect(),
    };
    for _ in 0..random.below(6) {
        let (at, byte) = (random.below(made.len()), random.next() as u8);
        match random.below(3) {
            0 if !made.is_empty() => drop(made.remove(at)),
            1 => made.insert(at, byte),
            _ => made.iter_mut().skip(at).take(1).for_each(|b| *b = byte),
        }
    }
    made
}

#[test]
fn the_corpus_and_what_is_like_it_finds_nothing() {
    // One after the other: the number of threads is one for the process.
    for target in &TARGETS {
        let mut known = Vec::new();
        for (name, bytes) in corpus(target) {
            run(target, &bytes, &name);
            known.push(bytes);
        }
        assert!(!known.is_empty(), "{} has no corpus", target.name);
        let (start, mut random, mut runs) = (Instant::now(), Random(1), 0);
        while start.elapsed() < MOMENT {
            run(target, &bytes(&mut random, &known), "new bytes");
            runs += 1;
        }
        println!("{}: {} kept, {runs} new", target.name, known.len());
    }
}
