"""strew's own gather, the inverse of its scatter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._arrays.dispatch import torch_operators
from .._arrays.lines import plan_as_index
from .._groups import any_kind, flat
from .._groups.any_kind import needed
from .._native import dtypes, log
from .._native import options as _options
from .._native.aliases import one_of
from .._native.log import is_on as is_logged
from .._native.progress import progress as _progress
from .._strew import Operator, Plan
from .scatter import explain, refuse_index_arguments

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import EllipsisType
    from typing import Any, SupportsIndex

    from .._native.types import ArrayLike, Mode, Numbers, Values

__all__ = ["gather"]

_gather = Operator("strew.gather")


def gather(
    src: Values | Numbers,
    index: ArrayLike | None,
    dim: SupportsIndex | None = -1,
    *,
    mode: Mode = "error",
    fill_value: Any = None,
    ignore_index: int | None = None,
    plan: Plan | None = None,
    axis: SupportsIndex | EllipsisType | None = ...,
    progress: bool | Callable[[int, int], object] = False,
) -> Values:
    """Pick the elements of `src` that `index` names along `dim`; the inverse of `scatter`.

    Parameters
    ----------
    src : array
        What to read from: one or more dimensions, any dtype. Or another kind that
        `strew.aggregate` takes.
    index : array of int, or None
        Of any integer dtype. A 1-d index takes whole slices. Any other index has `src`'s rank, and
        both are broadcast apart from `dim`. The result has the index's size along `dim`. None if
        `plan` is given.
    dim, axis : int or None
        As for `scatter`. None: the index, of any shape, names elements of `src` in row-major order,
        and the result has its shape.
    mode, ignore_index, plan
        As for `scatter`.
    fill_value : number, optional
        The result for an index that is dropped: by default 0, and missing for kinds of `src` that
        have missing values.
    progress : bool or callable
        Whether to show how far the run is, as `strew.progress` does.

    Returns
    -------
    array
        A new array of `src`'s dtype and kind; bits are copied. Torch tensors have derivatives.

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
    if progress is not False:
        named: dict[str, Any] = {"mode": mode, "fill_value": fill_value, "plan": plan, "axis": axis}
        again: Any = gather
        with _progress(progress):
            return again(src, index, dim, ignore_index=ignore_index, **named)
    begun = log.clock() if is_logged() else 0.0
    if axis is not ...:
        dim = one_of("gather", ("dim", "axis"), (dim, axis), -1, ...)
    if dim is None or needed(src, index):
        made = _gather_any_kind(src, index, dim, mode, fill_value, ignore_index, plan)
        if begun:
            log.call("gather", begun, src=src, index=index, plan=plan, result=made)
        return made
    if type(dim) is not int:
        dim = _options.integer("dim", dim, operator="gather")
    if fill_value is not None:
        dtypes.check_fill("gather", fill_value, src, ["gather"])
    try:
        if plan is not None:
            refuse_index_arguments("gather", index, None, mode, ignore_index)
            made = _gather_by_plan(src, plan, dim, fill_value)
        elif operators := torch_operators(src):
            made = operators.own.gather(src, index, dim, mode, fill_value, ignore_index)
        else:
            made = _gather(src, index, dim, mode, fill_value, ignore_index)
    except (IndexError, TypeError, ValueError) as error:
        explain(error, "gather", index, mode)
        raise
    if begun:
        log.call("gather", begun, src=src, index=index, plan=plan, result=made)
    return made


def _gather_any_kind(
    src: Any,
    index: Any,
    dim: Any,
    mode: Any,
    fill_value: Any,
    ignore_index: Any,
    plan: Plan | None,
) -> Any:
    """A gather from values of a kind that becomes an array first, or along all axes."""

    def run(src: Any, index: Any, dim: Any, fill_value: Any) -> Any:
        shape = None
        if dim is None:
            src, _ = flat.values(src)
            shape, index = _index_of_all(index)
        made = gather(
            src,
            index,
            0 if dim is None else dim,
            mode=mode,
            fill_value=fill_value,
            ignore_index=ignore_index,
            plan=plan,
        )
        return made if shape is None else made.reshape(shape)

    return any_kind.gathered(run, src, index, dim, mode, fill_value)


def _gather_by_plan(src: Any, plan: Plan, dim: int, fill_value: Any) -> Any:
    """A gather with the index of a plan."""
    operators = torch_operators(src)
    if fill_value is None and not operators:
        return plan.gather(src, dim=dim)

    def by_index(src: Any) -> Any:
        rows = plan_as_index(plan, src)
        if operators:
            return operators.own.gather(src, rows, dim, "drop", fill_value, None)
        return _gather(src, rows, dim, "drop", fill_value, None)

    if fill_value is None and operators.plan.supports_gather(src):
        return operators.plan.gather(plan, src, dim, by_index)
    return by_index(src)


def _index_of_all(index: Any) -> tuple[tuple[int, ...] | None, Any]:
    """The shape of an index for all elements, and the index as a 1-d array."""
    if index is None:
        return None, None
    array = index if hasattr(index, "reshape") else dtypes.as_array(index)
    return tuple(array.shape), array.reshape(-1)
