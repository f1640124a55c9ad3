//! Destinations that share memory with themselves or with an input.

use crate::{ints, refuses, text};
use strew::{Class, DType, DynView, DynViewMut, Layout, Value};

/// Views over one buffer of 64 floats.
struct Buffer(Vec<f32>);

impl Buffer {
    fn new() -> Self {
        Self((0..64).map(|v| v as f32).collect())
    }

    fn layout(shape: &[usize], strides: &[isize]) -> Layout {
        Layout::new(DType::F32, shape, strides).unwrap()
    }

    /// Floats from `at` on; strides in bytes.
    fn read<'a>(&mut self, at: usize, shape: &[usize], strides: &[isize]) -> DynView<'a> {
        let ptr = self.0[at..].as_ptr().cast();
        // SAFETY: the tests below stay within the 64 floats, which outlive their views.
        unsafe { DynView::from_raw_parts(ptr, Self::layout(shape, strides)).unwrap() }
    }

    fn write<'a>(&mut self, at: usize, shape: &[usize], strides: &[isize]) -> DynViewMut<'a> {
        let ptr = self.0.as_mut_ptr().wrapping_add(at).cast();
        // SAFETY: as above.
        unsafe { DynViewMut::from_raw_parts(ptr, Self::layout(shape, strides)).unwrap() }
    }

    fn is_unchanged(&self) {
        assert_eq!(self.0, Self::new().0);
    }
}

const SELF: &str = "has elements that share memory (an expanded tensor?), so the result would depend on the order of writes; copy one of them first";
const SRC: &str = "so the result would depend on the order of writes; copy one of them first";

#[test]
fn with_itself() {
    for (shape, strides) in [
        (&[3][..], &[0][..]),
        (&[2, 3], &[0, 4]),
        (&[2, 3], &[4, 4]),
        (&[3, 3], &[8, 4]),
    ] {
        let mut buffer = Buffer::new();
        let mut other = Buffer::new();
        let index = vec![0; shape.iter().product()];
        let index = ints(DType::I64, shape, &index);
        let contiguous: Vec<isize> = if shape.len() == 1 {
            vec![4]
        } else {
            vec![12, 4]
        };
        let target = buffer.write(0, shape, strides);
        let values = vec![
            ("input", Value::Target(target)),
            ("dim", Value::Int(0)),
            ("index", index.input()),
            ("src", Value::Tensor(other.read(0, shape, &contiguous))),
            ("reduce", text("sum")),
        ];
        let message = format!("torch.scatter_reduce_: unsupported operation: input {SELF}");
        refuses("torch.scatter_reduce_", values, Class::Runtime, &message);
        buffer.is_unchanged();
    }
    let (mut buffer, mut other) = (Buffer::new(), Buffer::new());
    let index = ints(DType::I64, &[2], &[0, 1]);
    let values = vec![
        ("src", Value::Tensor(other.read(0, &[2, 2], &[8, 4]))),
        ("index", index.input()),
        ("out", Value::Target(buffer.write(0, &[2, 2], &[0, 4]))),
    ];
    let message = format!("torch_scatter.scatter: unsupported operation: out {SELF}");
    refuses("torch_scatter.scatter", values, Class::Runtime, &message);
    let values = vec![
        ("input_x", Value::Target(buffer.write(8, &[2, 2], &[4, 4]))),
        ("indices", index.input()),
        ("updates", Value::Tensor(other.read(0, &[2, 2], &[8, 4]))),
    ];
    let message = format!("mindspore.scatter_mul: unsupported operation: input_x {SELF}");
    refuses("mindspore.scatter_mul", values, Class::Runtime, &message);
    buffer.is_unchanged();
}

