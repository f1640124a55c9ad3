"""strew's own scatter and gather."""

import operator
import sys

import numpy as _np

from . import torch as _torch
from ._aggregate import aggregate as _aggregate
from ._route import dispatcher as _dispatcher
from ._strew import Operator as _Operator
from ._strew import Plan as _Plan

__all__ = ["gather", "scatter"]

_scatter = _Operator("strew.scatter")
_gather = _Operator("strew.gather")

# Those of the engine, by the words of `Plan.scatter`.
_JOINS = {
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
}


def scatter(
    src,
    index,
    dim=-1,
    *,
    out=None,
    dim_size=None,
    reduce="sum",
    mode="error",
    include_self=True,
    fill_value=None,
    ignore_index=None,
    plan=None,
):
    """Reduce the elements of `src` that share an index along `dim`.

    Parameters
    ----------
    src : array
        The elements: one or more dimensions, any dtype.
    index : array of int, or None
        The cell of each element along `dim`, of any integer type. A 1-d index lies along `dim`; one
        of other rank is broadcast to `src`'s shape as NumPy does it. None where `plan` is given.
    dim : int
        The axis that `index` points along.
    out : array, optional
        An array to go on reducing into, in place, and to return: `src`'s dtype and shape, but for
        the size along `dim`.
    dim_size : int, optional
        The result's size along `dim`; one more than the largest index by default.
    reduce : str
        "sum" (or "add"), "mean" (of integers rounded down), "prod" (or "mul"), "min" and "max" (or
        "amin", "amax"; NaN wins), or "assign", which copies the last one. 16-bit floats accumulate
        in float32 and are rounded once, integers wrap. Also each name that `strew.aggregate` knows,
        with its dtypes and fill values, and with "nan" before it the same of what is not NaN:
        "std", "median", "nanmean", "softmax", ...; those make a new array.
    mode : {"error", "wrap", "drop", "clip"}
        What an index means that names no cell: an error; "wrap": negative ones count from the end;
        "drop": its element is left out; "clip": the nearest cell.
    include_self : bool
        Whether what a cell of `out` holds counts as one more element of it. Cells that no element
        goes to stay as they are.
    fill_value : number, optional
        What cells of a new result hold that no element goes to: 0 by default, and 1 for "prod".
    ignore_index : int, optional
        Elements with this index are left out, whatever the mode.
    plan : Plan, optional
        An index that has been analysed before, with its own size and mode.

    Returns
    -------
    array
        `out`, or a new array of `src`'s library. Torch tensors have derivatives by the words of the
        engine ("sum" to "assign"), in which equal extremes share the gradient equally, as in
        PyTorch.

    Raises
    ------
    IndexError
        For an index that names no cell, and a `dim` that is none.
    ValueError, TypeError
        For shapes, words and values that do not fit; for an index that is none, and dtypes that a
        reduction is not defined for. `out` is then as it was.

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
    """
    join = _JOINS.get(reduce) if isinstance(reduce, str) else None
    if plan is not None:
        _alone("scatter", index, dim_size, mode, ignore_index)
        if join is None:
            return _made(src, plan, dim, out, None, reduce, mode, fill_value, None)
        operators = _dispatcher(src, out)
        if fill_value is None and not operators:
            return plan.scatter(src, join, dim=dim, out=out, include_self=include_self)
        if fill_value is None and out is None and operators.plan.follows(src):

            def again(_, src):
                return _followed(
                    src, _rows(plan), dim, None, plan.size, join, "drop", include_self, None, None
                )

            return operators.plan.scatter(plan, None, src, dim, join, include_self, again)
        index, mode = _rows(plan), "drop"
        dim_size = plan.size if out is None else None
    if join is None:
        return _made(src, index, dim, out, dim_size, reduce, mode, fill_value, ignore_index)
    if _dispatcher(src, out):
        return _followed(
            src, index, dim, out, dim_size, join, mode, include_self, fill_value, ignore_index
        )
    return _scatter(
        src, index, dim, out, dim_size, reduce, mode, include_self, fill_value, ignore_index
    )


