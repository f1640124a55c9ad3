//! strew's own scatter and gather, for code without a framework in mind.
//!
//! Any integer is an index, an index lies along `dim` or broadcasts as in NumPy, and everything
//! that frameworks leave open is an argument.

use crate::dialect::framework::call::{Call, Describe};
use crate::dialect::framework::checks::{
    expect_axes, expect_dtype_of, expect_size, unknown_word, wrong_value,
};
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::operator::{Arguments, int};
use strew_engine::checks::{axis, expect_dtype, expect_shape};
use strew_engine::context::Context;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::take::PickedAxes;
use strew_engine::describe::destinations::{Destinations, Place};
use strew_engine::describe::gather::Gather;
use strew_engine::describe::reduction::{Init, Reduction};
use strew_engine::describe::{Output, Scatter, Start, Target};
use strew_engine::plan::reduce::Reduce;
use strew_kernel::error::{Class, Problem};
use strew_kernel::tensor::Dims;

const SRC: &str = "rank 1 or more, any dtype";

const DIM: &str = "the axis that index points along; negative counts from the end";

const MODE: &str = "what an index means that names no cell: an error; wrap: negative ones count \
     from the end; drop: nothing; clip: the nearest cell";

const MODES: &[&str] = &["error", "wrap", "drop", "clip"];

const IGNORE_INDEX: &str = "elements with this index are left out, whatever the mode";

/// The words for reductions. Some reductions have two words.
const REDUCE: &[&str] = &[
    "sum",
    "mean",
    "prod",
    "min",
    "max",
    "assign",
    "add",
    "mul",
    "amin",
    "amax",
    "exact_sum",
    "exact_mean",
];

/// strew's own operators.
pub(super) const OPERATORS: &[Operator] = &[SCATTER, GATHER];

rows! {
    (
        src: tensor<T> => SRC;
        index: tensor =>
            "the cell of each element along dim, of any integer type: 1-d, along dim, or what broadcasts to src";
        dim: int = -1 => DIM;
        out: optional_target =>
            "a tensor to go on reducing into, in place: src's shape but for dim, src's dtype";
        dim_size: optional_int =>
            "the result's size along dim if there is no out; None: the largest index plus 1";
        reduce: text = "sum" =>
            "sum (or add), mean, prod (or mul), min and max (or amin, amax; NaN wins), or assign: the last one",
            REDUCE;
        mode: text = "error" => MODE, MODES;
        include_self: bool = true =>
            "whether what a cell of out holds counts as one more element of it";
        fill_value: optional_scalar =>
            "what cells of a new result hold that no element goes to; None: 0, and 1 for prod";
        ignore_index: optional_int => IGNORE_INDEX;
        exact: bool = false =>
            "whether a sum or a mean of floats is the exact one, rounded once, which depends on no order";
    ) -> out;

    const SCATTER = "strew.scatter":
        "Reduces the elements of src that share an index along dim"
        = from_table(lower_scatter);
}

rows! {
    (
        src: tensor<T> => SRC;
        index: tensor =>
            "where each element comes from along dim, of any integer type: 1-d, for whole slices, or of src's rank, both broadcast apart from dim";
        dim: int = -1 => DIM;
        mode: text = "error" => MODE, MODES;
        fill_value: optional_scalar => "what stands where an index is left out; None: 0";
        ignore_index: optional_int => IGNORE_INDEX;
    ) -> out;

    const GATHER = "strew.gather":
        "The elements of src that index names along dim"
        = from_table(lower_gather);
}

/// How [`scatter`] makes its result.
#[derive(Clone, Copy, Debug)]
pub struct ScatterOptions {
    /// The result's size along `dim`; `None`: the largest index that counts, plus 1.
    pub dim_size: Option<usize>,
    /// What an index that names no cell means, and which indices are ignored.
    pub bounds: Bounds,
    /// The value of cells that no element goes to; `None`: 0, and 1 for a product. Not for
    /// [`Reduce::Min`] and [`Reduce::Max`], which mark such cells by their value.
    pub fill_value: Option<Scalar>,
}

impl Default for ScatterOptions {
    fn default() -> Self {
        Self {
            dim_size: None,
            bounds: Bounds::STRICT,
            fill_value: None,
        }
    }
}

