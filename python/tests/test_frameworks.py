"""The neighbours' operators: names, defaults, dtypes, empty and 0-d arrays, and what errors say."""

import ml_dtypes
import numpy as np
import pytest
import strew

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
COMPLEX = [np.complex64, np.complex128]
NUMBERS = [*map(np.dtype, INTEGERS), *map(np.dtype, FLOATS), *map(np.dtype, COMPLEX)]
ALL = [np.dtype(bool), *NUMBERS]

tf, onnx, jax, ov, ms = strew.tensorflow, strew.onnx, strew.jax, strew.openvino, strew.mindspore
paddle = strew.paddle
I = np.array([1, 1, 0])
TUPLES = I[:, None]


def same(found, expected, dtype):
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.asarray(expected).astype(dtype))
    assert found.shape == np.shape(expected)


def hlo(operand, indices, updates, **options):
    """Rows of a vector or matrix."""
    rank = np.ndim(operand)
    return strew.stablehlo.scatter(
        operand,
        indices,
        updates,
        update_window_dims=list(range(1, rank)),
        inserted_window_dims=[0],
        scatter_dims_to_operand_dims=[0],
        index_vector_dim=1,
        **options,
    )


# Of x = [3, 1, 2] with y = [1, 2, 1] at [1, 1, 0]: what each way to spell it gives.
SETS = {
    "onnx.scatter_elements": lambda x, y: onnx.scatter_elements(x, I, y),
    "onnx.scatter": lambda x, y: onnx.scatter(x, I, y),
    "onnx.scatter_nd": lambda x, y: onnx.scatter_nd(x, TUPLES, y),
    "openvino.scatter_elements_update": lambda x, y: ov.scatter_elements_update(x, I, y, 0),
    "openvino.scatter_nd_update": lambda x, y: ov.scatter_nd_update(x, TUPLES, y),
    "openvino.scatter_update": lambda x, y: ov.scatter_update(x, I, y, 0),
    "tensorflow.tensor_scatter_nd_update": lambda x, y: tf.tensor_scatter_nd_update(x, TUPLES, y),
    "tensorflow.scatter_update": lambda x, y: tf.scatter_update(x.copy(), I, y),
    "paddle.scatter": lambda x, y: paddle.scatter(x, I, y),
    "paddle.put_along_axis": lambda x, y: paddle.put_along_axis(x, I, y, 0),
    "jax.at_set": lambda x, y: jax.at_set(x, I, y),
    "stablehlo.scatter": lambda x, y: hlo(x, I, y),
    "mxnet.scatter_set_nd": lambda x, y: strew.mxnet.scatter_set_nd(x.copy(), y, I[None], (3,)),
}
ADDS = {
    "onnx.scatter_elements": lambda x, y: onnx.scatter_elements(x, I, y, reduction="add"),
    "onnx.scatter_nd": lambda x, y: onnx.scatter_nd(x, TUPLES, y, "add"),
    "openvino.scatter_elements_update": lambda x, y: ov.scatter_elements_update(x, I, y, 0, "sum"),
    "openvino.scatter_nd_update": lambda x, y: ov.scatter_nd_update(x, TUPLES, y, "sum"),
    "tensorflow.tensor_scatter_nd_add": lambda x, y: tf.tensor_scatter_nd_add(x, TUPLES, y),
    "tensorflow.scatter_add": lambda x, y: tf.scatter_add(x.copy(), I, y),
    "paddle.scatter_nd_add": lambda x, y: paddle.scatter_nd_add(x, TUPLES, y),
    "paddle.put_along_axis": lambda x, y: paddle.put_along_axis(x, I, y, 0, "add"),
    "paddle.index_add": lambda x, y: paddle.index_add(x, I, 0, y),
    "jax.at_add": lambda x, y: jax.at_add(x, I, y),
    "stablehlo.scatter": lambda x, y: hlo(x, I, y, region="add"),
}
SUMS = {
    "tensorflow.scatter_nd": lambda y: tf.scatter_nd(TUPLES, y, (3,)),
    "tensorflow.math.unsorted_segment_sum": lambda y: tf.math.unsorted_segment_sum(y, I, 3),
    "paddle.scatter_nd": lambda y: paddle.scatter_nd(TUPLES, y, (3,)),
    "jax.ops.segment_sum": lambda y: jax.ops.segment_sum(y, I, 3),
    "mindspore.scatter_nd": lambda y: ms.scatter_nd(TUPLES, y, (3,)),
}
GATHERS = {
    "onnx.gather": lambda x: onnx.gather(x, I),
    "onnx.gather_elements": lambda x: onnx.gather_elements(x, I),
    "onnx.gather_nd": lambda x: onnx.gather_nd(x, TUPLES),
    "openvino.gather": lambda x: ov.gather(x, I, 0),
    "openvino.gather_elements": lambda x: ov.gather_elements(x, I, 0),
    "openvino.gather_nd": lambda x: ov.gather_nd(x, TUPLES),
    "tensorflow.gather_nd": lambda x: tf.gather_nd(x, TUPLES),
    "paddle.gather": lambda x: paddle.gather(x, I),
    "paddle.gather_nd": lambda x: paddle.gather_nd(x, TUPLES),
    "paddle.take_along_axis": lambda x: paddle.take_along_axis(x, I, 0),
    "jax.at_get": lambda x: jax.at_get(x, I),
    "mxnet.gather_nd": lambda x: strew.mxnet.gather_nd(x, I[None]),
}


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("name", SETS)
def test_of_duplicates_the_last_stays(name, dtype):
    x, y = np.array([3, 0, 2]).astype(dtype), np.array([1, 2, 0]).astype(dtype)
    same(SETS[name](x, y), [0, 2, 2], dtype)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("name", ADDS)