def gather(src, index, dim=-1, *, mode="error", fill_value=None, ignore_index=None, plan=None):
    """The elements of `src` that `index` names along `dim`: the way back of `scatter`.

    Parameters
    ----------
    src : array
        What to read from: one or more dimensions, any dtype.
    index : array of int, or None
        Of any integer type. A 1-d index takes whole slices: the result has its size along `dim`.
        Otherwise it has `src`'s rank, both are broadcast apart from `dim`, and the result has the
        index's size there. None where `plan` is given.
    dim, mode, ignore_index, plan
        As for `scatter`.
    fill_value : number, optional
        What stands where an index is left out: 0 by default.

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
    if plan is not None:
        _alone("gather", index, None, mode, ignore_index)
        operators = _dispatcher(src)
        if fill_value is None and not operators:
            return plan.gather(src, dim=dim)
        if fill_value is None and operators.plan.follows(src):
            return operators.plan.gather(
                plan,
                src,
                dim,
                lambda src: _followed_back(src, _rows(plan), dim, "drop", None, None),
            )
        index, mode = _rows(plan), "drop"
    if _dispatcher(src):
        return _followed_back(src, index, dim, mode, fill_value, ignore_index)
    return _gather(src, index, dim, mode, fill_value, ignore_index)


def _alone(name, index, dim_size, mode, ignore_index):
    """A plan stands for all of these."""
    given = index is not None or dim_size is not None or ignore_index is not None
    if given or mode != "error":
        raise ValueError(
            f"{name}: a plan has its own index, size, mode and numbers that are left out"
        )


def _rows(plan):
    """The row of each of a plan's updates; -1 for those that are left out."""
    return plan.gather(_np.arange(1, plan.size + 1)) - 1


def _made(src, index, dim, out, dim_size, reduce, mode, fill_value, ignore_index):
    """What `aggregate` makes of the groups."""
    if out is not None:
        raise ValueError(f"scatter: reduce = {reduce!r} makes a new array: out must be None")
    skipna = isinstance(reduce, str) and reduce.startswith("nan")
    options = {"skipna": skipna, "fill_value": fill_value}
    word = reduce[3:] if skipna else reduce
    if isinstance(index, _Plan):
        return _aggregate(index, src, word, dim=dim, **options)
    said = {"size": dim_size, "mode": mode, "ignore_index": ignore_index}
    index = _np.asarray(index)
    if index.ndim == 1:
        return _aggregate(index, src, word, dim=dim, **said, **options)
    return _made_of_each(src, index, dim, said, word, options)


def _made_of_each(src, index, dim, said, word, options):
    """Likewise, where each line along `dim` has groups of its own."""
    values = _np.asarray(src)
    lines = _np.moveaxis(_np.broadcast_to(index, values.shape), dim, -1)
    values = _np.moveaxis(values, dim, -1)
    plan = _Plan(lines.reshape(-1), said.pop("size"), **said)
    rows, count = _rows(plan).reshape(-1, lines.shape[-1] or 1), values.shape[-1]
    first = _np.arange(len(rows))[:, None] * plan.size
    numbers = _np.where(rows < 0, -1, rows + first).reshape(-1)
    plan_of_all = _Plan(numbers, plan.size * len(rows), mode="drop")
    found = _aggregate(plan_of_all, values.reshape(-1), word, **options)
    along = count if word in ("softmax", "sort") or word.startswith("cum") else plan.size
    if word in ("argmin", "argmax"):
        found = _np.where(found < 0, found, found % max(count, 1))
    found = _np.moveaxis(found.reshape(*values.shape[:-1], along), -1, dim)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(src, torch.Tensor):
        return torch.as_tensor(_np.ascontiguousarray(found))
    return _np.ascontiguousarray(found)


