"""A Python function of the values of each group."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays import masked
from .._arrays.library import from_numpy, on_devices_of
from .._native import errors
from .._strew import _members


def apply(
    groups: Any, src: Any, function: Callable[[Any], Any], dim: Any, least: Any, fill_value: Any
) -> Any:
    """The function's results, stacked; `aggregate` describes them."""
    masked.refuse("aggregate", "src", src)
    library = Library(src)
    values = library.array(src)
    starts, members, updates = _members(groups)
    axis = _axis(dim, values.ndim)
    if values.shape[axis] != updates:
        raise errors.Problem(ValueError, "aggregate", "src", tuple(values.shape)).saying(
            f"src has shape {tuple(values.shape)}: its size along dimension {axis} must be "
            f"{updates}"
        )
    values = library.take(values, members, axis)
    results: list[Any] = []
    for first, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        part = (slice(None),) * axis + (slice(first, end),)
        enough = end - first >= max(operator.index(least), 1)
        results.append(library.array(function(values[part])) if enough else None)
    some = next((one for one in results if one is not None), None)
    shape = check_shapes(results)
    dtype = values.dtype if some is None else library.common(results)
    fill = library.full(shape, fill_of(fill_value, dtype), dtype)
    if not results:
        return library.full((0,), 0, dtype)
    made = [fill if one is None else library.cast(one, dtype) for one in results]
    stacked = library.stack(made, min(axis, len(shape)))
    return from_numpy(src, stacked) if isinstance(stacked, np.ndarray) else stacked


def _axis(dim: Any, rank: int) -> int:
    """The axis that `dim` names, among `rank`."""
    axis = operator.index(dim)
    if not -rank <= axis < rank:
        raise errors.no_axis("aggregate", axis, rank)
    return axis % rank


def check_shapes(results: list[Any]) -> tuple[int, ...]:
    """The shape of the results of all groups, which are None where there is none."""
    shape = next((tuple(one.shape) for one in results if one is not None), ())
    for group, one in enumerate(results):
        if one is not None and tuple(one.shape) != shape:
            raise errors.Problem(ValueError, "aggregate", "reduce").saying(
                f"reduce returns an array of shape {tuple(one.shape)} for group {group}",
                f"it must be {shape}, as for the groups before",
            )
    return shape


def no_common_dtype(dtypes: list[str]) -> TypeError:
    """The exception of results whose dtypes have no common one."""
    return errors.Problem(TypeError, "aggregate", "reduce").saying(
        f"reduce returns arrays of {' and of '.join(dtypes)}",
        "it must return one dtype, or dtypes of which one holds the others",
    )


def no_skipna() -> ValueError:
    """The exception of `skipna` beside a function."""
    return errors.Problem(ValueError, "aggregate", "skipna", True).expecting(
        "a callable reduce sees NaN, so it must be False"
    )


def fill_of(fill_value: Any, dtype: Any) -> Any:
    """The result of a group without one."""
    inexact = "float" in str(dtype) or "complex" in str(dtype)
    if fill_value is None:
        return float("nan") if inexact else 0
    given = np.asarray(fill_value)
    kinds = "biufc" if "complex" in str(dtype) else "biuf"
    fits = given.ndim == 0 and given.dtype.kind in kinds
    if not fits or not (inexact or (np.isfinite(given) and given % 1 == 0)):
        raise errors.Problem(ValueError, "aggregate", "fill_value", fill_value).saying(
            f"fill_value = {fill_value!r}: the results are of {dtype}, which does not hold it"
        )
    return fill_value


class Library:
    """What arrays of one library are made with."""

    def __init__(self, src: Any) -> None:
        torch = sys.modules.get("torch")
        self.like = src
        self.is_torch = torch is not None and isinstance(src, torch.Tensor)
        namespace = getattr(src, "__array_namespace__", None)
        self.module: Any = torch if self.is_torch else namespace() if namespace else np

    def array(self, given: Any) -> Any:
        made = (self.module.as_tensor if self.is_torch else self.module.asarray)(given)
        jax = sys.modules.get("jax")
        is_jax = jax is not None and isinstance(self.like, jax.Array)
        return on_devices_of(made, self.like) if is_jax else made

    def take(self, values: Any, members: Any, axis: int) -> Any:
        if self.is_torch:
            return values.index_select(axis, self.module.as_tensor(members, device=values.device))
        return self.module.take(values, self.module.asarray(members), axis=axis)

    def full(self, shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
        return self.module.full(shape, value, dtype=dtype)

    def common(self, arrays: list[Any]) -> Any:
        """The dtype that holds those of all results."""
        dtypes = list(dict.fromkeys(one.dtype for one in arrays if one is not None))
        found = dtypes[0]
        for one in dtypes[1:]:
            join = self.module.promote_types if self.is_torch else self.module.result_type
            try:
                found = join(found, one)
            except TypeError as error:
                raise no_common_dtype([str(found), str(one)]) from error
        return found

    def cast(self, array: Any, dtype: Any) -> Any:
        if array.dtype == dtype:
            return array
        if self.is_torch:
            return array.to(dtype)
        # NumPy has the function from 2.1 on only.
        return array.astype(dtype) if hasattr(array, "astype") else self.module.astype(array, dtype)

    def stack(self, arrays: list[Any], axis: int) -> Any:
        return self.module.stack(arrays, **{"dim" if self.is_torch else "axis": axis})
