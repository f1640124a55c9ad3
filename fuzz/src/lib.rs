//! What strew is fuzzed with. A target is a function that makes a problem of any bytes, and panics if strew does with it
//! what it must not. `cargo xtask fuzz` lets libFuzzer look for bytes that do; docs/fuzzing.md says more.

mod accumulator;
mod arguments;
mod calls;
mod engine;
mod files;
mod made;
mod memory;
mod plan;
mod tables;
mod zarr;

// What the targets share with the tests of the library, and the parts of the command line that they try.
#[path = "../../crates/strew/tests/compared/mod.rs"]
mod compared;
#[path = "../../crates/strew/tests/naive/mod.rs"]
mod naive;
#[path = "../../crates/strew/tests/support/mod.rs"]
mod support;

#[allow(dead_code)]
#[path = "../../crates/strew-cli/src/aggregate_flags.rs"]
mod aggregate_flags;
#[allow(dead_code)]
#[path = "../../crates/strew-cli/src/cli.rs"]
mod cli;
#[allow(dead_code)]
#[path = "../../crates/strew-cli/src/failure.rs"]
mod failure;
#[allow(dead_code)]
#[path = "../../crates/strew-cli/src/families.rs"]
mod families;
#[allow(dead_code)]
#[path = "../../crates/strew-cli/src/flags.rs"]
mod flags;
#[allow(dead_code, unreachable_pub)]
#[path = "../../crates/strew-cli/src/interrupt.rs"]
mod interrupt;
#[path = "../../crates/strew-cli/src/literal.rs"]
mod literal;
#[allow(dead_code)]
#[path = "../../crates/strew-cli/src/mapped.rs"]
mod mapped;
#[allow(dead_code)]
#[path = "../../crates/strew-cli/src/outputs.rs"]
mod outputs;
#[allow(dead_code)]
#[path = "../../crates/strew-cli/src/progress.rs"]
mod progress;
#[allow(dead_code, unused_imports)]
#[path = "../../crates/strew-cli/src/read/mod.rs"]
mod read;
#[allow(dead_code)]
#[path = "../../crates/strew-cli/src/show.rs"]
mod show;
#[allow(dead_code, unused_imports)]
#[path = "../../crates/strew-cli/src/signals.rs"]
mod signals;
#[allow(dead_code)]
#[path = "../../crates/strew-cli/src/suggest.rs"]
mod suggest;
#[allow(dead_code)]
#[path = "../../crates/strew-cli/src/topics.rs"]
mod topics;
#[allow(dead_code)]
#[path = "../../crates/strew-cli/src/values.rs"]
mod values;
#[allow(dead_code)]
#[path = "../../crates/strew-cli/src/write.rs"]
mod write;

use std::sync::Once;

/// The environment variable that names the fuzzer's target.
pub const TARGET: &str = "STREW_FUZZ_TARGET";

/// Something that is fuzzed.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and that of its archive in the corpus.
    pub name: &'static str,
    /// Panics if strew does what it must not.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 12] = [
    Target {
        name: "calls",
        run: calls::calls,
    },
    Target {
        name: "engine",
        run: engine::engine,
    },
    Target {
        name: "npy",
        run: files::npy,
    },
    Target {
        name: "npz",
        run: files::npz,
    },
    Target {
        name: "safetensors",
        run: files::safetensors,
    },
    Target {
        name: "parquet",
        run: tables::parquet,
    },
    Target {
        name: "arrow",
        run: tables::arrow,
    },
    Target {
        name: "csv",
        run: tables::csv,
    },
    Target {
        name: "zarr",
        run: zarr::zarr,
    },
    Target {
        name: "arguments",
        run: arguments::arguments,
    },
    Target {
        name: "plan",
        run: plan::plan,
    },
    Target {
        name: "accumulator",
        run: accumulator::accumulator,
    },
];

/// The target of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// No tensor that a target asks for takes more than this: what takes long finds little.
const MEMORY: u64 = 1 << 20;

/// Sets what holds for the whole process.
fn set_up() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| strew::set_memory_limit(Some(MEMORY)));
}
