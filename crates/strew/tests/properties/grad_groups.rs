//! Derivatives of functions of groups and of segments: what a small step does, both ways, on any number of threads.

use crate::support::Random;
use crate::support::ways::with_threads;
use strew::grad;
use strew::{DynTensor, DynView, Element, Scalar, Tensor, TensorView, torch, torch_scatter};

/// A function, its Jacobian-vector product and its vector-Jacobian product, each given the argument and the result.
struct Case<'c> {
    name: String,
    shape: Vec<usize>,
    run: &'c dyn Fn(&DynView<'_>) -> DynTensor,
    jvp: &'c dyn Fn(&DynView<'_>, &DynView<'_>, &DynView<'_>) -> DynTensor,
    vjp: &'c dyn Fn(&DynView<'_>, &DynView<'_>, &DynView<'_>) -> DynTensor,
}

fn view<'a, T: Element>(values: &'a [T], shape: &[usize]) -> DynView<'a> {
    TensorView::from_slice(values, shape).unwrap().into_dyn()
}

fn list(tensor: DynTensor) -> (Vec<usize>, Vec<f64>) {
    let tensor: Tensor<f64> = tensor.typed().unwrap();
    (tensor.shape().to_vec(), tensor.as_slice().to_vec())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn numbers(random: &mut Random, count: usize) -> Vec<f64> {
    let one = |_| (random.next() % 2_000_001) as f64 / 1e6 - 1.0;
    (0..count).map(one).collect()
}

impl Case<'_> {
    fn check(&self, random: &mut Random) {
        let count = self.shape.iter().product();
        // No two are so close that a step could change their order.
        let spread = |at: usize| at as f64 / count as f64 * 6.0 - 3.0;
        let x: Vec<f64> = random.shuffled(count).into_iter().map(spread).collect();
        let t = numbers(random, count);
        let at = |x: &[f64]| list((self.run)(&view(x, &self.shape)));
        let (cells, y) = at(&x);
        let g = numbers(random, y.len());

        let arguments = (view(&x, &self.shape), view(&y, &cells));
        let jvp = || {
            list((self.jvp)(
                &view(&t, &self.shape),
                &arguments.0,
                &arguments.1,
            ))
        };
        let vjp = || list((self.vjp)(&view(&g, &cells), &arguments.0, &arguments.1));
        let (forth, back) = (jvp(), vjp());
        assert_eq!(forth.0, cells, "{}", self.name);
        assert_eq!(back.0, self.shape, "{}", self.name);
        let (forth, back) = (forth.1, back.1);

        let step = 1e-6;
        let moved = |by: f64| -> Vec<f64> {
            let x: Vec<f64> = x.iter().zip(&t).map(|(x, t)| x + by * t).collect();
            at(&x).1
        };
        let (up, down) = (moved(step), moved(-step));
        for (k, tangent) in forth.iter().enumerate() {
            let found = (up[k] - down[k]) / (2.0 * step);
            let near = (found - tangent).abs() <= 1e-6 * (1.0 + tangent.abs());
            assert!(near, "{}: {k} moves by {found}, not {tangent}", self.name);
        }
        let (one, other) = (dot(&g, &forth), dot(&back, &t));
        let near = (one - other).abs() <= 1e-9 * (1.0 + one.abs());
        assert!(near, "{}: {one} is not {other}", self.name);

        for threads in [1, 2, 3, 8] {
            let again = with_threads(threads, || (jvp().1, vjp().1));
            assert_eq!(again, (forth.clone(), back.clone()), "{}", self.name);
        }
    }
}

/// The shape of a source, an index and its shape, `dim`, and the number of groups.
type Grouped = (Vec<usize>, Vec<i64>, Vec<usize>, i64, i64);

fn grouped(random: &mut Random) -> Vec<Grouped> {
    [
        (vec![7], vec![7], 0, 3),
        (vec![6, 3], vec![6], 0, 4),
        (vec![3, 6], vec![6], 1, 4),
        (vec![3, 4], vec![3, 4], 0, 3),
        (vec![2, 5, 2], vec![2, 5], 1, 3),
        (vec![900, 30], vec![900], 0, 50),
        (vec![200, 70], vec![200, 70], 1, 9),
    ]
    .into_iter()
    .map(
        |(shape, index, dim, groups): (Vec<usize>, Vec<usize>, i64, usize)| {
            let count = index.iter().product::<usize>();
            let values = (0..count).map(|_| random.below(groups) as i64).collect();
            (shape, values, index, dim, groups as i64 + 1)
        },
    )
    .collect()
}

