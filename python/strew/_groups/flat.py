"""``dim=None``: all axes at once, as in NumPy. The arrays become 1-d, in row-major order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._native import dtypes, errors
from .._strew import Plan
from . import keys


def values(src: Any) -> tuple[Any, tuple[int, ...]]:
    """The elements as a 1-d array of the same library, and the shape that they had."""
    array = src if hasattr(src, "reshape") else dtypes.as_array(src)
    return array.reshape(-1), tuple(array.shape)


def index(operator: str, given: Any, shape: tuple[int, ...]) -> Any:
    """The number of each element in row-major order: of `src`'s shape, or 1-d for its elements."""
    if given is None or isinstance(given, Plan):
        return given
    if keys.several(given):
        return tuple(_one(operator, f"index[{at}]", key, shape) for at, key in enumerate(given))
    return _one(operator, "index", given, shape)


def weights(operator: str, given: Any, shape: tuple[int, ...]) -> Any:
    """The weight of each element in row-major order."""
    return None if given is None else _one(operator, "weights", given, shape)


def _one(operator: str, name: str, given: Any, shape: tuple[int, ...]) -> Any:
    array = given if hasattr(given, "reshape") else dtypes.as_array(given)
    if tuple(array.shape) in (shape, (math.prod(shape),)):
        return array.reshape(-1)
    try:
        return np.broadcast_to(dtypes.as_array(array), shape).reshape(-1)
    except ValueError:
        raise errors.Problem(ValueError, operator, "dim").saying(
            f"dim = None: {name} has shape {list(array.shape)}",
            f"it must broadcast to src's shape {list(shape)}, or have one dimension of "
            f"{math.prod(shape)} elements",
        ) from None
