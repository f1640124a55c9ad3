//! The order of the folders of a crate, which ARCHITECTURE.md says: none uses one behind it.

use crate::imports::{Graph, graph};
use crate::places::root;
use crate::stages::Outcome;
use std::collections::BTreeMap;
use std::fs;

/// Where the order is written down.
const DOCUMENT: &str = "ARCHITECTURE.md";

/// The line above the orders, of which each is a line: `crate: a b | c | d`. Folders between two
/// bars may use each other.
const HEAD: &str = "<!-- The order of folders, which `cargo xtask check` reads. -->";

/// Fails if a folder uses one behind it, or is not in the order.
pub(crate) fn check_order() -> Outcome {
    let path = root().join(DOCUMENT);
    let text = fs::read_to_string(&path).map_err(|e| format!("{DOCUMENT}: {e}"))?;
    let orders = orders(&text);
    if orders.is_empty() {
        return Err(format!(
            "{DOCUMENT} has no line {HEAD:?} with orders below it"
        ));
    }
    let mut wrong = Vec::new();
    for (name, order) in orders {
        let graph = graph(&format!("crates/{name}/src"))?;
        println!("{name}: {} folders in {} steps", order.len(), steps(&order));
        wrong.extend(
            against(&order, &graph)
                .into_iter()
                .map(|w| format!("{name}: {w}")),
        );
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "folders use what stands behind them in {DOCUMENT}:\n    {}",
            wrong.join("\n    ")
        )),
    }
}

/// The step of each folder, from 0.
type Order = BTreeMap<String, usize>;

fn steps(order: &Order) -> usize {
    order.values().max().map_or(0, |last| last + 1)
}

/// The orders of a document, by the crate.
fn orders(text: &str) -> Vec<(String, Order)> {
    let lines = text.lines().skip_while(|line| *line != HEAD).skip(1);
    let lines = lines.skip_while(|line| !line.starts_with("    "));
    let lines = lines.take_while(|line| line.starts_with("    "));
    let parsed = lines.filter_map(|line| {
        let (name, steps) = line.trim().split_once(':')?;
        let steps = steps.split('|').enumerate();
        let folders = steps.flat_map(|(step, folders)| {
            let folders = folders.split_whitespace();
            folders.map(move |folder| (folder.to_owned(), step))
        });
        Some((name.to_owned(), folders.collect()))
    });
    parsed.collect()
}

/// What a graph does against an order.
fn against(order: &Order, graph: &Graph) -> Vec<String> {
    let folder = |file: &str| file.split("::").next().unwrap_or("").to_owned();
    let mut wrong = Vec::new();
    for (file, uses) in graph.iter().filter(|(file, _)| !file.is_empty()) {
        let Some(&here) = order.get(&folder(file)) else {
            wrong.push(format!("{} has no place in the order", folder(file)));
            continue;
        };
        let behind = |other: &&String| order.get(&folder(other)).is_some_and(|&at| at > here);
        wrong.extend(
            uses.iter()
                .filter(behind)
                .map(|other| format!("{file} uses {other}")),
        );
    }
    wrong.dedup();
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_uses_those_before_it() {
        let text = format!("Words.\n\n{HEAD}\n\n    small: a b | c\n    large: d\n\nMore: words\n");
        let orders = orders(&text);
        assert_eq!(orders.len(), 2);
        let (name, order) = &orders[0];
        assert_eq!((name.as_str(), steps(order)), ("small", 2));
        let uses = |file: &str, other: &str| -> Graph {
            [(file.to_owned(), [other.to_owned()].into())].into()
        };
        for (file, other) in [("a::x", "b"), ("b", "a::x"), ("c::y", "a")] {
            assert!(
                against(order, &uses(file, other)).is_empty(),
                "{file} {other}"
            );
        }
        assert_eq!(against(order, &uses("a::x", "c::y")), ["a::x uses c::y"]);
        assert_eq!(
            against(order, &uses("e::x", "a")),
            ["e has no place in the order"]
        );
    }
}
