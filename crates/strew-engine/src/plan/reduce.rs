//! The reductions of a plan.

use crate::describe::Start;
use crate::describe::reduction::{Finish, Init, Reduction};
use crate::plan::{Aggregate, context, names};
use std::fmt;
use std::str::FromStr;
use strew_kernel::error::{Error, Problem};
use strew_kernel::exact::table::rounds;
use strew_kernel::ops::number::{Divisor, Mean};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::segment::exact_sum::sums_rows_exactly;
use strew_kernel::segment::fold;
use strew_kernel::segment::fold::{Fold, Seed};
use strew_kernel::tensor::DType;

/// How a [`Plan`](crate::plan::Plan) reduces the updates of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduce {
    /// Their sum; 0 without any. `bool`: a logical or.
    Sum,
    /// Their mean; integers are rounded down, 0 without any. Not for `bool`.
    Mean,
    /// Their product; 1 without any. `bool`: a logical and.
    Prod,
    /// The smallest, NaN left out, as in torch_scatter: of a new tensor, what is no finite minimum
    /// (no update, nothing but NaN or the highest values) is 0. Not for complex numbers.
    Min,
    /// The largest, likewise.
    Max,
    /// The smallest, where a NaN wins, as in PyTorch; 0 without any. Not for complex numbers.
    Amin,
    /// The largest, likewise.
    Amax,
    /// The last one: it replaces what is there. Bits are copied; 0 without any.
    Assign,
    /// The sum, of floats and complex numbers the nearest to the exact one: it does not depend on
    /// the order of the updates. `math.fsum` gives the same `f64`. A sum of zero is +0.
    ExactSum,
    /// The exact sum divided by the count, rounded once. Integers are rounded down. Not for `bool`.
    ExactMean,
}

impl Reduce {
    /// Every reduction.
    pub const ALL: [Self; 10] = [
        Self::Sum,
        Self::Mean,
        Self::Prod,
        Self::Min,
        Self::Max,
        Self::Amin,
        Self::Amax,
        Self::Assign,
        Self::ExactSum,
        Self::ExactMean,
    ];

