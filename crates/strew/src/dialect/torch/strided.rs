//! `diagonal_scatter`, `as_strided_scatter`: elements at equal distances, which numbers name.
//!
//! Both name positions among the elements of `input`, counted row by row: `offset` plus the sum of
//! coordinate times stride.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::declaration::*;
use crate::dialect::torch::arguments::INPUT;
use crate::dialect::torch::put::positions;
use crate::dialect::torch::{Refusal, call, class, context};
use strew_engine::checks::{axis, expect_shape};
use strew_engine::describe::Scatter;
use strew_engine::describe::reduction::Reduction;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{Dims, Held};

const SRC: &str = "the new values, exactly of the part's shape; of input's dtype, or of one that \
     becomes it without loss";

operators! {
    <T: Element> dyn<'a> (
        input: tensor<T> => INPUT;
        src: tensor<T> => SRC;
        offset: int = 0 =>
            "which diagonal: 0 the main one, above it if positive, below it if negative";
        dim1: int = 0 => "the axis of its rows; negative counts from the end";
        dim2: int = 1 => "the axis of its columns; negative counts from the end";
    ) -> out;

    /// `input` with a diagonal of the axes `dim1` and `dim2` replaced by `src`, whose last axis is
    /// the diagonal; its other axes are `input`'s others.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let out = strew::torch::diagonal_scatter(&array![[1, 2], [3, 4]], &[7], 1, 0, 1)?;
    /// assert_eq!(out.as_slice(), [1, 7, 3, 4]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`](crate::Class::Index) for a wrong `dim1` or `dim2`;
    /// [`Class::Runtime`](crate::Class::Runtime) for everything else.
    pub fn diagonal_scatter, pub fn diagonal_scatter_dyn = lower_diagonal;
    const DIAGONAL_SCATTER = "torch.diagonal_scatter":
        "A copy of input with a diagonal replaced by src";
}

operators! {
    <T: Element> dyn<'a> (
        input: tensor<T> => INPUT;
        src: tensor<T> => SRC;
        size: integers => "the shape of the part";
        stride: integers =>
            "the distance of neighbours along each of its axes, in elements; not negative";
        storage_offset: none_int = 0 => "the position of its first element; None: 0";
    ) -> out;

    /// `input` with the elements at `offset + sum(coordinate * stride)` replaced by `src`, of the
    /// shape `size`. Where several elements of `src` have one position, the last one stays.
    ///
    /// ```
    /// let out = strew::torch::as_strided_scatter(&[0, 0, 0, 0, 0], &[1, 2], &[2], &[3], 1)?;
    /// assert_eq!(out.as_slice(), [0, 1, 0, 0, 2]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Runtime`](crate::Class::Runtime).
    pub fn as_strided_scatter, pub fn as_strided_scatter_dyn = lower_strided;
    const AS_STRIDED_SCATTER = "torch.as_strided_scatter":
        "A copy of input with the elements at strided positions replaced by src";
}

fn lower_diagonal<'a>(
    operator: &'static str,
    input: DynView<'a>,
    src: DynView<'a>,
    offset: i64,
    dim1: i64,
    dim2: i64,
) -> Result<Call<'a>> {
    let describe = || {
        let shape = input.dims();
        let (first, second) = (
            axis("dim1", dim1, shape.len())?,
            axis("dim2", dim2, shape.len())?,
        );
        expect_shape("input", &shape, shape.len() > 1, || {
            "a diagonal has two dimensions".into()
        })?;
        if first == second {
            let why = format_args!("diagonal dimensions cannot be identical {dim1}, {dim2}");
            return Err(wrong_value("dim2", dim2, why).into());
        }
        // How many rows lie above the diagonal's first element, and how many columns before it.
        let skipped = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        let (above, before) = if offset < 0 {
            (skipped, 0)
        } else {
            (0, skipped)
        };
        let length = usize::min(
            shape[first].saturating_sub(above),
            shape[second].saturating_sub(before),
        );
        let strides = row_major(&shape);
        let mut part = Part::default();
        for (at, (&size, &stride)) in shape.iter().zip(&strides).enumerate() {
            if at != first && at != second {
                part.push(size, stride);
            }
        }
        part.push(length, strides[first] + strides[second]);
        if length > 0 {
            part.offset = above * strides[first] + before * strides[second];
        }
        part.replaced(input, src)
    };
    call(context(operator, class), describe())
}

