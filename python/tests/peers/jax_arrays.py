"""Arrays of JAX's for tests, and how two of them are compared."""

import jax
import jax.numpy as jnp
import numpy as np


def x64():
    """64 bits for one block, under the name of the installed release."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64

    return enable_x64()


def some(rng, shape, dtype, low=1, high=4):
    return jnp.asarray(rng.integers(low, high, shape)).astype(dtype)


def close(found, expected, tolerance=1e-5):
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    found, expected = np.asarray(found).astype(wide), np.asarray(expected).astype(wide)
    np.testing.assert_allclose(found, expected, tolerance, tolerance)
