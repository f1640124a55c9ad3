//! Flags that several commands share.

use crate::outputs::Asked;
use crate::read::Nulls;
use crate::write::Guard;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches};
use std::io::IsTerminal;

// Ids of our own flags begin with a character that no operator's argument does.
pub(crate) const OUTPUT: &str = "@output";
pub(crate) const FORCE: &str = "@force";
pub(crate) const DRY: &str = "@dry-run";
pub(crate) const NULLS: &str = "@nulls";

/// The flag that stops a command before it does anything.
pub(crate) fn dry_run() -> Arg {
    Arg::new(DRY)
        .long("dry-run")
        .action(ArgAction::SetTrue)
        .help("Check the arguments and say what would be done, without doing it")
}

/// The flag that lets an output replace a file.
pub(crate) fn force() -> Arg {
    Arg::new(FORCE)
        .long("force")
        .action(ArgAction::SetTrue)
        .help("Replace an output file that exists; never one that is also an input")
}

/// Where results go, as the flags say, before the files are known that the command reads.
pub(crate) fn asked(matches: &ArgMatches, json: bool) -> Asked<'_> {
    Asked {
        first: matches.get_one::<String>(OUTPUT),
        guard: Guard::new(matches.get_flag(FORCE)),
        json,
        terminal: std::io::stdout().is_terminal(),
    }
}

/// What is done with missing values of columns.
pub(crate) fn nulls() -> Arg {
    Arg::new(NULLS)
        .long("nulls")
        .value_name("WORD")
        .value_parser(PossibleValuesParser::new(["drop", "zero"]))
        .help(
            "Missing values of Parquet and Arrow columns: drop leaves their rows out of all columns, \
             zero reads them as 0 [default: they are an error]",
        )
}

/// What was said of missing values.
pub(crate) fn given_nulls(matches: &ArgMatches) -> Option<Nulls> {
    let word = matches.get_one::<String>(NULLS)?;
    match word.as_str() {
        "drop" => Some(Nulls::Drop),
        _ => Some(Nulls::Zero),
    }
}
