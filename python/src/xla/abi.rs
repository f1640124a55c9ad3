//! The part of XLA's C interface for foreign functions that strew's handlers use
//! (`xla/ffi/api/c_api.h`, versions 0.1 to 0.5).
//!
//! Declared by hand: the header ships with jaxlib, which is no dependency of the build. Fields have
//! the header's names. The layout that the header promises to keep is asserted below, and
//! `python/tests/peers/test_xla_abi.py` compares it with the header of the installed jaxlib.
//!
//! # Unsafe
//!
//! - Buys: the type of a function of XLA's
//! - Measured: no other way
//! - Holds: it is the header's

use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;

/// The highest minor version of the interface that this file was compared with.
pub(crate) const API_MINOR: c_int = 5;

/// What XLA hands to a handler beside the call: a list, linked by `next`.
#[repr(C)]
pub(crate) struct Extension {
    pub(crate) struct_size: usize,
    pub(crate) r#type: c_int,
    pub(crate) next: *mut Extension,
}

/// [`Extension::type`] of a [`MetadataExtension`].
pub(crate) const EXTENSION_METADATA: c_int = 1;

#[repr(C)]
pub(crate) struct ApiVersion {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut Extension,
    pub(crate) major_version: c_int,
    pub(crate) minor_version: c_int,
}

/// XLA's error: only XLA looks into it.
#[repr(C)]
pub(crate) struct Error {
    _opaque: [u8; 0],
}

#[repr(C)]
pub(crate) struct ErrorCreateArgs {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut Extension,
    pub(crate) message: *const c_char,
    pub(crate) errc: c_int,
}

/// Codes of errors.
pub(crate) const INVALID_ARGUMENT: c_int = 3;
pub(crate) const RESOURCE_EXHAUSTED: c_int = 8;
pub(crate) const OUT_OF_RANGE: c_int = 11;
pub(crate) const INTERNAL: c_int = 13;

#[repr(C)]
pub(crate) struct Buffer {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut Extension,
    pub(crate) dtype: c_int,
    pub(crate) data: *mut c_void,
    pub(crate) rank: i64,
    pub(crate) dims: *const i64,
}

#[repr(C)]
pub(crate) struct ByteSpan {
    pub(crate) ptr: *const u8,
    pub(crate) len: usize,
}

#[repr(C)]
pub(crate) struct Array {
    pub(crate) dtype: c_int,
    pub(crate) size: usize,
    pub(crate) data: *const c_void,
}

/// Arguments, and also results: `XLA_FFI_Rets` has the same fields, with `rets` for `args`.
#[repr(C)]
pub(crate) struct Args {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut Extension,
    pub(crate) size: i64,
    pub(crate) types: *const c_int,
    pub(crate) args: *const *mut c_void,
}

/// A type in [`Args`]: a [`Buffer`].
pub(crate) const BUFFER: c_int = 1;

/// Attributes, sorted by name.
#[repr(C)]
pub(crate) struct Attrs {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut Extension,
    pub(crate) size: i64,
    pub(crate) types: *const c_int,
    pub(crate) names: *const *const ByteSpan,
    pub(crate) attrs: *const *const c_void,
}

/// Types in [`Attrs`]: an [`Array`], and a [`ByteSpan`].
pub(crate) const ARRAY: c_int = 1;
pub(crate) const STRING: c_int = 4;

/// One call of a handler. The interface has more fields behind these.
#[repr(C)]
pub(crate) struct CallFrame {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut Extension,
    pub(crate) api: *const Api,
    pub(crate) ctx: *mut c_void,
    pub(crate) stage: c_int,
    pub(crate) args: Args,
    pub(crate) rets: Args,
    pub(crate) attrs: Attrs,
}

/// [`CallFrame::stage`] of a call that is to do its work.
pub(crate) const EXECUTE: c_int = 3;

/// What a handler says of itself. Newer interfaces have more fields behind these, which stay as
/// they are: XLA takes what is in them for a promise.
#[repr(C)]
pub(crate) struct Metadata {
    pub(crate) struct_size: usize,
    pub(crate) api_version: ApiVersion,
    pub(crate) traits: u32,
}

#[repr(C)]
pub(crate) struct MetadataExtension {
    pub(crate) extension_base: Extension,
    pub(crate) metadata: *mut Metadata,
}

/// XLA's functions. The interface has more of them behind this one.
#[repr(C)]
#[allow(non_snake_case)] // The header's name of a function.
pub(crate) struct Api {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut Extension,
    pub(crate) api_version: ApiVersion,
    pub(crate) internal_api: *const c_void,
    pub(crate) XLA_FFI_Error_Create: unsafe extern "C" fn(*mut ErrorCreateArgs) -> *mut Error,
}

/// Codes of element types.
pub(crate) mod dtype {
    use std::ffi::c_int;

