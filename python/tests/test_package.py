"""The package as a whole: examples in docstrings, types, the operator table."""

import ast
import doctest
import importlib.metadata
import inspect
import operator
import pathlib
import pickle
import subprocess
import sys

import pytest
import strew
from strew import _strew
from strew._own import gather as _gather
from strew._own import scatter as _scatter

# Of `strew.jax.ops` as of `strew.jax`, if there are operators in both.
# A function of NumPy's is an object, whose operator is its method.
OBJECTS = {
    name
    for name in strew.numpy.__all__
    if isinstance(getattr(strew.numpy, name), strew.numpy.ufunc)
}
UFUNCS = {name for name in OBJECTS if type(getattr(strew.numpy, name)) is strew.numpy.ufunc}
# strew's own operators are in the package itself.
OWN = [_gather, _scatter]
DIALECTS = OWN + [
    operator.attrgetter(name)(strew)
    for name in sorted(
        {n.rpartition(".")[0] for n in _strew.operators()}
        - {f"numpy.{name}" for name in UFUNCS}
        - {"strew"}
        | {"pyg_lib"}
    )
]
FUNCTIONS = [
    pytest.param(module, name, id=f"{module.__name__}.{name}")
    for module in DIALECTS
    for name in module.__all__
    if not inspect.ismodule(getattr(module, name))
    and not (module is strew.numpy and name in OBJECTS)
]


def framework(module):
    """What the names of a module's operators begin with."""
    return "strew" if module in OWN else module.__name__.removeprefix("strew.")


PACKAGE = pathlib.Path(strew.__file__).parent
ROOT = pathlib.Path(__file__).parents[2]
# Functions that are made of operators, and what the frameworks lack: parameters of some.
EXTENSIONS = {
    "jax.at_apply",
    "jax.at_power",
    "jax.ffi_targets",
    "torch.scatter_reduce_with_arg",
} | {f"pyg_lib.{name}" for name in strew.pyg_lib.__all__}
# What JAX and TensorFlow take, and has no effect on an operator.
OF_AT = ["indices_are_sorted", "unique_indices", "wrap_negative_indices"]
OF_SEGMENTS = ["indices_are_sorted", "unique_indices", "bucket_size", "mode"]
EXTRA_PARAMETERS = {
    f"torch.{name}{form}": ["mode", "plan", *exact]
    for name, exact in (("scatter", []), ("scatter_add", ["exact"]), ("scatter_reduce", ["exact"]))
    for form in ("", "_")
} | {
    **{f"jax.{name}": OF_AT for name in strew.jax.__all__ if name.startswith("at_")},
    **{f"jax.ops.{name}": OF_SEGMENTS for name in strew.jax.ops.__all__},
    **{f"tensorflow.math.{name}": ["name"] for name in strew.tensorflow.math.__all__},
    **{
        f"tensorflow.{name}": ["name"] if "_nd" in name else ["use_locking", "name"]
        for name in strew.tensorflow.__all__
        if name != "math"
    },
    "numpy_groupies.aggregate": ["kwargs"],
    "strew.scatter": ["dtype", "plan", "axis", "size", "progress", "options"],
    "strew.gather": ["plan", "axis", "progress"],
}


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
    if full in EXTENSIONS:
        return
    entry = _strew.Operator(full)
    parameters = inspect.signature(getattr(module, name)).parameters.values()
    arguments = [argument for argument, _, _ in entry.arguments]
    extra = EXTRA_PARAMETERS.get(full, [])
    assert [p.name for p in parameters if p.name in extra] == extra
    parameters = [p for p in parameters if p.name not in extra]
    assert [p.name for p in parameters] == arguments
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
    assert (functions - EXTENSIONS) | methods == set(_strew.operators())


@pytest.mark.parametrize(("module", "name"), FUNCTIONS)
def test_a_function_is_annotated(module, name):
    function = getattr(module, name)
    signature, none = inspect.signature(function), inspect.Parameter.empty
    named = [one.annotation for one in signature.parameters.values()]
    assert none not in [signature.return_annotation, *named]
    # Types are for checkers: a name that is not imported at run time must not be looked up.
    assert all(isinstance(said, str) for said in function.__annotations__.values())


