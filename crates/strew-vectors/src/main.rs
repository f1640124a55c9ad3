//! `cargo xtask conformance`: runs a folder of vectors against the engine.

mod accept;
mod compare;
mod grad;
mod names;
mod run;
mod tensor;
mod vectors;

use clap::Parser;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use vectors::Case;

/// Run a folder of conformance vectors against the engine
///
/// Every case of every .json file is called through the table of operators, then again with every
/// strategy that can run it, from transposed, reversed and strided arrays, and in place where the
/// operator has such a form: all of them must give the same bits. Prints a row per operator.
/// conformance/README.md has the schema.
///
/// Exit status: 0 if nothing failed, 1 if a case failed or a selected name has no case, 2 if the
/// folder cannot be read.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask conformance", bin_name = "cargo xtask conformance")]
struct Conformance {
    /// The folder
    dir: PathBuf,
    /// Only these operators, with their gradients (torch.scatter_reduce), and whole frameworks
    /// (torch.)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Print a line for every case
    #[arg(long)]
    verbose: bool,
}

/// What became of a case.
enum Outcome {
    Passed(run::Passed),
    Failed(String),
    Skipped(&'static str),
}

/// What became of an operator's cases.
#[derive(Default)]
struct Row {
    passed: usize,
    failed: usize,
    again: usize,
    skipped: BTreeMap<&'static str, usize>,
    fragments: [usize; 2],
}

fn main() -> ExitCode {
    Conformance::parse().run()
}

impl Conformance {
    fn run(&self) -> ExitCode {
        let cases = match vectors::read(&self.dir) {
            Ok(cases) => cases,
            Err(why) => {
                eprintln!("error: {why}");
                return ExitCode::from(2);
            }
        };
        // A panic becomes a failed case that tells its message; the hook would print it twice.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| ()));
        let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
        let mut failures = Vec::new();
        for case in cases.iter().filter(|case| self.selects(&case.op)) {
            let outcome = judge(case);
            if self.verbose {
                println!("{:8} {} {}", outcome.word(), case.op, case.id);
            }
            let row = rows.entry(&case.op).or_default();
            match outcome {
                Outcome::Passed(how) => {
                    row.passed += 1;
                    row.again += how.again;
                    if let Some(holds) = how.fragment {
                        row.fragments[usize::from(holds)] += 1;
                    }
                }
                Outcome::Failed(why) => {
                    row.failed += 1;
                    failures.push(format!("{} {}\n    {why}", case.op, case.id));
                }
                Outcome::Skipped(why) => *row.skipped.entry(why).or_default() += 1,
            }
        }
        std::panic::set_hook(hook);
        print_table(&rows);
        if !failures.is_empty() {
            println!("\nfailed:\n  {}", failures.join("\n  "));
        }
        let idle: Vec<_> = self.only.iter().filter(|n| !has_case(n, &cases)).collect();
        for name in &idle {
            println!(
                "error: no case in {} is selected by {name}",
                self.dir.display()
            );
        }
        ExitCode::from(u8::from(
            !failures.is_empty() || !idle.is_empty() || rows.is_empty(),
        ))
    }

    fn selects(&self, op: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| matches(name, op))
    }
}

fn has_case(name: &str, cases: &[Case]) -> bool {
    cases.iter().any(|case| matches(name, &case.op))
}

/// Whether a selected name means an operator.
fn matches(name: &str, op: &str) -> bool {
    match name.ends_with('.') {
        true => op.starts_with(name),
        false => op == name || op.strip_suffix(".grad") == Some(name),
    }
}

fn judge(case: &Case) -> Outcome {
    if case.unspecified {
        return Outcome::Skipped("unspecified");
    }
    let (check, gradient) = (accept::base(&case.op), grad::base(&case.op));
    let base = gradient.or(check.map(|(base, _)| base));
    let Some(operator) = strew::find(&names::operator(base.unwrap_or(&case.op))) else {
        return Outcome::Skipped("not implemented in this version");
    };
    let outcome = match check {
        Some((_, check)) => accept::run(case, operator, check).map(|()| run::Passed::default()),
        None if gradient.is_some() => grad::run(case, operator).map(|again| run::Passed {
            again,
            ..run::Passed::default()
        }),
        None => run::run(case, operator),
    };
    match outcome {
        Ok(how) => Outcome::Passed(how),
        Err(why) => Outcome::Failed(why),
    }
}

impl Outcome {
    fn word(&self) -> &'static str {
        match self {
            Self::Passed(_) => "passed",
            Self::Failed(_) => "FAILED",
            Self::Skipped(_) => "skipped",
        }
    }
}

