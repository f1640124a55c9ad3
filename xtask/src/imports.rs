//! The rules about who may use what: no circle of files within a crate, and `unsafe` only where it
//! is expected. That no crate uses one above it, cargo sees to.

use crate::places::{files, root};
use crate::stages::Outcome;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The crates whose files must not use each other in circles.
const LAYERED: [&str; 4] = [
    "crates/strew-kernel/src",
    "crates/strew-engine/src",
    "crates/strew-io/src",
    "crates/strew/src",
];

/// Where `unsafe` may stand: whole folders, the files that map files into memory, take the signals
/// that come of it and note that memory has run out, and those that make the fuzzer's views and the plain loops' slices.
const UNSAFE: [&str; 7] = [
    "bench/plain/src/edge.rs",
    "crates/strew-kernel/src/",
    "python/src/",
    "crates/strew-cli/src/mapped.rs",
    "crates/strew-cli/src/memory.rs",
    "crates/strew-cli/src/signals.rs",
    "fuzz/src/memory.rs",
];

/// Where Rust sources are.
const SOURCES: [&str; 10] = [
    "bench/plain/src",
    "crates/strew/src",
    "crates/strew-cli/src",
    "crates/strew-engine/src",
    "crates/strew-io/src",
    "crates/strew-kernel/src",
    "crates/strew-vectors/src",
    "fuzz/src",
    "python/src",
    "xtask/src",
];

/// Files by their module path, with the module paths of the files that each uses.
pub(crate) type Graph = BTreeMap<String, BTreeSet<String>>;

/// Fails if files of a crate use each other in a circle. A module and the modules inside it are one
/// family: they may use each other.
pub(crate) fn check_circles() -> Outcome {
    let mut found = Vec::new();
    for folder in LAYERED {
        let graph = graph(folder)?;
        println!("{folder}: {} files", graph.len());
        found.extend(
            circles(&graph)
                .into_iter()
                .map(|c| format!("{folder}: {}", c.join(" -> "))),
        );
    }
    match found.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "files use each other in circles: {}",
            found.join("; ")
        )),
    }
}

/// Which files of a crate use which.
pub(crate) fn graph(folder: &str) -> Outcome<Graph> {
    let base = root().join(folder);
    let mut sources = BTreeMap::new();
    for path in files(&base, "rs")? {
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        sources.insert(
            module(&slashed(path.strip_prefix(&base).unwrap_or(&path))),
            text,
        );
    }
    let graph = sources.iter().map(|(name, text)| {
        let used = paths(name, text).filter_map(|path| owner(&path, |m| sources.contains_key(m)));
        let others = used.filter(|other| !family(name, other));
        (name.clone(), others.collect())
    });
    Ok(graph.collect())
}

/// The module path of a file: `a/mod.rs` is `a`, `a/b.rs` is `a::b`, `lib.rs` is the empty path.
fn module(path: &str) -> String {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    match path {
        "lib" => String::new(),
        other => other.replace('/', "::"),
    }
}

/// Whether one of two modules is inside the other.
fn family(a: &str, b: &str) -> bool {
    let inside = |a: &str, b: &str| a.is_empty() || a == b || b.starts_with(&format!("{a}::"));
    inside(a, b) || inside(b, a)
}

/// The file that holds what a path names: that of the longest module path that it begins with.
fn owner(path: &[String], exists: impl Fn(&str) -> bool) -> Option<String> {
    let longest = (0..=path.len()).rev().map(|n| path[..n].join("::"));
    longest.into_iter().find(|name| exists(name))
}

/// What the code of a file names of its crate, as full paths, tests left out.
fn paths<'t>(module: &'t str, text: &'t str) -> impl Iterator<Item = Vec<String>> + 't {
    let code: Vec<String> = text
        .lines()
        .take_while(|line| !line.starts_with("#[cfg(test)]") && !line.starts_with("#[cfg(all(test"))
        .map(code_of)
        .collect();
    let code = code.join(" ");
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            // `$crate::` is a path of the crate, too; `a::super::` and `mycrate::` are not.
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            for path in tree(&code[at..]) {
                found.push(absolute(module, path));
            }
        }
    }
    found.into_iter()
}

/// A path from the root of the crate.
fn absolute(module: &str, path: Vec<String>) -> Vec<String> {
    let mut rest = path.into_iter().peekable();
    let mut full: Vec<String> = match rest.peek().map(String::as_str) {
        Some("crate") => Vec::new(),
        _ => module
            .split("::")
            .filter(|m| !m.is_empty())
            .map(str::to_owned)
            .collect(),
    };
    for name in rest {
        match name.as_str() {
            "crate" => {}
            "super" => drop(full.pop()),
            _ => full.push(name),
        }
    }
    full
}

