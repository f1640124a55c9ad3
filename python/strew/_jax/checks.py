"""The operator's own checks of shapes and dtypes, while values are not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from .._strew import Operator


def check(operator: Operator, *values: Any) -> None:
    """Raise what the operator would raise for arrays of these shapes and dtypes."""
    operator.explain(*(_stand_in(value) for value in values))


def _stand_in(value: Any) -> Any:
    """An array without memory of its own in place of one that is traced."""
    if isinstance(value, list):
        return [_stand_in(one) for one in value]
    if isinstance(value, jax.core.Tracer):
        return np.broadcast_to(np.zeros((), value.dtype), [_some_size(n) for n in value.shape])
    return _some_size(value) if hasattr(value, "_get_vars") else value


def _some_size(size: Any) -> int:
    """A size, or one of those that a symbolic size of `jax.export` stands for."""
    if isinstance(size, int):
        return size
    return int(size._evaluate(dict.fromkeys(size._get_vars(), _SOME_SIZE)))


# Neither 1, which broadcasts, nor a size that arrays often have.
_SOME_SIZE = 97


def as_array(values: Any) -> Any:
    """An array of JAX's, or of NumPy's if it was none before: it keeps 64 bits."""
    return values if isinstance(values, jax.Array) else np.asarray(values)


def constant(values: Any, dtype: Any = None) -> Any:
    """An array of JAX's. Memory of others is copied: it may change before JAX reads it."""
    if isinstance(values, jax.Array):
        return values if dtype is None else values.astype(dtype)
    return jnp.array(values, dtype)


def index(values: Any) -> Any:
    """Integers as an array of JAX's.

    Without ``jax_enable_x64`` these have 32 bits. Numbers of 64 bits that are out of their range
    are out of range of any axis, and must stay so.
    """
    values = as_array(values)
    kind = jax.dtypes.canonicalize_dtype(values.dtype)
    if isinstance(values, np.ndarray) and kind != values.dtype:
        limits = np.iinfo(kind)
        values = values.clip(max(limits.min, np.iinfo(values.dtype).min), limits.max)
    return constant(values, kind)
