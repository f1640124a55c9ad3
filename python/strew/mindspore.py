"""MindSpore: operators of ``mindspore.ops``."""

from ._strew import Operator as _Operator

__all__ = ["scatter_mul"]

_scatter_mul = _Operator("mindspore.scatter_mul")


def scatter_mul(input_x, indices, updates):
    """Multiply rows of `input_x`, in place, by the rows of `updates` that `indices` sends there.

    For each ``i, .., j`` of `indices` in row-major order, so that a row that is named twice gets
    both factors: ``input_x[indices[i, .., j], ...] *= updates[i, .., j, ...]``.

    Parameters
    ----------
    input_x : array
        What to change: one or more dimensions, any integer or floating-point dtype, any strides.
    indices : array
        Row numbers: int32 or int64, any shape, in ``0 .. input_x.shape[0] - 1``.
    updates : array
        The factors, of shape ``indices.shape + input_x.shape[1:]``. A dtype of lower priority is
        promoted to `input_x`'s as it is read; `input_x` is never converted.

    Returns
    -------
    array
        `input_x` itself.

    Raises
    ------
    TypeError
        If `indices` has another dtype, or `input_x` cannot be written to (a list, a JAX array).
    strew.ConversionError
        If `updates` would have to promote `input_x`, or `input_x` is bool or complex. MindSpore's
        document says RuntimeError, its release raises TypeError: this class is both.
    ValueError
        If a shape does not fit, or `input_x` is read-only.
    RuntimeError
        If an index is out of range, or memory is shared. `input_x` is then as it was.

    Notes
    -----
    MindSpore leaves out-of-range indices to the device; here they are an error. Integers wrap.
    Products of 16-bit floats accumulate in float32 and are rounded once.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> input_x = np.array([[1, 1, 1], [2, 2, 2]], dtype=np.float32)
    >>> updates = np.array([[2, 2, 2], [3, 3, 3]], dtype=np.float32)
    >>> strew.mindspore.scatter_mul(input_x, np.array([0, 1], dtype=np.int32), updates) is input_x
    True
    >>> input_x
    array([[2., 2., 2.],
           [6., 6., 6.]], dtype=float32)
    """
    return _scatter_mul(input_x, indices, updates)
