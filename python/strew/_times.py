"""Groups of dates and durations: datetime64 and timedelta64 as the integers that they are.

NaT is the smallest integer. It is what NaN is among floats: a group that has one has it as result,
and functions with "nan" in front leave it out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as _np

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    _Array: TypeAlias = _np.ndarray[Any, Any]

_COUNTS = ("len", "nanlen", "allnan", "anynan")
_PICKS = ("first", "last")
_EXTREMES = ("min", "max")
_NAT = _np.iinfo(_np.int64).min


def is_time(a: Any) -> bool:
    """Whether an array holds dates or durations."""
    return isinstance(a, _np.ndarray) and a.dtype.kind in "mM"


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
        raise TypeError(
            f"numpy_groupies.aggregate: {func} is not defined for {a.dtype}, but these are: "
            f"{', '.join((*_COUNTS, *_named(a)))}"
        )
    missing = _np.isnat(a)
    # NaN where there is no time: for counts and flags.
    present = _np.where(missing, _np.nan, 0.0)
    if func in _COUNTS:
        made = _np.asarray(run(groups, present, func, sizes, fill_value, axis))
        return made if dtype is None else made.astype(dtype)
    own = a.dtype.newbyteorder("=")
    to = own if dtype is None else _np.dtype(dtype)
    if to.kind != a.dtype.kind:
        raise TypeError(
            f"numpy_groupies.aggregate: dtype = {to.name}: {func} of {a.dtype} gives {a.dtype}"
        )
    try:
        fill = int(_np.asarray(fill_value).astype(own).view(_np.int64))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"numpy_groupies.aggregate: fill_value = {fill_value!r}: it is no {a.dtype}"
        ) from error
    numbers = a.astype(own).view(_np.int64)
    if func == plain:
        made = _np.asarray(run(groups, numbers, func, sizes, fill, axis))
        if func not in _PICKS:
            flags = _np.asarray(run(groups, present, "anynan", sizes, False, axis))
            made[flags.astype(bool)] = _NAT
    else:
        made = _without(run, groups, numbers, missing, plain, sizes, fill, axis)
    return made.view(own).astype(to)


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
    counted = _np.asarray(run(groups, _np.ones(numbers.shape), "len", sizes, 0, axis))
    groups = _np.asarray(groups)
    if axis is None:
        shape: tuple[int, ...] = counted.shape
        if groups.ndim == 2:
            groups = _np.ravel_multi_index(tuple(groups), shape)
        size = counted.size
    else:
        size = counted.shape[axis]
        if groups.ndim == 1:
            along = [1] * numbers.ndim
            along[axis] = len(groups)
            groups = groups.reshape(along)
        groups = _np.broadcast_to(groups, numbers.shape)
    groups = _np.where(missing, size, groups.astype(_np.int64))
    made = _np.asarray(run(groups, numbers, func, [size + 1], fill, axis))
    if axis is None:
        return made[:size].reshape(shape)
    return _np.ascontiguousarray(_np.take(made, range(size), axis))
