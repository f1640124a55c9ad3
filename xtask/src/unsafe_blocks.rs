//! The table of `unsafe` in docs/robustness.md, made from the sources.
//!
//! A file whose code says `unsafe` has three lines at its head. Two are a row of the table:
//!
//! ```text
//! //! # Unsafe
//! //!
//! //! - Buys: bounds checks that are not made.
//! //! - Measured: checks: W4 1.04.
//! //! - Holds: the offsets are those of a block, which its walk proved.
//! ```

use crate::imports::code_of;
use crate::places::{files, root};
use crate::stages::Outcome;
use std::fmt::Write;
use std::fs;

const TABLE: &str = "docs/robustness.md";
const BEGIN: &str = "<!-- unsafe: made by `cargo xtask check --fix` -->\n";
const END: &str = "<!-- end of unsafe -->";
const SOURCES: [&str; 6] = [
    "bench/plain/src",
    "crates/strew-cli/src",
    "crates/strew-engine/src",
    "crates/strew-kernel/src",
    "crates/strew/src",
    "python/src",
];

/// Fails if the table is not what the sources say; with `fix`, writes it instead.
pub(crate) fn check(fix: bool) -> Outcome {
    let path = root().join(TABLE);
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let parts = text.split_once(BEGIN).and_then(|(head, rest)| {
        rest.split_once(END)
            .map(|(table, tail)| (head, table, tail))
    });
    let (head, table, tail) = parts.ok_or(format!("{TABLE} has no place for the table"))?;
    let made = made()?;
    if made == table {
        return Ok(());
    }
    if fix {
        let all = format!("{head}{BEGIN}{made}{END}{tail}");
        return fs::write(&path, all).map_err(|e| format!("{}: {e}", path.display()));
    }
    for line in made.lines().filter(|line| !table.contains(line)) {
        println!("+ {line}");
    }
    for line in table.lines().filter(|line| !made.contains(line)) {
        println!("- {line}");
    }
    Err(format!(
        "{TABLE} is behind the sources: cargo xtask check --fix"
    ))
}

/// The table that the sources make.
fn made() -> Outcome<String> {
    let root = root();
    let mut table =
        String::from("\n| file | times | what it buys | measured |\n|---|---|---|---|\n");
    let mut wrong = Vec::new();
    let (mut found, mut total) = (0, 0);
    for folder in SOURCES {
        for path in files(&root.join(folder), "rs")? {
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let times: usize = text.lines().map(times).sum();
            if times == 0 {
                continue;
            }
            (found, total) = (found + 1, total + times);
            let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy();
            let name = name.replace('\\', "/");
            match section(&text) {
                // Why it holds stands in the file alone.
                Some([buys, measured, _]) => {
                    let row = writeln!(table, "| `{name}` | {times} | {buys} | {measured} |");
                    row.map_err(|e| e.to_string())?;
                }
                None => wrong.push(name),
            }
        }
    }
    println!("{found} files, {total} times");
    table.push('\n');
    match wrong.is_empty() {
        true => Ok(table),
        false => Err(format!(
            "say `# Unsafe` with Buys, Measured and Holds at the head of {}",
            wrong.join(", ")
        )),
    }
}

/// What the head of a file says of its `unsafe`.
fn section(text: &str) -> Option<[String; 3]> {
    let head = text.lines().map_while(|line| line.strip_prefix("//!"));
    let mut rows = head
        .map(str::trim)
        .skip_while(|line| *line != "# Unsafe")
        .skip(1)
        .peekable();
    let mut said: Vec<String> = Vec::new();
    while let Some(line) = rows.next_if(|line| !line.starts_with('#')) {
        match line.strip_prefix("- ") {
            Some(item) => said.push(item.to_owned()),
            None if line.is_empty() => {}
            None => {
                let last = said.last_mut()?;
                last.push(' ');
                last.push_str(line);
            }
        }
    }
    let of = |name: &str| {
        let item = said.iter().find_map(|item| item.strip_prefix(name));
        item.map(|text| text.trim().trim_end_matches('.').replace('|', "\\|"))
    };
    Some([of("Buys:")?, of("Measured:")?, of("Holds:")?])
}

/// How often a line of code says it.
fn times(line: &str) -> usize {
    code_of(line)
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| *word == "unsafe")
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_lines() {
        let text = "//! A file.\n//!\n//! # Unsafe\n//!\n//! - Buys: a\n//!   copy.\n//! - Measured: W1 1.2\n\
                    //! - Holds: b.\n\nuse x;\n//! - Buys: no";
        let expected = ["a copy", "W1 1.2", "b"].map(str::to_owned);
        assert_eq!(section(text), Some(expected));
        assert_eq!(section("//! # Unsafe\n//! - Buys: a"), None);
        assert_eq!(times("unsafe fn a() { unsafe { b() } } // unsafe"), 2);
        assert_eq!(times("let unsafe_op = \"unsafe\";"), 0);
    }
}
