"""The examples of the frameworks' own documents."""

import numpy as np
import pytest
import strew

DTYPES = ["float32", "float64", "int32", "int64", "float16"]


def same(found, expected, dtype=None):
    assert isinstance(found, np.ndarray)
    assert found.dtype == (dtype or np.asarray(expected).dtype)
    np.testing.assert_array_equal(found, np.asarray(expected, found.dtype))
    assert found.shape == np.asarray(expected).shape


@pytest.mark.parametrize("dtype", DTYPES)
def test_mxnet_scatter_nd(dtype):
    data = np.array([2, 3, 0], dtype)
    same(strew.mxnet.scatter_nd(data, [[1, 1, 0], [0, 1, 0]], (2, 2)), [[0, 0], [2, 3]], dtype)
    data = np.arange(1, 9).reshape(2, 2, 2).astype(dtype)
    expected = [
        [[[0, 0], [0, 0]], [[1, 2], [3, 4]]],
        [[[0, 0], [0, 0]], [[5, 6], [7, 8]]],
    ]
    same(strew.mxnet.scatter_nd(data, [[0, 1], [1, 1]], [2, 2, 2, 2]), expected, dtype)


def test_openvino_slice_scatter():
    data = np.arange(10, dtype=np.float32).reshape(2, 5)
    updates = np.array([[10, 20, 30, 40, 50]], np.float32)
    same(
        strew.openvino.slice_scatter(data, updates, [0], [1], [1], axes=[0]),
        [[10, 20, 30, 40, 50], [5, 6, 7, 8, 9]],
        "float32",
    )
    updates = np.array([[10, 20, 30], [40, 50, 60]], np.float32)
    same(
        strew.openvino.slice_scatter(data, updates, [-25], [25], [2], axes=[1]),
        [[10, 1, 20, 3, 30], [40, 6, 50, 8, 60]],
        "float32",
    )
    data = np.arange(15, dtype=np.float32).reshape(3, 5)
    updates = np.array([[50, 60], [70, 80]], np.float32)
    same(
        strew.openvino.slice_scatter(data, updates, [0, 1], [3, 5], [2, 2]),
        [[0, 50, 2, 60, 4], [5, 6, 7, 8, 9], [10, 70, 12, 80, 14]],
        "float32",
    )


def test_torch_scatter_reduce():
    src = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], np.float32)
    index = np.array([0, 1, 0, 1, 2, 1])
    input = np.array([1.0, 2.0, 3.0, 4.0], np.float32)

    def run(input, reduce, **options):
        return strew.torch.scatter_reduce(input, 0, index, src, reduce, **options)

    same(run(input, "sum"), [5, 14, 8, 4], "float32")
    same(run(input, "sum", include_self=False), [4, 12, 5, 4], "float32")
    input2 = np.array([5.0, 4.0, 3.0, 2.0], np.float32)
    same(run(input2, "amax"), [5, 6, 5, 2], "float32")
    same(run(input2, "amax", include_self=False), [3, 6, 5, 2], "float32")


def test_mindspore_scatter_mul():
    def run(indices, updates):
        x = np.array([[1, 1, 1], [2, 2, 2]], np.float32)
        out = strew.mindspore.scatter_mul(
            x, np.array(indices, np.int32), np.array(updates, np.float32)
        )
        assert out is x
        return x

    same(run([0, 1], [[2, 2, 2], [2, 2, 2]]), [[2, 2, 2], [4, 4, 4]], "float32")
    ones, threes, sevens, nines = ([n] * 3 for n in (1, 3, 7, 9))
    same(
        run([[0, 1], [1, 1]], [[ones, threes], [sevens, nines]]),
        [[1, 1, 1], [378, 378, 378]],
        "float32",
    )
    same(
        run([[1, 0], [1, 1]], [[ones, threes], [sevens, nines]]),
        [[3, 3, 3], [126, 126, 126]],
        "float32",
    )
    same(
        run([[0, 1], [0, 1]], [[ones, threes], [sevens, nines]]),
        [[7, 7, 7], [54, 54, 54]],
        "float32",
    )


def test_torch_scatter_scatter():
    src = np.array([[2, 0, 1, 4, 3], [0, 2, 1, 3, 4]])
    index = np.array([[4, 5, 4, 2, 3], [0, 0, 2, 2, 1]])
    out, arg = strew.torch_scatter.scatter_max(src, index, dim=-1)
    same(out, [[0, 0, 4, 3, 2, 0], [2, 4, 3, 0, 0, 0]])
    same(arg, [[5, 5, 3, 4, 0, 1], [1, 4, 3, 5, 5, 5]])
    same(strew.torch_scatter.scatter(src, index), [[0, 0, 4, 3, 3, 0], [2, 4, 4, 0, 0, 0]])

    src = np.ones((10, 6, 64), np.float32)
    index = np.array([0, 1, 0, 1, 2, 1])
    out = strew.torch_scatter.scatter(src, index, dim=1, reduce="sum")
    same(out, np.broadcast_to(np.array([[2], [3], [1]]), (10, 3, 64)), "float32")


