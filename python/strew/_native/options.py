"""The options of `aggregate`, checked: what is wrong is named with its value."""

from __future__ import annotations

import operator as _operator
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from . import dtypes, errors

_LARGEST = 2**63 - 1


def integer(name: str, value: Any, least: int = -_LARGEST - 1, operator: str = "aggregate") -> int:
    """An integer of 64 bits that is not below `least`."""
    try:
        made = _operator.index(value)
    except TypeError:
        raise errors.Problem(TypeError, operator, name, value).expecting(
            "it must be an integer"
        ) from None
    if made < least:
        raise errors.Problem(ValueError, operator, name, made).expecting(
            f"it must be at least {least}"
        )
    if made > _LARGEST:
        raise errors.Problem(ValueError, operator, name, made).expecting(
            f"it must be at most {_LARGEST}"
        )
    return made


def flag(name: str, value: Any) -> bool:
    """A bool."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise errors.Problem(TypeError, "aggregate", name, value).expecting("it must be True or False")


def number(name: str, value: Any) -> float:
    """A real number of 64 bits."""
    # A string would be read as a number.
    if not isinstance(value, (str, bytes)):
        with suppress(TypeError, ValueError, OverflowError):
            return float(value)
    raise errors.Problem(TypeError, "aggregate", name, value).expecting("it must be a number")


def text(name: str, value: Any) -> str:
    """A string."""
    if isinstance(value, str):
        return value
    raise errors.Problem(TypeError, "aggregate", name, value).expecting("it must be a string")


def reductions(given: Any, operator: str = "aggregate") -> list[Any]:
    """The names and functions of several reductions."""
    what = "a name, a function, or a list of them"
    if isinstance(given, (dict, set, frozenset)):
        # A set has an order of its own, and the names of a dict would be taken for reductions.
        kind = type(given).__name__
        raise errors.Problem(TypeError, operator, "reduce").saying(
            f"reduce is a {kind}", f"it must be {what}"
        )
    made = list(given) if isinstance(given, Iterable) else [given]
    for one in made:
        if not (isinstance(one, str) or callable(one)):
            raise errors.Problem(TypeError, operator, "reduce").saying(
                f"reduce has {one!r}", f"it must be {what}"
            )
    return made


def fractions(q: Any) -> float | list[float] | np.ndarray[Any, Any]:
    """The fraction of quantiles, or several; an array of those of each group."""
    if isinstance(q, (float, int)):
        return q
    made = np.asarray(q)
    if made.ndim > 2 or made.dtype.kind not in "iuf":
        raise errors.Problem(ValueError, "aggregate", "q").saying(
            f"q has {made.ndim} dimensions and is of {made.dtype}",
            "it must be a number, a sequence of numbers, or an array with a column for each group",
        )
    made = made.astype(float)
    return made if made.ndim == 2 else made.tolist()


NAMES = (
    "skipna",
    "min_count",
    "fill_value",
    "ddof",
    "exact",
    "q",
    "k",
    "largest",
    "n",
    "periods",
    "method",
)


def checked(values: tuple[Any, ...]) -> dict[str, Any]:
    """The options by name, from their values in the order of `NAMES`."""
    given = dict(zip(NAMES, values, strict=True))
    none = _is_na(given["fill_value"])
    return {
        "skipna": given["skipna"] is not None and flag("skipna", given["skipna"]),
        # Whether the kind of the values says if NaN is a missing value.
        "nan_by_kind": given["skipna"] is None,
        "min_count": 1
        if given["min_count"] is None
        else integer("min_count", given["min_count"], 0),
        # Whether sums of too few values are missing, where the kind of the values has such.
        "sums_missing": none or given["min_count"] is not None,
        "fill_value": None if none else given["fill_value"],
        "fill_missing": none,
        "ddof": number("ddof", given["ddof"]),
        "exact": flag("exact", given["exact"]),
        "q": fractions(given["q"]),
        "k": integer("k", given["k"], 1),
        "largest": flag("largest", given["largest"]),
        "n": integer("n", given["n"]),
        "periods": integer("periods", given["periods"]),
        "method": None if given["method"] is None else text("method", given["method"]),
    }


def without_missing(options: dict[str, Any], src: Any) -> dict[str, Any]:
    """The options with NaN for a missing fill value, if the values have NaN."""
    if not dtypes.is_inexact(dtypes.name_of(src)):
        raise errors.Problem(TypeError, "aggregate", "fill_value").saying(
            "fill_value = <NA>: src is of a kind without missing values: pass a number, or "
            "src as a masked array or a nullable column"
        )
    return options | {"fill_value": np.nan}


def _is_na(value: Any) -> bool:
    """Whether a fill value is the missing value of pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and value is pandas.NA


# Those of a call that names none: the engine knows them, too.
_USUAL = (None, None, None, 0.0, False, 0.5, 1, True, 0, 1, None)
PLAIN = checked(_USUAL)


def with_some(given: dict[str, Any]) -> dict[str, Any]:
    """The options of a call that names some."""
    usual = dict(zip(NAMES, _USUAL, strict=True))
    return checked(tuple({**usual, **given}[name] for name in NAMES))
