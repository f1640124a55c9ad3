//! Derivatives of every operator of the table: what a small step of its arguments does, both ways.

mod naive;
mod support;

use num_complex::Complex64;
use std::collections::BTreeSet;
use strew::{
    Arguments, DType, DynTensor, DynView, OPERATORS, Operator, Scalar, TensorView, TensorViewMut,
    Value, find, grad,
};
use support::Random;
use support::derivatives::gradient;

/// An argument of a call.
#[derive(Clone, Debug)]
enum Given {
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

type Call = Vec<(&'static str, Given)>;

/// Operators that take the same arguments: `framework` with each of `names`.
struct Family {
    framework: &'static str,
    names: &'static [&'static str],
    calls: Vec<Call>,
}

fn view<'a, T: strew::Element>(values: &'a [T], shape: &[usize]) -> DynView<'a> {
    TensorView::from_slice(values, shape).unwrap().into_dyn()
}

fn list(tensor: &DynTensor) -> Vec<f64> {
    let tensor = tensor.view();
    let values = tensor.typed::<f64>().expect("it is float64");
    values.as_slice().expect("it lies row by row").to_vec()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The arguments, with the moving ones' numbers in the call's order.
fn arguments<'v>(
    operator: &'static Operator,
    call: &'v Call,
    moving: &'v mut [Vec<f64>],
) -> Arguments<'v> {
    let mut arguments = Arguments::new(operator);
    let mut moving = moving.iter_mut();
    for (name, given) in call {
        let value = match given {
            Moving(shape) => {
                let values = moving.next().expect("there is one for each");
                let argument = operator.arguments.iter().find(|a| a.name == *name).unwrap();
                assert!(argument.differentiable, "{}: {name}", operator.name);
                match argument.kind {
                    strew::Kind::Target => {
                        Value::Target(TensorViewMut::from_slice(values, shape).unwrap().into_dyn())
                    }
                    _ => Value::Tensor(view(values, shape)),
                }
            }
            Index(values, shape) => Value::Tensor(view(values, shape)),
            Narrow(values, shape) => Value::Tensor(view(values, shape)),
            Mask(values) => Value::Tensor(view(values, &[values.len()])),
            Indices(lists) => {
                let lists = lists.iter().map(|list| Some(view(list, &[list.len()])));
                Value::Tensors(lists.collect())
            }
            List(values) => Value::Integers((*values).into()),
            Int(value) => Value::Int(*value),
            Word(word) => Value::Text((*word).into()),
            Yes(value) => Value::Bool(*value),
            Number(value) => Value::Scalar(Scalar::Float(*value)),
        };
        arguments.set_named(name, value).unwrap();
    }
    arguments
}

/// The result, which an operator in place leaves in its target. A mean of nothing, which does not
/// move, is 0 here.
fn run(operator: &'static Operator, call: &Call, moving: &[Vec<f64>]) -> Vec<f64> {
    let mut moving = moving.to_vec();
    let made = arguments(operator, call, &mut moving).run();
    let made = made.unwrap_or_else(|error| panic!("{call:?}: {error}"));
    match made.tensor {
        Some(tensor) => {
            let values = list(&tensor).into_iter();
            values
                .map(|value| if value.is_finite() { value } else { 0.0 })
                .collect()
        }
        None => moving.swap_remove(0),
    }
}

