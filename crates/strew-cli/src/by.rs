//! `strew aggregate --by ... [--value ...] FILE...`: groups by the values of columns.
//!
//! The files are read in chunks. Aggregates of which a record of each group is enough take chunk
//! after chunk; for others all values are kept.

use crate::aggregate_flags::{BY, FILE, FORMAT, NAME, PLOT, REDUCE, VALUE};
use crate::dry_run::Intent;
use crate::failure::{Failure, Result};
use crate::flags;
use crate::frames::{Made, Target};
use crate::outputs::Outputs;
use crate::plot;
use crate::progress;
use crate::read::{Format, Nulls, Tables, columns_failure, names_of, table_of_arrays};
use crate::write::{Guard, Writable, write_bytes};
use clap::ArgMatches;
use std::io::Write;
use std::path::Path;
use strew::{
    Accumulator, Aggregate, AggregateOptions, Bounds, DType, DynTensor, Fractions, aggregate_dyn,
};
use strew_io::{Chunk, DataSet, Frame, Groups, NO_GROUP, Part, Rows};

/// What is asked for.
struct Call<'a> {
    keys: Vec<String>,
    values: Vec<String>,
    wanted: &'a [Aggregate],
    options: AggregateOptions,
    /// Whether missing values are left out of their own columns only.
    skips: bool,
}

