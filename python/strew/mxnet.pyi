from ._types import Array, ArrayLike, Integers, Numbers

__all__ = ["scatter_nd"]

def scatter_nd(data: Array | Numbers, indices: ArrayLike, shape: Integers, name: str | None = None) -> Array: ...
