from .._types import Array, ArrayLike, Numbers

__all__ = [
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
]

def segment_sum(data: Array | Numbers, segment_ids: ArrayLike) -> Array: ...
def segment_mean(data: Array | Numbers, segment_ids: ArrayLike) -> Array: ...
def segment_prod(data: Array | Numbers, segment_ids: ArrayLike) -> Array: ...
def segment_min(data: Array | Numbers, segment_ids: ArrayLike) -> Array: ...
def segment_max(data: Array | Numbers, segment_ids: ArrayLike) -> Array: ...
def unsorted_segment_sum(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int
) -> Array: ...
def unsorted_segment_mean(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int
) -> Array: ...
def unsorted_segment_prod(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int
) -> Array: ...
def unsorted_segment_min(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int
) -> Array: ...
def unsorted_segment_max(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int
) -> Array: ...
def unsorted_segment_sqrt_n(
    data: Array | Numbers, segment_ids: ArrayLike, num_segments: int
) -> Array: ...
