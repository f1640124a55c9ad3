//! The ledger: how calls go, of many kinds, beside `ledger.txt`, where it is written down.
//!
//! Nothing is scattered here. Each call tells its strategy, how it is shared out, how its cells
//! begin, how often it walks its updates, and its working memory. A change that was not meant shows
//! as a line that differs. After one that was, `STREW_LEDGER=write` writes the file again.

use Order::{PerElement, Skewed, Sorted, Uniform};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use strew::{Arguments, Call, DType, DynTensor, Kind, Tensor, Value, with_threads};

/// The numbers of threads of each call.
const THREADS: [usize; 4] = [1, 2, 4, 16];

const TYPES: [DType; 7] = [
    DType::F32,
    DType::F64,
    DType::BF16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::C64,
];

/// The order of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Order {
    Uniform,
    Sorted,
    /// Four of five updates go to one row.
    Skewed,
    /// Every element of an update has a row of its own. Only of operators that have such an index.
    PerElement,
}

/// Rows of updates, elements of each, rows of the destination, and the order of the index.
type Problem = (usize, usize, usize, Order);

const PROBLEMS: [Problem; 17] = [
    (100, 1, 10, Uniform),
    (1_000, 16, 300, Uniform),
    (100_000, 1, 1_000, Uniform),
    (400_000, 1, 1_000, Skewed),
    (400_000, 1, 300_000, Sorted),
    (500_000, 1, 20_000_000, Uniform),
    (1_000_000, 1, 9_000_000, Uniform),
    (1_000_000, 1, 9_000_000, Skewed),
    (100_000, 8, 20_000, Uniform),
    (100_000, 64, 10_000, Uniform),
    (100_000, 64, 10_000, Skewed),
    (100_000, 64, 10_000, Sorted),
    (20_000, 64, 2_000_000, Uniform),
    (2_000, 3_000, 500, Uniform),
    (2_000, 512, 500, PerElement),
    (500, 4_096, 500, PerElement),
    (20, 60_000, 30, PerElement),
];

/// Operators with their reductions, and whether cells' own values may be left out.
const OPERATORS: &[(&str, &[&str], bool)] = &[
    (
        "torch_scatter.scatter",
        &["sum", "mul", "mean", "max"],
        false,
    ),
    ("torch_scatter.scatter_max", &[], false),
    (
        "strew.scatter",
        &["mean", "assign", "exact_sum", "exact_mean"],
        false,
    ),
    ("torch_scatter.segment_coo", &["sum", "mean", "max"], false),
    ("torch_scatter.segment_csr", &["sum", "mean", "max"], false),
    ("tensorflow.math.unsorted_segment_sqrt_n", &[], false),
    ("tensorflow.math.unsorted_segment_max", &[], false),
    (
        "torch.scatter_reduce_",
        &["sum", "prod", "mean", "amax"],
        true,
    ),
    ("torch.scatter_reduce", &["sum", "mean", "amin"], true),
    ("torch.scatter_", &[], false),
    ("torch.slice_scatter", &[], false),
    ("torch.index_reduce_", &["prod", "mean", "amax"], true),
    ("torch.index_add_", &[], false),
    ("torch.index_add", &[], false),
    ("torch.index_copy_", &[], false),
    ("mindspore.scatter_mul", &[], false),
    ("mindspore.scatter_div", &[], false),
    ("mindspore.scatter_update", &[], false),
    ("mxnet.scatter_nd", &[], false),
    ("mxnet.backward_gather_nd", &[], false),
    ("tensorflow.scatter_nd", &[], false),
    ("strew.gather", &[], false),
    ("torch.gather", &[], false),
];

/// The facts that the ledger keeps.
const KEPT: [&str; 5] = [
    "strategy",
    "shared out",
    "destination begins",
    "passes over the updates or their index",
    "working memory, at most",
];

/// Indices, each made once.
#[derive(Default)]
struct Indices(HashMap<(usize, usize, Order), DynTensor>);

impl Indices {
    fn of(&mut self, (count, width, cells, order): Problem) -> &DynTensor {
        let count = match order {
            PerElement => count * width,
            _ => count,
        };
        self.0.entry((count, cells, order)).or_insert_with(|| {
            list(count, |n| {
                // A prime: every row as often as any other, in no order.
                let anywhere = n * 2_654_435_761 % cells;
                match order {
                    Uniform | PerElement => anywhere,
                    Sorted => n * cells / count,
                    Skewed if n % 5 > 0 => cells / 2,
                    Skewed => anywhere,
                }
            })
        })
    }
}

fn list(len: usize, value: impl Fn(usize) -> usize) -> DynTensor {
    let mut list = Tensor::<i64>::zeros(&[len]).unwrap();
    let places = list.as_mut_slice().iter_mut().enumerate();
    places.for_each(|(n, place)| *place = value(n) as i64);
    list.into_dyn()
}

/// A line of the ledger: an operator, its reduction, and whether cells' own values count.
#[derive(Clone, Copy)]
struct Line {
    operator: &'static str,
    reduce: &'static str,
    own: bool,
}

impl Line {
    fn all() -> Vec<Self> {
        let mut lines = Vec::new();
        for &(operator, reduces, left_out) in OPERATORS {
            let reduces = if reduces.is_empty() { &[""] } else { reduces };
            for &reduce in reduces {
                let owns: &[bool] = if left_out { &[true, false] } else { &[true] };
                lines.extend(owns.iter().map(|&own| Self {
                    operator,
                    reduce,
                    own,
                }));
            }
        }
        lines
    }

    /// Whether its index has an element for each of the updates.
    fn is_per_element(self) -> bool {
        self.operator.starts_with("torch.scatter") || self.operator == "torch.gather"
    }

