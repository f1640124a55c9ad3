//! The C functions that `bench/contenders/plain.py` calls: pointers become slices here.
//!
//! # Unsafe
//!
//! - Buys: the bench's arrays as slices, without a copy
//! - Measured: no other way
//! - Holds: the bench passes arrays of these lengths and types, and keeps them alive

use crate::loops::{self, add, larger, multiply};
use crate::statistics::{self, Same};
use half::{bf16, f16};

/// An array of the caller's.
#[repr(C)]
#[derive(Debug)]
pub struct View<T> {
    data: *mut T,
    length: usize,
}

impl<T> View<T> {
    /// # Safety
    ///
    /// `data` must be aligned and point to `length` initialised values. No other code may write
    /// them while the slice is in use.
    unsafe fn read<'a>(&self) -> &'a [T] {
        // SAFETY: the caller promises `length` aligned, initialised values without other writers.
        unsafe { std::slice::from_raw_parts(self.data, self.length) }
    }

    /// # Safety
    ///
    /// As for [`View::read`]. No other code may read the values either while the slice is in use.
    unsafe fn write<'a>(&self) -> &'a mut [T] {
        // SAFETY: the caller promises `length` aligned, initialised values without other users.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.length) }
    }
}

/// A C function for each line: the output, the arrays that are read, and numbers.
macro_rules! export {
    ($($name:ident($out:ident: $o:ty; $($array:ident: $t:ty),*; $($number:ident),*) => $call:expr;)*) => {
        $(
            /// The loop of this name, or its instance for a reduction and an element type.
            ///
            /// # Safety
            ///
            /// Each view must be of an aligned, initialised array of its element type, and no
            /// array may share memory with the output or be used by others until the call is over.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($out: View<$o>, $($array: View<$t>,)* $($number: usize),*) {
                // SAFETY: the caller promises what both functions want, for the time of this call.
                let ($out, $($array),*) = unsafe { ($out.write(), $($array.read()),*) };
                $call
            }
        )*
    };
}

/// Makes a call for each of these widths, with the one at hand as a constant.
macro_rules! known {
    ($width:ident, $($known:literal)*, $call:expr) => {
        match $width {
            $($known => {
                const WIDTH: usize = $known;
                $call
            })*
            other => panic!("no loop for rows of {other}"),
        }
    };
}

