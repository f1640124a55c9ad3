//! Values in the type that they are computed in: 64-bit integers, `f64`, `complex128`.

use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use strew_kernel::copy::strided::duplicate;
use strew_kernel::error::Problem;
use strew_kernel::statistic::read::{ReadValues, Rows};
use strew_kernel::statistic::value::Value;
use strew_kernel::tensor::{DType, DynView, Element, Held};

/// Values as they are computed.
struct Same<'v, T>(&'v [T]);

impl<T: Value> ReadValues<T> for Same<'_, T> {
    fn copy_values(&self, from: usize, to: &mut [T]) {
        to.copy_from_slice(&self.0[from..from + to.len()]);
    }

    fn copy_rows(&self, rows: Rows<'_>, to: &mut [T]) {
        copy_rows(self.0, rows, to, |value| value);
    }

    fn read_values<'r>(&'r self, from: usize, room: &'r mut [T]) -> &'r [T] {
        &self.0[from..from + room.len()]
    }
}

/// Copies rows of equal length, as many as `to` holds all values of.
fn copy_rows<S: Copy, T>(values: &[S], rows: Rows<'_>, to: &mut [T], widen: impl Fn(S) -> T) {
    if rows.numbers.len() == to.len() {
        for (to, from) in to.iter_mut().zip(rows.firsts()) {
            *to = widen(values[from]);
        }
        return;
    }
    let width = to.len() / rows.numbers.len().max(1);
    for (to, from) in to.chunks_exact_mut(width.max(1)).zip(rows.firsts()) {
        for (to, &value) in to.iter_mut().zip(&values[from..from + width]) {
            *to = widen(value);
        }
    }
}

/// Values of another type than that in which they are computed.
struct Widened<'v, S, W> {
    values: &'v [S],
    widen: W,
}

impl<S: Element, T: Value, W: Fn(S) -> T + Sync> ReadValues<T> for Widened<'_, S, W> {
    fn copy_values(&self, from: usize, to: &mut [T]) {
        let values = &self.values[from..from + to.len()];
        for (to, &value) in to.iter_mut().zip(values) {
            *to = (self.widen)(value);
        }
    }

    fn copy_rows(&self, rows: Rows<'_>, to: &mut [T]) {
        copy_rows(self.values, rows, to, &self.widen);
    }
}

/// What is done with values, whatever type they are computed in.
pub(crate) trait Visit {
    type Made;

    /// Does it. `src` is contiguous, and `values` reads all of it.
    ///
    /// # Errors
    /// Those of what is done.
    fn visit<T: Value>(
        self,
        src: &DynView<'_>,
        values: &dyn ReadValues<T>,
    ) -> Result<Self::Made, Problem>;
}

/// Reads the elements of a source in row-major order. Integers and bools are computed in 64 bits,
/// floats in `float64`, complex numbers in `complex128`.
///
/// # Errors
/// Those of what is done; [`Problem::Memory`] for the copy of a source that is not contiguous.
pub(crate) fn visit<V: Visit>(src: &DynView<'_>, visitor: V) -> Result<V::Made, Problem> {
    let torn = || Problem::Layout {
        argument: "src".into(),
        why: "it cannot be read as elements of its dtype".into(),
    };
    let held: Held<'_> = match src.layout().is_contiguous() {
        true => src.clone().into(),
        false => duplicate(src)?.into(),
    };
    let src = held.view();
    macro_rules! of {
        ($from:ty as $to:ty, |$values:ident| $read:expr) => {{
            let $values = src.typed::<$from>().ok_or_else(torn)?;
            let $values = $values.as_slice().ok_or_else(torn)?;
            visitor.visit::<$to>(src, &$read)
        }};
        ($from:ty, $to:ty, $widen:expr) => {
            of!($from as $to, |values| Widened {
                values,
                widen: $widen
            })
        };
    }
    match src.dtype() {
        DType::Bool => of!(bool, u64, u64::from),
        DType::U8 => of!(u8, u64, u64::from),
        DType::U16 => of!(u16, u64, u64::from),
        DType::U32 => of!(u32, u64, u64::from),
        DType::U64 => of!(u64 as u64, |values| Same(values)),
        DType::I8 => of!(i8, i64, i64::from),
        DType::I16 => of!(i16, i64, i64::from),
        DType::I32 => of!(i32, i64, i64::from),
        DType::I64 => of!(i64 as i64, |values| Same(values)),
        DType::F16 => of!(f16, f64, f64::from),
        DType::BF16 => of!(bf16, f64, f64::from),
        DType::F32 => of!(f32, f64, f64::from),
        DType::F64 => of!(f64 as f64, |values| Same(values)),
        DType::C64 => of!(Complex32, Complex64, widened),
        DType::C128 => of!(Complex64 as Complex64, |values| Same(values)),
    }
}

fn widened(value: Complex32) -> Complex64 {
    Complex64::new(value.re.into(), value.im.into())
}
