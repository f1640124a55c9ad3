//! The pass over single values that lie one after the other, of the commonest types (float32,
//! float64, int64), none of which is skipped: one loop reads the row and the value, checks the row,
//! and joins the value.
//!
//! ```text
//! states = start
//! for each value: state = states[its row], if there is one; join the value to the state
//! ```
//!
//! Where most values have the row of the one before, a state stays in registers, so that no value
//! waits until the one before it is in memory. States that are more than a cache of one core holds
//! are asked for ahead.

use crate::cpu::prefetch::prefetch;
use crate::error::Problem;
use crate::runtime::machine::L2;
use crate::tensor::{DType, DynTensor, DynView, Element, List, Plain, Tensor};

/// The row of each value.
#[derive(Clone, Copy, Debug)]
pub enum RowSlice<'r> {
    I64(&'r [i64]),
    I32(&'r [i32]),
}

impl<'r> RowSlice<'r> {
    /// Row numbers of an index, if they are stored one after the other.
    #[must_use]
    pub fn of_index(index: &DynView<'r>) -> Option<Self> {
        match index.dtype() {
            DType::I64 => Some(Self::I64(index.typed::<i64>()?.as_slice()?)),
            DType::I32 => Some(Self::I32(index.typed::<i32>()?.as_slice()?)),
            _ => None,
        }
    }

    /// Whether most values have the row of the one before, by a sample of the first.
    #[must_use]
    pub fn repeat(self) -> bool {
        let some = self.len().min(CHUNK);
        match self {
            Self::I64(rows) => repeat(&rows[..some]),
            Self::I32(rows) => repeat(&rows[..some]),
        }
    }

    #[allow(clippy::len_without_is_empty)]
    pub(crate) fn len(self) -> usize {
        match self {
            Self::I64(rows) => rows.len(),
            Self::I32(rows) => rows.len(),
        }
    }
}

/// A row number.
pub(crate) trait RowNumber: Copy + Sync {
    /// As a place; that of a negative one is too large for any group.
    fn place(self) -> usize;
    fn number(self) -> i64;
}

macro_rules! rows {
    ($($t:ty),*) => {$(
        impl RowNumber for $t {
            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            fn place(self) -> usize {
                match size_of::<usize>() < size_of::<Self>() {
                    true => usize::try_from(self).unwrap_or(usize::MAX),
                    false => self as usize,
                }
            }

            #[inline(always)]
            fn number(self) -> i64 {
                i64::from(self)
            }
        }
    )*};
}

rows!(i64, i32);

/// Whether every row is that of a group.
pub(crate) fn are_inside<R: RowNumber>(rows: &[R], size: usize) -> bool {
    // The fold is negative if a row is negative or not below the size. It needs no comparison of
    // 64-bit numbers, which the oldest vector instructions lack.
    let last = size.cast_signed().wrapping_sub(1) as i64;
    let outside = |all, row: R| all | row.number() | last.wrapping_sub(row.number());
    size > 0 && rows.iter().copied().fold(0, outside) >= 0 || rows.is_empty()
}

/// Whether every row is this one.
#[inline(always)]
pub(crate) fn are_of_one<R: RowNumber>(rows: &[R], one: R) -> bool {
    let apart = |any, row: &R| any | (row.number() ^ one.number());
    rows.iter().fold(0, apart) == 0
}

/// What a pass is made of.
#[derive(Clone, Copy)]
pub struct Job<'j> {
    pub rows: RowSlice<'j>,
    /// As many, one after the other.
    pub values: &'j DynView<'j>,
    /// How many groups there are.
    pub size: usize,
    /// What a group without values has: one element of the results' type.
    pub fill: &'j DynTensor,
    /// Rows that are those of no group are left out. Otherwise the results are of no use.
    pub leaves_out: bool,
    /// Told of the values that have been handled; false: stop, the results are of no use.
    pub step: &'j (dyn Fn(usize) -> bool + Sync),
}

/// What a pass made.
#[derive(Debug)]
pub enum Made {
    Results(DynTensor),
    /// A row is that of no group.
    Stray,
    /// There is no loop for it.
    None,
}

/// Values that are handled between two steps.
pub(crate) const CHUNK: usize = 1 << 16;

