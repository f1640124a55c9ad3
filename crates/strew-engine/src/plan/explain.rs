//! What a plan tells about itself and its runs.

use crate::describe::split::Split;
use crate::describe::strategy::Reason;
use crate::describe::{Scatter, Target};
use crate::explain::profile::Profile;
use crate::explain::report::{Alternative, Report};
use crate::explain::words::sentence;
use crate::plan::Plan;
use crate::plan::reduce::Reduce;
use crate::plan::run::stand_in;
use crate::plan::way::Way;
use crate::traffic::text::Explanation;
use crate::traffic::{GroupedBytes, GroupedRows, Traffic, text};
use strew_kernel::bucket::cached::CachedBucketLists;
use strew_kernel::error::{Problem, Result};
use strew_kernel::groups::csr::Csr;
use strew_kernel::runtime::machine::Machine;
use strew_kernel::tensor::{DType, DynView, Layout};

/// Names and values.
type Facts = Vec<(&'static str, String)>;

/// How some reductions would run.
pub(crate) struct Told {
    /// The way, and why.
    pub way: (Way, Reason),
    facts: Facts,
    pub traffic: Option<Traffic>,
    /// How the first is shared out, and among how many threads.
    pub split: Option<(Split, usize)>,
}

impl Told {
    fn explanation(&self, machine: Option<&Machine>) -> Explanation {
        let (way, why) = self.way;
        let traffic = self.traffic.as_ref();
        let mut facts = self.facts.clone();
        facts.extend(traffic.iter().flat_map(|traffic| traffic.facts()));
        if let (Some(traffic), Some(machine)) = (traffic, machine) {
            facts.extend(traffic.forecast(machine));
        }
        Explanation::new(sentence(how(way), why, traffic, machine), facts)
    }
}

/// What a run of a plan does.
fn how(way: Way) -> &'static str {
    match way {
        Way::InOrder => "takes the updates in order, one after the other",
        Way::Grouped => "takes the updates row by row, as the plan has grouped them",
    }
}

