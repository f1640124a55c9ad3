//! How vectors spell what strew spells in another way.
//!
//! Vectors use the framework's own names. strew's are those of the framework's Python functions,
//! so most names are the same; the rest stand here.

/// Prefixes of operator names: vector, strew.
const FRAMEWORKS: &[(&str, &str)] = &[("tf.", "tensorflow.")];

/// Operators: vector, strew.
const OPERATORS: &[(&str, &str)] = &[("openvino.SliceScatter", "openvino.slice_scatter")];

/// Arguments: strew's framework, vector, strew.
const ARGUMENTS: &[(&str, &str, &str)] = &[("torch.", "self", "input")];

/// strew's name of a vector's operator.
pub(super) fn operator(vector: &str) -> String {
    if let Some((_, ours)) = OPERATORS.iter().find(|(theirs, _)| *theirs == vector) {
        return (*ours).to_owned();
    }
    for (theirs, ours) in FRAMEWORKS {
        if let Some(rest) = vector.strip_prefix(theirs) {
            return format!("{ours}{rest}");
        }
    }
    vector.to_owned()
}

/// strew's name of an argument of one of its operators.
pub(super) fn argument<'v>(operator: &str, vector: &'v str) -> &'v str {
    ARGUMENTS
        .iter()
        .find(|(of, theirs, _)| operator.starts_with(of) && *theirs == vector)
        .map_or(vector, |(_, _, ours)| ours)
}
