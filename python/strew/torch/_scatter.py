"""``scatter``, ``scatter_add`` and ``scatter_reduce``, with `mode=` and `plan=`."""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING

from .._arrays.dispatch import torch_operators
from .._native import errors
from .._own.extensions import scatter_with_arg, scatter_with_mode, scatter_with_plan
from .._strew import Operator
from ._gather import gather

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, SupportsIndex

    from .._native.types import Array, ArrayLike, Mode, Numbers, Scalar
    from .._strew import Plan

_scatter = Operator("torch.scatter")
_scatter_in_place = Operator("torch.scatter_")
_scatter_add = Operator("torch.scatter_add")
_scatter_add_in_place = Operator("torch.scatter_add_")
_scatter_reduce = Operator("torch.scatter_reduce")
_scatter_reduce_in_place = Operator("torch.scatter_reduce_")

# The names in `Plan.scatter` of what `scatter` takes as `reduce`.
_PLAN_REDUCE = {None: "assign", "add": "sum", "multiply": "prod"}


def scatter(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike | None = None,
    *,
    value: Scalar | None = None,
    reduce: Literal["add", "multiply"] | None = None,
    mode: Mode = "error",
    plan: Plan | None = None,
) -> Array:
    """Copy `input` and write elements of `src` into the cells that `index` names along `dim`.

    For three dimensions and ``dim=0``, for each ``i, j, k`` of `index` in row-major order:
    ``out[index[i, j, k], j, k] = src[i, j, k]``, so the last of several updates of a cell stays.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    dim : int
        The axis that `index` points along; negative from the end.
    index : array
        int32 or int64, in ``0 .. input.shape[dim] - 1``. As many dimensions as `input` and `src`
        (0-d counts as 1-d); no larger than `src`, nor than `input` apart from `dim`. An empty one
        of any shape and dtype changes nothing.
    src : array
        The elements, of `input`'s dtype. Only its leading corner of `index`'s shape is used. A
        number is taken as `value`.
    value : number
        Written into all of the cells, instead of `src`. It is converted to `input`'s dtype: for
        integers, fractions are cut off; for bool, every number but zero is True.
    reduce : str, optional
        How an element is combined with its cell: "add" or "multiply". None: it replaces the cell.
    mode, plan
        Not in PyTorch; see the module.

    Returns
    -------
    array
        Of `input`'s shape and dtype.

    Raises
    ------
    IndexError
        If `dim` is not an axis.
    RuntimeError
        For everything else: shapes, dtypes, an index out of bounds, an unknown `reduce`, and a
        `value` that the dtype cannot hold.

    Notes
    -----
    Sums and products of 16-bit floats accumulate in float32 and are rounded once. Integers wrap.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> src = np.arange(1, 11).reshape(2, 5)
    >>> strew.torch.scatter(np.zeros((3, 5), int), 0, np.array([[0, 1, 2, 0]]), src)
    array([[1, 0, 0, 4, 0],
           [0, 2, 0, 0, 0],
           [0, 0, 3, 0, 0]])
    >>> strew.torch.scatter(np.full((2, 4), 2.0), 1, np.array([[2], [3]]), 1.25, reduce="multiply")
    array([[2. , 2. , 2.5, 2. ],
           [2. , 2. , 2. , 2.5]])
    """
    src, value = _src_and_value(src, value)
    if plan is not None or mode != "error":
        name, options = _PLAN_REDUCE.get(reduce, reduce), {"value": value, "reduce": reduce}
        return _extended(scatter, None, input, dim, index, src, mode, plan, name, **options)
    if operators := torch_operators(input, src, value):
        return operators.torch.scatter.call(input, dim, index, src, value, reduce)
    return _scatter(input, dim, index, src, value, reduce)


def scatter_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike | None = None,
    *,
    value: Scalar | None = None,
    reduce: Literal["add", "multiply"] | None = None,
    mode: Mode = "error",
    plan: Plan | None = None,
) -> Array:
    """`scatter` in place.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([1, 2, 3])
    >>> strew.torch.scatter_(x, 0, [2, 0, 2], [10, 20, 30]) is x
    True
    >>> x
    array([20,  2, 30])
    """
    src, value = _src_and_value(src, value)
    if plan is not None or mode != "error":
        name, options = _PLAN_REDUCE.get(reduce, reduce), {"value": value, "reduce": reduce}
        return _extended(scatter, scatter_, input, dim, index, src, mode, plan, name, **options)
    if operators := torch_operators(input, src, value):
        return operators.torch.scatter.call(input, dim, index, src, value, reduce, in_place=True)
    return _scatter_in_place(input, dim, index, src, value, reduce)


