"""``index_add``, ``index_reduce``, ``index_copy``, ``index_fill``: slices by a 1-d index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._arrays.dispatch import torch_operators
from .._strew import Operator

if TYPE_CHECKING:
    from typing import Literal, SupportsIndex

    from .._native.types import Array, ArrayLike, Numbers, Scalar

_index_add = Operator("torch.index_add")
_index_add_in_place = Operator("torch.index_add_")
_index_reduce = Operator("torch.index_reduce")
_index_reduce_in_place = Operator("torch.index_reduce_")
_index_copy = Operator("torch.index_copy")
_index_copy_in_place = Operator("torch.index_copy_")
_index_fill = Operator("torch.index_fill")
_index_fill_in_place = Operator("torch.index_fill_")


def index_add(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    source: ArrayLike,
    *,
    alpha: Scalar = 1,
) -> Array:
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
        Converted to `input`'s dtype; for integers, fractions are cut off.

    Raises
    ------
    IndexError
        If `dim` is not an axis, or `index` has two or more dimensions or is out of bounds.
    RuntimeError
        For everything else: shapes, dtypes.

    Notes
    -----
    Sums of 16-bit floats accumulate in float32 and are rounded once; ``alpha * source`` is rounded
    to 16 bits before. Integers wrap.

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
    if operators := torch_operators(input, source, alpha):
        return operators.torch.index.call_add(input, dim, index, source, alpha)
    return _index_add(input, dim, index, source, alpha)


def index_add_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    source: ArrayLike,
    *,
    alpha: Scalar = 1,
) -> Array:
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
    if operators := torch_operators(input, source, alpha):
        return operators.torch.index.call_add(input, dim, index, source, alpha, in_place=True)
    return _index_add_in_place(input, dim, index, source, alpha)


def index_reduce(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    source: ArrayLike,
    reduce: Literal["prod", "mean", "amax", "amin"],
    *,
    include_self: bool = True,
) -> Array:
    """Copy `input` and reduce slices of `source` into those that `index` names along `dim`.

    `reduce` is "prod", "mean", "amax" or "amin". `include_self` says whether the value of `input`
    takes part, as in `scatter_reduce`. Other parameters and exceptions are those of `index_add`.
    NotImplementedError is raised for the mean of bool and for extremes of complex numbers.

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
    if operators := torch_operators(input, source):
        return operators.torch.index.index_reduce.call(
            input, dim, index, source, reduce, include_self
        )
    return _index_reduce(input, dim, index, source, reduce, include_self)


def index_reduce_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    source: ArrayLike,
    reduce: Literal["prod", "mean", "amax", "amin"],
    *,
    include_self: bool = True,
) -> Array:
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
    if operators := torch_operators(input, source):
        return operators.torch.index.index_reduce.call_(
            input, dim, index, source, reduce, include_self
        )
    return _index_reduce_in_place(input, dim, index, source, reduce, include_self)


def index_copy(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    source: ArrayLike,
) -> Array:
    """Copy `input` and replace the slices that `index` names along `dim` by those of `source`.

    In the order of `index`, so the last of several slices for one place stays.

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
        If `dim` is not an axis, ranks or lengths do not match, or an index is out of bounds.
    RuntimeError
        For everything else: shapes of slices, dtypes.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.torch.index_copy(np.array([1, 2, 3]), 0, np.array([2, 0, 2]), np.array([10, 20, 30]))
    array([20,  2, 30])
    """
    if operators := torch_operators(input, source):
        return operators.torch.index.index_copy.call(input, dim, index, source)
    return _index_copy(input, dim, index, source)


def index_copy_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    source: ArrayLike,
) -> Array:
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
    if operators := torch_operators(input, source):
        return operators.torch.index.index_copy.call_(input, dim, index, source)
    return _index_copy_in_place(input, dim, index, source)


def index_fill(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    value: Scalar,
) -> Array:
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
        Converted to `input`'s dtype; for integers, fractions are cut off.

    Raises
    ------
    IndexError
        If `dim` is not an axis, `index` has another dtype, or an index is out of bounds.
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
    if operators := torch_operators(input, value):
        return operators.torch.index.call_fill(input, dim, index, value)
    return _index_fill(input, dim, index, value)


def index_fill_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    value: Scalar,
) -> Array:
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
    if operators := torch_operators(input, value):
        return operators.torch.index.call_fill(input, dim, index, value, in_place=True)
    return _index_fill_in_place(input, dim, index, value)