fn print_table(rows: &BTreeMap<&str, Row>) {
    let width = rows.keys().map(|op| op.len()).max().unwrap_or(0).max(8);
    println!("{:width$}  passed  failed  skipped  run again", "operator");
    let mut all = Row::default();
    for (op, row) in rows {
        print_row(op, row, width);
        all.passed += row.passed;
        all.failed += row.failed;
        all.again += row.again;
        for (why, count) in &row.skipped {
            *all.skipped.entry(why).or_default() += count;
        }
        all.fragments[0] += row.fragments[0];
        all.fragments[1] += row.fragments[1];
    }
    print_row("all", &all, width);
    let [without, with] = all.fragments;
    if without + with > 0 {
        println!(
            "{with} of {} error messages hold the words of the framework's (for information)",
            without + with
        );
    }
}

fn print_row(op: &str, row: &Row, width: usize) {
    let skipped: usize = row.skipped.values().sum();
    let reasons: Vec<_> = row
        .skipped
        .iter()
        .map(|(why, count)| format!("{count} {why}"))
        .collect();
    let line = format!(
        "{op:width$}  {:6}  {:6}  {skipped:7}  {:9}  {}",
        row.passed,
        row.failed,
        row.again,
        reasons.join(", ")
    );
    println!("{}", line.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_selects_its_operator_and_gradient_or_a_framework() {
        assert!(matches("torch.scatter", "torch.scatter"));
        assert!(matches("torch.scatter", "torch.scatter.grad"));
        assert!(!matches("torch.scatter", "torch.scatter_add"));
        assert!(!matches("torch.scatter", "torch.scatter.shape_infer"));
        assert!(matches("torch.", "torch.scatter_add"));
        assert!(!matches("torch.", "torch_scatter.scatter_add"));
    }

    /// What becomes of a scatter_sum of `[1, 2]` by `index` when the vector says `so`.
    fn judged(index: &str, so: &str) -> Outcome {
        let case = format!(
            r#"{{"id": "a", "op": "torch_scatter.scatter_sum", "params": {{"dim_size": 2}},
                "inputs": {{"src": {{"dtype": "float32", "shape": [2], "data": [1, 2]}},
                            "index": {{"dtype": "int64", "shape": [2], "data": {index}}}}},
                {so}, "origin": "a test", "evidence": "derived"}}"#
        );
        judge(&serde_json::from_str(&case).unwrap())
    }

    #[test]
    fn a_right_vector_passes_and_a_wrong_one_fails() {
        let out = |dtype, shape, data| {
            let tensor = format!(r#"{{"dtype": "{dtype}", "shape": {shape}, "data": {data}}}"#);
            judged("[0, 0]", &format!(r#""expect": {{"out": {tensor}}}"#)).word()
        };
        assert_eq!(out("float32", "[2]", "[3, 0]"), "passed");
        assert_eq!(out("float32", "[2]", "[3, 1]"), "FAILED");
        assert_eq!(out("float32", "[2]", "[\"nan\", 0]"), "FAILED");
        assert_eq!(out("float64", "[2]", "[3, 0]"), "FAILED");
        assert_eq!(out("float32", "[1, 2]", "[3, 0]"), "FAILED");
        assert_eq!(out("float32", "[2]", "[3]"), "FAILED");
    }

    #[test]
    fn an_error_must_be_one_and_of_its_class() {
        let error = |index, kind| {
            let so = format!(r#""error": {{"kind": "{kind}", "match": "out of bounds"}}"#);
            judged(index, &so)
        };
        assert!(matches!(
            error("[0, 7]", "RuntimeError"),
            Outcome::Passed(run::Passed {
                fragment: Some(true),
                ..
            })
        ));
        assert_eq!(error("[0, 7]", "TypeError").word(), "FAILED");
        assert_eq!(error("[0, 1]", "RuntimeError").word(), "FAILED");
    }

    #[test]
    fn a_passing_case_has_been_run_in_other_ways() {
        let tensor = r#"{"dtype": "float32", "shape": [2], "data": [3, 0]}"#;
        let Outcome::Passed(how) = judged("[0, 0]", &format!(r#""expect": {{"out": {tensor}}}"#))
        else {
            panic!("it failed");
        };
        // Three arrangements, each by its own choice and by each of the six strategies that can.
        assert_eq!(how.again, 21);
    }

    #[test]
    fn an_error_of_two_classes_satisfies_both() {
        use strew::Class;
        assert!(run::satisfies(Class::TypeAndRuntime, "TypeError"));
        assert!(run::satisfies(Class::TypeAndRuntime, "RuntimeError"));
        assert!(!run::satisfies(Class::TypeAndRuntime, "ValueError"));
        assert!(run::satisfies(Class::Value, "ValidationError"));
    }
}
