//! The command line: what is written there is understood or refused. Nothing is run, and no file is opened.

use crate::cli;
use crate::made::{below, chance, pick, rest};
use crate::values::Given;
use arbitrary::{Arbitrary, Result, Unstructured};
use clap::{ArgMatches, Command};
use std::cell::RefCell;
use strew::{OPERATORS, Operator};

/// The target `arguments`.
pub(crate) fn arguments(bytes: &[u8]) {
    crate::set_up();
    // Bytes that run out make no line.
    if let Ok(line) = line(&mut Unstructured::new(bytes)) {
        parse(&line);
    }
}

/// The words of a line: as they come, one to a line, or those of a call.
fn line(from: &mut Unstructured<'_>) -> Result<Vec<String>> {
    let mut words = vec!["strew".to_owned()];
    if chance(from, 4)? {
        let text = String::from_utf8_lossy(rest(from)?).into_owned();
        words.extend(text.split('\n').map(str::to_owned));
        return Ok(words);
    }
    words.push(pick(from, &["run", "explain"])?.to_owned());
    let all: usize = OPERATORS.iter().map(|dialect| dialect.len()).sum();
    let number = usize::from(u16::arbitrary(from)?) % all;
    let mut operators = OPERATORS.iter().flat_map(|dialect| dialect.iter());
    let Some(operator) = operators.nth(number) else {
        return Ok(words);
    };
    words.push(operator.name.to_owned());
    for argument in operator.arguments {
        if argument.default.is_none() || bool::arbitrary(from)? {
            words.push(format!("--{}", argument.name));
            words.push(value(from)?);
        }
    }
    let more = [
        "--json",
        "--strategy",
        "in-order",
        "--threads",
        "--memory-limit",
        "-o",
        "--",
    ];
    for _ in 0..below(from, 3)? {
        words.push(pick(from, &more)?.to_owned());
        words.push(value(from)?);
    }
    Ok(words)
}

/// A value: text as it comes, or made of the signs that values are made of.
fn value(from: &mut Unstructured<'_>) -> Result<String> {
    let len = usize::from(u8::arbitrary(from)? % 24);
    if chance(from, 3)? {
        let text = from.bytes(len.min(from.len()))?;
        return Ok(String::from_utf8_lossy(text).into_owned());
    }
    let parts = [
        "1",
        "0",
        "-",
        ",",
        "[",
        "]",
        "[[0, 1], ",
        ".5",
        "e",
        "j",
        "+",
        "nan",
        "inf",
        " ",
        "true",
        "None",
        ":",
        ":int64",
        ":float16",
        ":complex64",
        ":bool",
        "[]",
        "sum",
        "2",
        "é",
        "18446744073709551615",
        "-9223372036854775808",
        "1e400",
        "G",
    ];
    (0..len).map(|_| pick(from, &parts)).collect()
}

thread_local! {
    /// It is large: it is made once.
    static COMMAND: RefCell<Command> = RefCell::new(cli::command());
}

fn parse(line: &[String]) {
    let matches = COMMAND.with_borrow_mut(|command| command.try_get_matches_from_mut(line));
    match matches {
        Ok(matches) => {
            let Some((_, matches)) = matches.subcommand() else {
                return;
            };
            let operator = matches.subcommand_name().and_then(strew::find);
            if let (Some(operator), Some((_, matches))) = (operator, matches.subcommand()) {
                read(operator, matches);
            }
        }
        // What it says is printed.
        Err(error) => drop(error.to_string()),
    }
}

/// Reads the values that name no file.
fn read(operator: &'static Operator, matches: &ArgMatches) {
    for argument in operator.arguments {
        let Some(text) = cli::given(matches, argument) else {
            continue;
        };
        let small = text.to_ascii_lowercase();
        if [".npy", ".npz", ".safetensors"]
            .iter()
            .any(|ending| small.contains(ending))
        {
            continue;
        }
        match Given::read(argument, text) {
            Ok(Some(mut given)) => drop(given.value().expect("what was read has a value")),
            Ok(None) => {}
            Err(failure) => drop((failure.to_string(), failure.to_json().to_string())),
        }
    }
}
