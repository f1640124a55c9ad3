//! `cargo xtask assembly`: whether the hot loops are still made of the instructions that they were written for.

use crate::families;
use crate::places::{cargo, target};
use crate::stages::{Outcome, Stages, run};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol, SymbolKind};
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Check that the hot loops are still vectorised and unrolled, and that the code is small (x86-64 only)
///
/// Compiles the kernel crate once more, with the types in its symbols, into a folder of its own under the target
/// folder, and looks at the assembly: which instructions the sums of float32 and float16 rows, the maxima of
/// float32 rows, and the sums of short rows and of single float32 elements are made of. Prints the functions that
/// take the most code, in all their instances, and fails above a limit of bytes. Takes some minutes the
/// first time and nothing when the library has not changed; skipped on other architectures.
#[derive(Debug, clap::Args)]
pub(crate) struct Assembly {}

impl Assembly {
    pub(crate) fn run(&self) -> ExitCode {
        let mut stages = Stages::default();
        stages.run("assembly", check);
        stages.finish()
    }
}

/// A function, and what it is made of.
struct Kernel {
    name: &'static str,
    /// Its mangled name contains all of these. In names of the v0 scheme, `f` is `f32`, a name has its
    /// length in front, and closures contain the functions that they are in.
    symbol: &'static [&'static str],
    /// So many instructions at least contain all of the words.
    wanted: &'static [(usize, &'static [&'static str])],
    /// No instruction contains any of these.
    banned: &'static [&'static str],
}

const KERNELS: [Kernel; 6] = [
    Kernel {
        name: "sums of float32 rows, AVX-512",
        symbol: &["16vectorize_avx512", "9row_pairs4each", "3SumfEfff"],
        wanted: &[(4, &["vaddps", "zmm"])],
        banned: &[],
    },
    Kernel {
        name: "sums of float32 rows, AVX2",
        symbol: &["14vectorize_avx2", "9row_pairs4each", "3SumfEfff"],
        wanted: &[(4, &["vaddps", "ymm"])],
        banned: &["zmm"],
    },
    Kernel {
        name: "maxima of float32 rows, AVX2",
        symbol: &[
            "14vectorize_avx2",
            "9row_pairs4each",
            "12MinMaxSelectfKb1_Kb0_Efff",
        ],
        wanted: &[(4, &["vblendvps", "ymm"])],
        // Masked stores took three times as long on processors of AMD.
        banned: &["vmaskmov", "zmm"],
    },
    Kernel {
        name: "sums of float16 rows, AVX2",
        symbol: &["14vectorize_avx2", "9row_pairs4each", "3Sum", "3f16EfB"],
        wanted: &[(4, &["vcvtph2ps"]), (4, &["vaddps", "ymm"])],
        banned: &["cvtph_ps", "zmm"],
    },
    Kernel {
        name: "sums of single float32 elements",
        // Of the type itself: one of rows has another name before it.
        symbol: &["6update5fused11fused_linesINtNtNt", "3Sumf"],
        // Two widths of index, in rows and in columns, eight elements and a rest each; their streams are
        // fetched ahead.
        wanted: &[(2 * 2 * (8 + 1), &["addss"]), (8, &["prefetch"])],
        // Nothing is checked but the index, and that in registers.
        banned: &["panic", "_fail"],
    },
    Kernel {
        name: "sums of float32 rows of 8, AVX2",
        // The third of four functions with that name; the first two are for rows that repeat, and the last is for
        // what has no AVX-512.
        symbol: &["10dense_lines0_14vectorize_avx2", "5Short", "3SumfEKj8_"],
        // Eight rows and a rest; four lines of the source and one of the index are fetched ahead.
        wanted: &[(8 + 1, &["vaddps", "ymm"]), (4 + 1, &["prefetch"])],
        banned: &["zmm", "panic", "_fail"],
    },
];

/// Compiles, and looks at each kernel.
fn check() -> Outcome {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: this is no x86-64");
        return Ok(());
    }
    let folder = target("assembly");
    // As it is released, but for what is done when it is linked.
    let mut compile = cargo([
        "rustc",
        "--package",
        "strew-kernel",
        "--lib",
        "--release",
        "--config",
        "profile.release.lto=false",
    ]);
    compile.arg("--target-dir").arg(&folder);
    run(compile.args(["--", "--emit=asm", "-Csymbol-mangling-version=v0"]))?;
    let made = |start, end| {
        let found = last(&folder.join("release/deps"), start, end);
        found.map_err(|e| format!("{}: {e}", folder.display()))
    };
    let text = String::from_utf8_lossy(&made("strew_kernel-", ".s")?.concat()).into_owned();
    let library = made("libstrew_kernel-", ".rlib")?.concat();
    let sizes = sizes_of(&library).map_err(|e| format!("the library: {e}"))?;
    let faults = KERNELS.iter().filter_map(|k| k.fault(&text));
    let wrong: Vec<String> = faults
        .chain(families::check(sizes.into_iter()).err())
        .collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("; ")),
    }
}