fn check(operator: &'static Operator, call: &Call, random: &mut Random) {
    let what = || format!("{} {call:?}", operator.name);
    let moving = call.iter().filter_map(|(name, given)| match given {
        Moving(shape) => Some((*name, *shape)),
        _ => None,
    });
    let moving: Vec<(&str, &[usize])> = moving.collect();
    let sizes: Vec<usize> = moving
        .iter()
        .map(|(_, shape)| shape.iter().product())
        .collect();
    let total: usize = sizes.iter().sum();
    let mut apart = random.shuffled(total).into_iter();
    let numbers = |make: &mut dyn FnMut() -> f64| -> Vec<Vec<f64>> {
        sizes
            .iter()
            .map(|&n| (0..n).map(|_| make()).collect())
            .collect()
    };
    let x = numbers(&mut || 0.5 + apart.next().unwrap() as f64 / total as f64);
    let mut any = || (random.next() % 2_000_001) as f64 / 1e6 - 1.0;
    let t = numbers(&mut any);
    let y = run(operator, call, &x);
    let g: Vec<f64> = y.iter().map(|_| any()).collect();

    let step = 1e-6;
    let moved = |by: f64| {
        let along = |(x, t): (&Vec<f64>, &Vec<f64>)| {
            x.iter()
                .zip(t)
                .map(|(x, t)| x + by * t)
                .collect::<Vec<f64>>()
        };
        let x: Vec<Vec<f64>> = x.iter().zip(&t).map(along).collect();
        run(operator, call, &x)
    };
    let (up, down) = (moved(step), moved(-step));

    let tangents = moving.iter().zip(&t);
    let tangents: Vec<(&str, DynView<'_>)> = tangents
        .map(|((name, shape), t)| (*name, view(t, shape)))
        .collect();
    let forth = grad::jvp(arguments(operator, call, &mut x.clone()), &tangents);
    let forth = forth.unwrap_or_else(|error| panic!("{}: {error}", what()));
    let shape = forth.shape().to_vec();
    let forth = list(&forth);
    assert_eq!(forth.len(), y.len(), "{}", what());
    for (k, tangent) in forth.iter().enumerate() {
        let found = (up[k] - down[k]) / (2.0 * step);
        let near = (found - tangent).abs() <= 1e-6 * (1.0 + tangent.abs());
        assert!(near, "{}: {k} moves by {found}, not {tangent}", what());
    }

    let before = x.clone();
    let mut held = x.clone();
    let made = grad::vjp(arguments(operator, call, &mut held), &view(&g, &shape)).unwrap();
    assert_eq!(held, before, "{}: it writes to nothing", what());
    assert_eq!(made.len(), moving.len(), "{}", what());
    let mut sum = 0.0;
    for ((name, shape), t) in moving.iter().zip(&t) {
        let (_, found) = made
            .iter()
            .find(|(of, _)| of == name)
            .expect("there is one");
        assert_eq!(found.shape(), *shape, "{}: {name}", what());
        sum += dot(&list(found), t);
    }
    let wanted = dot(&g, &forth);
    let near = (wanted - sum).abs() <= 1e-9 * (1.0 + wanted.abs());
    assert!(near, "{}: {wanted} is not {sum}", what());
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
fn rows(cells: &'static str, index: &'static str, updates: &'static str) -> Vec<Call> {
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

fn families() -> Vec<Family> {
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

#[test]
fn of_every_operator() {
    let mut random = Random(23);
    for family in families() {
        for name in family.names {
            let name = format!("{}.{name}", family.framework);
            let operator = find(&name).unwrap_or_else(|| panic!("{name} is not listed"));
            for call in &family.calls {
                check(operator, call, &mut random);
            }
        }
    }
}

#[test]
fn no_operator_is_left_out() {
    let known: BTreeSet<String> = families()
        .iter()
        .flat_map(|family| {
            family
                .names
                .iter()
                .map(|name| format!("{}.{name}", family.framework))
        })
        .collect();
    let declared: BTreeSet<String> = OPERATORS
        .iter()
        .flat_map(|of| of.iter())
        .filter(|operator| operator.arguments.iter().any(|a| a.differentiable))
        .map(|operator| operator.name.to_string())
        .collect();
    assert_eq!(declared, known);
}

/// What the gradients of a product are as gradients: a small step of `grad` and of the arguments.
#[test]
fn second_derivatives_of_products() {
    let operator = find("mindspore.scatter_mul").unwrap();
    let call = rows("input_x", "indices", "updates").remove(0);
    let mut random = Random(29);
    let mut any = |n: usize| -> Vec<f64> {
        (0..n)
            .map(|_| (random.next() % 2_000_001) as f64 / 1e6 - 1.0)
            .collect()
    };
    let (x, t) = ([any(6), any(8)], [any(6), any(8)]);
    let (g, tg) = (any(6), any(6));
    let names = [("input_x", [3usize, 2]), ("updates", [4, 2])];
    // The gradients against the cotangents t, as a function of what moves.
    let value = |x: &[Vec<f64>; 2], g: &[f64]| {
        let mut x = x.clone();
        let made = grad::vjp(arguments(operator, &call, &mut x), &view(g, &[3, 2])).unwrap();
        let made = names
            .iter()
            .map(|(name, _)| list(&gradient(made_of(&made, name), name)));
        made.zip(&t).map(|(made, t)| dot(&made, t)).sum::<f64>()
    };
    let cotangents: Vec<_> = names
        .iter()
        .zip(&t)
        .map(|((name, shape), t)| (*name, view(t, shape)))
        .collect();
    let mut held = x.clone();
    let (to_grad, rest) = grad::double_vjp(
        arguments(operator, &call, &mut held),
        &view(&g, &[3, 2]),
        &cotangents,
    )
    .unwrap();
    let step = 1e-6;
    let along = |from: &[f64], t: &[f64], by: f64| -> Vec<f64> {
        from.iter().zip(t).map(|(x, t)| x + by * t).collect()
    };
    let slope = |at: &dyn Fn(f64) -> f64| (at(step) - at(-step)) / (2.0 * step);
    let of_grad = slope(&|by| value(&x, &along(&g, &tg, by)));
    assert!((of_grad - dot(&list(&to_grad), &tg)).abs() < 1e-7);
    let moved = [any(6), any(8)];
    let of_x = slope(&|by| {
        value(
            &[along(&x[0], &moved[0], by), along(&x[1], &moved[1], by)],
            &g,
        )
    });
    let found: f64 = rest
        .iter()
        .zip(&moved)
        .map(|((_, to), t)| dot(&list(to), t))
        .sum();
    assert!((of_x - found).abs() < 1e-7, "{of_x} is not {found}");
}

fn made_of(made: &[(&'static str, DynTensor)], name: &str) -> Vec<(&'static str, DynTensor)> {
    let one = made.iter().filter(|(of, _)| *of == name);
    one.map(|(of, tensor)| (*of, tensor.view().to_tensor().unwrap()))
        .collect()
}

#[test]
fn what_has_no_derivative_says_so() {
    let (mut a, b, at) = ([1.0, 2.0], [3.0], [0i64]);
    let mut arguments = Arguments::new(find("numpy.power.at").unwrap());
    let target = TensorViewMut::from(&mut a).into_dyn();
    arguments.set_named("a", Value::Target(target)).unwrap();
    arguments
        .set_named("indices", Value::Tensors(vec![Some(view(&at, &[1]))]))
        .unwrap();
    arguments
        .set_named("b", Value::Tensor(view(&b, &[1])))
        .unwrap();
    let error = grad::vjp(arguments, &view(&[1.0, 1.0], &[2])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "grad.numpy.power.at: a must be left out where derivatives are taken, not a tensor"
    );

    let of = |name: &'static str| {
        let mut arguments = Arguments::new(find("torch_scatter.scatter").unwrap());
        arguments
            .set_named("src", Value::Tensor(view(&b, &[1])))
            .unwrap();
        arguments
            .set_named("index", Value::Tensor(view(&at, &[1])))
            .unwrap();
        grad::jvp(arguments, &[(name, view(&b, &[1]))])
    };
    assert_eq!(of("src").unwrap().dtype(), DType::F64);
    assert_eq!(
        of("index").unwrap_err().to_string(),
        "grad.torch_scatter.scatter: argument = index: those with a derivative are src"
    );
}

/// Calls in which nothing moves, or no cell is there.
#[test]
fn of_nothing() {
    let none: Given = Index(&[], &[0, 2]);
    let mut random = Random(31);
    for (name, call) in [
        (
            "torch.scatter_add",
            vec![
                ("input", Moving(&[4, 3])),
                ("dim", Int(0)),
                ("index", none.clone()),
                ("src", Moving(&[2, 2])),
            ],
        ),
        (
            "torch.scatter_reduce",
            vec![
                ("input", Moving(&[4, 3])),
                ("dim", Int(0)),
                ("index", none.clone()),
                ("src", Moving(&[2, 2])),
                ("reduce", Word("amax")),
            ],
        ),
        (
            "torch.gather",
            vec![("input", Moving(&[4, 3])), ("dim", Int(0)), ("index", none)],
        ),
        (
            "torch.masked_scatter",
            vec![
                ("input", Moving(&[3, 2])),
                ("mask", Mask(&[false, false])),
                ("source", Moving(&[4])),
            ],
        ),
        (
            "mindspore.scatter_mul",
            vec![
                ("input_x", Moving(&[3, 0])),
                ("indices", Index(&[0, 2], &[2])),
                ("updates", Moving(&[2, 0])),
            ],
        ),
        (
            "mindspore.scatter_div",
            vec![
                ("input_x", Moving(&[3, 2])),
                ("indices", Index(&[], &[0])),
                ("updates", Moving(&[0, 2])),
            ],
        ),
        (
            "torch_scatter.segment_csr",
            vec![("src", Moving(&[4, 2])), ("indptr", Index(&[], &[0]))],
        ),
        (
            "torch_scatter.scatter_softmax",
            vec![
                ("src", Moving(&[0, 2])),
                ("index", Index(&[], &[0])),
                ("dim", Int(0)),
            ],
        ),
    ] {
        check(find(name).unwrap(), &call, &mut random);
    }
}

/// A gradient is multiplied by the conjugate of a complex factor, a tangent by the factor.
#[test]
fn complex_factors() {
    let (x, at, s) = ([Complex64::ZERO], [0i64], [Complex64::new(1.0, 1.0)]);
    let alpha = Complex64::new(2.0, 3.0);
    let call = || {
        let mut arguments = Arguments::new(find("torch.index_add").unwrap());
        for (name, value) in [
            ("input", Value::Tensor(view(&x, &[1]))),
            ("dim", Value::Int(0)),
            ("index", Value::Tensor(view(&at, &[1]))),
            ("source", Value::Tensor(view(&s, &[1]))),
            ("alpha", Value::Scalar(Scalar::Complex(alpha))),
        ] {
            arguments.set_named(name, value).unwrap();
        }
        arguments
    };
    let number = |tensor: &DynTensor| {
        let tensor = tensor.view();
        tensor.typed::<Complex64>().unwrap().as_slice().unwrap()[0]
    };
    let one = [Complex64::new(0.0, 1.0)];
    let made = grad::vjp(call(), &view(&one, &[1])).unwrap();
    assert_eq!(number(&gradient(made, "source")), one[0] * alpha.conj());
    let made = grad::jvp(call(), &[("source", view(&one, &[1]))]).unwrap();
    assert_eq!(number(&made), one[0] * alpha);
}

/// What the operator refuses is refused in its words.
#[test]
fn errors_are_the_operators() {
    let (mut x, at, u) = ([1.0f32, 2.0], [0i64, 5], [3.0f32, 4.0]);
    let mut arguments = Arguments::new(find("mindspore.scatter_mul").unwrap());
    let target = TensorViewMut::from(&mut x).into_dyn();
    arguments
        .set_named("input_x", Value::Target(target))
        .unwrap();
    arguments
        .set_named("indices", Value::Tensor(view(&at, &[2])))
        .unwrap();
    arguments
        .set_named("updates", Value::Tensor(view(&u, &[2])))
        .unwrap();
    let error = grad::vjp(arguments, &view(&[1.0f32, 1.0], &[2])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "grad.mindspore.scatter_mul: indices[1] = 5: index 5 is out of bounds for dimension 0 with size 2"
    );
}

/// Ties share, of several updates the last one stays, and what goes nowhere gets nothing.
#[test]
fn shares_of_tensorflow() {
    let of = |name: &str, call: &Call, mut moving: Vec<Vec<f64>>, g: &[f64], shape: &[usize]| {
        let operator = find(name).unwrap();
        let made = grad::vjp(arguments(operator, call, &mut moving), &view(g, shape)).unwrap();
        made.iter()
            .map(|(_, tensor)| list(tensor))
            .collect::<Vec<_>>()
    };
    let call = vec![
        ("data", Moving(&[4])),
        ("segment_ids", Narrow(&[0, 0, 1, -1], &[4])),
        ("num_segments", Int(2)),
    ];
    let root = 6.0 / 2.0f64.sqrt();
    for (name, expected) in [
        ("sum", [6.0, 6.0, 5.0, 0.0]),
        ("mean", [3.0, 3.0, 5.0, 0.0]),
        ("sqrt_n", [root, root, 5.0, 0.0]),
        ("prod", [12.0, 12.0, 5.0, 0.0]),
        ("min", [3.0, 3.0, 5.0, 0.0]),
        ("max", [3.0, 3.0, 5.0, 0.0]),
    ] {
        let operator = format!("tensorflow.math.unsorted_segment_{name}");
        let data = vec![vec![2.0, 2.0, 4.0, 8.0]];
        assert_eq!(
            of(&operator, &call, data, &[6.0, 5.0], &[2]),
            [expected],
            "{name}"
        );
    }

    let call = vec![
        ("tensor", Moving(&[3])),
        ("indices", Index(&[1, 1], &[2, 1])),
        ("updates", Moving(&[2])),
    ];
    for (name, to_tensor, to_updates) in [
        ("update", [1.0, 0.0, 3.0], [0.0, 2.0]),
        ("add", [1.0, 2.0, 3.0], [2.0, 2.0]),
        ("sub", [1.0, 2.0, 3.0], [-2.0, -2.0]),
        ("min", [1.0, 2.0, 3.0], [0.0, 0.0]),
        ("max", [1.0, 0.0, 3.0], [0.0, 2.0]),
    ] {
        let operator = format!("tensorflow.tensor_scatter_nd_{name}");
        let given = vec![vec![1.0; 3], vec![3.0, 5.0]];
        let made = of(&operator, &call, given, &[1.0, 2.0, 3.0], &[3]);
        assert_eq!(made, [to_tensor.to_vec(), to_updates.to_vec()], "{name}");
    }

    let call = vec![
        ("indices", Narrow(&[0, 9], &[2, 1])),
        ("updates", Moving(&[2])),
        ("shape", List(&[2])),
        ("bad_indices_policy", Word("IGNORE")),
    ];
    let made = of(
        "tensorflow.scatter_nd",
        &call,
        vec![vec![7.0, 8.0]],
        &[1.0, 2.0],
        &[2],
    );
    assert_eq!(made, [[1.0, 0.0]]);
}
