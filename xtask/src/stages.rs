//! Stages of a chore: one heading each, a table at the end, and child processes in between.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// What a stage comes to; the error says what went wrong.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// The stages of a chore. All of them are run, whatever became of the ones before: a stage that
/// cannot run is a failure, not a skip.
#[derive(Default)]
pub(crate) struct Stages {
    done: Vec<(&'static str, Outcome, Duration)>,
}

impl Stages {
    /// Runs a stage under its heading. Gives what it made, for the stages that need it.
    pub(crate) fn run<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Outcome<T>,
    ) -> Option<T> {
        println!("\n=== {name} ===");
        let start = Instant::now();
        let (made, outcome) = match work() {
            Ok(made) => (Some(made), Ok(())),
            Err(why) => (None, Err(why)),
        };
        if let Err(why) = &outcome {
            println!("FAILED: {why}");
        }
        self.done.push((name, outcome, start.elapsed()));
        made
    }

    /// Prints the table. The last line is the one that scripts read.
    pub(crate) fn finish(self) -> ExitCode {
        let width = self.done.iter().map(|(name, ..)| name.len()).max();
        let width = width.unwrap_or(0);
        println!("\n=== summary ===");
        for (name, outcome, time) in &self.done {
            let (word, why) = match outcome {
                Ok(()) => ("passed", ""),
                Err(why) => ("FAILED", why.lines().next().unwrap_or("")),
            };
            let line = format!("{name:width$}  {word}  {:6.1} s  {why}", time.as_secs_f64());
            println!("{}", line.trim_end());
        }
        let failed = self.done.iter().filter(|(_, o, _)| o.is_err()).count();
        println!("{} passed, {failed} failed", self.done.len() - failed);
        ExitCode::from(u8::from(failed > 0))
    }
}

/// What a stage needs of one before it.
pub(crate) fn needs<'t, T>(made: Option<&'t T>, by: &str) -> Outcome<&'t T> {
    made.ok_or_else(|| format!("it could not run, because \"{by}\" failed"))
}

/// Runs a command to its end, with its output passed through.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let line = describe(command);
    println!("$ {line}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{line}` ended with {status}")),
        Err(error) => Err(format!("`{line}` did not start: {error}")),
    }
}

/// Likewise for what goes over the network: tries it three times.
pub(crate) fn run_with_retries(command: &mut Command) -> Outcome {
    let mut outcome = run(command);
    for pause in [5, 20] {
        if outcome.is_err() {
            println!("once more in {pause} seconds");
            std::thread::sleep(Duration::from_secs(pause));
            outcome = run(command);
        }
    }
    outcome
}

fn describe(command: &Command) -> String {
    // The program's folder says little to a reader.
    let program = Path::new(command.get_program()).file_name();
    let words = program.into_iter().chain(command.get_args());
    let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_stage_makes_a_failure_and_the_next_one_still_runs() {
        let mut stages = Stages::default();
        assert_eq!(stages.run("good", || Ok(7)), Some(7));
        assert_eq!(stages.run("bad", || Err::<(), _>("why".into())), None);
        let needed: Option<()> = None;
        let next = stages.run("next", || needs(needed.as_ref(), "bad").map(drop));
        assert_eq!(next, None);
        assert_eq!(stages.finish(), ExitCode::from(1));
    }

    #[test]
    fn a_command_that_fails_is_named() {
        let mut command = Command::new("cargo");
        let error = run(command.arg("no-such-subcommand")).unwrap_err();
        assert!(
            error.contains("`cargo no-such-subcommand` ended with"),
            "{error}"
        );
    }
}
