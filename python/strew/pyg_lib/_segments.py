"""Reductions and copies of elements that lie in the order of their groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .. import torch_scatter as ts
from .._arrays.places import places
from .._native import dtypes, errors
from ..torch import gather
from . import _shared

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, SupportsIndex

    from .._native.types import Array, ArrayLike, Numbers


@_shared.same(ts.segment_sum_coo)
def segment_sum_coo() -> None:
    """Sum the elements of `src` that share an index, which ascends; see the module.

    `segment_add_coo` is the same function. Groups without elements are 0. 16-bit floats accumulate
    in float32 and are rounded once; integers wrap.

    >>> import strew
    >>> strew.pyg_lib.segment_sum_coo([1, 2, 4], [0, 2, 2])
    array([1, 0, 6])
    """


segment_add_coo = segment_sum_coo


def segment_mean_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
) -> Array:
    """Average the elements of `src` that share an index, which ascends; see the module.

    Groups without elements are 0. Means of integers are rounded down. With `out`, the means are
    written to it, and groups without elements stay as they are.

    >>> import numpy as np
    >>> import strew
    >>> strew.pyg_lib.segment_mean_coo([1.0, 2.0, 5.0], [0, 0, 2])
    array([1.5, 0. , 5. ])
    >>> strew.pyg_lib.segment_mean_coo([1.0, 2.0], [1, 1], out=np.array([7.0, 7.0]))
    array([7. , 1.5])
    """
    name, dtype = "segment_mean_coo", dtypes.name_of(src)
    if out is None and not dtypes.is_whole(dtype):
        return _shared.run(name, ts.segment_mean_coo, src, index, None, dim_size)
    found = _mean_coo(name, _shared.as_array(src), _shared.as_array(index), out, dim_size)
    return _shared.like(src, found) if out is None else found


def _mean_coo(name: str, src: Any, index: Any, out: Any, dim_size: Any) -> Any:
    """Means of integers, and means that are written to the rows of `out` that have elements."""
    arrays, shape, rank = _shared.of(src), src.shape, len(index.shape)
    if out is not None and len(out.shape) == len(shape) and 1 <= rank <= len(shape):
        dim_size = out.shape[rank - 1]
    ones = _shared.ones(arrays, shape[:rank])
    # Checks the index.
    counts = _shared.run(name, ts.segment_sum_coo, ones, index, None, dim_size)
    started = None
    if out is not None:
        _shared.check_out(name, out, (*counts.shape, *shape[rank:]), dtypes.name_of(src))
        has_elements = _shared.trailing(counts, len(shape)) > 0
        started = arrays.where(has_elements, arrays.zeros_like(out), out)
    if dtypes.is_whole(dtypes.name_of(src)):
        dim = rank - 1
        found = _shared.run(name, ts.scatter_mean, src, index, dim, started, counts.shape[dim])
    else:
        found = _shared.run(name, ts.segment_mean_coo, src, index, started)
    return found if out is None else _shared.stored(out, found)


@_shared.same(ts.segment_min_coo)
def segment_min_coo() -> None:
    """Find the smallest element of each group, and its position; the index ascends.

    Returns ``(values, arg)``; `arg` is int64, the position along `index`'s last axis in `src`.
    Values, ties, NaN and groups without a winner are as in `scatter_min`.

    >>> import strew
    >>> strew.pyg_lib.segment_min_coo([3, 1, 1], [0, 2, 2])
    (array([3, 0, 1]), array([0, 3, 1]))
    """


@_shared.same(ts.segment_max_coo)
def segment_max_coo() -> None:
    """Find the largest element of each group, and its position; see `segment_min_coo`.

    >>> import strew
    >>> strew.pyg_lib.segment_max_coo([3, 1, 2], [0, 2, 2])
    (array([3, 0, 2]), array([0, 3, 2]))
    """


def segment_coo(
    src: Array | Numbers,
    index: ArrayLike,
    out: Array | None = None,
    dim_size: SupportsIndex | None = None,
    reduce: Literal["sum", "add", "mean", "min", "max"] = "sum",
) -> Array:
    """Reduce the elements of `src` that share an index, which ascends; see the module.

    `reduce` is "sum" (or "add"), "mean", "min" or "max". Values are those of the function of that
    name.

    >>> import numpy as np
    >>> import strew
    >>> src = np.arange(12.0).reshape(2, 6)
    >>> strew.pyg_lib.segment_coo(src, [[0, 0, 1, 1, 1, 3]])
    array([[ 1.,  9.,  0.,  5.],
           [13., 27.,  0., 11.]])
    """
    if reduce == "mean":
        return segment_mean_coo(src, index, out, dim_size)
    return _shared.run("segment_coo", ts.segment_coo, src, index, out, dim_size, reduce)


def segment_sum_csr(src: Array | Numbers, indptr: ArrayLike, out: Array | None = None) -> Array:
    """Sum the elements of `src` from one pointer to the next; see the module.

    `segment_add_csr` is the same function. Rows without elements are 0. With `out`, the sums
    continue from its values. 16-bit floats accumulate in float32 and are rounded once; integers
    wrap.

    >>> import numpy as np
    >>> import strew
    >>> strew.pyg_lib.segment_sum_csr([1, 2, 4], [0, 1, 1, 3])
    array([1, 0, 6])
    >>> strew.pyg_lib.segment_sum_csr([1, 2, 4], [0, 1, 3], out=np.array([10, 20]))
    array([11, 26])
    """
    if out is None:
        return _shared.run("segment_sum_csr", ts.segment_sum_csr, src, indptr)
    return _Rows("segment_sum_csr", src, indptr).continued(ts.scatter_sum, out)


segment_add_csr = segment_sum_csr


def segment_mean_csr(src: Array | Numbers, indptr: ArrayLike, out: Array | None = None) -> Array:
    """Average the elements of `src` from one pointer to the next; see the module.

    Rows without elements are 0. Means of integers are rounded down. `out` is overwritten.

    >>> import strew
    >>> strew.pyg_lib.segment_mean_csr([1.0, 2.0, 5.0], [0, 2, 3])
    array([1.5, 5. ])
    """
    name = "segment_mean_csr"
    if not dtypes.is_whole(dtypes.name_of(src)):
        return _shared.run(name, ts.segment_mean_csr, src, indptr, out)
    return _Rows(name, src, indptr).rounded_down(out)


def segment_min_csr(
    src: Array | Numbers, indptr: ArrayLike, out: Array | None = None
) -> tuple[Array, Any]:
    """Find the smallest element of each row, and its position along `indptr`'s last axis in `src`.

    Returns ``(values, arg)``; `arg` is int64. Values, ties, NaN and rows without a winner are as in
    `scatter_min`, also with `out`.

    >>> import strew
    >>> strew.pyg_lib.segment_min_csr([3, 1, 1], [0, 1, 1, 3])
    (array([3, 0, 1]), array([0, 3, 1]))
    """
    return _extreme("segment_min_csr", ts.segment_min_csr, ts.scatter_min, src, indptr, out)


def segment_max_csr(
    src: Array | Numbers, indptr: ArrayLike, out: Array | None = None
) -> tuple[Array, Any]:
    """Find the largest element of each row, and its position; see `segment_min_csr`.

    >>> import strew
    >>> strew.pyg_lib.segment_max_csr([3, 1, 2], [0, 1, 1, 3])
    (array([3, 0, 2]), array([0, 3, 2]))
    """
    return _extreme("segment_max_csr", ts.segment_max_csr, ts.scatter_max, src, indptr, out)


def segment_csr(
    src: Array | Numbers,
    indptr: ArrayLike,
    out: Array | None = None,
    reduce: Literal["sum", "add", "mean", "min", "max"] = "sum",
) -> Array:
    """Reduce the elements of `src` from one pointer to the next; see the module.

    `reduce` is "sum" (or "add"), "mean", "min" or "max". The result has `src`'s dtype and shape,
    but along `indptr`'s last axis one row fewer than pointers: row ``n`` takes the elements from
    ``indptr[n]`` up to ``indptr[n + 1]``. Values are those of the function of that name.

    >>> import numpy as np
    >>> import strew
    >>> src = np.arange(12.0).reshape(2, 6)
    >>> strew.pyg_lib.segment_csr(src, [[0, 2, 5, 5, 6]])
    array([[ 1.,  9.,  0.,  5.],
           [13., 27.,  0., 11.]])
    """
    if reduce == "min":
        return segment_min_csr(src, indptr, out)[0]
    if reduce == "max":
        return segment_max_csr(src, indptr, out)[0]
    if reduce == "mean":
        return segment_mean_csr(src, indptr, out)
    if out is None or reduce not in ("sum", "add"):
        return _shared.run("segment_csr", ts.segment_csr, src, indptr, out, reduce)
    return segment_sum_csr(src, indptr, out)


def gather_coo(src: Array | Numbers, index: ArrayLike, out: Array | None = None) -> Array:
    """Copy the rows of `src` that an index names, which need not ascend; see the module.

    Along `index`'s last axis, row ``e`` of the result is row ``index[e]`` of `src`. Bits are
    copied. `out` is overwritten.

    >>> import strew
    >>> strew.pyg_lib.gather_coo([10, 20, 30], [2, 0, 0])
    array([30, 10, 10])
    """
    name, values = "gather_coo", _shared.as_array(src)
    arrays = _shared.of(values)
    where = _shared.beside(values, index)
    shape, found, rank = tuple(values.shape), tuple(where.shape), len(where.shape)
    if not 1 <= rank <= len(shape) or found[:-1] != shape[: rank - 1]:
        raise errors.Problem(RuntimeError, f"pyg_lib.{name}", "index", list(found)).has_shape(
            f"it must have from 1 to {len(shape)} dimensions, and all but the last of src's "
            f"sizes {list(shape)}"
        )
    whole = (*found, *shape[rank:])
    rows = arrays.broadcast_to(_shared.trailing(where, len(shape)), whole)
    result = _shared.run(name, gather, values, rank - 1, rows)
    if out is None:
        return _shared.like(src, result)
    _shared.check_out(name, out, whole, dtypes.name_of(values))
    return _shared.stored(out, result)


@_shared.same(ts.gather_csr)
def gather_csr() -> None:
    """Copy each row of `src` to the rows from one pointer to the next; see the module.

    Along its last axis `indptr` has one pointer more than `src` has rows; the very last pointer is
    the size of the result there. Rows that get nothing are 0, or stay as in `out`. Bits are copied.

    >>> import strew
    >>> strew.pyg_lib.gather_csr([10, 20], [0, 2, 3])
    array([10, 10, 20])
    """


def _extreme(
    name: str,
    of_rows: Callable[..., Any],
    of_elements: Callable[..., Any],
    src: Any,
    indptr: Any,
    out: Any,
) -> tuple[Any, Any]:
    if out is not None:
        return _Rows(name, src, indptr).continued(of_elements, out)
    given, pointers = _shared.as_array(src), _shared.as_array(indptr)
    values, arg = _shared.run(name, of_rows, given, pointers)
    # torch_scatter's segments have winners that are no larger than the dtype's lowest value.
    arrays, dtype = _shared.of(values), dtypes.name_of(values)
    if dtype == "bool":
        return _shared.like(src, values), _shared.like(src, arg)
    lowest, largest = _shared.extremes(dtype)
    if dtypes.is_whole(dtype):
        no_winner = values == (lowest if of_elements is ts.scatter_max else largest)
    elif of_elements is ts.scatter_max:
        no_winner = values <= lowest
    else:
        no_winner = values >= largest
    nowhere = arrays.full_like(arg, given.shape[len(pointers.shape) - 1])
    values = arrays.where(no_winner, arrays.zeros_like(values), values)
    return _shared.like(src, values), _shared.like(src, arrays.where(no_winner, nowhere, arg))


class _Rows:
    """The elements of each row, one after the other, for what torch_scatter's segments do not do.

    Rows and elements of all batches are numbered through.
    """

    def __init__(self, name: str, src: Any, indptr: Any) -> None:
        self.name, self.given, self.src = name, src, _shared.as_array(src)
        self.arrays = arrays = _shared.of(self.src)
        self.indptr = indptr = _shared.beside(self.src, indptr)
        self.dim = dim = len(indptr.shape) - 1
        shape = tuple(self.src.shape)
        # Checks the pointers.
        counts = _shared.run(
            name, ts.segment_sum_csr, _shared.ones(arrays, shape[: dim + 1]), indptr
        )
        self.shape = (*counts.shape, *shape[dim + 1 :])
        self.is_empty = 0 in shape
        if not self.is_empty:
            self.size = shape[dim]
            lines = arrays.broadcast_to(indptr, (*shape[:dim], indptr.shape[-1]))
            self.rows, self.cells = places(arrays, lines, self.size)

    def _flat(self, values: Any) -> Any:
        """The axes of batches and rows in one."""
        return values.reshape(
            math.prod(values.shape[: self.dim + 1]), *self.src.shape[self.dim + 1 :]
        )

    def _updates(self) -> Any:
        flat = self._flat(self.src)
        # The derivative of `index_select` adds in order, unlike that of an index in brackets.
        take = getattr(flat, "index_select", None)
        return flat[self.cells] if take is None else take(0, self.cells)

    def continued(self, reduce: Callable[..., Any], out: Any) -> Any:
        """Goes on reducing into `out`."""
        dtype, with_arg = dtypes.name_of(self.src), reduce is not ts.scatter_sum
        if self.is_empty:
            _shared.check_out(self.name, out, out.shape, dtype)
            arg = self.arrays.full(out.shape, self.src.shape[self.dim], dtype=self.arrays.int64)
            return (out, _shared.like(self.given, arg)) if with_arg else out
        _shared.check_out(self.name, out, self.shape, dtype)
        started = self._flat(_shared.copied(out))
        found = _shared.run(self.name, reduce, self._updates(), self.rows, 0, started)
        if not with_arg:
            return _shared.stored(out, found.reshape(self.shape))
        values, arg = found
        # The last position is that of no winner.
        positions = self.arrays.concatenate(
            [self.cells % self.size, self.arrays.full((1,), self.size)]
        )
        arg = _shared.like(self.given, positions[arg].reshape(self.shape))
        return _shared.stored(out, values.reshape(self.shape)), arg

    def rounded_down(self, out: Any) -> Any:
        """Means of integers; `out` is overwritten."""
        if self.is_empty:
            return _shared.run(self.name, ts.segment_mean_csr, self.given, self.indptr, out)
        count = math.prod(self.shape[: self.dim + 1])
        found = _shared.run(
            self.name, ts.scatter_mean, self._updates(), self.rows, 0, None, count
        ).reshape(self.shape)
        if out is None:
            return _shared.like(self.given, found)
        _shared.check_out(self.name, out, self.shape, dtypes.name_of(self.src))
        return _shared.stored(out, found)