def _followed(src, index, dim, out, dim_size, join, mode, include_self, fill_value, ignore_index):
    """A scatter of torch tensors that somebody has to know of."""
    torch = sys.modules["torch"]
    if out is not None and (dim_size is not None or fill_value is not None):
        raise ValueError("scatter: dim_size and fill_value are for a new result: out must be None")
    src, index, dim = _lines(torch, src, index, dim)
    index = index.expand(src.shape)
    ignored = None if ignore_index is None else index == ignore_index
    if out is not None:
        size = out.shape[dim]
    elif dim_size is not None:
        size = operator.index(dim_size)
    else:
        kept = index if ignored is None else index[~ignored]
        size = int(kept.max()) + 1 if kept.numel() else 0
    index, left_out = _resolved(torch, index, size, mode, ignored)
    shape = list(src.shape)
    shape[dim] = size + (left_out is not None)
    if out is None:
        usual = 1 if join == "prod" else 0
        into = src.new_full(shape, usual if fill_value is None else fill_value)
        include_self = False
    elif left_out is None:
        into = out
    else:
        shape[dim] = 1
        into = torch.cat([out, out.new_zeros(shape)], dim)
    if join == "assign":
        found = (_torch.scatter_ if into is out else _torch.scatter)(into, dim, index, src)
    else:
        run = _torch.scatter_reduce_ if into is out else _torch.scatter_reduce
        found = run(into, dim, index, src, join, include_self=include_self)
    if left_out is not None:
        found = found.narrow(dim, 0, size)
    return found if out is None or into is out else out.copy_(found)


def _followed_back(src, index, dim, mode, fill_value, ignore_index):
    """A gather of torch tensors that somebody has to know of."""
    torch = sys.modules["torch"]
    src, index, dim = _lines(torch, src, index, dim)
    ignored = None if ignore_index is None else index == ignore_index
    size = src.shape[dim]
    index, left_out = _resolved(torch, index, size, mode, ignored)
    if left_out is not None:
        shape = list(src.shape)
        shape[dim] = 1
        src = torch.cat([src, src.new_full(shape, 0 if fill_value is None else fill_value)], dim)
    return _torch.take_along_dim(src, index, dim)


def _lines(torch, src, index, dim):
    """A source, its index with its rank, and the axis."""
    src, index = torch.as_tensor(src), torch.as_tensor(index)
    if index.is_floating_point() or index.is_complex() or index.dtype == torch.bool:
        raise TypeError(f"index has dtype {index.dtype}: it must be an integer type")
    dim = operator.index(dim)
    if not -src.dim() <= dim < src.dim():
        raise IndexError(
            f"dim = {dim}: it must be an axis of src, which has {src.dim()} dimensions"
        )
    dim %= src.dim()
    if index.dim() == 1:
        index = index.reshape([-1 if axis == dim else 1 for axis in range(src.dim())])
    return src, index.to(torch.int64), dim


def _resolved(torch, index, size, mode, ignored):
    """The index with what is left out behind the last cell, and whether there may be such."""
    if mode not in ("error", "wrap", "drop", "clip"):
        raise ValueError(f"mode = {mode!r}: it must be error, wrap, drop or clip")
    left_out = ignored
    if mode == "wrap":
        index = torch.where(index < 0, index + size, index)
    elif mode == "clip" and size > 0:
        index = index.clamp(0, size - 1)
    elif mode == "drop":
        beyond = (index < 0) | (index >= size)
        left_out = beyond if ignored is None else beyond | ignored
    within = (index >= 0) & (index < size)
    if left_out is not None:
        index = torch.where(left_out, size, index)
        within = within | left_out
    if not torch.compiler.is_compiling() and not bool(within.all()):
        at = [int(n) for n in (~within).nonzero()[0]]
        value = int(index[tuple(at)])
        raise IndexError(f"index{at} = {value}: index {value} is out of bounds with size {size}")
    return index, left_out
