//! Files from strangers: whatever a file holds, it is read or refused, the same whether it is mapped or copied.

use crate::made::{below, pick, rest};
use crate::read::{Place, Purpose};
use arbitrary::{Arbitrary, Result, Unstructured};
use std::cell::RefCell;
use std::fs::File;
use std::io::{Cursor, Seek, Write};
use strew::{Bounds, DynTensor, DynView, Plan};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// The target `npy`.
pub(crate) fn npy(bytes: &[u8]) {
    crate::set_up();
    let mut from = Unstructured::new(bytes);
    if let (Ok(place), Ok(made)) = (pick(&mut from, &["x.npy", "x.npy:bf16"]), array(&mut from)) {
        check(place, &made);
    }
}

/// The target `npz`.
pub(crate) fn npz(bytes: &[u8]) {
    crate::set_up();
    let mut from = Unstructured::new(bytes);
    let places = ["x.npz", "x.npz:a", "x.npz:b", "x.npz:a:bf16"];
    if let (Ok(place), Ok(made)) = (pick(&mut from, &places), archive(&mut from)) {
        check(place, &made);
    }
}

/// The target `safetensors`.
pub(crate) fn safetensors(bytes: &[u8]) {
    crate::set_up();
    let mut from = Unstructured::new(bytes);
    let places = ["x.safetensors", "x.safetensors:a"];
    if let (Ok(place), Ok(made)) = (pick(&mut from, &places), named(&mut from)) {
        check(place, &made);
    }
}

/// A .npy file: as it comes, behind the right beginning, or with a header made of parts.
fn array(from: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let kind = u8::arbitrary(from)? % 4;
    if kind == 0 {
        return Ok(rest(from)?.to_vec());
    }
    let header = match kind {
        1 => dictionary(from)?,
        _ => {
            let len = usize::from(u8::arbitrary(from)?).min(from.len());
            String::from_utf8_lossy(from.bytes(len)?).into_owned()
        }
    };
    let mut made = b"\x93NUMPY\x01\x00".to_vec();
    // A length that lies, sometimes.
    let more = usize::from(kind == 3 && !from.is_empty());
    made.extend(((header.len() + more) as u16).to_le_bytes());
    made.extend(header.as_bytes());
    made.extend(rest(from)?);
    Ok(made)
}

fn dictionary(from: &mut Unstructured<'_>) -> Result<String> {
    let descr = [
        "<i4", "<f4", ">f8", "|u1", "|b1", "<c8", ">c16", "<f2", "<V2", ">i8", "<u2", "|i1", "=u4",
    ];
    let descr = pick(from, &descr)?;
    let order = pick(from, &["False", "True"])?;
    let mut sizes = String::new();
    for _ in 0..below(from, 5)? {
        let odd = [
            "0",
            "4294967296",
            "18446744073709551615",
            "4611686018427387904",
        ];
        match u8::arbitrary(from)? {
            byte @ 0..=239 => sizes.push_str(&(byte % 6).to_string()),
            _ => sizes.push_str(pick(from, &odd)?),
        }
        sizes.push(',');
    }
    let spaces = " ".repeat(below(from, 64)?);
    Ok(format!(
        "{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({sizes}), }}{spaces}\n"
    ))
}

/// A .npz file: as it comes, or an archive of one or two arrays, of which a few bytes are changed.
fn archive(from: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let kind = u8::arbitrary(from)? % 4;
    if kind == 0 {
        return Ok(rest(from)?.to_vec());
    }
    let stored = [CompressionMethod::Stored, CompressionMethod::Deflated];
    let options = SimpleFileOptions::default().compression_method(pick(from, &stored)?);
    let mut changes = Vec::new();
    if kind == 3 {
        for _ in 0..below(from, 6)? {
            changes.push((u16::arbitrary(from)?, u8::arbitrary(from)?));
        }
    }
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let names: &[&str] = if kind == 2 {
        &["b.npy", "a.npy"]
    } else {
        &["a.npy"]
    };
    let made = array(from)?;
    for name in names {
        // A writer in memory does not fail.
        let _ = writer.start_file(*name, options);
        let _ = writer.write_all(&made);
    }
    let mut made = writer.finish().map(Cursor::into_inner).unwrap_or_default();
    for (at, byte) in changes {
        // Counted from the end, where the archive's own tables are.
        let at = made.len().checked_sub(1 + usize::from(at));
        if let Some(place) = at.and_then(|at| made.get_mut(at)) {
            *place = byte;
        }
    }
    Ok(made)
}