@pytest.mark.parametrize("module", DIALECTS, ids=lambda m: m.__name__)
def test_a_module_has_what_it_lists(module):
    assert all(hasattr(module, name) for name in module.__all__)
    assert sorted(module.__all__) == list(module.__all__)


@pytest.mark.parametrize(("module", "name"), FUNCTIONS)
def test_a_function_belongs_to_its_public_module(module, name):
    function = getattr(module, name)
    assert function.__module__ == module.__name__
    assert pickle.loads(pickle.dumps(function)) is function


def test_a_star_import_brings_no_module():
    names = {}
    exec("from strew import *", names)
    del names["__builtins__"]
    assert sorted(names) == sorted(strew.__all__) == strew.__all__
    assert not [name for name, value in names.items() if inspect.ismodule(value)]
    # What is public and no module is in it.
    public = {name for name, value in vars(strew).items() if not name.startswith("_")}
    assert {name for name in public if not inspect.ismodule(vars(strew)[name])} == set(names)


def test_types_ship():
    assert (PACKAGE / "py.typed").exists()
    # What is written in Python says its types itself.
    assert [path.name for path in PACKAGE.rglob("*.pyi")] == ["_strew.pyi"]


def test_the_stub_is_what_mypy_finds_at_run_time(tmp_path):
    allowed = tmp_path / "allowed"
    # Types for checkers: there is nothing at run time. And what needs torch, jax or onnx.
    folders = [rf"strew\.{name}(\..*)?" for name in (r"_native\.types", "_torch", "_gpu", "_jax")]
    # It does not read keyword arguments of a TypedDict: the next test does.
    aggregate = r"strew\._own\.aggregate\.aggregate"
    allowed.write_text("\n".join([*folders, aggregate, r"strew\.onnx\.backend"]))
    check = [
        sys.executable,
        "-m",
        "mypy.stubtest",
        "strew",
        "--allowlist",
        str(allowed),
        "--ignore-unused-allowlist",
        # What it says of torch, jax and onnx, which need not be installed.
        "--mypy-config-file",
        str(ROOT / "pyproject.toml"),
    ]
    result = subprocess.run(check, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_options_of_aggregate_are_those_of_its_types():
    tree = ast.parse((PACKAGE / "_own" / "aggregate.py").read_text())
    classes = (one for one in ast.walk(tree) if isinstance(one, ast.ClassDef))
    options = [
        ast.unparse(entry.target)
        for one in classes
        for entry in one.body
        if isinstance(entry, ast.AnnAssign)
    ]
    each = ["src", "index", "reduce", "by", "weights"]
    assert sorted([*each, *options]) == sorted(inspect.signature(strew.aggregate).parameters)


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
assert_type(strew.pyg_lib.segment_csr(x, [0, 2, 3], reduce="mean"), F)
assert_type(strew.pyg_lib.softmax_csr(x, i), F)
assert_type(strew.mxnet.scatter_nd(x, [[0, 1, 2]], (3,), name="here"), F)
assert_type(strew.openvino.slice_scatter(x, x, [0], [3], np.ones(1, int)), F)
assert_type(strew.torch.scatter_reduce(x, 0, i, x, "amax", include_self=False), F)
assert_type(strew.torch.scatter_reduce_(x, 0, i, x, "sum"), F)
assert_type(strew.mindspore.scatter_mul(x, i, x), F)
plan = strew.Plan(i, 3, mode="wrap", name="here")
assert_type(plan.scatter(x, "max", out=x, include_self=False), F)
assert_type(plan.reduce(x, ["sum", "mean"], dim=0), tuple[F, ...])
assert_type(plan.gather(x), F)
class Column:
    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.zeros(3)

assert_type(strew.aggregate(x, i, "std"), F)
assert_type(strew.aggregate(x, i, ["std", "mean"], dim=None), tuple[F, ...])
assert_type(strew.aggregate(Column(), Column()), Column)
assert_type(strew.aggregate(x, by=["a", "b"]), strew.Grouped)
assert_type(strew.aggregate(by=["a", "b"], reduce="len"), strew.Grouped)
sizes: np.ndarray = strew.aggregate(index=i, reduce="len")
assert_type(strew.scatter(Column(), i, reduce="max"), Column)
assert_type(strew.gather(x, i, axis=None), F)
with strew.threads(2):
    pass
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
