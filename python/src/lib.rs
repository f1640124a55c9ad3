//! The Python face of strew: one class, `operator::Operator`, that calls any operator of the
//! table [`strew::OPERATORS`].
//!
//! An operator's arguments are converted by their [`strew::Kind`] alone, so a new dialect needs no
//! line here: only a Python module that makes its operators by name.
//!
//! - `operator`: the call itself; `plan`: an index that is kept for many runs;
//! - `aggregate`: what is made of its groups;
//! - `keys`: numbers for different keys;
//! - `grad`: derivatives, for torch's autograd;
//! - `command`: the command `strew`;
//! - `argument`: from Python values to the operator's arguments; `given`: to those of methods;
//! - `array`, `dlpack`: memory that Python objects describe;
//! - `library`, `output`: which library made an array, and results as its arrays;
//! - `xla`: calls from programs that JAX compiles;
//! - `interrupt`: Ctrl-C and progress during a run; `errors`: exceptions; `settings`: threads and
//!   memory.

mod accumulator;
mod aggregate;
mod argument;
mod array;
mod command;
mod dlpack;
mod errors;
mod given;
mod grad;
mod interrupt;
mod keys;
mod library;
mod objects;
mod operator;
mod output;
mod plan;
mod run;
mod settings;
mod strings;
mod xla;

/// The compiled part of the package `strew`. An array's header is read as one thing, which takes the interpreter's
/// lock: a Python that runs without turns it on, and says so.
#[pyo3::pymodule(gil_used = true)]
mod _strew {
    use pyo3::exceptions::{PyImportError, PyValueError};
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::accumulator::{Accumulator, accumulator_from_bytes};
    #[pymodule_export]
    use crate::aggregate::{aggregate, groups, members, per_value};
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::grad::{
        plan_scatter_vjp, scatter_arg_jvp, scatter_arg_vjp, scatter_prod_double_vjp,
        scatter_reduce_jvp, scatter_reduce_vjp,
    };
    #[pymodule_export]
    use crate::interrupt::set_progress;
    #[pymodule_export]
    use crate::keys::{join, number};
    #[pymodule_export]
    use crate::operator::{Operator, noop, operators};
    #[pymodule_export]
    use crate::output::Buffer;
    #[pymodule_export]
    use crate::plan::{Plan, plan_from_bytes};
    #[pymodule_export]
    use crate::settings::{
        after_fork, before_fork, get_kept_memory, get_memory_limit, get_num_threads,
        instruction_set, set_kept_memory, set_memory_limit, set_num_threads,
    };
    #[pymodule_export]
    use crate::strings::number_texts;
    #[pymodule_export]
    use crate::xla::{xla_handler, xla_layout};

    /// A slip in the environment's settings is said at once; what is looked up once is known before a thread
    /// or a fork can come between.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Who was told to leave the lock off does so, whatever a module asks for.
        let is_on = module.py().import("sys")?.getattr_opt("_is_gil_enabled")?;
        if let Some(is_on) = is_on
            && !is_on.call0()?.is_truthy()?
        {
            return Err(PyImportError::new_err(
                "strew needs the interpreter's lock, which PYTHON_GIL=0 and -X gil=0 leave off",
            ));
        }
        crate::settings::follow_torch(module.py());
        strew::check_environment().map_err(|problem| PyValueError::new_err(problem.to_string()))
    }

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
