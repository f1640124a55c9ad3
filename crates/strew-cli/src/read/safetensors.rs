//! `.safetensors`: named tensors behind a JSON header.

use super::{Loaded, Part, Purpose, listed, room_for_contents, unreadable};
use crate::failure::{Failure, Result};
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use std::fs::File;
use std::io::Read;
use strew::{DType, Layout};

/// The format's own limit.
const LONGEST_HEADER: u64 = 100_000_000;

/// A header of many short entries takes 12 times its own size when it is read.
const TIMES: u64 = 20;

/// Reads the tensor of this name. Without a name, the file must hold one tensor only.
pub(super) fn load(file: &File, name: Option<&str>, purpose: Purpose) -> Result<Loaded> {
    let part = Part::whole(file)?;
    let mut reader = part.reader(0)?;
    let mut size = [0; 8];
    reader
        .read_exact(&mut size)
        .map_err(|_| Failure::new("it is not a .safetensors file: it is too short"))?;
    let size = u64::from_le_bytes(size);
    // Compared with the file before memory is taken.
    if size > LONGEST_HEADER || size > part.len - 8 {
        return Err(Failure::new(format!(
            "it is not a .safetensors file, or truncated: its header of {size} bytes is not there"
        )));
    }
    room_for_contents(size, TIMES)?;
    let mut text = Vec::new();
    reader
        .take(size)
        .read_to_end(&mut text)
        .map_err(unreadable)?;
    let metadata: Metadata = serde_json::from_slice(&text)
        .map_err(|e| Failure::new(format!("its .safetensors header is not understood: {e}")))?;
    let names = || {
        let mut names: Vec<String> = metadata.tensors().into_keys().collect();
        names.sort();
        names
    };
    let name = match (name, &names()[..]) {
        (Some(name), _) => name.to_owned(),
        (None, [only]) => only.clone(),
        (None, several) => {
            return Err(Failure::new(format!(
                "name one of its tensors, as in file.safetensors:name; it holds {}",
                listed(several.iter().map(String::as_str))
            )));
        }
    };
    let info = metadata.info(&name).ok_or_else(|| {
        let names = names();
        let held = listed(names.iter().map(String::as_str));
        Failure::new(format!("it holds no tensor '{name}', but {held}"))
    })?;
    let dtype = dtype_from(info.dtype).ok_or_else(|| {
        let found = info.dtype;
        Failure::new(format!(
            "tensor '{name}' has elements of type {found}, which is not supported"
        ))
    })?;
    let layout = Layout::contiguous(dtype, &info.shape).map_err(|p| Failure::new(p.to_string()))?;
    let at = (8 + size).saturating_add(info.data_offsets.0 as u64);
    let storage = part
        .tensor(at, &layout, purpose)
        .map_err(|f| Failure::new(format!("tensor '{name}': {f}")))?;
    Ok(Loaded {
        storage,
        reversed: false,
    })
}

const TYPES: [(DType, Dtype); 14] = [
    (DType::Bool, Dtype::BOOL),
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::I32, Dtype::I32),
    (DType::I64, Dtype::I64),
    (DType::U8, Dtype::U8),
    (DType::U16, Dtype::U16),
    (DType::U32, Dtype::U32),
    (DType::U64, Dtype::U64),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
    (DType::C64, Dtype::C64),
];

fn dtype_from(found: Dtype) -> Option<DType> {
    TYPES.iter().find(|(_, t)| *t == found).map(|&(d, _)| d)
}

/// The format's name for an element type; it has none for complex128.
pub(crate) fn dtype_of(dtype: DType) -> Option<Dtype> {
    TYPES.iter().find(|(d, _)| *d == dtype).map(|&(_, t)| t)
}
