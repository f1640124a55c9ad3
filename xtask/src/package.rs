//! `cargo xtask package`: what goes to crates.io.

use crate::places::{cargo, command, root, target};
use crate::stages::{Outcome, Stages, needs, run};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// The host of the address that stands in Cargo.toml until there is one.
const PLACEHOLDER: &str = "example.org";
/// What a manifest must say, beside what cargo asks for.
const FIELDS: [&str; 8] = [
    "description",
    "license",
    "repository",
    "documentation",
    "readme",
    "rust_version",
    "keywords",
    "categories",
];
/// What a packed crate must hold.
const FILES: [&str; 2] = ["LICENSE", "README.md"];
/// Programs of an outsider, who has the crates from a registry.
const PROGRAM: &str = r#"
fn main() -> Result<(), strew::Error> {
    let (src, index) = (vec![1.0, 2.0, 4.0], vec![1usize, 0, 1]);
    let sums = strew::torch_scatter::scatter_sum(&src, &index, 0)?;
    assert_eq!(sums.as_slice(), [2.0, 5.0]);
    Ok(())
}
"#;
const TOOL: &str = r#"
fn main() -> std::process::ExitCode {
    strew_cli::run(std::env::args_os()).into()
}
"#;

/// Pack every crate that is published, and check what is in it
///
/// Each has a licence, a README, and the fields of a manifest that crates.io shows. CITATION.cff
/// has the crates' version. On a tag, the tag is that version, and the address in Cargo.toml is no
/// placeholder.
#[derive(Debug, clap::Args)]
pub(crate) struct Package {
    /// Build a program outside of the checkout with the packed crates
    #[arg(long)]
    build: bool,
    /// Publish the crates, if all is well
    #[arg(long)]
    publish: bool,
}

/// A crate that is published.
struct Crate {
    name: String,
    version: String,
    manifest: Value,
}

impl Package {
    pub(crate) fn run(&self) -> ExitCode {
        let mut stages = Stages::default();
        let found = stages.run("manifests", || {
            let found = published()?;
            for one in &found {
                check_manifest(one)?;
            }
            check_release(&found, self.publish)?;
            Ok(found)
        });
        let found = || needs(found.as_ref(), "manifests");
        let packed = stages.run("packing", || pack(found()?));
        let packed = || needs(packed.as_ref(), "packing").copied();
        stages.run("contents", || {
            packed()?;
            found()?.iter().try_for_each(check_contents)
        });
        let built = self.build.then(|| {
            stages.run("a program outside of the checkout", || {
                packed()?;
                outside(found()?)
            })
        });
        if self.publish {
            // Nothing is taken back from a registry, so whatever failed before stops this.
            let publish = |found: &[Crate]| run(cargo(["publish"]).args(selection(found)));
            match built {
                Some(None) => println!("\nNot published: the program did not build."),
                _ => drop(stages.run("publishing", || {
                    packed()?;
                    publish(found()?)
                })),
            }
        }
        stages.finish()
    }
}

/// The crates of the workspace that may be published.
fn published() -> Outcome<Vec<Crate>> {
    let metadata = cargo(["metadata", "--no-deps", "--format-version", "1"]).output();
    let metadata = metadata.map_err(|e| format!("cargo metadata: {e}"))?.stdout;
    let metadata: Value = serde_json::from_slice(&metadata).map_err(|e| e.to_string())?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let may_be = |package: &Value| package["publish"].is_null();
    let found: Vec<Crate> = packages.into_iter().filter(may_be).map(named).collect();
    match found.is_empty() {
        true => Err("no crate is published".into()),
        false => Ok(found),
    }
}

fn named(manifest: Value) -> Crate {
    let text = |name: &str| manifest[name].as_str().unwrap_or("").to_owned();
    Crate {
        name: text("name"),
        version: text("version"),
        manifest,
    }
}

fn check_manifest(one: &Crate) -> Outcome {
    println!("{} {}", one.name, one.version);
    for field in FIELDS {
        let value = &one.manifest[field];
        let is_empty = value.as_array().is_some_and(Vec::is_empty);
        if value.is_null() || is_empty {
            return Err(format!("{}: Cargo.toml has no {field}", one.name));
        }
    }
    match one.manifest["metadata"]["docs"]["rs"].is_null() {
        true => Err(format!("{}: Cargo.toml says nothing to docs.rs", one.name)),
        false => Ok(()),
    }
}

/// A file of the checkout has this line.
fn has_line(file: &str, wanted: &str) -> Outcome {
    let path = root().join(file);
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    match text.lines().any(|line| line == wanted) {
        true => Ok(()),
        false => Err(format!("{file} has no line {wanted}")),
    }
}

