//! Files that are cut, changed or made up are errors or tensors, never panics.

mod made;

use made::{file, files};
use std::panic;
use strew_io::{Column, CsvOptions, Format, Missing, Table};

/// Reads every column; says whether all could be read.
fn read(bytes: &[u8], format: Format) -> bool {
    let Ok(table) = Table::open(&file(bytes), format, &CsvOptions::default()) else {
        return false;
    };
    let names: Vec<String> = table.names().map(str::to_owned).collect();
    let mut whole = true;
    for name in &names {
        let table = Table::open(&file(bytes), format, &CsvOptions::default());
        let table = table.expect("it opened before");
        match Column::new(table, Some(name), Missing::Zero) {
            Ok(column) => {
                let rows = column.rows().min(1 << 20);
                whole &= column.tensor(0, rows).is_ok();
            }
            Err(_) => whole &= name == "text",
        }
    }
    whole
}

/// SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn files_that_are_cut_are_refused() {
    for (what, format, bytes) in files() {
        assert!(read(&bytes, format), "{what}");
        for kept in [
            0,
            1,
            4,
            6,
            8,
            12,
            bytes.len() / 3,
            bytes.len() - 9,
            bytes.len() - 1,
        ] {
            let cut = &bytes[..kept];
            // A stream may end without its mark of the end.
            let ends = what == "stream" && bytes.len() - kept < 9;
            assert!(!read(cut, format) || ends, "{what} {kept}");
        }
    }
}

#[test]
fn files_that_are_changed_do_no_harm() {
    strew::set_memory_limit(Some(1 << 24));
    let mut state = 1;
    for (what, format, bytes) in files() {
        for round in 0..60 {
            let mut changed = bytes.clone();
            for _ in 0..1 + round % 3 {
                // The tables of contents are at the ends.
                let near = (random(&mut state) % 600) as usize % bytes.len();
                let at = match random(&mut state) % 3 {
                    0 => near,
                    1 => bytes.len() - 1 - near,
                    _ => random(&mut state) as usize % bytes.len(),
                };
                changed[at] = random(&mut state) as u8;
            }
            let done = panic::catch_unwind(|| read(&changed, format));
            assert!(done.is_ok(), "{what}, round {round}");
        }
    }
}

#[test]
fn other_files_are_refused_by_name() {
    for (format, name) in [(Format::Parquet, "Parquet"), (Format::Arrow, "Arrow")] {
        for bytes in [
            &b""[..],
            b"PAR1",
            b"ARROW1\0\0",
            b"\x93NUMPY\x01\0",
            &[0xff; 64],
            &[0; 64],
        ] {
            let error = Table::open(&file(bytes), format, &CsvOptions::default());
            let error = error.unwrap_err().to_string();
            let told = error.contains(name) || error.contains("truncated");
            assert!(told, "{bytes:?}: {error}");
        }
    }
}