/// How [`scatter_into`] writes.
#[derive(Clone, Copy, Debug)]
pub struct ScatterIntoOptions {
    /// What a cell holds is one more of its elements. Without it, cells that elements go to forget
    /// what they held. [`Reduce::Assign`] replaces it in any case.
    pub include_self: bool,
    /// What an index that names no cell means, and which indices are ignored.
    pub bounds: Bounds,
}

impl Default for ScatterIntoOptions {
    fn default() -> Self {
        Self {
            include_self: true,
            bounds: Bounds::STRICT,
        }
    }
}

/// What [`gather`] makes of an index that names no element.
#[derive(Clone, Copy, Debug)]
pub struct GatherOptions {
    /// What it means, and which indices are ignored.
    pub bounds: Bounds,
    /// The result where an index is left out; `None`: 0.
    pub fill_value: Option<Scalar>,
}

impl Default for GatherOptions {
    fn default() -> Self {
        Self {
            bounds: Bounds::STRICT,
            fill_value: None,
        }
    }
}

/// Reduces the elements of `src` that share an index along `dim` into a new tensor.
///
/// * `src`: at least one dimension, any element type.
/// * `index`: any integer type. A 1-d index lies along `dim`; one of other rank is broadcast to
///   `src`'s shape as NumPy does it: its last axis is `src`'s last.
/// * The result has `src`'s shape but for `dim`, and its type: sums and products of integers wrap,
///   means are rounded down. 16-bit floats accumulate in `f32` and are rounded once.
///
/// ```
/// use strew::{Reduce, ScatterOptions, scatter};
///
/// let src = [[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// let options = ScatterOptions { dim_size: Some(3), ..ScatterOptions::default() };
/// let sums = scatter(src, [2u8, 0, 2], 0, Reduce::Sum, options)?;
/// assert_eq!(sums.to_string(), "[[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]]");
///
/// let options = ScatterOptions { fill_value: Some((-1.0).into()), ..options };
/// let most = scatter(src, [2u8, 0, 2], 0, Reduce::Amax, options)?;
/// assert_eq!(most.to_string(), "[[3.0, 4.0], [-1.0, -1.0], [5.0, 6.0]]");
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Index`] for a wrong `dim` and an index that names no cell, [`Class::Type`] for an index
/// of another type and for types that a reduction is not defined for, [`Class::Value`] for shapes
/// and values that do not fit, [`Class::Memory`].
pub fn scatter<T: Element, I: Index>(
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    reduce: Reduce,
    options: ScatterOptions,
) -> Result<Tensor<T>> {
    let (src, index) = (src.as_tensor().of_rust(), index.as_tensor().of_rust());
    Ok(crate::dialect::typed(
        new(src, &index, dim, reduce, options)?.tensor,
    ))
}

/// [`scatter`] with element types known at run time, and the same errors.
pub fn scatter_dyn(
    src: DynView<'_>,
    index: &DynView<'_>,
    dim: i64,
    reduce: Reduce,
    options: ScatterOptions,
) -> Result<DynTensor> {
    Ok(crate::dialect::tensor(
        new(src, index, dim, reduce, options)?.tensor,
    ))
}

fn new<'a>(
    src: DynView<'a>,
    index: &DynView<'a>,
    dim: i64,
    reduce: Reduce,
    options: ScatterOptions,
) -> Result<Output> {
    let to = To {
        dim_size: options.dim_size.map(int),
        fill_value: options.fill_value,
        ..To::default()
    };
    let described = describe(src, index, dim, to, reduce, options.bounds);
    context("strew.scatter").call(described)?.run()
}

/// [`scatter`] into an existing tensor, in place.
///
/// * `src`, `index`, `dim`, `reduce`: as by [`scatter`].
/// * `out` has `src`'s shape but for `dim`. Cells that no element goes to stay as they are.
///
/// ```
/// use strew::{Bounds, Reduce, ScatterIntoOptions, scatter_into};
///
/// let mut totals = [10, 20, 30];
/// let options = ScatterIntoOptions::default();
/// scatter_into([1, 2, 4], [2i64, 2, 0], -1, Reduce::Sum, &mut totals, options)?;
/// assert_eq!(totals, [14, 20, 33]);
///
/// // The update of a KV cache: each new row replaces the row of its slot; -1 is no slot.
/// let mut cache = vec![[0.0f32; 2]; 4];
/// let new = [[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// let options = ScatterIntoOptions { bounds: Bounds::DROP, ..options };
/// scatter_into(new, [3, -1, 0], 0, Reduce::Assign, &mut cache, options)?;
/// assert_eq!(cache, [[5.0, 6.0], [0.0, 0.0], [0.0, 0.0], [1.0, 2.0]]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter`]; `out` is then unchanged.
pub fn scatter_into<'a, T: Element, I: Index>(
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    reduce: Reduce,
    out: impl Into<TensorViewMut<'a, T>>,
    options: ScatterIntoOptions,
) -> Result<()> {
    let (src, index) = (src.as_tensor().of_rust(), index.as_tensor().of_rust());
    let to = To {
        out: Some(out.into().into_dyn()),
        include_self: options.include_self,
        ..To::default()
    };
    let described = describe(src, &index, dim, to, reduce, options.bounds);
    context("strew.scatter").call(described)?.run_in_place()
}

