"""Labelled arrays of xarray. NaN is a number in them, and NaT is a missing value."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..._native import errors
from ._held import Groups, Held, Kind, Made, mask

_Array: TypeAlias = np.ndarray[Any, Any]


def reader(kind: type) -> Callable[[str, str, Any], Held] | None:
    return read if issubclass(kind, sys.modules["xarray"].DataArray) else None


class _Labelled(Kind):
    def __init__(self, given: Any) -> None:
        self.given = given

    def out(self, made: Made, groups: Groups) -> Any:
        xr: Any = sys.modules["xarray"]
        given = self.given
        if made.is_per_value:
            return given.copy(data=made.filled())
        names = [given.dims[axis] if isinstance(axis, int) else axis for axis in made.axes]
        coords: dict[Any, Any] = {
            name: one for name, one in given.coords.items() if set(one.dims) <= set(names)
        }
        of_groups = [at for at, axis in enumerate(made.axes) if str(axis).startswith("group")]
        for at, name in zip(of_groups, groups.names, strict=False):
            if len(of_groups) == len(groups.names) and name is not None and name not in names:
                names[at] = name
        if groups.keys is not None:
            (at,) = of_groups
            for number, (name, keys) in enumerate(zip(groups.names, groups.keys, strict=True)):
                called = name if name is not None else f"key_{number}"
                coords[names[at] if len(groups.keys) == 1 else called] = (
                    names[at],
                    np.asarray(keys),
                )
        return xr.DataArray(made.filled(), coords, names, given.name, given.attrs)

    def part(self, places: _Array, axis: int) -> Any:
        return self.given.isel({self.given.dims[axis]: places})

    def axis(self, operator: str, dim: Any) -> Any:
        dims = self.given.dims
        if isinstance(dim, str):
            if dim not in dims:
                raise errors.Problem(ValueError, operator, "dim", dim).saying(
                    f"dim = {dim!r}: src has the dimensions {dims}"
                )
            return dims.index(dim)
        return dim

    def check_labels(self, operator: str, name: str, other: Any, axis: Any) -> None:
        xr: Any = sys.modules["xarray"]
        if not isinstance(other, xr.DataArray):
            return
        self._check_dims(operator, name, other, axis)
        for dim in set(self.given.dims) & set(other.dims):
            mine, others = self.given.indexes.get(dim), other.indexes.get(dim)
            if mine is None or others is None or len(mine) != len(others) or mine.equals(others):
                continue
            raise errors.Problem(ValueError, operator, name).saying(
                f"{name} and src have different labels along {dim!r}, but values go by their "
                f"position: align them first, or pass {name}.values"
            )

    def _check_dims(self, operator: str, name: str, other: Any, axis: Any) -> None:
        """Raises if a dimension of another argument does not stand where that of `src` does."""
        dims = self.given.dims
        if other.ndim == 1 and isinstance(axis, int):
            (along,) = other.dims
            if along in dims and -len(dims) <= axis < len(dims) and dims[axis] != along:
                raise errors.Problem(ValueError, operator, "dim", axis).saying(
                    f"{name} lies along {along!r}, but dim = {axis} of src is {dims[axis]!r}: pass "
                    f"dim={along!r}"
                )
        elif other.ndim > 1:
            # As NumPy pairs axes: from the last one on.
            pairs = zip(reversed(other.dims), reversed(dims), strict=False)
            known = set(dims) & set(other.dims)
            if any(mine != theirs and {mine, theirs} & known for theirs, mine in pairs):
                wanted = tuple(dim for dim in dims if dim in other.dims)
                raise errors.Problem(ValueError, operator, name).saying(
                    f"{name} has the dimensions {other.dims}, but src has {dims}: axes are paired "
                    f"from the last one on; pass {name}.transpose{wanted}, or without names "
                    f"{name}.values"
                )


def read(operator: str, name: str, given: Any) -> Held:
    if given.chunks is not None:
        raise errors.Problem(TypeError, operator, name).saying(
            f"{name} is in chunks, which would be loaded whole: call strew.dask, or pass "
            f"{name}.compute()"
        )
    values = np.asarray(given.values)
    missing = mask(np.isnat(values)) if values.dtype.kind in "mM" else None
    return Held(values, missing, _Labelled(given))
