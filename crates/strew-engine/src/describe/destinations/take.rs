//! Indices that stand in the midst of the updates' axes, some of which may go hand in hand with
//! theirs.

use crate::describe::bounds::Bounds;
use crate::describe::destinations::{Component, Destinations, Place, Shapes, TupleEntry, numeric};
use smallvec::SmallVec;
use strew_kernel::error::Problem;
use strew_kernel::tensor::{Dims, DynView, Held};

/// Which axes of the destination [`Destinations::picks`] are about.
#[derive(Clone, Copy, Debug)]
pub struct PickedAxes {
    /// How many of the first axes the components share with the destination.
    pub batch: usize,
    /// The axis that the first component points into.
    pub first: usize,
}

impl<'a> Destinations<'a> {
    /// Slices: the tuple of `components` (all of one shape) names the axes from `axes.first` on, as
    /// many as there are components. The first `axes.batch` axes of the components are those of the
    /// destination.
    ///
    /// The updates have the destination's axes before those, then the components' others, then the
    /// destination's others. `tuple_at` is as for [`rows`](Self::rows).
    ///
    /// # Errors
    /// [`Problem::DType`] if they are no numbers, [`Problem::Shape`] if they differ in shape, or
    /// from the destination along the first `batch` axes; [`Problem::Layout`] if there are no such
    /// axes.
    pub fn picks(
        shape: &[usize],
        argument: &'static str,
        components: &[DynView<'a>],
        axes: PickedAxes,
        tuple_at: Option<usize>,
        bounds: Bounds,
    ) -> Result<Self, Problem> {
        let PickedAxes { batch, first: axis } = axes;
        let own = components.first().map(DynView::dims).unwrap_or_default();
        let behind = axis.saturating_add(components.len());
        if behind > shape.len() || batch > axis || batch > own.len() || components.is_empty() {
            return Err(Problem::Layout {
                argument: argument.into(),
                why: format!(
                    "{} components cannot point along the axes of {shape:?} from {axis} on, {batch} of them shared",
                    components.len()
                ),
            });
        }
        let mut updates = Dims::from_slice(&shape[..axis]);
        updates.extend_from_slice(&own[batch..]);
        updates.extend_from_slice(&shape[behind..]);
        let inner = own.len() - batch;
        let mut onto: SmallVec<_> = (0..axis).map(|a| Some((a, 1))).collect();
        onto.extend(std::iter::repeat_n(None, inner));
        onto.extend((behind..shape.len()).map(|a| Some((a, 1))));
        let wide = |component: &DynView<'a>| {
            numeric(argument, component)?;
            let mut index = component.clone();
            for at in batch..axis {
                index = index.insert_axis(at);
            }
            for _ in behind..shape.len() {
                index = index.insert_axis(index.rank());
            }
            let fits = component.shape() == &*own && own[..batch] == shape[..batch];
            let index = index.broadcast_to(&updates).filter(|_| fits);
            index.ok_or_else(|| Problem::Shape {
                argument,
                found: component.shape().to_vec(),
                expected: format!("it must begin with {:?}", &shape[..batch]),
            })
        };
        let mut pointing = SmallVec::new();
        for (number, component) in components.iter().enumerate() {
            pointing.push(Component {
                argument,
                index: Held::from(wide(component)?),
                axis: axis + number,
                place: Place {
                    axes: 0..axis + inner,
                    tuple: tuple_at.map(|at| TupleEntry { at, entry: number }),
                },
                between: batch..axis,
            });
        }
        Ok(Self::pointed(shape, updates, onto, pointing, bounds))
    }
}

/// Where one number of an index points: an axis of the destination.
#[derive(Debug)]
pub struct Pointer<'a> {
    /// The destination's axis.
    pub axis: usize,
    /// The numbers, of the updates' shape (broadcast them if need be).
    pub index: Held<'a>,
    /// Where they stand in the argument, for messages.
    pub place: Place,
}

impl<'a> Destinations<'a> {
    /// Any of these forms: axis `k` of the updates walks along the destination's axis `walks[k]`,
    /// from 0 on, or along none; `pointers` say where on the other axes an update goes (0 where
    /// nobody does).
    ///
    /// # Errors
    /// [`Problem::DType`] if an index holds no numbers; [`Problem::Shape`] if one has not the
    /// updates' shape; [`Problem::Layout`] if two things speak of one axis of the destination, or
    /// if a walk leaves it.
    pub fn placed(
        shapes: Shapes<'_>,
        walks: &[Option<usize>],
        argument: &'static str,
        pointers: Vec<Pointer<'a>>,
        bounds: Bounds,
    ) -> Result<Self, Problem> {
        let Shapes {
            destination: shape,
            updates,
        } = shapes;
        let refuse = |why: String| Problem::Layout {
            argument: argument.into(),
            why,
        };
        if walks.len() != updates.len() {
            return Err(refuse(format!("it has no axes {updates:?}")));
        }
        let mut taken = Dims::from_elem(0, shape.len());
        let walked = walks.iter().zip(updates);
        let walked = walked.filter_map(|(&onto, &len)| Some((onto?, len)));
        let pointed = pointers.iter().map(|pointer| (pointer.axis, 0));
        for (axis, len) in walked.chain(pointed) {
            let fits = axis < shape.len() && taken[axis] == 0 && len <= shape[axis];
            if !fits {
                return Err(refuse(format!(
                    "axis {axis} of {shape:?} is not there for it"
                )));
            }
            taken[axis] = 1;
        }
        let mut components = SmallVec::new();
        for pointer in pointers {
            let view = pointer.index.view();
            numeric(argument, view)?;
            if view.shape() != updates {
                return Err(Problem::Shape {
                    argument,
                    found: view.shape().to_vec(),
                    expected: format!("it must be {updates:?}"),
                });
            }
            components.push(Component {
                argument,
                index: pointer.index,
                axis: pointer.axis,
                place: pointer.place,
                between: 0..0,
            });
        }
        let updates = Dims::from_slice(updates);
        let onto = walks.iter().map(|onto| onto.map(|axis| (axis, 1)));
        let onto = onto.collect();
        Ok(Self::pointed(shape, updates, onto, components, bounds))
    }
}
