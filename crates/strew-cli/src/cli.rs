//! The command tree. `run` and `explain` are made from the table of operators: none is named here.

use crate::aggregate_flags;
use crate::families;
use crate::flags::{OUTPUT, dry_run, force, tensor_columns};
use crate::topics::{self, ARRAYS};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use strew::{Argument, Kind, OPERATORS, Operator, Strategy};

/// Ids of our own flags begin with a character that no operator's argument does.
pub(crate) const HTML: &str = "@html";
pub(crate) const STRATEGY: &str = "@strategy";
pub(crate) const JSON: &str = "@json";
pub(crate) const THREADS: &str = "@threads";
pub(crate) const MEMORY: &str = "@memory-limit";
pub(crate) const NAME: &str = "@name";
pub(crate) const SCRATCH: &str = "@scratch";
pub(crate) const SHELL: &str = "@shell";
pub(crate) const FOLDER: &str = "@folder";
pub(crate) const NO_MEASURE: &str = "@no-measure";

const VALUES: &str = "\
Values:
  INTEGERS  2,2, or an array of one dimension
  BOOL      true or false
  WORD      a word that the operator knows";

/// The whole command line.
pub(crate) fn command() -> Command {
    Command::new("strew")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Scatter operators of many frameworks, exact and deterministic, on files")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .after_help(topics::list())
        .args(global())
        .subcommand(per_operator("run", "Run an operator", true))
        .subcommand(per_operator(
            "explain",
            "Show how an operator would run, without running it",
            false,
        ))
        .subcommands([of_ops(), of_help()])
        .subcommands(aggregate_flags::commands())
        .subcommand(
            Command::new("demo").about(
                "Do a real job on a data set that comes with the program, and check the result",
            ),
        )
        .subcommands([of_man(), of_completions()])
}

/// `strew ops`.
fn of_ops() -> Command {
    let words = "An operator, as in torch.scatter_reduce, a framework, as in torch, or words that are \
                 searched in all names and summaries";
    Command::new("ops")
        .about("List the operators, search them, or describe one of them")
        .after_help(
            "Examples:\n  strew ops torch.scatter_reduce\n  strew ops torch\n  \
             strew ops mean rows",
        )
        .arg(Arg::new(NAME).value_name("WORD").help(words).num_args(1..))
}

/// `strew help`.
fn of_help() -> Command {
    Command::new("help")
        .about("Explain a topic, a command or an operator")
        .after_help(topics::list())
        .arg(
            Arg::new(NAME)
                .value_name("TOPIC")
                .help("A topic, a command, as in run, or an operator, as in torch.scatter_reduce"),
        )
}

/// `strew man`.
fn of_man() -> Command {
    Command::new("man")
        .about("Print the manual page of strew, or write those of all commands")
        .after_help("Example:\n  strew man /usr/local/share/man/man1")
        .arg(
            Arg::new(FOLDER)
                .value_name("FOLDER")
                .value_hint(ValueHint::DirPath)
                .value_parser(value_parser!(PathBuf))
                .help("Where the pages go: strew.1, strew-run.1, and one for each operator"),
        )
        .arg(force())
}

/// `strew completions`.
fn of_completions() -> Command {
    Command::new("completions")
        .about("Print the completion script of a shell")
        .arg(
            Arg::new(SHELL)
                .value_name("SHELL")
                .required(true)
                .value_parser(value_parser!(clap_complete::Shell)),
        )
}

fn global() -> [Arg; 3] {
    [
        Arg::new(JSON)
            .long("json")
            .global(true)
            .help_heading("Everywhere")
            .action(ArgAction::SetTrue)
            .help("Print JSON, for programs; errors too"),
        Arg::new(THREADS)
            .long("threads")
            .value_name("N")
            .global(true)
            .help_heading("Everywhere")
            .value_parser(value_parser!(NonZeroUsize))
            .help("How many threads a run may use [default: STREW_NUM_THREADS, else OMP_NUM_THREADS, else all cores]"),
        Arg::new(MEMORY)
            .long("memory-limit")
            .value_name("BYTES")
            .global(true)
            .help_heading("Everywhere")
            .value_parser(bytes)
            .help(
                "How much a single result or table may take, as in 500M or 2G [default: \
                 STREW_MEMORY_LIMIT, or what is available]",
            ),
    ]
}

