//! `strew ops`: the operators, by name, by framework or by a word of their summaries.

use crate::cli;
use crate::failure::{Failure, Result};
use crate::suggest;
use serde_json::json;
use std::io::Write;
use strew::{Kind, OPERATORS, Operator};

/// `strew ops [WORD]...`: an operator, those of a framework, or those that the words are found in
pub(crate) fn ops(words: &[String], json: bool, out: &mut impl Write) -> Result<()> {
    if let [name] = words
        && let Some(operator) = strew::find(name)
    {
        match json {
            true => writeln!(out, "{}", as_json(operator))?,
            false => describe(operator, out)?,
        }
        return Ok(());
    }
    let listed = found(words);
    if listed.is_empty() {
        let wanted = words.join(" ");
        // Several words are no name that was misspelt.
        let near = match words {
            [name] => suggest::operators(name),
            _ => Vec::new(),
        };
        let others = "strew ops lists all of them, and strew help jobs what they are for";
        let hint = suggest::job_or(&wanted, &near, others);
        return Err(Failure::new(format!(
            "'{wanted}' is no operator or framework, and in no summary of one: {hint}"
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

/// The operators of the framework, if the word is one. Else those whose names and summaries have
/// all words.
fn found(words: &[String]) -> Vec<&'static Operator> {
    let all = || OPERATORS.iter().flat_map(|dialect| dialect.iter());
    if let [name] = words {
        let own: Vec<&Operator> = all().filter(|operator| of(operator) == name).collect();
        if !own.is_empty() {
            return own;
        }
    }
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let holds = |operator: &&Operator| {
        let text = format!("{} {}", operator.name, operator.summary).to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    all().filter(holds).collect()
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
            |a| json!({ "name": a.name, "kind": kind(a.kind), "default": a.default, "doc": a.doc, "words": a.words, "differentiable": a.differentiable }),
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
