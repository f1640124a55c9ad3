//! numpy_groupies: `aggregate`.
//!
//! Source of the semantics: numpy_groupies 0.11, the document of `aggregate`, its tests
//! (`numpy_groupies/tests/test_generic.py`) and runs of its NumPy implementation; see also
//! `COMPARE.md`.

use crate::dialect::framework::call::{Call, Describe};
use crate::dialect::framework::checks::{unknown_word, wrong_value};
use crate::dialect::framework::custom::{Steps, Stepwise};
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::operator::Arguments;
use strew_engine::checks::{expect_dtype, expect_shape};
use strew_engine::context::Context;
use strew_engine::describe::Output;
use strew_engine::describe::bounds::Bounds;
use strew_engine::plan::statistics::{Groups, Numbers};
use strew_kernel::error::{Class, Problem};
use strew_kernel::ops::cast::converted;
use strew_kernel::statistic::output::{Among, Wanted};
use strew_kernel::statistic::what::Statistic;
use strew_kernel::tensor::{DType, Dims, Held};

const NAME: &str = "numpy_groupies.aggregate";

const FUNCTIONS: &[&str] = &[
    "sum",
    "prod",
    "min",
    "max",
    "mean",
    "var",
    "std",
    "sumofsquares",
    "first",
    "last",
    "len",
    "any",
    "all",
    "allnan",
    "anynan",
    "argmin",
    "argmax",
    "cumsum",
    "cumprod",
    "cummin",
    "cummax",
    "sort",
    "nansum",
    "nanprod",
    "nanmin",
    "nanmax",
    "nanmean",
    "nanvar",
    "nanstd",
    "nansumofsquares",
    "nanfirst",
    "nanlast",
    "nanlen",
    "nanany",
    "nanall",
    "nanargmin",
    "nanargmax",
    "nancumsum",
    "nancumprod",
    "nancummin",
    "nancummax",
];

/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[AGGREGATE];

rows! {
    (
        group_idx: tensor =>
            "the group of each value: integers, none negative; 2-d: a row for each axis of the groups";
        a: tensor =>
            "the values: 1-d, with axis of any rank, or one number for sum, prod and len; any dtype";
        func: text = "sum" => "what is made of the values of a group", FUNCTIONS;
        size: optional_integers =>
            "how many groups there are, along each of their axes; None: one more than the largest number";
        fill_value: scalar = 0 => "what stands where nothing is made of a group";
        order: text = "C" => "how the result lies in memory: its elements are the same", &["C", "F"];
        dtype: optional_word => "the result's dtype; None: as func has it";
        axis: optional_int => "the axis of a along which group_idx stands";
        ddof: scalar = 0 => "what is taken off the number of values in var and std";
        reverse: bool = false => "whether sort puts the largest first";
    ) -> out;

    const AGGREGATE = "numpy_groupies.aggregate":
        "Aggregates the values of a by the group that each belongs to"
        = from_table(lower_from);
}

fn lower_from<'a>(args: &mut Arguments<'a>) -> Result<Call<'a>> {
    let (group_idx, a) = (args.tensor("group_idx")?, args.tensor("a")?);
    let func = args.optional_text("func");
    let size = args.optional_integers("size");
    let fill_value = args.optional_scalar("fill_value");
    let order = args.optional_text("order");
    let dtype = args.optional_text("dtype");
    let axis = args.optional_int("axis");
    let ddof = args.optional_scalar("ddof");
    let reverse = args.bool_or("reverse", false);
    let described = (|| {
        expect_order(order.as_deref())?;
        let ddof = number("ddof", ddof)?;
        let options = Options {
            func: Func::parse(func.as_deref().unwrap_or("sum"), ddof, reverse)?,
            size,
            fill_value: fill_value.unwrap_or(Scalar::Int(0)),
            dtype: dtype.as_deref().map(parse_dtype).transpose()?,
            axis,
        };
        describe(group_idx, a, options)
    })();
    call(described)
}

fn expect_order(order: Option<&str>) -> Result<(), Problem> {
    match order {
        None | Some("C" | "F") => Ok(()),
        Some(other) => Err(wrong_value("order", other, "it must be C or F")),
    }
}

