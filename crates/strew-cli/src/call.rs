//! `strew run` and `strew explain`: any operator of the table, on files.

use crate::cli;
use crate::failure::{Failure, Result};
use crate::larger_than_memory;
use crate::outputs::Outputs;
use crate::progress;
use crate::read::{Loaded, treat};
use crate::values::{Given, is_file, items};
use clap::ArgMatches;
use std::io::Write;
use std::path::PathBuf;
use strew::{Arguments, Call, DynTensor, Kind, Machine, Operator, Strategy, Traffic};

/// The values of a call, with where they came from.
struct Values<'m> {
    operator: &'static Operator,
    strategy: Option<Strategy>,
    given: Vec<(usize, Given)>,
    matches: &'m ArgMatches,
}

/// The operator that is named, and what is given for it.
fn named(matches: &ArgMatches) -> Result<(&'static Operator, &ArgMatches)> {
    let (name, matches) = matches
        .subcommand()
        .ok_or_else(|| Failure::new("an operator is missing"))?;
    let operator =
        strew::find(name).ok_or_else(|| Failure::new(format!("there is no operator '{name}'")))?;
    Ok((operator, matches))
}

/// Settles what is done with missing values of the call's tensors.
fn treat_nulls(operator: &Operator, matches: &ArgMatches) -> Result<()> {
    let mut tensors = Vec::new();
    for argument in operator.arguments {
        let Some(text) = cli::given(matches, argument) else {
            continue;
        };
        match argument.kind {
            Kind::Tensor | Kind::Target => tensors.push((argument.name, text)),
            Kind::Tensors => tensors.extend(items(text).into_iter().map(|t| (argument.name, t))),
            _ => {}
        }
    }
    let treated = treat(cli::given_nulls(matches), &tensors);
    treated.map_err(|failure| failure.for_operator(operator.name))
}

impl<'m> Values<'m> {
    fn read(operator: &'static Operator, matches: &'m ArgMatches) -> Result<Self> {
        let name = operator.name;
        let strategy = matches
            .get_one::<String>(cli::STRATEGY)
            .map(|name| name.parse::<Strategy>())
            .transpose()
            .map_err(|p| Failure::new(p.to_string()).for_operator(name))?;
        let mut given = Vec::new();
        for (place, argument) in operator.arguments.iter().enumerate() {
            if let Some(text) = cli::given(matches, argument) {
                let value = Given::read(argument, text).map_err(|f| f.for_operator(name))?;
                given.extend(value.map(|value| (place, value)));
            }
        }
        Ok(Self {
            operator,
            strategy,
            given,
            matches,
        })
    }

    /// Does something with the checked call.
    fn with_call<R>(&mut self, work: impl FnOnce(Call<'_>) -> strew::Result<R>) -> Result<R> {
        let operator = self.operator;
        let matches = self.matches;
        let mut arguments = Arguments::new(operator);
        let files: Vec<_> = operator
            .arguments
            .iter()
            .map(|a| (a.name, cli::given(matches, a).filter(|text| is_file(text))))
            .collect();
        let failed = |e: strew::Error| Failure::from_operator(&e, &files);
        for (place, given) in &mut self.given {
            let value = given.value().map_err(|f| f.for_operator(operator.name))?;
            arguments.set(*place, value).map_err(failed)?;
        }
        let call = arguments.lower().map_err(failed)?;
        work(call.with_strategy(self.strategy)).map_err(failed)
    }

    /// The tensor that an operator in place has changed.
    fn into_target(self) -> Option<DynTensor> {
        let targets = self.given.into_iter().filter_map(|(_, given)| match given {
            Given::Target(loaded) => Some(loaded),
            _ => None,
        });
        targets.into_iter().next().and_then(Loaded::into_tensor)
    }
}

/// `strew run OPERATOR ...`
pub(crate) fn run(matches: &ArgMatches, json: bool, out: &mut impl Write) -> Result<()> {
    let (operator, matches) = named(matches)?;
    let name = operator.name;
    if let Some(folder) = matches.get_one::<PathBuf>(cli::SCRATCH)
        && !folder.is_dir()
    {
        return Err(Failure::file(folder, "it is not a folder").for_operator(name));
    }
    let first = matches.get_one::<String>(cli::OUTPUT);
    let own = |name: &str| matches.get_one::<String>(&cli::output_flag(name));
    let plan = Outputs::new(operator.returns, first, own).map_err(|f| f.for_operator(name))?;
    treat_nulls(operator, matches)?;
    let cut = larger_than_memory::run(operator, matches, &plan);
    if let Some(written) = cut.map_err(|f| f.for_operator(name))? {
        return plan.print_written(name, &written, json, out);
    }
    let mut values = Values::read(operator, matches)?;
    let made = values.with_call(|call| progress::with_bar(|| call.run()))?;
    let first = match made.tensor {
        Some(tensor) => Some(tensor),
        None => values.into_target(),
    };
    let tensors: Vec<(&str, DynTensor)> = operator
        .returns
        .iter()
        .zip([first, made.arg])
        .filter_map(|(&name, tensor)| Some((name, tensor?)))
        .collect();
    plan.write(&tensors).map_err(|f| f.for_operator(name))?;
    plan.print(name, &tensors, json, out)
}

/// `strew explain OPERATOR ...`
pub(crate) fn explain(matches: &ArgMatches, json: bool, out: &mut impl Write) -> Result<()> {
    let (operator, matches) = named(matches)?;
    treat_nulls(operator, matches)?;
    let mut values = Values::read(operator, matches)?;
    let plan = values.with_call(|call| call.execution())?;
    let machine = match matches.get_flag(cli::NO_MEASURE) {
        true => None,
        false => {
            let measured = Machine::measure();
            Some(measured.map_err(|p| Failure::new(p.to_string()).for_operator(operator.name))?)
        }
    };
    let told = match &machine {
        Some(machine) => plan.explain_on(machine),
        None => plan.explain(),
    };
    if json {
        let facts: serde_json::Map<String, serde_json::Value> = told
            .facts()
            .iter()
            .map(|(name, value)| ((*name).to_owned(), as_json(value)))
            .collect();
        let mut object = serde_json::json!({ "operator": operator.name, "plan": facts });
        if let Some(traffic) = plan.traffic() {
            object["bytes"] = bytes_of(traffic);
            if let Some(machine) = &machine {
                object["seconds"] = traffic.seconds(machine).into();
            }
        }
        writeln!(out, "{object}")?;
        return Ok(());
    }
    write!(out, "{}\n\n{told}", operator.name)?;
    Ok(())
}

/// What is moved, in bytes: the plan's own lines are for people.
fn bytes_of(traffic: &Traffic) -> serde_json::Value {
    let moves = traffic.moves();
    let moves = moves.iter().map(|m| {
        let bytes = serde_json::json!({
            "read": m.read, "written": m.written, "touched first": m.fresh,
        });
        (m.what.to_owned(), bytes)
    });
    serde_json::Value::Object(moves.collect())
}

/// Facts come as text; numbers and truth values among them are such in JSON too.
pub(crate) fn as_json(fact: &str) -> serde_json::Value {
    match (fact.parse::<u64>(), fact.parse::<bool>()) {
        (Ok(number), _) => number.into(),
        (_, Ok(truth)) => truth.into(),
        _ => fact.into(),
    }
}
