//! What `strew aggregate` says of arguments that are missing, and groups that need no values.

mod common;

use common::Folder;

#[test]
fn groups_of_arrays_are_counted_without_values() {
    let folder = Folder::new();
    let json = folder
        .strew("aggregate --index [2,0,2,2] --reduce len,cumcount --json")
        .json();
    assert_eq!(
        json["outputs"]["len"]["values"],
        serde_json::json!([1, 0, 3])
    );
    let before = serde_json::json!([0, 0, 1, 2]);
    assert_eq!(json["outputs"]["cumcount"]["values"], before);
    folder.npy::<i64>("i.npy", &[4], &[2, 0, 2, 2]);
    let call = "aggregate --index i.npy --reduce len";
    folder.strew(&format!("{call} --partial 1.strew")).ok();
    let json = folder.strew("merge 1.strew --json").json();
    assert_eq!(
        json["outputs"]["len"]["values"],
        serde_json::json!([1, 0, 3])
    );
    let line = folder
        .strew("aggregate --index [[0],[1]] --reduce len")
        .refused();
    assert_eq!(
        line,
        "strew: aggregate: index has shape [2, 1]: it must have one dimension"
    );
    let told = folder.strew(&format!("{call} --dry-run")).ok();
    assert!(told.contains("at once"), "{told}");
}

#[test]
#[cfg(feature = "columns")]
fn rows_of_tables_are_counted_without_values() {
    let folder = Folder::new();
    folder.write("t.csv", "key,x\nb,1\na,2\nb,3\n");
    let call = "aggregate --by key t.csv --reduce len";
    let json = folder.strew(&format!("{call} --json")).json();
    let rows = serde_json::json!([{"key": "a", "len": 1}, {"key": "b", "len": 2}]);
    assert_eq!(json["rows"], rows);
    assert_eq!(
        folder.strew(&format!("{call} -o -")).ok(),
        "key,len\na,1\nb,2\n"
    );
    let told = folder.strew(&format!("{call} --dry-run")).ok();
    assert!(told.contains("groups rows by key"), "{told}");
    folder.write("none.csv", "key,x\n");
    folder
        .strew("aggregate --by key none.csv --reduce len")
        .ok();
}

#[test]
#[cfg(feature = "columns")]
fn each_of_several_quantiles_is_a_column() {
    let folder = Folder::new();
    folder.write("t.csv", "key,x,y\nb,1,10\na,2,20\nb,3,30\nc,7,70\n");
    let call = "aggregate --by key t.csv --reduce quantile,len --q 0,1 -o -";
    assert_eq!(
        folder.strew(&format!("{call} --value x")).ok(),
        "key,quantile_0,quantile_1,len\na,2.0,2.0,1\nb,1.0,3.0,2\nc,7.0,7.0,1\n"
    );
    let two = folder.strew(&format!("{call} --value x,y")).ok();
    let names = "key,x_quantile_0,x_quantile_1,x_len,y_quantile_0,y_quantile_1,y_len\n";
    assert!(two.starts_with(names), "{two}");
    assert!(two.ends_with("c,7.0,7.0,1,70.0,70.0,1\n"), "{two}");
}

#[test]
#[cfg(feature = "columns")]
fn words_that_are_no_table_or_index() {
    let folder = Folder::new();
    folder.write("t.csv", "key,x\nb,1\n");
    for (line, said) in [
        (
            "--by key --value x -",
            "standard input: it is not a readable CSV file: it has no line of names",
        ),
        (
            "--src t.csv:x --index t.csv:key",
            "and --types the types of columns; --by takes keys of such a type",
        ),
    ] {
        let refused = folder.strew(&format!("aggregate {line}")).refused();
        assert!(refused.ends_with(said), "{refused}");
    }
    let refused = folder.strew("version").refused();
    assert!(
        refused.ends_with("strew --help lists the commands"),
        "{refused}"
    );
}

#[test]
fn what_is_missing_is_named_with_an_example() {
    let folder = Folder::new();
    let arrays = "strew aggregate --src values.npy --index groups.npy --reduce mean";
    for (line, said) in [
        (
            "--src [1.0]",
            format!("--index: it is missing: the group of each value, as in {arrays}"),
        ),
        (
            "--index [0] --reduce mean",
            "--src: it is missing: mean needs the values; --reduce len counts without them".into(),
        ),
        (
            "--index [0] --reduce len,count",
            "--src: it is missing: count leaves out values that are NaN, and needs the values; \
             --reduce len counts without them"
                .into(),
        ),
    ] {
        let refused = folder.strew(&format!("aggregate {line}")).refused();
        assert_eq!(refused, format!("strew: aggregate: {said}"));
    }
    let nothing = folder.strew("aggregate --reduce mean").refused();
    let begins = format!("strew: aggregate: the groups are missing, as in {arrays}");
    assert!(nothing.starts_with(&begins), "{nothing}");
}

#[test]
#[cfg(feature = "columns")]
fn what_is_missing_of_a_table_is_named() {
    let folder = Folder::new();
    folder.write("t.csv", "key,x\nb,1\na,2\nb,3\n");
    let table = "strew aggregate --by carrier --value delay flights.csv --reduce mean";
    for (line, said) in [
        (
            "t.csv",
            format!("--by: it is missing: the columns of t.csv that are the keys, as in {table}"),
        ),
        (
            "--value x",
            format!("--by: it is missing: the columns that are the keys, as in {table}"),
        ),
        (
            "--by key t.csv",
            "--value: it is missing: sum needs the columns of the values; --reduce len counts \
             without them"
                .into(),
        ),
        (
            "--by key --value x t.csv --reduce mean max",
            "--reduce: max stands alone: several reductions have commas between them, as in \
             --reduce mean,max"
                .into(),
        ),
        (
            "--src [1.0] --index [0] --reduce mean max len",
            "--reduce: max,len stands alone: several reductions have commas between them, as in \
             --reduce mean,max,len"
                .into(),
        ),
        (
            "--src [1.0] --index [0] t.csv",
            "t.csv: a table goes with --by; --src and --index name arrays".into(),
        ),
    ] {
        let refused = folder.strew(&format!("aggregate {line}")).refused();
        assert_eq!(refused, format!("strew: aggregate: {said}"));
    }
}

#[test]
fn flags_and_words_that_are_none_lead_to_those_that_were_meant() {
    let folder = Folder::new();
    folder.npy::<i64>("i.npy", &[1], &[0]);
    for (line, said) in [
        (
            "aggregate --src [1.0] --idx [0]",
            "unexpected argument '--idx': did you mean --index? (--help tells more)",
        ),
        (
            "aggregate --src [1.0] --index [0] --func mean",
            "unexpected argument '--func': did you mean --reduce? (--help tells more)",
        ),
        (
            "run torch.gather --inptu i.npy",
            "torch.gather: unexpected argument '--inptu': did you mean --input? (--help tells more)",
        ),
        ("aggregate --zzz 1", "unexpected argument '--zzz' found"),
        (
            "explain aggregate",
            "explain takes operators, and aggregate is a command of its own: see strew aggregate --help",
        ),
        ("merge i.npy", "these bytes are no accumulator"),
        (
            "aggregate --src [1.0] --index [0] --reduce avg",
            "; did you mean mean?",
        ),
    ] {
        let refused = folder.strew(line).refused();
        assert!(refused.contains(said), "{line}: {refused}");
    }
    let merged = folder.strew("merge i.npy").refused();
    let hint = "; the states that merge takes are written by strew aggregate --partial";
    assert!(merged.ends_with(hint), "{merged}");
}