def test_duplicates_add_up(name, dtype):
    x, y = np.array([3, 1, 2]).astype(dtype), np.array([1, 2, 1]).astype(dtype)
    same(ADDS[name](x, y), [4, 4, 2], dtype)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("name", SUMS)
def test_sums_start_from_zeros(name, dtype):
    same(SUMS[name](np.array([1, 2, 1]).astype(dtype)), [1, 3, 0], dtype)


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("name", GATHERS)
def test_gathers_copy(name, dtype):
    same(GATHERS[name](np.array([3, 0, 2]).astype(dtype)), [0, 0, 3], dtype)


@pytest.mark.parametrize("name", SUMS)
def test_sixteen_bit_sums_are_rounded_once(name):
    ones = np.ones(4096, np.float16)
    calls = {
        "tensorflow.scatter_nd": lambda: tf.scatter_nd(np.zeros((4096, 1), int), ones, (1,)),
        "tensorflow.math.unsorted_segment_sum": lambda: tf.math.unsorted_segment_sum(
            ones, np.zeros(4096, int), 1
        ),
        "paddle.scatter_nd": lambda: paddle.scatter_nd(np.zeros((4096, 1), int), ones, (1,)),
        "jax.ops.segment_sum": lambda: jax.ops.segment_sum(ones, np.zeros(4096, int), 1),
        "mindspore.scatter_nd": lambda: ms.scatter_nd(np.zeros((4096, 1), int), ones, (1,)),
    }
    assert calls[name]().tolist() == [4096.0]


def test_empty_and_0_d():
    none, nowhere = np.zeros((0, 3), np.float32), np.zeros((0, 1), np.int64)
    x = np.ones((2, 3), np.float32)
    for out in (
        onnx.scatter_nd(x, nowhere, none),
        ov.scatter_nd_update(x, nowhere, none),
        ov.scatter_update(x, nowhere[:, 0], none, 0),
        tf.tensor_scatter_nd_add(x, nowhere, none),
        tf.scatter_add(x.copy(), nowhere[:, 0], none),
        jax.at_add(x, nowhere[:, 0], none),
        hlo(x, nowhere[:, 0], none, region="add"),
        ms.scatter_add(x.copy(), nowhere[:, 0], none),
        ms.tensor_scatter_add(x, nowhere, none),
    ):
        same(out, x, np.float32)
    same(jax.ops.segment_sum(none, nowhere[:, 0]), np.zeros((0, 3)), np.float32)
    same(jax.ops.segment_max(none, nowhere[:, 0], 2), np.full((2, 3), -np.inf), np.float32)
    same(tf.math.segment_sum(none, nowhere[:, 0]), np.zeros((0, 3)), np.float32)
    same(tf.math.unsorted_segment_prod(none, nowhere[:, 0], 1), np.ones((1, 3)), np.float32)
    same(onnx.gather(x, nowhere[:, 0]), none, np.float32)
    # 0-d: one index, one number, one segment.
    same(onnx.gather(x, np.array(1)), np.ones(3), np.float32)
    same(ov.gather(x, np.array(-1), 1), np.ones(2), np.float32)
    same(tf.scatter_sub(np.array([1, 2, 3]), np.array(1), np.array(2)), [1, 0, 3], np.int64)
    same(tf.math.unsorted_segment_sum(np.array([1, 2]), np.array(1), 2), [[0, 0], [1, 2]], np.int64)
    same(jax.at_add(np.array([1, 2]), np.array(-1), 5), [1, 7], np.int64)
    same(jax.at_set(np.array(3), (), 5), 5, np.int64)


