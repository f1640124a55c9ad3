"""What goes in and what comes out: dtypes, strides, ranks, lists."""

import array
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import strew

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [
    np.dtype(name)
    for name in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
    ).split()
] + [BFLOAT16]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_comes_out_as_it_went_in(dtype):
    data = np.array([1, 0, 1, 1]).astype(dtype)
    moved = strew.mxnet.scatter_nd(data, [[3, 0, 4, 3]], [5])
    assert moved.dtype == dtype
    np.testing.assert_array_equal(moved, np.array([0, 0, 0, 1, 1]).astype(dtype))
    total = strew.torch_scatter.scatter(data, [1, 1, 0, 2])
    assert total.dtype == dtype
    np.testing.assert_array_equal(total, np.array([1, 1, 1]).astype(dtype))
    target = np.array([0, 0, 1]).astype(dtype)
    assert strew.torch.scatter_reduce_(target, 0, [0, 1], data[2:], "sum") is target
    np.testing.assert_array_equal(target, np.array([1, 1, 1]).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_elements_are_moved_bit_by_bit(dtype):
    rng = np.random.default_rng(1)
    raw = rng.integers(0, 256, 7 * dtype.itemsize, np.uint8)
    data = (raw & 1 if dtype == bool else raw).view(dtype)
    out = strew.mxnet.scatter_nd(data, [[6, 5, 4, 3, 2, 1, 0]], [7])
    assert out[::-1].tobytes() == data.tobytes()


def test_the_c_names_of_integers_are_taken_too():
    for code in "bBhHiIlLqQ":
        data = np.array([1, 2], code)
        out = strew.torch_scatter.scatter(data, [1, 1])
        assert out.dtype == data.dtype and out.tolist() == [0, 3]


def test_bfloat16_accumulates_in_float32():
    ones = np.ones(4096, BFLOAT16)
    assert strew.torch_scatter.scatter(ones, np.zeros(4096, int))[0] == 4096


def test_an_output_owns_aligned_writable_memory():
    out = strew.torch_scatter.scatter(np.ones(1000), np.arange(1000))
    assert out.ctypes.data % 64 == 0
    assert out.flags.writeable and out.flags.aligned and out.flags.c_contiguous
    assert not out.flags.owndata and out.base is not None
    out[:] = 7
    view = out[10:20]
    del out
    assert view.tolist() == [7.0] * 10


def views(a):
    """The same values with other strides."""
    wide = np.full([n * 2 for n in a.shape], 99, a.dtype)
    wide[tuple(slice(None, None, 2) for _ in a.shape)] = a
    flipped = a[tuple(slice(None, None, -1) for _ in a.shape)].copy()
    frozen = a.copy()
    frozen.setflags(write=False)
    return {
        "contiguous": a.copy(),
        "fortran": np.asfortranarray(a),
        "transposed": a.T.copy().T,
        "gaps": wide[tuple(slice(None, None, 2) for _ in a.shape)],
        "negative": flipped[tuple(slice(None, None, -1) for _ in a.shape)],
        "read-only": frozen,
    }


@pytest.mark.parametrize("layout", views(np.zeros((1, 1))))
def test_any_strides_are_read(layout):
    rng = np.random.default_rng(2)
    src = rng.integers(-50, 50, (4, 6))
    index = rng.integers(0, 5, (4, 6))
    expected = strew.torch_scatter.scatter(src, index, 0, None, 5)
    assert expected.sum() == src.sum()
    found = strew.torch_scatter.scatter(views(src)[layout], views(index)[layout], 0, None, 5)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "layout", [name for name in views(np.zeros((1, 1))) if name != "read-only"]
)
def test_any_strides_are_written(layout):
    rng = np.random.default_rng(3)
    x, updates = rng.integers(1, 5, (5, 3)), rng.integers(1, 5, (4, 3))
    expected = x.copy()
    for row, factor in zip([4, 0, 4, 2], updates):
        expected[row] *= factor
    target = views(x)[layout]
    assert strew.mindspore.scatter_mul(target, [4, 0, 4, 2], updates) is target
    np.testing.assert_array_equal(target, expected)


def test_gaps_of_a_target_are_not_touched():
    whole = np.full((6, 8), -1)
    target = whole[1::2, ::3]
    target[...] = 0
    strew.torch.scatter_reduce_(
        target, 1, [[0, 2], [1, 1], [2, 0]], [[1, 2], [3, 4], [5, 6]], "sum"
    )
    assert target.tolist() == [[1, 0, 2], [0, 7, 0], [6, 0, 5]]
    rest = np.ones(whole.shape, bool)
    rest[1::2, ::3] = False
    assert (whole[rest] == -1).all()


def test_a_broadcast_input_is_read():
    src = np.broadcast_to(np.float32(2.0), (3, 1000))
    index = np.broadcast_to(np.array([[0], [1], [0]]), (3, 1000))
    out = strew.torch_scatter.scatter(src, index, 0)
    assert out.tolist() == [[4.0] * 1000, [2.0] * 1000]


