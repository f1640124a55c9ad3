//! Statistics of values that come chunk by chunk: more than memory holds, or several files.
//!
//! Chunks in order give the bits of one call.

use crate::aggregate_flags::{INDEX, NAME, SRC};
use crate::failure::{Failure, Result};
use crate::progress::Bytes;
use crate::read::Series;
use strew::{Accumulator, Aggregate, AggregateOptions, Bounds, Problem};

/// A chunk is no larger than this, and than a part of what memory may hold.
const LARGEST: u64 = 64 << 20;
const PARTS: u64 = 8;

/// What is asked for.
pub(crate) struct Call<'a> {
    pub(crate) wanted: &'a [Aggregate],
    pub(crate) size: Option<usize>,
    pub(crate) dim: i64,
    pub(crate) bounds: Bounds,
    pub(crate) options: AggregateOptions,
    /// The position of the first value.
    pub(crate) start: Option<usize>,
    /// The files of arguments, for messages.
    pub(crate) files: [(&'static str, Option<&'a str>); 2],
}

impl Call<'_> {
    /// What the engine reports, with the names of the command and the file.
    pub(crate) fn failed(&self, error: strew::Error) -> Failure {
        let failure = Failure::from_operator(&error, &self.files).renamed(NAME);
        failure.with_mode(&error)
    }

    /// The same about a chunk: positions count from the first value of all.
    fn failed_in(&self, error: strew::Error, from: usize) -> Failure {
        let failure = self.failed(error.clone());
        let mut problem = error.problem().clone();
        if let Problem::IndexOutOfBounds { position, .. } = &mut problem
            && let Some(first) = position.first_mut()
        {
            *first += from;
            return failure.saying(problem.to_string()).with_mode(&error);
        }
        failure
    }
}

/// An accumulator of such values.
pub(crate) fn accumulator(src: &Series, call: &Call<'_>) -> Result<Accumulator> {
    let (dtype, shape) = (src.dtype(), src.row_shape());
    let made = Accumulator::new(
        call.size,
        call.wanted,
        dtype,
        shape,
        call.bounds,
        call.options.clone(),
    );
    made.map_err(|error| call.failed(error))
}

/// Takes all values.
pub(crate) fn update(
    all: &mut Accumulator,
    src: &Series,
    index: &Series,
    call: &Call<'_>,
) -> Result<()> {
    let rows = src.rows();
    if !index.row_shape().is_empty() || index.rows() != rows {
        let mut shape = index.row_shape().to_vec();
        shape.insert(0, index.rows());
        let why =
            format!("it has shape {shape:?}, and must be 1-d with {rows} numbers, as src has");
        return Err(Failure::new(why).for_operator(NAME).for_argument(INDEX));
    }
    let row = (src.row_bytes() + index.row_bytes()) as u64;
    let most = strew::memory_limit().map_or(LARGEST, |limit| LARGEST.min(limit / PARTS));
    let most = usize::try_from(most / row.max(1))
        .unwrap_or(usize::MAX)
        .max(1);
    let mut bar = Bytes::new(src.bytes().saturating_add(index.bytes()));
    let (mut at, mut start) = (0, call.start);
    // Their types are checked even if there are none.
    if rows == 0 {
        let (values, groups) = (src.whole()?, index.whole()?);
        let taken = all.update_dyn(&values.view(), &groups.view(), start);
        return taken.map_err(|error| call.failed(error));
    }
    while at < rows {
        let count = src.together(at).min(index.together(at)).min(most);
        let named =
            |id: &'static str| move |failure: Failure| failure.for_operator(NAME).for_argument(id);
        let values = src.piece(at, count).map_err(named(SRC))?;
        let groups = index.piece(at, count).map_err(named(INDEX))?;
        all.update_dyn(&values.view(), &groups.view(), start.take())
            .map_err(|error| call.failed_in(error, at))?;
        at += count;
        bar.add(row.saturating_mul(count as u64));
    }
    Ok(())
}
