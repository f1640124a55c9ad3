//! The one choice of a call: which way a scatter goes.
//!
//! ```text
//! few elements that join cells of their own type   -> small
//! a large copy in which a slice is replaced        -> replace-slice
//! anything else                                    -> the first strategy that pays
//! ```
//! It is made once per call: [`perform`](Scatter::perform) runs it, and
//! [`execution`](Scatter::execution) explains it. Rows that lie one after the other
//! (`Destinations::runs`) have one strategy only, which `strategy/runs` shares out.

use crate::describe::reduction::Finish;
use crate::describe::strategy::{Reason, Strategy};
use crate::describe::{Scatter, Start, Target};
use crate::run::begin::begin_of;
use crate::strategy::execution::Execution;
use crate::strategy::grouped::grouping;
use crate::strategy::wide::Wide;
use crate::strategy::{in_order, partition, table, tiled};
use crate::strategy::{replace_slice, small};
use crate::strides::request::{Cells, Request, Run, Types};
use crate::strides::space::{Cut, Space};
use crate::threads::ascending::seems_to_ascend;
use crate::threads::share::share;
use strew_kernel::copy::replace_slice::ReplaceSlice;
use strew_kernel::copy::strided::LARGE;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::ops::sentinel::Unset;
use strew_kernel::tensor::Layout;
use strew_kernel::update::small::MOST_UPDATES;

/// The way that a scatter goes, with all that its run needs.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is made once per call, and stays where it is"
)]
pub(crate) enum Chosen<'s> {
    /// All updates join at once, on the stack.
    Small,
    /// One pass over a new tensor: the input, with the updates in place of a slice.
    ReplaceSlice(ReplaceSlice<'s>),
    /// The updates are walked over, as the execution says.
    Walk(Walked<'s>),
}

/// A run that walks over its updates.
#[derive(Debug)]
pub(crate) struct Walked<'s> {
    pub(crate) space: Space<'s>,
    pub(crate) execution: Execution,
}

impl Scatter<'_> {
    /// Chooses the way. `into` is the layout of the caller's memory if the run is in place.
    /// `ungrouped` is a reason against groups that the scatter does not know.
    pub(crate) fn choose(
        &self,
        into: Option<&Layout>,
        ungrouped: Option<&'static str>,
    ) -> Result<Chosen<'_>, Problem> {
        let new;
        let layout = match into {
            Some(layout) => layout,
            None => {
                new = Layout::contiguous(self.dtype(), self.destinations.shape())?;
                &new
            }
        };
        match self.strategy {
            Some(strategy @ Strategy::Small) => match small::obstacle(self, layout) {
                None => return Ok(Chosen::Small),
                Some(why) => return Err(refused(strategy, why)),
            },
            Some(strategy @ Strategy::ReplaceSlice) => {
                let job = replace_slice::job(self).map_err(|why| refused(strategy, why))?;
                return Ok(Chosen::ReplaceSlice(job));
            }
            Some(_) => {}
            None if self.source.view().len() <= MOST_UPDATES => {
                if small::obstacle(self, layout).is_none() {
                    return Ok(Chosen::Small);
                }
            }
            None => {
                if let Ok(job) = replace_slice::job(self)
                    && job.bytes() >= LARGE
                {
                    return Ok(Chosen::ReplaceSlice(job));
                }
            }
        }
        Ok(Chosen::Walk(self.walked(layout, ungrouped)?))
    }

    /// How the updates are walked over.
    fn walked(
        &self,
        layout: &Layout,
        ungrouped: Option<&'static str>,
    ) -> Result<Walked<'_>, Problem> {
        let types = Types {
            dst: self.dtype(),
            src: self.source.view().dtype(),
        };
        let mut space = self.space(layout);
        let mut cut = space.cut();
        let mut request = self.request(layout, false);
        request.ungrouped = request.ungrouped.or(ungrouped);
        let grouped = grouping(&Run {
            space: &space,
            cut: &cut,
            request: &request,
            types,
        });
        if grouped.is_none() && self.sums_into_sentinels(&request, &space, &cut) {
            request = self.request(layout, true);
            if request.cells == Cells::Private {
                let table = Layout::contiguous(types.dst, self.destinations.shape())?;
                space = self.space(&table);
                cut = space.cut();
            }
        }
        let mut execution = Execution::new(&space, cut, request, types, grouped)?;
        if let Target::New { start, .. } = &self.target {
            execution.begin = begin_of(&execution, start, &space, layout);
        }
        Ok(Walked { space, execution })
    }

    /// The updates as strides. `layout` is the destination's.
    pub(crate) fn space(&self, layout: &Layout) -> Space<'_> {
        let source = self.source.view().layout();
        (self.destinations).space(layout, source, self.arg.is_some())
    }

    /// Whether sums that leave out the cells' own values start from sentinels.
    fn sums_into_sentinels(&self, request: &Request, space: &Space<'_>, cut: &Cut) -> bool {
        if request.cells != Cells::Identity
            || self.exact
            || request.force == Some(Strategy::Grouped)
        {
            return false;
        }
        let dtype = self.dtype();
        let sum = (self.reduction.combine, self.reduction.finish) == (Combine::Sum, Finish::None);
        if !sum || Unset::Signalling.value(dtype).is_none() || self.source.view().dtype() != dtype {
            return false;
        }
        let (cells, updates) = (self.cells(), self.source.view().len());
        match &self.target {
            Target::New { start, .. } => {
                in_order::unset_pays(cells, updates, self.strategy)
                    && matches!(start, Start::CopyOf(_))
            }
            Target::InPlace { .. } => {
                in_order::private_pays(cells, updates, self.strategy, space, cut)
            }
        }
    }
}

