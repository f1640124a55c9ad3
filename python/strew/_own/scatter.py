"""strew's own scatter."""

from __future__ import annotations

import functools
import math
import sys
from typing import TYPE_CHECKING

import numpy as np

from .._arrays.dispatch import batch_operators, device_operators, torch_operators
from .._arrays.lines import plan_as_index
from .._arrays.swapped import explain as explain_swapped
from .._groups import any_kind, keys
from .._groups.any_kind import needed
from .._groups.by import of_index
from .._groups.long_line import Call
from .._native import dtypes, errors, hints, log
from .._native import options as _options
from .._native.aliases import one_of
from .._native.log import is_on as is_logged
from .._native.progress import progress as _progress
from .._strew import Operator, Plan
from .scatter_groups import aggregate_groups

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import EllipsisType
    from typing import Any, SupportsIndex

    from .._native.types import Array, Keys, Mode, Numbers, Sizes, Values

__all__ = ["scatter"]

_scatter = Operator("strew.scatter")

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


# The same in `aggregate`. Assigning is not an aggregate.
_AGGREGATES = {
    "sum": "sum",
    "exact_sum": "sum",
    "mean": "mean",
    "exact_mean": "mean",
    "prod": "prod",
    "amin": "min",
    "amax": "max",
}

# Statistics that have no value without elements.
_NONE_IF_EMPTY = frozenset(["mean", "exact_mean", "amin", "amax"])


