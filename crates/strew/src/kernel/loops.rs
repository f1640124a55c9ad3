//! The one place where element type and reduction choose the loops of a run.

use super::line::{LineLoop, lines};
use super::number::{Bool, Convert, Mean, Number, Ordered};
use super::repeated::CHANGES;
use super::rows::{Loop, Rows, each};
use super::short::short_lines;
use super::unset::Settable;
use super::{Combine, Nan};
use crate::tensor::DType;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use std::marker::PhantomData;

/// Bytes of one element; only the first `size` count.
pub(crate) type Bits = [u8; 16];

/// Evaluates `$do` with the type alias `$t` standing for the Rust type of a dtype.
macro_rules! for_dtype {
    ($dtype:expr, $t:ident => $do:expr, complex $c:ident => $complex:expr) => {{
        use $crate::kernel::number::Bool;
        macro_rules! with {
            ($real:ty) => {{
                type $t = $real;
                $do
            }};
        }
        macro_rules! with_complex {
            ($complex_type:ty) => {{
                #[allow(dead_code)]
                type $c = $complex_type;
                $complex
            }};
        }
        match $dtype {
            DType::Bool => with!(Bool),
            DType::I8 => with!(i8),
            DType::I16 => with!(i16),
            DType::I32 => with!(i32),
            DType::I64 => with!(i64),
            DType::U8 => with!(u8),
            DType::U16 => with!(u16),
            DType::U32 => with!(u32),
            DType::U64 => with!(u64),
            DType::F16 => with!(half::f16),
            DType::BF16 => with!(half::bf16),
            DType::F32 => with!(f32),
            DType::F64 => with!(f64),
            DType::C64 => with_complex!(num_complex::Complex32),
            DType::C128 => with_complex!(num_complex::Complex64),
        }
    }};
}
pub(super) use for_dtype;

/// How an element, converted, joins a cell.
pub(super) trait Join: 'static {
    /// Elements that are joined together.
    const LEN: usize = 1;
    /// How often a cell may give way to another one, among the [values that are looked at](super::repeated), for it to pay to
    /// keep it in a register; 0 where a cell's next value does not depend on the one before, or the reduction is a rare one.
    const CHAINS: usize = 0;
    /// Whether most updates change their cells.
    const STORES: bool = true;
    type Cell: Copy;
    type Value: Convert<Self::Wide>;
    type Wide: Copy;
    fn join(cell: &mut Self::Cell, value: Self::Wide);
}

struct Sum<T>(PhantomData<T>);

impl<T: Number> Join for Sum<T> {
    const CHAINS: usize = CHANGES;
    type Cell = T::Acc;
    type Value = T;
    type Wide = T::Acc;
    #[inline(always)]
    fn join(cell: &mut T::Acc, value: T::Acc) {
        *cell = T::add(*cell, value);
    }
}

/// A sum that starts from nothing where the cell is unset.
struct FirstSum<T>(PhantomData<T>);

impl<T: Settable + Number<Acc = T>> Join for FirstSum<T> {
    const CHAINS: usize = CHANGES;
    type Cell = T;
    type Value = T;
    type Wide = T;
    #[inline(always)]
    fn join(cell: &mut T, value: T) {
        let so_far = if cell.is_unset() { T::ZERO } else { *cell };
        *cell = T::add(so_far, value);
    }
}

struct Prod<T>(PhantomData<T>);

impl<T: Number> Join for Prod<T> {
    const CHAINS: usize = CHANGES;
    type Cell = T::Acc;
    type Value = T;
    type Wide = T::Acc;
    #[inline(always)]
    fn join(cell: &mut T::Acc, value: T::Acc) {
        *cell = T::mul(*cell, value);
    }
}

struct Sub<T>(PhantomData<T>);

impl<T: Number> Join for Sub<T> {
    type Cell = T::Acc;
    type Value = T;
    type Wide = T::Acc;
    #[inline(always)]
    fn join(cell: &mut T::Acc, value: T::Acc) {
        *cell = T::sub(*cell, value);
    }
}

