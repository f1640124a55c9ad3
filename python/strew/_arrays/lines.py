"""Lines of values, each with groups of its own, as one long line."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from .._native import errors
from .._strew import Plan
from .dispatch import device_operators

_Array: TypeAlias = np.ndarray[Any, Any]


def plan_as_index(plan: Plan, beside: Any = None) -> Any:
    """The row of each of a plan's updates; -1 for those that it drops.

    A NumPy array. Beside a tensor on a GPU a tensor there, with `plan.size` in place of -1.
    """
    if operators := device_operators(beside):
        return operators.on_device.rows_of_plan(plan, beside.device)
    return plan.gather(np.arange(1, plan.size + 1)) - 1


def numbered(rows: _Array, size: int) -> _Array:
    """The groups of all lines, numbered one line after the other; -1 stays.

    `rows` has the shape (lines, values of a line).
    """
    first = np.arange(len(rows))[:, None] * size
    return np.where(rows < 0, -1, rows + first).reshape(-1)


def unfold(
    library: Any, result: Any, lead: tuple[int, ...], groups: int, dim: int, before: int
) -> Any:
    """The result of one long line, with the axes of the lines.

    `before` axes of the result stand before that of the groups of all lines. The lines have the
    shape `lead`; their groups are then along `dim`, and axes behind them stay there.
    """
    after = tuple(result.shape[before + 1 :])
    result = result.reshape((*result.shape[:before], *lead, groups, *after))
    dim += before
    result = library.moveaxis(result, before + len(lead), dim)
    own = tuple(range(result.ndim - len(after), result.ndim))
    return library.moveaxis(result, own, tuple(range(dim + 1, dim + 1 + len(after))))


def broadcast(operator: str, index: Any, shape: tuple[int, ...]) -> _Array:
    """An index for each element of `src`'s shape."""
    try:
        return np.broadcast_to(index, shape)
    except ValueError:
        raise errors.Problem(ValueError, operator, "index", list(np.shape(index))).has_shape(
            f"it must be 1-d or broadcast to the shape of src, {list(shape)}"
        ) from None


class Lines:
    """Values of any shape and the group of each, and both as one long line."""

    def __init__(self, shape: tuple[int, ...], rows: _Array, axis: int, size: int) -> None:
        """`rows` are the groups of each line, or along `axis` those of all; -1 is none."""
        self.shape, self.axis, self.size = shape, axis, size
        self.lead = (*shape[:axis], *shape[axis + 1 :])
        self.count = shape[axis]
        if rows.ndim == 1:
            rows = np.broadcast_to(rows, (*self.lead, self.count))
        else:
            rows = np.moveaxis(rows, axis, -1)
        lines = math.prod(self.lead)
        self.rows = rows.reshape(-1)
        if lines != 1:
            self.rows = numbered(rows.reshape(lines, self.count), size)
        self.total = size * lines

    def flat(self, array: _Array) -> _Array:
        """An array of the shape of the values as one long line: a view where that is possible."""
        return np.moveaxis(np.broadcast_to(array, self.shape), self.axis, -1).reshape(-1)

    def back(self, result: _Array, groups: int, before: int) -> _Array:
        """A result of the long line, with the axes of the values."""
        made = unfold(np, result, self.lead, groups, self.axis, before)
        return np.ascontiguousarray(made).reshape(made.shape)
