from ._types import Array, ArrayLike

__all__ = ["scatter_mul"]

def scatter_mul(input_x: Array, indices: ArrayLike, updates: ArrayLike) -> Array: ...
