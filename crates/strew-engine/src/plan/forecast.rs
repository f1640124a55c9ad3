//! What the runs of a plan would take on another machine.

use crate::choose::plan_cost::Way;
use crate::explain::forecast::{Forecast, ForecastOf, Forecasts, Model, Run};
use crate::explain::other_machine::OtherMachine;
use crate::explain::pace::{
    Pace, SAMPLE, Shortest, WHOLE, as_index, busier_of_two, ones, some_rows, stretch,
};
use crate::explain::profile::Profile;
use crate::plan::Plan;
use crate::plan::explain::Told;
use crate::plan::reduce::Reduce;
use crate::scatter::bounds::Bounds;
use std::num::NonZeroUsize;
use std::time::Instant;
use strew_kernel::error::{Problem, Result};
use strew_kernel::runtime::machine::Machine;
use strew_kernel::runtime::threads::with_threads;
use strew_kernel::tensor::{DType, DynTensor};

/// Some reductions of a contiguous source.
#[derive(Clone, Copy)]
struct Asked<'a> {
    dtype: DType,
    shape: &'a [usize],
    dim: i64,
    reduces: &'a [Reduce],
}

impl Plan {
    /// The time that these reductions of a contiguous source of this type and shape would take on
    /// another machine, either way. Samples of the updates are run to measure how long each takes
    /// here.
    ///
    /// ```
    /// # mod strew {
    /// #     pub use strew_engine::explain::other_machine::*;
    /// #     pub use strew_engine::{plan::*, plan::reduce::*, scatter::bounds::*};
    /// #     pub use strew_kernel::{error::Error, runtime::machine::*, tensor::*};
    /// # }
    /// use strew::{Bounds, DType, Machine, OtherMachine, Plan, Reduce};
    ///
    /// let plan = Plan::new(&[0i64, 0, 2], None, Bounds::STRICT)?;
    /// let machine: OtherMachine = "64x200GB/s".parse()?;
    /// let (here, sum) = (Machine::measure()?, [Reduce::Sum]);
    /// let told = plan.forecasts(&here, &machine, DType::F32, &[3, 64], 0, &sum)?;
    /// assert!(told.chosen().is_some_and(|told| told.seconds > 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`explain`](Self::explain), and for no room for a sample.
    pub fn forecasts(
        &self,
        measured: &Machine,
        machine: &OtherMachine,
        dtype: DType,
        shape: &[usize],
        dim: i64,
        reduces: &[Reduce],
    ) -> Result<Forecasts> {
        let asked = Asked {
            dtype,
            shape,
            dim,
            reduces,
        };
        self.foretell(measured, machine, &asked)
            .map_err(|problem| self.context().error(problem))
    }

    fn foretell(
        &self,
        measured: &Machine,
        machine: &OtherMachine,
        asked: &Asked<'_>,
    ) -> std::result::Result<Forecasts, Problem> {
        let profile = Profile::of(self.numbers(), self.size())?;
        let model = Model::new(measured, machine, Some(&profile));
        let way = self.told(asked, machine.cores())?.way.0;
        let mut chosen = None;
        let mut ways = Vec::new();
        for other in Way::ALL {
            let plan = self.clone().with_way(Some(other)).with_threads(None);
            let all = plan.told(asked, machine.cores())?;
            // Some reductions cannot be grouped.
            if all.way.0 != other {
                let name = other.name();
                let forecast = Err(all.way.1.to_owned());
                ways.push(ForecastOf { name, forecast });
                continue;
            }
            let one = plan.told(asked, NonZeroUsize::MIN)?;
            let pace = plan.pace(asked, &all)?;
            let (Some(one), Some(all)) = (modelled(&one, pace), modelled(&all, pace)) else {
                continue;
            };
            let forecast: Forecast = model.forecast(&one, &all);
            if other == way {
                chosen = Some(forecast.clone());
            }
            ways.push(ForecastOf {
                name: other.name(),
                forecast: Ok(forecast),
            });
        }
        Ok(Forecasts::new(*machine, measured, chosen, ways))
    }

    /// How these reductions would run on this number of cores.
    fn told(&self, asked: &Asked<'_>, cores: NonZeroUsize) -> std::result::Result<Told, Problem> {
        with_threads(cores.get(), || {
            self.tell(asked.dtype, asked.shape, asked.dim, asked.reduces)
        })
    }

    /// What an update takes, measured with a plan of a sample of the index; `None` without updates.
    fn pace(&self, asked: &Asked<'_>, told: &Told) -> std::result::Result<Option<Pace>, Problem> {
        let axis = self.axis_of("src", asked.shape, asked.dim, self.len())?;
        let others = asked.shape.iter().enumerate().filter(|&(k, _)| k != axis);
        let width = others.fold(1, |width: usize, (_, &len)| width.saturating_mul(len));
        let row = width.saturating_mul(asked.dtype.size());
        let most = (SAMPLE / (row + size_of::<u32>())).max(1024);
        let whole = self.size().saturating_mul(row) <= WHOLE;
        let (picked, rows) = match told.way.0 == Way::InOrder && whole {
            true => (stretch(self.numbers(), self.size(), most)?, self.size()),
            false => some_rows(self.numbers(), self.size(), most)?,
        };
        if picked.len() == 0 || width == 0 || asked.reduces.is_empty() {
            return Ok(None);
        }
        let index = as_index(&picked, DType::I64)?;
        let plan = Self::analyse(&index.view(), Some(rows), Bounds::STRICT, None)?;
        let plan = plan.with_way(Some(told.way.0));
        let source = ones(asked.dtype, &[picked.len(), width])?;
        // In order, a destination that is there: a new one is begun whole, whatever the sample.
        let begins = told.way.0 == Way::Grouped;
        let mut into = match begins {
            true => None,
            false => Some(ones(asked.dtype, &[rows, width])?),
        };
        let count = picked.len() as f64;
        let one = plan.timed(&source, asked.reduces, into.as_mut(), 1)? / count;
        let two = match told.split {
            None => None,
            Some(_) => Some(plan.timed(&source, asked.reduces, into.as_mut(), 2)? / count),
        };
        let busier = busier_of_two(&picked, rows)?;
        Ok(Some(Pace {
            begins,
            ..Pace::of(one, two, busier, told.looks)
        }))
    }

    /// The seconds of a run into a new destination, or into this one: the best of a few.
    fn timed(
        &self,
        source: &DynTensor,
        reduces: &[Reduce],
        mut into: Option<&mut DynTensor>,
        threads: usize,
    ) -> std::result::Result<f64, Problem> {
        let source = source.view();
        let mut run = || match &mut into {
            None => self.make_new(&source, 0, reduces).map(drop),
            Some(out) => reduces
                .iter()
                .try_for_each(|&reduce| self.into(&source, 0, reduce, out.view_mut(), true)),
        };
        // The first run makes the groups.
        with_threads(threads, &mut run)?;
        let mut shortest = Shortest::new();
        while shortest.wants_more() {
            let begun = Instant::now();
            with_threads(threads, &mut run)?;
            shortest.add(begun.elapsed().as_secs_f64());
        }
        Ok(shortest.seconds())
    }
}

/// What the model asks of a run; `None` if nothing is moved.
fn modelled(told: &Told, pace: Option<Pace>) -> Option<Run<'_>> {
    Some(Run {
        name: told.way.0.name(),
        split: told.split,
        threads: told.split.map_or(1, |(_, threads)| threads),
        sharing: told
            .split
            .map_or("no", |(split, _)| split.name())
            .to_owned(),
        traffic: told.traffic.as_ref()?,
        pace,
        is_tried: false,
    })
}
