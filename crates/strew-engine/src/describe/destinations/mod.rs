//! Which cells the updates go to.

pub mod line;
pub mod row_ids;
pub mod slice;
pub mod take;

use crate::describe::bounds::Bounds;
use crate::describe::pairing::Pairing;
use smallvec::SmallVec;
use std::ops::Range;
use strew_kernel::error::{IndexValue, Problem};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DType, Dims, DynView, DynViewMut, Held, Layout};
use strew_kernel::update::small::SmallRun;
use strew_kernel::walk::geometry::OutOfBounds;

/// The cells that updates go to, in one of several forms.
///
/// All of them are the same thing inside: an iteration space, of which some axes walk along axes of
/// the destination, and index components that each say where on one axis an update goes. *Affine*
/// destinations have no component; in *rows*, a tuple of components names a whole window; in
/// *elements*, each element has its own index along one axis; *picks* and *placed* destinations are
/// those in which other axes lie between. An index that is constant along trailing axes (broadcast,
/// stride 0) is run as rows whatever form it was given in. *Runs* are something else: rows that lie
/// one after the other belong to one row, as an array says.
#[derive(Clone, Debug)]
pub struct Destinations<'a> {
    /// Sizes of the destination.
    pub(crate) shape: Dims,
    /// The iteration space: the shape of the updates.
    pub(crate) updates: Dims,
    /// For each of its axes, the destination's axis that it walks along, and in which steps.
    pub(crate) onto: SmallVec<[Option<(usize, isize)>; 4]>,
    /// Where the walk starts on each of the destination's axes.
    pub(crate) start: Dims,
    pub(crate) components: SmallVec<[Component<'a>; 2]>,
    pub(crate) bounds: Bounds,
    /// The axis of the updates along which an arg output counts.
    pub(crate) along: Option<usize>,
    /// What the one component means, if it does not say where each update goes.
    pub(crate) pairing: Option<Pairing>,
}

/// One component of the index.
#[derive(Clone, Debug)]
pub struct Component<'a> {
    /// The argument's name.
    pub argument: &'static str,
    /// Index values, broadcast to the shape of the updates.
    pub index: Held<'a>,
    /// The destination's axis that they point into.
    pub axis: usize,
    /// Where a value stands in the argument as the caller gave it, for messages.
    pub place: Place,
    /// Axes of the updates amid those of `place` that are not the argument's.
    between: Range<usize>,
}

impl Component<'_> {
    fn by_ref(&self) -> Component<'_> {
        Component {
            argument: self.argument,
            index: self.index.view().clone().into(),
            axis: self.axis,
            place: self.place.clone(),
            between: self.between.clone(),
        }
    }
}

/// How to say where in its argument an index value stands.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The axes of the updates that are the argument's own axes, in its order.
    pub axes: Range<usize>,
    /// Where the value stands on the tuple axis, if the argument has one.
    pub tuple: Option<TupleEntry>,
}

/// Where an index value stands on the axis of its argument that holds the entries of tuples.
#[derive(Clone, Copy, Debug)]
pub struct TupleEntry {
    /// Which of the argument's axes holds the entries.
    pub at: usize,
    /// Which entry it is.
    pub entry: usize,
}

/// The shapes of both sides of a scatter.
#[derive(Clone, Copy, Debug)]
pub struct Shapes<'s> {
    /// Of the destination.
    pub destination: &'s [usize],
    /// Of the updates.
    pub updates: &'s [usize],
}

