//! The bytes that an execution says it moves, and what it tells of a machine that was measured.

use strew::scatter::{Destinations, Reduction, Scatter, Start, Target};
use strew::{
    Arguments, Call, Combine, DType, DynTensor, Execution, Machine, Move, Split, Strategy, Value,
};

/// Lowers a call and does something with it.
fn call<R>(operator: &str, values: Vec<(&str, Value<'_>)>, work: impl FnOnce(Call<'_>) -> R) -> R {
    let mut arguments = Arguments::new(strew::find(operator).unwrap());
    for (name, value) in values {
        arguments.set_named(name, value).unwrap();
    }
    work(arguments.lower().unwrap())
}

/// What is moved: name, bytes read, written, touched first.
fn moved(execution: &Execution) -> Vec<(&'static str, u64, u64, u64)> {
    let moves = execution.traffic().unwrap().moves();
    let line = |m: &Move| (m.what, m.read, m.written, m.fresh);
    moves.iter().map(line).collect()
}

fn zeros(dtype: DType, shape: &[usize]) -> DynTensor {
    DynTensor::zeros(dtype, shape).unwrap()
}

/// A sum of rows of 16 into 10, in a new tensor.
fn rows<R>(dtype: DType, reduce: &str, work: impl FnOnce(Call<'_>) -> R) -> R {
    let (src, index) = (zeros(dtype, &[1000, 16]), zeros(DType::I64, &[1000]));
    let values = vec![
        ("src", Value::Tensor(src.view())),
        ("index", Value::Tensor(index.view())),
        ("dim", Value::Int(0)),
        ("dim_size", Value::Int(10)),
        ("reduce", Value::Text(reduce.to_owned().into())),
    ];
    call("torch_scatter.scatter", values, work)
}

#[test]
fn a_new_output_is_touched_once_and_its_rows_are_read_and_written() {
    rows(DType::F32, "sum", |call| {
        let told = moved(&call.execution().unwrap());
        let expected = [
            ("new output", 0, 0, 640),
            ("index", 8000, 0, 0),
            ("source", 64_000, 0, 0),
            ("destination", 640, 640, 0),
        ];
        assert_eq!(told, expected);
        let owners = call.with_split(Some((Split::Owner, 2))).execution();
        let told = moved(&owners.unwrap());
        assert_eq!(told[1], ("index", 16_000, 0, 0), "each thread reads all");
    });
}

#[test]
fn tables_are_touched_filled_and_read_back() {
    // A row of a mean has a count besides.
    for (dtype, reduce, source, count) in [
        (DType::F32, "mean", 64_000, 8),
        (DType::F16, "sum", 32_000, 0),
    ] {
        rows(dtype, reduce, |call| {
            let execution = call.execution().unwrap();
            assert_eq!(execution.strategy(), Strategy::DenseTable);
            let told = moved(&execution);
            // 10 rows of 16 accumulators of 4 bytes.
            let table = 10 * (16 * 4 + count);
            assert!(
                told.contains(&("table", 2 * table, table, table)),
                "{told:?}"
            );
            assert!(told.contains(&("source", source, 0, 0)), "{told:?}");
        });
    }
}

#[test]
fn lists_are_written_once_and_read_back_once() {
    let (src, index) = (zeros(DType::F32, &[1000]), zeros(DType::I64, &[1000]));
    let values = vec![
        ("src", Value::Tensor(src.view())),
        ("index", Value::Tensor(index.view())),
        ("dim_size", Value::Int(1_000_000)),
    ];
    call("torch_scatter.scatter_sum", values, |call| {
        let listed = call.with_strategy(Some(Strategy::Partition)).execution();
        let told = moved(&listed.unwrap());
        assert!(
            told.contains(&("list of the updates", 8000, 8000, 8000)),
            "{told:?}"
        );
        // Each update may go to a line of its own.
        assert!(
            told.contains(&("destination", 64_000, 64_000, 0)),
            "{told:?}"
        );
    });
}

#[test]
fn a_copied_input_and_strided_rows_cost_their_lines() {
    let (data, updates) = (zeros(DType::F32, &[64, 64]), zeros(DType::F32, &[32, 32]));
    let both = |value: i64| Value::Integers(vec![value; 2].into());
    let values = vec![
        ("data", Value::Tensor(data.view())),
        ("updates", Value::Tensor(updates.view())),
        ("start", both(0)),
        ("stop", both(64)),
        ("step", both(2)),
    ];
    call("openvino.slice_scatter", values, |call| {
        let expected = [
            ("input that is copied", 16_384, 0, 0),
            ("new output", 0, 0, 16_384),
            ("source", 4096, 0, 0),
            // Every second row, with all of its lines.
            ("destination", 0, 8192, 0),
        ];
        assert_eq!(moved(&call.execution().unwrap()), expected);
    });
}

#[test]
fn in_place_nothing_is_touched_first_and_the_index_is_read_once_more() {
    let mut table = zeros(DType::F32, &[10, 16]);
    let (updates, indices) = (zeros(DType::F32, &[1000, 16]), zeros(DType::I32, &[1000]));
    let values = vec![
        ("input_x", Value::Target(table.view_mut())),
        ("indices", Value::Tensor(indices.view())),
        ("updates", Value::Tensor(updates.view())),
    ];
    call("mindspore.scatter_mul", values, |call| {
        let expected = [
            ("index", 8000, 0, 0),
            ("source", 64_000, 0, 0),
            ("destination", 640, 640, 0),
        ];
        assert_eq!(moved(&call.execution().unwrap()), expected);
    });
}

#[test]
fn a_source_that_stands_for_many_is_read_once() {
    let one = zeros(DType::F32, &[1, 1]);
    let source = one.view().broadcast_to(&[1000, 16]).unwrap();
    let target = Target::New {
        dtype: DType::F32,
        start: Start::Zero,
    };
    let destinations = Destinations::affine(&[1000, 16], &[0, 0], &[1, 1], &[1000, 16]).unwrap();
    let scatter = Scatter::new(
        destinations,
        Reduction::into_self(Combine::Assign),
        "source",
        source,
        target,
    )
    .unwrap();
    let told = moved(&scatter.execution().unwrap());
    assert!(told.contains(&("source", 4, 0, 0)), "{told:?}");
}

#[test]
fn a_machine_that_was_measured_gives_a_time() {
    let machine = Machine::measure().unwrap();
    let rates = machine.rates(1);
    assert!(
        [rates.read, rates.write, rates.copy, rates.fresh]
            .iter()
            .all(|&rate| rate > 0.0)
    );
    assert!(machine.random(1 << 10, 4) > 0.0);
    assert!(machine.random(1 << 40, 4096) >= machine.random(1 << 40, 256));
    rows(DType::F32, "sum", |call| {
        let execution = call.execution().unwrap();
        assert!(execution.traffic().unwrap().seconds(&machine) > 0.0);
        let plain = execution.explain();
        let told = execution.explain_on(&machine);
        assert_eq!(told.facts()[..plain.facts().len()], *plain.facts());
        for name in ["measured bandwidth", "tighter bound", "predicted time"] {
            let found = |facts: &[(&str, String)]| facts.iter().any(|(n, _)| *n == name);
            assert!(found(told.facts()) && !found(plain.facts()), "{name}");
        }
    });
}