def test_openvino_means_and_initial_values():
    data, index, updates = np.array([-7, 5]), np.array([0, 0]), np.array([1, 3])
    assert ov.scatter_elements_update(data, index, updates, 0, "mean").tolist() == [-1, 5]
    assert ov.scatter_elements_update(data, index, updates, 0, "mean", False).tolist() == [2, 5]
    assert ov.scatter_elements_update(
        data, index, updates, 0, "max", use_init_val=False
    ).tolist() == [3, 5]
    assert ov.scatter_elements_update(data, index, updates, 0, "prod").tolist() == [-21, 5]
    assert ov.scatter_elements_update([True, False], [1, 0], [True, True], 0, "sum").tolist() == [
        True,
        True,
    ]


def test_onnx_opsets():
    x, i, y = np.array([5, 1]), np.array([0, -1]), np.array([3, 4])
    assert onnx.scatter_elements(x, i, y, reduction="min").tolist() == [3, 1]
    assert onnx.scatter_elements(x, i, y, 0, "mul", opset=16).tolist() == [15, 4]
    with pytest.raises(ValueError, match=r"onnx\.scatter_elements: reduction = min: "):
        onnx.scatter_elements(x, i, y, reduction="min", opset=16)
    with pytest.raises(IndexError, match=r"onnx\.scatter: indices\[1\] = -1: "):
        onnx.scatter(x, i, y, opset=9)


def test_tensorflow_policies():
    i, y = np.array([[0], [7], [-1]]), np.array([1, 2, 4])
    with pytest.raises(
        IndexError, match=r"tensorflow\.scatter_nd: indices\[1, 0\] = 7: index 7 is out of bounds"
    ):
        tf.scatter_nd(i, y, (2,))
    assert tf.scatter_nd(i, y, (2,), bad_indices_policy="IGNORE").tolist() == [1, 0]
    assert tf.gather_nd(np.array([5, 6]), i, bad_indices_policy="IGNORE").tolist() == [5, 0, 0]
    assert tf.tensor_scatter_nd_max(np.array([0, 9]), i, y, "IGNORE").tolist() == [1, 9]
    # Rows of unsorted segments are left out by a negative number only.
    assert tf.math.unsorted_segment_sum(y, np.array([0, 0, -1]), 1).tolist() == [3]
    with pytest.raises(IndexError, match=r"segment_ids\[1\] = 7"):
        tf.math.unsorted_segment_sum(y, i[:, 0], 1)


def test_paddle_first_values():
    x = np.array([np.nan, 6.0])
    for reduce, index, values, first in (
        ("add", [0], [-0.0], -0.0),
        ("mean", [0, 0], [-0.0, -0.0], -0.0),
        ("amax", [0, 0], [np.nan, 9.0], np.nan),
        ("amin", [0, 0], [9.0, np.nan], 9.0),
    ):
        found = paddle.put_along_axis(
            x, np.array(index), np.array(values), 0, reduce, include_self=False
        )
        np.testing.assert_array_equal(found, [first, 6.0])
        assert np.signbit(found[0]) == np.signbit(first)


def test_paddle_numbers():
    x = np.array([1, 2, 3], np.uint8)
    same(paddle.put_along_axis(x, [0], 7, 0), [7, 2, 3], np.uint8)
    same(paddle.put_along_axis(x, [0, 1], 7.9, 0, broadcast=False), [7, 7, 3], np.uint8)
    same(paddle.index_fill(x, [-1], 0, 300), [1, 2, 44], np.uint8)
    same(paddle.gather(np.eye(2), np.array(1), axis=1), [0, 1], np.float64)
    with pytest.raises(ValueError, match="values has dtype float64: it must be arr's dtype, uint8"):
        paddle.put_along_axis(x, [0], [7.0], 0)


def test_tensorflow_segments_without_rows():
    ids = np.array([2, 2])
    assert tf.math.segment_min(np.array([3.0, np.nan]), ids).tolist()[:2] == [0, 0]
    assert np.isnan(tf.math.segment_min(np.array([3.0, np.nan]), ids)[2])
    assert tf.math.unsorted_segment_max(np.array([3, 4]), ids, 3).tolist() == [
        -(2**63),
        -(2**63),
        4,
    ]
    lowest = np.finfo(np.float32).min
    assert tf.math.unsorted_segment_max(np.float32([3, 4]), ids, 3).tolist() == [lowest, lowest, 4]
    assert tf.math.unsorted_segment_mean(np.array([3, 4]), ids, 3).tolist() == [0, 0, 3.5]
    for name in ("int8", "int16", "uint8", "uint16"):
        # Sums beyond the type, and beyond the integers that float32 holds, are exact.
        for count in (3, 70_000):
            many = np.full(count, np.iinfo(name).max, name)
            many[0] = 0
            found = tf.math.unsorted_segment_mean(many, np.zeros(count, int), 1)
            mean = np.float32(np.iinfo(name).max * (count - 1) / count)
            assert (found.dtype, found.tolist()) == (np.float32, [mean])
    assert tf.math.segment_mean(np.array([-3, -4]), ids).tolist() == [0, 0, -3]
    assert tf.math.unsorted_segment_sqrt_n(
        np.array([3.0, 5.0, 1, 1]), np.zeros(4, int), 2
    ).tolist() == [5, 0]


