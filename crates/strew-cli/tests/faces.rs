//! What the other commands print: ops, explain, demo, completions, help.

mod common;

use common::Folder;
use std::io::Read;
use std::process::Stdio;

#[test]
fn ops_lists_every_operator() {
    let folder = Folder::new();
    let text = folder.strew("ops").ok();
    let listed = folder.strew("ops --json").json();
    let names: Vec<&str> = strew::OPERATORS
        .iter()
        .flat_map(|dialect| dialect.iter().map(|o| o.name))
        .collect();
    assert_eq!(text.lines().count(), names.len());
    for (n, name) in names.iter().enumerate() {
        assert!(
            text.lines()
                .any(|line| line.starts_with(&format!("{name} "))),
            "{name}"
        );
        assert_eq!(listed[n]["name"], *name);
        let one = folder.strew(&format!("ops {name} --json")).json();
        assert_eq!(one, listed[n]);
        let page = folder.strew(&format!("ops {name}")).ok();
        for argument in listed[n]["arguments"].as_array().unwrap() {
            let (argument, doc) = (
                argument["name"].as_str().unwrap(),
                argument["doc"].as_str().unwrap(),
            );
            let begins = format!("  {argument} ");
            let line = page.lines().find(|l| l.starts_with(&begins));
            assert!(
                line.is_some_and(|l| l.contains(doc)),
                "{name} {argument}: {page}"
            );
        }
        assert!(page.contains(&format!("strew run {name} --")), "{page}");
    }
    let some = folder.strew("ops torch").ok();
    assert_eq!(
        some.lines().count(),
        strew::torch::OPERATORS.len(),
        "{some}"
    );
}

#[test]
fn explain_says_what_would_run_and_runs_nothing() {
    let folder = Folder::new();
    folder.npy("x.npy", &[4], &[1.0f32; 4]);
    let call = "torch_scatter.scatter_mean --src x.npy --index [0,1,0,9]";
    let text = folder.strew(&format!("explain {call}")).ok();
    assert!(
        text.starts_with(
            "torch_scatter.scatter_mean joins the updates in a table of all rows, because updates are \
             counted, and most rows may be touched; reads "
        ),
        "{text}"
    );
    let json = folder.strew(&format!("explain {call} --json")).json();
    assert_eq!(json["operator"], "torch_scatter.scatter_mean");
    let summary = json["summary"].as_str().unwrap();
    assert!(
        summary.starts_with("joins the updates in a table"),
        "{summary}"
    );
    let plan = &json["plan"];
    assert_eq!(plan["reduction"], "mean");
    assert_eq!(plan["dtype"], "float32");
    assert_eq!(plan["rows of updates"], 4);
    assert_eq!(plan["rows of the destination"], 10);
    assert_eq!(plan["strategy"], "dense-table");
    let forced = folder
        .strew(&format!("explain {call} --json --strategy compact-table"))
        .json();
    assert_eq!(forced["plan"]["strategy"], "compact-table");
    // An operator in place, and an index that a run would refuse.
    let in_place = folder
        .strew("explain mindspore.scatter_mul --input_x x.npy --indices [77] --updates [1]:float32")
        .ok();
    assert!(in_place.contains("prod"), "{in_place}");
    assert_eq!(folder.names(), ["x.npy"]);
    folder
        .strew("explain torch_scatter.scatter --src x.npy --index [0,0]")
        .refused();
}

#[test]
fn explain_counts_bytes_and_predicts_a_time_unless_told_not_to_measure() {
    let folder = Folder::new();
    let call = "explain torch_scatter.scatter_sum --src [1,2,4]:float32 --index [0,1,0]";
    // What each line begins with, in order, up to the bytes.
    let names = |text: &str| -> Vec<String> {
        let lines = text.lines().skip(2);
        let name = |line: &str| line.split("  ").next().unwrap_or("").to_owned();
        lines.map(name).collect()
    };
    let counted = names(&folder.strew(&format!("{call} --no-measure")).ok());
    let bytes = [
        "working memory, at most",
        "new output",
        "index",
        "source",
        "destination",
        "bytes to move at the least",
    ];
    assert!(counted.ends_with(&bytes.map(str::to_owned)), "{counted:?}");
    let measured = folder.strew(call).ok();
    let sentence = measured.lines().next().unwrap();
    for part in ["reads ", " and writes ", "; about ", " here; bound by "] {
        assert!(sentence.contains(part), "{part}: {sentence}");
    }
    let time = [
        "measured bandwidth",
        "start the output",
        "join the updates",
        "tighter bound",
        "predicted time",
    ];
    let all: Vec<String> = counted.into_iter().chain(time.map(str::to_owned)).collect();
    assert_eq!(names(&measured), all, "{measured}");
    let json = folder.strew(&format!("{call} --json")).json();
    assert_eq!(json["bytes"]["index"]["read"], 24);
    assert_eq!(json["bytes"]["new output"]["touched first"], 8);
    assert!(json["seconds"].as_f64().unwrap() > 0.0);
    let json = folder.strew(&format!("{call} --json --no-measure")).json();
    assert!(json["seconds"].is_null() && json["plan"]["predicted time"].is_null());
}

