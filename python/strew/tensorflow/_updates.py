"""Updates without a dtype of their own: TensorFlow gives them that of the tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.dtypes import cast, is_whole, name_of, rank


def of_dtype(tensor: Any, updates: Any) -> Any:
    """A list or a number in the dtype of `tensor`; all other updates as they are.

    Integers also become floats and complex numbers, and floats complex numbers. Integers that do
    not fit stay as they are, and the operator refuses them.
    """
    if not isinstance(updates, (list, tuple, bool, int, float, complex)):
        return updates
    values, name = np.asarray(updates), name_of(tensor)
    own = name_of(values)
    if values.size:
        if not 0 <= rank(own) <= rank(name) or (own == "bool") != (name == "bool"):
            return updates
        if own != "bool" and is_whole(name):
            limits = np.iinfo(name)
            if values.min() < limits.min or values.max() > limits.max:
                return updates
    elif rank(name) < 0:
        return updates
    with np.errstate(over="ignore"):
        return cast(values, name)
