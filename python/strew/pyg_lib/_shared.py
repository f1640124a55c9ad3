"""What the functions of `strew.pyg_lib` share.

Most of them are `strew.torch_scatter`'s, under another name. Others are made of several of those.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from .._arrays.dispatch import torch_operators
from .._arrays.library import from_numpy
from .._arrays.places import OnDevice
from .._native import dtypes, errors
from .._native.functions import implemented_by

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPERATORS = ("torch_scatter.", "torch.")


def same(function: _Function) -> Callable[[Callable[[], None]], _Function]:
    """Makes the function of pyg_lib that does what one of torch_scatter does."""
    name = function.__name__

    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except Exception as error:
            _rename(error, name)
            raise

    return implemented_by(call, function)


def run(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of another module of strew; an error names the function of pyg_lib."""
    try:
        return function(*arguments)
    except Exception as error:
        _rename(error, name)
        raise


def _rename(error: Exception, name: str) -> None:
    """Lets an error of torch_scatter's or torch's function be one of pyg_lib's."""
    operator = errors.operator_of(error)
    if operator.startswith(_OPERATORS):
        errors.rename(error, operator, f"pyg_lib.{name}")


def of(array: Any) -> Any:
    """The module with the functions of an array of `as_array`: torch or NumPy."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(array, torch.Tensor):
        return np
    return torch if array.is_cpu else OnDevice(torch, array.device)


def as_array(values: Any) -> Any:
    """A torch tensor as it is, and all others as a NumPy array."""
    if isinstance(values, np.ndarray) or of(values) is not np:
        return values
    return dtypes.as_array(values)


def beside(values: Any, given: Any) -> Any:
    """An index or pointers as an array of the library of `values`, which is of `as_array`.

    Where `values` may have a derivative it is a copy, which later writes do not change.
    """
    if of(values) is np:
        return as_array(given)
    operators = torch_operators(values)
    return operators.tensors.as_tensor(given) if operators else of(values).as_tensor(given)


def like(given: Any, found: Any) -> Any:
    """A result as an array of the library of an argument."""
    if of(found) is not np or isinstance(given, np.ndarray):
        return found
    return from_numpy(given, found)


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
    if dtypes.is_whole(dtype):
        integers = np.iinfo(dtype)
        return integers.min, integers.max
    if dtype == "bfloat16":
        largest = (2 - 2.0**-7) * 2.0**127
    else:
        largest = float(np.finfo(dtype).max)
    return -largest, largest


def check_out(name: str, out: Any, shape: Sequence[int], dtype: str) -> None:
    """Refuses an `out` that has not this shape and dtype."""
    if tuple(out.shape) != tuple(shape):
        raise errors.Problem(RuntimeError, f"pyg_lib.{name}", "out", list(out.shape)).has_shape(
            f"it must be {list(shape)}"
        )
    if dtypes.name_of(out) != dtype:
        raise errors.Problem(RuntimeError, f"pyg_lib.{name}", "out", dtypes.name_of(out)).has_dtype(
            f"it must be src's, {dtype}"
        )


def copied(out: Any) -> Any:
    """The same values in memory of their own."""
    return out.clone() if hasattr(out, "clone") else np.array(out)


def stored(out: Any, values: Any) -> Any:
    """`out`, with these values written to it."""
    if hasattr(out, "copy_"):
        return out.copy_(values)
    out[...] = values
    return out