#[test]
fn of_functions_of_groups() {
    let mut random = Random(7);
    for (shape, values, index_shape, dim, size) in grouped(&mut random) {
        let index = || view(&values, &index_shape);
        let name = |what: &str| format!("{what} of {shape:?} by {index_shape:?} along {dim}");
        let made = |output: strew::Result<strew::scatter::Output>| output.unwrap().tensor.unwrap();
        for unbiased in [true, false] {
            Case {
                name: name("std"),
                shape: shape.clone(),
                run: &|x| {
                    let (x, index) = (x.clone(), index());
                    made(torch_scatter::scatter_std_dyn(
                        x,
                        index,
                        dim,
                        None,
                        Some(size),
                        unbiased,
                    ))
                },
                jvp: &|t, x, y| {
                    grad::torch_scatter::scatter_std_jvp_dyn(t, x, &index(), y, dim, unbiased)
                        .unwrap()
                },
                vjp: &|g, x, y| {
                    grad::torch_scatter::scatter_std_vjp_dyn(g, x, &index(), y, dim, unbiased)
                        .unwrap()
                },
            }
            .check_where_smooth(&mut random);
        }
        for eps in [0.0, 1e-12, 0.7] {
            Case {
                name: name("logsumexp"),
                shape: shape.clone(),
                run: &|x| {
                    let (x, index) = (x.clone(), index());
                    made(torch_scatter::scatter_logsumexp_dyn(
                        x,
                        index,
                        dim,
                        None,
                        Some(size),
                        eps,
                    ))
                },
                jvp: &|t, x, _| {
                    grad::torch_scatter::scatter_logsumexp_jvp_dyn(
                        t,
                        x,
                        &index(),
                        dim,
                        Some(size),
                        eps,
                    )
                    .unwrap()
                },
                vjp: &|g, x, _| {
                    grad::torch_scatter::scatter_logsumexp_vjp_dyn(g, x, &index(), dim, eps)
                        .unwrap()
                },
            }
            .check(&mut random);
            Case {
                name: name("log_softmax"),
                shape: shape.clone(),
                run: &|x| {
                    made(torch_scatter::scatter_log_softmax_dyn(
                        x.clone(),
                        index(),
                        dim,
                        None,
                        eps,
                    ))
                },
                jvp: &|t, x, _| {
                    grad::torch_scatter::scatter_log_softmax_jvp_dyn(t, x, &index(), dim, eps)
                        .unwrap()
                },
                vjp: &|g, x, _| {
                    grad::torch_scatter::scatter_log_softmax_vjp_dyn(g, x, &index(), dim, eps)
                        .unwrap()
                },
            }
            .check(&mut random);
        }
        let softmax = |g: &DynView<'_>, y: &DynView<'_>| {
            grad::torch_scatter::scatter_softmax_vjp_dyn(g, &index(), y, dim).unwrap()
        };
        Case {
            name: name("softmax"),
            shape: shape.clone(),
            run: &|x| {
                made(torch_scatter::scatter_softmax_dyn(
                    x.clone(),
                    index(),
                    dim,
                    None,
                ))
            },
            jvp: &|t, _, y| softmax(t, y),
            vjp: &|g, _, y| softmax(g, y),
        }
        .check(&mut random);
    }
}

impl Case<'_> {
    /// A group of one element has no deviation, nor a derivative that a step could show.
    fn check_where_smooth(&self, random: &mut Random) {
        let count = self.shape.iter().product();
        let x = numbers(random, count);
        let (_, y) = list((self.run)(&view(&x, &self.shape)));
        if y.iter().all(|&y| y == 0.0 || y > 1e-3) {
            self.check(random);
        }
    }
}

/// Pointers to reduce `many` rows by: in order, or overlapping, or with rows left out.
fn pointers(random: &mut Random, many: usize, kind: usize) -> Vec<i64> {
    let mut all: Vec<i64> = (0..6).map(|_| random.below(many + 1) as i64).collect();
    if kind > 0 {
        all.sort_unstable();
    }
    if kind == 2 {
        (all[0], all[5]) = (0, many as i64);
    }
    all
}

