//! The rules about who may use what in the library: imports go one way, and `unsafe` stays where
//! it is expected.

use crate::places::{files, root};
use crate::stages::Outcome;
use std::fs;
use std::path::Path;

/// The rooms in the order of the flow: each may use those after it. Those of the last group stand
/// below all others and may use each other.
const ROOMS: [&str; 5] = ["grad", "dialect", "scatter", "plan", "kernel"];
const GROUND: [&str; 6] = [
    "tensor",
    "error",
    "environment",
    "machine",
    "monitor",
    "threads",
];

/// The library's sources, from the root.
const LIBRARY: &str = "crates/strew/src";

/// Where `unsafe` may stand: whole folders, the files that map files into memory and take the
/// signals that come of it, and those that make the fuzzer's views and the plain loops' slices.
const UNSAFE: [&str; 7] = [
    "bench/plain/src/edge.rs",
    "crates/strew/src/kernel/",
    "crates/strew/src/tensor/",
    "python/src/",
    "crates/strew-cli/src/mapped.rs",
    "crates/strew-cli/src/signals.rs",
    "fuzz/src/memory.rs",
];

/// Where Rust sources are.
const SOURCES: [&str; 7] = [
    "bench/plain/src",
    "crates/strew/src",
    "crates/strew-cli/src",
    "crates/strew-vectors/src",
    "fuzz/src",
    "python/src",
    "xtask/src",
];

/// Fails on an import that goes against the flow.
pub(crate) fn check_direction() -> Outcome {
    check_each(&[LIBRARY], |path, code| {
        let inside = path.strip_prefix(LIBRARY).unwrap_or(path);
        let inside = inside.trim_start_matches('/');
        let room = inside.split(['/', '.']).next().unwrap_or(inside);
        used(code).find_map(|used| wrong_use(room, used))
    })
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

/// What a line of code names of this crate: the first word of each path.
fn used(code: &str) -> impl Iterator<Item = &str> {
    let word = |path: &'_ str| {
        let end = path.find(|c: char| !c.is_alphanumeric() && c != '_');
        end.unwrap_or(path.len())
    };
    let paths = code.split("crate::").skip(1);
    paths.map(move |path| &path[..word(path)])
}

fn wrong_use(room: &str, used: &str) -> Option<String> {
    let place = |name: &str| ROOMS.iter().position(|r| *r == name);
    let wrong = match (place(room), place(used)) {
        // lib.rs stands above all rooms.
        _ if room == "lib" => false,
        (Some(user), Some(used)) => user > used,
        (None, Some(_)) => true,
        // A path through the root of the crate would hide the room that it leads to.
        (_, None) if !GROUND.contains(&used) => {
            return Some(format!("name the room: crate::room::.., not crate::{used}"));
        }
        (_, None) => false,
    };
    wrong.then(|| format!("{room} must not use {used}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_go_left_to_right() {
        let may = |room, used| wrong_use(room, used).is_none();
        assert!(may("grad", "dialect") && !may("dialect", "grad"));
        assert!(may("dialect", "scatter") && may("plan", "plan"));
        assert!(may("scatter", "tensor") && may("tensor", "error"));
        assert!(may("lib", "dialect") && may("lib", "Error"));
        assert!(!may("plan", "scatter") && !may("kernel", "plan"));
        assert!(!may("tensor", "kernel") && !may("error", "dialect"));
        assert!(!may("kernel", "Plan") && !may("kernel", ""));
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        let found = |line| used(&code_of(line)).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(found("use crate::plan::{Bounds, Execution};"), ["plan"]);
        assert_eq!(
            found("fn f(a: crate::kernel::A) -> crate::plan::B {"),
            ["kernel", "plan"]
        );
        assert_eq!(found("use crate::{plan, kernel};"), [""]);
        assert!(found("//! see [`Scatter`](crate::scatter::Scatter)").is_empty());
        assert!(found(r#"let s = "crate::plan"; // crate::plan"#).is_empty());
    }
}
