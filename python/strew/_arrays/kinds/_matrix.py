"""Frames of numbers as the matrix that NumPy makes of them, for `scatter` and `gather`.

Results are NumPy arrays; masked ones where a column has missing values.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..._native import errors
from ._held import Groups, Held, Kind, Made, mask

_Array: TypeAlias = np.ndarray[Any, Any]


class _Matrix(Kind):
    def __init__(self, values: _Array, nullable: bool) -> None:
        self.values, self.nullable = values, nullable

    def out(self, made: Made, groups: Groups) -> Any:
        return made.masked() if self.nullable else made.filled()

    def part(self, places: _Array, axis: int) -> Any:
        return self.values.take(places, axis)


def read(operator: str, name: str, given: Any) -> Held:
    from .. import frames
    from . import find

    reader = frames.find(given)
    assert reader is not None
    frame = reader(given)
    columns = []
    for at, column in enumerate(frame.names):
        column_reader = find(frame.at(at))
        if column_reader is None:
            raise errors.Problem(TypeError, operator, name).saying(
                f"{name}: column {column!r} is not of numbers"
            )
        columns.append(column_reader(operator, f"{name}: column {column!r}", frame.at(at)))
    if not columns:
        return Held(np.zeros((frame.rows, 0)), None, _Matrix(np.zeros((frame.rows, 0)), False))
    values = np.stack([column.values for column in columns], 1)
    missing: _Array | None = None
    if any(column.missing is not None for column in columns):
        none = np.zeros(frame.rows, bool)
        lost = [none if column.missing is None else column.missing for column in columns]
        missing = mask(np.stack(lost, 1))
    nullable = missing is not None or any(column.kind.nullable for column in columns)
    kind = _Matrix(values, nullable and missing is not None)
    kind.nan_is_missing = all(column.kind.nan_is_missing for column in columns)
    return Held(values, missing, kind)
