"""Tangents of the scatters that are not linear: products, quotients, minima and maxima.

Each is a sum over the updates ``k`` of a cell: ``tangent = a * t(cell) + sum(c[k] * t(update k))``.
The factors ``a`` and ``c`` are made of gathers and scatters, so that all derivatives of them are
known as well. Those of products divide by the updates, and have derivatives of another form: see
`products`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp

from . import primitives
from .products import others

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .form import Form


def _of_product(
    operand: Any, updates: Any, indices: Sequence[Any], form: Form, result: Any, tangents: Any
) -> Any:
    of_operand, of_updates = tangents
    if of_operand is None:
        found = jnp.zeros_like(result)
    else:
        found = primitives.scatter(of_operand, updates, indices, form)
    if of_updates is None:
        return found
    factors = others(form, operand, updates, *indices)
    return _added(found, factors * of_updates, indices, form)


def _of_quotient(
    operand: Any, updates: Any, indices: Sequence[Any], form: Form, result: Any, tangents: Any
) -> Any:
    of_operand, of_updates = tangents
    if of_operand is None:
        found = jnp.zeros_like(result)
    else:
        found = primitives.scatter(of_operand, updates, indices, form)
    if of_updates is None:
        return found
    picked = primitives.gather(result, 0, indices, form)
    # The quotient by 0 is no number that is 0, except where the update is left out.
    divisors = jnp.where((updates == 0) & (picked == 0), 1, updates)
    return _added(found, -picked / divisors * of_updates, indices, form)


def _of_extreme(
    operand: Any, updates: Any, indices: Sequence[Any], form: Form, result: Any, tangents: Any
) -> Any:
    """All that equal the extreme share its tangent equally."""
    of_operand, of_updates = tangents
    of_cell = operand == result
    of_update = primitives.gather(result, 0, indices, form) == updates
    ones = jnp.broadcast_to(of_update, form.shape).astype(jnp.float32)
    count = primitives.scatter(of_cell.astype(jnp.float32), ones, indices, form.joining("add"))
    found = jnp.zeros_like(result)
    if of_operand is not None:
        share = jnp.where(of_cell, 1 / count, 0).astype(result.dtype)
        found = share * of_operand
    if of_updates is None:
        return found
    counts = primitives.gather(count, 1, indices, form)
    share = jnp.where(of_update, 1 / counts, 0).astype(result.dtype)
    return _added(found, share * of_updates, indices, form)


def _added(cells: Any, values: Any, indices: Sequence[Any], form: Form) -> Any:
    return primitives.scatter(cells, values, indices, form.joining("add"))


TANGENTS: dict[str, Callable[..., Any]] = {
    "multiply": _of_product,
    "divide": _of_quotient,
    "min": _of_extreme,
    "max": _of_extreme,
}
