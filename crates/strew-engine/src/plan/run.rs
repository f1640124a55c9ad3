//! Runs of a plan.

use crate::checks::{axis, expect_dtype, expect_shape};
use crate::describe::bounds::{Bounds, Negative, OutOfRange};
use crate::describe::destinations::{Destinations, Place};
use crate::describe::strategy::{Reason, Strategy};
use crate::describe::{Scatter, Start, Target};
use crate::plan::reduce::Reduce;
use crate::plan::way::{Hot, PlannedWork, Way};
use crate::plan::{Plan, way};
use crate::threads::groups;
use crate::threads::groups::Reductions;
use crate::threads::share::threads;
use strew_kernel::bucket::cached::CachedBucketLists;
use strew_kernel::error::{Problem, Result};
use strew_kernel::segment::fold::Fold;
use strew_kernel::tensor::{
    AsTensor, DType, Dims, DynTensor, DynView, DynViewMut, Element, Layout, Tensor, TensorViewMut,
    overlap_each_other, overlaps_itself,
};

/// Fewer rows are in some cache, whatever their type.
const LISTED_ROWS: usize = 1 << 20;

/// How [`Plan::scatter_into`] writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanIntoOptions {
    /// What a cell holds counts as one more of its updates.
    pub include_self: bool,
}

impl Default for PlanIntoOptions {
    fn default() -> Self {
        Self { include_self: true }
    }
}

impl Plan {
    /// Reduces the updates of each row into a new tensor.
    ///
    /// `src` has [`len`](Self::len) coordinates along axis `dim` (negative: from the end), the
    /// other axes are as they like; the result has its shape but for `dim`, where it has
    /// [`size`](Self::size). What a row without updates holds is said at each [`Reduce`].
    ///
    /// # Errors
    /// [`Class::Index`](strew_kernel::error::Class::Index) for a `dim` that is none,
    /// [`Class::Value`](strew_kernel::error::Class::Value) for a wrong shape,
    /// [`Class::Type`](strew_kernel::error::Class::Type) for a type that the reduction is not
    /// defined for, [`Class::Memory`](strew_kernel::error::Class::Memory).
    pub fn scatter<T: Element>(
        &self,
        src: impl AsTensor<T>,
        dim: i64,
        reduce: Reduce,
    ) -> Result<Tensor<T>> {
        let made = self.scatter_dyn(&src.as_tensor().of_rust(), dim, reduce)?;
        Ok(super::typed(made))
    }

    /// [`scatter`](Self::scatter) with an element type known at run time.
    ///
    /// # Errors
    /// As [`scatter`](Self::scatter).
    pub fn scatter_dyn(&self, src: &DynView<'_>, dim: i64, reduce: Reduce) -> Result<DynTensor> {
        let made = self.reduce_dyn(src, dim, &[reduce])?;
        let mut made = made.into_iter();
        Ok(made.next().expect("one reduction makes one tensor"))
    }

