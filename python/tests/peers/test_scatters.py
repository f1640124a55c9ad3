"""The neighbours' operators against the neighbours, on random problems. Each needs its framework."""

import os

import numpy as np
import pytest
import strew

ROUNDS = range(60)
# JAX compiles anew for every shape.
FEW = range(16)
DTYPES = ["int32", "float32"]


def problem(seed):
    """Numbers that every order of additions has the same sum of."""
    rng = np.random.default_rng(seed)
    dtype = DTYPES[seed % len(DTYPES)]

    def values(shape):
        return rng.integers(-9, 9, shape).astype(dtype)

    return rng, values


def sizes(rng, least, most, rank):
    return tuple(int(n) for n in rng.integers(least, most, rank))


def same(found, expected, seed):
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape, seed
    np.testing.assert_array_equal(found, expected, err_msg=f"seed {seed}")


@pytest.fixture(scope="module")
def jax():
    return pytest.importorskip("jax")


@pytest.fixture(scope="module")
def tf():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    return pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def ort():
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    helper = onnx.helper

    def run(op, *inputs, **attributes):
        names = [f"x{k}" for k in range(len(inputs))]
        kinds = [helper.np_dtype_to_tensor_dtype(x.dtype) for x in inputs]
        infos = [
            helper.make_tensor_value_info(n, kind, x.shape)
            for n, kind, x in zip(names, kinds, inputs)
        ]
        out = helper.make_tensor_value_info("out", kinds[0], None)
        graph = helper.make_graph(
            [helper.make_node(op, names, ["out"], **attributes)], "one", infos, [out]
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
        options = runtime.SessionOptions()
        options.log_severity_level = 4
        session = runtime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return session.run(None, dict(zip(names, inputs)))[0]

    return run


class TestJax:
    """All of `x.at[..]` and `jax.ops`."""

    @pytest.mark.parametrize("method", ["set", "add", "subtract", "multiply", "min", "max"])
    def test_at(self, jax, method):
        for seed in FEW:
            rng, values = problem(seed)
            shape = sizes(rng, 1, 5, rng.integers(1, 4))
            depth = int(rng.integers(1, len(shape) + 1))
            outer = sizes(rng, 1, 6, rng.integers(0, 3))
            most = max(shape)
            indices = [
                rng.integers(-most - 1, most + 1, outer).astype(np.int32) for _ in range(depth)
            ]
            x, y = values(shape), values(outer + shape[depth:])
            mode = [None, "drop", "clip", "fill"][seed % 4]
            if method == "set":
                # Of duplicates JAX leaves open which stays.
                flat = int(np.prod(outer))
                if flat > shape[0]:
                    continue
                indices[0] = rng.permutation(shape[0])[:flat].astype(np.int32).reshape(outer)
            expected = getattr(jax.numpy.asarray(x).at[tuple(indices)], method)(y, mode=mode)
            same(
                getattr(strew.jax, f"at_{method}")(x, tuple(indices), y, mode=mode), expected, seed
            )

    def test_get(self, jax):
        for seed in FEW:
            rng, values = problem(seed)
            x, indices = values((5, 3)), rng.integers(-8, 8, (2, 4)).astype(np.int32)
            for mode in (None, "clip", "fill"):
                same(
                    strew.jax.at_get(x, indices, mode=mode),
                    jax.numpy.asarray(x).at[indices].get(mode=mode),
                    seed,
                )

    @pytest.mark.parametrize("name", ["segment_sum", "segment_prod", "segment_min", "segment_max"])
    def test_segments(self, jax, name):
        for seed in FEW:
            rng, values = problem(seed)
            rows, count = int(rng.integers(1, 9)), int(rng.integers(1, 5))
            data, ids = (
                values((rows, *sizes(rng, 1, 3, rng.integers(0, 2)))),
                rng.integers(-1, 6, rows).astype(np.int32),
            )
            expected = getattr(jax.ops, name)(
                jax.numpy.asarray(data), jax.numpy.asarray(ids), count
            )
            same(getattr(strew.jax.ops, name)(data, ids, count), expected, seed)

    @pytest.mark.parametrize("region", ["add", "mul", "min", "max"])
    def test_scatter_of_windows(self, jax, region):
        numbers = jax.lax.ScatterDimensionNumbers(
            update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0, 1)
        )
        for seed in FEW:
            rng, values = problem(seed)
            operand, width, count = values((5, 6)), int(rng.integers(1, 4)), int(rng.integers(0, 5))
            indices = rng.integers(-2, 7, (count, 2)).astype(np.int32)
            updates = values((count, width))
            expected = getattr(jax.lax, f"scatter_{region}")(
                operand, indices, updates, numbers, mode=jax.lax.GatherScatterMode.FILL_OR_DROP
            )
            found = strew.stablehlo.scatter(
                operand,
                indices,
                updates,
                update_window_dims=[1],
                inserted_window_dims=[0],
                scatter_dims_to_operand_dims=[0, 1],
                index_vector_dim=1,
                region=region,
            )
            same(found, expected, seed)


