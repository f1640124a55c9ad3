"""What an exception of strew says, as attributes."""

import ast
import pickle
from pathlib import Path

import numpy as np
import pytest
import strew

FIELDS = ("operator", "argument", "position", "value", "limit", "expected")


@pytest.mark.parametrize(
    ("call", "fields"),
    [
        (
            lambda: strew.mindspore.scatter_mul(np.ones(3), np.array([0, 7]), np.ones(2)),
            ("mindspore.scatter_mul", "indices", (1,), 7, 3, None),
        ),
        (
            lambda: strew.aggregate([1.0, 2.0], [0, 5], size=3),
            ("aggregate", "index", (1,), 5, 3, None),
        ),
        (
            lambda: strew.torch.scatter_add(np.ones(3), 4, np.array([0]), np.ones(1)),
            ("torch.scatter_add", "dim", None, 4, 1, None),
        ),
        (
            lambda: strew.torch.scatter_add(np.ones(3), 0, np.array([0.5]), np.ones(1)),
            ("torch.scatter_add", "index", None, "float64", None, ...),
        ),
        (
            lambda: strew.mxnet.scatter_nd(np.ones(2), np.zeros((1, 3), int), (4,)),
            ("mxnet.scatter_nd", "data", None, (2,), None, ...),
        ),
        (
            lambda: strew.aggregate([1.0], [0], "medain"),
            ("aggregate", "reduce", None, '"medain"', None, ...),
        ),
        # Those that Python raises.
        (
            lambda: strew.aggregate([1.0], [0], ddof="one"),
            ("aggregate", "ddof", None, "one", None, "it must be a number"),
        ),
        (
            lambda: strew.aggregate([1.0], ([0], [0.5])),
            ("aggregate", "index[1]", None, "float64", None, "it must be an integer type"),
        ),
        (
            lambda: strew.aggregate([1.0], ([0], [5]), size=(3, 3)),
            ("aggregate", "index[1]", (0,), 5, 3, None),
        ),
        (
            lambda: strew.aggregate([[1.0]], ([0], [0]), dim=4),
            ("aggregate", "dim", None, 4, 2, None),
        ),
        (
            lambda: strew.aggregate([1.0, 2.0], [0, 0], "mean", weights=[[1.0, 2.0, 3.0]]),
            ("aggregate", "weights", None, (1, 3), None, ...),
        ),
        (
            lambda: strew.scatter([1.0], [0], reduce="median", out=np.zeros(1)),
            ("scatter", "reduce", None, "median", None, None),
        ),
        (
            lambda: strew.scatter([1.0], [0], weights=[1.0]),
            ("scatter", "weights", None, None, None, None),
        ),
        (
            lambda: strew.factorize(()),
            ("factorize", "keys", None, None, None, None),
        ),
        (
            lambda: strew.aggregate([1.0], by=()),
            ("aggregate", "by", None, None, None, None),
        ),
        (
            lambda: strew.torch.scatter_add_(np.ones(3), 0, [0], np.ones(1), mode="fold"),
            ("torch.scatter_add_", "mode", None, "fold", None, ...),
        ),
        (
            lambda: strew.pyg_lib.scatter_std([1, 2], [0, 0]),
            ("pyg_lib.scatter_std", "src", None, "int64", None, ...),
        ),
        (
            lambda: strew.pyg_lib.scatter_sum([1.0, 2.0], [0, 9], dim_size=3),
            ("pyg_lib.scatter_sum", "index", (1,), 9, 3, None),
        ),
        (
            lambda: strew.numpy.add.at(np.zeros(3), [0]),
            ("numpy.add.at", "b", None, None, None, None),
        ),
        (
            lambda: strew.numpy_groupies.aggregate([0], [1.0], func=3),
            ("numpy_groupies.aggregate", "func", None, 3, None, None),
        ),
        (
            lambda: strew.threads(0).__enter__(),
            ("threads", "n", None, 0, None, "it must be at least 1, or None"),
        ),
        # Those of the extension, about what never becomes an array or a number.
        (
            lambda: strew.set_num_threads(0),
            ("set_num_threads", "n", None, "0", None, "it must be at least 1, or None"),
        ),
        (
            lambda: strew.torch_scatter.scatter([[1.0], [1.0, 2.0]], [0, 0]),
            ("torch_scatter.scatter", "src", None, "list", None, None),
        ),
        (
            lambda: strew.Plan([0], 1).scatter([1.0], dim=0, axis=0),
            ("Plan.scatter", "dim", None, None, None, None),
        ),
        (
            lambda: strew.Accumulator(3, "mean").update(np.ones(1, "f4"), [0]),
            ("Accumulator", "src", None, "float32", None, "it must be float64"),
        ),
    ],
)
def test_fields(call, fields):
    with pytest.raises((ValueError, TypeError, IndexError, RuntimeError)) as caught:
        call()
    error = caught.value
    for name, wanted in zip(FIELDS, fields, strict=True):
        found = getattr(error, name)
        assert found == wanted or (wanted is ... and found in str(error)), name
    again = pickle.loads(pickle.dumps(error))
    assert [getattr(again, name) for name in FIELDS] == [getattr(error, name) for name in FIELDS]
    assert str(again) == str(error)


def test_every_exception_is_made_where_it_gets_them():
    """Python's own code makes exceptions by `_native/errors.py` only."""
    root = Path(strew.__file__).parent
    built_in = {"IndexError", "OverflowError", "RuntimeError", "TypeError", "ValueError"}
    found = []
    for file in sorted(root.rglob("*.py")):
        # The operators of torch and of JAX raise what these libraries do.
        if file.relative_to(root).parts[0] not in ("_torch", "_jax"):
            calls = (
                one for one in ast.walk(ast.parse(file.read_text())) if isinstance(one, ast.Call)
            )
            found += [
                f"{file}:{call.lineno}" for call in calls if ast.unparse(call.func) in built_in
            ]
    assert not found
