//! What is predicted for another machine.

use std::sync::LazyLock;
use strew::{
    Arguments, Bound, Call, Counted, DynTensor, Forecast, Machine, OtherMachine, Strategy, Tensor,
    TensorView, Value,
};

/// Measured once: it takes some tenths of a second.
static HERE: LazyLock<Machine> = LazyLock::new(|| Machine::measure().unwrap());

/// Lowers a sum of rows of ones and does something with it.
fn sum<R>(cells: &[i64], rows: i64, width: usize, work: impl FnOnce(Call<'_>) -> R) -> R {
    let src = ones(&[cells.len(), width]);
    let index = TensorView::from_slice(cells, &[cells.len()]).unwrap();
    let mut arguments = Arguments::new(strew::find("torch_scatter.scatter_sum").unwrap());
    for (name, value) in [
        ("src", Value::Tensor(src.view())),
        ("index", Value::Tensor(index.into_dyn())),
        ("dim", Value::Int(0)),
        ("dim_size", Value::Int(rows)),
    ] {
        arguments.set_named(name, value).unwrap();
    }
    work(arguments.lower().unwrap())
}

fn ones(shape: &[usize]) -> DynTensor {
    let mut tensor = Tensor::<f32>::zeros(shape).unwrap();
    tensor.as_mut_slice().fill(1.0);
    tensor.into_dyn()
}

fn forecast(call: &Call<'_>, machine: &str, counted: Option<&Counted>) -> Forecast {
    let machine: OtherMachine = machine.parse().unwrap();
    call.forecast(&HERE, &machine, counted).unwrap().unwrap()
}

/// Every row as often as any other, in no order.
fn even(updates: i64, rows: i64) -> Vec<i64> {
    (0..updates).map(|n| n * 7919 % rows).collect()
}

#[test]
fn bandwidth_binds_a_slow_machine() {
    sum(&even(200_000, 10_007), 10_007, 64, |call| {
        let counted = call.counted().unwrap().unwrap();
        assert_eq!(counted.profile().updates(), 200_000);
        let slow = forecast(&call, "64x10MB/s", Some(&counted));
        assert_eq!(slow.bound, Bound::Bandwidth);
        let moved = slow.bytes as f64 / 10e6;
        assert!((slow.seconds - moved).abs() < 1e-9, "{slow:?}");
        assert!(slow.alone >= 51.2e6 / 10e6, "{slow:?}");
        let one = forecast(&call, "1x500GB/s", Some(&counted));
        assert_eq!((one.threads, one.speedup()), (1, 1.0));
    });
}

#[test]
fn a_hot_cell_bounds_what_more_cores_can_do() {
    let mut cells = even(200_000, 10_007);
    for cell in cells.iter_mut().step_by(2) {
        *cell = 77;
    }
    sum(&cells, 10_007, 64, |call| {
        let counted = call.counted().unwrap().unwrap();
        assert!(counted.profile().most() >= 100_000);
        let in_order = call.with_strategy(Some(Strategy::InOrder));
        let told = forecast(&in_order, "64x10TB/s", Some(&counted));
        assert!(told.threads > 2, "{told:?}");
        assert!(told.speedup() < 2.2, "{told:?}");
        assert!(
            [Bound::HottestCell, Bound::Index].contains(&told.bound),
            "{told:?}"
        );
    });
}

#[test]
fn a_prediction_changes_nothing() {
    let cells = even(50_000, 999);
    let expected = sum(&cells, 999, 8, |call| call.run().unwrap().tensor.unwrap());
    sum(&cells, 999, 8, |call| {
        let counted = call.counted().unwrap();
        for strategy in [None].into_iter().chain(Strategy::ALL.map(Some)) {
            sum(&cells, 999, 8, |call| {
                let machine: OtherMachine = "16x100GB/s".parse().unwrap();
                let call = call.with_strategy(strategy);
                let told = call.forecast(&HERE, &machine, counted.as_ref());
                assert_eq!(told.is_ok(), call.execution().is_ok(), "{strategy:?}");
            });
        }
        let made = call.run().unwrap().tensor.unwrap();
        assert_eq!(made.as_bytes(), expected.as_bytes());
    });
}

#[test]
fn runs_without_a_sample_have_a_prediction_too() {
    let (data, updates) = (ones(&[512, 512]), ones(&[256, 256]));
    let both = |value: i64| Value::Integers(vec![value; 2].into());
    let mut arguments = Arguments::new(strew::find("openvino.slice_scatter").unwrap());
    for (name, value) in [
        ("data", Value::Tensor(data.view())),
        ("updates", Value::Tensor(updates.view())),
        ("start", both(0)),
        ("stop", both(512)),
        ("step", both(2)),
    ] {
        arguments.set_named(name, value).unwrap();
    }
    let call = arguments.lower().unwrap();
    assert!(forecast(&call, "8x100GB/s", None).seconds > 0.0);
    // Nothing to do.
    sum(&[], 0, 4, |call| {
        let counted = call.counted().unwrap();
        let machine: OtherMachine = "8".parse().unwrap();
        let told = call.forecast(&HERE, &machine, counted.as_ref()).unwrap();
        assert!(told.is_none_or(|told| told.seconds >= 0.0));
    });
}

#[test]
fn cores_alone_have_the_bandwidth_of_one_each_up_to_a_limit() {
    let of = |text: &str| text.parse::<OtherMachine>().unwrap().bandwidth(&HERE);
    assert_eq!(of("1"), HERE.rates(1).read);
    assert!(of("256") <= 200e9_f64.max(HERE.rates(HERE.threads()).read));
    assert_eq!(of("256x3GiB/s"), 3.0 * f64::from(1 << 30));
    assert!(of("16") >= of("1"));
}
