//! Whether and how a call is cut into pieces.

use super::chunk::{self, Source};
use super::job::Job;
use super::key::{Axis, Key};
use super::lists::Blocks;
use super::pieces::Pieces;
use super::recipe::{self, Form, Recipe, Rows};
use super::updates::Entry;
use crate::cli;
use crate::failure::Result;
use crate::outputs::Outputs;
use crate::read::{Series, stdin};
use clap::ArgMatches;
use std::path::PathBuf;
use strew::{Bounds, DType, Negative, Operator, OutOfRange};

/// A result that is larger than this part of the limit is made block by block.
const AT_ONCE: u64 = 4;
/// A block is no larger than this part of the limit.
const BLOCK: u64 = 8;

/// What the result is made of.
struct Geometry {
    key: Key,
    /// The result's shape.
    shape: Vec<usize>,
    /// The shape of an update's value: none, or one axis.
    entry: Vec<usize>,
}

/// The tensors of a call.
struct Tensors {
    src: Series,
    index: Series,
    /// What the result begins with.
    target: Option<Series>,
}

/// How much memory there may be.
struct Memory {
    limit: u64,
    /// Whether it was asked for. One that was not is what happens to be free: mapped inputs do not
    /// count there.
    set: bool,
}

/// How the call is to be cut; `None` if it is to run at once.
pub(super) fn plan<'m>(
    operator: &'static Operator,
    matches: &'m ArgMatches,
    outputs: &Outputs,
) -> Result<Option<Job<'m>>> {
    // Standard input can be read once, and the call at once reads it.
    let mut texts = operator
        .arguments
        .iter()
        .filter_map(|a| given(matches, a.name));
    if texts.any(stdin::is_meant) {
        return Ok(None);
    }
    let known = Recipe::of(operator).filter(|recipe| recipe.applies(matches));
    let name = operator.returns.first().copied();
    let out = name.and_then(|name| Some((name, outputs.npy(name)?)));
    let (Some(recipe), Some((name, out)), Some(memory)) = (known, out, Memory::of(matches)) else {
        return Ok(None);
    };
    let Some(bounds) = recipe.bounds(matches) else {
        return Ok(None);
    };
    let Some(tensors) = Tensors::open(recipe, matches)? else {
        return Ok(None);
    };
    let rows = rows(recipe, matches, &tensors, &memory, bounds)?;
    let axis = recipe::axis(operator, matches, tensors.src.shape().len());
    let found = axis
        .zip(rows)
        .and_then(|(axis, rows)| geometry(recipe.form, axis, &rows, &tensors));
    let Some(Geometry { key, shape, entry }) = found else {
        return Ok(None);
    };
    let Tensors { src, index, target } = tensors;
    let entry = Entry {
        dtype: src.dtype(),
        shape: entry,
    };
    let mut pieces = Pieces::new(operator, recipe, matches, entry.clone())?;
    let made = pieces.probe(index.dtype(), target.as_ref().map(Series::dtype))?;
    let arg = made.has_arg && outputs.npy("arg").is_some();
    let elements: usize = entry.shape.iter().product();
    let cell = elements * (made.dtype.size() + if arg { 8 } else { 0 });
    let Some(cells) = key.cells().filter(|cells| *cells > 0 && cell > 0) else {
        return Ok(None);
    };
    let blocks = blocks(cells, cell, memory.limit);
    let going_on = match arg {
        true => None,
        false => recipe::going_on(
            operator,
            matches,
            [src.dtype(), made.dtype],
            target.is_some(),
        ),
    };
    let result = (cells as u64).saturating_mul(cell as u64);
    let inputs = src.bytes().saturating_add(index.bytes());
    // A result of one block that has to see all values at once gains nothing.
    let gains = blocks.count > 1 || going_on.is_some() || src.is_several() || index.is_several();
    if memory.holds(inputs, result) || src.rows() == 0 || !gains {
        return Ok(None);
    }
    let folder = match matches.get_one::<PathBuf>(cli::SCRATCH) {
        Some(folder) => folder.clone(),
        None => out.folder().to_owned(),
    };
    Ok(Some(Job {
        pieces,
        source: Source::new(src, index, key, bounds, entry, memory.limit),
        target,
        name,
        made: made.dtype,
        arg,
        going_on,
        shape,
        cells,
        blocks,
        limit: memory.limit,
        folder,
    }))
}

