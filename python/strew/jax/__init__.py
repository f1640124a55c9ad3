"""JAX: ``x.at[indices]`` as functions, and `jax.ops`.

`indices` is all that ``x.at[...]`` takes: an integer array or a mask, a slice, ``...``, None for a
new axis, a bool, or a tuple of these. A list of numbers is an array, and a list of arrays and
slices is a tuple. Functions raise

* TypeError for a dtype that does not fit, also for updates that `x`'s dtype cannot represent (where
  JAX only warns),
* ValueError for everything else.

All functions also work while JAX traces them: in `jax.jit`, `grad`, `jvp`, `vmap`, `scan`, `remat`
and `shard_map`. An index out of range with ``mode="error"`` is an error of XLA's then, and ends the
process if other shards wait for the one that has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._arrays.dispatch import of_jax as _of_jax
from .._native.functions import like as _like
from .._strew import Operator as _Operator
from . import ops as ops
from ._index import applied as _applied
from ._index import powers as _powers
from ._index import taken as _taken
from ._index import updated as _updated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import EllipsisType
    from typing import Any, Literal, TypeAlias

    from .._native.types import Array, ArrayLike, Numbers

    _One: TypeAlias = ArrayLike | slice | EllipsisType | None
    _Index: TypeAlias = _One | Sequence[_One]
    # A word, or a `jax.lax.GatherScatterMode`.
    _Mode: TypeAlias = Literal["drop", "fill", "clip", "promise_in_bounds", "error"] | Any

__all__ = [
    "at_add",
    "at_apply",
    "at_divide",
    "at_get",
    "at_max",
    "at_min",
    "at_multiply",
    "at_power",
    "at_set",
    "at_subtract",
    "ffi_targets",
    "ops",
]

_at_set = _Operator("jax.at_set")
_at_add = _Operator("jax.at_add")
_at_multiply = _Operator("jax.at_multiply")
_at_get = _Operator("jax.at_get")


def at_set(
    x: Array | Numbers,
    indices: _Index,
    y: ArrayLike,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: _Mode | None = None,
    wrap_negative_indices: bool = True,
) -> Array:
    """Copy `x` and replace the indexed elements: ``x.at[indices].set(y)``.

    Parameters
    ----------
    x : array
        Any shape and dtype.
    indices : array, slice, None, bool or ..., or a tuple of these
        As in ``x.at[...]``. Integers of any dtype, broadcast together, or masks. Negative indices
        count from the end, once.
    y : array
        The updates, broadcast to the selection. The last of several for an element stays. A Python
        number takes `x`'s dtype, if that is of its kind or of a later one: bool, integer, float,
        complex. An integer that does not fit wraps, as in JAX.
    indices_are_sorted, unique_indices : bool
        Accepted, without effect.
    mode : {"drop", "fill", "clip", "promise_in_bounds", "error"}, optional
        Whether an index out of range is skipped, as by default, replaced by the nearest ("clip"),
        or a ValueError ("error", which JAX does not have). Also a `jax.lax.GatherScatterMode`.
    wrap_negative_indices : bool
        Whether negative indices of arrays and numbers count from the end. If not, they are out of
        range.

    Returns
    -------
    array
        Of `x`'s shape and dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> strew.jax.at_set(np.array([1, 2, 3]), np.array([-1, 5]), np.array([10, 20]))
    array([ 1,  2, 10])
    >>> strew.jax.at_set(np.zeros((2, 2)), (slice(None), 1), 7.0)
    array([[0., 7.],
           [0., 7.]])
    >>> strew.jax.at_set(np.zeros((2, 3)), (slice(1, None), [0, 2]), 7.0)
    array([[0., 0., 0.],
           [7., 0., 7.]])
    """
    return _updated(_at_set, x, indices, y, mode, wrap_negative_indices)


def _updating(name: str) -> Callable[..., Any]:
    operator = _Operator(f"jax.{name}")

    def function(
        x: Any,
        indices: Any,
        y: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        return _updated(operator, x, indices, y, mode, wrap_negative_indices)

    return function


_at = _like(at_set, _updating)


@_at
def at_add() -> None:
    """Copy `x` and add to the indexed elements: ``x.at[indices].add(y)``.

    Several updates of an element add up. See `at_set`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.at_add(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, 20]))
    array([31,  2,  3])
    """


@_at
def at_subtract() -> None:
    """Copy `x` and subtract from the indexed elements: ``x.at[indices].subtract(y)``; see `at_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.at_subtract(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, 20]))
    array([-29,   2,   3])
    """


@_at
def at_multiply() -> None:
    """Copy `x` and multiply the indexed elements: ``x.at[indices].multiply(y)``; see `at_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.at_multiply(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, 20]))
    array([200,   2,   3])
    """


def at_power(
    x: Array | Numbers,
    indices: _Index,
    y: ArrayLike,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: _Mode | None = None,
    wrap_negative_indices: bool = True,
) -> Array:
    """Copy `x` and raise the indexed elements to a power: ``x.at[indices].power(y)``.

    The exponents of several updates of an element are multiplied in their order, in `x`'s dtype,
    and the element is raised to their product once, as in JAX. Integers wrap; a negative power of
    an integer is a ValueError, and bools are a TypeError. See `at_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.at_power(np.array([2, 3, 4]), np.array([0, 0, 1]), np.array([2, 3, 2]))
    array([64,  9,  4])
    """
    return _powers(_at_multiply, _at_set, x, indices, y, mode, wrap_negative_indices)


@_at
def at_divide() -> None:
    """Copy `x` and divide the indexed elements: ``x.at[indices].divide(y)``.

    Not for integers. See `at_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.at_divide(np.array([8.0, 2.0]), np.array([0, 0]), np.array([2.0, 2.0]))
    array([2., 2.])
    """


@_at
def at_min() -> None:
    """Copy `x` and take the minimum with the indexed elements: ``x.at[indices].min(y)``.

    A minimum with NaN is NaN. See `at_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.at_min(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, -20]))
    array([-20,   2,   3])
    """


@_at
def at_max() -> None:
    """Copy `x` and take the maximum with the indexed elements: ``x.at[indices].max(y)``.

    A maximum with NaN is NaN. See `at_add`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.at_max(np.array([1, 2, 3]), np.array([0, 0]), np.array([10, -20]))
    array([10,  2,  3])
    """


def at_apply(
    x: Array | Numbers,
    indices: _Index,
    func: Callable[[Any], Any],
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: _Mode | None = None,
    wrap_negative_indices: bool = True,
) -> Array:
    """Copy `x` and apply a function to the indexed elements: ``x.at[indices].apply(func)``.

    `func` takes an array of elements, of `x`'s library, and returns one of the same shape. It is
    applied to an element as often as that is indexed. The result is converted to `x`'s dtype.
    Inside `jax.jit` this is JAX's own function. See `at_set`.

    >>> import numpy as np
    >>> import strew
    >>> strew.jax.at_apply(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2]), lambda v: 10 * v)
    array([ 10.,   2., 300.])
    """
    return _applied(_at_add, _at_get, x, indices, func, mode, wrap_negative_indices)


def at_get(
    x: Array | Numbers,
    indices: _Index,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: _Mode | None = None,
    fill_value: complex | None = None,
    wrap_negative_indices: bool = True,
) -> Array:
    """Pick the indexed elements: ``x.at[indices].get(mode=mode, fill_value=fill_value)``.

    An index out of range gives the nearest element by default and with "clip", and `fill_value`
    with "fill" or "drop": by default NaN, the lowest number of a signed and the highest of an
    unsigned dtype, or True. With "error" it is a ValueError.

    >>> import numpy as np
    >>> import strew
    >>> x, places = np.array([1.0, 2.0]), np.array([0, 20])
    >>> strew.jax.at_get(x, places)
    array([1., 2.])
    >>> strew.jax.at_get(x, places, mode="fill", fill_value=-1)
    array([ 1., -1.])
    """
    return _taken(_at_get, x, indices, mode, fill_value, wrap_negative_indices)


def ffi_targets() -> tuple[str, ...]:
    """Register strew's foreign functions with XLA, and return their names.

    `jax.export` must be told to allow these names. A process that loads an exported program must
    register them first. They contain strew's version: an exported program runs with the version
    that it was made with. Needs jax.

    >>> import strew
    >>> names = strew.jax.ffi_targets()  # doctest: +SKIP
    >>> [name.replace(strew.__version__, "VERSION") for name in names]  # doctest: +SKIP
    ['strew_VERSION_scatter', 'strew_VERSION_gather']
    """
    return _of_jax().lowering.targets()
