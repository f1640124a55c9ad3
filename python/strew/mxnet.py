"""Apache MXNet: index tuples run along the *first* axis of ``indices``."""

from ._strew import Operator as _Operator

__all__ = ["scatter_nd"]

_scatter_nd = _Operator("mxnet.scatter_nd")


def scatter_nd(data, indices, shape, name=None):
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

    Returns
    -------
    array
        Of `shape` and `data`'s dtype; ``out[tuple(indices[:, y])] = data[y]``.

    Raises
    ------
    ValueError
        If a shape does not fit.
    TypeError
        If the dtype of `indices` is bool or complex.
    IndexError
        If an index is negative or too large.

    Notes
    -----
    MXNet leaves open what duplicates do: here the last one, in row-major order, stays. MXNet does
    not check indices and writes elsewhere; here an index that names no cell is an error.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> data = np.array([2, 3, 0], dtype=np.float32)
    >>> strew.mxnet.scatter_nd(data, [[1, 1, 0], [0, 1, 0]], (2, 2))
    array([[0., 0.],
           [2., 3.]], dtype=float32)
    """
    return _scatter_nd(data, indices, shape, name)