export! {
    flat_sum_float32(out: f32; index: i64, src: f32;) => loops::flat(out, index, src, add);
    flat_sum_float64(out: f64; index: i64, src: f64;) => loops::flat(out, index, src, add);
    flat_sum_int32(out: i32; index: i64, src: i32;) => loops::flat(out, index, src, add);
    flat_sum_int64(out: i64; index: i64, src: i64;) => loops::flat(out, index, src, add);
    flat_amax_float32(out: f32; index: i64, src: f32;) => loops::flat(out, index, src, larger);
    flat_prod_float32(out: f32; index: i64, src: f32;) => loops::flat(out, index, src, multiply);
    flat_sum_float16(out: f16; index: i64, src: f16;) =>
        loops::flat_wide(out, index, src, f16::from_f32);
    flat_sum_bfloat16(out: bf16; index: i64, src: bf16;) =>
        loops::flat_wide(out, index, src, bf16::from_f32);
    flat_sum_drop(out: f32; index: i64, src: f32;) => loops::flat_drop(out, index, src);
    flat_sum_ignore(out: f32; index: i64, src: f32;) => loops::flat_drop(out, index, src);
    flat_sum_wrap(out: f32; index: i64, src: f32;) => loops::flat_wrap(out, index, src);
    flat_sum_clip(out: f32; index: i64, src: f32;) => loops::flat_clip(out, index, src);
    flat_fresh(out: f32; index: i64, src: f32;) => loops::flat_fresh(out, index, src);
    flat_cleared(out: f32; index: i64, src: f32;) => loops::flat_cleared(out, index, src);
    counts(out: i64; index: i64;) => loops::counts(out, index);
    largest(out: i64; index: i64;) => out[0] = loops::largest(index);

    rows_sum_float32(out: f32; index: i64, src: f32; width) =>
        loops::rows(out, index, src, width, add);
    rows_amax_float32(out: f32; index: i64, src: f32; width) =>
        loops::rows(out, index, src, width, larger);
    rows_amax_float64(out: f64; index: i64, src: f64; width) =>
        loops::rows(out, index, src, width, larger);
    rows_amax_int64(out: i64; index: i64, src: i64; width) =>
        loops::rows(out, index, src, width, larger);
    rows_prod_float32(out: f32; index: i64, src: f32; width) =>
        loops::rows(out, index, src, width, multiply);
    rows_of_sum_float32(out: f32; index: i64, src: f32; width) =>
        known!(width, 2 4 8 16, loops::rows_of::<_, WIDTH>(out, index, src, add));
    rows_of_amax_float32(out: f32; index: i64, src: f32; width) =>
        known!(width, 2 4 8 16, loops::rows_of::<_, WIDTH>(out, index, src, larger));
    rows_of_amax_float64(out: f64; index: i64, src: f64; width) =>
        known!(width, 2 4 8 16, loops::rows_of::<_, WIDTH>(out, index, src, larger));
    rows_of_amax_int64(out: i64; index: i64, src: i64; width) =>
        known!(width, 2 4 8 16, loops::rows_of::<_, WIDTH>(out, index, src, larger));
    rows_sum_float16(out: f16; index: i64, src: f16; width) =>
        loops::rows_wide(out, index, src, width, f16::from_f32);
    rows_mean(out: f32; index: i64, src: f32; width) => loops::rows_mean(out, index, src, width);
    rows_fresh(out: f32; index: i64, src: f32; width) => loops::rows_fresh(out, index, src, width);

    elements_float32(out: f32; index: i64, src: f32; axis, inner) =>
        loops::elements(out, index, src, axis, inner);
    elements_float64(out: f64; index: i64, src: f64; axis, inner) =>
        loops::elements(out, index, src, axis, inner);
    nd(out: f32; index: i64, src: f32; columns, width) =>
        loops::nd(out, index, src, columns, width);
    slice(out: f32; src: f32; columns, across, start, first, step, stride) =>
        loops::slice(out, src, [columns, across], [start, first], [step, stride]);

    gather_float32(out: f32; index: i64, src: f32; width) => loops::gather(out, index, src, width);
    gather_float64(out: f64; index: i64, src: f64; width) => loops::gather(out, index, src, width);
    gather_of_float32(out: f32; index: i64, src: f32; width) =>
        known!(width, 2 4 8 16, loops::gather_of::<_, WIDTH>(out, index, src));
    gather_of_float64(out: f64; index: i64, src: f64; width) =>
        known!(width, 2 4 8 16, loops::gather_of::<_, WIDTH>(out, index, src));
    mean_back(out: f32; index: i64, grad: f32; width) =>
        loops::mean_back(out, index, grad, width);
    amax_back(out: f32; index: i64, src: f32, largest: f32, grad: f32; width) =>
        loops::amax_back(out, index, src, largest, grad, width);
    prod_back(out: f32; index: i64, src: f32, product: f32, grad: f32; width) =>
        loops::prod_back(out, index, src, product, grad, width);
    edges(out: f32; to: i64, from: i64, nodes: f32; width) =>
        loops::edges(out, to, from, nodes, width);

    same_float32(out: f32; index: i64, src: f32; number) =>
        statistics::same(out, index, src, Same::ALL[number]);
    mean_float32(out: f32; index: i64, src: f32;) =>
        statistics::mean(out, index, src, |mean| mean as f32);
    var_float32(out: f32; index: i64, src: f32; root) =>
        statistics::var(out, index, src, root > 0, |var| var as f32);
    flags_float32(out: u8; index: i64, src: f32; all) =>
        statistics::flags(out, index, src, all > 0);
    places_float32(out: i64; index: i64, src: f32;) => statistics::places(out, index, src);
    running_float32(out: f32; index: i64, src: f32; cells) =>
        statistics::running(out, index, src, cells);
    same_float64(out: f64; index: i64, src: f64; number) =>
        statistics::same(out, index, src, Same::ALL[number]);
    mean_float64(out: f64; index: i64, src: f64;) =>
        statistics::mean(out, index, src, |mean| mean);
    var_float64(out: f64; index: i64, src: f64; root) =>
        statistics::var(out, index, src, root > 0, |var| var);
    flags_float64(out: u8; index: i64, src: f64; all) =>
        statistics::flags(out, index, src, all > 0);
    places_float64(out: i64; index: i64, src: f64;) => statistics::places(out, index, src);
    running_float64(out: f64; index: i64, src: f64; cells) =>
        statistics::running(out, index, src, cells);
    same_int64(out: i64; index: i64, src: i64; number) =>
        statistics::same(out, index, src, Same::ALL[number]);
    mean_int64(out: f64; index: i64, src: i64;) =>
        statistics::mean(out, index, src, |mean| mean);
    var_int64(out: f64; index: i64, src: i64; root) =>
        statistics::var(out, index, src, root > 0, |var| var);
    flags_int64(out: u8; index: i64, src: i64; all) =>
        statistics::flags(out, index, src, all > 0);
    places_int64(out: i64; index: i64, src: i64;) => statistics::places(out, index, src);
    running_int64(out: i64; index: i64, src: i64; cells) =>
        statistics::running(out, index, src, cells);
}
