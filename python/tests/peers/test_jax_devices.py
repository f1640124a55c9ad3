"""Arrays on several devices outside of ``jax.jit``: results are JAX's, on JAX's devices."""

import os
import subprocess
import sys

import pytest

if __name__ != "__main__":

    @pytest.mark.parametrize("part", ["at", "segments", "own", "pmap", "inputs"])
    def test_four_devices(part):
        flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
        environment = {**os.environ, "XLA_FLAGS": flags}
        done = subprocess.run(
            [sys.executable, __file__, part], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr

else:
    import jax
    import jax.numpy as jnp
    import numpy as np
    import strew
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    DEVICES = jax.devices()
    MESH = Mesh(np.array(DEVICES), ("x",))
    SQUARE = Mesh(np.array(DEVICES).reshape(2, 2), ("x", "y"))
    X = jnp.arange(32.0).reshape(8, 4)
    PLACES = {
        "the first": DEVICES[0],
        "another": DEVICES[2],
        "rows": NamedSharding(MESH, P("x")),
        "columns": NamedSharding(MESH, P(None, "x")),
        "both": NamedSharding(SQUARE, P("x", "y")),
        "all of it on each": NamedSharding(MESH, P()),
    }
    INDEX = np.array([1, 1, 6, -1])

    def same(found, expected):
        assert isinstance(found, jax.Array), type(found)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))

    def on_its_devices(found, operand):
        assert isinstance(found, jax.Array)
        assert found.devices() == operand.devices(), (found.sharding, operand.sharding)

    def at():
        for place in PLACES.values():
            x = jax.device_put(X, place)
            for index in (INDEX, jnp.asarray(INDEX)):
                for dtype in (jnp.float32, jnp.bfloat16, jnp.int8):
                    given, y = x.astype(dtype), jnp.ones((4, 4), dtype)
                    found = strew.jax.at_add(given, index, y)
                    expected = jax.device_put(X, DEVICES[0]).astype(dtype).at[index].add(y)
                    same(found, expected)
                    assert found.sharding.is_equivalent_to(x.sharding, 2)
            for found in (
                strew.jax.at_get(x, INDEX),
                strew.jax.at_get(x, (slice(None, None, -1), 0)),
                strew.jax.at_set(x, (slice(None), 0), 5.0),
                strew.jax.at_power(x, INDEX, 2.0),
                strew.jax.at_apply(x, INDEX, jnp.exp),
            ):
                on_its_devices(found, x)
            same(strew.jax.at_get(x, (slice(None, None, -1), 0)), X[::-1, 0])
            same(strew.jax.at_apply(x, INDEX, jnp.cos), X.at[INDEX].apply(jnp.cos))

    def segments():
        ids = np.array([0, 0, 1, 1, 2, 2, 0, 1])
        for place in PLACES.values():
            x = jax.device_put(X, place)
            for name in ("segment_sum", "segment_max"):
                found = getattr(strew.jax.ops, name)(x, ids, 3)
                same(found, getattr(jax.ops, name)(X, ids, 3))
                on_its_devices(found, x)

    def own():
        ids = np.array([0, 0, 1, 1, 2, 2, 0, 1])
        for place in PLACES.values():
            x = jax.device_put(X, place)
            for run in (
                lambda x: strew.scatter(x, ids, 0),
                lambda x: strew.scatter(x, ids, 0, reduce="median"),
                lambda x: strew.gather(x, ids, 0),
                lambda x: strew.aggregate(x, ids, "mean"),
                lambda x: strew.aggregate(x, ids, "cumsum"),
                lambda x: strew.aggregate(x, ids, "mean", weights=np.ones(8)),
                lambda x: strew.Plan(ids).scatter(x),
                lambda x: strew.torch.index_add(np.zeros((3, 4), np.float32), 0, ids, x),
            ):
                found, expected = run(x), run(X)
                np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
                if isinstance(expected, jax.Array):
                    on_its_devices(found, x)

    def pmap():
        x = jax.pmap(lambda x: x * 2)(X.reshape(4, 8))
        plain = jnp.asarray(np.asarray(x))
        same(strew.jax.at_add(x, np.array([0, 0]), 1.0), plain.at[np.array([0, 0])].add(1.0))
        ids = np.array([0, 1, 1, 0])
        found = strew.jax.ops.segment_sum(x, ids, 2)
        same(found, jax.ops.segment_sum(plain, ids, 2))
        on_its_devices(found, x)

    def inputs():
        divided = NamedSharding(MESH, P("x"))
        index, y = jax.device_put(jnp.asarray(INDEX), divided), jax.device_put(X[:4], divided)
        found = strew.jax.at_add(X, index, y)
        same(found, X.at[INDEX].add(X[:4]))
        on_its_devices(found, X)
        of_numpy = strew.jax.at_add(np.asarray(X), index, y)
        assert isinstance(of_numpy, np.ndarray)
        np.testing.assert_array_equal(of_numpy, np.asarray(found))
        assert len(strew.Plan(index, mode="drop")) == 4
        assert strew.scatter(np.ones(4), index, mode="drop").tolist() == [0, 2, 0, 0, 0, 0, 1]

    globals()[sys.argv[1]]()
