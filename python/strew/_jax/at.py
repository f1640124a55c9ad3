"""``x.at[indices]`` while JAX traces it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from .._arrays.indexing import parts, with_axis
from .._native.errors import Problem
from ..jax._index import is_array, numbers_as_arrays
from ..jax._weak import with_dtype_of
from . import checks
from .form import Form
from .primitives import gather, scatter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Literal, TypeAlias

    from .._strew import Operator

    _Outside: TypeAlias = Literal["drop", "clip", "error"]


def updated(
    operator: Operator, x: Any, entries: tuple[Any, ...], y: Any, mode: str | None, wraps: bool
) -> Any:
    """A copy of `x` in which `operator` has combined `y` with the indexed elements.

    `wraps` says whether negative indices count from the end.
    """
    x = checks.constant(x)
    key, listed, behind = _parts(x.ndim, entries)
    y = checks.as_array(with_dtype_of(x, y))
    if behind is not None:
        y = with_axis(y, behind)
    part = x if key is None else x[key]
    listed = _listed(operator, listed, part.shape)
    checks.check(operator, part, listed, y, mode)
    form, arrays = _form(operator, part.shape, listed, _outside(mode, "drop"), wraps)
    y = checks.constant(y).astype(x.dtype)
    y = y.reshape((1,) * (len(form.shape) - y.ndim) + y.shape)
    made = scatter(part, y, arrays, form)
    return made if key is None else x.at[key].set(made)


def _parts(rank: int, entries: tuple[Any, ...]) -> tuple[Any, list[Any], int | None]:
    """The slices and the arrays of an index, as `parts` has them."""
    if all(map(is_array, entries)):
        return None, list(entries), None
    return parts(rank, numbers_as_arrays(entries))


def powers(multiply: Operator, x: Any, exponents: Any) -> Any:
    """`x` to the power of products, which `multiply` has made of ones."""
    if x.dtype == bool:
        raise Problem(TypeError, "jax.at_power", "x", "bool").has_dtype(
            "it must be a type of numbers"
        )
    return jnp.power(x, exponents).astype(x.dtype)


def applied(
    x: Any, entries: tuple[Any, ...], function: Callable[[Any], Any], mode: Any, wraps: bool
) -> Any:
    """`x` with a function applied to the indexed elements: JAX's own."""
    return checks.constant(x).at[entries].apply(function, mode=mode, wrap_negative_indices=wraps)


def taken(
    operator: Operator,
    x: Any,
    entries: tuple[Any, ...],
    mode: str | None,
    fill_value: Any,
    wraps: bool,
) -> Any:
    """The indexed elements."""
    x = checks.constant(x)
    key, listed, behind = _parts(x.ndim, entries)
    x = x if key is None else x[key]
    listed = _listed(operator, listed, x.shape)
    checks.check(operator, x, listed, mode, fill_value)
    form, arrays = _form(operator, x.shape, listed, _outside(mode, "clip"), wraps)
    if fill_value is None:
        fill_value = _usual_fill(x.dtype)
    result = gather(x, fill_value, arrays, form)
    return result if behind is None else result.squeeze(-1 - behind)


def _outside(mode: str | None, default: _Outside) -> _Outside:
    """What becomes of an index out of range."""
    words: dict[str | None, _Outside] = {"clip": "clip", "error": "error"}
    words |= {"fill": "drop", "drop": "drop"}
    return words.get(mode, default)


def _usual_fill(dtype: Any) -> Any:
    if jnp.issubdtype(dtype, jnp.bool_):
        return True
    if jnp.issubdtype(dtype, jnp.inexact):
        return jnp.nan
    limits = jnp.iinfo(dtype)
    return limits.max if jnp.issubdtype(dtype, jnp.unsignedinteger) else limits.min


def _listed(operator: Operator, indices: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """The indices as arrays, and masks as the numbers of their places."""
    found: list[Any] = []
    for index in indices:
        if index is None:
            found.append(None)
            continue
        index = checks.as_array(index)
        if index.dtype != bool:
            found.append(index)
        elif isinstance(index, jax.core.Tracer):
            raise Problem(TypeError, operator.name, "indices").saying(
                "indices has a mask whose values are not known while JAX traces a function",
                "pass it as a constant, or use jax.numpy.where",
            )
        elif index.ndim == 0:
            # The operator refuses it with its own words.
            found.append(np.asarray(index))
        else:
            axes = shape[len(found) : len(found) + index.ndim]
            if index.shape != axes:
                raise Problem(ValueError, operator.name, "indices", index.shape).saying(
                    f"indices has a mask of shape {list(index.shape)}",
                    f"it must have the sizes of the axes that it takes, {list(axes)}",
                )
            found += np.nonzero(np.asarray(index))
    return found


def _form(
    operator: Operator,
    shape: tuple[int, ...],
    indices: list[Any],
    out_of_range: _Outside,
    wraps: bool,
) -> tuple[Form, list[Any]]:
    """Where the indices lead, and the indices with as many axes as the updates."""
    named = [(axis, index) for axis, index in enumerate(indices) if index is not None]
    axes = tuple(axis for axis, _ in named)
    batch = jnp.broadcast_shapes(*(index.shape for _, index in named)) if named else ()
    neighbours = all(axis + 1 == after for axis, after in itertools.pairwise(axes))
    place = axes[0] if axes and neighbours else 0
    walks = [axis for axis in range(len(shape)) if axis not in axes]
    updates = [shape[axis] for axis in walks]
    walks[place:place] = [-1] * len(batch)
    updates[place:place] = batch
    form = Form(
        operator=operator.name,
        shape=tuple(updates),
        walks=tuple(walks),
        axes=axes,
        own=(place, place + len(batch)),
        negative="wrap" if wraps else "drop",
        out_of_range=out_of_range,
        combine=_COMBINES.get(operator.name, "set"),
    )
    behind = len(updates) - place - len(batch)
    found = [checks.index(index) for _, index in named]
    if not wraps:
        found = [_not_wrapped(index, out_of_range) for index in found]
    return form, [_spread(index, place, len(batch), behind) for index in found]


def _not_wrapped(index: Any, out_of_range: _Outside) -> Any:
    """The index for a form that drops negative numbers: of other modes it has none."""
    if out_of_range == "clip":
        return jnp.maximum(index, 0)
    if out_of_range == "error" and jnp.issubdtype(index.dtype, jnp.signedinteger):
        index = index.astype(jnp.promote_types(index.dtype, jnp.int32))
        return jnp.where(index < 0, jnp.iinfo(index.dtype).max, index)
    return index


def _spread(index: Any, before: int, rank: int, behind: int) -> Any:
    lead = before + rank - index.ndim
    sizes: Sequence[int] = (1,) * lead + tuple(index.shape) + (1,) * behind
    return index.reshape(sizes)


_COMBINES: dict[str, Any] = {
    f"jax.at_{word}": word
    for word in ("set", "add", "subtract", "multiply", "divide", "min", "max")
}
