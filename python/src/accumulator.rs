//! `strew.Accumulator`: statistics of groups whose values come chunk by chunk.

use crate::aggregate::filling;
use crate::argument::{dtype_named, not_too_long, whole};
use crate::array::{Array, kind_of};
use crate::errors::{raise, raise_outside, refuse, reworded, wrong_kind};
use crate::given::{Given, Word};
use crate::library::Library;
use crate::objects::{bytes, text, tuple};
use crate::output::give;
use crate::plan::{Plan, rules};
use crate::settings::{follow_torch, number, number_of_threads};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use strew::{Aggregate, AggregateOptions, Bounds, Class, Error, Problem, Scalar};

/// What errors begin with.
const NAME: &str = "Accumulator";

/// Statistics of groups whose values come chunk by chunk.
///
/// An accumulator keeps a small record of each group, or only of those with values if they are few
/// of many. `update` takes a chunk of values. Chunks one
/// after the other give the bits of one `strew.aggregate` call on all values. `merge` takes what
/// another accumulator has made of other values, such as that of another process: accumulators can
/// be pickled. `result` may be asked for at any time.
///
/// Parameters
/// ----------
/// size : int or None
///     The number of groups. None: one more than the largest number so far.
/// reduce : str or sequence of str
///     What is made of each group, as in `strew.aggregate`: "sum", "prod", "sumsq", "mean", "var",
///     "std", "sem", "skew", "kurt", "min", "max", "first", "last", "len", "count", "any", "all",
///     "anynan", "allnan", "argmin", "argmax".
/// dtype : dtype or str, optional
///     The dtype of the values; float64 if it is not given.
/// shape : sequence of int
///     The shape of one value: chunks have the shape ``(n, *shape)``. By default a number.
/// mode : {"error", "wrap", "drop", "clip"}
///     What a number outside the groups means. "wrap" needs a size.
/// ignore_index, skipna, min_count, fill_value, ddof, exact
///     As in `strew.aggregate`.
/// threads : int, optional
///     How many threads a run of the accumulator may use; by default as many as other runs.
///
/// Raises
/// ------
/// ValueError, TypeError
///     For a name that needs all values of a group together ("median"), and for arguments that do
///     not fit.
/// MemoryError
///     If the records of all groups do not fit. Where few of many groups have values, `result` raises
///     it: it has a place for each group.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import strew
/// >>> acc = strew.Accumulator(3, ["sum", "max"])
/// >>> acc.update(np.array([1.0, 5.0]), np.array([2, 0]))
/// >>> acc.update(np.array([2.0, 6.0]), np.array([2, 2]))
/// >>> acc.result()
/// (array([5., 0., 9.]), array([ 5., nan,  6.]))
///
/// Two accumulators of other values, of statistics that do not depend on their order:
///
/// >>> parts = [strew.Accumulator(3, ["count", "argmax"]) for _ in range(2)]
/// >>> parts[0].update(np.array([1.0, 5.0]), np.array([2, 0]))
/// >>> parts[1].update(np.array([2.0, 6.0]), np.array([2, 2]), start=2)
/// >>> parts[0].merge(parts[1])
/// >>> parts[0].result()
/// (array([1, 0, 3]), array([ 1, -1,  3]))
///
/// Sums of floats can be merged if they are exact:
///
/// >>> parts = [strew.Accumulator(1, ["sum", "std"], exact=True) for _ in range(2)]
/// >>> parts[0].update(np.array([1e16, 1.0]), np.array([0, 0]))
/// >>> parts[1].update(np.array([-1e16]), np.array([0]))
/// >>> parts[0].merge(parts[1])
/// >>> parts[0].result()[0]
/// array([1.])
#[pyclass(frozen, module = "strew", name = "Accumulator")]
pub(crate) struct Accumulator {
    all: Mutex<strew::Accumulator>,
    /// How many threads a run of it may use; None: as many as others.
    threads: Option<NonZeroUsize>,
}

impl Accumulator {
    fn of(all: strew::Accumulator, threads: Option<NonZeroUsize>) -> Self {
        let all = Mutex::new(all);
        Self { all, threads }
    }

    /// The accumulator, once no other thread uses it. It is asked for without the interpreter.
    fn lock(&self) -> MutexGuard<'_, strew::Accumulator> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<R: Send>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&strew::Accumulator) -> R + Send,
    ) -> R {
        self.run(py, |all| run(all))
    }

    /// As `with`, to change the accumulator.
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut strew::Accumulator) -> R + Send,
    ) -> R {
        follow_torch(py);
        py.detach(|| strew::with_threads(number(self.threads), || run(&mut self.lock())))
    }
}

