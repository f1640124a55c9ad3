"""torch_scatter (``pytorch_scatter``), the scatter library of graph networks.

All functions share these arguments:

src : array
    The elements to reduce: one or more dimensions, any dtype.
index : array
    The group of each element along `dim`: int32 or int64, not negative. A 1-d index lies along
    `dim`; one of more dimensions gets axes of size 1 on the right; then it is expanded to `src`'s
    shape.
dim : int, default -1
    The axis that `index` points along; negative from the end.
out : array, optional
    An array to go on reducing into, in place, and to return: `src`'s dtype, and its shape apart
    from `dim`.
dim_size : int, optional
    The size of the result along `dim`, if there is no `out`. By default ``index.max() + 1``, or 0
    for an empty index.

and raise IndexError for a `dim` that is no axis and for a 0-d `src`; NotImplementedError for a mean
of bool and an extreme of complex numbers; TypeError for arguments of the wrong kind; ValueError for
an unknown `reduce` and a read-only `out`; MemoryError if the result is too large for the memory
there is; and RuntimeError for everything else: shapes that do not expand, dtypes, an index out of
range (torch_scatter does not check it for mul, min and max) and shared memory.

Torch tensors have derivatives, backward and forward, of the second order too: those of a product are
right with any number of zeros, and of elements that are equally extreme the first has all of the
gradient. With `dim_size` the functions run under ``torch.compile(fullgraph=True)`` and ``torch.func``,
and TorchScript knows them once torch and strew have been imported.
"""

from ._route import dispatcher as _dispatcher
from ._strew import Operator as _Operator

__all__ = [
    "scatter",
    "scatter_add",
    "scatter_max",
    "scatter_mean",
    "scatter_min",
    "scatter_mul",
    "scatter_sum",
]

_scatter = _Operator("torch_scatter.scatter")
_scatter_sum = _Operator("torch_scatter.scatter_sum")
_scatter_add = _Operator("torch_scatter.scatter_add")
_scatter_mul = _Operator("torch_scatter.scatter_mul")
_scatter_mean = _Operator("torch_scatter.scatter_mean")
_scatter_min = _Operator("torch_scatter.scatter_min")
_scatter_max = _Operator("torch_scatter.scatter_max")


def scatter(src, index, dim=-1, out=None, dim_size=None, reduce="sum"):
    """Reduce the elements of `src` that share an index along `dim`.

    `reduce` is "sum" (or "add"), "mul", "mean", "min" or "max"; for the other arguments and the
    exceptions see the module. The result has `src`'s dtype and shape, but `dim_size` along `dim`.

    Groups without elements are 0, or 1 for "mul"; an empty `src` gives zeros for all.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> src = np.array([[2.0, 0.0, 1.0, 4.0, 3.0], [0.0, 2.0, 1.0, 3.0, 4.0]])
    >>> index = np.array([[4, 5, 4, 2, 3], [0, 0, 2, 2, 1]])
    >>> strew.torch_scatter.scatter(src, index, reduce="sum")
    array([[0., 0., 4., 3., 3., 0.],
           [2., 4., 4., 0., 0., 0.]])
    >>> strew.torch_scatter.scatter(src, [1, 0, 1, 0, 1], dim_size=3, reduce="max")
    array([[4., 3., 0.],
           [3., 4., 0.]])
    """
    if operators := _dispatcher(src, out):
        return operators.torch_scatter.call(src, index, dim, out, dim_size, reduce)
    return _scatter(src, index, dim, out, dim_size, reduce)


def scatter_sum(src, index, dim=-1, out=None, dim_size=None):
    """Sum the elements of `src` that share an index along `dim`; see the module.

    16-bit floats accumulate in float32 and are rounded once; integers wrap.

    >>> import strew
    >>> strew.torch_scatter.scatter_sum([1, 2, 4], [1, 0, 1])
    array([2, 5])
    """
    if operators := _dispatcher(src, out):
        return operators.torch_scatter.call(src, index, dim, out, dim_size, "sum")
    return _scatter_sum(src, index, dim, out, dim_size)


def scatter_add(src, index, dim=-1, out=None, dim_size=None):
    """`scatter_sum` under its other name.

    >>> import numpy as np
    >>> import strew
    >>> totals = np.array([10, 20])
    >>> strew.torch_scatter.scatter_add([1, 2, 4], [1, 0, 1], out=totals) is totals
    True
    >>> totals
    array([12, 25])
    """
    if operators := _dispatcher(src, out):
        return operators.torch_scatter.call(src, index, dim, out, dim_size, "add")
    return _scatter_add(src, index, dim, out, dim_size)


def scatter_mul(src, index, dim=-1, out=None, dim_size=None):
    """Multiply the elements of `src` that share an index along `dim`; see the module.

    >>> import strew
    >>> strew.torch_scatter.scatter_mul([2, 3, 4], [2, 0, 2])
    array([3, 1, 8])
    """
    if operators := _dispatcher(src, out):
        return operators.torch_scatter.call(src, index, dim, out, dim_size, "mul")
    return _scatter_mul(src, index, dim, out, dim_size)


def scatter_mean(src, index, dim=-1, out=None, dim_size=None):
    """Average the elements of `src` that share an index along `dim`; see the module.

    Means of integers are rounded down. With `out` it is ``(out + sum) / max(count, 1)``, where
    only `src`'s elements count.

    >>> import strew
    >>> strew.torch_scatter.scatter_mean([1.0, 2.0, 4.0], [2, 0, 2])
    array([2. , 0. , 2.5])
    """
    if operators := _dispatcher(src, out):
        return operators.torch_scatter.call(src, index, dim, out, dim_size, "mean")
    return _scatter_mean(src, index, dim, out, dim_size)


def scatter_min(src, index, dim=-1, out=None, dim_size=None):
    """Find the smallest element of each group, and its position along `dim`; see the module.

    Returns ``(out, arg)``; `arg` is int64. Of equal elements the first wins, and NaN never does. A
    group without a winner has value 0 and position ``src.shape[dim]``; so has one whose minimum is
    the dtype's largest finite value, or infinity. Where what `out` holds is not beaten, the
    position is ``src.shape[dim]`` too.

    >>> import strew
    >>> strew.torch_scatter.scatter_min([3, 1, 2, 1], [0, 2, 0, 2])
    (array([2, 0, 1]), array([2, 4, 1]))
    """
    if operators := _dispatcher(src, out):
        return operators.torch_scatter.call(src, index, dim, out, dim_size, "min", True)
    return _scatter_min(src, index, dim, out, dim_size)


def scatter_max(src, index, dim=-1, out=None, dim_size=None):
    """Find the largest element of each group, and its position along `dim`; see `scatter_min`.

    >>> import strew
    >>> strew.torch_scatter.scatter_max([3, 1, 2, 1], [0, 2, 0, 2])
    (array([3, 0, 1]), array([0, 4, 1]))
    """
    if operators := _dispatcher(src, out):
        return operators.torch_scatter.call(src, index, dim, out, dim_size, "max", True)
    return _scatter_max(src, index, dim, out, dim_size)
