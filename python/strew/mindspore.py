"""MindSpore: operators of ``mindspore.ops``.

``scatter_*`` and ``scatter_nd_*`` change `input_x` in place and return it; ``tensor_scatter_*``
return a new array. Parameters and exceptions of ``scatter_*`` are those of `scatter_mul`; of the
others, those of `scatter_nd_add`. On an error, nothing has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._native.functions import like as _like
from ._strew import Operator as _Operator

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, TypeAlias

    from ._native.types import Array, ArrayLike, Integers, Numbers

    # Whose rule applies to an index out of range.
    _Device: TypeAlias = Literal["cpu", "gpu"]

__all__ = [
    "scatter",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd",
    "scatter_nd_add",
    "scatter_nd_div",
    "scatter_nd_max",
    "scatter_nd_min",
    "scatter_nd_mul",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
    "tensor_scatter_add",
    "tensor_scatter_div",
    "tensor_scatter_elements",
    "tensor_scatter_max",
    "tensor_scatter_min",
    "tensor_scatter_mul",
    "tensor_scatter_sub",
    "tensor_scatter_update",
]

_scatter_mul = _Operator("mindspore.scatter_mul")
_scatter_nd = _Operator("mindspore.scatter_nd")
_tensor_scatter_add = _Operator("mindspore.tensor_scatter_add")
_tensor_scatter_elements = _Operator("mindspore.tensor_scatter_elements")
_scatter = _Operator("mindspore.scatter")


def scatter_mul(
    input_x: Array, indices: ArrayLike, updates: ArrayLike, *, device: _Device = "cpu"
) -> Array:
    """Multiply rows of `input_x`, in place, by the rows of `updates` that `indices` sends there.

    For each ``i, .., j`` of `indices` in row-major order, so a row that is named twice gets both
    factors: ``input_x[indices[i, .., j], ...] *= updates[i, .., j, ...]``.

    Parameters
    ----------
    input_x : array
        What to change: one or more dimensions, any integer or floating-point dtype, any strides.
    indices : array
        Row numbers: int32 or int64, any shape, in ``0 .. input_x.shape[0] - 1``.
    updates : array
        The factors, of shape ``indices.shape + input_x.shape[1:]``. A dtype of lower priority is
        promoted to `input_x`'s; `input_x` is never converted.
    device : {"cpu", "gpu"}
        Whose rule applies to an index out of range: on the CPU it is an error, on the GPU its
        update is skipped.

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
        If an index is out of range, or memory is shared. `input_x` is then unchanged.

    Notes
    -----
    Integers wrap. 16-bit floats accumulate in float32 and are rounded once.

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
    return _scatter_mul(input_x, indices, updates, device)


def _member(name: str) -> Callable[..., Any]:
    run = _Operator(f"mindspore.{name}")

    def function(input_x: Any, indices: Any, updates: Any, *, device: Any = "cpu") -> Any:
        return run(input_x, indices, updates, device)

    return function


_in_place = _like(scatter_mul, _member)


@_in_place
def scatter_add() -> None:
    """Add to rows of `input_x`, in place, the rows of `updates` that `indices` sends there.

    See `scatter_mul`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_add(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, 100]))
    array([111,   2,   3])
    """


@_in_place
def scatter_sub() -> None:
    """Subtract from rows of `input_x`, in place, the rows of `updates` that `indices` sends there.

    See `scatter_mul`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_sub(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, 100]))
    array([-109,    2,    3])
    """


@_in_place
def scatter_div() -> None:
    """Divide rows of `input_x`, in place, by the rows of `updates` that `indices` sends there.

    Integers are rounded toward zero. A zero in `updates`, of floats too, is a ValueError.

    See `scatter_mul`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_div(np.array([7, -7, 3]), np.array([0, 1]), np.array([2, 2]))
    array([ 3, -3,  3])
    """


@_in_place
def scatter_max() -> None:
    """Raise rows of `input_x`, in place, to the rows of `updates` that `indices` sends there.

    A NaN on either side is the result.

    See `scatter_mul`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_max(np.array([1, 2, 3]), np.array([0, 1, 0]), np.array([5, 1, 4]))
    array([5, 2, 3])
    """


@_in_place
def scatter_min() -> None:
    """Lower rows of `input_x`, in place, to the rows of `updates` that `indices` sends there.

    A NaN on either side is the result.

    See `scatter_mul`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_min(np.array([1, 2, 3]), np.array([0, 1, 0]), np.array([5, 1, 0]))
    array([0, 1, 3])
    """


