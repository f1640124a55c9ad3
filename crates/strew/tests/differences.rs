//! Derivatives beside differences: what the operators themselves do when their arguments move a little.

#[path = "naive/mod.rs"]
mod naive;
#[path = "support/mod.rs"]
mod support;

use strew::{Tensor, TensorView, grad};
use support::Random;

/// How far arguments move.
const STEP: f64 = 1e-5;

/// A number of everyday size; one in `zero` is 0.
fn number(random: &mut Random, zero: usize) -> f64 {
    match random.chance(zero) {
        true => 0.0,
        false => (random.below(4001) as f64 - 2000.0) / 1000.0,
    }
}

fn numbers(random: &mut Random, count: usize, zero: usize) -> Vec<f64> {
    (0..count).map(|_| number(random, zero)).collect()
}

/// Numbers no two of which are near each other.
fn apart(random: &mut Random, count: usize) -> Vec<f64> {
    let order = random.shuffled(count);
    order.into_iter().map(|n| n as f64 * 0.25 - 1.0).collect()
}

fn along(at: &[f64], direction: &[f64], step: f64) -> Vec<f64> {
    at.iter()
        .zip(direction)
        .map(|(x, d)| x + step * d)
        .collect()
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// How `f` changes for each step: at -1 and 1 times the little step.
fn slope(f: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
    let (high, low) = (f(STEP), f(-STEP));
    high.iter()
        .zip(low)
        .map(|(a, b)| (a - b) / (2.0 * STEP))
        .collect()
}

#[track_caller]
fn near(found: f64, wanted: f64) {
    let fine = (found - wanted).abs() <= 1e-6 * (1.0 + found.abs().max(wanted.abs()));
    assert!(fine, "{found} is not near {wanted}");
}

#[track_caller]
fn all_near(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    found.iter().zip(wanted).for_each(|(&f, &w)| near(f, w));
}

fn view<'a>(values: &'a [f64], shape: &[usize]) -> TensorView<'a, f64> {
    TensorView::from_slice(values, shape).unwrap()
}

/// Shapes of input, index and src, for scatters along axis 0.
const SHAPES: [(&[usize], &[usize], &[usize]); 4] = [
    (&[4], &[9], &[9]),
    (&[3, 2], &[6, 2], &[6, 2]),
    (&[3, 4], &[5, 2], &[7, 3]),
    (&[2, 2, 2], &[4, 2, 1], &[4, 2, 2]),
];

fn product(shape: &[usize]) -> usize {
    shape.iter().product()
}

