"""strew's own aggregates of groups."""

from __future__ import annotations

from inspect import signature
from operator import is_
from typing import TYPE_CHECKING, overload

from numpy import ndarray

from .._arrays.dispatch import batch_operators, is_of_batch
from .._arrays.frames import find as frame
from .._groups import any_kind, no_values
from .._groups import by as _by
from .._groups.any_kind import needed
from .._groups.by import Grouped
from .._groups.long_line import Call, names_of
from .._groups.reduce import PER_VALUE, of_arrays
from .._native import errors, log
from .._native import options as _options
from .._native.aliases import one_of
from .._native.log import clock
from .._native.log import is_on as is_logged
from .._native.progress import progress as _progress
from . import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import EllipsisType
    from typing import Any, Literal, SupportsIndex, TypeAlias, TypedDict

    import numpy as np
    from typing_extensions import Unpack

    from .._native.types import ArrayLike, Frame, Keys, Mode, Numbers, Sizes, Values
    from .._strew import Plan

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
        "argsort",
        "rank",
        "cumcount",
        "shift",
        "nth",
        "topk",
        "argtopk",
    ]
    # Or a function of the values of one group.
    _Reduce: TypeAlias = _Aggregate | Callable[[Any], Any]
    _Method: TypeAlias = Literal[
        "average",
        "min",
        "max",
        "dense",
        "ordinal",
        "linear",
        "lower",
        "higher",
        "nearest",
        "midpoint",
    ]

    class _WithoutValues(TypedDict, total=False):
        """What `aggregate` takes besides, where it only counts groups."""

        dim: SupportsIndex | None
        axis: SupportsIndex | EllipsisType | None
        size: Sizes | None
        dim_size: Sizes | None
        mode: Mode
        min_count: SupportsIndex | None
        fill_value: Any
        ignore_index: int | None
        progress: bool | Callable[[int, int], object]

    class _Options(_WithoutValues, total=False):
        """What it takes besides."""

        skipna: bool | None
        ddof: float
        exact: bool
        dtype: Any
        q: float | Sequence[float] | Sequence[Sequence[float]] | np.ndarray[Any, Any]
        k: SupportsIndex
        largest: bool
        n: SupportsIndex
        periods: SupportsIndex
        method: _Method | None