@_in_place
def scatter_update() -> None:
    """Replace rows of `input_x`, in place, by the rows of `updates` that `indices` sends there.

    The last of several updates of a row stays.

    See `scatter_mul`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_update(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, 100]))
    array([100,   2,   3])
    """


def scatter_nd(
    indices: Array | Numbers, updates: ArrayLike, shape: Integers, *, device: _Device = "cpu"
) -> Array:
    """Add `updates` into a new array of zeros; updates of the same cell add up.

    Parameters
    ----------
    indices : array
        int32 or int64, two or more dimensions. Its last axis holds index tuples. A tuple names a
        cell, or a window if it has fewer entries than `shape`.
    updates : array
        Windows, of shape ``indices.shape[:-1] + shape[indices.shape[-1]:]``; any dtype.
    shape : sequence of int
        The shape of the result.
    device : {"cpu", "gpu"}
        Whose rule applies to an index out of range: on the CPU it is an error, on the GPU its
        update is skipped.

    Returns
    -------
    array
        Of `updates`' dtype.

    Raises
    ------
    TypeError
        If `indices` has another dtype.
    ValueError
        If a shape does not fit.
    RuntimeError
        If an index is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_nd(
    ...     np.array([[0, 1], [1, 1], [0, 1]]), np.array([3.0, 1.0, 5.0]), (2, 2)
    ... )
    array([[0., 8.],
           [0., 1.]])
    """
    return _scatter_nd(indices, updates, shape, device)


@_in_place
def scatter_nd_add() -> None:
    """Add `updates` to windows of `input_x`, in place, by index tuples along the last axis.

    Parameters
    ----------
    input_x : array
        What to change: one or more dimensions, any integer or floating-point dtype, any strides.
    indices : array
        int32 or int64, two or more dimensions. Its last axis holds index tuples for the first axes
        of `input_x`; the remaining axes are the window.
    updates : array
        Windows, of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``, of `input_x`'s
        dtype or one that is promoted to it, as for `scatter_mul`.
    device : {"cpu", "gpu"}
        Whose rule applies to an index out of range: on the CPU it is an error, on the GPU its
        update is skipped.

    Returns
    -------
    array
        `input_x` itself.

    Raises
    ------
    TypeError, strew.ConversionError, ValueError, RuntimeError
        As `scatter_mul`. `input_x` is then unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_nd_add(
    ...     np.array([1, 2, 3]), np.array([[2], [0], [2]]), np.array([30, 20, 10])
    ... )
    array([21,  2, 43])
    """


@_in_place
def scatter_nd_sub() -> None:
    """Subtract `updates` from windows of `input_x`, in place, by index tuples along the last axis.

    See `scatter_nd_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_nd_sub(np.array([8, 2]), np.array([[0], [0]]), np.array([2, 3]))
    array([3, 2])
    """


@_in_place
def scatter_nd_mul() -> None:
    """Multiply windows of `input_x` by `updates`, in place, by index tuples along the last axis.

    See `scatter_nd_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_nd_mul(np.array([8, 2]), np.array([[0], [0]]), np.array([2, 3]))
    array([48,  2])
    """


@_in_place
def scatter_nd_div() -> None:
    """Divide windows of `input_x` by `updates`, in place, by index tuples along the last axis.

    Integers are rounded toward zero; a zero among integer `updates` is a ValueError.

    See `scatter_nd_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_nd_div(np.array([8, 2]), np.array([[0], [0]]), np.array([2, 3]))
    array([1, 2])
    """


@_in_place
def scatter_nd_max() -> None:
    """Raise windows of `input_x` to `updates`, in place, by index tuples along the last axis.

    A NaN on either side is the result.

    See `scatter_nd_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_nd_max(np.array([8, 2]), np.array([[0], [0]]), np.array([2, 3]))
    array([8, 2])
    """


@_in_place
def scatter_nd_min() -> None:
    """Lower windows of `input_x` to `updates`, in place, by index tuples along the last axis.

    A NaN on either side is the result.

    See `scatter_nd_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_nd_min(np.array([8, 2]), np.array([[0], [0]]), np.array([2, 3]))
    array([2, 2])
    """


@_in_place
def scatter_nd_update() -> None:
    """Replace windows of `input_x` by `updates`, in place, by index tuples along the last axis.

    The last of several updates of a cell stays.

    See `scatter_nd_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter_nd_update(np.array([8, 2]), np.array([[0], [0]]), np.array([2, 3]))
    array([3, 2])
    """


