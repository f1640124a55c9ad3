//! Pages that explain: topics, manual pages, searches, dry runs, reports.

mod common;

use common::Folder;

#[test]
fn run_lists_the_operators_on_one_screen() {
    let folder = Folder::new();
    for verb in ["run", "explain"] {
        let help = folder.strew(&format!("{verb} --help")).ok();
        assert!(help.lines().count() <= 50, "{help}");
        assert!(help.lines().all(|line| line.len() < 100), "{help}");
        for part in [
            "put[_]",
            "numpy_groupies  aggregate",
            "tensor_scatter_",
            "strew help arrays",
        ] {
            assert!(help.contains(part), "{part}: {help}");
        }
        let same = folder.strew(&format!("help {verb}")).ok();
        assert_eq!(same.trim_end(), help.trim_end());
    }
}

#[test]
fn topics_commands_and_operators_are_explained() {
    let folder = Folder::new();
    let list = folder.strew("help").ok();
    for topic in [
        "jobs",
        "arrays",
        "tables",
        "outputs",
        "indices",
        "memory",
        "threads",
        "strategies",
        "errors",
    ] {
        let begins = format!("  {topic} ");
        assert!(list.lines().any(|l| l.starts_with(&begins)), "{list}");
        let page = folder.strew(&format!("help {topic}")).ok();
        let title = page.lines().next().unwrap();
        assert!(list.contains(title), "{title}: {list}");
    }
    assert_eq!(
        folder.strew("help torch.gather").ok(),
        folder.strew("ops torch.gather").ok()
    );
    let page = folder.strew("help aggregate").ok();
    assert!(page.contains("strew aggregate [OPTIONS]"), "{page}");
}

#[test]
fn operators_are_searched_by_words() {
    let folder = Folder::new();
    let names = |line: &str| -> Vec<String> {
        let text = folder.strew(line).ok();
        let names = text.lines().map(|line| line.split(' ').next().unwrap());
        names.map(str::to_owned).collect()
    };
    let found = names("ops softmax");
    assert!(
        found.contains(&"torch_scatter.scatter_softmax".to_owned()),
        "{found:?}"
    );
    let some = names("ops index tuples");
    assert!(some.contains(&"onnx.scatter_nd".to_owned()), "{some:?}");
    let fewer = names("ops INDEX tuples added");
    assert!(!fewer.is_empty() && fewer.len() < some.len());
    assert!(fewer.iter().all(|name| some.contains(name)));
    let json = folder.strew("ops softmax --json").json();
    assert_eq!(json.as_array().unwrap().len(), found.len());
    // A framework is not searched for.
    assert_eq!(names("ops torch").len(), strew::torch::OPERATORS.len());
    let said = folder.strew("ops nothing of this kind").refused();
    assert!(said.contains("in no summary"), "{said}");
}

#[test]
fn manual_pages_of_all_commands() {
    let folder = Folder::new();
    let page = folder.strew("man").ok();
    assert!(page.contains(".TH strew 1"), "{page}");
    std::fs::create_dir(folder.path("man1")).unwrap();
    folder.strew("man man1").ok();
    for name in [
        "strew.1",
        "strew-run.1",
        "strew-aggregate.1",
        "strew-run-torch.scatter_reduce.1",
    ] {
        let page = folder.read(&format!("man1/{name}"));
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains(".TH "), "{name}");
    }
    let page = folder.read("man1/strew-run-torch.scatter_reduce.1");
    assert!(String::from_utf8(page).unwrap().contains("include_self"));
    let said = folder.strew("man man1").refused();
    assert!(said.contains("it exists already"), "{said}");
    folder.strew("man man1 --force").ok();
    let said = folder.strew("man nowhere").refused();
    assert!(said.contains("nowhere: it is not a folder"), "{said}");
}

