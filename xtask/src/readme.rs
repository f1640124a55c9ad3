//! The examples of README.md and docs/tour.md: what a reader copies must run.
//!
//! Fenced blocks are examples by the word after the fence: `rust` blocks of README.md are doc tests
//! of the library, `python` blocks are one script, `sh` blocks are one shell script in a folder of
//! their own. Blocks marked `text` are only shown.

use crate::places::{binary, path_with, root, target};
use crate::python::Venv;
use crate::stages::{Outcome, run};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const README: &str = "README.md";
const TOUR: &str = "docs/tour.md";

/// Languages that README.md must have examples in.
const LANGUAGES: [&str; 3] = ["rust", "python", "sh"];
/// Those of docs/tour.md: it is no part of the library's doc tests.
const LANGUAGES_OF_THE_TOUR: [&str; 2] = ["python", "sh"];

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    language: String,
    /// The line of its file that its first line is.
    line: usize,
    text: String,
}

fn blocks(markdown: &str) -> Outcome<Vec<Block>> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in markdown.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                open = Some(Block {
                    language: language.trim().to_owned(),
                    line: number + 2,
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    match open {
        Some(block) => Err(format!(
            "the block before line {} is not closed",
            block.line
        )),
        None => Ok(found),
    }
}

fn read(file: &str) -> Outcome<Vec<Block>> {
    let path = root().join(file);
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    blocks(&text).map_err(|e| format!("{file}: {e}"))
}

/// Every block says what it is, and README.md has one in every language. Whether they run is a
/// matter of `cargo xtask test`.
pub(crate) fn check() -> Outcome {
    known(TOUR, &LANGUAGES_OF_THE_TOUR)?;
    known(README, &LANGUAGES)?;
    let blocks = read(README)?;
    for language in LANGUAGES {
        let count = blocks.iter().filter(|b| b.language == language).count();
        println!("{language}: {count}");
        if count == 0 {
            return Err(format!("README.md has no block marked {language}"));
        }
    }
    Ok(())
}

/// Every block of a file is in one of these languages, or is text.
fn known(file: &str, languages: &[&str]) -> Outcome {
    for block in read(file)? {
        let language = block.language.as_str();
        if !languages.contains(&language) && language != "text" {
            return Err(format!(
                "{file}:{}: a block is marked {language:?}; it must be one of {}, or text",
                block.line - 1,
                languages.join(", ")
            ));
        }
    }
    Ok(())
}

/// All blocks of a language as one script, each under a line that says where it is from.
fn script(language: &str) -> Outcome<String> {
    let mut script = String::new();
    for file in [README, TOUR] {
        let blocks = read(file)?;
        for block in blocks.iter().filter(|b| b.language == language) {
            script += &format!("# {file}:{}\n{}\n", block.line, block.text);
        }
    }
    match script.is_empty() {
        true => Err(format!("README.md has no block marked {language}")),
        false => Ok(script),
    }
}

/// A fresh folder for the files that examples write.
fn folder(name: &str) -> Outcome<PathBuf> {
    let folder = target(name);
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    Ok(folder)
}

/// Runs the `python` blocks, one after the other in one interpreter.
pub(crate) fn run_python(venv: &Venv) -> Outcome {
    let folder = folder("readme-python")?;
    let file = folder.join("readme.py");
    fs::write(&file, script("python")?).map_err(|e| e.to_string())?;
    run(venv.python().current_dir(&folder).arg(&file))
}

/// Runs the `sh` blocks with the built `strew` and the environment's `python` on the path; the
/// first command that fails ends them.
pub(crate) fn run_shell(venv: &Venv) -> Outcome {
    let binary = binary();
    if !binary.exists() {
        return Err(format!("{} is not built", binary.display()));
    }
    let script = script("sh")?;
    let folder = folder("readme-sh")?;
    let file = folder.join("readme.sh");
    fs::write(&file, script).map_err(|e| e.to_string())?;
    let path = path_with([binary.with_file_name(""), venv.bin()])?;
    let mut shell = Command::new("sh");
    // -e: stop at the first failure; -x: show what runs.
    shell.arg("-eux").arg(&file).current_dir(&folder);
    run(shell.env("PATH", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_with_their_lines() {
        let found = blocks("# T\n```sh\na\nb\n```\ntext\n```text\nc\n```\n").unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|b| (b.language.as_str(), b.line, b.text.as_str()))
            .collect();
        assert_eq!(found, [("sh", 3, "a\nb\n"), ("text", 8, "c\n")]);
        assert!(blocks("```sh\na\n").is_err());
    }
}
