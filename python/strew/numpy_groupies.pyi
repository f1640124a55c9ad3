from collections.abc import Callable, Sequence
from typing import Any, Literal, SupportsIndex

import numpy as np
import numpy.typing as npt

from ._types import Array, ArrayLike, Numbers

__all__ = ["aggregate"]

def aggregate(
    group_idx: ArrayLike,
    a: Array | Numbers,
    func: str | Callable[..., Any] = "sum",
    size: SupportsIndex | Sequence[SupportsIndex] | npt.NDArray[np.integer[Any]] | None = None,
    fill_value: Any = 0,
    order: Literal["C", "F"] = "C",
    dtype: npt.DTypeLike | None = None,
    axis: SupportsIndex | None = None,
    ddof: float = 0,
    reverse: bool = False,
    **kwargs: Any,
) -> Array: ...
