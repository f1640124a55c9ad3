//! `strew`: scatter operators of many frameworks on `.npy`, `.npz` and `.safetensors` files.
//!
//! The commands `run` and `explain`, their flags and their help are made from
//! [`strew::OPERATORS`]; a new operator in that table needs no line here. What a call does is the
//! library's business: this program only brings tensors to it and carries results away.

mod aggregate;
mod aggregate_flags;
#[cfg(feature = "io")]
mod by;
mod call;
mod chunks;
mod cli;
mod demo;
mod failure;
#[cfg(feature = "io")]
mod frames;
mod interrupt;
mod larger_than_memory;
mod literal;
mod mapped;
mod ops;
mod outputs;
#[cfg(feature = "io")]
mod plot;
mod progress;
mod read;
mod show;
mod signals;
mod values;
mod write;

use clap::ArgMatches;
use clap::error::ErrorKind;
use failure::{Failure, Result};
use std::io::{BufWriter, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    interrupt::install();
    let matches = match cli::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return refuse(&error),
    };
    let json = matches.get_flag(cli::JSON);
    signals::install(json);
    match dispatch(&matches, json) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
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
        Some(("explain", matches)) => call::explain(matches, json, &mut out)?,
        Some(("ops", matches)) => {
            let name = matches.get_one::<String>(cli::NAME);
            ops::ops(name.map(String::as_str), json, &mut out)?;
        }
        Some(("aggregate", matches)) => aggregate::aggregate(matches, json, &mut out)?,
        Some(("merge", matches)) => aggregate::merge(matches, json, &mut out)?,
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
fn refuse(error: &clap::Error) -> ExitCode {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        // A closed pipe is nobody's fault.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return ExitCode::from(2);
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
    let mut failure = Failure::new(format!("{line} (--help tells more)"));
    let mut words = std::env::args_os().skip(1);
    let named = words.find_map(|word| strew::find(word.to_str()?));
    if let Some(operator) = named {
        failure = failure.for_operator(operator.name);
    }
    report(&failure, std::env::args_os().any(|word| word == "--json"))
}

fn report(failure: &Failure, json: bool) -> ExitCode {
    // Nothing can be done about an error stream that is closed.
    let _ = writeln!(std::io::stderr(), "{}", failure.line(json));
    ExitCode::from(2)
}
