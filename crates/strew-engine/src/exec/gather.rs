//! The run of a gather: a scatter's walk from the places to the updates.

use crate::choose::execution::Execution;
use crate::choose::split::Split;
use crate::exec::check_index::all_left_out;
use crate::exec::crew::{Crew, Worker};
use crate::exec::pass::{Fault, Pass, terms, unfit, unnumbered};
use crate::scatter::reader::Reader;
use crate::scatter::space::{Cut, Space};
use strew_kernel::copy::take_walk::TakeWalk;
use strew_kernel::runtime::monitor::Watch;
use strew_kernel::tensor::{DynView, DynViewMut};
use strew_kernel::walk::cursor::Cursor;

/// One part of a run: some of the elements.
struct Part<'p, 'i> {
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
) -> Option<Vec<Part<'p, 'i>>> {
    let len = space.axes[axis].len;
    let count = count.clamp(1, len);
    let mut parts = Vec::with_capacity(count);
    let mut from = 0;
    for n in 1..=count {
        let end = n * len / count;
        let (output, others) = rest.split_at(axis, end - from)?;
        parts.push(Part {
            space: space.stretch(axis, from, end - from)?,
            output,
        });
        (rest, from) = (others, end);
    }
    Some(parts)
}
