"""numpy_groupies: `aggregate`, which reduces the values of each group.

`install` puts strew in the place of numpy_groupies' engines, for flox and other code that uses
them.

Functions raise TypeError for dtypes that do not fit together, and ValueError for everything else.
"""

from __future__ import annotations

import builtins as _builtins
import math as _math
import operator as _operator
from typing import TYPE_CHECKING

import numpy as _np

from .._arrays import masked as _masked
from .._arrays import times as _times
from .._native import errors as _errors
from .._strew import Operator as _Operator
from ._install import install as install
from ._install import uninstall as uninstall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Literal, SupportsIndex

    import numpy as np
    import numpy.typing as npt

    from .._native.types import Array, ArrayLike, Numbers

__all__ = ["aggregate"]

_aggregate = _Operator("numpy_groupies.aggregate")

_NAMES = {
    "or": "any",
    "and": "all",
    "add": "sum",
    "count": "len",
    "plus": "sum",
    "multiply": "prod",
    "product": "prod",
    "times": "prod",
    "amax": "max",
    "maximum": "max",
    "amin": "min",
    "minimum": "min",
    "split": "array",
    "splice": "array",
    "sorted": "sort",
    "asort": "sort",
    "asorted": "sort",
    "rsorted": "sort",
    "dsort": "sort",
    "dsorted": "rsort",
}
_SAME = "sum prod min max mean var std any all argmin argmax cumsum cumprod sort array".split()
_SAME += "nansum nanprod nanmean nanvar nanmax nanmin nanstd nanargmax nanargmin".split()
_SAME += "nancumsum nancumprod".split()
# These have one result for each value.
_OF_EACH = (
    "cumsum cumprod cummin cummax nancumsum nancumprod nancummin nancummax sort rsort".split()
)
_FUNCTIONS = {getattr(_np, name): name for name in _SAME} | {
    _np.add: "sum",
    _np.multiply: "prod",
    _np.minimum: "min",
    _np.maximum: "max",
    _np.asarray: "array",
    **{getattr(_builtins, name): name for name in "all any len max min sum".split()},
    sorted: "sort",
    slice: "array",
    list: "array",
}


