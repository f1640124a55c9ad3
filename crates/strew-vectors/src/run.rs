//! Running one case: as it stands, and again in every other way that must not matter.

use super::compare::{SAME, difference, tolerance};
use super::names;
use super::tensor::{Arrangement, Held, Values, values};
use super::vectors::{Case, Raw, Refusal};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use strew::scatter::Output;
use strew::{Arguments, Class, DynView, Error, Kind, Operator, Problem, Scalar, Strategy, Value};

/// Operators whose arguments are strides in memory: other arrays would mean something else.
const OF_MEMORY: [&str; 1] = ["torch.as_strided_scatter"];

/// What a passing case did.
#[derive(Debug, Default)]
pub(super) struct Passed {
    /// How many times it was run once more, in another way.
    pub(super) again: usize,
    /// For an error whose vector gives a fragment of the message: whether ours holds it.
    pub(super) fragment: Option<bool>,
}

/// One call, done.
struct Ended {
    result: Result<(), Error>,
    /// By the vector's names: what was made, and what the inputs now hold.
    values: Vec<(String, Values)>,
    /// What inputs that may be written held before.
    before: Vec<(String, Values)>,
}

/// Runs a case of an operator; the error says what differed.
pub(super) fn run(case: &Case, operator: &'static Operator) -> Result<Passed, String> {
    let first = call(case, operator, Arrangement::Rows, None)?;
    let mut passed = Passed::default();
    match &case.error {
        Some(refusal) => passed.fragment = refused(&first, refusal)?,
        None => as_expected(case, &first)?,
    }
    // The same operator in place, where there is one, must do the same.
    let twin = strew::find(&format!("{}_", operator.name));
    for operator in [Some(operator), twin].into_iter().flatten() {
        let all = match OF_MEMORY.contains(&operator.name) {
            true => &[Arrangement::Rows][..],
            false => &Arrangement::ALL,
        };
        for &arrangement in all {
            for strategy in [None].into_iter().chain(Strategy::ALL.map(Some)) {
                let way = || {
                    let strategy = strategy.map_or("its own strategy", Strategy::name);
                    format!("{}, {arrangement:?}, {strategy}", operator.name)
                };
                let other = call(case, operator, arrangement, strategy)
                    .map_err(|e| format!("{}: {e}", way()))?;
                if let Err(error) = &other.result
                    && matches!(error.problem(), Problem::Strategy { .. })
                {
                    continue;
                }
                same(&first, &other, case).map_err(|e| format!("{}: {e}", way()))?;
                passed.again += 1;
            }
        }
    }
    Ok(passed)
}

/// An input in memory.
pub(super) struct Input<'c> {
    pub(super) name: &'c str,
    pub(super) held: Box<dyn Held>,
    /// Whether the operator writes into it.
    target: bool,
}

/// Why a call came to nothing.
pub(super) enum Failure {
    Refused(Error),
    Malformed(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Calls the operator; the error is for a case that cannot be called, and for a panic.
fn call(
    case: &Case,
    operator: &'static Operator,
    arrangement: Arrangement,
    strategy: Option<Strategy>,
) -> Result<Ended, String> {
    let mut inputs = hold(case, operator, arrangement)?;
    let before = read(inputs.iter().filter(|i| i.target))?;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        invoke(case, operator, &mut inputs, strategy)
    }));
    let outcome = outcome.map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or(panic.downcast_ref::<&str>().copied());
        format!("it panicked: {}", said.unwrap_or("without a message"))
    })?;
    let mut after = Vec::new();
    let result = match outcome {
        Ok(output) => {
            for (name, tensor) in [("out", output.tensor), ("arg", output.arg)] {
                if let Some(tensor) = tensor {
                    after.push((name.to_owned(), values(&tensor.view())?));
                }
            }
            if after.iter().all(|(name, _)| name != "out") {
                // In place: what is returned is the target.
                let written = read(inputs.iter().filter(|i| i.target))?;
                after.extend(written.into_iter().map(|(_, v)| ("out".to_owned(), v)));
            }
            Ok(())
        }
        Err(Failure::Refused(error)) => Err(error),
        Err(Failure::Malformed(why)) => return Err(why),
    };
    // The first value of a name counts: an output before an input that is named like it.
    after.extend(read(inputs.iter())?);
    Ok(Ended {
        result,
        values: after,
        before,
    })
}

pub(super) fn hold<'c>(
    case: &'c Case,
    operator: &Operator,
    arrangement: Arrangement,
) -> Result<Vec<Input<'c>>, String> {
    let each = |(name, raw): (&'c String, &Raw)| {
        let ours = names::argument(operator.name, name);
        let mut arguments = operator.arguments.iter();
        Ok(Input {
            name,
            held: raw.hold(arrangement).map_err(|e| format!("{name}: {e}"))?,
            target: arguments.any(|a| a.name == ours && a.kind == Kind::Target),
        })
    };
    case.inputs.iter().map(each).collect()
}

fn read<'i, 'c: 'i>(
    inputs: impl Iterator<Item = &'i Input<'c>>,
) -> Result<Vec<(String, Values)>, String> {
    inputs
        .map(|input| Ok((input.name.to_owned(), values(&input.held.view())?)))
        .collect()
}

