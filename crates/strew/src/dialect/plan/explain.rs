//! What a plan tells about itself and its runs.

use super::run::stand_in;
use super::{Plan, Reduce};
use crate::error::{Problem, Result};
use crate::plan::Way;
use crate::scatter::{Scatter, Target};
use crate::tensor::{DType, DynView, Layout};
use std::fmt;

/// How a plan would run: names and values, and as text a line for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    facts: Vec<(&'static str, String)>,
}

impl Explanation {
    /// Names and values.
    #[must_use]
    pub fn facts(&self) -> &[(&'static str, String)] {
        &self.facts
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.facts.iter().map(|(name, _)| name.len()).max();
        for (name, value) in &self.facts {
            writeln!(f, "{name:width$}  {value}", width = width.unwrap_or(0))?;
        }
        Ok(())
    }
}

impl Plan {
    /// What is known about the index, and how these reductions of a contiguous source of this type
    /// and shape would run.
    ///
    /// ```
    /// use strew::{Bounds, DType, Plan, Reduce};
    ///
    /// let plan = Plan::new(&[0i64, 0, 2], None, Bounds::STRICT)?;
    /// let told = plan.explain(DType::F32, &[3, 64], 0, &[Reduce::Sum])?;
    /// assert!(told.facts().contains(&("way", "in-order".to_owned())));
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter`](Self::scatter) of such a source.
    pub fn explain(
        &self,
        dtype: DType,
        shape: &[usize],
        dim: i64,
        reduces: &[Reduce],
    ) -> Result<Explanation> {
        self.tell(dtype, shape, dim, reduces)
            .map_err(|problem| self.context().error(problem))
    }

    fn tell(
        &self,
        dtype: DType,
        shape: &[usize],
        dim: i64,
        reduces: &[Reduce],
    ) -> Result<Explanation, Problem> {
        let axis = self.axis_of("src", shape, dim, self.len())?;
        for reduce in reduces {
            reduce.check(dtype)?;
        }
        let layout = Layout::contiguous(dtype, shape)?;
        let one = stand_in(dtype, shape)?;
        let way = self.way_of(&layout, axis, reduces, true);
        let mut facts = self.facts();
        let names: Vec<&str> = reduces.iter().map(|r| r.name()).collect();
        facts.push(("reductions", names.join(", ")));
        facts.push(("dtype", dtype.to_string()));
        facts.push(("way", way.0.to_string()));
        facts.push(("reason", way.1.to_owned()));
        let bytes = layout.len().saturating_mul(dtype.size());
        match (way.0, reduces.first()) {
            (Way::Grouped, _) => {
                facts.push(("threads, at most", self.threads_for(bytes).to_string()));
                facts.push(("trips over the source", "1".to_owned()));
            }
            (Way::InOrder, None) => {}
            (Way::InOrder, Some(reduce)) => {
                facts.push(("trips over the source", reduces.len().to_string()));
                let src: DynView<'_> = one.view();
                let src = src.broadcast_to(shape).ok_or_else(|| Problem::Layout {
                    argument: "src".into(),
                    why: "it has no such shape".into(),
                })?;
                let mut out = src.dims();
                out[axis] = self.size();
                let (start, reduction) = reduce.anew();
                let target = Target::New { dtype, start };
                let destinations = self.destinations(shape, &out, axis)?;
                let scatter = Scatter::new(destinations, reduction, "src", src.clone(), target)?;
                let execution = scatter.proven().execution()?;
                facts.push(("strategy", execution.strategy().to_string()));
                facts.push(("why this strategy", execution.reason().to_owned()));
            }
            #[allow(unreachable_patterns)]
            _ => {}
        }
        Ok(Explanation { facts })
    }

    /// What is known about the index.
    #[must_use]
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        if let Some(name) = self.name() {
            facts.push(("plan", name.to_owned()));
        }
        let range = match self.min().zip(self.max()) {
            Some((low, high)) => format!("{low} to {high}"),
            None => "none".into(),
        };
        facts.extend([
            ("updates", self.len().to_string()),
            ("rows", self.size().to_string()),
            ("rows that are touched", self.touched().to_string()),
            ("row numbers", range),
            (
                "most updates of one row",
                self.max_multiplicity().to_string(),
            ),
            ("updates left out", self.dropped().to_string()),
            ("sorted", self.is_sorted().to_string()),
            ("unique", self.is_unique().to_string()),
            ("bytes of the plan", self.memory().to_string()),
        ]);
        facts
    }
}
