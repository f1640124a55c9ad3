//! The operators whose work can be cut into pieces, and what their arguments mean for that.

use crate::cli;
use clap::ArgMatches;
use strew::{Bounds, DType, Kind, Negative, Operator, OutOfRange};

/// What the arguments of some operators mean.
pub(super) struct Recipe {
    names: &'static [&'static str],
    /// The argument with the numbers of the cells.
    pub(super) index: &'static str,
    /// The argument with the values.
    pub(super) src: &'static str,
    /// What says how many rows the result has.
    pub(super) rows: Rows,
    pub(super) form: Form,
    negative: Negative,
    /// Arguments that change what an index means: where one is given, the call is not cut.
    unless: &'static [&'static str],
}

/// What says how many rows the result has.
#[derive(Clone, Copy)]
pub(super) enum Rows {
    /// A number.
    Size(&'static str),
    /// A tensor that the result continues, or else a number, or else the largest index.
    OutOrSize(&'static str, &'static str),
    /// The tensor that is changed or copied.
    Target(&'static str),
    /// The shape of the result.
    Shape(&'static str),
}

/// How the index lies beside the values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Along an axis. A 1-d index is for whole slices.
    Along,
    /// Along an axis, a number for each element.
    Elements,
    /// Along an axis, a number for each slice.
    Slices,
    /// The first axes of the values, a number for each row.
    Leading,
    /// A tuple of numbers for each window.
    Tuples,
}

const RECIPES: &[Recipe] = &[
    Recipe {
        names: &[
            "torch_scatter.scatter",
            "torch_scatter.scatter_sum",
            "torch_scatter.scatter_add",
            "torch_scatter.scatter_mul",
            "torch_scatter.scatter_mean",
            "torch_scatter.scatter_min",
            "torch_scatter.scatter_max",
            "strew.scatter",
        ],
        index: "index",
        src: "src",
        rows: Rows::OutOrSize("out", "dim_size"),
        form: Form::Along,
        negative: Negative::Reject,
        unless: &[],
    },
    Recipe {
        names: &[
            "torch.scatter_reduce",
            "torch.scatter_reduce_",
            "torch.scatter_add",
            "torch.scatter_add_",
        ],
        index: "index",
        src: "src",
        rows: Rows::Target("input"),
        form: Form::Elements,
        negative: Negative::Reject,
        unless: &[],
    },
    Recipe {
        names: &[
            "torch.index_add",
            "torch.index_add_",
            "torch.index_reduce",
            "torch.index_reduce_",
        ],
        index: "index",
        src: "source",
        rows: Rows::Target("input"),
        form: Form::Slices,
        negative: Negative::Reject,
        unless: &[],
    },
    Recipe {
        names: &[
            "tensorflow.math.unsorted_segment_sum",
            "tensorflow.math.unsorted_segment_mean",
            "tensorflow.math.unsorted_segment_prod",
            "tensorflow.math.unsorted_segment_min",
            "tensorflow.math.unsorted_segment_max",
            "tensorflow.math.unsorted_segment_sqrt_n",
        ],
        index: "segment_ids",
        src: "data",
        rows: Rows::Size("num_segments"),
        form: Form::Leading,
        negative: Negative::Drop,
        unless: &[],
    },
    Recipe {
        names: &["tensorflow.scatter_nd", "mindspore.scatter_nd"],
        index: "indices",
        src: "updates",
        rows: Rows::Shape("shape"),
        form: Form::Tuples,
        negative: Negative::Reject,
        unless: &["bad_indices_policy", "device"],
    },
    Recipe {
        names: &[
            "tensorflow.tensor_scatter_nd_add",
            "tensorflow.tensor_scatter_nd_sub",
            "tensorflow.tensor_scatter_nd_min",
            "tensorflow.tensor_scatter_nd_max",
        ],
        index: "indices",
        src: "updates",
        rows: Rows::Target("tensor"),
        form: Form::Tuples,
        negative: Negative::Reject,
        unless: &["bad_indices_policy"],
    },
    Recipe {
        names: &[
            "mindspore.tensor_scatter_add",
            "mindspore.tensor_scatter_sub",
            "mindspore.tensor_scatter_mul",
            "mindspore.tensor_scatter_max",
            "mindspore.tensor_scatter_min",
        ],
        index: "indices",
        src: "updates",
        rows: Rows::Target("input_x"),
        form: Form::Tuples,
        negative: Negative::Reject,
        unless: &["device"],
    },
];

impl Recipe {
    pub(super) fn of(operator: &Operator) -> Option<&'static Self> {
        RECIPES.iter().find(|r| r.names.contains(&operator.name))
    }

    /// Whether none of the arguments that change the rules is given.
    pub(super) fn applies(&self, matches: &ArgMatches) -> bool {
        let given = |name: &&str| {
            matches
                .try_get_one::<String>(name)
                .is_ok_and(|v| v.is_some())
        };
        !self.unless.iter().any(given)
    }

    /// The argument that holds what the result begins with, where there can be one.
    pub(super) fn target(&self) -> Option<&'static str> {
        match self.rows {
            Rows::OutOrSize(name, _) | Rows::Target(name) => Some(name),
            Rows::Size(_) | Rows::Shape(_) => None,
        }
    }

