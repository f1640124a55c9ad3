"""The command `strew` of the package: the same program as the binary, whose own tests are in Rust."""

import importlib.metadata
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import strew
import strew.__main__


def run(*words, **options):
    line = [sys.executable, "-m", "strew", *words]
    return subprocess.run(line, capture_output=True, timeout=60, **options)


def test_the_installed_script_is_the_module_s():
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="strew")
    assert script.load() is strew.__main__.main


def test_version_and_help_end_well():
    version = run("--version")
    assert (version.returncode, version.stdout.decode().split()) == (
        0,
        ["strew", strew.__version__],
    )
    text = run("--help").stdout.decode()
    assert "Usage: strew" in text and "aggregate" in text


def test_a_run_gives_what_the_function_gives(tmp_path):
    rng = np.random.default_rng(0)
    src, index = rng.random((1000, 7), np.float32), rng.integers(0, 20, 1000)
    np.save(tmp_path / "src.npy", src)
    np.save(tmp_path / "index.npy", index)
    words = "--src src.npy --index index.npy --dim 0 --reduce mean -o out.npy".split()
    done = run("run", "torch_scatter.scatter", *words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    expected = strew.torch_scatter.scatter(src, index, dim=0, reduce="mean")
    assert np.load(tmp_path / "out.npy").tobytes() == expected.tobytes()


def test_an_error_is_one_line_and_status_2():
    done = run("run", "torch_scatter.scatter", "--src", "[1, 2]", "--index", "[0, -1]")
    said = done.stderr.decode()
    assert done.returncode == 2 and done.stdout == b""
    assert said.count("\n") == 1 and "index[1] = -1" in said


@pytest.mark.skipif(os.name != "posix", reason="words are bytes on Unix alone")
def test_a_word_that_is_no_text_is_refused_by_the_program():
    done = run("run", "torch_scatter.scatter", "--src", b"a\xff.npy", "--index", "[0, 0]")
    said = done.stderr.decode()
    assert done.returncode == 2 and said.startswith("strew: ") and "UTF-8" in said
    assert said.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="signals are sent to a process on Unix alone")
def test_ctrl_c_ends_it_as_the_shell_expects():
    line = [sys.executable, "-m", "strew", "completions", "bash"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        # It has begun to write, and waits until the pipe is read.
        assert process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == b""