def scatter(
    src: Values | Numbers,
    index: Keys | None,
    dim: SupportsIndex | None = -1,
    *,
    out: Array | None = None,
    dim_size: Sizes | None = None,
    reduce: str | Callable[[Any], Any] = "sum",
    mode: Mode = "error",
    include_self: bool = True,
    fill_value: Any = None,
    ignore_index: int | None = None,
    exact: bool = False,
    dtype: Any = None,
    plan: Plan | None = None,
    axis: SupportsIndex | EllipsisType | None = ...,
    size: Sizes | None = None,
    progress: bool | Callable[[int, int], object] = False,
    **options: Any,
) -> Values:
    """Reduce the elements of `src` that share an index along `dim`.

    Parameters
    ----------
    src : array
        The elements: one or more dimensions, any dtype. Or another kind that `strew.aggregate`
        takes, of which missing values are left out.
    index : array of int, tuple of them, or None
        The cell of each element along `dim`, of any integer dtype. A 1-d index lies along `dim`; an
        index of another rank is broadcast to `src`'s shape as in NumPy. In a tuple of 1-d arrays,
        each is the index along an axis of its own: the result has these axes in place of `dim`. A
        new result only. None if `plan` is given.
    dim, axis : int or None
        The axis that `index` points along. None: all axes. `index` then has `src`'s shape, or one
        dimension for all elements in row-major order, and the result has one dimension.
    out : array, optional
        An array to continue reducing into, in place; it is returned. It has `src`'s dtype, and
        `src`'s shape apart from `dim`.
    dim_size, size : int, or tuple of int or None, optional
        The result's size along `dim`; by default one more than the largest index. With a tuple as
        `index`, a tuple of one size for each axis, or None.
    reduce : str or callable
        "sum" (or "add"), "mean", "prod" (or "mul"), "min" and "max" (or "amin", "amax"; NaN wins),
        or "assign", which copies the last one. A new result has the dtype that `strew.aggregate`
        gives: sums and products of bools and signed integers are int64, those of unsigned integers
        uint64, and means of integers and bools float64. Everything else has `src`'s dtype. With
        `out`, its dtype decides, and means of integers are rounded down. Integers wrap. 16-bit
        floats accumulate in float32 and are rounded once, other floats accumulate in their own
        dtype. Also every other reduction of `strew.aggregate` ("std", "median", "softmax", ...),
        and a callable as it takes. With "nan" in front ("nanmean"), NaN is left out. These make a
        new array, so `out` must be None.
    mode : {"error", "wrap", "drop", "clip"}
        What an index outside the axis means. "error": an error. "wrap": negative indices count from
        the end. "drop": its element is skipped. "clip": the nearest cell.
    include_self : bool
        Whether the value of `out` in a cell counts as one more element. Cells without elements keep
        it in any case.
    fill_value : number, optional
        The value of cells without elements in a new result. By default it is 0 for "sum" and
        "assign", 1 for "prod", and for the others NaN, or 0 if the result has no NaN.
    ignore_index : int, optional
        Elements with this index are skipped in every mode.
    plan : Plan, optional
        An index that was analysed before, instead of `index`. It has its own size and mode.
    exact : bool
        Whether a sum or a mean of floats is the float nearest to the exact one, as `math.fsum`
        gives it. Its bits do not depend on the order of the elements, nor on the machine. A sum of
        zero is +0. Sums of integers are exact anyway. Gradients are those of the plain sum. The
        reductions "exact_sum" and "exact_mean" are the same.
    dtype : dtype, optional
        The dtype of a new "sum", "prod" or "mean", as for `strew.aggregate`. The elements are
        converted to it first.
    progress : bool or callable
        Whether to show how far the run is, as `strew.progress` does.
    **options
        What single reductions of `strew.aggregate` take: `ddof`, `min_count`, `q`, `k`, `largest`,
        `n`, `periods` and `method`.

    Returns
    -------
    array
        `out`, or a new array of `src`'s kind. Torch tensors have derivatives for the reductions
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
    >>> small = np.array([100, 100, 7], np.int8)
    >>> strew.scatter(small, [2, 2, 0]), strew.scatter(small, [2, 2, 0], dtype=np.int8)
    (array([  7,   0, 200]), array([  7,   0, -56], dtype=int8))
    >>> strew.scatter(small, [2, 2, 0], reduce="mean")
    array([  7.,  nan, 100.])
    >>> strew.scatter(src, ([2, 0, 2], [0, 1, 1]), 0, size=(3, 2)).shape
    (3, 2, 2)
    >>> tenths, cell = np.full(10, 0.1), np.zeros(10, int)
    >>> strew.scatter(tenths, cell).item(), strew.scatter(tenths, cell, exact=True).item()
    (0.9999999999999999, 1.0)
    """
    if (
        type(src) is np.ndarray
        and type(index) is np.ndarray
        and type(dim) is int
        and not (options or exact or is_logged())
        and plan is dtype is fill_value is size is None
        and progress is False
        and axis is ...
        and (name := _direct(reduce, src, index)) is not None
    ):
        try:
            return _scatter(
                src, index, dim, out, dim_size, name, mode, include_self, None, ignore_index
            )
        except (IndexError, MemoryError, TypeError, ValueError):
            # Nothing was changed. It is said below what is wrong, and what helps.
            pass
    if progress is not False:
        named: dict[str, Any] = {"out": out, "dim_size": dim_size, "reduce": reduce, "mode": mode}
        named |= {"include_self": include_self, "fill_value": fill_value, "exact": exact}
        named |= {"ignore_index": ignore_index, "dtype": dtype, "plan": plan, "axis": axis}
        again: Any = scatter
        with _progress(progress):
            return again(src, index, dim, size=size, **named, **options)
    if samples := batch_operators(index, src if getattr(index, "ndim", 1) != 1 else None):
        known = isinstance(reduce, str) and reduce in _REDUCTIONS
        if (
            dim is None
            or isinstance(index, tuple)
            or not known
            or _is_wide(reduce, src, out, dtype)
        ):
            if out is None and dim_size is None and size is None:
                raise errors.Problem(ValueError, "scatter", "size").saying(
                    "size is needed under torch.vmap with an index for each sample, because each "
                    "sample would have its own number of cells"
                )
            fixed: dict[str, Any] = {"dim_size": dim_size, "size": size, "axis": axis}
            fixed |= {"mode": mode, "fill_value": fill_value, "ignore_index": ignore_index}
            fixed |= {"exact": exact, "dtype": dtype, "include_self": include_self}

            def of_sample(src: Any, index: Any, out: Any) -> Any:
                return scatter(src, index, dim, out=out, reduce=reduce, **fixed, **options)

            return samples.samples.each(of_sample, src, index, out)
    begun = log.clock() if is_logged() else 0.0
    if options:
        _check_options(reduce, exact, options)
    if axis is not ...:
        dim = one_of("scatter", ("dim", "axis"), (dim, axis), -1, ...)
    if size is not None:
        dim_size = one_of("scatter", ("dim_size", "size"), (dim_size, size), None)
    if dim is None or needed(src, index):
        kept: dict[str, Any] = {"out": out, "include_self": include_self, "fill_value": fill_value}
        kept |= {"exact": exact, "options": options}
        made = _of_any_kind(
            src, index, plan, reduce, dim, dim_size, mode, ignore_index, dtype, kept
        )
        if begun:
            log.call("scatter", begun, reduce=reduce, src=src, index=index, result=made)
        return made
    if type(dim) is not int:
        dim = _options.integer("dim", dim, operator="scatter")
    try:
        made = _of_arrays(
            src,
            index,
            plan,
            reduce,
            dim,
            dim_size,
            mode,
            ignore_index,
            dtype,
            out,
            include_self,
            fill_value,
            exact,
            options,
        )
    except (IndexError, MemoryError, TypeError, ValueError) as error:
        # An index of its own for each line becomes a plan.
        explain(error, "scatter", index, mode)
        hints.explain(error, src, index)
        raise
    if begun:
        strategy = functools.partial(
            _strategy, src, index, plan, dim, out, dim_size, reduce, mode, include_self, exact
        )
        of_call = {"reduce": reduce, "src": src, "index": index, "plan": plan, "result": made}
        log.call("scatter", begun, strategy, **of_call)
    return made