#[test]
fn of_segments() {
    let mut random = Random(11);
    for shape in [vec![9], vec![8, 3], vec![400, 20]] {
        let many = shape[0];
        let made = |output: strew::Result<strew::scatter::Output>| output.unwrap().tensor.unwrap();
        for reduce in ["sum", "mean", "min", "max"] {
            let mut index: Vec<i64> = (0..many).map(|_| random.below(5) as i64).collect();
            index.sort_unstable();
            let index = || view(&index, &[many]);
            Case {
                name: format!("segment_coo, {reduce}, of {shape:?}"),
                shape: shape.clone(),
                run: &|x| {
                    made(torch_scatter::segment_coo_dyn(
                        x.clone(),
                        &index(),
                        None,
                        Some(7),
                        reduce,
                        false,
                    ))
                },
                jvp: &|t, x, _| {
                    grad::torch_scatter::segment_coo_jvp_dyn(t, x, &index(), Some(7), reduce)
                        .unwrap()
                },
                vjp: &|g, x, _| {
                    grad::torch_scatter::segment_coo_vjp_dyn(g, x, &index(), reduce).unwrap()
                },
            }
            .check(&mut random);
            for kind in 0..3 {
                let indptr = pointers(&mut random, many, kind);
                let indptr = || view(&indptr, &[6]);
                Case {
                    name: format!("segment_csr, {reduce}, of {shape:?} by {:?}", indptr()),
                    shape: shape.clone(),
                    run: &|x| {
                        made(torch_scatter::segment_csr_dyn(
                            x.clone(),
                            &indptr(),
                            None,
                            reduce,
                            false,
                        ))
                    },
                    jvp: &|t, x, _| {
                        grad::torch_scatter::segment_csr_jvp_dyn(t, x, &indptr(), reduce).unwrap()
                    },
                    vjp: &|g, x, _| {
                        grad::torch_scatter::segment_csr_vjp_dyn(g, x, &indptr(), reduce).unwrap()
                    },
                }
                .check(&mut random);
            }
        }
    }
}

#[test]
fn of_gathers() {
    let mut random = Random(13);
    for (shape, spread) in [(vec![5], 9), (vec![5, 3], 12), (vec![5, 40], 900)] {
        let made = |output: strew::Result<strew::scatter::Output>| output.unwrap().tensor.unwrap();
        let mut index: Vec<i64> = (0..spread).map(|_| random.below(5) as i64).collect();
        index.sort_unstable();
        let index = || view(&index, &[spread]);
        let run = |x: &DynView<'_>| made(torch_scatter::gather_coo_dyn(x.clone(), &index(), None));
        Case {
            name: format!("gather_coo of {shape:?}"),
            shape: shape.clone(),
            run: &run,
            jvp: &|t, _, _| run(t),
            vjp: &|g, _, _| grad::torch_scatter::gather_coo_vjp_dyn(g, &index(), 5).unwrap(),
        }
        .check(&mut random);
        for kind in 0..3 {
            let mut indptr = pointers(&mut random, spread, kind);
            indptr[5] = spread as i64;
            let indptr = || view(&indptr, &[6]);
            let run =
                |x: &DynView<'_>| made(torch_scatter::gather_csr_dyn(x.clone(), &indptr(), None));
            Case {
                name: format!("gather_csr of {shape:?} by {:?}", indptr()),
                shape: shape.clone(),
                run: &run,
                jvp: &|t, _, _| run(t),
                vjp: &|g, _, _| grad::torch_scatter::gather_csr_vjp_dyn(g, &indptr()).unwrap(),
            }
            .check(&mut random);
        }
    }
}

#[test]
fn of_segment_reduce() {
    let mut random = Random(17);
    for (shape, axis) in [
        (vec![9], 0),
        (vec![8, 3], 0),
        (vec![3, 8], 1),
        (vec![300, 50], 0),
    ] {
        let many = shape[axis];
        let lines: usize = shape[..axis].iter().product();
        let offsets: Vec<i64> = (0..lines)
            .flat_map(|_| pointers(&mut random, many, 1))
            .collect();
        let mut sizes = shape[..axis].to_vec();
        sizes.push(6);
        let offsets = || view(&offsets, &sizes);
        for reduce in ["sum", "prod", "mean", "amax", "amin"] {
            for initial in [None, Some(Scalar::Float(0.4567))] {
                let along = axis as i64;
                Case {
                    name: format!("segment_reduce, {reduce} from {initial:?}, of {shape:?}"),
                    shape: shape.clone(),
                    run: &|x| {
                        let (x, offsets) = (x.clone(), Some(offsets()));
                        let made = torch::segment_reduce_dyn(
                            x, reduce, None, offsets, along, false, initial,
                        );
                        let made = made.unwrap().tensor.unwrap();
                        without_nan(made)
                    },
                    jvp: &|t, x, y| {
                        grad::torch::segment_reduce_jvp_dyn(
                            t,
                            x,
                            y,
                            reduce,
                            None,
                            Some(&offsets()),
                            along,
                            false,
                            initial,
                        )
                        .unwrap()
                    },
                    vjp: &|g, x, y| {
                        grad::torch::segment_reduce_vjp_dyn(
                            g,
                            x,
                            y,
                            reduce,
                            None,
                            Some(&offsets()),
                            along,
                            false,
                            initial,
                        )
                        .unwrap()
                    },
                }
                .check(&mut random);
            }
        }
    }
}

/// Empty groups are NaN or infinite, and do not move.
fn without_nan(made: DynTensor) -> DynTensor {
    let mut made: Tensor<f64> = made.typed().unwrap();
    for value in made.as_mut_slice() {
        *value = if value.is_finite() { *value } else { 0.0 };
    }
    made.into_dyn()
}
