"""What `cargo xtask gpu` runs on a machine with a card: the same bits, and times.

    python bench/gpu.py [--quick] > report.md

Needs the wheel, torch with CUDA and pytest. It compares every form with the CPU engine on the card,
runs a sample under compute-sanitizer where there is one, captures a CUDA graph of a planned sum,
and times strew beside torch's atomics, torch's deterministic mode, torch_scatter or pyg_lib where
one of them is there, and the card's copy rate. At most 5 minutes. The report is Markdown; the exit
status is 1 unless everything that ran was right.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import strew
import torch

ROOT = Path(__file__).resolve().parents[1]
TESTS = ["python/tests/gpu/test_forms.py", "python/tests/gpu/test_aggregate.py"]
Function = Callable[[], object]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a sixteenth of the benchmark's sizes")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("There is no CUDA device: this needs a card and torch built for it.", file=sys.stderr)
        return 1
    print(f"# strew on {torch.cuda.get_device_name()}\n")
    print(versions(), "\n")
    results = [compared(), sanitized(), captured()]
    for said, _ in results:
        print(f"* {said}")
    print()
    benchmark(16 if options.quick else 1)
    return 0 if all(right for _, right in results) else 1


def versions() -> str:
    import triton

    driver = run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
    of = f"driver {driver[0].strip()}, CUDA {torch.version.cuda}, torch {torch.__version__}"
    return f"{of}, Triton {triton.__version__}, strew {strew.__version__}"


def run(command: list[str], **more: str) -> tuple[str, int]:
    """What a command says, and its exit status."""
    made = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **more}
    )
    return made.stdout + made.stderr, made.returncode


def compared() -> tuple[str, bool]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    said, status = run(command, STREW_GPU="cuda")
    if status:
        print(said, file=sys.stderr)
    return f"bits beside the CPU engine's: {said.strip().splitlines()[-1]}", status == 0


def sanitized() -> tuple[str, bool]:
    tool = shutil.which("compute-sanitizer")
    if tool is None:
        return "compute-sanitizer: not there, not run", True
    right, said = True, []
    for check in ("memcheck", "racecheck"):
        sample = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            f"{TESTS[0]}",
            "-k",
            "test_strides or corner or (exact_stretches and float32 and sum)",
        ]
        _, status = run([tool, "--tool", check, "--error-exitcode", "9", *sample], STREW_GPU="cuda")
        right = right and status == 0
        said.append(f"{check} {'passed' if status == 0 else 'FAILED'}")
    return f"compute-sanitizer: {', '.join(said)}", right


def captured() -> tuple[str, bool]:
    """A planned sum in a CUDA graph, which no call that waits for the device may be part of."""
    index = torch.randint(0, 1000, (100_000,))
    plan, src = strew.Plan(index, 1000), torch.randn(100_000, 64)
    given = src.cuda()
    out = torch.zeros(1000, 64, device="cuda")
    for _ in range(2):
        plan.scatter(given, out=out.zero_())
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            plan.scatter(given, out=out.zero_())
        given.copy_(src.flip(1))
        graph.replay()
        torch.cuda.synchronize()
    except RuntimeError as error:
        return f"CUDA graph: {error}", False
    right = torch.equal(out.cpu(), plan.scatter(src.flip(1)))
    return f"a planned sum in a CUDA graph: {'the same bits' if right else 'OTHER BITS'}", right


def milliseconds(run: Function, turns: int = 15) -> float:
    for _ in range(3):
        run()
    times = []
    for _ in range(turns):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def deterministic(run: Function) -> Function:
    def wrapped() -> None:
        torch.use_deterministic_algorithms(True)
        try:
            run()
        finally:
            torch.use_deterministic_algorithms(False)

    return wrapped


def copies(count: int) -> float:
    one, other = (torch.empty(count, dtype=torch.uint8, device="cuda") for _ in range(2))
    return milliseconds(lambda: other.copy_(one))


def benchmark(smaller: int) -> None:
    bytes_ = 2**30 // smaller
    rate = 2 * bytes_ / copies(bytes_) / 1e9
    print(f"Copies: {rate:.2f} TB/s. Times in ms, the median of 15.\n")
    other = rival()
    columns = ["strew, planned", "strew", "strew, exact", "torch, atomics", "torch, deterministic"]
    columns += [other[0]] if other else []
    print("| row |", " | ".join(columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    rows, cells = 2_000_000 // smaller, 200_000 // smaller
    uniform = torch.randint(0, cells, (rows,))
    zipf = (cells ** torch.rand(rows, dtype=torch.float64)).long().clamp(max=cells - 1)
    many = 16_000_000 // smaller
    row("W1a sum into 1,000 cells", torch.randint(0, 1000, (many,)), 1000, 1)
    row("W1b sum into 1M cells", torch.randint(0, 10**6 // smaller, (many,)), 10**6 // smaller, 1)
    row("W2a rows of 64, sum", uniform, cells, 64)
    row("W2b the same, zipf", zipf, cells, 64)
    row("W2c the same, sorted", uniform.sort().values, cells, 64)
    row("W2d the same, maximum", uniform, cells, 64, "amax")
    row("W6 the same, product", uniform, cells, 64, "prod")
    row("one hot row", torch.where(torch.rand(rows) < 0.5, 7, uniform), cells, 64)
    for dim in range(3):
        elements(dim, smaller)
    backward(uniform, cells)
    assignment(10**6 // smaller)


def rival() -> tuple[str, Callable[..., object]] | None:
    """A library with CUDA kernels for scatters, and its function."""
    for name, module in (("torch_scatter", "torch_scatter"), ("pyg_lib", "pyg_lib.ops")):
        try:
            return name, importlib.import_module(module).scatter
        except (ImportError, AttributeError):
            continue
    return None


def line(name: str, runs: list[Function | None]) -> None:
    shown = []
    for one in runs:
        try:
            shown.append("" if one is None else f"{milliseconds(one):.3f}")
        except RuntimeError as error:
            shown.append(type(error).__name__)
    print(f"| {name} |", " | ".join(shown), "|", flush=True)


def row(name: str, index: torch.Tensor, size: int, columns: int, reduce: str = "sum") -> None:
    plan, at = strew.Plan(index, size), index.cuda()
    src = torch.randn(len(index), columns, device="cuda")
    out = torch.zeros(size, columns, device="cuda")
    wide = at[:, None].expand_as(src)

    def ours(exact: bool = False) -> object:
        return strew.torch.scatter_reduce(out, 0, wide, src, reduce, exact=exact)

    def theirs() -> object:
        return out.scatter_reduce(0, wide, src, reduce)

    exact = (lambda: ours(True)) if reduce == "sum" else None
    planned = lambda: plan.scatter(src, reduce, out=out)  # noqa: E731
    runs: list[Function | None] = [planned, ours, exact, theirs, deterministic(theirs)]
    if other := rival():
        scatter = other[1]
        named = {"sum": "sum", "amax": "max", "prod": "mul"}[reduce]
        runs.append(lambda: scatter(src, at, 0, None, size, named))
    line(name, runs)


def elements(dim: int, smaller: int) -> None:
    """Sums with an index for each element."""
    shape = (64, 512, 1024 // smaller)
    src, out = (torch.randn(shape, device="cuda") for _ in range(2))
    index = torch.randint(0, shape[dim], shape, device="cuda")

    def ours(exact: bool = False) -> object:
        return strew.torch.scatter_add(out, dim, index, src, exact=exact)

    def theirs() -> object:
        return out.scatter_add(dim, index, src)

    name = f"W3{'abc'[dim]} elements along axis {dim}"
    exact = lambda: ours(True)  # noqa: E731
    runs: list[Function | None] = [None, ours, exact, theirs, deterministic(theirs)]
    if other := rival():
        scatter = other[1]
        runs.append(lambda: scatter(src, index, dim, None, shape[dim], "sum"))
    line(name, runs)


def backward(index: torch.Tensor, size: int) -> None:
    at, src = index.cuda(), torch.randn(len(index), 64, device="cuda", requires_grad=True)
    grad = torch.randn(size, 64, device="cuda")
    wide = at[:, None].expand_as(src)

    def of(function: Callable[..., torch.Tensor]) -> Function:
        zeros = torch.zeros(size, 64, device="cuda")
        return lambda: torch.autograd.grad(function(zeros, 0, wide, src), src, grad)

    runs = [of(strew.torch.scatter_add), None, of(torch.scatter_add)]
    line("W8 W2a and its backward", [None, *runs, deterministic(of(torch.scatter_add))])


def assignment(size: int) -> None:
    at = torch.randint(0, size, (size,), device="cuda")
    src, out = (torch.randn(size, 32, device="cuda") for _ in range(2))
    theirs = lambda: out.index_copy(0, at, src)  # noqa: E731
    runs = [lambda: strew.torch.index_copy(out, 0, at, src), None, theirs, deterministic(theirs)]
    line("W4 rows of 32 assigned", [None, *runs])


if __name__ == "__main__":
    sys.exit(main())
