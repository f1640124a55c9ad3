"""Derivatives of products of `strew.jax`, of every order. Needs jax."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import strew
from jax_arrays import close, some, x64


@pytest.mark.parametrize("zeros", [1, 2])
def test_gradients_of_products_with_zeros(zeros):
    x, y = jnp.array([2.0, 5.0]), jnp.array([3.0, 0.0, 0.0][: 1 + zeros])
    i = jnp.zeros(1 + zeros, int)
    found = jax.grad(lambda y: strew.jax.at_multiply(x, i, y).sum())(y)
    assert found.tolist() == ([0, 6] if zeros == 1 else [0, 0, 0])


def dense_product(x, i, y):
    """The product without a scatter: JAX has no derivatives of its own where updates share a cell."""
    i = jnp.where(i < 0, i + len(x), i)
    here = i[:, None] == jnp.arange(len(x))
    return x * jnp.prod(jnp.where(here[..., None], y[:, None], 1), axis=0)


def tangent(f, step):
    """The derivative of a function of 4 cells and 8 updates."""
    return lambda x, y: jax.jvp(f, (x, y), (step[:4], step))[1]


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("zeros", [(), (0,), (0, 3), (0, 3, 6)])
def test_higher_derivatives_of_products(zeros, order):
    rng = np.random.default_rng(21)
    # Updates 0, 3 and 6 share a cell, and 4 and 7 are left out.
    i = jnp.array([1, -1, 0, 1, 9, 2, -3, -9])
    with x64():
        x, y, *steps = (jnp.asarray(rng.standard_normal((n, 2))) for n in (4, 8, *[8] * order))
        y = y.at[jnp.array(zeros, int)].set(0).at[7].set(jnp.nan)
        x = x.at[3].set(0)

        def derivatives(apply):
            """With respect to both, in reverse, after as many forward."""

            def along(x, y):
                def f(x, y):
                    return (jnp.sin(apply(x, i, y)) * (1 + x)).sum()

                for step in steps[1:]:
                    f = tangent(f, step)
                return f(x, y)

            return jax.jit(jax.grad(along, (0, 1)))(x, y)

        for ours, theirs in zip(derivatives(strew.jax.at_multiply), derivatives(dense_product)):
            theirs = jnp.where(jnp.isnan(theirs), 0, theirs)
            close(ours, theirs, 1e-9)


def test_the_second_derivatives_of_jax():
    """Where no two updates share a cell, JAX has them."""
    rng, i = np.random.default_rng(22), jnp.array([3, 1, 9, -4])
    x, y = (jnp.asarray(rng.standard_normal((4, 2)).astype(np.float32)) for _ in range(2))
    y = y.at[1].set(0)

    def hessian(apply):
        return jax.hessian(lambda x, y: (apply(x, y) ** 3).sum(), (0, 1))(x, y)

    ours = hessian(lambda x, y: strew.jax.at_multiply(x, i, y))
    theirs = hessian(lambda x, y: x.at[i].multiply(y, unique_indices=True))
    jax.tree.map(close, ours, theirs)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64"])
def test_dtypes_of_derivatives_of_products(dtype):
    i = jnp.array([1, 1, 0, 1])
    x, y, v = (some(np.random.default_rng(k), n, dtype) for k, n in ((23, 3), (24, 4), (25, 4)))

    def along(apply, y):
        gradient = jax.grad(lambda y: apply(x[:, None], i, y[:, None]).sum().real)
        return jax.jvp(gradient, (y,), (v,))[1]

    close(along(strew.jax.at_multiply, y), along(dense_product, y), 0.05)


def test_an_infinite_product_stays_in_its_cell():
    y = jnp.array([1e30, 2.0, 1e30, 3.0])
    i = jnp.array([0, 1, 0, 1])
    found = jax.hessian(lambda y: strew.jax.at_multiply(jnp.ones(2), i, y)[1] ** 2)(y)
    assert found[1::2, 1::2].tolist() == [[18, 24], [24, 8]]


def test_batches_of_derivatives_of_products():
    rng = np.random.default_rng(26)
    i = jnp.asarray(rng.integers(-4, 4, (3, 6)))
    x, y = (jnp.asarray(rng.standard_normal((3, n, 2)).astype(np.float32)) for n in (4, 6))

    def hessians(apply):
        f = jax.grad(lambda x, i, y: (apply(x, i, y) ** 2).sum(), 2)
        along = jax.vmap(lambda x, i, y: jax.jvp(functools.partial(f, x, i), (y,), (y,))[1])
        return jax.jit(along)(x, i, y)

    close(hessians(strew.jax.at_multiply), hessians(dense_product), 1e-3)