#[pymethods]
impl Accumulator {
    #[new]
    #[pyo3(signature = (
        size, reduce, *, dtype = None, shape = Given::Is(Vec::new()),
        mode = Given::Is(Word::Usual("error")), ignore_index = None, skipna = Given::Is(false),
        min_count = Given::Is(1), fill_value = None, ddof = Given::Is(0.0), exact = Given::Is(false),
        threads = None
    ), text_signature = "(size, reduce, *, dtype=None, shape=..., mode='error', ignore_index=None, \
        skipna=False, min_count=1, fill_value=None, ddof=0.0, exact=False, threads=None)")]
    #[allow(clippy::too_many_arguments)] // They are Python's keywords.
    fn new(
        py: Python<'_>,
        size: Option<&Bound<'_, PyAny>>,
        reduce: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        shape: Given<'_, Vec<usize>>,
        mode: Given<'_, Word>,
        ignore_index: Option<&Bound<'_, PyAny>>,
        skipna: Given<'_, bool>,
        min_count: Given<'_, usize>,
        fill_value: Option<&Bound<'_, PyAny>>,
        ddof: Given<'_, f64>,
        exact: Given<'_, bool>,
        threads: Option<Given<'_, i64>>,
    ) -> PyResult<Self> {
        let threads = number_of_threads(NAME, "threads", threads)?;
        let mode = mode.word(NAME, "mode")?;
        not_too_long(py, NAME, "mode", mode.len(), "bytes")?;
        let (size, bounds) = rules(py, NAME, size, &mode, ignore_index)?;
        let shape = shape.shape(NAME, "shape")?;
        let wanted = names(reduce)?;
        let dtype = match dtype {
            None => strew::DType::F64,
            Some(given) => dtype_named(NAME, given)?,
        };
        let options = AggregateOptions {
            skip_nan: skipna.flag(NAME, "skipna")?,
            min_count: min_count.count(NAME, "min_count")?,
            fill_value: filling(py, NAME, fill_value)?,
            ddof: ddof.of(NAME, "ddof", "a number")?,
            exact: exact.flag(NAME, "exact")?,
            ..AggregateOptions::default()
        };
        refuse_fraction(py, &wanted, dtype, &options)?;
        let made = py.detach(|| {
            strew::Accumulator::new(size, &wanted, dtype, &shape, bounds, options.clone())
        });
        let made = made.map(|all| Self::of(all, threads));
        made.map_err(|error| raise(py, &error))
    }

    /// The number of groups so far.
    #[getter]
    fn size(&self, py: Python<'_>) -> usize {
        self.with(py, strew::Accumulator::rows)
    }

    /// The names of what is made of each group.
    #[getter]
    fn reduce<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let wanted = self.with(py, |all| all.aggregates().to_vec());
        let name = |wanted: Aggregate| Ok(text(py, wanted.name())?.into_any());
        tuple(py, wanted.into_iter().map(name))
    }

    /// The name of the values' dtype.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> &'static str {
        self.with(py, |all| all.dtype().name())
    }

    /// The shape of one value.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shape = self.with(py, |all| all.shape().to_vec());
        let sizes = shape.into_iter().map(|size| size.into_bound_py_any(py));
        tuple(py, sizes)
    }

    /// The position after the last value that was taken: where a chunk without `start` begins.
    #[getter]
    fn position(&self, py: Python<'_>) -> usize {
        self.with(py, strew::Accumulator::position)
    }

    /// Bytes of memory that the records take at this moment.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        self.with(py, strew::Accumulator::memory)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.with(py, |all| format!("strew.{all:?}"))
    }

    /// Takes a chunk of values.
    ///
    /// `src` has the shape ``(n, *shape)`` and the accumulator's dtype; `index` has n numbers, or is
    /// a `strew.Plan` of the chunk, which has its own rule for numbers that name no group. `start`
    /// is the position of the chunk's first value among all values, by default right after those
    /// that were taken: "first", "last", "argmin" and "argmax" depend on positions.
    ///
    /// Raises IndexError for a number that names no group, ValueError for shapes that do not fit
    /// and a `start` before positions that were taken, TypeError for another dtype, MemoryError. The
    /// accumulator is then as it was. A chunk that is being taken cannot be interrupted.
    ///
    /// >>> import numpy as np
    /// >>> import strew
    /// >>> acc = strew.Accumulator(None, "mean", dtype="float32", shape=(2,))
    /// >>> acc.update(np.array([[1, 2], [3, 4]], "float32"), [1, 1])
    /// >>> acc.result()
    /// (array([[nan, nan],
    ///        [ 2.,  3.]], dtype=float32),)
    #[pyo3(signature = (src, index, *, start = None))]
    fn update(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        index: &Bound<'_, PyAny>,
        start: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let start = start.map(position).transpose()?;
        let broken = |problem| refuse(py, NAME, Class::Value, problem);
        let src = Array::read(NAME, "src", src)?;
        let src = src.view().map_err(broken)?;
        let taken = match index.cast::<Plan>() {
            Ok(plan) => {
                let plan = &plan.get().plan;
                self.run(py, |all| all.update_planned_dyn(&src, plan, start))
            }
            Err(_) => {
                let index = Array::read(NAME, "index", index)?;
                let index = index.view().map_err(broken)?;
                self.run(py, |all| all.update_dyn(&src, &index, start))
            }
        };
        taken.map_err(|error| {
            let of_src = Some("src") == error.problem().argument();
            if of_src && matches!(error.problem(), Problem::DType { .. }) {
                let dtype = src.dtype().name();
                let hint = format!("make the accumulator with dtype=\"{dtype}\", or convert src");
                return reworded::<PyTypeError>(py, &error, format!("{error}; {hint}"));
            }
            let bounds = self.with(py, strew::Accumulator::bounds);
            raise_outside(py, &error, bounds)
        })
    }

    /// Takes what another accumulator has made of other values, as if its chunks had come here.
    ///
    /// It is allowed where the result does not depend on the order of the values: "sum", "prod",
    /// "sumsq" and "mean" of integers; what `exact=True` computes; "min", "max", "any", "all",
    /// "anynan", "allnan", "len" and "count"; "first", "last", "argmin" and "argmax" if no position
    /// was taken by both. Of 0.0 and -0.0, "min" and "max" keep the one that is here.
    ///
    /// Raises ValueError for other statistics, and for an accumulator with other arguments. This
    /// accumulator is then as it was.
    fn merge<'py>(slf: &Bound<'py, Self>, other: Given<'py, Bound<'py, Self>>) -> PyResult<()> {
        let py = slf.py();
        let other = &other.of(NAME, "other", "an Accumulator")?;
        if slf.is(other) {
            let problem = Problem::Value {
                argument: "other".into(),
                value: "the accumulator itself".into(),
                expected: "it must be another one".into(),
            };
            return Err(refuse(py, NAME, Class::Value, problem));
        }
        let (mine, others) = (slf.get(), other.get());
        let merged = py.detach(|| {
            // Two threads that merge both ways lock in the same order.
            if std::ptr::from_ref(mine) < std::ptr::from_ref(others) {
                let mut mine = mine.lock();
                mine.merge(&others.lock())
            } else {
                let others = others.lock();
                mine.lock().merge(&others)
            }
        });
        merged.map_err(|error| raise(py, &error))
    }

    /// The results of all values so far: a tuple with a NumPy array for each name, of the shape
    /// ``(size, *shape)``. The accumulator goes on.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let made = self.with(py, strew::Accumulator::result);
        let made = made.map_err(|error| raise(py, &error))?;
        let arrays = made.into_iter().map(|made| give(py, made, &Library::Numpy));
        tuple(py, arrays)
    }

    /// The records as read-only NumPy arrays by name, each of the shape ``(size, *shape)``. If only
    /// some groups have a record, "groups" has their numbers, and the other arrays have only these.
    ///
    /// They are views of one copy of the records, which does not change with the accumulator.
    /// docs/accumulator.md has the names.
    ///
    /// >>> import numpy as np
    /// >>> import strew
    /// >>> acc = strew.Accumulator(3, ["max", "mean"])
    /// >>> acc.update(np.array([1.0, 5.0, 2.0]), np.array([2, 0, 2]))
    /// >>> arrays = acc.arrays()
    /// >>> list(arrays)
    /// ['max', 'mean.sum', 'mean.count', 'present']
    /// >>> arrays["mean.sum"]
    /// array([5., 0., 3.])
    fn arrays<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("strew._own.accumulator")?;
        module.call_method1("arrays", (slf,))
    }

    /// The accumulator as bytes, for `from_bytes`. Accumulators can be pickled, too.
    ///
    /// >>> import strew
    /// >>> acc = strew.Accumulator(3, "len")
    /// >>> strew.Accumulator.from_bytes(acc.to_bytes())
    /// strew.Accumulator(len of 3 groups, 0 updates)
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        match self.with(py, strew::Accumulator::to_bytes) {
            Ok(made) => bytes(py, &made),
            Err(error) => Err(raise(py, &error)),
        }
    }

    /// The accumulator that `to_bytes` wrote, from bytes or another object with a buffer.
    ///
    /// Raises ValueError for bytes that are none, TypeError for an object without a buffer.
    #[staticmethod]
    fn from_bytes(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = data.py();
        let held = match data.cast::<PyBytes>() {
            Ok(bytes) => bytes.clone(),
            Err(_) => {
                let view = py.import("builtins")?.getattr("memoryview")?.call1((data,));
                let view = view.map_err(|_| {
                    let name = "Accumulator.from_bytes";
                    wrong_kind(py, name, "data", "bytes or another buffer", kind_of(data))
                })?;
                view.call_method0("tobytes")?.cast_into()?
            }
        };
        let data = held.as_bytes();
        let read = py.detach(|| strew::Accumulator::from_bytes(data));
        let read = read.map(|all| Self::of(all, None));
        read.map_err(|error| raise(py, &error))
    }

    /// With protocol 5 the bytes are a buffer, which may travel outside of the pickle.
    fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: i64) -> PyResult<Bound<'py, PyTuple>> {
        let make = py.import("strew._strew")?;
        let make = make.getattr("_accumulator_from_bytes")?;
        let mut bytes = self.to_bytes(py)?.into_any();
        if protocol >= 5 {
            bytes = py
                .import("pickle")?
                .getattr("PickleBuffer")?
                .call1((bytes,))?;
        }
        let given = (bytes, self.threads).into_pyobject(py)?;
        PyTuple::new(py, [make, given.into_any()])
    }
}

