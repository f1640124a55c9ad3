"""Reads an index as NumPy does."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import errors

WHOLE = slice(None)


def split(a: Any, indices: Any) -> tuple[Any, list[Any], int | None]:
    """Split an index into slices and arrays: ``a[indices]`` is ``view[arrays]``.

    Returns
    -------
    array
        The view of `a` that the slices, ``...``, None and bools name.
    list
        For each of the first axes of that view an array of indices, or None for the whole axis.
    int or None
        NumPy treats arrays on both sides of an ellipsis as separated, even if the ellipsis covers
        no axis. The view then has an axis of size 1 in its place, and this is the number of later
        entries that keep an axis of their own. None if there is no such axis.
    """
    if not isinstance(indices, tuple):
        if hasattr(indices, "shape") and len(indices.shape) > 0:
            return a, [indices], None
        indices = (indices,)
    if not hasattr(a, "ndim"):
        return a, [None if index is Ellipsis else index for index in indices], None
    key, listed, behind = parts(a.ndim, indices)
    return a if key is None else a[key], listed, behind


def parts(rank: int, indices: tuple[Any, ...]) -> tuple[Any, list[Any], int | None]:
    """As `split`, for any array of this rank: the index of the view, or None for all of it."""
    entries = [_entry(index) for index in indices]
    taken = sum(axes for axes, _ in entries)
    if sum(index is Ellipsis for _, index in entries) > 1:
        raise errors.Problem(IndexError, None, "indices").in_words(
            "an index can only have a single ellipsis ('...')"
        )
    advanced = any(hasattr(index, "shape") for _, index in entries)
    basic: list[Any] = []
    listed: list[Any] = []
    behind = None
    for place, (axes, index) in enumerate(entries):
        if index is Ellipsis:
            rest = max(rank - taken, 0)
            basic += [WHOLE] * rest
            listed += [None] * rest
            sides = [e for _, e in entries[:place]], [e for _, e in entries[place + 1 :]]
            if rest == 0 and advanced and all(any(_is_advanced(e) for e in side) for side in sides):
                basic.append(None)
                listed.append(None)
                behind = sum(not _is_advanced(e) for e in sides[1])
        elif index is None or isinstance(index, slice):
            basic.append(index)
            listed.append(None)
        elif isinstance(index, bool):
            # A bool is a new axis of size 1: True takes its element, False takes none.
            basic.append(None)
            listed.append(np.arange(int(index)))
        elif not advanced:
            basic.append(index)
        else:
            basic += [WHOLE] * axes
            listed.append(index if hasattr(index, "shape") else np.asarray(index))
    whole = all(isinstance(index, slice) and index == WHOLE for index in basic)
    # The ellipsis makes it a view, where a single element would be a number.
    return None if whole else (*basic, Ellipsis), listed, behind


def with_axis(values: Any, behind: int) -> Any:
    """The values with an axis of size 1 before their last `behind` ones, as `split` asks for it."""
    values = values if hasattr(values, "ndim") else np.asarray(values)
    key = (..., None, *([WHOLE] * behind))
    return values[key] if values.ndim >= behind else values


def _is_advanced(entry: Any) -> bool:
    """Whether it names positions: a number, an array or a bool."""
    return not (entry is None or isinstance(entry, slice))


def _entry(index: Any) -> tuple[int, Any]:
    """How many axes of `a` an entry takes, and the entry with lists as arrays."""
    if index is Ellipsis or index is None:
        return 0, index
    if isinstance(index, slice):
        return 1, index
    if isinstance(index, (bool, np.bool_)):
        return 0, bool(index)
    if isinstance(index, int):
        return 1, index
    if not hasattr(index, "shape"):
        index = np.asarray(index)
        if index.size == 0 and index.dtype == float:
            index = index.astype(np.intp)
    if len(index.shape) > 0:
        return len(index.shape) if "bool" in str(index.dtype) else 1, index
    if "bool" in str(index.dtype):
        return 0, bool(index)
    return 1, index
