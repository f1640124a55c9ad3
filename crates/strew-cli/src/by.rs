//! `strew aggregate --by ... [--value ...] FILE`: groups by the values of columns.
//!
//! The file is read in chunks. Aggregates of which a record of each group is enough take chunk
//! after chunk; for others all values are kept.

use crate::aggregate_flags::{BY, FILE, NAME, PLOT, REDUCE, VALUE};
use crate::dry_run::Intent;
use crate::failure::{Failure, Result};
use crate::flags;
use crate::frames::{Made, Target};
use crate::outputs::Outputs;
use crate::plot;
use crate::progress;
use crate::read::{Nulls, columns_failure, open_table, table_of_arrays};
use crate::write::{Guard, Writable, write_bytes};
use clap::ArgMatches;
use std::io::Write;
use std::path::Path;
use strew::{
    Accumulator, Aggregate, AggregateOptions, Bounds, DType, DynTensor, Fractions, aggregate_dyn,
};
use strew_io::{Chunk, Frame, Groups, Rows};

/// Aggregates with a result for each value, and none for each group.
const OF_VALUES: [&str; 10] = [
    "softmax", "cumsum", "cumprod", "cummin", "cummax", "cumcount", "shift", "rank", "sort",
    "argsort",
];

/// What is asked for.
struct Call<'a> {
    keys: Vec<String>,
    values: Vec<String>,
    wanted: &'a [Aggregate],
    options: AggregateOptions,
    file: &'a str,
}

impl Call<'_> {
    fn failed(&self, error: strew_io::Error) -> Failure {
        let failure = columns_failure(error).for_operator(NAME);
        match self.file {
            "" => failure,
            file => failure.in_file(file.to_owned()),
        }
    }

    fn refused(&self, error: &strew::Error) -> Failure {
        Failure::from_operator(error, &[]).renamed(NAME)
    }

    /// The name of a result: with several value columns, that of its column comes first.
    fn name(&self, value: usize, aggregate: Aggregate) -> String {
        match &self.values[..] {
            [] | [_] => aggregate.name().to_owned(),
            several => format!("{}_{}", several[value], aggregate.name()),
        }
    }
}

/// Groups by keys.
pub(crate) fn by(
    matches: &ArgMatches,
    wanted: &[Aggregate],
    options: AggregateOptions,
    json: bool,
    out: &mut impl Write,
) -> Result<()> {
    let text = |id: &str| matches.get_one::<String>(id).map_or("", String::as_str);
    let mut each = wanted.iter().map(|one| one.name());
    if let Some(name) = each.find(|name| OF_VALUES.contains(name)) {
        let why = format!("{name} has a result for each value; --by gives one for each group");
        return Err(Failure::new(why).for_operator(NAME).for_argument(REDUCE));
    }
    let call = Call {
        keys: names(BY, text(BY))?,
        values: match matches.contains_id(VALUE) {
            true => names(VALUE, text(VALUE))?,
            false => Vec::new(),
        },
        wanted,
        options,
        file: text(FILE),
    };
    let mut asked = flags::asked(matches, json);
    asked.guard.reads("FILE", Path::new(call.file));
    let inputs = call.keys.iter().chain(&call.values);
    inputs.for_each(|text| asked.guard.reads_text(BY, text));
    let target = Target::new(asked.first, &asked.guard, json).map_err(|f| f.for_operator(NAME))?;
    let plot = matches.get_one::<String>(PLOT);
    let plot = plot.map(|name| picture(name, &asked.guard));
    let plot = plot.transpose()?;
    if matches.get_flag(flags::DRY) {
        let keys = call.keys.join(", ");
        let values = match &call.values[..] {
            [] => "rows".to_owned(),
            values => values.join(", "),
        };
        let intent = Intent {
            name: NAME,
            does: format!("groups {values} by {keys}, and makes a row of results for each group"),
            results: &[],
        };
        return intent.tell(&Outputs::default(), json, out);
    }
    let nulls = match flags::given_nulls(matches) {
        None => strew_io::Nulls::Refused,
        Some(Nulls::Drop) => strew_io::Nulls::Drop,
        Some(Nulls::Zero) => strew_io::Nulls::Zero,
    };
    let table = match call.file {
        "" => table_of_arrays(&[&call.keys[..], &call.values].concat()),
        file => open_table(file),
    };
    let table = table.map_err(|f| f.for_operator(NAME))?;
    let rows = Rows::new(&table, &call.keys, &call.values, nulls);
    let mut rows = rows.map_err(|e| call.failed(e))?;
    let (frame, groups) = made(&call, &mut rows, table.rows())?;
    let made = Made {
        operator: NAME,
        keys: &call.keys,
        frame: &frame,
        groups,
    };
    if let Some(to) = &plot {
        write_bytes(to, plot::svg(&frame, call.keys.len()).as_bytes())?;
    }
    // A picture stands in the place of the table, unless one was asked for.
    match plot.is_some() && target.is_printed() && !json {
        true => Ok(()),
        false => target.give(&made, json, out),
    }
}

