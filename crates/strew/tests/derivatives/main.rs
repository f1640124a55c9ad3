//! Derivatives of every operator of the table: what a small step of its arguments does, both ways.

mod calls;
#[path = "../naive/mod.rs"]
mod naive;
#[path = "../support/mod.rs"]
mod support;

use calls::Given::{self, Index, Indices, Int, List, Mask, Moving, Narrow, Number, Word, Yes};
use calls::{Call, families, rows};

use num_complex::Complex64;
use std::collections::BTreeSet;
use strew::{
    Arguments, DType, DynTensor, DynView, OPERATORS, Operator, Scalar, TensorView, TensorViewMut,
    Value, find, grad,
};
use support::Random;
use support::derivatives::gradient;

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
