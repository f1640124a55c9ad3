//! Operators on tensors that are larger than the memory limit: the bits of one call, and its errors.

mod common;

use common::{Folder, read_npy};
use std::process::Command;

/// Updates, and the cells that they go to.
const UPDATES: usize = 12_000;
const CELLS: usize = 9_000;

/// Numbers without an order: the same at every run.
fn scattered(n: usize, below: usize) -> usize {
    (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 17) % below
}

/// Tensors of a call, most of them larger than the limits below.
fn tensors() -> Folder {
    let folder = Folder::new();
    let floats = |count: usize| -> Vec<f32> {
        (0..count)
            .map(|n| scattered(n, 1000) as f32 / 7.0 - 60.0)
            .collect()
    };
    let numbers = |count: usize, below: usize| -> Vec<i64> {
        (0..count).map(|n| scattered(n + 5, below) as i64).collect()
    };
    folder.npy("src.npy", &[UPDATES as u64], &floats(UPDATES));
    folder.npy("rows.npy", &[UPDATES as u64 / 4, 4], &floats(UPDATES));
    folder.npy("cube.npy", &[3, UPDATES as u64 / 12, 4], &floats(UPDATES));
    let small: Vec<i8> = (0..UPDATES).map(|n| scattered(n, 200) as i8).collect();
    folder.npy("small.npy", &[UPDATES as u64], &small);
    folder.npy("index.npy", &[UPDATES as u64], &numbers(UPDATES, CELLS));
    folder.npy("few.npy", &[UPDATES as u64], &numbers(UPDATES, 20));
    folder.npy(
        "ids.npy",
        &[UPDATES as u64 / 4],
        &numbers(UPDATES / 4, CELLS / 4),
    );
    folder.npy(
        "third.npy",
        &[UPDATES as u64 / 12],
        &numbers(UPDATES / 12, CELLS / 4),
    );
    folder.npy(
        "each.npy",
        &[UPDATES as u64 / 4, 4],
        &numbers(UPDATES, CELLS / 4),
    );
    folder.npy(
        "all.npy",
        &[3, UPDATES as u64 / 12, 4],
        &numbers(UPDATES, CELLS / 4),
    );
    let tuples = numbers(UPDATES / 2, 4);
    let tuples = tuples.iter().enumerate().map(|(n, t)| match n % 2 {
        0 => scattered(n, CELLS / 4) as i64,
        _ => *t,
    });
    let tuples: Vec<i64> = tuples.collect();
    folder.npy("tuples.npy", &[UPDATES as u64 / 4, 2], &tuples);
    folder.npy(
        "column.npy",
        &[UPDATES as u64 / 4, 1],
        &numbers(UPDATES / 4, CELLS / 4),
    );
    folder.npy("some.npy", &[UPDATES as u64 / 4], &floats(UPDATES / 4));
    folder.npy("target.npy", &[CELLS as u64], &floats(CELLS));
    folder.npy("table.npy", &[CELLS as u64 / 4, 4], &floats(CELLS));
    folder
}

const INPUT: &str = "--input target.npy --dim 0 --src src.npy --index index.npy";
const TABLE: &str = "--input table.npy --dim 0 --source rows.npy --index ids.npy";

