//! Reductions of the user's own: the bits of the sequential loop, whatever way and threads.

use std::cell::Cell;
use std::rc::Rc;
use strew::{AsTensor, Bounds, Class, Fold, Monitor, Plan, Tensor, TensorView, Way, watch};

/// Depends on the order of the updates, and keeps count of them.
struct Digest;

/// Its state.
struct Digested {
    digest: u64,
    count: u32,
}

impl Fold<i32> for Digest {
    type State = Digested;
    type Output = u64;

    fn identity(&self) -> Digested {
        Digested {
            digest: 7,
            count: 0,
        }
    }

    fn join(&self, state: &mut Digested, update: i32) {
        let value = u64::from(update.cast_unsigned());
        state.digest = state.digest.wrapping_mul(31).wrapping_add(value);
        state.count += 1;
    }

    fn finish(&self, state: Digested) -> u64 {
        state.digest ^ (u64::from(state.count) << 48)
    }
}

/// A sum of floats, whose bits depend on the order, in a state on the heap.
struct Sum;

impl Fold<f32> for Sum {
    type State = Vec<f32>;
    type Output = f32;

    fn identity(&self) -> Vec<f32> {
        vec![0.0]
    }

    fn join(&self, state: &mut Vec<f32>, update: f32) {
        state[0] += update;
    }

    fn finish(&self, state: Vec<f32>) -> f32 {
        state[0]
    }
}

/// The definition, for a source of shape `[outer, index.len(), inner]`.
fn naive<T: Copy, F: Fold<T>>(
    fold: &F,
    src: &[T],
    index: &[i64],
    shape: [usize; 3],
) -> Vec<F::Output> {
    let [outer, size, inner] = shape;
    let mut states: Vec<F::State> = (0..outer * size * inner).map(|_| fold.identity()).collect();
    for matrix in 0..outer {
        for (update, &row) in index.iter().enumerate() {
            let Some(row) = usize::try_from(row).ok().filter(|&row| row < size) else {
                continue;
            };
            for k in 0..inner {
                let from = src[(matrix * index.len() + update) * inner + k];
                fold.join(&mut states[(matrix * size + row) * inner + k], from);
            }
        }
    }
    states.into_iter().map(|state| fold.finish(state)).collect()
}

fn random(seed: &mut u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

/// An index of one of several kinds; out of range are some of the last kind only.
fn index(kind: u64, len: usize, size: usize, seed: &mut u64) -> Vec<i64> {
    let size = size.max(1) as u64;
    let mut made: Vec<i64> = (0..len)
        .map(|_| match kind {
            0 => random(seed) % size,
            1 => random(seed) % size / 8,
            2 => (random(seed) % size).min(random(seed) % 3),
            _ => random(seed) % (size + 2),
        })
        .map(|row| row as i64)
        .collect();
    if kind == 1 {
        made.sort_unstable();
    }
    made
}

#[test]
fn a_fold_is_the_sequential_loop() {
    let drop = Bounds::DROP;
    let shapes = [
        [1, 40, 1],
        [3, 40, 1],
        [9, 7, 2],
        [1, 5, 600],
        [2, 1, 3],
        [1, 3000, 4],
        [1, 0, 2],
        [0, 4, 2],
        [2, 4, 0],
    ];
    let mut seed = 1;
    for (number, [outer, size, inner]) in shapes.into_iter().enumerate() {
        for kind in 0..4 {
            let len = [500, 0, 33][(number + kind) % 3];
            let len = if size == 0 { 0 } else { len };
            let index = index(kind as u64, len, size, &mut seed);
            let src: Vec<i32> = (0..outer * len * inner)
                .map(|_| random(&mut seed) as i32)
                .collect();
            let floats: Vec<f32> = src.iter().map(|&value| value as f32 / 7.0).collect();
            let wanted = naive(&Digest, &src, &index, [outer, size, inner]);
            let sums = naive(&Sum, &floats, &index, [outer, size, inner]);
            let shape = [outer, len, inner];
            for way in [None, Some(Way::InOrder), Some(Way::Grouped)] {
                for threads in [1, 2, 3, 8] {
                    let plan = Plan::builder(&index)
                        .size(size)
                        .bounds(drop)
                        .threads(threads);
                    let plan = plan.build().unwrap().with_way(way);
                    let told =
                        format!("{shape:?} into {size}, kind {kind}, {way:?}, {threads} threads");
                    let made = plan.fold(TensorView::from_slice(&src, &shape).unwrap(), 1, &Digest);
                    let made = made.unwrap();
                    assert_eq!(made.shape(), [outer, size, inner], "{told}");
                    assert_eq!(made.as_slice(), wanted, "{told}");
                    let made = plan.fold(TensorView::from_slice(&floats, &shape).unwrap(), 1, &Sum);
                    let bits = |all: &[f32]| all.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(made.unwrap().as_slice()), bits(&sums), "{told}");
                }
            }
        }
    }
}

