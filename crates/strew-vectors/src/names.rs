//! How vectors spell what strew spells in another way.
//!
//! Vectors use the framework's own names. strew's are those of the framework's Python functions,
//! so most names are the same; the rest stand here.

/// Prefixes of operator names: vector, strew.
const FRAMEWORKS: &[(&str, &str)] = &[("tf.", "tensorflow.")];

/// Operators: vector, strew.
const OPERATORS: &[(&str, &str)] = &[
    ("mxnet._backward_gather_nd", "mxnet.backward_gather_nd"),
    ("mxnet._scatter_set_nd", "mxnet.scatter_set_nd"),
];

/// Frameworks whose operators are spelt in capitals, like types.
const CAPITALS: &[&str] = &["onnx.", "openvino."];

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
    let capitals = CAPITALS
        .iter()
        .find_map(|of| vector.strip_prefix(of).map(|rest| (of, rest)));
    match capitals {
        Some((of, rest)) => format!("{of}{}", snake(rest)),
        None => vector.to_owned(),
    }
}

/// `ScatterNDUpdate` as `scatter_nd_update`.
fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (k, letter) in letters.iter().enumerate() {
        let after_small = k > 0 && letters[k - 1].is_lowercase();
        let before_small = letters.get(k + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && k > 0 && (after_small || before_small) {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

/// strew's name of an argument of one of its operators.
pub(super) fn argument<'v>(operator: &str, vector: &'v str) -> &'v str {
    ARGUMENTS
        .iter()
        .find(|(of, theirs, _)| operator.starts_with(of) && *theirs == vector)
        .map_or(vector, |(_, _, ours)| ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_become_functions() {
        assert_eq!(
            operator("openvino.ScatterNDUpdate"),
            "openvino.scatter_nd_update"
        );
        assert_eq!(operator("openvino.SliceScatter"), "openvino.slice_scatter");
        assert_eq!(operator("onnx.GatherND"), "onnx.gather_nd");
        assert_eq!(
            operator("tf.math.segment_sum"),
            "tensorflow.math.segment_sum"
        );
        assert_eq!(operator("mxnet._scatter_set_nd"), "mxnet.scatter_set_nd");
    }
}