/// A number of bytes, for the parser.
fn bytes(text: &str) -> Result<u64, String> {
    strew::parse_bytes(text).map_err(|problem| match problem {
        strew::Problem::Value { expected, .. } => expected,
        other => other.to_string(),
    })
}

/// A command with a subcommand for each operator.
fn per_operator(name: &'static str, about: &'static str, runs: bool) -> Command {
    let operators = OPERATORS.iter().flat_map(|dialect| dialect.iter());
    Command::new(name)
        .about(about)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommand_value_name("OPERATOR")
        .override_help(screen(name, about))
        .subcommands(operators.map(|operator| of_operator(operator, runs)))
}

/// The help of `run` and `explain`: their operators on one screen.
fn screen(name: &str, about: &str) -> String {
    let output = match name {
        "run" => " [-o FILE]",
        _ => "",
    };
    format!(
        "{about}: strew {name} OPERATOR --ARGUMENT VALUE ...{output}\n\n\
         Operators by framework. {{a,b}} are two names; [_] is the same operator in place.\n\n{}\n  \
         strew ops NAME                 describes an operator; strew ops WORD searches them\n  \
         strew {name} OPERATOR --help{:width$}lists the arguments of one\n  \
         strew help arrays              says how arrays are written; strew help lists other topics\n\n\
         Everywhere: --json, --threads N, --memory-limit BYTES\n",
        families::table(),
        "",
        width = 9usize.saturating_sub(name.len()),
    )
}

fn of_operator(operator: &'static Operator, runs: bool) -> Command {
    let mut command = Command::new(operator.name)
        .about(operator.summary)
        .after_help(format!("Example:\n  {}", example(operator, runs)))
        .after_long_help(format!(
            "Example:\n  {}\n\n{VALUES}\n\n{ARRAYS}",
            example(operator, runs)
        ))
        .args(operator.arguments.iter().map(of_argument))
        .args(tensor_columns());
    if runs {
        command = command.args(outputs(operator)).arg(
            Arg::new(SCRATCH)
                .long("scratch")
                .value_name("FOLDER")
                .value_hint(ValueHint::DirPath)
                .value_parser(value_parser!(PathBuf))
                .help(
                    "Where updates are kept while a result larger than memory is made \
                     [default: the output's folder]",
                ),
        );
    } else {
        command = command.arg(
            Arg::new(NO_MEASURE)
                .long("no-measure")
                .action(ArgAction::SetTrue)
                .help("Do not measure the memory's bandwidth, and predict no time"),
        );
        command = command.args([html(), force()]);
    }
    command.arg(
        Arg::new(STRATEGY)
            .long("strategy")
            .value_name("NAME")
            .value_parser(PossibleValuesParser::new(
                Strategy::ALL.map(|strategy| strategy.name()),
            ))
            .help("Force a strategy; the result does not depend on it"),
    )
}

fn html() -> Arg {
    let help = "Write a page with the histogram of the index, a roofline, the part of each thread and the \
                time of each strategy";
    Arg::new(HTML)
        .long("html")
        .value_name("FILE")
        .value_hint(ValueHint::FilePath)
        .help(help)
}

fn of_argument(argument: &'static Argument) -> Arg {
    let mut help = argument.doc.to_owned();
    match argument.default {
        Some(default) => help.push_str(&format!(" [default: {default}]")),
        None if argument.kind == Kind::Target => {
            help.push_str("; a copy is changed, and becomes the output");
        }
        None => {}
    }
    let (value, hint) = match argument.kind {
        Kind::Tensor | Kind::Target => ("TENSOR", ValueHint::FilePath),
        Kind::Integers => ("INTEGERS", ValueHint::FilePath),
        Kind::Int => ("INTEGER", ValueHint::Other),
        Kind::Bool => ("BOOL", ValueHint::Other),
        Kind::Scalar => ("NUMBER", ValueHint::Other),
        Kind::Tensors => ("TENSORS", ValueHint::FilePath),
        _ => ("WORD", ValueHint::Other),
    };
    let arg = Arg::new(argument.name)
        .long(argument.name)
        .value_name(value)
        .value_hint(hint)
        .required(argument.default.is_none())
        // Values may begin with a minus sign: `--dim -1`, `--start -3,0`.
        .allow_hyphen_values(true)
        .help(help);
    match argument.name.replace('_', "-") {
        dashed if dashed != argument.name && !dashed.ends_with('-') => arg.alias(dashed),
        _ => arg,
    }
}

