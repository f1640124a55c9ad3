"""strew's own aggregates of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from ._strew import Plan as _Plan
from ._strew import _aggregate as _run
from ._strew import _groups

if TYPE_CHECKING:
    from typing import Any, Literal, SupportsIndex, TypeAlias

    from ._types import Array, ArrayLike, Mode, Numbers

    _Aggregate: TypeAlias = Literal[
        "sum",
        "prod",
        "sumsq",
        "mean",
        "var",
        "std",
        "sem",
        "skew",
        "kurt",
        "min",
        "max",
        "first",
        "last",
        "len",
        "count",
        "nunique",
        "any",
        "all",
        "anynan",
        "allnan",
        "argmin",
        "argmax",
        "median",
        "quantile",
        "mode",
        "logsumexp",
        "softmax",
        "cumsum",
        "cumprod",
        "cummin",
        "cummax",
        "sort",
    ]


@overload
def aggregate(
    index: ArrayLike | _Plan,
    src: Array | Numbers,
    reduce: _Aggregate = "sum",
    *,
    dim: SupportsIndex = 0,
    size: SupportsIndex | None = None,
    mode: Mode = "error",
    skipna: bool = False,
    min_count: SupportsIndex = 1,
    fill_value: Any = None,
    ignore_index: int | None = None,
    ddof: float = 0,
    q: float = 0.5,
) -> Array: ...
@overload
def aggregate(
    index: ArrayLike | _Plan,
    src: Array | Numbers,
    reduce: list[_Aggregate] | tuple[_Aggregate, ...],
    *,
    dim: SupportsIndex = 0,
    size: SupportsIndex | None = None,
    mode: Mode = "error",
    skipna: bool = False,
    min_count: SupportsIndex = 1,
    fill_value: Any = None,
    ignore_index: int | None = None,
    ddof: float = 0,
    q: float = 0.5,
) -> tuple[Array, ...]: ...
def aggregate(
    index: ArrayLike | _Plan,
    src: Any,
    reduce: Any = "sum",
    *,
    dim: SupportsIndex = 0,
    size: SupportsIndex | None = None,
    mode: Mode = "error",
    skipna: bool = False,
    min_count: SupportsIndex = 1,
    fill_value: Any = None,
    ignore_index: int | None = None,
    ddof: float = 0,
    q: float = 0.5,
) -> Any:
    """Reduce the values of each group, in one way or in several at once.

    Integers and bools are computed in 64 bits and wrap, floats in float64, complex numbers in
    complex128, in the values' order; each result is rounded once. The order statistics (median,
    quantile, mode, nunique, sort) sort a copy of the group's values.

    Parameters
    ----------
    index : array of int, or Plan
        The group of each value: 1-d. Or a `strew.Plan` of it, which is analysed once for many
        calls.
    src : array
        The values: any shape, with as many of them along `dim` as there are in `index`.
    reduce : str or sequence of str
        One result for each group (in brackets the result of an empty group, unless `fill_value` is
        given): "sum" (0), "prod" (1), "sumsq" (0), "mean", "var", "std", "sem" (the standard error
        of the mean), "skew", "kurt" (without bias, as in pandas), "min", "max" (NaN wins), "first",
        "last", "median", "quantile", "mode" (the smallest if there are several; NaN, and 0
        for integers), "logsumexp" (NaN), "len", "count" (not NaN), "nunique" (0), "any" (False),
        "all" (True), "anynan" (False), "allnan" (True), "argmin", "argmax" (-1, also for a group with a NaN). One result for each
        value: "softmax", "cumsum", "cumprod", "cummin", "cummax", "sort".
    dim : int
        The axis of `src` that `index` lies along.
    size : int, optional
        The number of groups; by default one more than the largest number.
    mode : {"error", "wrap", "drop", "clip"}
        What a number outside the groups means, as for `strew.Plan`.
    skipna : bool
        Whether NaN is left out. At a NaN, a running result is that of the values before; softmax,
        and running minima and maxima before the first value, are the fill value.
    min_count : int
        Groups with fewer values (NaN not counted with `skipna`) get the fill value.
    fill_value : number, optional
        The result of groups and values without one, also of values that are left out.
    ignore_index : int, optional
        Values with this number belong to no group.
    ddof : number
        "var", "std" and "sem" divide by the number of values minus this. Groups that do not have
        more values get the fill value.
    q : number
        The fraction of "quantile": 0 is the smallest value, 1 the largest; between two values it is
        interpolated linearly.

    Returns
    -------
    array, or tuple of arrays for a sequence of names
        Of `src`'s shape; if there is one result for each group, the groups lie along `dim`. Sums,
        products and squares of integers are of 64 bits; means, deviations, quantiles, logsumexp and
        softmax of them float64; counts and positions int64; flags bool; everything else has `src`'s
        dtype.

    Raises
    ------
    ValueError, TypeError, IndexError
        For shapes, names and fill values that do not fit, dtypes that a reduction is not defined
        for, a `dim` that is not an axis, and numbers that are not integers or are out of range.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> groups, values = np.array([2, 0, 2, 2]), np.array([1.0, 5.0, 2.0, 6.0])
    >>> strew.aggregate(groups, values, "median")
    array([ 5., nan,  2.])
    >>> mean, std, most = strew.aggregate(groups, values, ["mean", "std", "max"], fill_value=0)
    >>> mean, most
    (array([5., 0., 3.]), array([5., 0., 6.]))
    >>> strew.aggregate(groups, values, "cumsum")
    array([1., 5., 3., 9.])
    """
    if isinstance(index, _Plan):
        groups: Any = index
        if size is not None or mode != "error" or ignore_index is not None:
            raise ValueError(
                "aggregate: a plan has its own size, mode and numbers that are left out"
            )
    else:
        groups = _groups(index, size, mode, ignore_index)
    names = [reduce] if isinstance(reduce, str) else list(reduce)
    results = _run(groups, src, names, dim, skipna, min_count, fill_value, ddof, q)
    return results[0] if isinstance(reduce, str) else results