#[test]
fn scatter_reduce() {
    use strew::torch::Reduce;
    for seed in 0..60 {
        let mut random = Random(seed);
        let (cells, read, whole) = random.pick(&SHAPES);
        let (n, m) = (product(cells), product(whole));
        let index: Vec<i64> = (0..product(read))
            .map(|_| random.below(cells[0]) as i64)
            .collect();
        let index = TensorView::from_slice(&index, read).unwrap();
        for reduce in [
            Reduce::Sum,
            Reduce::Mean,
            Reduce::Prod,
            Reduce::Amax,
            Reduce::Amin,
        ] {
            let smooth = !matches!(reduce, Reduce::Amax | Reduce::Amin);
            // Extremes have a derivative where no two elements are equal.
            let all = match smooth {
                true => numbers(&mut random, n + m, 4),
                false => apart(&mut random, n + m),
            };
            let (x, s) = all.split_at(n);
            let (dx, ds) = (numbers(&mut random, n, 9), numbers(&mut random, m, 9));
            let g = numbers(&mut random, n, 9);
            for include_self in [true, false] {
                let run = |x: &[f64], s: &[f64]| {
                    let (x, s) = (view(x, cells), view(s, whole));
                    let made = strew::torch::scatter_reduce(x, 0, &index, s, reduce, include_self);
                    made.unwrap().as_slice().to_vec()
                };
                let out = run(x, s);
                let moved = slope(|h| run(&along(x, &dx, h), &along(s, &ds, h)));
                let tangent = grad::torch::scatter_reduce_jvp(
                    view(&dx, cells),
                    view(&ds, whole),
                    view(x, cells),
                    0,
                    &index,
                    view(s, whole),
                    view(&out, cells),
                    reduce,
                    include_self,
                );
                all_near(tangent.unwrap().as_slice(), &moved);
                let vjp = |g: &[f64], x: &[f64], s: &[f64]| {
                    let out = run(x, s);
                    let made = grad::torch::scatter_reduce_vjp(
                        view(g, cells),
                        view(x, cells),
                        0,
                        &index,
                        view(s, whole),
                        view(&out, cells),
                        reduce,
                        include_self,
                    );
                    let (to_x, to_s) = made.unwrap();
                    [to_x.as_slice(), to_s.as_slice()].concat()
                };
                let back = vjp(&g, x, s);
                near(dot(&back, &[&dx[..], &ds].concat()), dot(&g, &moved));

                if reduce != Reduce::Prod {
                    continue;
                }
                // The gradients once more: how they move with grad, input and src.
                let dg = numbers(&mut random, n, 9);
                let (vx, vs) = (numbers(&mut random, n, 9), numbers(&mut random, m, 9));
                let moved = slope(|h| {
                    let (x, s) = (along(x, &dx, h), along(s, &ds, h));
                    vjp(&along(&g, &dg, h), &x, &s)
                });
                let double = grad::torch::scatter_reduce_prod_double_vjp(
                    view(&g, cells),
                    view(x, cells),
                    0,
                    &index,
                    view(s, whole),
                    include_self,
                    view(&vx, cells),
                    view(&vs, whole),
                );
                let (to_g, to_x, to_s) = double.unwrap();
                let found = dot(to_g.as_slice(), &dg)
                    + dot(to_x.as_slice(), &dx)
                    + dot(to_s.as_slice(), &ds);
                near(found, dot(&moved, &[vx, vs].concat()));
            }
        }
    }
}

#[test]
fn torch_scatter() {
    use strew::torch_scatter::Reduce;
    for seed in 0..60 {
        let mut random = Random(seed);
        let (rows, width, groups) = (8, 3, 4);
        let n = rows * width;
        let index: Vec<i64> = (0..rows).map(|_| random.below(groups) as i64).collect();
        for reduce in [
            Reduce::Sum,
            Reduce::Mean,
            Reduce::Mul,
            Reduce::Min,
            Reduce::Max,
        ] {
            let s = match reduce {
                Reduce::Min | Reduce::Max => apart(&mut random, n),
                _ => numbers(&mut random, n, 4),
            };
            let ds = numbers(&mut random, n, 9);
            let g = numbers(&mut random, groups * width, 9);
            let shape = [rows, width];
            let run = |s: &[f64]| -> Vec<f64> {
                let made =
                    strew::torch_scatter::scatter(view(s, &shape), &index, 0, Some(groups), reduce);
                made.unwrap().as_slice().to_vec()
            };
            let moved = slope(|h| run(&along(&s, &ds, h)));
            let (s_view, ds_view) = (view(&s, &shape), view(&ds, &shape));
            let tangent = grad::torch_scatter::scatter_jvp(
                ds_view,
                s_view.clone(),
                &index,
                0,
                Some(groups),
                reduce,
            );
            all_near(tangent.unwrap().as_slice(), &moved);
            let vjp = |g: &[f64], s: &[f64]| -> Tensor<f64> {
                let (g, s) = (view(g, &[groups, width]), view(s, &shape));
                grad::torch_scatter::scatter_vjp(g, s, &index, 0, reduce).unwrap()
            };
            near(dot(vjp(&g, &s).as_slice(), &ds), dot(&g, &moved));
            if reduce != Reduce::Mul {
                continue;
            }
            let dg = numbers(&mut random, groups * width, 9);
            let v = numbers(&mut random, n, 9);
            let moved = slope(|h| {
                let made = vjp(&along(&g, &dg, h), &along(&s, &ds, h));
                made.as_slice().to_vec()
            });
            let (to_g, to_s) = grad::torch_scatter::scatter_mul_double_vjp(
                view(&g, &[groups, width]),
                s_view,
                &index,
                0,
                view(&v, &shape),
            )
            .unwrap();
            let found = dot(to_g.as_slice(), &dg) + dot(to_s.as_slice(), &ds);
            near(found, dot(&moved, &v));
        }
    }
}
