//! PyTorch's `index_*`, `put` and `masked_scatter`: arguments that do not fit.

use crate::support::{Placement, Strided};
use crate::torch_family::{DIM_0, floats, longs, refuse};
use crate::{counted, ints, text};
use strew::{Class, Complex64, DType, Value};

#[test]
fn index_add_and_index_reduce() {
    for (name, short) in [
        ("torch.index_add_", "index_add"),
        ("torch.index_reduce_", "index_reduce"),
    ] {
        let refuse =
            |input: &[usize], dim, index: Strided, source: Strided, class, message: &str| {
                let mut values = vec![
                    ("dim", Value::Int(dim)),
                    ("index", index.input()),
                    ("source", source.input()),
                ];
                if short == "index_reduce" {
                    values.push(("reduce", text("prod")));
                }
                refuse(name, floats(input), values, class, message);
            };
        refuse(
            &[2],
            3,
            longs(&[0]),
            floats(&[1]),
            Class::Index,
            "dim = 3: Dimension out of range (expected to be in range of [-1, 0], but got 3)",
        );
        refuse(
            &[2],
            0,
            ints(DType::I64, &[1, 1], &[0]),
            floats(&[1]),
            Class::Index,
            &format!(
                "index has shape [1, 1]: {short}_(): Index is supposed to be a vector, but got dim: 2"
            ),
        );
        // For an empty one too.
        for count in 0..2 {
            refuse(
                &[2],
                0,
                ints(DType::I16, &[count], &vec![0; count]),
                floats(&[count]),
                Class::Runtime,
                &format!("index has dtype int16: {short}_(): Expected dtype int32/int64 for index"),
            );
        }
        refuse(
            &[2],
            0,
            longs(&[0]),
            counted(DType::F64, &[1]),
            Class::Runtime,
            &format!(
                "source has dtype float64: {short}_(): self (float32) and source must have the same scalar type"
            ),
        );
        refuse(
            &[2, 2],
            1,
            longs(&[0, 1]),
            floats(&[2]),
            Class::Runtime,
            &format!(
                "source has shape [2]: {short}_(): Indexing dim 1 is out of bounds of the source tensor with dim 1"
            ),
        );
        refuse(
            &[2, 2],
            0,
            longs(&[0, 1]),
            floats(&[3, 2]),
            Class::Runtime,
            &format!(
                "source has shape [3, 2]: {short}_(): Number of indices (2) should be equal to source.size(dim): (3), for dim: 0"
            ),
        );
        for (input, source) in [(&[2, 2][..], &[2, 3][..]), (&[2], &[]), (&[], &[1])] {
            let index = if source.len() == 2 {
                longs(&[0, 1])
            } else {
                longs(&[0])
            };
            refuse(
                input,
                0,
                index,
                floats(source),
                Class::Runtime,
                &format!(
                    "source has shape {source:?}: source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {input:?}"
                ),
            );
        }
        // PyTorch adds to tensors of more dimensions in another way.
        let class = |rank| match (rank, short) {
            (2, "index_add") => Class::Runtime,
            _ => Class::Index,
        };
        for shape in [&[2][..], &[2, 2]] {
            for wrong in [2, -1] {
                refuse(
                    shape,
                    0,
                    longs(&[0, wrong]),
                    floats(shape),
                    class(shape.len()),
                    &format!(
                        "index[1] = {wrong}: index {wrong} is out of bounds for dimension 0 with size 2"
                    ),
                );
            }
        }
    }
}

#[test]
fn what_index_add_and_index_reduce_take_besides() {
    let (index, source) = (longs(&[0]), ints(DType::I8, &[1], &[1]));
    let values = |more| {
        vec![
            DIM_0,
            ("index", index.input()),
            ("source", source.input()),
            more,
        ]
    };
    let input = || ints(DType::I8, &[2], &[1, 2]);
    refuse(
        "torch.index_add_",
        input(),
        values(("alpha", Value::Int(300))),
        Class::Runtime,
        "alpha = 300: value cannot be converted to type int8 without overflow",
    );
    for word in ["sum", "max", ""] {
        refuse(
            "torch.index_reduce_",
            input(),
            values(("reduce", text(word))),
            Class::Runtime,
            &format!(
                "reduce = {word:?}: index_reduce(): Expected reduce to be one of prod, mean, amax or amin"
            ),
        );
    }
    let source = counted(DType::Bool, &[1]);
    refuse(
        "torch.index_reduce_",
        counted(DType::Bool, &[2]),
        vec![
            DIM_0,
            ("index", index.input()),
            ("source", source.input()),
            ("reduce", text("mean")),
        ],
        Class::NotImplemented,
        "mean is not defined for dtype bool",
    );
}

