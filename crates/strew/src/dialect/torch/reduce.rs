//! `scatter_reduce`: elements that are reduced into the cells that an index names along one axis.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::declaration::*;
use crate::dialect::torch::arguments::{DIM, pair};
use crate::dialect::torch::scatter::{INDEX, SRC, Updates, describe};
use crate::dialect::torch::{Input, call, class, context};
use std::str::FromStr;
use strew_engine::describe::reduction::{Finish, Init, Reduction};
use strew_kernel::error::{Error, Problem};
use strew_kernel::ops::reduction::{Combine, Nan};

pair! {
    <T: Element, I: Index> (
        dim: int => DIM;
        index: tensor<I> => INDEX;
        src: tensor<T> => SRC;
        reduce: word<Reduce> =>
            "sum, prod, mean, amax or amin; of strew's own, exact_sum or exact_mean: rounded once",
            &["sum", "prod", "mean", "amax", "amin", "exact_sum", "exact_mean"];
        include_self: bool = true =>
            "whether what input holds takes part where elements of src go";
    );

    /// `input` with elements of `src` reduced into the cells that `index` names along `dim`.
    ///
    /// For a 3-d tensor and `dim == 0` and the sum: `out[index[i][j][k]][j][k] += src[i][j][k]`,
    /// for every element of `index`, in row-major order.
    ///
    /// * `index`: integers in `0..input.shape[dim]`, of as many dimensions as `input` and `src`
    ///   (0-d counts as 1-d), no larger than `src` on any axis, nor than `input` apart from `dim`.
    /// * `include_self`: whether what `input` holds takes part. If not, cells that are not
    ///   addressed still keep it.
    ///
    /// Sums and means of 16-bit floats accumulate in `f32` and are rounded once. Integer means are
    /// rounded down. NaN propagates through `amax` and `amin`; of equal values the first stays.
    ///
    /// ```
    /// use strew::torch::{Reduce, scatter_reduce};
    ///
    /// let out = scatter_reduce(
    ///     &[1.0f32, 2.0, 3.0, 4.0],
    ///     0,
    ///     &[0i64, 1, 0, 1, 2, 1],
    ///     &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    ///     Reduce::Sum,
    ///     false,
    /// )?;
    /// assert_eq!(out.as_slice(), [4.0, 12.0, 5.0, 4.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// In place:
    ///
    /// ```
    /// use ndarray::array;
    /// use strew::torch::{Reduce, scatter_reduce_};
    ///
    /// let mut table = array![[1.0, 5.0], [2.0, 6.0]];
    /// let (index, src) = (array![[0i64, 0], [1, 0]], array![[7.0, 3.0], [4.0, 9.0]]);
    /// scatter_reduce_(&mut table, 1, &index, &src, Reduce::Amax, true)?;
    /// assert_eq!(table, array![[7.0, 5.0], [9.0, 6.0]]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`](crate::Class::Index) for a wrong `dim`,
    /// [`Class::NotImplemented`](crate::Class::NotImplemented) for a reduction that the type has
    /// not, [`Class::Runtime`](crate::Class::Runtime) for everything else.
    pub fn scatter_reduce,
    /// Words are PyTorch's.
    pub fn scatter_reduce_dyn = lower;
    const SCATTER_REDUCE = "torch.scatter_reduce":
        "A copy of input with elements of src reduced into the cells that index names along dim";

    pub fn scatter_reduce_, pub fn scatter_reduce_dyn_;
    const SCATTER_REDUCE_ = "torch.scatter_reduce_":
        "Reduces elements of src, in place, into the cells that index names along dim";
}

/// How elements that go to the same cell are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduce {
    /// Their sum; for bool, whether any is true.
    Sum,
    /// Their product; for bool, whether all are true.
    Prod,
    /// Their mean; integers are rounded down. Not for bool.
    Mean,
    /// The largest; NaN if any is NaN. Not for complex numbers.
    Amax,
    /// The smallest; NaN if any is NaN. Not for complex numbers.
    Amin,
    /// The sum, of floats and complex numbers the nearest to the exact one, whatever the order.
    /// PyTorch has none. Only for [`scatter_reduce`].
    ExactSum,
    /// The exact sum divided by the count, rounded once. Likewise.
    ExactMean,
}

impl Reduce {
    /// The name in PyTorch, or that of an exact form.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Prod => "prod",
            Self::Mean => "mean",
            Self::Amax => "amax",
            Self::Amin => "amin",
            Self::ExactSum => "exact_sum",
            Self::ExactMean => "exact_mean",
        }
    }

    fn is_exact(self) -> bool {
        matches!(self, Self::ExactSum | Self::ExactMean)
    }

    /// A word of PyTorch's or an exact form.
    fn parse_any(name: &str) -> Result<Self, Problem> {
        match name {
            "exact_sum" => Ok(Self::ExactSum),
            "exact_mean" => Ok(Self::ExactMean),
            other => Self::parse(other),
        }
    }

    /// A word of PyTorch's.
    pub(super) fn parse(name: &str) -> Result<Self, Problem> {
        match name {
            "sum" => Ok(Self::Sum),
            "prod" => Ok(Self::Prod),
            "mean" => Ok(Self::Mean),
            // The short names are taken by current releases too.
            "amax" | "max" => Ok(Self::Amax),
            "amin" | "min" => Ok(Self::Amin),
            other => Err(wrong_value(
                "reduce",
                format_args!("{other:?}"),
                "reduce argument must be either sum, prod, mean, amax or amin",
            )),
        }
    }

    pub(super) fn reduction(self, include_self: bool) -> Reduction {
        let (combine, finish) = match self {
            Self::Sum | Self::ExactSum => (Combine::Sum, Finish::None),
            Self::Prod => (Combine::Prod, Finish::None),
            Self::Mean | Self::ExactMean => (
                Combine::Sum,
                Finish::Mean {
                    count_self: include_self,
                },
            ),
            Self::Amax => (Combine::Max(Nan::Propagate), Finish::None),
            Self::Amin => (Combine::Min(Nan::Propagate), Finish::None),
        };
        let init = if include_self {
            Init::Current
        } else {
            Init::Identity
        };
        Reduction {
            combine,
            init,
            finish,
        }
    }
}

impl FromStr for Reduce {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::parse_any(name).map_err(|p| context("torch.scatter_reduce", class).error(p))
    }
}

fn lower<'a>(
    operator: &'static str,
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    src: DynView<'a>,
    reduce: &str,
    include_self: bool,
) -> Result<Call<'a>> {
    let mut exact = false;
    let reduction = || {
        let reduce = Reduce::parse_any(reduce)?;
        exact = reduce.is_exact();
        Ok(reduce.reduction(include_self))
    };
    let described = describe(input, dim, index, Updates::Src(src), reduction);
    let described = described.and_then(|scatter| scatter.exactly(exact));
    call(context(operator, class), described.map_err(Into::into))
}
