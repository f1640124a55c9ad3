//! StableHLO: `scatter` in full generality.
//!
//! Source of the semantics: the specification's `scatter`, its verifier's tests
//! (`stablehlo/tests/verify_scatter.mlir`) and runs of XLA; see also `COMPARE.md`.

use crate::dialect::framework::bounds::DROP;
use crate::dialect::framework::call::{self, Call, Describe};
use crate::dialect::framework::checks::{
    expect_dtype_of, expect_integers, unknown_word, wrong_value,
};
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::operator::Arguments;
use crate::dialect::framework::scatter_forms::into_copy;
use strew_engine::checks::expect_shape;
use strew_engine::context::Context;
use strew_engine::describe::Scatter;
use strew_engine::describe::destinations::take::Pointer;
use strew_engine::describe::destinations::{Destinations, Place, Shapes};
use strew_engine::describe::reduction::Reduction;
use strew_kernel::error::{Class, Problem};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::{Dims, Held};

const REGIONS: &[&str] = &["set", "add", "mul", "max", "min"];

/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[SCATTER];

rows! {
    (
        operand: tensor<T> => "the tensor to start from: any shape and dtype";
        indices: tensor => "where windows begin (scatter_indices): any integer dtype";
        updates: tensor<T> => "the windows: operand's dtype";
        update_window_dims: integers = "()" => "the axes of updates that are windows'";
        inserted_window_dims: integers = "()" => "operand's axes along which windows have no axis";
        input_batching_dims: integers = "()" =>
            "operand's axes that go hand in hand with some of indices'";
        scatter_indices_batching_dims: integers = "()" =>
            "the axes of indices that those go hand in hand with";
        scatter_dims_to_operand_dims: integers = "()" =>
            "operand's axis that each number of an index vector points into";
        index_vector_dim: int =>
            "the axis of indices that index vectors lie along; its rank: numbers are vectors of one";
        indices_are_sorted: bool = false => "a promise; taken, and without effect";
        unique_indices: bool = false => "a promise; taken, and without effect";
        region: text = "set" => "how an update joins an element: set replaces it", REGIONS;
        out_of_bounds: text = "window" =>
            "what is left out of a window that is partly outside: all of it, or only elements outside",
            &["window", "element"];
    ) -> out;

    const SCATTER = "stablehlo.scatter":
        "A copy of operand with windows of updates joined to those that scatter indices name"
        = from_table(lower_from);
}

/// The dimension numbers of a scatter, as the specification names them.
#[derive(Clone, Debug, Default)]
pub struct DimensionNumbers {
    /// The axes of `updates` that are windows', ascending.
    pub update_window_dims: Vec<i64>,
    /// The operand's axes along which windows have no axis, ascending.
    pub inserted_window_dims: Vec<i64>,
    /// The operand's batching axes, ascending.
    pub input_batching_dims: Vec<i64>,
    /// The axes of the indices that belong to the operand's batching axes.
    pub scatter_indices_batching_dims: Vec<i64>,
    /// The operand's axis that each number of an index vector points into.
    pub scatter_dims_to_operand_dims: Vec<i64>,
    /// The axis of the indices that index vectors lie along.
    pub index_vector_dim: i64,
}

/// What happens to a window that is partly outside of the operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OutOfBounds {
    /// It is left out, as XLA does.
    #[default]
    Window,
    /// Its elements outside are left out, as the specification says.
    Element,
}

