//! `strew.Plan`: an index that has been looked at once, for many runs.

use crate::argument::{dtype_named, not_too_long, whole};
use crate::array::{Array, kind_of};
use crate::errors::{raise, raise_outside, refuse, wrong_kind};
use crate::given::{Axis, Given, NO_AXIS, Word, axis_of};
use crate::library::is_tensor;
use crate::objects::{bytes, text, tuple};
use crate::run::{run, watched};
use crate::settings::{number, number_of_threads};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyCFunction, PyString, PyTuple};
use std::num::NonZeroUsize;
use std::time::Instant;
use strew::{Bounds, Class, DType, Error, PlanIntoOptions, Problem, Reduce};

/// An index that is read, checked and analysed once, to run many times.
///
/// A plan keeps a private copy of the row numbers, so no run has to check them again, and facts
/// about them that it has proven itself. Where it pays it also groups the updates by their row: then
/// every row is reduced in the nearest cache, and several reductions share one trip over the source.
/// Every run has the bits of the same call without a plan, on any number of threads.
///
/// `scatter`, `reduce` and `gather` have derivatives for torch tensors: backward, forward, and of
/// second order. The first derivative uses the plan, too. docs/torch.md has the rules.
///
/// Parameters
/// ----------
/// index : array of integers, 1-d
///     Number ``k`` says to which row update ``k`` goes. NumPy, torch, JAX, a list; any integer type.
/// size : int, optional
///     The rows of the destination; ``index.max() + 1`` if it is not given (0 for an empty index).
/// mode : {"error", "wrap", "drop", "clip"}
///     What numbers mean that name no row. "error": an IndexError. "wrap": negative ones count from
///     the end, all others are errors. "drop": the update is left out. "clip": the nearest row.
/// ignore_index : int, optional
///     Updates with this number are left out, whatever the mode.
/// name : str, optional
///     Errors and `explain` show it.
/// threads : int, optional
///     How many threads a run of the plan may use; by default as many as other runs.
///
/// The methods that take `dim` take it as `axis`, too.
///
/// Raises
/// ------
/// IndexError
///     For a number that names no row.
/// TypeError, ValueError
///     For an index of another type, or of another rank than 1; a negative size; an unknown mode.
/// MemoryError
///     If its copy, or the lists of updates by row, do not fit.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import strew
/// >>> plan = strew.Plan([2, 0, 2, 2], size=4)
/// >>> plan
/// strew.Plan(4 updates into 4 rows)
/// >>> plan.is_sorted, plan.is_unique, plan.max_multiplicity, plan.touched
/// (False, False, 3, 2)
/// >>> messages = np.array([1.0, 5.0, 2.0, 6.0])
/// >>> plan.scatter(messages, "mean")
/// array([5., 0., 3., 0.])
/// >>> total, most = plan.reduce(messages, ["sum", "max"])
/// >>> total, most
/// (array([5., 0., 9., 0.]), array([5., 0., 6., 0.]))
/// >>> plan.gather(np.array([10, 11, 12, 13]))
/// array([12, 10, 12, 12])
#[pyclass(frozen, subclass, module = "strew", name = "Plan")]
pub(crate) struct Plan {
    pub(crate) plan: strew::Plan,
    /// How many threads a run of it may use; None: as many as others.
    pub(crate) threads: Option<NonZeroUsize>,
}

/// The size and the bounds that a caller gives beside an index.
pub(crate) fn rules(
    py: Python<'_>,
    operator: &str,
    size: Option<&Bound<'_, PyAny>>,
    mode: &str,
    ignore_index: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Option<usize>, Bounds)> {
    let mut bounds =
        Bounds::named(mode).map_err(|problem| refuse(py, operator, Class::Value, problem))?;
    if let Some(given) = ignore_index {
        let ignored = whole(given)?.ok_or_else(|| {
            let found = kind_of(given);
            wrong_kind(py, operator, "ignore_index", "an integer or None", found)
        })?;
        bounds.ignored = Some(ignored);
    }
    let size = match size {
        None => None,
        Some(given) => {
            let size = whole(given)?.ok_or_else(|| {
                let found = kind_of(given);
                wrong_kind(py, operator, "size", "an integer or None", found)
            })?;
            Some(usize::try_from(size).map_err(|_| {
                let problem = Problem::Value {
                    argument: "size".into(),
                    value: size.to_string(),
                    expected: match size < 0 {
                        true => "it must be at least 0".into(),
                        false => format!("it must be at most {}", isize::MAX),
                    },
                };
                refuse(py, operator, Class::Value, problem)
            })?)
        }
    };
    Ok((size, bounds))
}

