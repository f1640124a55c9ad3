//! Faults of the system and of other programs: too little memory, a full disk, a file that changes,
//! a death in the middle. What cannot be done is one line and exit status 2; an output is whole or
//! not there.
#![cfg(unix)]

mod common;

use common::{Done, Folder, raw_npy};
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const CALL: &str = "run torch_scatter.scatter --src [1] --index [0] -o";
const LARGE: &str =
    "run mxnet.scatter_nd --data [1]:uint8 --indices [[0]] --shape 200000000 -o out.npy --force";

/// Runs a line under limits of the shell, such as `ulimit -v 100000`.
fn limited(folder: &Folder, limits: &str, line: &str) -> Done {
    let done = shell(folder, limits, line).output().unwrap();
    Done {
        code: done.status.code(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}

fn shell(folder: &Folder, limits: &str, line: &str) -> Command {
    let program = folder.command();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")])
        .arg(program.get_program())
        .args(line.split(' '))
        .current_dir(program.get_current_dir().unwrap())
        .env_remove("STREW_MEMORY_LIMIT")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null());
    shell
}

fn npy_of_zeros(folder: &Folder, name: &str, descr: &str, count: u64, bytes: u64) {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}");
    folder.write(name, raw_npy(&header, &[]));
    let file = File::options().write(true).open(folder.path(name)).unwrap();
    let header = file.metadata().unwrap().len();
    // Sparse: no block of it is ever there.
    file.set_len(header + bytes).unwrap();
}

/// 200 MB that cannot be had: mapped, copied because its bytes are swapped, as a result, as text.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_cannot_be_had() {
    let folder = Folder::new();
    npy_of_zeros(&folder, "x.npy", "<i4", 50_000_000, 200_000_000);
    npy_of_zeros(&folder, "swapped.npy", ">i4", 50_000_000, 200_000_000);
    for line in [
        "run torch_scatter.segment_csr --src x.npy --indptr [0,50000000] -o out.npy",
        "run torch_scatter.segment_csr --src swapped.npy --indptr [0,50000000] -o out.npy",
        "run mxnet.scatter_nd --data [1]:uint8 --indices [[0]] --shape 200000000 -o out.npy",
        "run torch_scatter.scatter_max --src [1] --index [0] --dim_size 25000000 -o out.npz",
        "run torch.scatter_reduce_ --input x.npy --dim 0 --index [0] --src [1]:int32 --reduce sum -o out.npy",
    ] {
        let complaint = limited(&folder, "ulimit -v 150000", line).refused();
        assert!(complaint.contains("bytes"), "{complaint}");
        assert_eq!(folder.names(), ["swapped.npy", "x.npy"]);
    }
}

/// Every limit of memory is enough, or one line. Some small allocations failed by an abort, once
/// with a part file that stayed.
#[cfg(target_os = "linux")]
#[test]
fn every_limit_of_memory() {
    let folder = Folder::new();
    let numbers: Vec<i64> = (0..200_000).map(|n| n * 7919 % 50_021).collect();
    folder.npy("i.npy", &[200_000], &numbers);
    let values: Vec<f64> = numbers.iter().map(|&n| n as f64 / 8.0).collect();
    folder.npy("v.npy", &[200_000], &values);
    let line = |(n, v): (&i64, &f64)| format!("k{n},{v}\n");
    let text: String = numbers.iter().zip(&values).map(line).collect();
    folder.write("t.csv", format!("k,v\n{text}"));
    // With less the system cannot start the program.
    let starts = |kib: &usize| {
        let done = limited(&folder, &format!("ulimit -v {kib}"), "--version");
        done.code == Some(0)
    };
    let start = (10_000..200_000).step_by(1_000).find(starts).unwrap();
    for line in [
        "run torch_scatter.scatter --src v.npy --index i.npy --reduce sum -o out.npy",
        "aggregate --src v.npy --index i.npy --reduce mean,median -o out.npz",
        "aggregate --by k --value v t.csv --reduce mean -o out.csv",
        "aggregate --by k --value v t.csv --reduce mean -o out.parquet",
    ] {
        let mut enough = 0;
        for kib in (start..start + 40_000).step_by(2_500) {
            let done = limited(&folder, &format!("ulimit -v {kib}"), line);
            let output = folder
                .names()
                .into_iter()
                .find(|name| name.starts_with("out"));
            let temporary = folder
                .names()
                .into_iter()
                .find(|name| name.starts_with('.'));
            assert_eq!(temporary, None, "{line}, {kib}");
            if done.code == Some(0) {
                enough += 1;
                fs::remove_file(folder.path(&output.unwrap())).unwrap();
            } else {
                done.refused();
                assert_eq!(output, None, "{line}, {kib}");
            }
        }
        assert!(enough > 0, "{line}");
    }
}

