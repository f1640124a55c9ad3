"""Standard deviation, logsumexp and softmax of elements of a group."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from .. import torch_scatter as ts
from .._arrays.places import repeated
from .._native import dtypes, errors
from ..torch import gather
from . import _shared

if TYPE_CHECKING:
    from typing import Any, SupportsIndex

    from .._native.types import Array, ArrayLike, Numbers


@_shared.same(ts.scatter_softmax)
def scatter_softmax() -> None:
    """Softmax within each group: the exponential of each element, divided by its group's sum.

    The result has `src`'s shape; `src` must be of floats. The largest element of a group, as
    `scatter_max` gives it, is subtracted first. The result is NaN for a group of only -inf, and for
    a group with NaN or inf. 16-bit floats are computed in float32 and rounded once.

    >>> import strew
    >>> strew.pyg_lib.scatter_softmax([7.0, 1.0, 7.0], [0, 2, 0])
    array([0.5, 1. , 0.5])
    """


def scatter_log_softmax(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    dim_size: SupportsIndex | None = None,
    eps: float = 1e-12,
) -> Array:
    """Find the logarithm of the softmax of each element; see `scatter_softmax`.

    With m the largest element of a group it is ``x - m - log(sum(exp(x - m)) + eps)``.

    >>> import strew
    >>> strew.pyg_lib.scatter_log_softmax([7.0, 7.0], [0, 0]).round(5)
    array([-0.69315, -0.69315])
    """
    return _shared.run(
        "scatter_log_softmax", ts.scatter_log_softmax, src, index, dim, eps, dim_size
    )


def scatter_std(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    unbiased: bool = True,
) -> Array:
    """Find the standard deviation of the elements of each group; see the module.

    With n elements it is ``sqrt(sum((x - mean)**2) / max(d, 1))``, where d is ``n - 1`` if
    `unbiased`, else n. `src` must be of floats. With `out`, the values in it are added to the sums
    of squares, and the result is written to it. Groups without elements are 0.

    16-bit floats are computed in float32 and rounded once.

    >>> import strew
    >>> strew.pyg_lib.scatter_std([1.0, 3.0, 4.0], [2, 2, 0], unbiased=False)
    array([0., 0., 1.])
    """
    name, dtype = "scatter_std", dtypes.name_of(src)
    if dtypes.is_whole(dtype) or dtype.startswith("complex"):
        raise errors.Problem(ValueError, f"pyg_lib.{name}", "src", dtype).has_dtype(
            "it must be a floating-point dtype"
        )
    values, axis = _shared.as_array(src), operator.index(dim)
    where = _shared.beside(values, index)
    if out is not None:
        dim_size = _size_along(out, axis, dim_size)
    wide = dtypes.cast(values, "float32") if dtype in ("float16", "bfloat16") else values
    means = _shared.run(name, ts.scatter_mean, wide, where, axis, None, dim_size)
    if out is not None:
        _shared.check_out(name, out, means.shape, dtype)
    found = _deviations(wide, where, axis % len(wide.shape), means, out, unbiased)
    found = dtypes.cast(found, dtype)
    return _shared.like(src, found) if out is None else _shared.stored(out, found)


def _size_along(out: Any, dim: int, otherwise: Any) -> Any:
    """The size of `out` along an axis, if it has that axis."""
    rank = len(out.shape)
    return out.shape[dim] if -rank <= dim < rank else otherwise


def _deviations(src: Any, index: Any, dim: int, means: Any, out: Any, unbiased: bool) -> Any:
    """Standard deviations in the dtype of `src`; the index is known to be right."""
    arrays, rank, size = _shared.of(src), len(src.shape), means.shape[dim]
    if len(index.shape) == 1:
        index = index.reshape(*[1] * dim, -1)
    index = arrays.broadcast_to(_shared.trailing(index, rank), src.shape)
    differences = src - gather(means, dim, dtypes.cast(index, "int64"))
    started = None if out is None else dtypes.cast(_shared.copied(out), dtypes.name_of(src))
    squares = ts.scatter_sum(differences * differences, index, dim, started, size)
    counts = ts.scatter_sum(_shared.ones(arrays, src.shape), index, dim, None, size)
    variances = squares / dtypes.cast((counts - int(unbiased)).clip(1), dtypes.name_of(src))
    # The derivative of a deviation of 0 is 0. That of a root of 0 would be infinite.
    is_zero = variances == 0
    roots = arrays.sqrt(arrays.where(is_zero, arrays.ones_like(variances), variances))
    return arrays.where(is_zero, arrays.zeros_like(roots), roots)


def scatter_logsumexp(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    eps: float = 1e-12,
) -> Array:
    """Find the logarithm of the summed exponentials of the elements of each group; see the module.

    With m the largest element of a group it is ``log(sum(exp(x - m)) + eps) + m``, where NaN is
    left out. `src` must be of floats. Groups without elements, and groups whose result would be
    infinite, are 0. With `out`, the results are written to it, and such groups stay as they are.

    16-bit floats are computed in float32 and rounded once.

    >>> import numpy as np
    >>> import strew
    >>> strew.pyg_lib.scatter_logsumexp([0.0, 0.0, 5.0], [0, 0, 2]).round(5)
    array([0.69315, 0.     , 5.     ])
    >>> strew.pyg_lib.scatter_logsumexp([0.0, 0.0], [1, 1], out=np.array([7.0, 7.0])).round(5)
    array([7.     , 0.69315])
    """
    name, values, axis = "scatter_logsumexp", _shared.as_array(src), operator.index(dim)
    if out is not None:
        dim_size = _size_along(out, axis, dim_size)
    found = _shared.run(name, ts.scatter_logsumexp, values, index, axis, None, dim_size, eps)
    if out is not None:
        _shared.check_out(name, out, found.shape, dtypes.name_of(values))
    arrays = _shared.of(found)
    lowest = arrays.full_like(_shared.without_gradient(found), float("-inf"))
    highest, _ = ts.scatter_max(_shared.without_gradient(values), index, axis, lowest)
    others = arrays.zeros_like(found) if out is None else out
    found = arrays.where(arrays.isfinite(highest), found, others)
    return _shared.like(src, found) if out is None else _shared.stored(out, found)


def softmax_csr(src: Array | Numbers, ptr: ArrayLike, dim: SupportsIndex = 0) -> Array:
    """Softmax of the elements from one pointer to the next.

    Parameters
    ----------
    src : array
        One or more dimensions; a dtype of floats.
    ptr : array
        Where each group begins along `dim`, and where the last one ends: 1-d, int32 or int64,
        ascending, from 0 to the size there.
    dim : int, default 0
        The axis of the groups; negative from the end.

    Returns
    -------
    array
        Of `src`'s shape and dtype. An element that is alone in its group is 1, and an element
        outside all groups is 0. Other values are as in `scatter_softmax`.

    Raises
    ------
    IndexError
        If `dim` is not an axis.
    ValueError
        If `src` is not of floats.
    RuntimeError
        If `ptr` has another rank or dtype, descends, or is out of range.

    Examples
    --------
    >>> import strew
    >>> strew.pyg_lib.softmax_csr([7.0, 7.0, 1.0, 3.0], [0, 2, 3])
    array([0.5, 0.5, 1. , 0. ])
    """
    name, values, axis = "softmax_csr", _shared.as_array(src), operator.index(dim)
    arrays, rank = _shared.of(values), len(values.shape)
    if not -rank <= axis < rank:
        raise errors.Problem(IndexError, f"pyg_lib.{name}", "dim", axis).expecting(
            f"it must be from {-rank} to {rank - 1}, for src's {rank} dimensions"
        )
    axis %= rank
    size, pointers = values.shape[axis], _shared.beside(values, ptr)
    counts = _group_sizes(name, arrays, pointers, size)
    begin, end = (int(pointers[0]), int(pointers[-1])) if len(counts) else (0, 0)
    groups = repeated(arrays.arange(len(counts)), counts)
    inside = _between(values, axis, begin, end)
    found = _shared.run(name, ts.scatter_softmax, inside, groups, axis, len(counts))
    alone = counts == 1
    if bool(alone.any()):
        places = _shared.trailing(alone[groups], rank - axis)
        found = arrays.where(places, arrays.ones_like(found), found)
    if begin == 0 and end == size:
        return _shared.like(src, found)
    outside = arrays.zeros_like(_shared.without_gradient(values))
    before, after = _between(outside, axis, 0, begin), _between(outside, axis, end, size)
    return _shared.like(src, arrays.concatenate([before, found, after], axis))


def _between(values: Any, axis: int, begin: int, end: int) -> Any:
    """The part of the values from one position up to the next, along an axis."""
    return values[(slice(None),) * axis + (slice(begin, end),)]


def _group_sizes(name: str, arrays: Any, ptr: Any, size: int) -> Any:
    """How many elements each group has."""
    if len(ptr.shape) != 1 or ptr.shape[0] == 0:
        raise errors.Problem(RuntimeError, f"pyg_lib.{name}", "ptr", list(ptr.shape)).has_shape(
            "it must have 1 dimension, and at least one element"
        )
    try:
        counts = ts.segment_sum_csr(_shared.ones(arrays, (size,)), ptr)
    except RuntimeError as error:
        said = str(error).partition(": ")[2]
        raise errors.Problem(RuntimeError, f"pyg_lib.{name}", "ptr").saying(
            said.replace("indptr", "ptr")
        ) from None
    descends = ptr[1:] < ptr[:-1]
    if bool(descends.any()):
        n = descends.tolist().index(True)
        raise errors.Problem(RuntimeError, f"pyg_lib.{name}", "ptr").saying(
            f"ptr[{n + 1}] = {int(ptr[n + 1])}", f"it must be at least ptr[{n}] = {int(ptr[n])}"
        )
    return counts