impl Call<'_> {
    fn failed(&self, error: strew_io::Error) -> Failure {
        columns_failure(error).for_operator(NAME)
    }

    /// Takes the values of one column; `size` is the number of groups, if it is known.
    fn accumulator(
        &self,
        size: Option<usize>,
        dtype: DType,
        row: &[usize],
    ) -> strew::Result<Accumulator> {
        Accumulator::new(
            size,
            self.wanted,
            dtype,
            row,
            self.bounds(),
            self.options.clone(),
        )
    }

    /// What the number of a group may be.
    fn bounds(&self) -> Bounds {
        Bounds {
            ignored: self.skips.then_some(i128::from(NO_GROUP)),
            ..Bounds::STRICT
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
    if let Some(each) = wanted.iter().find(|one| one.is_per_value()) {
        let name = each.name();
        let why = format!("{name} has a result for each value; --by gives one for each group");
        return Err(Failure::new(why).for_operator(NAME).for_argument(REDUCE));
    }
    let texts = |id: &str| -> Vec<&str> {
        let given = matches.get_many::<String>(id).into_iter().flatten();
        given.map(String::as_str).collect()
    };
    let format = matches.get_one::<String>(FORMAT);
    let format = format.and_then(|word| Format::of(&format!(".{word}")));
    let (files, keys, values) = (texts(FILE), texts(BY), texts(VALUE));
    let given = flags::Columns::given(matches);
    let tables = match files.is_empty() {
        true => None,
        false => Some(Tables::named(&files, format)?),
    };
    let mut asked = flags::asked(matches, json);
    for path in tables.iter().flat_map(Tables::paths) {
        asked.guard.reads("FILE", path);
    }
    if tables.is_none() {
        let inputs = keys.iter().chain(&values);
        inputs.for_each(|text| asked.guard.reads_text(BY, text));
    }
    let target = Target::new(asked.first, &asked.guard, json).map_err(|f| f.for_operator(NAME))?;
    let plot = matches.get_one::<String>(PLOT);
    let plot = plot.map(|name| picture(name, &asked.guard));
    let plot = plot.transpose()?;
    let (mut data, known) = match &tables {
        Some(tables) => {
            let mut data = tables.open(&given)?;
            let known = names_of(&mut data)?;
            (Some(data), known)
        }
        None => (None, files_among(keys.iter().chain(&values))),
    };
    let call = Call {
        keys: names(BY, &keys, &known)?,
        values: names(VALUE, &values, &known)?,
        wanted,
        options,
        skips: given.nulls == Some(Nulls::Skip),
    };
    let data = match data.take() {
        Some(data) => data,
        None => arrays(&call, &given)?,
    };
    let nulls = match given.nulls {
        None => strew_io::Nulls::Refused,
        Some(Nulls::Drop) => strew_io::Nulls::Drop,
        Some(Nulls::Skip) => strew_io::Nulls::Skip,
        Some(Nulls::Zero) => strew_io::Nulls::Zero,
    };
    let rows = Rows::new(data, &call.keys, &call.values, nulls);
    let mut rows = rows.map_err(|e| call.failed(e))?;
    let types = rows.types().map(|(name, of)| (name.to_owned(), of));
    let types: Vec<(String, String)> = types.collect();
    if matches.get_flag(flags::DRY) {
        let does = does(
            &call,
            rows.count(),
            tables.as_ref().map_or(0, Tables::count),
        );
        let intent = Intent {
            name: NAME,
            does,
            results: &[],
            types: &types,
        };
        return intent.tell(&Outputs::default(), json, out);
    }
    let (frame, groups) = made(&call, &mut rows)?;
    let made = Made {
        operator: NAME,
        keys: &call.keys,
        types: &types,
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

/// What the call would do, as the rest of a sentence.
fn does(call: &Call<'_>, rows: usize, files: usize) -> String {
    let keys = call.keys.join(", ");
    let values = match &call.values[..] {
        [] => "rows".to_owned(),
        values => values.join(", "),
    };
    let source = match files {
        0 => "of arrays".to_owned(),
        1 => "of a file".to_owned(),
        several => format!("of {several} files"),
    };
    format!(
        "groups {values} by {keys} ({rows} rows {source}), and makes a row of results for each group"
    )
}

/// The texts that are paths of files, whatever characters they have.
fn files_among<'t>(texts: impl Iterator<Item = &'t &'t str>) -> Vec<String> {
    let files = texts.filter(|text| Path::new(text).is_file());
    files.map(|&text| text.to_owned()).collect()
}

/// Arrays as a table.
fn arrays(call: &Call<'_>, given: &flags::Columns) -> Result<DataSet> {
    if let Some(flag) = given.of_text() {
        let why = "arrays have types of their own: it goes with a CSV file";
        return Err(Failure::new(why).for_operator(NAME).for_argument(flag));
    }
    let table = table_of_arrays(&[&call.keys[..], &call.values].concat());
    let table = table.map_err(|f| f.for_operator(NAME))?;
    Ok(DataSet::new(
        vec![Part::of(table)],
        strew_io::CsvOptions::default(),
    ))
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

/// The columns that the texts of a flag name. A text that is a column's name names that one; of
/// others, names have commas between them.
fn names(argument: &str, texts: &[&str], known: &[String]) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    let wrong = |why: String| Err(Failure::new(why).for_operator(NAME).for_argument(argument));
    for &text in texts {
        if known.iter().any(|name| name == text) {
            names.push(text.to_owned());
            continue;
        }
        let pieces: Vec<&str> = text.split(',').map(str::trim).collect();
        if pieces.contains(&"") {
            return wrong(format!("'{text}' lacks a name"));
        }
        names.extend(pieces.into_iter().map(str::to_owned));
    }
    match (1..names.len()).find(|&n| names[..n].contains(&names[n])) {
        Some(n) => wrong(format!("{} is there twice", names[n])),
        None => Ok(names),
    }
}

/// The keys and the results of all groups, and how many groups there are.
fn made(call: &Call<'_>, rows: &mut Rows) -> Result<(Frame, usize)> {
    let mut groups = Groups::new(&call.keys);
    let mut kinds: Vec<(DType, Vec<usize>)> = rows.kinds().map(|(t, r)| (t, r.to_vec())).collect();
    if call.values.is_empty() {
        kinds.push((DType::U32, Vec::new()));
    }
    let streams = kinds
        .iter()
        .map(|(dtype, row)| call.accumulator(None, *dtype, row));
    let results = match streams.collect::<strew::Result<Vec<Accumulator>>>() {
        Ok(streams) => by_chunks(call, rows, &mut groups, streams)?,
        Err(_) => at_once(call, rows, &mut groups, &kinds)?,
    };
    let (mut frame, order) = Frame::of(&groups).map_err(|e| call.failed(e))?;
    for (value, results) in results.iter().enumerate() {
        for (&aggregate, result) in call.wanted.iter().zip(&results.made) {
            let name = call.name(value, aggregate);
            let before = frame.width();
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
            if let (false, Some(counts)) = (has_neutral(aggregate), &results.counts) {
                let lacks = |row: usize| order.get(row).is_none_or(|&group| counts[group] == 0);
                let cleared = frame.clear(frame.width() - before, lacks);
                cleared.map_err(|e| call.failed(e))?;
            }
        }
    }
    Ok((frame, groups.count()))
}

/// The results of a value column.
struct Results {
    /// Those that are wanted.
    made: Vec<DynTensor>,
    /// How many values each group has, where a group without one has no result.
    counts: Option<Vec<u64>>,
}

/// Whether an aggregate has a result for no values: 0 for a sum. Others have none there.
fn has_neutral(aggregate: Aggregate) -> bool {
    use Aggregate as A;
    matches!(
        aggregate,
        A::Sum
            | A::Prod
            | A::SumSquares
            | A::Len
            | A::Count
            | A::NUnique
            | A::Any
            | A::All
            | A::AnyNan
            | A::AllNan
    )
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
) -> Result<Vec<Results>> {
    let mut bar = Bar::new(rows);
    let mut counts = Counts::new(call, streams.len());
    while let Some(chunk) = rows.next(groups).map_err(|e| call.failed(e))? {
        for (value, stream) in streams.iter_mut().enumerate() {
            let (values, groups) = (&values_of(&chunk)[value], chunk.groups_of(value));
            let taken = stream.update_dyn(&values.view(), &groups.view(), None);
            taken.map_err(|error| call.refused(&error))?;
        }
        counts.add(&chunk);
        bar.add(&chunk.groups);
    }
    let count = groups.count();
    let made = streams.iter().map(|stream| {
        let made = stream.result().map_err(|error| call.refused(&error))?;
        match count - stream.rows().min(count) {
            0 => Ok(made),
            lacking => with_blanks(call, stream, made, lacking),
        }
    });
    counts.finish(call, made.collect::<Result<_>>()?, count)
}

/// Results with those of groups behind the last value.
fn with_blanks(
    call: &Call<'_>,
    stream: &Accumulator,
    made: Vec<DynTensor>,
    lacking: usize,
) -> Result<Vec<DynTensor>> {
    let blank = call.accumulator(Some(1), stream.dtype(), stream.shape());
    let blank = blank.and_then(|blank| blank.result());
    let blank = blank.map_err(|error| call.refused(&error))?;
    let pairs = made.iter().zip(&blank);
    let joined = pairs.map(|(made, blank)| {
        let parts = [made]
            .into_iter()
            .chain(std::iter::repeat_n(blank, lacking));
        joined(made.dtype(), stream.shape(), parts)
    });
    joined.collect()
}

/// How many rows and values each group has, where missing values are skipped.
struct Counts {
    /// `None` where they are not.
    counts: Option<(Vec<u64>, Vec<Vec<u64>>)>,
}

impl Counts {
    fn new(call: &Call<'_>, values: usize) -> Self {
        let counts = call.skips.then(|| (Vec::new(), vec![Vec::new(); values]));
        Self { counts }
    }

    fn add(&mut self, chunk: &Chunk) {
        let Some((rows, values)) = &mut self.counts else {
            return;
        };
        count_groups(&chunk.groups, rows);
        for (value, counts) in values.iter_mut().enumerate() {
            count_groups(chunk.groups_of(value), counts);
        }
    }

    /// The results with these counts. `len` is the number of rows, with and without a value.
    fn finish(
        self,
        call: &Call<'_>,
        made: Vec<Vec<DynTensor>>,
        groups: usize,
    ) -> Result<Vec<Results>> {
        let Some((mut rows, values)) = self.counts else {
            let plain = |made| Results { made, counts: None };
            return Ok(made.into_iter().map(plain).collect());
        };
        rows.resize(groups, 0);
        let mut results = Vec::with_capacity(made.len());
        for (mut made, mut counts) in made.into_iter().zip(values) {
            counts.resize(groups, 0);
            for (aggregate, result) in call.wanted.iter().zip(&mut made) {
                if *aggregate == Aggregate::Len && result.shape().len() == 1 {
                    let to = result.as_bytes_mut().as_chunks_mut::<8>().0;
                    for (to, count) in to.iter_mut().zip(&rows) {
                        *to = count.to_ne_bytes();
                    }
                }
            }
            let counts = call.options.fill_value.is_none().then_some(counts);
            results.push(Results { made, counts });
        }
        Ok(results)
    }
}

/// Counts the values of each group.
fn count_groups(groups: &DynTensor, counts: &mut Vec<u64>) {
    for group in groups.as_bytes().as_chunks::<4>().0 {
        let group = u32::from_ne_bytes(*group);
        if group == NO_GROUP {
            continue;
        }
        let at = group as usize;
        if at >= counts.len() {
            counts.resize(at + 1, 0);
        }
        counts[at] += 1;
    }
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
    fn new(rows: &Rows) -> Self {
        let values = rows
            .kinds()
            .map(|(dtype, row)| dtype.size() * row.iter().product::<usize>());
        let each = (values.sum::<usize>() + DType::U32.size()) as u64;
        let shown = progress::Bytes::new((rows.count() as u64).saturating_mul(each));
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
) -> Result<Vec<Results>> {
    let mut chunks = Vec::new();
    let mut bar = Bar::new(rows);
    let mut counts = Counts::new(call, kinds.len());
    while let Some(chunk) = rows.next(groups).map_err(|e| call.failed(e))? {
        bar.add(&chunk.groups);
        counts.add(&chunk);
        chunks.push(chunk);
    }
    drop(bar);
    let size = groups.count();
    let mut results = Vec::with_capacity(kinds.len());
    for (value, (dtype, row)) in kinds.iter().enumerate() {
        let values = chunks.iter().map(|chunk| &values_of(chunk)[value]);
        let values = joined(*dtype, row, values)?;
        let numbers = chunks.iter().map(|chunk| chunk.groups_of(value));
        let numbers = joined(DType::U32, &[], numbers)?;
        let (values, numbers, bounds) = (values.view(), numbers.view(), call.bounds());
        let wanted = call.wanted;
        let make = || {
            let options = call.options.clone();
            aggregate_dyn(&values, &numbers, 0, wanted, Some(size), bounds, options)
        };
        results.push(progress::with_bar(make).map_err(|error| call.refused(&error))?);
    }
    counts.finish(call, results, size)
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