/// It ended in an abort: the libraries that read a table of contents take memory without asking.
#[cfg(target_os = "linux")]
#[test]
fn a_table_of_contents_that_does_not_fit_the_memory() {
    use std::io::Write;
    let folder = Folder::new();
    let entry = |n: usize| {
        let offsets = (4 * n, 4 * n + 4);
        format!(
            r#""t{n}":{{"dtype":"F32","shape":[1],"data_offsets":[{},{}]}}"#,
            offsets.0, offsets.1
        )
    };
    let header = (0..200_000).map(entry).collect::<Vec<_>>().join(",");
    let header = format!("{{{header}}}");
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.resize(file.len() + 800_000, 0);
    folder.write("x.safetensors", &file);

    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let whole = raw_npy(
        "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }",
        &[0; 8],
    );
    for n in 0..300_000 {
        archive.start_file(format!("a{n}.npy"), options).unwrap();
        if n == 7 {
            archive.write_all(&whole).unwrap();
        }
    }
    folder.write("x.npz", archive.finish().unwrap().into_inner());

    for (place, kib) in [("x.safetensors:t7", 100_000), ("x.npz:a7", 150_000)] {
        let line = format!("run torch_scatter.scatter --src {place} --index [0]");
        let complaint = limited(&folder, &format!("ulimit -v {kib}"), &line).refused();
        assert!(complaint.contains("table of contents"), "{complaint}");
        folder.strew(&line).ok();
    }
}

