//! Aggregates whose types the compiler knows.

use crate::plan::Plan;
use crate::plan::aggregate::{Aggregate, AggregateOptions, aggregate_dyn, called};
use crate::scatter::bounds::Bounds;
use strew_kernel::error::{Problem, Result};
use strew_kernel::tensor::{AsTensor, DType, Element, Tensor};

impl Aggregate {
    /// Refuses another type of result than it has.
    fn expect_result(self, of: DType, found: DType) -> Result<(), Problem> {
        let result = self.result(of)?;
        match result == found {
            true => Ok(()),
            false => Err(Problem::DType {
                argument: "the result",
                found,
                expected: format!("{} of {of} values has dtype {result}", self.name()),
            }),
        }
    }
}

impl Plan {
    /// Makes one thing of the values of each row. `R` is the result's type, which
    /// [`Aggregate::result`] tells.
    ///
    /// ```
    /// # mod strew {
    /// #     pub use strew_engine::{plan::*, plan::aggregate::*};
    /// #     pub use strew_kernel::{error::Error, tensor::*};
    /// # }
    /// use strew::{Aggregate, AggregateOptions, Plan, Tensor};
    ///
    /// let plan = Plan::builder(&[1usize, 0, 1, 1]).build()?;
    /// let options = AggregateOptions { ddof: 1.0, ..AggregateOptions::default() };
    /// let spread: Tensor<f64> = plan.aggregate(&[1, 5, 2, 3], 0, Aggregate::Var, &options)?;
    /// assert_eq!(spread.as_slice()[1], 1.0);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`aggregate_dyn`](Self::aggregate_dyn), and
    /// [`Class::Type`](strew_kernel::error::Class::Type) for another `R` than the result's type.
    pub fn aggregate<T: Element, R: Element>(
        &self,
        src: impl AsTensor<T>,
        dim: i64,
        wanted: Aggregate,
        options: &AggregateOptions,
    ) -> Result<Tensor<R>> {
        self.aggregates(src, dim, &[wanted], options).map(only)
    }

    /// Makes several things of the values of each row, in one trip over them. `R` is the type of
    /// all results, which [`Aggregate::result`] tells. For results of different types there is
    /// [`aggregate_dyn`](Self::aggregate_dyn).
    ///
    /// ```
    /// # mod strew {
    /// #     pub use strew_engine::{plan::*, plan::aggregate::*};
    /// #     pub use strew_kernel::{error::Error, tensor::*};
    /// # }
    /// use strew::{Aggregate, AggregateOptions, Plan, Tensor};
    ///
    /// let plan = Plan::builder(&[1usize, 0, 1, 1]).build()?;
    /// let values = [1.0, 5.0, 2.0, 6.0];
    /// let wanted = [Aggregate::Mean, Aggregate::Median, Aggregate::Max];
    /// let options = AggregateOptions::default();
    /// let made: Vec<Tensor<f64>> = plan.aggregates(&values, 0, &wanted, &options)?;
    /// assert_eq!(made[0].as_slice(), [5.0, 3.0]);
    /// assert_eq!(made[1].as_slice(), [5.0, 2.0]);
    /// assert_eq!(made[2].as_slice(), [5.0, 6.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`aggregate`](Self::aggregate).
    pub fn aggregates<T: Element, R: Element>(
        &self,
        src: impl AsTensor<T>,
        dim: i64,
        wanted: &[Aggregate],
        options: &AggregateOptions,
    ) -> Result<Vec<Tensor<R>>> {
        for one in wanted {
            one.expect_result(T::DTYPE, R::DTYPE)
                .map_err(|problem| self.context().error(problem))?;
        }
        let made = self.aggregate_dyn(&src.as_tensor().of_rust(), dim, wanted, options)?;
        Ok(made.into_iter().map(crate::plan::typed).collect())
    }
}

/// One aggregate of the values of each group, of as many groups as `index` names.
///
/// * `src`: the values; axis `dim` has as many as the index.
/// * `index`: the group of each value, of any integer type; one dimension.
/// * `R`: the result's type, which [`Aggregate::result`] tells.
///
/// The result has `src`'s shape but for `dim`. [`Plan::aggregate`] is for everything else: a number
/// of groups, options, and an index that is used more than once.
///
/// ```
/// # mod strew {
/// #     pub use strew_engine::plan::{aggregate::*, typed_aggregate::*};
/// #     pub use strew_kernel::{error::Error, tensor::*};
/// # }
/// use strew::{Aggregate, Tensor, aggregate};
///
/// let (wages, team) = (vec![7i32, 3, 4, 6], vec![1usize, 0, 1, 1]);
/// let medians: Tensor<f64> = aggregate(&wages, &team, 0, Aggregate::Median)?;
/// assert_eq!(medians.as_slice(), [3.0, 6.0]);
/// let sizes: Tensor<i64> = aggregate(&wages, &team, 0, Aggregate::Count)?;
/// assert_eq!(sizes.as_slice(), [1, 3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`Plan::new`] and [`Plan::aggregate`].
pub fn aggregate<T: Element, I: Element, R: Element>(
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    wanted: Aggregate,
) -> Result<Tensor<R>> {
    wanted
        .expect_result(T::DTYPE, R::DTYPE)
        .map_err(|problem| called().error(problem))?;
    let (src, index) = (src.as_tensor().of_rust(), index.as_tensor().of_rust());
    let options = AggregateOptions::default();
    aggregate_dyn(&src, &index, dim, &[wanted], None, Bounds::STRICT, &options)
        .map(|made| crate::plan::typed(only(made)))
}

/// The one result.
fn only<T>(made: Vec<T>) -> T {
    made.into_iter()
        .next()
        .expect("one aggregate makes one tensor")
}
