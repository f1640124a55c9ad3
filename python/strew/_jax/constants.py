"""Arrays of equal elements in the program that JAX makes for XLA."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

# What repeats the elements of its first operand, or only reshapes them.
_REPEATS = ("stablehlo.broadcast_in_dim", "stablehlo.reshape")


def element(value: Any, dtype: Any) -> list[int]:
    """The bytes of the element that an array consists of, as two integers.

    Empty if the array is not known to be one constant everywhere, as arguments of the program are.
    """
    # jaxlib 0.5 ends the process when it is asked for a complex element.
    found = None if np.dtype(dtype).kind == "c" else _constant(value)
    if found is None:
        return []
    bytes_ = np.asarray(found, dtype).tobytes().ljust(16, b"\0")
    return np.frombuffer(bytes_, np.int64).tolist()


def _constant(value: Any) -> Any:
    """The number, or None."""
    operation = _maker(value)
    while operation is not None and operation.name in _REPEATS:
        operation = _maker(operation.operands[0])
    if operation is None or operation.name != "stablehlo.constant":
        return None
    elements = operation.attributes["value"]
    return elements.get_splat_value().value if getattr(elements, "is_splat", False) else None


def _maker(value: Any) -> Any:
    """The operation whose result this is; None for an argument of a block."""
    owner = value.owner
    return getattr(owner, "operation", None)
