//! Calls of every operator whose result has a derivative.

/// An argument of a call.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    /// Numbers that move, of this shape: all different, none near 0.
    Moving(&'static [usize]),
    Index(&'static [i64], &'static [usize]),
    Narrow(&'static [i32], &'static [usize]),
    Mask(&'static [bool]),
    Indices(&'static [&'static [i64]]),
    List(&'static [i64]),
    Int(i64),
    Word(&'static str),
    Yes(bool),
    Number(f64),
}

use Given::{Index, Indices, Int, List, Mask, Moving, Narrow, Number, Word, Yes};

pub(crate) type Call = Vec<(&'static str, Given)>;

/// Operators that take the same arguments: `framework` with each of `names`.
pub(crate) struct Family {
    pub(crate) framework: &'static str,
    pub(crate) names: &'static [&'static str],
    pub(crate) calls: Vec<Call>,
}

/// The calls, each with each of some words for an argument.
fn with_words(calls: Vec<Call>, argument: &'static str, words: &[&'static str]) -> Vec<Call> {
    let each = |call: Call| {
        words.iter().map(move |&word| {
            let mut call = call.clone();
            call.push((argument, Word(word)));
            call
        })
    };
    calls.into_iter().flat_map(each).collect()
}

/// The same calls with an argument more.
fn with(call: &Call, argument: &'static str, given: Given) -> Call {
    let mut call = call.clone();
    call.push((argument, given));
    call
}

const ROWS: Given = Index(&[0, 2, 0, 1], &[4]);
const TUPLES: Given = Index(&[0, 1, 2, 0, 0, 1], &[3, 2]);
const WINDOWS: Given = Index(&[0, 2, 0], &[3, 1]);
const COLUMNS: Given = Index(&[0, 2, 0, 1, 1, 1, 3, 0], &[4, 2]);

/// Cells of shape (3, 2), and rows or windows that go there.
pub(crate) fn rows(cells: &'static str, index: &'static str, updates: &'static str) -> Vec<Call> {
    vec![vec![
        (cells, Moving(&[3, 2])),
        (index, ROWS),
        (updates, Moving(&[4, 2])),
    ]]
}

fn tuples(cells: &'static str, index: &'static str, updates: &'static str) -> Vec<Call> {
    vec![
        vec![
            (cells, Moving(&[3, 2])),
            (index, TUPLES),
            (updates, Moving(&[3])),
        ],
        vec![
            (cells, Moving(&[3, 2])),
            (index, WINDOWS),
            (updates, Moving(&[3, 2])),
        ],
    ]
}

/// Cells of shape (4, 3), and an element for each of an index along the first axis.
fn elements(cells: &'static str, index: &'static str, updates: &'static str) -> Call {
    vec![
        (cells, Moving(&[4, 3])),
        (index, COLUMNS),
        (updates, Moving(&[4, 2])),
    ]
}

fn family(framework: &'static str, names: &'static [&'static str], calls: Vec<Call>) -> Family {
    Family {
        framework,
        names,
        calls,
    }
}

fn of_mindspore() -> Vec<Family> {
    let new = vec![vec![
        ("indices", TUPLES),
        ("updates", Moving(&[3])),
        ("shape", List(&[3, 2])),
    ]];
    let along = elements("input_x", "indices", "updates");
    let along = with_words(vec![along], "reduction", &["none", "add"]);
    let mut scatter = elements("input", "index", "src");
    scatter.push(("axis", Int(0)));
    vec![
        family(
            "mindspore",
            &[
                "scatter_add",
                "scatter_sub",
                "scatter_mul",
                "scatter_div",
                "scatter_max",
                "scatter_min",
                "scatter_update",
            ],
            rows("input_x", "indices", "updates"),
        ),
        family(
            "mindspore",
            &[
                "scatter_nd_add",
                "scatter_nd_sub",
                "scatter_nd_mul",
                "scatter_nd_div",
                "scatter_nd_max",
                "scatter_nd_min",
                "scatter_nd_update",
                "tensor_scatter_add",
                "tensor_scatter_sub",
                "tensor_scatter_mul",
                "tensor_scatter_div",
                "tensor_scatter_max",
                "tensor_scatter_min",
                "tensor_scatter_update",
            ],
            tuples("input_x", "indices", "updates"),
        ),
        family("mindspore", &["scatter_nd"], new),
        family("mindspore", &["tensor_scatter_elements"], along),
        family("mindspore", &["scatter"], vec![scatter]),
    ]
}

fn of_tensorflow() -> Vec<Family> {
    let ascending = vec![vec![
        ("data", Moving(&[4, 2])),
        ("segment_ids", Narrow(&[0, 0, 2, 2], &[4])),
    ]];
    let unsorted = vec![vec![
        ("data", Moving(&[4, 2])),
        ("segment_ids", Narrow(&[3, 0, -1, 3], &[4])),
        ("num_segments", Int(4)),
    ]];
    let new = vec![vec![
        ("indices", TUPLES),
        ("updates", Moving(&[3])),
        ("shape", List(&[3, 2])),
    ]];
    vec![
        family(
            "tensorflow",
            &[
                "scatter_update",
                "scatter_add",
                "scatter_sub",
                "scatter_mul",
                "scatter_div",
                "scatter_min",
                "scatter_max",
            ],
            rows("ref", "indices", "updates"),
        ),
        family(
            "tensorflow",
            &[
                "tensor_scatter_nd_update",
                "tensor_scatter_nd_add",
                "tensor_scatter_nd_sub",
                "tensor_scatter_nd_min",
                "tensor_scatter_nd_max",
            ],
            tuples("tensor", "indices", "updates"),
        ),
        family("tensorflow", &["scatter_nd"], new),
        family(
            "tensorflow",
            &["gather_nd"],
            vec![vec![("params", Moving(&[3, 2])), ("indices", TUPLES)]],
        ),
        family(
            "tensorflow",
            &[
                "math.segment_sum",
                "math.segment_mean",
                "math.segment_prod",
                "math.segment_min",
                "math.segment_max",
            ],
            ascending,
        ),
        family(
            "tensorflow",
            &[
                "math.unsorted_segment_sum",
                "math.unsorted_segment_mean",
                "math.unsorted_segment_prod",
                "math.unsorted_segment_min",
                "math.unsorted_segment_max",
                "math.unsorted_segment_sqrt_n",
            ],
            unsorted,
        ),
    ]
}

fn of_torch() -> Vec<Family> {
    let dim = |call: Call| with(&call, "dim", Int(0));
    let src = dim(elements("input", "index", "src"));
    let source: Call = vec![
        ("input", Moving(&[3, 2])),
        ("dim", Int(0)),
        ("index", ROWS),
        ("source", Moving(&[4, 2])),
    ];
    let value: Call = vec![
        ("input", Moving(&[3, 2])),
        ("dim", Int(0)),
        ("index", Index(&[0, 2], &[2])),
        ("value", Number(4.0)),
    ];
    let (words, both) = (["sum", "prod", "mean", "amax", "amin"], [true, false]);
    let selves = |call: &Call| both.map(|yes| with(call, "include_self", Yes(yes)));
    let put: Call = vec![
        ("input", Moving(&[3, 2])),
        ("index", Index(&[5, 0, 5, 2], &[2, 2])),
        ("source", Moving(&[4])),
    ];
    let index_put: Call = vec![
        ("input", Moving(&[3, 2])),
        ("indices", Indices(&[&[0, 2, 0], &[1, 1, 1]])),
        ("values", Moving(&[1])),
    ];
    let masked: Call = vec![
        ("input", Moving(&[3, 2])),
        ("mask", Mask(&[true, false])),
        ("source", Moving(&[4])),
    ];
    let accumulated = |call: &Call| both.map(|yes| with(call, "accumulate", Yes(yes))).to_vec();
    let segments: Call = vec![
        ("data", Moving(&[5, 2])),
        ("offsets", Index(&[0, 2, 2, 5], &[4])),
    ];
    let started = with(&segments, "initial", Number(0.75));
    vec![
        family("torch", &["scatter", "scatter_"], {
            let joined = with_words(vec![src.clone()], "reduce", &["add", "multiply"]);
            let number = vec![
                ("input", Moving(&[4, 3])),
                ("dim", Int(0)),
                ("index", COLUMNS),
                ("value", Number(2.0)),
            ];
            joined.into_iter().chain([src.clone(), number]).collect()
        }),
        family("torch", &["scatter_add", "scatter_add_"], vec![src.clone()]),
        family(
            "torch",
            &["scatter_reduce", "scatter_reduce_"],
            with_words(selves(&src).to_vec(), "reduce", &words),
        ),
        family(
            "torch",
            &["gather"],
            vec![vec![
                ("input", Moving(&[4, 3])),
                ("dim", Int(0)),
                ("index", COLUMNS),
            ]],
        ),
        family(
            "torch",
            &["take_along_dim"],
            vec![vec![
                ("input", Moving(&[4, 2])),
                ("dim", Int(0)),
                ("indices", COLUMNS),
            ]],
        ),
        family(
            "torch",
            &["index_add", "index_add_"],
            vec![source.clone(), with(&source, "alpha", Number(-2.5))],
        ),
        family(
            "torch",
            &["index_reduce", "index_reduce_"],
            with_words(
                selves(&source).to_vec(),
                "reduce",
                &["prod", "mean", "amax", "amin"],
            ),
        ),
        family("torch", &["index_copy", "index_copy_"], vec![source]),
        family("torch", &["index_fill", "index_fill_"], vec![value]),
        family("torch", &["put", "put_"], accumulated(&put)),
        family(
            "torch",
            &["index_put", "index_put_"],
            accumulated(&index_put),
        ),
        family(
            "torch",
            &["masked_scatter", "masked_scatter_"],
            vec![masked],
        ),
        family(
            "torch",
            &["slice_scatter"],
            vec![vec![
                ("input", Moving(&[5, 2])),
                ("src", Moving(&[2, 2])),
                ("start", Int(1)),
                ("step", Int(2)),
            ]],
        ),
        family(
            "torch",
            &["select_scatter"],
            vec![vec![
                ("input", Moving(&[3, 2])),
                ("src", Moving(&[3])),
                ("dim", Int(1)),
                ("index", Int(0)),
            ]],
        ),
        family(
            "torch",
            &["diagonal_scatter"],
            vec![vec![
                ("input", Moving(&[3, 4])),
                ("src", Moving(&[3])),
                ("offset", Int(1)),
            ]],
        ),
        family(
            "torch",
            &["as_strided_scatter"],
            vec![vec![
                ("input", Moving(&[3, 4])),
                ("src", Moving(&[2, 2])),
                ("size", List(&[2, 2])),
                ("stride", List(&[5, 2])),
            ]],
        ),
        family(
            "torch",
            &["segment_reduce"],
            [
                with_words(vec![segments], "reduce", &["sum", "mean"]),
                with_words(vec![started], "reduce", &["sum", "prod", "mean"]),
            ]
            .concat(),
        ),
    ]
}

fn of_torch_scatter() -> Vec<Family> {
    let groups: Call = vec![
        ("src", Moving(&[4, 2])),
        ("index", Index(&[0, 2, 0, 1], &[4])),
        ("dim", Int(0)),
    ];
    let coo: Call = vec![
        ("src", Moving(&[4, 2])),
        ("index", Index(&[0, 0, 2, 2], &[4])),
    ];
    let csr: Call = vec![
        ("src", Moving(&[4, 2])),
        ("indptr", Index(&[0, 3, 1, 4], &[4])),
    ];
    let words = ["sum", "mean", "min", "max"];
    vec![
        family(
            "torch_scatter",
            &["scatter"],
            with_words(
                vec![groups.clone()],
                "reduce",
                &["sum", "mul", "mean", "min", "max"],
            ),
        ),
        family(
            "torch_scatter",
            &[
                "scatter_sum",
                "scatter_add",
                "scatter_mul",
                "scatter_mean",
                "scatter_min",
                "scatter_max",
                "scatter_logsumexp",
                "scatter_softmax",
                "scatter_log_softmax",
            ],
            vec![groups.clone()],
        ),
        // A group of one element has no deviation.
        family(
            "torch_scatter",
            &["scatter_std"],
            vec![vec![
                ("src", Moving(&[4, 2])),
                ("index", Index(&[0, 1, 0, 1], &[4])),
                ("dim", Int(0)),
            ]],
        ),
        family(
            "torch_scatter",
            &["segment_coo"],
            with_words(vec![coo.clone()], "reduce", &words),
        ),
        family(
            "torch_scatter",
            &["segment_csr"],
            with_words(vec![csr.clone()], "reduce", &words),
        ),
        family(
            "torch_scatter",
            &[
                "segment_sum_coo",
                "segment_add_coo",
                "segment_mean_coo",
                "segment_min_coo",
                "segment_max_coo",
            ],
            vec![coo],
        ),
        family(
            "torch_scatter",
            &[
                "segment_sum_csr",
                "segment_add_csr",
                "segment_mean_csr",
                "segment_min_csr",
                "segment_max_csr",
            ],
            vec![csr],
        ),
        family(
            "torch_scatter",
            &["gather_coo"],
            vec![vec![
                ("src", Moving(&[3, 2])),
                ("index", Index(&[0, 0, 2, 2], &[4])),
            ]],
        ),
        family(
            "torch_scatter",
            &["gather_csr"],
            vec![vec![
                ("src", Moving(&[3, 2])),
                ("indptr", Index(&[0, 1, 1, 4], &[4])),
            ]],
        ),
    ]
}

fn of_jax_and_stablehlo() -> Vec<Family> {
    let at: Call = vec![
        ("x", Moving(&[3, 2])),
        ("indices", Indices(&[&[0, -1, 0, 7], &[1, 1, 1, 0]])),
    ];
    let updated = vec![
        with(&at, "y", Moving(&[4])),
        vec![
            ("x", Moving(&[3, 2])),
            ("indices", Indices(&[&[2, 0, 2]])),
            ("y", Moving(&[1, 2])),
        ],
    ];
    let segments = vec![vec![
        ("data", Moving(&[4, 2])),
        ("segment_ids", Index(&[3, 0, -1, 3], &[4])),
        ("num_segments", Int(4)),
    ]];
    let windows: Call = vec![
        ("operand", Moving(&[3, 2])),
        ("indices", ROWS),
        ("updates", Moving(&[4, 2])),
        ("update_window_dims", List(&[1])),
        ("inserted_window_dims", List(&[0])),
        ("scatter_dims_to_operand_dims", List(&[0])),
        ("index_vector_dim", Int(1)),
    ];
    vec![
        family(
            "jax",
            &[
                "at_set",
                "at_add",
                "at_subtract",
                "at_multiply",
                "at_divide",
                "at_min",
                "at_max",
            ],
            updated,
        ),
        // What is filled in for an index out of range is NaN.
        family(
            "jax",
            &["at_get"],
            vec![vec![
                ("x", Moving(&[3, 2])),
                ("indices", Indices(&[&[0, -1, 0], &[1, 1, 1]])),
            ]],
        ),
        // The extremes of no values are infinite.
        family("jax", &["ops.segment_sum", "ops.segment_prod"], segments),
        family(
            "jax",
            &["ops.segment_min", "ops.segment_max"],
            vec![vec![
                ("data", Moving(&[4, 2])),
                ("segment_ids", Index(&[1, 0, 7, 1], &[4])),
                ("num_segments", Int(2)),
            ]],
        ),
        family(
            "stablehlo",
            &["scatter"],
            with_words(
                vec![windows],
                "region",
                &["set", "add", "mul", "min", "max"],
            ),
        ),
    ]
}

fn of_onnx_and_openvino() -> Vec<Family> {
    let reductions = ["none", "add", "mul", "max", "min"];
    let along = with(&elements("data", "indices", "updates"), "axis", Int(0));
    let read = |index: Given| vec![("data", Moving(&[4, 2])), ("indices", index)];
    let cache: Call = vec![
        ("past_cache", Moving(&[2, 4, 3])),
        ("update", Moving(&[2, 2, 3])),
        ("write_indices", Index(&[1, 3], &[2])),
    ];
    let init = [true, false].map(|yes| with(&along, "use_init_val", Yes(yes)));
    vec![
        family(
            "onnx",
            &["scatter_elements"],
            with_words(vec![along.clone()], "reduction", &reductions),
        ),
        family(
            "onnx",
            &["scatter_nd"],
            with_words(
                tuples("data", "indices", "updates"),
                "reduction",
                &reductions,
            ),
        ),
        family("onnx", &["scatter"], vec![along.clone()]),
        family(
            "onnx",
            &["tensor_scatter"],
            vec![with(&cache, "mode", Word("circular"))],
        ),
        family("onnx", &["gather", "gather_elements"], vec![read(COLUMNS)]),
        family("onnx", &["gather_nd"], vec![read(TUPLES)]),
        family(
            "openvino",
            &["scatter_elements_update"],
            with_words(
                init.to_vec(),
                "reduction",
                &["none", "sum", "prod", "min", "max", "mean"],
            ),
        ),
        family(
            "openvino",
            &["scatter_nd_update"],
            with_words(
                tuples("data", "indices", "updates"),
                "reduction",
                &["none", "sum", "sub", "prod", "min", "max"],
            ),
        ),
        family(
            "openvino",
            &["scatter_update"],
            vec![with(&rows("data", "indices", "updates")[0], "axis", Int(0))],
        ),
        family(
            "openvino",
            &["slice_scatter"],
            vec![vec![
                ("data", Moving(&[5, 2])),
                ("updates", Moving(&[2, 2])),
                ("start", List(&[4])),
                ("stop", List(&[0])),
                ("step", List(&[-2])),
                ("axes", List(&[0])),
            ]],
        ),
        family(
            "openvino",
            &["gather"],
            vec![with(&read(ROWS), "axis", Int(0))],
        ),
        family(
            "openvino",
            &["gather_elements"],
            vec![with(&read(COLUMNS), "axis", Int(0))],
        ),
        family("openvino", &["gather_nd"], vec![read(TUPLES)]),
    ]
}

fn of_the_others() -> Vec<Family> {
    let first: Given = Index(&[0, 2, 0, 1, 1, 0], &[2, 3]);
    let new = |data| {
        vec![vec![
            (data, Moving(&[3])),
            ("indices", first.clone()),
            ("shape", List(&[3, 2])),
        ]]
    };
    let along: Call = vec![
        ("arr", Moving(&[4, 2])),
        ("indices", COLUMNS),
        ("axis", Int(0)),
    ];
    // Without `include_self` a cell goes by steps of its own, which have no derivative here.
    let call = with(&along, "values", Moving(&[4, 2]));
    let mut put = with_words(
        vec![call],
        "reduce",
        &["add", "mul", "amin", "amax", "mean"],
    );
    put.push(with(&along, "values", Moving(&[1, 2])));
    let ascending = vec![vec![
        ("data", Moving(&[4, 2])),
        ("segment_ids", Index(&[0, 0, 2, 2], &[4])),
    ]];
    let groups: Call = vec![
        ("src", Moving(&[4, 2])),
        ("index", Index(&[0, 2, 0, 1], &[4])),
        ("dim", Int(0)),
    ];
    vec![
        family("mxnet", &["scatter_nd"], new("data")),
        family("mxnet", &["backward_gather_nd"], new("data")),
        family(
            "mxnet",
            &["scatter_set_nd"],
            vec![vec![
                ("lhs", Moving(&[3, 2])),
                ("rhs", Moving(&[3])),
                ("indices", first.clone()),
                ("shape", List(&[3, 2])),
            ]],
        ),
        family(
            "mxnet",
            &["gather_nd"],
            vec![vec![("data", Moving(&[3, 2])), ("indices", first.clone())]],
        ),
        family(
            "numpy",
            &["put_along_axis"],
            vec![with(&along, "values", Moving(&[1, 2]))],
        ),
        family(
            "paddle",
            &["scatter"],
            [true, false]
                .map(|yes| with(&rows("x", "index", "updates")[0], "overwrite", Yes(yes)))
                .to_vec(),
        ),
        family(
            "paddle",
            &["scatter_nd"],
            vec![vec![
                ("index", TUPLES),
                ("updates", Moving(&[3])),
                ("shape", List(&[3, 2])),
            ]],
        ),
        family(
            "paddle",
            &["scatter_nd_add"],
            tuples("x", "index", "updates"),
        ),
        family("paddle", &["put_along_axis"], put),
        family(
            "paddle",
            &["index_add"],
            vec![with(&rows("x", "index", "value")[0], "axis", Int(0))],
        ),
        family(
            "paddle",
            &["index_fill"],
            vec![vec![
                ("x", Moving(&[3, 2])),
                ("index", Index(&[0, 2], &[2])),
                ("axis", Int(0)),
                ("value", Number(4.0)),
            ]],
        ),
        family(
            "paddle",
            &["gather"],
            vec![vec![("x", Moving(&[4, 2])), ("index", ROWS)]],
        ),
        family(
            "paddle",
            &["gather_nd"],
            vec![vec![("x", Moving(&[4, 2])), ("index", TUPLES)]],
        ),
        family("paddle", &["take_along_axis"], vec![along]),
        family(
            "paddle",
            &[
                "geometric.segment_sum",
                "geometric.segment_mean",
                "geometric.segment_min",
                "geometric.segment_max",
            ],
            ascending,
        ),
        family(
            "strew",
            &["scatter"],
            with_words(
                vec![groups.clone()],
                "reduce",
                &["sum", "prod", "mean", "amax", "amin"],
            ),
        ),
        family(
            "strew",
            &["gather"],
            vec![{
                let mut call = groups;
                call[0] = ("src", Moving(&[3, 2]));
                call
            }],
        ),
    ]
}

pub(crate) fn families() -> Vec<Family> {
    [
        of_mindspore(),
        of_tensorflow(),
        of_torch(),
        of_torch_scatter(),
        of_jax_and_stablehlo(),
        of_onnx_and_openvino(),
        of_the_others(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
