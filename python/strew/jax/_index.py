"""Reads the index of ``x.at[...]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._dispatch import jax_operators
from .._errors import rename
from .._extensions import in_library_of
from .._indexing import split, with_axis
from ._weak import with_dtype_of

if TYPE_CHECKING:
    from typing import Any

    from .._strew import Operator


def updated(operator: Operator, x: Any, indices: Any, y: Any, mode: str | None) -> Any:
    """A copy of `x` in which `operator` has combined `y` with the indexed elements."""
    traced = jax_operators(x, indices, y)
    if traced is not None:
        if not _has_slices(indices):
            return traced.at.updated(operator, x, _as_list(indices), y, mode)
        return traced.at.updated_slices(operator, x, _as_arrays(indices), y, mode)
    y = with_dtype_of(x, y)
    if not _has_slices(indices):
        return operator(x, _as_list(indices), y, mode)
    out = np.array(x)
    part, listed, behind = split(out, _as_arrays(indices))
    if behind is not None:
        y = with_axis(np.asarray(y), behind)
    part[...] = operator(part, listed, y, mode)
    return in_library_of(x, out)


def powers(
    multiply: Operator, place: Operator, x: Any, indices: Any, y: Any, mode: str | None
) -> Any:
    """`x` to the power of ones that `multiply` has multiplied by `y` where it is indexed.

    `place` puts the result into an array of `x`'s library.
    """
    traced = jax_operators(x, indices, y)
    try:
        if traced is not None:
            import jax.numpy as jnp

            x = jnp.asarray(x)
            exponents = updated(multiply, jnp.ones_like(x), indices, y, mode)
            return traced.at.powers(multiply, x, exponents)
        if getattr(x, "requires_grad", False):
            # The operator refuses it with its own words.
            multiply(x, [], 1, None)
        bases = np.asarray(x)
        exponents = updated(multiply, np.ones(bases.shape, bases.dtype), indices, y, mode)
    except (IndexError, TypeError, ValueError, RuntimeError) as error:
        rename(error, "jax.at_multiply", "jax.at_power")
        raise
    if bases.dtype.kind == "b":
        raise TypeError("jax.at_power: x has dtype bool: it must be a type of numbers")
    if bases.dtype.kind == "i" and exponents.min(initial=0) < 0:
        at = np.unravel_index(int(exponents.argmin()), exponents.shape)
        where = ", ".join(map(str, at))
        raise ValueError(
            f"jax.at_power: x[{where}] would be raised to the power {exponents[at]}: powers of "
            "integers must not be negative"
        )
    with np.errstate(all="ignore"):
        made = np.asarray(np.power(bases, exponents))
    return place(x, [None] * bases.ndim, made, None)


def taken(operator: Operator, x: Any, indices: Any, mode: str | None, fill_value: Any) -> Any:
    """The indexed elements."""
    traced = jax_operators(x, indices)
    if traced is not None:
        if not _has_slices(indices):
            return traced.at.taken(operator, x, _as_list(indices), mode, fill_value)
        return traced.at.taken_slices(operator, x, _as_arrays(indices), mode, fill_value)
    if not _has_slices(indices):
        return operator(x, _as_list(indices), mode, fill_value)
    part, listed, behind = split(np.asarray(x), _as_arrays(indices))
    result = operator(part, listed, mode, fill_value)
    return in_library_of(x, result if behind is None else result.squeeze(-1 - behind))


def _as_list(indices: Any) -> list[Any]:
    several = isinstance(indices, tuple) or (isinstance(indices, list) and _holds_arrays(indices))
    return list(indices) if several else [indices]


def _holds_arrays(indices: list[Any]) -> bool:
    return any(index is None or hasattr(index, "shape") for index in indices)


def _has_slices(indices: Any) -> bool:
    entries = indices if isinstance(indices, (tuple, list)) else (indices,)
    return any(isinstance(index, slice) or index is Ellipsis for index in entries)


def _as_arrays(indices: Any) -> tuple[Any, ...]:
    """The entries as a tuple, numbers as arrays: NumPy would refuse a number out of range."""
    entries = indices if isinstance(indices, (tuple, list)) else (indices,)
    return tuple(np.asarray(entry) if _is_number(entry) else entry for entry in entries)


def _is_number(entry: Any) -> bool:
    return isinstance(entry, (int, np.integer)) and not isinstance(entry, bool)
