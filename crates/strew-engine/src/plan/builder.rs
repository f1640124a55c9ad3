//! A plan made step by step.

use crate::describe::bounds::Bounds;
use crate::plan::Plan;
use crate::plan::way::Way;
use strew_kernel::error::Result;
use strew_kernel::tensor::{DynView, Index, TensorView};

/// What a [`Plan`] is made of: [`Plan::builder`] begins one.
#[derive(Clone, Debug)]
#[must_use = "build() makes the plan"]
pub struct PlanBuilder<'a> {
    index: DynView<'a>,
    size: Option<usize>,
    bounds: Bounds,
    name: Option<&'a str>,
    way: Option<Way>,
    threads: Option<usize>,
}

impl Plan {
    /// Begins a plan for an index, of which everything else can be left out. The index is borrowed
    /// until [`build`](PlanBuilder::build): `&vec`, `&array`, a slice or a view.
    ///
    /// ```
    /// # mod strew {
    /// #     pub use strew_engine::{plan::*, describe::bounds::*};
    /// #     pub use strew_kernel::error::Error;
    /// # }
    /// use strew::{Plan, Reduce};
    ///
    /// let to: Vec<usize> = vec![2, 0, 2, 2];
    /// let plan = Plan::builder(&to).build()?;
    /// assert_eq!(plan.size(), 3);
    ///
    /// let plan = Plan::builder(&to).size(4).name("edges").build()?;
    /// let sums = plan.scatter(&[1.0, 5.0, 2.0, 6.0], 0, Reduce::Sum)?;
    /// assert_eq!(sums.as_slice(), [5.0, 0.0, 9.0, 0.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    pub fn builder<'a, I: Index>(index: impl Into<TensorView<'a, I>>) -> PlanBuilder<'a> {
        PlanBuilder {
            index: index.into().into_dyn(),
            size: None,
            bounds: Bounds::STRICT,
            name: None,
            way: None,
            threads: None,
        }
    }
}

impl<'a> PlanBuilder<'a> {
    /// The rows of the destination. Without it they are the largest number of the index plus 1, or
    /// 0 if the index is empty.
    pub fn size(mut self, size: usize) -> Self {
        self.size = Some(size);
        self
    }

    /// What numbers mean that name no row. Without it they are errors, as with [`Bounds::STRICT`].
    ///
    /// ```
    /// # mod strew {
    /// #     pub use strew_engine::{plan::*, describe::bounds::*};
    /// #     pub use strew_kernel::error::Error;
    /// # }
    /// use strew::{Bounds, Plan};
    ///
    /// let plan = Plan::builder(&[0i32, 7, 1]).size(2).bounds(Bounds::DROP).build()?;
    /// assert_eq!(plan.dropped(), 1);
    /// # Ok::<(), strew::Error>(())
    /// ```
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// A name that errors and explanations show.
    pub fn name(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }

    /// The way that runs go: [`Plan::with_way`].
    pub fn way(mut self, way: Way) -> Self {
        self.way = Some(way);
        self
    }

    /// The threads of grouped runs and gathers: [`Plan::with_threads`].
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Reads and checks the index.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn build(self) -> Result<Plan> {
        let plan = Plan::new_dyn(&self.index, self.size, self.bounds, self.name)?;
        Ok(plan.with_way(self.way).with_threads(self.threads))
    }
}