/// A copy of `operand` with each window of `updates` joined to the window that begins at its index
/// vector, in row-major order of the updates.
///
/// * `indices`: any integer type.
/// * `region`: `"set"` (the last update of an element stays), `"add"`, `"mul"`, `"max"` or `"min"`
///   (both of NaN where there is one).
///
/// ```
/// use ndarray::array;
/// use strew::stablehlo::{DimensionNumbers, OutOfBounds, scatter};
///
/// // Rows of two, added to those of a matrix that the indices name.
/// let numbers = DimensionNumbers {
///     update_window_dims: vec![1],
///     inserted_window_dims: vec![0],
///     scatter_dims_to_operand_dims: vec![0],
///     index_vector_dim: 1,
///     ..DimensionNumbers::default()
/// };
/// let operand = array![[1, 2], [3, 4]];
/// let out = scatter(&operand, &[1i64, 7], &array![[10, 20], [30, 40]], &numbers, "add", OutOfBounds::Window)?;
/// assert_eq!(out.as_slice(), [1, 2, 13, 24]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Type`] for element types, [`Class::Value`] for dimension numbers and shapes that do not
/// fit.
pub fn scatter<T: Element, I: Index>(
    operand: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
    numbers: &DimensionNumbers,
    region: &str,
    out_of_bounds: OutOfBounds,
) -> Result<Tensor<T>> {
    let (operand, indices) = (operand.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    lower(operand, indices, updates, numbers, region, out_of_bounds)?.run_typed()
}

/// [`scatter`] with element types known at run time, and the same errors.
pub fn scatter_dyn(
    operand: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    numbers: &DimensionNumbers,
    region: &str,
    out_of_bounds: OutOfBounds,
) -> Result<DynTensor> {
    lower(operand, indices, updates, numbers, region, out_of_bounds)?.run_dyn()
}

pub(crate) fn class(problem: &Problem) -> Class {
    match problem {
        Problem::DType { .. } | Problem::Kind { .. } | Problem::Unsupported { .. } => Class::Type,
        _ => Class::Value,
    }
}

fn context() -> Context {
    call::context("stablehlo.scatter", class)
}

fn lower_from<'a>(args: &mut Arguments<'a>) -> Result<Call<'a>> {
    let operand = args.tensor("operand")?;
    let indices = args.tensor("indices")?;
    let updates = args.tensor("updates")?;
    let mut list = |name: &'static str| match args.optional_integers(name) {
        None => Ok(Vec::new()),
        Some(list) => {
            let list = list.list(name).map(|list| list.into_owned());
            list.map_err(|problem| context().error(problem))
        }
    };
    let mut numbers = DimensionNumbers {
        update_window_dims: list("update_window_dims")?,
        inserted_window_dims: list("inserted_window_dims")?,
        input_batching_dims: list("input_batching_dims")?,
        scatter_indices_batching_dims: list("scatter_indices_batching_dims")?,
        scatter_dims_to_operand_dims: list("scatter_dims_to_operand_dims")?,
        index_vector_dim: 0,
    };
    numbers.index_vector_dim = args.int("index_vector_dim")?;
    let region = args.optional_text("region");
    let out_of_bounds = match args.optional_text("out_of_bounds").as_deref() {
        None | Some("window") => OutOfBounds::Window,
        Some("element") => OutOfBounds::Element,
        Some(other) => {
            return Err(context().error(wrong_value(
                "out_of_bounds",
                other,
                "it must be window or element",
            )));
        }
    };
    let region = region.as_deref().unwrap_or("set");
    lower(operand, indices, updates, &numbers, region, out_of_bounds)
}

fn lower<'a>(
    operand: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    numbers: &DimensionNumbers,
    region: &str,
    out_of_bounds: OutOfBounds,
) -> Result<Call<'a>> {
    let described = combine(region)
        .and_then(|combine| describe(operand, indices, updates, numbers, combine, out_of_bounds));
    context().call(described)
}

fn combine(region: &str) -> Result<Combine, Problem> {
    Ok(match region {
        "set" => Combine::Assign,
        "add" => Combine::Sum,
        "mul" => Combine::Prod,
        "max" => Combine::Max(Nan::Propagate),
        "min" => Combine::Min(Nan::Propagate),
        _ => {
            return Err(unknown_word("region", region, REGIONS));
        }
    })
}

