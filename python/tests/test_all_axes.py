"""``dim=None``: all axes at once, as in NumPy."""

import numpy as np
import pytest
import strew

SRC = np.arange(6.0).reshape(2, 3)
INDEX = np.array([[1, 0, 1], [0, 0, 2]])


@pytest.mark.parametrize("how", [{"dim": None}, {"axis": None}])
@pytest.mark.parametrize("index", [INDEX, INDEX.ravel(), INDEX.tolist(), strew.Plan(INDEX.ravel())])
def test_aggregate(how, index):
    found = strew.aggregate(SRC, index, ["sum", "argmax", "cumsum"], **how)
    assert [one.tolist() for one in found] == [
        [8.0, 2.0, 5.0],
        [4, 2, 5],
        [[0.0, 1.0, 2.0], [4.0, 8.0, 5.0]],
    ]


@pytest.mark.parametrize("how", [{"dim": None}, {"axis": None}])
@pytest.mark.parametrize("index", [INDEX, INDEX.ravel(), INDEX.tolist()])
def test_scatter_and_gather(how, index):
    assert strew.scatter(SRC, index, **how).tolist() == [8.0, 2.0, 5.0]
    assert strew.scatter(SRC, index, reduce="median", **how).tolist() == [3.0, 1.0, 5.0]
    running = strew.scatter(SRC, index, reduce="nancumsum", **how)
    assert running.tolist() == [[0.0, 1.0, 2.0], [4.0, 8.0, 5.0]]
    out = np.array([1.0, 1.0, 1.0])
    assert strew.scatter(SRC, index, out=out, **how) is out and out.tolist() == [9.0, 3.0, 6.0]
    picked = strew.gather(SRC, index, **how)
    assert picked.tolist() == SRC.ravel()[np.asarray(index)].tolist()


def test_plans():
    plan = strew.Plan(INDEX.ravel())
    assert strew.scatter(SRC, None, None, plan=plan).tolist() == [8.0, 2.0, 5.0]
    assert strew.gather(SRC, None, None, plan=strew.Plan([5, 0], 6)).tolist() == [5.0, 0.0]


def test_broadcasting_keys_and_weights():
    assert strew.aggregate(SRC, np.array([[0], [1]]), dim=None).tolist() == [3.0, 12.0]
    assert strew.aggregate(SRC, (INDEX, INDEX), dim=None).tolist() == np.diag([8.0, 2, 5]).tolist()
    weighted = strew.aggregate(SRC, INDEX, weights=[[1], [2]], dim=None)
    assert weighted.tolist() == [15.0, 2.0, 10.0]


def test_a_number_and_nothing():
    assert strew.aggregate(np.float64(3), 1, dim=None).tolist() == [0.0, 3.0]
    empty = strew.aggregate(np.zeros((0, 3)), np.zeros((0, 3), int), size=2, dim=None)
    assert empty.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("function", [strew.aggregate, strew.scatter])
def test_errors(function):
    with pytest.raises(ValueError, match=r"dim = None: index has shape \[4\]: it must broadcast"):
        function(SRC, [0, 1, 2, 3], dim=None)
    with pytest.raises(TypeError, match="dim and axis are one argument"):
        function(SRC, INDEX, dim=None, axis=0)
