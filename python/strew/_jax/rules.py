"""What JAX's transformations make of the primitives.

A gather is linear in its operand, and so is a scatter that does not take extremes. The scatters
that set, add and subtract are linear in operand and updates together. The transpose of each of
these is made of the other primitive.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
from jax.interpreters import ad, batching

from .derivatives import TANGENTS
from .primitives import gather, gather_p, scatter, scatter_p, zeros

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .form import Form

# The scatters that are linear in operand and updates together.
_LINEAR = ("set", "add", "subtract")


def _scatter_tangent(primals: Any, tangents: Any, *, form: Form) -> Any:
    operand, updates, *indices = primals
    result = scatter(operand, updates, indices, form)
    of_operand, of_updates = (_made(tangent) for tangent in tangents[:2])
    if of_operand is None and of_updates is None:
        return result, ad.Zero.from_primal_value(result)
    if form.combine in _LINEAR:
        if of_operand is None:
            of_operand = jnp.zeros_like(operand)
        if of_updates is None:
            of_updates = zeros(form, operand.dtype)
        return result, scatter(of_operand, of_updates, indices, form)
    rule = TANGENTS[form.combine]
    return result, rule(operand, updates, indices, form, result, (of_operand, of_updates))


def _gather_tangent(primals: Any, tangents: Any, *, form: Form) -> Any:
    operand, fill, *indices = primals
    result = gather(operand, fill, indices, form)
    tangent = _made(tangents[0])
    if tangent is None:
        return result, ad.Zero.from_primal_value(result)
    return result, gather(tangent, 0, indices, form)


def _made(tangent: Any) -> Any:
    """The tangent, or None if it is known to be zero."""
    return None if type(tangent) is ad.Zero else tangent


def _scatter_cotangents(
    cotangent: Any, operand: Any, updates: Any, *indices: Any, form: Form
) -> Any:
    wanted = [ad.is_undefined_primal(one) for one in (operand, updates)]
    nothing = [None] * len(indices)
    if type(cotangent) is ad.Zero:
        both = (operand, updates)
        return [
            ad.Zero(one.aval) if w else None for one, w in zip(both, wanted, strict=True)
        ] + nothing
    found: list[Any] = [None, None]
    if wanted[0]:
        if form.combine in ("add", "subtract"):
            found[0] = cotangent
        else:
            # Cells that an update replaces have no part in the result.
            factors = zeros(form, cotangent.dtype) if form.combine == "set" else updates
            found[0] = scatter(cotangent, factors, indices, form)
    if wanted[1]:
        picked = gather(cotangent, 0, indices, form)
        if form.combine == "subtract":
            picked = -picked
        elif form.combine == "set":
            picked = jnp.where(_stays(cotangent.shape, indices, form), picked, 0)
        found[1] = _repeated(picked, updates.aval.shape)
    return found + nothing


def _stays(operand: tuple[int, ...], indices: Sequence[Any], form: Form) -> Any:
    """Whether an update is the last one of its cell."""
    count = math.prod(form.shape)
    is_small = form.has_symbols() or count < 2**31
    kind = jnp.int32 if is_small else jnp.int64
    numbers = jnp.arange(count, dtype=kind).reshape(form.shape)
    last = scatter(jnp.full(operand, -1, kind), numbers, indices, form.joining("set"))
    return gather(last, -1, indices, form) == numbers


def _repeated(values: Any, shape: tuple[int, ...]) -> Any:
    """The transpose of repeating an array of this shape."""
    axes = tuple(k for k, size in enumerate(shape) if size != values.shape[k])
    return values.sum(axes, keepdims=True) if axes else values


def _gather_cotangents(cotangent: Any, operand: Any, fill: Any, *indices: Any, form: Form) -> Any:
    rest = [None] * (1 + len(indices))
    if type(cotangent) is ad.Zero:
        return [ad.Zero(operand.aval), *rest]
    start = jnp.zeros(operand.aval.shape, operand.aval.dtype)
    return [scatter(start, cotangent, indices, form.joining("add")), *rest]


def _scatter_batch(arrays: Any, axes: Any, *, form: Form) -> Any:
    size = _batch_size(arrays, axes)
    operand, updates, *indices = (
        _in_front(array, axis, size if k == 0 else 1)
        for k, (array, axis) in enumerate(zip(arrays, axes, strict=True))
    )
    return scatter(operand, updates, indices, form.batched(size, True)), 0


def _gather_batch(arrays: Any, axes: Any, *, form: Form) -> Any:
    size = _batch_size(arrays, axes)
    (operand, fill, *indices), (axis, of_fill, *others) = arrays, axes
    if of_fill is not None:
        raise NotImplementedError(f"{form.operator}: fill_value must be the same in all of a batch")
    both = axis is not None
    if both:
        operand = jnp.moveaxis(operand, axis, 0)
    indices = [_in_front(i, of, 1) for i, of in zip(indices, others, strict=True)]
    return gather(operand, fill, indices, form.batched(size, both)), 0


def _batch_size(arrays: Any, axes: Any) -> int:
    sizes = zip(arrays, axes, strict=True)
    return next(array.shape[axis] for array, axis in sizes if axis is not None)


def _in_front(array: Any, axis: Any, size: int) -> Any:
    """The array with the batch along its first axis, repeated to `size` if it has none."""
    if axis is not None:
        return jnp.moveaxis(array, axis, 0)
    return jnp.broadcast_to(array[None], (size, *array.shape))


def _register_replication(primitive: Any) -> None:
    """Lets `shard_map` of old releases of JAX check what is the same on all shards."""
    if hasattr(jax, "typeof"):
        return
    from jax.experimental import shard_map

    shard_map.register_standard_check(primitive)
    shard_map.register_standard_rewrite(primitive)


def _register(primitive: Any, tangent: Any, cotangents: Any, batch: Any) -> None:
    ad.primitive_jvps[primitive] = tangent
    ad.primitive_transposes[primitive] = cotangents
    batching.primitive_batchers[primitive] = batch
    _register_replication(primitive)


_register(scatter_p, _scatter_tangent, _scatter_cotangents, _scatter_batch)
_register(gather_p, _gather_tangent, _gather_cotangents, _gather_batch)