/// What must hold of the version and the address.
fn check_release(found: &[Crate], publish: bool) -> Outcome {
    let version = &found[0].version;
    has_line("CITATION.cff", &format!("version: {version}"))?;
    let address = found[0].manifest["repository"].as_str().unwrap_or("");
    has_line("pyproject.toml", &format!("Source = \"{address}\""))?;
    let tag = match std::env::var("GITHUB_REF_TYPE").as_deref() {
        Ok("tag") => std::env::var("GITHUB_REF_NAME").ok(),
        _ => None,
    };
    if let Some(tag) = tag.as_ref().filter(|tag| **tag != format!("v{version}")) {
        return Err(format!("the tag {tag} is not v{version}"));
    }
    if (publish || tag.is_some()) && address.contains(PLACEHOLDER) {
        return Err(format!(
            "repository in Cargo.toml is a placeholder: {address}"
        ));
    }
    Ok(())
}

fn selection(found: &[Crate]) -> impl Iterator<Item = &str> {
    found
        .iter()
        .flat_map(|one| ["--package", one.name.as_str()])
}

/// What cargo calls a packed crate, which it leaves in `package` in the target folder.
fn archive_name(name: &str, version: &str) -> String {
    format!("{name}-{version}.crate")
}

fn pack(found: &[Crate]) -> Outcome {
    let how = ["package", "--no-verify", "--allow-dirty", "--quiet"];
    run(cargo(how).args(selection(found)))
}

fn check_contents(one: &Crate) -> Outcome {
    let archive = target("package").join(archive_name(&one.name, &one.version));
    let failed = |e: std::io::Error| format!("{}: {e}", archive.display());
    let said = command("tar")
        .arg("-tzf")
        .arg(&archive)
        .output()
        .map_err(failed)?;
    let list = String::from_utf8_lossy(&said.stdout);
    let bytes = fs::metadata(&archive).map_err(failed)?.len();
    println!(
        "{}: {} files, {bytes} bytes",
        one.name,
        list.lines().count()
    );
    for file in FILES {
        let path = format!("{}-{}/{file}", one.name, one.version);
        if !list.lines().any(|line| line == path) {
            return Err(format!("{}: there is no {file} in the package", one.name));
        }
    }
    Ok(())
}

/// Builds and runs a program that depends on `strew` as it is packed, and checks one that has the
/// command's library.
fn outside(found: &[Crate]) -> Outcome {
    let folder = std::env::temp_dir().join(format!("strew-outside-{}", std::process::id()));
    let outcome = outside_in(&folder, found);
    let _ = fs::remove_dir_all(&folder);
    outcome
}

fn outside_in(folder: &Path, found: &[Crate]) -> Outcome {
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    let mut workspace = String::from(
        "[workspace]\nresolver = \"3\"\nmembers = [\"program\", \"tool\"]\n\n[patch.crates-io]\n",
    );
    for Crate { name, version, .. } in found {
        let unpack = ["-xzf", &*archive_name(name, version)];
        let from = target("package");
        run(command("tar")
            .current_dir(from)
            .args(unpack)
            .arg("-C")
            .arg(folder))?;
        workspace += &format!("{name} = {{ path = \"{name}-{version}\" }}\n");
    }
    fs::write(folder.join("Cargo.toml"), workspace).map_err(failed)?;
    let version = &found[0].version;
    for (name, needs, main) in [("program", "strew", PROGRAM), ("tool", "strew-cli", TOOL)] {
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\n{needs} = \"={version}\"\n"
        );
        let folder = folder.join(name);
        fs::create_dir_all(folder.join("src")).map_err(failed)?;
        fs::write(folder.join("Cargo.toml"), manifest).map_err(failed)?;
        fs::write(folder.join("src/main.rs"), main).map_err(failed)?;
    }
    let outside = |arguments: &[&str]| {
        let mut cargo = cargo(arguments.iter().copied());
        cargo.current_dir(folder).env_remove("CARGO_TARGET_DIR");
        cargo
    };
    let tree = [
        "tree",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--no-dedupe",
    ];
    for name in ["program", "tool"] {
        let names = dependencies(outside(&tree).args(["--package", name]))?;
        println!(
            "{name} has {} dependencies: {}",
            names.len(),
            names.join(" ")
        );
    }
    let start = Instant::now();
    run(&mut outside(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "program",
    ]))?;
    println!("built and run in {:.0} s", start.elapsed().as_secs_f64());
    run(&mut outside(&["check", "--quiet", "--package", "tool"]))
}

/// The crates that a program is made of, without those that are packed here and without itself.
fn dependencies(tree: &mut Command) -> Outcome<Vec<String>> {
    let said = tree.output().map_err(|e| format!("cargo tree: {e}"))?;
    if !said.status.success() {
        return Err(String::from_utf8_lossy(&said.stderr).into_owned());
    }
    let lines = String::from_utf8_lossy(&said.stdout);
    // The first line is the program itself.
    let names = lines
        .lines()
        .skip(1)
        .filter_map(|line| line.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && !name.starts_with("strew"));
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}
