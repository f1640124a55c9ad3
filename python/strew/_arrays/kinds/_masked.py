"""Masked arrays of NumPy."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ._held import Groups, Held, Kind, Made, mask

_Array: TypeAlias = np.ndarray[Any, Any]


class _Masked(Kind):
    nullable = True

    def __init__(self, given: Any) -> None:
        self.given = given

    def out(self, made: Made, groups: Groups) -> Any:
        return made.masked()

    def part(self, places: _Array, axis: int) -> Any:
        return self.given.take(places, axis)


def read(operator: str, name: str, given: Any) -> Held:
    values = np.asarray(given.data)
    missing = None if given.mask is np.ma.nomask else mask(np.ma.getmaskarray(given))
    if values.dtype.kind in "mM":
        missing = mask(np.isnat(values) | np.ma.getmaskarray(given))
    return Held(values, missing, _Masked(given))
