//! `strew aggregate` and `strew merge`: statistics of groups, at once or part by part.
//!
//! A part is some of the values, such as those of one file or one machine. Its state is written to
//! a file, and states are merged. docs/accumulator.md describes the bytes of a state.

use crate::cli;
use crate::failure::{Failure, Result};
use crate::outputs::{Outputs, quoted};
use crate::progress;
use crate::read::Purpose;
use crate::values::{is_file, scalar, tensor};
use crate::write::{writable, write_bytes};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use strew::{
    Accumulator, Aggregate, AggregateOptions, Bounds, DynTensor, Fractions, Problem, aggregate_dyn,
    rank_method,
};

const NAME: &str = "aggregate";

const SRC: &str = "src";
const INDEX: &str = "index";
const REDUCE: &str = "reduce";
const DIM: &str = "dim";
const SIZE: &str = "size";
const MODE: &str = "mode";
const IGNORED: &str = "ignore-index";
const SKIP: &str = "skipna";
const LEAST: &str = "min-count";
const FILL: &str = "fill-value";
const DDOF: &str = "ddof";
const EXACT: &str = "exact";
const FRACTIONS: &str = "q";
const BEST: &str = "k";
const SMALLEST: &str = "smallest";
const NTH: &str = "n";
const PERIODS: &str = "periods";
const METHOD: &str = "method";
const PARTIAL: &str = "partial";
const START: &str = "start";
const STATES: &str = "states";

/// The two commands.
pub(crate) fn commands() -> [Command; 2] {
    [
        Command::new(NAME)
            .about("Reduce the values of each group, in one way or in several at once")
            .after_help(
                "Examples:\n  strew aggregate --src v.npy --index i.npy --reduce mean,std -o out.npz\n  \
                 strew aggregate --src v.npy --index i.npy --reduce sum --exact --size 1000 --partial 1.strew",
            )
            .args(of_aggregate()),
        Command::new("merge")
            .about("Merge the states that `aggregate --partial` wrote, and give their results")
            .after_help("Example:\n  strew merge part-*.strew -o out.npz")
            .arg(
                Arg::new(STATES)
                    .value_name("STATE")
                    .value_hint(ValueHint::FilePath)
                    .required(true)
                    .num_args(1..)
                    .value_parser(value_parser!(PathBuf))
                    .help("The files, of accumulators that were made with the same arguments"),
            )
            .args([output(), partial()]),
    ]
}

fn of_aggregate() -> Vec<Arg> {
    let value = |id: &'static str, kind: &'static str, help: &'static str| {
        let arg = Arg::new(id).long(id).value_name(kind).help(help);
        arg.allow_hyphen_values(true)
    };
    let flag = |id: &'static str, help: &'static str| {
        let arg = Arg::new(id).long(id).help(help);
        arg.action(ArgAction::SetTrue)
    };
    vec![
        value(SRC, "TENSOR", "The values")
            .required(true)
            .value_hint(ValueHint::FilePath),
        value(INDEX, "TENSOR", "The group of each value along dim: integers, 1-d")
            .required(true)
            .value_hint(ValueHint::FilePath),
        value(REDUCE, "WORDS", "What is made of each group: sum, prod, sumsq, mean, var, std, sem, skew, kurt, min, max, first, last, nth, median, quantile, mode, logsumexp, len, count, nunique, any, all, anynan, allnan, argmin, argmax, topk, argtopk; of each value: softmax, cumsum, cumprod, cummin, cummax, cumcount, shift, rank, sort, argsort. Several with commas between them")
            .default_value("sum"),
        value(DIM, "INTEGER", "The axis of the values that the index lies along")
            .default_value("0")
            .value_parser(value_parser!(i64)),
        value(SIZE, "INTEGER", "The number of groups [default: one more than the largest number]")
            .value_parser(value_parser!(usize)),
        value(MODE, "WORD", "What a number outside the groups means")
            .default_value("error")
            .value_parser(PossibleValuesParser::new(["error", "wrap", "drop", "clip"])),
        value(IGNORED, "INTEGER", "Values with this number belong to no group")
            .value_parser(value_parser!(i64)),
        flag(SKIP, "Leave NaN out"),
        value(LEAST, "INTEGER", "Groups with fewer values get the fill value")
            .default_value("1")
            .value_parser(value_parser!(usize)),
        value(FILL, "NUMBER", "The result of groups without one [default: 0 for sums and counts, 1 for prod, -1 for positions, else NaN, or 0 of integers]"),
        value(DDOF, "NUMBER", "var, std and sem divide by the number of values minus this")
            .default_value("0")
            .value_parser(value_parser!(f64)),
        flag(EXACT, "sum, mean, sumsq, var, std and sem are the exact value, rounded once"),
        value(FRACTIONS, "NUMBERS", "The fraction of quantile, or several with commas between them")
            .default_value("0.5"),
        value(BEST, "INTEGER", "How many values topk and argtopk give")
            .default_value("1")
            .value_parser(value_parser!(usize)),
        flag(SMALLEST, "These are the smallest values, not the largest"),
        value(NTH, "INTEGER", "The place of nth in the group: 0 is the first value, -1 the last")
            .default_value("0")
            .value_parser(value_parser!(i64)),
        value(PERIODS, "INTEGER", "How many places of the group shift moves values on")
            .default_value("1")
            .value_parser(value_parser!(i64)),
        value(METHOD, "WORD", "The rank of equal values")
            .default_value("average")
            .value_parser(PossibleValuesParser::new([
                "average", "min", "max", "dense", "ordinal",
            ])),
        output(),
        partial(),
        value(START, "INTEGER", "With --partial: the position of the first value among those of all parts, for first, last, argmin and argmax")
            .requires(PARTIAL)
            .value_parser(value_parser!(usize)),
    ]
}