#[test]
fn index_copy() {
    let refuse = |input: &[usize], index: Strided, source: Strided, class, message: &str| {
        let values = vec![DIM_0, ("index", index.input()), ("source", source.input())];
        refuse("torch.index_copy_", floats(input), values, class, message);
    };
    refuse(
        &[2],
        ints(DType::I64, &[1, 1], &[0]),
        floats(&[1]),
        Class::Index,
        "index has shape [1, 1]: index_copy_(): Index should have dimension 1 or 0 (got 2)",
    );
    refuse(
        &[2],
        longs(&[0, 1]),
        floats(&[]),
        Class::Index,
        "source has shape []: index_copy_(): When source is scalar, index should have one element (got 2)",
    );
    refuse(
        &[2, 2],
        longs(&[0, 1]),
        floats(&[2]),
        Class::Index,
        "source has shape [2]: index_copy_(): When source and destination are not scalars, their dimensionality must match. Source dimensionality (1), destination dimensionality (2)",
    );
    refuse(
        &[2],
        ints(DType::I32, &[1], &[0]),
        floats(&[1]),
        Class::Runtime,
        "index has dtype int32: index_copy_(): Expected a long tensor for index",
    );
    refuse(
        &[2],
        longs(&[0]),
        counted(DType::F64, &[1]),
        Class::Runtime,
        "source has dtype float64: index_copy_(): self and source expected to have the same dtype, float32",
    );
    refuse(
        &[2, 2],
        longs(&[0, 1]),
        floats(&[2, 3]),
        Class::Runtime,
        "source has shape [2, 3]: index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: [2] at dimension 0 and source slice shape: [3] at dimension 0.",
    );
    refuse(
        &[2, 2],
        longs(&[0, 1]),
        floats(&[3, 2]),
        Class::Index,
        "source has shape [3, 2]: index_copy_(): Number of indices (2) should be equal to source.size(dim) (3)",
    );
    for wrong in [2, -1] {
        refuse(
            &[2],
            longs(&[0, wrong]),
            floats(&[2]),
            Class::Index,
            &format!(
                "index[1] = {wrong}: index {wrong} is out of bounds for dimension 0 with size 2"
            ),
        );
    }
}

#[test]
fn index_fill() {
    let refuse = |dim, index: Strided, value, class, message: &str| {
        let values = vec![
            ("dim", Value::Int(dim)),
            ("index", index.input()),
            ("value", value),
        ];
        refuse("torch.index_fill_", floats(&[2]), values, class, message);
    };
    // The type comes first, then the kind of number, the axis and the rank.
    refuse(
        5,
        ints(DType::I32, &[1], &[0]),
        Value::Int(1),
        Class::Index,
        "index has dtype int32: index_fill_(): Expected dtype int64 for index",
    );
    refuse(
        5,
        longs(&[0]),
        Value::Scalar(Complex64::new(0.0, 1.0).into()),
        Class::Runtime,
        "value = 0.0+1.0j: index_fill_(): Converting complex Scalar to non-complex type is not supported",
    );
    refuse(
        5,
        ints(DType::I64, &[1, 1], &[0]),
        Value::Int(1),
        Class::Index,
        "dim = 5: Dimension out of range (expected to be in range of [-1, 0], but got 5)",
    );
    refuse(
        0,
        ints(DType::I64, &[1, 1], &[0]),
        Value::Int(1),
        Class::Runtime,
        "index has shape [1, 1]: Index has to be a vector/scalar",
    );
    for wrong in [2, -3, i64::MIN] {
        refuse(
            0,
            longs(&[-2, wrong]),
            Value::Int(1),
            Class::Index,
            &format!(
                "index[1] = {wrong}: index {wrong} is out of bounds for dimension 0 with size 2"
            ),
        );
    }
}

#[test]
fn put() {
    let refuse = |input: Strided, index: Strided, source: Strided, class, message: &str| {
        let values = vec![("index", index.input()), ("source", source.input())];
        refuse("torch.put_", input, values, class, message);
    };
    refuse(
        floats(&[2, 2]),
        ints(DType::I32, &[1], &[0]),
        floats(&[1]),
        Class::Runtime,
        "index has dtype int32: put_(): Expected a long tensor for index",
    );
    refuse(
        floats(&[2, 2]),
        longs(&[0]),
        counted(DType::F64, &[1]),
        Class::Runtime,
        "source has dtype float64: put_(): self and source expected to have the same dtype, float32",
    );
    refuse(
        floats(&[2, 2]),
        longs(&[0, 1]),
        floats(&[1]),
        Class::Index,
        "source has shape [1]: put_(): Expected source and index to have the same number of elements, but got 1 and 2",
    );
    refuse(
        floats(&[0]),
        longs(&[0]),
        floats(&[1]),
        Class::Index,
        "input has shape [0]: put_(): Tried to put elements into an empty tensor",
    );
    for wrong in [4, -5, i64::MIN, i64::MAX] {
        let message = format!(
            "index[1] = {wrong}: index {wrong} is out of bounds for dimension 0 with size 4"
        );
        // Positions in memory that is one row, and in memory that is not.
        let turned = Placement::turned(2);
        let array = floats(&[2, 2]).read();
        for input in [floats(&[2, 2]), Strided::new(&array, &turned)] {
            refuse(
                input,
                longs(&[0, wrong]),
                floats(&[2]),
                Class::Index,
                &message,
            );
        }
    }
}

