"""TensorFlow: scatters and gathers of ``tf``, ``tf.compat.v1`` and ``tf.math``.

They are ``tf.scatter_nd``, ``tf.tensor_scatter_nd_*``, ``tf.gather_nd``,
``tf.compat.v1.scatter_*``, and the segment reductions of ``tf.math``.

Functions raise

* TypeError for a dtype that does not fit,
* IndexError for an index out of range (TensorFlow's ``InvalidArgumentError``),
* ValueError for everything else: shapes, an unknown `bad_indices_policy`, a read-only `ref`, shared
  memory.

On an error, nothing has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._native.functions import like as _like
from .._strew import Operator as _Operator
from . import math as math
from ._updates import of_dtype as _of_dtype

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

    from .._native.types import Array, ArrayLike, Integers, Numbers

__all__ = [
    "gather_nd",
    "math",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd",
    "scatter_sub",
    "scatter_update",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
]

_gather_nd = _Operator("tensorflow.gather_nd")
_scatter_nd = _Operator("tensorflow.scatter_nd")
_scatter_update = _Operator("tensorflow.scatter_update")
_scatter_add = _Operator("tensorflow.scatter_add")
_tensor_scatter_nd_update = _Operator("tensorflow.tensor_scatter_nd_update")
_tensor_scatter_nd_add = _Operator("tensorflow.tensor_scatter_nd_add")


def scatter_nd(
    indices: Array | Numbers,
    updates: ArrayLike,
    shape: Integers,
    bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "DEFAULT",
    name: str | None = None,
) -> Array:
    """Add `updates` into a new array of zeros; updates of the same cell add up.

    Parameters
    ----------
    indices : array
        int16, int32 or int64. Its last axis holds index tuples of 1 to ``len(shape)`` entries, not
        negative. A tuple names a cell, or a window if it has fewer entries than `shape`.
    updates : array
        Windows, of shape ``indices.shape[:-1] + shape[indices.shape[-1]:]``; any dtype. The sum of
        bools is a logical or.
    shape : sequence of int
        The shape of the result.
    bad_indices_policy : {"", "DEFAULT", "ERROR", "IGNORE"}
        Whether an index out of range is an error, as on the CPU by default, or is skipped
        ("IGNORE").
    name : str, optional
        Accepted, without effect.

    Returns
    -------
    array
        Of `updates`' dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.scatter_nd(np.array([[1], [1]]), np.array([10, 20]), (3,))
    array([ 0, 30,  0])
    """
    return _scatter_nd(indices, updates, shape, bad_indices_policy)


def tensor_scatter_nd_update(
    tensor: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    name: str | None = None,
    bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "DEFAULT",
) -> Array:
    """Copy `tensor` and replace windows by `updates`; the last of several for a cell stays.

    Parameters
    ----------
    tensor : array
        One or more dimensions, any dtype; bool only for an update.
    indices : array
        int16, int32 or int64. Its last axis holds index tuples of 1 to ``tensor.ndim`` entries, not
        negative.
    updates : array
        Windows, of shape ``indices.shape[:-1] + tensor.shape[indices.shape[-1]:]`` and `tensor`'s
        dtype, which lists and numbers take.
    bad_indices_policy : {"", "DEFAULT", "ERROR", "IGNORE"}
        As for `scatter_nd`.
    name : str, optional
        Accepted, without effect.

    Returns
    -------
    array
        Of `tensor`'s shape and dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.tensor_scatter_nd_update(
    ...     np.array([1, 2, 3]), np.array([[2], [0]]), np.array([30, 10])
    ... )
    array([10,  2, 30])
    """
    return _tensor_scatter_nd_update(
        tensor, indices, _of_dtype(tensor, updates), bad_indices_policy
    )


def tensor_scatter_nd_add(
    tensor: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "DEFAULT",
    name: str | None = None,
) -> Array:
    """Copy `tensor` and add `updates` to windows; several for a cell add up.

    See `tensor_scatter_nd_update`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.tensor_scatter_nd_add(
    ...     np.array([1, 2, 3]), np.array([[2], [2]]), np.array([30, 10])
    ... )
    array([ 1,  2, 43])
    """
    return _tensor_scatter_nd_add(tensor, indices, _of_dtype(tensor, updates), bad_indices_policy)


def _copying(name: str) -> Callable[..., Any]:
    run = _Operator(f"tensorflow.{name}")

    def function(
        tensor: Any,
        indices: Any,
        updates: Any,
        bad_indices_policy: Any = "DEFAULT",
        name: Any = None,
    ) -> Any:
        return run(tensor, indices, _of_dtype(tensor, updates), bad_indices_policy)

    return function


_into_copy = _like(tensor_scatter_nd_add, _copying)


@_into_copy
def tensor_scatter_nd_sub() -> None:
    """Copy `tensor` and subtract `updates` from windows; several for a cell add up.

    See `tensor_scatter_nd_update`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.tensor_scatter_nd_sub(
    ...     np.array([1, 2, 3]), np.array([[2], [2]]), np.array([30, 10])
    ... )
    array([  1,   2, -37])
    """


@_into_copy
def tensor_scatter_nd_min() -> None:
    """Copy `tensor` and lower windows to `updates`.

    A NaN in `updates` loses against a number; a NaN in `tensor` stays.

    See `tensor_scatter_nd_update`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.tensor_scatter_nd_min(
    ...     np.array([1, 2, 3]), np.array([[2], [2]]), np.array([30, 10])
    ... )
    array([1, 2, 3])
    """


@_into_copy
def tensor_scatter_nd_max() -> None:
    """Copy `tensor` and raise windows to `updates`.

    A NaN in `updates` loses against a number; a NaN in `tensor` stays.

    See `tensor_scatter_nd_update`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.tensor_scatter_nd_max(
    ...     np.array([1, 2, 3]), np.array([[2], [2]]), np.array([30, 10])
    ... )
    array([ 1,  2, 30])
    """


def gather_nd(
    params: Array | Numbers,
    indices: ArrayLike,
    batch_dims: int = 0,
    name: str | None = None,
    bad_indices_policy: Literal["", "DEFAULT", "ERROR", "IGNORE"] = "DEFAULT",
) -> Array:
    """Pick the windows of `params` that tuples along the last axis of `indices` name.

    Tuples have at most as many entries as `params` has axes from `batch_dims` on, not negative. The
    result has the shape ``indices.shape[:-1] + params.shape[batch_dims + indices.shape[-1]:]``;
    it is 0 where an index is skipped.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.gather_nd(np.array([[1, 2], [3, 4]]), np.array([[1, 0]]))
    array([3])
    """
    return _gather_nd(params, indices, batch_dims, bad_indices_policy)


def scatter_update(
    ref: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    use_locking: bool = True,
    name: str | None = None,
) -> Array:
    """Replace rows of `ref` by rows of `updates`, in place; the last of several for a row stays.

    Parameters
    ----------
    ref : array
        What to change: one or more dimensions, any dtype; bool only for an update.
    indices : array
        Row numbers: int16, int32 or int64, any shape, in ``0 .. ref.shape[0] - 1``.
    updates : array
        Rows, of shape ``indices.shape + ref.shape[1:]`` and `ref`'s dtype, which lists and numbers
        take; or 0-d, for all rows.
    use_locking, name
        Accepted, without effect.

    Returns
    -------
    array
        `ref` itself.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.scatter_update(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, 100]))
    array([100,   2,   3])
    """
    return _scatter_update(ref, indices, _of_dtype(ref, updates))


def scatter_add(
    ref: Array,
    indices: ArrayLike,
    updates: ArrayLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Array:
    """Add rows of `updates` to rows of `ref`, in place.

    See `scatter_update`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.scatter_add(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, 100]))
    array([111,   2,   3])
    """
    return _scatter_add(ref, indices, _of_dtype(ref, updates))


def _changing(name: str) -> Callable[..., Any]:
    run = _Operator(f"tensorflow.{name}")

    def function(
        ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None
    ) -> Any:
        return run(ref, indices, _of_dtype(ref, updates))

    return function


_in_place = _like(scatter_add, _changing)


@_in_place
def scatter_sub() -> None:
    """Subtract rows of `updates` from rows of `ref`, in place.

    See `scatter_update`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.scatter_sub(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, 100]))
    array([-109,    2,    3])
    """


@_in_place
def scatter_mul() -> None:
    """Multiply rows of `ref` by rows of `updates`, in place.

    See `scatter_update`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.scatter_mul(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, 100]))
    array([1000,    2,    3])
    """


@_in_place
def scatter_div() -> None:
    """Divide rows of `ref` by rows of `updates`, in place; integers are rounded toward zero.

    A zero among integer `updates` is a ValueError. See `scatter_update`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.scatter_div(np.array([-7, 2]), np.array([0]), np.array([2]))
    array([-3,  2])
    """


@_in_place
def scatter_min() -> None:
    """Lower rows of `ref` to rows of `updates`, in place.

    A NaN in `updates` loses against a number; a NaN in `ref` stays. See `scatter_update`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.scatter_min(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, 100]))
    array([1, 2, 3])
    """


@_in_place
def scatter_max() -> None:
    """Raise rows of `ref` to rows of `updates`, in place.

    A NaN in `updates` loses against a number; a NaN in `ref` stays. See `scatter_update`.

    >>> import numpy as np
    >>> import strew
    >>> strew.tensorflow.scatter_max(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, 100]))
    array([100,   2,   3])
    """
