//! `strew`: scatter operators of many frameworks on `.npy`, `.npz` and `.safetensors` files.
//!
//! The commands `run` and `explain`, their flags and their help are made from
//! [`strew::OPERATORS`]; a new operator in that table needs no line here. What a call does is the
//! library's business: this program only brings tensors to it and carries results away.
//!
//! The program is a library so that two faces share it: the binary `strew`, and the command in the
//! Python package. Only [`run`] is public, and what the binary does when memory runs out. Nothing
//! here is a stable interface for Rust code: use the crate [`strew`].

mod aggregate;
mod aggregate_flags;
mod aggregate_given;
#[cfg(feature = "columns")]
mod by;
mod call;
mod chunks;
mod cli;
mod demo;
mod dry_run;
mod explain;
mod failure;
mod families;
mod flags;
#[cfg(feature = "columns")]
mod frames;
mod help;
mod interrupt;
mod lacking;
mod larger_than_memory;
mod literal;
mod manual;
mod mapped;
mod ops;
mod outputs;
#[cfg(feature = "columns")]
mod plot;
mod progress;
mod read;
mod show;
mod signals;
mod suggest;
mod topics;
mod values;
mod write;

#[doc(hidden)]
pub use lacking::{before_messages, without_memory};

use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use failure::{Failure, Result};
use std::ffi::OsString;
use std::io::{BufWriter, Write};

/// The exit status of a command that did what it was asked.
const DONE: u8 = 0;
/// The exit status of a command that could not do what it was asked.
const REFUSED: u8 = 2;

/// Runs the command line, with its messages on standard error, and gives the exit status.
///
/// `words` are the program's name and its arguments. The process should end with that status: the
/// handlers of signals that were set stay.
///
/// ```
/// assert_eq!(strew_cli::run(["strew", "ops", "torch.gather"].map(Into::into)), 0);
/// assert_eq!(strew_cli::run(["strew", "no-such-command"].map(Into::into)), 2);
/// ```
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    interrupt::install();
    let matches = match cli::command().try_get_matches_from(&words) {
        Ok(matches) => matches,
        Err(error) => return refuse(&error, &words),
    };
    let json = matches.get_flag(cli::JSON);
    signals::install(json);
    lacking::say_json(json);
    match dispatch(&matches, json) {
        Ok(()) => DONE,
        Err(failure) if failure.is_closed_pipe() => DONE,
        Err(failure) => report(&failure, json),
    }
}

fn dispatch(matches: &ArgMatches, json: bool) -> Result<()> {
    strew::check_environment().map_err(|problem| Failure::new(problem.to_string()))?;
    if let Some(&threads) = matches.get_one(cli::THREADS) {
        strew::set_num_threads(Some(threads));
    }
    if let Some(&bytes) = matches.get_one::<u64>(cli::MEMORY) {
        strew::set_memory_limit(Some(bytes));
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    match matches.subcommand() {
        Some(("run", matches)) => call::run(matches, json, &mut out)?,
        Some(("explain", matches)) => explain::explain(matches, json, &mut out)?,
        Some(("ops", matches)) => {
            let words = matches.get_many::<String>(cli::NAME).unwrap_or_default();
            let words: Vec<String> = words.cloned().collect();
            ops::ops(&words, json, &mut out)?;
        }
        Some(("aggregate", matches)) => aggregate::aggregate(matches, json, &mut out)
            .map_err(|failure| failure.for_operator("aggregate"))?,
        Some(("merge", matches)) => aggregate::merge(matches, json, &mut out)
            .map_err(|failure| failure.for_operator("merge"))?,
        Some(("help", matches)) => {
            let word = matches.get_one::<String>(cli::NAME);
            help::help(word.map(String::as_str), &mut out)?;
        }
        Some(("man", matches)) => manual::pages(matches, &mut out)?,
        Some(("demo", _)) => demo::demo(json, &mut out)?,
        Some(("completions", matches)) => {
            if let Some(&shell) = matches.get_one::<clap_complete::Shell>(cli::SHELL) {
                // Made in memory: the generator panics when it cannot write.
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut cli::command(), "strew", &mut script);
                out.write_all(&script)?;
            }
        }
        _ => return Err(Failure::new("a command is missing; see strew --help")),
    }
    out.flush()?;
    Ok(())
}

