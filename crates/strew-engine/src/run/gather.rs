//! The run of a gather: a scatter's walk from the places to the updates.

use crate::describe::destinations::Destinations;
use crate::describe::gather::Gather;
use crate::describe::reduction::Reduction;
use crate::describe::split::Split;
use crate::describe::strategy::{Reason, Strategy};
use crate::describe::{Output, Scatter, Target};
use crate::strategy::execution::Execution;
use crate::strides::reader::Reader;
use crate::strides::request::{Cells, Request, Types};
use crate::strides::space::{Cut, Space};
use crate::threads::check_index::all_left_out;
use crate::threads::crew::{Crew, Worker};
use crate::threads::pass::{Fault, Pass, terms, unfit, unnumbered};
use crate::threads::share::threads;
use strew_kernel::copy::take_walk::TakeWalk;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::runtime::monitor::Watch;
use strew_kernel::tensor::{DType, DynTensor, DynView, DynViewMut, Held, Layout};
use strew_kernel::walk::cursor::Cursor;

/// One part of a run: some of the elements.
struct GatherPart<'p, 'i> {
    space: Space<'i>,
    output: DynViewMut<'p>,
}

impl Execution {
    fn fetch(
        &self,
        space: &Space<'_>,
        cut: &Cut,
        input: &DynView<'_>,
        mut output: DynViewMut<'_>,
        worker: Worker<'_>,
    ) -> Result<(), Fault> {
        let rules = space.rules();
        let terms = terms(space, cut);
        let fetch =
            TakeWalk::new(&unnumbered(cut, &terms), input, &mut output).ok_or_else(unfit)?;
        let mut pass = Pass {
            reader: Reader {
                lookups: &space.lookups,
                rules: &rules,
                cut,
                origin: &[],
            },
            walk: fetch.walk(),
            progress: &mut self.progress(cut, worker),
        };
        let mut cursor = Cursor::new(fetch.walk());
        if !fetch.has_lines(&cursor, &pass.reader) {
            return pass.each(|block| fetch.run(block));
        }
        loop {
            let done = fetch.run_lines(&mut cursor, &pass.reader)?;
            if !pass.step(done)? {
                return Ok(());
            }
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Execution {
    /// Copies the cells of `input` that the space names to `output`, which has the shape of the
    /// updates.
    pub fn gather(
        &self,
        space: &Space<'_>,
        input: &DynView<'_>,
        output: DynViewMut<'_>,
    ) -> Result<(), Fault> {
        if space.is_empty() {
            return Ok(());
        }
        if space.rules().iter().any(|rule| rule.size == 0) {
            return all_left_out(space);
        }
        let watch = Watch::take();
        let crew = Crew::new(self.threads(), watch.monitor());
        match self.split() {
            Some((Split::Axis(axis), threads)) if crew.threads() > 1 => {
                let parts = parts(space, output, axis, threads).ok_or_else(unfit)?;
                let fetched = crew.each(parts, |part, worker| {
                    self.fetch(&part.space, &part.space.cut(), input, part.output, worker)
                });
                fetched.map(drop)
            }
            _ => self.fetch(space, &self.cut, input, output, crew.caller()),
        }
    }
}

/// The elements and their places, cut along an axis into as many parts, or fewer.
fn parts<'p, 'i>(
    space: &Space<'i>,
    mut rest: DynViewMut<'p>,
    axis: usize,
    count: usize,
) -> Option<Vec<GatherPart<'p, 'i>>> {
    let len = space.axes[axis].len;
    let count = count.clamp(1, len);
    let mut parts = Vec::with_capacity(count);
    let mut from = 0;
    for n in 1..=count {
        let end = n * len / count;
        let (output, others) = rest.split_at(axis, end - from)?;
        parts.push(GatherPart {
            space: space.stretch(axis, from, end - from)?,
            output,
        });
        (rest, from) = (others, end);
    }
    Some(parts)
}

impl Execution {
    /// A gather: the updates' walk, gone the other way. Each element is written once, so the one
    /// strategy is to go in order, and whatever axis the run is shared out along, no part writes
    /// what another does.
    pub(crate) fn of_gather(
        space: &Space<'_>,
        dtype: DType,
        force: Option<Strategy>,
        split: Option<(Split, usize)>,
    ) -> Result<Self, Problem> {
        if let Some(strategy) = force.filter(|&strategy| strategy != Strategy::InOrder) {
            return Err(Problem::Strategy {
                strategy: strategy.name(),
                why: "a gather goes in order",
            });
        }
        let request = Request {
            combine: Combine::Assign,
            cells: Cells::Kept,
            mean: None,
            exact: false,
            visible: false,
            proven: false,
            listed: false,
            ungrouped: None,
            force,
            split,
        };
        let types = Types {
            dst: dtype,
            src: dtype,
        };
        let reason = Reason::of(force, "each element is read from where it is");
        let (lookups, cut) = (space.lookups.len(), space.cut());
        Ok(Self {
            split: split_of(space, split, dtype.size())?,
            ..Self::of(Strategy::InOrder, reason, lookups, cut, request, types)
        })
    }
}

/// How a gather is shared out: along the outermost axis that has enough for every thread.
fn split_of(
    space: &Space<'_>,
    asked: Option<(Split, usize)>,
    size: usize,
) -> Result<Option<(Split, usize)>, Problem> {
    let Some((split, parts)) = asked else {
        let lens = space.axes.iter().map(|axis| axis.len);
        let threads = threads(lens.clone().fold(size, usize::saturating_mul));
        let axis = lens.clone().position(|len| len >= threads);
        return Ok(axis
            .filter(|_| threads > 1)
            .map(|axis| (Split::Axis(axis), threads)));
    };
    let why = match split {
        Split::Axis(axis) if axis < space.axes.len() => return Ok(Some((split, parts))),
        Split::Axis(_) => "the updates have no such axis",
        Split::Owner | Split::Updates => "each element of a gather has a place of its own",
    };
    Err(Problem::Strategy {
        strategy: split.name(),
        why,
    })
}

impl<'a> Gather<'a> {
    /// How this would run.
    ///
    /// # Errors
    /// [`Problem::Strategy`] if what was forced cannot run it.
    pub fn execution(&self) -> Result<Execution, Problem> {
        let input = self.input.view();
        let output = Layout::contiguous(input.dtype(), self.places.updates_shape())?;
        self.plan(&self.places.space(input.layout(), &output, false))
    }

    fn plan(&self, space: &Space<'_>) -> Result<Execution, Problem> {
        Execution::of_gather(space, self.input.view().dtype(), self.strategy, self.split)
    }

    /// Runs it.
    ///
    /// # Errors
    /// Any [`Problem`] with the indices or memory.
    pub fn run(self) -> Result<Output, Problem> {
        self.perform()
    }

    /// Makes every element the one for indices that are left out.
    fn fill(&self, argument: &'static str, view: DynViewMut<'_>) -> Result<(), Problem> {
        let places = Destinations::whole(view.shape(), &[]);
        let element = match &self.fill {
            Some(fill) => DynTensor::filled(fill.dtype(), &[], fill.as_bytes())?,
            None => DynTensor::zeros(view.dtype(), &[])?,
        };
        let wide = Held::from(element).map(|one| one.broadcast_to(view.shape()));
        let reduction = Reduction::into_self(Combine::Assign);
        let target = Target::InPlace { argument, view };
        match wide {
            Some(wide) => Scatter::new(places, reduction, "fill", wide, target)?
                .run()
                .map(drop),
            None => Ok(()),
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl<'a> Gather<'a> {
    /// Runs it into memory of the caller's, of the result's shape and the input's type. A fill is
    /// written only if an index is left out.
    ///
    /// # Errors
    /// Any [`Problem`] with the memory or the indices; a part of the memory may have been written
    /// then.
    pub fn run_into(
        &self,
        argument: &'static str,
        mut view: DynViewMut<'_>,
    ) -> Result<(), Problem> {
        let input = self.input.view();
        let (found, wanted) = (view.shape(), self.places.updates_shape());
        if found != wanted || view.dtype() != input.dtype() {
            return Err(Problem::Shape {
                argument,
                found: found.to_vec(),
                expected: format!("it must be {wanted:?}, of {}", input.dtype()),
            });
        }
        self.check_overlap("input", argument, &mut view)?;
        let layout = view.layout().clone();
        let space = self.places.space(input.layout(), &layout, false);
        if self.places.drops() && !space.leaves_none_out() {
            self.fill(argument, view.reborrow())?;
        }
        let run = self.plan(&space)?.gather(&space, input, view);
        run.map_err(|fault| fault.into_problem(|| self.places.find_out_of_bounds()))
    }

    /// [`run`](Self::run) of a gather that stays where it is.
    pub fn perform(&self) -> Result<Output, Problem> {
        let input = self.input.view();
        let shape = self.places.updates_shape();
        let mut tensor = match self.places.drops() {
            true => match &self.fill {
                Some(fill) => DynTensor::filled(input.dtype(), shape, fill.as_bytes())?,
                None => DynTensor::zeros(input.dtype(), shape)?,
            },
            false => DynTensor::scratch(input.dtype(), shape)?,
        };
        let space = self.places.space(input.layout(), tensor.layout(), false);
        let run = self.plan(&space)?.gather(&space, input, tensor.view_mut());
        run.map_err(|fault| fault.into_problem(|| self.places.find_out_of_bounds()))?;
        if let Some(shape) = &self.shape {
            tensor = tensor.reshape(shape).unwrap_or_else(|tensor| tensor);
        }
        Ok(Output {
            tensor: Some(tensor),
            arg: None,
        })
    }
}