impl Plan {
    /// What is known about the index, and how these reductions of a contiguous source of this type
    /// and shape would run.
    ///
    /// ```
    /// # mod strew { pub use strew_engine::{plan::*, plan::reduce::*, plan::aggregate::*, describe::bounds::*}; pub use strew_kernel::{error::Error, tensor::*}; }
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
        self.explain_with(dtype, shape, dim, reduces, None)
    }

    /// Likewise, with the time that the runs should take on a machine that was measured: without
    /// that of grouping the updates, which is done once for all runs.
    ///
    /// # Errors
    /// As [`explain`](Self::explain).
    pub fn explain_on(
        &self,
        machine: &Machine,
        dtype: DType,
        shape: &[usize],
        dim: i64,
        reduces: &[Reduce],
    ) -> Result<Explanation> {
        self.explain_with(dtype, shape, dim, reduces, Some(machine))
    }

    fn explain_with(
        &self,
        dtype: DType,
        shape: &[usize],
        dim: i64,
        reduces: &[Reduce],
        machine: Option<&Machine>,
    ) -> Result<Explanation> {
        let told = self.tell(dtype, shape, dim, reduces);
        let told = told.map_err(|problem| self.context().error(problem))?;
        Ok(told.explanation(machine))
    }

    /// What [`explain`](Self::explain) tells, as HTML to be put into a page: with the histogram of
    /// the index, and, on a machine that was measured, with a roofline and the time of both ways.
    ///
    /// # Errors
    /// As [`explain`](Self::explain).
    pub fn report(
        &self,
        machine: Option<&Machine>,
        dtype: DType,
        shape: &[usize],
        dim: i64,
        reduces: &[Reduce],
    ) -> Result<String> {
        let failed = |problem| self.context().error(problem);
        let told = self.tell(dtype, shape, dim, reduces).map_err(failed)?;
        let alternatives = Way::ALL.map(|way| {
            let other = self.clone().with_way(Some(way));
            let run = other.tell(dtype, shape, dim, reduces);
            let time = |run: Told| Some(run.traffic?.seconds(machine?));
            Alternative {
                name: way.name().to_owned(),
                chosen: way == told.way.0,
                time: match run {
                    Ok(run) if run.way.0 != way => Err(run.way.1.text().to_owned()),
                    Ok(run) => Ok(time(run)),
                    Err(problem) => Err(problem.to_string()),
                },
            }
        });
        let profile = Profile::of(self.numbers(), self.size()).map_err(failed)?;
        let each = shape.iter().copied().fold(1, usize::saturating_mul);
        let report = Report {
            title: self.name().unwrap_or("strew.Plan"),
            told: &told.explanation(machine),
            profile: Some(&profile),
            split: told.split,
            traffic: told.traffic.as_ref(),
            elements: each.saturating_mul(reduces.len()) as u64,
            machine,
            alternatives: &alternatives,
        };
        Ok(report.fragment())
    }

    pub(crate) fn tell(
        &self,
        dtype: DType,
        shape: &[usize],
        dim: i64,
        reduces: &[Reduce],
    ) -> Result<Told, Problem> {
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
        facts.push(("reason", way.1.text().to_owned()));
        let bytes = layout.len().saturating_mul(dtype.size());
        let folded = reduces.iter().filter(|&&r| r != Reduce::Assign).count();
        let trips = match way.0 {
            Way::InOrder => reduces.len(),
            _ => folded.min(1),
        };
        facts.push(("trips over the source", trips.to_string()));
        if reduces.is_empty() || layout.is_empty() {
            return Ok(Told {
                way,
                facts,
                traffic: None,
                split: None,
            });
        }
        if way.0 == Way::Grouped {
            let threads = self.threads_for(bytes);
            facts.push(("threads, at most", threads.to_string()));
            facts.push(working_memory(self.room_for_groups()));
            let traffic = self.by_groups(&layout, axis, reduces, threads);
            return Ok(Told {
                way,
                facts,
                traffic,
                split: (threads > 1).then_some((Split::Owner, threads)),
            });
        }
        let src = one.view().broadcast_to(shape);
        let src = src.ok_or_else(|| Problem::Layout {
            argument: "src".into(),
            why: "it has no such shape".into(),
        })?;
        let mut told = Told {
            way,
            facts,
            traffic: None,
            split: None,
        };
        self.in_order(&src, axis, reduces, &mut told)?;
        Ok(told)
    }

    /// Adds to `told` what these reductions do if they run in order, one after the other: their
    /// strategy and their memory, how the first is shared out, and what they move.
    fn in_order(
        &self,
        src: &DynView<'_>,
        axis: usize,
        reduces: &[Reduce],
        told: &mut Told,
    ) -> Result<(), Problem> {
        let dtype = src.dtype();
        let bytes = src.len().saturating_mul(dtype.size());
        let mut traffic: Option<Traffic> = None;
        let mut most = 0;
        for reduce in reduces {
            let mut out = src.dims();
            out[axis] = self.size();
            let (start, reduction) = reduce.for_new();
            let target = Target::New { dtype, start };
            let destinations = self.destinations(src.shape(), &out, axis)?;
            let scatter = Scatter::new(destinations, reduction, "src", src.clone(), target)?;
            let scatter = scatter.exactly(reduce.is_exact())?.proven();
            let keeps = self.keeps_lists(&scatter)?;
            let scatter = if keeps {
                scatter.keeping_lists()
            } else {
                scatter
            };
            let execution = scatter.execution()?;
            let making = if keeps { self.room_for_lists() } else { 0 };
            if traffic.is_none() {
                told.split = execution.split();
                let facts = &mut told.facts;
                facts.push(("strategy", execution.strategy().to_string()));
                facts.push(("why this strategy", execution.reason().to_owned()));
            }
            most = most.max(execution.working_memory() + making);
            let next = execution.traffic().map(|t| t.clone().of_source(bytes));
            traffic = match (next, traffic) {
                (Some(next), Some(earlier)) => Some(next.after(earlier)),
                (next, earlier) => next.or(earlier),
            };
        }
        told.facts.push(working_memory(most));
        told.traffic = traffic;
        Ok(())
    }

    /// Bytes that it takes to make the groups, unless they are there.
    fn room_for_groups(&self) -> usize {
        let index = &*self.index;
        match index.groups.get() {
            Some(_) => 0,
            None => Csr::room(index.numbers.len(), index.size, index.facts, self.touched()),
        }
    }

    /// Bytes that it takes to make the lists, unless they are there.
    fn room_for_lists(&self) -> usize {
        match self.index.lists.get() {
            Some(_) => 0,
            None => CachedBucketLists::room(self.len(), self.size()),
        }
    }

    /// What a run by groups moves.
    fn by_groups(
        &self,
        src: &Layout,
        axis: usize,
        reduces: &[Reduce],
        threads: usize,
    ) -> Option<Traffic> {
        let size = src.dtype().size();
        let (outer, inner) = (&src.shape()[..axis], &src.shape()[axis + 1..]);
        let product = |sizes: &[usize]| sizes.iter().copied().fold(1, usize::saturating_mul);
        let pieces = product(outer);
        let row = product(inner).saturating_mul(size);
        let output = pieces.saturating_mul(self.size()).saturating_mul(row);
        let order = match self.is_sorted() {
            true => 0,
            false => self.index.numbers.bytes(),
        };
        let source = src.len().saturating_mul(size);
        let lasts = reduces.iter().filter(|&&r| r == Reduce::Assign).count();
        let folded = reduces.len() - lasts;
        let mut all = None;
        if folded > 0 {
            all = Some(Traffic::grouped(
                "reduce row by row",
                GroupedBytes {
                    order,
                    source,
                    outputs: output.saturating_mul(folded),
                },
                GroupedRows {
                    count: pieces.saturating_mul(self.len()),
                    bytes: row,
                    in_order: self.is_sorted(),
                },
                threads,
            ));
        }
        if lasts > 0 {
            let lasts_of = |bytes: usize| bytes.saturating_mul(lasts);
            let copied = Traffic::grouped(
                "copy the last update of each row",
                GroupedBytes {
                    order: lasts_of(order),
                    source: lasts_of(self.last_bytes(src)),
                    outputs: lasts_of(output),
                },
                GroupedRows {
                    count: lasts_of(pieces.saturating_mul(self.touched())),
                    bytes: row,
                    in_order: self.is_sorted(),
                },
                threads,
            );
            all = Some(match all {
                Some(earlier) => copied.after(earlier),
                None => copied,
            });
        }
        all
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

/// As `strew explain` shows it.
fn working_memory(bytes: usize) -> (&'static str, String) {
    ("working memory, at most", text::bytes(bytes as u64))
}
