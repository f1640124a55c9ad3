//! Indexing as NumPy has it: an integer tensor for some axes, the others taken whole.

use crate::dialect::framework::checks::wrong_value;
use strew_engine::checks::{expect_dtype, expect_shape};
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::take::Pointer;
use strew_engine::describe::destinations::{Destinations, Place, Shapes};
use strew_kernel::elementwise::nonzero::{nonzero, unravel};
use strew_kernel::error::Problem;
use strew_kernel::tensor::{DType, Dims, DynView, Held};

/// The cells of a tensor of this shape that the indices name, in the order of the result. `None`
/// takes an axis whole. A mask names the places where it is true. The axes that the indices make
/// are where the named axes are, or in front if those are not neighbours.
///
/// # Errors
/// [`Problem::DType`] for an index that is neither integers nor a mask, [`Problem::Shape`] for
/// shapes that do not fit.
pub(crate) fn indexed<'a>(
    shape: &[usize],
    argument: &'static str,
    indices: &[Option<DynView<'a>>],
    bounds: Bounds,
) -> Result<Destinations<'a>, Problem> {
    let named = named(shape, argument, indices)?;
    let batch = together(argument, &named)?;
    let axes: Dims = named.iter().map(|(axis, _)| *axis).collect();
    let neighbours = axes.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let place = match axes.first() {
        Some(&first) if neighbours => first,
        _ => 0,
    };
    let mut walks: Vec<Option<usize>> = (0..shape.len())
        .filter(|axis| !axes.contains(axis))
        .map(Some)
        .collect();
    let mut updates: Dims = walks.iter().flatten().map(|&axis| shape[axis]).collect();
    updates.insert_many(place, batch.iter().copied());
    walks.splice(place..place, batch.iter().map(|_| None));
    let mut pointers = Vec::with_capacity(named.len());
    for (axis, index) in named {
        let behind = updates.len() - place - batch.len();
        let wide = index.map(|index| {
            let mut index = index.broadcast_to(&batch)?;
            for _ in 0..behind {
                index = index.insert_axis(index.rank());
            }
            index.broadcast_to(&updates)
        });
        let index = wide.ok_or_else(|| Problem::Layout {
            argument: argument.into(),
            why: format!("they cannot be repeated to shape {updates:?}"),
        })?;
        pointers.push(Pointer {
            axis,
            index,
            place: Place {
                axes: place..place + batch.len(),
                tuple: None,
            },
        });
    }
    let shapes = Shapes {
        destination: shape,
        updates: &updates,
    };
    Destinations::placed(shapes, &walks, argument, pointers, bounds)
}

/// Integers for each axis that is not taken whole.
fn named<'a>(
    shape: &[usize],
    argument: &'static str,
    indices: &[Option<DynView<'a>>],
) -> Result<Vec<(usize, Held<'a>)>, Problem> {
    let takes = |index: &Option<DynView<'_>>| match index {
        Some(index) if index.dtype() == DType::Bool => index.rank(),
        _ => 1,
    };
    let taken = indices.iter().map(takes).fold(0, usize::saturating_add);
    if taken > shape.len() {
        return Err(wrong_value(
            argument,
            format_args!("{taken} axes"),
            format_args!("there are only those of {shape:?}"),
        ));
    }
    let mut axis = 0;
    let mut named = Vec::new();
    for index in indices {
        let first = axis;
        axis += takes(index);
        match index {
            None => {}
            Some(mask) if mask.dtype() == DType::Bool => {
                let own = &shape[first..axis];
                expect_shape(
                    argument,
                    mask.shape(),
                    mask.shape() == own && !own.is_empty(),
                    || format!("a mask must have the shape of the axes that it speaks of, {own:?}"),
                )?;
                let places = nonzero(mask)?;
                let parts = unravel(argument, &places.view(), own)?.into_iter();
                named.extend((first..).zip(parts.map(|part| Held::from(part.into_dyn()))));
            }
            Some(index) => {
                expect_dtype(
                    argument,
                    index.dtype(),
                    index.dtype().is_integer(),
                    "it must be an integer type, or bool for a mask",
                )?;
                named.push((first, Held::from(index.clone())));
            }
        }
    }
    Ok(named)
}

/// The shape that the indices are broadcast to.
fn together(argument: &'static str, named: &[(usize, Held<'_>)]) -> Result<Dims, Problem> {
    let mut all = Dims::new();
    for (_, index) in named {
        let shape = index.view().shape();
        while all.len() < shape.len() {
            all.insert(0, 1);
        }
        let lead = all.len() - shape.len();
        for (size, &other) in all[lead..].iter_mut().zip(shape) {
            let fits = *size == other || *size == 1 || other == 1;
            expect_shape(argument, shape, fits, || {
                "it must broadcast together with the other indices".into()
            })?;
            if *size == 1 {
                *size = other;
            }
        }
    }
    Ok(all)
}
