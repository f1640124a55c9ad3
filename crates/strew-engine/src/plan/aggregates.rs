//! Aggregates as types, so that the compiler knows the type of each result.
//!
//! The type of a result depends on the aggregate and on the values: see
//! [`Aggregate::result`](crate::plan::Aggregate::result).
//!
//! ```
//! # mod strew {
//! #     pub use strew_engine::plan::{Plan, aggregates, aggregates::aggregate, aggregate::*};
//! #     pub use strew_kernel::{error::Error, tensor::*};
//! # }
//! use strew::aggregates::{ArgMax, Median, Var};
//! use strew::{AggregateOptions, Plan, aggregate};
//!
//! let (wages, team) = ([7i32, 3, 4, 6], [1usize, 0, 1, 1]);
//! let medians = aggregate(wages, team, 0, Median, AggregateOptions::default())?; // f64
//! assert_eq!(medians.as_slice(), [3.0, 6.0]);
//!
//! let plan = Plan::builder(&team).build()?;
//! let options = AggregateOptions { ddof: 1.0, ..AggregateOptions::default() };
//! let (spread, highest) = plan.aggregates(wages, 0, (Var, ArgMax), options)?; // f64 and i64
//! assert_eq!(spread.as_slice()[1], 7.0 / 3.0);
//! assert_eq!(highest.as_slice(), [1, 0]);
//! # Ok::<(), strew::Error>(())
//! ```

use crate::describe::bounds::Bounds;
use crate::plan::Plan;
use crate::plan::aggregate::{Aggregate, AggregateOptions, aggregate_dyn};
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use strew_kernel::error::Result;
use strew_kernel::tensor::{AsTensor, DynTensor, Element, Index, Tensor};

/// An element type of values, with the types of what is made of them.
pub trait Values: Element {
    /// Of sums and products: integers and bools have 64 bits.
    type Total: Element;
    /// Of means: that of integers and bools is `f64`.
    type Mean: Element;
    /// Of variances: a mean that is real.
    type Spread: Element;
}

/// An element type of values that have an order and are real.
#[diagnostic::on_unimplemented(message = "the aggregate is not defined for values of `{Self}`")]
pub trait RealValues: Values {}

macro_rules! values {
    ($($t:ty => $total:ty, $mean:ty, $spread:ty;)*) => {$(
        impl Values for $t {
            type Total = $total;
            type Mean = $mean;
            type Spread = $spread;
        }
    )*};
}

values! {
    bool => i64, f64, f64;
    i8 => i64, f64, f64;
    i16 => i64, f64, f64;
    i32 => i64, f64, f64;
    i64 => i64, f64, f64;
    u8 => u64, f64, f64;
    u16 => u64, f64, f64;
    u32 => u64, f64, f64;
    u64 => u64, f64, f64;
    f16 => f16, f16, f16;
    bf16 => bf16, bf16, bf16;
    f32 => f32, f32, f32;
    f64 => f64, f64, f64;
    Complex32 => Complex32, Complex32, f32;
    Complex64 => Complex64, Complex64, f64;
}

#[cfg(target_pointer_width = "64")]
values! {
    usize => u64, f64, f64;
    isize => i64, f64, f64;
}

macro_rules! real {
    ($($t:ty),*) => {$(impl RealValues for $t {})*};
}

real! { bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 }

#[cfg(target_pointer_width = "64")]
real! { usize, isize }

/// An aggregate of values of type `T`.
pub trait AggregateOf<T> {
    /// The type of its results.
    type Result: Element;
    /// The aggregate.
    const AGGREGATE: Aggregate;
}

macro_rules! aggregates {
    ($($of:ident gives $result:ty: $($name:ident),*;)*) => {$($(
        #[doc = concat!("[`Aggregate::", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl<T: $of> AggregateOf<T> for $name {
            type Result = $result;
            const AGGREGATE: Aggregate = Aggregate::$name;
        }
    )*)*};
}

aggregates! {
    Values gives T::Total: Sum, Prod, SumSquares, CumSum, CumProd;
    Values gives T::Mean: Mean;
    Values gives T::Spread: Var, Std, Sem;
    RealValues gives T::Mean: Skew, Kurt, Median, Quantile, LogSumExp, Softmax;
    Values gives T: Min, Max, First, Last, Mode, CumMin, CumMax, Sort, Shift, Nth, TopK;
    Values gives i64: Len, Count, NUnique, CumCount, ArgMin, ArgMax, ArgSort, ArgTopK;
    Values gives f64: Rank;
    Values gives bool: Any, All, AnyNan, AllNan;
}

/// [`ArgMin`] as NumPy spells it.
pub use ArgMin as Argmin;

/// [`ArgMax`] as NumPy spells it.
pub use ArgMax as Argmax;

/// Several aggregates at once: a tuple of up to eight.
pub trait AggregatesOf<T> {
    /// The tensors of the results.
    type Results;
    #[doc(hidden)]
    fn wanted() -> Vec<Aggregate>;
    #[doc(hidden)]
    fn typed(made: Vec<DynTensor>) -> Self::Results;
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<T, $($name: AggregateOf<T>),*> AggregatesOf<T> for ($($name,)*) {
            type Results = ($(Tensor<$name::Result>,)*);

            fn wanted() -> Vec<Aggregate> {
                vec![$($name::AGGREGATE),*]
            }

            fn typed(made: Vec<DynTensor>) -> Self::Results {
                let mut made = made.into_iter();
                ($(typed::<T, $name>(made.next()),)*)
            }
        }
    };
}

