//! What is wrong is said in one line, exit status 2, and no file is touched.

mod common;

use common::{Folder, raw_npy};
use std::process::Command;

const SUM: &str = "run torch_scatter.scatter --index [0] --src";

#[test]
fn the_line_names_operator_argument_and_file() {
    let folder = Folder::new();
    folder.npy("i.npy", &[2], &[0i64, 9]);
    folder.npy("x.npy", &[2], &[1.0f32, 2.0]);
    let cases = [
        (
            "run torch_scatter.scatter --src gone.npy --index [0]",
            "strew: torch_scatter.scatter: --src: gone.npy: there is no such file",
        ),
        (
            "run torch_scatter.scatter --src x.npy --index i.npy --dim_size 3",
            "strew: torch_scatter.scatter: index[1] = 9: index 9 is out of bounds for dimension 0 with size 3 \
             (index is i.npy)",
        ),
        (
            "run torch_scatter.scatter --src x.npy --index [0,-1]",
            "strew: torch_scatter.scatter: index[1] = -1: index -1 is out of bounds for dimension 0 with size 1",
        ),
        (
            "run strew.scatter --src x.npy --index [0,-1]",
            "strew: strew.scatter: index[1] = -1: index -1 is out of bounds for dimension 0 with size 1; \
             --mode drop leaves out what has such a number",
        ),
        (
            "aggregate --src x.npy --index i.npy --size 3",
            "strew: aggregate: index[1] = 9: index 9 is out of bounds for dimension 0 with size 3; --mode drop \
             leaves out what has such a number (index is i.npy)",
        ),
        (
            "aggregate --src x.npy --index i.npy --reduce mean,max -o out.npy",
            "strew: aggregate: out.npy: a .npy file takes one result, not 2: write a .npz file",
        ),
        (
            "run torch_scatter.scatter --src [1,2 --index [0]",
            "strew: torch_scatter.scatter: --src: ',' or ']' is missing at the end",
        ),
        (
            "run torch_scatter.scatter --src x.npy --index i.npy --dim 4",
            "strew: torch_scatter.scatter: dim = 4: Dimension out of range (expected to be in range of [-1, 0], \
             but got 4)",
        ),
        (
            "run torch_scatter.scatter --src x.npy --index i.npy --dim x",
            "strew: torch_scatter.scatter: --dim: 'x' is not an integer of 64 bits",
        ),
        (
            "run torch.scatter_reduce --input x.npy --dim 0 --index [0] --src x.npy --reduce sum --include_self maybe",
            "strew: torch.scatter_reduce: --include_self: 'maybe' is neither true nor false",
        ),
        (
            "run mxnet.scatter_nd --data x.npy --indices [[0,1]] --shape 2,x",
            "strew: mxnet.scatter_nd: --shape: '2,x' is no list of integers: write them as in 2,2, or name a file",
        ),
        (
            "run torch_scatter.scatter --src x.npy",
            "strew: torch_scatter.scatter: the following required arguments were not provided: --index <TENSOR> \
             (--help tells more)",
        ),
        (
            "run torch_scatter.scatter --src [1,[2]] --index [0]",
            "strew: torch_scatter.scatter: --src: its lists are of different depths",
        ),
    ];
    for (line, wanted) in cases {
        assert_eq!(folder.strew(line).refused(), wanted);
    }
    for (line, part) in [
        ("run nope.nothing", "there is no operator 'nope.nothing'"),
        ("nope", "there is no command 'nope'"),
        (
            "torch_scatter.x",
            "there is no command 'torch_scatter.x': did you mean torch_scatter.scatter, \
             torch_scatter.scatter_sum or torch_scatter.scatter_add?",
        ),
        (
            "explain torch_scatter.scater_mean",
            "there is no operator 'torch_scatter.scater_mean': did you mean torch_scatter.scatter_mean",
        ),
        (
            "torch.scatter_reduce --dim 0",
            "'torch.scatter_reduce' is an operator: did you mean strew run torch.scatter_reduce?",
        ),
        (
            "histogram v.npy",
            "there is no command 'histogram': strew help jobs has it: strew run numpy.bincount",
        ),
        (
            "run numpy.histogram",
            "there is no operator 'numpy.histogram': strew help jobs has it: strew run numpy.binc",
        ),
        (
            "ops one-hot",
            "in no summary of one: strew help jobs has it: strew run torch.scatter ",
        ),
        (
            "ops no such words",
            "strew ops lists all of them, and strew help jobs what they are for",
        ),
        (
            "help groupby",
            "strew help jobs has it: strew aggregate --by key",
        ),
        ("rum", "there is no command 'rum': did you mean run"),
        ("help memroy", "did you mean memory"),
        ("help torch.put_alon", "did you mean torch.put"),
        (
            "ops torch.scatter_sum",
            "'torch.scatter_sum' is no operator or framework, and in no summary of one: did you mean \
             torch.scatter",
        ),
        (
            "run torch_scatter.scatter --sr x.npy --index [0]",
            "unexpected argument '--sr'",
        ),
        (
            "run torch_scatter.scatter --src what --index [0]",
            "'what' is no tensor",
        ),
        (
            "run torch_scatter.scatter --src . --index [0]",
            "'.' is no tensor",
        ),
        (
            "run torch_scatter.scatter --src x.npy --index [0,0] --strategy fast",
            "invalid value 'fast'",
        ),
        (
            "aggregate --src x.npy --index [0,0] --reduce avg",
            "aggregate: reduce = \"avg\": it must be one of sum",
        ),
        ("merge gone.strew", "merge: gone.strew: it cannot be read"),
        ("--threads 0 ops", "invalid value '0'"),
        ("--memory-limit 1X ops", "'X' is no unit"),
        ("completions sh", "invalid value 'sh'"),
    ] {
        let complaint = folder.strew(line).refused();
        assert!(complaint.contains(part), "{line}: {complaint}");
    }
}

