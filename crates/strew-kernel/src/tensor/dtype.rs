//! Element types: the erased [`DType`] and the [`Element`] trait that ties it to a Rust type.

use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use std::fmt;
use std::str::FromStr;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DType {
    /// One byte; 0 is false and every other byte is true.
    Bool,
    /// 8-bit signed integer.
    I8,
    /// 16-bit signed integer.
    I16,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// 8-bit unsigned integer.
    U8,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
    /// IEEE 754 half precision.
    F16,
    /// bfloat16: the upper half of an `f32`.
    BF16,
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 double precision.
    F64,
    /// A pair of `f32`: real and imaginary part.
    C64,
    /// A pair of `f64`: real and imaginary part.
    C128,
}

impl DType {
    /// Every element type.
    pub const ALL: [Self; 15] = [
        Self::Bool,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
        Self::C64,
        Self::C128,
    ];

    /// Size of one element in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::C64 => 8,
            Self::C128 => 16,
        }
    }

    /// Alignment of one element in bytes: that of its parts for the complex types.
    #[must_use]
    pub const fn align(self) -> usize {
        match self {
            Self::C64 => 4,
            Self::C128 => 8,
            _ => self.size(),
        }
    }

    /// NumPy's name of the type: `bool`, `int8`, ..., `bfloat16`, ..., `complex128`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::U8 => "uint8",
            Self::U16 => "uint16",
            Self::U32 => "uint32",
            Self::U64 => "uint64",
            Self::F16 => "float16",
            Self::BF16 => "bfloat16",
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::C64 => "complex64",
            Self::C128 => "complex128",
        }
    }

    /// True for the signed and unsigned integers; `bool` is not one of them.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            Self::I8
                | Self::I16
                | Self::I32
                | Self::I64
                | Self::U8
                | Self::U16
                | Self::U32
                | Self::U64
        )
    }

    /// True for the real floating-point types.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }

    /// True for `complex64` and `complex128`.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        matches!(self, Self::C64 | Self::C128)
    }

    /// The type that sums and products of this type accumulate in: `float32` for the 16-bit
    /// floats, which are rounded once at the end; otherwise the type itself.
    #[must_use]
    pub const fn accumulator(self) -> Self {
        match self {
            Self::F16 | Self::BF16 => Self::F32,
            other => other,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name is not that of an element type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown element type '{0}': use one of bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, complex64, complex128"
)]
pub struct UnknownDType(pub String);

impl FromStr for DType {
    type Err = UnknownDType;

    fn from_str(name: &str) -> Result<Self, UnknownDType> {
        let short = match name {
            "f16" | "half" => "float16",
            "bf16" => "bfloat16",
            "f32" => "float32",
            "f64" => "float64",
            other => other,
        };
        Self::ALL
            .into_iter()
            .find(|t| t.name() == short)
            .ok_or_else(|| UnknownDType(name.to_owned()))
    }
}

mod sealed {
    use std::fmt;

    pub trait Sealed: fmt::Debug {
        /// Writes an element as [`Tensor`](crate::tensor::Tensor) shows it: floats with their
        /// point.
        fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            fmt::Debug::fmt(self, f)
        }
    }
}

/// A Rust type that can be an element of a tensor.
///
/// The trait is sealed: it is implemented for `bool`, the integers of 8 to 64 bits, `usize` and
/// `isize`, [`f16`](struct@f16), [`bf16`], `f32`, `f64`, [`Complex32`] and [`Complex64`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no element type of a tensor",
    note = "elements are bool, integers of 8 to 64 bits, usize, isize, f16, bf16, f32, f64, Complex32 and Complex64"
)]
pub trait Element: Copy + Send + Sync + fmt::Debug + PartialEq + sealed::Sealed + 'static {
    /// The erased name of the type.
    const DTYPE: DType;
}

/// A Rust type that can be an element of an index: an integer.
///
/// The trait is sealed: it is implemented for the integers of 8 to 64 bits, `usize` and `isize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no index type: an index has integers",
    note = "indices are integers of 8 to 64 bits, usize and isize"
)]
pub trait Index: Element {}

macro_rules! indices {
    ($($rust:ty),* $(,)?) => {$(impl Index for $rust {})*};
}

indices! { i8, i16, i32, i64, u8, u16, u32, u64 }

#[cfg(target_pointer_width = "64")]
indices! { usize, isize }

macro_rules! elements {
    ($($rust:ty => $name:ident),* $(,)?) => {$(
        impl Element for $rust {
            const DTYPE: DType = DType::$name;
        }
        const _: () = assert!(size_of::<$rust>() == DType::$name.size());
        const _: () = assert!(align_of::<$rust>() <= DType::$name.align());
    )*};
}

elements! {
    bool => Bool, i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f16 => F16, bf16 => BF16, f32 => F32, f64 => F64,
    Complex32 => C64, Complex64 => C128,
}

// Lengths and positions are integers of the machine's size.
#[cfg(target_pointer_width = "64")]
elements! { usize => U64, isize => I64 }

#[cfg(target_pointer_width = "32")]
elements! { usize => U32, isize => I32 }

macro_rules! shown {
    ($($rust:ty),*) => {$(
        impl sealed::Sealed for $rust {}
    )*};
}

shown!(
    bool, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, f16, bf16, f32, f64
);

impl sealed::Sealed for Complex32 {
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl sealed::Sealed for Complex64 {
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
