//! Sizes just below, at and beyond every limit at which the engine changes what it does.

use crate::compared::torch::defined;
use crate::naive::{self, Array, Outcome};
use crate::support::ways::{Needs, Way, assert_matches, call, made, positions, run, ways};
use crate::support::{Placement, Random, Spread, Strided, Style};
use strew::{DType, Split, Strategy, Value};

const REDUCES: [&str; 6] = ["sum", "prod", "mean", "amax", "amin", "exact_mean"];

/// `torch.scatter_reduce_` into memory with guards, in every way; gives the strategy it chose.
fn in_place(
    input: &Array,
    dim: usize,
    index: &Array,
    src: &Array,
    reduce: &str,
    include_self: bool,
) -> Strategy {
    let expected = naive::torch::scatter_reduce(input, dim, index, src, reduce, include_self);
    let needs = Needs::of(reduce, input.dtype);
    let inputs = [Strided::plain(index), Strided::plain(src)];
    let mut memory = Random(7);
    for way in few_ways() {
        let mut changed = Strided::new(input, &Placement::random(&mut memory, input.shape.len()));
        let call = call(
            "torch.scatter_reduce_",
            values(changed.target(), &inputs, dim, reduce, include_self),
        )
        .unwrap();
        if run(call, way, needs).is_some() {
            let what = || format!("{way:?} {} {:?} {reduce}", input.dtype, input.shape);
            assert_matches(&changed.read(), &expected, false, &what);
        }
        changed.assert_guards();
    }
    let mut unused = Strided::plain(input);
    let call = call(
        "torch.scatter_reduce_",
        values(unused.target(), &inputs, dim, reduce, include_self),
    )
    .unwrap();
    call.execution().unwrap().strategy()
}

/// A reduction that the element type has.
fn any_reduce(dtype: DType, random: &mut Random) -> &'static str {
    let reduce = random.pick(&["sum", "prod", "amax", "amin"]);
    if defined(dtype, reduce) {
        reduce
    } else {
        "sum"
    }
}

fn values<'v>(
    input: Value<'v>,
    [index, src]: &'v [Strided; 2],
    dim: usize,
    reduce: &str,
    include_self: bool,
) -> Vec<(&'static str, Value<'v>)> {
    vec![
        ("input", input),
        ("dim", Value::Int(dim as i64)),
        ("index", index.input()),
        ("src", src.input()),
        ("reduce", Value::Text(reduce.to_owned().into())),
        ("include_self", Value::Bool(include_self)),
    ]
}

#[test]
fn blocks_of_rows() {
    let mut random = Random(1);
    for dtype in DType::ALL {
        for (count, spread) in [511, 512, 513, 1024, 1025, 2600]
            .into_iter()
            .zip(Spread::ALL.into_iter().cycle())
        {
            for reduce in REDUCES.into_iter().filter(|r| defined(dtype, r)) {
                let input = random.array(dtype, &[37], Style::Tame);
                let values = random.indices(count, 37, spread);
                let index = Array::of_ints(DType::I64, &[count], &values);
                let src = random.array(dtype, &[count], Style::Tame);
                in_place(&input, 0, &index, &src, reduce, count % 2 == 0);
            }
        }
    }
}

/// Rows of which the last block is full and which end within an inner axis.
#[test]
fn blocks_that_end_within_an_axis() {
    let mut random = Random(2);
    for dtype in [DType::F32, DType::BF16, DType::I16] {
        for shape in [[5, 300, 3], [300, 5, 2], [2, 2, 700]] {
            for dim in 0..3 {
                let input = random.array(
                    dtype,
                    &[5, 300, 700].map(|n: usize| n.min(700)),
                    Style::Tame,
                );
                let mut input_shape = shape;
                input_shape[dim] = 11;
                let input = Array {
                    data: input.data[..input_shape.iter().product()].to_vec(),
                    shape: input_shape.to_vec(),
                    ..input
                };
                let count = shape.iter().product();
                let values = random.indices(count, 11, Spread::Skewed);
                let index = Array::of_ints(DType::I32, &shape, &values);
                let src = random.array(dtype, &shape, Style::Tame);
                in_place(&input, dim, &index, &src, "sum", true);
                in_place(&input, dim, &index, &src, "mean", false);
                in_place(&input, dim, &index, &src, "exact_sum", true);
            }
        }
    }
}

