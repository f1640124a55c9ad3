//! Calls on a thread with a small stack: as little as SECURITY.md says that a call needs.

use strew::{
    Accumulator, Aggregate, AggregateOptions, Bounds, DType, Fractions, GatherOptions, Plan,
    Reduce, ScatterOptions, Tensor, TensorView, f16,
};

const NEEDED: usize = 256 << 10;

/// Calls of every kind, on this many updates.
fn calls(updates: usize) -> Result<(), strew::Error> {
    let rows = updates / 3 + 1;
    let index: Vec<i64> = (0..updates).map(|n| (n * 7919 % rows) as i64).collect();
    let floats: Vec<f32> = (0..2 * updates).map(|n| n as f32 / 7.0).collect();
    let halves: Vec<f16> = floats.iter().map(|&value| f16::from_f32(value)).collect();
    let pairs = TensorView::from_slice(&floats, &[updates, 2]).expect("as many");
    let halves = TensorView::from_slice(&halves, &[updates, 2]).expect("as many");
    let options = ScatterOptions {
        dim_size: Some(rows),
        bounds: Bounds::DROP,
        ..ScatterOptions::default()
    };
    let plan = Plan::builder(&index).size(rows).build()?;
    for reduce in Reduce::ALL {
        strew::scatter(&pairs, &index, 0, reduce, options)?;
        strew::scatter(&halves, &index, 0, reduce, options)?;
        plan.scatter(&pairs, 0, reduce)?;
    }
    plan.reduce(&pairs, 0, &[Reduce::Sum, Reduce::Max, Reduce::Mean])?;
    let sums: Tensor<f32> = plan.scatter(&pairs, 0, Reduce::Sum)?;
    strew::gather(&sums, &index, 0, GatherOptions::default())?;
    let names = "sum prod sumsq mean var std sem skew kurt min max first last len count nunique any \
        all anynan allnan argmin argmax median quantile mode logsumexp softmax cumsum cumprod cummin \
        cummax sort argsort rank cumcount shift nth topk argtopk";
    let all: Vec<Aggregate> = names
        .split_whitespace()
        .map(|name| name.parse())
        .collect::<Result<_, _>>()?;
    let options = AggregateOptions {
        q: Fractions::Several(vec![0.1, 0.9]),
        ..AggregateOptions::default()
    };
    plan.aggregate_dyn(&pairs, 0, &all, options.clone())?;
    let keys = TensorView::from(&index).into_dyn();
    for one in all {
        strew::aggregate_dyn(
            &pairs,
            &keys,
            0,
            &[one],
            Some(rows),
            Bounds::DROP,
            options.clone(),
        )?;
    }
    for exact in [false, true] {
        let options = AggregateOptions {
            exact,
            ..AggregateOptions::default()
        };
        let wanted = [Aggregate::Mean, Aggregate::Std, Aggregate::ArgMax];
        let mut all = Accumulator::new(None, &wanted, DType::F32, &[2], Bounds::STRICT, options)?;
        all.update_dyn(&pairs, &keys, None)?;
        Accumulator::from_bytes(&all.to_bytes()?)?.result()?;
    }
    #[cfg(feature = "torch_scatter")]
    {
        strew::torch_scatter::scatter_softmax(&pairs, &index, 0, None)?;
        strew::torch_scatter::scatter_logsumexp(&pairs, &index, 0, None, 1e-12)?;
        strew::torch_scatter::scatter_std(&pairs, &index, 0, None, true)?;
        strew::torch_scatter::scatter_max(&pairs, &index, 0, None)?;
    }
    // Errors, too.
    let wrong = strew::scatter(
        &pairs,
        vec![-1i64; updates],
        0,
        Reduce::Sum,
        ScatterOptions::default(),
    );
    assert!(wrong.is_err() || updates == 0);
    Ok(())
}

#[test]
fn calls_need_no_large_stack() {
    // The pool's threads have stacks of their own.
    for updates in [10, 300, 20_000, 400_000] {
        let call = move || calls(updates).expect("the calls are right");
        let thread = std::thread::Builder::new().stack_size(NEEDED);
        thread
            .spawn(call)
            .expect("a thread")
            .join()
            .expect("it ends well");
    }
}