/// `Accumulator.from_bytes` under a name that pickles find.
#[pyfunction]
#[pyo3(name = "_accumulator_from_bytes", signature = (data, threads = None, /))]
pub(crate) fn accumulator_from_bytes(
    data: &Bound<'_, PyAny>,
    threads: Option<NonZeroUsize>,
) -> PyResult<Accumulator> {
    let Accumulator { all, .. } = Accumulator::from_bytes(data)?;
    Ok(Accumulator { all, threads })
}

/// A name or a sequence of names.
fn names(given: &Bound<'_, PyAny>) -> PyResult<Vec<Aggregate>> {
    let py = given.py();
    let one = |name: &str| {
        not_too_long(py, NAME, "reduce", name.len(), "bytes")?;
        let parsed: Result<Aggregate, Error> = name.parse();
        parsed.map_err(|error| refuse(py, NAME, Class::Value, error.problem().clone()))
    };
    if let Ok(name) = given.cast::<PyString>() {
        return Ok(vec![one(name.to_str()?)?]);
    }
    let other = |found| wrong_kind(py, NAME, "reduce", "a str or a sequence of them", found);
    let items = given.try_iter().map_err(|_| other(kind_of(given)))?;
    let items = items.enumerate().map(|(at, item)| {
        // What is iterated over may have no end.
        not_too_long(py, NAME, "reduce", at + 1, "names")?;
        let item: Given<'_, Word> = item?.extract()?;
        one(&item.word(NAME, &format!("reduce[{at}]"))?)
    });
    items.collect()
}