fn output() -> Arg {
    Arg::new(cli::OUTPUT)
        .short('o')
        .long("output")
        .value_name("FILE")
        .value_hint(ValueHint::FilePath)
        .help("Where the results go: .npy (one result), .npz or .safetensors; - prints them [default: -]")
}

fn partial() -> Arg {
    Arg::new(PARTIAL)
        .long(PARTIAL)
        .value_name("STATE")
        .value_hint(ValueHint::FilePath)
        .conflicts_with(cli::OUTPUT)
        .help("Write the state of the groups to this file, for `strew merge`, and no results")
}

/// `strew aggregate ...`
pub(crate) fn aggregate(matches: &ArgMatches, json: bool, out: &mut impl Write) -> Result<()> {
    let names: Vec<&str> = text(matches, REDUCE).split(',').map(str::trim).collect();
    let wanted = names
        .iter()
        .map(|name| name.parse())
        .collect::<Result<Vec<Aggregate>, _>>()
        .map_err(|error| Failure::from_operator(&error, &[]))?;
    let to = Target::new(matches, &wanted)?;
    let (bounds, options) = (bounds(matches)?, options(matches)?);
    let read = |id: &'static str| {
        let read = tensor(text(matches, id), Purpose::Read);
        read.map_err(|failure| failure.for_operator(NAME).for_argument(id))
    };
    let (src, index) = (read(SRC)?, read(INDEX)?);
    let files = [SRC, INDEX].map(|id| (id, Some(text(matches, id)).filter(|text| is_file(text))));
    let failed = |error: strew::Error| Failure::from_operator(&error, &files);
    let (src, index) = (src.view()?, index.view()?);
    let size = matches.get_one(SIZE).copied();
    let dim = matches.get_one(DIM).copied().unwrap_or(0);
    match to {
        Target::Results(outputs) => {
            let make = || aggregate_dyn(&src, &index, dim, &wanted, size, bounds, &options);
            let made = progress::with_bar(make).map_err(failed)?;
            give(&outputs, &wanted, made, json, out)
        }
        Target::State(path) => {
            if dim != 0 {
                return Err(wrong(
                    DIM,
                    "it must be 0 with --partial: a state has the groups first",
                ));
            }
            let shape = src.shape().get(1..).unwrap_or_default();
            let all = Accumulator::new(size, &wanted, src.dtype(), shape, bounds, &options);
            let mut all = all.map_err(failed)?;
            let start = matches.get_one(START).copied();
            let take = || all.update_dyn(&src, &index, start);
            progress::with_bar(take).map_err(failed)?;
            keep(&all, &path, json, out)
        }
    }
}

/// `strew merge ...`
pub(crate) fn merge(matches: &ArgMatches, json: bool, out: &mut impl Write) -> Result<()> {
    let mut paths = matches.get_many::<PathBuf>(STATES).into_iter().flatten();
    let first = paths
        .next()
        .ok_or_else(|| Failure::new("a state is missing"))?;
    let mut all = state(first)?;
    let wanted = all.aggregates().to_vec();
    let to = Target::new(matches, &wanted)?;
    for path in paths {
        let other = state(path)?;
        let merged = all.merge(&other);
        merged.map_err(|error| Failure::file(path, error))?;
    }
    match to {
        Target::Results(outputs) => {
            let made = all.result();
            let made = made.map_err(|error| Failure::from_operator(&error, &[]))?;
            give(&outputs, &wanted, made, json, out)
        }
        Target::State(path) => keep(&all, &path, json, out),
    }
}