struct Div<T>(PhantomData<T>);

impl<T: Number> Join for Div<T> {
    type Cell = T::Acc;
    type Value = T;
    type Wide = T::Acc;
    #[inline(always)]
    fn join(cell: &mut T::Acc, value: T::Acc) {
        *cell = T::div(*cell, value);
    }
}

/// A minimum or maximum. A strict one reads its cells as they are: they may hold a start value that
/// is no element.
struct Extreme<T, const MAX: bool, const STRICT: bool>(PhantomData<T>);

impl<T: Ordered, const MAX: bool, const STRICT: bool> Join for Extreme<T, MAX, STRICT> {
    // That of integers would be a branch, which goes wrong wherever there are ties.
    const CHAINS: usize = if T::PLAIN { 0 } else { CHANGES };
    type Cell = T;
    type Value = T;
    type Wide = T;
    #[inline(always)]
    fn join(cell: &mut T, value: T) {
        let value = value.canonical();
        let current = if STRICT { *cell } else { cell.canonical() };
        let wins = if MAX {
            current.below(value)
        } else {
            value.below(current)
        };
        let wins = wins | (!STRICT && value.nan());
        // A choice instead of a branch: it vectorises.
        *cell = if wins { value } else { *cell };
    }
}

/// A minimum or maximum of cells that most updates leave as they are: a branch that is nearly always foreseen does without
/// the write, on which the next update of the same cell would have to wait.
struct Seldom<T, const MAX: bool>(PhantomData<T>);

impl<T: Ordered, const MAX: bool> Join for Seldom<T, MAX> {
    const STORES: bool = false;
    type Cell = T;
    type Value = T;
    type Wide = T;
    #[inline(always)]
    fn join(cell: &mut T, value: T) {
        let value = value.canonical();
        let current = cell.canonical();
        let stays = match MAX {
            true => value.at_most(current),
            false => current.at_most(value),
        };
        // What stays if either is a NaN is told apart here, where nearly nobody comes.
        if !stays && (value.nan() || !current.nan()) {
            *cell = value;
        }
    }
}

struct Copied<B>(PhantomData<B>);

impl<B: Copy + 'static> Join for Copied<B> {
    type Cell = B;
    type Value = B;
    type Wide = B;
    #[inline(always)]
    fn join(cell: &mut B, value: B) {
        *cell = value;
    }
}

/// The loops that join source elements (right) into cells (left): rows whose offsets are known, and
/// lines of single elements whose index is still to be read.
#[derive(Clone, Copy)]
pub(super) struct Loops {
    pub(super) rows: Loop,
    pub(super) lines: LineLoop,
}

impl Loops {
    pub(super) fn of<J: Join>() -> Self {
        Self {
            rows: rows::<J>,
            lines: lines::<J>,
        }
    }
}

unsafe fn rows<J: Join>(rows: &Rows<'_>) {
    // SAFETY: the caller keeps `Loop`'s obligations.
    unsafe {
        each::<J::Cell, J::Value, J::Wide>(
            rows,
            #[inline(always)]
            |_, cell, value| J::join(cell, value),
        )
    }
}

/// The loop over lines of single elements of a minimum or maximum that changes its cells seldom, if there is one.
pub(super) fn seldom_line_loop(dtype: DType, combine: Combine) -> Option<LineLoop> {
    fn of<T: Ordered>(max: bool) -> LineLoop {
        match max {
            true => lines::<Seldom<T, true>>,
            false => lines::<Seldom<T, false>>,
        }
    }
    let max = match combine {
        Combine::Min(Nan::Propagate) => false,
        Combine::Max(Nan::Propagate) => true,
        _ => return None,
    };
    // The types that are reduced most: each takes as much code as a loop that always writes.
    match dtype {
        DType::F32 => Some(of::<f32>(max)),
        DType::F64 => Some(of::<f64>(max)),
        DType::I32 => Some(of::<i32>(max)),
        DType::I64 => Some(of::<i64>(max)),
        _ => None,
    }
}

