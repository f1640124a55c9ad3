//! Cells that hold a sum and a count side by side, for means of single elements.
//!
//! An update of a mean needs both. In separate tables they cost two cache lines for each update;
//! here they cost one. A cell has the size and alignment of a complex element, so that the other
//! loops can treat the table as a tensor: 8 bytes (a 32-bit sum and count) or 16 bytes (64-bit).
//!
//! # Unsafe
//!
//! - Buys: sum and count of a mean side by side
//! - Measured: checks: W1b-mean 1.04
//! - Holds: the window is the whole table, which is new and private

use crate::copy::strided::{packed, whole};
use crate::error::Problem;
use crate::ops::combine::Join;
use crate::ops::number::{Mean, Number};
use crate::rows::row_pairs::{Cold, Rows, each};
use crate::tensor::{DType, DynTensor, DynViewMut};
use crate::update::dispatch::Loops;
use crate::walk::offsets::{At, Dim, Dims, PrefetchHints};
use half::{bf16, f16};
use num_complex::Complex32;
use std::marker::PhantomData;

/// A cell: the bytes of an element of [`Countable::CELL`], all of them said, so that none is
/// padding.
#[derive(Clone, Copy)]
#[repr(C)]
struct SumCount<S, P, C> {
    sum: S,
    fill: P,
    count: C,
}

type Cell<T> = SumCount<<T as Number>::Acc, <T as Countable>::Fill, <T as Countable>::Count>;

/// An unsigned integer that counts updates.
trait Count: Copy + 'static {
    fn up(&mut self);
    fn get(self) -> u64;
}

macro_rules! counts {
    ($($t:ty),*) => {$(
        impl Count for $t {
            #[inline(always)]
            fn up(&mut self) { *self = self.wrapping_add(1); }
            #[inline(always)]
            fn get(self) -> u64 { self.into() }
        }
    )*};
}

counts!(u32, u64);

/// An element type whose sum and count fit into an element of another type.
trait Countable: Number {
    /// The type whose elements have a cell's size and alignment.
    const CELL: DType;
    type Fill: Copy + Default + 'static;
    type Count: Count + Default;
}

macro_rules! countable {
    ($($t:ty: $cell:ident, $fill:expr, $count:ty, $as:ty;)*) => {
        $(
            impl Countable for $t {
                const CELL: DType = DType::$cell;
                type Fill = [u8; $fill];
                type Count = $count;
            }
            const _: () = assert!(
                size_of::<Cell<$t>>() == size_of::<$as>() && align_of::<Cell<$t>>() <= align_of::<$as>()
            );
        )*
    };
}

countable! {
    i8: C64, 3, u32, num_complex::Complex32;
    u8: C64, 3, u32, num_complex::Complex32;
    i16: C64, 2, u32, num_complex::Complex32;
    u16: C64, 2, u32, num_complex::Complex32;
    i32: C64, 0, u32, num_complex::Complex32;
    u32: C64, 0, u32, num_complex::Complex32;
    f16: C64, 0, u32, num_complex::Complex32;
    bf16: C64, 0, u32, num_complex::Complex32;
    f32: C64, 0, u32, num_complex::Complex32;
    i64: C128, 0, u64, num_complex::Complex64;
    u64: C128, 0, u64, num_complex::Complex64;
    f64: C128, 0, u64, num_complex::Complex64;
    Complex32: C128, 0, u64, num_complex::Complex64;
}

/// Evaluates `$do` with `$t` standing for the Rust type of a dtype that is [`Countable`], or gives
/// `None`.
macro_rules! for_countable {
    ($dtype:expr, $t:ident => $do:expr) => {{
        macro_rules! with {
            ($type:ty) => {{
                type $t = $type;
                Some($do)
            }};
        }
        match $dtype {
            DType::Bool | DType::C128 => None,
            DType::I8 => with!(i8),
            DType::I16 => with!(i16),
            DType::I32 => with!(i32),
            DType::I64 => with!(i64),
            DType::U8 => with!(u8),
            DType::U16 => with!(u16),
            DType::U32 => with!(u32),
            DType::U64 => with!(u64),
            DType::F16 => with!(f16),
            DType::BF16 => with!(bf16),
            DType::F32 => with!(f32),
            DType::F64 => with!(f64),
            DType::C64 => with!(Complex32),
        }
    }};
}

/// Joins a value with a cell: adds it and counts it.
struct SumCountJoin<T>(PhantomData<T>);

impl<T: Countable> Join for SumCountJoin<T> {
    // Both fields wait for the cell's last write, so keeping the cell in a register gains more.
    const CHAINS: usize = 12;
    const HOT: bool = T::SUM;
    const WIDE: bool = T::WIDE_SUM;
    type Cell = Cell<T>;
    type Value = T;
    type Wide = T::Acc;
    #[inline(always)]
    fn join(cell: &mut Cell<T>, value: T::Acc) {
        cell.sum = T::add(cell.sum, value);
        cell.count.up();
    }
}

