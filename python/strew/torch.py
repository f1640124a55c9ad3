"""PyTorch: operators of ``torch`` and ``torch.Tensor``, as functions.

A function whose name ends in ``_`` works in place: it writes into `input`, whatever its strides,
and returns it. Parameters, exceptions and notes are those of the function without ``_``. It raises

* TypeError too if `input` is no array that can be written to (a list, a JAX array),
* ValueError if `input` is read-only,
* RuntimeError if `input` shares memory with itself or another argument.

On an error, `input` is as it was; in PyTorch, elements before the one that is wrong have changed.

A TypeError is raised for an argument of the wrong kind.

Torch tensors have derivatives, backward and forward, of any order (products: two). Every function
is one operator of ``torch.ops.strew`` then, under ``torch.compile`` and ``torch.func`` too. Where
several updates are assigned to one cell, only the last of them, which stays, has a gradient. What
an operator does not read, such as a `src` beyond its index, has the gradient zero.

`scatter`, `scatter_add` and `scatter_reduce`, and their forms in place, have two parameters that
PyTorch has not:

mode : {"error", "wrap", "drop", "clip"}
    What an index means that names no cell. "error": an error. "wrap": negative ones count from the
    end, all others are errors. "drop": the update is left out; this takes a copy of `input`, in
    place too. "clip": the nearest cell.
plan : strew.Plan
    Instead of `index`, which is None: update ``k`` is slice ``k`` of `src` along `dim`, and goes to
    the row that the plan says. It must have as many rows as `input`; errors are those of the plan,
    which has its own mode. Torch tensors that need derivatives take the plan's index, and do not
    gain by it.
"""

from numbers import Number as _Number

from ._beyond import with_arg as _with_arg
from ._beyond import with_mode as _with_mode
from ._beyond import with_plan as _with_plan
from ._route import dispatcher as _dispatcher
from ._strew import Operator as _Operator

__all__ = [
    "gather",
    "index_add",
    "index_add_",
    "index_copy",
    "index_copy_",
    "index_fill",
    "index_fill_",
    "index_put",
    "index_put_",
    "index_reduce",
    "index_reduce_",
    "masked_scatter",
    "masked_scatter_",
    "put",
    "put_",
    "scatter",
    "scatter_",
    "scatter_add",
    "scatter_add_",
    "scatter_reduce",
    "scatter_reduce_",
    "scatter_reduce_with_arg",
    "segment_reduce",
    "select_scatter",
    "slice_scatter",
    "take_along_dim",
]

_scatter = _Operator("torch.scatter")
_scatter_in_place = _Operator("torch.scatter_")
_scatter_add = _Operator("torch.scatter_add")
_scatter_add_in_place = _Operator("torch.scatter_add_")
_scatter_reduce = _Operator("torch.scatter_reduce")
_scatter_reduce_in_place = _Operator("torch.scatter_reduce_")
_gather = _Operator("torch.gather")
_take_along_dim = _Operator("torch.take_along_dim")
_index_add = _Operator("torch.index_add")
_index_add_in_place = _Operator("torch.index_add_")
_index_reduce = _Operator("torch.index_reduce")
_index_reduce_in_place = _Operator("torch.index_reduce_")
_index_copy = _Operator("torch.index_copy")
_index_copy_in_place = _Operator("torch.index_copy_")
_index_fill = _Operator("torch.index_fill")
_index_fill_in_place = _Operator("torch.index_fill_")
_put = _Operator("torch.put")
_put_in_place = _Operator("torch.put_")
_masked_scatter = _Operator("torch.masked_scatter")
_masked_scatter_in_place = _Operator("torch.masked_scatter_")
_index_put = _Operator("torch.index_put")
_index_put_in_place = _Operator("torch.index_put_")
_slice_scatter = _Operator("torch.slice_scatter")
_select_scatter = _Operator("torch.select_scatter")
_segment_reduce = _Operator("torch.segment_reduce")

# What a plan calls the ways in which updates join in `scatter`.
_JOINS = {None: "assign", "add": "sum", "multiply": "prod"}