impl Memory {
    fn of(matches: &ArgMatches) -> Option<Self> {
        let set = matches.get_one::<u64>(cli::MEMORY).is_some()
            || std::env::var_os("STREW_MEMORY_LIMIT").is_some();
        let limit = strew::memory_limit()?;
        Some(Self { limit, set })
    }

    fn holds(&self, inputs: u64, result: u64) -> bool {
        match self.set {
            true => inputs.saturating_add(result) <= self.limit,
            false => inputs <= self.limit && result <= self.limit,
        }
    }
}

impl Tensors {
    /// Opens them; `None` if one is missing, or the index is of a type that is not read here.
    fn open(recipe: &Recipe, matches: &ArgMatches) -> Result<Option<Self>> {
        let given = |name| given(matches, name);
        let (Some(src), Some(index)) = (given(recipe.src), given(recipe.index)) else {
            return Ok(None);
        };
        let target = recipe.target().and_then(given).map(Series::open);
        let tensors = Self {
            src: Series::open(src)?,
            index: Series::open(index)?,
            target: target.transpose()?,
        };
        let dtype = tensors.index.dtype();
        Ok((dtype.is_integer() && dtype != DType::U64).then_some(tensors))
    }
}

fn given<'m>(matches: &'m ArgMatches, name: &str) -> Option<&'m str> {
    let text = matches.try_get_one::<String>(name).ok().flatten();
    text.map(String::as_str).filter(|text| *text != "None")
}

/// What is known of the result's shape.
enum Size {
    /// All of it.
    Whole(Vec<usize>),
    /// How many rows it has along the axis of the index.
    Rows(usize),
}

/// The result's size; `None` if it is not known before the call.
fn rows(
    recipe: &Recipe,
    matches: &ArgMatches,
    tensors: &Tensors,
    memory: &Memory,
    bounds: Bounds,
) -> Result<Option<Size>> {
    if let Some(target) = &tensors.target {
        return Ok(Some(Size::Whole(target.shape())));
    }
    let name = match recipe.rows {
        Rows::Target(_) => return Ok(None),
        Rows::Shape(name) => return Ok(given(matches, name).and_then(listed).map(Size::Whole)),
        Rows::OutOrSize(_, name) | Rows::Size(name) => name,
    };
    let inputs = tensors.src.bytes().saturating_add(tensors.index.bytes());
    let size = match given(matches, name) {
        Some(size) => size.parse().ok(),
        None if memory.set || inputs > memory.limit => {
            largest(&tensors.index, bounds, memory.limit)?
        }
        None => None,
    };
    Ok(size.map(Size::Rows))
}