/// The paths of a tree such as `crate::a::{b, c::{d, e}}` at the beginning of some code.
fn tree(code: &str) -> Vec<Vec<String>> {
    let mut done = Vec::new();
    let mut stack: Vec<usize> = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in code.chars() {
        match c {
            c if c.is_alphanumeric() || c == '_' => word.push(c),
            ':' => {
                if !word.is_empty() {
                    path.push(std::mem::take(&mut word));
                }
            }
            '{' if word.is_empty() => stack.push(path.len()),
            ',' | '}' if !stack.is_empty() => {
                if !word.is_empty() {
                    let mut whole = path.clone();
                    whole.push(std::mem::take(&mut word));
                    done.push(whole);
                }
                if c == '}' {
                    stack.pop();
                }
                path.truncate(stack.last().copied().unwrap_or(0));
                if stack.is_empty() {
                    return done;
                }
            }
            ' ' if !stack.is_empty() => {}
            _ => break,
        }
    }
    if !word.is_empty() {
        path.push(word);
    }
    done.push(path);
    done
}

/// The circles of a graph, each as the files on one way around.
fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut finished: BTreeSet<&str> = BTreeSet::new();
    for start in graph.keys() {
        let mut way: Vec<(&str, Vec<&str>)> = Vec::new();
        let next = |name: &str| graph[name].iter().map(String::as_str).collect::<Vec<_>>();
        if !finished.contains(start.as_str()) {
            way.push((start, next(start)));
        }
        while let Some((name, rest)) = way.last_mut() {
            let Some(other) = rest.pop() else {
                finished.insert(name);
                way.pop();
                continue;
            };
            if let Some(at) = way.iter().position(|(name, _)| *name == other) {
                found.push(
                    way[at..]
                        .iter()
                        .map(|(name, _)| (*name).to_owned())
                        .collect(),
                );
            } else if !finished.contains(other) && graph.contains_key(other) {
                way.push((other, next(other)));
            }
        }
    }
    found
}

/// Fails on `unsafe` outside the places for it. That each has a `SAFETY` comment is clippy's
/// concern.
pub(crate) fn check_unsafe() -> Outcome {
    check_each(&SOURCES, |path, code| {
        let here = UNSAFE.iter().any(|place| path.starts_with(place));
        let found = code
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == "unsafe");
        (found && !here).then(|| format!("unsafe may stand only in {}", UNSAFE.join(", ")))
    })
}

/// Calls `wrong` with the path and each line's code of every source, comments and strings left
/// out, and reports what it finds.
fn check_each(folders: &[&str], wrong: impl Fn(&str, &str) -> Option<String>) -> Outcome {
    let root = root();
    let mut found = 0;
    let mut seen = 0;
    for folder in folders {
        for path in files(&root.join(folder), "rs")? {
            seen += 1;
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let name = slashed(path.strip_prefix(&root).unwrap_or(&path));
            for (number, line) in text.lines().enumerate() {
                if let Some(why) = wrong(&name, &code_of(line)) {
                    println!("{name}:{}: {why}\n    {}", number + 1, line.trim());
                    found += 1;
                }
            }
        }
    }
    println!("{seen} files read");
    match found {
        0 => Ok(()),
        n => Err(format!("{n} lines break the rule")),
    }
}

fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// A line without its comment and without what stands in its string literals.
pub(crate) fn code_of(line: &str) -> String {
    let mut code = String::new();
    let mut quoted = false;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' if quoted => drop(rest.next()),
            '"' => quoted = !quoted,
            '/' if !quoted && rest.peek() == Some(&'/') => break,
            _ if !quoted => code.push(c),
            _ => {}
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(module: &str, code: &str) -> Vec<String> {
        paths(module, code).map(|path| path.join("::")).collect()
    }

    #[test]
    fn paths_of_the_crate_are_found() {
        let code = "use crate::plan::{Bounds, cost::{choose, split}};\nfn f(a: crate::ops::A) {}";
        let expected = [
            "plan::Bounds",
            "plan::cost::choose",
            "plan::cost::split",
            "ops::A",
        ];
        assert_eq!(found("x", code), expected);
        assert_eq!(found("a::b", "use super::c::D;"), ["a::c::D"]);
        assert!(
            found(
                "a",
                "//! [`A`](crate::a::A)\nlet s = \"crate::plan\"; // crate::plan"
            )
            .is_empty()
        );
        assert!(found("a", "#[cfg(test)]\nmod tests { use crate::b::C; }").is_empty());
        assert!(found("a", "use strew_crate::b::C;").is_empty());
    }

    #[test]
    fn files_and_families() {
        assert_eq!(
            ["lib.rs", "a/mod.rs", "a/b.rs"].map(module),
            ["", "a", "a::b"]
        );
        assert!(
            family("a", "a::b") && family("", "a") && !family("a", "ab") && !family("a::b", "a::c")
        );
        let path = ["a", "b", "C"].map(str::to_owned);
        assert_eq!(
            owner(&path, |m| m == "a" || m == "a::b"),
            Some("a::b".into())
        );
    }

    #[test]
    fn circles_are_found() {
        let graph = |edges: &[(&str, &[&str])]| -> Graph {
            let of = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
            edges
                .iter()
                .map(|(name, used)| ((*name).to_owned(), of(used)))
                .collect()
        };
        assert!(circles(&graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])).is_empty());
        let round = circles(&graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]));
        assert_eq!(round, [["b", "c"]]);
    }
}
