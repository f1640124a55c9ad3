"""Masked arrays: NumPy converts them without their mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import errors


def refuse(operator: str, name: str, given: Any) -> None:
    """Raises a TypeError for a masked array, with the words of the engine."""
    if isinstance(given, np.ma.MaskedArray):
        raise errors.Problem(TypeError, operator, name).saying(
            f"{name} must be an array without a mask (pass array.filled(..) or array.data), "
            "not a masked array"
        )
