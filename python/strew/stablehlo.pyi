from typing import Literal

from ._types import Array, ArrayLike, Integers, Numbers

__all__ = ["scatter"]

def scatter(
    operand: Array | Numbers,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    update_window_dims: Integers = (),
    inserted_window_dims: Integers = (),
    input_batching_dims: Integers = (),
    scatter_indices_batching_dims: Integers = (),
    scatter_dims_to_operand_dims: Integers = (),
    index_vector_dim: int,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    region: Literal["set", "add", "mul", "max", "min"] = "set",
    out_of_bounds: Literal["window", "element"] = "window",
) -> Array: ...