/// What an operator of this form does along an axis; `None` if its work cannot be cut.
fn geometry(form: Form, axis: usize, size: &Size, tensors: &Tensors) -> Option<Geometry> {
    let (src, index) = (tensors.src.shape(), tensors.index.shape());
    // The values behind an axis as one axis; none behind the last one.
    let flat = |behind: &[usize]| match behind {
        [] => Vec::new(),
        behind => vec![behind.iter().product()],
    };
    match form {
        Form::Along | Form::Elements | Form::Slices => {
            let len = *src.get(axis)?;
            let mut shape = src.clone();
            *shape.get_mut(axis)? = match size {
                Size::Whole(sizes) => *sizes.get(axis)?,
                Size::Rows(rows) => *rows,
            };
            if matches!(size, Size::Whole(sizes) if *sizes != shape) {
                return None;
            }
            let part = Axis {
                at: axis,
                len,
                rows: *shape.get(axis)?,
                inner: src.iter().skip(axis + 1).product(),
                outer: src.iter().take(axis).product(),
            };
            let (key, entry) = match &index[..] {
                [numbers] if *numbers == len && form != Form::Elements => {
                    (Key::Slices(part), flat(&src[axis + 1..]))
                }
                numbers if numbers == src && form != Form::Slices => (Key::Elements(part), vec![]),
                _ => return None,
            };
            Some(Geometry { key, shape, entry })
        }
        Form::Leading => {
            let &Size::Rows(rows) = size else {
                return None;
            };
            let behind = src.strip_prefix(&index[..])?;
            let part = Axis {
                at: 0,
                len: index.iter().product(),
                rows,
                inner: behind.iter().product(),
                outer: 1,
            };
            Some(Geometry {
                key: Key::Slices(part),
                shape: [&[rows], behind].concat(),
                entry: flat(behind),
            })
        }
        Form::Tuples => {
            let Size::Whole(shape) = size else {
                return None;
            };
            let (&numbers, batch) = index.split_last()?;
            let (axes, window) = shape.split_at_checked(numbers)?;
            let behind = src.strip_prefix(batch)?;
            (numbers > 0 && behind == window).then(|| Geometry {
                key: Key::Tuples(axes.to_vec()),
                entry: flat(behind),
                shape: shape.clone(),
            })
        }
    }
}

/// How a result is cut, from the number of its cells and the size of each.
fn blocks(cells: usize, cell: usize, limit: u64) -> Blocks {
    let all = (cells as u64).saturating_mul(cell as u64);
    if all <= limit / AT_ONCE && cells <= 1 << 31 {
        return Blocks {
            count: 1,
            shift: 63,
        };
    }
    let most = (limit / BLOCK / cell as u64).max(1);
    let shift = most.ilog2().min(31);
    let count = ((cells - 1) >> shift) + 1;
    Blocks { count, shift }
}

/// The number of rows that the index asks for; `None` if that is not known from its largest number.
fn largest(index: &Series, bounds: Bounds, limit: u64) -> Result<Option<usize>> {
    let strict = bounds.negative == Negative::Reject && bounds.out_of_range == OutOfRange::Error;
    if !strict || bounds.ignored.is_some() {
        return Ok(None);
    }
    let numbers: usize = index.shape().iter().product();
    let chunk = chunk::most(limit, index.dtype().size() + 8);
    let mut most = -1;
    for from in (0..numbers).step_by(chunk) {
        let some = index.elements(from, chunk.min(numbers - from))?;
        let some = some.view().to_integers().unwrap_or_default();
        most = some.into_iter().fold(most, i64::max);
    }
    Ok(usize::try_from(most.saturating_add(1)).ok())
}

/// Sizes that are written as a list.
fn listed(text: &str) -> Option<Vec<usize>> {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let sizes = inner.unwrap_or(text).split(',');
    sizes.map(|size| size.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_powers_of_two() {
        let small = blocks(1000, 4, 1 << 20);
        assert_eq!(small.count, 1);
        for (cells, cell, limit) in [
            (1000, 4, 1000),
            (1, 99, 8),
            (7, 8, 0),
            (1 << 40, 4, 1 << 29),
        ] {
            let Blocks { count, shift } = blocks(cells, cell, limit);
            assert!(count << shift >= cells && (count - 1) << shift < cells);
            assert!(shift == 0 || (cell << shift) as u64 <= limit / BLOCK);
        }
    }

    #[test]
    fn shapes_are_lists_of_sizes() {
        assert_eq!(listed("[3, 4]"), Some(vec![3, 4]));
        assert_eq!(listed("3,4"), Some(vec![3, 4]));
        assert_eq!(listed("-3,4"), None);
        assert_eq!(listed("shape.npy"), None);
    }
}