impl<'a> Destinations<'a> {
    /// Strided slices: `count` cells from `start` on, `step` apart, on every axis.
    ///
    /// # Errors
    /// [`Problem::Layout`] if a slice leaves its axis, or if there is not one for every axis.
    #[inline(always)] // As a scatter: it is made where it stays.
    pub fn affine(
        shape: &[usize],
        start: &[usize],
        step: &[isize],
        count: &[usize],
    ) -> Result<Self, Problem> {
        let outside = |axis: usize| Problem::Layout {
            argument: "slice".into(),
            why: format!("it leaves axis {axis}"),
        };
        let mut first = Dims::from_elem(0, shape.len());
        if let Some(&given) = [start.len(), step.len(), count.len()]
            .iter()
            .find(|&&given| given != shape.len())
        {
            return Err(outside(given.min(shape.len())));
        }
        for (axis, &size) in shape.iter().enumerate() {
            let (start, step, count) = (start[axis], step[axis], count[axis]);
            if count == 0 {
                continue;
            }
            first[axis] = start;
            let last = step
                .checked_mul((count - 1).cast_signed())
                .and_then(|span| start.cast_signed().checked_add(span));
            if start >= size || !last.is_some_and(|l| (0..size.cast_signed()).contains(&l)) {
                return Err(outside(axis));
            }
        }
        Ok(Self {
            shape: Dims::from_slice(shape),
            updates: Dims::from_slice(count),
            // A single cell needs no step.
            onto: step
                .iter()
                .zip(count)
                .enumerate()
                .map(|(a, (&step, &count))| Some((a, if count > 1 { step } else { 1 })))
                .collect(),
            start: first,
            components: SmallVec::new(),
            bounds: Bounds::STRICT,
            along: None,
            pairing: None,
        })
    }

    /// No update at all.
    #[must_use]
    pub fn none(shape: &[usize]) -> Self {
        Self {
            shape: Dims::from_slice(shape),
            updates: Dims::from_slice(&[0]),
            onto: SmallVec::from_elem(None, 1),
            start: Dims::from_elem(0, shape.len()),
            components: SmallVec::new(),
            bounds: Bounds::STRICT,
            along: None,
            pairing: None,
        }
    }

    /// The whole destination, once for each element of a batch of this shape.
    #[must_use]
    pub fn whole(shape: &[usize], batch: &[usize]) -> Self {
        let mut updates = Dims::from_slice(batch);
        updates.extend_from_slice(shape);
        let mut onto: SmallVec<_> = SmallVec::from_elem(None, batch.len());
        onto.extend((0..shape.len()).map(|axis| Some((axis, 1))));
        Self {
            shape: Dims::from_slice(shape),
            updates,
            onto,
            start: Dims::from_elem(0, shape.len()),
            components: SmallVec::new(),
            bounds: Bounds::STRICT,
            along: None,
            pairing: None,
        }
    }

