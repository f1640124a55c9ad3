//! `strew explain`: how an operator would run, without running it.

use crate::call::{Values, named, treat_nulls};
use crate::cli;
use crate::failure::{Failure, Result};
use clap::ArgMatches;
use std::io::Write;
use strew::{Machine, Traffic};

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
    let seconds = machine.as_ref();
    let seconds = seconds.and_then(|machine| Some(plan.traffic()?.seconds(machine)));
    if json {
        let facts: serde_json::Map<String, serde_json::Value> = told
            .facts()
            .iter()
            .map(|(name, value)| ((*name).to_owned(), as_json(value)))
            .collect();
        let mut object = serde_json::json!({
            "operator": operator.name, "plan": facts,
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