    fn name(self) -> String {
        let own = if self.own { "" } else { " without self" };
        format!("{} {}{own}", self.operator, self.reduce)
    }

    /// How the calls of a problem go, by the number of threads.
    fn ways(self, dtype: DType, problem: Problem, index: &DynTensor) -> Vec<String> {
        let (count, width, cells, _) = problem;
        let gathers = self.operator.ends_with("gather");
        let has_offsets = self.operator.ends_with("csr");
        let offsets = has_offsets.then(|| list(cells + 1, |cell| cell * count / cells));
        let shape = |rows: usize| match width {
            1 => vec![rows],
            _ => vec![rows, width],
        };
        // Memory that nothing touches is not there.
        let updates = DynTensor::zeros(dtype, &shape(count)).unwrap();
        let mut cells_there = DynTensor::zeros(dtype, &shape(cells)).unwrap();
        let integers: Vec<i64> = shape(cells).iter().map(|&len| len as i64).collect();
        let ways = THREADS.map(|threads| {
            let rows = index.view();
            let each = match problem.3 {
                PerElement => rows.clone().reshape(&[count, width]).unwrap(),
                _ if width == 1 => rows.clone(),
                _ => {
                    let column = rows.clone().reshape(&[count, 1]).unwrap();
                    column.broadcast_to(&shape(count)).unwrap()
                }
            };
            let operator = strew::find(self.operator).expect(self.operator);
            let mut arguments = Arguments::new(operator);
            // Only one argument is the destination.
            let mut there = Some(&mut cells_there);
            for argument in operator.arguments {
                let value = match argument.name {
                    "src" | "input" if gathers => Value::Tensor(there.take().unwrap().view()),
                    "src" | "source" | "updates" | "data" => Value::Tensor(updates.view()),
                    "input" | "input_x" => {
                        let there = there.take().unwrap();
                        match argument.kind {
                            Kind::Target => Value::Target(there.view_mut()),
                            _ => Value::Tensor(there.view()),
                        }
                    }
                    "index" if self.is_per_element() => Value::Tensor(each.clone()),
                    "index" | "segment_ids" => Value::Tensor(rows.clone()),
                    "indices" if self.operator.starts_with("mxnet") => {
                        Value::Tensor(rows.clone().reshape(&[1, count]).unwrap())
                    }
                    "indices" if self.operator.starts_with("tensorflow") => {
                        Value::Tensor(rows.clone().reshape(&[count, 1]).unwrap())
                    }
                    "indices" => Value::Tensor(rows.clone()),
                    "indptr" => Value::Tensor(offsets.as_ref().unwrap().view()),
                    "start" => Value::Int(0),
                    "end" => Value::Int(count as i64),
                    "dim" => Value::Int(0),
                    "dim_size" | "num_segments" => Value::Int(cells as i64),
                    "shape" => Value::Integers((&integers[..]).into()),
                    "reduce" => Value::Text(self.reduce.trim_start_matches("exact_").into()),
                    "include_self" if !self.own => Value::Bool(false),
                    "exact" => Value::Bool(self.reduce.starts_with("exact_")),
                    _ => continue,
                };
                arguments.set_named(argument.name, value).unwrap();
            }
            with_threads(threads, || told(arguments.lower()))
        });
        ways.to_vec()
    }
}

/// What a call tells, or its error.
fn told(call: strew::Result<Call<'_>>) -> String {
    let execution = match call.and_then(|call| call.execution()) {
        Ok(execution) => execution,
        Err(error) => return format!("error: {:?}", error.class()),
    };
    let facts = execution.facts();
    let kept = KEPT.map(|name| {
        let fact = facts.iter().find(|(of, _)| *of == name);
        fact.map_or("", |(_, value)| value.as_str())
    });
    kept.join(" | ")
}

/// The ways of all calls. Each way has a number; types that go the same ways share a line.
fn ledger() -> String {
    let mut indices = Indices::default();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let (mut legend, mut lines) = (String::new(), String::new());
    for line in Line::all() {
        for problem in PROBLEMS {
            if problem.3 == PerElement && !line.is_per_element() {
                continue;
            }
            let index = indices.of(problem);
            let mut by_ways: Vec<(String, Vec<String>)> = Vec::new();
            for dtype in TYPES {
                let mut cells = Vec::new();
                for way in line.ways(dtype, problem, index) {
                    let next = numbers.len();
                    let number = *numbers.entry(way.clone()).or_insert_with(|| {
                        writeln!(legend, "{next} = {way}").unwrap();
                        next
                    });
                    cells.push(number.to_string());
                }
                let cells = cells.join(" ");
                match by_ways.iter_mut().find(|(ways, _)| *ways == cells) {
                    Some((_, types)) => types.push(dtype.to_string()),
                    None => by_ways.push((cells, vec![dtype.to_string()])),
                }
            }
            for (ways, types) in by_ways {
                let (count, width, cells, order) = problem;
                writeln!(
                    lines,
                    "{}: {count}x{width} into {cells} {order:?}, {}: {ways}",
                    line.name(),
                    types.join(" ")
                )
                .unwrap();
            }
        }
    }
    format!("{legend}\n{lines}")
}

#[test]
fn calls_go_as_written_down() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ledger.txt");
    let now = ledger();
    if std::env::var_os("STREW_LEDGER").is_some_and(|asked| asked == "write") {
        std::fs::write(&path, &now).unwrap();
    }
    let before = std::fs::read_to_string(&path).unwrap();
    let differing: Vec<_> = (before.lines().zip(now.lines()))
        .filter(|(before, now)| before != now)
        .take(20)
        .collect();
    assert!(differing.is_empty(), "before and now: {differing:#?}");
    assert_eq!(before.lines().count(), now.lines().count());
}