tuples! { A }
tuples! { A B }
tuples! { A B C }
tuples! { A B C D }
tuples! { A B C D E }
tuples! { A B C D E F }
tuples! { A B C D E F G }
tuples! { A B C D E F G H }

fn typed<T, A: AggregateOf<T>>(made: Option<DynTensor>) -> Tensor<A::Result> {
    crate::plan::typed(made.expect("an aggregate makes a tensor"))
}

impl Plan {
    /// Makes one thing of the values of each row.
    ///
    /// # Errors
    /// As [`aggregate_dyn`](Self::aggregate_dyn).
    pub fn aggregate<T: Element, A: AggregateOf<T>>(
        &self,
        src: impl AsTensor<T>,
        dim: i64,
        _wanted: A,
        options: AggregateOptions,
    ) -> Result<Tensor<A::Result>> {
        let src = src.as_tensor().of_rust();
        let made = self.aggregate_dyn(&src, dim, &[A::AGGREGATE], options)?;
        Ok(typed::<T, A>(made.into_iter().next()))
    }

    /// Makes several things of the values of each row, in one trip over them.
    ///
    /// ```
    /// # mod strew {
    /// #     pub use strew_engine::plan::{Plan, aggregates, aggregate::*};
    /// #     pub use strew_kernel::error::Error;
    /// # }
    /// use strew::aggregates::{Count, Max, Mean};
    /// use strew::{AggregateOptions, Plan};
    ///
    /// let plan = Plan::builder(&[1usize, 0, 1, 1]).build()?;
    /// let values = [1.0f32, 5.0, 2.0, 6.0];
    /// let options = AggregateOptions::default();
    /// let (means, most, counts) = plan.aggregates(&values, 0, (Mean, Max, Count), options)?;
    /// assert_eq!((means.as_slice(), most.as_slice()), (&[5.0, 3.0][..], &[5.0, 6.0][..]));
    /// assert_eq!(counts.as_slice(), [1, 3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`aggregate_dyn`](Self::aggregate_dyn).
    pub fn aggregates<T: Element, A: AggregatesOf<T>>(
        &self,
        src: impl AsTensor<T>,
        dim: i64,
        _wanted: A,
        options: AggregateOptions,
    ) -> Result<A::Results> {
        let src = src.as_tensor().of_rust();
        Ok(A::typed(self.aggregate_dyn(
            &src,
            dim,
            &A::wanted(),
            options,
        )?))
    }
}

/// One aggregate of the values of each group, of as many groups as `index` names.
///
/// * `src`: the values; axis `dim` has as many as the index.
/// * `index`: the group of each value, of any integer type; one dimension.
/// * `wanted`: one of [`aggregates`](crate::plan::aggregates), which say the result's type.
///
/// The result has `src`'s shape but for `dim`. [`Plan::aggregate`] is for an index that is used
/// more than once, and for a number of groups. The [module](crate::plan::aggregates) has an
/// example.
///
/// # Errors
/// As [`Plan::new`] and [`Plan::aggregate`].
pub fn aggregate<T: Element, I: Index, A: AggregateOf<T>>(
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    _wanted: A,
    options: AggregateOptions,
) -> Result<Tensor<A::Result>> {
    let (src, index) = (src.as_tensor().of_rust(), index.as_tensor().of_rust());
    let wanted = [A::AGGREGATE];
    let made = aggregate_dyn(&src, &index, dim, &wanted, None, Bounds::STRICT, options)?;
    Ok(typed::<T, A>(made.into_iter().next()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew_kernel::tensor::DType;

    /// Whether the types of an aggregate's results are those that are made.
    fn check<T: Values, A: AggregateOf<T>>(_: A) {
        let made = A::AGGREGATE.result(T::DTYPE);
        assert_eq!(
            made,
            Ok(A::Result::DTYPE),
            "{:?} of {}",
            A::AGGREGATE,
            T::DTYPE
        );
    }

    fn every<T: Values>() {
        check::<T, _>(Sum);
        check::<T, _>(Prod);
        check::<T, _>(CumSum);
        check::<T, _>(CumProd);
        check::<T, _>(Mean);
        check::<T, _>(Var);
        check::<T, _>(Std);
        check::<T, _>(Sem);
        check::<T, _>(Min);
        check::<T, _>(First);
        check::<T, _>(Mode);
        check::<T, _>(TopK);
        check::<T, _>(NUnique);
        check::<T, _>(Argmax);
        check::<T, _>(Rank);
        check::<T, _>(AllNan);
    }

    fn real<T: RealValues>() {
        every::<T>();
        check::<T, _>(Median);
        check::<T, _>(Quantile);
        check::<T, _>(Skew);
        check::<T, _>(Kurt);
        check::<T, _>(LogSumExp);
        check::<T, _>(Softmax);
    }

    #[test]
    fn types_are_those_that_are_made() {
        real::<bool>();
        real::<i8>();
        real::<i16>();
        real::<i32>();
        real::<i64>();
        real::<u8>();
        real::<u16>();
        real::<u32>();
        real::<u64>();
        real::<f16>();
        real::<bf16>();
        real::<f32>();
        real::<f64>();
        every::<Complex32>();
        every::<Complex64>();
        assert_eq!(Aggregate::SumSquares.result(DType::C64), Ok(DType::C64));
    }
}