/// The signal that comes with the error ended the process, and the temporary file stayed; an archive
/// complained by itself besides.
#[test]
fn a_full_disk() {
    let folder = Folder::new();
    for name in ["out.npy", "out.npz", "out.safetensors"] {
        let line = LARGE
            .replace("200000000", "2000000")
            .replace("out.npy", name);
        let complaint = limited(&folder, "ulimit -f 1000", &line).refused();
        let start = format!("strew: mxnet.scatter_nd: {name}: it cannot be written: ");
        assert!(complaint.starts_with(&start), "{complaint}");
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
    folder.write("out.npy", "precious");
    limited(&folder, "ulimit -f 1000", LARGE).refused();
    assert_eq!(folder.read("out.npy"), b"precious");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output() {
    let folder = Folder::new();
    for line in [
        "run torch_scatter.scatter --src [1] --index [0]",
        "ops --json",
        "completions bash",
    ] {
        let mut command = folder.command();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let done = command.args(line.split(' ')).stdout(full).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{line}");
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(
            said.lines().count() == 1 && said.contains("standard output"),
            "{said}"
        );
    }
}

/// Neither the system's own folder nor a folder without the right to write, where the user is not
/// one whom rights do not concern.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_to() {
    let folder = Folder::new();
    let complaint = folder.strew(&format!("{CALL} /sys/out.npy")).refused();
    assert!(complaint.contains("cannot be written"), "{complaint}");
    fs::create_dir(folder.path("closed")).unwrap();
    let closed = fs::Permissions::from_mode(0o555);
    fs::set_permissions(folder.path("closed"), closed).unwrap();
    let done = folder.strew(&format!("{CALL} closed/out.npy"));
    assert!(matches!(done.code, Some(0 | 2)), "{}", done.err);
    assert_eq!(folder.exists("closed/out.npy"), done.code == Some(0));
    fs::set_permissions(folder.path("closed"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// A pipe, and the pipe that a link names, were replaced by a file; as root, so would a device have
/// been. A link to nothing was replaced itself.
#[test]
fn an_output_that_is_no_file() {
    let folder = Folder::new();
    let made = Command::new("mkfifo").arg(folder.path("pipe.npy")).status();
    assert!(made.unwrap().success());
    fs::create_dir(folder.path("dir.npy")).unwrap();
    symlink("pipe.npy", folder.path("link.npy")).unwrap();
    symlink("gone/out.npy", folder.path("dangling.npy")).unwrap();
    symlink("round.npy", folder.path("round.npy")).unwrap();
    let before = folder.names();
    for (name, part) in [
        ("pipe.npy", "not a regular file"),
        ("link.npy", "not a regular file"),
        ("dir.npy", "directory"),
        ("dangling.npy", "leads nowhere"),
        ("round.npy", "leads nowhere"),
        ("/dev/stdout", "an output is a"),
        ("/dev/full", "an output is a"),
    ] {
        let complaint = folder.strew(&format!("{CALL} {name}")).refused();
        assert!(complaint.contains(part), "{name}: {complaint}");
    }
    assert_eq!(folder.names(), before);
    let kind = |name: &str| fs::symlink_metadata(folder.path(name)).unwrap().file_type();
    assert!(kind("pipe.npy").is_fifo() && kind("round.npy").is_symlink());
}

#[test]
fn a_pipe_as_input() {
    let folder = Folder::new();
    symlink("/dev/stdin", folder.path("in.npy")).unwrap();
    for (name, part) in [
        ("in.npy", "not a regular file"),
        ("/dev/stdin", "is no tensor"),
    ] {
        let mut command = folder.command();
        let line = format!("run torch_scatter.scatter --src {name} --index [0]");
        let child = command.args(line.split(' ')).stdin(Stdio::piped());
        let done = child.stderr(Stdio::piped()).spawn().unwrap();
        let done = done.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(2));
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(said.contains(part), "{said}");
    }
}

/// Waits until `there` holds; false if the program has ended before.
fn wait_until(child: &mut Child, there: impl Fn(&Child) -> bool) -> bool {
    let since = Instant::now();
    while !there(child) {
        assert!(since.elapsed() < Duration::from_secs(60), "it hangs");
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

#[test]
fn killed_while_it_writes() {
    let folder = Folder::new();
    let is_part = |name: &String| name.starts_with(".strew-");
    for old in [None, Some("precious")] {
        // It must be caught while it writes, which takes a few tries on a fast disk.
        let caught = (0..20).any(|_| {
            if let Some(old) = old {
                folder.write("out.npy", old);
            }
            let mut child = folder.command().args(LARGE.split(' ')).spawn().unwrap();
            wait_until(&mut child, |_| folder.names().iter().any(is_part));
            child.kill().unwrap();
            child.wait().unwrap();
            // What is left has another name: the output is not there, or as it was, or whole.
            let whole = fs::metadata(folder.path("out.npy")).is_ok_and(|m| m.len() > 200_000_000);
            if !whole {
                assert_eq!(folder.exists("out.npy"), old.is_some());
                assert!(old.is_none_or(|old| folder.read("out.npy") == old.as_bytes()));
            }
            let left = folder.names().into_iter().filter(is_part);
            left.for_each(|name| fs::remove_file(folder.path(&name)).unwrap());
            let _ = fs::remove_file(folder.path("out.npy"));
            !whole
        });
        assert!(caught, "it was never caught while it wrote");
    }
}

/// The system ended the process with SIGBUS, without a word.
#[cfg(target_os = "linux")]
#[test]
fn a_mapped_file_that_shrinks() {
    let folder = Folder::new();
    let count = 2_000_000_000u64;
    let line = format!("run torch_scatter.segment_csr --src x.npy --indptr [0,{count}] -o out.npy");
    for json in [false, true] {
        let line = if json {
            format!("{line} --json")
        } else {
            line.clone()
        };
        // It must be caught while it reads.
        let caught = (0..20).any(|_| {
            npy_of_zeros(&folder, "x.npy", "|i1", count, count);
            let mut command = folder.command();
            let child = command.args(line.split(' ')).stderr(Stdio::piped());
            let mut child = child.stdout(Stdio::null()).spawn().unwrap();
            let maps = format!("/proc/{}/maps", child.id());
            wait_until(&mut child, |_| {
                fs::read_to_string(&maps).is_ok_and(|maps| maps.contains("x.npy"))
            });
            let file = File::options().write(true).open(folder.path("x.npy"));
            file.unwrap().set_len(1 << 12).unwrap();
            let done = child.wait_with_output().unwrap();
            let said = String::from_utf8(done.stderr).unwrap();
            let whole = done.status.code() == Some(0);
            if whole {
                fs::remove_file(folder.path("out.npy")).unwrap();
            } else {
                assert_eq!(done.status.code(), Some(2), "{:?}: {said}", done.status);
                assert_eq!(said.lines().count(), 1, "{said}");
                let part = "x.npy: somebody made it shorter while it was read";
                match json {
                    false => assert_eq!(said.trim_end(), format!("strew: {part}")),
                    true => {
                        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
                        assert_eq!(said["error"]["file"], "x.npy");
                    }
                }
                assert_eq!(folder.names(), ["x.npy"]);
            }
            !whole
        });
        assert!(caught, "it was never caught while it read");
    }
}