# Reductions whose result has the dtype of these values, and 0 or 1 without any.
_DIRECT = frozenset(["sum", "add", "prod", "mul", "assign"])
_DIRECT_VALUES = frozenset(np.dtype(name).num for name in "int64 uint64".split()) | frozenset(
    np.dtype(code).num for code in "efdFD"
)
_INTEGERS = frozenset(np.dtype(code).num for code in "bhilqBHILQ")


def _direct(reduce: Any, src: Any, index: Any) -> Any:
    """The engine's reduction, if it makes the result of these arrays without more ado."""
    known = type(reduce) is str and reduce in _DIRECT
    if known and src.dtype.num in _DIRECT_VALUES and index.dtype.num in _INTEGERS:
        return _REDUCTIONS[reduce]
    return None


def _is_wide(reduce: Any, src: Any, out: Any, dtype: Any) -> bool:
    """Whether `aggregate` computes a reduction of the engine."""
    name = _REDUCTIONS[reduce]
    of_new = out is None and dtype is None and name != "assign"
    return of_new and _follows_aggregate(name, dtypes.name_of(src))


def _strategy(
    src: Any,
    index: Any,
    plan: Plan | None,
    dim: int,
    out: Any,
    dim_size: Any,
    reduce: Any,
    mode: Any,
    include_self: Any,
    exact: Any,
) -> str | None:
    """The strategy of a reduction of the engine; None for others."""
    name: Any = _REDUCTIONS.get(reduce) if isinstance(reduce, str) else None
    if name is None:
        return None
    name = f"exact_{name}" if exact and not name.startswith("exact") else name
    if plan is not None:
        return log.of_plan(plan, name, src, dim)
    if out is None and _follows_aggregate(name, dtypes.name_of(src)):
        return None
    if keys.several(index) or device_operators(src):
        return None
    values = (src, index, dim, out, dim_size, name, mode, include_self, None, None, False)
    return log.told_strategy(_scatter.explain(*values))


def _check_options(reduce: Any, exact: Any, options: dict[str, Any]) -> None:
    """Refuses options that are none, and those beside a reduction of the engine."""
    for name in options:
        if name in ("weights", "by", "skipna"):
            also = '; "nan" in front of a reduction leaves out NaN' if name == "skipna" else ""
            raise errors.Problem(TypeError, "scatter", name).saying(
                f"{name} is an argument of strew.aggregate{also}"
            )
        if name not in _options.NAMES:
            raise errors.Problem(TypeError, "scatter", name).in_words(
                f"scatter() got an unexpected keyword argument {name!r}"
            )
    if exact or (isinstance(reduce, str) and reduce in _REDUCTIONS):
        raise errors.Problem(TypeError, "scatter", "reduce", reduce).saying(
            f"reduce = {reduce!r} does not take {', '.join(options)}"
        )


