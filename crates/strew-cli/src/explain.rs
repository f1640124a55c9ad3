//! `strew explain`: how an operator would run, without running it.

use crate::call::{Values, guard_inputs, named, treat_nulls};
use crate::cli;
use crate::failure::{Failure, Result};
use crate::flags;
use crate::write::{Guard, Writable, write_bytes};
use clap::ArgMatches;
use std::io::Write;
use strew::{Alternative, Execution, Explanation, Machine, Operator, Report, Strategy, Traffic};

/// `strew explain OPERATOR ...`
pub(crate) fn explain(matches: &ArgMatches, json: bool, out: &mut impl Write) -> Result<()> {
    let (operator, matches) = named(matches)?;
    treat_nulls(operator, matches)?;
    let page = matches.get_one::<String>(cli::HTML);
    let mut guard = Guard::new(matches.get_flag(flags::FORCE));
    guard_inputs(&mut guard, operator, matches);
    let page = page.map(|name| Writable::new(name, &guard)).transpose();
    let page = page.map_err(|f| f.for_operator(operator.name))?;
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
    if let Some(page) = page {
        let seen = Seen {
            operator,
            plan: &plan,
            told: &told,
            machine: machine.as_ref(),
        };
        let html = seen.page(&mut values)?;
        write_bytes(&page, html.as_bytes()).map_err(|f| f.for_operator(operator.name))?;
    }
    let seconds = machine.as_ref();
    let seconds = seconds.and_then(|machine| Some(plan.traffic()?.seconds(machine)));
    if json {
        let facts: serde_json::Map<String, serde_json::Value> = told
            .facts()
            .iter()
            .map(|(name, value)| ((*name).to_owned(), as_json(value)))
            .collect();
        let mut object = serde_json::json!({
            "operator": operator.name, "summary": told.sentence(), "plan": facts,
        });
        if let Some(traffic) = plan.traffic() {
            object["bytes"] = bytes_of(traffic);
        }
        if let Some(seconds) = seconds {
            object["seconds"] = seconds.into();
        }
        writeln!(out, "{object}")?;
        return Ok(());
    }
    let (sentence, table) = (told.sentence(), told.table());
    write!(out, "{} {sentence}.\n\n{table}", operator.name)?;
    Ok(())
}

/// Why a strategy cannot run. The row of the table says already which one it is.
fn why_not(failure: &Failure) -> String {
    let message = failure.message();
    let bare = message.split_once("cannot run here: ");
    bare.map_or(message, |(_, why)| why).to_owned()
}

/// What is known of a run that a page tells about.
struct Seen<'a> {
    operator: &'static Operator,
    plan: &'a Execution,
    told: &'a Explanation,
    machine: Option<&'a Machine>,
}

impl Seen<'_> {
    /// The page; an index value that names no cell is an error, as in a run.
    fn page(&self, values: &mut Values<'_>) -> Result<String> {
        let profile = values.with_call(|call| call.profile())?;
        let alternatives = Strategy::ALL.map(|strategy| self.alternative(values, strategy));
        let (rows, width) = (self.plan.rows() as u64, self.plan.width() as u64);
        let report = Report {
            title: self.operator.name,
            told: self.told,
            profile: profile.as_ref(),
            split: self.plan.split(),
            traffic: self.plan.traffic(),
            elements: rows.saturating_mul(width),
            machine: self.machine,
            alternatives: &alternatives,
        };
        Ok(report.page())
    }

    /// What the run would take with this strategy.
    fn alternative(&self, values: &mut Values<'_>, strategy: Strategy) -> Alternative {
        let run = values.with_strategy(Some(strategy), |call| call.execution());
        let time = |run: &Execution| {
            let (traffic, machine) = (run.traffic()?, self.machine?);
            Some(traffic.seconds(machine))
        };
        Alternative {
            name: strategy.name().to_owned(),
            chosen: strategy == self.plan.strategy(),
            time: match &run {
                Ok(run) => Ok(time(run)),
                Err(failure) => Err(why_not(failure)),
            },
        }
    }
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
