"""StableHLO: ``stablehlo.scatter`` in full generality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._arrays.dispatch import jax_operators as _jax_operators
from ._native import errors as _errors
from ._strew import Operator as _Operator

if TYPE_CHECKING:
    from typing import Any, Literal

    from ._native.types import Array, ArrayLike, Integers, Numbers

__all__ = ["scatter"]

_scatter = _Operator("stablehlo.scatter")


def _ndim(given: Any) -> int:
    """The number of dimensions of an array; 0 for what is none."""
    return len(getattr(given, "shape", ()))


def scatter(
    operand: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    update_window_dims: Integers = (),
    inserted_window_dims: Integers = (),
    input_batching_dims: Integers = (),
    scatter_indices_batching_dims: Integers = (),
    scatter_dims_to_operand_dims: Integers = (),
    index_vector_dim: int,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    region: Literal["set", "add", "mul", "max", "min"] = "set",
    out_of_bounds: Literal["window", "element"] = "window",
) -> Array:
    """Copy `operand` and combine windows of `updates` with the windows that index vectors name.

    The variadic form of StableHLO, with several operands, is not there.

    Parameters
    ----------
    operand : array
        Any shape and dtype.
    indices : array
        Where windows begin (``scatter_indices``): any integer dtype.
    updates : array
        The windows: `operand`'s dtype.
    update_window_dims : sequence of int
        The window axes of `updates`, ascending. Its other axes are those of `indices`, in order,
        without `index_vector_dim`.
    inserted_window_dims : sequence of int
        The axes of `operand` that windows do not have, ascending.
    input_batching_dims, scatter_indices_batching_dims : sequence of int
        Batch axes: axes of `operand`, ascending, and the corresponding ones of `indices`.
    scatter_dims_to_operand_dims : sequence of int
        The axis of `operand` that each entry of an index vector points along.
    index_vector_dim : int
        The axis of `indices` that holds the index vectors. If it is `indices`' rank, each number is
        a vector of one entry.
    indices_are_sorted, unique_indices : bool
        Accepted, without effect.
    region : {"set", "add", "mul", "max", "min"}
        How an update is combined with an element, in row-major order of the updates. "set" replaces
        it, and the last update stays. A maximum or minimum with NaN is NaN.
    out_of_bounds : {"window", "element"}
        What is skipped of a window that is partly outside: the whole window, as in XLA, or only its
        elements outside, as in the specification.

    Returns
    -------
    array
        Of `operand`'s shape and dtype.

    Raises
    ------
    TypeError
        If a dtype does not fit.
    ValueError
        If dimension numbers or shapes do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> import strew
    >>> operand, updates = np.array([[1, 2], [3, 4]]), np.array([[10, 20], [30, 40]])
    >>> strew.stablehlo.scatter(
    ...     operand,
    ...     np.array([1, 7]),
    ...     updates,
    ...     update_window_dims=[1],
    ...     inserted_window_dims=[0],
    ...     scatter_dims_to_operand_dims=[0],
    ...     index_vector_dim=1,
    ...     region="add",
    ... )
    array([[ 1,  2],
           [13, 24]])
    """
    for argument, given in (("operand", operand), ("updates", updates)):
        if isinstance(given, (list, tuple)) and any(_ndim(one) > 0 for one in given):
            raise _errors.Problem(TypeError, "stablehlo.scatter", argument).saying(
                f"{argument} is a {type(given).__name__} of arrays: the variadic form, with "
                "several operands and a region of its own, is not supported; call scatter for "
                "each operand"
            )
    numbers = (
        update_window_dims,
        inserted_window_dims,
        input_batching_dims,
        scatter_indices_batching_dims,
        scatter_dims_to_operand_dims,
        index_vector_dim,
    )
    rest = (indices_are_sorted, unique_indices, region, out_of_bounds)
    traced = _jax_operators(operand, indices, updates)
    if traced is not None:
        return traced.stablehlo.scattered(_scatter, operand, indices, updates, numbers, rest)
    return _scatter(operand, indices, updates, *numbers, *rest)
