"""PyTorch's scatters beside scatter_reduce: its documents' examples, and what Python may pass."""

import numpy as np
import pytest
import strew

st = strew.torch


def same(found, expected, dtype=None):
    assert isinstance(found, np.ndarray)
    assert found.dtype == (dtype or np.asarray(expected).dtype)
    np.testing.assert_array_equal(found, np.asarray(expected, found.dtype))
    assert found.shape == np.asarray(expected).shape


def test_documented_scatter():
    src = np.arange(1, 11).reshape(2, 5)
    zeros = np.zeros((3, 5), src.dtype)
    same(
        st.scatter(zeros, 0, np.array([[0, 1, 2, 0]]), src),
        [[1, 0, 0, 4, 0], [0, 2, 0, 0, 0], [0, 0, 3, 0, 0]],
    )
    index = np.array([[0, 1, 2], [0, 1, 4]])
    same(st.scatter(zeros, 1, index, src), [[1, 2, 3, 0, 0], [6, 7, 0, 0, 8], [0, 0, 0, 0, 0]])
    twos, index = np.full((2, 4), 2.0, np.float32), np.array([[2], [3]])
    out = st.scatter(twos, 1, index, 1.23, reduce="multiply")
    same(out, np.array([[2, 2, np.float32(2) * np.float32(1.23), 2], [2, 2, 2, 2.46]], np.float32))
    out = st.scatter(twos, 1, index, value=1.23, reduce="add")
    same(out, np.array([[2, 2, 3.23, 2], [2, 2, 2, 3.23]], np.float32))
    ones, zeros = np.ones((2, 5), np.float32), np.zeros((3, 5), np.float32)
    out = st.scatter_add(zeros, 0, np.array([[0, 1, 2, 0, 0], [0, 1, 2, 2, 2]]), ones)
    same(out, [[2, 0, 0, 1, 1], [0, 2, 0, 0, 0], [0, 0, 2, 1, 1]], "float32")


def test_documented_index_operators():
    x, index = np.ones((5, 3), np.float32), np.array([0, 4, 2])
    t = np.arange(1, 10, dtype=np.float32).reshape(3, 3)
    same(
        st.index_add(x, 0, index, t),
        [[2, 3, 4], [1, 1, 1], [8, 9, 10], [1, 1, 1], [5, 6, 7]],
        "float32",
    )
    out = st.index_add(x, 0, index, t, alpha=-1)
    same(out, [[0, -1, -2], [1, 1, 1], [-6, -7, -8], [1, 1, 1], [-3, -4, -5]], "float32")
    zeros = np.zeros_like(x)
    same(
        st.index_copy(zeros, 0, index, t),
        [[1, 2, 3], [0, 0, 0], [7, 8, 9], [0, 0, 0], [4, 5, 6]],
        "float32",
    )
    same(
        st.index_fill(t, 1, np.array([0, 2]), -1),
        [[-1, 2, -1], [-1, 5, -1], [-1, 8, -1]],
        "float32",
    )
    twos, t = np.full((5, 3), 2.0, np.float32), np.arange(1, 13, dtype=np.float32).reshape(4, 3)
    out = st.index_reduce(twos, 0, np.array([0, 4, 2, 0]), t, "prod")
    same(out, [[20, 44, 72], [2, 2, 2], [14, 16, 18], [2, 2, 2], [8, 10, 12]], "float32")
    out = st.index_reduce(twos, 0, np.array([0, 4, 2, 0]), t, "prod", include_self=False)
    same(out, [[10, 22, 36], [2, 2, 2], [7, 8, 9], [2, 2, 2], [4, 5, 6]], "float32")


def test_documented_gather_put_and_slices():
    same(st.gather(np.array([[1, 2], [3, 4]]), 1, np.array([[0, 0], [1, 0]])), [[1, 1], [4, 3]])
    t = np.array([[10, 30, 20], [60, 40, 50]])
    order = np.argsort(t, axis=1)
    same(st.take_along_dim(t, order, dim=1), [[10, 20, 30], [40, 50, 60]])
    same(st.take_along_dim(t, np.argmax(t)), [60])
    src = np.array([[4, 3, 5], [6, 7, 8]])
    same(st.put(src, np.array([1, 3]), np.array([9, 10])), [[4, 9, 5], [10, 7, 8]])
    mask = np.array([[0, 0, 0, 1, 1], [1, 1, 0, 1, 1]], bool)
    source = np.arange(10).reshape(2, 5)
    same(st.masked_scatter(np.zeros((2, 5), int), mask, source), [[0, 0, 0, 0, 1], [2, 3, 0, 4, 5]])
    a, b = np.zeros((8, 8), np.float32), np.ones((2, 8), np.float32)
    expected = a.copy()
    expected[6:] = 1
    same(st.slice_scatter(a, b, start=6), expected)
    expected = a.copy()
    expected[:, 2:6:2] = 1
    same(st.slice_scatter(a, np.ones((8, 2), np.float32), dim=1, start=2, end=6, step=2), expected)
    same(st.select_scatter(np.zeros((2, 2)), np.ones(2), 0, 0), [[1.0, 1.0], [0.0, 0.0]])