#[pymethods]
impl Plan {
    #[new]
    #[pyo3(signature = (
        index, size = None, *, mode = Given::Is(Word::Usual("error")), ignore_index = None,
        name = None, threads = None
    ), text_signature = "(index, size=None, *, mode='error', ignore_index=None, name=None, threads=None)")]
    #[allow(clippy::too_many_arguments)] // They are Python's keywords.
    fn new(
        py: Python<'_>,
        index: &Bound<'_, PyAny>,
        size: Option<&Bound<'_, PyAny>>,
        mode: Given<'_, Word>,
        ignore_index: Option<&Bound<'_, PyAny>>,
        name: Option<Given<'_, Word>>,
        threads: Option<Given<'_, i64>>,
    ) -> PyResult<Self> {
        let threads = number_of_threads("Plan", "threads", threads)?;
        let mode = mode.word("Plan", "mode")?;
        let name = name.map(|name| name.word("Plan", "name")).transpose()?;
        let name = name.as_deref();
        for (argument, text) in [("name", name), ("mode", Some(&*mode))] {
            let len = text.map_or(0, str::len);
            not_too_long(py, "Plan", argument, len, "bytes")?;
        }
        let operator = operator(name);
        let (size, bounds) = rules(py, &operator, size, &mode, ignore_index)?;
        let index = Array::read(&operator, "index", index)?;
        let view = index
            .view()
            .map_err(|problem| refuse(py, &operator, Class::Value, problem))?;
        let make = || strew::Plan::new_dyn(&view, size, bounds, name);
        let (made, interrupt) = watched(py, index.len(), threads, make);
        if let Some(raised) = interrupt {
            return Err(raised);
        }
        let failed = |error: Error| raise_outside(py, &error, bounds);
        made.map(|plan| Self { plan, threads }).map_err(failed)
    }

    /// The rows of the destination.
    #[getter]
    fn size(&self) -> usize {
        self.plan.size()
    }

    /// The name that was given, or None.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.plan.name()
    }

    /// No row number is smaller than the one before it; updates that are left out do not count.
    #[getter]
    fn is_sorted(&self) -> bool {
        self.plan.is_sorted()
    }

    /// No row takes more than one update.
    #[getter]
    fn is_unique(&self) -> bool {
        self.plan.is_unique()
    }

    /// The smallest row number, or None.
    #[getter]
    fn min(&self) -> Option<usize> {
        self.plan.min()
    }

    /// The largest row number, or None.
    #[getter]
    fn max(&self) -> Option<usize> {
        self.plan.max()
    }

    /// The updates of the row that takes most.
    #[getter]
    fn max_multiplicity(&self) -> usize {
        self.plan.max_multiplicity()
    }

    /// Rows that take at least one update.
    #[getter]
    fn touched(&self) -> usize {
        self.plan.touched()
    }

    /// Updates that are left out.
    #[getter]
    fn dropped(&self) -> usize {
        self.plan.dropped()
    }

    fn __len__(&self) -> usize {
        self.plan.len()
    }

    fn __repr__(&self) -> String {
        format!("strew.{:?}", self.plan)
    }

    /// Reduces the updates of each row.
    ///
    /// `src` has ``len(plan)`` coordinates along `dim`; the result has its shape but for `dim`, where
    /// it has ``plan.size``, its dtype and its library.
    ///
    /// `reduce` is "sum", "mean" (integers are rounded down), "prod", "min", "max" (NaN is left out, as
    /// in torch_scatter), "amin" or "amax" (NaN wins, as in PyTorch), or "assign" (the last update; bits
    /// are copied). 16-bit floats accumulate in float32 and are rounded once. "exact_sum" and
    /// "exact_mean" are the floats nearest to the exact ones, which do not depend on the order of
    /// the updates. In a new array, rows without updates are 0, and 1 for "prod", as
    /// in torch_scatter; "min" and "max" of nothing but NaN, or of the highest (lowest) values, are 0 too.
    ///
    /// With `out`, reduces into it in place and returns it, as torch's ``scatter_reduce_`` does: what it
    /// holds counts as one more update or, with ``include_self=False`` and by "assign", is replaced in
    /// rows that take an update; other rows stay as they are.
    ///
    /// Raises ValueError for shapes that do not fit and for an `out` that shares memory, IndexError for a
    /// `dim` that is none, TypeError for a dtype that the reduction is not defined for (mean of bool,
    /// extremes of complex numbers). `out` is then as it was.
    ///
    /// Torch tensors have derivatives, also with `out`. Equal updates share the gradient of "amin"
    /// and "amax". The first winner takes that of "min" and "max", and the last update that of
    /// "assign".
    /// "exact_sum" and "exact_mean" have the gradients of "sum" and "mean".
    ///
    /// >>> import numpy as np
    /// >>> import strew
    /// >>> plan = strew.Plan([1, 1, 0])
    /// >>> plan.scatter(np.array([[1, 2], [3, 4], [5, 6]]))
    /// array([[5, 6],
    ///        [4, 6]])
    /// >>> plan.scatter(np.array([[1, 2, 3]]), "max", dim=1, out=np.array([[9, 0]]))
    /// array([[9, 2]])
    #[pyo3(signature = (
        src, reduce = Given::Is(Word::Usual("sum")), *, dim = NO_AXIS, axis = NO_AXIS, out = None,
        include_self = Given::Is(true)
    ), text_signature = "($self, src, reduce='sum', *, dim=0, axis=..., out=None, include_self=True)")]
    fn scatter<'py>(
        slf: &Bound<'py, Self>,
        src: &Bound<'py, PyAny>,
        reduce: Given<'py, Word>,
        dim: Axis<'py>,
        axis: Axis<'py>,
        out: Option<&Bound<'py, PyAny>>,
        include_self: Given<'py, bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (src.py(), slf.get());
        let plan = &this.plan;
        let reduce = parse(py, plan, &reduce.word("Plan.scatter", "reduce")?)?;
        let dim = axis_of("Plan.scatter", dim, axis)?;
        let include_self = include_self.flag("Plan.scatter", "include_self")?;
        if let Some(methods) = torch_methods(src, out)? {
            let given = (slf, src, reduce.name(), dim, out, include_self);
            return methods.call_method1(intern!(py, "scatter"), given);
        }
        logged(slf, "Plan.scatter", &[reduce], src, dim, || match out {
            None => {
                let made = this.run(src, "src", |src| {
                    plan.scatter_dyn(src, dim, reduce).map(|t| vec![t])
                })?;
                made.into_iter().next().ok_or_else(|| defect("no result"))
            }
            Some(target) => this.scatter_into(src, reduce, dim, target, include_self),
        })
    }

    /// The smallest or largest update of each cell, and its position along `dim` in `src`, as
    /// torch_scatter's ``scatter_min`` and ``scatter_max`` give them.
    ///
    /// `reduce` is "min" or "max". The result is a tuple: what `scatter` gives, and an int64 array of
    /// its shape. Of equal updates the first wins; a cell that is 0 for want of a winner has the position
    /// ``len(plan)``. Raises what `scatter` raises, and ValueError for another reduction.
    ///
    /// >>> import numpy as np
    /// >>> import strew
    /// >>> plan = strew.Plan([0, 2, 0, 2])
    /// >>> plan.scatter_with_arg(np.array([2.0, 3.0, 2.0, 4.0]), "max")
    /// (array([2., 0., 4.]), array([0, 4, 3]))
    #[pyo3(signature = (src, reduce, *, dim = NO_AXIS, axis = NO_AXIS),
        text_signature = "($self, src, reduce, *, dim=0, axis=...)")]
    fn scatter_with_arg<'py>(
        &self,
        src: &Bound<'py, PyAny>,
        reduce: Given<'py, Word>,
        dim: Axis<'py>,
        axis: Axis<'py>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let py = src.py();
        let reduce = reduce.word("Plan.scatter_with_arg", "reduce")?;
        let reduce = parse(py, &self.plan, &reduce)?;
        let dim = axis_of("Plan.scatter_with_arg", dim, axis)?;
        let made = self.run(src, "src", |src| {
            let (made, arg) = self.plan.scatter_with_arg_dyn(src, dim, reduce)?;
            Ok(vec![made, arg])
        })?;
        tuple(py, made.into_iter().map(Ok))
    }

    /// Several reductions at once, each a new array, in one trip over `src` where that pays.
    ///
    /// `reduces` is a sequence of names as `scatter` takes them; the result is a tuple with an array for
    /// each, the same as `scatter` gives. Raises what `scatter` raises.
    ///
    /// Torch tensors have the derivatives of `scatter`. Each reduction then takes its own trip.
    ///
    /// >>> import numpy as np
    /// >>> import strew
    /// >>> strew.Plan([1, 1, 0]).reduce(np.array([1.0, 2.0, 5.0]), ["sum", "mean", "max"])
    /// (array([5., 3.]), array([5. , 1.5]), array([5., 2.]))
    #[pyo3(signature = (src, reduces, *, dim = NO_AXIS, axis = NO_AXIS),
        text_signature = "($self, src, reduces, *, dim=0, axis=...)")]
    fn reduce<'py>(
        slf: &Bound<'py, Self>,
        src: &Bound<'py, PyAny>,
        reduces: &Bound<'py, PyAny>,
        dim: Axis<'py>,
        axis: Axis<'py>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (py, this) = (src.py(), slf.get());
        let dim = axis_of("Plan.reduce", dim, axis)?;
        let reduces = names(&this.plan, "reduces", reduces)?;
        if let Some(methods) = torch_methods(src, None)? {
            let names: Vec<&str> = reduces.iter().map(|reduce| reduce.name()).collect();
            let made = methods.call_method1(intern!(py, "reduce"), (slf, src, names, dim))?;
            return Ok(made.cast_into()?);
        }
        logged(slf, "Plan.reduce", &reduces, src, dim, || {
            let made = this.run(src, "src", |src| this.plan.reduce_dyn(src, dim, &reduces))?;
            tuple(py, made.into_iter().map(Ok))
        })
    }

    /// Picks the rows of `src` that the index names: the way back of a scatter.
    ///
    /// `src` has ``plan.size`` coordinates along `dim`; the result has its shape but for `dim`, where
    /// it has ``len(plan)``, its dtype and its library. Updates that are left out get zeros. Raises
    /// ValueError for a shape that does not fit, IndexError for a `dim` that is none.
    ///
    /// Torch tensors have derivatives: the gradient of a row is the sum over where it is picked.
    ///
    /// >>> import numpy as np
    /// >>> import strew
    /// >>> strew.Plan([1, -1, 0], 2, mode="drop").gather(np.array([[1, 2], [3, 4]]))
    /// array([[3, 4],
    ///        [0, 0],
    ///        [1, 2]])
    #[pyo3(signature = (src, *, dim = NO_AXIS, axis = NO_AXIS), text_signature = "($self, src, *, dim=0, axis=...)")]
    fn gather<'py>(
        slf: &Bound<'py, Self>,
        src: &Bound<'py, PyAny>,
        dim: Axis<'py>,
        axis: Axis<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (src.py(), slf.get());
        let dim = axis_of("Plan.gather", dim, axis)?;
        if let Some(methods) = torch_methods(src, None)? {
            return methods.call_method1(intern!(py, "gather"), (slf, src, dim));
        }
        logged(slf, "Plan.gather", &[], src, dim, || {
            let made = this.run(src, "src", |src| {
                this.plan.gather_dyn(src, dim).map(|t| vec![t])
            })?;
            made.into_iter().next().ok_or_else(|| defect("no result"))
        })
    }

    /// What is known about the index, and how a run would go, as text.
    ///
    /// `shape` and `dtype` are those of a contiguous source; `reduce` is a name or a sequence of them.
    /// The text has the memory that the run needs at most beside its result (and, for a plan whose first
    /// grouped run it is, to group the updates), the bytes to move through memory and, if `measure` is true, the time that the run
    /// should take: the memory's bandwidth is measured for that, which takes some tenths of a second and
    /// 128 MiB. docs/explain.md says how to read it. A notebook shows the same as a page with pictures. Raises
    /// what `scatter` of such a source raises.
    ///
    /// >>> import strew
    /// >>> plan = strew.Plan([0, 0, 2])
    /// >>> print(plan.explain((3, 64), "float32", "mean", measure=False))  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    /// Takes the updates in order, one after the other, because there is little to do; reads ...
    /// <BLANKLINE>
    /// updates 3
    /// rows 3
    /// ...
    #[pyo3(signature = (
        shape, dtype = None, reduce = None, *, dim = NO_AXIS, axis = NO_AXIS, measure = Given::Is(true)
    ), text_signature = "($self, shape, dtype=None, reduce=None, *, dim=0, axis=..., measure=True)")]
    #[allow(clippy::too_many_arguments)] // They are Python's keywords.
    fn explain(
        &self,
        py: Python<'_>,
        shape: Given<'_, Vec<usize>>,
        dtype: Option<&Bound<'_, PyAny>>,
        reduce: Option<&Bound<'_, PyAny>>,
        dim: Axis<'_>,
        axis: Axis<'_>,
        measure: Given<'_, bool>,
    ) -> PyResult<Py<PyAny>> {
        let shape = shape.shape("Plan.explain", "shape")?;
        let dim = axis_of("Plan.explain", dim, axis)?;
        let measure = measure.flag("Plan.explain", "measure")?;
        let operator = operator(self.plan.name());
        let dtype = match dtype {
            None => DType::F32,
            Some(given) => dtype_named(&operator, given)?,
        };
        let reduces = match reduce {
            None => vec![Reduce::Sum],
            Some(given) => names(&self.plan, "reduce", given)?,
        };
        // What cannot run is said before anything is measured.
        let failed = |error: strew::Error| raise(py, &error);
        let threads = self.threads;
        let explain = || self.plan.explain(dtype, &shape, dim, &reduces);
        let mut told = strew::with_threads(number(threads), explain).map_err(failed)?;
        let mut measured = None;
        if measure {
            let found = py
                .detach(strew::Machine::measure)
                .map_err(|problem| refuse(py, &operator, Class::Memory, problem))?;
            let explain = || self.plan.explain_on(&found, dtype, &shape, dim, &reduces);
            told = strew::with_threads(number(threads), explain).map_err(failed)?;
            measured = Some(found);
        }
        let told = told.to_string();
        // A notebook asks for the page, most callers do not.
        let plan = self.plan.clone();
        let page = move |py: Python<'_>| {
            let report = || plan.report(measured.as_ref(), dtype, &shape, dim, &reduces);
            let page = py.detach(|| strew::with_threads(number(threads), report));
            let page = page.map_err(|error| raise(py, &error))?;
            text(py, &page).map(Bound::unbind)
        };
        let page =
            PyCFunction::new_closure(py, None, None, move |args: &Bound<'_, PyTuple>, _| {
                page(args.py())
            })?;
        let explained = py.import("strew._native.picture")?.getattr("Explained")?;
        Ok(explained.call1((text(py, &told)?, page))?.unbind())
    }

    /// The plan as bytes, for `from_bytes`. Plans can be pickled, too.
    ///
    /// >>> import strew
    /// >>> plan = strew.Plan([2, 0, 2], name="edges")
    /// >>> strew.Plan.from_bytes(plan.to_bytes())
    /// strew.Plan("edges", 3 updates into 3 rows)
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        match py.detach(|| self.plan.to_bytes()) {
            Ok(made) => bytes(py, &made),
            Err(error) => Err(raise(py, &error)),
        }
    }

    /// The plan that `to_bytes` wrote. All facts are proven anew: ValueError for bytes that are no plan,
    /// or that say of the row numbers what is not so.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: Given<'_, PyBackedBytes>) -> PyResult<Self> {
        let data = &data.of("Plan.from_bytes", "data", "bytes")?;
        match py.detach(|| strew::Plan::from_bytes(data)) {
            Ok(plan) => {
                let threads = None;
                Ok(Self { plan, threads })
            }
            Err(error) => Err(raise(py, &error)),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let make = py.import("strew._strew")?.getattr("_plan_from_bytes")?;
        let given = (self.to_bytes(py)?, self.threads).into_pyobject(py)?;
        PyTuple::new(py, [make, given.into_any()])
    }
}