/// Refuses a fill value with a fraction for results that are integers or bools.
fn refuse_fraction(
    py: Python<'_>,
    wanted: &[Aggregate],
    dtype: strew::DType,
    options: &AggregateOptions,
) -> PyResult<()> {
    let fill = match options.fill_value {
        Some(Scalar::Float(fill)) if fill.is_finite() && fill.fract() != 0.0 => fill,
        _ => return Ok(()),
    };
    // Without groups, only the dtypes of the results are made.
    let none =
        strew::Accumulator::new(Some(0), wanted, dtype, &[], Bounds::STRICT, options.clone());
    let results = none.and_then(|none| none.result());
    // What is wrong otherwise is told where the accumulator is made.
    for (made, name) in results.unwrap_or_default().iter().zip(wanted) {
        if made.dtype().is_integer() || made.dtype() == strew::DType::Bool {
            let problem = Problem::Value {
                argument: "fill_value".into(),
                value: fill.to_string(),
                expected: format!(
                    "{} of {} gives whole numbers, so it must be one",
                    name.name(),
                    dtype.name()
                ),
            };
            return Err(refuse(py, NAME, Class::Value, problem));
        }
    }
    Ok(())
}

/// The position of a chunk.
fn position(given: &Bound<'_, PyAny>) -> PyResult<usize> {
    let py = given.py();
    let found = whole(given)?;
    let none = || wrong_kind(py, NAME, "start", "an integer or None", kind_of(given));
    let start = found.ok_or_else(none)?;
    usize::try_from(start).map_err(|_| {
        let problem = Problem::Value {
            argument: "start".into(),
            value: start.to_string(),
            expected: match start < 0 {
                true => "it must be at least 0".into(),
                false => format!("it must be at most {}", isize::MAX),
            },
        };
        refuse(py, NAME, Class::Value, problem)
    })
}