#[test]
fn errors_are_json_when_asked() {
    let folder = Folder::new();
    folder.npy("i.npy", &[1], &[9i64]);
    let error = |line: &str| {
        let text = folder.strew(line).refused();
        let json: serde_json::Value = serde_json::from_str(&text).expect(&text);
        json["error"].clone()
    };
    let found = error("run torch_scatter.scatter --src [1] --index i.npy --dim_size 3 --json");
    assert_eq!(found["operator"], "torch_scatter.scatter");
    assert_eq!(found["argument"], "index");
    assert_eq!(found["file"], "i.npy");
    assert_eq!(found["class"], "RuntimeError");
    assert!(found["message"].as_str().unwrap().contains("out of bounds"));
    let found = error("--json run torch_scatter.scatter --src gone.npy --index [0]");
    assert_eq!(
        (&found["argument"], &found["file"]),
        (&"src".into(), &"gone.npy".into())
    );
    // The parser's own complaints too.
    let found = error("run torch_scatter.scatter --json");
    assert_eq!(found["operator"], "torch_scatter.scatter");
}

#[test]
fn hostile_npy_files() {
    let folder = Folder::new();
    let header = |descr: &str, shape: &str| {
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}")
    };
    let whole = raw_npy(&header("<f4", "(3,)"), &[0; 12]);
    // Cut off at every length.
    for len in 0..whole.len() {
        folder.write("x.npy", &whole[..len]);
        let complaint = folder_refuses(&folder, "x.npy");
        assert!(complaint.contains("x.npy"), "{len}: {complaint}");
    }
    folder.write("x.npy", &whole);
    folder
        .strew("run torch_scatter.scatter --index [0,0,0] --src x.npy")
        .ok();

    let mut magic = whole.clone();
    magic[1] = b'M';
    let mut version = whole.clone();
    version[6] = 9;
    let mut long = b"\x93NUMPY\x02\x00".to_vec();
    long.extend(u32::MAX.to_le_bytes());
    let cases: [(&[u8], &str); 14] = [
        (&magic, "not a .npy file"),
        (&version, "version 9"),
        (&long, "longer than"),
        (&raw_npy(&header("<f4", "(4,)"), &[0; 12]), "truncated"),
        (&raw_npy(&header("<f8", "(4611686018427387904,)"), &[]), ""),
        (
            &raw_npy(&header("<f8", "(4294967296, 4294967296, 4)"), &[]),
            "",
        ),
        (
            &raw_npy(&header("<f8", "(99999999999999999999999,)"), &[]),
            "too large",
        ),
        (
            &raw_npy(&header("<f4", "(100000000000,)"), &[0; 12]),
            "truncated",
        ),
        (&raw_npy(&header("<f4", "(-1,)"), &[]), "size"),
        (&raw_npy(&header("<f4", "(3"), &[]), "missing"),
        (
            &raw_npy(&header("|O", "(3,)"), &[]),
            "'|O' are not supported",
        ),
        (
            &raw_npy(&header("<U4", "(3,)"), &[]),
            "'<U4' are not supported",
        ),
        (&raw_npy(&"(".repeat(60_000), &[]), "not understood"),
        (
            &raw_npy(
                "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}",
                &[],
            ),
            "records",
        ),
    ];
    for (n, (bytes, part)) in cases.into_iter().enumerate() {
        folder.write("x.npy", bytes);
        let complaint = folder_refuses(&folder, "x.npy");
        assert!(
            complaint.contains("x.npy") && complaint.contains(part),
            "case {n}: {complaint}"
        );
    }
}

