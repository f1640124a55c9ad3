//! Runs: rows of source and destination that belong together because they lie one after the other.

pub mod paired;

use crate::describe::destinations::{Component, problem};
use crate::describe::pairing::Pairing;
use crate::describe::reduction::{Init, Reduction};
use crate::describe::split::Split;
use crate::describe::strategy::{Reason, Strategy};
use crate::describe::{Output, Scatter, Start, Target};
use crate::strategy::execution::{Execution, RunCounts};
use crate::strategy::runs::paired::{Paired, RunsOutputs};
use crate::threads::pass::Fault;
use crate::traffic::{RunsBytes, Traffic};
use strew_kernel::copy::strided::duplicate;
use strew_kernel::error::Problem;
use strew_kernel::ops::number::{Divisor, Mean};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::segment::fold::{Finish, Fold, Seed};
use strew_kernel::tensor::footprint::footprint;
use strew_kernel::tensor::{DType, Dims, DynTensor, DynView, DynViewMut, Layout};
use strew_kernel::update::in_place::clear;

/// What `explain` says that it does.
pub(crate) const HOW: &str = "takes each row's updates together";

/// Why it is chosen: there is no other way.
pub(crate) const REASON: &str = "the rows that belong together lie one after the other";

/// How a run is shared out, and among how many threads.
type Share = (Split, usize);

/// What the destination holds before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begun {
    /// What the caller can see.
    Visible,
    /// A copy of another tensor, or of an element: rows that take nothing keep it.
    Copied,
    /// Zeros, or anything if all of it is written.
    Blank,
}

/// The shape of the side of which runs are made, and how they are shared out.
fn shared<'s>(
    scatter: &'s Scatter<'_>,
    pairing: Pairing,
) -> Result<(&'s [usize], Option<Share>), Problem> {
    if let Some(strategy) = scatter.strategy.filter(|&s| s != Strategy::Runs) {
        return Err(Problem::Strategy {
            strategy: strategy.name(),
            why: "rows that lie one after the other are gone over run by run",
        });
    }
    let (shape, updates) = (
        scatter.destinations.shape(),
        scatter.destinations.updates_shape(),
    );
    let component = &scatter.destinations.components()[0];
    let paired = Paired {
        index: component.index.view(),
        pairing,
        axis: component.axis,
    };
    let many = if pairing.copies() { shape } else { updates };
    let rows = shape[component.axis];
    let split = paired.split(many, rows, scatter.dtype().size(), scatter.split)?;
    Ok((many, split))
}

/// How the run would go.
pub(crate) fn execution(scatter: &Scatter<'_>, pairing: Pairing) -> Result<Execution, Problem> {
    let (many, split) = shared(scatter, pairing)?;
    let shape = scatter.destinations.shape();
    let component = &scatter.destinations.components()[0];
    let (dtype, axis) = (scatter.dtype(), component.axis);
    let product = |sizes: &[usize]| sizes.iter().fold(1usize, |all, &n| all.saturating_mul(n));
    let bytes = |view: &DynView<'_>| {
        let layout = view.layout();
        let axes = layout.shape().iter().zip(layout.strides());
        footprint(axes.map(|(&len, &step)| (len, step)), layout.dtype().size())
    };
    let output = match &scatter.target {
        Target::InPlace { view, .. } => bytes(&view.as_view()),
        Target::New { .. } => scatter.cells().saturating_mul(dtype.size()),
    };
    let layout = Layout::contiguous(dtype, shape)?;
    let request = scatter.request(&layout, false);
    let traffic = Traffic::runs(
        RunsBytes {
            index: bytes(component.index.view()),
            source: bytes(scatter.source.view()),
            output,
            positions: scatter.arg.map_or(0, |_| scatter.cells().saturating_mul(8)),
        },
        request.visible,
        scatter.reduction.init == Init::Current && !pairing.copies(),
        split.map_or(1, |(_, threads)| threads),
    );
    let rows = product(&many[..=axis]);
    let cells = product(&shape[..=axis]);
    let counts = RunCounts {
        rows,
        width: product(&many[axis + 1..]),
        cells,
    };
    Ok(Execution::of_runs(
        Reason::of(scatter.strategy, REASON),
        request,
        dtype,
        counts,
        split,
        traffic,
    ))
}