/// The strategy, and why it pays. `grouped` is why updates are grouped, if they are.
fn strategy_of(run: &Run<'_, '_>, grouped: Option<Reason>) -> Result<(Strategy, Reason), Problem> {
    if let Some(strategy) = run.request.force {
        return match refusal(run, strategy) {
            None => Ok((strategy, Reason::Asked)),
            Some(why) => Err(refused(strategy, why)),
        };
    }
    if let Some(why) = grouped {
        return Ok((Strategy::Grouped, why));
    }
    if run.needs_table() {
        let (strategy, why) = table::choose(run);
        return Ok((strategy, Reason::Pays(why)));
    }
    let partition = partition::pays(run).map(|why| (Strategy::Partition, why));
    let tiled = || tiled::pays(run).map(|why| (Strategy::Tiled, why));
    let chosen = partition.or_else(tiled);
    let (strategy, why) = chosen.unwrap_or((Strategy::InOrder, in_order::REASON));
    Ok((strategy, Reason::Pays(why)))
}

fn refused(strategy: Strategy, why: &'static str) -> Problem {
    Problem::Strategy {
        strategy: strategy.name(),
        why,
    }
}

/// Why a strategy cannot run this, if so.
fn refusal(run: &Run<'_, '_>, strategy: Strategy) -> Option<&'static str> {
    match strategy {
        Strategy::InOrder | Strategy::Tiled | Strategy::Partition if run.needs_table() => {
            Some("cells cannot hold counts, nor exact sums, nor sums of 16-bit floats in float32")
        }
        Strategy::InOrder => None,
        Strategy::DenseTable | Strategy::CompactTable => table::obstacle(run),
        Strategy::Tiled => tiled::obstacle(run),
        Strategy::Partition => partition::obstacle(run),
        Strategy::Grouped => run.request.ungrouped,
        Strategy::Runs => Some("updates of one row need not lie one after the other"),
        Strategy::Small | Strategy::ReplaceSlice => Some("the updates are walked over"),
    }
}

impl Execution {
    /// A walk over the updates. `grouped`: why they are grouped by row, if they are.
    pub(crate) fn new(
        space: &Space<'_>,
        cut: Cut,
        request: Request,
        types: Types,
        grouped: Option<Reason>,
    ) -> Result<Self, Problem> {
        let run = Run {
            space,
            cut: &cut,
            request: &request,
            types,
        };
        let (strategy, reason) = strategy_of(&run, grouped)?;
        let split = share(&run, strategy)?;
        let wide = match strategy {
            Strategy::DenseTable if !request.exact => Wide::choose(&request, space, &cut, types),
            _ => None,
        };
        let ascends = split.is_some_and(|(split, _)| seems_to_ascend(&run, strategy, split));
        let listed = partition::memory(&run, split);
        Ok(Self {
            listed,
            marks: in_order::marks(&request, strategy, &cut),
            split,
            ascends,
            wide,
            ..Self::of(strategy, reason, space.lookups.len(), cut, request, types)
        })
    }
}
