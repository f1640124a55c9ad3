from .._types import Array, ArrayLike, Numbers

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]

def segment_sum(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int | None = None
) -> Array: ...
def segment_prod(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int | None = None
) -> Array: ...
def segment_min(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int | None = None
) -> Array: ...
def segment_max(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int | None = None
) -> Array: ...
