//! Values of several files, and more of them than memory may hold.

mod common;

use common::{Folder, npy_bytes};

/// Values in three files whose borders are others than those of the two files of the index.
fn parts(folder: &Folder) -> Vec<f32> {
    let values: Vec<f32> = (0..6000).map(|n| ((n * 37) % 101) as f32 / 7.0).collect();
    let index: Vec<i64> = (0..3000).map(|n| (n * n) % 17).collect();
    for (name, rows) in [
        ("v-1.npy", 0..1000),
        ("v-2.npy", 1000..1001),
        ("v-10.npy", 1001..3000),
    ] {
        let some = &values[rows.start * 2..rows.end * 2];
        folder.npy(name, &[rows.len() as u64, 2], some);
    }
    folder.npy("i-0.npy", &[0], &[0i64; 0]);
    folder.npy("i-1.npy", &[1500], &index[..1500]);
    folder.npy("i-2.npy", &[1500], &index[1500..]);
    folder.npy("values.npy", &[3000, 2], &values);
    folder.npy("index.npy", &[3000], &index);
    values
}

const REDUCE: &str = "--reduce sum,mean,std,argmax,first,len --size 20";

#[test]
fn several_files_are_one_tensor() {
    let folder = Folder::new();
    parts(&folder);
    let whole = "aggregate --src values.npy --index index.npy";
    let parts = "aggregate --src v-*.npy --index i-?.npy";
    for rest in [REDUCE, "--reduce median,topk --k 2"] {
        let expected = folder.strew(&format!("{whole} {rest} --json")).json();
        for limit in ["", "--memory-limit 40K"] {
            if limit.is_empty() || rest == REDUCE {
                let found = folder
                    .strew(&format!("{parts} {rest} {limit} --json"))
                    .json();
                assert_eq!(found, expected, "{rest} {limit}");
            }
        }
    }
    folder
        .strew(&format!("{parts} {REDUCE} --partial all.strew"))
        .ok();
    let expected = folder.strew(&format!("{whole} {REDUCE} --json")).json();
    assert_eq!(folder.strew("merge all.strew --json").json(), expected);
}

#[test]
fn chunks_give_the_bits_of_one_call() {
    let folder = Folder::new();
    let values = parts(&folder);
    let swapped: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
    let header = npy_bytes(npyz::Order::C, &[3000, 2], &values);
    let text = header.len() - swapped.len();
    let mut big = header[..text].to_vec();
    let at = big.windows(3).position(|w| w == b"<f4").unwrap();
    big[at] = b'>';
    big.extend(&swapped);
    folder.write("big.npy", &big);
    let mut columns = vec![0.0f32; 6000];
    for (n, value) in values.iter().enumerate() {
        columns[n % 2 * 3000 + n / 2] = *value;
    }
    folder.npy_fortran("columns.npy", &[3000, 2], &columns);
    let call = format!("{REDUCE} --json");
    let expected = folder
        .strew(&format!(
            "aggregate --src values.npy --index index.npy {call}"
        ))
        .json();
    for src in ["values.npy", "big.npy", "columns.npy"] {
        for limit in ["", "--memory-limit 40K", "--memory-limit 1G"] {
            let line = format!("aggregate --src {src} --index index.npy {call} {limit}");
            assert_eq!(folder.strew(&line).json(), expected, "{line}");
        }
    }
}

#[test]
fn what_is_wrong_with_a_part_is_said() {
    let folder = Folder::new();
    parts(&folder);
    folder.npy("w-1.npy", &[2, 2], &[1.0f32; 4]);
    folder.npy("w-2.npy", &[2, 3], &[1.0f32; 6]);
    folder.npy("x-1.npy", &[2], &[1.0f32; 2]);
    folder.npy("x-2.npy", &[2], &[1.0f64; 2]);
    folder.npy("short.npy", &[2999], &[0i64; 2999]);
    let cut = folder.read("values.npy");
    folder.write("cut.npy", &cut[..cut.len() - 4]);
    let limit = "--memory-limit 40K";
    for (line, said) in [
        (
            "--src w-*.npy --index [0,0,0,0]",
            "w-2.npy: its rows are of dtype float32 and shape [3]",
        ),
        (
            "--src x-*.npy --index [0,0,0,0]",
            "x-2.npy: its rows are of dtype float64",
        ),
        (
            "--src none-*.npy --index [0]",
            "no file has a name like none-*.npy",
        ),
        (
            "--src 1.5 --index [0]",
            "it must have at least one dimension",
        ),
        (
            "--src cut.npy --index index.npy",
            "cut.npy: it is truncated",
        ),
        (
            "--src values.npy --index short.npy",
            "--index: it has shape [2999], and must be 1-d with 3000",
        ),
        (
            "--src values.npy --index index.npy --size 9",
            "index[3] = 9",
        ),
        ("--src v-*.npy --index i-*.npy --size 16", "= 16"),
    ] {
        let refused = folder
            .strew(&format!("aggregate {line} {limit} -o out.npy"))
            .refused();
        assert!(refused.contains(said), "{line}: {refused}");
    }
    // The position is that among all values.
    let index: Vec<i64> = (0..3000).map(|n| if n == 2900 { 9 } else { 0 }).collect();
    folder.npy("late.npy", &[3000], &index);
    let line = "aggregate --src v-*.npy --index late.npy --size 4 --partial out.strew";
    let refused = folder.strew(&format!("{line} {limit}")).refused();
    assert!(refused.contains("index[2900] = 9"), "{refused}");
    assert!(!folder.exists("out.npy") && !folder.exists("out.strew"));
}

#[test]
fn no_values_are_values_too() {
    let folder = Folder::new();
    folder.npy("v.npy", &[0, 2], &[0.0f32; 0]);
    folder.npy("i.npy", &[0], &[0i64; 0]);
    let call = "aggregate --src v.npy --index i.npy --reduce sum,max --size 2";
    let expected = folder.strew(&format!("{call} --json")).json();
    folder.strew(&format!("{call} --partial s.strew")).ok();
    assert_eq!(folder.strew("merge s.strew --json").json(), expected);
}