/// Where the results go, or the state.
enum Target {
    Results(Outputs),
    State(PathBuf),
}

impl Target {
    fn new(matches: &ArgMatches, wanted: &[Aggregate]) -> Result<Self> {
        if let Some(path) = matches.get_one::<String>(PARTIAL) {
            return writable(path).map(Self::State);
        }
        let names: Vec<&'static str> = wanted.iter().map(|one| one.name()).collect();
        if let Some(n) = (0..names.len()).find(|&n| names[..n].contains(&names[n])) {
            return Err(wrong(REDUCE, &format!("{} is there twice", names[n])));
        }
        let outputs = Outputs::new(&names, matches.get_one(cli::OUTPUT), |_| None)?;
        match outputs.lacks(&names) {
            None => Ok(Self::Results(outputs)),
            Some(file) => Err(Failure::file(
                file.path(),
                format!(
                    "a .npy file takes one result, not {}: write a .npz file",
                    names.len()
                ),
            )),
        }
    }
}

/// Writes results, or prints them.
fn give(
    outputs: &Outputs,
    wanted: &[Aggregate],
    made: Vec<DynTensor>,
    json: bool,
    out: &mut impl Write,
) -> Result<()> {
    let names = wanted.iter().map(|one| one.name());
    let tensors: Vec<(&str, DynTensor)> = names.zip(made).collect();
    outputs.write(&tensors)?;
    outputs.print(NAME, &tensors, json, out)
}

/// Writes a state.
fn keep(all: &Accumulator, path: &Path, json: bool, out: &mut impl Write) -> Result<()> {
    let bytes = all.to_bytes();
    let bytes = bytes.map_err(|error| Failure::from_operator(&error, &[]))?;
    write_bytes(path, &bytes)?;
    if json {
        let file = quoted(&path.to_string_lossy());
        writeln!(
            out,
            "{{\"operator\":\"{NAME}\",\"state\":{{\"file\":{file},\"groups\":{}}}}}",
            all.rows()
        )?;
    }
    Ok(())
}

fn state(path: &Path) -> Result<Accumulator> {
    let bytes =
        fs::read(path).map_err(|e| Failure::file(path, format!("it cannot be read: {e}")))?;
    Accumulator::from_bytes(&bytes).map_err(|error| Failure::file(path, error.problem()))
}

fn bounds(matches: &ArgMatches) -> Result<Bounds> {
    let bounds: Bounds = text(matches, MODE).parse().map_err(problem)?;
    Ok(Bounds {
        ignored: matches.get_one(IGNORED).copied(),
        ..bounds
    })
}

fn options(matches: &ArgMatches) -> Result<AggregateOptions> {
    let fill = matches.get_one::<String>(FILL).map(|text| scalar(text));
    let fill_value = fill
        .transpose()
        .map_err(|f| f.for_operator(NAME).for_argument(FILL))?;
    let given = text(matches, FRACTIONS);
    let all: Result<Vec<f64>, _> = given.split(',').map(|q| q.trim().parse()).collect();
    let all = all.map_err(|_| wrong(FRACTIONS, &format!("'{given}' is no list of numbers")))?;
    let usual = AggregateOptions::default();
    let ties = rank_method(text(matches, METHOD));
    Ok(AggregateOptions {
        skip_nan: matches.get_flag(SKIP),
        min_count: matches.get_one(LEAST).copied().unwrap_or(usual.min_count),
        fill_value,
        ddof: matches.get_one(DDOF).copied().unwrap_or(usual.ddof),
        exact: matches.get_flag(EXACT),
        q: match all[..] {
            [q] => Fractions::One(q),
            _ => Fractions::Several(all),
        },
        k: matches.get_one(BEST).copied().unwrap_or(usual.k),
        largest: !matches.get_flag(SMALLEST),
        n: matches.get_one(NTH).copied().unwrap_or(usual.n),
        periods: matches.get_one(PERIODS).copied().unwrap_or(usual.periods),
        ties: ties.map_err(|error| Failure::from_operator(&error, &[]))?,
    })
}

fn text<'m>(matches: &'m ArgMatches, id: &str) -> &'m str {
    matches.get_one::<String>(id).map_or("", String::as_str)
}

fn wrong(argument: &str, why: &str) -> Failure {
    Failure::new(why).for_operator(NAME).for_argument(argument)
}

fn problem(problem: Problem) -> Failure {
    Failure::new(problem.to_string()).for_operator(NAME)
}
