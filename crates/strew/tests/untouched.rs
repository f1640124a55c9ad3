//! Cells that no update reaches, told from those whose updates leave no trace.

use std::num::NonZeroUsize;
use strew::Tensor;
use strew::torch::{Reduce, scatter_reduce, scatter_reduce_};

/// More than are looked at before a run.
const MANY: usize = 70_000;

/// Elements whose sums are compared bit by bit.
trait Float: strew::Element + Copy + std::ops::Add<Output = Self> {
    fn of(value: f32) -> Self;
    fn bits(self) -> u64;
}

impl Float for f32 {
    fn of(value: f32) -> Self {
        value
    }
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl Float for f64 {
    fn of(value: f32) -> Self {
        value.into()
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// The definition: the first update of a cell is added to +0.0.
fn sums<T: Float>(input: &[T], index: &[i64], src: &[T]) -> Vec<u64> {
    let mut sums: Vec<Option<T>> = vec![None; input.len()];
    for (&cell, &value) in index.iter().zip(src) {
        let sum = &mut sums[cell as usize];
        *sum = Some(sum.unwrap_or(T::of(0.0)) + value);
    }
    let cells = sums.into_iter().zip(input);
    cells.map(|(sum, &own)| sum.unwrap_or(own).bits()).collect()
}

fn check<T: Float>(what: &str, input: &[T], index: &[i64], src: &[T]) {
    let expected = sums(input, index, src);
    for threads in [1, 2, 3] {
        strew::set_num_threads(NonZeroUsize::new(threads));
        let made = scatter_reduce(input, 0, index, src, Reduce::Sum, false).unwrap();
        let bits = |all: &[T]| -> Vec<u64> { all.iter().map(|v| v.bits()).collect() };
        assert!(bits(made.as_slice()) == expected, "{what}, new, {threads}");
        let mut changed = input.to_vec();
        scatter_reduce_(&mut changed[..], 0, index, src, Reduce::Sum, false).unwrap();
        assert!(bits(&changed) == expected, "{what}, in place, {threads}");
    }
    strew::set_num_threads(None);
}

/// An index, a source and an input: half of the cells get updates, a cell several.
fn problem<T: Float>(cells: usize, updates: usize) -> (Vec<i64>, Vec<T>, Vec<T>) {
    let spread = |k: usize| k.wrapping_mul(2_654_435_761) >> 7;
    let index = (0..updates).map(|k| (spread(k) % cells / 2 * 2) as i64);
    let src = (0..updates).map(|k| T::of((spread(k + 1) % 100) as f32 - 49.5));
    let input = (0..cells).map(|k| T::of(k as f32 * 0.25 - 7.0));
    (index.collect(), src.collect(), input.collect())
}

fn negative_zeros<T: Float>() {
    let zero = T::of(-0.0);
    for updates in [3, 2000, MANY] {
        let (mut index, mut src, mut input) = problem::<T>(1001.min(updates), updates);
        let name = |what: &str| {
            format!(
                "{what}, {updates} updates of {}",
                std::any::type_name::<T>()
            )
        };
        check(&name("no negative zero"), &input, &index, &src);

        // The last cell gets nothing else, and is +0.0 then.
        let (last, cell) = (updates - 1, input.len() - 1);
        (index[last], src[last]) = (cell as i64, zero);
        check(&name("one at the end"), &input, &index, &src);
        src[last / 2] = zero;
        check(&name("one in the middle"), &input, &index, &src);
        input[0] = zero;
        input[1] = zero;
        check(&name("in the input"), &input, &index, &src);

        // Without a cell that no update reaches.
        let one = vec![0i64; updates];
        src.fill(zero);
        check(&name("nothing else"), &input, &index, &src);
        check(&name("nothing else in one cell"), &input[..1], &one, &src);
        let two: Vec<i64> = (0..updates).map(|k| (k % 2) as i64).collect();
        src[0] = T::of(f32::NAN);
        check(&name("and a NaN"), &input[..2], &two, &src);
    }
}

#[test]
fn a_sum_of_negative_zeros_is_not_untouched() {
    negative_zeros::<f32>();
    negative_zeros::<f64>();
}

/// Rows have their own way to know.
#[test]
fn rows_of_negative_zeros() {
    let index: Vec<i64> = (0..4000 * 4).map(|k| (k / 4 % 3) * 2).collect();
    let mut src = vec![-0.0f32; 4000 * 4];
    src[5] = 1.0;
    let input: Vec<f32> = (0..6 * 4).map(|k| k as f32).collect();
    let shaped =
        |all: &[f32], rows| ndarray::Array2::from_shape_vec((rows, 4), all.to_vec()).unwrap();
    let index = ndarray::Array2::from_shape_vec((4000, 4), index).unwrap();
    let (src, input) = (shaped(&src, 4000), shaped(&input, 6));
    let made = scatter_reduce(&input, 0, &index, &src, Reduce::Sum, false).unwrap();
    let mut changed = input.clone();
    scatter_reduce_(&mut changed, 0, &index, &src, Reduce::Sum, false).unwrap();
    for (at, (&one, &other)) in made.as_slice().iter().zip(&changed).enumerate() {
        let row = at / 4;
        let expected = match (row % 2, at) {
            (1, _) => at as f32,
            (_, 9) => 1.0,
            _ => 0.0,
        };
        assert_eq!(
            (one.to_bits(), other.to_bits()),
            (expected.to_bits(), expected.to_bits())
        );
    }
}

/// Beyond 64 MiB the updates are listed, and a new destination is begun block by block.
#[test]
fn destinations_that_are_begun_block_by_block() {
    let cells = (17 << 20) + 3;
    let (index, mut src, input) = problem::<f32>(cells, 300_000);
    let started = |include: bool| -> Vec<u32> {
        let mut sums = input.clone();
        if !include {
            index.iter().for_each(|&cell| sums[cell as usize] = 0.0);
        }
        let updates = index.iter().zip(&src);
        updates.for_each(|(&cell, &value)| sums[cell as usize] += value);
        sums.iter().map(|v| v.to_bits()).collect()
    };
    let bits =
        |made: &Tensor<f32>| -> Vec<u32> { made.as_slice().iter().map(|v| v.to_bits()).collect() };
    for threads in [1, 2] {
        strew::set_num_threads(NonZeroUsize::new(threads));
        for include in [true, false] {
            // What is left of the last one is in the memory that the next one gets.
            for _ in 0..2 {
                let made = scatter_reduce(&input, 0, &index, &src, Reduce::Sum, include).unwrap();
                assert!(bits(&made) == started(include), "{threads} {include}");
            }
        }
        let zeros = vec![0.0f32; cells];
        let sum = strew::torch_scatter::Reduce::Sum;
        let made = strew::torch_scatter::scatter(&src, &index, 0, Some(cells), sum).unwrap();
        let from_zeros = scatter_reduce(&zeros, 0, &index, &src, Reduce::Sum, true).unwrap();
        assert!(bits(&made) == bits(&from_zeros), "{threads}");
    }
    // A cell that gets nothing but -0.0, among many that get nothing.
    let alone = index
        .iter()
        .position(|&c| index.iter().filter(|&&d| d == c).count() == 1);
    src[alone.unwrap()] = -0.0;
    let made = scatter_reduce(&input, 0, &index, &src, Reduce::Sum, false).unwrap();
    let cell = index[alone.unwrap()] as usize;
    assert_eq!(made.as_slice()[cell].to_bits(), 0);
    assert_eq!(
        made.as_slice()[cell + 1].to_bits(),
        input[cell + 1].to_bits()
    );
    strew::set_num_threads(None);
}

/// An error leaves what is changed in place as it was, whatever table was filled meanwhile.
#[test]
fn an_index_out_of_range_at_the_end() {
    let (mut index, src, input) = problem::<f32>(1001, MANY);
    index[MANY - 1] = 1001;
    for reduce in [Reduce::Sum, Reduce::Mean] {
        for include in [false, true] {
            let mut changed = input.clone();
            let result = scatter_reduce_(&mut changed[..], 0, &index, &src, reduce, include);
            assert_eq!(result.unwrap_err().class(), strew::Class::Runtime);
            assert_eq!(changed, input);
        }
    }
}
