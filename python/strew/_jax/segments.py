"""``jax.ops.segment_*`` while JAX traces it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from .._native.errors import Problem
from . import checks
from .form import Form
from .primitives import scatter

if TYPE_CHECKING:
    from typing import Any

    from .._strew import Operator


def reduced(
    operator: Operator, data: Any, segment_ids: Any, num_segments: int | None, clips: bool
) -> Any:
    """The reduction of the rows of each segment; `clips`: of the nearest segment."""
    data, ids = checks.constant(data), checks.as_array(segment_ids)
    if num_segments is None:
        if isinstance(ids, jax.core.Tracer):
            raise Problem(ValueError, operator.name, "num_segments").saying(
                "num_segments must be given where JAX traces segment_ids",
                "the largest number is not known",
            )
        num_segments = max(int(np.max(np.asarray(ids), initial=-1)) + 1, 0)
    checks.check(operator, data, ids, num_segments)
    form = Form(
        operator=operator.name,
        shape=data.shape,
        walks=(-1, *range(1, data.ndim)),
        axes=(0,),
        own=(0, 1),
        negative="drop",
        out_of_range="clip" if clips else "drop",
        combine=_COMBINES[operator.name],
    )
    start = jnp.full(
        (num_segments, *data.shape[1:]), _identity(form.combine, data.dtype), data.dtype
    )
    index = checks.index(ids).reshape((-1,) + (1,) * (data.ndim - 1))
    index = jnp.maximum(index, 0) if clips else index
    return scatter(start, data, [index], form)


_COMBINES: dict[str, Any] = {
    "jax.ops.segment_sum": "add",
    "jax.ops.segment_prod": "multiply",
    "jax.ops.segment_min": "min",
    "jax.ops.segment_max": "max",
}


def _identity(combine: str, dtype: Any) -> Any:
    """What a segment without rows is."""
    if combine in ("add", "multiply"):
        return int(combine == "multiply")
    if jnp.issubdtype(dtype, jnp.bool_):
        return combine == "min"
    if jnp.issubdtype(dtype, jnp.inexact):
        return jnp.inf if combine == "min" else -jnp.inf
    limits = jnp.iinfo(dtype)
    return limits.max if combine == "min" else limits.min
