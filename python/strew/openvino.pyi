from ._types import Array, ArrayLike, Integers, Numbers

__all__ = ["slice_scatter"]

def slice_scatter(
    data: Array | Numbers,
    updates: ArrayLike,
    start: Integers,
    stop: Integers,
    step: Integers,
    axes: Integers | None = None,
) -> Array: ...