fn number(argument: &'static str, given: Option<Scalar>) -> Result<f64, Problem> {
    let Some(given) = given else { return Ok(0.0) };
    given
        .real()
        .ok_or_else(|| wrong_value(argument, given, "it must be a real number"))
}

/// A dtype's name, or that of a type of Python's.
fn parse_dtype(word: &str) -> Result<DType, Problem> {
    match word {
        "int" => Ok(DType::I64),
        "float" => Ok(DType::F64),
        "complex" => Ok(DType::C128),
        other => other
            .parse()
            .map_err(|_| wrong_value("dtype", other, "it must be the name of a dtype")),
    }
}

/// The function that [`aggregate_dyn`] computes of the values of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Func {
    statistic: Statistic,
    /// NaN does not count.
    skip: bool,
}

impl Func {
    fn parse(word: &str, ddof: f64, reverse: bool) -> Result<Self, Problem> {
        let (skip, name) = match word.strip_prefix("nan") {
            Some(name) => (true, name),
            None => (false, word),
        };
        let statistic = match name {
            "sum" => Statistic::Sum,
            "prod" => Statistic::Prod,
            "min" => Statistic::Min,
            "max" => Statistic::Max,
            "mean" => Statistic::Mean,
            "var" => Statistic::Var { ddof },
            "std" => Statistic::Std { ddof },
            "sumofsquares" => Statistic::SumOfSquares,
            "first" => Statistic::First,
            "last" => Statistic::Last,
            "len" => Statistic::Len,
            "any" => Statistic::Any,
            "all" => Statistic::All,
            "argmin" => Statistic::ArgMin,
            "argmax" => Statistic::ArgMax,
            "cumsum" => Statistic::CumSum,
            "cumprod" => Statistic::CumProd,
            "cummin" => Statistic::CumMin,
            "cummax" => Statistic::CumMax,
            "allnan" if !skip => Statistic::AllNan,
            "anynan" if !skip => Statistic::AnyNan,
            "sort" if !skip => Statistic::Sort { reverse },
            "rsort" if !skip => Statistic::Sort { reverse: true },
            _ => {
                return Err(unknown_word("func", word, FUNCTIONS));
            }
        };
        Ok(Self { statistic, skip })
    }

    /// The result's dtype, of values of another. Sums of integers are of 64 bits.
    fn dtype(self, of: DType) -> DType {
        match self.statistic {
            Statistic::Len | Statistic::ArgMin | Statistic::ArgMax => DType::I64,
            Statistic::Any | Statistic::All | Statistic::AnyNan | Statistic::AllNan => DType::Bool,
            Statistic::Var { .. } | Statistic::Std { .. } => match of {
                DType::C64 => DType::F32,
                DType::F16 | DType::BF16 | DType::F32 => of,
                _ => DType::F64,
            },
            Statistic::Mean if !of.is_float() && !of.is_complex() => DType::F64,
            Statistic::Sum => match of {
                DType::U8 | DType::U16 | DType::U32 | DType::U64 => DType::U64,
                DType::Bool => DType::I64,
                of if of.is_integer() => DType::I64,
                of => of,
            },
            _ => of,
        }
    }

    /// The type that integers become before they are added or multiplied, if the result is of
    /// another kind: no integer wraps then.
    fn work(self, of: DType, result: DType) -> Option<DType> {
        let joins = matches!(
            self.statistic,
            Statistic::Sum
                | Statistic::Prod
                | Statistic::SumOfSquares
                | Statistic::CumSum
                | Statistic::CumProd
        );
        let whole = of.is_integer() || of == DType::Bool;
        match joins && whole {
            true if result.is_float() => Some(DType::F64),
            true if result.is_complex() => Some(DType::C128),
            _ => None,
        }
    }

    fn takes_scalars(self) -> bool {
        let takes = matches!(
            self.statistic,
            Statistic::Sum | Statistic::Prod | Statistic::Len
        );
        takes && !self.skip
    }

    fn is_flag(self) -> bool {
        self.dtype(DType::F64) == DType::Bool
    }
}

