"""For each update the product of its cell's value and of the cell's other updates.

That is the derivative of a product. Two ways lead to it:

* `others` divides the product of all by the update. Where updates are zero, it counts them. It is
  what a first derivative takes: two scatters and two gathers.
* `_by_multiplying` sorts the updates by cell and multiplies those before an update by those behind
  it. It takes longer, but nothing is divided or counted, so that JAX can differentiate it as often
  as one likes, also where updates are zero. It is what the derivatives of `others` are made of.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from . import primitives

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .form import Form


def _by_dividing(form: Form, operand: Any, updates: Any, *indices: Any) -> Any:
    zero = updates == 0
    full = primitives.scatter(operand, jnp.where(zero, 1, updates), indices, form)
    zeros = primitives.scatter(
        jnp.zeros(operand.shape, jnp.int32),
        jnp.broadcast_to(zero, form.shape).astype(jnp.int32),
        indices,
        form.joining("add"),
    )
    full = primitives.gather(full, 0, indices, form)
    # An update that is zero itself leaves the others' zeros. One that is left out gets 0, even if
    # it is NaN.
    others = primitives.gather(zeros, 1, indices, form) - zero
    return jnp.where(others > 0, 0, full / jnp.where(zero, 1, updates)).astype(operand.dtype)


def _by_multiplying(form: Form, operand: Any, updates: Any, indices: Sequence[Any]) -> Any:
    # 16-bit floats are multiplied as float32, as in the engine.
    wide = jnp.promote_types(operand.dtype, jnp.float32)
    cells = _cells(form, operand.shape, indices).ravel()
    order = jnp.argsort(cells, stable=True)
    sorted_cells = cells[order]
    # An update that is left out takes part in nothing, whatever it is.
    factors = jnp.broadcast_to(updates, form.shape).ravel().astype(wide)
    factors = jnp.where(cells < 0, 1, factors)[order]
    first = jnp.ones_like(sorted_cells, bool).at[1:].set(sorted_cells[1:] != sorted_cells[:-1])
    last = jnp.roll(first, -1).at[-1:].set(True)
    before = _running(first, jnp.roll(factors, 1), reverse=False)
    behind = _running(last, jnp.roll(factors, -1), reverse=True)
    product = jnp.zeros_like(factors).at[order].set(before * behind, unique_indices=True)
    values = primitives.gather(operand.astype(wide), 0, indices, form)
    return (values * product.reshape(form.shape)).astype(operand.dtype)


def _cells(form: Form, shape: tuple[int, ...], indices: Sequence[Any]) -> Any:
    """The number of each update's cell; -1 if the update is left out."""
    count = math.prod(shape)
    numbers = jnp.arange(count, dtype=jnp.int32 if count < 2**31 else jnp.int64)
    return primitives.gather(numbers.reshape(shape), -1, indices, form)


def _running(starts: Any, factors: Any, *, reverse: bool) -> Any:
    """Running products, which begin again with 1 at each start."""

    def joined(left: Any, right: Any) -> Any:
        (begins, product), (begins_again, factor) = left, right
        # What comes before a start must not reach its gradient, not even as 0 times infinity.
        return begins | begins_again, jnp.where(begins_again, 1, product) * factor

    factors = jnp.where(starts, 1, factors)
    return jax.lax.associative_scan(joined, (starts, factors), reverse=reverse)[1]


def _others_tangent(form: Form, primals: Any, tangents: Any) -> Any:
    operand, updates, *indices = primals

    def product(operand: Any, updates: Any) -> Any:
        return _by_multiplying(form, operand, updates, indices)

    _, tangent = jax.jvp(product, (operand, updates), tuple(tangents[:2]))
    return others(form, operand, updates, *indices), tangent


others: Any = jax.custom_jvp(_by_dividing, nondiff_argnums=(0,))
others.defjvp(_others_tangent)
