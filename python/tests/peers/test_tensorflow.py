"""TensorFlow's tensors go in and come out. Skipped without TensorFlow."""

import numpy as np
import pytest
import strew

tf = pytest.importorskip("tensorflow")

IDS = [0, 0, 1]
RUNS = {
    "scatter": lambda x: strew.scatter(x, IDS),
    "scatter std": lambda x: strew.scatter(x, IDS, reduce="std"),
    "scatter all": lambda x: strew.scatter(x, IDS, dim=None),
    "scatter lines": lambda x: strew.scatter([[1.0]] * x[None], [IDS], 1, reduce="median"),
    "gather": lambda x: strew.gather(x, IDS),
    "aggregate": lambda x: strew.aggregate(x, IDS, "median"),
    "weights": lambda x: strew.aggregate(x, IDS, "mean", weights=[1, 2, 1]),
    "function": lambda x: strew.aggregate(x, IDS, lambda values: values[0]),
    "plan": lambda x: strew.Plan(IDS).scatter(x),
    "tensorflow": lambda x: strew.tensorflow.math.segment_sum(x, tf.constant(IDS), name="n"),
    "torch_scatter": lambda x: strew.torch_scatter.scatter_max(x, IDS)[0],
    "pyg_lib": lambda x: strew.pyg_lib.scatter_std(x, IDS),
    "jax": lambda x: strew.jax.at_add(x, (slice(None, None, 2),), 1.0),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_same_kind_comes_out(name):
    values = np.array([1, 2, 4], np.float32)
    for x in (tf.constant(values), tf.Variable(values)):
        if isinstance(x, tf.Variable) and name in ("jax", "torch_scatter", "scatter lines"):
            continue
        found = RUNS[name](x)
        assert isinstance(found, tf.Tensor), type(found)
        np.testing.assert_array_equal(found, RUNS[name](values))


@pytest.mark.parametrize("dtype", "bool i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split())
def test_dtypes(dtype):
    x = tf.constant(np.array([1, 0, 1]).astype(dtype))
    found = strew.tensorflow.tensor_scatter_nd_update(x, [[2], [0]], tf.gather(x, [0, 0]))
    assert found.dtype == x.dtype and isinstance(found, tf.Tensor)
    np.testing.assert_array_equal(found, x)
    wide = tf.cast(tf.constant([1.0, 2.0]), tf.bfloat16)
    assert strew.scatter(wide, [0, 0]).dtype == tf.bfloat16


def test_tensors_never_change():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(TypeError, match="immutable"):
        strew.tensorflow.scatter_update(x, [0], [5.0])
    with pytest.raises(TypeError, match="immutable"):
        strew.scatter(tf.constant([1.0]), [0], out=x)
    assert x.numpy().tolist() == [1, 2]


def test_gradients():
    x, variable, ids = tf.constant([1.0, 2.0, 4.0]), tf.Variable([1.0, 2.0, 4.0]), tf.constant(IDS)

    @tf.custom_gradient
    def total(x):
        return strew.scatter(tf.stop_gradient(x), ids), lambda gradient: strew.gather(gradient, ids)

    with tf.GradientTape() as tape:
        tape.watch(x)
        for watched in (x, variable):
            with pytest.raises(RuntimeError, match=r"GradientTape.*stop_gradient"):
                strew.scatter(watched, ids)
        loss = tf.reduce_sum(total(x) * tf.constant([10.0, 20.0]))
    assert tape.gradient(loss, x).numpy().tolist() == [10, 10, 20]