/// A statistic of each group as a running state.
pub(crate) trait Step<V> {
    type State: Copy;
    /// Whether a value must mostly wait until the one before it in its group has joined.
    const WAITS: bool = true;
    fn join(state: &mut Self::State, value: V, place: usize);
}

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// A row is that of no group.
    Stray,
}

/// Joins all values to the states of their rows.
///
/// # Errors
/// [`Problem::Interrupted`].
pub(crate) fn join_all<F: Step<V>, V: Copy, R: RowNumber>(
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
    states: &mut [F::State],
) -> Result<Outcome, Problem> {
    let (mut repeats, far) = (false, is_far(states) && are_scattered(rows));
    each_chunk(job, rows, values, |rows, values, first| {
        if F::WAITS && (first / CHUNK).is_multiple_of(SAMPLED) {
            repeats = repeat(rows);
        }
        match repeats {
            true => join_repeated::<F, V, R>(rows, values, first, states),
            false if far => join::<F, V, R, true>(rows, values, first, states),
            false => join::<F, V, R, false>(rows, values, first, states),
        }
    })
}

/// Calls `join` with some rows and values at a time, and the place of the first. It returns whether
/// every row is that of a group.
///
/// # Errors
/// [`Problem::Interrupted`].
pub(crate) fn each_chunk<V, R>(
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
    mut join: impl FnMut(&[R], &[V], usize) -> bool,
) -> Result<Outcome, Problem> {
    for (number, (rows, values)) in rows.chunks(CHUNK).zip(values.chunks(CHUNK)).enumerate() {
        let all_there = join(rows, values, number * CHUNK);
        if !(job.step)(values.len()) {
            return Err(Problem::Interrupted);
        }
        if !all_there && !job.leaves_out {
            return Ok(Outcome::Stray);
        }
    }
    Ok(Outcome::Done)
}

/// One chunk in this many is sampled.
const SAMPLED: usize = 4;

/// Whether most rows are the same as the one before, by a sample.
pub(crate) fn repeat<R: RowNumber>(rows: &[R]) -> bool {
    const APART: usize = 128;
    let pairs = rows.windows(2).step_by(APART);
    let same = pairs.filter(|pair| pair[0].number() == pair[1].number());
    same.count() * 8 * APART > rows.len() * 7
}

/// Whether states are more than a cache of one core holds, so that it pays to ask for them ahead.
pub(crate) fn is_far<S>(states: &[S]) -> bool {
    size_of_val(states) > L2
}

/// How many values ahead a state is asked for.
const AHEAD: usize = 24;

/// Asks for the state of a value ahead of value `n`.
#[inline(always)]
pub(crate) fn look_ahead<R: RowNumber, S>(rows: &[R], n: usize, states: &[S]) {
    if let Some(row) = rows.get(n + AHEAD) {
        prefetch(states.as_ptr().wrapping_add(row.place()).cast(), 1);
    }
}

/// Whether most rows are not near the one before, by a sample.
pub(crate) fn are_scattered<R: RowNumber>(rows: &[R]) -> bool {
    const APART: usize = 4096;
    const NEAR: u64 = 64;
    let pairs = || rows.windows(2).step_by(APART);
    let near = |pair: &&[R]| pair[0].number().abs_diff(pair[1].number()) < NEAR;
    pairs().filter(near).count() * 2 < pairs().count()
}

fn join<F: Step<V>, V: Copy, R: RowNumber, const FAR: bool>(
    rows: &[R],
    values: &[V],
    first: usize,
    states: &mut [F::State],
) -> bool {
    let mut all_there = true;
    for (n, (row, &value)) in rows.iter().zip(values).enumerate() {
        if FAR {
            look_ahead(rows, n, states);
        }
        match states.get_mut(row.place()) {
            Some(state) => F::join(state, value, first + n),
            None => all_there = false,
        }
    }
    all_there
}