/// The elements of `src` that `index` names along `dim`: the way back of [`scatter`]. Bits are
/// copied.
///
/// * `index`: any integer type. A 1-d index takes whole slices: the result has its size along
///   `dim`. Otherwise it has `src`'s rank, and both are broadcast apart from `dim`; the result has
///   the index's size there.
///
/// ```
/// use strew::{Bounds, GatherOptions, gather};
///
/// let src = [[1, 2], [3, 4]];
/// let rows = gather(src, [1u32, 1, 0], 0, GatherOptions::default())?;
/// assert_eq!(rows.to_string(), "[[3, 4], [3, 4], [1, 2]]");
/// let options = GatherOptions { bounds: Bounds::DROP, fill_value: Some(7.into()) };
/// let one_each = gather(src, [[1i64], [-1]], 1, options)?;
/// assert_eq!(one_each.to_string(), "[[2], [7]]");
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter`].
pub fn gather<T: Element, I: Index>(
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    options: GatherOptions,
) -> Result<Tensor<T>> {
    let (src, index) = (src.as_tensor().of_rust(), index.as_tensor().of_rust());
    context("strew.gather")
        .call(picked(src, index, dim, options))?
        .run_typed()
}

/// [`gather`] with element types known at run time, and the same errors.
pub fn gather_dyn(
    src: DynView<'_>,
    index: DynView<'_>,
    dim: i64,
    options: GatherOptions,
) -> Result<DynTensor> {
    context("strew.gather")
        .call(picked(src, index, dim, options))?
        .run_dyn()
}

fn context(name: &'static str) -> Context {
    Context {
        operator: name.into(),
        class: |problem| match problem {
            Problem::Axis { .. } | Problem::IndexOutOfBounds { .. } => Class::Index,
            Problem::DType { .. } | Problem::Kind { .. } | Problem::Unsupported { .. } => {
                Class::Type
            }
            _ => Class::Value,
        },
    }
}

fn lower_scatter<'a>(args: &mut Arguments<'a>) -> Result<Call<'a>> {
    let (src, index) = (args.tensor("src")?, args.tensor("index")?);
    let dim = args.optional_int("dim").unwrap_or(-1);
    let word = args.optional_text("reduce");
    let bounds = bounds(args);
    let to = To {
        out: args.optional_target("out"),
        include_self: args.bool_or("include_self", true),
        dim_size: args.optional_int("dim_size"),
        fill_value: args.optional_scalar("fill_value"),
    };
    let exact = args.bool_or("exact", false);
    let described = bounds.and_then(|bounds| {
        let reduce = reduction(word.as_deref().unwrap_or("sum"))?;
        let reduce = if exact { reduce.exactly()? } else { reduce };
        describe(src, &index, dim, to, reduce, bounds)
    });
    context("strew.scatter").call(described)
}

fn lower_gather<'a>(args: &mut Arguments<'a>) -> Result<Call<'a>> {
    let (src, index) = (args.tensor("src")?, args.tensor("index")?);
    let dim = args.optional_int("dim").unwrap_or(-1);
    let bounds = bounds(args);
    let fill_value = args.optional_scalar("fill_value");
    let described =
        bounds.and_then(|bounds| picked(src, index, dim, GatherOptions { bounds, fill_value }));
    context("strew.gather").call(described)
}

fn bounds(args: &mut Arguments<'_>) -> Result<Bounds, Problem> {
    let mode = args.optional_text("mode");
    let ignored = args.optional_wide("ignore_index");
    let bounds = Bounds::named(mode.as_deref().unwrap_or("error"))?;
    Ok(Bounds { ignored, ..bounds })
}

/// The reduction that a word means: in extremes NaN wins.
fn reduction(word: &str) -> Result<Reduce, Problem> {
    match word {
        "sum" | "add" => Ok(Reduce::Sum),
        "mean" => Ok(Reduce::Mean),
        "prod" | "mul" => Ok(Reduce::Prod),
        "min" | "amin" => Ok(Reduce::Amin),
        "max" | "amax" => Ok(Reduce::Amax),
        "assign" => Ok(Reduce::Assign),
        "exact_sum" => Ok(Reduce::ExactSum),
        "exact_mean" => Ok(Reduce::ExactMean),
        other => Err(unknown_word("reduce", format_args!("{other:?}"), REDUCE)),
    }
}

/// Where a scatter writes.
struct To<'a> {
    out: Option<DynViewMut<'a>>,
    include_self: bool,
    dim_size: Option<i64>,
    fill_value: Option<Scalar>,
}

impl Default for To<'_> {
    fn default() -> Self {
        Self {
            out: None,
            include_self: true,
            dim_size: None,
            fill_value: None,
        }
    }
}

fn describe<'a>(
    src: DynView<'a>,
    index: &DynView<'a>,
    dim: i64,
    to: To<'a>,
    reduce: Reduce,
    bounds: Bounds,
) -> Result<Scatter<'a>, Problem> {
    let dim = checked(&src, index, dim)?;
    reduce.check(src.dtype())?;
    let (bounds, index) = bounds.of_index(index);
    let (expanded, place) = expand(&index, &src, dim)?;
    let mut shape = src.dims();
    shape[dim] = match (&to.out, to.dim_size) {
        (Some(out), _) => out.shape().get(dim).copied().unwrap_or(0),
        (None, Some(size)) => expect_size("dim_size", size)?,
        (None, None) => bounds.cells(&index, "index")?,
    };
    let destinations = Destinations::elements(&shape, "index", &expanded, dim, place, bounds)?;
    let (reduction, target) = match to.out {
        Some(view) => {
            into_that(&view, &src, &shape, (to.dim_size, to.fill_value))?;
            let argument = "out";
            (
                reduce.into(to.include_self),
                Target::InPlace { argument, view },
            )
        }
        None => {
            let (start, reduction) = anew(reduce, &src, to.fill_value)?;
            let dtype = src.dtype();
            (reduction, Target::New { dtype, start })
        }
    };
    Scatter::new(destinations, reduction, "src", src, target)?.exactly(reduce.is_exact())
}

/// The axis. Checks that `src` has one, and the index's dtype.
fn checked(src: &DynView<'_>, index: &DynView<'_>, dim: i64) -> Result<usize, Problem> {
    expect_axes("src", src.shape())?;
    let fits = index.is_empty() || index.dtype().is_integer();
    expect_dtype("index", index.dtype(), fits, "it must be an integer type")?;
    axis("dim", dim, src.rank())
}

/// The index seen with `src`'s shape, and which of those axes are its own.
fn expand<'a>(
    index: &DynView<'a>,
    src: &DynView<'_>,
    dim: usize,
) -> Result<(DynView<'a>, Place), Problem> {
    let (mut aligned, rank) = (index.clone(), src.rank());
    let axes = match index.rank() {
        1 => {
            for _ in dim + 1..rank {
                aligned = aligned.insert_axis(aligned.rank());
            }
            dim..dim + 1
        }
        own => rank.saturating_sub(own)..rank,
    };
    let expanded = aligned.broadcast_to(src.shape());
    let place = Place { axes, tuple: None };
    expanded.map(|e| (e, place)).ok_or_else(|| Problem::Shape {
        argument: "index",
        found: index.shape().to_vec(),
        expected: format!(
            "it must have {} elements, for dimension {dim}, or broadcast to src's shape {:?}",
            src.shape()[dim],
            src.shape()
        ),
    })
}

/// Checks an `out` for a result of this shape.
fn into_that(
    out: &DynViewMut<'_>,
    src: &DynView<'_>,
    shape: &[usize],
    (dim_size, fill_value): (Option<i64>, Option<Scalar>),
) -> Result<(), Problem> {
    expect_dtype_of("out", out.dtype(), "src", src.dtype())?;
    expect_shape("out", out.shape(), out.shape() == shape, || {
        format!("it must be {shape:?}: src's shape but for the size along dim")
    })?;
    let size = dim_size.map(|size| ("dim_size", size.to_string()));
    match size.or(fill_value.map(|fill| ("fill_value", fill.to_string()))) {
        None => Ok(()),
        Some((argument, value)) => Err(wrong_value(
            argument,
            value,
            "it is for a new result: out has a size, and holds something",
        )),
    }
}

/// What a new result starts from, and the reduction into it.
fn anew(
    reduce: Reduce,
    src: &DynView<'_>,
    fill_value: Option<Scalar>,
) -> Result<(Start<'static>, Reduction), Problem> {
    let (start, reduction) = reduce.for_new();
    let Some(fill) = fill_value else {
        return Ok((start, reduction));
    };
    if matches!(reduce, Reduce::Min | Reduce::Max) {
        return Err(wrong_value(
            "fill_value",
            fill,
            format_args!("{reduce} has its own; a{reduce} takes one"),
        ));
    }
    let element = fill.unwrapped("fill_value", src.dtype())?;
    let mut bytes = [0; 16];
    bytes[..src.dtype().size()].copy_from_slice(element.as_bytes());
    let init = Init::Identity;
    Ok((Start::Filled(bytes), Reduction { init, ..reduction }))
}

fn picked<'a>(
    src: DynView<'a>,
    index: DynView<'a>,
    dim: i64,
    GatherOptions { bounds, fill_value }: GatherOptions,
) -> Result<Gather<'a>, Problem> {
    let dim = checked(&src, &index, dim)?;
    let (bounds, index) = bounds.of_index(&index);
    let fill = fill_value
        .map(|fill| fill.unwrapped("fill_value", src.dtype()))
        .transpose()?;
    let gather = match index.rank() {
        1 => {
            let places = Destinations::picks(
                src.shape(),
                "index",
                &[index],
                PickedAxes {
                    batch: 0,
                    first: dim,
                },
                None,
                bounds,
            )?;
            Gather::new(places, src)?
        }
        _ => one_each(src, &index, dim, bounds)?,
    };
    Ok(match fill {
        Some(fill) => gather.filled(fill),
        None => gather,
    })
}

/// An index for each element.
fn one_each<'a>(
    src: DynView<'a>,
    index: &DynView<'a>,
    dim: usize,
    bounds: Bounds,
) -> Result<Gather<'a>, Problem> {
    let (found, whole) = (index.dims(), src.dims());
    let wrong = || Problem::Shape {
        argument: "index",
        found: found.to_vec(),
        expected: format!(
            "it must have one dimension, or broadcast with src's shape {whole:?} apart from dimension {dim}"
        ),
    };
    if found.len() != whole.len() {
        return Err(wrong());
    }
    let apart = |a: usize, own: usize, other: usize| match own {
        _ if a == dim => own,
        1 => other,
        own => own,
    };
    let both = |one: &Dims, other: &Dims| -> Dims {
        let sizes = one.iter().zip(other).enumerate();
        sizes
            .map(|(a, (&own, &other))| apart(a, own, other))
            .collect()
    };
    let wide = src.broadcast_to(&both(&whole, &found));
    let (Some(src), Some(index)) = (wide, index.broadcast_to(&both(&found, &whole))) else {
        return Err(wrong());
    };
    let place = Place {
        axes: 0..index.rank(),
        tuple: None,
    };
    let fits = (0..whole.len()).all(|a| a == dim || src.shape()[a] == index.shape()[a]);
    if !fits {
        return Err(wrong());
    }
    let places = Destinations::elements(src.shape(), "index", &index, dim, place, bounds)?;
    Gather::new(places, src)
}