def test_jax_modes_and_masks():
    x, i = np.arange(4.0), np.array([0, 9, -1, -9])
    assert jax.at_add(x, i, 10).tolist() == [10, 1, 2, 13]
    assert jax.at_add(x, i, 10, mode="clip").tolist() == [20, 1, 2, 23]
    assert jax.at_get(x, i).tolist() == [0, 3, 3, 0]
    np.testing.assert_array_equal(jax.at_get(x, i, mode="fill"), [0, np.nan, 3, np.nan])
    assert jax.at_get(x, i, mode="fill", fill_value=-1).tolist() == [0, -1, 3, -1]
    assert jax.at_multiply(x, x > 1, np.array(2.0)).tolist() == [0, 1, 4, 6]
    table = np.zeros((2, 3))
    assert jax.at_set(table, [np.array([[1], [0]]), np.array([0, 2])], 1).tolist() == [
        [1, 0, 1],
        [1, 0, 1],
    ]
    assert jax.at_max(table, (slice(None), np.array([1])), np.array([[1], [-1]])).tolist() == [
        [0, 1, 0],
        [0, 0, 0],
    ]
    with pytest.raises(ValueError, match=r"jax\.at_add: indices\[\d\] = -?\d+: .* out of bounds"):
        jax.at_add(x, i, 10, mode="error")
    with pytest.raises(ValueError, match=r"jax\.at_get: indices\[\d\] = -?\d+: .* out of bounds"):
        jax.at_get(x, i, mode="error")
    with pytest.raises(ValueError, match=r"jax\.at_set: mode = near: "):
        jax.at_set(x, i, 1, mode="near")


def test_jax_parameters():
    x, i = np.zeros(4), [-1, 0, 5]
    assert jax.at_set(x, i, 7.0, wrap_negative_indices=False).tolist() == [7, 0, 0, 0]
    for dtype in ("i1", "i2", "i8"):
        where = np.array([-1, 0], dtype)
        options = {"wrap_negative_indices": False}
        assert jax.at_add(x, where, 1.0, **options).tolist() == [1, 0, 0, 0]
        assert jax.at_add(x, where, 1.0, mode="clip", **options).tolist() == [2, 0, 0, 0]
        assert jax.at_get(x + 1, where, mode="fill", fill_value=9, **options).tolist() == [9, 1]
        with pytest.raises(ValueError, match="-1.*must not be negative"):
            jax.at_add(x, where, 1.0, mode="error", **options)
    promises = {"indices_are_sorted": True, "unique_indices": True}
    for name in ("set", "add", "subtract", "multiply", "divide", "min", "max", "power"):
        call = getattr(jax, f"at_{name}")
        for mode in (None, "drop", "fill", "clip", "promise_in_bounds"):
            found = call(x + 2, [3, 3], 2.0, mode=mode, **promises)
            np.testing.assert_array_equal(found, call(x + 2, [3, 3], 2.0))
    assert jax.at_get(x, [1, 1], **promises).tolist() == [0, 0]
    assert jax.at_apply(x + 2, [1, 1, 9, -1], np.square, **promises).tolist() == [2, 16, 2, 4]
    assert jax.at_apply(x + 2, (slice(1, 3),), np.square).tolist() == [2, 4, 4, 2]
    with pytest.raises(ValueError, match=r"jax\.at_apply: indices"):
        jax.at_apply(x, [9], np.square, mode="error")
    rows, ids = np.array([1.0, 2.0, 4.0]), [0, 0, 2]
    assert jax.ops.segment_sum(rows, ids, num_segments=3, indices_are_sorted=True).tolist() == [
        *(3, 0, 4),
    ]
    for name in ("segment_sum", "segment_prod", "segment_min", "segment_max"):
        call = getattr(jax.ops, name)
        found = call(rows, ids, 3, True, False, 2, "drop")
        np.testing.assert_array_equal(found, call(rows, ids, 3))
        clipped = call(rows, np.array([-5, 0, 9]), 3, bucket_size=1, mode="clip")
        np.testing.assert_array_equal(clipped, call(rows, [0, 0, 2], 3))
    assert jax.ops.segment_sum(rows, np.uint64([0, 2**63, 1]), 2, mode="clip").tolist() == [1, 6]
    assert jax.ops.segment_sum(rows, [0, 1, 1], 0, mode="clip").tolist() == []
    with pytest.raises(ValueError, match="mode = 'error'"):
        jax.ops.segment_sum(rows, ids, mode="error")