/// A table is dense while it is small, or has at most four rows per row of updates.
#[test]
fn dense_and_compact_tables() {
    let mut random = Random(3);
    // Counts of f16 sums: 4 + 8 bytes a row, so 1 MiB holds 87381 rows.
    for (cells, count, strategy) in [
        (87_381, 3, Strategy::DenseTable),
        (87_382, 3, Strategy::CompactTable),
        (100_000, 24_999, Strategy::CompactTable),
        (100_000, 25_000, Strategy::DenseTable),
    ] {
        for dtype in [DType::F16, DType::BF16] {
            for (reduce, include_self) in [("sum", true), ("prod", false), ("mean", true)] {
                let input = random.array(dtype, &[cells], Style::Tame);
                let spread = random.pick(&Spread::ALL);
                let values = random.indices(count, cells, spread);
                let index = Array::of_ints(DType::I64, &[count], &values);
                let src = random.array(dtype, &[count], Style::Tame);
                let chosen = in_place(&input, 0, &index, &src, reduce, include_self);
                assert_eq!(chosen, strategy, "{cells} {count} {dtype} {reduce}");
            }
        }
    }
    // Means of every type, with many touched rows in a much larger destination.
    for dtype in DType::ALL.into_iter().filter(|&t| defined(t, "mean")) {
        let input = random.array(dtype, &[2, 150_000], Style::Tame);
        let values = random.indices(2 * 1500, 150_000, Spread::Uniform);
        let index = Array::of_ints(DType::I64, &[2, 1500], &values);
        let src = random.array(dtype, &[2, 1500], Style::Tame);
        let chosen = in_place(&input, 1, &index, &src, "mean", true);
        assert_eq!(chosen, Strategy::CompactTable);
    }
}

/// Columns whose rows are far apart: one tile and several, whole ones and what is left over.
#[test]
fn columns_in_tiles() {
    let mut random = Random(9);
    for (rows, columns, updates, strategy) in [
        (63, 1024, 70, Strategy::InOrder),
        (64, 1024, 15, Strategy::InOrder),
        (64, 1024, 16, Strategy::Tiled),
        (65, 1100, 20, Strategy::Tiled),
        (700, 127, 180, Strategy::InOrder),
        (700, 130, 180, Strategy::Tiled),
    ] {
        for dtype in [DType::F32, DType::I32] {
            let reduce = any_reduce(dtype, &mut random);
            let input = random.array(dtype, &[rows, columns], Style::Tame);
            let spread = random.pick(&Spread::ALL);
            let values = random.indices(updates * columns, rows, spread);
            let index = Array::of_ints(DType::I64, &[updates, columns], &values);
            let src = random.array(dtype, &[updates, columns], Style::Tame);
            let chosen = in_place(&input, 0, &index, &src, reduce, true);
            assert_eq!(chosen, strategy, "{rows} {columns} {updates} {dtype}");
            let afresh = in_place(&input, 0, &index, &src, reduce, false);
            assert_eq!(afresh, Strategy::InOrder);
        }
    }
    for dtype in DType::ALL {
        let input = random.array(dtype, &[3, 5, 2, 140], Style::Tame);
        for dim in 0..3 {
            let mut shape = [3, 5, 2, 140];
            shape[dim] = 7;
            let count = shape.iter().product();
            let values = random.indices(count, [3, 5, 2][dim], Spread::Uniform);
            let index = Array::of_ints(DType::I32, &shape, &values);
            let src = random.array(dtype, &shape, Style::Tame);
            in_place(&input, dim, &index, &src, "sum", true);
        }
    }
}

/// Lines around the length from which on they are taken sixteen at a time, into destinations that are small enough for it or not.
#[test]
fn long_lines() {
    let mut random = Random(15);
    let spreads = Spread::ALL.into_iter().cycle();
    for dtype in DType::ALL {
        let near = (64 << 10) / dtype.size();
        let sizes = [(8191, 5), (8192, near), (8193, near + 1), (8223, 300)];
        for ((count, cells), spread) in sizes.into_iter().zip(spreads.clone()) {
            for index_type in [DType::I32, DType::I64] {
                let reduce = any_reduce(dtype, &mut random);
                let input = random.array(dtype, &[cells], Style::Tame);
                let values = random.indices(count, cells, spread);
                let index = Array::of_ints(index_type, &[count], &values);
                let src = random.array(dtype, &[count], Style::Tame);
                in_place(&input, 0, &index, &src, reduce, true);
            }
        }
    }
}