    /// Windows: the tuple of `components[..]` (all of one shape, the batch) names the leading axes
    /// `axes` of the destination; the other axes, in order, are the window.
    ///
    /// `tuple_at` is where the tuple axis stands in the argument: `Some(0)` in MXNet, `Some(rank)`
    /// in ONNX, `None` where a single component is not a tuple.
    ///
    /// # Errors
    /// [`Problem::DType`] if they are no numbers, [`Problem::Shape`] if they differ in shape,
    /// [`Problem::Layout`] if there is not one for each of `axes`, or if these are not different
    /// axes of the destination.
    pub fn rows<I: Clone + Into<Held<'a>>>(
        shape: &[usize],
        argument: &'static str,
        components: &[I],
        axes: &[usize],
        tuple_at: Option<usize>,
        bounds: Bounds,
    ) -> Result<Self, Problem> {
        if components.len() != axes.len() || !are_different_axes(axes, shape.len()) {
            return Err(Problem::Layout {
                argument: argument.into(),
                why: format!(
                    "{} components cannot point along the axes {axes:?} of {shape:?}",
                    components.len()
                ),
            });
        }
        let components: SmallVec<[Held<'a>; 2]> = components
            .iter()
            .map(|index| index.clone().into())
            .collect();
        for component in &components {
            numeric(argument, component.view())?;
        }
        let first = components.first();
        let batch = first.map(|index| index.view().dims()).unwrap_or_default();
        let window: Dims = (0..shape.len()).filter(|a| !axes.contains(a)).collect();
        let mut updates = Dims::from_slice(&batch);
        updates.extend(window.iter().map(|&a| shape[a]));
        let mut onto: SmallVec<_> = SmallVec::from_elem(None, batch.len());
        onto.extend(window.iter().map(|&a| Some((a, 1))));
        let mut pointing = SmallVec::new();
        for (number, (component, &axis)) in components.into_iter().zip(axes).enumerate() {
            let found = component.view().dims();
            let index = match found == batch {
                true => before_window(component, window.len(), &updates),
                false => None,
            };
            let index = index.ok_or_else(|| Problem::Shape {
                argument,
                found: found.to_vec(),
                expected: format!("it must be {:?}", batch.as_slice()),
            })?;
            pointing.push(Component {
                argument,
                index,
                axis,
                place: Place {
                    axes: 0..batch.len(),
                    tuple: tuple_at.map(|at| TupleEntry { at, entry: number }),
                },
                between: 0..0,
            });
        }
        Ok(Self::pointed(shape, updates, onto, pointing, bounds))
    }

    /// Destinations whose walks all begin at 0, along axes that no component points along.
    fn pointed(
        shape: &[usize],
        updates: Dims,
        onto: SmallVec<[Option<(usize, isize)>; 4]>,
        components: SmallVec<[Component<'a>; 2]>,
        bounds: Bounds,
    ) -> Self {
        Self {
            shape: Dims::from_slice(shape),
            updates,
            onto,
            start: Dims::from_elem(0, shape.len()),
            components,
            bounds,
            along: None,
            pairing: None,
        }
    }

    /// Elements: an update goes where its own coordinates say, but for `axis`, where its index
    /// says.
    ///
    /// `index` has the destination's rank and the updates' shape (broadcast it if need be);
    /// `place` says which of its axes the argument really has.
    ///
    /// # Errors
    /// [`Problem::DType`] if the index holds no numbers, [`Problem::Shape`] if it is of another
    /// rank, or larger than the destination on an axis other than `axis`.
    #[inline(always)] // As a scatter: it is made where it stays.
    pub fn elements(
        shape: &[usize],
        argument: &'static str,
        index: &DynView<'a>,
        axis: usize,
        place: Place,
        bounds: Bounds,
    ) -> Result<Self, Problem> {
        numeric(argument, index)?;
        let updates = index.dims();
        let fits = updates.len() == shape.len()
            && updates
                .iter()
                .zip(shape)
                .enumerate()
                .all(|(a, (n, size))| a == axis || n <= size);
        if !fits || axis >= shape.len() {
            return Err(Problem::Shape {
                argument,
                found: updates.to_vec(),
                expected: format!("it must fit {shape:?} apart from dimension {axis}"),
            });
        }
        let mut components = SmallVec::new();
        components.push(Component {
            argument,
            index: index.clone().into(),
            axis,
            place,
            between: 0..0,
        });
        Ok(Self {
            shape: Dims::from_slice(shape),
            onto: (0..shape.len())
                .map(|a| (a != axis).then_some((a, 1)))
                .collect(),
            updates,
            start: Dims::from_elem(0, shape.len()),
            components,
            bounds,
            along: Some(axis),
            pairing: None,
        })
    }

    /// Runs: rows along `axis` of a destination and of updates belong together as
    /// `pairing` says of `index`.
    ///
    /// The last axis of `index` is `axis`; those before it are the destination's (broadcast it if
    /// need be). Of pointers there is one more than rows: of the destination for
    /// [`Pairing::Pointers`], of the updates for [`Pairing::Spread`]; if there is no row, none will
    /// do. An index is as long as the updates for [`Pairing::Ascending`], as the destination for
    /// [`Pairing::Picked`].
    ///
    /// # Errors
    /// [`Problem::DType`] if the index holds no numbers, [`Problem::Shape`] if the shapes do not
    /// fit.
    pub fn runs(
        shapes: Shapes<'_>,
        argument: &'static str,
        index: impl Into<Held<'a>>,
        axis: usize,
        place: Place,
        pairing: Pairing,
    ) -> Result<Self, Problem> {
        let Shapes {
            destination: shape,
            updates,
        } = shapes;
        let held = index.into();
        let index = held.view();
        numeric(argument, index)?;
        let alike = shape.len() == updates.len()
            && (0..shape.len()).all(|k| k == axis || shape[k] == updates[k]);
        let behind = index.shape().split_last();
        let Some((&count, batch)) = behind.filter(|_| alike && axis < shape.len()) else {
            return Err(Problem::Shape {
                argument,
                found: index.shape().to_vec(),
                expected: format!("it must pair rows of {updates:?} and {shape:?} along {axis}"),
            });
        };
        let rows = match pairing {
            Pairing::Pointers | Pairing::Picked => shape[axis],
            Pairing::Ascending | Pairing::Spread => updates[axis],
        };
        let wanted = match pairing.points() {
            // Where there is nothing to reduce or to copy, pointers may be as they like.
            true if updates.contains(&0) || (rows == 0 && count == 0) => count,
            true => rows.saturating_add(1),
            false => rows,
        };
        if *batch != shape[..axis] || count != wanted {
            return Err(Problem::Shape {
                argument,
                found: index.shape().to_vec(),
                expected: format!("it must be {:?} and {wanted}", &shape[..axis]),
            });
        }
        Ok(Self {
            shape: Dims::from_slice(shape),
            updates: Dims::from_slice(updates),
            onto: SmallVec::new(),
            start: Dims::new(),
            components: std::iter::once(Component {
                argument,
                index: held,
                axis,
                place,
                between: 0..0,
            })
            .collect(),
            bounds: Bounds::STRICT,
            along: Some(axis),
            pairing: Some(pairing),
        })
    }

    /// What the index says, if these are runs.
    #[must_use]
    pub fn pairing(&self) -> Option<Pairing> {
        self.pairing
    }

    /// Sizes of the destination.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The shape that the updates must have.
    #[must_use]
    pub fn updates_shape(&self) -> &[usize] {
        &self.updates
    }

    /// Whether an index that names no cell is left out, and no error.
    pub(crate) fn drops(&self) -> bool {
        self.bounds.drops()
    }

    /// The index components.
    #[must_use]
    pub fn components(&self) -> &[Component<'a>] {
        &self.components
    }

    /// The index arrays, with the names of their arguments.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&'static str, &DynView<'_>)> {
        let components = self.components.iter();
        components.map(|component| (component.argument, component.index.view()))
    }

    /// Whether the updates `src` can join the cells of such a destination at once, on the stack.
    pub(crate) fn joins_small(&self, dst: &Layout, src: &DynView<'_>, combine: Combine) -> bool {
        let components = self.small_components();
        self.bounds == Bounds::STRICT
            && self.small(&components).can_join(dst, src.layout(), combine)
    }

    /// Joins them; `None`, and nothing is done, if they cannot.
    pub(crate) fn join_small(
        &self,
        dst: &mut DynViewMut<'_>,
        src: &DynView<'_>,
        combine: Combine,
    ) -> Option<Result<(), OutOfBounds>> {
        let components = self.small_components();
        self.small(&components).join(dst, src, combine)
    }

    fn small_components(&self) -> SmallVec<[(&DynView<'_>, usize); 2]> {
        self.components
            .iter()
            .map(|c| (c.index.view(), c.axis))
            .collect()
    }

    fn small<'f>(&'f self, components: &'f [(&'f DynView<'f>, usize)]) -> SmallRun<'f> {
        SmallRun {
            start: &self.start,
            onto: &self.onto,
            components,
        }
    }

    /// The first index value, in the order of the updates, that names no cell, as a problem.
    ///
    /// The run that found one does not know where: this walks the index once more, in bounded
    /// memory.
    pub(crate) fn find_out_of_bounds(&self) -> Problem {
        // Axes along which no component varies say nothing new.
        let lens: Dims = (0..self.updates.len())
            .map(|k| {
                let varies = |c: &Component<'_>| c.index.view().layout().strides()[k] != 0;
                if self.components.iter().any(varies) {
                    self.updates[k]
                } else {
                    self.updates[k].min(1)
                }
            })
            .collect();
        let mut first: Option<(usize, IndexValue, Dims, &Component<'_>)> = None;
        for component in &self.components {
            let size = self.shape[component.axis];
            let most = first.as_ref().map_or(usize::MAX, |&(at, ..)| at);
            let index = component.index.view().corner(&lens);
            let found = index.and_then(|index| {
                let at = self.bounds.first_error(&index, size, most)?;
                let coordinate = index.coordinate(at);
                Some((at, self.bounds.value(&index, &coordinate), coordinate))
            });
            first = found
                .map(|(at, value, on)| (at, value, on, component))
                .or(first);
        }
        if let Some((_, value, at, component)) = first {
            return problem(component, &at, value, self.shape[component.axis]);
        }
        Problem::Layout {
            argument: "index".into(),
            why: "it was changed by somebody else while it was in use".into(),
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl<'a> Destinations<'a> {
    /// The same destinations, which borrow their indices from these.
    pub fn by_ref(&self) -> Destinations<'_> {
        Destinations {
            shape: self.shape.clone(),
            updates: self.updates.clone(),
            onto: self.onto.clone(),
            start: self.start.clone(),
            components: self.components.iter().map(Component::by_ref).collect(),
            bounds: self.bounds,
            along: self.along,
            pairing: self.pairing,
        }
    }
}

/// Whether these are different axes of a tensor of that rank.
fn are_different_axes(axes: &[usize], rank: usize) -> bool {
    let mut axes_before = axes.iter().enumerate();
    axes_before.all(|(k, axis)| *axis < rank && !axes[..k].contains(axis))
}

/// An index of a batch repeated along `window` more axes, to the shape of the updates.
fn before_window<'a>(index: Held<'a>, window: usize, updates: &[usize]) -> Option<Held<'a>> {
    if window == 0 {
        return Some(index);
    }
    index.map(|index| {
        let mut index = index.clone();
        for _ in 0..window {
            index = index.insert_axis(index.rank());
        }
        index.broadcast_to(updates)
    })
}

/// Only numbers name cells; a mask or a complex number does not.
pub(crate) fn numeric(argument: &'static str, index: &DynView<'_>) -> Result<(), Problem> {
    match index.dtype() {
        _ if index.is_empty() => Ok(()),
        found @ (DType::Bool | DType::C64 | DType::C128) => Err(Problem::DType {
            argument,
            found,
            expected: "it must be an integer or floating-point type".into(),
        }),
        _ => Ok(()),
    }
}

impl Component<'_> {
    /// Where in the argument the value at a coordinate of the updates stands.
    pub(crate) fn position(&self, at: &[usize]) -> Vec<usize> {
        let Range { start, end } = self.place.axes;
        let own = (start..end.min(at.len())).filter(|k| !self.between.contains(k));
        let mut position: Vec<usize> = own.map(|k| at[k]).collect();
        if let Some(TupleEntry { at, entry }) = self.place.tuple {
            position.insert(at.min(position.len()), entry);
        }
        position
    }
}

pub(crate) fn problem(
    component: &Component<'_>,
    at: &[usize],
    value: IndexValue,
    size: usize,
) -> Problem {
    Problem::IndexOutOfBounds {
        argument: component.argument,
        position: component.position(at),
        value,
        axis: component.axis,
        size: Some(size),
    }
}
