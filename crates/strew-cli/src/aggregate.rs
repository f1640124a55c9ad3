//! `strew aggregate` and `strew merge`: statistics of groups, at once or part by part.
//!
//! A part is some of the values, such as those of one file or one machine. Its state is written to
//! a file, and states are merged. docs/accumulator.md describes the bytes of a state.

use crate::aggregate_flags::{
    BEST, DDOF, DIM, EXACT, FILL, FRACTIONS, IGNORED, INDEX, LEAST, METHOD, MODE, NAME, NTH,
    PARTIAL, PERIODS, REDUCE, SIZE, SKIP, SMALLEST, SRC, START, STATES,
};
use crate::aggregate_given;
use crate::chunks::{self, Call};
use crate::dry_run::Intent;
use crate::failure::{Failure, Result};
use crate::flags;
use crate::outputs::{Asked, Outputs, quoted};
use crate::progress;
use crate::read::{Loaded, Purpose, Series, treat};
use crate::values::{is_file, scalar, tensor};
use crate::write::{Writable, write_bytes};
use clap::ArgMatches;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use strew::{
    Accumulator, Aggregate, AggregateOptions, Bounds, DynTensor, DynView, Fractions, Problem,
    aggregate_dyn,
};

/// `strew aggregate ...`
pub(crate) fn aggregate(matches: &ArgMatches, json: bool, out: &mut impl Write) -> Result<()> {
    let wanted = wanted(matches)?;
    aggregate_given::check(matches, &wanted)?;
    #[cfg(feature = "columns")]
    if matches.contains_id(crate::aggregate_flags::BY) {
        return crate::by::by(matches, &wanted, options(matches, &wanted)?, json, out);
    }
    let mut asked = flags::asked(matches, json);
    // What is counted without values are the numbers of the groups.
    let of_values = match matches.contains_id(SRC) {
        true => SRC,
        false => INDEX,
    };
    for id in [of_values, INDEX] {
        asked.guard.reads_text(id, text(matches, id));
    }
    let to = Target::new(matches, &wanted, &asked)?;
    let call = Call {
        wanted: &wanted,
        size: matches.get_one(SIZE).copied(),
        dim: matches.get_one(DIM).copied().unwrap_or(0),
        bounds: bounds(matches)?,
        options: options(matches, &wanted)?,
        start: matches.get_one(START).copied(),
        files: [SRC, INDEX].map(|id| (id, Some(text(matches, id)).filter(|text| is_file(text)))),
    };
    let tensors = [of_values, INDEX].map(|id| (id, text(matches, id)));
    treat(&flags::Columns::given(matches), &tensors).map_err(|f| f.for_operator(NAME))?;
    let opened = match of_values {
        SRC => Some(open(matches, SRC)?),
        _ => None,
    };
    let index = open(matches, INDEX)?;
    let src = opened.as_ref().unwrap_or(&index);
    if matches.get_flag(flags::DRY) {
        let (values, dtype) = (src.shape(), src.dtype());
        let how = match by_chunks(src, &index, &call) {
            Some(_) => "chunk by chunk",
            None => "at once",
        };
        let does = format!("reduces values of dtype {dtype} and shape {values:?}, {how}");
        return to.tell(NAME, &wanted, does, json, out);
    }
    match to {
        Target::Results(outputs) => {
            let made = match by_chunks(src, &index, &call) {
                Some(mut all) => {
                    chunks::update(&mut all, src, &index, &call)?;
                    all.result().map_err(|error| call.failed(error))?
                }
                None => at_once(matches, opened.as_ref(), &index, &call)?,
            };
            give(&outputs, &wanted, made, json, out)
        }
        Target::State(path) => keep(&state_of(src, &index, &call)?, &path, json, out),
    }
}