def test_tensorflow_names_and_updates_without_a_dtype():
    x, i = np.zeros(3, np.float32), [[0], [2]]
    for name in ("update", "add", "sub", "min", "max"):
        call = getattr(tf, f"tensor_scatter_nd_{name}")
        expected = call(x, i, np.float32([1, 2]))
        for updates in ([1, 2], [1.0, 2.0], (1, 2)):
            found = call(x, i, updates, name="a name")
            np.testing.assert_array_equal(found, expected)
    assert tf.scatter_add(x.copy(), [0, 0], [1, 2], False, "a name").tolist() == [3, 0, 0]
    assert tf.scatter_update(x.copy(), [1], 5, use_locking=True).tolist() == [0, 5, 0]
    assert tf.scatter_nd(i, [1, 2], (3,), name="a name").tolist() == [1, 0, 2]
    assert tf.gather_nd(x, i, 0, "a name").tolist() == [0, 0]
    assert tf.math.segment_sum([1, 2], [0, 0], name="a name").tolist() == [3]
    assert tf.math.unsorted_segment_max([1, 2], [0, 0], 1, "a name").tolist() == [2]
    small = np.zeros(3, np.uint8)
    assert tf.tensor_scatter_nd_add(small, i, [255, 2]).tolist() == [255, 0, 2]
    assert tf.tensor_scatter_nd_update(np.zeros(3, bool), i, [True, True]).tolist() == [1, 0, 1]
    for tensor, updates in ((small, [256, 1]), (small, [-1, 1]), (small, [1.5, 1]), (x, [1j, 1])):
        with pytest.raises(TypeError, match="updates has dtype"):
            tf.tensor_scatter_nd_add(tensor, i, updates)


def test_paddle_without_indices_beside_wider_values():
    arr = np.arange(6.0).reshape(3, 2)
    for indices, values, axis in (
        (np.zeros((0, 2), int), np.ones((3, 2)), 0),
        (np.zeros((3, 0), int), np.ones((3, 4)), 1),
        (np.zeros((0, 2), int), np.ones((5, 7)), -2),
    ):
        for reduce in ("assign", "add", "mul", "amin", "mean"):
            found = strew.paddle.put_along_axis(arr, indices, values, axis, reduce)
            assert found.tolist() == arr.tolist()


def test_stablehlo_of_several_operands():
    pair = (np.zeros(3), np.zeros(3, int))
    with pytest.raises(TypeError, match="variadic form.*for each operand"):
        strew.stablehlo.scatter(pair, [[0]], pair, index_vector_dim=1)


def test_stablehlo_windows_that_are_partly_outside():
    operand, updates = np.zeros(4, int), np.array([[1, 2, 3]])
    numbers = {
        "update_window_dims": [1],
        "scatter_dims_to_operand_dims": [0],
        "index_vector_dim": 1,
    }
    for start, by_window, by_element in (
        (2, [0] * 4, [0, 0, 1, 2]),
        (1, [0, 1, 2, 3], [0, 1, 2, 3]),
    ):
        start = np.array([[start]])
        assert strew.stablehlo.scatter(operand, start, updates, **numbers).tolist() == by_window
        out = strew.stablehlo.scatter(operand, start, updates, **numbers, out_of_bounds="element")
        assert out.tolist() == by_element


def test_mindspore_devices():
    for device, expected in (("cpu", None), ("gpu", [11, 2])):
        x, i, y = np.array([1, 2]), np.array([0, 5]), np.array([10, 20])
        if expected is None:
            with pytest.raises(RuntimeError, match=r"mindspore\.scatter_add: indices\[1\] = 5"):
                ms.scatter_add(x, i, y, device=device)
            assert x.tolist() == [1, 2]
        else:
            assert ms.scatter_add(x, i, y, device=device) is x and x.tolist() == expected


def test_mindspore_converts_updates_but_never_the_parameter():
    x = np.array([1.0, 2.0], np.float32)
    assert ms.scatter_sub(x, np.array([0]), np.array([1], np.int8)).tolist() == [0, 2]
    for exception in (TypeError, RuntimeError, strew.ConversionError):
        with pytest.raises(exception, match="updates has dtype float64"):
            ms.scatter_sub(x, np.array([0]), np.array([1.0]))
    assert x.tolist() == [0, 2]


