"""strew's own scatter and gather."""

from __future__ import annotations

import math as _math
import sys as _sys
from typing import TYPE_CHECKING

import numpy as _np

from . import _keys
from ._aggregate import PER_VALUE as _PER_VALUE
from ._aggregate import aggregate as _aggregate
from ._aliases import one_of as _one_of
from ._dispatch import torch_operators as _torch_operators
from ._strew import Operator as _Operator
from ._strew import Plan as _Plan
from ._swapped import explain as _explain_swapped

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, SupportsIndex

    from ._types import Array, ArrayLike, Keys, Mode, Numbers, Sizes

__all__ = ["gather", "scatter"]

_scatter = _Operator("strew.scatter")
_gather = _Operator("strew.gather")

# The engine's own reductions, by the name that `Plan.scatter` and `strew.torch` know.
_REDUCTIONS = {
    "sum": "sum",
    "add": "sum",
    "mean": "mean",
    "prod": "prod",
    "mul": "prod",
    "min": "amin",
    "amin": "amin",
    "max": "amax",
    "amax": "amax",
    "assign": "assign",
    "exact_sum": "exact_sum",
    "exact_mean": "exact_mean",
}


def scatter(
    src: Array | Numbers,
    index: Keys | None,
    dim: SupportsIndex = -1,
    *,
    out: Array | None = None,
    dim_size: Sizes | None = None,
    reduce: str | Callable[[Any], Any] = "sum",
    mode: Mode = "error",
    include_self: bool = True,
    fill_value: Any = None,
    ignore_index: int | None = None,
    exact: bool = False,
    plan: _Plan | None = None,
    axis: SupportsIndex | None = None,
    size: Sizes | None = None,
    **options: Any,
) -> Array:
    """Reduce the elements of `src` that share an index along `dim`.

    Parameters
    ----------
    src : array
        The elements: one or more dimensions, any dtype.
    index : array of int, tuple of them, or None
        The cell of each element along `dim`, of any integer dtype. A 1-d index lies along `dim`; an
        index of another rank is broadcast to `src`'s shape as in NumPy. In a tuple of 1-d arrays,
        each is the index along an axis of its own: the result has these axes in place of `dim`. A
        new result only. None if `plan` is given.
    dim, axis : int
        The axis that `index` points along.
    out : array, optional
        An array to continue reducing into, in place; it is returned. It has `src`'s dtype, and
        `src`'s shape apart from `dim`.
    dim_size, size : int, or tuple of int or None, optional
        The result's size along `dim`; by default one more than the largest index. With a tuple as
        `index`, a tuple of one size for each axis, or None.
    reduce : str or callable
        "sum" (or "add"), "mean" (of integers rounded down), "prod" (or "mul"), "min" and "max" (or
        "amin", "amax"; NaN wins), or "assign", which copies the last one. 16-bit floats accumulate
        in float32 and are rounded once, integers wrap. Also every reduction of `strew.aggregate`
        ("std", "median", "softmax", ...), with its dtypes and fill values, and a callable as it
        takes. With "nan" in front ("nanmean"), NaN is left out. These make a new array, so `out`
        must be None.
    mode : {"error", "wrap", "drop", "clip"}
        What an index outside the axis means. "error": an error. "wrap": negative indices count from
        the end. "drop": its element is skipped. "clip": the nearest cell.
    include_self : bool
        Whether the value of `out` in a cell counts as one more element. Cells without elements keep
        it in any case.
    fill_value : number, optional
        The value of cells without elements in a new result: by default 0, and 1 for "prod".
    ignore_index : int, optional
        Elements with this index are skipped in every mode.
    plan : Plan, optional
        An index that was analysed before, instead of `index`. It has its own size and mode.
    exact : bool
        Whether a sum or a mean of floats is the float nearest to the exact one, as `math.fsum`
        gives it. Its bits do not depend on the order of the elements, nor on the machine. A sum of
        zero is +0. Sums of integers are exact anyway. Gradients are those of the plain sum. The
        reductions "exact_sum" and "exact_mean" are the same.
    **options
        What single reductions of `strew.aggregate` take: `ddof`, `min_count`, `q`, `k`, `largest`,
        `n`, `periods` and `method`.

    Returns
    -------
    array
        `out`, or a new array of `src`'s library. Torch tensors have derivatives for the reductions
        from "sum" to "assign", and for those of `strew.aggregate` that have them there. Equal
        extremes share the gradient equally, as in PyTorch.

    Raises
    ------
    IndexError
        If an index is out of range, or `dim` is not an axis.
    ValueError, TypeError
        For shapes, names and values that do not fit, an index that is not of integers, and dtypes
        that a reduction is not defined for. `out` is then unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> src = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> strew.scatter(src, np.array([2, 0, 2]), 0)
    array([[3., 4.],
           [0., 0.],
           [6., 8.]])
    >>> strew.scatter(
    ...     src, np.array([2, 0, 255], np.uint8), 0, reduce="max", fill_value=-1, ignore_index=255
    ... )
    array([[ 3.,  4.],
           [-1., -1.],
           [ 1.,  2.]])
    >>> strew.scatter(src, np.array([[0, 1], [1, 0], [0, 0]]), 0, reduce="median")
    array([[3., 5.],
           [3., 2.]])
    >>> strew.scatter(src, ([2, 0, 2], [0, 1, 1]), 0, size=(3, 2)).shape
    (3, 2, 2)
    >>> tenths, cell = np.full(10, 0.1), np.zeros(10, int)
    >>> strew.scatter(tenths, cell).item(), strew.scatter(tenths, cell, exact=True).item()
    (0.9999999999999999, 1.0)
    """
    dim = _one_of("scatter", ("dim", "axis"), (dim, axis), -1)
    dim_size = _one_of("scatter", ("dim_size", "size"), (dim_size, size), None)
    name: Any = _REDUCTIONS.get(reduce) if isinstance(reduce, str) else None
    if exact:
        name = _exact_reduction("scatter", reduce if name is None else name)
    if options and name is not None:
        raise TypeError(f"scatter: reduce = {reduce!r} does not take {', '.join(options)}")
    options["fill_value"] = fill_value
    if plan is not None:
        _refuse_index_arguments("scatter", index, dim_size, mode, ignore_index)
        if name is None:
            return _aggregate_groups(src, plan, dim, out, {}, reduce, options)
        operators = _torch_operators(src, out)
        if fill_value is None and not operators:
            return plan.scatter(src, name, dim=dim, out=out, include_self=include_self)
        if fill_value is None and out is None and operators.plan.supports(src):

            def by_index(_: Any, src: Any) -> Any:
                rows = _plan_as_index(plan)
                return operators.own.scatter(
                    src, rows, dim, None, plan.size, name, "drop", include_self, None, None
                )

            return operators.plan.scatter(plan, None, src, dim, name, include_self, by_index)
        index, mode = _plan_as_index(plan), "drop"
        dim_size = plan.size if out is None else None
    sizes: tuple[int, ...] | None = None
    if plan is None and name is not None and _keys.several(index):
        if out is not None:
            raise ValueError("scatter: several keys make a new array: out must be None")
        axis_of_keys = _keys.axis_of("scatter", dim, src)
        index, sizes = _keys.rows("scatter", index, dim_size, mode, ignore_index)
        dim_size, mode, ignore_index = _math.prod(sizes), "drop", None
    if name is None:
        of_index = {"size": dim_size, "mode": mode, "ignore_index": ignore_index}
        return _aggregate_groups(src, index, dim, out, of_index, reduce, options)
    try:
        if operators := _torch_operators(src, out):
            result = operators.own.scatter(
                src, index, dim, out, dim_size, name, mode, include_self, fill_value, ignore_index
            )
        else:
            result = _scatter(
                *(src, index, dim, out, dim_size, reduce, mode, include_self),
                *(fill_value, ignore_index, exact),
            )
    except (TypeError, ValueError) as error:
        _explain_swapped(error, src, index)
        raise
    return result if sizes is None else _keys.unfold(result, axis_of_keys, sizes)