/// Runs it.
pub(crate) fn run(scatter: &mut Scatter<'_>, pairing: Pairing) -> Result<Output, Problem> {
    let (_, split) = shared(scatter, pairing)?;
    let shape = Dims::from_slice(scatter.destinations.shape());
    let mut arg = match scatter.arg {
        None => None,
        // Every row is written.
        Some(_) if pairing == Pairing::Pointers && !scatter.source.view().is_empty() => {
            Some(DynTensor::scratch(DType::I64, &shape)?)
        }
        Some(none) => Some(DynTensor::filled(DType::I64, &shape, &none.to_ne_bytes())?),
    };
    let mut tensor = None;
    match &mut scatter.target {
        Target::InPlace { argument, view } => {
            let argument = *argument;
            let mut view = std::mem::replace(view, DynViewMut::nothing(DType::Bool));
            scatter.check_overlap(argument, &mut view)?;
            run_into(scatter, pairing, split, view, arg.as_mut(), Begun::Visible)?;
        }
        Target::New { dtype, start } => {
            let dtype = *dtype;
            let mut begun = Begun::Blank;
            let mut made = match (pairing, start) {
                (_, Start::CopyOf(view)) => {
                    begun = Begun::Copied;
                    duplicate(view)?
                }
                (_, Start::Filled(bytes)) => {
                    begun = Begun::Copied;
                    DynTensor::filled(dtype, &shape, &bytes[..dtype.size()])?
                }
                (_, Start::Identity) => {
                    return Err(Problem::Unsupported {
                        what: "a run that starts from the identity".into(),
                        dtype,
                    });
                }
                (Pairing::Pointers | Pairing::Picked, _) if !scatter.source.view().is_empty() => {
                    DynTensor::scratch(dtype, &shape)?
                }
                _ => DynTensor::zeros_for(dtype, &shape, scatter.source.view().len())?,
            };
            run_into(
                scatter,
                pairing,
                split,
                made.view_mut(),
                arg.as_mut(),
                begun,
            )?;
            tensor = Some(made);
        }
    }
    Ok(Output { tensor, arg })
}

fn run_into(
    scatter: &Scatter<'_>,
    pairing: Pairing,
    split: Option<Share>,
    mut view: DynViewMut<'_>,
    arg: Option<&mut DynTensor>,
    begun: Begun,
) -> Result<(), Problem> {
    let component = &scatter.destinations.components()[0];
    if scatter.source.view().is_empty() {
        // There is nothing to read, but what says where may still be wrong. A source without
        // rows has a result without rows, wherever pointers would put them.
        let fault = match pairing {
            Pairing::Spread => None,
            _ => fault_of(scatter, pairing, component),
        };
        if let Some(problem) = fault {
            return Err(problem);
        }
        if pairing == Pairing::Pointers && begun != Begun::Copied {
            clear(&mut view);
        }
        return Ok(());
    }
    let fold = fold_of(scatter, begun);
    let paired = Paired {
        index: component.index.view(),
        pairing,
        axis: component.axis,
    };
    let outputs = RunsOutputs {
        all: [Some(view), arg.map(DynTensor::view_mut)]
            .into_iter()
            .flatten()
            .collect(),
        visible: begun == Begun::Visible,
    };
    let run = paired.run(scatter.source.view(), outputs, fold, split);
    run.map_err(|fault| match fault {
        Fault::Problem(problem) => problem,
        Fault::OutOfBounds => {
            let found = fault_of(scatter, pairing, component);
            found.unwrap_or_else(|| Problem::Layout {
                argument: component.argument.into(),
                why: "it was changed by somebody else while it was in use".into(),
            })
        }
    })
}

