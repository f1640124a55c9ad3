//! How an accumulator takes another one.

use crate::accumulator::touched::Touched;
use crate::accumulator::{Accumulator, context, value};
use crate::plan::{Aggregate, AggregateOptions};
use strew_kernel::error::{Problem, Result};
use strew_kernel::tensor::try_vec;

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
        let pairs = self.wanted.iter().zip(&self.kept.wanted);
        for (&aggregate, wanted) in pairs {
            if self.states.depends_on_order(wanted.statistic) {
                return Err(order_matters(aggregate));
            }
            if wanted.statistic.facts().of_places
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
        self.merge_records(other)?;
        self.rows = self.rows.max(other.rows);
        self.taken = taken;
        Ok(())
    }

    fn merge_records(&mut self, other: &Self) -> Result<(), Problem> {
        let rows = self.rows.max(other.rows);
        let records = other.states.rows();
        self.make_sparse(self.is_sparse(rows, self.states.rows() + records))?;
        let groups = other.touched.as_ref().map(Touched::groups);
        let Some(touched) = &mut self.touched else {
            return match groups {
                None => self.states.merge(&self.kept, &other.states),
                Some(groups) => {
                    let others = other.states.spread(&self.kept, groups, rows)?;
                    self.states.merge(&self.kept, &others)
                }
            };
        };
        let mut found = try_vec("the list of groups of an accumulator", records)?;
        match groups {
            None => found.extend(0..records.cast_signed() as i64),
            Some(groups) => found.extend_from_slice(groups),
        }
        let merged = touched.find(&mut found).and_then(|()| {
            let others = other.states.spread(&self.kept, &found, touched.len())?;
            self.states.merge(&self.kept, &others)
        });
        // After an error, groups that only the other one has have no record.
        touched.truncate(self.states.rows());
        merged
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
    let other = match aggregate.facts().exact {
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
