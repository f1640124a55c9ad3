//! `gather_coo` and `gather_csr`: the way back of the segment operators, row by row.
//!
//! Source of the semantics: torch_scatter 2.1.2, `csrc/cpu/segment_coo_cpu.cpp`,
//! `csrc/cpu/segment_csr_cpu.cpp` and runs on CPU; see also `COMPARE.md`.

use crate::dialect::framework::call::{Call, Describe};
use crate::dialect::framework::declaration::*;
use crate::dialect::torch_scatter::checks::{check_out, check_ranks, expand, place, target};
use crate::dialect::torch_scatter::context;
use crate::dialect::torch_scatter::segment::{INDPTR, class};
use strew_engine::checks::expect_shape;
use strew_engine::describe::destinations::{Destinations, Shapes};
use strew_engine::describe::pairing::Pairing;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;

const SRC: &str = "the rows to copy: rank 1 or more, any dtype";

const INDEX: &str = "the row of src for each row of the result, along index's last axis, where it \
     must ascend: int32 or int64; its other axes are src's";

const OUT: &str =
    "a tensor to copy into, in place: src's dtype, and its shape but for the axis of the rows";

operators! {
    <T: Element, I: Index> dyn (
        src: tensor<T> => SRC;
        index: tensor<I> => INDEX;
        ~ out: optional_target => OUT;
    ) -> out;

    /// Copies the rows of `src` that an index names; the index ascends.
    ///
    /// torch_scatter's `gather_coo`. With `d` the number of `index`'s axes, `out[.., e, ..]` is
    /// `src[.., index[.., e], ..]` along axis `d - 1`; the axes before it are the same in `index` and
    /// `src`. Bits are copied.
    ///
    /// ```
    /// let out = strew::torch_scatter::gather_coo(&[10.0f32, 20.0, 30.0], &[0i64, 0, 2])?;
    /// assert_eq!(out.as_slice(), [10.0, 10.0, 30.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Runtime`](crate::Class::Runtime): shapes that do not fit, index types, indices that do
    /// not ascend or are out of range.
    pub fn gather_coo = lower_coo;
    const GATHER_COO = "torch_scatter.gather_coo":
        "Copies the rows of src that an index names, which ascends";
}

operators! {
    <T: Element, I: Index> dyn (
        src: tensor<T> => SRC;
        indptr: tensor<I> => INDPTR;
        ~ out: optional_target => OUT;
    ) -> out;

    /// Copies each row of `src` to the rows from one pointer to the next.
    ///
    /// torch_scatter's `gather_csr`. With `d` the number of `indptr`'s axes, row `n` of `src` along
    /// axis `d - 1` goes to the rows of the result from `indptr[.., n]` up to `indptr[.., n + 1]`; the
    /// other axes of `indptr` are expanded to `src`'s first. There is one pointer more than `src` has
    /// rows, and the very last one is the size of the result along that axis. Rows of the result that
    /// get nothing are 0; of several, the last one stays. Bits are copied.
    ///
    /// ```
    /// let out = strew::torch_scatter::gather_csr(&[10.0f32, 20.0], &[0i64, 2, 3])?;
    /// assert_eq!(out.as_slice(), [10.0, 10.0, 20.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Runtime`](crate::Class::Runtime): shapes that do not fit, pointer types, pointers
    /// outside the result. [`Class::Memory`](crate::Class::Memory) if the last pointer asks for more
    /// than there is.
    pub fn gather_csr = lower_csr;
    const GATHER_CSR = "torch_scatter.gather_csr":
        "Copies each row of src to the rows from one pointer to the next";
}

/// [`gather_coo`] with element types known at run time. With `out`, copies into it and returns
/// nothing.
///
/// # Errors
/// As [`gather_coo`]; `out` is then unchanged.
pub fn gather_coo_dyn<'a>(
    src: DynView<'a>,
    index: &DynView<'a>,
    out: Option<DynViewMut<'a>>,
) -> Result<Output> {
    let scatter = describe_coo(src, index, out);
    context("torch_scatter.gather_coo", class)
        .call(scatter)?
        .run()
}