fn folder_refuses(folder: &Folder, place: &str) -> String {
    folder.strew(&format!("{SUM} {place} -o out.npy")).refused()
}

#[test]
fn hostile_safetensors_files() {
    let folder = Folder::new();
    let file = |header: &str, data: &[u8]| {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    };
    let good = file(
        r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#,
        &[0; 4],
    );
    folder.write("x.safetensors", &good);
    folder.strew(&format!("{SUM} x.safetensors:a")).ok();
    for len in 0..good.len() {
        folder.write("x.safetensors", &good[..len]);
        let complaint = folder_refuses(&folder, "x.safetensors:a");
        assert!(complaint.contains("x.safetensors"), "{len}: {complaint}");
    }
    let cases = [
        (u64::MAX.to_le_bytes().to_vec(), "truncated"),
        (file("{", &[]), "not understood"),
        (file(&"[".repeat(100_000), &[]), "not understood"),
        (
            file(
                r#"{"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#,
                &[0; 4],
            ),
            "no tensor 'a'",
        ),
        (
            file(
                r#"{"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}}"#,
                &[0; 4],
            ),
            "F8_E4M3",
        ),
        (
            file(
                r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#,
                &[0; 4],
            ),
            "not understood",
        ),
        (
            file(
                r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#,
                &[0; 8],
            ),
            "not understood",
        ),
        (
            file(
                r#"{"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,4]}}"#,
                &[0; 4],
            ),
            "not understood",
        ),
        (
            file(
                r#"{"a":{"dtype":"F32","shape":[1000],"data_offsets":[0,4000]}}"#,
                &[0; 4],
            ),
            "truncated",
        ),
    ];
    for (bytes, part) in cases {
        folder.write("x.safetensors", &bytes);
        let complaint = folder_refuses(&folder, "x.safetensors:a");
        assert!(
            complaint.contains("x.safetensors") && complaint.contains(part),
            "{part}: {complaint}"
        );
    }
}

#[test]
fn hostile_npz_files() {
    use std::io::Write;
    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};
    let folder = Folder::new();
    let archive = |method, member: &[u8]| {
        let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(method);
        archive.start_file("a.npy", options).unwrap();
        archive.write_all(member).unwrap();
        archive.finish().unwrap().into_inner()
    };
    let claims = |n: &str| format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n},), }}");
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let good = archive(method, &raw_npy(&claims("1"), &[0; 4]));
        folder.write("x.npz", &good);
        folder.strew(&format!("{SUM} x.npz:a")).ok();
        for len in (0..good.len()).step_by(3) {
            folder.write("x.npz", &good[..len]);
            assert!(
                folder_refuses(&folder, "x.npz:a").contains("x.npz"),
                "{len}"
            );
        }
        for (member, part) in [
            (raw_npy(&claims("100000000000"), &[0; 4]), "a.npy"),
            (b"not an array".to_vec(), "not a .npy file"),
            (Vec::new(), "not a .npy file"),
        ] {
            folder.write("x.npz", archive(method, &member));
            let complaint = folder_refuses(&folder, "x.npz:a");
            assert!(
                complaint.contains("x.npz") && complaint.contains(part),
                "{complaint}"
            );
        }
    }
    // A deflated member is compared with its checksum.
    let mut bad = archive(CompressionMethod::Deflated, &raw_npy(&claims("1"), &[7; 4]));
    let central = bad.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    bad[central + 16] ^= 1;
    folder.write("x.npz", &bad);
    assert!(folder_refuses(&folder, "x.npz:a").contains("hecksum"));
    folder.write("x.npz", b"PK nothing");
    assert!(folder_refuses(&folder, "x.npz:a").contains("not a readable .npz"));
}

