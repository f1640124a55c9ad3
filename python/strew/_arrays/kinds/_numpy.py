"""Dates and durations of NumPy. NaT is a missing value."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..._native import errors
from ._held import Groups, Held, Kind, Made, mask

_Array: TypeAlias = np.ndarray[Any, Any]


class _Times(Kind):
    def __init__(self, given: _Array) -> None:
        self.given = given

    def out(self, made: Made, groups: Groups) -> Any:
        return made.filled()

    def part(self, places: _Array, axis: int) -> Any:
        return self.given.take(places, axis)


def read(operator: str, name: str, given: Any) -> Held:
    array = np.asarray(given)
    if array.dtype.kind not in "mM":
        raise errors.Problem(TypeError, operator, name, str(array.dtype)).saying(
            f"{name} has dtype {array.dtype}: all must be dates, or all durations"
        )
    return Held(array, mask(np.isnat(array)), _Times(array))