def gather(
    src: Array | Numbers,
    index: ArrayLike | None,
    dim: SupportsIndex = -1,
    *,
    mode: Mode = "error",
    fill_value: Any = None,
    ignore_index: int | None = None,
    plan: _Plan | None = None,
    axis: SupportsIndex | None = None,
) -> Array:
    """Pick the elements of `src` that `index` names along `dim`; the inverse of `scatter`.

    Parameters
    ----------
    src : array
        What to read from: one or more dimensions, any dtype.
    index : array of int, or None
        Of any integer dtype. A 1-d index takes whole slices. Any other index has `src`'s rank, and
        both are broadcast apart from `dim`. The result has the index's size along `dim`. None if
        `plan` is given.
    dim, axis, mode, ignore_index, plan
        As for `scatter`.
    fill_value : number, optional
        The result for an index that is dropped: by default 0.

    Returns
    -------
    array
        A new array of `src`'s dtype and library; bits are copied. Torch tensors have derivatives.

    Raises
    ------
    IndexError, ValueError, TypeError
        As for `scatter`.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> src = np.array([[1, 2], [3, 4]])
    >>> strew.gather(src, [1, 1, 0], 0)
    array([[3, 4],
           [3, 4],
           [1, 2]])
    >>> strew.gather(src, [[1], [-1]], 1, mode="drop", fill_value=7)
    array([[2],
           [7]])
    """
    dim = _one_of("gather", ("dim", "axis"), (dim, axis), -1)
    if plan is not None:
        _refuse_index_arguments("gather", index, None, mode, ignore_index)
        operators = _torch_operators(src)
        if fill_value is None and not operators:
            return plan.gather(src, dim=dim)
        if fill_value is None and operators.plan.supports(src):

            def by_index(src: Any) -> Any:
                return operators.own.gather(src, _plan_as_index(plan), dim, "drop", None, None)

            return operators.plan.gather(plan, src, dim, by_index)
        index, mode = _plan_as_index(plan), "drop"
    if operators := _torch_operators(src):
        return operators.own.gather(src, index, dim, mode, fill_value, ignore_index)
    return _gather(src, index, dim, mode, fill_value, ignore_index)


