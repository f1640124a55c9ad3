//! PyTorch's other scatters, gathers and slices: arguments that do not fit.

use crate::support::Strided;
use crate::{counted, ints, refuses, text};
use strew::{Class, Complex64, DType, Scalar, Value};

/// A form in place refuses these arguments so, and its destination does not change.
#[track_caller]
pub(crate) fn refuse(
    name: &str,
    mut input: Strided,
    values: Vec<(&'static str, Value<'_>)>,
    class: Class,
    message: &str,
) {
    let before = input.bytes().to_vec();
    {
        let mut all = vec![("input", input.target())];
        all.extend(values);
        refuses(name, all, class, &format!("{name}: {message}"));
    }
    assert_eq!(input.bytes(), before);
}

/// Likewise of a form that makes a new tensor.
#[track_caller]
pub(crate) fn refuse_new(
    name: &str,
    input: &Strided,
    values: Vec<(&'static str, Value<'_>)>,
    class: Class,
    message: &str,
) {
    let mut all = vec![("input", input.input())];
    all.extend(values);
    refuses(name, all, class, &format!("{name}: {message}"));
}

pub(crate) fn floats(shape: &[usize]) -> Strided {
    counted(DType::F32, shape)
}

pub(crate) fn longs(values: &[i64]) -> Strided {
    ints(DType::I64, &[values.len()], values)
}