fn calls() -> Vec<String> {
    let mut calls = Vec::new();
    let mut add = |name: &str, rest: &str| calls.push(format!("{name} {rest}"));
    for reduce in ["sum", "mul", "mean", "min", "max"] {
        for rest in [
            "--src src.npy --index index.npy --dim_size 9000",
            "--src src.npy --index index.npy",
            "--src small.npy --index index.npy",
            "--src src.npy --index index.npy --out target.npy",
            "--src rows.npy --index ids.npy --dim 0 --dim_size 2300",
            "--src rows.npy --index each.npy --dim 0 --dim_size 2300",
            "--src cube.npy --index third.npy --dim 1 --dim_size 2300",
            "--src cube.npy --index all.npy --dim -2",
            "--src src.npy --index few.npy --dim_size 30",
        ] {
            add(
                "torch_scatter.scatter",
                &format!("{rest} --reduce {reduce}"),
            );
        }
        for rest in [
            "--dim_size 7000 --mode drop",
            "--dim_size 7000 --mode clip --fill_value 3",
            "--dim_size 9000 --mode wrap --ignore_index 17",
            "--out target.npy --include_self false",
        ] {
            let rest = format!("--src src.npy --index index.npy {rest} --reduce {reduce}");
            add("strew.scatter", &rest);
        }
    }
    for reduce in ["sum", "prod", "mean", "amin", "amax"] {
        for include in ["true", "false"] {
            let rest = format!("{INPUT} --reduce {reduce} --include_self {include}");
            add("torch.scatter_reduce", &rest);
            add("torch.scatter_reduce_", &rest);
        }
    }
    for reduce in ["prod", "mean", "amin", "amax"] {
        add("torch.index_reduce", &format!("{TABLE} --reduce {reduce}"));
    }
    for name in ["torch.scatter_add", "torch.scatter_add_"] {
        add(name, INPUT);
    }
    for name in ["torch.index_add", "torch.index_add_"] {
        add(name, &format!("{TABLE} --alpha 2"));
    }
    for reduce in ["sum", "mean", "prod", "min", "max", "sqrt_n"] {
        for ids in ["ids.npy", "each.npy"] {
            let rest = format!("--data rows.npy --segment_ids {ids} --num_segments 2300");
            add(&format!("tensorflow.math.unsorted_segment_{reduce}"), &rest);
        }
    }
    for name in ["tensorflow.scatter_nd", "mindspore.scatter_nd"] {
        add(
            name,
            "--indices column.npy --updates rows.npy --shape 2300,4",
        );
        add(
            name,
            "--indices tuples.npy --updates some.npy --shape [2300,4]",
        );
    }
    for reduce in ["add", "sub", "min", "max"] {
        let rest = "--indices tuples.npy --updates some.npy";
        let name = format!("tensorflow.tensor_scatter_nd_{reduce}");
        add(&name, &format!("--tensor table.npy {rest}"));
        let name = format!("mindspore.tensor_scatter_{reduce}");
        add(&name, &format!("--input_x table.npy {rest}"));
    }
    calls
}

#[test]
fn the_bits_are_those_of_one_call() {
    let folder = tensors();
    for call in calls() {
        folder
            .strew(&format!("run {call} -o once.npy --force"))
            .ok();
        for limit in ["30K", "16K"] {
            // Without the limit's help the call would not run at all.
            let line = format!("run {call} -o pieces.npy --force --memory-limit {limit}");
            folder.strew(&line).ok();
            assert_eq!(folder.read("pieces.npy"), folder.read("once.npy"), "{line}");
        }
    }
}

#[test]
fn positions_are_those_in_the_values() {
    let folder = tensors();
    for name in ["torch_scatter.scatter_min", "torch_scatter.scatter_max"] {
        for tensors in [
            "--src src.npy --index index.npy --dim_size 9005",
            "--src rows.npy --index ids.npy --dim 0",
            "--src cube.npy --index all.npy --dim 1",
            "--src cube.npy --index third.npy --dim 1",
        ] {
            let call = format!("run {name} {tensors}");
            folder
                .strew(&format!("{call} -o out.npy --output-arg arg.npy --force"))
                .ok();
            let told = folder
                .strew(&format!(
                    "{call} -o pieces.npy --output-arg places.npy --force --memory-limit 30K --json"
                ))
                .json();
            assert_eq!(folder.read("pieces.npy"), folder.read("out.npy"), "{call}");
            assert_eq!(folder.read("places.npy"), folder.read("arg.npy"), "{call}");
            assert_eq!(told["outputs"]["arg"]["dtype"], "int64");
            // Without positions.
            folder
                .strew(&format!("{call} -o pieces.npy --force --memory-limit 30K"))
                .ok();
            assert_eq!(folder.read("pieces.npy"), folder.read("out.npy"), "{call}");
        }
    }
}

