"""Series, indices and arrays of pandas, of NumPy's dtypes, its own nullable ones, and pyarrow's.

Series have labels. Results with one value for each value keep them; those of groups by keys have
the keys as labels. Values go by their position: two Series with different labels are refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..._native import errors
from ._held import Groups, Held, Kind, Made, mask

_Array: TypeAlias = np.ndarray[Any, Any]


def reader(kind: type) -> Callable[[str, str, Any], Held] | None:
    pd: Any = sys.modules["pandas"]
    known = (pd.Series, pd.Index, pd.api.extensions.ExtensionArray)
    return read if issubclass(kind, known) else None


def check_labels(operator: str, name: str, other: Any, src: Any) -> None:
    """Raises if an argument has labels that differ from those of a column or frame."""
    pd: Any = sys.modules["pandas"]
    mine, others = getattr(src, "index", None), getattr(other, "index", None)
    if not isinstance(mine, pd.Index) or not isinstance(others, pd.Index):
        return
    if len(mine) == len(others) and mine is not others and not mine.equals(others):
        raise errors.Problem(ValueError, operator, name).saying(
            f"{name} and src have different labels, but values go by their position: align "
            f"them first, or pass {name}.to_numpy()"
        )


class _Pandas(Kind):
    def __init__(self, given: Any) -> None:
        self.given = given
        pd: Any = sys.modules["pandas"]
        dtype = given.dtype
        self.is_arrow = isinstance(dtype, pd.ArrowDtype)
        self.is_masked = not self.is_arrow and hasattr(dtype, "numpy_dtype")
        self.nullable = self.is_arrow or self.is_masked
        self.unit_of_days = "s" if self.is_arrow else None
        subtype = getattr(dtype, "subtype", dtype)
        self.nan_is_missing = isinstance(subtype, np.dtype) and subtype.kind in "fc"

    def out(self, made: Made, groups: Groups) -> Any:
        if made.values.ndim != 1:
            return made.masked() if self.nullable else made.filled()
        pd: Any = sys.modules["pandas"]
        array = self._array(made)
        if isinstance(self.given, pd.Series):
            labels = self.given.index if made.is_per_value else _labels(groups)
            return pd.Series(array, labels, name=self.given.name, copy=False)
        if isinstance(self.given, pd.Index):
            return pd.Index(array, name=self.given.name, copy=False)
        return array if not isinstance(array, np.ndarray) else pd.array(array)

    def _array(self, made: Made) -> Any:
        """The values as an array of the family of dtypes that came in."""
        pd: Any = sys.modules["pandas"]
        values = made.values
        if self.is_arrow:
            from ._pyarrow import array_of

            like = self.given.dtype.pyarrow_dtype
            return pd.arrays.ArrowExtensionArray(array_of(made, like))
        if self.is_masked and values.dtype.name in _MASKED:
            of = getattr(pd.arrays, _MASKED[values.dtype.name])
            missing = made.missing
            return of(values, np.zeros(len(values), bool) if missing is None else missing)
        filled = made.filled()
        zone = getattr(self.given.dtype, "tz", None)
        if zone is not None and filled.dtype.kind == "M":
            return pd.DatetimeIndex(filled).tz_localize("UTC").tz_convert(zone).array
        return filled

    def part(self, places: _Array, axis: int) -> Any:
        pd: Any = sys.modules["pandas"]
        is_series = isinstance(self.given, pd.Series)
        return self.given.iloc[places] if is_series else self.given.take(places)

    def check_labels(self, operator: str, name: str, other: Any, axis: Any) -> None:
        check_labels(operator, name, other, self.given)


_MASKED = {
    "bool": "BooleanArray",
    "float32": "FloatingArray",
    "float64": "FloatingArray",
} | {f"{sign}int{bits}": "IntegerArray" for sign in ("", "u") for bits in (8, 16, 32, 64)}


def _labels(groups: Groups) -> Any:
    """The labels of groups: their keys, or their numbers."""
    pd: Any = sys.modules["pandas"]
    if groups.keys is None:
        return None
    if len(groups.keys) == 1:
        return pd.Index(groups.keys[0], name=groups.names[0])
    return pd.MultiIndex.from_arrays(list(groups.keys), names=groups.names)


def read(operator: str, name: str, given: Any) -> Held:
    pd: Any = sys.modules["pandas"]
    dtype = given.dtype
    kind = _Pandas(given)
    if kind.is_arrow:
        from ._pyarrow import parts

        array = given if isinstance(given, pd.api.extensions.ExtensionArray) else given.array
        values, missing = parts(operator, name, array.__arrow_array__())
        return Held(values, missing, kind)
    if kind.is_masked:
        missing = np.asarray(given.isna())
        none: Any = {"na_value": dtype.numpy_dtype.type(0)} if missing.any() else {}
        values = given.to_numpy(dtype=dtype.numpy_dtype, copy=False, **none)
        return Held(values, mask(missing), kind)
    if getattr(dtype, "tz", None) is not None:
        values = np.asarray(pd.DatetimeIndex(given).tz_convert(None))
        return Held(values, mask(np.isnat(values)), kind)
    if not isinstance(dtype, np.dtype) and not isinstance(dtype, pd.SparseDtype):
        raise errors.Problem(TypeError, operator, name).saying(
            f"{name} has the dtype {dtype} of pandas",
            "it must be of numbers, bools, dates or durations",
        )
    values = np.asarray(given)
    missing = mask(np.isnat(values)) if values.dtype.kind in "mM" else None
    return Held(values, missing, kind)