/// `Plan.from_bytes` under a name that pickles find.
#[pyfunction]
#[pyo3(name = "_plan_from_bytes", signature = (data, threads = None, /))]
pub(crate) fn plan_from_bytes(
    py: Python<'_>,
    data: Given<'_, PyBackedBytes>,
    threads: Option<NonZeroUsize>,
) -> PyResult<Plan> {
    let Plan { plan, .. } = Plan::from_bytes(py, data)?;
    Ok(Plan { plan, threads })
}

impl Plan {
    /// Reduces the updates into `target`, and returns it.
    fn scatter_into<'py>(
        &self,
        src: &Bound<'py, PyAny>,
        reduce: Reduce,
        dim: i64,
        target: &Bound<'py, PyAny>,
        include_self: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, plan) = (src.py(), &self.plan);
        let operator = operator(plan.name());
        let src = Array::read(&operator, "src", src)?;
        let mut out = Array::write(&operator, "out", target)?;
        let library = out.library().clone();
        let broken = |problem| refuse(py, &operator, Class::Value, problem);
        let elements = src.len();
        let (view, cells) = (src.view().map_err(broken)?, out.view_mut().map_err(broken)?);
        let (result, interrupt) = watched(py, elements, self.threads, || {
            plan.scatter_into_dyn(&view, dim, reduce, cells, PlanIntoOptions { include_self })
        });
        if result.is_ok() {
            library.was_written()?;
            out.write_back()?;
        }
        if let Some(raised) = interrupt {
            return Err(raised);
        }
        match result {
            Ok(()) => Ok(target.clone()),
            Err(error) => Err(raise(py, &error)),
        }
    }

    /// A run that makes new arrays of the source's library.
    pub(crate) fn run<'py>(
        &self,
        src: &Bound<'py, PyAny>,
        argument: &str,
        work: impl Fn(&strew::DynView<'_>) -> strew::Result<Vec<strew::DynTensor>> + Send + Sync,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        run(
            &operator(self.plan.name()),
            src,
            argument,
            self.plan.len(),
            self.threads,
            work,
        )
    }
}

