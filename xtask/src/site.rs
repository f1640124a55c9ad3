//! `cargo xtask site`: the documentation site, built and checked.

use crate::places::{binary, cargo, target};
use crate::python::{self, Venv};
use crate::stages::{Outcome, Stages, needs, run};
use std::process::{Command, ExitCode};

/// Build the documentation site, and check its links
///
/// The pages go to target/site/html: those of docs/site, the documents of the repository, and the
/// docstrings of every public module. Warnings are errors. Nothing in a page may be loaded from a
/// network. docs/site/requirements.txt says what is installed for that.
#[derive(Debug, clap::Args)]
pub(crate) struct Site {
    /// Use the wheel and the command that `cargo xtask test` has built, instead of building them
    #[arg(long)]
    built: bool,
    /// Also open every page in a headless Chromium, wide and narrow, and try search, fields and
    /// charts; where there is none, this says so. Pictures go to target/site/screenshots
    #[arg(long)]
    browser: bool,
}

impl Site {
    pub(crate) fn run(&self) -> ExitCode {
        let mut stages = Stages::default();
        let venv = stages.run("environment of the site", || self.environment());
        let pages = stages.run("pages and links of the site", || {
            let venv = needs(venv.as_ref(), "environment of the site")?;
            let mut build = script(venv, "build.py");
            run(build.arg(target("site")).arg("--command").arg(binary()))?;
            Ok(venv)
        });
        if self.browser {
            stages.run("pages of the site in a browser", || {
                let venv = needs(pages.as_ref(), "pages and links of the site")?;
                let mut open = script(venv, "browser.py");
                open.arg(target("site/html")).arg("--screenshots");
                run(open.arg(target("site/screenshots")))
            });
        }
        stages.finish()
    }

    /// A virtual environment with what builds the pages, and the package that they describe.
    fn environment(&self) -> Outcome<Venv> {
        let venv = Venv::make("venv-site")?;
        let wheel = if self.built {
            python::built_wheel()?
        } else {
            run(&mut cargo(["build", "--release", "--package", "strew-cli"]))?;
            python::wheel(&venv)?
        };
        venv.install(["--quiet", "-r", "docs/site/requirements.txt"])?;
        venv.install_wheel(&wheel, "")?;
        Ok(venv)
    }
}

/// A script of docs/site.
fn script(venv: &Venv, name: &str) -> Command {
    let mut python = venv.python();
    python.arg(format!("docs/site/{name}"));
    python
}