/// Lines that begin with as many changes of the index as are taken to be few, or one more; also of rows, and what follows is
/// anything.
#[test]
fn repeated_cells() {
    let mut random = Random(16);
    for dtype in DType::ALL {
        for (count, changes) in [
            (511, 0),
            (512, 0),
            (513, 6),
            (700, 7),
            (701, 12),
            (702, 13),
            (703, 16),
            (704, 17),
            (16_384 + 700, 6),
        ] {
            // Runs of equal values at first, and then whatever comes.
            let mut values: Vec<i64> = (0..200).map(|i| (i / 7).min(changes)).collect();
            values.extend(random.indices(count - values.len(), 19, Spread::Skewed));
            for index_type in [DType::I32, DType::I64] {
                let index = Array::of_ints(index_type, &[count], &values);
                let reduce = any_reduce(dtype, &mut random);
                let input = random.array(dtype, &[19], Style::Special);
                let src = random.array(dtype, &[count], Style::Special);
                in_place(&input, 0, &index, &src, reduce, false);
                in_place(&input, 0, &index, &src, reduce, true);
                let src = random.array(dtype, &[count, 5], Style::Tame);
                rows_anew(&src, &index, 19, "sum");
            }
        }
    }
}

/// Every reduction of lines that repeat, or do not, in turn: some cells come again after others, and some never.
#[test]
fn repeated_cells_of_every_reduction() {
    let mut random = Random(18);
    let count = 2 * 16_384 + 900;
    let mut values: Vec<i64> = (0..count as i64).map(|i| i / 700 % 30).collect();
    values[16_384..17_000].copy_from_slice(&random.indices(616, 40, Spread::Uniform));
    let index = Array::of_ints(DType::I64, &[count], &values);
    for dtype in DType::ALL {
        let input = random.array(dtype, &[43], Style::Special);
        let src = random.array(dtype, &[count], Style::Tame);
        for reduce in REDUCES.into_iter().filter(|r| defined(dtype, r)) {
            in_place(&input, 0, &index, &src, reduce, true);
            in_place(&input, 0, &index, &src, reduce, false);
        }
    }
}

/// An index value out of bounds at any place of a line whose cells repeat: nothing is changed.
#[test]
fn repeated_cells_out_of_bounds() {
    for at in [0, 1, 127, 128, 600, 999] {
        let mut values = vec![3; 1000];
        values[at] = 7;
        let index = Array::of_ints(DType::I64, &[1000], &values);
        let src = Random(17).array(DType::F32, &[1000], Style::Tame);
        let (src, index) = (Strided::plain(&src), Strided::plain(&index));
        let error = call("torch_scatter.scatter_sum", values_of_rows(&src, &index, 7)).unwrap();
        let error = error.run().unwrap_err().to_string();
        assert!(error.contains(&format!("index[{at}] = 7")), "{error}");
    }
}

/// Elements along every axis, in lines that are too many to be taken at once.
#[test]
fn many_lines() {
    let mut random = Random(10);
    let shape = [3, 150, 130];
    for dtype in DType::ALL {
        for (dim, index_type) in [
            (0, DType::I64),
            (1, DType::I32),
            (1, DType::I64),
            (2, DType::I32),
        ] {
            let input = random.array(dtype, &shape, Style::Tame);
            let count = shape.iter().product();
            let values = random.indices(count, shape[dim], Spread::Uniform);
            let index = Array::of_ints(index_type, &shape, &values);
            let src = random.array(dtype, &shape, Style::Tame);
            in_place(&input, dim, &index, &src, "sum", true);
        }
    }
}

/// Single updates all over a destination of two blocks, more than a chunk for each of them.
#[test]
fn blocks_of_a_partition() {
    let mut random = Random(8);
    let spreads = Spread::ALL.into_iter().cycle();
    let of_each_size = [DType::U8, DType::F16, DType::F32, DType::C64, DType::C128];
    for (dtype, spread) in of_each_size.into_iter().zip(spreads) {
        // A block is a mebibyte; the last one is short.
        let cells = (5 << 18) / dtype.size();
        for (reduce, include_self) in [("sum", true), ("amax", false), ("prod", false)] {
            let reduce = if defined(dtype, reduce) {
                reduce
            } else {
                "sum"
            };
            let input = random.array(dtype, &[cells], Style::Tame);
            let values = random.indices(3000, cells, spread);
            let index = Array::of_ints(DType::I64, &[3000], &values);
            let src = random.array(dtype, &[3000], Style::Tame);
            let chosen = in_place(&input, 0, &index, &src, reduce, include_self);
            assert_ne!(chosen, Strategy::Partition);
        }
    }
}