/// Where the results go: one flag for the first, one for each other.
fn outputs(operator: &'static Operator) -> Vec<Arg> {
    let several = operator.returns.len() > 1;
    let mut help =
        "Where the result goes: .npy, .npz, .safetensors, .zarr, .parquet, .arrow or .csv; - writes .npy to standard \
         output [default: it is printed]"
            .to_owned();
    if several {
        let names = operator.returns.join(", ");
        help.push_str(&format!(". A .npy file takes only the first of {names}"));
    }
    let first = Arg::new(OUTPUT)
        .short('o')
        .long("output")
        .value_name("FILE")
        .value_hint(ValueHint::FilePath)
        .help(help);
    let others = operator.returns.iter().skip(1).map(|name| {
        Arg::new(output_flag(name))
            .long(output_flag(name))
            .value_name("FILE")
            .value_hint(ValueHint::FilePath)
            .help(format!("Write {name} to a file of its own"))
    });
    let first = [first, force(), dry_run()];
    first.into_iter().chain(others).collect()
}

/// The flag for an output other than the first.
pub(crate) fn output_flag(name: &str) -> String {
    format!("output-{name}")
}

/// What was given for an operator's argument.
pub(crate) fn given<'a>(matches: &'a ArgMatches, argument: &Argument) -> Option<&'a str> {
    let value: Option<&String> = matches.get_one(argument.name);
    value.map(String::as_str)
}

/// A line that calls the operator, with values of the right kind.
pub(crate) fn example(operator: &Operator, runs: bool) -> String {
    let verb = if runs { "run" } else { "explain" };
    let mut line = format!("strew {verb} {}", operator.name);
    for argument in operator.arguments {
        // Where a source may be left out, something else must be there: the source is the common case.
        let source = argument.name == "src";
        if argument.default.is_some() && !source && !matches!(argument.kind, Kind::Text) {
            continue;
        }
        let value = match (argument.kind, argument.default) {
            (_, Some("None")) if !source => continue,
            (Kind::Tensor | Kind::Target, _) => format!("{}.npy", argument.name),
            (_, Some(default)) => default.to_owned(),
            (Kind::Integers, _) => "1,2".to_owned(),
            (Kind::Int, _) => "0".to_owned(),
            (Kind::Bool, _) => "true".to_owned(),
            (Kind::Scalar, _) => "1.5".to_owned(),
            (Kind::Tensors, _) => format!("{}.npy,None", argument.name),
            _ => argument.words.first().unwrap_or(&"WORD").to_string(),
        };
        line.push_str(&format!(" --{} {value}", argument.name));
    }
    if runs {
        line.push_str(" -o out.npy");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_operator_can_be_run_and_explained() {
        let tree = command();
        for operator in OPERATORS.iter().flat_map(|dialect| dialect.iter()) {
            for verb in ["run", "explain"] {
                let found = tree
                    .find_subcommand(verb)
                    .and_then(|c| c.find_subcommand(operator.name))
                    .unwrap_or_else(|| panic!("{verb} {}", operator.name));
                for argument in operator.arguments {
                    assert!(
                        found
                            .get_arguments()
                            .any(|a| a.get_long() == Some(argument.name)),
                        "{} --{}",
                        operator.name,
                        argument.name
                    );
                }
                // The example that is shown is one that the tree takes.
                let line = example(operator, verb == "run");
                let taken = command().try_get_matches_from(line.split(' '));
                assert!(taken.is_ok(), "{line}: {}", taken.unwrap_err());
            }
        }
    }

    #[test]
    fn numbers_of_bytes() {
        assert_eq!(bytes("1000"), Ok(1000));
        assert_eq!(bytes("2G"), Ok(2 << 30));
        assert_eq!(bytes("3kib"), Ok(3 << 10));
        for wrong in ["", "G", "-1", "1.5G", "1X", "99999999999999T"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
