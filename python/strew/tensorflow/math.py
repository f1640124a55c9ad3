"""``tf.math``: reductions of segments, sorted or unsorted.

Arguments and exceptions of ``segment_*`` are those of `segment_sum`; of ``unsorted_segment_*``,
those of `unsorted_segment_sum`. 16-bit floats accumulate in float32 and are rounded once; integers
wrap; a minimum or maximum of NaN is NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._strew import Operator as _Operator

if TYPE_CHECKING:
    from .._native.types import Array, ArrayLike, Numbers

__all__ = [
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
]

_segment_sum = _Operator("tensorflow.math.segment_sum")
_segment_mean = _Operator("tensorflow.math.segment_mean")
_segment_prod = _Operator("tensorflow.math.segment_prod")
_segment_min = _Operator("tensorflow.math.segment_min")
_segment_max = _Operator("tensorflow.math.segment_max")
_unsorted_segment_sum = _Operator("tensorflow.math.unsorted_segment_sum")
_unsorted_segment_mean = _Operator("tensorflow.math.unsorted_segment_mean")
_unsorted_segment_prod = _Operator("tensorflow.math.unsorted_segment_prod")
_unsorted_segment_min = _Operator("tensorflow.math.unsorted_segment_min")
_unsorted_segment_max = _Operator("tensorflow.math.unsorted_segment_max")
_unsorted_segment_sqrt_n = _Operator("tensorflow.math.unsorted_segment_sqrt_n")


def segment_sum(data: Array | Numbers, segment_ids: ArrayLike, name: str | None = None) -> Array:
    """Sum the rows of each segment; segment numbers ascend.

    Parameters
    ----------
    data : array
        The rows, one or more dimensions; any dtype but bool.
    segment_ids : array
        The segment of each row: int32 or int64, 1-d, ascending from 0 or more.
    name : str, optional
        Accepted, without effect.

    Returns
    -------
    array
        Of `data`'s dtype and shape, with one row more than the last number. Segments without
        rows are 0.

    Raises
    ------
    TypeError
        If a dtype does not fit.
    ValueError
        If a shape does not fit, or numbers do not ascend.
    IndexError
        If a number is negative.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.math.segment_sum(np.array([1, 2, 4]), np.array([0, 0, 2]))
    array([3, 0, 4])
    """
    return _segment_sum(data, segment_ids)


def segment_mean(data: Array | Numbers, segment_ids: ArrayLike, name: str | None = None) -> Array:
    """Average the rows of each segment; integers are rounded toward zero.

    See `segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.math.segment_mean(np.array([1, 2, 4]), np.array([0, 0, 2]))
    array([1, 0, 4])
    """
    return _segment_mean(data, segment_ids)


def segment_prod(data: Array | Numbers, segment_ids: ArrayLike, name: str | None = None) -> Array:
    """Multiply the rows of each segment; those without rows are 1.

    See `segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.math.segment_prod(np.array([1, 2, 4]), np.array([0, 0, 2]))
    array([2, 1, 4])
    """
    return _segment_prod(data, segment_ids)


def segment_min(data: Array | Numbers, segment_ids: ArrayLike, name: str | None = None) -> Array:
    """Find the minimum of the rows of each segment.

    See `segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.math.segment_min(np.array([1, 2, 4]), np.array([0, 0, 2]))
    array([1, 0, 4])
    """
    return _segment_min(data, segment_ids)


def segment_max(data: Array | Numbers, segment_ids: ArrayLike, name: str | None = None) -> Array:
    """Find the maximum of the rows of each segment.

    See `segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.math.segment_max(np.array([1, 2, 4]), np.array([0, 0, 2]))
    array([2, 0, 4])
    """
    return _segment_max(data, segment_ids)


def unsorted_segment_sum(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int, name: str | None = None
) -> Array:
    """Sum the rows of each of `num_segments` segments.

    Parameters
    ----------
    data : array
        The rows; any dtype but bool.
    segment_ids : array
        The segment of each row: int32 or int64, below `num_segments`. Rows with a negative number
        are skipped. Its shape is that of `data`'s first dimensions.
    num_segments : int
        The number of segments.
    name : str, optional
        Accepted, without effect.

    Returns
    -------
    array
        Of shape ``(num_segments,) + data.shape[segment_ids.ndim:]``. Segments without rows are 0.

    Raises
    ------
    TypeError
        If a dtype does not fit.
    ValueError
        If a shape or `num_segments` does not fit.
    IndexError
        If a number is not below `num_segments`.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.math.unsorted_segment_sum(np.array([1, 2, 4]), np.array([2, -1, 2]), 3)
    array([0, 0, 5])
    """
    return _unsorted_segment_sum(data, segment_ids, num_segments)


def unsorted_segment_mean(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int, name: str | None = None
) -> Array:
    """Average the rows of each segment; the means of integers are float32 or float64.

    See `unsorted_segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.math.unsorted_segment_mean(np.array([1, 2, 4]), np.array([2, -1, 2]), 3)
    array([0. , 0. , 2.5])
    """
    return _unsorted_segment_mean(data, segment_ids, num_segments)


def unsorted_segment_prod(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int, name: str | None = None
) -> Array:
    """Multiply the rows of each segment; those without rows are 1.

    See `unsorted_segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.math.unsorted_segment_prod(np.array([1, 2, 4]), np.array([2, -1, 2]), 3)
    array([1, 1, 4])
    """
    return _unsorted_segment_prod(data, segment_ids, num_segments)


def unsorted_segment_min(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int, name: str | None = None
) -> Array:
    """Find the minimum of the rows of each segment; the largest finite value for one without rows.

    See `unsorted_segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.math.unsorted_segment_min(np.array([3, 2, 4]), np.array([1, 1, -1]), 2)
    array([9223372036854775807,                   2])
    """
    return _unsorted_segment_min(data, segment_ids, num_segments)


def unsorted_segment_max(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int, name: str | None = None
) -> Array:
    """Find the maximum of the rows of each segment; the lowest finite value for one without rows.

    See `unsorted_segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.math.unsorted_segment_max(np.array([3, 2, 4]), np.array([1, 0, 1]), 2)
    array([2, 4])
    """
    return _unsorted_segment_max(data, segment_ids, num_segments)


def unsorted_segment_sqrt_n(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int, name: str | None = None
) -> Array:
    """Divide the sum of the rows of each segment by the square root of their number.

    Only of floats and complex numbers.

    See `unsorted_segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.math.unsorted_segment_sqrt_n(
    ...     np.array([1.0, 2.0, 2.0, 3.0]), np.array([0, 0, 0, 0]), 1
    ... )
    array([4.])
    """
    return _unsorted_segment_sqrt_n(data, segment_ids, num_segments)
