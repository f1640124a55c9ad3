//! PaddlePaddle's operators: arguments that do not fit.

use crate::{counted, ints, refuses, text};
use strew::{Class, DType, Value};

const SCATTER: &str = "paddle.scatter";
const ND: &str = "paddle.scatter_nd";
const ND_ADD: &str = "paddle.scatter_nd_add";
const PUT: &str = "paddle.put_along_axis";
const TAKE: &str = "paddle.take_along_axis";

/// An argument of a case.
#[derive(Clone, Copy)]
enum Arg {
    /// Numbers of a type.
    Of(DType, &'static [usize]),
    /// Numbers of `int64`.
    Ints(&'static [usize], &'static [i64]),
    List(&'static [i64]),
    Int(i64),
    Bool(bool),
    Word(&'static str),
}

use Arg::{Bool, Int, Ints, List, Of, Word};

const F32: DType = DType::F32;

/// Indices that name no row of two, and of three.
const BEYOND_2: [(i64, &[i64]); 2] = [(2, &[2]), (-3, &[-3])];
const BEYOND_3: [(i64, &[i64]); 3] = [(3, &[3]), (-4, &[-4]), (i64::MIN, &[i64::MIN])];

#[track_caller]
fn refuse(name: &str, arguments: &[(&'static str, Arg)], class: Class, message: &str) {
    let arrays: Vec<_> = arguments
        .iter()
        .map(|(_, argument)| match *argument {
            Of(dtype, shape) => Some(counted(dtype, shape)),
            Ints(shape, values) => Some(ints(DType::I64, shape, values)),
            _ => None,
        })
        .collect();
    let values = arguments.iter().zip(&arrays);
    let values = values.map(|((name, argument), array)| {
        let value = match (argument, array) {
            (_, Some(array)) => array.input(),
            (List(list), _) => Value::Integers(list.to_vec().into()),
            (Int(value), _) => Value::Int(*value),
            (Bool(value), _) => Value::Bool(*value),
            (Word(word), _) => text(word),
            (Of(..) | Ints(..), None) => unreachable!(),
        };
        (*name, value)
    });
    refuses(name, values.collect(), class, &format!("{name}: {message}"));
}

#[track_caller]
fn refuse_scatter(x: Arg, index: Arg, updates: Arg, overwrite: bool, class: Class, message: &str) {
    let overwrite = ("overwrite", Bool(overwrite));
    let arguments = [("x", x), ("index", index), ("updates", updates), overwrite];
    refuse(SCATTER, &arguments, class, message);
}

#[test]
fn scatter() {
    let (x, one) = (Of(F32, &[3, 2]), Of(F32, &[1, 2]));
    for overwrite in [true, false] {
        for (value, index) in BEYOND_3 {
            refuse_scatter(
                x,
                Ints(&[1], index),
                one,
                overwrite,
                Class::Index,
                &format!(
                    "index[0] = {value}: index {value} is out of bounds for dimension 0 with size 3"
                ),
            );
        }
        refuse_scatter(
            x,
            Ints(&[1, 2], &[0, 1]),
            Of(F32, &[2, 2]),
            overwrite,
            Class::Value,
            "index has shape [1, 2]: it must be 0-d or 1-d, or 2-d with one column",
        );
        refuse_scatter(
            x,
            Ints(&[2], &[0, 1]),
            one,
            overwrite,
            Class::Value,
            "index has shape [2]: it must not have more elements than updates has rows, 1",
        );
        refuse_scatter(
            x,
            Ints(&[1], &[0]),
            Of(F32, &[2]),
            overwrite,
            Class::Value,
            "updates has shape [2]: it must have as many dimensions as x, 2, at least one",
        );
        refuse_scatter(
            x,
            Ints(&[], &[0]),
            one,
            overwrite,
            Class::Value,
            "updates has shape [1, 2]: of a 0-d index, it must have one dimension less than x, which has 2",
        );
        refuse_scatter(
            Of(F32, &[]),
            Ints(&[], &[0]),
            Of(F32, &[]),
            overwrite,
            Class::Value,
            "updates has shape []: of a 0-d index, it must have one dimension less than x, which has 0",
        );
        refuse_scatter(
            x,
            Ints(&[1], &[0]),
            Of(F32, &[1, 3]),
            overwrite,
            Class::Value,
            "updates has shape [1, 3]: its rows must have the shape of x's, [2]",
        );
        refuse_scatter(
            x,
            Ints(&[1], &[0]),
            Of(DType::F64, &[1, 2]),
            overwrite,
            Class::Value,
            "updates has dtype float64: it must be x's dtype, float32",
        );
        refuse_scatter(
            x,
            Of(DType::I16, &[1]),
            one,
            overwrite,
            Class::Value,
            "index has dtype int16: it must be int32 or int64",
        );
    }
    refuse_scatter(
        Of(DType::Bool, &[3]),
        Ints(&[1], &[0]),
        Of(DType::Bool, &[1]),
        false,
        Class::Runtime,
        "the sum is not defined for dtype bool",
    );
}

#[test]
fn windows() {
    let x = Of(F32, &[3, 2]);
    refuse(
        ND_ADD,
        &[
            ("x", x),
            ("index", Ints(&[1, 2], &[0, -3])),
            ("updates", Of(F32, &[1])),
        ],
        Class::Index,
        "index[0, 1] = -3: index -3 is out of bounds for dimension 1 with size 2",
    );
    refuse(
        ND_ADD,
        &[
            ("x", x),
            ("index", Ints(&[1, 1], &[0])),
            ("updates", Of(DType::F64, &[1, 2])),
        ],
        Class::Type,
        "updates has dtype float64: it must be x's dtype, float32",
    );
    refuse(
        ND_ADD,
        &[
            ("x", x),
            ("index", Ints(&[1, 3], &[0; 3])),
            ("updates", Of(F32, &[1])),
        ],
        Class::Value,
        "index has shape [1, 3]: its last dimension must be from 0 to 2: a tuple has an entry for each of the first axes of [3, 2]",
    );
    refuse(
        ND_ADD,
        &[
            ("x", x),
            ("index", Ints(&[1, 1], &[0])),
            ("updates", Of(F32, &[2])),
        ],
        Class::Value,
        "updates has shape [2]: it must be index.shape[:-1] and the shape behind the axes that a tuple names, [1, 2]",
    );
    refuse(
        ND,
        &[
            ("index", Ints(&[1, 1], &[4])),
            ("updates", Of(F32, &[1])),
            ("shape", List(&[4])),
        ],
        Class::Index,
        "index[0, 0] = 4: index 4 is out of bounds for dimension 0 with size 4",
    );
    refuse(
        ND,
        &[
            ("index", Ints(&[1, 1], &[0])),
            ("updates", Of(F32, &[1])),
            ("shape", List(&[-1])),
        ],
        Class::Value,
        "shape[0] = -1: it must be at least 0",
    );
    refuse(
        "paddle.gather_nd",
        &[("x", x), ("index", Ints(&[1, 1], &[3]))],
        Class::Value,
        "index[0, 0] = 3: index 3 is out of bounds for dimension 0 with size 3",
    );
}

#[track_caller]
fn refuse_put(indices: Arg, values: Arg, axis: i64, broadcast: bool, class: Class, message: &str) {
    for include_self in [true, false] {
        for reduce in ["assign", "add", "mean", "amax"] {
            let arguments = [
                ("arr", Of(F32, &[2, 3])),
                ("indices", indices),
                ("values", values),
                ("axis", Int(axis)),
                ("reduce", Word(reduce)),
                ("include_self", Bool(include_self)),
                ("broadcast", Bool(broadcast)),
            ];
            refuse(PUT, &arguments, class, message);
        }
    }
}

#[test]
fn elements() {
    let row = Of(F32, &[1, 3]);
    for (broadcast, class) in [(true, Class::Index), (false, Class::Runtime)] {
        refuse_put(
            Ints(&[1, 3], &[0, 2, 5]),
            row,
            0,
            broadcast,
            class,
            "indices[0, 1] = 2: index 2 is out of bounds for dimension 0 with size 2",
        );
        refuse_put(
            Ints(&[1, 3], &[0, -3, -4]),
            row,
            0,
            broadcast,
            Class::Index,
            "indices[0, 1] = -3: index -3 is out of bounds for dimension 0 with size 2",
        );
        refuse_put(
            Ints(&[1, 3], &[0; 3]),
            row,
            2,
            broadcast,
            Class::Value,
            "axis = 2: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
        );
        refuse_put(
            Ints(&[3], &[0; 3]),
            row,
            0,
            broadcast,
            Class::Value,
            "indices has shape [3]: `indices` and `arr` must have the same number of dimensions, 2",
        );
        refuse_put(
            Of(DType::U8, &[1, 3]),
            row,
            0,
            broadcast,
            Class::Type,
            "indices has dtype uint8: it must be int32 or int64",
        );
        refuse_put(
            Ints(&[1, 3], &[0; 3]),
            Of(DType::F64, &[1, 3]),
            0,
            broadcast,
            Class::Value,
            "values has dtype float64: it must be arr's dtype, float32",
        );
    }
    // PaddlePaddle writes beyond the row here, and beyond the tensor.
    refuse_put(
        Ints(&[3, 1], &[0; 3]),
        Of(F32, &[3, 1]),
        1,
        true,
        Class::Value,
        "indices has shape [3, 1]: it must fit [2, 3] apart from dimension 1",
    );
    refuse_put(
        Ints(&[3, 1], &[0; 3]),
        Of(F32, &[3, 1]),
        1,
        false,
        Class::Runtime,
        "indices has shape [3, 1]: it must be no larger than arr, [2, 3], apart from dimension 1, and than values, [3, 1]",
    );
    refuse_put(
        Ints(&[1, 3], &[0; 3]),
        Of(F32, &[2, 3]),
        0,
        true,
        Class::Value,
        "values has shape [2, 3]: it must broadcast to [1, 3]",
    );
    refuse_put(
        Ints(&[1, 3], &[0; 3]),
        Of(F32, &[3]),
        0,
        false,
        Class::Value,
        "values has shape [3]: `indices` and `values` must have the same number of dimensions, 2",
    );
    refuse(
        PUT,
        &[
            ("arr", Of(F32, &[2])),
            ("indices", Ints(&[1], &[0])),
            ("values", Of(F32, &[1])),
            ("axis", Int(0)),
            ("reduce", Word("sum")),
        ],
        Class::Value,
        "reduce = sum: it must be one of assign, add, mul, multiply, mean, amax, amin",
    );
    for (broadcast, class, message) in [
        (
            true,
            Class::Value,
            "it must broadcast with arr, [2, 3], apart from dimension 1",
        ),
        (
            false,
            Class::Runtime,
            "it must be no larger than arr, [2, 3], apart from dimension 1",
        ),
    ] {
        refuse(
            TAKE,
            &[
                ("arr", Of(F32, &[2, 3])),
                ("indices", Ints(&[3, 1], &[0; 3])),
                ("axis", Int(1)),
                ("broadcast", Bool(broadcast)),
            ],
            class,
            &format!("indices has shape [3, 1]: {message}"),
        );
    }
    // PaddlePaddle gives what happens to be in memory.
    refuse(
        TAKE,
        &[
            ("arr", Of(F32, &[2, 3])),
            ("indices", Of(DType::U8, &[2, 3])),
            ("axis", Int(0)),
        ],
        Class::Type,
        "indices has dtype uint8: it must be int32 or int64",
    );
    refuse(
        TAKE,
        &[
            ("arr", Of(F32, &[0, 3])),
            ("indices", Ints(&[1, 3], &[0; 3])),
            ("axis", Int(0)),
        ],
        Class::Index,
        "indices[0, 0] = 0: index 0 is out of bounds for dimension 0 with size 0",
    );
}

#[test]
fn slices() {
    let x = Of(F32, &[2, 3]);
    refuse(
        "paddle.index_add",
        &[
            ("x", x),
            ("index", Ints(&[1], &[3])),
            ("axis", Int(1)),
            ("value", Of(F32, &[2, 1])),
        ],
        Class::Value,
        "index[0] = 3: index 3 is out of bounds for dimension 1 with size 3",
    );
    refuse(
        "paddle.index_add",
        &[
            ("x", x),
            ("index", Ints(&[1], &[0])),
            ("axis", Int(-3)),
            ("value", Of(F32, &[2, 1])),
        ],
        Class::Index,
        "axis = -3: Dimension out of range (expected to be in range of [-2, 1], but got -3)",
    );
    refuse(
        "paddle.index_add",
        &[
            ("x", x),
            ("index", Ints(&[2], &[0, 1])),
            ("axis", Int(0)),
            ("value", Of(F32, &[1, 3])),
        ],
        Class::Value,
        "value has shape [1, 3]: it must be x's shape, but as long as index along axis 0: [2, 3]",
    );
    // PaddlePaddle writes there.
    for (value, index) in BEYOND_2 {
        refuse(
            "paddle.index_fill",
            &[
                ("x", x),
                ("index", Ints(&[1], index)),
                ("axis", Int(0)),
                ("value", Int(7)),
            ],
            Class::Index,
            &format!(
                "index[0] = {value}: index {value} is out of bounds for dimension 0 with size 2"
            ),
        );
    }
    refuse(
        "paddle.index_fill",
        &[
            ("x", x),
            ("index", Ints(&[], &[0])),
            ("axis", Int(0)),
            ("value", Int(7)),
        ],
        Class::Value,
        "index has shape []: it must have exactly one dimension",
    );
    refuse(
        "paddle.index_fill",
        &[
            ("x", x),
            ("index", Ints(&[1], &[0])),
            ("axis", Int(2)),
            ("value", Int(7)),
        ],
        Class::Value,
        "axis = 2: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    );
    refuse(
        "paddle.gather",
        &[("x", x), ("index", Ints(&[1], &[2]))],
        Class::Index,
        "index[0] = 2: index 2 is out of bounds for dimension 0 with size 2",
    );
    // PaddlePaddle reads outside.
    refuse(
        "paddle.gather",
        &[("x", x), ("index", Ints(&[1], &[0])), ("axis", Int(-3))],
        Class::Index,
        "axis = -3: Dimension out of range (expected to be in range of [-2, 1], but got -3)",
    );
}

#[test]
fn segments() {
    const SUM: &str = "paddle.geometric.segment_sum";
    let data = Of(F32, &[3, 2]);
    refuse(
        SUM,
        &[("data", data), ("segment_ids", Ints(&[3], &[0, 2, 1]))],
        Class::Value,
        "segment_ids[2] = 1: The segment ids should be sorted: each must be at least the one before",
    );
    refuse(
        SUM,
        &[("data", data), ("segment_ids", Ints(&[3], &[-1, 0, 0]))],
        Class::Index,
        "segment_ids[0] = -1: index -1 is out of bounds for dimension 0 with size 1",
    );
    refuse(
        SUM,
        &[("data", data), ("segment_ids", Ints(&[3], &[-2, -1, -1]))],
        Class::Value,
        "segment_ids[2] = -1: Segment ids must be >= 0",
    );
    refuse(
        SUM,
        &[("data", data), ("segment_ids", Ints(&[2], &[0, 0]))],
        Class::Value,
        "segment_ids has shape [2]: it must have as many elements as data has rows, 3",
    );
    refuse(
        SUM,
        &[("data", data), ("segment_ids", Ints(&[1, 3], &[0; 3]))],
        Class::Value,
        "segment_ids has shape [1, 3]: it must be 1-d, or all of its other dimensions must be 1",
    );
    refuse(
        SUM,
        &[
            ("data", Of(DType::Bool, &[1])),
            ("segment_ids", Ints(&[1], &[0])),
        ],
        Class::Runtime,
        "the sum is not defined for dtype bool",
    );
}