fn describe<'a>(
    operand: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    numbers: &DimensionNumbers,
    combine: Combine,
    out_of_bounds: OutOfBounds,
) -> Result<Scatter<'a>, Problem> {
    expect_integers("indices", &indices)?;
    expect_dtype_of("updates", updates.dtype(), "operand", operand.dtype())?;
    let roles = Roles::new(operand.shape(), indices.shape(), updates.shape(), numbers)?;
    let mut walks = roles.walks.clone();
    let mut pointers = Vec::new();
    for (number, &axis) in roles.pointed.iter().enumerate() {
        let numbers = roles.numbers(&indices, number);
        let window = roles.window_axis(axis).filter(|&k| updates.shape()[k] > 1);
        let wide = match window {
            // The numbers point at the first elements of windows. Those of the other elements
            // follow.
            Some(along) => {
                walks[along] = None;
                let len = updates.shape()[along];
                let every = every_place(&numbers, len, operand.shape()[axis], out_of_bounds)?;
                roles.spread(Held::from(every.into_dyn()), Some(along), updates.shape())
            }
            None => {
                if let Some(along) = roles.window_axis(axis) {
                    walks[along] = None;
                }
                roles.spread(Held::from(numbers), None, updates.shape())
            }
        };
        let index = wide.ok_or_else(|| Problem::Layout {
            argument: "indices".into(),
            why: "they do not fit the updates".into(),
        })?;
        pointers.push(Pointer {
            axis,
            index,
            place: Place::default(),
        });
    }
    // Windows to leave out have negative numbers by now. What is still outside is left out too.
    let shapes = Shapes {
        destination: operand.shape(),
        updates: updates.shape(),
    };
    let destinations = Destinations::placed(shapes, &walks, "indices", pointers, DROP)?;
    let reduction = Reduction::into_self(combine);
    into_copy(operand, destinations, reduction, "updates", updates)
}

/// The numbers of every element of windows of `len` along an axis of `size`: one axis more, behind
/// the others. Those of windows that are left out are negative.
fn every_place(
    firsts: &DynView<'_>,
    len: usize,
    size: usize,
    out_of_bounds: OutOfBounds,
) -> Result<Tensor<i64>, Problem> {
    let mut shape = firsts.dims();
    shape.push(len);
    let mut places = Tensor::zeros(&shape)?;
    let mut windows = places.as_mut_slice().chunks_mut(len.max(1));
    let last = size as i64 - len as i64;
    firsts.all_integers(|block| {
        for (&first, window) in block.iter().zip(&mut windows) {
            let inside = (0..=last).contains(&first) || out_of_bounds == OutOfBounds::Element;
            for (place, k) in window.iter_mut().zip(0..) {
                *place = if inside { first.saturating_add(k) } else { -1 };
            }
        }
        true
    });
    Ok(places)
}

/// The role of each axis.
struct Roles {
    /// For each axis of the updates the operand's axis that it walks along: of windows, and of
    /// batches.
    walks: Vec<Option<usize>>,
    /// The axes of the updates that are not windows', in order.
    scatter: Vec<usize>,
    /// The operand's axis that each number of an index vector points into.
    pointed: Dims,
    /// The axis of index vectors; `None`: numbers are vectors of one.
    vectors: Option<usize>,
}

