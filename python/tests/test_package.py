"""The package as a whole: examples in docstrings, stubs, the operator table."""

import ast
import doctest
import importlib.metadata
import inspect
import operator
import pathlib
import subprocess
import sys

import pytest
import strew
from strew import _scatter, _strew

# Of `strew.jax.ops` as of `strew.jax`, if there are operators in both.
# A function of NumPy's is an object, whose operator is its method.
UFUNCS = {
    name
    for name in strew.numpy.__all__
    if isinstance(getattr(strew.numpy, name), strew.numpy.ufunc)
}
DIALECTS = [
    # strew's own operators are in the package itself.
    _scatter if name == "strew" else operator.attrgetter(name)(strew)
    for name in sorted(
        {n.rpartition(".")[0] for n in _strew.operators()} - {f"numpy.{name}" for name in UFUNCS}
    )
]
FUNCTIONS = [
    pytest.param(module, name, id=f"{module.__name__}.{name}")
    for module in DIALECTS
    for name in module.__all__
    if not inspect.ismodule(getattr(module, name))
    and not (module is strew.numpy and name in UFUNCS)
]


def framework(module):
    """What the names of a module's operators begin with."""
    return "strew" if module is _scatter else module.__name__.removeprefix("strew.")


PACKAGE = pathlib.Path(strew.__file__).parent
# What the frameworks have not: functions that are made of operators, and parameters of some.
BEYOND = {"torch.scatter_reduce_with_arg"}
PARAMETERS_BEYOND = {
    f"torch.{name}{form}": ["mode", "plan"]
    for name in ("scatter", "scatter_add", "scatter_reduce")
    for form in ("", "_")
} | {"numpy_groupies.aggregate": ["kwargs"], "strew.scatter": ["plan"], "strew.gather": ["plan"]}


@pytest.mark.parametrize("module", [strew, *DIALECTS], ids=lambda m: m.__name__)
def test_the_examples_in_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 0 and result.failed == 0


@pytest.mark.parametrize(("module", "name"), FUNCTIONS)
def test_every_function_has_an_example(module, name):
    function = getattr(module, name)
    assert doctest.DocTestFinder().find(function, globs={})[0].examples


@pytest.mark.parametrize(("module", "name"), FUNCTIONS)
def test_a_function_passes_what_the_operator_takes(module, name):
    full = f"{framework(module)}.{name}"
    if full in BEYOND:
        return
    entry = _strew.Operator(full)
    parameters = inspect.signature(getattr(module, name)).parameters.values()
    arguments = [argument for argument, _, _ in entry.arguments]
    assert [p.name for p in parameters] == arguments + PARAMETERS_BEYOND.get(full, [])
    for parameter, (_, kind, default) in zip(parameters, entry.arguments):
        if default is None:
            assert parameter.default is inspect.Parameter.empty
        elif kind == "Text" and default != "None":
            assert parameter.default == default
        else:
            assert repr(parameter.default) == default


def test_every_operator_has_a_function():
    functions = {f"{framework(p.values[0])}.{p.values[1]}" for p in FUNCTIONS}
    methods = {f"numpy.{name}.at" for name in UFUNCS}
    assert (functions - BEYOND) | methods == set(_strew.operators())


def path_of_stub(module):
    """It stands beside the module, which may be a package."""
    return pathlib.Path(module.__file__).with_suffix(".pyi")


def stub(module):
    return ast.parse(path_of_stub(module).read_text())


def shape(arguments: ast.arguments):
    """Names, kinds and defaults."""

    def values(nodes):
        return [None if node is None else ast.literal_eval(node) for node in nodes]

    positional = [a.arg for a in arguments.posonlyargs + arguments.args]
    keyword = [a.arg for a in arguments.kwonlyargs]
    return positional, values(arguments.defaults), keyword, values(arguments.kw_defaults)


@pytest.mark.parametrize(("module", "name"), FUNCTIONS)
def test_a_stub_says_what_the_function_is(module, name):
    (stubbed,) = [n for n in stub(module).body if isinstance(n, ast.FunctionDef) and n.name == name]
    (real,) = ast.parse(inspect.getsource(getattr(module, name))).body
    assert shape(stubbed.args) == shape(real.args)
    everything = stubbed.args.posonlyargs + stubbed.args.args + stubbed.args.kwonlyargs
    assert stubbed.returns and all(a.annotation for a in everything)


@pytest.mark.parametrize("module", DIALECTS, ids=lambda m: m.__name__)
def test_a_stub_lists_what_the_module_lists(module):
    (listed,) = [
        n for n in stub(module).body if isinstance(n, ast.Assign) and n.targets[0].id == "__all__"
    ]
    assert ast.literal_eval(listed.value) == module.__all__
    assert all(hasattr(module, name) for name in module.__all__)


def test_stubs_ship_and_are_marked():
    assert (PACKAGE / "py.typed").exists()
    assert (PACKAGE / "_strew.pyi").exists()
    assert all(path_of_stub(module).exists() for module in DIALECTS)


def test_stubs_are_what_mypy_finds_at_run_time(tmp_path):
    allowed = tmp_path / "allowed"
    # Types for checkers: there is nothing at run time. And what needs torch or onnx.
    allowed.write_text(
        "\n".join([r"strew\._types", r"strew\._torch(\..*)?", r"strew\.onnx\.backend"])
    )
    check = [
        sys.executable,
        "-m",
        "mypy.stubtest",
        "strew",
        "--allowlist",
        str(allowed),
        "--ignore-unused-allowlist",
    ]
    result = subprocess.run(check, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_types_are_what_a_checker_says(tmp_path):
    script = tmp_path / "uses.py"
    script.write_text(
        """
from typing_extensions import assert_type

import numpy as np
import numpy.typing as npt

import strew

F = npt.NDArray[np.float32]
x: F = np.zeros(3, np.float32)
i = np.zeros(3, np.int64)
assert_type(strew.torch_scatter.scatter(x, i), F)
assert_type(strew.torch_scatter.scatter(x, [0, 1, 2], reduce="max", dim_size=4), F)
assert_type(strew.torch_scatter.scatter_min(x, i)[0], F)
assert_type(strew.mxnet.scatter_nd(x, [[0, 1, 2]], (3,), name="here"), F)
assert_type(strew.openvino.slice_scatter(x, x, [0], [3], np.ones(1, int)), F)
assert_type(strew.torch.scatter_reduce(x, 0, i, x, "amax", include_self=False), F)
assert_type(strew.torch.scatter_reduce_(x, 0, i, x, "sum"), F)
assert_type(strew.mindspore.scatter_mul(x, i, x), F)
plan = strew.Plan(i, 3, mode="wrap", name="here")
assert_type(plan.scatter(x, "max", out=x, include_self=False), F)
assert_type(plan.reduce(x, ["sum", "mean"], dim=0), tuple[F, ...])
assert_type(plan.gather(x), F)
plan.scatter(x, "median")  # type: ignore[arg-type]
out: np.ndarray = strew.torch_scatter.scatter([1.0, 2.0], [0, 0])
strew.torch.scatter_reduce(x, 0, i, x, "median")  # type: ignore[arg-type]
strew.mindspore.scatter_mul([1.0], i, x)  # type: ignore[type-var]
strew.torch.scatter_reduce_(x, 0, i, x, "sum", False)  # type: ignore[call-arg]
strew.set_num_threads("2")  # type: ignore[arg-type]
"""
    )
    check = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        str(tmp_path / "cache"),
        str(script),
    ]
    result = subprocess.run(check, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_version_is_the_package_s():
    assert strew.__version__ == importlib.metadata.version("strew")