#[test]
fn with_updates() {
    // The very same, one element shared, interleaved.
    for (at, strides) in [(0, [4]), (3, [4]), (7, [-4]), (0, [8])] {
        let mut buffer = Buffer::new();
        let index = ints(DType::I32, &[4], &[0, 1, 2, 3]);
        let source = buffer.read(at, &[4], &strides);
        let values = vec![
            ("input_x", Value::Target(buffer.write(1, &[4], &[4]))),
            ("indices", index.input()),
            ("updates", Value::Tensor(source.clone())),
        ];
        let with = format!("shares memory with updates, {SRC}");
        let message = format!("mindspore.scatter_mul: unsupported operation: input_x {with}");
        refuses("mindspore.scatter_mul", values, Class::Runtime, &message);
        let values = vec![
            ("src", Value::Tensor(source)),
            ("index", index.input()),
            ("out", Value::Target(buffer.write(1, &[4], &[4]))),
            ("reduce", text("min")),
        ];
        let with = format!("shares memory with src, {SRC}");
        let message = format!("torch_scatter.scatter: unsupported operation: out {with}");
        refuses("torch_scatter.scatter", values, Class::Runtime, &message);
        buffer.is_unchanged();
    }
}

#[test]
fn with_the_index() {
    let mut words = vec![0i64, 1, 2, 3];
    let before = words.clone();
    let ptr = words.as_mut_ptr().cast::<u8>();
    let layout = Layout::new(DType::I64, &[4], &[8]).unwrap();
    // SAFETY: both views are of the words, which outlive them.
    let (index, target) = unsafe {
        (
            DynView::from_raw_parts(ptr, layout.clone()).unwrap(),
            DynViewMut::from_raw_parts(ptr, layout).unwrap(),
        )
    };
    let src = ints(DType::I64, &[4], &[5, 5, 5, 5]);
    let values = vec![
        ("input", Value::Target(target)),
        ("dim", Value::Int(0)),
        ("index", Value::Tensor(index)),
        ("src", src.input()),
        ("reduce", text("sum")),
    ];
    let message = format!(
        "torch.scatter_reduce_: unsupported operation: input shares memory with index, {SRC}"
    );
    refuses("torch.scatter_reduce_", values, Class::Runtime, &message);
    assert_eq!(words, before);
}

/// Views that only interleave are fine, and so is a result that is new.
#[test]
fn neighbours_are_no_overlap() {
    let mut buffer = Buffer::new();
    let index = ints(DType::I32, &[4], &[0, 1, 2, 3]);
    let even = buffer.write(0, &[4], &[8]);
    let odd = buffer.read(1, &[4], &[8]);
    let cpu = strew::mindspore::Device::Cpu;
    strew::mindspore::scatter_mul_dyn(even, index.view(), odd.clone(), cpu).unwrap();
    assert_eq!(buffer.0[..8], [0.0, 1.0, 6.0, 3.0, 20.0, 5.0, 42.0, 7.0]);
    // One array as input and src at once: the result is a new one.
    let index = ints(DType::I32, &[2], &[0, 0]);
    let out = strew::torch::scatter_reduce_dyn(odd.clone(), 0, index.view(), odd, "sum", true);
    let out = out.unwrap().typed::<f32>().unwrap();
    assert_eq!(out.as_slice(), [5.0, 3.0, 5.0, 7.0]);
}

#[test]
fn of_runs() {
    let mut buffer = Buffer::new();
    let pointers = ints(DType::I64, &[3], &[0, 2, 4]);
    let index = ints(DType::I64, &[4], &[0, 0, 1, 1]);
    for (name, pointing, rows) in [
        ("segment_csr", ("indptr", &pointers), 4),
        ("segment_coo", ("index", &index), 4),
        ("gather_csr", ("indptr", &pointers), 2),
        ("gather_coo", ("index", &index), 2),
    ] {
        let name = format!("torch_scatter.{name}");
        let made = if rows == 4 { 2 } else { 4 };
        for (at, strides, with) in [(1, 4, "shares memory with src"), (9, 0, "")] {
            let values = vec![
                ("src", Value::Tensor(buffer.read(0, &[rows], &[4]))),
                (pointing.0, pointing.1.input()),
                ("out", Value::Target(buffer.write(at, &[made], &[strides]))),
            ];
            let why = match with {
                "" => SELF.to_owned(),
                with => format!("{with}, {SRC}"),
            };
            let message = format!("{name}: unsupported operation: out {why}");
            refuses(&name, values, strew::Class::Runtime, &message);
        }
    }
    buffer.is_unchanged();
}
