//! "Did you mean": the names that are nearest to a word that is none.

use crate::topics;
use strew::OPERATORS;

/// How many names are suggested.
const MOST: usize = 3;
/// Names that are less alike than this are not suggested.
const LEAST: f64 = 0.5;

/// The nearest of some names.
pub(crate) fn among<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let alike = names.map(|name| (strsim::jaro_winkler(word, name), name));
    nearest(alike.filter(|(alike, _)| *alike >= LEAST_OF_WORDS))
}

/// The operators whose names are nearest.
pub(crate) fn operators(word: &str) -> Vec<&'static str> {
    let names = OPERATORS.iter().flat_map(|dialect| dialect.iter());
    nearest(names.map(|operator| (likeness(word, operator.name), operator.name)))
}

/// How alike a word is to an operator's name, from 0 to 1.
///
/// Framework and function are compared separately: in `torch_scatter.x` the framework is right. A
/// word without a framework is compared with the functions.
fn likeness(word: &str, name: &str) -> f64 {
    let alike = strsim::jaro_winkler;
    let (framework, function) = name.split_once('.').unwrap_or(("", name));
    match word.split_once('.') {
        _ if word == function => 1.0,
        Some((before, behind)) if before == framework => 0.5 + 0.5 * alike(behind, function),
        Some((before, behind)) => match behind == function {
            true => 0.9,
            // Below any operator of a framework that is named.
            false => 0.6 * 0.5 * (alike(before, framework) + alike(behind, function)),
        },
        None => {
            let last = function.rsplit('.').next().unwrap_or_default();
            let best = alike(word, function).max(alike(word, last));
            match best < LEAST_OF_WORDS {
                true => 0.0,
                false => best,
            }
        }
    }
}

/// Flags by the names that they have in other programs.
const FLAGS: [(&str, &str); 26] = [
    ("agg", "reduce"),
    ("aggfunc", "reduce"),
    ("axis", "dim"),
    ("column", "value"),
    ("columns", "value"),
    ("dropna", "skipna"),
    ("dtype", "types"),
    ("dtypes", "types"),
    ("fill", "fill-value"),
    ("func", "reduce"),
    ("function", "reduce"),
    ("group-by", "by"),
    ("groupby", "by"),
    ("groups", "index"),
    ("idx", "index"),
    ("key", "by"),
    ("keys", "by"),
    ("na", "missing"),
    ("na-values", "missing"),
    ("null-values", "missing"),
    ("num-segments", "size"),
    ("out", "output"),
    ("overwrite", "force"),
    ("quantile", "q"),
    ("values", "value"),
    ("workers", "threads"),
];

/// A command, topic or flag that is less alike than this is not suggested.
const LEAST_OF_WORDS: f64 = 0.7;

/// The flag of a command that is meant by a word that is none.
pub(crate) fn flag<'n>(word: &str, flags: &[&'n str]) -> Option<&'n str> {
    let elsewhere = FLAGS.iter().find(|(other, _)| *other == word);
    if let Some(known) = elsewhere.and_then(|(_, name)| flags.iter().find(|flag| *flag == name)) {
        return Some(*known);
    }
    let alike = flags
        .iter()
        .map(|&name| (strsim::jaro_winkler(word, name), name));
    let best = alike.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(alike, _)| *alike >= LEAST_OF_WORDS)
        .map(|(_, name)| name)
}

/// The likest names, best first; of equal ones the first.
fn nearest<'n>(names: impl Iterator<Item = (f64, &'n str)>) -> Vec<&'n str> {
    let mut near: Vec<_> = names.filter(|(likeness, _)| *likeness >= LEAST).collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// The command of the job that a word is a name of, else the names that are nearest.
pub(crate) fn job_or(word: &str, near: &[&str], otherwise: &str) -> String {
    match topics::job(word) {
        Some(command) => format!("strew help jobs has it: {command}"),
        None => did_you_mean(near, otherwise),
    }
}

/// The names as a question, or what else helps.
pub(crate) fn did_you_mean(names: &[&str], otherwise: &str) -> String {
    match names {
        [] => otherwise.to_owned(),
        [one] => format!("did you mean {one}?"),
        [most @ .., last] => format!("did you mean {} or {last}?", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_operators() {
        let of = |word: &str| operators(word);
        assert!(
            of("torch_scatter.x")
                .iter()
                .all(|n| n.starts_with("torch_scatter."))
        );
        assert_eq!(of("torch_scatter.x").len(), MOST);
        assert_eq!(of("torch.scater_reduce")[0], "torch.scatter_reduce");
        assert_eq!(of("scatter_reduce")[0], "torch.scatter_reduce");
        assert_eq!(of("pytorch.index_ad")[0], "torch.index_add");
        assert_eq!(
            of("unsorted_segment_sum")[0],
            "tensorflow.math.unsorted_segment_sum"
        );
        assert!(of("").is_empty() && of("8").is_empty());
    }

    #[test]
    fn the_flag_that_was_meant() {
        let of = |word| flag(word, &["src", "index", "reduce", "dim", "skipna"]);
        for (word, meant) in [
            ("idx", "index"),
            ("axis", "dim"),
            ("func", "reduce"),
            ("reduec", "reduce"),
            ("skip-na", "skipna"),
        ] {
            assert_eq!(of(word), Some(meant), "{word}");
        }
        for word in ["", "zzz", "out"] {
            assert_eq!(of(word), None, "{word}");
        }
    }

    #[test]
    fn questions() {
        assert_eq!(did_you_mean(&[], "see --help"), "see --help");
        assert_eq!(did_you_mean(&["a"], ""), "did you mean a?");
        assert_eq!(
            did_you_mean(&["a", "b", "c"], ""),
            "did you mean a, b or c?"
        );
    }
}