def test_mxnet_req():
    data, indices = np.array([1, 2, 4]), np.array([[1, 1, 0]])
    for function, new, added in (
        (strew.mxnet.scatter_nd, [4, 2, 0], [14, 23, 30]),
        (strew.mxnet.backward_gather_nd, [4, 3, 0], [14, 23, 30]),
    ):
        out = np.array([10, 20, 30])
        assert function(data, indices, (3,), out=out) is out and out.tolist() == new
        out = np.array([10, 20, 30])
        assert function(data, indices, (3,), out=out, req="add") is out and out.tolist() == added
    out = np.array([10, 20, 30])
    assert strew.mxnet.gather_nd(data, indices, out=out) is out and out.tolist() == [2, 2, 1]
    assert strew.mxnet.gather_nd(data, indices, out=out, req="add") is out and out.tolist() == [
        4,
        4,
        2,
    ]


def test_mxnet_out_must_fit_and_stays_on_errors():
    data, out = np.array([1, 2]), np.array([10, 20])
    for req in ("write", "add"):
        with pytest.raises(IndexError, match=r"mxnet\.scatter_nd: indices\[0, 1\] = 2"):
            strew.mxnet.scatter_nd(data, [[0, 2]], (2,), out=out, req=req)
        with pytest.raises(IndexError, match=r"mxnet\.gather_nd: indices\[0, 1\] = 2"):
            strew.mxnet.gather_nd(data, [[0, 2]], out=out, req=req)
        with pytest.raises(
            ValueError, match=r"out has shape \[2\]: it must be the result's, \[3\]"
        ):
            strew.mxnet.scatter_nd(data, [[0, 1]], (3,), out=out, req=req)
        with pytest.raises(TypeError, match="out has dtype int64"):
            strew.mxnet.scatter_nd(data.astype(np.int32), [[0, 1]], (2,), out=out, req=req)
        with pytest.raises(ValueError, match="shares memory with data"):
            strew.mxnet.gather_nd(out, [[0, 1]], out=out, req=req)
    with pytest.raises(ValueError, match="req = add: .* out"):
        strew.mxnet.scatter_nd(data, [[0, 1]], (2,), req="add")
    with pytest.raises(ValueError, match="req = null: "):
        strew.mxnet.scatter_nd(data, [[0, 1]], (2,), out=out, req="null")
    assert out.tolist() == [10, 20]


