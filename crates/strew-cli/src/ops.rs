//! `strew ops`: what there is.

use crate::cli;
use crate::failure::{Failure, Result};
use serde_json::json;
use std::io::Write;
use strew::{Kind, OPERATORS, Operator};

/// `strew ops [NAME]`
pub(crate) fn ops(name: Option<&str>, json: bool, out: &mut impl Write) -> Result<()> {
    let all = || OPERATORS.iter().flat_map(|dialect| dialect.iter());
    if let Some(operator) = name.and_then(strew::find) {
        match json {
            true => writeln!(out, "{}", as_json(operator))?,
            false => describe(operator, out)?,
        }
        return Ok(());
    }
    let listed: Vec<&Operator> = match name {
        None => all().collect(),
        Some(framework) => all().filter(|o| of(o) == framework).collect(),
    };
    if listed.is_empty() {
        let wanted = name.unwrap_or_default();
        let near: Vec<&str> = all()
            .map(|o| o.name)
            .filter(|n| {
                n.split('.')
                    .any(|part| wanted.split('.').any(|w| w == part))
            })
            .collect();
        let hint = match near[..] {
            [] => "'strew ops' lists all of them".to_owned(),
            _ => format!("there is {}", near.join(", ")),
        };
        return Err(Failure::new(format!(
            "there is no operator or framework '{wanted}': {hint}"
        )));
    }
    if json {
        let list: Vec<_> = listed.into_iter().map(as_json).collect();
        writeln!(out, "{}", serde_json::Value::from(list))?;
        return Ok(());
    }
    let width = listed.iter().map(|o| o.name.len()).max().unwrap_or(0);
    for operator in listed {
        writeln!(out, "{:width$}  {}", operator.name, operator.summary)?;
    }
    Ok(())
}

/// The framework of an operator.
fn of(operator: &Operator) -> &str {
    operator.name.split('.').next().unwrap_or_default()
}

fn describe(operator: &Operator, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(
        out,
        "{}\n  {}\n\nArguments",
        operator.name, operator.summary
    )?;
    let width = operator.arguments.iter().map(|a| a.name.len()).max();
    let width = width.unwrap_or(0);
    for argument in operator.arguments {
        let kind = kind(argument.kind);
        write!(
            out,
            "  {:width$}  {kind:8}  {}",
            argument.name, argument.doc
        )?;
        match argument.default {
            Some(default) => writeln!(out, " [default: {default}]")?,
            None => writeln!(out)?,
        }
    }
    let returns = operator.returns.join(", ");
    let example = cli::example(operator, true);
    writeln!(out, "\nReturns\n  {returns}\n\nExample\n  {example}")
}

fn as_json(operator: &Operator) -> serde_json::Value {
    let arguments: Vec<_> = operator
        .arguments
        .iter()
        .map(
            |a| json!({ "name": a.name, "kind": kind(a.kind), "default": a.default, "doc": a.doc, "words": a.words }),
        )
        .collect();
    json!({
        "name": operator.name,
        "framework": of(operator),
        "summary": operator.summary,
        "arguments": arguments,
        "returns": operator.returns,
    })
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Tensor => "tensor",
        Kind::Target => "target",
        Kind::Integers => "integers",
        Kind::Int => "int",
        Kind::Bool => "bool",
        Kind::Scalar => "scalar",
        Kind::Tensors => "tensors",
        _ => "text",
    }
}