/// A .safetensors file: as it comes, behind its own length, or with a header made of parts.
fn named(from: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let kind = u8::arbitrary(from)? % 4;
    if kind == 0 {
        return Ok(rest(from)?.to_vec());
    }
    let header = match kind {
        1 => {
            let types = [
                "F32", "I64", "BF16", "BOOL", "U8", "F16", "C64", "F8_E4M3", "F4", "I8",
            ];
            let mut tensors = Vec::new();
            let mut at = 0u64;
            for name in ["a", "b", "c"].into_iter().take(1 + below(from, 3)?) {
                let sizes = (0..below(from, 4)?).map(|_| Ok(u8::arbitrary(from)? % 5));
                let sizes: Vec<u8> = sizes.collect::<Result<_>>()?;
                let end = match u8::arbitrary(from)? {
                    byte @ 0..=249 => at.wrapping_add(byte.into()),
                    byte => u64::MAX - u64::from(byte % 8),
                };
                let dtype = pick(from, &types)?;
                tensors.push(format!(
                    "\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{sizes:?},\"data_offsets\":[{at},{end}]}}"
                ));
                at = end;
            }
            format!("{{{}}}", tensors.join(","))
        }
        _ => {
            let len = usize::from(u8::arbitrary(from)?).min(from.len());
            String::from_utf8_lossy(from.bytes(len)?).into_owned()
        }
    };
    let more = u64::from(kind == 3);
    let mut made = (header.len() as u64 + more).to_le_bytes().to_vec();
    made.extend(header.as_bytes());
    made.extend(rest(from)?);
    Ok(made)
}

thread_local! {
    /// A file without a name, which ends with the process.
    static FILE: RefCell<File> = RefCell::new(tempfile::tempfile().expect("a temporary file"));
}

/// Reads a file of these bytes in both ways.
fn check(place: &str, bytes: &[u8]) {
    FILE.with_borrow_mut(|file| {
        file.set_len(0).expect("a temporary file can be cut");
        file.rewind().expect("a temporary file has a beginning");
        file.write_all(bytes)
            .expect("a temporary file can be written");
        let place = Place::parse(place).expect("these are places");
        let mapped = place.load_from(file, Purpose::Read, Default::default());
        let copied = place.load_from(file, Purpose::Change, Default::default());
        match (mapped, copied) {
            (Ok(mapped), Ok(copied)) => {
                let view = mapped.view().expect("what was loaded can be seen");
                let made = copied.into_tensor().expect("a copy can be changed");
                assert_eq!(view.shape(), made.shape());
                assert_eq!(view.dtype(), made.dtype());
                if !view.is_empty() {
                    assert_eq!(copy(&view).as_bytes(), made.as_bytes());
                }
            }
            // Which of several faults is named is not always the same: libraries keep tensors in the order of a hash.
            (Err(first), Err(second)) => drop((first.to_string(), second.to_string())),
            (first, second) => panic!("{first:?}, but {second:?}"),
        }
    });
}

/// The elements of a view that has some, read by the engine.
fn copy(view: &DynView<'_>) -> DynTensor {
    let one = view.at_least_1d();
    let rows: Vec<u32> = (0..one.shape()[0] as u32).collect();
    let plan = Plan::new(&rows, None, Bounds::STRICT).expect("all rows are there");
    let made = plan.gather_dyn(&one, 0).expect("all rows are read");
    made.reshape(view.shape()).expect("as many elements")
}
