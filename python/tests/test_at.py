"""Slices between the brackets of strew.jax's functions, against NumPy's own indexing."""

import numpy as np
import pytest
import strew

WHOLE = slice(None)
INDICES = [
    (slice(1, None),),
    slice(None, None, -2),
    (..., 1),
    (1, ...),
    (slice(0, 2), 1),
    (slice(0, 2), [2, 0]),
    ([1, 1], slice(None, None, 2), [0, 3]),
    (0, WHOLE, [1, 1]),
    (..., [[0], [3]]),
    (None, slice(1, 2)),
    ([0, 1], ..., None),
    (np.array([True, False]), slice(0, 1)),
    ([0, 1], [0, 2], ..., [1, 1]),
]


@pytest.mark.parametrize("indices", INDICES, ids=str)
def test_slices(indices):
    x = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(strew.jax.at_get(x, indices), x[indices])
    y = np.arange(x[indices].size).reshape(x[indices].shape)
    expected = x.copy()
    np.add.at(expected, indices, y)
    np.testing.assert_array_equal(strew.jax.at_add(x, indices, y), expected)
    expected = x.copy()
    expected[indices] = -1
    np.testing.assert_array_equal(strew.jax.at_set(x, indices, -1), expected)
    np.testing.assert_array_equal(x, np.arange(24).reshape(2, 3, 4))


def test_an_index_beside_slices_has_the_mode():
    x = np.arange(6.0).reshape(2, 3)
    set_ = strew.jax.at_set
    np.testing.assert_array_equal(set_(x, (slice(0, 1), 9), 7.0), x)
    np.testing.assert_array_equal(set_(x, (..., 9), 7.0, mode="clip"), [[0, 1, 7], [3, 4, 7]])
    found = strew.jax.at_get(x, (WHOLE, [0, 9]), mode="fill", fill_value=-1)
    np.testing.assert_array_equal(found, [[0, -1], [3, -1]])


@pytest.mark.parametrize(
    ("name", "operands"), [("add", "a, indices, b"), ("negative", "a, indices")]
)
def test_a_call_without_at_says_what_is_called(name, operands):
    said = rf"^strew.numpy.{name} is called as strew.numpy.{name}.at\({operands}\); numpy.{name} "
    with pytest.raises(TypeError, match=said):
        getattr(strew.numpy, name)(np.ones(3), [0])
