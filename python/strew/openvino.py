"""OpenVINO: operators of its opsets."""

from ._strew import Operator as _Operator

__all__ = ["slice_scatter"]

_slice_scatter = _Operator("openvino.slice_scatter")


def slice_scatter(data, updates, start, stop, step, axes=None):
    """Copy `data` and replace its slice ``start:stop:step`` by `updates` (SliceScatter-15).

    Parameters
    ----------
    data : array
        Of one or more dimensions and any dtype.
    updates : array
        The slice's new values: `data`'s dtype, and exactly the slice's shape.
    start, stop, step : sequence of int
        The slice of each axis, by Python's rule for slices: negative values count from the end,
        and what lies beyond is clamped. At most as many as `data` has dimensions; lists, or 1-d
        arrays of any integer dtype. Empty ones slice nothing: then `updates` replaces all.
    axes : sequence of int, optional
        The axes that they speak of, each at most once, negative from the end. By default the
        first ones.

    Returns
    -------
    array
        Of `data`'s shape and dtype.

    Raises
    ------
    ValueError
        If a shape or length does not fit, an axis does not exist or occurs twice, or a step is 0.
    TypeError
        If `updates` has another dtype than `data`, or a list holds something else than integers.

    Notes
    -----
    Going backwards, ``stop=-1`` is the last element, as in Python: to reach element 0, use any
    stop below ``-size``. The document's NumPy snippet would broadcast `updates`; the operator
    does not, and neither does this one.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> data = np.arange(10.0).reshape(2, 5)
    >>> strew.openvino.slice_scatter(data, [[10.0, 20.0]], [0, 1], [1, 5], [1, 2])
    array([[ 0., 10.,  2., 20.,  4.],
           [ 5.,  6.,  7.,  8.,  9.]])
    >>> strew.openvino.slice_scatter(data, [[70.0], [80.0]], [-1], [-2], [-1], axes=[1])
    array([[ 0.,  1.,  2.,  3., 70.],
           [ 5.,  6.,  7.,  8., 80.]])
    """
    return _slice_scatter(data, updates, start, stop, step, axes)
