//! A Zarr array from strangers: its metadata and its first chunk, which may contradict each other.

use std::cell::RefCell;
use std::fs;
use strew_io::ZarrArray;
use tempfile::TempDir;

const V2: &[u8] = b"\"zarr_format\": 2";

thread_local! {
    /// The folder of the array, which ends with the thread.
    static FOLDER: RefCell<TempDir> = RefCell::new(tempfile::tempdir().expect("a folder"));
}

/// The target `zarr`. The bytes are the metadata, a zero, the number of axes in the chunk's name,
/// and the chunk.
pub(crate) fn zarr(bytes: &[u8]) {
    crate::set_up();
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    let (metadata, rest) = bytes.split_at(end);
    let (axes, chunk) = match rest {
        [_, axes, chunk @ ..] => (usize::from(axes % 4), chunk),
        _ => (1, &[][..]),
    };
    let zeros = vec!["0"; axes];
    let is_v2 = metadata.windows(V2.len()).any(|words| words == V2);
    let (head, name) = match is_v2 {
        true => (".zarray", zeros.join(".")),
        false => ("zarr.json", [&["c"], &zeros[..]].concat().join("/")),
    };
    FOLDER.with_borrow(|folder| {
        let at = folder.path().join("array");
        let _ = fs::remove_dir_all(&at);
        let file = at.join(if name.is_empty() { "0" } else { &name });
        fs::create_dir_all(file.parent().expect("it is in a folder")).expect("a folder");
        fs::write(file, chunk).expect("a chunk");
        fs::write(at.join(head), metadata).expect("metadata");
        let Ok(array) = ZarrArray::open(&at, None) else {
            return;
        };
        let Ok(whole) = array.whole() else {
            return;
        };
        let rows = array.shape().first().copied().unwrap_or(0);
        let mut pieces = Vec::new();
        for row in 0..rows.min(64) {
            let piece = array.rows(row, 1).expect("a row of what was read");
            pieces.extend_from_slice(piece.as_bytes());
        }
        assert!(whole.as_bytes().starts_with(&pieces));
        assert!(array.rows(rows, 1).is_err());
    });
}
