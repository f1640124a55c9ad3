//! `index_reduce`: slices that are reduced.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::declaration::*;
use crate::dialect::torch::arguments::{DIM, pair};
use crate::dialect::torch::index::{INDEX, SOURCE, along, expect_slices};
use crate::dialect::torch::reduce::Reduce;
use crate::dialect::torch::{Input, Refusal, call, context, index_class};
use strew_engine::checks::axis;
use strew_engine::describe::bounds::Bounds;

pair! {
    <T: Element, I: Index> (
        dim: int => DIM;
        index: tensor<I> => INDEX;
        source: tensor<T> => SOURCE;
        reduce: word<Reduce> => "prod, mean, amax or amin", &["prod", "mean", "amax", "amin"];
        include_self: bool = true =>
            "whether what input holds takes part where slices of source go";
    );

    /// `input` with slices of `source` reduced into those that `index` names along `dim`.
    ///
    /// [`index_add`](crate::torch::index_add) with another reduction: [`Reduce::Prod`],
    /// [`Reduce::Mean`], [`Reduce::Amax`] or [`Reduce::Amin`], each with the rules of
    /// [`scatter_reduce`](crate::torch::scatter_reduce).
    ///
    /// ```
    /// use strew::torch::{Reduce, index_reduce};
    ///
    /// let out = index_reduce(&[2, 2, 2], 0, &[0i64, 2, 0], &[3, 4, 5], Reduce::Prod, true)?;
    /// assert_eq!(out.as_slice(), [30, 2, 8]);
    /// let out = index_reduce(&[2, 2, 2], 0, &[0i64, 2, 0], &[3, 4, 5], Reduce::Mean, false)?;
    /// assert_eq!(out.as_slice(), [4, 2, 4]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`index_add`](crate::torch::index_add); [`Class::Runtime`](crate::Class::Runtime) for
    /// [`Reduce::Sum`] too, and [`Class::NotImplemented`](crate::Class::NotImplemented) for a
    /// reduction that the type has not.
    pub fn index_reduce,
    /// Words are PyTorch's.
    pub fn index_reduce_dyn = lower_reduce;
    const INDEX_REDUCE = "torch.index_reduce":
        "A copy of input with slices of source reduced into those that index names along dim";

    pub fn index_reduce_, pub fn index_reduce_dyn_;
    const INDEX_REDUCE_ = "torch.index_reduce_":
        "Reduces slices of source, in place, into those that index names along dim";
}

fn lower_reduce<'a>(
    operator: &'static str,
    input: Input<'a>,
    dim: i64,
    index: DynView<'a>,
    source: DynView<'a>,
    reduce: &str,
    include_self: bool,
) -> Result<Call<'a>> {
    let describe = || {
        if !matches!(reduce, "prod" | "mean" | "amax" | "amin") {
            return Err(Refusal::from(wrong_value(
                "reduce",
                format_args!("{reduce:?}"),
                "index_reduce(): Expected reduce to be one of prod, mean, amax or amin",
            )));
        }
        let reduction = Reduce::parse(reduce)?.reduction(include_self);
        let dim = axis("dim", dim, input.shape().len())?;
        expect_slices("index_reduce", &input, dim, &index, &source)?;
        along(
            input,
            dim,
            &index,
            "source",
            source.into(),
            reduction,
            Bounds::STRICT,
        )
    };
    call(context(operator, index_class), describe())
}
