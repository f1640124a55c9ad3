//! `openvino.slice_scatter`: arguments that do not fit, and the ends of the integers.

use crate::naive::openvino::selected;
use crate::naive::{self, Array};
use crate::support::ways::{call, made};
use crate::support::{INTEGERS, Strided};
use crate::{counted, ints, refuses, text};
use strew::{Class, DType, Value};

type Lists<'a> = (&'a [i64], &'a [i64], &'a [i64], Option<&'a [i64]>);

#[track_caller]
fn refuse(data: &[usize], updates: &[usize], lists: Lists<'_>, message: &str) {
    let (data, updates) = (counted(DType::I16, data), counted(DType::I16, updates));
    let mut values = vec![
        ("data", data.input()),
        ("updates", updates.input()),
        ("start", Value::Integers(lists.0.to_vec().into())),
        ("stop", Value::Integers(lists.1.to_vec().into())),
        ("step", Value::Integers(lists.2.to_vec().into())),
    ];
    if let Some(axes) = lists.3 {
        values.push(("axes", Value::Integers(axes.to_vec().into())));
    }
    let message = format!("openvino.slice_scatter: {message}");
    refuses("openvino.slice_scatter", values, Class::Value, &message);
}

#[test]
fn ranks_and_lengths() {
    refuse(
        &[],
        &[],
        (&[], &[], &[], None),
        "data has shape []: it must have at least one dimension",
    );
    refuse(
        &[3],
        &[],
        (&[], &[], &[], None),
        "updates has shape []: it must have data's 1 dimensions",
    );
    refuse(
        &[3],
        &[1, 1],
        (&[0], &[1], &[1], None),
        "updates has shape [1, 1]: it must have data's 1 dimensions",
    );
    let most = "it must have at most as many values as data has dimensions, 1";
    refuse(
        &[3],
        &[1],
        (&[0, 0], &[1], &[1], None),
        &format!("start has shape [2]: {most}"),
    );
    refuse(
        &[3],
        &[1],
        (&[0], &[1, 1], &[1], None),
        &format!("stop has shape [2]: {most}"),
    );
    refuse(
        &[3],
        &[1],
        (&[0], &[1], &[1, 1], None),
        &format!("step has shape [2]: {most}"),
    );
    refuse(
        &[3],
        &[1],
        (&[0], &[1], &[1], Some(&[0, 0])),
        &format!("axes has shape [2]: {most}"),
    );
    let same = "it must have as many values as start, 1";
    refuse(
        &[3],
        &[1],
        (&[0], &[], &[1], None),
        &format!("stop has shape [0]: {same}"),
    );
    refuse(
        &[3],
        &[1],
        (&[0], &[1], &[], None),
        &format!("step has shape [0]: {same}"),
    );
    refuse(
        &[3],
        &[1],
        (&[0], &[1], &[1], Some(&[])),
        &format!("axes has shape [0]: {same}"),
    );
}

#[test]
fn axes_and_steps() {
    for axis in [2, -3, i64::MIN, i64::MAX] {
        refuse(
            &[3, 3],
            &[1, 3],
            (&[0], &[1], &[1], Some(&[axis])),
            &format!(
                "axes[0] = {axis}: Dimension out of range (expected to be in range of [-2, 1], but got {axis})"
            ),
        );
    }
    for twice in [[1, 1], [0, -2], [-1, 1]] {
        refuse(
            &[3, 3],
            &[1, 1],
            (&[0, 0], &[1, 1], &[1, 1], Some(&twice)),
            &format!(
                "axes[1] = {}: it names an axis that was named before",
                twice[1]
            ),
        );
    }
    refuse(
        &[3, 3],
        &[1, 1],
        (&[0, 0], &[1, 1], &[1, 0], None),
        "step[1] = 0: it must not be 0",
    );
}

#[test]
fn shapes() {
    for updates in [&[1][..], &[2], &[4], &[0]] {
        refuse(
            &[5],
            updates,
            (&[0], &[3], &[1], None),
            &format!(
                "updates has shape {updates:?}: it must be the slice's shape, [3]; nothing is broadcast"
            ),
        );
    }
    // As many elements in another shape.
    refuse(
        &[4, 4],
        &[1, 4],
        (&[0, 0], &[2, 2], &[1, 1], None),
        "updates has shape [1, 4]: it must be the slice's shape, [2, 2]; nothing is broadcast",
    );
}