    /// What an index that names no cell means. `None`: a word that the operator does not take.
    pub(super) fn bounds(&self, matches: &ArgMatches) -> Option<Bounds> {
        let word = |name| matches.try_get_one::<String>(name).ok().flatten();
        let mut bounds = match word("mode") {
            Some(mode) => mode.parse().ok()?,
            None => Bounds {
                negative: self.negative,
                out_of_range: OutOfRange::Error,
                ignored: None,
            },
        };
        if let Some(ignored) = word("ignore_index").filter(|text| *text != "None") {
            bounds.ignored = Some(ignored.parse().ok()?);
        }
        Some(bounds)
    }

    /// Whether the argument is another one for each piece, or has done its work when the index is read.
    pub(super) fn is_own(&self, name: &str) -> bool {
        let rows = match self.rows {
            Rows::Size(n) | Rows::Target(n) | Rows::Shape(n) => name == n,
            Rows::OutOrSize(out, size) => name == out || name == size,
        };
        let read = ["dim", "mode", "ignore_index"].contains(&name);
        rows || read || name == self.index || name == self.src
    }
}

/// The operator's reduction, by its word.
pub(super) fn reduction<'m>(operator: &'static Operator, matches: &'m ArgMatches) -> &'m str {
    let argument = operator.arguments.iter().find(|a| a.name == "reduce");
    match argument {
        Some(argument) => cli::given(matches, argument)
            .or(argument.default)
            .unwrap_or_default(),
        None => {
            let name = operator.name.trim_end_matches('_');
            name.rsplit(['_', '.']).next().unwrap_or_default()
        }
    }
}

/// How a cell that has taken some values takes the next, with the bits of one call on all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoingOn {
    /// By the same operator: what the cells hold is its target.
    Same,
    /// By another one, with what the cells hold as its `out`.
    Other(&'static str),
}

/// How a reduction goes on; `None` if what a cell holds is not all that the reduction keeps.
pub(super) fn going_on(
    operator: &'static Operator,
    matches: &ArgMatches,
    dtypes: [DType; 2],
    has_target: bool,
) -> Option<GoingOn> {
    let [src, made] = dtypes;
    // 16-bit floats are added up in 32 bits and rounded once.
    if src != made || matches!(src, DType::F16 | DType::BF16) {
        return None;
    }
    let given = |name| matches.try_get_one::<String>(name).ok().flatten();
    let is = |name, usual: &str| given(name).is_none_or(|text| text.eq_ignore_ascii_case(usual));
    if !is("include_self", "true") || !is("exact", "false") || !is("fill_value", "None") {
        return None;
    }
    let takes_out = operator.arguments.iter().any(|a| a.name == "out");
    match reduction(operator, matches) {
        "sum" | "add" | "prod" | "mul" | "sub" | "min" | "max" | "amin" | "amax" if has_target => {
            Some(GoingOn::Same)
        }
        // Cells without a value hold 0 or 1, which change nothing.
        "sum" | "add" | "prod" | "mul" if takes_out => Some(GoingOn::Same),
        "sum" | "nd" => Some(GoingOn::Other("torch_scatter.scatter_sum")),
        "prod" => Some(GoingOn::Other("torch_scatter.scatter_mul")),
        _ => None,
    }
}

/// The axis that an operator works along: that of its argument `dim`, or the first.
pub(super) fn axis(
    operator: &'static Operator,
    matches: &ArgMatches,
    rank: usize,
) -> Option<usize> {
    let Some(dim) = operator.arguments.iter().find(|a| a.name == "dim") else {
        return Some(0);
    };
    if dim.kind != Kind::Int {
        return None;
    }
    let dim: i64 = cli::given(matches, dim).or(dim.default)?.parse().ok()?;
    let rank = i64::try_from(rank).ok()?;
    let axis = if dim < 0 { dim + rank } else { dim };
    (0..rank).contains(&axis).then_some(axis as usize)
}