def test_a_mask_and_an_input_are_broadcast_to_each_other():
    mask = np.array([[True, False], [True, True]])
    same(st.masked_scatter(np.array([1, 2]), mask, np.array([7, 8, 9])), [[7, 2], [8, 9]])
    with pytest.raises(RuntimeError, match=r"mask has shape \[2, 2\]: it must broadcast to \[2\]"):
        st.masked_scatter_(np.array([1, 2]), mask, np.array([7, 8, 9]))


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize(
    "indices",
    [
        (np.array([2, -3]),),
        (np.array([2, 0], np.int32), np.array([[1], [-1]])),
        (None, np.array([0, 3]), np.array([1, -1])),
        (np.array([0, 2]), None, np.array([1, -1])),
        (None, None, np.array([4, 4, 0])),
        [np.arange(12).reshape(3, 4) % 3 == 0],
        (np.array([False, True, True]), None, np.array([1, 2])),
        (None, np.arange(20).reshape(4, 5) % 7 == 1),
    ],
    ids=str,
)
def test_index_put_is_numpys_assignment(indices, accumulate):
    x = np.arange(60.0).reshape(3, 4, 5)
    where = tuple(slice(None) if i is None else i for i in indices)
    values = np.arange(1.0, 1 + x[where].size).reshape(x[where].shape)
    expected = x.copy()
    if accumulate:
        np.add.at(expected, where, values)
    else:
        expected[where] = values
    same(st.index_put(x, indices, values, accumulate), expected)
    assert st.index_put_(x, indices, values, accumulate=accumulate) is x
    same(x, expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3),
        (True, 1),
        (-2.9, -2),
        (np.float32(2.5), 2),
        (np.int8(-1), -1),
        (np.array(4), 4),
        (2 + 0j, 2),
        (np.complex64(5), 5),
    ],
)
def test_numbers_of_every_kind(value, expected):
    x = np.array([1, 2], np.int32)
    if not np.iscomplexobj(value):
        same(st.index_fill(x, 0, np.array([1]), value), [1, expected], "int32")
    if not isinstance(value, np.ndarray):
        same(st.scatter(x, 0, np.array([1]), value), [1, expected], "int32")
    same(st.scatter(x, 0, np.array([1]), value=value), [1, expected], "int32")


def test_integers_beyond_64_bits():
    x = np.array([1, 2], np.uint64)
    same(st.index_fill(x, 0, np.array([1]), 2**64 - 1), [1, 2**64 - 1], "uint64")
    with pytest.raises(
        RuntimeError, match="value cannot be converted to type uint64 without overflow"
    ):
        st.index_fill(x, 0, np.array([1]), 2**64)
    same(st.index_fill(np.array([1.0, 2.0]), 0, np.array([1]), 2**64), [1.0, 2.0**64])


@pytest.mark.parametrize("value", ["1", None, [1], np.array([1])])
def test_what_is_no_number(value):
    with pytest.raises(TypeError, match="torch.index_fill: value"):
        st.index_fill(np.array([1.0]), 0, np.array([0]), value)


def test_what_does_not_fit():
    x, i = np.array([1.0, 2.0]), np.array([0])
    for call, error, message in [
        (lambda: st.scatter(x, 0, i), TypeError, "src is missing"),
        (
            lambda: st.scatter(x, 0, i, x, value=1),
            TypeError,
            "value must be left out where src is given",
        ),
        (lambda: st.scatter(x, 0, i, x, reduce="sum"), RuntimeError, "either add or multiply"),
        (lambda: st.gather(x, 0, np.array([2])), RuntimeError, "index 2 is out of bounds"),
        (lambda: st.index_add(x, 0, np.array([2]), x[:1]), IndexError, "index 2 is out of bounds"),
        (
            lambda: st.index_copy(x, 0, i.astype(np.int32), x[:1]),
            RuntimeError,
            "Expected a long tensor",
        ),
        (lambda: st.put(x, np.array([-3]), x[:1]), IndexError, "index -3 is out of bounds"),
        (lambda: st.index_put(x, i, x[:1]), TypeError, "indices must be a tuple or list of arrays"),
        (lambda: st.index_put(x, ("a",), x[:1]), TypeError, "indices"),
        (lambda: st.slice_scatter(x, x, step=0), RuntimeError, "slice step must be positive"),
        (lambda: st.select_scatter(x, np.array(1.0), 0, 2), IndexError, "index 2 out of range"),
        (lambda: st.scatter_add_(x, 0, i, x[1:]), RuntimeError, "shares memory with src"),
        (lambda: st.put_(x, i, x[1:]), RuntimeError, "shares memory with source"),
    ]:
        with pytest.raises(error, match=message):
            call()
    assert x.tolist() == [1.0, 2.0]


def test_segment_reduce():
    data = np.array([[1.0, 2.0], [4.0, 8.0], [16.0, 32.0]])
    same(st.segment_reduce(data, "sum", lengths=[1, 2]), [[1.0, 2.0], [20.0, 40.0]])
    same(
        st.segment_reduce(data, "mean", offsets=np.array([1, 1, 3]), initial=2),
        [[2.0, 2.0], [11.0, 21.0]],
    )
    same(
        st.segment_reduce(data, "amax", lengths=[[2, 0], [1, 1], [0, 2]], axis=1, initial=-1)[1],
        [4.0, 8.0],
    )
    same(st.segment_reduce(np.array([3, 4]), "prod", lengths=np.array([0, 2], np.int32)), [1, 12])
    for arguments, message in [
        ({}, "lengths .or offsets. is missing"),
        ({"lengths": [1, 1]}, "Expected all rows of lengths along axis to sum to"),
        ({"lengths": [4, -1]}, "lengths.0. = 4"),
        ({"offsets": [0, 4]}, "it must be from 0 to 3"),
        ({"indices": [0, 0, 1]}, "not supported"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            st.segment_reduce(data, "sum", **arguments)
    with pytest.raises(TypeError):
        st.segment_reduce(data, "sum", [1, 2])