def _beyond(function, into, input, dim, index, src, mode, plan, join, **options):
    """A scatter with a mode or a plan; `into` is the function that works in place, if that is
    wanted.
    """
    if plan is None:
        return _with_mode(function, into, input, dim, index, src, mode, **options)
    if index is not None or src is None or mode != "error":
        raise TypeError(
            "where plan is given, index must be None, src an array, and mode is the plan's own"
        )
    return _with_plan(function, into, input, dim, src, plan, join, **options)


def _src_or_value(src, value):
    """PyTorch takes a number in the place of `src` as `value`."""
    if value is None and isinstance(src, _Number):
        return None, src
    return src, value


def scatter(input, dim, index, src=None, *, value=None, reduce=None, mode="error", plan=None):
    """Copy `input` and write elements of `src` into the cells that `index` names along `dim`.

    For three dimensions and ``dim=0``, for each ``i, j, k`` of `index` in row-major order:
    ``out[index[i, j, k], j, k] = src[i, j, k]``, so that of several the last one stays.

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
        Instead of `src`: it goes into all of the cells. It is made an element of `input`'s dtype:
        fractions are cut off for integers, everything but zero is true.
    reduce : str, optional
        "add" or "multiply": how elements join what is there. None: they replace it.
    mode, plan
        Beyond PyTorch: see above.

    Returns
    -------
    array
        Of `input`'s shape and dtype.

    Raises
    ------
    IndexError
        If `dim` is no axis.
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
    src, value = _src_or_value(src, value)
    if plan is not None or mode != "error":
        join, options = _JOINS.get(reduce, reduce), {"value": value, "reduce": reduce}
        return _beyond(scatter, None, input, dim, index, src, mode, plan, join, **options)
    if operators := _dispatcher(input, src, value):
        return operators.scatter.call(input, dim, index, src, value, reduce)
    return _scatter(input, dim, index, src, value, reduce)


def scatter_(input, dim, index, src=None, *, value=None, reduce=None, mode="error", plan=None):
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
    src, value = _src_or_value(src, value)
    if plan is not None or mode != "error":
        join, options = _JOINS.get(reduce, reduce), {"value": value, "reduce": reduce}
        return _beyond(scatter, scatter_, input, dim, index, src, mode, plan, join, **options)
    if operators := _dispatcher(input, src, value):
        return operators.scatter.call(input, dim, index, src, value, reduce, in_place=True)
    return _scatter_in_place(input, dim, index, src, value, reduce)


def scatter_add(input, dim, index, src, *, mode="error", plan=None):
    """Copy `input` and add elements of `src` to the cells that `index` names along `dim`.

    For three dimensions and ``dim=0``, for each ``i, j, k`` of `index` in row-major order:
    ``out[index[i, j, k], j, k] += src[i, j, k]``. For bool it is a logical or.

    Parameters, exceptions and notes are those of `scatter`.

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
    if plan is not None or mode != "error":
        return _beyond(scatter_add, None, input, dim, index, src, mode, plan, "sum")
    if operators := _dispatcher(input, src):
        return operators.scatter.scatter_add.call(input, dim, index, src)
    return _scatter_add(input, dim, index, src)


def scatter_add_(input, dim, index, src, *, mode="error", plan=None):
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
    if plan is not None or mode != "error":
        return _beyond(scatter_add, scatter_add_, input, dim, index, src, mode, plan, "sum")
    if operators := _dispatcher(input, src):
        return operators.scatter.scatter_add.call_(input, dim, index, src)
    return _scatter_add_in_place(input, dim, index, src)


def scatter_reduce(input, dim, index, src, reduce, *, include_self=True, mode="error", plan=None):
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
    mode, plan
        Beyond PyTorch: see above.

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
    RuntimeError
        For everything else: shapes, dtypes, an index out of bounds, and an unknown `reduce`.

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
    if plan is not None or mode != "error":
        into = None
        options = {"reduce": reduce, "include_self": include_self}
        return _beyond(scatter_reduce, into, input, dim, index, src, mode, plan, reduce, **options)
    if operators := _dispatcher(input, src):
        return operators.scatter_reduce.call(input, dim, index, src, reduce, include_self)
    return _scatter_reduce(input, dim, index, src, reduce, include_self)


