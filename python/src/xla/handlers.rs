//! The handlers: a scatter and a gather in the general form that `strew.jax` lowers to.
//!
//! ```text
//! scatter(operand, updates, index...) -> operand with updates joined to its cells
//! gather(operand, fill, index...)     -> cells of operand, and fill where an index is left out
//! ```
//!
//! Attributes say where each element of the updates goes (of the gather's result: comes from):
//!
//! - `shape`: the shape of the updates. `updates` and each `index` have that rank, and broadcast to
//!   it. If a size is -1, which was not known when the program was made, `updates` has the shape.
//! - `walks`: for each axis of the updates, the axis of the operand that it walks along, or -1.
//! - `axes`: for each `index`, the axis of the operand that it points along.
//! - `own`: the first and the end of the updates' axes that are the index's own, for messages.
//! - `negative`, `out_of_range`: what an index that names no cell means, as in [`strew::Bounds`].
//! - `combine`: how an update joins a cell; `operator`: the name for messages.

use crate::xla::frame::{Frame, Memory, wrong};
use strew::scatter::{Destinations, Gather, Place, Pointer, Reduction, Scatter, Shapes, Target};
use strew::{Bounds, Combine, DynView, Nan, Negative, OutOfRange, Problem};

/// Most elements of a scatter that first runs as if no index were left out or changed: the engine
/// then joins them on the stack, which saves a call half of its time. It writes nothing if an
/// index is another one after all.
const FEW: usize = 256;

/// Joins updates with the cells of a copy of the operand. XLA makes the copy, or leaves it out
/// where the program does not need the operand again.
pub(crate) fn scatter(frame: &Frame<'_>) -> Result<(), Problem> {
    let (operand, mut out) = (frame.argument(0)?, frame.result(0)?);
    let updates = frame.argument(1)?;
    let shape = frame.shape("shape", updates.shape())?;
    let combine = combine(frame.text("combine")?)?;
    let wide = updates.view()?.broadcast_to(&shape);
    let wide = wide.ok_or_else(|| Problem::Shape {
        argument: "updates",
        found: updates.shape().to_vec(),
        expected: format!("it must broadcast to {shape:?}"),
    })?;
    out.begin_as(&operand)?;
    if wide.len() <= FEW {
        let places = places(frame, out.shape(), &shape, Bounds::STRICT)?;
        match described(places, combine, wide.clone(), &mut out)?.run() {
            Err(Problem::IndexOutOfBounds { .. }) => {}
            done => return done.map(drop),
        }
    }
    let places = places(frame, out.shape(), &shape, bounds(frame)?)?;
    // On an error XLA drops the result: there is no need to check the index before the first write.
    let scatter = described(places, combine, wide, &mut out)?.proven();
    scatter.run().map(drop)
}

fn described<'a>(
    places: Destinations<'a>,
    combine: Combine,
    updates: DynView<'a>,
    out: &'a mut Memory<'_>,
) -> Result<Scatter<'a>, Problem> {
    let target = Target::InPlace {
        argument: "the result",
        view: out.view_mut()?,
    };
    Scatter::new(
        places,
        Reduction::into_self(combine),
        "updates",
        updates,
        target,
    )
}

/// Picks cells of the operand.
pub(crate) fn gather(frame: &Frame<'_>) -> Result<(), Problem> {
    let (operand, mut out) = (frame.argument(0)?, frame.result(0)?);
    let shape = frame.shape("shape", out.shape())?;
    let places = places(frame, operand.shape(), &shape, bounds(frame)?)?;
    out.expect_huge_pages();
    let fill = frame.argument(1)?.view()?.to_tensor()?;
    let gather = Gather::new(places, operand.view()?)?.filled(fill);
    gather.run_into("the result", out.view_mut()?)
}

/// The operand's cells that the attributes and the indices name.
fn places<'a>(
    frame: &Frame<'a>,
    operand: &[usize],
    updates: &[usize],
    bounds: Bounds,
) -> Result<Destinations<'a>, Problem> {
    let walks: Vec<Option<usize>> = frame
        .integers("walks")?
        .iter()
        .map(|&axis| usize::try_from(axis).ok())
        .collect();
    let axes = frame.sizes("axes")?;
    let own = match frame.sizes("own")?[..] {
        [first, end] => first..end,
        _ => return Err(wrong("own", "two axes")),
    };
    if frame.arguments() != 2 + axes.len() {
        return Err(wrong("axes", "as many as there are indices"));
    }
    let mut pointers = Vec::with_capacity(axes.len());
    for (number, &axis) in axes.iter().enumerate() {
        let index = frame.argument(2 + number)?;
        let wide = index.view()?.broadcast_to(updates);
        let wide = wide.ok_or_else(|| Problem::Shape {
            argument: "indices",
            found: index.shape().to_vec(),
            expected: format!("it must broadcast to {updates:?}"),
        })?;
        pointers.push(Pointer {
            axis,
            index: wide.into(),
            place: Place {
                axes: own.clone(),
                tuple: None,
            },
        });
    }
    let shapes = Shapes {
        destination: operand,
        updates,
    };
    Destinations::placed(shapes, &walks, "indices", pointers, bounds)
}

fn bounds(frame: &Frame<'_>) -> Result<Bounds, Problem> {
    Ok(Bounds {
        negative: match frame.text("negative")? {
            "wrap" => Negative::Wrap,
            "drop" => Negative::Drop,
            "reject" => Negative::Reject,
            _ => return Err(wrong("negative", "wrap, drop or reject")),
        },
        out_of_range: match frame.text("out_of_range")? {
            "drop" => OutOfRange::Drop,
            "clip" => OutOfRange::Clip,
            "error" => OutOfRange::Error,
            _ => return Err(wrong("out_of_range", "drop, clip or error")),
        },
        ignored: None,
    })
}

fn combine(word: &str) -> Result<Combine, Problem> {
    Ok(match word {
        "set" => Combine::Assign,
        "add" => Combine::Sum,
        "subtract" => Combine::Sub,
        "multiply" => Combine::Prod,
        "divide" => Combine::Div,
        "min" => Combine::Min(Nan::Propagate),
        "max" => Combine::Max(Nan::Propagate),
        _ => {
            let words = "set, add, subtract, multiply, divide, min or max";
            return Err(wrong("combine", words));
        }
    })
}
