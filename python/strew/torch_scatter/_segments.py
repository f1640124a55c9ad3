"""Reductions and gathers of segments, by an ascending index or by pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._arrays.dispatch import torch_operators
from .._native.functions import like
from .._strew import Operator

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, SupportsIndex

    from .._native.types import Array, ArrayLike, Numbers

_segment_coo = Operator("torch_scatter.segment_coo")
_segment_sum_coo = Operator("torch_scatter.segment_sum_coo")
_segment_min_coo = Operator("torch_scatter.segment_min_coo")
_segment_csr = Operator("torch_scatter.segment_csr")
_segment_sum_csr = Operator("torch_scatter.segment_sum_csr")
_segment_min_csr = Operator("torch_scatter.segment_min_csr")
_gather_coo = Operator("torch_scatter.gather_coo")
_gather_csr = Operator("torch_scatter.gather_csr")


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
    if operators := torch_operators(src, out):
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
    if operators := torch_operators(src, out):
        return operators.torch_scatter.segments.call_coo(src, index, out, dim_size, "sum")
    return _segment_sum_coo(src, index, out, dim_size)


def _coo(name: str) -> Callable[..., Any]:
    run, reduce = Operator(f"torch_scatter.{name}"), name.split("_")[1]
    with_arg = reduce in ("min", "max")

    def function(src: Any, index: Any, out: Any = None, dim_size: Any = None) -> Any:
        if operators := torch_operators(src, out):
            segments = operators.torch_scatter.segments
            return segments.call_coo(src, index, out, dim_size, reduce, with_arg)
        return run(src, index, out, dim_size)

    return function


_reduction_coo = like(segment_sum_coo, _coo)


@_reduction_coo
def segment_add_coo() -> None:
    """`segment_sum_coo` under its other name.

    >>> import numpy as np
    >>> import strew
    >>> totals = np.array([10, 20])
    >>> strew.torch_scatter.segment_add_coo([1, 2], [1, 1], out=totals)
    array([10, 23])
    """


@_reduction_coo
def segment_mean_coo() -> None:
    """Average the elements of `src` that share an index, which ascends; see `segment_coo`.

    >>> import strew
    >>> strew.torch_scatter.segment_mean_coo([1.0, 2.0, 5.0], [0, 0, 1], dim_size=3)
    array([1.5, 5. , 0. ])
    """


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
    if operators := torch_operators(src, out):
        return operators.torch_scatter.segments.call_coo(src, index, out, dim_size, "min", True)
    return _segment_min_coo(src, index, out, dim_size)


@like(segment_min_coo, _coo)
def segment_max_coo() -> None:
    """Find the largest element of each group, and its position; see `segment_min_coo`.

    >>> import strew
    >>> strew.torch_scatter.segment_max_coo([3, 1, 2], [0, 2, 2])
    (array([3, 0, 2]), array([0, 3, 2]))
    """


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
    if operators := torch_operators(src, out):
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
    if operators := torch_operators(src, out):
        return operators.torch_scatter.segments.call_csr(src, indptr, out, "sum")
    return _segment_sum_csr(src, indptr, out)


def _csr(name: str) -> Callable[..., Any]:
    run, reduce = Operator(f"torch_scatter.{name}"), name.split("_")[1]
    with_arg = reduce in ("min", "max")

    def function(src: Any, indptr: Any, out: Any = None) -> Any:
        if operators := torch_operators(src, out):
            segments = operators.torch_scatter.segments
            return segments.call_csr(src, indptr, out, reduce, with_arg)
        return run(src, indptr, out)

    return function


_reduction_csr = like(segment_sum_csr, _csr)


@_reduction_csr
def segment_add_csr() -> None:
    """`segment_sum_csr` under its other name.

    >>> import numpy as np
    >>> import strew
    >>> out = np.array([7, 7])
    >>> strew.torch_scatter.segment_add_csr([1, 2, 4], [0, 1, 3], out=out) is out
    True
    >>> out
    array([1, 6])
    """


@_reduction_csr
def segment_mean_csr() -> None:
    """Average the elements of `src` from one pointer to the next; see `segment_csr`.

    >>> import strew
    >>> strew.torch_scatter.segment_mean_csr([1.0, 2.0, 5.0], [0, 2, 3])
    array([1.5, 5. ])
    """


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
    if operators := torch_operators(src, out):
        return operators.torch_scatter.segments.call_csr(src, indptr, out, "min", True)
    return _segment_min_csr(src, indptr, out)


@like(segment_min_csr, _csr)
def segment_max_csr() -> None:
    """Find the largest element of each row, and its position; see `segment_min_csr`.

    >>> import strew
    >>> strew.torch_scatter.segment_max_csr([3, 1, 2], [0, 1, 1, 3])
    (array([3, 0, 2]), array([0, 3, 2]))
    """


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
    if operators := torch_operators(src, out):
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
    if operators := torch_operators(src, out):
        return operators.torch_scatter.segments.call_gather_csr(src, indptr, out)
    return _gather_csr(src, indptr, out)
