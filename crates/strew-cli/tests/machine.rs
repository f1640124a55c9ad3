//! `strew explain --machine`: times on another machine.

mod common;

use common::Folder;

/// Rows of 16, half of which go to one.
fn inputs() -> Folder {
    let folder = Folder::new();
    folder.npy("x.npy", &[20_000, 16], &vec![1.0f32; 320_000]);
    let cells = |n: i64| if n % 2 == 0 { 3 } else { n * 7919 % 2000 };
    folder.npy(
        "i.npy",
        &[20_000],
        &(0..20_000i64).map(cells).collect::<Vec<_>>(),
    );
    folder
}

const CALL: &str = "explain torch_scatter.scatter_sum --src x.npy --index i.npy --dim 0";

#[test]
fn each_strategy_has_a_time_on_the_machine() {
    let folder = inputs();
    let text = folder.strew(&format!("{CALL} --machine 64x200GB/s")).ok();
    for line in [
        "predicted for a machine of  64 cores, 200.0 GB/s",
        "strategy there ",
        "predicted time there ",
        "in-order ",
        "grouped ",
        "times as fast as the",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let call = format!("{CALL} --machine 2x1GB/s --json --html report.html");
    let told = folder.strew(&call).json();
    let there = &told["machines"][0];
    assert_eq!(there["cores"], 2);
    assert_eq!(there["bandwidth"], 1e9);
    for part in ["seconds", "seconds on one core", "speedup", "bytes"] {
        assert!(
            there["run"][part].as_f64().unwrap() > 0.0,
            "{part}: {there}"
        );
    }
    assert_eq!(there["run"]["strategy"], "in-order");
    assert!(there["strategies"]["in-order"]["threads"].as_u64().unwrap() >= 1);
    let why = there["strategies"]["runs"]["cannot run"].as_str().unwrap();
    assert!(why.contains("one after the other"), "{why}");
    let page = String::from_utf8(folder.read("report.html")).unwrap();
    assert!(page.contains("<h2>On a machine of 2 cores, 1.0 GB/s</h2>"));
    assert_eq!(page.matches("<tr").count(), page.matches("</tr>").count());
    // Cores alone: this machine's bandwidth.
    let told = folder.strew(&format!("{CALL} --machine 1 --json")).json();
    let there = &told["machines"][0];
    assert!(there["bandwidth"].as_f64().unwrap() > 1e8);
    assert_eq!(there["run"]["speedup"], 1.0);
    // Several machines, the same samples.
    let told = folder
        .strew(&format!(
            "{CALL} --machine 1x1TB/s --machine 8x1TB/s --json"
        ))
        .json();
    let alone = |n: usize| told["machines"][n]["run"]["seconds on one core"].as_f64();
    assert_eq!(alone(0), alone(1));
    assert_eq!(told["machines"][1]["cores"], 8);
}

#[test]
fn what_is_no_machine_is_refused() {
    let folder = inputs();
    for (machine, part) in [
        ("64", ""),
        ("0x200GB/s", "1 to 256"),
        ("many", "1 to 256"),
        ("64x200", "GiB/s"),
        ("64x-5GB/s", "more than 0"),
    ] {
        let run = folder.strew(&format!("{CALL} --machine {machine}"));
        if part.is_empty() {
            run.ok();
            continue;
        }
        let said = run.refused();
        assert!(said.contains(part) && said.contains("--machine"), "{said}");
        assert!(said.contains(machine), "{said}");
    }
    let said = folder
        .strew(&format!("{CALL} --machine 64 --no-measure"))
        .refused();
    assert!(said.contains("--no-measure"), "{said}");
    // An index that a run would refuse.
    let said = folder
        .strew("explain torch_scatter.scatter --src [1] --index [7] --dim_size 3 --machine 4")
        .refused();
    assert!(said.contains("index[0] = 7"), "{said}");
}

#[test]
fn calls_without_one_index_have_a_time_too() {
    let folder = inputs();
    for call in [
        "openvino.slice_scatter --data x.npy --updates [[1,2]]:float32 --start 0,0 --stop 1,4 --step 1,2",
        "torch_scatter.segment_csr --src [1,3,3] --indptr [0,2,3]",
        "torch.gather --input x.npy --dim 0 --index [[0,3]]",
        "torch_scatter.scatter_mean --src x.npy --index i.npy --dim 0",
        "torch_scatter.scatter_max --src x.npy --index i.npy --dim 0",
        "torch_scatter.scatter --src []:float32 --index []:int64 --dim_size 0",
    ] {
        let text = folder
            .strew(&format!("explain {call} --machine 4x20GB/s"))
            .ok();
        assert!(text.contains("4 cores, 20.0 GB/s"), "{call}: {text}");
    }
}