fn lower_strided<'a>(
    operator: &'static str,
    input: DynView<'a>,
    src: DynView<'a>,
    size: &Integers<'_>,
    stride: &Integers<'_>,
    offset: i64,
) -> Result<Call<'a>> {
    let describe = || {
        expect_shape(
            "input",
            input.shape(),
            input.layout().is_contiguous(),
            || "its elements must lie row by row in memory: pass input.contiguous()".into(),
        )?;
        let (sizes, steps) = (size.sizes("size")?, stride.list("stride")?);
        expect_shape("stride", &[steps.len()], steps.len() == sizes.len(), || {
            format!(
                "mismatch in length of strides and shape: size has {} values",
                sizes.len()
            )
        })?;
        let start = usize::try_from(offset);
        let start =
            start.map_err(|_| wrong_value("storage_offset", offset, "it must not be negative"))?;
        let mut part = Part {
            offset: start,
            ..Part::default()
        };
        for (at, (&size, &step)) in sizes.iter().zip(steps.iter()).enumerate() {
            let stride = usize::try_from(step).map_err(|_| {
                let name = format!("stride[{at}]");
                wrong_value(name, step, "Negative strides are not supported")
            })?;
            if stride == 0 && size > 1 {
                let why = "more than one element of the written-to tensor refers to a single memory location";
                return Err(wrong_value(format!("stride[{at}]"), step, why).into());
            }
            part.push(size, stride);
        }
        let inside = part.end().is_some_and(|end| end <= input.len());
        if !inside {
            return Err(Problem::Shape {
                argument: "input",
                found: input.shape().to_vec(),
                expected: format!(
                    "size {:?}, stride {:?} and storage_offset {offset} are out of bounds for its {} elements",
                    &*sizes,
                    &*steps,
                    input.len()
                ),
            }
            .into());
        }
        part.replaced(input, src)
    };
    call(context(operator, class), describe())
}

/// Distances of neighbours along each axis, in elements that lie row by row.
fn row_major(shape: &[usize]) -> Dims {
    let mut strides = Dims::from_elem(1, shape.len());
    for at in (1..shape.len()).rev() {
        strides[at - 1] = strides[at].saturating_mul(shape[at]);
    }
    strides
}

/// Elements at equal distances along each of several axes.
#[derive(Default)]
struct Part {
    shape: Dims,
    strides: Dims,
    offset: usize,
}

impl Part {
    fn push(&mut self, size: usize, stride: usize) {
        self.shape.push(size);
        self.strides.push(stride);
    }

    /// One more than the last position; None beyond all memory.
    fn end(&self) -> Option<usize> {
        if self.shape.contains(&0) {
            return Some(0);
        }
        let mut last = self.offset;
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            last = last.checked_add((size - 1).checked_mul(stride)?)?;
        }
        last.checked_add(1)
    }

    /// The position of each element, row by row.
    fn positions(&self) -> Result<Tensor<i64>, Problem> {
        let mut found = Tensor::<i64>::zeros(&self.shape)?;
        let mut at = Dims::from_elem(0, self.shape.len());
        let mut position = self.offset;
        for value in found.as_mut_slice() {
            // Below the number of the input's elements, which fits.
            *value = position.cast_signed() as i64;
            for axis in (0..at.len()).rev() {
                at[axis] += 1;
                position += self.strides[axis];
                if at[axis] < self.shape[axis] {
                    break;
                }
                position -= at[axis] * self.strides[axis];
                at[axis] = 0;
            }
        }
        Ok(found)
    }

    /// The input with these elements replaced.
    fn replaced<'a>(&self, input: DynView<'a>, src: DynView<'a>) -> Result<Scatter<'a>, Refusal> {
        expect_shape("src", src.shape(), src.shape() == &*self.shape, || {
            format!(
                "expected src to have a size equal to the slice of self, {:?}",
                &*self.shape
            )
        })?;
        let index = Held::from(self.positions()?.into_dyn());
        let reduction = Reduction::into_self(Combine::Assign);
        positions(input.into(), index, ("src", src.into()), reduction)
    }
}