#[test]
fn every_flipped_byte_is_survived() {
    let folder = Folder::new();
    folder
        .strew("run mxnet.scatter_nd --data [1,2]:float32 --indices [[0,1]] --shape 2 -o x.npz")
        .ok();
    folder
        .strew("run mxnet.scatter_nd --data [1,2]:float32 --indices [[0,1]] --shape 2 -o x.safetensors")
        .ok();
    for (file, place) in [
        ("x.npz", "x.npz:out"),
        ("x.safetensors", "x.safetensors:out"),
    ] {
        let good = folder.read(file);
        for at in (0..good.len()).step_by(2) {
            let mut bad = good.clone();
            bad[at] ^= 0x55;
            folder.write(file, &bad);
            let done = folder.strew(&format!("{SUM} {place}"));
            assert!(
                matches!(done.code, Some(0 | 2)),
                "{file} byte {at}: {}",
                done.err
            );
            assert!(
                !done.err.contains("panicked"),
                "{file} byte {at}: {}",
                done.err
            );
        }
    }
}

#[test]
fn results_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    let line = "run torch_scatter.scatter --src [1] --index [4000000000000000000]";
    let complaint = folder.strew(line).refused();
    assert!(complaint.contains("bytes"), "{complaint}");
    let complaint = folder
        .strew("--memory-limit 1K run torch_scatter.scatter --src [1] --index [1000]")
        .refused();
    assert!(
        complaint.contains("needs 8008 bytes, and 1024 are available"),
        "{complaint}"
    );
    let by_environment = folder
        .command()
        .env("STREW_MEMORY_LIMIT", "1024")
        .args("run torch_scatter.scatter --src [1] --index [1000]".split(' '))
        .output()
        .unwrap();
    assert_eq!(by_environment.status.code(), Some(2));
    let complaint = String::from_utf8(by_environment.stderr).unwrap();
    assert!(complaint.contains("1024 are available"), "{complaint}");
    for (name, value) in [
        ("STREW_MEMORY_LIMIT", "50X"),
        ("STREW_MEMORY_LIMIT", ""),
        ("STREW_NUM_THREADS", "0"),
        ("STREW_NUM_THREADS", "many"),
        ("STREW_ISA", "avx9000"),
        ("STREW_PIN_THREADS", "yes"),
    ] {
        let done = folder.command().env(name, value).arg("ops").output();
        let done = done.unwrap();
        assert_eq!(done.status.code(), Some(2), "{name}={value}");
        let complaint = String::from_utf8(done.stderr).unwrap();
        assert!(
            complaint.contains(&format!("{name} = {value:?}: ")),
            "{complaint}"
        );
    }
    let done = folder
        .command()
        .env("STREW_MEMORY_LIMIT", "8k")
        .arg("ops")
        .output();
    assert!(done.unwrap().status.success());
    folder
        .strew("--memory-limit 8K run torch_scatter.scatter --src [1] --index [1000]")
        .ok();
    let complaint = folder
        .strew("run mxnet.scatter_nd --data [1] --indices [[0]] --shape 9223372036854775807")
        .refused();
    assert!(complaint.contains("bytes"), "{complaint}");
}

