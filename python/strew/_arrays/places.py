"""The elements of rows that pointers name, for NumPy arrays and torch tensors."""

from __future__ import annotations

import math
from functools import partial
from typing import Any


class OnDevice:
    """torch, whose new tensors are on a device."""

    def __init__(self, torch: Any, device: Any) -> None:
        self._torch, self._device = torch, device

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._torch, name)
        return partial(found, device=self._device) if name in _NEW else found


_NEW = frozenset(["arange", "full", "ones"])


def repeated(numbers: Any, counts: Any) -> Any:
    """Each of the numbers as often as its count says; both are 1-d."""
    # Tensors have a `repeat` of another meaning.
    return getattr(numbers, "repeat_interleave", numbers.repeat)(counts)


def places(arrays: Any, indptr: Any, size: int) -> tuple[Any, Any]:
    """For each element of each row: the number of the row, and the number of the element.

    `arrays` is NumPy or torch. `indptr` has a line of pointers for each batch of `size` elements.
    Rows and elements are numbered through all batches. Where pointers descend, the row has no
    elements.
    """
    first, end = indptr[..., :-1], indptr[..., 1:]
    counts = (end - first).clip(0).reshape(-1)
    batches = arrays.arange(math.prod(first.shape[:-1])) * size
    first = (first + batches.reshape(*first.shape[:-1], 1)).reshape(-1)
    rows = repeated(arrays.arange(counts.shape[0]), counts)
    # The position in its row: the running number minus where the row begins.
    begins = counts.cumsum(0) - counts
    return rows, arrays.arange(rows.shape[0]) + (first - begins)[rows]
