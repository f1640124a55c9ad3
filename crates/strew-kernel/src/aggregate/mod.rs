//! Statistics of groups of single values, each by the loop that suits it. One loop reads the row
//! and the value, checks the row, and joins the value.
//!
//! | file | statistics | state of a group |
//! |---|---|---|
//! | `sum` | sum | the sum, in `f64` of floats |
//! | `mean` | mean | the sum and the count |
//! | `var` | var, std, sem | the moments so far |
//! | `len` | len | the count; values are not read |
//! | `min` | min, max | the result so far |
//! | `any` | any, all | the result, which changes once at most |
//! | `first` | first, last | the result, and one bit |
//! | `argmax` | argmin, argmax | the best value so far and its place |
//! | `cumsum` | cumsum, cumprod, cummin, cummax | the result so far |
//!
//! They are for values of the commonest types (float32, float64, int64) that lie one after the
//! other, of which none is skipped, and give the bits of [`group_stats`](crate::group_stats), which
//! has everything else. `fold` is the pass that most of them share.

mod any;
mod argmax;
mod cumsum;
mod first;
mod fold;
mod len;
mod mean;
mod min;
mod sum;
mod var;

use crate::cpu::fp_env::DefaultFloats;
use crate::error::Problem;
use crate::group_stats::statistics::Statistic;
use crate::groups::row_ids::RowIds;
use crate::tensor::{DType, DynTensor, DynView, Element, List, Plain, Tensor};

/// The row of each value.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'r> {
    I64(&'r [i64]),
    I32(&'r [i32]),
    U32(&'r [u32]),
}

impl<'r> Rows<'r> {
    /// Row numbers of an index, if they are stored one after the other.
    #[must_use]
    pub fn of_index(index: &DynView<'r>) -> Option<Self> {
        match index.dtype() {
            DType::I64 => Some(Self::I64(index.typed::<i64>()?.as_slice()?)),
            DType::I32 => Some(Self::I32(index.typed::<i32>()?.as_slice()?)),
            _ => None,
        }
    }

    /// Row numbers that a plan has, if they have 32 bits.
    #[must_use]
    pub fn of_plan(numbers: &'r RowIds) -> Option<Self> {
        match numbers {
            RowIds::Narrow(list) => Some(Self::U32(list)),
            RowIds::Wide(_) => None,
        }
    }

    /// Whether most values have the row of the one before, by a sample of the first.
    #[must_use]
    pub fn repeat(self) -> bool {
        let some = self.len().min(CHUNK);
        match self {
            Self::I64(rows) => fold::repeat(&rows[..some]),
            Self::I32(rows) => fold::repeat(&rows[..some]),
            Self::U32(rows) => fold::repeat(&rows[..some]),
        }
    }

    fn len(self) -> usize {
        match self {
            Self::I64(rows) => rows.len(),
            Self::I32(rows) => rows.len(),
            Self::U32(rows) => rows.len(),
        }
    }
}

/// A row number.
trait Row: Copy + Sync {
    /// As a place; that of a negative one is too large for any group.
    fn place(self) -> usize;
    fn number(self) -> i64;
}

macro_rules! rows {
    ($($t:ty),*) => {$(
        impl Row for $t {
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

rows!(i64, i32, u32);

/// Whether every row is that of a group.
fn are_inside<R: Row>(rows: &[R], size: usize) -> bool {
    // The fold is negative if a row is negative or not below the size. It needs no comparison of
    // 64-bit numbers, which the oldest vector instructions lack.
    let last = size.cast_signed().wrapping_sub(1) as i64;
    let outside = |all, row: R| all | row.number() | last.wrapping_sub(row.number());
    size > 0 && rows.iter().copied().fold(0, outside) >= 0 || rows.is_empty()
}

/// What a pass is made of.
#[derive(Clone, Copy)]
pub struct Job<'j> {
    pub rows: Rows<'j>,
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
const CHUNK: usize = 1 << 16;

/// The results of a statistic: one of each group, or of each value.
///
/// # Errors
/// [`Problem::Memory`], and [`Problem::Interrupted`] if a step says so.
pub fn aggregate(statistic: Statistic, job: Job<'_>) -> Result<Made, Problem> {
    if job.values.len() != job.rows.len() {
        return Ok(Made::None);
    }
    let _floats = DefaultFloats::enter();
    match statistic {
        Statistic::Sum => sum::sum(job),
        Statistic::Mean => mean::mean(job),
        Statistic::Min => min::extreme::<false>(job),
        Statistic::Max => min::extreme::<true>(job),
        Statistic::Len => len::len(job),
        Statistic::Any => any::any(job),
        Statistic::All => any::all(job),
        Statistic::First => first::first(job),
        Statistic::Last => first::last(job),
        Statistic::ArgMin => argmax::arg::<false>(job),
        Statistic::ArgMax => argmax::arg::<true>(job),
        Statistic::CumSum => cumsum::cumsum(job),
        Statistic::CumProd => cumsum::cumprod(job),
        Statistic::CumMin => cumsum::cummin(job),
        Statistic::CumMax => cumsum::cummax(job),
        Statistic::Var { .. } | Statistic::Std { .. } | Statistic::Sem { .. } => {
            var::var(statistic, job)
        }
        _ => Ok(Made::None),
    }
}

/// Whether all groups soon have their results, where one value or few of each decide: there are
/// many values for each group. Values of `size` groups in any order meet all of them after about
/// `size * ln(size)`.
fn decides_soon(size: usize, values: usize) -> bool {
    size.saturating_mul(32) <= values
}

/// The fill value, if the results are of this type.
fn fill_of<T: Element>(job: &Job<'_>) -> Option<T> {
    job.fill.view().typed::<T>()?.as_slice()?.first().copied()
}

/// Results that are still to be set.
fn unset<T: Element>(len: usize) -> Result<Tensor<T>, Problem> {
    let made = DynTensor::scratch(T::DTYPE, &[len])?;
    made.typed().or_else(|_| Tensor::zeros(&[len]))
}

/// The states of all groups.
fn states<S: Copy + Plain>(job: &Job<'_>, start: S) -> Result<List<S>, Problem> {
    let mut all = List::with_room("the statistics of the groups", job.size)?;
    all.extend_to(job.size, start);
    Ok(all)
}

/// The results that `of` gives for each state.
fn finish<S: Copy, T: Element>(states: &[S], of: impl Fn(S) -> T) -> Result<Made, Problem> {
    let mut made = unset::<T>(states.len())?;
    for (result, &state) in made.as_mut_slice().iter_mut().zip(states) {
        *result = of(state);
    }
    Ok(Made::Results(made.into_dyn()))
}

/// Whether one of the values is NaN, of types that have loops.
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
            $crate::aggregate::Rows::I64($slice) => $do,
            $crate::aggregate::Rows::I32($slice) => $do,
            $crate::aggregate::Rows::U32($slice) => $do,
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
                    None => Ok($crate::aggregate::Made::None),
                }
            }};
        }
        match $job.values.dtype() {
            $crate::tensor::DType::F32 => of!(f32),
            $crate::tensor::DType::F64 => of!(f64),
            $crate::tensor::DType::I64 => of!(i64),
            _ => Ok($crate::aggregate::Made::None),
        }
    }};
}

use {with_rows, with_values};
