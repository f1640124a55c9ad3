//! Runs of a plan that also tell which update won each cell.

use crate::describe::{Scatter, Target};
use crate::plan::reduce::Reduce;
use crate::plan::way::{PlannedWork, Way};
use crate::plan::{Plan, way};
use crate::threads::groups::Reductions;
use strew_kernel::error::{Problem, Result};
use strew_kernel::segment::fold::Fold;
use strew_kernel::tensor::{AsTensor, DType, DynTensor, DynView, Element, Layout, Tensor};

impl Plan {
    /// The smallest or largest update of each cell, and its position along `dim` in `src`, as
    /// torch_scatter's `scatter_min` and `scatter_max` give them.
    ///
    /// `reduce` is [`Reduce::Min`] or [`Reduce::Max`]; `src`, `dim` and the first result are as by
    /// [`scatter`](Self::scatter), the positions have its shape. Of equal updates the first wins; a
    /// cell that is 0 for want of a winner has the position [`len`](Self::len).
    ///
    /// ```
    /// # mod strew { pub use strew_engine::{plan::*, plan::reduce::*, plan::aggregate::*, describe::bounds::*}; pub use strew_kernel::{error::Error, tensor::*}; }
    /// use strew::{Bounds, Plan, Reduce};
    ///
    /// let plan = Plan::new(&[0i64, 2, 0, 2], None, Bounds::STRICT)?;
    /// let (most, at) = plan.scatter_with_arg(&[2.0f32, 3.0, 2.0, 4.0], 0, Reduce::Max)?;
    /// assert_eq!(most.as_slice(), [2.0, 0.0, 4.0]);
    /// assert_eq!(at.as_slice(), [0, 4, 3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter`](Self::scatter), and [`Class::Value`](strew_kernel::error::Class::Value) for
    /// another reduction.
    pub fn scatter_with_arg<T: Element>(
        &self,
        src: impl AsTensor<T>,
        dim: i64,
        reduce: Reduce,
    ) -> Result<(Tensor<T>, Tensor<i64>)> {
        let (made, arg) = self.scatter_with_arg_dyn(&src.as_tensor().of_rust(), dim, reduce)?;
        let typed = super::typed(made);
        Ok((typed, super::typed(arg)))
    }

    /// [`scatter_with_arg`](Self::scatter_with_arg) with an element type known at run time; the
    /// positions are `int64`.
    ///
    /// # Errors
    /// As [`scatter_with_arg`](Self::scatter_with_arg).
    pub fn scatter_with_arg_dyn(
        &self,
        src: &DynView<'_>,
        dim: i64,
        reduce: Reduce,
    ) -> Result<(DynTensor, DynTensor)> {
        self.with_arg(src, dim, reduce)
            .map_err(|problem| self.context().error(problem))
    }

    fn with_arg(
        &self,
        src: &DynView<'_>,
        dim: i64,
        reduce: Reduce,
    ) -> Result<(DynTensor, DynTensor), Problem> {
        let axis = self.axis_of("src", src.shape(), dim, self.len())?;
        if !matches!(reduce, Reduce::Min | Reduce::Max) {
            return Err(Problem::Value {
                argument: "reduce".into(),
                value: format!("{:?}", reduce.name()),
                expected: "only min and max have positions".into(),
            });
        }
        reduce.check(src.dtype())?;
        let dtype = src.dtype();
        let shape = self.shape(src.shape(), axis);
        let none = i64::try_from(self.len()).unwrap_or(i64::MAX);
        if self.way_with_arg(src.layout(), axis, reduce) == Way::InOrder {
            let (start, reduction) = reduce.for_new();
            let destinations = self.destinations(src.shape(), &shape, axis)?;
            let target = Target::New { dtype, start };
            let scatter = Scatter::new(destinations, reduction, "src", src.clone(), target)?;
            let made = scatter.with_arg(none).proven().run()?;
            let both = made.tensor.zip(made.arg);
            return Ok(both.expect("a scatter with positions makes two tensors"));
        }
        let mut made = DynTensor::zeros_for(dtype, &shape, src.len())?;
        // Rows without updates are not written: they are there from the beginning.
        let mut arg = match self.touched() < self.size() || src.is_empty() {
            true => DynTensor::filled(DType::I64, &shape, &none.to_ne_bytes())?,
            false => DynTensor::zeros(DType::I64, &shape)?,
        };
        let fold = Fold {
            none: Some(none),
            ..reduce.fold_anew(dtype)
        };
        let what = Reductions {
            folds: &[fold],
            clears: false,
        };
        let outputs = vec![made.view_mut(), arg.view_mut()];
        self.run_grouped(src, axis, &what, outputs, false)?;
        Ok((made, arg))
    }

    fn way_with_arg(&self, src: &Layout, axis: usize, reduce: Reduce) -> Way {
        self.way.unwrap_or_else(|| {
            let work = self.work(src, axis, &[reduce], true);
            let with_arg = PlannedWork {
                positions: true,
                ..work
            };
            way::choose(&with_arg).0
        })
    }
}