    /// Reduces the updates of each row into `out`, in place, as PyTorch's `scatter_reduce_` does.
    ///
    /// `out` has `src`'s type and shape but for `dim`, where it has [`size`](Self::size). What it
    /// holds counts as one more update, or, without
    /// [`include_self`](PlanIntoOptions::include_self) and by [`Reduce::Assign`], is
    /// replaced in the rows that take an update. Other rows stay as they are.
    ///
    /// ```
    /// # mod strew { pub use strew_engine::{plan::*, plan::reduce::*, plan::aggregate::*, describe::bounds::*}; pub use strew_kernel::{error::Error, tensor::*}; }
    /// use strew::{Bounds, Plan, PlanIntoOptions, Reduce};
    ///
    /// let plan = Plan::new(&[1i32, 1], Some(2), Bounds::STRICT)?;
    /// let mut out = [10.0f32, 20.0];
    /// plan.scatter_into(&[1.0f32, 3.0], 0, Reduce::Mean, &mut out, PlanIntoOptions::default())?;
    /// assert_eq!(out, [10.0, 8.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter`](Self::scatter), and [`Class::Value`](strew_kernel::error::Class::Value) for
    /// an `out` that overlaps itself or `src`; `out` is then unchanged.
    pub fn scatter_into<'a, T: Element>(
        &self,
        src: impl AsTensor<T>,
        dim: i64,
        reduce: Reduce,
        out: impl Into<TensorViewMut<'a, T>>,
        options: PlanIntoOptions,
    ) -> Result<()> {
        let (src, out) = (src.as_tensor().of_rust(), out.into().into_dyn());
        self.scatter_into_dyn(&src, dim, reduce, out, options)
    }

    /// [`scatter_into`](Self::scatter_into) with an element type known at run time.
    ///
    /// # Errors
    /// As [`scatter_into`](Self::scatter_into), and
    /// [`Class::Type`](strew_kernel::error::Class::Type) if the types differ.
    pub fn scatter_into_dyn(
        &self,
        src: &DynView<'_>,
        dim: i64,
        reduce: Reduce,
        out: DynViewMut<'_>,
        options: PlanIntoOptions,
    ) -> Result<()> {
        self.into(src, dim, reduce, out, options.include_self)
            .map_err(|problem| self.context().error(problem))
    }

    /// Several reductions at once, each into a new tensor, in one trip over the source where that
    /// pays.
    ///
    /// # Errors
    /// As [`scatter`](Self::scatter).
    pub fn reduce<T: Element>(
        &self,
        src: impl AsTensor<T>,
        dim: i64,
        reduces: &[Reduce],
    ) -> Result<Vec<Tensor<T>>> {
        let made = self.reduce_dyn(&src.as_tensor().of_rust(), dim, reduces)?;
        let typed = made.into_iter().map(|t| super::typed(t));
        Ok(typed.collect())
    }

    /// [`reduce`](Self::reduce) with an element type known at run time.
    ///
    /// # Errors
    /// As [`scatter`](Self::scatter).
    pub fn reduce_dyn(
        &self,
        src: &DynView<'_>,
        dim: i64,
        reduces: &[Reduce],
    ) -> Result<Vec<DynTensor>> {
        self.make_new(src, dim, reduces)
            .map_err(|problem| self.context().error(problem))
    }

    /// Picks the rows that the index names: the way back of a scatter.
    ///
    /// `src` has [`size`](Self::size) coordinates along axis `dim`; the result has its shape but
    /// for `dim`, where it has [`len`](Self::len). Updates that are left out get zeros. Bits are
    /// copied.
    ///
    /// # Errors
    /// As [`scatter`](Self::scatter).
    pub fn gather<T: Element>(&self, src: impl AsTensor<T>, dim: i64) -> Result<Tensor<T>> {
        let made = self.gather_dyn(&src.as_tensor().of_rust(), dim)?;
        Ok(super::typed(made))
    }

    /// [`gather`](Self::gather) with an element type known at run time.
    ///
    /// # Errors
    /// As [`scatter`](Self::scatter).
    pub fn gather_dyn(&self, src: &DynView<'_>, dim: i64) -> Result<DynTensor> {
        self.pick(src, dim)
            .map_err(|problem| self.context().error(problem))
    }

    /// How many updates each row takes, which is the size of each group: `int64`, of shape
    /// `[size]`.
    ///
    /// ```
    /// # mod strew { pub use strew_engine::plan::*; pub use strew_kernel::error::Error; }
    /// use strew::Plan;
    ///
    /// let keys: Vec<u32> = vec![3, 1, 3, 0];
    /// assert_eq!(Plan::builder(&keys).build()?.counts()?.as_slice(), [1, 1, 0, 2]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Memory`](strew_kernel::error::Class::Memory).
    pub fn counts(&self) -> Result<Tensor<i64>> {
        let mut counts = Tensor::zeros(&[self.size()]).map_err(|p| self.context().error(p))?;
        let all = counts.as_mut_slice();
        for number in self.index.numbers.iter() {
            if let Some(count) = all.get_mut(number) {
                *count += 1;
            }
        }
        Ok(counts)
    }

    /// The axis, if the tensor has as many coordinates along it.
    pub(crate) fn axis_of(
        &self,
        argument: &'static str,
        shape: &[usize],
        dim: i64,
        wanted: usize,
    ) -> Result<usize, Problem> {
        let axis = axis("dim", dim, shape.len())?;
        expect_shape(argument, shape, shape.get(axis) == Some(&wanted), || {
            format!("its size along dimension {axis} must be {wanted}")
        })?;
        Ok(axis)
    }

    /// The way of a run, and why.
    pub(crate) fn way_of(
        &self,
        src: &Layout,
        axis: usize,
        reduces: &[Reduce],
        anew: bool,
    ) -> (Way, Reason) {
        // Groups make exact sums of new tensors only, and of some types only.
        let grouped = |reduce: &Reduce| match anew {
            true => reduce.is_grouped(src.dtype()),
            false => !reduce.is_exact(),
        };
        match self.way {
            _ if !reduces.iter().all(grouped) => {
                let why = "exact sums are kept in a table";
                (Way::InOrder, Reason::Pays(why))
            }
            Some(way) => (way, Reason::Asked),
            None => {
                let (way, why) = way::choose(&self.work(src, axis, reduces, anew));
                (way, Reason::Pays(why))
            }
        }
    }

    pub(crate) fn work(
        &self,
        src: &Layout,
        axis: usize,
        reduces: &[Reduce],
        anew: bool,
    ) -> PlannedWork {
        let (shape, strides) = (src.shape(), src.strides());
        let size = src.dtype().size();
        // The tail of axes that lie one after the other, without the one of the rows.
        let mut run = size;
        let mut inner = shape.len();
        while inner > axis + 1 {
            let k = inner - 1;
            if shape[k] > 1 && strides[k] != run.cast_signed() {
                break;
            }
            run = run.saturating_mul(shape[k].max(1));
            inner = k;
        }
        let others = shape.iter().enumerate().filter(|(k, _)| *k != axis);
        let row = others.fold(size, |bytes, (_, &len)| bytes.saturating_mul(len));
        let (hot_rows, hot_updates) = self.index.multiplicity.hot;
        PlannedWork {
            updates: self.len(),
            rows: self.size(),
            touched: self.touched(),
            run,
            bytes: self.len().saturating_mul(row),
            pieces: row.div_ceil(run),
            single: run == size,
            most: self.max_multiplicity(),
            hot: Hot {
                rows: hot_rows,
                updates: hot_updates,
            },
            in_order: self.is_sorted() && self.dropped() == 0,
            reductions: (0..reduces.len())
                .filter(|&k| !reduces[..k].contains(&reduces[k]))
                .count(),
            staged: reduces.iter().any(|r| r.is_staged(src.dtype())),
            widened: reduces.iter().any(|r| r.is_widened(src.dtype())),
            computes: reduces.iter().any(|r| r.computes(src.dtype())),
            swept: anew && reduces.iter().any(|r| r.is_swept()),
            assigns: reduces.iter().all(|&r| r == Reduce::Assign),
            positions: false,
            threads: self.threads_for(src.len().saturating_mul(size)),
        }
    }

    /// How many threads a run of so many bytes gets.
    pub(crate) fn threads_for(&self, bytes: usize) -> usize {
        self.threads.map_or_else(|| threads(bytes), |n| n.max(1))
    }

    pub(crate) fn make_new(
        &self,
        src: &DynView<'_>,
        dim: i64,
        reduces: &[Reduce],
    ) -> Result<Vec<DynTensor>, Problem> {
        let axis = self.axis_of("src", src.shape(), dim, self.len())?;
        for reduce in reduces {
            reduce.check(src.dtype())?;
        }
        if self.way_of(src.layout(), axis, reduces, true).0 == Way::InOrder {
            let each = |&reduce: &Reduce| self.anew_in_order(src, axis, reduce);
            return reduces.iter().map(each).collect();
        }
        let mut folds: Vec<Fold> = Vec::new();
        let mut made = Vec::new();
        let shape = self.shape(src.shape(), axis);
        let clears = !src.is_empty() && self.clears(src, &shape, reduces);
        for reduce in reduces {
            if *reduce == Reduce::Assign {
                made.push(DynTensor::zeros_for(src.dtype(), &shape, src.len())?);
                continue;
            }
            folds.push(reduce.fold_anew(src.dtype()));
            let (start, _) = reduce.for_new();
            let ones = matches!(start, Start::Identity) && self.touched() < self.size();
            made.push(match ones {
                _ if clears => DynTensor::scratch(src.dtype(), &shape)?,
                true => crate::describe::identities(src.dtype(), &shape, &reduce.for_new().1)?,
                false => DynTensor::zeros_for(src.dtype(), &shape, src.len())?,
            });
        }
        let mut folded = Vec::new();
        for (output, &reduce) in made.iter_mut().zip(reduces) {
            match reduce == Reduce::Assign {
                true => self.run_last(src, axis, output.view_mut(), false)?,
                false => folded.push(output.view_mut()),
            }
        }
        if !folded.is_empty() {
            let what = Reductions {
                folds: &folds,
                clears,
            };
            self.run_grouped(src, axis, &what, folded, false)?;
        }
        Ok(made)
    }

    /// One reduction in order, into a new tensor.
    fn anew_in_order(
        &self,
        src: &DynView<'_>,
        axis: usize,
        reduce: Reduce,
    ) -> Result<DynTensor, Problem> {
        let (start, reduction) = reduce.for_new();
        let dtype = src.dtype();
        let shape = self.shape(src.shape(), axis);
        let target = Target::New { dtype, start };
        let destinations = self.destinations(src.shape(), &shape, axis)?;
        let scatter = Scatter::new(destinations, reduction, "src", src.clone(), target)?;
        let scatter = scatter.exactly(reduce.is_exact())?;
        let made = self.with_lists(scatter.proven())?.run()?.tensor;
        Ok(made.expect("a scatter into a new tensor makes one"))
    }

    /// The scatter, with the plan's lists if it is one that would make its own.
    fn with_lists<'s>(&'s self, scatter: Scatter<'s>) -> Result<Scatter<'s>, Problem> {
        match self.keeps_lists(&scatter)? {
            true => Ok(scatter.listed(self.lists()?)),
            false => Ok(scatter),
        }
    }

    /// Whether it would.
    pub(crate) fn keeps_lists(&self, scatter: &Scatter<'_>) -> Result<bool, Problem> {
        let single = scatter.updates().len() == self.len() && self.size() >= LISTED_ROWS;
        Ok(single
            && CachedBucketLists::are_made(self.len(), self.size())
            && scatter.execution()?.strategy() == Strategy::Partition)
    }

    /// Whether a grouped run into new tensors clears the rows that take no update, one by one: they
    /// are few. Otherwise they are as they should be from the beginning.
    fn clears(&self, src: &DynView<'_>, shape: &[usize], reduces: &[Reduce]) -> bool {
        let untouched = self.size() - self.touched();
        let cells = shape
            .iter()
            .fold(src.dtype().size(), |bytes, &len| bytes.saturating_mul(len));
        let few = groups::are_few(untouched, cells);
        untouched == 0 || (few && !reduces.contains(&Reduce::Prod))
    }

    pub(crate) fn run_grouped(
        &self,
        src: &DynView<'_>,
        axis: usize,
        what: &Reductions<'_>,
        outputs: Vec<DynViewMut<'_>>,
        visible: bool,
    ) -> Result<(), Problem> {
        if src.is_empty() {
            return Ok(());
        }
        let bytes = src.len().saturating_mul(src.dtype().size());
        let threads = self.threads_for(bytes);
        groups::reduce(self.groups()?, what, axis, src, outputs, threads, visible)
    }

    /// Copies the last update of each row: of the others, nothing is read.
    fn run_last(
        &self,
        src: &DynView<'_>,
        axis: usize,
        output: DynViewMut<'_>,
        visible: bool,
    ) -> Result<(), Problem> {
        if src.is_empty() {
            return Ok(());
        }
        let threads = self.threads_for(self.last_bytes(src.layout()));
        groups::last(self.groups()?, axis, src, output, threads, visible)
    }

    /// Bytes of the last updates of all rows.
    pub(crate) fn last_bytes(&self, src: &Layout) -> usize {
        let row = src.len() / self.len().max(1) * src.dtype().size();
        self.touched().saturating_mul(row)
    }

    pub(crate) fn into(
        &self,
        src: &DynView<'_>,
        dim: i64,
        reduce: Reduce,
        mut out: DynViewMut<'_>,
        include_self: bool,
    ) -> Result<(), Problem> {
        let axis = self.axis_of("src", src.shape(), dim, self.len())?;
        let shape = self.shape(src.shape(), axis);
        expect_dtype(
            "out",
            out.dtype(),
            out.dtype() == src.dtype(),
            format_args!("it must be src's dtype, {}", src.dtype()),
        )?;
        expect_shape("out", out.shape(), *out.shape() == shape[..], || {
            format!("it must be {:?}", &shape[..])
        })?;
        reduce.check(src.dtype())?;
        if self.way_of(src.layout(), axis, &[reduce], false).0 == Way::InOrder {
            let target = Target::InPlace {
                argument: "out",
                view: out,
            };
            let scatter = Scatter::new(
                self.destinations(src.shape(), &shape, axis)?,
                reduce.into(include_self),
                "src",
                src.clone(),
                target,
            )?;
            let scatter = scatter.exactly(reduce.is_exact())?.proven();
            return self.with_lists(scatter)?.run().map(drop);
        }
        let overlap = |with: &str| {
            Err(Problem::Overlap {
                argument: "out",
                with: with.into(),
            })
        };
        if overlaps_itself(out.layout()) {
            return overlap("has elements that share memory (an expanded tensor?)");
        }
        let at = out.as_mut_ptr().addr();
        if overlap_each_other(at, out.layout(), src.as_ptr().addr(), src.layout()) {
            return overlap("shares memory with src");
        }
        if reduce == Reduce::Assign {
            return self.run_last(src, axis, out, true);
        }
        let what = Reductions {
            folds: &[reduce.fold_into(src.dtype(), include_self)],
            clears: false,
        };
        self.run_grouped(src, axis, &what, vec![out], true)
    }

    fn pick(&self, src: &DynView<'_>, dim: i64) -> Result<DynTensor, Problem> {
        let axis = self.axis_of("src", src.shape(), dim, self.size())?;
        let threads = |bytes| self.threads_for(bytes);
        groups::picked(&self.index.numbers, self.dropped() == 0, axis, src, threads)
    }

    /// The shape of a destination.
    pub(crate) fn shape(&self, src: &[usize], axis: usize) -> Dims {
        let mut shape = Dims::from_slice(src);
        shape[axis] = self.size();
        shape
    }

    /// The cells that the updates of a source go to.
    pub(crate) fn destinations<'s>(
        &'s self,
        src: &[usize],
        shape: &[usize],
        axis: usize,
    ) -> Result<Destinations<'s>, Problem> {
        let mut index = self.index.numbers.view();
        for _ in 0..axis {
            index = index.insert_axis(0);
        }
        while index.rank() < src.len() {
            index = index.insert_axis(index.rank());
        }
        let index = index.broadcast_to(src).ok_or_else(|| Problem::Layout {
            argument: "src".into(),
            why: "the index does not fit it".into(),
        })?;
        let place = Place {
            axes: axis..axis + 1,
            tuple: None,
        };
        // All numbers have been checked: what stands for none is -1.
        let bounds = match self.dropped() {
            0 => Bounds::STRICT,
            _ => Bounds {
                negative: Negative::Drop,
                out_of_range: OutOfRange::Drop,
                ignored: None,
            },
        };
        Destinations::elements(shape, "index", &index, axis, place, bounds)
    }
}

/// Of a new tensor: nothing but its type and shape matter for the choice of a way.
pub(crate) fn stand_in(dtype: DType, shape: &[usize]) -> Result<DynTensor, Problem> {
    let ones = Dims::from_elem(1, shape.len());
    DynTensor::zeros(dtype, &ones)
}