def _exact_reduction(operator: str, reduce: Any) -> str:
    """The name of the exact form of a sum or a mean."""
    if reduce in ("exact_sum", "exact_mean"):
        return str(reduce)
    if reduce not in ("sum", "mean"):
        raise ValueError(
            f"{operator}: reduce = {reduce!r} has no exact form: only sum and mean have"
        )
    return f"exact_{reduce}"


def _refuse_index_arguments(
    name: str, index: Any, dim_size: Any, mode: str, ignore_index: Any
) -> None:
    """Raises for arguments about the index beside a plan, which has its own."""
    given = index is not None or dim_size is not None or ignore_index is not None
    if given or mode != "error":
        raise ValueError(
            f"{name}: index, dim_size, mode and ignore_index cannot be combined with plan"
        )


def _plan_as_index(plan: _Plan) -> Any:
    """The row of each of a plan's updates; -1 for those that it drops."""
    return plan.gather(_np.arange(1, plan.size + 1)) - 1


# Reductions whose results are positions of elements.
_POSITIONS = frozenset(["argmin", "argmax", "argsort", "argtopk"])


def _aggregate_groups(
    src: Any,
    index: Any,
    dim: Any,
    out: Any,
    of_index: dict[str, Any],
    reduce: Any,
    options: dict[str, Any],
) -> Any:
    """A scatter with a reduction of `aggregate`, or with "nan" in front of one."""
    if out is not None:
        raise ValueError(f"scatter: reduce = {reduce!r} makes a new array: out must be None")
    if "weights" in options:
        raise TypeError("scatter: weights are an argument of strew.aggregate")
    skipna = isinstance(reduce, str) and reduce.startswith("nan")
    options["skipna"] = skipna
    name = reduce[3:] if skipna else reduce
    if isinstance(index, _Plan):
        return _aggregate(src, index, name, dim=dim, **options)
    if not _keys.several(index):
        index = _np.asarray(index)
    if isinstance(index, tuple) or index.ndim == 1:
        return _aggregate(src, index, name, dim=dim, **of_index, **options)
    return _aggregate_lines(src, index, dim, of_index, name, options)


def _aggregate_lines(
    src: Any, index: Any, dim: Any, of_index: dict[str, Any], name: Any, options: dict[str, Any]
) -> Any:
    """Like `_aggregate_groups`, for an index by which each line along `dim` has its own groups."""
    torch = _sys.modules.get("torch")
    is_torch = torch is not None and isinstance(src, torch.Tensor)
    library: Any = torch if is_torch else _np
    values = src if is_torch else _np.asarray(src)
    lines = _np.moveaxis(_np.broadcast_to(index, values.shape), dim, -1)
    values = library.moveaxis(values, dim, -1)
    plan = _Plan(lines.reshape(-1), of_index.pop("size"), **of_index)
    rows, count = _plan_as_index(plan).reshape(-1, lines.shape[-1] or 1), values.shape[-1]
    # The groups of all lines, numbered one line after the other.
    first = _np.arange(len(rows))[:, None] * plan.size
    numbers = _np.where(rows < 0, -1, rows + first).reshape(-1)
    plan_of_all = _Plan(numbers, plan.size * len(rows), mode="drop")
    result = _aggregate(values.reshape(-1), plan_of_all, name, **options)
    result = result if is_torch else _np.asarray(result)
    if name in _POSITIONS:
        result = library.where(result < 0, result, result % max(count, 1))
    # The axes before and after that of the groups.
    before = 1 if name == "quantile" and _np.ndim(options.get("q", 0.5)) else 0
    after = result.shape[before + 1 :]
    groups = count if isinstance(name, str) and name in _PER_VALUE else plan.size
    result = result.reshape((*result.shape[:before], *values.shape[:-1], groups, *after))
    dim = dim % values.ndim + before
    result = library.moveaxis(result, before + values.ndim - 1, dim)
    # Behind the groups, as for an index along `dim`.
    own = range(result.ndim - len(after), result.ndim)
    result = library.moveaxis(result, tuple(own), tuple(range(dim + 1, dim + 1 + len(after))))
    return result.contiguous() if is_torch else _np.ascontiguousarray(result)
