"""ONNX: scatters and gathers, as functions named like the operators.

Every function takes the version of the operator set as `opset`. They raise

* TypeError for a dtype that does not fit,
* IndexError for an index out of range,
* ValueError for everything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._strew import Operator as _Operator

if TYPE_CHECKING:
    from typing import Literal

    from .._native.types import Array, ArrayLike, Numbers

__all__ = [
    "gather",
    "gather_elements",
    "gather_nd",
    "scatter",
    "scatter_elements",
    "scatter_nd",
    "tensor_scatter",
]

_scatter_elements = _Operator("onnx.scatter_elements")
_scatter_nd = _Operator("onnx.scatter_nd")
_scatter = _Operator("onnx.scatter")
_tensor_scatter = _Operator("onnx.tensor_scatter")
_gather = _Operator("onnx.gather")
_gather_elements = _Operator("onnx.gather_elements")
_gather_nd = _Operator("onnx.gather_nd")


def scatter_elements(
    data: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    axis: int = 0,
    reduction: Literal["none", "add", "mul", "max", "min"] = "none",
    *,
    opset: int = 18,
) -> Array:
    """Copy `data` and combine each element of `updates` with the cell that its index names.

    Parameters
    ----------
    data : array
        Of one or more dimensions and any dtype.
    indices : array
        int32 or int64, of `data`'s rank, no larger than it apart from `axis`; negative ones count
        from the end.
    updates : array
        Of `indices`' shape and `data`'s dtype.
    axis : int, default 0
        Negative from the end.
    reduction : {"none", "add", "mul", "max", "min"}
        How an update is combined with its cell. "none" replaces the cell, and the last update
        stays. A maximum or minimum with NaN is NaN. For bool, "add" is a logical or, "mul" a
        logical and.
    opset : int, default 18
        11 has no reduction, 16 has "add" and "mul".

    Returns
    -------
    array
        Of `data`'s shape and dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> data, indices, updates = np.array([1, 2, 3]), np.array([1, 1]), np.array([10, 20])
    >>> strew.onnx.scatter_elements(data, indices, updates, reduction="add")
    array([ 1, 32,  3])
    """
    return _scatter_elements(data, indices, updates, axis, reduction, opset)


def scatter(
    data: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    axis: int = 0,
    *,
    opset: int = 11,
) -> Array:
    """`scatter_elements` without a reduction, under its deprecated name.

    ``opset=9`` takes no negative index.

    >>> import numpy as np
    >>> import strew
    >>> strew.onnx.scatter(np.array([1, 2, 3]), np.array([1, -1]), np.array([10, 20]))
    array([ 1, 10, 20])
    """
    return _scatter(data, indices, updates, axis, opset)


def scatter_nd(
    data: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    reduction: Literal["none", "add", "mul", "max", "min"] = "none",
    *,
    opset: int = 18,
) -> Array:
    """Copy `data` and combine each window of `updates` with the one that its index tuple names.

    Parameters
    ----------
    data : array
        Of one or more dimensions and any dtype.
    indices : array
        int64. Its last axis holds index tuples for the first axes of `data`; the remaining axes are
        the window. Negative indices count from the end. An empty tuple names all of `data`.
    updates : array
        Windows, of shape ``indices.shape[:-1] + data.shape[indices.shape[-1]:]`` and `data`'s
        dtype.
    reduction, opset
        As for `scatter_elements`.

    Returns
    -------
    array
        Of `data`'s shape and dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.onnx.scatter_nd(np.array([1, 2, 3]), np.array([[2], [-1]]), np.array([10, 20]), "add")
    array([ 1,  2, 33])
    """
    return _scatter_nd(data, indices, updates, reduction, opset)


def tensor_scatter(
    past_cache: Array | Numbers,
    update: ArrayLike,
    write_indices: ArrayLike | None = None,
    mode: Literal["linear", "circular"] = "linear",
    axis: int = -2,
    *,
    opset: int = 24,
) -> Array:
    """Copy `past_cache` and write `update` into it along `axis`, from `write_indices` on.

    Parameters
    ----------
    past_cache : array
        The cache of keys or values: ``(batch, .., sequence, ..)``, any dtype.
    update : array
        Of `past_cache`'s dtype and shape, but for the size along `axis`, which may be smaller.
    write_indices : array, optional
        Where the update of each batch begins: int64, ``(batch,)``. By default at 0.
    mode : {"linear", "circular"}
        Whether an update past the end is an error, or continues at 0.
    axis : int, default -2
        The sequence's axis, not the first one; negative from the end.
    opset : int, default 24

    Returns
    -------
    array
        Of `past_cache`'s shape and dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> cache, update = np.zeros((2, 3, 1), int), np.array([[[1], [2]], [[3], [4]]])
    >>> strew.onnx.tensor_scatter(cache, update, np.array([1, 2]), "circular")[..., 0]
    array([[0, 1, 2],
           [4, 0, 3]])
    """
    return _tensor_scatter(past_cache, update, write_indices, mode, axis, opset)


def gather(data: Array | Numbers, indices: ArrayLike, axis: int = 0, *, opset: int = 13) -> Array:
    """Pick slices of `data` along `axis`.

    `indices` is int32 or int64, of any shape; negative ones count from the end. The result has the
    shape ``data.shape[:axis] + indices.shape + data.shape[axis + 1:]``.

    >>> import numpy as np
    >>> import strew
    >>> strew.onnx.gather(np.array([10, 20, 30]), np.array([-1, 0]))
    array([30, 10])
    """
    return _gather(data, indices, axis, opset)


def gather_elements(
    data: Array | Numbers, indices: ArrayLike, axis: int = 0, *, opset: int = 13
) -> Array:
    """Pick the elements of `data` that `indices` name along `axis`.

    `indices` is int32 or int64, of `data`'s rank, no larger than it apart from `axis`; negative
    ones count from the end. The result has its shape.

    >>> import numpy as np
    >>> import strew
    >>> strew.onnx.gather_elements(np.array([[1, 2], [3, 4]]), np.array([[0, 0], [1, 0]]), 1)
    array([[1, 1],
           [4, 3]])
    """
    return _gather_elements(data, indices, axis, opset)


def gather_nd(
    data: Array | Numbers, indices: ArrayLike, batch_dims: int = 0, *, opset: int = 13
) -> Array:
    """Pick the windows of `data` that tuples along the last axis of `indices` name.

    `indices` is int64; tuples index the axes of `data` from `batch_dims` on, and negative indices
    count from the end. The result has the shape ``indices.shape[:-1] + data.shape[batch_dims +
    indices.shape[-1]:]``.

    >>> import numpy as np
    >>> import strew
    >>> strew.onnx.gather_nd(np.array([[0, 1], [2, 3]]), np.array([[0, 0], [1, 1]]))
    array([0, 3])
    """
    return _gather_nd(data, indices, batch_dims, opset)
