//! How an accumulator takes another one.

use crate::accumulator::{Accumulator, context, value};
use crate::plan::{Aggregate, AggregateOptions};
use strew_kernel::error::{Problem, Result};
use strew_kernel::group_stats::running::depends_on_place;

impl Accumulator {
    /// Takes what another accumulator has made of other values, as if their chunks had come here.
    ///
    /// It is allowed where the result does not depend on the order of the values: sums, products
    /// and means of integers, exact sums and what is made of them, min and max, any and all,
    /// counts, and first, last, argmin and argmax, whose positions are known. Of equal values that
    /// min and max may keep, such as 0.0 and -0.0, those of `self` stay.
    ///
    /// # Errors
    /// [`Class::Value`](strew_kernel::error::Class::Value) for an accumulator with other arguments,
    /// for statistics that depend on the order, and where a statistic depends on positions and both
    /// have taken the same one; [`Class::Memory`](strew_kernel::error::Class::Memory). The
    /// accumulator is then as it was.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.join_with(other)
            .map_err(|problem| context().error(problem))
    }

    fn join_with(&mut self, other: &Self) -> Result<(), Problem> {
        if let Some(what) = self.differs(other) {
            let expected = format!("it must have the same {what}");
            return Err(value("other", format!("{other:?}"), &expected));
        }
        let summaries = self.wanted.iter().zip(&self.kept.wanted);
        for (&aggregate, summary) in summaries {
            if self.states.depends_on_order(summary.statistic) {
                return Err(order_matters(aggregate));
            }
            if depends_on_place(summary.statistic)
                && let Some(at) = self.taken.shared(&other.taken)
            {
                let expected = format!(
                    "both have taken position {at}, so {} is not known: give each chunk its `start`",
                    aggregate.name()
                );
                return Err(value("other", format!("{other:?}"), &expected));
            }
        }
        let taken = self.taken.joined(&other.taken)?;
        self.states.merge(&self.kept, &other.states)?;
        self.taken = taken;
        Ok(())
    }

    /// The argument in which another accumulator differs.
    fn differs(&self, other: &Self) -> Option<&'static str> {
        let fills = |all: &Self| -> Vec<Vec<u8>> {
            let fills = all.kept.wanted.iter();
            fills
                .map(|wanted| wanted.fill.as_bytes().to_vec())
                .collect()
        };
        let counted = |options: &AggregateOptions| (options.skip_nan, options.min_count);
        let same = [
            ("reduce", self.wanted == other.wanted),
            ("dtype", self.dtype == other.dtype),
            ("shape", self.shape == other.shape),
            ("size", self.size == other.size),
            ("mode", self.bounds == other.bounds),
            (
                "skipna and min_count",
                counted(&self.options) == counted(&other.options),
            ),
            (
                "ddof",
                self.options.ddof.to_bits() == other.options.ddof.to_bits(),
            ),
            ("fill_value", fills(self) == fills(other)),
            ("exact", self.options.exact == other.options.exact),
        ];
        let differs = same.into_iter().find(|(_, same)| !same);
        differs.map(|(what, _)| what)
    }
}

/// The problem of a statistic that cannot be merged.
fn order_matters(aggregate: Aggregate) -> Problem {
    let other = match aggregate.has_exact_value() {
        true => "exact=True, or ",
        false => "",
    };
    value(
        "reduce",
        format!("{:?}", aggregate.name()),
        &format!(
            "it is rounded in the order of the values, so merging would change its bits: \
             pass {other}all chunks to one accumulator"
        ),
    )
}
