//! The flags of `strew aggregate` and `strew merge`.

use crate::flags;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, ValueHint, value_parser};
use std::path::PathBuf;

pub(crate) const NAME: &str = "aggregate";

pub(crate) const SRC: &str = "src";
pub(crate) const INDEX: &str = "index";
pub(crate) const REDUCE: &str = "reduce";
pub(crate) const DIM: &str = "dim";
pub(crate) const SIZE: &str = "size";
pub(crate) const MODE: &str = "mode";
pub(crate) const IGNORED: &str = "ignore-index";
pub(crate) const SKIP: &str = "skipna";
pub(crate) const LEAST: &str = "min-count";
pub(crate) const FILL: &str = "fill-value";
pub(crate) const DDOF: &str = "ddof";
pub(crate) const EXACT: &str = "exact";
pub(crate) const FRACTIONS: &str = "q";
pub(crate) const BEST: &str = "k";
pub(crate) const SMALLEST: &str = "smallest";
pub(crate) const NTH: &str = "n";
pub(crate) const PERIODS: &str = "periods";
pub(crate) const METHOD: &str = "method";
pub(crate) const PARTIAL: &str = "partial";
pub(crate) const START: &str = "start";
#[cfg(feature = "columns")]
pub(crate) const BY: &str = "by";
#[cfg(feature = "columns")]
pub(crate) const VALUE: &str = "value";
#[cfg(feature = "columns")]
pub(crate) const PLOT: &str = "plot";
#[cfg(feature = "columns")]
pub(crate) const FILE: &str = "file";
#[cfg(feature = "columns")]
pub(crate) const FORMAT: &str = "format";
pub(crate) const STATES: &str = "states";

/// The two commands.
pub(crate) fn commands() -> [Command; 2] {
    [
        Command::new(NAME)
            .about("Reduce the values of each group, in one way or in several at once")
            .long_about(
                "Reduce the values of each group, in one way or in several at once.\n\nValues that are more \
                 than --memory-limit are read in chunks, unless a reduction needs all values of a group \
                 together. Chunks give the bits of one call.\n\nWith --by, the rows of FILE with equal keys are a \
                 group, and the result is a table with a row for each group, in the order of the keys. Keys are \
                 integers, strings, dates or truth values.\n\nFILE is a Parquet, Arrow or CSV file. Several \
                 files, 'part-*.parquet' and the files of a folder are one table; folders such as year=2013 are \
                 columns. A CSV file may be compressed (.csv.gz, .csv.zst). - is standard input. The type of a \
                 CSV column is what all of its values are: --dry-run shows the types, and --types changes them.",
            )
            .after_help(
                "Examples:\n  strew aggregate --by month,carrier --value arr_delay flights.parquet --reduce mean,std,max,count\n  \
                 strew aggregate --by zip --value v --types zip=text --missing NA,- --nulls skip 'part-*.csv.gz'\n  \
                 strew aggregate --by carrier flights.parquet --reduce len\n  \
                 strew aggregate --src v.npy --index i.npy --reduce mean,std -o out.npz\n  \
                 strew aggregate --src v.npy --index i.npy --reduce sum --exact --size 1000 --partial 1.strew\n  \
                 strew aggregate --src 'v-*.npy' --index 'i-*.npy' --reduce mean --memory-limit 500M -o out.npy",
            )
            .args(of_aggregate())
            .args(of_keys())
            .args(flags::columns(
                &["drop", "skip", "zero"],
                "Missing values of columns: drop leaves their rows out, skip only the values (with --by), zero \
                 reads them as 0 [default: they are an error]",
            ))
            .args(results()),
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
            .args(results()),
    ]
}

/// Where the results go, or the state.
fn results() -> [Arg; 4] {
    [output(), partial(), flags::force(), flags::dry_run()]
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
        array(value(SRC, "TENSOR", "The values; len and cumcount need none. 'part-*.npy' are all files of such a name as one, in natural order")),
        array(value(INDEX, "TENSOR", "The group of each value along dim: integers, 1-d; several files too")),
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
        value(METHOD, "WORD", "The rank of equal values (average by default), or the quantile between two values (linear by default)")
            .value_parser(PossibleValuesParser::new([
                "average", "min", "max", "dense", "ordinal", "linear", "lower", "higher", "nearest", "midpoint",
            ])),
        value(START, "INTEGER", "With --partial: the position of the first value among those of all parts, for first, last, argmin and argmax")
            .requires(PARTIAL)
            .value_parser(value_parser!(usize)),
    ]
}

/// A tensor. The command itself says which are missing: the parser does not know which need values.
fn array(arg: Arg) -> Arg {
    arg.value_hint(ValueHint::FilePath)
}

/// Groups by keys.
#[cfg(feature = "columns")]
fn of_keys() -> Vec<Arg> {
    vec![
        Arg::new(BY)
            .long(BY)
            .value_name("COLUMNS")
            .action(ArgAction::Append)
            .conflicts_with_all([SRC, INDEX, DIM, SIZE, MODE, IGNORED, PARTIAL])
            .help("Group by these columns of FILE, with commas between them or --by for each; without FILE by these arrays, as in keys.npy: integers, strings, dates"),
        Arg::new(VALUE)
            .long(VALUE)
            .value_name("COLUMNS")
            .action(ArgAction::Append)
            .help(
                "With --by: the columns of the values; of several, results are named column_reduce. len needs none",
            ),
        Arg::new(FORMAT)
            .long(FORMAT)
            .value_name("WORD")
            .requires(BY)
            .value_parser(PossibleValuesParser::new(["csv", "tsv", "parquet", "arrow"]))
            .help("With --by: the format of each FILE, whatever it is called [default: by its name; of standard input csv]"),
        Arg::new(PLOT)
            .long(PLOT)
            .value_name("FILE")
            .value_hint(ValueHint::FilePath)
            .requires(BY)
            .help("With --by: draw the first result into this .svg file: a bar for each group, or a histogram of many"),
        Arg::new(FILE)
            .value_name("FILE")
            .value_hint(ValueHint::FilePath)
            .num_args(0..)
            .help("With --by: .parquet, .pq, .arrow, .arrows, .feather, .csv, .tsv (the last two also with .gz or .zst), a folder of these, 'part-*.csv', or - for standard input"),
    ]
}

#[cfg(not(feature = "columns"))]
fn of_keys() -> Vec<Arg> {
    Vec::new()
}

fn output() -> Arg {
    Arg::new(flags::OUTPUT)
        .short('o')
        .long("output")
        .value_name("FILE")
        .value_hint(ValueHint::FilePath)
        .help("Where the results go: .npy (one result), .npz, .safetensors, .zarr, .parquet, .arrow or .csv (with --by the last three); - writes .npy to standard output, with --by CSV [default: they are printed]")
}

fn partial() -> Arg {
    Arg::new(PARTIAL)
        .long(PARTIAL)
        .value_name("STATE")
        .value_hint(ValueHint::FilePath)
        .conflicts_with(flags::OUTPUT)
        .help("Write the state of the groups to this file, for `strew merge`, and no results")
}