pub(crate) const DIM_0: (&str, Value<'static>) = ("dim", Value::Int(0));

#[test]
fn scatter_wants_a_source_or_a_value() {
    let (index, src) = (longs(&[0]), floats(&[1]));
    let index = || index.input();
    let name = "torch.scatter_";
    refuse(
        name,
        floats(&[2]),
        vec![DIM_0, ("index", index())],
        Class::Type,
        "src is missing: it must be given",
    );
    refuse(
        name,
        floats(&[2]),
        vec![
            DIM_0,
            ("index", index()),
            ("src", src.input()),
            ("value", Value::Int(1)),
        ],
        Class::Type,
        "value must be left out where src is given, not both",
    );
    for (value, shown) in [
        (Scalar::Float(1e39), "1e39"),
        (Scalar::Complex(Complex64::new(1.0, -2.0)), "1.0-2.0j"),
    ] {
        let values = vec![DIM_0, ("index", index()), ("value", Value::Scalar(value))];
        let message =
            format!("value = {shown}: value cannot be converted to type float32 without overflow");
        refuse(name, floats(&[2]), values, Class::Runtime, &message);
    }
}

#[test]
fn scatter_reduces_by_two_words() {
    for word in ["sum", "prod", "", "ADD"] {
        // For an empty index too.
        for index in [longs(&[0]), longs(&[])] {
            let src = floats(&[2]);
            refuse(
                "torch.scatter_",
                floats(&[2]),
                vec![
                    DIM_0,
                    ("index", index.input()),
                    ("src", src.input()),
                    ("reduce", text(word)),
                ],
                Class::Runtime,
                &format!("reduce = {word:?}: reduce argument must be either add or multiply."),
            );
        }
    }
    assert!("sum".parse::<strew::torch::Join>().is_err());
}

#[test]
fn scatter_and_scatter_add_check_shapes_and_types() {
    for name in ["torch.scatter_", "torch.scatter_add_"] {
        let refuse = |input, dim, index: Strided, src: Strided, class, message: &str| {
            let values = vec![
                ("dim", Value::Int(dim)),
                ("index", index.input()),
                ("src", src.input()),
            ];
            refuse(name, input, values, class, message);
        };
        refuse(
            floats(&[2]),
            1,
            longs(&[0]),
            floats(&[1]),
            Class::Index,
            "dim = 1: Dimension out of range (expected to be in range of [-1, 0], but got 1)",
        );
        refuse(
            floats(&[2]),
            0,
            ints(DType::I16, &[1], &[0]),
            floats(&[1]),
            Class::Runtime,
            "index has dtype int16: Expected dtype int32/int64 for index",
        );
        refuse(
            floats(&[2]),
            0,
            longs(&[0]),
            counted(DType::F64, &[1]),
            Class::Runtime,
            "src has dtype float64: Expected self.dtype to be equal to src.dtype, float32",
        );
        refuse(
            floats(&[2, 2]),
            0,
            longs(&[0]),
            floats(&[2, 2]),
            Class::Runtime,
            "index has shape [1]: Index tensor must have the same number of dimensions as self tensor, [2, 2]",
        );
        refuse(
            floats(&[2]),
            0,
            longs(&[0]),
            floats(&[2, 2]),
            Class::Runtime,
            "src has shape [2, 2]: Index tensor must have the same number of dimensions as src tensor, but is [1]",
        );
        refuse(
            floats(&[2]),
            0,
            longs(&[0, 1]),
            floats(&[1]),
            Class::Runtime,
            "index has shape [2]: Expected index [2] to be no larger than self [2] apart from dimension 0 and to be no larger size than src [1]",
        );
        for wrong in [2, -1, i64::MIN, i64::MAX] {
            refuse(
                floats(&[2]),
                0,
                longs(&[0, wrong]),
                floats(&[2]),
                Class::Runtime,
                &format!(
                    "index[1] = {wrong}: index {wrong} is out of bounds for dimension 0 with size 2"
                ),
            );
        }
    }
    let index = ints(DType::I64, &[1, 3], &[0, 0, 0]);
    refuse(
        "torch.scatter_",
        floats(&[2, 2]),
        vec![DIM_0, ("index", index.input()), ("value", Value::Int(1))],
        Class::Runtime,
        "index has shape [1, 3]: Expected index [1, 3] to be no larger than self [2, 2] apart from dimension 0",
    );
}

#[test]
fn gather() {
    let refuse = |input: &[usize], dim, index: Strided, class, message: &str| {
        let values = vec![("dim", Value::Int(dim)), ("index", index.input())];
        refuse_new("torch.gather", &floats(input), values, class, message);
    };
    refuse(
        &[2],
        -2,
        longs(&[0]),
        Class::Index,
        "dim = -2: Dimension out of range (expected to be in range of [-1, 0], but got -2)",
    );
    refuse(
        &[2],
        0,
        ints(DType::U8, &[1], &[0]),
        Class::Runtime,
        "index has dtype uint8: Expected dtype int32/int64 for index",
    );
    refuse(
        &[2, 2],
        0,
        longs(&[0]),
        Class::Runtime,
        "index has shape [1]: Index tensor must have the same number of dimensions as input tensor, [2, 2]",
    );
    refuse(
        &[1, 1],
        1,
        ints(DType::I64, &[2, 2], &[0; 4]),
        Class::Runtime,
        "index has shape [2, 2]: Size does not match at dimension 0 expected index [2, 2] to be no larger than self [1, 1] apart from dimension 1",
    );
    for wrong in [2, -1, i64::MIN] {
        refuse(
            &[2],
            0,
            longs(&[1, wrong]),
            Class::Runtime,
            &format!(
                "index[1] = {wrong}: index {wrong} is out of bounds for dimension 0 with size 2"
            ),
        );
    }
    refuse(
        &[0],
        0,
        longs(&[0]),
        Class::Runtime,
        "index[0] = 0: index 0 is out of bounds for dimension 0 with size 0",
    );
}

#[test]
fn take_along_dim() {
    let refuse = |input: &[usize], dim: Option<i64>, indices: Strided, class, message: &str| {
        let mut values = vec![("indices", indices.input())];
        values.extend(dim.map(|dim| ("dim", Value::Int(dim))));
        refuse_new(
            "torch.take_along_dim",
            &floats(input),
            values,
            class,
            message,
        );
    };
    refuse(
        &[2, 2],
        Some(5),
        longs(&[0]),
        Class::Runtime,
        "indices has shape [1]: torch.take_along_dim(): input and indices should have the same number of dimensions, but got 2 dimensions for input, and 1 dimensions for indices",
    );
    refuse(
        &[2],
        Some(5),
        ints(DType::I32, &[1], &[0]),
        Class::Runtime,
        "indices has dtype int32: torch.take_along_dim(): dtype of indices should be Long",
    );
    refuse(
        &[2],
        Some(5),
        longs(&[0]),
        Class::Index,
        "dim = 5: Dimension out of range (expected to be in range of [-1, 0], but got 5)",
    );
    refuse(
        &[2, 3],
        Some(1),
        ints(DType::I64, &[3, 1], &[0; 3]),
        Class::Runtime,
        "indices has shape [3, 1]: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
    );
    for wrong in [2, -3] {
        refuse(
            &[2],
            Some(0),
            longs(&[wrong]),
            Class::Runtime,
            &format!(
                "indices[0] = {wrong}: index {wrong} is out of bounds for dimension 0 with size 2"
            ),
        );
    }
    refuse(
        &[2, 2],
        None,
        ints(DType::I64, &[1, 1], &[4]),
        Class::Runtime,
        "indices[0, 0] = 4: index 4 is out of bounds for dimension 0 with size 4",
    );
    refuse(
        &[2, 2],
        None,
        ints(DType::I8, &[1], &[0]),
        Class::Runtime,
        "indices has dtype int8: Expected dtype int32/int64 for index",
    );
}

#[test]
fn slices() {
    let refuse = |input: &[usize],
                  src: &[usize],
                  more: Vec<(&'static str, Value<'_>)>,
                  class,
                  message: &str| {
        let src = floats(src);
        let mut values = vec![("src", src.input())];
        values.extend(more);
        refuse_new(
            "torch.slice_scatter",
            &floats(input),
            values,
            class,
            message,
        );
    };
    let int = |name, value| (name, Value::Int(value));
    refuse(
        &[],
        &[],
        vec![],
        Class::Index,
        "input has shape []: slice() cannot be applied to a 0-dim tensor.",
    );
    refuse(
        &[3],
        &[2],
        vec![int("dim", 4), int("step", 0)],
        Class::Index,
        "dim = 4: Dimension out of range (expected to be in range of [-1, 0], but got 4)",
    );
    for step in [0, -1, i64::MIN] {
        refuse(
            &[3],
            &[2],
            vec![int("step", step)],
            Class::Runtime,
            &format!("step = {step}: slice step must be positive"),
        );
    }
    refuse(
        &[3],
        &[1],
        vec![int("start", -2)],
        Class::Runtime,
        "src has shape [1]: expected src to have a size equal to the slice of self, [2]",
    );
    let refuse = |input: &[usize], src: &[usize], index, class, message: &str| {
        let src = floats(src);
        let values = vec![("src", src.input()), int("dim", 0), int("index", index)];
        refuse_new(
            "torch.select_scatter",
            &floats(input),
            values,
            class,
            message,
        );
    };
    refuse(
        &[],
        &[],
        0,
        Class::Index,
        "input has shape []: select() cannot be applied to a 0-dim tensor.",
    );
    for index in [2, -3, i64::MIN, i64::MAX] {
        refuse(
            &[2, 3],
            &[3],
            index,
            Class::Index,
            &format!(
                "index = {index}: select(): index {index} out of range for tensor of size [2, 3] at dimension 0"
            ),
        );
    }
    refuse(
        &[2, 3],
        &[2],
        0,
        Class::Runtime,
        "src has shape [2]: expected src to have a size equal to the slice of self, [3]",
    );
    // A type that input's cannot hold.
    let (input, src) = (floats(&[2]), counted(DType::F64, &[2]));
    refuse_new(
        "torch.slice_scatter",
        &input,
        vec![("src", src.input())],
        Class::Runtime,
        "src has dtype float64: it must be float32 or convert to it without loss",
    );
}

#[test]
fn a_destination_that_shares_memory_is_refused() {
    let mut array = floats(&[3]);
    let index = longs(&[0]);
    let layout = strew::Layout::new(DType::F32, &[3], &[0]).unwrap();
    // SAFETY: every element is the first one of the array.
    let expanded =
        unsafe { strew::DynViewMut::from_raw_parts(array.view_mut().as_mut_ptr(), layout) };
    let values = vec![
        ("input", Value::Target(expanded.unwrap())),
        DIM_0,
        ("index", index.input()),
        ("value", Value::Int(7)),
    ];
    refuses(
        "torch.scatter_",
        values,
        Class::Runtime,
        "torch.scatter_: unsupported operation: input has elements that share memory (an expanded tensor?), so the result would depend on the order of writes; copy one of them first",
    );
    assert_eq!(array.read(), floats(&[3]).read());
}