def test_zero_dimensions():
    out = strew.torch.scatter_reduce(np.array(3.0), 0, np.array(0), np.array(4.0), "sum")
    assert isinstance(out, np.ndarray) and out.shape == () and out[()] == 7.0
    x = np.array([2, 3])
    strew.mindspore.scatter_mul(x, np.array(1), np.array(5))
    assert x.tolist() == [2, 15]
    y = np.array(3.0)
    assert strew.torch.scatter_reduce_(y, -1, [0, 0], [4.0, 5.0], "prod") is y and y == 60.0


def test_nothing_to_do():
    empty = np.zeros((0, 3), np.float32)
    out = strew.torch_scatter.scatter(empty, np.zeros(0, int), 0)
    assert out.shape == (0, 3) and out.dtype == np.float32
    out = strew.torch_scatter.scatter(empty, [], 0, None, 2, "mul")
    assert out.tolist() == [[0.0] * 3] * 2
    out = strew.mxnet.scatter_nd(np.zeros((0, 4)), np.zeros((1, 0), int), (5, 4))
    assert out.shape == (5, 4) and not out.any()
    x = np.arange(3.0)
    assert strew.torch.scatter_reduce(x, 0, [], [], "sum").tolist() == [0.0, 1.0, 2.0]
    out = strew.openvino.slice_scatter(x, np.zeros(0), [2], [1], [1])
    assert out.tolist() == x.tolist() and not np.shares_memory(out, x)
    x = np.ones((2, 0, 3))
    assert strew.mindspore.scatter_mul(x, [1], np.ones((1, 0, 3))) is x
    wide = np.zeros((3, 0, 2**40), np.uint8)
    assert strew.torch_scatter.scatter(wide, [0, 1, 1], 0, None, 2).shape == (2, 0, 2**40)
    # The index is expanded to src's shape first, and then it is empty.
    assert strew.torch_scatter.scatter(wide, [0, 1, 1], 0).shape == (0, 0, 2**40)


def test_lists_tuples_and_numbers():
    out = strew.mxnet.scatter_nd((2.5, 3), [(1, 0)], (2,))
    assert out.dtype == np.float64 and out.tolist() == [3.0, 2.5]
    out = strew.torch_scatter.scatter([[1, 2], (3, 4)], (0, 0), 0)
    assert out.tolist() == [[4, 6]]
    assert strew.torch.scatter_reduce(3, 0, 0, 4, "sum").tolist() == 7
    assert strew.torch.scatter_reduce(np.int64(3), 0, np.int32(0), np.int64(4), "sum") == 7


def test_things_that_numpy_makes_arrays_of():
    out = strew.torch_scatter.scatter(array.array("d", [1, 2, 3]), memoryview(bytes(24)).cast("q"))
    assert out.tolist() == [6.0]


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda v: np.array(v, np.uint16)])
def test_integers_as_lists_and_as_arrays(kind):
    data = np.arange(6).reshape(2, 3)
    out = strew.openvino.slice_scatter(
        data, [[-1], [-2]], kind([1]), kind([2]), kind([1]), kind([1])
    )
    assert out.tolist() == [[0, -1, 2], [3, -2, 5]]
    assert strew.mxnet.scatter_nd([7], [[1]], kind([3])).tolist() == [0, 7, 0]


def test_integers_beyond_64_bits_are_extremes():
    data = np.arange(4)
    out = strew.openvino.slice_scatter(data, data[::-1], [2**70], [-(2**70)], [-1])
    assert out.tolist() == [0, 1, 2, 3]
    top = np.array([2**64 - 1], np.uint64)
    out = strew.openvino.slice_scatter(data, [9], [3], top, [1])
    assert out.tolist() == [0, 1, 2, 9]
    with pytest.raises(IndexError):
        strew.torch.scatter_reduce(data, 2**70, data, data, "sum")


def test_numpy_numbers_are_numbers():
    out = strew.torch_scatter.scatter(
        np.arange(4), [0, 1, 0, 1], np.int8(0), None, np.uint64(3), np.str_("sum")
    )
    assert out.tolist() == [2, 4, 0]
    x = np.zeros(1)
    out = strew.torch.scatter_reduce(x, 0, [0], [5.0], "mean", include_self=np.bool_(False))
    assert out.tolist() == [5.0]


def test_subclasses_of_arrays():
    class Named(np.ndarray):
        pass

    x = np.arange(3.0).view(Named)
    out = strew.torch_scatter.scatter(x, [0, 0, 0])
    assert type(out) is np.ndarray and out.tolist() == [3.0]
    assert strew.torch.scatter_reduce_(x, 0, [1], [5.0], "sum") is x and x[1] == 6.0
    masked = np.ma.masked_array([1.0, 2.0], [True, False])
    with pytest.raises(TypeError, match="src must be an array without a mask"):
        strew.torch_scatter.scatter(masked, [0, 0])


def test_ml_dtypes_is_not_imported_without_need():
    code = (
        "import sys, numpy, strew; strew.torch_scatter.scatter(numpy.ones(2), [0, 0]);"
        "assert 'ml_dtypes' not in sys.modules and 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
