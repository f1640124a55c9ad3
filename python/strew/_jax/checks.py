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
        return np.broadcast_to(np.zeros((), value.dtype), value.shape)
    return value


def as_array(values: Any) -> Any:
    """An array of JAX's, or of NumPy's if it was none before: it keeps 64 bits."""
    return values if isinstance(values, jax.Array) else np.asarray(values)


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
    return jnp.asarray(values, kind)
