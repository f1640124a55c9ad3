from typing import Literal, SupportsIndex

from ._types import Array, ArrayLike, Numbers

__all__ = ["scatter_reduce", "scatter_reduce_"]

_Reduce = Literal["sum", "prod", "mean", "amax", "amin"]

def scatter_reduce(
    input: Array | Numbers,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike,
    reduce: _Reduce,
    *,
    include_self: bool = True,
) -> Array: ...
def scatter_reduce_(
    input: Array,
    dim: SupportsIndex,
    index: ArrayLike,
    src: ArrayLike,
    reduce: _Reduce,
    *,
    include_self: bool = True,
) -> Array: ...
