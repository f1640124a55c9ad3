"""What an exception of strew says, as attributes."""

import pickle

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
