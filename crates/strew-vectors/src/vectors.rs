//! The files of vectors: their schema and their reading. `conformance/README.md` describes them.

use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

/// One case: a call, and what must come of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) op: String,
    #[serde(default)]
    pub(super) params: BTreeMap<String, Json>,
    #[serde(default)]
    pub(super) inputs: BTreeMap<String, Raw>,
    #[serde(default)]
    pub(super) expect: BTreeMap<String, Raw>,
    pub(super) error: Option<Refusal>,
    pub(super) tol: Option<Tolerance>,
    #[serde(default)]
    pub(super) unspecified: bool,
    /// Where the case comes from, how its values are known, and remarks: for people.
    #[serde(rename = "origin")]
    _origin: String,
    #[serde(rename = "evidence")]
    _evidence: String,
    #[serde(rename = "notes")]
    _notes: Option<String>,
}

/// A tensor as it is written: row-major.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    pub(super) dtype: String,
    pub(super) shape: Vec<usize>,
    pub(super) data: Vec<Json>,
}

/// The error that a case must end with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Refusal {
    pub(super) kind: String,
    #[serde(rename = "match")]
    pub(super) fragment: Option<String>,
}

/// How far a float may be from the expected one: `atol + rtol * |expected|`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tolerance {
    pub(super) rtol: f64,
    pub(super) atol: f64,
}

impl Case {
    /// NumPy's vectors say what stands between the brackets as a list: names of inputs, numbers, and null for
    /// a slice of all. Here they are the inputs of a list.
    fn with_listed_index(mut self) -> Self {
        if !self.op.starts_with("numpy.") {
            return self;
        }
        let Some(Json::Array(entries)) = self.params.remove("index") else {
            return self;
        };
        for (place, entry) in entries.into_iter().enumerate() {
            let found = match &entry {
                Json::String(name) => self.inputs.remove(name),
                Json::Number(_) => Some(Raw {
                    dtype: "int64".into(),
                    shape: Vec::new(),
                    data: vec![entry],
                }),
                _ => None,
            };
            if let Some(raw) = found {
                self.inputs.insert(format!("indices.{place}"), raw);
            }
        }
        self
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "meta")]
    _meta: Json,
    cases: Vec<Case>,
}

/// Every case of every `*.json` in a folder, file by file in the order of their names.
pub(super) fn read(folder: &Path) -> Result<Vec<Case>, String> {
    let at = |e: &dyn std::fmt::Display, path: &Path| format!("{}: {e}", path.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|e| at(&e, folder))? {
        let path = entry.map_err(|e| at(&e, folder))?.path();
        if path.extension().is_some_and(|e| e == "json") {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(at(&"there is no .json file in it", folder));
    }
    let mut all = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).map_err(|e| at(&e, &path))?;
        let file: File = serde_json::from_str(&text).map_err(|e| at(&e, &path))?;
        let mut seen = HashSet::new();
        for case in &file.cases {
            if !seen.insert(&case.id) {
                return Err(at(&format!("id {} is there twice", case.id), &path));
            }
            if case.expect.is_empty() == case.error.is_none() && !case.unspecified {
                let wrong = format!("{} must have either expect or error", case.id);
                return Err(at(&wrong, &path));
            }
        }
        all.extend(file.cases.into_iter().map(Case::with_listed_index));
    }
    Ok(all)
}
