//! Derivatives where their passes go other ways: results that no cache holds, counts that a byte does not hold, and calls of
//! which little was kept.

use crate::support::Random;
use crate::support::ways::with_threads;
use strew::grad::torch::{Kept, scatter_reduce_vjp, scatter_reduce_vjp_kept_dyn};
use strew::torch::{Reduce, scatter_reduce};
use strew::torch_scatter::scatter_max;
use strew::{TensorView, grad};

const REDUCES: [Reduce; 4] = [Reduce::Sum, Reduce::Mean, Reduce::Amax, Reduce::Prod];

/// Rows of a matrix, that go to rows of another.
struct Rows {
    width: usize,
    cells: usize,
    index: Vec<i64>,
    src: Vec<f32>,
    grad: Vec<f32>,
}

impl Rows {
    fn random(updates: usize, cells: usize, width: usize, values: &[f32]) -> Self {
        let mut random = Random(updates as u64);
        let mut pick = |count: usize| (0..count).map(|_| random.pick(values)).collect();
        let (src, grad) = (pick(updates * width), pick(cells * width));
        let mut random = Random(width as u64);
        Self {
            width,
            cells,
            index: (0..updates).map(|_| random.below(cells) as i64).collect(),
            src,
            grad,
        }
    }

    /// The gradient of each update, by its rule, where only updates count.
    fn expected(&self, reduce: Reduce) -> Vec<f32> {
        let (width, cells) = (self.width, self.cells * self.width);
        let at = |k: usize| self.index[k / width] as usize * width + k % width;
        let (mut counts, mut ties, mut zeros) =
            (vec![0u32; cells], vec![0u32; cells], vec![0u32; cells]);
        let (mut largest, mut product) = (vec![f32::NEG_INFINITY; cells], vec![1f32; cells]);
        for (k, &value) in self.src.iter().enumerate() {
            let cell = at(k);
            counts[cell] += 1;
            largest[cell] = largest[cell].max(value);
            zeros[cell] += u32::from(value == 0.0);
            product[cell] *= if value == 0.0 { 1.0 } else { value };
        }
        for (k, &value) in self.src.iter().enumerate() {
            ties[at(k)] += u32::from(value == largest[at(k)]);
        }
        let one = |(k, &value): (usize, &f32)| {
            let cell = at(k);
            let grad = self.grad[cell];
            match reduce {
                Reduce::Sum => grad,
                Reduce::Mean => grad / counts[cell] as f32,
                Reduce::Prod => {
                    grad * match (zeros[cell], value == 0.0) {
                        (0, _) => product[cell] / value,
                        (1, true) => product[cell],
                        _ => 0.0,
                    }
                }
                _ if value == largest[cell] => grad / ties[cell] as f32,
                _ => 0.0,
            }
        };
        self.src.iter().enumerate().map(one).collect()
    }

    fn check(&self, reduce: Reduce) {
        let wanted = self.expected(reduce);
        let (rows, cells) = ([self.index.len(), self.width], [self.cells, self.width]);
        let src = TensorView::from_slice(&self.src, &rows).unwrap();
        let grad = TensorView::from_slice(&self.grad, &cells).unwrap();
        let index = TensorView::from_slice(&self.index, &[rows[0], 1]).unwrap();
        let index = index.broadcast_to(&rows).unwrap().typed::<i64>().unwrap();
        let input = vec![1f32; self.cells * self.width];
        let input = TensorView::from_slice(&input, &cells).unwrap();
        let result = scatter_reduce(&input, 0, &index, &src, reduce, false).unwrap();
        for threads in [1, 3] {
            let found = with_threads(threads, || {
                scatter_reduce_vjp(&grad, &input, 0, &index, &src, &result, reduce, false)
            });
            let found = found.unwrap().1;
            let same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
            let wrong = found
                .as_slice()
                .iter()
                .zip(&wanted)
                .position(|pair| !same(pair));
            assert_eq!(
                wrong, None,
                "{reduce:?}, {threads} threads, {rows:?} into {cells:?}"
            );
        }
    }
}

/// Rows of whole lines, and rows that begin anywhere in one.
#[test]
fn results_that_no_cache_holds() {
    let values = [-3.0, -0.5, 0.25, 1.0, 2.0, 4.0, 0.0];
    for (updates, width) in [(133_000, 64), (198_000, 43), (8_500_000, 1), (6_600, 1300)] {
        // With zeros and without.
        for values in [&values[..], &values[..6]] {
            let rows = Rows::random(updates, updates / 9, width, values);
            REDUCES.into_iter().for_each(|reduce| rows.check(reduce));
        }
    }
}

#[test]
fn counts_that_a_byte_does_not_hold() {
    for ties in [1u16, 2, 254, 255, 256, 300, 5000] {
        let (src, index) = (vec![2f32; ties.into()], vec![0i64; ties.into()]);
        for include_self in [false, true] {
            let found = scatter_reduce_vjp(
                [1.0],
                [2.0],
                0,
                &index,
                &src,
                [2.0],
                Reduce::Amin,
                include_self,
            );
            let share = 1.0 / (f32::from(ties) + f32::from(u8::from(include_self)));
            let (to_input, to_src) = found.unwrap();
            assert!(
                to_src.as_slice().iter().all(|&found| found == share),
                "{ties}"
            );
            assert_eq!(
                to_input.as_slice(),
                [if include_self { share } else { 0.0 }]
            );
        }
    }
}