/// The loops of a reduction. The cells of sums and products are accumulators
/// ([`DType::accumulator`]), all others are elements. `None` for the minimum and maximum of complex
/// numbers.
pub(super) fn combine_loops(dtype: DType, combine: Combine) -> Option<Loops> {
    type Min<T> = Extreme<T, false, false>;
    type Max<T> = Extreme<T, true, false>;
    Some(match combine {
        Combine::Assign => match (dtype.size(), dtype.align()) {
            (1, _) => Loops::of::<Copied<u8>>(),
            (2, _) => Loops::of::<Copied<u16>>(),
            (4, _) => Loops::of::<Copied<u32>>(),
            (8, 8) => Loops::of::<Copied<u64>>(),
            (8, _) => Loops::of::<Copied<[u32; 2]>>(),
            _ => Loops::of::<Copied<[u64; 2]>>(),
        },
        Combine::Sum => {
            for_dtype!(dtype, T => Loops::of::<Sum<T>>(), complex C => Loops::of::<Sum<C>>())
        }
        Combine::Prod => {
            for_dtype!(dtype, T => Loops::of::<Prod<T>>(), complex C => Loops::of::<Prod<C>>())
        }
        Combine::Sub => {
            for_dtype!(dtype, T => Loops::of::<Sub<T>>(), complex C => Loops::of::<Sub<C>>())
        }
        Combine::Div => {
            for_dtype!(dtype, T => Loops::of::<Div<T>>(), complex C => Loops::of::<Div<C>>())
        }
        Combine::Min(Nan::Propagate) => {
            for_dtype!(dtype, T => Loops::of::<Min<T>>(), complex C => return None)
        }
        Combine::Max(Nan::Propagate) => {
            for_dtype!(dtype, T => Loops::of::<Max<T>>(), complex C => return None)
        }
        Combine::Min(Nan::Ignore) => for_dtype!(
            dtype,
            T => Loops::of::<Extreme<T, false, { !<T as Ordered>::PLAIN }>>(),
            complex C => return None
        ),
        Combine::Max(Nan::Ignore) => for_dtype!(
            dtype,
            T => Loops::of::<Extreme<T, true, { !<T as Ordered>::PLAIN }>>(),
            complex C => return None
        ),
    })
}

/// The loop over lines of rows of `len` elements, for the commonest reduction and types.
pub(super) fn short_line_loop(dtype: DType, combine: Combine, len: usize) -> Option<LineLoop> {
    match (combine, dtype) {
        (Combine::Sum, DType::F32) => short_lines::<Sum<f32>>(len),
        (Combine::Sum, DType::F64) => short_lines::<Sum<f64>>(len),
        (Combine::Sum, DType::I32 | DType::U32) => short_lines::<Sum<u32>>(len),
        (Combine::Sum, DType::I64 | DType::U64) => short_lines::<Sum<u64>>(len),
        _ => None,
    }
}

/// The loops of a sum into cells that may be unset; `None` for types that cannot be.
pub(super) fn sum_loops_from_unset(dtype: DType) -> Option<Loops> {
    match dtype {
        DType::F32 => Some(Loops::of::<FirstSum<f32>>()),
        DType::F64 => Some(Loops::of::<FirstSum<f64>>()),
        _ => None,
    }
}

/// [`combine_loops`] for rows.
pub(super) fn combine_loop(dtype: DType, combine: Combine) -> Option<Loop> {
    combine_loops(dtype, combine).map(|loops| loops.rows)
}

/// The loop that copies elements bit by bit: one per size and alignment.
pub(super) fn copy_loop(dtype: DType) -> Loop {
    combine_loop(dtype, Combine::Assign).expect("every element can be copied")
}

/// The loop that turns elements (right) into accumulators (left).
pub(super) fn widen_loop(dtype: DType) -> Loop {
    match dtype {
        DType::F16 => widen::<f16>,
        DType::BF16 => widen::<bf16>,
        other => copy_loop(other),
    }
}