/// Help and version are answers; everything else that the parser says is an error of one line.
fn refuse(error: &clap::Error, words: &[OsString]) -> u8 {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        // The reader may have closed the pipe, which is no error.
        let _ = error.print();
        return DONE;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return REFUSED;
    }
    let json = words.iter().any(|word| word == "--json");
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
    {
        return report(&unknown(word, words), json);
    }
    if let Some(failure) = unknown_flag(error, words) {
        return report(&failure, json);
    }
    let text = error.to_string();
    let mut said = String::new();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    for line in lines.take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more")) {
        match said.chars().last() {
            None => {}
            Some(':') => said.push(' '),
            Some(_) => said.push_str("; "),
        }
        said.push_str(line);
    }
    let line = said.strip_prefix("error: ").unwrap_or(&said);
    report(&misused(line, words), json)
}

/// A line about the arguments, of the operator that they are of.
fn misused(line: &str, words: &[OsString]) -> Failure {
    let failure = Failure::new(format!("{line} (--help tells more)"));
    let mut arguments = words.iter().skip(1);
    match arguments.find_map(|word| strew::find(word.to_str()?)) {
        Some(operator) => failure.for_operator(operator.name),
        None => failure,
    }
}

/// What is said of a flag that the command does not have; `None` of another error.
///
/// The parser's own suggestion knows no names of other programs, and finds --idx and --index too
/// different.
fn unknown_flag(error: &clap::Error, words: &[OsString]) -> Option<Failure> {
    let flag = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) => flag,
        _ => return None,
    };
    let word = flag.strip_prefix("--")?;
    let tree = cli::command();
    let mut command = &tree;
    for word in words.iter().skip(1) {
        let inner = word.to_str().and_then(|name| command.find_subcommand(name));
        command = inner.unwrap_or(command);
    }
    let flags = command.get_arguments().filter_map(clap::Arg::get_long);
    let meant = suggest::flag(word, &flags.collect::<Vec<_>>())?;
    let line = format!("unexpected argument '{flag}': did you mean --{meant}?");
    Some(misused(&line, words))
}

/// What is said of a word that is no command, or no operator behind `run` or `explain`.
fn unknown(word: &str, words: &[OsString]) -> Failure {
    let words = words.iter().skip(1);
    let mut before = words.take_while(|other| **other != *word);
    if let Some(verb) = before.find(|verb| *verb == "run" || *verb == "explain") {
        if cli::command().find_subcommand(word).is_some() {
            return Failure::new(format!(
                "{} takes operators, and {word} is a command of its own: see strew {word} --help",
                verb.to_string_lossy()
            ));
        }
        let near = suggest::operators(word);
        let hint = suggest::job_or(word, &near, "strew ops lists all of them");
        return Failure::new(format!("there is no operator '{word}': {hint}"));
    }
    if let Some(operator) = strew::find(word) {
        return Failure::new(format!(
            "'{word}' is an operator: did you mean strew run {}?",
            operator.name
        ));
    }
    let tree = cli::command();
    let commands = tree.get_subcommands().map(clap::Command::get_name);
    let mut near = suggest::among(word, commands);
    if word.contains('.') || near.is_empty() {
        near = suggest::operators(word);
    }
    let hint = suggest::job_or(word, &near, "strew --help lists the commands");
    Failure::new(format!("there is no command '{word}': {hint}"))
}

fn report(failure: &Failure, json: bool) -> u8 {
    lacking::message_follows();
    // Nothing can be done about an error stream that is closed.
    let _ = writeln!(std::io::stderr(), "{}", failure.line(json));
    REFUSED
}
