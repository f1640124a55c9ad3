"""OpenVINO: operators of its opsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._strew import Operator as _Operator

if TYPE_CHECKING:
    from typing import Literal

    from ._native.types import Array, ArrayLike, Integers, Numbers

__all__ = [
    "gather",
    "gather_elements",
    "gather_nd",
    "scatter_elements_update",
    "scatter_nd_update",
    "scatter_update",
    "slice_scatter",
]

_slice_scatter = _Operator("openvino.slice_scatter")
_scatter_elements_update = _Operator("openvino.scatter_elements_update")
_scatter_nd_update = _Operator("openvino.scatter_nd_update")
_scatter_update = _Operator("openvino.scatter_update")
_gather = _Operator("openvino.gather")
_gather_elements = _Operator("openvino.gather_elements")
_gather_nd = _Operator("openvino.gather_nd")


def slice_scatter(
    data: Array | Numbers,
    updates: ArrayLike,
    start: Integers,
    stop: Integers,
    step: Integers,
    axes: Integers | None = None,
) -> Array:
    """Copy `data` and replace its slice ``start:stop:step`` by `updates` (SliceScatter-15).

    Parameters
    ----------
    data : array
        Of one or more dimensions and any dtype.
    updates : array
        The slice's new values: `data`'s dtype, and exactly the slice's shape.
    start, stop, step : sequence of int
        The slice of each axis, by Python's rule for slices: negative values count from the end, and
        values past the ends are clamped. Lists, or 1-d arrays of any integer dtype, with at most
        one entry for each axis of `data`. If they are empty, `updates` replaces all of `data`.
    axes : sequence of int, optional
        The axes of these slices, each at most once; negative axes count from the end. By default
        the first axes.

    Returns
    -------
    array
        Of `data`'s shape and dtype.

    Raises
    ------
    ValueError
        If a shape or length does not fit, an axis does not exist or occurs twice, or a step is 0.
    TypeError
        If `updates` has another dtype than `data`, or a list holds anything but integers.

    Notes
    -----
    With a negative step, ``stop=-1`` is the last element, as in Python: to reach element 0, use a
    stop below ``-size``. The document's NumPy snippet would broadcast `updates`; neither the
    operator nor this function does.

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


def scatter_elements_update(
    data: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    axis: int,
    reduction: Literal["none", "sum", "prod", "min", "max", "mean"] = "none",
    use_init_val: bool = True,
) -> Array:
    """Copy `data` and combine each element of `updates` with the cell that its index names.

    ScatterElementsUpdate-12, and -3 with the defaults.

    Parameters
    ----------
    data : array
        Of one or more dimensions and any dtype.
    indices : array
        Any integer dtype, of `data`'s rank, no larger than it apart from `axis`; negative ones
        count from the end.
    updates : array
        Of `indices`' shape and `data`'s dtype.
    axis : int
        Negative from the end.
    reduction : {"none", "sum", "prod", "min", "max", "mean"}
        How updates are combined with a cell. "none" replaces the cell, and the last update stays.
        "min" and "max" leave NaN out. Means of integers are rounded toward zero.
    use_init_val : bool, default True
        Whether the value of `data` in a cell takes part. Cells without updates keep it in any case.

    Returns
    -------
    array
        Of `data`'s shape and dtype.

    Raises
    ------
    IndexError
        If an index is out of range.
    TypeError
        If `indices` or `updates` has another dtype.
    ValueError
        If a shape, `axis` or `reduction` does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> data = np.array([-7, 0])
    >>> strew.openvino.scatter_elements_update(data, np.array([0, 0]), np.array([1, 3]), 0, "mean")
    array([-1,  0])
    >>> strew.openvino.scatter_elements_update(
    ...     data, np.array([0, 0]), np.array([1, 3]), 0, "mean", False
    ... )
    array([2, 0])
    """
    return _scatter_elements_update(data, indices, updates, axis, reduction, use_init_val)