unsafe fn widen<T: Number>(rows: &Rows<'_>) {
    // SAFETY: the caller keeps `Loop`'s obligations.
    unsafe {
        each::<T::Acc, T, T::Acc>(
            rows,
            #[inline(always)]
            |_, cell, value| *cell = value,
        )
    }
}

/// The loop that turns accumulators (right) into elements (left), rounding once. With counts, one
/// per row, each row is made a mean first.
pub(super) type FinishLoop = unsafe fn(&Rows<'_>, Option<(Mean, &[u64])>);

pub(super) fn finish_loop(dtype: DType) -> FinishLoop {
    for_dtype!(dtype, T => finish::<T>, complex C => finish::<C>)
}

unsafe fn finish<T: Number>(rows: &Rows<'_>, means: Option<(Mean, &[u64])>) {
    // SAFETY: the caller keeps `Loop`'s obligations.
    unsafe {
        match means {
            Some((mean, counts)) => each::<T, T::Acc, T::Acc>(
                rows,
                #[inline(always)]
                |row, cell, sum| {
                    *cell = T::narrow(mean.of::<T>(sum, counts[row]));
                },
            ),
            None => each::<T, T::Acc, T>(
                rows,
                #[inline(always)]
                |_, cell, sum| *cell = sum,
            ),
        }
    }
}

/// The loop that sets cells (left) that equal the right side to zero.
pub(super) fn clear_equal_loop(dtype: DType) -> Option<Loop> {
    Some(for_dtype!(dtype, T => clear_equal::<T>, complex C => return None))
}

unsafe fn clear_equal<T: Number + PartialEq>(rows: &Rows<'_>) {
    // SAFETY: the caller keeps `Loop`'s obligations.
    unsafe {
        each::<T, T, T>(
            rows,
            #[inline(always)]
            |_, cell, start| {
                if *cell == start {
                    *cell = T::narrow(T::ZERO);
                }
            },
        );
    }
}

/// The identity of a reduction, as an accumulator for sums and products and as an element for
/// minima and maxima; `None` where there is none.
pub(crate) fn identity(dtype: DType, combine: Combine) -> Option<Bits> {
    Some(match combine {
        Combine::Assign => return None,
        Combine::Sum | Combine::Sub => {
            for_dtype!(dtype, T => bits(T::ZERO), complex C => bits(C::ZERO))
        }
        Combine::Prod | Combine::Div => {
            for_dtype!(dtype, T => bits(<T as Number>::ONE), complex C => bits(<C as Number>::ONE))
        }
        Combine::Min(_) => {
            for_dtype!(dtype, T => bits(<T as Ordered>::HIGHEST), complex C => return None)
        }
        Combine::Max(_) => {
            for_dtype!(dtype, T => bits(<T as Ordered>::LOWEST), complex C => return None)
        }
    })
}

/// The finite value that a strict minimum or maximum starts from; `None` for other reductions and
/// for complex numbers.
pub(crate) fn finite_start(dtype: DType, combine: Combine) -> Option<Bits> {
    Some(match combine {
        Combine::Min(_) => {
            for_dtype!(dtype, T => bits(<T as Ordered>::FINITE_HIGHEST), complex C => return None)
        }
        Combine::Max(_) => {
            for_dtype!(dtype, T => bits(<T as Ordered>::FINITE_LOWEST), complex C => return None)
        }
        _ => return None,
    })
}

pub(super) fn bits<T: Copy>(value: T) -> Bits {
    let mut bits = [0; 16];
    assert!(size_of::<T>() <= bits.len());
    // SAFETY: every type that comes here is plain numbers without padding, and fits.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const value).cast::<u8>(),
            bits.as_mut_ptr(),
            size_of::<T>(),
        );
    }
    bits
}

const _: () = assert!(size_of::<Bool>() == 1 && size_of::<Complex32>() == 8);
const _: () = assert!(align_of::<Complex64>() == 8);