#[test]
fn results_as_json() {
    let folder = Folder::new();
    let call = "run torch_scatter.scatter_max --src [[1.5,nan]] --index [1,0] --json";
    let json = folder.strew(call).json();
    assert_eq!(
        json,
        serde_json::json!({ "operator": "torch_scatter.scatter_max", "outputs": {
            "out": { "dtype": "float64", "shape": [1, 2], "values": [[0.0, 1.5]] },
            "arg": { "dtype": "int64", "shape": [1, 2], "values": [[2, 0]] },
        }})
    );
    let json = folder.strew(&format!("{call} -o out.npy")).json();
    let file = json["outputs"]["out"]["file"].as_str().unwrap();
    assert!(
        file.ends_with("out.npy") && folder.exists("out.npy"),
        "{json}"
    );
    assert_eq!(json["outputs"]["arg"]["file"], serde_json::Value::Null);
    // Everything, however much it is.
    folder.npy("many.npy", &[3000], &[1u8; 3000]);
    let json = folder
        .strew("run torch_scatter.scatter --src many.npy --index many.npy --json")
        .code;
    assert_eq!(json, Some(2), "uint8 is no index for torch_scatter");
    let json = folder
        .strew("run openvino.slice_scatter --data many.npy --updates many.npy --start 0 --stop 3000 --step 1 --json")
        .json();
    assert_eq!(
        json["outputs"]["out"]["values"].as_array().unwrap().len(),
        3000
    );
}

#[test]
fn large_results_are_abbreviated_for_people() {
    let folder = Folder::new();
    let shown = folder
        .strew("run torch_scatter.scatter --src [7] --index [1999]")
        .ok();
    assert_eq!(shown, "out: int64 [2000]\n[0, 0, 0, ..., 0, 0, 7]\n");
}

#[test]
fn the_demo_does_its_job() {
    let folder = Folder::new();
    let text = folder.strew("demo").ok();
    assert!(
        text.contains("equal to a plain loop, bit for bit"),
        "{text}"
    );
    assert!(text.contains("Newark Liberty Intl"), "{text}");
    let json = folder.strew("demo --json").json();
    assert_eq!(json["check"]["equal_to_plain_loop"], true);
    // Mean, maximum and position of two features at every airport, in two rounds.
    let airports = json["airports"].as_array().unwrap();
    assert_eq!(json["check"]["values"], airports.len() * 2 * 3 * 2);
    assert_eq!(airports.len(), 107);
    // Facts of the data, known from its files alone.
    let data = include_str!("../data/connections.csv");
    let rows: Vec<Vec<&str>> = data
        .lines()
        .skip(1)
        .map(|l| l.split(',').collect())
        .collect();
    assert_eq!(json["data"]["connections"], rows.len());
    let newark: Vec<f64> = rows
        .iter()
        .filter(|row| row[0] == "EWR")
        .map(|row| row[6].parse().unwrap())
        .collect();
    let found = airports.iter().find(|a| a["code"] == "EWR").unwrap();
    assert_eq!(found["connections"], newark.len());
    let mean = newark.iter().sum::<f64>() / newark.len() as f64;
    assert!((found["mean_arrival_delay"].as_f64().unwrap() - mean).abs() < 1e-3);
    let worst = newark.iter().copied().fold(f64::MIN, f64::max);
    assert!((found["worst"]["arrival_delay"].as_f64().unwrap() - worst).abs() < 1e-3);
    let row = rows.iter().find(|r| {
        r[0] == "EWR"
            && r[1] == found["worst"]["with"]
            && r[2] == found["worst"]["carrier"]
            && r[3].parse().ok() == found["worst"]["month"].as_u64()
    });
    assert_eq!(row.unwrap()[6].parse::<f64>().unwrap(), worst);
    assert!(json["plans"]["torch_scatter.scatter"]["strategy"].is_string());
}