/// Beyond 64 MiB updates are listed, if there are enough of them.
#[test]
fn listed_from_64_mebibytes_on() {
    let cells = (64 << 20) + 2;
    for (count, strategy) in [(261_000, Strategy::InOrder), (1 << 18, Strategy::Partition)] {
        let mut target = strew::DynTensor::zeros(DType::I8, &[cells]).unwrap();
        let index = strew::DynTensor::zeros(DType::I64, &[count]).unwrap();
        let src = strew::DynTensor::zeros(DType::I8, &[count]).unwrap();
        let arguments = vec![
            ("input", Value::Target(target.view_mut())),
            ("dim", Value::Int(0)),
            ("index", Value::Tensor(index.view())),
            ("src", Value::Tensor(src.view())),
            ("reduce", Value::Text("sum".into())),
        ];
        let plan = call("torch.scatter_reduce_", arguments)
            .unwrap()
            .execution();
        assert_eq!(plan.unwrap().strategy(), strategy, "{count}");
    }
}

/// Updates are sorted by row first where that pays to find the positions of winners.
#[test]
fn grouped_by_row() {
    let mut random = Random(12);
    for (reduce, updates, cells, width, strategy) in [
        ("sum", 4100, 2050, 256, Strategy::InOrder),
        ("max", 4096, 2048, 256, Strategy::Grouped),
        ("max", 4096, 2049, 256, Strategy::InOrder),
        ("min", 1 << 17, 1 << 16, 8, Strategy::Grouped),
        ("max", (1 << 17) - 1, 100, 8, Strategy::InOrder),
        ("max", 1 << 18, 100, 7, Strategy::InOrder),
    ] {
        let values = random.indices(updates, cells, Spread::Skewed);
        let index = Array::of_ints(DType::I64, &[updates], &values);
        let src = random.array(DType::F32, &[updates, width], Style::Tame);
        let chosen = rows_anew(&src, &index, cells, reduce);
        assert_eq!(chosen, strategy, "{reduce} {updates} {cells} {width}");
    }
}

/// Single elements, of which a thread's own are picked some at a time and joined eight at a time: about as many as are picked at a
/// time, and twice as many, where all but a few or nearly none are a thread's.
#[test]
fn own_single_elements() {
    let mut random = Random(14);
    for (count, spread) in [1023, 1024, 1025, 2055]
        .into_iter()
        .zip(Spread::ALL.into_iter().cycle())
    {
        for dtype in DType::ALL {
            for index_type in [DType::I32, DType::I64] {
                let values = random.indices(count, 300, spread);
                let index = Array::of_ints(index_type, &[count], &values);
                let src = random.array(dtype, &[count], Style::Tame);
                for reduce in ["sum", "mul", "min", "max"] {
                    let ordered = !matches!(dtype, DType::C64 | DType::C128);
                    if ordered || reduce == "sum" || reduce == "mul" {
                        rows_anew(&src, &index, 300, reduce);
                    }
                }
            }
        }
    }
    let last = |value| Array::of_ints(DType::I64, &[2055], &[&[3; 2054][..], &[value]].concat());
    let src = random.array(DType::F32, &[2055], Style::Tame);
    let (src, index) = (Strided::plain(&src), Strided::plain(&last(300)));
    let summed = call(
        "torch_scatter.scatter_sum",
        values_of_rows(&src, &index, 300),
    )
    .unwrap();
    let error = summed.with_split(Some((Split::Owner, 3))).run();
    let error = error.unwrap_err();
    assert!(error.to_string().contains("index[2054] = 300"), "{error}");
}

/// Sums of rows of 2 to 31 elements, whose index is used as it is, and of one less and one more.
#[test]
fn short_rows() {
    let mut random = Random(13);
    let spreads = Spread::ALL.into_iter().cycle();
    for (width, spread) in (1..=33).zip(spreads) {
        // What has loops of its own, and one type that has none.
        let types = match width {
            ..10 => &DType::ALL[..],
            _ => &[
                DType::F32,
                DType::F64,
                DType::I32,
                DType::U32,
                DType::I64,
                DType::U64,
                DType::F16,
            ],
        };
        for &dtype in types {
            for index_type in [DType::I32, DType::I64] {
                let values = random.indices(1100, 50, spread);
                let index = Array::of_ints(index_type, &[1100], &values);
                let src = random.array(dtype, &[1100, width], Style::Tame);
                rows_anew(&src, &index, 50, "sum");
            }
        }
    }
    // Some rows with the same index value.
    for width in [2, 9, 31] {
        let values = random.indices(3 * 200, 50, Spread::Skewed);
        let index = Array::of_ints(DType::I64, &[3, 200, 1], &values);
        let src = random.array(DType::F32, &[3, 200, width], Style::Tame);
        rows_along(1, &src, &index, 50, "sum");
    }
    let wrong = Array::of_ints(DType::I32, &[300], &[[3; 299].as_slice(), &[7]].concat());
    for width in [4, 20] {
        let src = random.array(DType::F32, &[300, width], Style::Tame);
        let (src, index) = (Strided::plain(&src), Strided::plain(&wrong));
        let values = values_of_rows(&src, &index, 7);
        let error = call("torch_scatter.scatter_sum", values).unwrap().run();
        let error = error.unwrap_err().to_string();
        assert!(error.contains("index[299] = 7"), "{error}");
    }
}