/// [`gather_csr`] with element types known at run time. With `out`, copies into it and returns
/// nothing; its rows that get nothing are left as they are.
///
/// # Errors
/// As [`gather_csr`]; `out` is then unchanged.
pub fn gather_csr_dyn<'a>(
    src: DynView<'a>,
    indptr: &DynView<'a>,
    out: Option<DynViewMut<'a>>,
) -> Result<Output> {
    let scatter = describe_csr(src, indptr, out);
    context("torch_scatter.gather_csr", class)
        .call(scatter)?
        .run()
}

fn lower_coo<'a>(
    name: &'static str,
    src: DynView<'a>,
    index: DynView<'a>,
    out: Option<DynViewMut<'a>>,
) -> Result<Call<'a>> {
    context(name, class).call(describe_coo(src, &index, out))
}

fn lower_csr<'a>(
    name: &'static str,
    src: DynView<'a>,
    indptr: DynView<'a>,
    out: Option<DynViewMut<'a>>,
) -> Result<Call<'a>> {
    context(name, class).call(describe_csr(src, &indptr, out))
}

fn describe_coo<'a>(
    src: DynView<'a>,
    index: &DynView<'a>,
    out: Option<DynViewMut<'a>>,
) -> Result<Scatter<'a>, Problem> {
    let dim = check_ranks(&src, "index", index)?;
    let fits = index.shape()[..dim] == src.shape()[..dim];
    expect_shape("index", index.shape(), fits, || {
        format!(
            "its sizes must be src's {:?} but for the last",
            &src.shape()[..dim]
        )
    })?;
    let mut shape = src.dims();
    shape[dim] = index.shape()[dim];
    if let Some(out) = &out {
        check_out(&src, out, dim)?;
        expect_shape("out", out.shape(), *out.shape() == shape[..], || {
            format!(
                "its size along dimension {dim} must be {}, as many as there are indices",
                shape[dim]
            )
        })?;
    }
    described(src, index, &shape, dim, out, ("index", Pairing::Picked))
}

fn describe_csr<'a>(
    src: DynView<'a>,
    indptr: &DynView<'a>,
    out: Option<DynViewMut<'a>>,
) -> Result<Scatter<'a>, Problem> {
    let dim = check_ranks(&src, "indptr", indptr)?;
    let pointers = indptr.shape()[dim];
    let mut wanted = src.dims();
    wanted.truncate(dim);
    wanted.push(pointers);
    let expanded = expand("indptr", indptr, &wanted)?;
    let rows = src.shape()[dim];
    let fits = rows == 0 || rows == pointers.saturating_sub(1);
    expect_shape("indptr", indptr.shape(), fits, || {
        format!(
            "it must have {} pointers, one more than src has rows",
            rows + 1
        )
    })?;
    let mut shape = src.dims();
    if let Some(out) = &out {
        check_out(&src, out, dim)?;
        shape[dim] = out.shape()[dim];
    } else {
        shape[dim] = match src.is_empty() {
            true => 0,
            false => last_of(indptr),
        };
    }
    let paired = ("indptr", Pairing::Spread);
    described(src, &expanded, &shape, dim, out, paired)
}

/// The very last value. One that is no size leaves no row; the run then names the pointer that is
/// wrong.
fn last_of(indptr: &DynView<'_>) -> usize {
    let mut last = indptr.clone();
    for axis in 0..indptr.rank() {
        let len = indptr.shape()[axis];
        last = last
            .narrow(axis, len.saturating_sub(1), len.min(1))
            .unwrap_or(last);
    }
    let value = last.max_integer().unwrap_or(0);
    usize::try_from(value).unwrap_or(0)
}

fn described<'a>(
    src: DynView<'a>,
    index: &DynView<'a>,
    shape: &[usize],
    dim: usize,
    out: Option<DynViewMut<'a>>,
    (argument, pairing): (&'static str, Pairing),
) -> Result<Scatter<'a>, Problem> {
    let shapes = Shapes {
        destination: shape,
        updates: src.shape(),
    };
    let destinations =
        Destinations::runs(shapes, argument, index.clone(), dim, place(dim), pairing)?;
    let target = target(&src, out, Start::Zero);
    let reduction = Reduction::into_self(Combine::Assign);
    Scatter::new(destinations, reduction, "src", src, target)
}
