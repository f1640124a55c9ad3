"""``stablehlo.scatter`` while JAX traces it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from . import checks
from .form import Form
from .primitives import scatter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .._strew import Operator


def scattered(
    operator: Operator,
    operand: Any,
    indices: Any,
    updates: Any,
    numbers: tuple[Any, ...],
    rest: tuple[Any, ...],
) -> Any:
    """The scatter with these dimension numbers, in the order of the operator's arguments."""
    operand, updates = checks.constant(operand), checks.constant(updates)
    checks.check(operator, operand, checks.as_array(indices), updates, *numbers, *rest)
    indices = checks.index(indices)
    numbers = (*(tuple(map(int, list_)) for list_ in numbers[:5]), int(numbers[5]))
    *_, region, out_of_bounds = rest
    walks, scattered_axes = _walks(operand.ndim, indices.ndim, updates.ndim, numbers)
    windows = [walks.index(axis) if axis in walks else None for axis in numbers[4]]
    arrays = []
    for number, (axis, along) in enumerate(zip(numbers[4], windows, strict=True)):
        vectors = numbers[5]
        firsts = indices if vectors == indices.ndim else jnp.take(indices, number, vectors)
        sizes = [1] * updates.ndim
        for k, size in zip(scattered_axes, firsts.shape, strict=True):
            sizes[k] = size
        firsts = firsts.reshape(sizes)
        if along is not None:
            walks[along] = -1
            firsts = _every_place(
                firsts, along, updates.shape, operand.shape[axis], out_of_bounds == "window"
            )
        arrays.append(firsts)
    form = Form(
        operator=operator.name,
        shape=updates.shape,
        walks=tuple(walks),
        axes=tuple(numbers[4]),
        own=(0, 0),
        negative="drop",
        out_of_range="drop",
        combine=_COMBINES[region],
    )
    return scatter(operand, updates, arrays, form)


def _walks(
    operand: int, indices: int, updates: int, numbers: tuple[Any, ...]
) -> tuple[list[int], list[int]]:
    """For each axis of the updates the operand's axis that it is, or -1; those of the indices."""
    windows, inserted, batches, beside, _, vectors = numbers
    scattered_axes = [k for k in range(updates) if k not in windows]
    own = [n for n in range(indices) if n != vectors]
    walks = [-1] * updates
    free = [axis for axis in range(operand) if axis not in inserted and axis not in batches]
    for along, axis in zip(windows, free, strict=True):
        walks[along] = axis
    for batch, axis in zip(batches, beside, strict=True):
        walks[scattered_axes[own.index(axis)]] = batch
    return walks, scattered_axes


def _every_place(firsts: Any, along: int, shape: Sequence[int], size: int, whole: bool) -> Any:
    """The number of every element of windows, from those of the first ones.

    Elements that are left out have the number -1.
    """
    kind = jnp.promote_types(firsts.dtype, jnp.int32)
    if jnp.issubdtype(firsts.dtype, jnp.unsignedinteger):
        firsts = jnp.minimum(firsts, np.asarray(min(size, jnp.iinfo(firsts.dtype).max)))
        kind = jnp.int32 if size < 2**31 else jnp.int64
    firsts = firsts.astype(kind)
    length = shape[along]
    steps = jnp.arange(length, dtype=kind).reshape(
        [-1 if k == along else 1 for k in range(len(shape))]
    )
    inside = (firsts >= 0) & (firsts <= size - length) if whole else firsts < size
    return jnp.where(inside, firsts + steps, -1)


_COMBINES: dict[str, Any] = {
    "set": "set",
    "add": "add",
    "mul": "multiply",
    "min": "min",
    "max": "max",
}
