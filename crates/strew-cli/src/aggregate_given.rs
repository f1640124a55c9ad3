//! What `strew aggregate` was given: a table and its keys, or arrays.
//!
//! The parser knows no rule for the two ways together. So what is missing is named here, with an
//! example, once it is known which way was meant.

use crate::aggregate_flags::{INDEX, NAME, REDUCE, SRC};
use crate::failure::{Failure, Result};
use clap::ArgMatches;
use std::path::Path;
use strew::Aggregate;

// Only builds that read tables have these; others have no such flag.
const BY: &str = "by";
const VALUE: &str = "value";
const FILE: &str = "file";

const ARRAYS: &str = "strew aggregate --src values.npy --index groups.npy --reduce mean";
const TABLE: &str = "strew aggregate --by carrier --value delay flights.csv --reduce mean";

/// Refuses a call of which a part is missing.
///
/// # Errors
/// The part, and an example with it.
pub(crate) fn check(matches: &ArgMatches, wanted: &[Aggregate]) -> Result<()> {
    let given = |id: &str| matches!(matches.try_contains_id(id), Ok(true));
    let files = matches.try_get_many::<String>(FILE).ok().flatten();
    let files: Vec<&str> = files.into_iter().flatten().map(String::as_str).collect();
    check_files(&files, wanted)?;
    if given(BY) {
        return match (given(VALUE), needs_values(wanted)) {
            (false, Some(name)) => Err(missing(VALUE, "the columns of the values", name)),
            _ => Ok(()),
        };
    }
    let arrays = (given(SRC), given(INDEX));
    match (arrays, files.first()) {
        ((false, false), Some(file)) => Err(wrong(
            BY,
            format!("it is missing: the columns of {file} that are the keys, as in {TABLE}"),
        )),
        (_, Some(file)) => Err(Failure::new(format!(
            "{file}: a table goes with --by; --src and --index name arrays"
        ))),
        _ if given(VALUE) => Err(wrong(
            BY,
            format!("it is missing: the columns that are the keys, as in {TABLE}"),
        )),
        ((false, false), None) => {
            let mut why = format!("the groups are missing, as in {ARRAYS}");
            if cfg!(feature = "columns") {
                why += &format!(", or of a table {TABLE}");
            }
            Err(Failure::new(why))
        }
        ((true, false), None) => Err(wrong(
            INDEX,
            format!("it is missing: the group of each value, as in {ARRAYS}"),
        )),
        ((false, true), None) => match needs_values(wanted) {
            Some(name) => Err(missing(SRC, "the values", name)),
            None => Ok(()),
        },
        ((true, true), None) => Ok(()),
    }
}

/// Refuses words that are no table, but names of reductions.
fn check_files(files: &[&str], wanted: &[Aggregate]) -> Result<()> {
    let is_name = |word: &&&str| word.parse::<Aggregate>().is_ok() && !Path::new(word).exists();
    let loose: Vec<&str> = files.iter().filter(is_name).copied().collect();
    if !loose.is_empty() {
        let names = wanted.iter().map(|one| one.name());
        let all: Vec<&str> = names.chain(loose.iter().copied()).collect();
        let loose = loose.join(",");
        return Err(wrong(
            REDUCE,
            format!(
                "{loose} stands alone: several reductions have commas between them, as in --reduce {}",
                all.join(",")
            ),
        ));
    }
    Ok(())
}

/// The first of these that depends on the values.
fn needs_values(wanted: &[Aggregate]) -> Option<&'static str> {
    let counts = |one: &&Aggregate| !matches!(one, Aggregate::Len | Aggregate::CumCount);
    wanted.iter().find(counts).map(|one| one.name())
}

fn missing(argument: &str, what: &str, name: &str) -> Failure {
    let why = match name {
        "count" => "count leaves out values that are NaN, and needs",
        _ => &format!("{name} needs"),
    };
    wrong(
        argument,
        format!("it is missing: {why} {what}; --reduce len counts without them"),
    )
}

fn wrong(argument: &str, why: String) -> Failure {
    Failure::new(why).for_operator(NAME).for_argument(argument)
}
