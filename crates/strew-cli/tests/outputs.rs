//! What an output may replace, and arrays that go through pipes.

mod common;

use common::{Done, Folder, npy_bytes, parse_npy, raw_npy, read_npy};
use std::io::Write;
use std::process::Stdio;

const SUM: &str = "run torch_scatter.scatter --src [1.5,2.0]:float32 --index [0,0]";

/// Runs a line with these bytes in standard input.
fn fed(folder: &Folder, line: &str, input: &[u8]) -> Done {
    let done = piped(folder, line, input);
    Done {
        code: done.status.code(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}

fn piped(folder: &Folder, line: &str, input: &[u8]) -> std::process::Output {
    let mut command = folder.command();
    let command = command.args(line.split(' ')).stdin(Stdio::piped());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The program may refuse the call before it has read anything.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

#[test]
fn a_file_that_exists_is_replaced_only_when_forced() {
    let folder = Folder::new();
    for output in ["out.npy", "out.npz", "out.safetensors"] {
        folder.write(output, "precious");
        let said = folder.strew(&format!("{SUM} -o {output}")).refused();
        let wanted = format!(
            "strew: torch_scatter.scatter: {output}: it exists already; --force replaces it"
        );
        assert_eq!(said, wanted);
        assert_eq!(folder.read(output), b"precious");
        folder.strew(&format!("{SUM} -o {output} --force")).ok();
        assert_ne!(folder.read(output), b"precious");
    }
    folder.write("arg.npy", "precious");
    let most = "run torch_scatter.scatter_max --src [1] --index [0] --output-arg arg.npy";
    let said = folder.strew(&format!("{most} -o new.npy")).refused();
    assert!(said.contains("arg.npy: it exists already"), "{said}");
    assert!(!folder.exists("new.npy"));

    let some = "aggregate --src [1.0] --index [0] --size 1";
    for (flag, name) in [("-o", "some.npy"), ("--partial", "some.strew")] {
        folder.strew(&format!("{some} {flag} {name}")).ok();
        let said = folder.strew(&format!("{some} {flag} {name}")).refused();
        assert!(
            said.contains(&format!("{name}: it exists already")),
            "{said}"
        );
        folder.strew(&format!("{some} {flag} {name} --force")).ok();
    }
    let said = folder.strew("merge some.strew -o some.npy").refused();
    assert!(said.contains("some.npy: it exists already"), "{said}");
    folder.strew("merge some.strew -o some.npy --force").ok();
}

#[test]
fn an_input_is_never_replaced() {
    let folder = Folder::new();
    folder.npy("x.npy", &[2], &[2i64, 3]);
    folder.npy("part-1.npy", &[2], &[0i64, 0]);
    std::fs::create_dir(folder.path("sub")).unwrap();
    let before = folder.names();
    let calls = [
        (
            "run mindspore.scatter_mul --input_x x.npy --indices [1] --updates [7] -o x.npy",
            "--input_x",
        ),
        (
            "run torch_scatter.scatter --src [1,2] --index x.npy -o sub/../x.npy",
            "--index",
        ),
        (
            "run torch_scatter.scatter_max --src x.npy --index [0,0] -o y.npy --output-arg x.npy",
            "--src",
        ),
        (
            "run torch_scatter.scatter --src part-*.npy --index [0,0] -o part-1.npy",
            "--src",
        ),
        (
            "aggregate --src x.npy --index part-1.npy -o part-1.npy",
            "--index",
        ),
        (
            "aggregate --src x.npy --index [0,0] --partial x.npy",
            "--src",
        ),
        (
            "run torch.index_put --input x.npy --indices x.npy --values [1] -o x.npy",
            "--input",
        ),
    ];
    for (line, argument) in calls {
        let said = folder.strew(&format!("{line} --force")).refused();
        let part = format!("it is an input ({argument}): an output never replaces one");
        assert!(said.contains(&part), "{line}: {said}");
        assert_eq!(folder.names(), before);
    }
    folder
        .strew("aggregate --src x.npy --index [0,0] --size 1 --partial a.strew")
        .ok();
    let said = folder
        .strew("merge a.strew --partial a.strew --force")
        .refused();
    assert!(said.contains("it is an input (STATE)"), "{said}");
    assert_eq!(
        read_npy::<i64>(&folder.path("x.npy")),
        (vec![2], vec![2, 3])
    );
}

#[test]
fn arrays_go_through_pipes() {
    let folder = Folder::new();
    let first = piped(&folder, &format!("{SUM} -o -"), b"");
    assert_eq!(
        (first.status.code(), &first.stderr[..]),
        (Some(0), &b""[..])
    );
    assert_eq!(parse_npy::<f32>(&first.stdout), (vec![1], vec![3.5]));
    // The same bytes as in a file.
    folder.strew(&format!("{SUM} -o out.npy")).ok();
    assert_eq!(folder.read("out.npy"), first.stdout);
    let next = "run torch_scatter.scatter --src - --index [2]";
    let shown = fed(&folder, next, &first.stdout).ok();
    assert_eq!(shown, "out: float32 [3]\n[0.0, 0.0, 3.5]\n");

    // As an index, as a list of integers, as a target, as one of several tensors; swapped, Fortran.
    let numbers = npy_bytes(npyz::Order::C, &[2], &[1i64, 2]);
    for (line, wanted) in [
        (
            "run torch_scatter.scatter --src [5,7] --index -",
            "[0, 5, 7]",
        ),
        (
            "run mxnet.scatter_nd --data [3] --indices [[0],[1]] --shape -",
            "[[0, 3]]",
        ),
        (
            "run mindspore.scatter_mul --input_x - --indices [1] --updates [7]",
            "[ 1, 14]",
        ),
        (
            "run torch.index_put --input [0,0,0] --indices - --values [4,5]",
            "[0, 4, 5]",
        ),
        ("aggregate --src - --index [0,0] --reduce sum", "[3]"),
        (
            "aggregate --src [1.0,2.0] --index - --reduce sum",
            "[0.0, 1.0, 2.0]",
        ),
        ("aggregate --src [1,2] --index - --reduce len", "[0, 1, 1]"),
    ] {
        let shown = fed(&folder, line, &numbers).ok();
        let (_, shown) = shown.split_once('\n').unwrap();
        assert_eq!(shown.trim_end(), wanted, "{line}");
    }
    let fortran = npy_bytes(npyz::Order::Fortran, &[2, 2], &[1i64, 2, 3, 4]);
    let rows = "run torch_scatter.scatter --src - --index [0,0] --dim 0";
    let shown = fed(&folder, rows, &fortran).ok();
    assert_eq!(shown, "out: int64 [1, 2]\n[[3, 7]]\n");
    let big = raw_npy(
        "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }",
        &[0, 1, 1, 0],
    );
    let shown = fed(
        &folder,
        "run torch_scatter.scatter --src - --index [0,1]",
        &big,
    )
    .ok();
    assert_eq!(shown, "out: int16 [2]\n[  1, 256]\n");
    let half = raw_npy(
        "{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }",
        &[0x80, 0x3f],
    );
    let shown = fed(
        &folder,
        "run torch_scatter.scatter --src -:bf16 --index [0]",
        &half,
    )
    .ok();
    assert_eq!(shown, "out: bfloat16 [1]\n[1.0]\n");
}

#[test]
fn the_second_result_goes_to_its_file() {
    let folder = Folder::new();
    let call = "run torch_scatter.scatter_max --src [1,9,4] --index [0,0,1] -o -";
    let done = piped(&folder, &format!("{call} --output-arg arg.npy"), b"");
    assert_eq!(parse_npy::<i64>(&done.stdout), (vec![2], vec![9, 4]));
    assert_eq!(
        read_npy::<i64>(&folder.path("arg.npy")),
        (vec![2], vec![1, 2])
    );
    let said = folder
        .strew("aggregate --src [1.0] --index [0] --reduce sum,max -o -")
        .refused();
    assert!(
        said.contains("a .npy file takes one result, not 2"),
        "{said}"
    );
    let said = folder.strew(&format!("{call} --json")).refused();
    assert!(said.contains("leave one of them out"), "{said}");
}

#[test]
fn what_is_no_array_in_a_pipe_is_refused() {
    let folder = Folder::new();
    let whole = npy_bytes(npyz::Order::C, &[2], &[1i64, 2]);
    let call = "run torch_scatter.scatter --src - --index [0,0]";
    let twice = [&whole[..], &whole[..]].concat();
    let large = raw_npy(
        "{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000000,), }",
        &[0; 8],
    );
    for (input, part) in [
        (&b""[..], "not a .npy file"),
        (b"PK\x03\x04 and more of an archive", "not a .npy file"),
        (&whole[..whole.len() - 1], "truncated"),
        (&twice, "more bytes follow its array"),
        (&large, "bytes"),
    ] {
        let said = fed(&folder, call, input).refused();
        let start = "strew: torch_scatter.scatter: --src: standard input: ";
        assert!(said.starts_with(start) && said.contains(part), "{said}");
    }
    let said = fed(
        &folder,
        "run torch_scatter.scatter --src - --index -",
        &whole,
    )
    .refused();
    assert!(
        said.contains("--index: only one argument can be read from standard input"),
        "{said}"
    );
    assert!(folder.names().is_empty());
}
