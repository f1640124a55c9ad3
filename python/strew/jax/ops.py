"""``jax.ops``: reductions of segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._dispatch import jax_operators as _jax_operators
from .._strew import Operator as _Operator

if TYPE_CHECKING:
    from typing import Any

    from .._types import Array, ArrayLike, Numbers

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]

_segment_sum = _Operator("jax.ops.segment_sum")
_segment_prod = _Operator("jax.ops.segment_prod")
_segment_min = _Operator("jax.ops.segment_min")
_segment_max = _Operator("jax.ops.segment_max")


def segment_sum(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int | None = None
) -> Array:
    """Sum the rows of each segment.

    Parameters
    ----------
    data : array
        The rows: one or more dimensions, any dtype. 16-bit floats accumulate in float32; integers
        wrap.
    segment_ids : array
        The segment of each row: 1-d, any integer dtype. Rows whose number is negative or not below
        `num_segments` are skipped.
    num_segments : int, optional
        The number of segments; by default one more than the largest number.

    Returns
    -------
    array
        Of `data`'s dtype and shape, but `num_segments` rows. Segments without rows are 0.

    Raises
    ------
    TypeError
        If `segment_ids` has another dtype.
    ValueError
        If a shape or `num_segments` does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.jax.ops.segment_sum(np.array([1, 2, 4]), np.array([2, -1, 2]))
    array([0, 0, 5])
    """
    return _reduced(_segment_sum, data, segment_ids, num_segments)


def segment_prod(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int | None = None
) -> Array:
    """Multiply the rows of each segment; those without rows are 1.

    See `segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.ops.segment_prod(np.array([1, 2, 4]), np.array([0, 0, 2]))
    array([2, 1, 4])
    """
    return _reduced(_segment_prod, data, segment_ids, num_segments)


def segment_min(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int | None = None
) -> Array:
    """Find the minimum of the rows of each segment.

    It is infinity or the largest integer without rows, and NaN if a row has NaN.

    See `segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.ops.segment_min(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]))
    array([ 1., inf,  4.])
    """
    return _reduced(_segment_min, data, segment_ids, num_segments)


def segment_max(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int | None = None
) -> Array:
    """Find the maximum of the rows of each segment.

    It is minus infinity or the lowest integer without rows, and NaN if a row has NaN.

    See `segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.ops.segment_max(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]))
    array([  2., -inf,   4.])
    """
    return _reduced(_segment_max, data, segment_ids, num_segments)


def _reduced(operator: _Operator, data: Any, segment_ids: Any, num_segments: int | None) -> Any:
    traced = _jax_operators(data, segment_ids)
    if traced is not None:
        return traced.segments.reduced(operator, data, segment_ids, num_segments)
    return operator(data, segment_ids, num_segments)
