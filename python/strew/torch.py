"""PyTorch: operators of ``torch.Tensor``, as functions."""

from ._route import dispatcher as _dispatcher
from ._strew import Operator as _Operator

__all__ = ["scatter_reduce", "scatter_reduce_"]

_scatter_reduce = _Operator("torch.scatter_reduce")
_scatter_reduce_in_place = _Operator("torch.scatter_reduce_")


def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
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
        Whether what `input` holds takes part. If not, cells that are not addressed keep it.

    Returns
    -------
    array
        Of `input`'s shape and dtype.

    Raises
    ------
    IndexError
        If `dim` is no axis.
    NotImplementedError
        For the mean of bool, and the extremes of complex numbers.
    TypeError
        If an argument is of the wrong kind.
    RuntimeError
        For everything else: shapes, dtypes, an index out of bounds, an unknown `reduce`.

    Notes
    -----
    Sums, products and means of 16-bit floats accumulate in float32 and are rounded once. Integers
    wrap; their means are rounded down, and counts are exact. NaN propagates through "amax" and
    "amin"; of equal values the first stays. Sums are always those of the sequential loop.

    Torch tensors have derivatives, backward and forward, of the second order too: those of a
    product are right with any number of zeros; elements that are equally extreme share the
    gradient, `input` among them only if it takes part. `src` may be larger than `index`. Under
    ``torch.compile`` and ``torch.func`` it is one operator, ``torch.ops.strew.scatter_reduce``.

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
    if operators := _dispatcher(input, src):
        return operators.scatter_reduce.call(input, dim, index, src, reduce, include_self)
    return _scatter_reduce(input, dim, index, src, reduce, include_self)


def scatter_reduce_(input, dim, index, src, reduce, *, include_self=True):
    """`scatter_reduce` in place: writes into `input`, whatever its strides, and returns it.

    Parameters, exceptions and notes are those of `scatter_reduce`.

    Raises
    ------
    TypeError
        If `input` is no array that can be written to (a list, a JAX array).
    ValueError
        If `input` is read-only.
    RuntimeError
        Also if `input` shares memory with itself, `index` or `src`.

    Notes
    -----
    On an error, `input` is as it was; in PyTorch, elements before the one that is wrong have
    changed. The derivatives are those of `scatter_reduce`.

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
    if operators := _dispatcher(input, src):
        return operators.scatter_reduce.call_(input, dim, index, src, reduce, include_self)
    return _scatter_reduce_in_place(input, dim, index, src, reduce, include_self)
