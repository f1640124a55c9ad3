"""JAX: a NumPy argument may change after a call, also one that JAX has not finished."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import strew

SIZE = 100_000
SEGMENTS = strew.jax.ops
# 64-byte aligned memory is what JAX would share.
CALLS = {
    "add": lambda x, i, y: strew.jax.at_add(x, i, y),
    "multiply": lambda x, i, y: strew.jax.at_multiply(x, i, y),
    "add slices": lambda x, i, y: strew.jax.at_add(x[:, None], (i, slice(None)), y[:, None]),
    "get": lambda x, i, y: strew.jax.at_get(x, i),
    "segments": lambda x, i, y: SEGMENTS.segment_sum(x, i, SIZE),
    "stablehlo": lambda x, i, y: strew.stablehlo.scatter(
        x,
        i,
        y,
        inserted_window_dims=[0],
        scatter_dims_to_operand_dims=[0],
        index_vector_dim=1,
        region="add",
    ),
}


def aligned(dtype):
    memory = np.zeros(SIZE * np.dtype(dtype).itemsize + 64, np.uint8)
    first = -memory.ctypes.data % 64
    return memory[first : first + SIZE * np.dtype(dtype).itemsize].view(dtype)


def arguments():
    index, y = aligned(np.int32), aligned(np.float32)
    index[:], y[:] = np.arange(SIZE)[::-1], 2 + np.arange(SIZE) % 3
    return jnp.arange(1.0, SIZE + 1), index, y


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name):
    call = CALLS[name]
    x, index, y = arguments()
    expected = jax.vjp(lambda x: call(x, jnp.array(index), jnp.array(y)), x)[1]
    made, pull = jax.vjp(lambda x: call(x, index, y), x)
    again, push = jax.linearize(lambda x: call(x, index, y), x)
    index[:], y[:] = 0, 0
    cotangent = jnp.ones_like(made)
    np.testing.assert_array_equal(pull(cotangent)[0], expected(cotangent)[0])
    np.testing.assert_array_equal(made, again)
    assert np.isfinite(push(x)).all()


@pytest.mark.parametrize("name", CALLS)
def test_eager_calls(name):
    call = CALLS[name]
    x, index, y = arguments()
    expected = np.asarray(call(np.asarray(x), index, y))
    made = call(x, index, y)
    index[:], y[:] = 0, 0
    np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("name", CALLS)
def test_compiled_calls(name):
    """An array that a compiled function closes over is a part of the program."""
    call = CALLS[name]
    x, index, y = arguments()
    expected = np.asarray(call(x, index, y))
    compiled = jax.jit(lambda x: call(x, index, y))
    first = compiled(x)
    index[:], y[:] = 0, 0
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(compiled(x), expected)


def test_arguments_of_compiled_functions_belong_to_jax_until_they_are_read():
    """JAX may share their memory, for its own functions too: a result that is there is right."""
    run = jax.jit(lambda x, i, y: strew.jax.at_add(x, i, y))
    x, index, y = arguments()
    expected = np.asarray(run(x, jnp.array(index), jnp.array(y)))
    made = run(x, index, y).block_until_ready()
    index[:], y[:] = 0, 0
    np.testing.assert_array_equal(made, expected)