/// The path of a picture that could be written.
fn picture(name: &str, guard: &Guard) -> Result<Writable> {
    match name.to_ascii_lowercase().ends_with(".svg") {
        true => Writable::new(name, guard),
        false => {
            let why = format!("'{name}' is no .svg file");
            Err(Failure::new(why).for_operator(NAME).for_argument(PLOT))
        }
    }
}

/// Names with commas between them.
fn names(argument: &str, text: &str) -> Result<Vec<String>> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    let wrong = |why: String| Err(Failure::new(why).for_operator(NAME).for_argument(argument));
    if names.iter().any(String::is_empty) {
        return wrong(format!("'{text}' lacks a name"));
    }
    match (1..names.len()).find(|&n| names[..n].contains(&names[n])) {
        Some(n) => wrong(format!("{} is there twice", names[n])),
        None => Ok(names),
    }
}

/// The keys and the results of all groups, and how many groups there are.
fn made(call: &Call<'_>, rows: &mut Rows, count: usize) -> Result<(Frame, usize)> {
    let mut groups = Groups::new(&call.keys);
    let mut kinds: Vec<(DType, Vec<usize>)> = rows.kinds().map(|(t, r)| (t, r.to_vec())).collect();
    if call.values.is_empty() {
        kinds.push((DType::U32, Vec::new()));
    }
    let streams: strew::Result<Vec<Accumulator>> = kinds
        .iter()
        .map(|(dtype, row)| {
            let bounds = Bounds::STRICT;
            Accumulator::new(None, call.wanted, *dtype, row, bounds, call.options.clone())
        })
        .collect();
    let results = match streams {
        Ok(streams) => by_chunks(call, rows, &mut groups, streams, count)?,
        Err(_) => at_once(call, rows, &mut groups, &kinds, count)?,
    };
    let (mut frame, order) = Frame::of(&groups).map_err(|e| call.failed(e))?;
    for (value, results) in results.iter().enumerate() {
        for (&aggregate, result) in call.wanted.iter().zip(results) {
            let name = call.name(value, aggregate);
            let mut push = |name: &str, result: &DynTensor| {
                let pushed = frame.push(name, result, &order);
                pushed.map_err(|e| call.failed(e))
            };
            match (aggregate, &call.options.q) {
                // The results for several fractions lie along a new first axis.
                (Aggregate::Quantile, Fractions::Several(all)) => {
                    for (q, result) in all.iter().zip(apart(result)?) {
                        push(&format!("{name}_{q}"), &result)?;
                    }
                }
                _ => push(&name, result)?,
            }
        }
    }
    Ok((frame, groups.count()))
}

/// What lies along the first axis of a result, each as a tensor of its own.
fn apart(result: &DynTensor) -> Result<Vec<DynTensor>> {
    let (count, shape) = match result.shape().split_first() {
        Some((&count, shape)) => (count, shape),
        None => (0, &[][..]),
    };
    let bytes = result.as_bytes();
    let each = bytes.len() / count.max(1);
    let part = |at: usize| {
        let made = DynTensor::zeros(result.dtype(), shape);
        let mut made = made.map_err(|p| Failure::new(p.to_string()).for_operator(NAME))?;
        made.as_bytes_mut()
            .copy_from_slice(&bytes[at * each..(at + 1) * each]);
        Ok(made)
    };
    (0..count).map(part).collect()
}