    /// The name by which it is chosen.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Prod => "prod",
            Self::Min => "min",
            Self::Max => "max",
            Self::Amin => "amin",
            Self::Amax => "amax",
            Self::Assign => "assign",
            Self::ExactSum => "exact_sum",
            Self::ExactMean => "exact_mean",
        }
    }

    fn is_mean(self) -> bool {
        matches!(self, Self::Mean | Self::ExactMean)
    }

    fn combine(self) -> Combine {
        match self {
            Self::Sum | Self::Mean | Self::ExactSum | Self::ExactMean => Combine::Sum,
            Self::Prod => Combine::Prod,
            Self::Min => Combine::Min(Nan::Ignore),
            Self::Max => Combine::Max(Nan::Ignore),
            Self::Amin => Combine::Min(Nan::Propagate),
            Self::Amax => Combine::Max(Nan::Propagate),
            Self::Assign => Combine::Assign,
        }
    }

    /// Whether cells cannot hold the running result: it is gathered in a table, or by group.
    pub(crate) fn is_staged(self, dtype: DType) -> bool {
        self.is_mean() || self.is_exact() || self.is_widened(dtype)
    }

    /// Whether the running result is of a wider type than the elements.
    pub(crate) fn is_widened(self, dtype: DType) -> bool {
        let sums = matches!(self, Self::Sum | Self::Mean | Self::Prod);
        sums && dtype.accumulator() != dtype
    }

    /// Whether to join elements takes longer than to read rows of them at random.
    pub(crate) fn computes(self, dtype: DType) -> bool {
        self.for_new().1.combine.computes(dtype)
    }

    /// Whether the updates of a new row are reduced together, once they are grouped.
    pub(crate) fn is_grouped(self, dtype: DType) -> bool {
        match self {
            Self::ExactSum => !rounds(dtype) || sums_rows_exactly(dtype),
            Self::ExactMean => !rounds(dtype),
            _ => true,
        }
    }

    /// Whether all cells of a new tensor are written beside those that take updates.
    pub(crate) fn is_swept(self) -> bool {
        matches!(self, Self::Min | Self::Max)
    }

    /// The reduction of a grouped run into a new tensor.
    pub(crate) fn fold_anew(self, dtype: DType) -> Fold {
        match self {
            Self::Min | Self::Max => Fold {
                finish: fold::Finish::ZeroIfStart,
                ..self.fold(dtype, Seed::FiniteExtreme, 0)
            },
            _ => self.fold(dtype, Seed::Identity, 0),
        }
    }

    /// The same into a tensor that is there.
    pub(crate) fn fold_into(self, dtype: DType, include_self: bool) -> Fold {
        let seed = match include_self {
            true => Seed::Current,
            false => Seed::Identity,
        };
        self.fold(dtype, seed, u64::from(include_self))
    }

    fn fold(self, dtype: DType, seed: Seed, more: u64) -> Fold {
        let known = dtype == DType::Bool && seed != Seed::FiniteExtreme;
        let divisor = Divisor::Count;
        Fold {
            combine: match self.combine() {
                // A bool is never NaN; only a start value beyond both bools needs a strict loop.
                Combine::Min(_) if known => Combine::Min(Nan::Propagate),
                Combine::Max(_) if known => Combine::Max(Nan::Propagate),
                other => other,
            },
            seed,
            finish: match self.is_mean() {
                true => fold::Finish::Mean(Mean { more, divisor }),
                false => fold::Finish::None,
            },
            none: None,
            empty: false,
            exact: self.is_exact(),
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Reduce {
    /// The exact form of a sum or a mean.
    ///
    /// # Errors
    /// [`Problem::Value`] for other reductions, which do not round.
    pub fn exactly(self) -> Result<Self, Problem> {
        match self {
            Self::Sum | Self::ExactSum => Ok(Self::ExactSum),
            Self::Mean | Self::ExactMean => Ok(Self::ExactMean),
            other => Err(Problem::Value {
                argument: "exact".into(),
                value: "True".into(),
                expected: format!("{other} has no exact form: only sum and mean have"),
            }),
        }
    }

    /// Whether it is the exact form of a sum or a mean.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::ExactSum | Self::ExactMean)
    }

    /// Whether the reduction is defined for the type.
    pub fn check(self, dtype: DType) -> Result<(), Problem> {
        let extreme = matches!(self, Self::Min | Self::Max | Self::Amin | Self::Amax);
        let undefined = match dtype {
            DType::Bool => self.is_mean(),
            _ => dtype.is_complex() && extreme,
        };
        match undefined {
            false => Ok(()),
            true => Err(Problem::Unsupported {
                what: self.name().into(),
                dtype,
            }),
        }
    }

    /// What a new tensor starts from, and the reduction into it.
    pub fn for_new(self) -> (Start<'static>, Reduction) {
        let (start, init, finish) = match self {
            Self::Sum | Self::ExactSum | Self::Assign => (Start::Zero, Init::Current, Finish::None),
            Self::Mean | Self::ExactMean => {
                let finish = Finish::Mean { count_self: false };
                (Start::Zero, Init::Current, finish)
            }
            Self::Prod => (Start::Identity, Init::Current, Finish::None),
            Self::Min | Self::Max => (Start::FiniteExtreme, Init::Current, Finish::ZeroIfStart),
            Self::Amin | Self::Amax => (Start::Zero, Init::Identity, Finish::None),
        };
        let reduction = Reduction {
            combine: self.combine(),
            init,
            finish,
        };
        (start, reduction)
    }

    /// The reduction into a tensor that is there.
    pub fn into(self, include_self: bool) -> Reduction {
        Reduction {
            combine: self.combine(),
            init: match include_self || self == Self::Assign {
                true => Init::Current,
                false => Init::Identity,
            },
            finish: match self {
                Self::Mean | Self::ExactMean => Finish::Mean {
                    count_self: include_self,
                },
                _ => Finish::None,
            },
        }
    }
}

impl fmt::Display for Reduce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Reduce {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|r| r.name() == name);
        found.ok_or_else(|| {
            let mut problem = names::unknown(name, &Self::ALL.map(Self::name));
            if let (Problem::Value { expected, .. }, Ok(_)) =
                (&mut problem, name.parse::<Aggregate>())
            {
                *expected += &format!("; aggregate has {name}");
            }
            context(None).error(problem)
        })
    }
}
