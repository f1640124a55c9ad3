//! Names of reductions: the error about a word that is none, with the name that was meant.
//!
//! ```text
//! "avg"     by another library's name:             did you mean mean?
//! "medain"  by a slip of the fingers:              did you mean median?
//! "quant"   by the beginning of a single name:     did you mean quantile?
//! ```

use strew_kernel::error::Problem;
use strsim::osa_distance;

/// Reductions by names that other libraries have for them. Of several the first one that is known.
const ELSEWHERE: [(&str, &[&str]); 21] = [
    ("add", &["sum"]),
    ("amax", &["max"]),
    ("amin", &["min"]),
    ("average", &["mean"]),
    ("avg", &["mean"]),
    ("distinct", &["nunique"]),
    ("lag", &["shift"]),
    ("maximum", &["max"]),
    ("minimum", &["min"]),
    ("mul", &["prod"]),
    ("multiply", &["prod"]),
    ("n_unique", &["nunique"]),
    ("percentile", &["quantile"]),
    ("product", &["prod"]),
    ("replace", &["assign", "last"]),
    ("size", &["len"]),
    ("stddev", &["std"]),
    ("stdev", &["std"]),
    ("total", &["sum"]),
    ("unique", &["nunique"]),
    ("variance", &["var"]),
];

/// Longer words are no slips, and are not compared.
const LONGEST: usize = 32;

/// The problem of a word that is none of the names of reductions.
pub(crate) fn unknown(word: &str, known: &[&'static str]) -> Problem {
    let mut expected = format!("it must be one of {}", known.join(", "));
    if let Some(meant) = meant(word, known) {
        expected += &format!("; did you mean {meant}?");
    }
    Problem::Value {
        argument: "reduce".into(),
        value: format!("{word:?}"),
        expected,
    }
}

/// The name that is meant by another word, if that can be told.
pub(crate) fn meant(word: &str, known: &[&'static str]) -> Option<&'static str> {
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let is_known = |name: &&'static str| known.contains(name);
    let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == word);
    if let Some((_, names)) = elsewhere {
        return names.iter().copied().find(is_known);
    }
    let mut begun = known.iter().filter(|name| name.starts_with(&word));
    if let (3.., Some(only), None) = (word.len(), begun.next(), begun.next()) {
        return Some(only);
    }
    let near = known.iter().map(|name| (osa_distance(&word, name), *name));
    let near = near.filter(|(slips, name)| *slips <= name.len() / 3);
    near.min_by_key(|(slips, _)| *slips).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::{ELSEWHERE, LONGEST, meant};
    use crate::plan::{Aggregate, Reduce};

    fn of_aggregates(word: &str) -> Option<String> {
        let error = word.parse::<Aggregate>().unwrap_err().to_string();
        let (_, hint) = error.split_once("; did you mean ")?;
        Some(hint.trim_end_matches('?').to_owned())
    }

    #[test]
    fn the_name_that_was_meant() {
        for (word, name) in [
            ("avg", "mean"),
            ("medain", "median"),
            ("Mean", "mean"),
            ("summ", "sum"),
            ("quant", "quantile"),
            ("counts", "count"),
            ("n_unique", "nunique"),
            ("replace", "last"),
        ] {
            assert_eq!(of_aggregates(word).as_deref(), Some(name), "{word}");
        }
        let long = "m".repeat(LONGEST + 1);
        for word in ["", "x", "zzz", "frobnicate", &long, "\u{1F600}"] {
            assert_eq!(of_aggregates(word), None, "{word}");
        }
        let error = "add".parse::<Reduce>().unwrap_err().to_string();
        assert!(error.ends_with("; did you mean sum?"), "{error}");
        let error = "replace".parse::<Reduce>().unwrap_err().to_string();
        assert!(error.ends_with("; did you mean assign?"), "{error}");
        let error = "median".parse::<Reduce>().unwrap_err().to_string();
        assert!(error.ends_with("; aggregate has median"), "{error}");
    }

    #[test]
    fn every_name_of_other_libraries_leads_to_a_reduction() {
        let mut last = "";
        for (word, names) in ELSEWHERE {
            assert!(last < word, "{word} is not in order");
            last = word;
            for name in names {
                assert!(name.parse::<Aggregate>().is_ok() || name.parse::<Reduce>().is_ok());
            }
        }
        assert_eq!(meant("lag", &["sum"]), None);
    }
}