def _of_any_kind(
    src: Any,
    index: Any,
    plan: Plan | None,
    reduce: Any,
    dim: Any,
    dim_size: Any,
    mode: Any,
    ignore_index: Any,
    dtype: Any,
    kept: dict[str, Any],
) -> Any:
    """A scatter of values of a kind that becomes an array first, or along all axes.

    `kept` are the arguments that go on as they are.
    """
    skipna = isinstance(reduce, str) and reduce.startswith("nan")
    name = reduce.removeprefix("nan") if isinstance(reduce, str) else ""
    name = _REDUCTIONS.get(name, name)
    name = _AGGREGATES.get(name, name)
    if plan is not None:
        refuse_index_arguments("scatter", index, dim_size, mode, ignore_index)
        index = plan
    out, options = kept["out"], kept["options"]

    def run(src: Any, index: Any, reduces: list[Any], *rest: Any) -> tuple[Any, ...]:
        plan, index = (index, None) if isinstance(index, Plan) else (None, index)
        dim, size, mode, ignore_index, dtype, *_ = rest
        own = kept | {"options": dict(options)}
        return (
            _of_arrays(src, index, plan, reduces[0], dim, size, mode, ignore_index, dtype, **own),
        )

    of_call = options | {"fill_value": kept["fill_value"]} | ({"skipna": True} if skipna else {})
    call = Call(
        operator="scatter",
        run=run,
        index=index,
        reduces=[reduce],
        names=[name],
        dim=dim,
        size=dim_size,
        mode=mode,
        ignore_index=ignore_index,
        dtype=dtype,
        weights=None,
        options=_options.with_some(of_call),
    )
    if out is not None:
        return any_kind.into(call, src, out)
    return any_kind.reduced(call, src, of_index(index))[0]


def _of_arrays(
    src: Any,
    index: Any,
    plan: Plan | None,
    reduce: Any,
    dim: int,
    dim_size: Any,
    mode: Any,
    ignore_index: Any,
    dtype: Any,
    out: Any,
    include_self: Any,
    fill_value: Any,
    exact: Any,
    options: dict[str, Any],
) -> Any:
    """A scatter of arrays: those of NumPy and torch, lists, and all others with DLPack."""
    name: Any = _REDUCTIONS.get(reduce) if isinstance(reduce, str) else None
    if exact:
        name = _exact_reduction("scatter", reduce if name is None else name)
    options["fill_value"] = fill_value
    if plan is not None:
        refuse_index_arguments("scatter", index, dim_size, mode, ignore_index)
    if name is None:
        if not (isinstance(reduce, str) or callable(reduce)):
            _options.reductions(reduce, "scatter")
        options |= {} if dtype is None else {"dtype": dtype}
        return aggregate_groups(
            src, index, plan, dim, out, dim_size, reduce, mode, ignore_index, options
        )
    empty = None
    if dtype is not None:
        src = _in_dtype(src, name, out, dtype)
    if fill_value is not None and out is None:
        dtypes.check_fill("scatter", fill_value, src, [name])
    if out is None and name != "assign":
        own = dtypes.name_of(src)
        if dtype is None and _follows_aggregate(name, own):
            options["exact"] = name.startswith("exact")
            name = _AGGREGATES[name]
            return aggregate_groups(
                src, index, plan, dim, None, dim_size, name, mode, ignore_index, options
            )
        if name in _NONE_IF_EMPTY and dtypes.is_inexact(own):
            empty = math.nan
    if plan is not None:
        return _scatter_by_plan(src, plan, dim, out, name, include_self, fill_value, empty)
    fill_value = empty if fill_value is None else fill_value
    sizes: tuple[int, ...] | None = None
    if keys.several(index):
        if out is not None:
            raise errors.Problem(ValueError, "scatter", "out").saying(
                "several keys make a new array: out must be None"
            )
        axis_of_keys = keys.axis_of("scatter", dim, src)
        index, sizes = keys.rows("scatter", index, dim_size, mode, ignore_index)
        dim_size, mode, ignore_index = math.prod(sizes), "drop", None
    result = _scatter_by_index(
        src, index, dim, out, dim_size, name, mode, include_self, fill_value, ignore_index
    )
    return result if sizes is None else keys.unfold(result, axis_of_keys, sizes)


def _in_dtype(src: Any, name: str, out: Any, dtype: Any) -> Any:
    """The values in the dtype that the caller asks for, which is then the result's."""
    if out is not None:
        raise errors.Problem(ValueError, "scatter", "dtype").saying(
            "dtype is that of a new array: out must be None"
        )
    return dtypes.converted("scatter", src, dtype, [name])


