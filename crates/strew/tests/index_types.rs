//! Typed functions take an index of any integer type, also where the framework has two or three.
//! The erased ones keep to the framework's types.

use strew::{Element, Index, Result, Tensor, TensorView};

const SRC: [f32; 6] = [1.5, -2.0, 4.0, 0.5, 3.0, -1.0];
const INDEX: [i64; 6] = [1, 0, 2, 1, 1, 0];
const ASCENDING: [i64; 6] = [0, 0, 1, 1, 1, 3];
const POINTERS: [i64; 4] = [0, 2, 2, 6];
const TUPLES: [i64; 4] = [0, 1, 2, 0];
const NAMES: [i64; 3] = [2, 0, 1];

fn seen<T: Element>(made: Result<Tensor<T>>) -> String {
    made.unwrap().to_string()
}

/// What an in-place operator makes of numbers.
fn changed(work: impl FnOnce(&mut [f32]) -> Result<()>) -> String {
    let mut numbers = [1.0, 2.0, 3.0, 4.0];
    work(&mut numbers).unwrap();
    format!("{numbers:?}")
}

/// Every family of operators, with an index made by `of`.
fn torch<I: Index>(of: &impl Fn(&[i64]) -> Vec<I>) -> Vec<String> {
    use strew::torch::{self, Reduce, Segments};
    let (index, names) = (of(&INDEX), of(&NAMES));
    let input = [10.0f32, 20.0, 30.0];
    let to = |reduce| torch::scatter_reduce(input, 0, &index, SRC, reduce, true);
    vec![
        seen(to(Reduce::Sum)),
        seen(to(Reduce::Mean)),
        seen(to(Reduce::Amax)),
        seen(torch::scatter(input, 0, &index, SRC, None)),
        seen(torch::scatter_add(input, 0, &index, SRC)),
        seen(torch::scatter_value(input, 0, &index, 7.0, None)),
        seen(torch::gather(input, 0, &index)),
        seen(torch::take_along_dim(input, &index, Some(0))),
        seen(torch::index_add(input, 0, &index, SRC, 2.0)),
        seen(torch::index_copy(input, 0, &names, input)),
        seen(torch::index_fill(input, 0, &names, 1.0)),
        seen(torch::put(input, &index, SRC, true)),
        seen(torch::segment_reduce(
            SRC,
            Reduce::Sum,
            Segments::Offsets(of(&POINTERS)),
            0,
            None,
        )),
        seen(strew::grad::torch_scatter::scatter_vjp(
            input,
            SRC,
            &index,
            0,
            strew::torch_scatter::Reduce::Mul,
        )),
    ]
}

fn torch_scatter<I: Index>(of: &impl Fn(&[i64]) -> Vec<I>) -> Vec<String> {
    use strew::torch_scatter::{self as ts, Reduce};
    let (index, ascending, pointers) = (of(&INDEX), of(&ASCENDING), of(&POINTERS));
    let both = |made: Result<(Tensor<f32>, Tensor<i64>)>| {
        made.map(|(out, arg)| format!("{out} {arg}")).unwrap()
    };
    vec![
        seen(ts::scatter_sum(SRC, &index, 0)),
        seen(ts::scatter_add(SRC, &index, 0)),
        seen(ts::scatter_mul(SRC, &index, 0)),
        seen(ts::scatter_mean(SRC, &index, 0)),
        seen(ts::scatter(SRC, &index, 0, Some(4), Reduce::Mean)),
        both(ts::scatter_min(SRC, &index, 0, None)),
        both(ts::scatter_max(SRC, &index, 0, None)),
        seen(ts::scatter_std(SRC, &index, 0, None, true)),
        seen(ts::scatter_logsumexp(SRC, &index, 0, None, 1e-12)),
        seen(ts::scatter_softmax(SRC, &index, 0, None)),
        seen(ts::segment_coo(SRC, &ascending, None, Reduce::Sum)),
        both(ts::segment_min_coo(SRC, &ascending, None)),
        seen(ts::segment_csr(SRC, &pointers, Reduce::Mean)),
        both(ts::segment_max_csr(SRC, &pointers)),
        seen(ts::gather_coo(SRC, &ascending)),
        seen(ts::gather_csr(&SRC[..3], &pointers)),
        changed(|out| ts::scatter_out(SRC, &index, 0, out, Reduce::Sum)),
    ]
}