/// What is to be made of each group.
fn wanted(matches: &ArgMatches) -> Result<Vec<Aggregate>> {
    let names = text(matches, REDUCE).split(',').map(str::trim);
    let wanted = names
        .map(str::parse::<Aggregate>)
        .collect::<Result<Vec<_>, _>>();
    wanted.map_err(|error| Failure::from_operator(&error, &[]).renamed(NAME))
}

/// The state of the groups after these values.
fn state_of(src: &Series, index: &Series, call: &Call<'_>) -> Result<Accumulator> {
    if call.dim != 0 {
        return Err(wrong(
            DIM,
            "it must be 0 with --partial: a state has the groups first",
        ));
    }
    let mut all = chunks::accumulator(src, call)?;
    chunks::update(&mut all, src, index, call)?;
    Ok(all)
}

/// The values, or their groups.
fn open(matches: &ArgMatches, id: &'static str) -> Result<Series> {
    Series::open(text(matches, id)).map_err(|failure| {
        let failure = failure.for_operator(NAME).for_argument(id);
        match failure.message().contains("which no tensor has") && id == INDEX {
            true => {
                let why = format!("{}; --by takes keys of such a type", failure.message());
                failure.saying(why)
            }
            false => failure,
        }
    })
}

/// An accumulator that takes the values chunk by chunk, if they should be taken so: because they
/// are more than memory may hold, and nothing needs all values of a group at once.
fn by_chunks(src: &Series, index: &Series, call: &Call<'_>) -> Option<Accumulator> {
    let bytes = src.bytes().saturating_add(index.bytes());
    let fits = strew::memory_limit().is_none_or(|limit| bytes <= limit);
    match call.dim == 0 && !fits {
        true => chunks::accumulator(src, call).ok(),
        false => None,
    }
}

/// The results of one call on all values; without `src` on the numbers of the groups.
fn at_once(
    matches: &ArgMatches,
    src: Option<&Series>,
    index: &Series,
    call: &Call<'_>,
) -> Result<Vec<DynTensor>> {
    // Standard input is read once: what it gave is in memory already.
    let read = |id: &'static str, series: &Series| {
        let read = match (series.in_memory(), series.is_several()) {
            (Some(_), _) => Ok(None),
            (None, true) => series.whole().map(Loaded::owned).map(Some),
            (None, false) => tensor(text(matches, id), Purpose::Read).map(Some),
        };
        read.map_err(|failure| failure.for_operator(NAME).for_argument(id))
    };
    let own_src = src.map(|src| read(SRC, src)).transpose()?;
    let own_index = read(INDEX, index)?;
    let index = view(own_index.as_ref(), index)?;
    let src = match (&own_src, src) {
        (Some(own), Some(src)) => view(own.as_ref(), src)?,
        _ => index.clone(),
    };
    let Call {
        wanted,
        size,
        dim,
        bounds,
        options,
        ..
    } = call;
    let options = options.clone();
    let make = || aggregate_dyn(&src, &index, *dim, wanted, *size, *bounds, options);
    progress::with_bar(make).map_err(|error| call.failed(error))
}

/// All values, as they were read or as the series has them.
fn view<'a>(read: Option<&'a Loaded>, series: &'a Series) -> Result<DynView<'a>> {
    let there = read.or(series.in_memory());
    there.ok_or_else(|| Failure::new("it was not read"))?.view()
}