def _follows_aggregate(name: str, dtype: str) -> bool:
    """Whether a new result is not of `src`'s dtype, or one that only `aggregate` computes.

    Everything else has the same rules in the engine's own scatter, which is faster. Floats keep
    their accumulators there.
    """
    if name in ("amin", "amax"):
        return dtype.startswith("complex")
    if name in ("mean", "exact_mean"):
        return dtypes.is_whole(dtype)
    return dtypes.is_narrow(dtype)


def _scatter_by_index(
    src: Any,
    index: Any,
    dim: Any,
    out: Any,
    dim_size: Any,
    name: Any,
    mode: Any,
    include_self: Any,
    fill_value: Any,
    ignore_index: Any,
) -> Any:
    """A scatter with a reduction of the engine."""
    try:
        if operators := torch_operators(src, out):
            return operators.own.scatter(
                src, index, dim, out, dim_size, name, mode, include_self, fill_value, ignore_index
            )
        return _scatter(
            src, index, dim, out, dim_size, name, mode, include_self, fill_value, ignore_index
        )
    except (TypeError, ValueError) as error:
        explain_swapped(error, src, index)
        raise


def _scatter_by_plan(
    src: Any,
    plan: Plan,
    dim: Any,
    out: Any,
    name: Any,
    include_self: Any,
    fill_value: Any,
    empty: Any,
) -> Any:
    """The same with a plan; cells without elements hold `empty` if there is no fill value."""
    operators = torch_operators(src, out)
    direct, into, keeps_self = fill_value is None, out, include_self
    if direct and empty is not None and plan.touched < plan.size:
        # A plan has no fill value. Without the cells' own values, those of untouched ones stay.
        into, keeps_self = _filled(src, plan, dim, empty), False
        direct = into is not None
    fill_value = empty if fill_value is None else fill_value
    if direct and (not operators or device_operators(src)):
        return plan.scatter(src, name, dim=dim, out=into, include_self=keeps_self)
    if direct and out is None and operators.plan.supports(src):

        def by_index(_: Any, src: Any) -> Any:
            rows = plan_as_index(plan, src)
            return operators.own.scatter(
                src, rows, dim, None, plan.size, name, "drop", include_self, fill_value, None
            )

        return operators.plan.scatter(plan, into, src, dim, name, keeps_self, by_index)
    rows, size = plan_as_index(plan, src), plan.size if out is None else None
    return _scatter_by_index(
        src, rows, dim, out, size, name, "drop", include_self, fill_value, None
    )


def _filled(src: Any, plan: Plan, dim: Any, fill_value: float) -> Any:
    """A result that holds the fill value; None for arrays that cannot be reduced into."""
    torch = sys.modules.get("torch")
    is_torch = torch is not None and isinstance(src, torch.Tensor)
    if not is_torch and (type(src) is not np.ndarray or not src.dtype.isnative):
        return None
    shape, axis = list(src.shape), dim
    if not -len(shape) <= axis < len(shape):
        return None
    shape[axis] = plan.size
    return src.new_full(shape, fill_value) if is_torch else np.full(shape, fill_value, src.dtype)


def _exact_reduction(operator: str, reduce: Any) -> str:
    """The name of the exact form of a sum or a mean."""
    if reduce in ("exact_sum", "exact_mean"):
        return str(reduce)
    if reduce not in ("sum", "mean"):
        raise errors.Problem(ValueError, operator, "reduce", reduce).saying(
            f"reduce = {reduce!r} has no exact form: only sum and mean have"
        )
    return f"exact_{reduce}"


def explain(error: Exception, called: str, index: Any, mode: Any) -> None:
    """Names the function that was called in an error, and says what helps."""
    for inner in ("Plan", "aggregate"):
        errors.rename(error, inner, called)
    errors.explain_outside(error, mode)
    if isinstance(index, Plan):
        errors.add(error, "a plan is passed as plan=, with index=None")


def refuse_index_arguments(
    name: str, index: Any, dim_size: Any, mode: str, ignore_index: Any
) -> None:
    """Raises for arguments about the index beside a plan, which has its own."""
    if index is not None:
        raise errors.Problem(ValueError, name, "index").saying(
            "a plan has its own index: pass index=None with plan"
        )
    if dim_size is not None or ignore_index is not None or mode != "error":
        raise errors.Problem(ValueError, name, "plan").saying(
            "dim_size, mode and ignore_index cannot be combined with plan, which has its own"
        )
