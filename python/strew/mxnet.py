"""Apache MXNet: index tuples run along the *first* axis of ``indices``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._strew import Operator as _Operator

if TYPE_CHECKING:
    from typing import Literal

    from ._native.types import Array, ArrayLike, Integers, Numbers

__all__ = ["backward_gather_nd", "gather_nd", "scatter_nd", "scatter_set_nd"]

_scatter_nd = _Operator("mxnet.scatter_nd")
_scatter_set_nd = _Operator("mxnet.scatter_set_nd")
_gather_nd = _Operator("mxnet.gather_nd")
_backward_gather_nd = _Operator("mxnet.backward_gather_nd")


def scatter_nd(
    data: Array | Numbers,
    indices: ArrayLike,
    shape: Integers,
    name: str | None = None,
    out: Array | None = None,
    req: Literal["write", "add"] = "write",
) -> Array:
    """Scatter `data` into a new array of zeros, at the cells that `indices` names.

    Parameters
    ----------
    data : array
        The updates, of shape ``indices.shape[1:] + shape[M:]`` and any dtype.
    indices : array
        Index tuples along the first axis: shape ``(M, Y0, ..)`` with M from 1 to the smaller of
        10 and ``len(shape)``. Integers, or floats, which are truncated toward zero.
    shape : sequence of int
        The shape of the output.
    name : str, optional
        A label for error messages.
    out : array, optional
        Memory for the result, of `shape` and `data`'s dtype. On an error it is unchanged.
    req : {"write", "add"}
        Whether the result replaces the contents of `out`, or every slice is added to it. Duplicates
        add up then.

    Returns
    -------
    array
        Of `shape` and `data`'s dtype; ``out[tuple(indices[:, y])] = data[y]``. `out` itself if it
        is passed.

    Raises
    ------
    ValueError
        If a shape or `req` does not fit, or `out` is read-only or shares memory with an argument.
    TypeError
        If the dtype of `indices` is bool or complex, or `out` has another dtype than `data`.
    IndexError
        If an index is negative or too large.

    Notes
    -----
    MXNet does not define what duplicates do; here the last one in row-major order stays. MXNet does
    not check indices, and writes outside the array; here an index out of range is an error.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> data = np.array([2, 3, 0], dtype=np.float32)
    >>> out = strew.mxnet.scatter_nd(data, [[1, 1, 0], [0, 1, 0]], (2, 2))
    >>> out
    array([[0., 0.],
           [2., 3.]], dtype=float32)
    >>> strew.mxnet.scatter_nd(data, [[1, 1, 0], [0, 1, 0]], (2, 2), out=out, req="add")
    array([[0., 0.],
           [4., 6.]], dtype=float32)
    """
    return _scatter_nd(data, indices, shape, name, out, req)


def scatter_set_nd(lhs: Array, rhs: ArrayLike, indices: ArrayLike, shape: Integers) -> Array:
    """Write slices of `rhs` into `lhs`, in place, where `scatter_nd` would write them.

    Returns `lhs`.

    Other cells stay as they are. `shape` must be `lhs`'s. MXNet names this operator
    ``_scatter_set_nd``. Exceptions are those of `scatter_nd`. TypeError is also raised if `rhs` has
    another dtype than `lhs`. On an error `lhs` is unchanged.

    >>> import numpy as np
    >>> import strew
    >>> strew.mxnet.scatter_set_nd(np.ones((2, 2)), np.array([2.0, 3.0]), [[1, 0], [0, 1]], (2, 2))
    array([[1., 3.],
           [2., 1.]])
    """
    return _scatter_set_nd(lhs, rhs, indices, shape)


def gather_nd(
    data: Array | Numbers,
    indices: ArrayLike,
    out: Array | None = None,
    req: Literal["write", "add"] = "write",
) -> Array:
    """Pick the slices of `data` that the tuples ``indices[:, y]`` name.

    `indices` is as for `scatter_nd`, but negative ones count from the end. The result has the shape
    ``indices.shape[1:] + data.shape[M:]``; an index that is out of range is an IndexError. `out`
    and `req` are as for `scatter_nd`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mxnet.gather_nd(np.array([[1, 2], [3, 4]]), [[0, -1], [1, 0]])
    array([2, 3])
    """
    return _gather_nd(data, indices, out, req)


def backward_gather_nd(
    data: Array | Numbers,
    indices: ArrayLike,
    shape: Integers,
    out: Array | None = None,
    req: Literal["write", "add"] = "write",
) -> Array:
    """Add `data` into a new array of zeros: the gradient of `gather_nd`, with duplicates.

    Arguments are those of `scatter_nd`, but negative indices count from the end, and int8 and uint8
    `data` is a TypeError. MXNet names this operator ``_backward_gather_nd``.

    >>> import strew
    >>> strew.mxnet.backward_gather_nd([1, 2, 3], [[0, 1, 0]], (2,))
    array([4, 2])
    """
    return _backward_gather_nd(data, indices, shape, out, req)