impl Roles {
    /// The checks of the specification, C1 to C25.
    fn new(
        operand: &[usize],
        indices: &[usize],
        updates: &[usize],
        numbers: &DimensionNumbers,
    ) -> Result<Self, Problem> {
        let lists = AxisLists::new(operand.len(), indices.len(), updates.len(), numbers)?;
        lists.expect_all_of_operand(operand.len(), numbers)?;
        let vectors = vector_axis(indices.len(), numbers.index_vector_dim)?;
        lists.expect_indices(operand, indices, vectors, numbers)?;
        let AxisLists {
            windows,
            inserted,
            batches,
            beside,
            pointed,
        } = lists;
        let scatter: Vec<usize> = (0..updates.len())
            .filter(|k| !windows.contains(k))
            .collect();
        let own: Vec<usize> = (0..indices.len()).filter(|&k| Some(k) != vectors).collect();
        let alike = scatter.len() == own.len()
            && scatter
                .iter()
                .zip(&own)
                .all(|(&k, &n)| updates[k] == indices[n]);
        expect_shape("updates", updates, alike, || {
            let wanted: Vec<usize> = own.iter().map(|&n| indices[n]).collect();
            format!(
                "without update_window_dims it must be {wanted:?}, as indices without index_vector_dim"
            )
        })?;
        let mut walks = vec![None; updates.len()];
        let free = (0..operand.len()).filter(|k| !inserted.contains(k) && !batches.contains(k));
        for (&along, axis) in windows.iter().zip(free) {
            expect_shape("updates", updates, updates[along] <= operand[axis], || {
                format!(
                    "a window's axis {along} must be no longer than operand's axis {axis}, {}",
                    operand[axis]
                )
            })?;
            walks[along] = Some(axis);
        }
        for (&batch, axis) in batches.iter().zip(&beside) {
            // The axis of the updates that belongs to this axis of the indices.
            let at = own.iter().position(|n| n == axis).unwrap_or_default();
            walks[scatter[at]] = Some(batch);
        }
        Ok(Self {
            walks,
            scatter,
            pointed,
            vectors,
        })
    }

    /// The axis of the updates that is a window's along an axis of the operand.
    fn window_axis(&self, axis: usize) -> Option<usize> {
        self.walks.iter().position(|&walk| walk == Some(axis))
    }

    /// One number of each index vector.
    fn numbers<'a>(&self, indices: &DynView<'a>, number: usize) -> DynView<'a> {
        let picked = self.vectors.and_then(|dim| indices.select(dim, number));
        picked.unwrap_or_else(|| indices.clone())
    }

    /// Numbers of index vectors, and of the elements along a window's axis, as numbers for every
    /// update.
    fn spread<'a>(
        &self,
        numbers: Held<'a>,
        window: Option<usize>,
        updates: &[usize],
    ) -> Option<Held<'a>> {
        numbers.map(|numbers| {
            let mut own: Vec<usize> = self.scatter.clone();
            own.extend(window);
            let mut order: Vec<usize> = (0..own.len()).collect();
            order.sort_by_key(|&k| own[k]);
            let mut wide = numbers.permute(&order)?;
            for k in (0..updates.len()).filter(|k| !own.contains(k)) {
                wide = wide.insert_axis(k);
            }
            wide.broadcast_to(updates)
        })
    }
}

/// The axes that the lists of [`DimensionNumbers`] name.
struct AxisLists {
    /// Windows' axes of the updates.
    windows: Dims,
    /// The operand's axes that windows lack.
    inserted: Dims,
    /// Batches' axes of the operand, and of the indices.
    batches: Dims,
    beside: Dims,
    /// The operand's axis that each number of an index vector points into.
    pointed: Dims,
}

impl AxisLists {
    /// The axes of tensors of these ranks.
    fn new(
        operand: usize,
        indices: usize,
        updates: usize,
        numbers: &DimensionNumbers,
    ) -> Result<Self, Problem> {
        Ok(Self {
            windows: axes(
                "update_window_dims",
                &numbers.update_window_dims,
                updates,
                true,
            )?,
            inserted: axes(
                "inserted_window_dims",
                &numbers.inserted_window_dims,
                operand,
                true,
            )?,
            batches: axes(
                "input_batching_dims",
                &numbers.input_batching_dims,
                operand,
                true,
            )?,
            beside: axes(
                "scatter_indices_batching_dims",
                &numbers.scatter_indices_batching_dims,
                indices,
                false,
            )?,
            pointed: axes(
                "scatter_dims_to_operand_dims",
                &numbers.scatter_dims_to_operand_dims,
                operand,
                false,
            )?,
        })
    }

