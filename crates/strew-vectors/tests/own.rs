//! The vectors of this repository.

use std::path::Path;
use std::process::Command;

#[test]
fn all_pass() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let status = Command::new(env!("CARGO_BIN_EXE_strew-vectors"))
        .arg(vectors)
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn a_name_without_cases_is_an_error() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let output = Command::new(env!("CARGO_BIN_EXE_strew-vectors"))
        .arg(vectors)
        .args(["--only", "nobody.knows_this"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("no case in"), "{said}");
}