#[test]
fn several_files_are_one_tensor() {
    let folder = tensors();
    let (_, values) = read_npy::<f32>(&folder.path("src.npy"));
    for (n, part) in values.chunks(5_000).enumerate() {
        folder.npy(&format!("part-{n}.npy"), &[part.len() as u64], part);
    }
    for rest in ["--dim_size 9000", "--dim_size 9000 --reduce mean"] {
        let call = |src: &str| format!("run strew.scatter --src {src} --index index.npy {rest}");
        folder
            .strew(&format!("{} -o once.npy --force", call("src.npy")))
            .ok();
        for limit in ["", "--memory-limit 30K"] {
            let line = format!("{} -o parts.npy --force {limit}", call("part-*.npy"));
            folder.strew(&line).ok();
            assert_eq!(folder.read("parts.npy"), folder.read("once.npy"), "{line}");
        }
    }
}

#[test]
fn errors_are_those_of_one_call() {
    let folder = tensors();
    let (_, mut index) = read_npy::<i64>(&folder.path("index.npy"));
    index[11_007] = -3;
    folder.npy("index.npy", &[UPDATES as u64], &index);
    let (_, mut each) = read_npy::<i64>(&folder.path("each.npy"));
    each[9_003] = 1 << 40;
    folder.npy("each.npy", &[UPDATES as u64 / 4, 4], &each);
    let (_, mut tuples) = read_npy::<i64>(&folder.path("tuples.npy"));
    tuples[4_001] = 4;
    folder.npy("tuples.npy", &[UPDATES as u64 / 4, 2], &tuples);
    let before = folder.names();
    for call in [
        "torch_scatter.scatter --src src.npy --index index.npy --dim_size 9000",
        "strew.scatter --src rows.npy --index each.npy --dim 0 --dim_size 2300",
        &format!("torch.scatter_reduce {INPUT} --reduce sum"),
        "mindspore.scatter_nd --indices tuples.npy --updates some.npy --shape 2300,4",
        "tensorflow.tensor_scatter_nd_add --tensor table.npy --indices tuples.npy --updates some.npy",
        // What is wrong with these is found before any work begins.
        "torch_scatter.scatter --src src.npy --index src.npy --dim_size 9000",
        "torch_scatter.scatter --src src.npy --index index.npy --dim_size 9000 --reduce most",
    ] {
        let once = folder.strew(&format!("run {call} -o out.npy --json"));
        let pieces = folder.strew(&format!("run {call} -o out.npy --json --memory-limit 30K"));
        assert_eq!(once.code, Some(2), "{call}");
        assert_eq!(pieces.err, once.err, "{call}");
        assert_eq!(folder.names(), before);
    }
}

#[test]
fn scratch_goes_where_it_is_told_and_leaves_nothing() {
    let folder = tensors();
    std::fs::create_dir(folder.path("scratch")).unwrap();
    let call = "run strew.scatter --src src.npy --index index.npy --dim_size 9000 -o out.npy \
                --memory-limit 30K";
    folder.strew(&format!("{call} --scratch scratch")).ok();
    let left = std::fs::read_dir(folder.path("scratch")).unwrap();
    assert_eq!(left.count(), 0);
    let why = folder.strew(&format!("{call} --scratch nowhere")).refused();
    assert!(why.contains("nowhere: it is not a folder"), "{why}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing() {
    let folder = tensors();
    let before = folder.names();
    let program = env!("CARGO_BIN_EXE_strew");
    // Blocks of 1 KiB: too few for the lists, and for the output.
    for blocks in [20, 34] {
        let line = format!(
            "ulimit -f {blocks}; {program} run strew.scatter --src src.npy --index index.npy \
             --dim_size 9000 -o out.npy --memory-limit 30K"
        );
        let mut shell = Command::new("bash");
        let done = shell
            .args(["-c", &line])
            .current_dir(folder.path(""))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.contains("cannot be written"), "{said}");
        assert_eq!(folder.names(), before);
    }
}
