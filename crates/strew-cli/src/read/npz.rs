//! `.npz`: a zip archive of `.npy` files, stored or deflated.

use super::{Loaded, Part, Purpose, listed, npy, room_for_contents, unreadable};
use crate::failure::{Failure, Result};
use std::fs::File;
use std::io::{BufReader, Read};
use zip::{CompressionMethod, ZipArchive};

/// A directory of many short names takes 5 times its own size when it is read.
const TIMES: u64 = 12;

/// Reads a member: `x` or `x.npy`. Without a name, the archive must have one member only.
pub(super) fn load(
    file: &File,
    member: Option<&str>,
    bf16: bool,
    purpose: Purpose,
) -> Result<Loaded> {
    room_for_contents(directory_size(file)?, TIMES)?;
    let mut archive = ZipArchive::new(BufReader::new(file))
        .map_err(|e| Failure::new(format!("it is not a readable .npz archive: {e}")))?;
    let names: Vec<String> = archive
        .file_names()
        .filter_map(|name| name.ok().map(std::borrow::Cow::into_owned))
        .collect();
    let short = |name: &'_ String| name.strip_suffix(".npy").unwrap_or(name).to_owned();
    let held = || {
        let all: Vec<String> = names.iter().map(short).collect();
        listed(all.iter().map(String::as_str))
    };
    let name = match (member, &names[..]) {
        (Some(wanted), names) => names
            .iter()
            .find(|n| n.as_str() == wanted || short(n) == wanted)
            .ok_or_else(|| Failure::new(format!("it has no member '{wanted}', but {}", held())))?,
        (None, [only]) => only,
        (None, _) => {
            return Err(Failure::new(format!(
                "name one of its members, as in file.npz:name; it has {}",
                held()
            )));
        }
    };
    let broken = |why: &dyn std::fmt::Display| Failure::new(format!("member '{name}': {why}"));
    let entry = archive.by_name(name).map_err(|e| broken(&e))?;
    // Stored members lie in the archive as they are, so they can be mapped like a file.
    if let (CompressionMethod::Stored, Some(start)) = (entry.compression(), entry.data_start()) {
        let part = Part {
            file,
            start,
            len: entry.size(),
        };
        let end = start.checked_add(part.len);
        if end.is_none_or(|end| end > file.metadata().map_or(0, |m| m.len())) {
            return Err(broken(&"it is truncated"));
        }
        drop(entry);
        return npy::load_part(&part, bf16, purpose).map_err(|f| broken(&f));
    }
    let len = entry.size();
    npy::load_stream(entry, Some(len), bf16, purpose).map_err(|f| broken(&f))
}

/// How long the directory at the archive's end is at most: what the record behind it says, or all of
/// the file. A record that is not there is for the library to complain about.
fn directory_size(file: &File) -> Result<u64> {
    const RECORD: usize = 22;
    const LONGEST_COMMENT: u64 = u16::MAX as u64;
    let whole = Part::whole(file)?;
    let from = whole.len.saturating_sub(RECORD as u64 + LONGEST_COMMENT);
    let mut end = Vec::new();
    whole
        .reader(from)?
        .read_to_end(&mut end)
        .map_err(unreadable)?;
    let mut records = end.windows(RECORD).rev();
    let size = records.find_map(|record| match record {
        [b'P', b'K', 5, 6, .., a, b, c, d, _, _, _, _, _, _] => {
            Some(u32::from_le_bytes([*a, *b, *c, *d]))
        }
        _ => None,
    });
    // All bits set: a larger number stands elsewhere.
    Ok(match size {
        None => 0,
        Some(u32::MAX) => whole.len,
        Some(size) => u64::from(size).min(whole.len),
    })
}
