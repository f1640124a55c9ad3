//! The neighbours' operators: arguments that do not fit.

use crate::{counted, ints, refuses, text};
use strew::{Class, DType, Value};

/// An argument of a case.
enum Arg {
    /// Numbers of `float32`.
    Floats(&'static [usize]),
    /// Numbers of `int64`.
    Ints(&'static [usize], &'static [i64]),
    List(&'static [i64]),
    Int(i64),
    Word(&'static str),
}

use Arg::{Floats, Int, Ints, List, Word};

type Case = (
    &'static str,
    &'static [(&'static str, Arg)],
    Class,
    &'static str,
);

#[track_caller]
fn refuse(cases: &[Case]) {
    for (name, arguments, class, message) in cases {
        let arrays: Vec<_> = arguments
            .iter()
            .map(|(_, argument)| match argument {
                Floats(shape) => Some(counted(DType::F32, shape)),
                Ints(shape, values) => Some(ints(DType::I64, shape, values)),
                List(_) | Int(_) | Word(_) => None,
            })
            .collect();
        let values = arguments
            .iter()
            .zip(&arrays)
            .map(|((name, argument), array)| {
                let value = match (argument, array) {
                    (_, Some(array)) => array.input(),
                    (List(list), _) => Value::Integers(list.to_vec().into()),
                    (Int(value), _) => Value::Int(*value),
                    (Word(word), _) => text(word),
                    (Floats(_) | Ints(..), None) => unreachable!(),
                };
                (*name, value)
            });
        refuses(
            name,
            values.collect(),
            *class,
            &format!("{name}: {message}"),
        );
    }
}

#[test]
fn tensorflow() {
    const ND: &str = "tensorflow.scatter_nd";
    const SEGMENT: &str = "tensorflow.math.segment_sum";
    const UNSORTED: &str = "tensorflow.math.unsorted_segment_sum";
    refuse(&[
        (
            ND,
            &[
                ("indices", Ints(&[2, 1], &[0, 5])),
                ("updates", Floats(&[2])),
                ("shape", List(&[3])),
            ],
            Class::Index,
            "indices[1, 0] = 5: index 5 is out of bounds for dimension 0 with size 3",
        ),
        (
            ND,
            &[
                ("indices", Ints(&[2], &[0, 1])),
                ("updates", Floats(&[2])),
                ("shape", List(&[3])),
            ],
            Class::Value,
            "indices has shape [2]: its last dimension must be from 1 to 1: a tuple has an entry for each of the first axes of [3]",
        ),
        (
            ND,
            &[
                ("indices", Ints(&[2, 1], &[0, 1])),
                ("updates", Floats(&[3])),
                ("shape", List(&[3])),
            ],
            Class::Value,
            "updates has shape [3]: it must be indices.shape[:-1] and the shape behind the axes that a tuple names, [2]",
        ),
        (
            ND,
            &[
                ("indices", Ints(&[2, 1], &[0, 0])),
                ("updates", Floats(&[2])),
                ("shape", List(&[0])),
            ],
            Class::Value,
            "indices has shape [2, 1]: Indices and updates specified for empty output, [0]",
        ),
        (
            "tensorflow.gather_nd",
            &[
                ("params", Floats(&[3, 2])),
                ("indices", Ints(&[2, 1], &[0, 0])),
                ("batch_dims", Int(1)),
            ],
            Class::Value,
            "indices has shape [2, 1]: it must begin with the first 1 dimensions of params, [3]",
        ),
        (
            SEGMENT,
            &[
                ("data", Floats(&[3])),
                ("segment_ids", Ints(&[3], &[0, 2, 1])),
            ],
            Class::Value,
            "segment_ids[2] = 1: segment ids are not increasing: each must be at least the one before",
        ),
        (
            SEGMENT,
            &[
                ("data", Floats(&[3])),
                ("segment_ids", Ints(&[3], &[-1, 0, 1])),
            ],
            Class::Index,
            "segment_ids[0] = -1: index -1 is out of bounds for dimension 0 with size 2",
        ),
        (
            UNSORTED,
            &[
                ("data", Floats(&[3])),
                ("segment_ids", Ints(&[3], &[0, 2, 1])),
                ("num_segments", Int(2)),
            ],
            Class::Index,
            "segment_ids[1] = 2: index 2 is out of bounds for dimension 0 with size 2",
        ),
        (
            UNSORTED,
            &[
                ("data", Floats(&[3])),
                ("segment_ids", Ints(&[3], &[0, 2, 1])),
                ("num_segments", Int(-2)),
            ],
            Class::Value,
            "num_segments = -2: it must be at least 0",
        ),
    ]);
}

#[test]
fn onnx_and_openvino() {
    const CACHE: &str = "onnx.tensor_scatter";
    refuse(&[
        (
            "onnx.scatter_elements",
            &[
                ("data", Floats(&[3])),
                ("indices", Ints(&[3], &[0, 1, -4])),
                ("updates", Floats(&[3])),
            ],
            Class::Index,
            "indices[2] = -4: index -4 is out of bounds for dimension 0 with size 3",
        ),
        (
            "onnx.scatter_nd",
            &[
                ("data", Floats(&[3])),
                ("indices", Ints(&[1, 2], &[0, 0])),
                ("updates", Floats(&[1])),
            ],
            Class::Value,
            "indices has shape [1, 2]: its last dimension must be from 0 to 1: a tuple has an entry for each of the first axes of [3]",
        ),
        (
            CACHE,
            &[
                ("past_cache", Floats(&[2, 3, 1])),
                ("update", Floats(&[2, 2, 1])),
                ("write_indices", Ints(&[2], &[0, 2])),
            ],
            Class::Index,
            "write_indices[1] = 2: index 2 is out of bounds for dimension 1 with size 2",
        ),
        (
            CACHE,
            &[
                ("past_cache", Floats(&[2, 3, 1])),
                ("update", Floats(&[2, 2, 1])),
                ("write_indices", Ints(&[2], &[9, -1])),
                ("mode", Word("circular")),
            ],
            Class::Index,
            "write_indices[1] = -1: index -1 is out of bounds for dimension 1 with size 3",
        ),
        (
            CACHE,
            &[
                ("past_cache", Floats(&[2, 3, 1])),
                ("update", Floats(&[2, 2, 1])),
                ("axis", Int(0)),
            ],
            Class::Value,
            "axis = 0: the first axis is the batch's",
        ),
        (
            "openvino.scatter_elements_update",
            &[
                ("data", Floats(&[3])),
                ("indices", Ints(&[1], &[-4])),
                ("updates", Floats(&[1])),
                ("axis", Int(0)),
            ],
            Class::Index,
            "indices[0] = -4: index -4 is out of bounds for dimension 0 with size 3",
        ),
        (
            "openvino.gather",
            &[
                ("data", Floats(&[3, 2])),
                ("indices", Ints(&[2], &[0, 1])),
                ("axis", Int(1)),
                ("batch_dims", Int(1)),
            ],
            Class::Value,
            "indices has shape [2]: it must begin with the first 1 dimensions of data, [3]",
        ),
    ]);
}

#[test]
fn stablehlo() {
    fn refused(
        window: &'static [i64],
        inserted: &'static [i64],
        to: &'static [i64],
        message: &str,
    ) {
        let (operand, updates) = (counted(DType::F32, &[3, 2]), counted(DType::F32, &[2, 2]));
        let indices = ints(DType::I64, &[2], &[0, 1]);
        let list = |list: &'static [i64]| Value::Integers(list.into());
        let values = vec![
            ("operand", operand.input()),
            ("indices", indices.input()),
            ("updates", updates.input()),
            ("update_window_dims", list(window)),
            ("inserted_window_dims", list(inserted)),
            ("scatter_dims_to_operand_dims", list(to)),
            ("index_vector_dim", Value::Int(1)),
        ];
        let message = format!("stablehlo.scatter: {message}");
        refuses("stablehlo.scatter", values, Class::Value, &message);
    }
    refused(
        &[1],
        &[],
        &[0],
        "update_window_dims = [1]: with inserted_window_dims and input_batching_dims there must be as many axes as operand has, 2",
    );
    refused(
        &[1, 1],
        &[0],
        &[0],
        "update_window_dims[1] = 1: it must not be there twice",
    );
    refused(
        &[1],
        &[0],
        &[0, 1],
        "scatter_dims_to_operand_dims = [0, 1]: it must be as long as an index vector, 1",
    );
}

#[test]
fn mxnet_out() {
    let data = counted(DType::F32, &[2]);
    let indices = ints(DType::I64, &[1, 2], &[0, 2]);
    for (shape, req, class, message) in [
        (
            3,
            "null",
            Class::Value,
            "req = null: it must be write or add",
        ),
        (
            2,
            "add",
            Class::Value,
            "out has shape [3]: it must be the result's, [2]",
        ),
    ] {
        let mut out = counted(DType::F32, &[3]);
        let values = vec![
            ("data", data.input()),
            ("indices", indices.input()),
            ("shape", Value::Integers(vec![shape].into())),
            ("out", out.target()),
            ("req", text(req)),
        ];
        refuses(
            "mxnet.scatter_nd",
            values,
            class,
            &format!("mxnet.scatter_nd: {message}"),
        );
    }
    for req in ["write", "add"] {
        let mut out = counted(DType::F32, &[2]);
        let before = out.read();
        let values = vec![
            ("data", data.input()),
            ("indices", indices.input()),
            ("shape", Value::Integers(vec![2].into())),
            ("out", out.target()),
            ("req", text(req)),
        ];
        let message = "mxnet.scatter_nd: indices[0, 1] = 2: index 2 is out of bounds for dimension 0 with size 2";
        refuses("mxnet.scatter_nd", values, Class::Index, message);
        assert_eq!(out.read().data, before.data);
    }
}