/// Bytes of a cell for `updates` updates of this type; `None` if no cell can count them.
pub fn sum_count_size(dtype: DType, updates: usize) -> Option<usize> {
    let cell = for_countable!(dtype, T => T::CELL)?;
    let most = match cell {
        DType::C64 => u32::MAX.into(),
        _ => u64::MAX,
    };
    (updates as u64 <= most).then_some(cell.size())
}

/// The loops that join elements of `dtype` into their cells; `None` if `cell` is not the cells'
/// type.
pub(crate) fn sum_count_loops(dtype: DType, cell: DType) -> Option<Loops> {
    let (loops, wanted) = for_countable!(dtype, T => (Loops::of::<SumCountJoin<T>>(), T::CELL))?;
    (wanted == cell).then_some(loops)
}

/// A table of cells of the shape of `dst`. Counts are 0. Sums are `dst`'s elements if `goes_on`,
/// else 0.
///
/// # Panics
/// If there are no such cells for the type.
pub fn sum_count_table(dst: &mut DynViewMut<'_>, goes_on: bool) -> Result<DynTensor, Problem> {
    let dtype = dst.dtype();
    let cell = for_countable!(dtype, T => T::CELL).expect("the type can be counted");
    let mut table = DynTensor::zeros(cell, dst.shape()).map_err(|problem| match problem {
        Problem::Memory {
            needed, available, ..
        } => Problem::Memory {
            what: format!("a table of {} sums and their counts", dst.len()),
            needed,
            available,
        },
        other => other,
    })?;
    if goes_on && !dst.is_empty() {
        let window = packed(&whole(dst.layout()), cell.size());
        let rows = Rows {
            left: table.view_mut().as_mut_ptr(),
            left_at: &[0],
            right: dst.as_mut_ptr(),
            right_at: At::Steps(0, 0),
            window: &window,
            ahead: PrefetchHints::NONE,
        };
        // SAFETY: the window covers the whole table on the left, which is new and has cells of the
        // loop's type in row-major order, and the whole destination on the right.
        let begun = for_countable!(dtype, T => unsafe { begin::<T>(&rows) });
        begun.expect("the type can be counted");
    }
    Ok(table)
}

/// Sets each cell (left) to an element (right) and a count of 0.
///
/// # Safety
/// As for [`each`], with left elements `Cell<T>` and right elements `T`.
unsafe fn begin<T: Countable>(rows: &Rows<'_>) {
    // SAFETY: the caller keeps the contract of `each` for these element types.
    unsafe {
        each::<Cold, Cell<T>, T, T::Acc>(
            rows,
            #[inline(always)]
            |_, cell, sum| {
                *cell = SumCount {
                    sum,
                    fill: T::Fill::default(),
                    count: T::Count::default(),
                };
            },
        );
    }
}

/// Sets every element of `dst` whose count is not 0 to its mean.
///
/// # Panics
/// If the table was not made for such a destination.
pub fn divide(table: &DynTensor, dst: &mut DynViewMut<'_>, mean: Mean) {
    let dtype = dst.dtype();
    let cell = for_countable!(dtype, T => T::CELL);
    assert!(table.shape() == dst.shape() && Some(table.dtype()) == cell);
    if dst.is_empty() {
        return;
    }
    let window = packed(&whole(dst.layout()), table.dtype().size());
    let window: Dims = window.into_iter().map(Dim::swapped).collect();
    let rows = Rows {
        left: dst.as_mut_ptr(),
        left_at: &[0],
        right: table.as_bytes().as_ptr(),
        right_at: At::Steps(0, 0),
        window: &window,
        ahead: PrefetchHints::NONE,
    };
    // SAFETY: the window covers the whole destination on the left, borrowed mutably, and the whole
    // table on the right, which has cells of the loop's type.
    let _: Option<()> = for_countable!(dtype, T => unsafe { finish::<T>(&rows, mean) });
}

/// Sets each element (left) to the mean of its cell (right), if that has a count.
///
/// # Safety
/// As for [`each`], with left elements `T` and right elements `Cell<T>`.
unsafe fn finish<T: Countable>(rows: &Rows<'_>, mean: Mean) {
    // SAFETY: the caller keeps the contract of `each` for these element types.
    unsafe {
        each::<Cold, T, Cell<T>, Cell<T>>(
            rows,
            #[inline(always)]
            |_, element, cell| {
                let count = cell.count.get();
                if count > 0 {
                    *element = T::narrow(mean.of::<T>(cell.sum, count));
                }
            },
        );
    }
}
