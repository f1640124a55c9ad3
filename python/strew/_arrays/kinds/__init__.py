"""Values and indices as people have them: masked arrays, columns of pandas, pyarrow and Polars,
arrays of xarray, dates and durations.

`find` says how an object is read: as an array of numbers and where it has no value. The object's
kind then takes results back. What is a plain array, a list or a tensor is left to the engine.
docs/inputs.md has the rules.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

import numpy as np

from ..._native import errors
from . import _masked, _numpy
from ._held import Held, mask

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    # Of the function that was called, the argument's name, and the argument.
    _Reader: TypeAlias = Callable[[str, str, Any], Held]

# The libraries that have a module here; an object is read by that of its class, or of a base.
_LIBRARIES = ("pandas", "polars", "pyarrow", "xarray")

# How objects of a class are read; None: as the engine does. Most calls need no more than this.
_KNOWN: dict[type, _Reader | None] = {}

# Frames, which are matrices in `scatter` and `gather`, and chunked arrays, which have functions of
# their own.
_FRAMES = (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"))
_CHUNKED = (("dask", "Array"), ("cubed", "Array"))

_TIMES = (np.datetime64, np.timedelta64)


def find(value: Any) -> _Reader | None:
    """How a value is read; None if the engine takes it as it is."""
    kind = type(value)
    if kind is np.ndarray:
        return _numpy.read if value.dtype.kind in "mM" else None
    if kind is list or kind is tuple:
        return _numpy.read if value and isinstance(value[0], _TIMES) else None
    try:
        return _KNOWN[kind]
    except KeyError:
        found = _KNOWN[kind] = _learned(kind)
        return found


def is_index(value: Any) -> bool:
    """Whether an index, or a key of several, is of a kind that is read here."""
    if type(value) is tuple:
        return any(find(key) is not None for key in value)
    return find(value) is not None


def _learned(kind: type) -> _Reader | None:
    if issubclass(kind, np.ma.MaskedArray):
        return _masked.read
    for base in kind.__mro__:
        library = base.__module__.partition(".")[0]
        if (library, base.__name__) in _FRAMES:
            module = importlib.import_module(f"{__name__}._matrix")
            return cast("_Reader", module.read)
        if (library, base.__name__) in _CHUNKED:
            return _chunked(library)
        if library in _LIBRARIES:
            module = importlib.import_module(f"{__name__}._{library}")
            reader: _Reader | None = module.reader(kind)
            return reader
    return None


def _chunked(library: str) -> _Reader:
    def read(operator: str, name: str, given: Any) -> Held:
        raise errors.Problem(TypeError, operator, name).saying(
            f"{name} is an array of {library}, which would be loaded whole: call "
            f"strew.{library}.{operator}, or pass {name}.compute()"
        )

    return read


def index(operator: str, given: Any, mode: Any) -> Any:
    """An index, or several keys, as arrays of numbers. What is of no kind here stays as it is."""
    if type(given) is tuple:
        return tuple(
            _index(operator, f"index[{at}]", key, mode) if find(key) else key
            for at, key in enumerate(given)
        )
    return _index(operator, "index", given, mode) if find(given) else given


def _index(operator: str, name: str, given: Any, mode: Any) -> Any:
    reader = find(given)
    assert reader is not None
    held = reader(operator, name, given)
    values, missing = held.values, held.missing
    if values.dtype.kind not in "iu":
        raise errors.Problem(TypeError, operator, name, values.dtype).has_dtype(
            "it must be an integer type"
            + ("; by takes keys of any kind" if operator == "aggregate" else "")
        )
    if missing is None:
        return values
    if mode != "drop":
        place = ", ".join(map(str, np.argwhere(missing)[0]))
        raise errors.Problem(IndexError, operator, name).saying(
            f"{name}[{place}] is missing",
            'it must be a number; mode="drop" leaves out what has none',
        )
    if values.dtype == np.uint64:
        # No size is larger, so that these are out of range as before.
        values = np.minimum(values, np.uint64(2**63 - 1))
    return np.where(missing, -1, values.astype(np.int64))


def weights(operator: str, given: Any) -> Any:
    """Weights as an array. None, and what is of no kind here, stays as it is."""
    reader = find(given)
    if reader is None:
        return given
    held = reader(operator, "weights", given)
    missing = held.missing
    if held.kind.nan_is_missing:
        missing = mask(np.isnan(held.values))
    if missing is not None:
        place = ", ".join(map(str, np.argwhere(missing)[0]))
        raise errors.Problem(ValueError, operator, "weights").saying(
            f"weights[{place}] is missing",
            "it must be a number, such as 0, which leaves a value out of sums",
        )
    return held.values
