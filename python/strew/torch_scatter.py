"""torch_scatter (``pytorch_scatter``), the scatter library of graph networks.

`install` makes ``import torch_scatter`` give these functions, for code that cannot be changed.

The ``scatter`` functions share these arguments:

src : array
    The elements to reduce: one or more dimensions, any dtype.
index : array
    The group of each element along `dim`: int32 or int64, not negative. A 1-d index lies along
    `dim`; an index of more dimensions gets axes of size 1 on the right. Then it is expanded to
    `src`'s shape.
dim : int, default -1
    The axis that `index` points along; negative from the end.
out : array, optional
    An array to continue reducing into, in place; it is returned. It has `src`'s dtype, and `src`'s
    shape apart from `dim`.
dim_size : int, optional
    The size of the result along `dim`, where `out` is not given. By default ``index.max() + 1``, or
    0 for an empty index.

They raise

* IndexError if `dim` is not an axis, or `src` is 0-d,
* NotImplementedError for the mean of bool, and for extremes of complex numbers,
* TypeError for arguments of the wrong kind,
* ValueError for an unknown `reduce`, and a read-only `out`,
* MemoryError if the result does not fit into memory,
* RuntimeError for everything else: shapes that do not expand, dtypes, shared memory, and an index
  out of range (which torch_scatter does not check for mul, min and max).

Torch tensors have derivatives of the first and second order, backward and forward. The derivative
of a product is right with any number of zeros. Of equal extremes the first has all of the gradient.
With `dim_size` the functions run under ``torch.compile(fullgraph=True)`` and ``torch.func``, and
TorchScript knows them once torch and strew have been imported.

The ``segment`` and ``gather`` functions have no `dim`: groups lie along the last axis of `index` or
`indptr`, which may have fewer axes than `src`:

index : array
    For ``_coo``: the group of each element, int32 or int64, ascending along the last axis. A
    ``segment`` function expands it to `src`'s first axes. For a ``gather`` function all of its
    sizes but the last are `src`'s.
indptr : array
    For ``_csr``: where each group begins along the last axis, and where the last one ends, int32 or
    int64, from 0 to the size there. The other axes are expanded to `src`'s first.
out : array, optional
    ``segment_*_coo`` continues reducing into it; all others overwrite it. It is returned.

They raise NotImplementedError, TypeError, ValueError and MemoryError like the others, and
RuntimeError for everything else. That includes an index that does not ascend or is out of range,
and pointers out of range: torch_scatter checks neither, and reads or writes outside its memory.
Torch tensors have derivatives as above; they are right also where pointers overlap, leave gaps or
descend. Under ``torch.compile`` the size of `gather_csr`'s result is known only from its `out`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dispatch import torch_operators as _torch_operators
from ._install import install as install
from ._install import uninstall as uninstall
from ._strew import Operator as _Operator

if TYPE_CHECKING:
    from typing import Any, Literal, SupportsIndex

    from ._types import Array, ArrayLike, Numbers

__all__ = [
    "gather_coo",
    "gather_csr",
    "scatter",
    "scatter_add",
    "scatter_log_softmax",
    "scatter_logsumexp",
    "scatter_max",
    "scatter_mean",
    "scatter_min",
    "scatter_mul",
    "scatter_softmax",
    "scatter_std",
    "scatter_sum",
    "segment_add_coo",
    "segment_add_csr",
    "segment_coo",
    "segment_csr",
    "segment_max_coo",
    "segment_max_csr",
    "segment_mean_coo",
    "segment_mean_csr",
    "segment_min_coo",
    "segment_min_csr",
    "segment_sum_coo",
    "segment_sum_csr",
]

_scatter = _Operator("torch_scatter.scatter")
_scatter_sum = _Operator("torch_scatter.scatter_sum")
_scatter_add = _Operator("torch_scatter.scatter_add")
_scatter_mul = _Operator("torch_scatter.scatter_mul")
_scatter_mean = _Operator("torch_scatter.scatter_mean")
_scatter_min = _Operator("torch_scatter.scatter_min")
_scatter_max = _Operator("torch_scatter.scatter_max")
_scatter_std = _Operator("torch_scatter.scatter_std")
_scatter_logsumexp = _Operator("torch_scatter.scatter_logsumexp")
_scatter_softmax = _Operator("torch_scatter.scatter_softmax")
_scatter_log_softmax = _Operator("torch_scatter.scatter_log_softmax")
_segment_coo = _Operator("torch_scatter.segment_coo")
_segment_sum_coo = _Operator("torch_scatter.segment_sum_coo")
_segment_add_coo = _Operator("torch_scatter.segment_add_coo")
_segment_mean_coo = _Operator("torch_scatter.segment_mean_coo")
_segment_min_coo = _Operator("torch_scatter.segment_min_coo")
_segment_max_coo = _Operator("torch_scatter.segment_max_coo")
_segment_csr = _Operator("torch_scatter.segment_csr")
_segment_sum_csr = _Operator("torch_scatter.segment_sum_csr")
_segment_add_csr = _Operator("torch_scatter.segment_add_csr")
_segment_mean_csr = _Operator("torch_scatter.segment_mean_csr")
_segment_min_csr = _Operator("torch_scatter.segment_min_csr")
_segment_max_csr = _Operator("torch_scatter.segment_max_csr")
_gather_coo = _Operator("torch_scatter.gather_coo")
_gather_csr = _Operator("torch_scatter.gather_csr")


def scatter(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    reduce: Literal["sum", "add", "mul", "mean", "min", "max"] = "sum",
) -> Array:
    """Reduce the elements of `src` that share an index along `dim`.

    `reduce` is "sum" (or "add"), "mul", "mean", "min" or "max"; for the other arguments and the
    exceptions see the module. The result has `src`'s dtype and shape, but `dim_size` along `dim`.

    Groups without elements are 0, or 1 for "mul"; if `src` is empty, all are 0.

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
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.scatter.call(src, index, dim, out, dim_size, reduce)
    return _scatter(src, index, dim, out, dim_size, reduce)


