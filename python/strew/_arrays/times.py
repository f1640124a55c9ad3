"""Groups of dates and durations: datetime64 and timedelta64 as the integers that they are.

NaT is the smallest integer. It is what NaN is among floats: a group that has one has it as result,
and functions with "nan" in front leave it out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .._native import errors

_Array: TypeAlias = np.ndarray[Any, Any]

_COUNTS = ("len", "nanlen", "allnan", "anynan")
_PICKS = ("first", "last")
_EXTREMES = ("min", "max")
_NAT = np.iinfo(np.int64).min


def times(a: Any) -> _Array | None:
    """The array of dates or durations that `a` holds; None if it holds something else."""
    if isinstance(a, (list, tuple)):
        if not a or not isinstance(a[0], (np.datetime64, np.timedelta64)):
            return None
    elif getattr(getattr(a, "dtype", None), "kind", "") not in ("m", "M"):
        return None
    made = np.asarray(a)
    # pandas' dates with a time zone are objects.
    return made if made.dtype.kind in "mM" else None


def _named(a: _Array) -> tuple[str, ...]:
    """The functions of these values, without their nan forms."""
    sums = ("sum",) if a.dtype.kind == "m" else ()
    return (*_PICKS, *_EXTREMES, *sums)


def takes(a: _Array, func: str) -> bool:
    """Whether a function is defined for dates or durations."""
    return func in _COUNTS or func.removeprefix("nan") in _named(a)


def aggregate(
    run: Callable[..., Any],
    groups: Any,
    a: _Array,
    func: str,
    sizes: list[Any] | None,
    fill_value: Any,
    dtype: Any,
    axis: Any,
) -> _Array:
    """An aggregate of dates or durations.

    `run` takes the groups, numbers in place of `a`, and `func`, `sizes`, `fill_value` and `axis`.
    """
    plain = func.removeprefix("nan")
    if not takes(a, func):
        raise errors.Problem(TypeError, "numpy_groupies.aggregate", func).saying(
            f"{func} is not defined for {a.dtype}, but these are: "
            f"{', '.join((*_COUNTS, *_named(a)))}"
        )
    if a.ndim == 0 and plain in ("sum", "len"):
        a = np.broadcast_to(a, np.shape(groups)[-1:])
    missing = np.isnat(a)
    # NaN where there is no time: for counts and flags.
    present = np.where(missing, np.nan, 0.0)
    if func in _COUNTS:
        made = np.asarray(run(groups, present, func, sizes, fill_value, axis))
        return made if dtype is None else made.astype(dtype)
    own = a.dtype.newbyteorder("=")
    to = own if dtype is None else np.dtype(dtype)
    if to.kind != a.dtype.kind:
        raise errors.Problem(TypeError, "numpy_groupies.aggregate", "dtype", to.name).saying(
            f"dtype = {to.name}: {func} of {a.dtype} gives {a.dtype}"
        )
    made_fill = fill("numpy_groupies.aggregate", fill_value, own)
    numbers = a.astype(own).view(np.int64)
    if func == plain:
        made = np.asarray(run(groups, numbers, func, sizes, made_fill, axis))
        if func not in _PICKS:
            flags = np.asarray(run(groups, present, "anynan", sizes, False, axis))
            made[flags.astype(bool)] = _NAT
    else:
        made = _without(run, groups, numbers, missing, plain, sizes, made_fill, axis)
    return made.view(own).astype(to)


def fill(operator: str, fill_value: Any, dtype: Any) -> int:
    """The integer of a fill value: a time of that kind, NaN for NaT, or a whole number."""

    def refused(kind: type[Exception]) -> Exception:
        problem = errors.Problem(kind, operator, "fill_value", fill_value)
        return problem.expecting(f"it is no {dtype}")

    given = np.asarray(fill_value)
    is_time = given.dtype.kind in "mM"
    # A date would be taken as a duration, and a duration as a date.
    other = is_time and given.dtype.kind != dtype.kind
    if given.ndim or given.dtype.kind == "c" or (other and not np.isnat(given)):
        raise refused(TypeError)
    if given.dtype.kind == "f":
        number = float(given)
        if number != number:
            return _NAT
        if not number.is_integer() or abs(number) >= 2.0**63:
            raise refused(ValueError)
        given = np.asarray(int(number))
    try:
        made = given.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise refused(TypeError) from error
    # A time between two of the unit would be rounded down.
    if is_time and not np.isnat(given) and made != given:
        raise refused(ValueError)
    return int(made.view(np.int64))


def _without(
    run: Callable[..., Any],
    groups: Any,
    numbers: _Array,
    missing: _Array,
    func: str,
    sizes: list[Any] | None,
    fill: int,
    axis: Any,
) -> _Array:
    """An aggregate without the missing times: they are put into a group of their own."""
    # The number of groups, along each of their axes; the numbers are checked, too.
    counted = np.asarray(run(groups, np.ones(numbers.shape), "len", sizes, 0, axis))
    groups = np.asarray(groups)
    if axis is None:
        shape: tuple[int, ...] = counted.shape
        if groups.ndim == 2:
            groups = np.ravel_multi_index(tuple(groups), shape)
        size = counted.size
    else:
        size = counted.shape[axis]
        if groups.ndim == 1:
            along = [1] * numbers.ndim
            along[axis] = len(groups)
            groups = groups.reshape(along)
        groups = np.broadcast_to(groups, numbers.shape)
    groups = np.where(missing, size, groups.astype(np.int64))
    made = np.asarray(run(groups, numbers, func, [size + 1], fill, axis))
    if axis is None:
        return made[:size].reshape(shape)
    return np.ascontiguousarray(np.take(made, range(size), axis))
