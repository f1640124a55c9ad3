//! The fuzzer: libFuzzer, and the target that the environment names.

#![no_main]

use std::sync::OnceLock;
use strew_fuzz::Target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    static TARGET: OnceLock<&Target> = OnceLock::new();
    let target = TARGET.get_or_init(|| {
        let name = std::env::var(strew_fuzz::TARGET).unwrap_or_default();
        let known = strew_fuzz::TARGETS.map(|target| target.name).join(", ");
        strew_fuzz::find(&name)
            .unwrap_or_else(|| panic!("{} is {name:?}, and not one of {known}", strew_fuzz::TARGET))
    });
    (target.run)(bytes);
});