#[test]
fn a_dry_run_says_what_would_be_done() {
    let folder = Folder::new();
    folder.npy("x.npy", &[4], &[1.0f32; 4]);
    let call = "run torch_scatter.scatter_max --src x.npy --index [0,1,0,9] -o out.npy --dry-run";
    let told = folder.strew(call).ok();
    assert!(told.starts_with("torch_scatter.scatter_max "), "{told}");
    assert!(
        told.contains(", because ") && told.contains("arg: not kept\n"),
        "{told}"
    );
    let out = folder.path("out.npy");
    assert!(
        told.lines()
            .any(|l| l.starts_with("out: ") && l.ends_with("out.npy")),
        "{told}"
    );
    assert!(!out.exists());
    let json = folder.strew(&format!("{call} --json")).json();
    assert_eq!(json["dry_run"], true);
    assert_eq!(json["outputs"]["arg"], "not kept");
    // What a run would refuse, apart from index values, is refused.
    for (line, part) in [
        (
            "run torch_scatter.scatter --src x.npy --index [0,0] --dry-run",
            "torch_scatter.scatter",
        ),
        (
            "run torch_scatter.scatter --src x.npy --index [0,0,0,0] -o x.npy --dry-run",
            "input",
        ),
        (
            "aggregate --src x.npy --index [0,0,0,0] -o x.npy --dry-run",
            "input",
        ),
    ] {
        let said = folder.strew(line).refused();
        assert!(said.contains(part), "{line}: {said}");
    }
    let told = folder
        .strew("aggregate --src x.npy --index [0,0,0,0] --reduce sum,max -o y.npz --dry-run")
        .ok();
    assert!(
        told.contains("shape [4], at once") && told.contains("sum: "),
        "{told}"
    );
    folder
        .strew("aggregate --src x.npy --index [0,0,0,0] --size 2 --partial s.strew")
        .ok();
    let told = folder.strew("merge s.strew --dry-run").ok();
    assert!(told.contains("joins states of 2 groups"), "{told}");
    let values = vec![1.0f32; 4000];
    folder.npy("big.npy", &[4000], &values);
    folder.npy("where.npy", &[4000], &(0..4000i64).collect::<Vec<_>>());
    let told = folder
        .strew(
            "run strew.scatter --src big.npy --index where.npy --dim_size 4000 -o big-out.npy \
             --memory-limit 8K --dry-run",
        )
        .ok();
    assert!(told.contains("lists the updates in "), "{told}");
    assert_eq!(folder.names(), ["big.npy", "s.strew", "where.npy", "x.npy"]);
}

#[test]
fn a_report_is_one_page() {
    let folder = Folder::new();
    folder.npy("x.npy", &[400], &[1.0f32; 400]);
    folder.npy(
        "i.npy",
        &[400],
        &(0..400i64).map(|n| n * n % 37).collect::<Vec<_>>(),
    );
    let call = "explain torch_scatter.scatter_mean --src x.npy --index i.npy";
    let text = folder.strew(&format!("{call} --html report.html")).ok();
    let page = String::from_utf8(folder.read("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>"));
    for part in [
        "<title>strew explain torch_scatter.scatter_mean</title>",
        text.lines().next().unwrap().strip_suffix('.').unwrap(),
        "400 updates into 37 rows",
        "<h2>Roofline</h2>",
        "<h2>Parts per thread</h2>",
        "dense-table (chosen)",
        "cannot run: ",
        "<th>predicted time</th>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // Nothing is loaded from elsewhere, and all that is opened is closed.
    for word in ["http", "src=", "@import", "<script"] {
        assert!(!page.contains(word), "{word}");
    }
    for tag in [
        "div", "table", "tr", "th", "td", "figure", "svg", "title", "text", "p",
    ] {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    let said = folder
        .strew(&format!("{call} --html report.html"))
        .refused();
    assert!(said.contains("report.html: it exists already"), "{said}");
    let said = folder
        .strew(&format!("{call} --html x.npy --force"))
        .refused();
    assert!(said.contains("x.npy: it is an input (--src)"), "{said}");
    let plain = format!("{call} --html report.html --force --no-measure --json");
    folder.strew(&plain).json();
    let page = String::from_utf8(folder.read("report.html")).unwrap();
    assert!(
        page.contains("not measured") && page.contains("not predicted"),
        "{page}"
    );
    // An index that a run would refuse; an operator without an index; rows one after the other.
    let said = folder
        .strew("explain torch_scatter.scatter --src [1] --index [7] --dim_size 3 --html no.html")
        .refused();
    assert!(said.contains("index[0] = 7"), "{said}");
    assert!(!folder.exists("no.html"));
    for call in [
        "openvino.slice_scatter --data x.npy --updates [1,2]:float32 --start 0 --stop 4 --step 2",
        "torch_scatter.segment_csr --src [1,3,3] --indptr [0,2,3]",
        "torch.gather --input x.npy --dim 0 --index [0,3]",
        "torch_scatter.scatter --src []:float32 --index []:int64 --dim_size 0",
    ] {
        let line = format!("explain {call} --html some.html --force --no-measure");
        folder.strew(&line).ok();
    }
}