/// The functions of a library, by symbol, and their bytes.
fn sizes_of(library: &[u8]) -> object::Result<Vec<(&str, usize)>> {
    let mut found = Vec::new();
    for member in ArchiveFile::parse(library)?.members() {
        // One member is no object file.
        let Ok(file) = object::File::parse(member?.data(library)?) else {
            continue;
        };
        for symbol in file.symbols().filter(|one| one.kind() == SymbolKind::Text) {
            found.push((symbol.name()?, symbol.size() as usize));
        }
    }
    Ok(found)
}

/// The files of the last compilation whose names begin and end so. Those of others, by another compiler
/// for example, have another hash in their names.
fn last(folder: &Path, start: &str, end: &str) -> io::Result<Vec<Vec<u8>>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(start) && name.ends_with(end) {
            files.push((entry.metadata()?.modified()?, name, entry.path()));
        }
    }
    let hash = |name: &str| name.split('.').next().map(str::to_owned);
    let last = files.iter().max_by_key(|(time, ..)| *time);
    let last = last.and_then(|(_, name, _)| hash(name));
    let own = files.into_iter().filter(|(_, name, _)| hash(name) == last);
    own.map(|(_, _, path)| std::fs::read(path)).collect()
}

impl Kernel {
    /// What is wrong, if anything is.
    fn fault(&self, assembly: &str) -> Option<String> {
        let found: Vec<Vec<&str>> = functions(assembly)
            .filter(|(symbol, _)| self.symbol.iter().all(|part| symbol.contains(part)))
            .map(|(_, body)| body)
            .collect();
        let Some(body) = found.first() else {
            return Some(format!("{}: there is no such function", self.name));
        };
        let count = |words: &[&str]| {
            let has = |line: &&&str| words.iter().all(|word| line.contains(word));
            body.iter().filter(has).count()
        };
        println!("{}: {} instructions", self.name, body.len());
        for (least, words) in self.wanted {
            let (count, words) = (count(words), words.join(" "));
            println!("    {words}: {count}, at least {least}");
            if count < *least {
                return Some(format!("{}: {count} {words}, not {least}", self.name));
            }
        }
        let banned = self.banned.iter().find(|word| count(&[word]) > 0)?;
        Some(format!("{}: there is {banned}", self.name))
    }
}

/// The functions with names of the v0 scheme, each with its instructions.
fn functions(assembly: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    let mut lines = assembly.lines();
    std::iter::from_fn(move || {
        let symbol =
            lines.find_map(|line| line.strip_suffix(':').filter(|l| l.starts_with("_R")))?;
        let body = lines
            .by_ref()
            .take_while(|line| !line.starts_with(".Lfunc_end"));
        // Directives begin with a dot, labels in the first column.
        let instruction = |line: &&str| line.starts_with('\t') && !line.starts_with("\t.");
        Some((symbol, body.filter(instruction).map(str::trim).collect()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "_R3Sumf:\n\t.cfi_startproc\n\taddss\t%xmm0, %xmm1\n.L1:\n\tretq\n.Lfunc_end0:\n\
                        \t.text\n_R4Other:\n\tcallq\tpanic\n.Lfunc_end1:\n";

    fn kernel(symbol: &'static [&'static str], banned: &'static [&'static str]) -> Kernel {
        Kernel {
            name: "it",
            symbol,
            wanted: &[(1, &["addss", "xmm1"])],
            banned,
        }
    }

    #[test]
    fn functions_are_told_apart() {
        let found: Vec<_> = functions(TEXT).collect();
        let expected = [
            ("_R3Sumf", vec!["addss\t%xmm0, %xmm1", "retq"]),
            ("_R4Other", vec!["callq\tpanic"]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_missing_or_banned_is_said() {
        assert_eq!(kernel(&["3Sumf"], &["call"]).fault(TEXT), None);
        let fault = |kernel: Kernel| kernel.fault(TEXT).unwrap();
        assert!(fault(kernel(&["3Sumf"], &["ret"])).contains("there is ret"));
        assert!(fault(kernel(&["Other"], &[])).contains("0 addss xmm1, not 1"));
        assert!(fault(kernel(&["Sum", "Other"], &[])).contains("no such function"));
    }
}
