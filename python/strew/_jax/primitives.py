"""A scatter and a gather as JAX's primitives.

``scatter(operand, updates, indices, form)`` is `operand` with the updates combined with its cells;
``gather(operand, fill, indices, form)`` picks the cells of `operand`, and `fill` where an index is
left out. `rules` has what JAX's transformations make of them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import jax
import jax.extend
import jax.numpy as jnp
from jax.interpreters import mlir

from . import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .form import Form


def scatter(operand: Any, updates: Any, indices: Sequence[Any], form: Form) -> Any:
    """A copy of the operand whose cells have taken the updates."""
    if form.has_symbols():
        updates = jnp.broadcast_to(updates, form.shape)
    return scatter_p.bind(*_alike(operand, updates, *indices), form=form)


def gather(operand: Any, fill: Any, indices: Sequence[Any], form: Form) -> Any:
    """The operand's cells, and `fill` (without axes) where an index is left out."""
    fill = jnp.asarray(fill, operand.dtype)
    return gather_p.bind(*_alike(operand, fill, *indices), form=form)


def zeros(form: Form, dtype: Any) -> Any:
    """Updates that are zeros."""
    return jnp.zeros((1,) * len(form.shape), dtype)


def _alike(*arrays: Any) -> tuple[Any, ...]:
    """The arrays, each varying along all mesh axes that one of them varies along.

    Within `jax.shard_map`, a primitive takes only such arrays. The cast is a part of the traced
    function, so its transpose sums the gradients of an array that all shards share.
    """
    if not hasattr(jax, "typeof"):
        return arrays
    varying = [_varying(array) for array in arrays]
    everywhere = frozenset().union(*varying)
    return tuple(
        _cast(array, tuple(everywhere - along)) if along != everywhere else array
        for array, along in zip(arrays, varying, strict=True)
    )


def _varying(array: Any) -> frozenset[Any]:
    """The mesh axes along which an array may differ."""
    kind = jax.typeof(array)
    manual = getattr(kind, "manual_axis_type", None)
    if manual is not None:
        return frozenset(manual.varying)
    return frozenset(getattr(kind, "vma", ()))


def _cast(array: Any, axes: tuple[Any, ...]) -> Any:
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(array, axes, to="varying")
    return jax.lax.pvary(array, axes)


def _scatter_type(operand: Any, updates: Any, *indices: Any, form: Form) -> Any:
    return operand.update(weak_type=False)


def _gather_type(operand: Any, fill: Any, *indices: Any, form: Form) -> Any:
    changes: dict[str, Any] = {"shape": form.shape, "weak_type": False}
    sharding = getattr(operand, "sharding", None)
    if sharding is not None:
        # It names an axis of the mesh for each axis of the array.
        spec = jax.sharding.PartitionSpec(*(None for _ in form.shape))
        changes["sharding"] = jax.sharding.NamedSharding(sharding.mesh, spec)
    return operand.update(**changes)


def _primitive(name: str, by_xla: Any, kind: Any) -> Any:
    primitive = jax.extend.core.Primitive(f"strew_{name}")
    primitive.def_abstract_eval(kind)
    compiled = jax.jit(primitive.bind, static_argnames="form")
    primitive.def_impl(lambda *arrays, form: compiled(*arrays, form=form))
    mlir.register_lowering(primitive, mlir.lower_fun(by_xla, multiple_results=False))
    mlir.register_lowering(primitive, partial(lowering.by_handler, name), platform="cpu")
    return primitive


scatter_p = _primitive("scatter", lowering.scatter_by_xla, _scatter_type)
gather_p = _primitive("gather", lowering.gather_by_xla, _gather_type)
