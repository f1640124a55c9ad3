"""Reads the index of ``x.at[...]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._arrays.dispatch import jax_operators
from .._arrays.indexing import split, with_axis
from .._native import errors
from .._native.errors import rename
from .._own.extensions import in_library_of
from ._weak import with_dtype_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._strew import Operator

# Out of range of every axis.
_NOWHERE = np.iinfo(np.int64).max

# The words for JAX's `GatherScatterMode`, by the names of its members.
_MODES = {"CLIP": "clip", "FILL_OR_DROP": "fill", "PROMISE_IN_BOUNDS": "promise_in_bounds"}


def updated(
    operator: Operator, x: Any, indices: Any, y: Any, mode: Any = None, wraps: bool = True
) -> Any:
    """A copy of `x` in which `operator` has combined `y` with the indexed elements.

    `wraps` says whether negative indices count from the end.
    """
    entries, mode = _entries(indices), word_of(mode)
    traced = jax_operators(x, entries, y)
    if traced is not None:
        return traced.at.updated(operator, x, entries, y, mode, wraps)
    y = with_dtype_of(x, y)
    if all(map(is_array, entries)):
        listed = list(entries) if wraps else _not_wrapped(operator, entries, mode, "drop")
        return operator(x, listed, y, mode)
    if getattr(x, "requires_grad", False):
        # The operator refuses it with its own words.
        operator(x, [], y, None)
    out = np.array(x)
    part, listed, behind = split(out, numbers_as_arrays(entries))
    if not wraps:
        listed = _not_wrapped(operator, listed, mode, "drop")
    if behind is not None:
        y = with_axis(np.asarray(y), behind)
    part[...] = operator(part, listed, y, mode)
    return in_library_of(x, out)


def powers(
    multiply: Operator,
    place: Operator,
    x: Any,
    indices: Any,
    y: Any,
    mode: Any = None,
    wraps: bool = True,
) -> Any:
    """`x` to the power of ones that `multiply` has multiplied by `y` where it is indexed.

    `place` puts the result into an array of `x`'s library.
    """
    traced = jax_operators(x, _entries(indices), y)
    try:
        if traced is not None:
            import jax.numpy as jnp

            x = jnp.asarray(x)
            exponents = updated(multiply, jnp.ones_like(x), indices, y, mode, wraps)
            return traced.at.powers(multiply, x, exponents)
        if getattr(x, "requires_grad", False):
            # The operator refuses it with its own words.
            multiply(x, [], 1, None)
        bases = np.asarray(x)
        ones = np.ones(bases.shape, bases.dtype)
        exponents = updated(multiply, ones, indices, y, mode, wraps)
    except (IndexError, TypeError, ValueError, RuntimeError) as error:
        rename(error, "jax.at_multiply", "jax.at_power")
        raise
    if bases.dtype.kind == "b":
        raise errors.Problem(TypeError, "jax.at_power", "x").saying(
            "x has dtype bool", "it must be a type of numbers"
        )
    if bases.dtype.kind == "i" and exponents.min(initial=0) < 0:
        at = np.unravel_index(int(exponents.argmin()), exponents.shape)
        where = ", ".join(map(str, at))
        raise errors.Problem(ValueError, "jax.at_power", "x").saying(
            f"x[{where}] would be raised to the power {exponents[at]}: powers of integers "
            "must not be negative"
        )
    with np.errstate(all="ignore"):
        made = np.asarray(np.power(bases, exponents))
    return place(x, [None] * bases.ndim, made, None)


def applied(
    count: Operator,
    get: Operator,
    x: Any,
    indices: Any,
    function: Callable[[Any], Any],
    mode: Any = None,
    wraps: bool = True,
) -> Any:
    """`x` with a function applied to the indexed elements, once for each time one is named.

    `count` adds, and `get` is the operator of `taken`.
    """
    word = word_of(mode)
    traced = jax_operators(x, _entries(indices))
    if traced is not None:
        if word == "error":
            raise errors.Problem(ValueError, "jax.at_apply", "mode").saying(
                'mode = "error": while JAX traces a function it must be a mode of JAX'
            )
        return traced.at.applied(x, _entries(indices), function, word, wraps)
    out = np.array(x)
    try:
        if word == "error":
            taken(get, out, indices, word, None, wraps)
        zeros = np.zeros(out.shape, np.int64)
        counts = updated(count, zeros, indices, 1, word, wraps)
    except (IndexError, TypeError, ValueError) as error:
        for inner in ("jax.at_add", "jax.at_get"):
            rename(error, inner, "jax.at_apply")
        raise
    for round_ in range(int(counts.max(initial=0))):
        again = counts > round_
        out[again] = np.asarray(function(in_library_of(x, out[again]))).astype(out.dtype)
    return in_library_of(x, out)


def taken(
    operator: Operator,
    x: Any,
    indices: Any,
    mode: Any = None,
    fill_value: Any = None,
    wraps: bool = True,
) -> Any:
    """The indexed elements."""
    entries, mode = _entries(indices), word_of(mode)
    traced = jax_operators(x, entries)
    if traced is not None:
        return traced.at.taken(operator, x, entries, mode, fill_value, wraps)
    if all(map(is_array, entries)):
        listed = list(entries) if wraps else _not_wrapped(operator, entries, mode, "clip")
        return operator(x, listed, mode, fill_value)
    part, listed, behind = split(np.asarray(x), numbers_as_arrays(entries))
    if not wraps:
        listed = _not_wrapped(operator, listed, mode, "clip")
    result = operator(part, listed, mode, fill_value)
    return in_library_of(x, result if behind is None else result.squeeze(-1 - behind))


def word_of(mode: Any) -> Any:
    """A mode as a word; JAX also has objects for them."""
    return _MODES.get(getattr(mode, "name", ""), mode)


def _entries(indices: Any) -> tuple[Any, ...]:
    """The entries of an index; a list of arrays is read as a tuple."""
    if isinstance(indices, tuple):
        return indices
    if isinstance(indices, list) and any(_is_entry(index) for index in indices):
        return tuple(indices)
    return (indices,)


def _is_entry(index: Any) -> bool:
    """Whether it can be no number in a list of numbers."""
    if index is None or index is Ellipsis or isinstance(index, slice):
        return True
    return hasattr(index, "shape")


def is_array(entry: Any) -> bool:
    """Whether an entry names positions along axes: no slice, new axis, ellipsis or single bool."""
    if entry is None or entry is Ellipsis or isinstance(entry, (slice, bool)):
        return False
    return not ("bool" in str(getattr(entry, "dtype", "")) and np.ndim(entry) == 0)


def numbers_as_arrays(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """The entries with numbers as arrays: NumPy would refuse a number out of range."""
    return tuple(np.asarray(entry) if _is_number(entry) else entry for entry in entries)


def _is_number(entry: Any) -> bool:
    return isinstance(entry, (int, np.integer)) and not isinstance(entry, bool)


def _not_wrapped(operator: Operator, indices: Any, mode: Any, usual: str) -> list[Any]:
    """The indices with negative ones as indices out of range; `usual` is the mode None."""
    return [None if index is None else _beyond(operator, index, mode, usual) for index in indices]


def _beyond(operator: Operator, given: Any, mode: Any, usual: str) -> Any:
    index = np.asarray(given)
    if index.dtype.kind != "i" or index.min(initial=0) >= 0:
        return given
    if mode == "error":
        raise errors.Problem(ValueError, operator.name, "indices").saying(
            f"indices has {index.min()}: with wrap_negative_indices=False an index must not "
            "be negative"
        )
    if mode == "clip" or (usual == "clip" and mode not in ("fill", "drop")):
        return np.maximum(index, 0)
    return np.where(index < 0, _NOWHERE, index.astype(np.int64))
