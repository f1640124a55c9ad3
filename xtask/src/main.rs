//! The chores of this repository: `cargo xtask --help`.

mod assembly;
mod bandwidth;
mod bench;
mod check;
mod conformance;
mod families;
mod fuzz;
mod gpu;
mod imports;
mod layers;
mod package;
mod places;
mod python;
mod quick;
mod readme;
mod sanitize;
mod site;
mod size;
mod stages;
mod test;
mod unsafe_blocks;
mod wheel;
mod workflows;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The chores of this repository
///
/// `cargo xtask test` and `cargo xtask check` must both pass before a change is committed.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    disable_help_subcommand = true
)]
pub(crate) struct Chores {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    Test(test::Test),
    Check(check::Check),
    Quick(quick::Quick),
    Assembly(assembly::Assembly),
    Conformance(conformance::Conformance),
    Size(size::Size),
    Bench(bench::Bench),
    Fuzz(fuzz::Fuzz),
    Gpu(gpu::Gpu),
    Sanitize(sanitize::Sanitize),
    Site(site::Site),
    Wheel(wheel::Wheel),
    Package(package::Package),
    Workflows(workflows::Workflows),
}

fn main() -> ExitCode {
    match Chores::parse().chore {
        Chore::Test(chore) => chore.run(),
        Chore::Check(chore) => chore.run(),
        Chore::Quick(chore) => chore.run(),
        Chore::Assembly(chore) => chore.run(),
        Chore::Conformance(chore) => chore.run(),
        Chore::Size(chore) => chore.run(),
        Chore::Bench(chore) => chore.run(),
        Chore::Fuzz(chore) => chore.run(),
        Chore::Gpu(chore) => chore.run(),
        Chore::Sanitize(chore) => chore.run(),
        Chore::Site(chore) => chore.run(),
        Chore::Wheel(chore) => chore.run(),
        Chore::Package(chore) => chore.run(),
        Chore::Workflows(chore) => chore.run(),
    }
}
