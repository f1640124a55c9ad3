//! Derivatives of functions of groups and of segments: what a small step does, both ways, on any number of threads.

use crate::support::Random;
use crate::support::derivatives::{arguments, gradient};
use crate::support::ways::with_threads;
use strew::{DynTensor, DynView, Element, Scalar, Tensor, TensorView, Value, grad};

/// Values of arguments by their names.
type Named<'v> = Vec<(&'static str, Value<'v>)>;

/// An operator, the argument that moves and its shape, and the other arguments.
struct Case<'c> {
    operator: &'static str,
    argument: &'static str,
    shape: Vec<usize>,
    others: &'c dyn Fn() -> Named<'c>,
}

/// Of the argument `src`.
fn src_of<'c>(
    shape: &[usize],
    operator: &'static str,
    others: &'c dyn Fn() -> Named<'c>,
) -> Case<'c> {
    Case {
        operator,
        argument: "src",
        shape: shape.to_vec(),
        others,
    }
}

fn view<'a, T: Element>(values: &'a [T], shape: &[usize]) -> DynView<'a> {
    TensorView::from_slice(values, shape).unwrap().into_dyn()
}

/// The shape and the elements. Empty groups are NaN or infinite, and do not move: they are 0 here.
fn list(tensor: DynTensor) -> (Vec<usize>, Vec<f64>) {
    let tensor: Tensor<f64> = tensor.typed().unwrap();
    let values = tensor.as_slice().iter();
    let values = values.map(|&value| if value.is_finite() { value } else { 0.0 });
    (tensor.shape().to_vec(), values.collect())
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
    fn with<'v>(&self, x: &'v [f64], others: Named<'v>) -> strew::Arguments<'v> {
        let moving = (self.argument, Value::Tensor(view(x, &self.shape)));
        arguments(self.operator, others.into_iter().chain([moving])).unwrap()
    }

    fn run(&self, x: &[f64]) -> (Vec<usize>, Vec<f64>) {
        list(self.with(x, (self.others)()).run().unwrap().tensor.unwrap())
    }

    fn check(&self, random: &mut Random) {
        let what = || {
            format!(
                "{} of {:?} with {:?}",
                self.operator,
                self.shape,
                (self.others)()
            )
        };
        let count = self.shape.iter().product();
        // No two are so close that a step could change their order.
        let spread = |at: usize| at as f64 / count as f64 * 6.0 - 3.0;
        let x: Vec<f64> = random.shuffled(count).into_iter().map(spread).collect();
        let t = numbers(random, count);
        let (cells, y) = self.run(&x);
        let g = numbers(random, y.len());

        let jvp = || {
            let tangents = [(self.argument, view(&t, &self.shape))];
            list(grad::jvp(self.with(&x, (self.others)()), &tangents).unwrap())
        };
        let vjp = || {
            let made = grad::vjp(self.with(&x, (self.others)()), &view(&g, &cells));
            list(gradient(made.unwrap(), self.argument))
        };
        let (forth, back) = (jvp(), vjp());
        assert_eq!(forth.0, cells, "{}", what());
        assert_eq!(back.0, self.shape, "{}", what());
        let (forth, back) = (forth.1, back.1);

        let step = 1e-6;
        let moved = |by: f64| -> Vec<f64> {
            let x: Vec<f64> = x.iter().zip(&t).map(|(x, t)| x + by * t).collect();
            self.run(&x).1
        };
        let (up, down) = (moved(step), moved(-step));
        for (k, tangent) in forth.iter().enumerate() {
            let found = (up[k] - down[k]) / (2.0 * step);
            let near = (found - tangent).abs() <= 1e-6 * (1.0 + tangent.abs());
            assert!(near, "{}: {k} moves by {found}, not {tangent}", what());
        }
        let (one, other) = (dot(&g, &forth), dot(&back, &t));
        let near = (one - other).abs() <= 1e-9 * (1.0 + one.abs());
        assert!(near, "{}: {one} is not {other}", what());

        for threads in [1, 2, 3, 8] {
            let again = with_threads(threads, || (jvp().1, vjp().1));
            assert_eq!(again, (forth.clone(), back.clone()), "{}", what());
        }
    }

    /// A group of one element has no deviation, nor a derivative that a step could show.
    fn check_where_smooth(&self, random: &mut Random) {
        let count = self.shape.iter().product();
        let (_, y) = self.run(&numbers(random, count));
        if y.iter().all(|&y| y == 0.0 || y > 1e-3) {
            self.check(random);
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
        let along = || {
            vec![
                ("index", Value::Tensor(view(&values, &index_shape))),
                ("dim", Value::Int(dim)),
            ]
        };
        for unbiased in [true, false] {
            let others = || {
                let more = [
                    ("dim_size", Value::Int(size)),
                    ("unbiased", Value::Bool(unbiased)),
                ];
                along().into_iter().chain(more).collect()
            };
            src_of(&shape, "torch_scatter.scatter_std", &others).check_where_smooth(&mut random);
        }
        for eps in [0.0, 1e-12, 0.7] {
            let eps = || {
                along()
                    .into_iter()
                    .chain([("eps", Value::Scalar(Scalar::Float(eps)))])
            };
            let others = || eps().chain([("dim_size", Value::Int(size))]).collect();
            src_of(&shape, "torch_scatter.scatter_logsumexp", &others).check(&mut random);
            let others = || eps().collect();
            src_of(&shape, "torch_scatter.scatter_log_softmax", &others).check(&mut random);
        }
        src_of(&shape, "torch_scatter.scatter_softmax", &along).check(&mut random);
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
        for reduce in ["sum", "mean", "min", "max"] {
            let mut index: Vec<i64> = (0..many).map(|_| random.below(5) as i64).collect();
            index.sort_unstable();
            let others = || {
                vec![
                    ("index", Value::Tensor(view(&index, &[many]))),
                    ("dim_size", Value::Int(7)),
                    ("reduce", Value::Text(reduce.into())),
                ]
            };
            src_of(&shape, "torch_scatter.segment_coo", &others).check(&mut random);
            for kind in 0..3 {
                let indptr = pointers(&mut random, many, kind);
                let others = || {
                    vec![
                        ("indptr", Value::Tensor(view(&indptr, &[6]))),
                        ("reduce", Value::Text(reduce.into())),
                    ]
                };
                src_of(&shape, "torch_scatter.segment_csr", &others).check(&mut random);
            }
        }
    }
}

#[test]
fn of_gathers() {
    let mut random = Random(13);
    for (shape, spread) in [(vec![5], 9), (vec![5, 3], 12), (vec![5, 40], 900)] {
        let mut index: Vec<i64> = (0..spread).map(|_| random.below(5) as i64).collect();
        index.sort_unstable();
        let others = || vec![("index", Value::Tensor(view(&index, &[spread])))];
        src_of(&shape, "torch_scatter.gather_coo", &others).check(&mut random);
        for kind in 0..3 {
            let mut indptr = pointers(&mut random, spread, kind);
            indptr[5] = spread as i64;
            let others = || vec![("indptr", Value::Tensor(view(&indptr, &[6])))];
            src_of(&shape, "torch_scatter.gather_csr", &others).check(&mut random);
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
        for reduce in ["sum", "prod", "mean", "amax", "amin"] {
            for initial in [None, Some(Scalar::Float(0.4567))] {
                let others = || {
                    let initial = initial.map(|initial| ("initial", Value::Scalar(initial)));
                    let given = [
                        ("offsets", Value::Tensor(view(&offsets, &sizes))),
                        ("axis", Value::Int(axis as i64)),
                        ("reduce", Value::Text(reduce.into())),
                    ];
                    given.into_iter().chain(initial).collect()
                };
                Case {
                    operator: "torch.segment_reduce",
                    argument: "data",
                    shape: shape.clone(),
                    others: &others,
                }
                .check(&mut random);
            }
        }
    }
}
