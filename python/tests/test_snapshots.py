"""What is kept of an argument is a copy: later writes to it change nothing."""

import numpy as np
import pytest
import strew

VALUES, INDEX = np.array([1.0, 2.0, 4.0]), np.array([0, 1, 1])


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "u8"])
def test_plans(dtype):
    index = INDEX.astype(dtype)
    plan = strew.Plan(index, 2)
    index[:] = 0
    assert plan.scatter(VALUES).tolist() == [1, 6]
    assert plan.gather(np.array([5, 7])).tolist() == [5, 7, 7]
    assert strew.aggregate(VALUES, plan, "median").tolist() == [1, 3]
    assert strew.scatter(VALUES, None, plan=plan).tolist() == [1, 6]


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "std", "first", "len"])
def test_accumulators(reduce):
    made = strew.Accumulator(2, reduce)
    values, index = VALUES.copy(), INDEX.copy()
    made.update(values, index)
    values[:], index[:] = 100, 0
    expected = strew.aggregate(VALUES, INDEX, reduce)
    np.testing.assert_array_equal(np.squeeze(made.result()), expected)


def test_results_share_no_memory_with_arguments():
    for run in (
        lambda v, i: strew.scatter(v, i),
        lambda v, i: strew.gather(v, i),
        lambda v, i: strew.gather(v, np.arange(3)),
        lambda v, i: strew.aggregate(v, i, "sum"),
        lambda v, i: strew.aggregate(v, i, "first"),
        lambda v, i: strew.scatter(v, np.arange(3), reduce="assign"),
        lambda v, i: strew.jax.at_set(v, (slice(0, 0),), 1.0),
        lambda v, i: strew.jax.at_get(v, slice(None)),
        lambda v, i: strew.torch.scatter(v, 0, i, v),
    ):
        values, index = VALUES.copy(), INDEX.copy()
        made = run(values, index)
        before = made.copy()
        values[:], index[:] = 100, 0
        np.testing.assert_array_equal(made, before)


def test_keys_and_groups():
    keys = np.array(["b", "a", "b"])
    index, names = strew.factorize(keys)
    grouped = strew.aggregate(VALUES, by=keys, reduce="sum")
    keys[:] = "z"
    assert index.tolist() == [1, 0, 1] and names.tolist() == ["a", "b"]
    assert grouped.keys.tolist() == ["a", "b"] and grouped.values.tolist() == [2, 5]


def test_dask_tasks():
    arrays = pytest.importorskip("dask.array")
    for in_chunks in (False, True):
        values, index = np.arange(6.0), np.array([0, 1, 0, 1, 2, 2])
        given = arrays.from_array(index, chunks=2) if in_chunks else index
        src = arrays.from_array(values, chunks=2)
        made = (
            strew.dask.aggregate(src, given, "sum", size=3),
            strew.dask.scatter(src, given, size=3),
        )
        values[:], index[:] = 100, 0
        assert [one.compute().tolist() for one in made] == [[2, 4, 9], [2, 4, 9]]