def scatter_add(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike,
    *,
    mode: Mode = "error",
    plan: Plan | None = None,
    exact: bool = False,
) -> Array:
    """Copy `input` and add elements of `src` to the cells that `index` names along `dim`.

    For three dimensions and ``dim=0``, for each ``i, j, k`` of `index` in row-major order:
    ``out[index[i, j, k], j, k] += src[i, j, k]``. For bool it is a logical or.

    Parameters, exceptions and notes are those of `scatter`; `exact` is as for `scatter_reduce`.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> index = np.array([[0, 1, 2, 0, 0], [0, 1, 2, 2, 2]])
    >>> strew.torch.scatter_add(np.zeros((3, 5), int), 0, index, np.ones((2, 5), int))
    array([[2, 0, 0, 1, 1],
           [0, 2, 0, 0, 0],
           [0, 0, 2, 1, 1]])
    """
    if exact:
        return scatter_reduce(input, dim, index, src, "sum", mode=mode, plan=plan, exact=True)
    if plan is not None or mode != "error":
        return _extended(scatter_add, None, input, dim, index, src, mode, plan, "sum")
    if operators := torch_operators(input, src):
        return operators.torch.scatter.scatter_add.call(input, dim, index, src)
    return _scatter_add(input, dim, index, src)


def scatter_add_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike,
    *,
    mode: Mode = "error",
    plan: Plan | None = None,
    exact: bool = False,
) -> Array:
    """`scatter_add` in place.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.zeros(3)
    >>> strew.torch.scatter_add_(x, 0, [2, 0, 2], [1.0, 2.0, 3.0]) is x
    True
    >>> x
    array([2., 0., 4.])
    """
    if exact:
        return scatter_reduce_(input, dim, index, src, "sum", mode=mode, plan=plan, exact=True)
    if plan is not None or mode != "error":
        return _extended(scatter_add, scatter_add_, input, dim, index, src, mode, plan, "sum")
    if operators := torch_operators(input, src):
        return operators.torch.scatter.scatter_add.call_(input, dim, index, src)
    return _scatter_add_in_place(input, dim, index, src)


def scatter_reduce(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike,
    reduce: Literal["sum", "prod", "mean", "amax", "amin"],
    *,
    include_self: bool = True,
    mode: Mode = "error",
    plan: Plan | None = None,
    exact: bool = False,
) -> Array:
    """Copy `input` and reduce elements of `src` into the cells that `index` names along `dim`.

    For three dimensions, ``dim=0`` and the sum, for each ``i, j, k`` of `index` in row-major
    order: ``out[index[i, j, k], j, k] += src[i, j, k]``.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    dim : int
        The axis that `index` points along; negative from the end.
    index : array
        int32 or int64, in ``0 .. input.shape[dim] - 1``. As many dimensions as `input` and `src`
        (0-d counts as 1-d); no larger than `src`, nor than `input` apart from `dim`. An empty one
        of any shape and dtype changes nothing.
    src : array
        The elements, of `input`'s dtype. Only its leading corner of `index`'s shape is used.
    reduce : str
        "sum", "prod", "mean", "amax" or "amin".
    include_self : bool, default True
        Whether the value of `input` in a cell takes part. Cells without updates keep it in any
        case.
    mode, plan, exact
        Not in PyTorch; see the module.

    Returns
    -------
    array
        Of `input`'s shape and dtype.

    Raises
    ------
    IndexError
        If `dim` is not an axis.
    NotImplementedError
        For the mean of bool, and the extremes of complex numbers.
    RuntimeError
        For everything else: shapes, dtypes, an index out of bounds, and an unknown `reduce`.

    Notes
    -----
    Sums, products and means of 16-bit floats accumulate in float32 and are rounded once. Integers
    wrap; their means are rounded down, and counts are exact. NaN propagates through "amax" and
    "amin"; of equal values the first stays. Sums are always those of the sequential loop.

    Torch tensors have derivatives of the first and second order, backward and forward. The
    derivative of a product is right with any number of zeros. Equal extremes share the gradient;
    `input` shares in it only if it takes part. `src` may be larger than `index`. Under
    ``torch.compile`` and ``torch.func`` the function is one operator,
    ``torch.ops.strew.scatter_reduce``.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> src = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> index = np.array([0, 1, 0, 1, 2, 1])
    >>> input = np.array([1.0, 2.0, 3.0, 4.0])
    >>> strew.torch.scatter_reduce(input, 0, index, src, reduce="sum")
    array([ 5., 14.,  8.,  4.])
    >>> strew.torch.scatter_reduce(input, 0, index, src, reduce="sum", include_self=False)
    array([ 4., 12.,  5.,  4.])
    """
    reduction: Any = _exact_form(reduce) if exact else reduce
    if plan is not None or mode != "error":
        into = None
        options = {"reduce": reduction, "include_self": include_self}
        return _extended(
            scatter_reduce, into, input, dim, index, src, mode, plan, reduction, **options
        )
    if operators := torch_operators(input, src):
        return operators.torch.scatter_reduce.call(input, dim, index, src, reduction, include_self)
    return _scatter_reduce(input, dim, index, src, reduction, include_self)


