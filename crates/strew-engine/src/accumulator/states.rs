//! The kernel's records, in the type that values are computed in.

use num_complex::Complex64;
use std::any::Any;
use strew_kernel::error::Problem;
use strew_kernel::group_stats::state::{Kept, State};
use strew_kernel::statistic::value::Value;
use strew_kernel::statistic::what::Statistic;
use strew_kernel::tensor::{DType, DynTensor};

/// The records of all groups.
pub(super) enum States {
    I64(State<i64>),
    U64(State<u64>),
    F64(State<f64>),
    C128(State<Complex64>),
}

/// Does the same with the state of any type.
macro_rules! each {
    ($states:expr, $state:ident => $made:expr) => {
        match $states {
            States::I64($state) => $made,
            States::U64($state) => $made,
            States::F64($state) => $made,
            States::C128($state) => $made,
        }
    };
}

impl States {
    /// Of no groups, for values of a type.
    pub(super) fn new(dtype: DType, kept: &Kept) -> Result<Self, Problem> {
        Ok(match dtype {
            DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
                Self::U64(State::new(kept)?)
            }
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => Self::I64(State::new(kept)?),
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Self::F64(State::new(kept)?),
            DType::C64 | DType::C128 => Self::C128(State::new(kept)?),
        })
    }

    /// The state, if values are computed in that type.
    pub(super) fn of<T: Value>(&mut self) -> Option<&mut State<T>> {
        let state: &mut dyn Any = each!(self, state => state);
        state.downcast_mut()
    }

    pub(super) fn rows(&self) -> usize {
        each!(self, state => state.rows())
    }

    pub(super) fn grow(&mut self, kept: &Kept, rows: usize) -> Result<(), Problem> {
        each!(self, state => state.grow(kept, rows))
    }

    /// The same with `size` groups, where group i of this one is group `rows[i]`.
    pub(super) fn spread(&self, kept: &Kept, rows: &[i64], size: usize) -> Result<Self, Problem> {
        Ok(match self {
            Self::I64(state) => Self::I64(state.spread(kept, rows, size)?),
            Self::U64(state) => Self::U64(state.spread(kept, rows, size)?),
            Self::F64(state) => Self::F64(state.spread(kept, rows, size)?),
            Self::C128(state) => Self::C128(state.spread(kept, rows, size)?),
        })
    }

    pub(super) fn finish(&self, kept: &Kept) -> Result<Vec<DynTensor>, Problem> {
        each!(self, state => state.finish(kept))
    }

    pub(super) fn memory(&self) -> usize {
        each!(self, state => state.memory())
    }

    /// Merges states of the same statistics and the same type.
    pub(super) fn merge(&mut self, kept: &Kept, other: &Self) -> Result<(), Problem> {
        match (self, other) {
            (Self::I64(state), Self::I64(other)) => state.merge(kept, other),
            (Self::U64(state), Self::U64(other)) => state.merge(kept, other),
            (Self::F64(state), Self::F64(other)) => state.merge(kept, other),
            (Self::C128(state), Self::C128(other)) => state.merge(kept, other),
            _ => Ok(()),
        }
    }

    /// Whether a statistic of these values depends on their order.
    pub(super) fn depends_on_order(&self, statistic: Statistic) -> bool {
        fn of<T: Value>(_: &State<T>, statistic: Statistic) -> bool {
            statistic.depends_on_order::<T>()
        }
        each!(self, state => of(state, statistic))
    }

    /// Bytes that the records of one column of a group take at least where they are written.
    pub(super) fn record_bytes(&self) -> usize {
        each!(self, state => state.record_bytes())
    }

    pub(super) fn write(&self, kept: &Kept, to: &mut Vec<u8>) -> Result<(), Problem> {
        each!(self, state => state.write(kept, to))
    }

    pub(super) fn read(&mut self, from: &mut &[u8]) -> Option<()> {
        each!(self, state => state.read(from))
    }
}