class TestTensorflow:
    """What `tf` has of it, eagerly on the CPU."""

    def tuples(self, rng, values):
        shape = sizes(rng, 1, 5, rng.integers(1, 4))
        depth = int(rng.integers(1, len(shape) + 1))
        outer = sizes(rng, 1, 6, rng.integers(1, 3))
        rows = [rng.integers(0, n, outer) for n in shape[:depth]]
        return values(shape), np.stack(rows, -1).astype(np.int32), values(outer + shape[depth:])

    @pytest.mark.parametrize("name", ["update", "add", "sub", "min", "max"])
    def test_tensor_scatter_nd(self, tf, name):
        for seed in ROUNDS:
            tensor, indices, updates = self.tuples(*problem(seed))
            expected = getattr(tf, f"tensor_scatter_nd_{name}")(tensor, indices, updates)
            if (
                name == "update"
                and len(np.unique(indices.reshape(-1, indices.shape[-1]), axis=0))
                < indices[..., 0].size
            ):
                continue
            same(
                getattr(strew.tensorflow, f"tensor_scatter_nd_{name}")(tensor, indices, updates),
                expected,
                seed,
            )

    def test_scatter_nd_and_back(self, tf):
        for seed in ROUNDS:
            tensor, indices, updates = self.tuples(*problem(seed))
            expected = tf.scatter_nd(indices, updates, tensor.shape)
            same(strew.tensorflow.scatter_nd(indices, updates, tensor.shape), expected, seed)
            same(strew.tensorflow.gather_nd(tensor, indices), tf.gather_nd(tensor, indices), seed)

    def test_ignored_indices(self, tf):
        indices, updates = np.array([[0], [9], [-1]], np.int32), np.array([1, 2, 4], np.int32)
        expected = tf.scatter_nd(indices, updates, [3], bad_indices_policy="IGNORE")
        same(strew.tensorflow.scatter_nd(indices, updates, [3], "IGNORE"), expected, 0)

    @pytest.mark.parametrize("name", ["sum", "mean", "prod", "min", "max"])
    def test_segments(self, tf, name):
        for seed in ROUNDS:
            rng, values = problem(seed)
            data = values((int(rng.integers(1, 9)), *sizes(rng, 1, 3, rng.integers(0, 2))))
            ids = np.sort(rng.integers(0, 6, len(data))).astype(np.int32)
            expected = getattr(tf.math, f"segment_{name}")(data, ids)
            same(getattr(strew.tensorflow.math, f"segment_{name}")(data, ids), expected, seed)

    @pytest.mark.parametrize("name", ["sum", "mean", "prod", "min", "max", "sqrt_n"])
    def test_unsorted_segments(self, tf, name):
        for seed in ROUNDS:
            rng, values = problem(seed)
            data = values((int(rng.integers(1, 9)), *sizes(rng, 1, 3, rng.integers(0, 2))))
            if name in ("mean", "sqrt_n"):
                data = data.astype(np.float64)
            ids = rng.integers(-1, 6, len(data)).astype(np.int32)
            found = getattr(strew.tensorflow.math, f"unsorted_segment_{name}")(data, ids, 6)
            expected = getattr(tf.math, f"unsorted_segment_{name}")(data, ids, 6).numpy()
            np.testing.assert_allclose(found, expected, rtol=1e-15, err_msg=f"seed {seed}")
            assert found.dtype == expected.dtype


class TestOnnxruntime:
    """Nodes as onnxruntime runs them."""

    @pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
    def test_scatter_elements(self, ort, reduction):
        for seed in ROUNDS:
            rng, values = problem(seed)
            shape = sizes(rng, 1, 5, rng.integers(1, 4))
            axis = int(rng.integers(-len(shape), len(shape)))
            own = [int(rng.integers(1, n + 1)) for n in shape]
            indices = rng.integers(-shape[axis], shape[axis], own)
            if reduction == "none":
                own[axis] = 1
                indices = indices.take([0], axis)
            data, updates = values(shape), values(own)
            found = strew.onnx.scatter_elements(data, indices, updates, axis, reduction)
            same(
                found,
                ort("ScatterElements", data, indices, updates, axis=axis, reduction=reduction),
                seed,
            )
            found = strew.onnx.gather_elements(data, indices, axis)
            same(found, ort("GatherElements", data, indices, axis=axis), seed)
            same(
                strew.onnx.gather(data, indices, axis),
                ort("Gather", data, indices, axis=axis),
                seed,
            )

    @pytest.mark.parametrize("reduction", ["add", "mul", "min", "max"])
    def test_scatter_nd(self, ort, reduction):
        for seed in ROUNDS:
            rng, values = problem(seed)
            shape = sizes(rng, 1, 5, rng.integers(1, 4))
            depth, outer = (
                int(rng.integers(1, len(shape) + 1)),
                sizes(rng, 1, 6, rng.integers(1, 3)),
            )
            indices = np.stack([rng.integers(-n, n, outer) for n in shape[:depth]], -1)
            data, updates = values(shape), values(outer + shape[depth:])
            found = strew.onnx.scatter_nd(data, indices, updates, reduction)
            same(found, ort("ScatterND", data, indices, updates, reduction=reduction), seed)
            same(strew.onnx.gather_nd(data, indices), ort("GatherND", data, indices), seed)
