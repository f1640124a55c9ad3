//! The one choice of a call: which way a scatter goes.
//!
//! ```text
//! few elements that join cells of their own type   -> small
//! a large copy in which a slice is replaced        -> replace-slice
//! anything else                                    -> what the cost model says
//! ```
//! It is made once per call: [`perform`](Scatter::perform) runs it, and
//! [`execution`](Scatter::execution) explains it. Rows that lie one after the other
//! (`Destinations::runs`) have one strategy only, which `scatter/segments.rs` shares out.

use crate::choose::cost;
use crate::choose::execution::Execution;
use crate::choose::grouping::grouping;
use crate::choose::request::{Request, Run, Types};
use crate::choose::strategy::Strategy;
use crate::scatter::reduction::{Finish, Init};
use crate::scatter::space::{Cut, Space};
use crate::scatter::{Scatter, Start, Target};
use strew_kernel::copy::replace_slice::ReplaceSlice;
use strew_kernel::copy::strided::LARGE;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::ops::sentinel::Unset;
use strew_kernel::tensor::Layout;
use strew_kernel::update::small::MOST_UPDATES;

// The message of `obstacle_to_small` says so.
const _: () = assert!(MOST_UPDATES == 256);

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
        let refused = |strategy: Strategy, why| Problem::Strategy {
            strategy: strategy.name(),
            why,
        };
        match self.strategy {
            Some(strategy @ Strategy::Small) => match self.obstacle_to_small(layout) {
                None => return Ok(Chosen::Small),
                Some(why) => return Err(refused(strategy, why)),
            },
            Some(strategy @ Strategy::ReplaceSlice) => {
                let job = self
                    .replaced_slice()
                    .map_err(|why| refused(strategy, why))?;
                return Ok(Chosen::ReplaceSlice(job));
            }
            Some(_) => {}
            None if self.source.view().len() <= MOST_UPDATES => {
                if self.obstacle_to_small(layout).is_none() {
                    return Ok(Chosen::Small);
                }
            }
            None => {
                if let Ok(job) = self.replaced_slice()
                    && job.bytes() >= LARGE
                {
                    return Ok(Chosen::ReplaceSlice(job));
                }
            }
        }
        Ok(Chosen::Walk(self.walked(layout, ungrouped)?))
    }

    /// Why the updates cannot join at once on the stack, if so.
    fn obstacle_to_small(&self, layout: &Layout) -> Option<&'static str> {
        let source = self.source.view();
        if source.len() > MOST_UPDATES {
            return Some("it takes 256 updates at most");
        }
        if self.exact {
            return Some("exact sums are kept in a table");
        }
        if self.arg.is_some() || self.mean().is_some() || self.reduction.init == Init::Identity {
            return Some("it gives no positions and no means, and cells keep their values");
        }
        if self.split.is_some() {
            return Some("it runs on one thread");
        }
        let joins = (self.destinations).joins_small(layout, source, self.reduction.combine);
        (!joins).then_some("updates and cells must have one type, and bounds must be strict")
    }

    /// The pass that copies an input and replaces a slice of it, or why there is none.
    fn replaced_slice(&self) -> Result<ReplaceSlice<'_>, &'static str> {
        let Target::New {
            start: Start::CopyOf(input),
            ..
        } = &self.target
        else {
            return Err("the output is not a copy of an input");
        };
        if self.reduction.combine != Combine::Assign || self.arg.is_some() {
            return Err("the updates must replace values, without positions");
        }
        if self.split.is_some() {
            return Err("it shares the output out by bytes, and takes no split");
        }
        let job = (self.destinations.slice())
            .and_then(|(first, step)| ReplaceSlice::new(input, self.source.view(), first, step));
        job.ok_or("the updates are no slice, or its rows are not whole cache lines")
    }

    /// What the cost model says of a walk over the updates.
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
            if request.private {
                let table = Layout::contiguous(types.dst, self.destinations.shape())?;
                space = self.space(&table);
                cut = space.cut();
            }
        }
        let mut execution = Execution::new(&space, cut, request, types, grouped)?;
        if let Target::New { start, .. } = &self.target {
            execution.begin = execution.begin_of(start, &space, layout);
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
        if !request.from_identity || self.exact || request.force == Some(Strategy::Grouped) {
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
                cost::unset_pays(cells, updates, self.strategy) && matches!(start, Start::CopyOf(_))
            }
            Target::InPlace { .. } => cost::private_pays(cells, updates, self.strategy, space, cut),
        }
    }
}