    pub(crate) const PRED: c_int = 1;
    pub(crate) const S8: c_int = 2;
    pub(crate) const S16: c_int = 3;
    pub(crate) const S32: c_int = 4;
    pub(crate) const S64: c_int = 5;
    pub(crate) const U8: c_int = 6;
    pub(crate) const U16: c_int = 7;
    pub(crate) const U32: c_int = 8;
    pub(crate) const U64: c_int = 9;
    pub(crate) const F16: c_int = 10;
    pub(crate) const F32: c_int = 11;
    pub(crate) const F64: c_int = 12;
    pub(crate) const C64: c_int = 15;
    pub(crate) const BF16: c_int = 16;
    pub(crate) const C128: c_int = 18;
}

/// The offset of each field, and the value of each constant, under the header's names.
macro_rules! table {
    (
        $($c:ident = $own:ident { $($field:ident),* })*
        ; $($prefix:literal: $($name:ident = $value:expr),*;)*
    ) => {
        pub(crate) const OFFSETS: &[(&str, usize)] = &[
            $($((
                concat!(stringify!($c), ".", stringify!($field)),
                offset_of!($own, $field),
            ),)*)*
        ];
        pub(crate) const CONSTANTS: &[(&str, c_int)] = &[
            $($((concat!($prefix, stringify!($name)), $value),)*)*
        ];
    };
}

table! {
    XLA_FFI_InternalExtension = Extension { struct_size, r#type, next }
    XLA_FFI_Api_Version = ApiVersion { struct_size, extension_start, major_version, minor_version }
    XLA_FFI_Error_Create_Args = ErrorCreateArgs { struct_size, extension_start, message, errc }
    XLA_FFI_Buffer = Buffer { struct_size, extension_start, dtype, data, rank, dims }
    XLA_FFI_ByteSpan = ByteSpan { ptr, len }
    XLA_FFI_Array = Array { dtype, size, data }
    XLA_FFI_Args = Args { struct_size, extension_start, size, types, args }
    XLA_FFI_Attrs = Attrs { struct_size, extension_start, size, types, names, attrs }
    XLA_FFI_CallFrame =
        CallFrame { struct_size, extension_start, api, ctx, stage, args, rets, attrs }
    XLA_FFI_Metadata = Metadata { struct_size, api_version, traits }
    XLA_FFI_Metadata_Extension = MetadataExtension { extension_base, metadata }
    XLA_FFI_Api =
        Api { struct_size, extension_start, api_version, internal_api, XLA_FFI_Error_Create };

    "XLA_FFI_Extension_": Metadata = EXTENSION_METADATA;
    "XLA_FFI_Error_Code_": INVALID_ARGUMENT = INVALID_ARGUMENT,
        RESOURCE_EXHAUSTED = RESOURCE_EXHAUSTED, OUT_OF_RANGE = OUT_OF_RANGE, INTERNAL = INTERNAL;
    "XLA_FFI_ArgType_": BUFFER = BUFFER;
    "XLA_FFI_RetType_": BUFFER = BUFFER;
    "XLA_FFI_AttrType_": ARRAY = ARRAY, STRING = STRING;
    "XLA_FFI_ExecutionStage_": EXECUTE = EXECUTE;
    "XLA_FFI_DataType_": PRED = dtype::PRED, S8 = dtype::S8, S16 = dtype::S16, S32 = dtype::S32,
        S64 = dtype::S64, U8 = dtype::U8, U16 = dtype::U16, U32 = dtype::U32, U64 = dtype::U64,
        F16 = dtype::F16, F32 = dtype::F32, F64 = dtype::F64, C64 = dtype::C64,
        BF16 = dtype::BF16, C128 = dtype::C128;
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(offset_of!(Extension, next) == 16 && size_of::<Extension>() == 24);
    assert!(offset_of!(ApiVersion, major_version) == 16 && size_of::<ApiVersion>() == 24);
    assert!(offset_of!(ErrorCreateArgs, message) == 16 && offset_of!(ErrorCreateArgs, errc) == 24);
    assert!(offset_of!(Buffer, data) == 24 && size_of::<Buffer>() == 48);
    assert!(offset_of!(ByteSpan, len) == 8 && size_of::<ByteSpan>() == 16);
    assert!(offset_of!(Array, data) == 16 && size_of::<Array>() == 24);
    assert!(offset_of!(Args, args) == 32 && size_of::<Args>() == 40);
    assert!(offset_of!(Attrs, attrs) == 40 && size_of::<Attrs>() == 48);
    assert!(offset_of!(CallFrame, api) == 16 && offset_of!(CallFrame, stage) == 32);
    assert!(offset_of!(CallFrame, args) == 40 && offset_of!(CallFrame, rets) == 80);
    assert!(offset_of!(CallFrame, attrs) == 120 && size_of::<CallFrame>() == 168);
    assert!(offset_of!(Metadata, api_version) == 8 && offset_of!(Metadata, traits) == 32);
    assert!(offset_of!(MetadataExtension, metadata) == 24);
    assert!(offset_of!(Api, api_version) == 16 && offset_of!(Api, XLA_FFI_Error_Create) == 48);
};
