"""Updates without a dtype of their own, which JAX calls weakly typed."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .._native.dtypes import cast, name_of, rank


def with_dtype_of(x: Any, y: Any) -> Any:
    """`y` with `x`'s dtype if `y` is a Python number, or an array whose dtype JAX calls weak.

    A bool, integer, float or complex number takes a dtype of its own kind or of a later one. As in
    JAX, an integer wraps where it does not fit. Any other value stays as it is, and the operator
    refuses it if it does not fit.
    """
    if not is_weak(y) or not hasattr(x, "dtype"):
        return y
    values = y if hasattr(y, "dtype") else np.asarray(y)
    name = name_of(x)
    # An integer of more than 64 bits has no rank.
    if not 0 <= rank(name_of(values)) <= rank(name):
        return y
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        return torch.as_tensor(np.asarray(values)).to(x.dtype)
    # A float that is too large becomes infinity.
    with np.errstate(over="ignore"):
        return cast(values, name)


def is_weak(y: Any) -> bool:
    """Whether JAX gives `y` the dtype of what it is combined with."""
    return isinstance(y, (bool, int, float, complex)) or bool(getattr(y, "weak_type", False))