/// Runs a method of a plan. Where lines of the logger `strew` are wanted, one says what it was and
/// how long it took.
fn logged<'py, R>(
    plan: &Bound<'py, Plan>,
    method: &str,
    reduces: &[Reduce],
    src: &Bound<'py, PyAny>,
    dim: i64,
    work: impl FnOnce() -> PyResult<R>,
) -> PyResult<R> {
    static IS_ON: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = plan.py();
    let is_on = IS_ON.import(py, "strew._native.log", "is_on")?.call0()?;
    if !is_on.is_truthy()? {
        return work();
    }
    let begun = Instant::now();
    let made = work()?;
    let seconds = begun.elapsed().as_secs_f64();
    let names: Vec<&str> = reduces.iter().map(|reduce| reduce.name()).collect();
    let log = py.import("strew._native.log")?;
    log.call_method1("run_of_plan", (plan, method, names, src, dim, seconds))?;
    Ok(made)
}

/// `strew._torch.plan_methods`, if one of these is a torch tensor and something in torch watches
/// what is done with it: autograd, a transform, a compiler. These functions call the plan's methods
/// again, with tensors that nothing watches.
fn torch_methods<'py>(
    src: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static OPERATORS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = src.py();
    if !is_tensor(src)? && !out.map_or(Ok(false), is_tensor)? {
        return Ok(None);
    }
    let find = OPERATORS.import(py, "strew._arrays.dispatch", "torch_operators")?;
    let operators = find.call1((src, out))?;
    match operators.is_none() {
        true => Ok(None),
        false => operators.getattr(intern!(py, "plan_methods")).map(Some),
    }
}