@pytest.mark.parametrize("name", ["sum", "add", "mul", "mean"])
def test_every_function_of_torch_scatter_is_its_reduction(name):
    src = np.array([[5, 2, 7], [3, 11, 4]])
    index = [1, 0, 1]
    whole = strew.torch_scatter.scatter(src, index, 1, None, 3, name)
    single = getattr(strew.torch_scatter, f"scatter_{name}")(src, index, 1, None, 3)
    expected = {
        "sum": [[2, 12, 0], [11, 7, 0]],
        "add": [[2, 12, 0], [11, 7, 0]],
        "mul": [[2, 35, 1], [11, 12, 1]],
        "mean": [[2, 6, 0], [11, 3, 0]],
    }[name]
    same(whole, expected)
    same(single, expected)


def test_minimum_and_maximum_give_values_as_scatter_does():
    src, index = np.array([4.0, -1.0, 9.0, -1.0]), [0, 2, 0, 2]
    for name, values, where in [("min", [4, 0, -1], [0, 4, 1]), ("max", [9, 0, -1], [2, 4, 1])]:
        out, arg = getattr(strew.torch_scatter, f"scatter_{name}")(src, index)
        same(out, values, "float64")
        same(arg, where, "int64")
        same(strew.torch_scatter.scatter(src, index, reduce=name), values, "float64")


def test_torch_scatter_segments():
    coo, csr = strew.torch_scatter.segment_coo, strew.torch_scatter.segment_csr
    src = np.ones((10, 6, 64), np.float32)
    index = np.array([[0, 0, 1, 1, 1, 2]])  # Broadcasting in the first and last dimension.
    counts = np.broadcast_to(np.array([[2], [3], [1]]), (10, 3, 64))
    same(coo(src, index, reduce="sum"), counts, "float32")
    same(csr(src, np.array([[0, 2, 5, 6]]), reduce="sum"), counts, "float32")
    rows = np.arange(6.0).reshape(1, 3, 2).repeat(10, 0)
    expected = rows[:, [0, 0, 1, 1, 1, 2]]
    same(strew.torch_scatter.gather_coo(rows, index.repeat(10, 0)), expected, "float64")
    same(strew.torch_scatter.gather_csr(rows, np.array([[0, 2, 5, 6]])), expected, "float64")


@pytest.mark.parametrize("name", ["sum", "add", "mean", "min", "max"])
def test_every_segment_function_is_its_reduction(name):
    src, index, indptr = np.array([-5, -4, 7, 3]), [0, 0, 2, 2], [0, 2, 2, 4]
    expected = {"sum": [-9, 0, 10], "mean": [-4, 0, 5], "min": [-5, 0, 3], "max": [-4, 0, 7]}
    where = {"min": [0, 4, 3], "max": [1, 4, 2]}.get(name)
    for family, rows in [("coo", index), ("csr", indptr)]:
        whole = getattr(strew.torch_scatter, f"segment_{family}")(src, rows, reduce=name)
        single = getattr(strew.torch_scatter, f"segment_{name}_{family}")(src, rows)
        if where:
            single, arg = single
            same(arg, where, "int64")
        same(whole, expected.get(name, [-9, 0, 10]))
        same(single, expected.get(name, [-9, 0, 10]))


def test_out_of_segments_and_gathers():
    seg = strew.torch_scatter
    totals = np.array([10, 20])
    assert seg.segment_coo([1, 2], [1, 1], totals) is totals
    same(totals, [10, 23])
    assert seg.segment_csr([1, 2], [0, 2, 2], totals, "max") is totals
    same(totals, [2, 0])
    assert seg.gather_coo([7, 8], [1, 1], totals) is totals
    same(totals, [8, 8])
    assert seg.gather_csr([7], [0, 1], totals) is totals
    same(totals, [7, 8])


