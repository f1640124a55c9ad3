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
pub(crate) const MISSING: &str = "@missing";
pub(crate) const TYPES: &str = "@types";

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

/// How columns of files are read, with these words for missing values.
pub(crate) fn columns(nulls: &'static [&'static str], help: &'static str) -> [Arg; 3] {
    [
        Arg::new(NULLS)
            .long("nulls")
            .value_name("WORD")
            .value_parser(PossibleValuesParser::new(nulls))
            .help(help),
        Arg::new(MISSING)
            .long("missing")
            .value_name("WORDS")
            .action(ArgAction::Append)
            .allow_hyphen_values(true)
            .help("Words of CSV files that are missing values, with commas between them, as in NA,-,? [default: only the empty field]"),
        Arg::new(TYPES)
            .long("types")
            .value_name("NAME=TYPE")
            .action(ArgAction::Append)
            .help("Types of CSV columns, as in zip=text,v=float64 [default: what all of a column's values are; text if one has a leading zero or if all are quoted]"),
    ]
}

/// How columns of tensors are read.
pub(crate) fn tensor_columns() -> [Arg; 3] {
    columns(
        &["drop", "zero"],
        "Missing values of columns: drop leaves their rows out of all columns, zero reads them as 0 \
         [default: they are an error]",
    )
}

/// What was said of columns; only tables use all of it.
#[cfg_attr(not(feature = "columns"), allow(dead_code))]
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    pub(crate) nulls: Option<Nulls>,
    pub(crate) missing: Vec<String>,
    pub(crate) types: Vec<String>,
}

impl Columns {
    pub(crate) fn given(matches: &ArgMatches) -> Self {
        let texts = |id: &str| matches.get_many::<String>(id).into_iter().flatten();
        let word = matches.get_one::<String>(NULLS).map(String::as_str);
        Self {
            nulls: word.map(|word| match word {
                "drop" => Nulls::Drop,
                "skip" => Nulls::Skip,
                _ => Nulls::Zero,
            }),
            missing: texts(MISSING)
                .flat_map(|text| text.split(','))
                .map(str::to_owned)
                .collect(),
            types: texts(TYPES).cloned().collect(),
        }
    }

    /// The flag that only text files understand, if one was given.
    #[cfg_attr(not(feature = "columns"), allow(dead_code))]
    pub(crate) fn of_text(&self) -> Option<&'static str> {
        match (&self.types[..], &self.missing[..]) {
            ([_, ..], _) => Some("types"),
            ([], [_, ..]) => Some("missing"),
            ([], []) => None,
        }
    }
}
