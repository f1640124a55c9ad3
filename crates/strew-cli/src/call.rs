//! `strew run`: any operator of the table, on files.

use crate::cli;
use crate::dry_run::Intent;
use crate::failure::{Failure, Result};
use crate::flags;
use crate::larger_than_memory;
use crate::outputs::Outputs;
use crate::progress;
use crate::read::{Loaded, treat};
use crate::values::{Given, is_file, items};
use crate::write::Guard;
use clap::ArgMatches;
use std::io::Write;
use std::path::PathBuf;
use strew::{Arguments, Call, DynTensor, Kind, Operator, Strategy};

/// The values of a call, with where they came from.
pub(crate) struct Values<'m> {
    operator: &'static Operator,
    strategy: Option<Strategy>,
    given: Vec<(usize, Given)>,
    matches: &'m ArgMatches,
}

/// The operator that is named, and what is given for it.
pub(crate) fn named(matches: &ArgMatches) -> Result<(&'static Operator, &ArgMatches)> {
    let (name, matches) = matches
        .subcommand()
        .ok_or_else(|| Failure::new("an operator is missing"))?;
    let operator =
        strew::find(name).ok_or_else(|| Failure::new(format!("there is no operator '{name}'")))?;
    Ok((operator, matches))
}

/// No output may replace what the call reads.
pub(crate) fn guard_inputs(guard: &mut Guard, operator: &Operator, matches: &ArgMatches) {
    for argument in operator.arguments {
        if let Some(text) = cli::given(matches, argument) {
            guard.reads_text(argument.name, text);
        }
    }
}

/// Settles what is done with missing values of the call's tensors.
pub(crate) fn treat_nulls(operator: &Operator, matches: &ArgMatches) -> Result<()> {
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
    let treated = treat(&flags::Columns::given(matches), &tensors);
    treated.map_err(|failure| failure.for_operator(operator.name))
}

impl<'m> Values<'m> {
    pub(crate) fn read(operator: &'static Operator, matches: &'m ArgMatches) -> Result<Self> {
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

    /// Does something with the checked call, with the strategy that was asked for.
    pub(crate) fn with_call<R>(
        &mut self,
        work: impl FnOnce(Call<'_>) -> strew::Result<R>,
    ) -> Result<R> {
        self.with_strategy(self.strategy, work)
    }

    /// Does something with the checked call and a strategy.
    pub(crate) fn with_strategy<R>(
        &mut self,
        strategy: Option<Strategy>,
        work: impl FnOnce(Call<'_>) -> strew::Result<R>,
    ) -> Result<R> {
        let operator = self.operator;
        let matches = self.matches;
        let mut arguments = Arguments::new(operator);
        let files: Vec<_> = operator
            .arguments
            .iter()
            .map(|a| (a.name, cli::given(matches, a).filter(|text| is_file(text))))
            .collect();
        let failed =
            |e: strew::Error| Failure::from_operator(&e, &files).with_mode_of(operator, &e);
        for (place, given) in &mut self.given {
            let value = given.value().map_err(|f| f.for_operator(operator.name))?;
            arguments.set(*place, value).map_err(failed)?;
        }
        let call = arguments.lower().map_err(failed)?;
        work(call.with_strategy(strategy)).map_err(failed)
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
    let mut asked = flags::asked(matches, json);
    guard_inputs(&mut asked.guard, operator, matches);
    let own = |name: &str| matches.get_one::<String>(&cli::output_flag(name));
    let plan = Outputs::new(operator.returns, &asked, own).map_err(|f| f.for_operator(name))?;
    treat_nulls(operator, matches)?;
    if matches.get_flag(flags::DRY) {
        return intent(operator, matches, &plan)?.tell(&plan, json, out);
    }
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

/// What `strew run` would do.
fn intent(
    operator: &'static Operator,
    matches: &ArgMatches,
    outputs: &Outputs,
) -> Result<Intent<'static>> {
    let pieces = larger_than_memory::describe(operator, matches, outputs);
    let does = match pieces {
        Some(pieces) => pieces,
        None => {
            let mut values = Values::read(operator, matches)?;
            let execution = values.with_call(|call| call.execution())?;
            execution.explain().sentence().to_owned()
        }
    };
    Ok(Intent {
        name: operator.name,
        does,
        results: operator.returns,
        types: &[],
    })
}