#[test]
fn completions_and_help() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.strew(&format!("completions {shell}")).ok();
        for word in [
            "torch.scatter_reduce",
            "include_self",
            "output-arg",
            "explain",
        ] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let help = folder.strew("run torch.scatter_reduce --help").ok();
    for part in [
        "int32 or int64",
        "--include_self <BOOL>",
        "[default: True]",
        "x.npz:member",
        "Example:",
        "possible values: in-order, dense-table, compact-table",
    ] {
        assert!(help.contains(part), "{part}: {help}");
    }
    let version = folder.strew("--version").ok();
    assert_eq!(version, format!("strew {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_reader_that_stops_reading_is_no_error() {
    let folder = Folder::new();
    folder.npy("x.npy", &[2_000_000], &[1u8; 2_000_000]);
    let commands = [
        "ops --json",
        "completions bash",
        "run openvino.slice_scatter --data x.npy --updates x.npy --start [] --stop [] --step [] --json",
    ];
    for line in commands {
        let mut child = folder
            .command()
            .args(line.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut complaint = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut complaint)
            .unwrap();
        let status = child.wait().unwrap();
        assert_eq!((status.code(), complaint.as_str()), (Some(0), ""), "{line}");
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_of_one_line() {
    let folder = Folder::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let child = folder
        .command()
        .arg("ops")
        .stdout(full.unwrap())
        .output()
        .unwrap();
    assert_eq!(child.status.code(), Some(2));
    let complaint = String::from_utf8(child.stderr).unwrap();
    assert!(
        complaint.starts_with("strew: cannot write to standard output"),
        "{complaint}"
    );
    assert_eq!(complaint.lines().count(), 1);
}

#[test]
fn aggregate_gives_several_statistics_of_groups() {
    let folder = Folder::new();
    let call = "aggregate --src [1.0,5.0,2.0,6.0]:float32 --index [2,0,2,2]";
    let json = folder
        .strew(&format!("{call} --reduce mean,max,len --json"))
        .json();
    assert_eq!(json["operator"], "aggregate");
    let outputs = &json["outputs"];
    assert_eq!(outputs["mean"]["dtype"], "float32");
    assert_eq!(outputs["max"]["values"][2], 6.0);
    assert_eq!(outputs["len"]["values"], serde_json::json!([1, 0, 3]));
    let text = folder.strew(&format!("{call} --reduce cumsum")).ok();
    assert!(text.starts_with("cumsum: float32 [4]\n"), "{text}");
    folder
        .strew(&format!("{call} --reduce sum,std -o out.npz"))
        .ok();
    folder.strew(&format!("{call} --size 5 -o out.npy")).ok();
    for (flags, said) in [
        (
            "--reduce sum,std -o both.npy",
            "a .npy file takes one result, not 2",
        ),
        ("--reduce sum,sum", "sum is there twice"),
        ("--reduce total", "it must be one of sum,"),
        ("--size 2", "index"),
        ("--q a", "'a' is no list of numbers"),
        ("--reduce skew --exact", "exact"),
        ("--dim 1", "dim"),
    ] {
        let line = folder.strew(&format!("{call} {flags}")).refused();
        assert!(line.contains(said), "{flags}: {line}");
    }
    assert_eq!(folder.names(), ["out.npy", "out.npz"]);
}

#[test]
fn states_of_parts_are_merged() {
    let folder = Folder::new();
    let reduce = "--reduce sum,std,argmax --exact --size 3 --json";
    let whole = "--src [1e16,5.0,1.0,-1e16,6.0] --index [2,0,2,2,0]";
    let whole = folder.strew(&format!("aggregate {whole} {reduce}")).json();
    let one = "--src [1e16,5.0] --index [2,0] --partial 1.strew";
    let two = "--src [1.0,-1e16,6.0] --index [2,2,0] --start 2 --partial 2.strew";
    let told = folder.strew(&format!("aggregate {one} {reduce}")).json();
    assert_eq!(told["state"]["groups"], 3);
    folder.strew(&format!("aggregate {two} {reduce}")).json();
    for states in ["1.strew 2.strew", "2.strew 1.strew"] {
        let merged = folder.strew(&format!("merge {states} --json")).json();
        assert_eq!(merged, whole);
    }
    folder
        .strew("merge 1.strew 2.strew --partial all.strew")
        .ok();
    assert_eq!(folder.strew("merge all.strew --json").json(), whole);
    let bytes = folder.read("all.strew");
    folder.write("cut.strew", &bytes[..bytes.len() - 1]);
    let max = "aggregate --src [1.0] --index [0] --reduce max --size 3";
    folder.strew(&format!("{max} --partial max.strew")).ok();
    for (line, said) in [
        ("merge cut.strew", "these bytes are no accumulator"),
        (
            "merge all.strew none.strew",
            "none.strew: it cannot be read",
        ),
        ("merge all.strew max.strew", "it must have the same reduce"),
        ("merge all.strew all.strew", "position 0"),
        (
            "merge all.strew -o out.npy",
            "a .npy file takes one result, not 3",
        ),
    ] {
        let refused = folder.strew(line).refused();
        assert!(refused.contains(said), "{line}: {refused}");
    }
    let columns = "aggregate --src [[1.0,2.0]] --index [0,1] --dim 1 --partial x.strew";
    assert!(folder.strew(columns).refused().contains("--dim"));
    assert!(!folder.exists("x.strew"));
}