def scatter_nd_update(
    data: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    reduction: Literal["none", "sum", "sub", "prod", "min", "max"] = "none",
) -> Array:
    """Copy `data` and combine each window of `updates` with the one that its index tuple names.

    ScatterNDUpdate-15, and -3 with the default.

    Parameters
    ----------
    data : array
        Any shape and dtype.
    indices : array
        Any integer dtype. Its last axis holds index tuples for the first axes of `data`; the
        remaining axes are the window. Negative indices count from the end. An empty tuple names all
        of `data`.
    updates : array
        Windows, of shape ``indices.shape[:-1] + data.shape[indices.shape[-1]:]`` and `data`'s
        dtype. A single number may be passed as an array of one element.
    reduction : {"none", "sum", "sub", "prod", "min", "max"}
        How updates are combined with a cell, as for `scatter_elements_update`.

    Returns
    -------
    array
        Of `data`'s shape and dtype.

    Raises
    ------
    IndexError, TypeError, ValueError
        As `scatter_elements_update`.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.openvino.scatter_nd_update(
    ...     np.array([1, 2, 3]), np.array([[2], [-1]]), np.array([10, 20]), "sub"
    ... )
    array([  1,   2, -27])
    """
    return _scatter_nd_update(data, indices, updates, reduction)


def scatter_update(
    data: Array | Numbers, indices: ArrayLike, updates: ArrayLike, axis: int
) -> Array:
    """Copy `data` and replace slices along `axis` by `updates` (ScatterUpdate-3).

    Parameters
    ----------
    data : array
        Of one or more dimensions and any dtype.
    indices : array
        Which slices: any shape and integer dtype, in ``0 .. data.shape[axis] - 1``.
    updates : array
        Of shape ``data.shape[:axis] + indices.shape + data.shape[axis + 1:]`` and `data`'s dtype.
        The last of several updates for a slice stays.
    axis : int
        Negative from the end.

    Returns
    -------
    array
        Of `data`'s shape and dtype.

    Raises
    ------
    IndexError, TypeError, ValueError
        As `scatter_elements_update`.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> data = np.array([[1, 2, 3], [4, 5, 6]])
    >>> strew.openvino.scatter_update(data, np.array([2, 0]), np.array([[10, 20], [30, 40]]), 1)
    array([[20,  2, 10],
           [40,  5, 30]])
    """
    return _scatter_update(data, indices, updates, axis)


def gather(data: Array | Numbers, indices: ArrayLike, axis: int, batch_dims: int = 0) -> Array:
    """Pick slices of `data` along `axis`; zeros where an index is out of range (Gather-8).

    Parameters
    ----------
    data : array
        Of one or more dimensions and any dtype.
    indices : array
        Which slices: any shape and integer dtype; negative ones count from the end.
    axis : int
        Negative from the end.
    batch_dims : int, default 0
        The number of first axes that `data` and `indices` share; a negative number is added to
        `indices`' rank.

    Returns
    -------
    array
        Of shape ``data.shape[:axis] + indices.shape[batch_dims:] + data.shape[axis + 1:]``.

    Raises
    ------
    TypeError
        If `indices` has another dtype.
    ValueError
        If a shape, `axis` or `batch_dims` does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.openvino.gather(np.array([10, 20, 30]), np.array([-1, 0, 3]), 0)
    array([30, 10,  0])
    """
    return _gather(data, indices, axis, batch_dims)


def gather_elements(data: Array | Numbers, indices: ArrayLike, axis: int) -> Array:
    """Pick the elements of `data` that `indices` name along `axis` (GatherElements-6).

    `indices` has any integer dtype, `data`'s rank, and is no larger than it apart from `axis`;
    negative ones count from the end. The result has its shape. Exceptions are those of
    `scatter_elements_update`.

    >>> import numpy as np
    >>> import strew
    >>> strew.openvino.gather_elements(np.array([[1, 2], [3, 4]]), np.array([[0, 1], [-1, 0]]), 0)
    array([[1, 4],
           [3, 2]])
    """
    return _gather_elements(data, indices, axis)


def gather_nd(data: Array | Numbers, indices: ArrayLike, batch_dims: int = 0) -> Array:
    """Pick the windows of `data` that tuples along the last axis of `indices` name (GatherND-8).

    Tuples index the axes of `data` from `batch_dims` on; negative indices count from the end. The
    result has the shape ``indices.shape[:-1] + data.shape[batch_dims + indices.shape[-1]:]``.
    Exceptions are those of `scatter_elements_update`.

    >>> import numpy as np
    >>> import strew
    >>> strew.openvino.gather_nd(np.array([[1, 2], [3, 4]]), np.array([[1], [0]]), 1)
    array([2, 3])
    """
    return _gather_nd(data, indices, batch_dims)