/// The results of each value column, where a record of each group is enough.
fn by_chunks(
    call: &Call<'_>,
    rows: &mut Rows,
    groups: &mut Groups,
    mut streams: Vec<Accumulator>,
    count: usize,
) -> Result<Vec<Vec<DynTensor>>> {
    let mut bar = Bar::new(rows, count);
    while let Some(chunk) = rows.next(groups).map_err(|e| call.failed(e))? {
        for (stream, values) in streams.iter_mut().zip(values_of(&chunk)) {
            let taken = stream.update_dyn(&values.view(), &chunk.groups.view(), None);
            taken.map_err(|error| call.refused(&error))?;
        }
        bar.add(&chunk.groups);
    }
    let results = streams.iter().map(Accumulator::result);
    let results = results.collect::<strew::Result<_>>();
    results.map_err(|error| call.refused(&error))
}

/// What is reduced. Where rows are counted without values, the numbers of their groups stand for
/// these.
fn values_of(chunk: &Chunk) -> &[DynTensor] {
    match &chunk.values[..] {
        [] => std::slice::from_ref(&chunk.groups),
        values => values,
    }
}

/// How much of a table has been read.
struct Bar {
    shown: progress::Bytes,
    /// Bytes of a row in memory, with the number of its group.
    each: u64,
}

impl Bar {
    /// Of a table of `count` rows.
    fn new(rows: &Rows, count: usize) -> Self {
        let values = rows
            .kinds()
            .map(|(dtype, row)| dtype.size() * row.iter().product::<usize>());
        let each = (values.sum::<usize>() + DType::U32.size()) as u64;
        let shown = progress::Bytes::new((count as u64).saturating_mul(each));
        Self { shown, each }
    }

    /// The rows of these groups have been read.
    fn add(&mut self, groups: &DynTensor) {
        let rows = groups.layout().len() as u64;
        self.shown.add(rows.saturating_mul(self.each));
    }
}

/// The same where all values of a group are needed together.
fn at_once(
    call: &Call<'_>,
    rows: &mut Rows,
    groups: &mut Groups,
    kinds: &[(DType, Vec<usize>)],
    count: usize,
) -> Result<Vec<Vec<DynTensor>>> {
    let mut chunks = Vec::new();
    let mut bar = Bar::new(rows, count);
    while let Some(chunk) = rows.next(groups).map_err(|e| call.failed(e))? {
        bar.add(&chunk.groups);
        chunks.push(chunk);
    }
    drop(bar);
    let numbers = joined(DType::U32, &[], chunks.iter().map(|chunk| &chunk.groups))?;
    let mut results = Vec::with_capacity(kinds.len());
    for (value, (dtype, row)) in kinds.iter().enumerate() {
        let values = joined(
            *dtype,
            row,
            chunks.iter().map(|chunk| &values_of(chunk)[value]),
        )?;
        let (values, numbers) = (values.view(), numbers.view());
        let size = Some(groups.count());
        let made = progress::with_bar(|| {
            let bounds = Bounds::STRICT;
            aggregate_dyn(
                &values,
                &numbers,
                0,
                call.wanted,
                size,
                bounds,
                call.options.clone(),
            )
        });
        results.push(made.map_err(|error| call.refused(&error))?);
    }
    Ok(results)
}

/// Tensors one behind the other.
fn joined<'a>(
    dtype: DType,
    row: &[usize],
    parts: impl Iterator<Item = &'a DynTensor> + Clone,
) -> Result<DynTensor> {
    let rows = parts
        .clone()
        .map(|part| part.shape().first().copied().unwrap_or(0))
        .sum();
    let shape = [&[rows][..], row].concat();
    let made = DynTensor::zeros(dtype, &shape);
    let mut made = made.map_err(|p| Failure::new(p.to_string()).for_operator(NAME))?;
    let mut rest = made.as_bytes_mut();
    for part in parts {
        let (to, after) = rest.split_at_mut(part.as_bytes().len());
        to.copy_from_slice(part.as_bytes());
        rest = after;
    }
    Ok(made)
}
