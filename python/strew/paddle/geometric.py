"""``paddle.geometric``: reductions of segments; segment numbers ascend.

Arguments and exceptions of all are those of `segment_sum`. 16-bit floats accumulate in float32 and
are rounded once; integers wrap; a minimum or maximum of NaN is NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._strew import Operator as _Operator

if TYPE_CHECKING:
    from .._native.types import Array, ArrayLike, Numbers

__all__ = ["segment_max", "segment_mean", "segment_min", "segment_sum"]

_segment_sum = _Operator("paddle.geometric.segment_sum")
_segment_mean = _Operator("paddle.geometric.segment_mean")
_segment_min = _Operator("paddle.geometric.segment_min")
_segment_max = _Operator("paddle.geometric.segment_max")


def segment_sum(data: Array | Numbers, segment_ids: ArrayLike) -> Array:
    """Sum the rows of each segment.

    Parameters
    ----------
    data : array
        The rows, one or more dimensions; any dtype but bool.
    segment_ids : array
        The segment of each row: int32 or int64, ascending from 0 or more. 1-d, or with more axes,
        all of size 1.

    Returns
    -------
    array
        Of `data`'s dtype and shape, with one row more than the last number. Segments without
        rows are 0.

    Raises
    ------
    RuntimeError
        If the operation is not defined for the dtype of `data`.
    IndexError
        If the first number is negative.
    ValueError
        If a shape or dtype does not fit, numbers do not ascend, or all are negative.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> data = np.array([[1, 2, 3], [3, 2, 1], [4, 5, 6]])
    >>> strew.paddle.geometric.segment_sum(data, np.array([0, 0, 1]))
    array([[4, 4, 4],
           [4, 5, 6]])
    """
    return _segment_sum(data, segment_ids)


def segment_mean(data: Array | Numbers, segment_ids: ArrayLike) -> Array:
    """Average the rows of each segment; integers are rounded toward zero.

    See `segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.paddle.geometric.segment_mean(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]))
    array([1.5, 0. , 4. ])
    """
    return _segment_mean(data, segment_ids)


def segment_min(data: Array | Numbers, segment_ids: ArrayLike) -> Array:
    """Take the smallest of the rows of each segment, element by element.

    See `segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.paddle.geometric.segment_min(np.array([3, 2, 4]), np.array([0, 0, 2]))
    array([2, 0, 4])
    """
    return _segment_min(data, segment_ids)


def segment_max(data: Array | Numbers, segment_ids: ArrayLike) -> Array:
    """Take the largest of the rows of each segment, element by element.

    See `segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.paddle.geometric.segment_max(np.array([3, 2, 4]), np.array([0, 0, 2]))
    array([3, 0, 4])
    """
    return _segment_max(data, segment_ids)