def aggregate(
    group_idx: ArrayLike,
    a: Array | Numbers,
    func: str | Callable[..., Any] = "sum",
    size: SupportsIndex | Sequence[SupportsIndex] | npt.NDArray[np.integer[Any]] | None = None,
    fill_value: Any = 0,
    order: Literal["C", "F"] = "C",
    dtype: npt.DTypeLike | None = None,
    axis: SupportsIndex | None = None,
    ddof: float = 0,
    reverse: bool = False,
    **kwargs: Any,
) -> Array:
    """Aggregate the values of `a` by the group that each belongs to.

    Parameters
    ----------
    group_idx : array of int
        The number of each value's group, not negative: 1-d. Or 2-d (a tuple of arrays) for groups
        along several axes, with a row for each axis. With `axis` also of any shape that broadcasts
        to that of `a`: then each line of `a` along the axis has its own numbers.
    a : array
        The values: 1-d, or with `axis` of any rank. A single number for sum, prod and len. Also
        dates and durations of NumPy (datetime64, timedelta64), whose NaT is what NaN is, for "min",
        "max", "first", "last", also with "nan" in front, "len", "nanlen", "allnan" and "anynan";
        durations for "sum" and "nansum".
    func : str or callable
        One result for each group: "sum", "prod", "min", "max", "mean", "var", "std",
        "sumofsquares", "first", "last", "len", "any", "all", "allnan", "anynan", "argmin",
        "argmax", "array" (a list of arrays). One result for each value: "cumsum", "cumprod",
        "cummin", "cummax", "sort", "rsort". The prefix "nan" leaves NaN out, but for sort, rsort,
        array, allnan and anynan. Also the functions of NumPy and Python that do the same. Any other
        callable is called with the values of each group, and must return a number.
    size : int or sequence of int, optional
        The number of groups, along each of their axes; by default one more than the largest number.
    fill_value : number
        The result of groups without values, of "argmin" and "argmax" for groups with a NaN, and of
        "var" and "std" for at most `ddof` values. None only for "array" and callables. For dates
        and durations also one of them, which their unit holds, or NaN for NaT.
    order : {"C", "F"}
        The memory order of the result.
    dtype : dtype, optional
        The dtype of the result. By default that of `a`, except int64 for counts and positions, bool
        for flags, 64 bits for sums of integers, and float64 for means and deviations of integers.
    axis : int, optional
        The axis of `a` that `group_idx` lies along.
    ddof : number
        "var" and "std" divide by the number of values minus this.
    reverse : bool
        Whether "sort" puts the largest first.
    **kwargs
        Passed to a callable.

    Returns
    -------
    array
        A NumPy array from a callable, from "array", and for several axes of numbers with `axis`.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> groups, values = np.array([3, 0, 0, 1, 0, 3]), np.array([13.2, 3.5, 3.5, -8.2, 3.0, 13.4])
    >>> strew.numpy_groupies.aggregate(groups, values, "sum", fill_value=-1)
    array([10. , -8.2, -1. , 26.6])
    >>> strew.numpy_groupies.aggregate(groups, values, "argmax", fill_value=-1)
    array([ 1,  3, -1,  5])
    >>> strew.numpy_groupies.aggregate(groups, values, "cumsum")
    array([13.2,  3.5,  7. , -8.2, 10. , 26.6])
    >>> strew.numpy_groupies.aggregate([[0, 0, 1], [1, 1, 0]], [2, 4, 8], "prod")
    array([[0, 8],
           [8, 0]])

    Each row has its own groups:

    >>> strew.numpy_groupies.aggregate([[0, 1, 1], [1, 1, 0]], [[1, 2, 4], [1, 2, 4]], axis=1)
    array([[1, 6],
           [4, 3]])
    """
    func = _named(func)
    _masked.refuse("numpy_groupies.aggregate", "group_idx", group_idx)
    _masked.refuse("numpy_groupies.aggregate", "a", a)
    if isinstance(size, (tuple, list, _np.ndarray)):
        sizes: list[Any] | None = [int(n) for n in size]
    else:
        sizes = None if size is None else [size]
    dtype_name = None if dtype is None else _name_of(dtype)
    groups: Any = _np.asarray(group_idx) if isinstance(group_idx, tuple | list) else group_idx
    result: Any
    if callable(func) or func == "array":
        result = _by_group(groups, a, func, sizes, fill_value, dtype_name, axis, kwargs)
    else:
        if kwargs:
            raise _errors.Problem(TypeError, "numpy_groupies.aggregate", next(iter(kwargs))).saying(
                f"{func} takes no argument {next(iter(kwargs))}"
            )
        if fill_value is None:
            raise _errors.Problem(TypeError, "numpy_groupies.aggregate", "fill_value").saying(
                f"fill_value = None: {func} does not make objects"
            )
        times = _times.times(a)
        if times is not None:
            result = _times.aggregate(
                _of_numbers, groups, times, func, sizes, fill_value, dtype, axis
            )
        else:
            more = (order, dtype_name, ddof, reverse)
            result = _of_numbers(groups, a, func, sizes, fill_value, axis, *more)
    if order == "F" and isinstance(result, _np.ndarray):
        result = _np.asfortranarray(result)
    return result


def _named(func: Any) -> Any:
    """The name of a function, or a callable that has none."""
    if isinstance(func, str):
        return _NAMES.get(func, func)
    try:
        name = _FUNCTIONS.get(func)
    except TypeError:
        name = None
    if name is None and not callable(func):
        raise _errors.Problem(ValueError, "numpy_groupies.aggregate", "func", func).saying(
            f"func {func!r} is neither a name nor callable"
        )
    return name or func


def _name_of(dtype: npt.DTypeLike) -> str:
    """The name of a dtype."""
    try:
        return _np.dtype(dtype).name
    except TypeError as error:
        raise _errors.Problem(TypeError, "numpy_groupies.aggregate", "dtype", dtype).saying(
            f"dtype = {dtype!r}: {error}"
        ) from None


def _of_numbers(
    groups: Any,
    a: Any,
    func: str,
    sizes: list[Any] | None,
    fill_value: Any,
    axis: Any,
    order: str = "C",
    dtype: str | None = None,
    ddof: float = 0,
    reverse: bool = False,
) -> Any:
    """An aggregate of numbers, by default in their own dtype."""
    run: Any = _by_line if axis is not None and _np.ndim(groups) >= 2 else _aggregate
    return run(groups, a, func, sizes, fill_value, order, dtype, axis, ddof, reverse)


