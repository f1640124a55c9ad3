"""`strew.jax` inside `shard_map`, on two devices of the CPU's. Needs jax.

Without care, gradients there are too large by the number of shards, without any error.
"""

import os
import subprocess
import sys

import pytest

if __name__ != "__main__":

    @pytest.mark.parametrize(
        "part", ["gradients", "gathers", "functions", "products", "jit", "repeated"]
    )
    def test_two_shards(part):
        flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
        environment = {**os.environ, "XLA_FLAGS": flags}
        done = subprocess.run(
            [sys.executable, __file__, part], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr

else:
    import functools

    import jax
    import jax.numpy as jnp
    import numpy as np
    import strew
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    if hasattr(jax, "shard_map"):
        shard_map = jax.shard_map
    else:
        from jax.experimental.shard_map import shard_map

    MESH = Mesh(np.array(jax.devices()), ("x",))
    RNG = np.random.default_rng(0)
    X = jnp.asarray(RNG.standard_normal((50, 4)).astype(np.float32))
    I = jnp.asarray(RNG.integers(0, 50, 200))
    Y = jnp.asarray(RNG.standard_normal((200, 4)).astype(np.float32))

    def sharded(body, into, out=None):
        return shard_map(body, mesh=MESH, in_specs=into, out_specs=P() if out is None else out)

    def close(found, expected):
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(one, other, 1e-3, 1e-3)

    def gradients():
        """Of updates that the shards share, and of an operand that all have."""
        whole = jax.grad(lambda x, y: (x.at[I].add(y) ** 2).sum(), (0, 1))(X, Y)
        bodies = [
            lambda x, i, y: x + jax.lax.psum(strew.jax.at_add(jnp.zeros_like(x), i, y), "x"),
            lambda x, i, y: jax.lax.psum(strew.jax.at_add(x * 0.5, i, y), "x"),
            lambda x, i, y: x + jax.lax.psum(strew.jax.ops.segment_sum(y, i, 50), "x"),
        ]
        for body in bodies:
            f = sharded(body, (P(), P("x"), P("x")))
            close(f(X, I, Y), X.at[I].add(Y))
            one = jax.grad(lambda x, y: (f(x, I, y) ** 2).sum(), (0, 1))
            close(one(X, Y), whole)
            close(jax.jit(one)(X, Y), whole)

    def gathers():
        whole = jax.grad(lambda x: (x[I] ** 3).sum())(X)
        f = sharded(
            lambda x, i: jax.lax.psum((strew.jax.at_get(x, i) ** 3).sum(), "x"), (P(), P("x"))
        )
        close(jax.jit(jax.grad(lambda x: f(x, I)))(X), whole)

    def functions():
        """Every function, with its columns shared out among the shards."""
        columns = P(None, "x")
        for name in "set add subtract multiply divide min max power".split():
            ours = getattr(strew.jax, f"at_{name}")
            x, y = jnp.abs(X) + 0.5, jnp.abs(Y[:60]) + 0.5
            i = jnp.asarray(np.arange(60) % 55)
            f = sharded(ours, (columns, P(), columns), columns)
            expected = getattr(x.at[i], name)(y)
            close(jax.jit(f)(x, i, y), expected)
            if name in ("multiply", "divide", "power"):
                continue
            theirs = jax.grad(lambda x, y: (getattr(x.at[i], name)(y) ** 2).sum(), (0, 1))(x, y)
            close(jax.jit(jax.grad(lambda x, y: (f(x, i, y) ** 2).sum(), (0, 1)))(x, y), theirs)

    def products():
        """Derivatives of products, of which JAX has none."""
        columns, i = P(None, "x"), jnp.asarray(np.arange(60) % 55)
        y = jnp.abs(Y[:60]) + 0.5

        def second(apply):
            gradient = jax.grad(lambda y: (apply(X, i, y) ** 2).sum())
            return jax.jit(lambda y: jax.jvp(gradient, (y,), (y,)))(y)

        ours = strew.jax.at_multiply
        close(second(sharded(ours, (columns, P(), columns), columns)), second(ours))

    def jit():
        """Arrays that are shared out, in a function that is not."""
        shared = NamedSharding(MESH, P("x"))
        x, i, y = (jax.device_put(a, shared) for a in (X, I, Y))
        close(jax.jit(strew.jax.at_add)(x, i, y), X.at[I].add(Y))
        close(jax.jit(strew.jax.at_get)(x, i), X[I])

    def repeated():
        """Loops, batches and rematerialisation inside of shards."""

        def body(add, x, i, y):
            step = jax.checkpoint(lambda x, k: (add(x * 0.5, i, jnp.tanh(y) + k), ()))
            x = jax.lax.scan(step, x, jnp.arange(3.0))[0]
            return jax.lax.psum(jax.vmap(lambda c: add(x, i, y * c).sum())(jnp.arange(2.0)), "x")

        def total(add, x, y):
            f = sharded(functools.partial(body, add), (P("x"), P("x"), P("x")))
            return f(x, I % 25, y).sum()

        for x in (X,):
            ours = jax.jit(jax.grad(functools.partial(total, strew.jax.at_add), (0, 1)))(x, Y)
            theirs = jax.grad(functools.partial(total, lambda x, i, y: x.at[i].add(y)), (0, 1))(
                x, Y
            )
            close(ours, theirs)

    globals()[sys.argv[1]]()