def scatter_reduce_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike,
    reduce: Literal["sum", "prod", "mean", "amax", "amin"],
    *,
    include_self: bool = True,
    mode: Mode = "error",
    plan: Plan | None = None,
    exact: bool = False,
) -> Array:
    """`scatter_reduce` in place.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> table = np.array([[1, 5], [2, 6]])
    >>> out = strew.torch.scatter_reduce_(table, 1, [[0, 0], [1, 0]], [[7, 3], [4, 9]], "amax")
    >>> out is table
    True
    >>> table
    array([[7, 5],
           [9, 6]])
    """
    reduction: Any = _exact_form(reduce) if exact else reduce
    if plan is not None or mode != "error":
        into = scatter_reduce_
        options = {"reduce": reduction, "include_self": include_self}
        return _extended(
            scatter_reduce, into, input, dim, index, src, mode, plan, reduction, **options
        )
    if operators := torch_operators(input, src):
        return operators.torch.scatter_reduce.call_(input, dim, index, src, reduction, include_self)
    return _scatter_reduce_in_place(input, dim, index, src, reduction, include_self)


def scatter_reduce_with_arg(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike,
    reduce: Literal["amax", "amin"],
    *,
    include_self: bool = True,
) -> tuple[Array, Array]:
    """`scatter_reduce` by "amax" or "amin", with the position of each extreme.

    PyTorch has no such operator.

    Parameters and exceptions are those of `scatter_reduce`. ValueError is raised for another
    reduction.

    Returns
    -------
    array
        What `scatter_reduce` returns, with its derivatives.
    array
        int64, of `input`'s shape: the position along `dim` in `src` of the first update that equals
        the result in the cell (NaN equals NaN here). It is the size of `src` along `dim` in cells
        without updates, and in cells whose value in `input` takes part and equals the result.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> input, index, src = (
    ...     np.array([3.0, 9.0, 0.0]),
    ...     np.array([0, 1, 0, 0]),
    ...     np.array([1.0, 2.0, 7.0, 7.0]),
    ... )
    >>> strew.torch.scatter_reduce_with_arg(input, 0, index, src, "amax")
    (array([7., 9., 0.]), array([2, 4, 4]))
    """
    return scatter_with_arg(scatter_reduce, gather, input, dim, index, src, reduce, include_self)


def _extended(
    function: Callable[..., Any],
    in_place: Callable[..., Any] | None,
    input: Any,
    dim: SupportsIndex,
    index: Any,
    src: Any,
    mode: str,
    plan: Plan | None,
    plan_reduce: Any,
    **options: Any,
) -> Any:
    """A scatter with a mode or a plan.

    `in_place` is the form in place of `function`, or None if a new array is wanted. `plan_reduce`
    is the reduction's name in `Plan.scatter`.
    """
    if plan is None:
        return scatter_with_mode(function, in_place, input, dim, index, src, mode, **options)
    if index is not None or src is None or mode != "error":
        called = (in_place or function).__name__
        raise errors.Problem(TypeError, f"torch.{called}", "plan").saying(
            "plan needs src, and cannot be combined with index or mode"
        )
    return scatter_with_plan(function, in_place, input, dim, src, plan, plan_reduce, **options)


def _exact_form(reduce: Any) -> str:
    """The name of the exact form of a sum or a mean."""
    if reduce not in ("sum", "mean"):
        raise errors.Problem(ValueError, "torch.scatter_reduce", "reduce", reduce).saying(
            f"reduce = {reduce!r} has no exact form: only sum and mean have"
        )
    return f"exact_{reduce}"


def _src_and_value(src: Any, value: Any) -> tuple[Any, Any]:
    """PyTorch takes a number that is passed as `src` for `value`."""
    if value is None and isinstance(src, Number):
        return None, src
    return src, value
