"""A Python function of the values of each group, in the kind that they have."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from .._arrays.kinds._held import Made
from .._strew import _groups, _members
from .apply import check_shapes, fill_of, no_common_dtype
from .missing import group_axes, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from .._arrays.kinds._held import Held
    from .long_line import Call

    _Array: TypeAlias = np.ndarray[Any, Any]


def apply(call: Call, held: Held, function: Callable[[Any], Any]) -> Made:
    """The function's results, stacked; `aggregate` describes them.

    It takes the values of a group with those that are missing. A result may be missing, too.
    """
    shape = held.values.shape
    rows, size, sizes = rows_of(call, shape)
    starts, members, _ = _members(_groups(rows, size, "drop", None))
    found: list[tuple[_Array, bool] | None] = []
    least = max(call.options["min_count"], 1)
    for first, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        places = members[first:end]
        missing = held.missing
        if missing is not None:
            lost = missing.take(places, call.dim)
            enough = lost.size - lost.sum() >= least
        else:
            enough = end - first >= least
        found.append(_result(function(held.kind.part(places, call.dim))) if enough else None)
    made, lost = _stacked(found, held, call.options["fill_value"], call.dim)
    axis = min(call.dim, made.ndim - 1)
    if sizes is not None:
        made = made.reshape((*made.shape[:axis], *sizes, *made.shape[axis + 1 :]))
        lost = None if lost is None else lost.reshape(made.shape)
    several = len(sizes or (1,))
    axes: list[int | str] = [f"dim_{at}" for at in range(made.ndim)]
    if made.ndim - several + 1 == len(shape):
        axes = list(range(len(shape)))
        axes[axis : axis + 1] = group_axes(several)
    else:
        axes[axis : axis + several] = group_axes(several)
    return Made(made, lost, axes)


def _result(given: Any) -> tuple[_Array, bool]:
    """A result as an array, and whether it is missing."""
    if given is None or given is np.ma.masked:
        return np.zeros(()), True
    pandas = sys.modules.get("pandas")
    if pandas is not None and (given is pandas.NA or given is pandas.NaT):
        return np.zeros(()), True
    if hasattr(given, "as_py"):
        # A scalar of pyarrow.
        return _result(given.as_py())
    # Timestamps and durations of pandas.
    for name in ("to_datetime64", "to_timedelta64"):
        if hasattr(given, name):
            return np.asarray(getattr(given, name)()), False
    made = np.asarray(given)
    if made.dtype == object and made.ndim == 0:
        # Dates and durations of Python.
        kind = "M8[us]" if hasattr(given, "year") else "m8[us]" if hasattr(given, "days") else None
        made = made if kind is None else made.astype(kind)
    return made, False


def _stacked(
    found: list[tuple[_Array, bool] | None], held: Held, fill_value: Any, dim: int
) -> tuple[_Array, _Array | None]:
    """The results of all groups, and where there is none."""
    values = [one[0] for one in found if one is not None and not one[1]]
    shape = check_shapes([None if one is None or one[1] else one[0] for one in found])
    dtype = held.values.dtype
    if values:
        try:
            dtype = np.result_type(*{one.dtype for one in values})
        except TypeError as error:
            names = sorted({str(one.dtype) for one in values})
            raise no_common_dtype(names) from error
    is_time = dtype.kind in "mM"
    none: Any = np.array("NaT", dtype) if is_time else np.zeros((), dtype)
    if fill_value is not None:
        none = np.array(fill_value, dtype) if is_time else fill_of(fill_value, dtype)
    elif dtype.kind in "fc":
        none = np.nan
    empty = np.full(shape, none, dtype)
    axis = min(dim, len(shape))
    if not found:
        return np.zeros((0,), dtype), None
    parts = [empty if one is None or one[1] else one[0].astype(dtype) for one in found]
    # A result that the function says is missing is so; a group without one has the fill value.
    lost = [one[1] if one is not None else fill_value is None for one in found]
    made = np.stack(parts, axis)
    mask = np.stack([np.full(shape, one) for one in lost], axis)
    return made, mask if mask.any() else None
