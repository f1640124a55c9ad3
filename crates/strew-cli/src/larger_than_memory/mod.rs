//! Operators whose tensors are larger than memory.
//!
//! The values are read in chunks. If the result fits into memory, each chunk's updates go straight into
//! it. If it does not, it is made block by block:
//!
//! ```text
//! for each chunk: append each update to the list of its cell's block   (lists.rs: on disk)
//! for each block: run the operator on its list, and append the block to the output
//! ```
//!
//! A list has its updates in their order, so the result has the bits of one call. A block is a call of the
//! same operator, with numbers of cells within the block as its index: whatever the operator's rules
//! are, the operator itself applies them. Calls that are not known to be of this kind (`recipe.rs`)
//! run at once, as those do that fit into memory.

mod chunk;
mod job;
mod key;
mod lists;
mod pieces;
mod plan;
mod recipe;
mod updates;

use crate::failure::Result;
use crate::outputs::{Outputs, Written};
use clap::ArgMatches;
use strew::Operator;

/// How the operator would run piece by piece, as the rest of a sentence. `None`: it would run at
/// once.
pub(crate) fn describe(
    operator: &'static Operator,
    matches: &ArgMatches,
    outputs: &Outputs,
) -> Option<String> {
    let job = plan::plan(operator, matches, outputs).ok().flatten()?;
    Some(job.describe())
}

/// Runs the operator piece by piece and writes the outputs, if its tensors are more than memory may
/// hold; `None` if it is to run at once.
pub(crate) fn run(
    operator: &'static Operator,
    matches: &ArgMatches,
    outputs: &Outputs,
) -> Result<Option<Vec<Written>>> {
    // Whatever is wrong with a call is reported by the call at once.
    match plan::plan(operator, matches, outputs) {
        Ok(Some(mut job)) => job.run(outputs).map(Some),
        Ok(None) | Err(_) => Ok(None),
    }
}
