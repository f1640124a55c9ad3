"""``jax.ops``: reductions of segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as _np

from .._arrays.dispatch import jax_operators as _jax_operators
from .._native import errors as _errors
from .._native.functions import like as _like
from .._strew import Operator as _Operator
from ._index import word_of as _word_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, TypeAlias

    from .._native.types import Array, ArrayLike, Numbers

    # A word, or a `jax.lax.GatherScatterMode`.
    _Mode: TypeAlias = Literal["drop", "fill", "clip", "promise_in_bounds"] | Any

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]

_segment_sum = _Operator("jax.ops.segment_sum")


def segment_sum(
    data: Array | Numbers,
    segment_ids: ArrayLike,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: _Mode | None = None,
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
    indices_are_sorted, unique_indices : bool
        Accepted, without effect.
    bucket_size : int, optional
        Accepted, without effect: the rows of a segment are always reduced in their order.
    mode : {"drop", "fill", "clip", "promise_in_bounds"}, optional
        "clip": rows whose number is out of range belong to the nearest segment, in place of being
        skipped. Also a `jax.lax.GatherScatterMode`.

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
    return _reduced(_segment_sum, data, segment_ids, num_segments, mode)


def _reduction(name: str) -> Callable[..., Any]:
    operator = _Operator(f"jax.ops.{name}")

    def function(
        data: Any,
        segment_ids: Any,
        num_segments: Any = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        bucket_size: Any = None,
        mode: Any = None,
    ) -> Any:
        return _reduced(operator, data, segment_ids, num_segments, mode)

    return function


_segment = _like(segment_sum, _reduction)


@_segment
def segment_prod() -> None:
    """Multiply the rows of each segment; those without rows are 1.

    See `segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.ops.segment_prod(np.array([1, 2, 4]), np.array([0, 0, 2]))
    array([2, 1, 4])
    """


@_segment
def segment_min() -> None:
    """Find the minimum of the rows of each segment.

    It is infinity or the largest integer without rows, and NaN if a row has NaN.

    See `segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.ops.segment_min(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]))
    array([ 1., inf,  4.])
    """


@_segment
def segment_max() -> None:
    """Find the maximum of the rows of each segment.

    It is minus infinity or the lowest integer without rows, and NaN if a row has NaN.

    See `segment_sum`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.ops.segment_max(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]))
    array([  2., -inf,   4.])
    """


def _reduced(
    operator: _Operator, data: Any, segment_ids: Any, num_segments: int | None, mode: Any
) -> Any:
    clips = _clips(operator, mode)
    traced = _jax_operators(data, segment_ids)
    if traced is not None:
        return traced.segments.reduced(operator, data, segment_ids, num_segments, clips)
    if clips:
        ids = _np.asarray(segment_ids)
        if ids.dtype.kind in "iu":
            last = ids.max(initial=0) if num_segments is None else num_segments - 1
            wide = _np.uint64 if ids.dtype.kind == "u" else _np.int64
            segment_ids = ids if last < 0 else ids.astype(wide).clip(0, last).astype(_np.int64)
    return operator(data, segment_ids, num_segments)


def _clips(operator: _Operator, mode: Any) -> bool:
    """Whether a mode replaces numbers out of range by the nearest."""
    word = _word_of(mode)
    if word not in (None, "drop", "fill", "clip", "promise_in_bounds"):
        raise _errors.Problem(ValueError, operator.name, "mode", mode).expecting(
            "it must be drop, fill, clip or promise_in_bounds"
        )
    return bool(word == "clip")
