"""Masked arrays of NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as _np

from ._held import Groups, Held, Kind, Made, mask

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    _Array: TypeAlias = _np.ndarray[Any, Any]


class _Masked(Kind):
    nullable = True

    def __init__(self, given: Any) -> None:
        self.given = given

    def out(self, made: Made, groups: Groups) -> Any:
        return made.masked()

    def part(self, places: _Array, axis: int) -> Any:
        return self.given.take(places, axis)


def read(operator: str, name: str, given: Any) -> Held:
    values = _np.asarray(given.data)
    missing = None if given.mask is _np.ma.nomask else mask(_np.ma.getmaskarray(given))
    if values.dtype.kind in "mM":
        missing = mask(_np.isnat(values) | _np.ma.getmaskarray(given))
    return Held(values, missing, _Masked(given))
