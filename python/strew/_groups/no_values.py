"""Groups that are counted without values: `aggregate` without ``src``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import errors
from .._strew import Plan
from .apply import Library

# Reductions whose results do not depend on the values.
_COUNTING = ("len", "cumcount")


def check(reduces: list[Any], weights: Any) -> None:
    """Raises for reductions that need values, and for weights, which values have."""
    for reduce in reduces:
        if reduce in _COUNTING:
            continue
        said = f'reduce = "{reduce}"' if isinstance(reduce, str) else "a callable reduce"
        hint = '"len" counts the members of each group without them'
        if reduce == "count":
            hint = f"count leaves out values that are NaN; {hint}"
        raise errors.Problem(TypeError, "aggregate", "src").saying(
            f"{said} needs the values: pass src; {hint}"
        )
    if weights is not None:
        raise errors.Problem(TypeError, "aggregate", "src").saying(
            "weights are those of values: pass src"
        )


def no_groups(src: Any, reduces: list[Any]) -> TypeError:
    """The error of a call without groups."""
    said = "it needs the groups of the values: pass index, or by for keys"
    if src is not None and all(reduce in _COUNTING for reduce in reduces):
        said += "; to count groups without values, call strew.aggregate(index=groups, reduce='len')"
    return errors.Problem(TypeError, "aggregate", "index").saying(said)


def stand_in(index: Any) -> Any:
    """An array that stands for the values of an index: one zero for each number."""
    if isinstance(index, Plan):
        return np.zeros(len(index), np.uint8)
    key = index
    # A tuple of numbers is one key.
    if isinstance(index, tuple) and index and np.ndim(index[0]):
        key = index[0]
    shape = getattr(key, "shape", None)
    library = Library(key)
    return library.full(np.shape(key) if shape is None else tuple(shape), 0, library.module.uint8)