fn join_repeated<F: Step<V>, V: Copy, R: RowNumber>(
    rows: &[R],
    values: &[V],
    first: usize,
    states: &mut [F::State],
) -> bool {
    let Some(&(mut held)) = states.first() else {
        return rows.is_empty();
    };
    let (mut at, mut all_there) = (0, true);
    for (n, (row, &value)) in rows.iter().zip(values).enumerate() {
        let row = row.place();
        if row != at {
            let Some(&next) = states.get(row) else {
                all_there = false;
                continue;
            };
            states[at] = held;
            (held, at) = (next, row);
        }
        F::join(&mut held, value, first + n);
    }
    states[at] = held;
    all_there
}

/// Whether all groups soon have their results, where one value or few of each decide: there are
/// many values for each group. Values of `size` groups in any order meet all of them after about
/// `size * ln(size)`.
pub(crate) fn decides_soon(size: usize, values: usize) -> bool {
    size.saturating_mul(32) <= values
}

/// Whether as few groups are left after some values as if these were spread evenly. Otherwise some
/// groups have few values, and get their results late.
pub(crate) fn are_even(size: usize, values: usize, left: usize) -> bool {
    #[allow(clippy::cast_precision_loss)]
    let (size, values, left) = (size as f64, values as f64, left as f64);
    left <= 1.25 * size * (-values / size).exp() + size / 16.0
}

/// The fill value, if the results are of this type.
pub(crate) fn fill_of<T: Element>(job: &Job<'_>) -> Option<T> {
    job.fill.view().typed::<T>()?.as_slice()?.first().copied()
}

/// Results that are still to be set.
pub(crate) fn unset<T: Element>(len: usize) -> Result<Tensor<T>, Problem> {
    let made = DynTensor::scratch(T::DTYPE, &[len])?;
    made.typed().or_else(|_| Tensor::zeros(&[len]))
}

/// The states of all groups.
pub(crate) fn states<S: Copy + Plain>(job: &Job<'_>, start: S) -> Result<List<S>, Problem> {
    let mut all = List::with_room("the statistics of the groups", job.size)?;
    all.extend_to(job.size, start);
    Ok(all)
}

/// The results that `of` gives for each state.
pub(crate) fn finish<S: Copy, T: Element>(
    states: &[S],
    mut of: impl FnMut(S) -> T,
) -> Result<Made, Problem> {
    let mut made = unset::<T>(states.len())?;
    for (result, &state) in made.as_mut_slice().iter_mut().zip(states) {
        *result = of(state);
    }
    Ok(Made::Results(made.into_dyn()))
}

/// Whether one of the values is NaN, of types that have loops. False if there are gaps between them.
#[must_use]
pub fn has_nan(values: &DynView<'_>) -> bool {
    fn any<T: Copy>(values: Option<&[T]>, is_nan: impl Fn(T) -> bool) -> bool {
        let chunks = values.unwrap_or_default().chunks(CHUNK);
        let mut nans = chunks.map(|some| some.iter().fold(false, |any, &v| any | is_nan(v)));
        nans.any(|any| any)
    }
    match values.dtype() {
        DType::F32 => any(values.typed().and_then(|v| v.as_slice()), f32::is_nan),
        DType::F64 => any(values.typed().and_then(|v| v.as_slice()), f64::is_nan),
        _ => false,
    }
}

/// Calls a function with the rows as a slice of their type.
macro_rules! with_rows {
    ($rows:expr, |$slice:ident| $do:expr) => {
        match $rows {
            $crate::statistic::pass::RowSlice::I64($slice) => $do,
            $crate::statistic::pass::RowSlice::I32($slice) => $do,
        }
    };
}

/// Calls a function with the values as a slice of their type, if they are of one that has loops.
macro_rules! with_values {
    ($job:expr, |$slice:ident: $type:ident| $do:expr) => {{
        macro_rules! of {
            ($t:ty) => {{
                type $type = $t;
                match $job.values.typed::<$t>().and_then(|view| view.as_slice()) {
                    Some($slice) => $do,
                    None => Ok($crate::statistic::pass::Made::None),
                }
            }};
        }
        match $job.values.dtype() {
            $crate::tensor::DType::F32 => of!(f32),
            $crate::tensor::DType::F64 => of!(f64),
            $crate::tensor::DType::I64 => of!(i64),
            _ => Ok($crate::statistic::pass::Made::None),
        }
    }};
}

pub(crate) use {with_rows, with_values};