/// A new tensor of reduced rows, on one thread and on some; gives the strategy that is chosen.
fn rows_anew(src: &Array, index: &Array, cells: usize, reduce: &str) -> Strategy {
    rows_along(0, src, index, cells, reduce)
}

/// Likewise, along an axis.
fn rows_along(dim: usize, src: &Array, index: &Array, cells: usize, reduce: &str) -> Strategy {
    let expected = naive::torch_scatter::scatter(src, index, dim, None, Some(cells), reduce);
    let dtype = src.dtype;
    let what = || format!("{reduce} {dtype} {:?}", src.shape);
    let (src, index) = (Strided::plain(src), Strided::plain(index));
    let name = format!("torch_scatter.scatter_{reduce}");
    for (threads, split) in [(1, None), (2, None), (3, Some(Split::Owner))] {
        let way = Way {
            threads,
            force: None,
            split,
        };
        let made_by = call(&name, values_along(dim, &src, &index, cells)).unwrap();
        let output = run(made_by, way, Needs::of(reduce, dtype)).expect("any strategy will do");
        assert_matches(&made(&output), &expected, false, &what);
        if reduce == "min" || reduce == "max" {
            assert_eq!(Some(positions(&output)), expected.arg, "{}", what());
        }
    }
    let call = call(&name, values_along(dim, &src, &index, cells)).unwrap();
    call.execution().unwrap().strategy()
}

fn values_of_rows<'v>(
    src: &'v Strided,
    index: &'v Strided,
    cells: usize,
) -> Vec<(&'static str, Value<'v>)> {
    values_along(0, src, index, cells)
}

fn values_along<'v>(
    dim: usize,
    src: &'v Strided,
    index: &'v Strided,
    cells: usize,
) -> Vec<(&'static str, Value<'v>)> {
    vec![
        ("src", src.input()),
        ("index", index.input()),
        ("dim", Value::Int(dim as i64)),
        ("dim_size", Value::Int(cells as i64)),
    ]
}

/// Rows of a few elements, each width with loops of its own.
#[test]
fn narrow_windows() {
    let mut random = Random(10);
    for width in (1..=17).chain(31..=33).chain(63..=65) {
        for dtype in DType::ALL
            .into_iter()
            .filter(|&t| t != DType::Bool && !t.is_complex())
        {
            let rows = random.indices(40, 6, Spread::Skewed);
            multiply(&mut random, dtype, dtype, &[6, width], &rows);
        }
    }
}

/// Windows up to and beyond the widest, in one axis and in several.
#[test]
fn wide_windows() {
    let mut random = Random(4);
    // A window that is too wide gives up outer axes, but never its last.
    for (window, width) in [
        (&[65_536][..], 65_536),
        (&[65_537], 65_537),
        (&[3, 40_000], 40_000),
        (&[256, 256], 65_536),
        (&[300, 219], 219),
        (&[2, 3, 20_000], 60_000),
    ] {
        let shape = [&[4], window].concat();
        let updates = [&[5], window].concat();
        for dtype in [DType::F32, DType::F16, DType::I8, DType::C128] {
            let values = [3, 1, 3, 0, 3];
            let indices = Array::of_ints(DType::I64, &[1, 5], &values);
            let data = random.array(dtype, &updates, Style::Tame);
            let expected = naive::mxnet::scatter_nd(&data, &indices, &shape);
            let (data, indices) = (Strided::plain(&data), Strided::plain(&indices));
            let sizes: Vec<i64> = shape.iter().map(|&n| n as i64).collect();
            for way in few_ways() {
                let values = vec![
                    ("data", data.input()),
                    ("indices", indices.input()),
                    ("shape", Value::Integers(sizes.clone().into())),
                ];
                let call = call("mxnet.scatter_nd", values).unwrap();
                assert_eq!(call.execution().unwrap().width(), width);
                if let Some(output) = run(call, way, Needs::of("assign", dtype)) {
                    assert_matches(&made(&output), &expected, true, &|| format!("{window:?}"));
                }
            }
        }
        for (dtype, from) in [
            (DType::F16, DType::F16),
            (DType::F32, DType::I16),
            (DType::F16, DType::I64),
        ] {
            multiply(&mut random, dtype, from, &shape, &[3, 1, 3, 0, 3]);
        }
    }
}