def _lines(
    group_idx: Any, a: Any, sizes: list[Any] | None, axis: Any
) -> tuple[_np.ndarray[Any, Any], _np.ndarray[Any, Any], int]:
    """The numbers of the groups where each line of `a` along an axis has groups of its own.

    The axis is then the last one of both arrays. And the number of groups of one line.
    """
    a, group_idx = _np.asarray(a), _np.asarray(group_idx)
    axis = _operator.index(axis)
    if not -a.ndim <= axis < a.ndim:
        raise _errors.Problem(ValueError, "numpy_groupies.aggregate", "axis", axis).saying(
            f"axis = {axis}: a has {a.ndim} axes"
        )
    # Counting checks the group numbers, and how many groups there are.
    flat = group_idx.ravel()
    size = len(_aggregate(flat, _np.ones(flat.shape, bool), "len", sizes, 0, "C", None))
    numbers, fits = group_idx, group_idx.ndim > 1
    if group_idx.ndim == 1:
        numbers = group_idx.reshape((-1, *[1] * (a.ndim - 1 - axis % a.ndim)))
        fits = len(group_idx) == a.shape[axis]
    try:
        numbers = _np.broadcast_to(numbers, a.shape)
    except ValueError:
        fits = False
    if not fits:
        raise _errors.Problem(
            ValueError, "numpy_groupies.aggregate", "group_idx", group_idx.shape
        ).has_shape(f"it must have the shape of a, {a.shape}, or its length along axis {axis}")
    numbers, a = _np.moveaxis(numbers, axis, -1), _np.moveaxis(a, axis, -1)
    lines = _np.arange(_math.prod(a.shape[:-1])).reshape((*a.shape[:-1], 1))
    # The cast is exact, since the numbers are below the size. NumPy adds uint64 to int64 as floats.
    return numbers.astype(_np.int64) + lines * size, a, size


def _by_line(
    group_idx: Any,
    a: Any,
    func: str,
    sizes: list[Any] | None,
    fill_value: Any,
    order: str,
    dtype: str | None,
    axis: Any,
    ddof: float,
    reverse: bool,
) -> _np.ndarray[Any, Any]:
    """Aggregates where each line of `a` along an axis has group numbers of its own."""
    numbers, a, size = _lines(group_idx, a, sizes, axis)
    lines = a.shape[:-1]

    def made(fill_value: Any, dtype: str | None) -> _np.ndarray[Any, Any]:
        total = [_math.prod(lines) * size]
        options = (fill_value, order, dtype, None, ddof, reverse)
        return _np.asarray(_aggregate(numbers.ravel(), a.ravel(), func, total, *options))

    result = made(fill_value, dtype)
    if func.endswith(("argmin", "argmax")):
        # The positions are those in all of `a`. -1 is none of them, but `fill_value` can be one.
        found = made(-1, None)
        there = found >= 0
        result[there] = found[there] % a.shape[-1]
    shape = a.shape if func in _OF_EACH else (*lines, size)
    result = _np.moveaxis(result.reshape(shape), -1, axis)
    return result if order == "F" else _np.ascontiguousarray(result)


def _by_group(
    group_idx: Any,
    a: Any,
    func: Any,
    sizes: list[Any] | None,
    fill_value: Any,
    dtype: str | None,
    axis: Any,
    kwargs: dict[str, Any],
) -> _np.ndarray[Any, Any]:
    """What a callable returns for the values of each group; for "array" the values themselves."""
    a, group_idx = _np.asarray(a), _np.asarray(group_idx)
    if a.ndim == 0:
        raise _errors.Problem(ValueError, "numpy_groupies.aggregate", "a").saying(
            "a is one number: only sum, prod and len take that"
        )
    if axis is None:
        # Counting checks the group numbers, and gives the result its shape.
        ones = _np.ones(a.shape, bool)
        shape = _np.shape(_aggregate(group_idx, ones, "len", sizes, 0, "C", None))
        if group_idx.ndim == 2:
            group_idx = _np.ravel_multi_index(tuple(group_idx), shape)
    else:
        group_idx, a, size = _lines(group_idx, a, sizes, axis)
        shape = (*a.shape[:-1], size)
    count = _math.prod(shape)
    group_idx, a = group_idx.ravel(), a.ravel()
    counts = _np.bincount(group_idx.astype(_np.int64), minlength=count)
    groups = _np.split(a[_np.argsort(group_idx, kind="stable")], _np.cumsum(counts)[:-1])
    if func == "array":
        if fill_value is not None and not _np.isscalar(fill_value) and len(fill_value):
            raise _errors.Problem(ValueError, "numpy_groupies.aggregate", "fill_value").saying(
                "fill_value must be None, a number or empty"
            )
        fill = fill_value is None or _np.isscalar(fill_value)
        made = _np.empty(count, object)
        for number, group in enumerate(groups[:count]):
            made[number] = fill_value if fill and not len(group) else group
    else:
        made = _np.full(count, fill_value, dtype or _np.float64)
        for number, group in enumerate(groups[:count]):
            if len(group):
                made[number] = func(group, **kwargs)
    made = made.reshape(shape)
    return made if axis is None else _np.ascontiguousarray(_np.moveaxis(made, -1, axis))
