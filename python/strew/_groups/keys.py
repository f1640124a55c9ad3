"""Groups of several keys: one row number for each combination.

```text
row = (key 0 * size 1 + key 1) * size 2 + key 2 ...
```

Each key is checked against its own size first. An update that one key leaves out has row -1.
"""

from __future__ import annotations

import math
import operator as _operator
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from .._arrays import masked
from .._arrays.dispatch import without_transform
from .._native import errors, options

# Row numbers, or the values of one key.
_Integers: TypeAlias = np.ndarray[Any, Any]
_Mask: TypeAlias = np.ndarray[Any, Any]

_LARGEST = 2**63 - 1
_MODES = ("error", "wrap", "drop", "clip")


def several(index: Any) -> TypeGuard[tuple[Any, ...]]:
    """Whether an index is a tuple of keys. A tuple of numbers is one key."""
    return isinstance(index, tuple) and any(np.ndim(key) > 0 for key in index)


def rows(
    operator: str, keys: tuple[Any, ...], size: Any, mode: Any, ignore_index: Any
) -> tuple[_Integers, tuple[int, ...]]:
    """The row number of each update, -1 if it is left out, and the size of each key."""
    if mode not in _MODES:
        raise errors.Problem(ValueError, operator, "mode", mode).saying(
            f'mode = "{mode}"', "it must be error, wrap, drop or clip"
        )
    ignored = integer_or_none(operator, "ignore_index", ignore_index)
    arrays = _arrays(operator, keys)
    wanted = _sizes(operator, size, len(keys))
    numbers, sizes = [], []
    left_out: _Mask | None = None
    for key, (array, one) in enumerate(zip(arrays, wanted, strict=True)):
        number, one, mask = _resolve(operator, key, array, one, mode, ignored)
        numbers.append(number)
        sizes.append(one)
        if mask is not None:
            left_out = mask if left_out is None else left_out | mask
    count = math.prod(sizes)
    if count > _LARGEST:
        raise errors.Problem(ValueError, operator, "size", tuple(sizes)).saying(
            f"size = {tuple(sizes)}: the product, which is the number of groups, must be at "
            f"most {_LARGEST}"
        )
    if count == 0:
        return np.full(len(arrays[0]), -1), tuple(sizes)
    flat = numbers[0]
    for number, one in zip(numbers[1:], sizes[1:], strict=True):
        # Numbers that are left out may overflow: they are replaced below.
        flat = flat * one + number
    if left_out is not None:
        flat = np.where(left_out, -1, flat)
    return flat, tuple(sizes)


def unfold(result: Any, axis: int, sizes: tuple[int, ...]) -> Any:
    """A result with one axis for each key in place of the axis of all groups."""
    shape = tuple(result.shape)
    return result.reshape((*shape[:axis], *sizes, *shape[axis + 1 :]))


def axis_of(operator: str, dim: Any, src: Any) -> int:
    """The axis of `src` that `dim` names."""
    axis, rank = options.integer("dim", dim, operator=operator), np.ndim(src)
    if not -rank <= axis < rank:
        raise errors.no_axis(operator, axis, rank)
    return axis % rank


def _arrays(operator: str, keys: tuple[Any, ...]) -> list[_Integers]:
    """The keys as arrays of integers, all of one length."""
    arrays: list[_Integers] = []
    for number, key in enumerate(keys):
        masked.refuse(operator, f"index[{number}]", key)
        array = np.asarray(without_transform(key))
        name = f"index[{number}]"
        if array.ndim != 1:
            raise errors.Problem(ValueError, operator, name).saying(
                f"{name} has {array.ndim} dimensions", "it must have one"
            )
        if array.dtype.kind not in "iu":
            if array.size:
                raise errors.Problem(TypeError, operator, name, array.dtype).has_dtype(
                    "it must be an integer type"
                )
            array = array.astype(np.int64)
        if arrays and len(array) != len(arrays[0]):
            raise errors.Problem(ValueError, operator, name).saying(
                f"{name} has {len(array)} elements", f"it must have {len(arrays[0])}, as index[0]"
            )
        arrays.append(array)
    return arrays


def _sizes(operator: str, size: Any, count: int) -> list[int | None]:
    """The size of each key that the caller gives."""
    if size is None:
        return [None] * count
    if not isinstance(size, (tuple, list)):
        raise errors.Problem(ValueError, operator, "size", size).saying(
            f"size = {size!r}: with several keys it must be None, or a tuple of {count} sizes"
        )
    if len(size) != count:
        raise errors.Problem(ValueError, operator, "size", size).expecting(
            f"it must have {count} entries, one for each key"
        )
    return [_size(operator, f"size[{key}]", one) for key, one in enumerate(size)]


def _size(operator: str, name: str, given: Any) -> int | None:
    size = integer_or_none(operator, name, given)
    if size is not None and not 0 <= size <= _LARGEST:
        raise errors.Problem(ValueError, operator, name, size).expecting(
            f"it must be from 0 to {_LARGEST}"
        )
    return size


def integer_or_none(operator: str, name: str, given: Any) -> int | None:
    if given is None:
        return None
    try:
        return _operator.index(given)
    except TypeError:
        kind = type(given).__name__
        raise errors.Problem(TypeError, operator, name).saying(
            f"{name} must be an integer or None, not {kind}"
        ) from None


def _resolve(
    operator: str, key: int, given: _Integers, size: int | None, mode: str, ignored: int | None
) -> tuple[_Integers, int, _Mask | None]:
    """The cells that a key's values mean, its size, and which updates are left out."""
    held = np.iinfo(given.dtype)
    left_out: _Mask | None = None
    if ignored is not None and held.min <= ignored <= held.max:
        left_out = given == given.dtype.type(ignored)
    numbers = given
    if held.max > _LARGEST:
        # No size is larger than that, so these are out of range as before.
        numbers = np.minimum(given, given.dtype.type(_LARGEST))
    numbers = numbers.astype(np.int64, copy=False)
    if size is None:
        kept = numbers if left_out is None else numbers[~left_out]
        size = min(max(int(kept.max(initial=-1)) + 1, 0), _LARGEST)
    if mode == "wrap":
        numbers = np.where(numbers < 0, numbers + size, numbers)
    elif mode == "clip" and size > 0:
        numbers = np.clip(numbers, 0, size - 1)
    inside = numbers.min(initial=0) >= 0 and numbers.max(initial=-1) < size
    if inside:
        return numbers, size, left_out
    outside = (numbers < 0) | (numbers >= size)
    if mode != "drop":
        wrong = outside if left_out is None else outside & ~left_out
        if wrong.any():
            position = int(wrong.argmax())
            name, along = f"index[{key}]", f"key {key}"
            raise errors.outside(operator, name, position, given[position], size, along)
    return numbers, size, outside if left_out is None else outside | left_out
