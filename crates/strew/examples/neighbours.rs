//! Message passing over a small graph, and two other everyday scatters, on plain `ndarray`.
//!
//! `cargo run --release -p strew --example neighbours`

use ndarray::{Array1, Array2, Axis, array};
use strew::torch::Reduce as TorchReduce;
use strew::torch_scatter::{Reduce, scatter, scatter_max};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A graph of four nodes with two features each; every edge carries a message one way.
    let features = array![[1.0f32, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]];
    let (from, to) = ([0usize, 2, 3, 0], [1i64, 1, 1, 2]);
    let messages = features.select(Axis(0), &from);

    let mean = scatter(&messages, to, 0, Some(4), Reduce::Mean)?;
    println!(
        "mean of the messages that reach each node:\n{}",
        mean.as_ndarray()
    );

    let (largest, edge) = scatter_max(&messages, to, 0, Some(4))?;
    println!("largest message, by feature:\n{}", largest.as_ndarray());
    println!(
        "and the edge it came along (4: none):\n{}",
        edge.as_ndarray()
    );

    // Views need no copy: the transposed matrix is reduced along its other axis, in place.
    let mut totals = Array2::<f64>::zeros((2, 4));
    let amounts = array![[1.0, 2.0], [4.0, 8.0], [16.0, 32.0]];
    let account = array![[3i64, 0, 3], [1, 1, 1]];
    strew::torch::scatter_reduce_(
        &mut totals,
        1,
        &account,
        amounts.t(),
        TorchReduce::Sum,
        true,
    )?;
    println!("totals per account:\n{totals}");
    assert_eq!(totals, array![[4.0, 0.0, 0.0, 17.0], [0.0, 42.0, 0.0, 0.0]]);

    // A histogram is a scatter of ones; an error says what is wrong and changes nothing.
    let bins = Array1::from(vec![0i64, 2, 2, 1, 2]);
    let ones = Array1::from_elem(bins.len(), 1u32);
    println!(
        "histogram: {:?}",
        scatter(&ones, &bins, 0, None, Reduce::Sum)?.as_slice()
    );
    let error = scatter(&ones, &bins, 0, Some(2), Reduce::Sum).unwrap_err();
    println!("with two bins only: {error}");
    Ok(())
}