#[test]
fn masked_scatter() {
    let refuse = |mask: Strided, source: Strided, message: &str| {
        let values = vec![("mask", mask.input()), ("source", source.input())];
        refuse(
            "torch.masked_scatter_",
            floats(&[3]),
            values,
            Class::Runtime,
            message,
        );
    };
    let mask = |shape: &[usize]| counted(DType::Bool, shape);
    refuse(
        longs(&[1, 1, 0]),
        counted(DType::F64, &[3]),
        "source has dtype float64: masked_scatter: expected self and source to have same dtypes, float32",
    );
    refuse(
        longs(&[1, 1, 0]),
        floats(&[3]),
        "mask has dtype int64: masked_scatter_ only supports boolean masks",
    );
    refuse(
        mask(&[2]),
        floats(&[3]),
        "mask has shape [2]: it must broadcast to [3]",
    );
    refuse(
        mask(&[2, 3]),
        floats(&[6]),
        "mask has shape [2, 3]: it must broadcast to [3]",
    );
    refuse(
        mask(&[3]),
        floats(&[2]),
        "source has shape [2]: Number of elements of source < number of ones in mask, 3",
    );
}

#[test]
fn index_put() {
    let refuse =
        |input: Strided, indices: &[Option<&Strided>], values: &Strided, class, message: &str| {
            let indices = indices
                .iter()
                .map(|index| index.map(Strided::view))
                .collect();
            let values = vec![
                ("indices", Value::Tensors(indices)),
                ("values", values.input()),
            ];
            refuse("torch.index_put_", input, values, class, message);
        };
    let (two, three) = (longs(&[0, 1]), longs(&[0, 1, 2]));
    let value = floats(&[]);
    refuse(
        floats(&[3]),
        &[Some(&counted(DType::F32, &[1]))],
        &value,
        Class::Index,
        "indices has dtype float32: tensors used as indices must be long, int, byte or bool tensors",
    );
    refuse(
        floats(&[3]),
        &[Some(&two), Some(&two)],
        &value,
        Class::Index,
        "input has shape [3]: too many indices for tensor of dimension 1 (got 2)",
    );
    refuse(
        floats(&[3]),
        &[None, None],
        &value,
        Class::Index,
        "input has shape [3]: too many indices for tensor of dimension 1 (got 2)",
    );
    refuse(
        floats(&[3]),
        &[Some(&counted(DType::Bool, &[2]))],
        &counted(DType::F64, &[]),
        Class::Index,
        "indices has shape [2]: The shape of the mask [2] at index 0 does not match the shape of the indexed tensor [3] at index 0",
    );
    refuse(
        floats(&[3]),
        &[Some(&counted(DType::Bool, &[]))],
        &value,
        Class::Index,
        "indices has shape []: a mask must have at least one dimension",
    );
    refuse(
        floats(&[3]),
        &[Some(&two)],
        &counted(DType::F64, &[]),
        Class::Runtime,
        "values has dtype float64: Index put requires the source and destination dtypes match, got float32 for the destination",
    );
    refuse(
        floats(&[3, 3]),
        &[Some(&two), Some(&three)],
        &value,
        Class::Index,
        "indices has shape [3]: shape mismatch: indexing tensors could not be broadcast together with shapes [[2], [3]]",
    );
    refuse(
        floats(&[3]),
        &[Some(&two)],
        &floats(&[3]),
        Class::Runtime,
        "values has shape [3]: shape mismatch: value tensor of shape [3] cannot be broadcast to indexing result of shape [2]",
    );
    for wrong in [3, -4] {
        refuse(
            floats(&[2, 3]),
            &[Some(&two), Some(&longs(&[0, wrong]))],
            &value,
            Class::Index,
            &format!(
                "indices[1, 1] = {wrong}: index {wrong} is out of bounds for dimension 1 with size 3"
            ),
        );
    }
}