/// The reduction of each run.
fn fold_of(scatter: &Scatter<'_>, begun: Begun) -> Fold {
    let Reduction { init, combine, .. } = scatter.reduction;
    let extreme = matches!(combine, Combine::Min(_) | Combine::Max(_));
    let ignores = matches!(
        combine,
        Combine::Min(Nan::Ignore) | Combine::Max(Nan::Ignore)
    );
    let seed = match init {
        Init::Current if begun != Begun::Blank => Seed::Current,
        Init::Current if extreme => Seed::FiniteExtreme,
        _ => Seed::Identity,
    };
    let replaced = init == Init::Identity && begun == Begun::Copied;
    let finish = match seed {
        _ if scatter.mean().is_some() => Finish::Mean(Mean {
            more: 0,
            divisor: Divisor::CountTowardZero,
        }),
        Seed::Current => Finish::None,
        Seed::FiniteExtreme if ignores => Finish::ZeroIfStart,
        Seed::Identity if ignores => Finish::ZeroIfNoNumber,
        Seed::Identity if !extreme => Finish::None,
        _ => Finish::ZeroIfEmpty,
    };
    Fold {
        combine,
        seed,
        finish,
        none: scatter.arg,
        empty: !replaced || scatter.arg.is_some(),
        exact: false,
    }
}

/// What is wrong with the array that pairs rows: the first value that does not ascend, or else
/// the first that is outside. Walks it slowly; the run that found a fault does not know where.
pub(crate) fn fault_of(
    scatter: &Scatter<'_>,
    pairing: Pairing,
    component: &Component<'_>,
) -> Option<Problem> {
    let axis = component.axis;
    let size = |shape: &[usize]| shape[axis];
    let (rows, updates) = (
        size(scatter.destinations.shape()),
        size(scatter.destinations.updates_shape()),
    );
    // The axis that values point into: that of the updates, or of the destination.
    let limit = match pairing {
        Pairing::Pointers | Pairing::Picked => updates,
        Pairing::Ascending | Pairing::Spread => rows,
    };
    let index = component.index.view().without_repeats();
    let WrongValues { falls, outside } = wrong_values(&index, pairing, limit)?;
    let named = |at: &[usize]| format!("{}{:?}", component.argument, component.position(at));
    if let Some(Fall { at, value, before }) = falls {
        return Some(Problem::Value {
            argument: named(&index.coordinate(at)),
            value: value.to_string(),
            expected: format!("it must not be less than the value before it, {before}"),
        });
    }
    let (number, value) = outside?;
    let at = index.coordinate(number);
    let value = index.index_value(&at).unwrap_or(value.into());
    Some(match pairing {
        Pairing::Ascending | Pairing::Picked => problem(component, &at, value, limit),
        Pairing::Pointers | Pairing::Spread => {
            let side = if pairing == Pairing::Pointers {
                scatter.updates
            } else {
                "out"
            };
            Problem::Value {
                argument: named(&at),
                value: value.to_string(),
                expected: format!(
                    "it must be from 0 to {limit}, the size of {side} along dimension {axis}"
                ),
            }
        }
    })
}

/// What is wrong with the values of an array that pairs rows.
struct WrongValues {
    /// The first value that is less than the one before it, if values must ascend.
    falls: Option<Fall>,
    /// The first value that is outside: its number, and the value.
    outside: Option<(usize, i64)>,
}

/// A value that is less than the one before it.
struct Fall {
    /// Its number.
    at: usize,
    value: i64,
    before: i64,
}

/// Looks for values of an index that do not ascend or are not below `limit`, or for pointers that
/// are above it. `None` if the values cannot be read as integers.
fn wrong_values(index: &DynView<'_>, pairing: Pairing, limit: usize) -> Option<WrongValues> {
    let line = index.shape().last().copied().unwrap_or(0);
    let mut outside = None;
    let mut falls = None;
    let mut number = 0usize;
    let mut before = i64::MIN;
    let numbers = index.all_integers(|block| {
        for &value in block {
            let at = number;
            let first = number.is_multiple_of(line.max(1));
            number += 1;
            let most = limit as i64 - i64::from(!pairing.points());
            if outside.is_none() && !(0..=most).contains(&value) {
                outside = Some((at, value));
            }
            if !pairing.points() && !first && value < before {
                falls = Some(Fall { at, value, before });
                return false;
            }
            before = value;
        }
        true
    });
    // Reading also ends early where a value falls.
    (numbers || falls.is_some()).then_some(WrongValues { falls, outside })
}
