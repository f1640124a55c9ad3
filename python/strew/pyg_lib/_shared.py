"""What the functions of `strew.pyg_lib` share.

Most of them are `strew.torch_scatter`'s, under another name. Others are made of several of those.
"""

from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING

import numpy as _np

from .. import _dtypes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_OPERATORS = ("torch_scatter.", "torch.")


def run(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of another module of strew; an error names the function of pyg_lib."""
    try:
        return function(*arguments)
    except Exception as error:
        said = str(error)
        if said.startswith(_OPERATORS):
            error.args = (f"pyg_lib.{name}: {said.partition(': ')[2]}",)
        raise


def of(array: Any) -> Any:
    """The module with the functions of an array: torch, or NumPy, or the library's own."""
    torch = _sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return torch
    own = getattr(array, "__array_namespace__", None)
    return _np if own is None else own()


def as_array(values: Any) -> Any:
    """An array of numbers, which are lists; arrays stay as they are."""
    return values if hasattr(values, "shape") else _dtypes.as_array(values)


def without_gradient(array: Any) -> Any:
    """The same values, from which no gradient goes back."""
    return array.detach() if hasattr(array, "detach") else array


def ones(arrays: Any, shape: Sequence[int]) -> Any:
    """Integers that are 1, all in the same memory: sums of them are counts."""
    return arrays.broadcast_to(arrays.ones((), dtype=arrays.int64), tuple(shape))


def trailing(values: Any, rank: int) -> Any:
    """The values with axes of size 1 appended, up to that rank."""
    return values.reshape(*values.shape, *[1] * (rank - len(values.shape)))


def extremes(dtype: str) -> tuple[Any, Any]:
    """The lowest and the largest finite value of the dtype of that name."""
    if _dtypes.is_whole(dtype):
        integers = _np.iinfo(dtype)
        return integers.min, integers.max
    if dtype == "bfloat16":
        largest = (2 - 2.0**-7) * 2.0**127
    else:
        largest = float(_np.finfo(dtype).max)
    return -largest, largest


def check_out(name: str, out: Any, shape: Sequence[int], dtype: str) -> None:
    """Refuses an `out` that has not this shape and dtype."""
    if tuple(out.shape) != tuple(shape):
        raise RuntimeError(
            f"pyg_lib.{name}: out has shape {list(out.shape)}: it must be {list(shape)}"
        )
    if _dtypes.name_of(out) != dtype:
        raise RuntimeError(
            f"pyg_lib.{name}: out has dtype {_dtypes.name_of(out)}: it must be src's, {dtype}"
        )


def copied(out: Any) -> Any:
    """The same values in memory of their own."""
    return out.clone() if hasattr(out, "clone") else _np.array(out)


def stored(out: Any, values: Any) -> Any:
    """`out`, with these values written to it."""
    if hasattr(out, "copy_"):
        return out.copy_(values)
    out[...] = values
    return out
