//! The command tree. `run` and `explain` are made from the table of operators: none is named here.

use crate::aggregate_flags;
use crate::read::Nulls;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use strew::{Argument, Kind, OPERATORS, Operator, Strategy};

/// Ids of our own flags begin with a character that no operator's argument does.
pub(crate) const OUTPUT: &str = "@output";
pub(crate) const STRATEGY: &str = "@strategy";
pub(crate) const JSON: &str = "@json";
pub(crate) const THREADS: &str = "@threads";
pub(crate) const MEMORY: &str = "@memory-limit";
pub(crate) const NAME: &str = "@name";
pub(crate) const SCRATCH: &str = "@scratch";
pub(crate) const SHELL: &str = "@shell";
pub(crate) const NULLS: &str = "@nulls";
pub(crate) const NO_MEASURE: &str = "@no-measure";

const VALUES: &str = "\
Values:
  TENSOR    x.npy               an array as NumPy saves it, C or Fortran order
            x.npy:bf16          2-byte elements without a name, read as bfloat16
            x.npz:member        a member of an archive; with :bf16 too
            x.safetensors:name  a tensor of a .safetensors file
            x.zarr              an array of a Zarr folder, version 2 or 3
            x.zarr:group/array  one within a hierarchy
            x.parquet:column    a column of a Parquet file (.parquet, .pq)
            x.arrow:column      a column of an Arrow file or stream (.arrow, .arrows, .feather)
            [[0, 1], [1, 0]]    a literal: integers are int64, decimals float64
            [1.5, nan]:float32  a literal of another type
            'part-*.npy'        several files as one, in natural order along the first axis
  INTEGERS  2,2                 a list, or a TENSOR of one dimension
  BOOL      true or false

Input files are mapped into memory where that is possible, and never written to. An operator that
works in place changes a copy, which is then written to the output. Reductions whose tensors are more
than --memory-limit are done piece by piece. Do not shrink a file while it is read. An output appears under its name when it is whole, or not at all.";

/// The whole command line.
pub(crate) fn command() -> Command {
    Command::new("strew")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Scatter operators of many frameworks, exact and deterministic, on files")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .args(global())
        .subcommand(per_operator("run", "Run an operator", true))
        .subcommand(per_operator(
            "explain",
            "Show how an operator would run, without running it",
            false,
        ))
        .subcommand(
            Command::new("ops")
                .about("List the operators, or describe one of them")
                .arg(
                    Arg::new(NAME)
                        .value_name("NAME")
                        .help(
                            "An operator, as in torch.scatter_reduce, or a framework, as in torch",
                        )
                        .num_args(1),
                ),
        )
        .subcommands(aggregate_flags::commands())
        .subcommand(
            Command::new("demo").about(
                "Do a real job on a data set that comes with the program, and check the result",
            ),
        )
        .subcommand(
            Command::new("completions")
                .about("Print the completion script of a shell")
                .arg(
                    Arg::new(SHELL)
                        .value_name("SHELL")
                        .required(true)
                        .value_parser(value_parser!(clap_complete::Shell)),
                ),
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
        .subcommand_help_heading("Operators")
        .subcommands(operators.map(|operator| of_operator(operator, runs)))
}

fn of_operator(operator: &'static Operator, runs: bool) -> Command {
    let mut command = Command::new(operator.name)
        .about(operator.summary)
        .after_help(format!("Example:\n  {}", example(operator, runs)))
        .after_long_help(format!(
            "Example:\n  {}\n\n{VALUES}",
            example(operator, runs)
        ))
        .args(operator.arguments.iter().map(of_argument))
        .arg(nulls());
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
        "Where the result goes: .npy, .npz, .safetensors, .zarr, .parquet or .csv; - prints it"
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
        .default_value("-")
        .help(help);
    let others = operator.returns.iter().skip(1).map(|name| {
        Arg::new(output_flag(name))
            .long(output_flag(name))
            .value_name("FILE")
            .value_hint(ValueHint::FilePath)
            .help(format!("Write {name} to a file of its own"))
    });
    [first].into_iter().chain(others).collect()
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