def scatter_reduce_(input, dim, index, src, reduce, *, include_self=True, mode="error", plan=None):
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
    if plan is not None or mode != "error":
        into = scatter_reduce_
        options = {"reduce": reduce, "include_self": include_self}
        return _beyond(scatter_reduce, into, input, dim, index, src, mode, plan, reduce, **options)
    if operators := _dispatcher(input, src):
        return operators.scatter_reduce.call_(input, dim, index, src, reduce, include_self)
    return _scatter_reduce_in_place(input, dim, index, src, reduce, include_self)


def scatter_reduce_with_arg(input, dim, index, src, reduce, *, include_self=True):
    """`scatter_reduce` by "amax" or "amin", and where each extreme was found. PyTorch has no such
    operator.

    The other parameters and exceptions are those of `scatter_reduce`; also, ValueError is raised
    for another reduction.

    Returns
    -------
    array
        What `scatter_reduce` returns, with its derivatives.
    array
        int64, of `input`'s shape: the position along `dim` in `src` of the first update that equals
        what the cell holds now (all NaN are equal here). Where that is what `input` held, which
        comes before all updates if it takes part, and where no update goes: the size of `src` along
        `dim`.

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
    return _with_arg(scatter_reduce, gather, input, dim, index, src, reduce, include_self)


def gather(input, dim, index, *, sparse_grad=False):
    """The elements of `input` that `index` names along `dim`.

    For three dimensions and ``dim=0``: ``out[i, j, k] = input[index[i, j, k], j, k]``.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    dim : int
        The axis that `index` points along; negative from the end.
    index : array
        int32 or int64, in ``0 .. input.shape[dim] - 1``. As many dimensions as `input` (0-d counts
        as 1-d), no larger than `input` apart from `dim`. An empty one of any dtype gives an empty
        result.
    sparse_grad : bool, default False
        What a gradient would be; without effect.

    Returns
    -------
    array
        Of `index`'s shape and `input`'s dtype.

    Raises
    ------
    IndexError
        If `dim` is no axis.
    RuntimeError
        For everything else: shapes, dtypes, an index out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.torch.gather(np.array([[1, 2], [3, 4]]), 1, np.array([[0, 0], [1, 0]]))
    array([[1, 1],
           [4, 3]])
    """
    if operators := _dispatcher(input):
        return operators.scatter.gather.call(input, dim, index)
    return _gather(input, dim, index, sparse_grad)


def take_along_dim(input, indices, dim=None):
    """The elements of `input` that `indices` name along `dim`, both broadcast apart from `dim`.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    indices : array
        int64, of as many dimensions as `input`; negative indices count from the end.
    dim : int, optional
        The axis that `indices` point along; None: elements of `input`, row by row, as one row,
        where `indices` may be int32 too, and of any shape, but not negative.

    Raises
    ------
    IndexError
        If `dim` is no axis.
    RuntimeError
        For everything else: shapes, dtypes, an index out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([[10, 30, 20], [60, 40, 50]])
    >>> strew.torch.take_along_dim(x, np.array([[1], [0]]), 1)
    array([[30],
           [60]])
    >>> strew.torch.take_along_dim(x, np.array([5, 0]))
    array([50, 10])
    """
    if operators := _dispatcher(input):
        return operators.scatter.take_along_dim.call(input, indices, dim)
    return _take_along_dim(input, indices, dim)


def index_add(input, dim, index, source, *, alpha=1):
    """Copy `input` and add slices of `source` to those that `index` names along `dim`.

    For three dimensions and ``dim=0``, in the order of `index`:
    ``out[index[i], :, :] += alpha * source[i, :, :]``. For bool it is a logical or.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    dim : int
        The axis that `index` points along; negative from the end.
    index : array
        int32 or int64, in ``0 .. input.shape[dim] - 1``; 1-d, or 0-d for a single slice.
    source : array
        The slices, of `input`'s dtype and shape, but for `dim` of `index`'s length.
    alpha : number, default 1
        Made an element of `input`'s dtype: fractions are cut off for integers.

    Raises
    ------
    IndexError
        If `dim` is no axis, if `index` has more dimensions, or is out of bounds.
    RuntimeError
        For everything else: shapes, dtypes.

    Notes
    -----
    Sums of 16-bit floats accumulate in float32 and are rounded once; ``alpha * source`` is of their
    dtype. Integers wrap.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> source = np.array([[1, 2], [3, 4], [5, 6]])
    >>> strew.torch.index_add(np.ones((3, 2), int), 0, np.array([0, 2, 0]), source, alpha=-1)
    array([[-5, -7],
           [ 1,  1],
           [-2, -3]])
    """
    if operators := _dispatcher(input, source, alpha):
        return operators.index.call_add(input, dim, index, source, alpha)
    return _index_add(input, dim, index, source, alpha)


def index_add_(input, dim, index, source, *, alpha=1):
    """`index_add` in place.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.ones(3)
    >>> strew.torch.index_add_(x, 0, np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0])) is x
    True
    >>> x
    array([5., 1., 3.])
    """
    if operators := _dispatcher(input, source, alpha):
        return operators.index.call_add(input, dim, index, source, alpha, in_place=True)
    return _index_add_in_place(input, dim, index, source, alpha)


def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """Copy `input` and reduce slices of `source` into those that `index` names along `dim`.

    `reduce` is "prod", "mean", "amax" or "amin", and `include_self` whether what `input` holds
    takes part, both as in `scatter_reduce`. The other parameters and exceptions are those of
    `index_add`; also, NotImplementedError is raised for the mean of bool, and the extremes of
    complex numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x, index, source = np.array([2, 2, 2]), np.array([0, 2, 0]), np.array([3, 4, 5])
    >>> strew.torch.index_reduce(x, 0, index, source, "prod")
    array([30,  2,  8])
    >>> strew.torch.index_reduce(x, 0, index, source, "mean", include_self=False)
    array([4, 2, 4])
    """
    if operators := _dispatcher(input, source):
        return operators.index.index_reduce.call(input, dim, index, source, reduce, include_self)
    return _index_reduce(input, dim, index, source, reduce, include_self)


def index_reduce_(input, dim, index, source, reduce, *, include_self=True):
    """`index_reduce` in place.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([2, 2, 2])
    >>> strew.torch.index_reduce_(x, 0, np.array([0, 2, 0]), np.array([3, 4, 5]), "amax") is x
    True
    >>> x
    array([5, 2, 4])
    """
    if operators := _dispatcher(input, source):
        return operators.index.index_reduce.call_(input, dim, index, source, reduce, include_self)
    return _index_reduce_in_place(input, dim, index, source, reduce, include_self)


def index_copy(input, dim, index, source):
    """Copy `input` and replace the slices that `index` names along `dim` by those of `source`.

    In the order of `index`, so that of several the last one stays.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    dim : int
        The axis that `index` points along; negative from the end.
    index : array
        int64, in ``0 .. input.shape[dim] - 1``; 1-d, or 0-d for a single slice.
    source : array
        The slices, of `input`'s dtype and shape, but for `dim` of `index`'s length; 0-d for a
        single element.

    Raises
    ------
    IndexError
        For a `dim` that is none, ranks and lengths that do not fit, and an index out of bounds.
    RuntimeError
        For everything else: shapes of slices, dtypes.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.torch.index_copy(np.array([1, 2, 3]), 0, np.array([2, 0, 2]), np.array([10, 20, 30]))
    array([20,  2, 30])
    """
    if operators := _dispatcher(input, source):
        return operators.index.index_copy.call(input, dim, index, source)
    return _index_copy(input, dim, index, source)


def index_copy_(input, dim, index, source):
    """`index_copy` in place.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([1, 2, 3])
    >>> strew.torch.index_copy_(x, 0, np.array([0]), np.array([9])) is x
    True
    >>> x
    array([9, 2, 3])
    """
    if operators := _dispatcher(input, source):
        return operators.index.index_copy.call_(input, dim, index, source)
    return _index_copy_in_place(input, dim, index, source)


def index_fill(input, dim, index, value):
    """Copy `input` and fill the slices that `index` names along `dim` with `value`.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    dim : int
        The axis that `index` points along; negative from the end.
    index : array
        int64, 1-d or 0-d; negative indices count from the end.
    value : number
        Made an element of `input`'s dtype: fractions are cut off for integers.

    Raises
    ------
    IndexError
        For a `dim` that is none, another dtype of `index`, and an index out of bounds.
    RuntimeError
        For everything else.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.torch.index_fill(np.array([[1, 2, 3], [4, 5, 6]]), 1, np.array([0, -1]), -1)
    array([[-1,  2, -1],
           [-1,  5, -1]])
    """
    if operators := _dispatcher(input, value):
        return operators.index.call_fill(input, dim, index, value)
    return _index_fill(input, dim, index, value)


def index_fill_(input, dim, index, value):
    """`index_fill` in place.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([1, 2, 3])
    >>> strew.torch.index_fill_(x, 0, np.array([1]), 0) is x
    True
    >>> x
    array([1, 0, 3])
    """
    if operators := _dispatcher(input, value):
        return operators.index.call_fill(input, dim, index, value, in_place=True)
    return _index_fill_in_place(input, dim, index, value)


def put(input, index, source, accumulate=False):
    """Copy `input` and put elements of `source` at the positions of `index`, counted row by row.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    index : array
        int64, of any shape; negative positions count from the end.
    source : array
        As many elements as `index` has, of `input`'s dtype, row by row.
    accumulate : bool, default False
        Whether elements are added to what is there; otherwise the last of several stays.

    Raises
    ------
    IndexError
        For another number of elements, and a position out of bounds.
    RuntimeError
        For dtypes.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.torch.put(np.array([[4, 3, 5], [6, 7, 8]]), np.array([1, -3]), np.array([9, 10]))
    array([[ 4,  9,  5],
           [10,  7,  8]])
    """
    if operators := _dispatcher(input, source):
        return operators.put.put.call(input, index, source, accumulate)
    return _put(input, index, source, accumulate)


def put_(input, index, source, accumulate=False):
    """`put` in place.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([[1, 2], [3, 4]])
    >>> strew.torch.put_(x, np.array([3, 3]), np.array([5, 6]), accumulate=True) is x
    True
    >>> x
    array([[ 1,  2],
           [ 3, 15]])
    """
    if operators := _dispatcher(input, source):
        return operators.put.put.call_(input, index, source, accumulate)
    return _put_in_place(input, index, source, accumulate)


def masked_scatter(input, mask, source):
    """Copy `input` and put elements of `source`, in order, where `mask` is true.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    mask : array
        bool, of a shape that broadcasts with `input`'s; in place, to it.
    source : array
        Of `input`'s dtype, with at least as many elements as `mask` is true; they are taken row by
        row.

    Raises
    ------
    RuntimeError
        For shapes, dtypes, and too few elements.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> mask = np.array([True, False, True])
    >>> strew.torch.masked_scatter(np.zeros((2, 3), int), mask, np.array([1, 2, 3, 4]))
    array([[1, 0, 2],
           [3, 0, 4]])
    """
    if operators := _dispatcher(input, source):
        return operators.put.masked_scatter.call(input, mask, source)
    return _masked_scatter(input, mask, source)


def masked_scatter_(input, mask, source):
    """`masked_scatter` in place.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([1, 2, 3])
    >>> strew.torch.masked_scatter_(x, np.array([False, True, True]), np.array([8, 9])) is x
    True
    >>> x
    array([1, 8, 9])
    """
    if operators := _dispatcher(input, source):
        return operators.put.masked_scatter.call_(input, mask, source)
    return _masked_scatter_in_place(input, mask, source)


def index_put(input, indices, values, accumulate=False):
    """Copy `input` and put `values` at what `indices` name: ``input[indices] = values``.

    Parameters
    ----------
    input : array
        Any shape and dtype.
    indices : tuple of array or None
        For each of the first axes an int32 or int64 array, which are broadcast together, or None
        for all of the axis. A bool array stands for as many axes as it has, and names where it is
        true. Negative indices count from the end.
    values : array
        Of `input`'s dtype; broadcast to the shape of what is named.
    accumulate : bool, default False
        Whether elements are added to what is there; otherwise the last of several stays.

    Raises
    ------
    IndexError
        For indices: their number, dtypes, shapes and values.
    RuntimeError
        For everything else.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([[1, 2, 3], [4, 5, 6]])
    >>> strew.torch.index_put(x, (None, np.array([-1, 0])), np.array([70, 80]))
    array([[80,  2, 70],
           [80,  5, 70]])
    >>> strew.torch.index_put(x, (x > 3,), np.array(10), accumulate=True)
    array([[ 1,  2,  3],
           [14, 15, 16]])
    """
    if operators := _dispatcher(input, values):
        return operators.put.index_put.call(input, indices, values, accumulate)
    return _index_put(input, indices, values, accumulate)


def index_put_(input, indices, values, accumulate=False):
    """`index_put` in place.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x = np.array([1, 2, 3])
    >>> strew.torch.index_put_(x, (np.array([0, 0]),), np.array([5, 6]), accumulate=True) is x
    True
    >>> x
    array([12,  2,  3])
    """
    if operators := _dispatcher(input, values):
        return operators.put.index_put.call_(input, indices, values, accumulate)
    return _index_put_in_place(input, indices, values, accumulate)


def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """Copy `input` and replace the slice ``start:end:step`` along `dim` by `src`.

    Parameters
    ----------
    input : array
        Any dtype, at least one dimension.
    src : array
        Exactly of the slice's shape; of `input`'s dtype, or of one that becomes it without loss.
    dim : int, default 0
        The sliced axis; negative from the end.
    start, end : int, optional
        As in a Python slice: negative ones count from the end, and both are clamped.
    step : int, default 1
        Positive.

    Raises
    ------
    IndexError
        If `dim` is no axis.
    RuntimeError
        For everything else.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.torch.slice_scatter(np.zeros(5, int), np.array([1, 2]), start=-4, step=2)
    array([0, 1, 0, 2, 0])
    """
    if operators := _dispatcher(input, src):
        return operators.slices.slice_scatter.call(input, src, dim, start, end, step)
    return _slice_scatter(input, src, dim, start, end, step)


def select_scatter(input, src, dim, index):
    """Copy `input` and replace the slice at `index` along `dim` by `src`.

    Parameters
    ----------
    input : array
        Any dtype, at least one dimension.
    src : array
        Of `input`'s shape without `dim`; of its dtype, or of one that becomes it without loss.
    dim, index : int
        Negative ones count from the end.

    Raises
    ------
    IndexError
        If `dim` or `index` is none, or if `input` is 0-d.
    RuntimeError
        For everything else.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.torch.select_scatter(np.array([[1, 2], [3, 4]]), np.array([5, 6]), 1, -1)
    array([[1, 5],
           [3, 6]])
    """
    if operators := _dispatcher(input, src):
        return operators.slices.select_scatter.call(input, src, dim, index)
    return _select_scatter(input, src, dim, index)


def segment_reduce(
    data,
    reduce,
    *,
    lengths=None,
    indices=None,
    offsets=None,
    axis=0,
    unsafe=False,
    initial=None,
):
    """Reduce the elements of `data` along `axis` group by group, as they lie.

    Parameters
    ----------
    data : array
        One or more dimensions, any dtype; floats only for "mean", no complex numbers for "max" and
        "min".
    reduce : str
        "sum", "prod", "mean", "max" (or "amax") or "min" (or "amin"). NaN propagates.
    lengths : array
        How many elements each group has: int32 or int64. Its last axis is `axis`; the sizes before
        it are `data`'s. Together the groups have all of `data`'s elements along `axis`.
    indices : None
        PyTorch has an argument of this name, and refuses it.
    offsets : array
        Instead of `lengths`, or taken if there are both: where each group begins, and where the
        last one ends.
    axis : int, default 0
        The axis of the groups; negative from the end.
    unsafe : bool, default False
        Whether `lengths` may leave the last elements out. Nothing is read outside either way.
    initial : number, optional
        What each group starts from. Without it a sum starts from 0, a product from 1, a maximum
        from -inf (or the lowest integer) and a minimum from inf. An empty group stays that; a mean
        without `initial` is NaN then.

    Returns
    -------
    array
        Of `data`'s dtype and shape, but along `axis` with a row for each group.

    Raises
    ------
    IndexError
        If `axis` is none.
    NotImplementedError
        For a mean of integers or bool, and an extreme of complex numbers.
    RuntimeError
        For everything else.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> data = np.array([1.0, 2.0, 4.0, 8.0])
    >>> strew.torch.segment_reduce(data, "sum", lengths=[1, 0, 3])
    array([ 1.,  0., 14.])
    >>> strew.torch.segment_reduce(data, "max", offsets=[0, 2, 4], initial=5)
    array([5., 8.])
    """
    if operators := _dispatcher(data):
        return operators.segment_reduce.call(
            data, reduce, lengths, indices, offsets, axis, unsafe, initial
        )
    return _segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe, initial)