#[test]
fn dtypes_and_kinds() {
    let name = "openvino.slice_scatter";
    let data = counted(DType::F32, &[3]);
    let one = ints(DType::U8, &[1], &[1]);
    for dtype in DType::ALL.into_iter().filter(|&t| t != DType::F32) {
        let updates = counted(dtype, &[1]);
        let values = vec![
            ("data", data.input()),
            ("updates", updates.input()),
            ("start", one.input()),
            ("stop", one.input()),
            ("step", one.input()),
        ];
        let message =
            format!("{name}: updates has dtype {dtype}: it must be data's dtype, float32");
        refuses(name, values, Class::Type, &message);
    }
    for dtype in [
        DType::Bool,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::C64,
        DType::C128,
    ] {
        let wrong = counted(dtype, &[1]);
        for argument in ["start", "stop", "step", "axes"] {
            let mut values = vec![("data", data.input()), ("updates", data.input())];
            for list in ["start", "stop", "step", "axes"] {
                values.push((
                    list,
                    if list == argument {
                        wrong.input()
                    } else {
                        one.input()
                    },
                ));
            }
            let message =
                format!("{name}: {argument} has dtype {dtype}: it must be an integer type");
            refuses(name, values, Class::Type, &message);
        }
    }
    let scalar = ints(DType::I32, &[], &[1]);
    let values = vec![
        ("data", data.input()),
        ("updates", data.input()),
        ("start", scalar.input()),
        ("stop", one.input()),
        ("step", one.input()),
    ];
    refuses(
        name,
        values,
        Class::Value,
        &format!("{name}: start has shape []: it must have exactly one dimension"),
    );
    let values = vec![
        ("data", data.input()),
        ("updates", data.input()),
        ("start", text("0")),
    ];
    refuses(
        name,
        values,
        Class::Type,
        &format!("{name}: start must be a list of integers or a tensor of them, not a word"),
    );
}

/// Every integer type's ends as start, stop and step, against walking the slice.
#[test]
fn the_ends_of_the_integers() {
    for dtype in INTEGERS {
        let (low, high) = naive::number::range(dtype);
        let most = i128::from(i64::MAX);
        let mut values: Vec<i64> = [
            low,
            low + 1,
            -6,
            -5,
            -2,
            -1,
            0,
            1,
            2,
            4,
            5,
            6,
            high - 1,
            high,
        ]
        .into_iter()
        .filter(|v| (low..=high).contains(v))
        .map(|v| v.min(most) as i64)
        .collect();
        values.dedup();
        for size in [0, 1, 5] {
            let data = counted(DType::I8, &[size]);
            for &start in &values {
                for &stop in &values {
                    for &step in values.iter().filter(|&&s| s != 0) {
                        check(dtype, &data, size, start, stop, step);
                    }
                }
            }
        }
    }
}

fn check(dtype: DType, data: &Strided, size: usize, start: i64, stop: i64, step: i64) {
    let count = selected(size, start, stop, step).len();
    let updates = Array::of_ints(DType::I8, &[count], &vec![77; count]);
    let expected =
        naive::openvino::slice_scatter(&data.read(), &updates, &[start], &[stop], &[step], None);
    let updates = Strided::plain(&updates);
    let tensor = |v: i64| {
        let mut array = Array::of_ints(dtype, &[1], &[v]);
        if dtype == DType::U64 && v == i64::MAX {
            array.data[0] = u64::MAX.into();
        }
        Strided::plain(&array)
    };
    let (start_, stop_, step_) = (tensor(start), tensor(stop), tensor(step));
    let values = vec![
        ("data", data.input()),
        ("updates", updates.input()),
        ("start", start_.input()),
        ("stop", stop_.input()),
        ("step", step_.input()),
    ];
    let output = call("openvino.slice_scatter", values)
        .unwrap()
        .run()
        .unwrap();
    assert_eq!(
        made(&output),
        expected.array,
        "{dtype} {start}:{stop}:{step} of {size}"
    );
}