/// The arguments of a call that are not arrays.
#[derive(Debug)]
struct Options<'a> {
    func: Func,
    size: Option<Integers<'a>>,
    fill_value: Scalar,
    dtype: Option<DType>,
    axis: Option<i64>,
}

/// Aggregates the values of `a` by the group that each belongs to: numpy_groupies' `aggregate`.
///
/// * `group_idx`: the number of each value's group, none negative. 1-d, or 2-d for groups that
///   stand along several axes: then a row for each of them.
/// * `a`: the values, 1-d; with `axis` of any rank, whose other axes stay. One number for `sum`,
///   `prod` and `len`.
/// * `func`: `sum`, `prod`, `min`, `max`, `mean`, `var`, `std`, `sumofsquares`, `first`, `last`,
///   `len`, `any`, `all`, `allnan`, `anynan`, `argmin`, `argmax`; for each value: `cumsum`,
///   `cumprod`, `cummin`, `cummax`, `sort`, `rsort`. With the prefix `nan` (but for `sort`,
///   `rsort`, `allnan`, `anynan`) NaN does not count.
/// * `size`: how many groups there are along each axis of theirs; `None`: one more than the largest
///   number.
/// * `fill_value`: the result where there is none: for groups without values (that count), for
///   `argmin` and `argmax` of groups with a NaN, and for `var` and `std` of no more than `ddof`
///   values.
/// * `dtype`: of the result; `None`: that of `a`, but for counts and positions (`int64`), flags
///   (`bool`), sums of integers (of 64 bits), and means and deviations of integers (`float64`).
///
/// One pass over the values, group by group in their order. Integers are computed in 64 bits and
/// wrap, floats in `float64` (means and variances of integers, too), and are rounded once; `var`
/// and `std` take the mean first. A NaN that counts is the result of all but `len`, `first`, `last`
/// and the flags.
///
/// ```
/// use strew::{Scalar, TensorView};
/// use strew::numpy_groupies::aggregate_dyn;
///
/// let groups = TensorView::from(&[0i64, 1, 3, 1]).into_dyn();
/// let values = TensorView::from(&[1.0f64, 2.0, 5.0, 4.0]).into_dyn();
/// let fill = Scalar::Float(f64::NAN);
/// let out = aggregate_dyn(groups, values, "mean", None, fill, None, None, 0.0)?;
/// let out = out.typed::<f64>().unwrap();
/// assert_eq!(out.as_slice()[..2], [1.0, 3.0]);
/// assert!(out.as_slice()[2].is_nan());
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Value`] for negative or too large numbers, shapes that do not fit, names that are none,
/// and a fill value that the dtype does not have; [`Class::Type`] for dtypes that do not go
/// together.
#[allow(clippy::too_many_arguments)] // They are the framework's.
pub fn aggregate_dyn<'a>(
    group_idx: DynView<'a>,
    a: DynView<'a>,
    func: &str,
    size: Option<&'a [i64]>,
    fill_value: Scalar,
    dtype: Option<DType>,
    axis: Option<i64>,
    ddof: f64,
) -> Result<DynTensor> {
    let described = Func::parse(func, ddof, false).and_then(|func| {
        let size = size.map(Integers::from);
        let options = Options {
            func,
            size,
            fill_value,
            dtype,
            axis,
        };
        describe(group_idx, a, options)
    });
    call(described)?.run_dyn()
}

fn call<'a>(described: Result<Aggregated<'a>, Problem>) -> Result<Call<'a>> {
    let context = Context {
        operator: NAME.into(),
        class: |problem| match problem {
            Problem::DType { .. } | Problem::Kind { .. } | Problem::Unsupported { .. } => {
                Class::Type
            }
            _ => Class::Value,
        },
    };
    context.call(described.map(Stepwise::new))
}

/// Values to aggregate.
#[derive(Debug)]
struct Aggregated<'a> {
    groups: Held<'a>,
    values: Held<'a>,
    axis: usize,
    /// How many groups there are, and their shape.
    size: usize,
    shape: Dims,
    wanted: Wanted,
    skip: bool,
}

fn describe<'a>(
    group_idx: DynView<'a>,
    a: DynView<'a>,
    options: Options<'a>,
) -> Result<Aggregated<'a>, Problem> {
    expect_dtype(
        "group_idx",
        group_idx.dtype(),
        group_idx.dtype().is_integer(),
        "it must be of integer type",
    )?;
    let func = options.func;
    let dtype = result_type(&options, a.dtype())?;
    let fill = fill(&options, dtype)?;
    let a_dtype = a.dtype();
    let (groups, sizes) = numbered(group_idx, &options)?;
    let count = groups.view().len();
    let axis = axis_of_values(&a, options.axis)?;
    let mut values = values_of(a, func, count)?;
    if let Some(work) = func.work(a_dtype, dtype) {
        values = converted(values.view(), work)?.into();
    }
    let found = values.view().shape();
    expect_shape("a", found, found[axis] == count, || {
        format!("its size along axis {axis} must be that of group_idx, {count}")
    })?;
    let size = sizes
        .iter()
        .fold(1usize, |all, &len| all.saturating_mul(len));
    let mut shape = Dims::from_slice(found);
    if !func.statistic.is_of_each() {
        shape.remove(axis);
        shape.insert_many(axis, sizes);
    }
    let wanted = Wanted {
        statistic: func.statistic,
        fill,
    };
    Ok(Aggregated {
        groups,
        values,
        axis,
        size,
        shape,
        wanted,
        skip: func.skip,
    })
}

/// The axis of `a` that goes along `group_idx`.
fn axis_of_values(a: &DynView<'_>, given: Option<i64>) -> Result<usize, Problem> {
    let Some(given) = given else {
        expect_shape("a", a.shape(), a.rank() < 2, || {
            "it must be a number or have one axis, unless axis is given".into()
        })?;
        return Ok(0);
    };
    let rank = a.rank() as i64;
    match (-rank..rank).contains(&given) {
        true => Ok(given.rem_euclid(rank).unsigned_abs() as usize),
        false => Err(wrong_value(
            "axis",
            given,
            format_args!("a has {rank} axes"),
        )),
    }
}

/// The values to aggregate: `a`, or its one number `count` times.
fn values_of<'a>(a: DynView<'a>, func: Func, count: usize) -> Result<Held<'a>, Problem> {
    match a.rank() {
        0 if func.takes_scalars() => {
            Held::from(a)
                .map(|a| a.broadcast_to(&[count]))
                .ok_or_else(|| Problem::Layout {
                    argument: "a".into(),
                    why: "it cannot be repeated".into(),
                })
        }
        0 => Err(Problem::Shape {
            argument: "a",
            found: Vec::new(),
            expected: "one number is taken only by sum, prod and len".into(),
        }),
        _ => Ok(a.into()),
    }
}

fn result_type(options: &Options<'_>, of: DType) -> Result<DType, Problem> {
    let func = options.func;
    let Some(asked) = options.dtype else {
        return Ok(func.dtype(of));
    };
    let refused = match asked {
        DType::Bool => !func.is_flag(),
        asked => func.statistic == Statistic::Len && !asked.is_integer(),
    };
    let complex = func.dtype(of).is_complex() && !asked.is_complex();
    expect_dtype(
        "dtype",
        asked,
        !refused && !complex,
        format_args!("the function makes {}", func.dtype(of)),
    )?;
    Ok(asked)
}

/// The fill value as an element of the result's type, or of a larger integer type that holds it.
fn fill(options: &Options<'_>, dtype: DType) -> Result<DynTensor, Problem> {
    let given = options.fill_value;
    let refuse = |expected: &str| wrong_value("fill_value", given, expected);
    if options.func.is_flag() && ![Some(0.0), Some(1.0)].contains(&given.real()) {
        return Err(refuse("it must be true or false"));
    }
    if !dtype.is_integer() {
        return given.tensor("fill_value", dtype);
    }
    let whole = given.real().is_some_and(|value| value.fract() == 0.0);
    if !whole {
        return Err(refuse("it must be an integer, as the result is"));
    }
    let negative = given.real().is_some_and(|value| value < 0.0);
    let larger = [dtype, DType::I16, DType::I32, DType::I64];
    let holds = |to: DType| {
        let unsigned = matches!(to, DType::U8 | DType::U16 | DType::U32 | DType::U64);
        (to == dtype || to.size() > dtype.size()) && !(negative && unsigned)
    };
    let mut made = larger.into_iter().filter(|&to| holds(to));
    let made = made.find_map(|to| given.tensor("fill_value", to).ok());
    made.ok_or_else(|| refuse("no integer type holds it and the results"))
}

/// The number of each value's group, and how many groups there are along each of their axes.
fn numbered<'a>(
    group_idx: DynView<'a>,
    options: &Options<'a>,
) -> Result<(Held<'a>, Dims), Problem> {
    let axes = match group_idx.rank() {
        1 => 1,
        2 if options.axis.is_none() => group_idx.shape()[0],
        _ => {
            return Err(Problem::Shape {
                argument: "group_idx",
                found: group_idx.shape().to_vec(),
                expected: "it must have one axis, or two if there is no axis argument".into(),
            });
        }
    };
    let asked = options.size.as_ref().map(|size| size.sizes("size"));
    let asked = asked.transpose()?;
    if let Some(asked) = asked.as_ref().filter(|asked| asked.len() != axes) {
        return Err(wrong_value(
            "size",
            format_args!("{:?}", &asked[..]),
            format_args!("it must be of length {axes}, the axes of the groups"),
        ));
    }
    if asked.is_none() && group_idx.is_empty() {
        return Err(Problem::Shape {
            argument: "group_idx",
            found: group_idx.shape().to_vec(),
            expected: "it must not be empty where size is not given".into(),
        });
    }
    let mut sizes = Dims::new();
    for axis in 0..axes {
        sizes.push(match (&asked, numbers_along(&group_idx, axis)) {
            (Some(asked), _) => asked[axis],
            (None, Some(row)) => Bounds::STRICT.cells(&row, "group_idx")?,
            (None, None) => 0,
        });
    }
    if group_idx.rank() == 1 {
        return Ok((group_idx.into(), sizes));
    }
    let flat = flattened(&group_idx, &sizes)?;
    Ok((flat.into_dyn().into(), sizes))
}

/// The numbers along one axis of the groups.
fn numbers_along<'a>(group_idx: &DynView<'a>, axis: usize) -> Option<DynView<'a>> {
    match group_idx.rank() {
        1 => Some(group_idx.clone()),
        _ => group_idx.select(0, axis),
    }
}

/// Groups that are named by a number along each of several axes, as one number each.
fn flattened(group_idx: &DynView<'_>, sizes: &[usize]) -> Result<Tensor<i64>, Problem> {
    let count = group_idx.shape()[1];
    let mut flat = Tensor::<i64>::zeros(&[count])?;
    for (axis, &size) in sizes.iter().enumerate() {
        let Some(row) = numbers_along(group_idx, axis).filter(|row| !row.is_empty()) else {
            continue;
        };
        let mut at = 0;
        let places = flat.as_mut_slice();
        let inside = row.all_integers(|block| {
            for &value in block {
                if !usize::try_from(value).is_ok_and(|value| value < size) {
                    return false;
                }
                places[at] = places[at].wrapping_mul(size as i64).wrapping_add(value);
                at += 1;
            }
            true
        });
        if let (false, Some(value)) = (inside, row.index_value(&[at])) {
            return Err(Problem::IndexOutOfBounds {
                argument: "group_idx",
                position: vec![axis, at],
                value,
                axis,
                size: Some(size),
            });
        }
    }
    Ok(flat)
}

impl Steps for Aggregated<'_> {
    fn elements(&self) -> usize {
        self.values.view().len().max(self.size)
    }

    fn perform(&mut self) -> Result<Output, Problem> {
        let index = self.groups.view();
        let groups = Numbers::new(index, Some(self.size), Bounds::STRICT, "group_idx")?;
        let among = Among {
            skip: self.skip,
            least: 0,
        };
        let wanted = std::slice::from_ref(&self.wanted);
        let made =
            Groups::Index(groups).statistics(self.values.view(), self.axis, wanted, among)?;
        let made = made.into_iter().next();
        Ok(Output {
            tensor: made.map(|made| made.reshape(&self.shape).unwrap_or_else(|made| made)),
            arg: None,
        })
    }
}