def scatter_sum(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """Sum the elements of `src` that share an index along `dim`; see the module.

    16-bit floats accumulate in float32 and are rounded once; integers wrap.

    >>> import strew
    >>> strew.torch_scatter.scatter_sum([1, 2, 4], [1, 0, 1])
    array([2, 5])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.scatter.call(src, index, dim, out, dim_size, "sum")
    return _scatter_sum(src, index, dim, out, dim_size)


def scatter_add(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """`scatter_sum` under its other name.

    >>> import numpy as np
    >>> import strew
    >>> totals = np.array([10, 20])
    >>> strew.torch_scatter.scatter_add([1, 2, 4], [1, 0, 1], out=totals) is totals
    True
    >>> totals
    array([12, 25])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.scatter.call(src, index, dim, out, dim_size, "add")
    return _scatter_add(src, index, dim, out, dim_size)


def scatter_mul(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """Multiply the elements of `src` that share an index along `dim`; see the module.

    >>> import strew
    >>> strew.torch_scatter.scatter_mul([2, 3, 4], [2, 0, 2])
    array([3, 1, 8])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.scatter.call(src, index, dim, out, dim_size, "mul")
    return _scatter_mul(src, index, dim, out, dim_size)


def scatter_mean(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """Average the elements of `src` that share an index along `dim`; see the module.

    Means of integers are rounded down. With `out` it is ``(out + sum) / max(count, 1)``, where
    `count` is the number of `src`'s elements.

    >>> import strew
    >>> strew.torch_scatter.scatter_mean([1.0, 2.0, 4.0], [2, 0, 2])
    array([2. , 0. , 2.5])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.scatter.call(src, index, dim, out, dim_size, "mean")
    return _scatter_mean(src, index, dim, out, dim_size)


def scatter_min(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> tuple[Array, Any]:
    """Find the smallest element of each group, and its position along `dim`; see the module.

    Returns ``(out, arg)``; `arg` is int64. Of equal elements the first wins, and NaN never does. A
    group without a winner has value 0 and position ``src.shape[dim]``. So does a group whose
    minimum is infinity or the dtype's largest finite value. Where the value in `out` is not beaten,
    the position is ``src.shape[dim]`` too.

    >>> import strew
    >>> strew.torch_scatter.scatter_min([3, 1, 2, 1], [0, 2, 0, 2])
    (array([2, 0, 1]), array([2, 4, 1]))
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.scatter.call(src, index, dim, out, dim_size, "min", True)
    return _scatter_min(src, index, dim, out, dim_size)


def scatter_max(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> tuple[Array, Any]:
    """Find the largest element of each group, and its position along `dim`; see `scatter_min`.

    >>> import strew
    >>> strew.torch_scatter.scatter_max([3, 1, 2, 1], [0, 2, 0, 2])
    (array([3, 0, 1]), array([0, 4, 1]))
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.scatter.call(src, index, dim, out, dim_size, "max", True)
    return _scatter_max(src, index, dim, out, dim_size)


def scatter_std(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    unbiased: bool = True,
) -> Array:
    """Find the standard deviation of the elements of each group; see the module.

    With n elements it is ``sqrt(sum((x - mean)**2) / (max(d, 1) + 1e-6))``, where d is ``n - 1`` if
    `unbiased`, else n. With `out`, the values in it are added to the sums of squares, and the
    result is written to it. Groups without elements are 0.

    16-bit floats are computed in float32 and rounded once; the result for integers is float32.

    >>> import strew
    >>> strew.torch_scatter.scatter_std([1.0, 3.0, 4.0], [2, 2, 0], unbiased=False).round(5)
    array([0., 0., 1.])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.composites.std(src, index, dim, out, dim_size, unbiased)
    return _scatter_std(src, index, dim, out, dim_size, unbiased)


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
    left out. `src` must be of floats. With `out`, each value in it counts as one more element, and
    stays where the result would be infinite or NaN.

    Without `out`, groups without elements are 0, and so are groups of only -inf and NaN. The result
    of a group with inf is the dtype's largest finite value. 16-bit floats are computed in float32
    and rounded once.

    >>> import strew
    >>> strew.torch_scatter.scatter_logsumexp([0.0, 0.0, 5.0], [0, 0, 2]).round(5)
    array([0.69315, 0.     , 5.     ])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.composites.logsumexp(src, index, dim, out, dim_size, eps)
    return _scatter_logsumexp(src, index, dim, out, dim_size, eps)


def scatter_softmax(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """Divide the exponential of each element by the sum of those of its group; see the module.

    The result has `src`'s shape; `src` must be of floats. The largest element of a group, as
    `scatter_max` gives it, is subtracted first. The result is NaN for a group of only -inf, and for
    a group with NaN or inf. 16-bit floats are computed in float32 and rounded once.

    >>> import strew
    >>> strew.torch_scatter.scatter_softmax([7.0, 1.0, 7.0], [0, 2, 0])
    array([0.5, 1. , 0.5])
    """
    if operators := _torch_operators(src):
        return operators.torch_scatter.composites.softmax(src, index, dim, dim_size)
    return _scatter_softmax(src, index, dim, dim_size)


def scatter_log_softmax(
    src: Array | Numbers,
    index: ArrayLike,
    dim: SupportsIndex = -1,
    eps: float = 1e-12,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """Find the logarithm of the softmax of each element; see `scatter_softmax`.

    With m the largest element of a group it is ``x - m - log(sum(exp(x - m)) + eps)``.

    >>> import strew
    >>> strew.torch_scatter.scatter_log_softmax([7.0, 7.0], [0, 0]).round(5)
    array([-0.69315, -0.69315])
    """
    if operators := _torch_operators(src):
        return operators.torch_scatter.composites.log_softmax(src, index, dim, eps, dim_size)
    return _scatter_log_softmax(src, index, dim, eps, dim_size)


def segment_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    reduce: Literal["sum", "add", "mean", "min", "max"] = "sum",
) -> Array:
    """Reduce the elements of `src` that share an index, which ascends; see the module.

    `reduce` is "sum" (or "add"), "mean", "min" or "max". The result has `src`'s dtype and shape,
    but along `index`'s last axis the size `dim_size`, by default the last index plus 1. With `out`,
    its elements are reduced too, and it is returned.

    Groups without elements are 0. A mean of integers is rounded toward zero (`scatter_mean` rounds
    down); with `out` it is ``(out + sum) / count`` in groups with elements, where only these count.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> src = np.arange(12.0).reshape(2, 6)
    >>> strew.torch_scatter.segment_coo(src, [[0, 0, 1, 1, 1, 3]])
    array([[ 1.,  9.,  0.,  5.],
           [13., 27.,  0., 11.]])
    >>> strew.torch_scatter.segment_coo([-3, -4, 8], [0, 0, 1], reduce="mean")
    array([-3,  8])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_coo(src, index, out, dim_size, reduce)
    return _segment_coo(src, index, out, dim_size, reduce)


def segment_sum_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """Sum the elements of `src` that share an index, which ascends; see the module.

    16-bit floats accumulate in float32 and are rounded once; integers wrap.

    >>> import strew
    >>> strew.torch_scatter.segment_sum_coo([1, 2, 4], [0, 2, 2])
    array([1, 0, 6])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_coo(src, index, out, dim_size, "sum")
    return _segment_sum_coo(src, index, out, dim_size)


def segment_add_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """`segment_sum_coo` under its other name.

    >>> import numpy as np
    >>> import strew
    >>> totals = np.array([10, 20])
    >>> strew.torch_scatter.segment_add_coo([1, 2], [1, 1], out=totals)
    array([10, 23])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_coo(src, index, out, dim_size, "add")
    return _segment_add_coo(src, index, out, dim_size)


def segment_mean_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """Average the elements of `src` that share an index, which ascends; see `segment_coo`.

    >>> import strew
    >>> strew.torch_scatter.segment_mean_coo([1.0, 2.0, 5.0], [0, 0, 1], dim_size=3)
    array([1.5, 5. , 0. ])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_coo(src, index, out, dim_size, "mean")
    return _segment_mean_coo(src, index, out, dim_size)


def segment_min_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> tuple[Array, Any]:
    """Find the smallest element of each group, and its position; the index ascends.

    Returns ``(out, arg)``; `arg` is int64, the position along `index`'s last axis in `src`. Values,
    ties, NaN and groups without a winner are as in `scatter_min`.

    >>> import strew
    >>> strew.torch_scatter.segment_min_coo([3, 1, 1], [0, 2, 2])
    (array([3, 0, 1]), array([0, 3, 1]))
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_coo(src, index, out, dim_size, "min", True)
    return _segment_min_coo(src, index, out, dim_size)


def segment_max_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> tuple[Array, Any]:
    """Find the largest element of each group, and its position; see `segment_min_coo`.

    >>> import strew
    >>> strew.torch_scatter.segment_max_coo([3, 1, 2], [0, 2, 2])
    (array([3, 0, 2]), array([0, 3, 2]))
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_coo(src, index, out, dim_size, "max", True)
    return _segment_max_coo(src, index, out, dim_size)


def segment_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
    reduce: Literal["sum", "add", "mean", "min", "max"] = "sum",
) -> Array:
    """Reduce the elements of `src` from one pointer to the next; see the module.

    `reduce` is "sum" (or "add"), "mean", "min" or "max". The result has `src`'s dtype and shape,
    but along `indptr`'s last axis one row fewer than pointers: row ``n`` takes the
    elements from ``indptr[n]`` up to ``indptr[n + 1]``. Pointers need not begin at 0, end with
    `src` or ascend. `out` is overwritten, and returned.

    Rows without elements are 0. A mean of integers is rounded toward zero.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> src = np.arange(12.0).reshape(2, 6)
    >>> strew.torch_scatter.segment_csr(src, [[0, 2, 5, 5, 6]])
    array([[ 1.,  9.,  0.,  5.],
           [13., 27.,  0., 11.]])
    >>> strew.torch_scatter.segment_csr([1, 2, 3, 4], [0, 3, 1, 4], reduce="max")
    array([3, 0, 4])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_csr(src, indptr, out, reduce)
    return _segment_csr(src, indptr, out, reduce)


def segment_sum_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
) -> Array:
    """Sum the elements of `src` from one pointer to the next; see `segment_csr`.

    16-bit floats accumulate in float32 and are rounded once; integers wrap.

    >>> import strew
    >>> strew.torch_scatter.segment_sum_csr([1, 2, 4], [0, 1, 1, 3])
    array([1, 0, 6])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_csr(src, indptr, out, "sum")
    return _segment_sum_csr(src, indptr, out)


def segment_add_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
) -> Array:
    """`segment_sum_csr` under its other name.

    >>> import numpy as np
    >>> import strew
    >>> out = np.array([7, 7])
    >>> strew.torch_scatter.segment_add_csr([1, 2, 4], [0, 1, 3], out=out) is out
    True
    >>> out
    array([1, 6])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_csr(src, indptr, out, "add")
    return _segment_add_csr(src, indptr, out)


def segment_mean_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
) -> Array:
    """Average the elements of `src` from one pointer to the next; see `segment_csr`.

    >>> import strew
    >>> strew.torch_scatter.segment_mean_csr([1.0, 2.0, 5.0], [0, 2, 3])
    array([1.5, 5. ])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_csr(src, indptr, out, "mean")
    return _segment_mean_csr(src, indptr, out)


def segment_min_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
) -> tuple[Array, Any]:
    """Find the smallest element of each row, and its position; see `segment_csr`.

    Returns ``(out, arg)``; `arg` is int64, the position along `indptr`'s last axis in `src`. Of
    equal elements the first wins, and NaN never does. A row without a winner has value 0, and as
    its position `src`'s size along that axis.

    >>> import strew
    >>> strew.torch_scatter.segment_min_csr([3, 1, 1], [0, 1, 1, 3])
    (array([3, 0, 1]), array([0, 3, 1]))
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_csr(src, indptr, out, "min", True)
    return _segment_min_csr(src, indptr, out)


def segment_max_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
) -> tuple[Array, Any]:
    """Find the largest element of each row, and its position; see `segment_min_csr`.

    >>> import strew
    >>> strew.torch_scatter.segment_max_csr([3, 1, 2], [0, 1, 1, 3])
    (array([3, 0, 2]), array([0, 3, 2]))
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_csr(src, indptr, out, "max", True)
    return _segment_max_csr(src, indptr, out)


def gather_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
) -> Array:
    """Copy the rows of `src` that an index names, which ascends; see the module.

    Along `index`'s last axis, row ``e`` of the result is row ``index[e]`` of `src`. Bits are
    copied. `out` is overwritten, and returned.

    >>> import strew
    >>> strew.torch_scatter.gather_coo([10, 20, 30], [0, 0, 2])
    array([10, 10, 30])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_gather_coo(src, index, out)
    return _gather_coo(src, index, out)


def gather_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
) -> Array:
    """Copy each row of `src` to the rows from one pointer to the next; see the module.

    Along its last axis `indptr` has one pointer more than `src` has rows; the very last pointer is
    the size of the result there. Rows that get nothing are 0, or stay as in `out`, which is
    returned. Bits are copied.

    >>> import strew
    >>> strew.torch_scatter.gather_csr([10, 20], [0, 2, 3])
    array([10, 10, 20])
    """
    if operators := _torch_operators(src, out):
        return operators.torch_scatter.segments.call_gather_csr(src, indptr, out)
    return _gather_csr(src, indptr, out)