#[test]
fn a_source_need_not_be_contiguous() {
    let src = ndarray::Array2::from_shape_fn((3, 4), |(row, column)| (row * 4 + column) as i32);
    let plan = Plan::builder(&[1u8, 0, 1, 1]).build().unwrap();
    let straight = plan.fold(&src, 1, &Digest).unwrap();
    let turned = plan.fold(src.t(), 0, &Digest).unwrap();
    assert_eq!(straight.to_ndarray().t(), turned.to_ndarray());
    let last = plan.fold(&src, -1, &Digest).unwrap();
    assert_eq!(last, straight);
}

#[test]
fn what_is_wrong_is_said() {
    let plan = Plan::builder(&[0usize, 1]).name("edges").build().unwrap();
    let error = plan.fold([1, 2, 3], 0, &Digest).unwrap_err();
    assert_eq!(error.class(), Class::Value);
    assert_eq!(
        error.to_string(),
        "Plan \"edges\": src has shape [3]: its size along dimension 0 must be 2"
    );
    let error = plan.fold([1, 2], 1, &Digest).unwrap_err();
    assert_eq!(error.class(), Class::Index);
}

#[test]
fn a_fold_can_be_stopped() {
    struct Stop(Cell<u64>);
    impl Monitor for Stop {
        fn progress(&self, done: u64, _total: u64) -> bool {
            self.0.set(done);
            false
        }
    }
    let index: Vec<usize> = (0..300_000).map(|k| k % 100).collect();
    let src = vec![1; index.len()];
    for way in Way::ALL {
        let plan = Plan::builder(&index).way(way).threads(1).build().unwrap();
        let monitor = Rc::new(Stop(Cell::new(0)));
        let error = watch(monitor.clone(), || plan.fold(&src, 0, &Digest)).unwrap_err();
        assert_eq!(error.class(), Class::Interrupt);
        assert!(
            (1..200_000).contains(&monitor.0.get()),
            "{way}: {}",
            monitor.0.get()
        );
    }
}

#[test]
fn what_an_operator_takes() {
    fn sum(src: impl AsTensor<f64>) -> f64 {
        src.as_tensor().to_vec().iter().sum()
    }
    let vector = vec![1.0, 2.0];
    let array = ndarray::array![[1.0, 2.0], [3.0, 4.0]];
    let mut tensor = Tensor::<f64>::zeros(&[2]).unwrap();
    tensor.as_mut_slice()[0] = 5.0;
    assert_eq!(sum(&vector), 3.0);
    assert_eq!(sum(&vector[1..]), 2.0);
    assert_eq!(sum(vector), 3.0);
    assert_eq!(sum([1.0; 3]), 3.0);
    assert_eq!(sum(&array), 10.0);
    assert_eq!(sum(array.view()), 10.0);
    assert_eq!(sum(array.row(1)), 7.0);
    assert_eq!(sum(array), 10.0);
    assert_eq!(sum(tensor.view()), 5.0);
    assert_eq!(sum(tensor.view()), 5.0);
    assert_eq!(sum(tensor), 5.0);
}