/// `strew merge ...`
pub(crate) fn merge(matches: &ArgMatches, json: bool, out: &mut impl Write) -> Result<()> {
    let mut paths = matches.get_many::<PathBuf>(STATES).into_iter().flatten();
    let first = paths
        .next()
        .ok_or_else(|| Failure::new("a state is missing"))?;
    let mut all = state(first)?;
    let wanted = all.aggregates().to_vec();
    let mut asked = flags::asked(matches, json);
    for path in matches.get_many::<PathBuf>(STATES).into_iter().flatten() {
        asked.guard.reads("STATE", path);
    }
    let to = Target::new(matches, &wanted, &asked)?;
    if matches.get_flag(flags::DRY) {
        let groups = all.rows();
        return to.tell(
            "merge",
            &wanted,
            format!("joins states of {groups} groups"),
            json,
            out,
        );
    }
    let bytes = |path: &PathBuf| fs::metadata(path).map_or(0, |found| found.len());
    let mut bar = progress::Bytes::new(paths.clone().map(bytes).sum());
    for path in paths {
        let other = state(path)?;
        let merged = all.merge(&other);
        merged.map_err(|error| Failure::file(path, error))?;
        bar.add(bytes(path));
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
    State(Writable),
}

impl Target {
    /// What the command would do, for `--dry-run`.
    fn tell(
        &self,
        name: &str,
        wanted: &[Aggregate],
        does: String,
        json: bool,
        out: &mut impl Write,
    ) -> Result<()> {
        let names: Vec<&str> = match self {
            Self::Results(_) => wanted.iter().map(|one| one.name()).collect(),
            Self::State(_) => Vec::new(),
        };
        let does = match self {
            Self::Results(_) => does,
            Self::State(to) => format!("{does}, and writes the state to {}", to.path().display()),
        };
        let intent = Intent {
            name,
            does,
            results: &names,
            types: &[],
        };
        match self {
            Self::Results(outputs) => intent.tell(outputs, json, out),
            Self::State(_) => intent.tell(&Outputs::default(), json, out),
        }
    }

    fn new(matches: &ArgMatches, wanted: &[Aggregate], asked: &Asked<'_>) -> Result<Self> {
        if let Some(path) = matches.get_one::<String>(PARTIAL) {
            return Writable::new(path, &asked.guard).map(Self::State);
        }
        let names: Vec<&'static str> = wanted.iter().map(|one| one.name()).collect();
        if let Some(n) = (0..names.len()).find(|&n| names[..n].contains(&names[n])) {
            return Err(wrong(REDUCE, &format!("{} is there twice", names[n])));
        }
        let outputs = Outputs::new(&names, asked, |_| None)?;
        outputs.take_all(&names)?;
        Ok(Self::Results(outputs))
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
fn keep(all: &Accumulator, to: &Writable, json: bool, out: &mut impl Write) -> Result<()> {
    let bytes = all.to_bytes();
    let bytes = bytes.map_err(|error| Failure::from_operator(&error, &[]))?;
    write_bytes(to, &bytes)?;
    if json {
        let file = quoted(&to.path().to_string_lossy());
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
    Accumulator::from_bytes(&bytes).map_err(|error| {
        let why = error.problem();
        let hint = "the states that merge takes are written by strew aggregate --partial";
        Failure::file(path, format!("{why}; {hint}"))
    })
}

fn bounds(matches: &ArgMatches) -> Result<Bounds> {
    let bounds = Bounds::named(text(matches, MODE)).map_err(problem)?;
    Ok(Bounds {
        ignored: matches.get_one::<i64>(IGNORED).map(|&number| number.into()),
        ..bounds
    })
}

fn options(matches: &ArgMatches, wanted: &[Aggregate]) -> Result<AggregateOptions> {
    let fill = matches.get_one::<String>(FILL).map(|text| scalar(text));
    let fill_value = fill
        .transpose()
        .map_err(|f| f.for_operator(NAME).for_argument(FILL))?;
    let given = text(matches, FRACTIONS);
    let all: Result<Vec<f64>, _> = given.split(',').map(|q| q.trim().parse()).collect();
    let all = all.map_err(|_| wrong(FRACTIONS, &format!("'{given}' is no list of numbers")))?;
    let usual = AggregateOptions::default();
    let options = AggregateOptions {
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
        ..usual
    };
    match matches.get_one::<String>(METHOD) {
        Some(method) => options
            .with_method(method, wanted)
            .map_err(|error| Failure::from_operator(&error, &[])),
        None => Ok(options),
    }
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