/// What errors of a plan begin with.
fn operator(name: Option<&str>) -> String {
    match name {
        None => "Plan".to_owned(),
        Some(name) => format!("Plan {name:?}"),
    }
}

fn defect(what: &str) -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err(format!("Plan: {what} (a defect in strew)"))
}

pub(crate) fn parse(py: Python<'_>, plan: &strew::Plan, name: &str) -> PyResult<Reduce> {
    not_too_long(py, "Plan", "reduce", name.len(), "bytes")?;
    name.parse().map_err(|error: strew::Error| {
        let problem = error.problem().clone();
        refuse(py, &operator(plan.name()), Class::Value, problem)
    })
}

/// A name or a sequence of names.
fn names(plan: &strew::Plan, argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<Reduce>> {
    let py = given.py();
    if let Ok(one) = given.cast::<PyString>() {
        return Ok(vec![parse(py, plan, one.to_str()?)?]);
    }
    let wrong = |error: PyErr| match error.is_instance_of::<PyTypeError>(py) {
        true => {
            let expected = "a sequence of names of reductions";
            let found = kind_of(given);
            wrong_kind(py, &operator(plan.name()), argument, expected, found)
        }
        false => error,
    };
    let items = given.try_iter().map_err(wrong)?;
    let one = |(at, item): (usize, PyResult<Bound<'_, PyAny>>)| {
        // What is iterated over may have no end.
        not_too_long(py, "Plan", argument, at + 1, "names")?;
        let name: String = item?.extract().map_err(|error: PyErr| wrong(error))?;
        parse(py, plan, &name)
    };
    items.enumerate().map(one).collect()
}
