"""Errors about an index that stands where the values should."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import errors


def explain(error: Exception, src: Any, index: Any) -> None:
    """Adds to an error that `src` comes first, if `src` and `index` look swapped."""
    if _swapped(src, index):
        errors.add(error, "src comes first and index second: are they swapped?")


def _swapped(src: Any, index: Any) -> bool:
    """Whether the first argument is like an index, and the second like values for it."""
    if isinstance(index, tuple):
        return False
    try:
        first, second = np.asarray(src), np.asarray(index)
    except Exception:
        # The error is about one of these, which is no array.
        return False
    if first.dtype.kind not in "iu" or first.ndim != 1 or len(first) not in second.shape:
        return False
    return second.dtype.kind in "fc" or (second.dtype.kind in "iu" and second.ndim > 1)