#[test]
fn what_is_not_wanted_is_not_made_and_what_is_not_needed_not_kept() {
    let (grad, index) = ([1f32, 10.0, 100.0], [2i64, 0, 2]);
    let (input, src) = ([5f32, 6.0, 7.0], [3f32, 0.0, 4.0]);
    let view = |values| TensorView::from_slice(values, &[3]).unwrap().into_dyn();
    let index = TensorView::from_slice(&index, &[3]).unwrap().into_dyn();
    for reduce in REDUCES.into_iter().chain([Reduce::Amin]) {
        for include_self in [false, true] {
            let result = scatter_reduce(input, 0, [2i64, 0, 2], src, reduce, include_self);
            let result = result.unwrap();
            let all = Kept {
                input: Some(view(&input)),
                src: Some(view(&src)),
                src_shape: &[3],
                result: Some(result.view().into_dyn()),
            };
            let vjp = |kept: &Kept<'_>, wanted| {
                let name = reduce.name();
                scatter_reduce_vjp_kept_dyn(
                    &view(&grad),
                    0,
                    &index,
                    kept,
                    name,
                    include_self,
                    wanted,
                )
            };
            let bytes = |made: Option<strew::DynTensor>| made.map(|made| made.as_bytes().to_vec());
            let (to_input, to_src) = vjp(&all, (true, true)).unwrap();
            let (to_input, to_src) = (bytes(to_input), bytes(to_src));
            assert!(to_input.is_some() && to_src.is_some());
            let (other, alone) = vjp(&all, (false, true)).unwrap();
            assert_eq!((bytes(other), bytes(alone)), (None, to_src.clone()));
            let (alone, other) = vjp(&all, (true, false)).unwrap();
            assert_eq!((bytes(alone), bytes(other)), (to_input.clone(), None));

            let linear = matches!(reduce, Reduce::Sum | Reduce::Mean);
            let few = Kept {
                input: all.input.clone().filter(|_| !linear && include_self),
                src: all.src.clone().filter(|_| !linear),
                src_shape: &[3],
                result: all
                    .result
                    .clone()
                    .filter(|_| !linear && reduce != Reduce::Prod),
            };
            let (a, b) = vjp(&few, (true, true)).unwrap();
            assert_eq!((bytes(a), bytes(b)), (to_input, to_src));
            let none = Kept {
                input: None,
                src: None,
                src_shape: &[3],
                result: None,
            };
            assert_eq!(vjp(&none, (true, true)).is_ok(), linear, "{reduce:?}");
        }
    }
}

#[test]
fn a_product_s_result_is_the_product() {
    // 0 of an update, 0 of an underflow, and NaN tell nothing.
    let (src, index) = ([1e-30f32, 1e-30, 0.0, 3.0, f32::NAN], [0i64, 0, 1, 1, 2]);
    let result = [0f32, 0.0, f32::NAN];
    let with = scatter_reduce_vjp(
        [1.0; 3],
        [1.0; 3],
        0,
        index,
        src,
        result,
        Reduce::Prod,
        true,
    );
    let without = grad::torch_scatter::scatter_vjp(
        [1.0; 3],
        src,
        index,
        0,
        strew::torch_scatter::Reduce::Mul,
    );
    let (with, without) = (with.unwrap().1, without.unwrap());
    assert_eq!(with.as_slice()[..4], [0.0, 0.0, 3.0, 0.0]);
    assert_eq!(without.as_slice()[..4], [0.0, 0.0, 3.0, 0.0]);
    assert!(with.as_slice()[4].is_nan() && without.as_slice()[4].is_nan());
}

/// A large gradient goes to the winners of a maximum group by group, where the index is known.
#[test]
fn winners_are_found_by_the_index() {
    let values = [-1.5, 0.0, 0.5, 2.0, f32::NAN];
    // A row wider than what stays in the nearest cache, one that is no whole lines, and groups without updates.
    for (updates, cells, width) in [(66_000, 5_000, 65), (4_200, 9_000, 1_030)] {
        let rows = Rows::random(updates, cells, width, &values);
        let src = TensorView::from_slice(&rows.src, &[updates, width]).unwrap();
        let grad = TensorView::from_slice(&rows.grad, &[cells, width]).unwrap();
        let index = TensorView::from_slice(&rows.index, &[updates]).unwrap();
        let (_, arg) = scatter_max(src, &index, 0, Some(cells)).unwrap();
        let (grad, arg, index) = (grad.into_dyn(), arg.view().into_dyn(), index.into_dyn());
        let expected = grad::torch_scatter::scatter_arg_vjp_dyn(&grad, &arg, 0, updates).unwrap();
        let wide = index
            .clone()
            .insert_axis(1)
            .broadcast_to(&[updates, width])
            .unwrap();
        for (threads, index) in [(1, &index), (2, &index), (3, &wide), (8, &wide)] {
            let found = with_threads(threads, || {
                grad::torch_scatter::scatter_arg_vjp_by_index_dyn(&grad, &arg, index, 0, updates)
            });
            assert!(
                found.unwrap().as_bytes() == expected.as_bytes(),
                "{threads} threads, {width}"
            );
        }
        let short = TensorView::from_slice(&rows.index[1..], &[updates - 1]).unwrap();
        let error = grad::torch_scatter::scatter_arg_vjp_by_index_dyn(
            &grad,
            &arg,
            &short.into_dyn(),
            0,
            updates,
        );
        let error = error.unwrap_err().to_string();
        assert!(error.contains("along dimension 0"), "{error}");
    }
}