fn others<I: Index>(of: &impl Fn(&[i64]) -> Vec<I>) -> Vec<String> {
    let (index, ascending, names) = (of(&INDEX), of(&ASCENDING), of(&NAMES));
    let pairs = of(&TUPLES);
    let pairs = TensorView::from_slice(&pairs, &[2, 2]).unwrap();
    let ones = TensorView::from_slice(&names, &[3, 1]).unwrap();
    let input = [10.0f32, 20.0, 30.0];
    let square = TensorView::from_slice(&SRC, &[3, 2]).unwrap();
    let wide = TensorView::from_slice(&SRC, &[2, 3]).unwrap();
    let two = [5.0f32, 6.0];
    vec![
        seen(strew::onnx::scatter_elements(
            input, &names, input, 0, "add",
        )),
        seen(strew::onnx::gather(input, &index, 0)),
        seen(strew::onnx::gather_elements(input, &index, 0)),
        seen(strew::openvino::scatter_update(input, &names, input, 0)),
        seen(strew::mindspore::tensor_scatter_add(&square, &pairs, two)),
        seen(strew::mindspore::scatter_nd(&pairs, two, &[3, 2])),
        seen(strew::mindspore::tensor_scatter_elements(
            input, &names, input, 0, "add",
        )),
        changed(|out| strew::mindspore::scatter_mul(out, &index, SRC)),
        seen(strew::tensorflow::scatter_nd(&pairs, two, &[3, 2])),
        seen(strew::tensorflow::tensor_scatter_nd_max(
            &square, &pairs, two,
        )),
        changed(|out| strew::tensorflow::scatter_add(out, &index, SRC)),
        seen(strew::tensorflow::segment_mean(SRC, &ascending)),
        seen(
            strew::tensorflow::unsorted_segment_sum(SRC, &index, 4)
                .map(|sums| sums.typed::<f32>().unwrap()),
        ),
        seen(strew::paddle::scatter(input, &names, input, false)),
        seen(strew::paddle::gather(input, &names, 0)),
        seen(strew::paddle::index_add(input, &index, 0, SRC)),
        seen(strew::paddle::scatter_nd(&ones, input, &[4])),
        seen(strew::paddle::segment_sum(SRC, &ascending)),
        seen(strew::mxnet::gather_nd(&wide, &pairs)),
        seen(strew::scatter(
            SRC,
            &index,
            0,
            strew::Reduce::Sum,
            strew::ScatterOptions::default(),
        )),
        seen(strew::aggregate(
            SRC,
            &index,
            0,
            strew::aggregates::Median,
            strew::AggregateOptions::default(),
        )),
    ]
}

fn all<I: Index + TryFrom<i64>>() -> Vec<String> {
    let of = |values: &[i64]| -> Vec<I> {
        let each = values.iter().map(|&value| I::try_from(value).ok().unwrap());
        each.collect()
    };
    [torch(&of), torch_scatter(&of), others(&of)].concat()
}

#[test]
fn typed_functions_take_any_integers() {
    let wanted = all::<i64>();
    assert_eq!(all::<i8>(), wanted);
    assert_eq!(all::<i16>(), wanted);
    assert_eq!(all::<i32>(), wanted);
    assert_eq!(all::<isize>(), wanted);
    assert_eq!(all::<u8>(), wanted);
    assert_eq!(all::<u16>(), wanted);
    assert_eq!(all::<u32>(), wanted);
    assert_eq!(all::<u64>(), wanted);
    assert_eq!(all::<usize>(), wanted);
}

#[test]
fn a_large_unsigned_index_is_out_of_range() {
    let error =
        strew::torch_scatter::scatter(SRC, vec![usize::MAX; 6], 0, Some(4), "sum".parse().unwrap());
    assert_eq!(
        error.unwrap_err().to_string(),
        "torch_scatter.scatter: index[0] = 18446744073709551615: index 18446744073709551615 is out of bounds for dimension 0 with size 4"
    );
    // From the end counts what is negative, which no unsigned number is.
    let error = strew::paddle::gather(SRC, [u32::MAX], 0).unwrap_err();
    assert!(error.to_string().contains("4294967295"), "{error}");
}

/// Without a size the largest index says it, and no dimension is that long.
#[test]
fn an_index_beyond_any_size_is_named() {
    let index = [0, usize::MAX, 1 << 63];
    let said = |error: strew::Error| error.to_string();
    let options = strew::ScatterOptions::default();
    let beyond = "index[1] = 18446744073709551615: index 18446744073709551615 is out of bounds for dimension 0 of any size";
    let made = strew::scatter([1, 2, 3], index, 0, strew::Reduce::Sum, options);
    assert_eq!(said(made.unwrap_err()), format!("strew.scatter: {beyond}"));
    let made = strew::torch_scatter::scatter_sum([1, 2, 3], index, 0);
    assert_eq!(
        said(made.unwrap_err()),
        format!("torch_scatter.scatter_sum: {beyond}")
    );
    let plan = strew::Plan::builder(&index).build().unwrap_err();
    assert!(matches!(
        plan.problem(),
        strew::Problem::IndexOutOfBounds { value, size: None, .. }
            if value.integer() == Some(u64::MAX.into())
    ));
    let options = strew::AggregateOptions::default();
    let made = strew::aggregate([1, 2, 3], index, 0, strew::aggregates::Sum, options);
    assert_eq!(said(made.unwrap_err()), format!("aggregate: {beyond}"));
    let error = strew::numpy::bincount(index, 0).unwrap_err().to_string();
    assert!(error.contains("x[1] = 18446744073709551615"), "{error}");
    let error = strew::jax::segment_sum([1, 2, 3], index, None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("segment_ids[1] = 18446744073709551615"),
        "{error}"
    );
}

