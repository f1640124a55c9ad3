//! The table of `unsafe` in docs/robustness.md, compared with the sources.

use crate::imports::code_of;
use crate::places::{files, root};
use crate::stages::Outcome;
use std::collections::BTreeMap;
use std::fs;

const TABLE: &str = "docs/robustness.md";
const SOURCES: [&str; 3] = ["crates/strew/src", "crates/strew-cli/src", "python/src"];

/// Files by their path from the root, with the number of times that their code says `unsafe`.
type Counts = BTreeMap<String, usize>;

/// Fails if the table leaves a file out, or says another number than the sources.
pub(crate) fn check() -> Outcome {
    let path = root().join(TABLE);
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let (said, found) = (rows(&text), count()?);
    let total: usize = found.values().sum();
    println!("{} files, {total} times", found.len());
    let mut wrong = 0;
    for file in said
        .keys()
        .chain(found.keys().filter(|f| !said.contains_key(*f)))
    {
        let (said, found) = (said.get(file).copied(), found.get(file).copied());
        if said != found {
            let [said, found] = [said, found].map(Option::unwrap_or_default);
            println!("{file}: {TABLE} says {said}, the source has {found}");
            wrong += 1;
        }
    }
    match wrong {
        0 => Ok(()),
        n => Err(format!("{TABLE} is wrong about {n} files")),
    }
}

/// The rows of the table: "| `file` | number | ...".
fn rows(text: &str) -> Counts {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let file = cells.next()?.trim().strip_suffix('`')?;
        let count = cells.next()?.trim().parse().ok()?;
        file.ends_with(".rs").then(|| (file.to_owned(), count))
    };
    text.lines().filter_map(row).collect()
}

/// What the sources say.
fn count() -> Outcome<Counts> {
    let root = root();
    let mut counts = Counts::new();
    for folder in SOURCES {
        for path in files(&root.join(folder), "rs")? {
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let times = text.lines().map(times).sum();
            if times > 0 {
                let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy();
                counts.insert(name.replace('\\', "/"), times);
            }
        }
    }
    Ok(counts)
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
    fn rows_and_lines() {
        let table = "| file | times |\n|---|---|\n| `a/b.rs` | 12 | why | how |\n| `c` | 3 |\nx";
        assert_eq!(rows(table), Counts::from([("a/b.rs".to_owned(), 12)]));
        assert_eq!(times("unsafe fn a() { unsafe { b() } } // unsafe"), 2);
        assert_eq!(times("let unsafe_op = \"unsafe\";"), 0);
    }
}