# The table of COMPARE.md: x = [5, 6, 7] with 1 and 2 at [0, -1], at [0, 3] and at [0, 0]. A class:
# the error's.
X, Y = np.array([5.0, 6.0, 7.0]), np.array([1.0, 2.0])
LAST, SUM, NEW = [2, 6, 7], [8, 6, 7], [3, 0, 0]
CELLS = {
    "mxnet.scatter_set_nd": (
        lambda x, i, y: strew.mxnet.scatter_set_nd(x, y, i[None], (3,)),
        IndexError,
        IndexError,
        LAST,
    ),
    "mxnet.gather_nd": (
        lambda x, i, y: strew.mxnet.gather_nd(x, i[None]),
        [5, 7],
        IndexError,
        [5, 5],
    ),
    "mxnet.backward_gather_nd": (
        lambda x, i, y: strew.mxnet.backward_gather_nd(y, i[None], (3,)),
        [1, 0, 2],
        IndexError,
        NEW,
    ),
    "openvino.scatter_elements_update": (
        lambda x, i, y: ov.scatter_elements_update(x, i, y, 0),
        [1, 6, 2],
        IndexError,
        LAST,
    ),
    "openvino.scatter_nd_update, sum": (
        lambda x, i, y: ov.scatter_nd_update(x, i[:, None], y, "sum"),
        [6, 6, 9],
        IndexError,
        SUM,
    ),
    "openvino.scatter_update": (
        lambda x, i, y: ov.scatter_update(x, i, y, 0),
        IndexError,
        IndexError,
        LAST,
    ),
    "openvino.gather": (lambda x, i, y: ov.gather(x, i, 0), [5, 7], [5, 0], [5, 5]),
    "openvino.gather_elements": (
        lambda x, i, y: ov.gather_elements(x, i, 0),
        [5, 7],
        IndexError,
        [5, 5],
    ),
    "openvino.gather_nd": (lambda x, i, y: ov.gather_nd(x, i[:, None]), [5, 7], IndexError, [5, 5]),
    "mindspore.scatter_update": (
        lambda x, i, y: ms.scatter_update(x.copy(), i, y),
        RuntimeError,
        RuntimeError,
        LAST,
    ),
    "mindspore.scatter_add, gpu": (
        lambda x, i, y: ms.scatter_add(x.copy(), i, y, device="gpu"),
        [6, 6, 7],
        [6, 6, 7],
        SUM,
    ),
    "mindspore.scatter_nd_add": (
        lambda x, i, y: ms.scatter_nd_add(x.copy(), i[:, None], y),
        RuntimeError,
        RuntimeError,
        SUM,
    ),
    "mindspore.tensor_scatter_update, gpu": (
        lambda x, i, y: ms.tensor_scatter_update(x, i[:, None], y, device="gpu"),
        [1, 6, 7],
        [1, 6, 7],
        LAST,
    ),
    "mindspore.scatter_nd": (
        lambda x, i, y: ms.scatter_nd(i[:, None], y, (3,)),
        RuntimeError,
        RuntimeError,
        NEW,
    ),
    "mindspore.tensor_scatter_elements": (
        lambda x, i, y: ms.tensor_scatter_elements(x, i, y, 0),
        [1, 6, 2],
        [1, 6, 7],
        LAST,
    ),
    "mindspore.scatter": (lambda x, i, y: ms.scatter(x, 0, i, y), [1, 6, 2], [1, 6, 7], LAST),
    "onnx.scatter_elements": (
        lambda x, i, y: onnx.scatter_elements(x, i, y),
        [1, 6, 2],
        IndexError,
        LAST,
    ),
    "onnx.scatter_nd, add": (
        lambda x, i, y: onnx.scatter_nd(x, i[:, None], y, "add"),
        [6, 6, 9],
        IndexError,
        SUM,
    ),
    "onnx.scatter, opset 9": (
        lambda x, i, y: onnx.scatter(x, i, y, opset=9),
        IndexError,
        IndexError,
        LAST,
    ),
    "onnx.gather": (lambda x, i, y: onnx.gather(x, i), [5, 7], IndexError, [5, 5]),
    "tensorflow.scatter_nd": (
        lambda x, i, y: tf.scatter_nd(i[:, None], y, (3,)),
        IndexError,
        IndexError,
        NEW,
    ),
    "tensorflow.tensor_scatter_nd_update": (
        lambda x, i, y: tf.tensor_scatter_nd_update(x, i[:, None], y),
        IndexError,
        IndexError,
        LAST,
    ),
    "tensorflow.tensor_scatter_nd_add, ignored": (
        lambda x, i, y: tf.tensor_scatter_nd_add(x, i[:, None], y, "IGNORE"),
        [6, 6, 7],
        [6, 6, 7],
        SUM,
    ),
    "tensorflow.scatter_add": (
        lambda x, i, y: tf.scatter_add(x.copy(), i, y),
        IndexError,
        IndexError,
        SUM,
    ),
    "tensorflow.gather_nd": (
        lambda x, i, y: tf.gather_nd(x, i[:, None]),
        IndexError,
        IndexError,
        [5, 5],
    ),
    "tensorflow.math.segment_sum": (
        lambda x, i, y: tf.math.segment_sum(y, i),
        ValueError,
        [1, 0, 0, 2],
        [3],
    ),
    "tensorflow.math.unsorted_segment_sum": (
        lambda x, i, y: tf.math.unsorted_segment_sum(y, i, 3),
        [1, 0, 0],
        IndexError,
        NEW,
    ),
    "paddle.scatter": (lambda x, i, y: paddle.scatter(x, i, y), [1, 6, 2], IndexError, LAST),
    "paddle.scatter, added": (
        lambda x, i, y: paddle.scatter(x, i, y, False),
        [1, 6, 2],
        IndexError,
        [3, 6, 7],
    ),
    "paddle.put_along_axis, exact": (
        lambda x, i, y: paddle.put_along_axis(x, i, y, 0, broadcast=False),
        [1, 6, 2],
        RuntimeError,
        LAST,
    ),
    "paddle.index_add": (lambda x, i, y: paddle.index_add(x, i, 0, y), [6, 6, 9], ValueError, SUM),
    "paddle.gather_nd": (
        lambda x, i, y: paddle.gather_nd(x, i[:, None]),
        [5, 7],
        ValueError,
        [5, 5],
    ),
    "paddle.geometric.segment_sum": (
        lambda x, i, y: paddle.geometric.segment_sum(y, i),
        ValueError,
        [1, 0, 0, 2],
        [3],
    ),
    "jax.at_set": (lambda x, i, y: jax.at_set(x, i, y), [1, 6, 2], [1, 6, 7], LAST),
    "jax.at_add, clip": (
        lambda x, i, y: jax.at_add(x, i, y, mode="clip"),
        [6, 6, 9],
        [6, 6, 9],
        SUM,
    ),
    "jax.at_get": (lambda x, i, y: jax.at_get(x, i), [5, 7], [5, 7], [5, 5]),
    "jax.ops.segment_sum": (
        lambda x, i, y: jax.ops.segment_sum(y, i, 3),
        [1, 0, 0],
        [1, 0, 0],
        NEW,
    ),
    "stablehlo.scatter": (lambda x, i, y: hlo(x, i, y), [1, 6, 7], [1, 6, 7], LAST),
}