/// An index that is ignored is that number, and no other one that `i64` cannot hold either.
#[test]
fn large_unsigned_indices_are_told_apart() {
    let large = [i64::MAX as u64, 1 << 63, (1 << 63) + 5, u64::MAX];
    let modes = ["error", "wrap", "drop", "clip"];
    for (&ignored, mode) in large.iter().flat_map(|one| modes.map(|mode| (one, mode))) {
        let bounds = mode.parse::<strew::Bounds>().unwrap().ignoring(ignored);
        for &one in &large {
            let index = [0, one, 1, ignored];
            let counts = |size| {
                Ok(strew::Plan::builder(&index)
                    .size(size)
                    .bounds(bounds)
                    .build()?
                    .counts()?
                    .into_vec())
            };
            let wanted = match mode {
                _ if one == ignored => Some([1, 1, 0]),
                "drop" => Some([1, 1, 0]),
                "clip" => Some([1, 1, 1]),
                _ => None,
            };
            let options = strew::ScatterOptions {
                dim_size: Some(3),
                bounds,
                ..Default::default()
            };
            let sums = strew::scatter([1i64; 4], index, 0, strew::Reduce::Sum, options);
            let picked = strew::gather(
                [7, 8, 9],
                index,
                0,
                strew::GatherOptions {
                    bounds,
                    fill_value: None,
                },
            );
            let mut all = strew::Accumulator::new(
                Some(3),
                &[strew::Aggregate::Len],
                strew::DType::I64,
                &[],
                bounds,
                strew::AggregateOptions::default(),
            )
            .unwrap();
            let (values, view) = (
                TensorView::from(&[1i64; 4]).into_dyn(),
                TensorView::from(&index).into_dyn(),
            );
            let taken = all.update_dyn(&values, &view, None);
            match wanted {
                Some(wanted) => {
                    assert_eq!(
                        counts(3),
                        Ok::<_, strew::Error>(wanted.to_vec()),
                        "{index:?} {mode}"
                    );
                    assert_eq!(sums.unwrap().as_slice(), wanted);
                    let last = if wanted[2] == 1 { 9 } else { 0 };
                    assert_eq!(picked.unwrap().as_slice(), [7, last, 8, 0]);
                    taken.unwrap();
                    let made = all.result().unwrap().remove(0).typed::<i64>().unwrap();
                    assert_eq!(made.as_slice(), wanted);
                }
                None => {
                    let said = format!(
                        "index[1] = {one}: index {one} is out of bounds for dimension 0 with size 3"
                    );
                    let errors = [
                        counts(3).unwrap_err(),
                        sums.unwrap_err(),
                        picked.unwrap_err(),
                        taken.unwrap_err(),
                    ];
                    for error in errors {
                        assert!(error.to_string().ends_with(&said), "{error}");
                    }
                }
            }
        }
    }
    // What the index's type cannot hold ignores nothing.
    let bounds = strew::Bounds::STRICT.ignoring(u64::MAX);
    let error = strew::Plan::builder(&[0, i64::MAX])
        .size(2)
        .bounds(bounds)
        .build()
        .unwrap_err();
    assert!(
        error.to_string().contains("index[1] = 9223372036854775807"),
        "{error}"
    );
    let bounds = strew::Bounds::DROP.ignoring(-1);
    assert_eq!(
        strew::Plan::builder(&[0, u64::MAX])
            .size(2)
            .bounds(bounds)
            .build()
            .unwrap()
            .dropped(),
        1
    );
}

#[test]
fn rows_of_arrays_and_boxes_are_tensors() {
    let rows = [[1.0f32, 2.0], [3.0, 4.0]];
    let (listed, boxed): (Vec<[f32; 2]>, Box<[f32]>) = (rows.to_vec(), Box::new([1.0, 2.0]));
    let options = strew::ScatterOptions::default();
    let sums = |src: TensorView<'_, f32>| {
        strew::scatter(src, Box::new([1usize, 1]), 0, strew::Reduce::Sum, options).unwrap()
    };
    for sums in [
        sums((&rows).into()),
        sums((&listed).into()),
        sums(rows[..].into()),
    ] {
        assert_eq!((sums.shape(), sums.len()), (&[2, 2][..], 4));
        assert_eq!(sums.as_slice(), [0.0, 0.0, 4.0, 6.0]);
    }
    assert_eq!(sums((&boxed).into()).as_slice(), [0.0, 3.0]);
    let mut out: Box<[f32]> = Box::new([10.0, 20.0]);
    let into = strew::ScatterIntoOptions::default();
    strew::scatter_into(boxed, [1u8, 1], 0, strew::Reduce::Sum, &mut out, into).unwrap();
    assert_eq!(*out, [10.0, 23.0]);
    assert_eq!(strew::with_threads(1, strew::num_threads).get(), 1);
}