def test_choices_of_segments():
    """The examples of COMPARE.md."""
    seg = strew.torch_scatter
    out, arg = seg.segment_max_coo([1.0, 3.0, -np.inf, 2.0], [0, 0, 1, 2])
    same(out, [3, 0, 2], "float64")
    same(arg, [1, 4, 3], "int64")
    out, arg = seg.segment_max_csr([1.0, -np.inf, -np.inf], [0, 1, 3])
    same(out, [1, -np.inf], "float64")
    same(arg, [0, 1], "int64")
    out, arg = seg.segment_max_csr([np.nan, 2.0], [0, 1, 2])
    same(out, [0, 2], "float64")
    same(arg, [2, 1], "int64")
    assert seg.segment_csr([1.0, 2.0], [0]).shape == (0,)
    same(seg.gather_csr([7, 8], [1, 2, 3]), [0, 7, 8])
    with pytest.raises(RuntimeError, match=r"segment_csr: indptr\[1\] = 3: it must be from 0 to 2"):
        seg.segment_csr([1.0, 2.0], [0, 3])
    with pytest.raises(RuntimeError, match=r"segment_coo: index\[1\] = 0: it must not be less"):
        seg.segment_coo([1.0, 2.0], [1, 0])


def test_paddle():
    """The examples of PaddlePaddle's documents, and of COMPARE.md."""
    paddle = strew.paddle
    x, index = np.array([[1, 1], [2, 2], [3, 3]], np.float32), np.array([2, 1, 0, 1])
    updates = np.array([[1, 1], [2, 2], [3, 3], [4, 4]], np.float32)
    same(paddle.scatter(x, index, updates, overwrite=False), [[3, 3], [6, 6], [1, 1]], "float32")
    same(paddle.scatter(x, index, updates, overwrite=True), [[3, 3], [4, 4], [1, 1]], "float32")

    added = paddle.scatter_nd_add(
        np.arange(6), np.array([[1], [2], [3], [1]]), np.array([9, 10, 11, 12])
    )
    same(added, [0, 22, 12, 14, 4, 5], "int64")
    whole = np.array([[65, 17], [-14, -25]])
    both = np.array([[[-1, -2], [1, 2]], [[3, 4], [-3, -4]]])
    same(paddle.scatter_nd_add(whole, np.zeros((2, 0), int), both), [[67, 19], [-16, -27]], "int64")

    arr = np.array([[10, 30, 20], [60, 40, 50]])
    same(paddle.put_along_axis(arr, np.array([[0]]), 99, 0), [[99, 99, 99], [60, 40, 50]], "int64")
    zeros, values = np.zeros((2, 2), np.int32), np.array([[1, 2], [3, 4]])
    for reduce, row in (
        ("add", [14, 36, 20]),
        ("mul", [30, 240, 20]),
        ("mean", [4, 12, 20]),
        ("amin", [1, 2, 20]),
    ):
        same(
            paddle.put_along_axis(arr, zeros, values, 0, reduce, True, False),
            [row, [60, 40, 50]],
            "int64",
        )

    filled = paddle.index_fill(np.arange(1, 10).reshape(3, 3), np.int32([0, 2]), 0, -1)
    same(filled, [[-1, -1, -1], [4, 5, 6], [-1, -1, -1]], "int64")
    ones = np.ones((3, 3), np.float32)
    same(
        paddle.index_add(ones, np.int32([0, 2]), 0, ones[:2]),
        [[2, 2, 2], [1, 1, 1], [2, 2, 2]],
        "float32",
    )

    rows = np.array([[1, 2], [3, 4], [5, 6]])
    same(paddle.gather(rows, np.array([0, 1]), axis=0), [[1, 2], [3, 4]], "int64")
    cube = np.arange(24).reshape(2, 3, 4)
    same(paddle.gather_nd(cube, [[1]]), cube[1:], "int64")
    same(paddle.gather_nd(cube, [[0, 2]]), [[8, 9, 10, 11]], "int64")
    same(paddle.gather_nd(cube, [[1, 2, 3]]), [23], "int64")

    data = np.array([[1, 2, 3], [3, 2, 1], [4, 5, 6]], np.float32)
    for name, row in (
        ("sum", [4, 4, 4]),
        ("mean", [2, 2, 2]),
        ("min", [1, 2, 1]),
        ("max", [3, 2, 3]),
    ):
        found = getattr(paddle.geometric, f"segment_{name}")(data, np.int32([0, 0, 1]))
        same(found, [row, [4, 5, 6]], "float32")

    same(paddle.scatter(np.ones(3), [1, 1], [5.0, 6.0], overwrite=False), [1, 11, 1], "float64")
    same(
        paddle.scatter_nd_add(np.ones(2), np.zeros((2, 0), int), [[1.0, 2.0], [3.0, 4.0]]),
        [5, 7],
        "float64",
    )
    same(paddle.put_along_axis([-7, 0], [0], [2], 0, "mean"), [-3, 0], "int64")
    same(paddle.geometric.segment_mean([-7, 2], [0, 0]), [-2], "int64")