#[test]
fn on_an_error_no_output_appears_and_an_old_one_stays() {
    let folder = Folder::new();
    let wrong = "run torch_scatter.scatter --src [1] --index [5] --dim_size 2 -o";
    folder.strew(&format!("{wrong} out.npy")).refused();
    assert!(folder.names().is_empty(), "{:?}", folder.names());
    folder.write("out.npy", "precious");
    folder.strew(&format!("{wrong} out.npy --force")).refused();
    // Wrong only once the result is to be written.
    folder.write("out.safetensors", "precious");
    folder
        .strew(
            "run torch_scatter.scatter --src [1]:complex128 --index [0] -o out.safetensors --force",
        )
        .refused();
    // Of two files, the second cannot be written: the first does not appear either.
    let complaint = folder
        .strew("run torch_scatter.scatter_max --src [1] --index [0] --force -o out.npy --output-arg no/arg.npy")
        .refused();
    assert!(
        complaint.contains("no/arg.npy") && complaint.contains("directory"),
        "{complaint}"
    );
    assert_eq!(folder.names(), ["out.npy", "out.safetensors"]);
    assert_eq!(folder.read("out.npy"), b"precious");
    assert_eq!(folder.read("out.safetensors"), b"precious");

    for (output, part) in [
        ("-o out.txt", "out.txt"),
        ("-o no/out.npy", "directory"),
        ("-o .npy/", ""),
        ("-o same.npy --output-arg same.npy", "same file"),
    ] {
        let complaint = folder
            .strew(&format!(
                "run torch_scatter.scatter_max --src [1] --index [0] {output}"
            ))
            .refused();
        assert!(complaint.contains(part), "{output}: {complaint}");
    }
    assert_eq!(folder.names(), ["out.npy", "out.safetensors"]);
}

#[cfg(unix)]
#[test]
fn outputs_keep_links_and_rights() {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    let call = "run torch_scatter.scatter --src [1] --index [0] -o";
    let mode = |name: &str| {
        let about = fs::metadata(folder.path(name)).unwrap();
        about.permissions().mode() & 0o777
    };
    // As a file that is simply created.
    folder.write("plain", "");
    folder.strew(&format!("{call} new.npy")).ok();
    assert_eq!(mode("new.npy"), mode("plain"));
    fs::set_permissions(folder.path("new.npy"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("new.npy", folder.path("link.npy")).unwrap();
    folder.write("new.npy", "old");
    folder.strew(&format!("{call} link.npy --force")).ok();
    assert_eq!(mode("new.npy"), 0o640);
    assert!(
        fs::symlink_metadata(folder.path("link.npy"))
            .unwrap()
            .is_symlink()
    );
    assert!(folder.read("new.npy").starts_with(b"\x93NUMPY"));
}

#[cfg(unix)]
#[test]
fn special_files_are_refused() {
    let folder = Folder::new();
    let made = Command::new("mkfifo").arg(folder.path("pipe.npy")).status();
    assert!(made.unwrap().success());
    std::fs::create_dir(folder.path("dir.npy")).unwrap();
    for name in ["dir.npy", "pipe.npy"] {
        let complaint = folder_refuses(&folder, name);
        assert!(complaint.contains("not a regular file"), "{complaint}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_behind() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};
    let folder = Folder::new();
    let call = "run mxnet.scatter_nd --data [1]:uint8 --indices [[0]] --shape 200000000 -o out.npy";
    // It must be caught while it writes, which takes a few tries on a fast disk.
    for _ in 0..20 {
        let mut child = folder
            .command()
            .args(call.split(' '))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let since = Instant::now();
        while !folder
            .names()
            .iter()
            .any(|name| name.starts_with(".strew-"))
            && child.try_wait().unwrap().is_none()
            && since.elapsed() < Duration::from_secs(60)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        let kill = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .output();
        let sent = kill.unwrap().status.success();
        let code = child.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 130)), "{code:?}");
        let names = folder.names();
        if sent && code == Some(130) && !folder.exists("out.npy") {
            assert!(names.is_empty(), "{names:?}");
            return;
        }
        assert_eq!(names, ["out.npy"]);
        std::fs::remove_file(folder.path("out.npy")).unwrap();
    }
    panic!("it was never caught while it wrote");
}