@pytest.mark.parametrize("case", [0, 1, 2], ids=["negative", "too large", "duplicates"])
@pytest.mark.parametrize("name", CELLS)
def test_indices_of_the_table(name, case):
    call, *expected = CELLS[name]
    x, index = X.copy(), np.array([[0, -1], [0, 3], [0, 0]][case])
    if isinstance(expected[case], type):
        with pytest.raises(Exception, match=r"\[1(, 0)?\] = |\[0, 1\] = ") as found:
            call(x, index, Y)
        assert found.type is expected[case]
        assert x.tolist() == X.tolist()
    else:
        assert call(x, index, Y).tolist() == expected[case]


N = np.nan
# Maxima: of an update that is NaN with others, and of a NaN that was there before.
NANS = {
    "openvino.scatter_elements_update": (
        lambda x, i, y: ov.scatter_elements_update(x, i, y, 0, "max"),
        [9, 6],
        [N, 6],
    ),
    "openvino.scatter_nd_update": (
        lambda x, i, y: ov.scatter_nd_update(x, i[:, None], y, "max"),
        [9, 6],
        [N, 6],
    ),
    "mindspore.scatter_max": (lambda x, i, y: ms.scatter_max(x.copy(), i, y), [N, 6], [N, 6]),
    "mindspore.tensor_scatter_max": (
        lambda x, i, y: ms.tensor_scatter_max(x, i[:, None], y),
        [N, 6],
        [N, 6],
    ),
    "onnx.scatter_elements": (
        lambda x, i, y: onnx.scatter_elements(x, i, y, 0, "max"),
        [N, 6],
        [N, 6],
    ),
    "tensorflow.tensor_scatter_nd_max": (
        lambda x, i, y: tf.tensor_scatter_nd_max(x, i[:, None], y),
        [9, 6],
        [N, 6],
    ),
    "tensorflow.scatter_max": (lambda x, i, y: tf.scatter_max(x.copy(), i, y), [9, 6], [N, 6]),
    "paddle.put_along_axis": (
        lambda x, i, y: paddle.put_along_axis(x, i, y, 0, "amax"),
        [9, 6],
        [N, 6],
    ),
    "jax.at_max": (lambda x, i, y: jax.at_max(x, i, y), [N, 6], [N, 6]),
    "stablehlo.scatter": (lambda x, i, y: hlo(x, i, y, region="max"), [N, 6], [N, 6]),
}


@pytest.mark.parametrize("name", NANS)
def test_nan_of_the_table(name):
    call, of_update, of_cell = NANS[name]
    zeros = np.array([0, 0])
    np.testing.assert_array_equal(call(np.array([5.0, 6.0]), zeros, np.array([N, 9.0])), of_update)
    np.testing.assert_array_equal(call(np.array([N, 6.0]), zeros, np.array([3.0, 4.0])), of_cell)


def test_dtypes_that_are_refused():
    truth, one = np.array([True, False]), np.array([[0]])
    for call, message in (
        (lambda: strew.mxnet.backward_gather_nd(np.int8([1]), [[0]], (1,)), "data has dtype int8"),
        (lambda: tf.tensor_scatter_nd_add(truth, one, truth[:1]), "tensor has dtype bool"),
        (lambda: tf.math.segment_sum(truth, [0, 0]), "data has dtype bool"),
        (lambda: tf.math.unsorted_segment_sqrt_n(np.array([1]), np.array([0]), 1), "int64"),
        (lambda: paddle.put_along_axis(X + 1j, one[0], X[:1] + 1j, 0, "amax"), "complex128"),
        (
            lambda: paddle.scatter_nd_add(truth, one, truth[:1]),
            "the sum is not defined for dtype bool",
        ),
        (lambda: ms.scatter_add(truth, one[0], truth[:1]), "input_x has dtype bool"),
        (lambda: jax.at_divide(np.array([1]), one[0], 2), "int64"),
        (lambda: jax.at_set(np.array([1]), one[0], 2.5), "y has dtype float64"),
        (lambda: onnx.scatter_nd(X, np.int32(one), X[:1]), "indices has dtype int32"),
        (lambda: hlo(X, np.array([0.0]), X[:1]), "indices has dtype float64"),
        (lambda: ov.scatter_nd_update(X + 1j, one, X[:1] + 1j, "max"), "complex128"),
    ):
        with pytest.raises((RuntimeError, TypeError, ValueError), match=message):
            call()
