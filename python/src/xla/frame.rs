//! What XLA passes to a handler, as tensors, lists and words.
//!
//! # Unsafe
//!
//! - Buys: XLA's memory without a copy
//! - Measured: no other way
//! - Holds: XLA describes the memory and keeps it until the handler returns

use crate::xla::abi::{self, Args, Array, Attrs, ByteSpan, CallFrame, dtype};
use smallvec::SmallVec;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use strew::scatter::{Destinations, Reduction, Scatter, Target};
use strew::{Combine, DType, Dims, DynView, DynViewMut, Layout, Problem};

/// Minimum bytes of a result that gets huge pages, and whose copy several threads write.
const LARGE: usize = 4 << 20;

/// Bytes of a huge page. Where they are larger, the system does not take the advice for parts.
#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;

/// The arguments, results and attributes of one call, which live as long as the call.
pub(crate) struct Frame<'a> {
    args: &'a Args,
    rets: &'a Args,
    attrs: &'a Attrs,
}

/// Memory that XLA describes. It is dense, in row-major order.
pub(crate) struct Memory<'a> {
    data: *mut u8,
    layout: Layout,
    call: PhantomData<&'a Args>,
}

impl<'a> Frame<'a> {
    /// # Safety
    /// The frame must be one that XLA passes to a handler to be executed, for as long as `'a`.
    pub(crate) unsafe fn new(frame: &'a CallFrame) -> Self {
        Self {
            args: &frame.args,
            rets: &frame.rets,
            attrs: &frame.attrs,
        }
    }

    /// How many arguments there are.
    pub(crate) fn arguments(&self) -> usize {
        usize::try_from(self.args.size).unwrap_or(0)
    }

    /// An argument. During the call nothing writes to it, apart from a result in its place.
    pub(crate) fn argument(&self, at: usize) -> Result<Memory<'a>, Problem> {
        memory(self.args, at, "argument")
    }

    /// A result, which the handler writes.
    pub(crate) fn result(&self, at: usize) -> Result<Memory<'a>, Problem> {
        memory(self.rets, at, "result")
    }

    /// An attribute that is a word.
    pub(crate) fn text(&self, name: &'static str) -> Result<&'a str, Problem> {
        let found = self.attribute(name, abi::STRING, "a word")?.cast();
        // SAFETY: XLA says that it points at a span of bytes, which live as long as the call.
        let bytes = unsafe {
            let span: &'a ByteSpan = &*found;
            elements(span.ptr, span.len)
        };
        std::str::from_utf8(bytes).map_err(|_| wrong(name, "a word"))
    }

    /// An attribute that is a list of `int64`.
    pub(crate) fn integers(&self, name: &'static str) -> Result<&'a [i64], Problem> {
        let found = self.attribute(name, abi::ARRAY, "a list of int64")?.cast();
        // SAFETY: XLA says that it points at an array, which lives as long as the call.
        let array: &'a Array = unsafe { &*found };
        if array.dtype != dtype::S64 {
            return Err(wrong(name, "a list of int64"));
        }
        // SAFETY: the array has that many elements of this type.
        Ok(unsafe { elements(array.data.cast(), array.size) })
    }

    /// An attribute that is a list of sizes.
    pub(crate) fn sizes(&self, name: &'static str) -> Result<Dims, Problem> {
        sizes(self.integers(name)?).ok_or_else(|| wrong(name, "a list of sizes"))
    }

    /// An attribute that is a shape; `found` is the shape where a size was not known when the
    /// program was made.
    pub(crate) fn shape(&self, name: &'static str, found: &[usize]) -> Result<Dims, Problem> {
        let list = self.integers(name)?;
        if list.iter().all(|&size| size >= 0) {
            return self.sizes(name);
        }
        if list.len() != found.len() || list.iter().any(|&size| size < -1) {
            return Err(wrong(name, "sizes, or -1 where the array knows them"));
        }
        Ok(Dims::from_slice(found))
    }

    fn attribute(
        &self,
        name: &'static str,
        wanted: c_int,
        kind: &'static str,
    ) -> Result<*const c_void, Problem> {
        let count = usize::try_from(self.attrs.size).unwrap_or(0);
        // SAFETY: XLA says that each of the three lists has that many entries, and that each name
        // is a span of bytes.
        let named = unsafe {
            let names = elements(self.attrs.names, count);
            let at = names.iter().position(|&span| {
                let span = &*span;
                elements(span.ptr, span.len) == name.as_bytes()
            });
            at.map(|at| (*self.attrs.types.add(at), *self.attrs.attrs.add(at)))
        };
        match named {
            Some((found, pointer)) if found == wanted && !pointer.is_null() => Ok(pointer),
            Some(_) => Err(wrong(name, kind)),
            None => Err(Problem::Missing { argument: name }),
        }
    }
}

impl<'a> Memory<'a> {
    pub(crate) fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// The memory, to read.
    pub(crate) fn view(&self) -> Result<DynView<'a>, Problem> {
        // SAFETY: XLA describes the memory, keeps it for `'a`, and writes nothing to it meanwhile.
        unsafe { DynView::from_raw_parts(self.data, self.layout.clone()) }
    }

    /// The memory of a result, to write.
    pub(crate) fn view_mut(&mut self) -> Result<DynViewMut<'_>, Problem> {
        // SAFETY: as in `view`. The result's memory is the handler's alone. Where it is also an
        // argument's, the handler has no view of that argument; the engine refuses an overlap.
        unsafe { DynViewMut::from_raw_parts(self.data, self.layout.clone()) }
    }

    /// Gives a result the elements of an argument of its shape and type. XLA has put both into one
    /// place where it can.
    pub(crate) fn begin_as(&mut self, argument: &Memory<'_>) -> Result<(), Problem> {
        if self.shape() != argument.shape() || self.layout.dtype() != argument.layout.dtype() {
            return Err(Problem::Shape {
                argument: "the result",
                found: self.shape().to_vec(),
                expected: format!(
                    "it must be the operand's, {:?} of {}",
                    argument.shape(),
                    argument.layout.dtype()
                ),
            });
        }
        if self.data == argument.data {
            return Ok(());
        }
        if self.bytes() >= LARGE {
            return self.assign(argument.view()?);
        }
        // SAFETY: both are dense and have that many bytes.
        unsafe { std::ptr::copy(argument.data, self.data, self.bytes()) };
        Ok(())
    }

    /// Writes all elements of a large result, on several threads.
    fn assign(&mut self, elements: DynView<'_>) -> Result<(), Problem> {
        self.expect_huge_pages();
        let places = Destinations::whole(self.shape(), &[]);
        let target = Target::InPlace {
            argument: "the result",
            view: self.view_mut()?,
        };
        let assign = Reduction::into_self(Combine::Assign);
        Scatter::new(places, assign, "operand", elements, target)?.run()?;
        Ok(())
    }

    /// Asks the system for huge pages for a large result, before anything is written to it. XLA
    /// allocates results in each call, in pages of 4 KiB: finding and clearing those takes longer
    /// than most gathers.
    pub(crate) fn expect_huge_pages(&mut self) {
        if self.bytes() >= LARGE {
            // SAFETY: the result's memory has that many bytes, and lives as long as the call.
            unsafe { advise_huge_pages(self.data, self.bytes()) };
        }
    }

    fn bytes(&self) -> usize {
        self.layout.len() * self.layout.dtype().size()
    }
}

