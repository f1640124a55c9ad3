"""The primitives as calls of the compiled extension, or of XLA's own scatter and gather.

XLA knows the extension's handlers by name. A handler that is registered twice under one name, or
that does not fit the running XLA, would break the whole platform: the names have strew's version,
and they are registered when the first program that needs them is compiled.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from .._strew import __version__, _xla_handler

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .form import Form


def by_handler(handler: str, context: Any, *operands: Any, form: Form) -> Any:
    """Lower to a call of the extension's handler, in place of the operand if it is a scatter."""
    aliases = {0: 0} if handler == "scatter" else {}
    rule = jax.ffi.ffi_lowering(_registered(handler), operand_output_aliases=aliases)
    return rule(context, *operands, **form.attributes())


def targets() -> tuple[str, ...]:
    """The names of all handlers, which XLA knows then."""
    return tuple(map(_registered, ("scatter", "gather")))


@functools.cache
def _registered(handler: str) -> str:
    """The name that XLA knows the handler by."""
    name = f"strew_{__version__}_{handler}"
    jax.ffi.register_ffi_target(name, _xla_handler(handler), platform="cpu")
    return name


def scatter_by_xla(operand: Any, updates: Any, *indices: Any, form: Form) -> Any:
    """The same by XLA's scatter, for platforms that the extension has no handler for.

    An index out of range that is an error on the CPU is left out: XLA has no errors.
    """
    at = operand.at[_everywhere(operand.shape, indices, form)]
    mode = "clip" if form.out_of_range == "clip" else "drop"
    values = jnp.broadcast_to(updates, form.shape)
    if form.combine == "subtract":
        return at.add(-values, mode=mode)
    # The sum of bools is "or", and their product "and".
    of_bools = {"add": "max", "multiply": "min"} if operand.dtype == bool else {}
    method = getattr(at, of_bools.get(form.combine, form.combine))
    return method(values, mode=mode)


def gather_by_xla(operand: Any, fill: Any, *indices: Any, form: Form) -> Any:
    """The same by XLA's gather."""
    at = operand.at[_everywhere(operand.shape, indices, form)]
    values = at.get(mode="clip")
    if form.out_of_range == "clip":
        return values
    inside = jnp.ones(form.shape, bool)
    for axis, index in zip(form.axes, indices, strict=True):
        size = operand.shape[axis]
        low = -size if form.negative == "wrap" else 0
        inside &= (index >= low) & (index < size)
    return jnp.where(inside, values, fill)


def _everywhere(operand: Sequence[int], indices: Sequence[Any], form: Form) -> tuple[Any, ...]:
    """An index for each axis of the operand, as ``x.at[...]`` takes them."""
    rank = len(form.shape)
    found: list[Any] = [jnp.zeros((1,) * rank, jnp.int32)] * len(operand)
    for along, axis in enumerate(form.walks):
        if axis >= 0:
            sizes = [form.shape[along] if k == along else 1 for k in range(rank)]
            found[axis] = jnp.arange(form.shape[along], dtype=jnp.int32).reshape(sizes)
    for axis, index in zip(form.axes, indices, strict=True):
        # JAX counts negative numbers from the end.
        drops = form.negative == "drop" and jnp.issubdtype(index.dtype, jnp.signedinteger)
        found[axis] = jnp.where(index < 0, operand[axis], index) if drops else index
    return tuple(jnp.broadcast_to(index, form.shape) for index in found)