fn invoke(
    case: &Case,
    operator: &'static Operator,
    inputs: &mut [Input<'_>],
    strategy: Option<Strategy>,
) -> Result<Output, Failure> {
    let call = arguments(case, operator, inputs)?.lower()?;
    Ok(call.with_strategy(strategy).run()?)
}

/// The case's values as arguments of the operator.
pub(super) fn arguments<'i>(
    case: &Case,
    operator: &'static Operator,
    inputs: &'i mut [Input<'_>],
) -> Result<Arguments<'i>, Failure> {
    let mut arguments = Arguments::new(operator);
    for (name, json) in &case.params {
        if let Some(value) = value(json).map_err(Failure::Malformed)? {
            arguments.set_named(names::argument(operator.name, name), value)?;
        }
    }
    let mut lists = BTreeMap::<&str, Vec<Option<DynView<'_>>>>::new();
    // A list of which nothing is given is there, too.
    let given = |name: &str| {
        let names = inputs.iter().map(|input| input.name.split('.').next());
        let mut names = names.flatten().map(|n| names::argument(operator.name, n));
        names.any(|n| n == name)
    };
    for argument in operator.arguments {
        if argument.kind == Kind::Tensors && !given(argument.name) {
            lists.insert(argument.name, Vec::new());
        }
    }
    for input in inputs {
        if let Some((list, place)) = input.name.split_once('.') {
            let place: usize = place
                .parse()
                .map_err(|_| Failure::Malformed(format!("{} is no place in a list", input.name)))?;
            let list = lists.entry(list).or_default();
            list.resize(list.len().max(place + 1), None);
            list[place] = Some(input.held.view());
            continue;
        }
        let value = match input.target {
            true => Value::Target(input.held.view_mut()),
            false => Value::Tensor(input.held.view()),
        };
        arguments.set_named(names::argument(operator.name, input.name), value)?;
    }
    for (name, list) in lists {
        arguments.set_named(names::argument(operator.name, name), Value::Tensors(list))?;
    }
    Ok(arguments)
}

/// A parameter as a value; `null` is an argument that is not passed.
fn value(json: &Json) -> Result<Option<Value<'static>>, String> {
    let wrong = || format!("{json} is no value of a parameter");
    Ok(Some(match json {
        Json::Null => return Ok(None),
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(value) => Value::Int(value),
            None => Value::Scalar(Scalar::Float(number.as_f64().ok_or_else(wrong)?)),
        },
        Json::String(word) => match word.as_str() {
            "nan" => Value::Scalar(Scalar::Float(f64::NAN)),
            _ => Value::Text(word.clone().into()),
        },
        Json::Array(list) => {
            let list: Option<Vec<i64>> = list.iter().map(Json::as_i64).collect();
            Value::Integers(list.ok_or_else(wrong)?.into())
        }
        Json::Object(_) => return Err(wrong()),
    }))
}

/// It must have ended with that error, and have left its targets alone. Tells whether the message
/// holds the fragment.
fn refused(ended: &Ended, refusal: &Refusal) -> Result<Option<bool>, String> {
    let Err(error) = &ended.result else {
        return Err(format!("it ran, expected {}", refusal.kind));
    };
    if !satisfies(error.class(), &refusal.kind) {
        return Err(format!("got {error:?}, expected {}", refusal.kind));
    }
    untouched(ended)?;
    let fragment = refusal.fragment.as_ref();
    Ok(fragment.map(|part| error.to_string().contains(part.as_str())))
}

/// Whether an error of this class is one of that kind. Kinds that are no Python exceptions (some
/// frameworks raise classes of their own) are satisfied by any.
pub(super) fn satisfies(class: Class, kind: &str) -> bool {
    match kind {
        "ValueError" => class == Class::Value,
        "IndexError" => class == Class::Index,
        "TypeError" => matches!(class, Class::Type | Class::TypeAndRuntime),
        // In Python, NotImplementedError is a RuntimeError.
        "RuntimeError" => matches!(
            class,
            Class::Runtime | Class::TypeAndRuntime | Class::NotImplemented
        ),
        "NotImplementedError" => class == Class::NotImplemented,
        "MemoryError" => class == Class::Memory,
        _ => true,
    }
}

fn untouched(ended: &Ended) -> Result<(), String> {
    for (name, before) in &ended.before {
        let after = find(ended, name)?;
        if let Some(difference) = difference(after, before, SAME) {
            return Err(format!("the error left {name} changed: {difference}"));
        }
    }
    Ok(())
}

fn find<'e>(ended: &'e Ended, name: &str) -> Result<&'e Values, String> {
    let mut values = ended.values.iter();
    let found = values.find(|(n, _)| n == name).map(|(_, v)| v);
    found.ok_or_else(|| format!("there is no output {name}"))
}

fn as_expected(case: &Case, ended: &Ended) -> Result<(), String> {
    if let Err(error) = &ended.result {
        return Err(format!("got {error:?}"));
    }
    for (name, raw) in &case.expect {
        let wanted = raw.values().map_err(|e| format!("expect {name}: {e}"))?;
        let tol = case.tol.unwrap_or_else(|| tolerance(wanted.dtype));
        if let Some(difference) = difference(find(ended, name)?, &wanted, tol) {
            return Err(format!("{name}{difference}"));
        }
    }
    Ok(())
}

/// The other way must have had the same end, to the bit.
fn same(first: &Ended, other: &Ended, case: &Case) -> Result<(), String> {
    match (&first.result, &other.result) {
        (Ok(()), Ok(())) => {}
        (Err(first), Err(second)) if first.class() == second.class() => return untouched(other),
        (_, Err(error)) => return Err(format!("got {error:?}")),
        (_, Ok(())) => return Err("it ran, but is an error otherwise".into()),
    }
    for name in case.expect.keys() {
        let (got, wanted) = (find(other, name)?, find(first, name)?);
        if let Some(difference) = difference(got, wanted, SAME) {
            return Err(format!("{name}{difference}"));
        }
    }
    Ok(())
}