@overload
def aggregate(
    src: Frame,
    index: Keys | Plan | None = None,
    reduce: Any = "sum",
    *,
    by: Any = None,
    weights: Any = None,
    **options: Unpack[_Options],
) -> Any: ...
@overload
def aggregate(
    src: Values | Numbers,
    index: Keys | Plan,
    reduce: _Reduce = "sum",
    *,
    by: None = None,
    weights: ArrayLike | None = None,
    **options: Unpack[_Options],
) -> Values: ...
@overload
def aggregate(
    src: Values | Numbers,
    index: Keys | Plan,
    reduce: list[_Reduce] | tuple[_Reduce, ...],
    *,
    by: None = None,
    weights: ArrayLike | None = None,
    **options: Unpack[_Options],
) -> tuple[Values, ...]: ...
@overload
def aggregate(
    src: Values | Numbers | None = None,
    index: None = None,
    reduce: _Reduce | list[_Reduce] | tuple[_Reduce, ...] = "sum",
    *,
    by: Any,
    weights: ArrayLike | None = None,
    **options: Unpack[_Options],
) -> Grouped: ...
@overload
def aggregate(
    src: None = None,
    index: Keys | Plan | None = None,
    reduce: Any = "sum",
    *,
    by: None = None,
    **options: Unpack[_WithoutValues],
) -> Any: ...
def aggregate(
    src: Any = None,
    index: Keys | Plan | None = None,
    reduce: Any = "sum",
    *,
    by: Any = None,
    dim: SupportsIndex | None = 0,
    axis: SupportsIndex | EllipsisType | None = ...,
    size: Sizes | None = None,
    dim_size: Sizes | None = None,
    mode: Mode = "error",
    skipna: bool | None = None,
    min_count: SupportsIndex | None = None,
    fill_value: Any = None,
    ignore_index: int | None = None,
    ddof: float = 0,
    exact: bool = False,
    dtype: Any = None,
    weights: ArrayLike | None = None,
    q: float | Sequence[float] | Sequence[Sequence[float]] | np.ndarray[Any, Any] = 0.5,
    k: SupportsIndex = 1,
    largest: bool = True,
    n: SupportsIndex = 0,
    periods: SupportsIndex = 1,
    method: _Method | None = None,
    progress: bool | Callable[[int, int], object] = False,
) -> Any:
    """Reduce the values of each group, in one way or in several at once.

    Integers and bools are computed in 64 bits and wrap, floats in float64, complex numbers in
    complex128, in the values' order; each result is rounded once. The order statistics (median,
    quantile, mode, nunique, topk, sort, rank) bring a copy of the group's values in order.

    Parameters
    ----------
    src : array, optional
        The values: any shape, with as many of them along `dim` as there are in `index`. "len" and
        "cumcount" need none. Also a masked array, a column of pandas, pyarrow or Polars, an array
        of xarray, dates or durations, of which missing values are left out. Or a data frame of
        pandas, Polars or pyarrow, whose rows are grouped. docs/inputs.md has the rules.
    index : array of int, tuple of them, or Plan
        The group of each value: 1-d. Or a tuple of such arrays, all of one length: the result then
        has one axis for each of these keys in place of `dim`. Or a `strew.Plan` of it, which is
        analysed once for many calls. None with `by`.
    reduce : str, callable, or a list or tuple of them; of a frame also a dict
        One result for each group (in brackets the result of an empty group, unless `fill_value` is
        given): "sum" (0), "prod" (1), "sumsq" (0), "mean", "var", "std", "sem" (the standard error
        of the mean), "skew", "kurt" (without bias, as in pandas), "min", "max" (NaN wins), "first",
        "last", "nth", "median", "quantile", "mode" (the smallest if there are several; NaN, and 0
        for integers), "logsumexp" (NaN), "len", "count" (not NaN), "nunique" (0), "any" (False),
        "all" (True), "anynan" (False), "allnan" (True), "argmin", "argmax" (-1, also for a group
        with a NaN).
        `k` results for each group: "topk" (NaN, and 0 for integers), "argtopk" (-1).
        One result for each value: "softmax", "cumsum", "cumprod", "cummin", "cummax", "cumcount"
        (how many values of the group stand before), "shift", "rank" (1 for the smallest, NaN last),
        "sort", "argsort" (the position along `dim` of each sorted value, at the places of the
        group).
        A callable takes the values of one group, `src` at its positions along `dim`, and returns a
        number or an array, of one shape for all groups. Its results are stacked along `dim`, or
        along the last axis if they have fewer dimensions. It is not called for groups that are
        empty or have fewer than `min_count` values.
        Of a frame, a name or a list is for every column that is no key. The keys of a dict are
        columns, with a reduction or a list of them each; or names of results, with a pair of a
        column and a reduction each. "len" alone counts the rows.
    by : keys, optional
        The key of each value in place of `index`: strings, dates, numbers or categories, of one
        column or of several, as `strew.factorize` takes them. Of a frame, the names of columns.
        Values with a missing key belong to no group. `size`, `mode` and `ignore_index` cannot be
        combined with it.
    dim, axis : int or None
        The axis of `src` that `index` lies along. None: all axes. `index` then has `src`'s shape,
        or one dimension for all elements in row-major order, and positions are those of this order.
    size, dim_size : int, or tuple of int or None, optional
        The number of groups; by default one more than the largest number. With several keys a tuple
        of one number for each key, or None.
    mode : {"error", "wrap", "drop", "clip"}
        What a number outside the groups means, as for `strew.Plan`. With several keys it holds for
        each of them.
    skipna : bool, optional
        Whether NaN is left out. By default as the kind of the values has it: NaN is a missing value
        in columns and frames of pandas that have no other mark for it, and a number elsewhere. At a
        NaN, a running result is that of the values before; softmax, and running minima and maxima
        before the first value, are the fill value. So is its rank. "sort", "argsort" and "shift"
        keep NaN. A callable sees them, too: `skipna` must be False.
    min_count : int, optional
        Groups with fewer values (NaN not counted with `skipna`) get the fill value; by default
        those without any. If it is given, their sums and products are missing where the kind of the
        values has missing values.
    fill_value : number, optional
        The result of groups and values without one, also of values that are left out. `pandas.NA`
        makes them missing, also sums and products.
    ignore_index : int, optional
        Values with this number, in any key, belong to no group.
    ddof : number
        "var", "std" and "sem" divide by the number of values minus this. Groups that do not have
        more values get the fill value.
    exact : bool
        Whether "sum", "mean", "sumsq", "var", "std" and "sem" are the exact value, rounded once to
        the result's dtype. They are then the same for every order of the values. Other reductions
        that round refuse it.
    dtype : dtype, optional
        The dtype of "sum", "prod", "sumsq", "mean", "cumsum" and "cumprod", of any library or by
        name. The values are converted to it first. Integers wrap. It must be of the kind of `src`'s
        dtype or of a later one: bool, integer, float, complex. Means take no integers. Other
        reductions refuse it, and so do `weights`.
    weights : array, optional
        The weight of each value: 1-d along `dim`, or an array that broadcasts to `src`'s shape, or
        of a frame the name of a column. "sum" is the sum of w * x. "mean" is that divided by the
        sum of w; it is the fill value
        where the weights sum to 0. "var" and "std" divide the sum of w * (x - mean)**2 by the sum
        of w minus `ddof`. Weights thus count how often a value is there. They are the fill value
        where the divisor is not positive. "count" and "len" count values. Other reductions refuse
        weights. Integers are computed in float64 and give float64. `skipna` leaves out NaN with
        their weights. With `exact`, "sum" and "mean" are exact and rounded once, those of integers
        of 64 bits too; "var" and "std" refuse it.
    q : number, sequence of numbers, or 2-d array
        The fraction of "quantile": 0 is the smallest value, 1 the largest; `method` says what is
        between two values. The results for several fractions lie along a new first axis. Of an
        array, column g has the fractions of group g: ``q=of_each[None]`` is one for each group.
    k : int
        How many values "topk" and "argtopk" give, the best first. They lie along a new axis behind
        `dim`. Of equal values the first comes first.
    largest : bool
        Whether these are the largest values, of which NaN is the largest; otherwise the smallest.
    n : int
        The place of "nth" in the group: 0 is the first value, -1 the last.
    periods : int
        "shift" moves values on by so many places of the group, or back if it is negative. Places
        without a value get the fill value.
    method : str, optional
        The "rank" of equal values: "average" (the default, the mean of their ranks), "min", "max",
        "dense" (one more than that of the next smaller value), "ordinal" (a rank of its own for
        each in their order). NaN are equal. Or the "quantile" at a place between two values, as
        NumPy names it: "linear" (the default), "lower", "higher", "nearest" (halfway that of even
        place) or "midpoint". With both reductions in one call it is that of the one that has it.
    progress : bool or callable
        Whether to show how far the run is, as `strew.progress` does.

    Returns
    -------
    array, or tuple of arrays for a sequence of names; of a frame a frame
        A frame has the key columns, in ascending order of the keys, and then the results. Arrays
        are of the kind of `src`, and without `src` NumPy's, or of the library that `index` is of.
        With `by` a `strew.Grouped`: the pair of the keys of the groups, in ascending order, and
        this. Of `src`'s shape; if there is one result for each group, the groups lie along `dim`.
        Sums, products and squares of integers are of 64 bits, unless `dtype` says otherwise; means,
        deviations, quantiles, logsumexp and softmax of them float64; ranks float64; counts and
        positions int64; flags bool; everything else has `src`'s dtype. Torch tensors have first and
        second derivatives for all names whose results are neither counts, flags, positions nor
        ranks. The smallest and largest values share the gradient equally if there are several. Any
        other result that is a copy of a value gives its gradient to that value.

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
    >>> strew.aggregate(values, groups, "median")
    array([ 5., nan,  2.])
    >>> mean, std, most = strew.aggregate(values, groups, ["mean", "std", "max"], fill_value=0)
    >>> mean, most
    (array([5., 0., 3.]), array([5., 0., 6.]))
    >>> strew.aggregate(index=groups, reduce="len")
    array([1, 0, 3])
    >>> strew.aggregate(values, groups, "cumsum")
    array([1., 5., 3., 9.])
    >>> keys, mean = strew.aggregate(values, by=["UA", "AA", "UA", "UA"], reduce="mean")
    >>> dict(zip(keys.tolist(), mean.tolist()))
    {'AA': 5.0, 'UA': 3.0}
    >>> strew.aggregate(values, groups, "topk", k=2)
    array([[ 5., nan],
           [nan, nan],
           [ 6.,  2.]])
    >>> strew.aggregate(values, groups, np.ptp, fill_value=0)
    array([0., 0., 5.])
    >>> strew.aggregate(values, groups, "mean", weights=[1, 1, 1, 2])
    array([5.  ,  nan, 3.75])
    >>> strew.aggregate(values, (groups, [0, 1, 0, 1]), "sum", size=(3, 2))
    array([[0., 5.],
           [0., 0.],
           [3., 6.]])
    """
    if progress is not False:
        named: dict[str, Any] = {"dim": dim, "axis": axis, "size": size, "dim_size": dim_size}
        named |= {"mode": mode, "skipna": skipna, "min_count": min_count, "fill_value": fill_value}
        named |= {"ignore_index": ignore_index, "ddof": ddof, "exact": exact, "dtype": dtype}
        named |= {"weights": weights, "q": q, "k": k, "largest": largest, "n": n}
        again: Any = aggregate
        with _progress(progress):
            return again(src, index, reduce, by=by, periods=periods, method=method, **named)
    if samples := batch_operators(index, by, weights, src if weights is not None else None):
        if is_of_batch(by):
            raise errors.Problem(ValueError, "aggregate", "by").saying(
                "by differs between the samples of torch.vmap: make an index of it by "
                "strew.factorize first"
            )
        if size is None and dim_size is None and not _all_per_value(reduce):
            raise errors.Problem(ValueError, "aggregate", "size").saying(
                "size is needed under torch.vmap with an index or weights for each sample, "
                "because each sample would have its own number of groups"
            )
        named = {"dim": dim, "axis": axis, "size": size, "dim_size": dim_size, "mode": mode}
        named |= {"skipna": skipna, "min_count": min_count, "fill_value": fill_value, "q": q}
        named |= {"ignore_index": ignore_index, "ddof": ddof, "exact": exact, "dtype": dtype}
        named |= {"k": k, "largest": largest, "n": n, "periods": periods, "method": method}

        def of_sample(src: Any, index: Any, weights: Any) -> Any:
            return aggregate(src, index, reduce, weights=weights, **named)

        return samples.samples.each(of_sample, src, index, weights)
    begun = clock() if is_logged() else 0.0
    if axis is not ...:
        dim = one_of("aggregate", ("dim", "axis"), (dim, axis), 0, ...)
    given: Any = size
    if dim_size is not None:
        given = one_of("aggregate", ("size", "dim_size"), (size, dim_size), None)
    values = (skipna, min_count, fill_value, ddof, exact, q, k, largest, n, periods, method)
    plain = all(map(is_, values, _USUAL))
    options = _options.PLAIN if plain else _options.checked(values)
    reader = None if src is None or type(src) is ndarray else frame(src)
    if reader is not None:
        if by is not None:
            _by.refuse_beside(index, given, mode, ignore_index)
        elif index is None:
            # Of rows that are not at hand, the error says so.
            reader(src)
            raise no_values.no_groups(src, [])
        given_frame = (src, by, index, reduce, dim, given, mode, ignore_index, dtype, weights)
        made = tables.aggregate(*given_frame, options)
        if begun:
            log.call("aggregate", begun, reduce=reduce, src=src, index=index, by=by, result=made)
        return made
    several = not (isinstance(reduce, str) or callable(reduce))
    reduces: list[Any] = _options.reductions(reduce) if several else [reduce]
    if src is None:
        no_values.check(reduces, weights)
    if by is not None:
        _by.refuse_beside(index, given, mode, ignore_index)
        grouped = _by.grouped(src, by, reduces, several, dim, dtype, weights, options)
        if begun:
            log.call("aggregate", begun, reduce=reduce, src=src, by=by, result=grouped.values)
        return grouped
    if index is None:
        raise no_values.no_groups(src, reduces)
    if src is None:
        src = no_values.stand_in(index)
    if dim is None or weights is not None or needed(src, index):
        call = Call(
            operator="aggregate",
            run=of_arrays,
            index=index,
            reduces=reduces,
            names=names_of(reduces),
            dim=dim,
            size=given,
            mode=mode,
            ignore_index=ignore_index,
            dtype=dtype,
            weights=weights,
            options=options,
        )
        results = any_kind.reduced(call, src, _by.of_index(index))
    else:
        if options["fill_missing"]:
            options = _options.without_missing(options, src)
        results = of_arrays(
            src, index, reduces, dim, given, mode, ignore_index, dtype, weights, options
        )
    made = results if several else results[0]
    if begun:
        log.call("aggregate", begun, reduce=reduce, src=src, index=index, result=made)
    return made


def _all_per_value(reduce: Any) -> bool:
    """Whether the results do not depend on the number of groups."""
    names = [reduce] if isinstance(reduce, str) or callable(reduce) else reduce
    return all(isinstance(name, str) and name in PER_VALUE for name in names)


# The options of a call that names none. Its values are these objects, which is found faster than
# they are checked.
_USUAL = tuple(signature(aggregate).parameters[name].default for name in _options.NAMES)