/// Updates are converted in chunks of 8192 elements, and of at least one row.
#[test]
fn converted_chunks() {
    let mut random = Random(5);
    for width in [1, 7, 4095, 8191, 8192, 8193, 20_000] {
        let rows = random.indices(20, 6, Spread::Skewed);
        for (dtype, from) in [
            (DType::F64, DType::F32),
            (DType::F32, DType::BF16),
            (DType::F16, DType::I32),
            (DType::I64, DType::U8),
            (DType::BF16, DType::Bool),
        ] {
            multiply(&mut random, dtype, from, &[6, width], &rows);
        }
    }
    let many = random.indices(3000, 6, Spread::Uniform);
    multiply(&mut random, DType::F16, DType::I64, &[6, 3], &many);
    multiply(&mut random, DType::F64, DType::Bool, &[6], &many);
}

/// `mindspore.scatter_mul` of rows, in a few ways.
fn multiply(random: &mut Random, dtype: DType, from: DType, shape: &[usize], rows: &[i64]) {
    let input = random.array(dtype, shape, Style::Tame);
    let indices = Array::of_ints(DType::I32, &[rows.len()], rows);
    let updates_shape = [&[rows.len()], &shape[1..]].concat();
    let updates = random.array(from, &updates_shape, Style::Tame);
    let expected = naive::mindspore::scatter_mul(&input, &indices, &updates);
    let (indices, updates) = (Strided::plain(&indices), Strided::plain(&updates));
    for way in few_ways() {
        let mut changed = Strided::new(&input, &Placement::random(random, shape.len()));
        let values = vec![
            ("input_x", changed.target()),
            ("indices", indices.input()),
            ("updates", updates.input()),
        ];
        let call = call("mindspore.scatter_mul", values).unwrap();
        if run(call, way, Needs::of("prod", dtype)).is_some() {
            let what = || format!("{way:?} {dtype} {from} {shape:?}");
            assert_matches(&changed.read(), &expected, false, &what);
        }
        changed.assert_guards();
    }
}

/// The largest index, which is the size of a new output, wherever in its index it stands.
#[test]
fn largest_of_a_long_index() {
    let src = Random(6).array(DType::F32, &[3, 1500], Style::Tame);
    for at in [0, 1023, 1024, 1499, 1500, 4499] {
        let mut values = vec![2; 4500];
        values[at] = 9;
        for how in [vec![3, 1500], vec![3, 1500, 1]] {
            let mut src = src.clone();
            src.shape.clone_from(&how);
            let index = Array::of_ints(DType::I64, &how, &values);
            for flipped in [false, true] {
                let plain = Placement::plain(how.len());
                let memory = if flipped {
                    Placement::random(&mut Random(3), how.len())
                } else {
                    plain
                };
                new_groups(&src, &index, &memory);
            }
        }
    }
}

fn new_groups(src: &Array, index: &Array, memory: &Placement) {
    for reduce in ["sum", "max", "min"] {
        let expected: Outcome = naive::torch_scatter::scatter(src, index, 0, None, None, reduce);
        let (src, index) = (Strided::plain(src), Strided::new(index, memory));
        let values = vec![
            ("src", src.input()),
            ("index", index.input()),
            ("dim", Value::Int(0)),
        ];
        let call = call(&format!("torch_scatter.scatter_{reduce}"), values).unwrap();
        let way = Way {
            threads: 2,
            force: None,
            split: None,
        };
        let output = run(call, way, Needs::of(reduce, DType::F32)).unwrap();
        assert_matches(&made(&output), &expected, false, &|| reduce.to_owned());
        if reduce != "sum" {
            assert_eq!(Some(positions(&output)), expected.arg);
        }
    }
}

/// Each strategy once, with 1 and 8 threads.
fn few_ways() -> impl Iterator<Item = Way> {
    ways().filter(|way| way.threads == 1 || way.threads == 8)
}