/// # Safety
/// There must be that many bytes at `data`, allocated by this process.
#[cfg(target_os = "linux")]
unsafe fn advise_huge_pages(data: *mut u8, bytes: usize) {
    let skip = data.align_offset(HUGE_PAGE).min(bytes);
    let whole = (bytes - skip) / HUGE_PAGE * HUGE_PAGE;
    // SAFETY: these are whole pages of the caller's memory. The advice changes nothing that is in
    // them. It does not matter whether the system takes it.
    unsafe { libc::madvise(data.add(skip).cast(), whole, libc::MADV_HUGEPAGE) };
}

/// Other systems have no such advice, or need none.
#[cfg(not(target_os = "linux"))]
unsafe fn advise_huge_pages(_data: *mut u8, _bytes: usize) {}

fn memory<'a>(list: &'a Args, at: usize, what: &'static str) -> Result<Memory<'a>, Problem> {
    let count = usize::try_from(list.size).unwrap_or(0);
    if at >= count {
        return Err(wrong(
            what,
            format!("there for number {at}: there are {count}"),
        ));
    }
    // SAFETY: XLA says that both lists have that many entries, and that an entry of this type
    // points at a buffer. All of it lives as long as the call.
    let buffer: &'a abi::Buffer = unsafe {
        if *list.types.add(at) != abi::BUFFER {
            return Err(wrong(what, format!("a tensor at number {at}")));
        }
        &*(*list.args.add(at)).cast()
    };
    let rank = usize::try_from(buffer.rank).unwrap_or(0);
    // SAFETY: XLA says that there are that many sizes.
    let dims = unsafe { elements(buffer.dims, rank) };
    let shape = sizes(dims).ok_or_else(|| wrong(what, format!("of other sizes than {dims:?}")))?;
    let dtype = dtype_of(buffer.dtype)
        .ok_or_else(|| wrong(what, format!("of another type than XLA's {}", buffer.dtype)))?;
    Ok(Memory {
        data: buffer.data.cast(),
        layout: Layout::contiguous(dtype, &shape)?,
        call: PhantomData,
    })
}

/// The elements of a list, which may be null if it has none.
///
/// # Safety
/// There must be `count` elements at `first` for as long as `'a`.
unsafe fn elements<'a, T>(first: *const T, count: usize) -> &'a [T] {
    match count {
        0 => &[],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts(first, count) },
    }
}

fn sizes(list: &[i64]) -> Option<Dims> {
    let sizes: SmallVec<_> = list
        .iter()
        .map(|&size| usize::try_from(size).ok())
        .collect::<Option<_>>()?;
    Some(sizes)
}

fn dtype_of(code: c_int) -> Option<DType> {
    Some(match code {
        dtype::PRED => DType::Bool,
        dtype::S8 => DType::I8,
        dtype::S16 => DType::I16,
        dtype::S32 => DType::I32,
        dtype::S64 => DType::I64,
        dtype::U8 => DType::U8,
        dtype::U16 => DType::U16,
        dtype::U32 => DType::U32,
        dtype::U64 => DType::U64,
        dtype::F16 => DType::F16,
        dtype::BF16 => DType::BF16,
        dtype::F32 => DType::F32,
        dtype::F64 => DType::F64,
        dtype::C64 => DType::C64,
        dtype::C128 => DType::C128,
        _ => return None,
    })
}

/// An argument or attribute that is not what a handler takes: strew's Python package passes others.
pub(crate) fn wrong(argument: &'static str, expected: impl Into<String>) -> Problem {
    Problem::Kind {
        argument: argument.into(),
        expected: expected.into(),
        found: "what was passed".into(),
    }
}
