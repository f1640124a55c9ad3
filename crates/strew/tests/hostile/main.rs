//! Hostile input: every class of error, with its message, and a destination that is byte for byte
//! as it was.

#[path = "../naive/mod.rs"]
mod naive;
#[path = "../support/mod.rs"]
mod support;

mod canonical;
mod changing;
mod composite;
mod empties;
mod frameworks;
mod grad;
mod indices;
mod mindspore;
mod mxnet;
mod openvino;
mod overlap;
mod paddle;
mod segment;
mod segment_reduce;
mod sizes;
mod torch;
mod torch_family;
mod torch_index;
mod torch_scatter;
mod views;

use naive::Array;
use strew::{Class, DType, Error, Value};
use support::Strided;
use support::ways::call;

/// Checks that an error is of this class and says exactly this.
#[track_caller]
fn says(error: &Error, class: Class, message: &str) {
    assert_eq!(error.to_string(), message);
    assert_eq!(error.class(), class, "{message}");
}

/// Checks that an operator refuses these arguments so.
#[track_caller]
fn refuses(name: &str, values: Vec<(&str, Value<'_>)>, class: Class, message: &str) {
    match call(name, values).and_then(strew::Call::run) {
        Ok(_) => panic!("{name} took what should be refused: {message}"),
        Err(error) => says(&error, class, message),
    }
}

/// An array of a shape, with elements 1, 2, 3, ...
fn counted(dtype: DType, shape: &[usize]) -> Strided {
    let count: usize = shape.iter().product();
    let values: Vec<i64> = (1..=count as i64).map(|v| v % 100).collect();
    let mut array = Array::of_ints(DType::I8, shape, &values);
    if dtype.is_float() || dtype.is_complex() {
        array = Array::filled(
            dtype,
            shape,
            naive::number::write(dtype, naive::Num::one(dtype)),
        );
    }
    array.dtype = dtype;
    Strided::plain(&array)
}

/// An array of integers.
fn ints(dtype: DType, shape: &[usize], values: &[i64]) -> Strided {
    Strided::plain(&Array::of_ints(dtype, shape, values))
}

fn text(word: &str) -> Value<'_> {
    Value::Text(word.into())
}