def tensor_scatter_add(
    input_x: Array | Numbers, indices: ArrayLike, updates: ArrayLike, *, device: _Device = "cpu"
) -> Array:
    """Copy `input_x`, with `updates` added, by index tuples along the last axis.

    `updates` has `input_x`'s dtype, which may be any; everything else is as for `scatter_nd_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.tensor_scatter_add(
    ...     np.array([1, 2, 3]), np.array([[2], [0]]), np.array([30, 20])
    ... )
    array([21,  2, 33])
    """
    return _tensor_scatter_add(input_x, indices, updates, device)


_into_copy = _like(tensor_scatter_add, _member)


@_into_copy
def tensor_scatter_sub() -> None:
    """Copy `input_x`, with `updates` subtracted, by index tuples along the last axis.

    See `tensor_scatter_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.tensor_scatter_sub(np.array([8, 2]), np.array([[0], [0]]), np.array([2, 3]))
    array([3, 2])
    """


@_into_copy
def tensor_scatter_mul() -> None:
    """Copy `input_x`, multiplied by `updates`, by index tuples along the last axis.

    See `tensor_scatter_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.tensor_scatter_mul(np.array([8, 2]), np.array([[0], [0]]), np.array([2, 3]))
    array([48,  2])
    """


@_into_copy
def tensor_scatter_div() -> None:
    """Copy `input_x`, divided by `updates`, by index tuples along the last axis.

    Integers are rounded toward zero; a zero among integer `updates` is a ValueError.

    See `tensor_scatter_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.tensor_scatter_div(np.array([8, 2]), np.array([[0], [0]]), np.array([2, 3]))
    array([1, 2])
    """


@_into_copy
def tensor_scatter_max() -> None:
    """Copy `input_x`, raised to `updates`, by index tuples along the last axis.

    A NaN on either side is the result.

    See `tensor_scatter_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.tensor_scatter_max(np.array([8, 2]), np.array([[0], [0]]), np.array([2, 3]))
    array([8, 2])
    """


@_into_copy
def tensor_scatter_min() -> None:
    """Copy `input_x`, lowered to `updates`, by index tuples along the last axis.

    A NaN on either side is the result.

    See `tensor_scatter_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.tensor_scatter_min(np.array([8, 2]), np.array([[0], [0]]), np.array([2, 3]))
    array([2, 2])
    """


@_into_copy
def tensor_scatter_update() -> None:
    """Copy `input_x`, with cells replaced by `updates`, by index tuples along the last axis.

    The last of several updates of a cell stays.

    See `tensor_scatter_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.tensor_scatter_update(
    ...     np.array([8, 2]), np.array([[0], [0]]), np.array([2, 3])
    ... )
    array([3, 2])
    """


def tensor_scatter_elements(
    input_x: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    axis: int = 0,
    reduction: Literal["none", "add"] = "none",
) -> Array:
    """Copy `input_x` and write or add `updates` to the cells that `indices` name along `axis`.

    Parameters
    ----------
    input_x : array
        One or more dimensions, any dtype.
    indices : array
        int32 or int64, of `input_x`'s rank, no larger than it apart from `axis`. Negative ones
        count from the end; updates whose index is out of range are skipped.
    updates : array
        Of `indices`' shape and `input_x`'s dtype.
    axis : int, default 0
        Negative from the end.
    reduction : {"none", "add"}
        Whether updates replace their cells, where the last one stays, or are added to them.

    Returns
    -------
    array
        Of `input_x`'s shape and dtype.

    Raises
    ------
    TypeError
        If `indices` or `updates` has another dtype.
    ValueError
        If a shape, `axis` or `reduction` is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> x, updates = np.array([[1, 2], [3, 4]]), np.array([[10, 20], [30, 40]])
    >>> strew.mindspore.tensor_scatter_elements(x, np.array([[1, 0], [1, 7]]), updates, 0, "add")
    array([[ 1, 22],
           [43,  4]])
    """
    return _tensor_scatter_elements(input_x, indices, updates, axis, reduction)


def scatter(input: Array | Numbers, axis: int, index: ArrayLike, src: ArrayLike) -> Array:
    """Copy `input` and write elements of `src` into the cells that `index` names along `axis`.

    See `tensor_scatter_elements`.

    >>> import numpy as np
    >>> import strew
    >>> strew.mindspore.scatter(np.array([1, 2, 3]), 0, np.array([-1, 5]), np.array([10, 20]))
    array([ 1,  2, 10])
    """
    return _scatter(input, axis, index, src)