    /// Checks that the operand's axes have one role each.
    fn expect_all_of_operand(
        &self,
        operand: usize,
        numbers: &DimensionNumbers,
    ) -> Result<(), Problem> {
        let is_batch = |axis: &usize| self.batches.contains(axis);
        if self.inserted.iter().any(is_batch) {
            return Err(wrong_list(
                "inserted_window_dims",
                &numbers.inserted_window_dims,
                "it must share no axis with input_batching_dims".into(),
            ));
        }
        if self.pointed.iter().any(is_batch) {
            return Err(wrong_list(
                "scatter_dims_to_operand_dims",
                &numbers.scatter_dims_to_operand_dims,
                "it must share no axis with input_batching_dims".into(),
            ));
        }
        if self.windows.len() + self.inserted.len() + self.batches.len() != operand {
            return Err(wrong_list(
                "update_window_dims",
                &numbers.update_window_dims,
                format!(
                    "with inserted_window_dims and input_batching_dims there must be as many axes as operand has, {operand}"
                ),
            ));
        }
        Ok(())
    }

    /// Checks that index vectors, and the batches of the indices, fit the operand.
    fn expect_indices(
        &self,
        operand: &[usize],
        indices: &[usize],
        vectors: Option<usize>,
        numbers: &DimensionNumbers,
    ) -> Result<(), Problem> {
        let (beside, batches) = (&self.beside, &self.batches);
        let length = vectors.map_or(1, |dim| indices[dim]);
        if self.pointed.len() != length {
            return Err(wrong_list(
                "scatter_dims_to_operand_dims",
                &numbers.scatter_dims_to_operand_dims,
                format!("it must be as long as an index vector, {length}"),
            ));
        }
        let wrong_batches = |expected| {
            let list = &numbers.scatter_indices_batching_dims;
            Err(wrong_list("scatter_indices_batching_dims", list, expected))
        };
        if beside.len() != batches.len() || beside.iter().any(|&axis| Some(axis) == vectors) {
            return wrong_batches(
                "it must be as long as input_batching_dims, without index_vector_dim".into(),
            );
        }
        match (0..beside.len()).find(|&k| indices[beside[k]] != operand[batches[k]]) {
            None => Ok(()),
            Some(k) => wrong_batches(format!(
                "axis {} of indices must be as long as axis {} of operand, {}",
                beside[k], batches[k], operand[batches[k]]
            )),
        }
    }
}

/// The axis of index vectors in indices of this rank; `None`: numbers are vectors of one.
fn vector_axis(rank: usize, index_vector_dim: i64) -> Result<Option<usize>, Problem> {
    let dim = usize::try_from(index_vector_dim).ok();
    match dim.filter(|&dim| dim <= rank) {
        Some(dim) => Ok(Some(dim).filter(|&dim| dim < rank)),
        None => Err(wrong_list(
            "index_vector_dim",
            &[index_vector_dim],
            format!("it must be from 0 to the rank of indices, {rank}"),
        )),
    }
}

fn wrong_list(argument: &str, list: &[i64], expected: String) -> Problem {
    wrong_value(argument, format_args!("{list:?}"), expected)
}

/// Axis numbers, each once and in range; ascending if they must be.
fn axes(
    argument: &'static str,
    list: &[i64],
    rank: usize,
    ascending: bool,
) -> Result<Dims, Problem> {
    let mut found = Dims::new();
    for (k, &number) in list.iter().enumerate() {
        let refuse =
            |expected: String| wrong_value(format_args!("{argument}[{k}]"), number, expected);
        let axis = usize::try_from(number).ok().filter(|&axis| axis < rank);
        let axis = axis.ok_or_else(|| refuse(format!("it must be from 0 to {rank}, exclusive")))?;
        if found.contains(&axis) {
            return Err(refuse("it must not be there twice".into()));
        }
        if ascending && found.last().is_some_and(|&last| last > axis) {
            return Err(refuse("the numbers must ascend".into()));
        }
        found.push(axis);
    }
    Ok(found)
}
