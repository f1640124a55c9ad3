"""The options of `aggregate`, checked: what is wrong is named with its value."""

from __future__ import annotations

import operator as _operator
from collections.abc import Iterable as _Iterable
from contextlib import suppress as _suppress
from typing import TYPE_CHECKING

import numpy as _np

if TYPE_CHECKING:
    from typing import Any

_LARGEST = 2**63 - 1


def integer(name: str, value: Any, least: int = -_LARGEST - 1, operator: str = "aggregate") -> int:
    """An integer of 64 bits that is not below `least`."""
    try:
        made = _operator.index(value)
    except TypeError:
        raise TypeError(f"{operator}: {name} = {value!r}: it must be an integer") from None
    if made < least:
        raise ValueError(f"{operator}: {name} = {made}: it must be at least {least}")
    if made > _LARGEST:
        raise ValueError(f"{operator}: {name} = {made}: it must be at most {_LARGEST}")
    return made


def flag(name: str, value: Any) -> bool:
    """A bool."""
    if isinstance(value, (bool, _np.bool_)):
        return bool(value)
    raise TypeError(f"aggregate: {name} = {value!r}: it must be True or False")


def number(name: str, value: Any) -> float:
    """A real number of 64 bits."""
    # A string would be read as a number.
    if not isinstance(value, (str, bytes)):
        with _suppress(TypeError, ValueError, OverflowError):
            return float(value)
    raise TypeError(f"aggregate: {name} = {value!r}: it must be a number")


def text(name: str, value: Any) -> str:
    """A string."""
    if isinstance(value, str):
        return value
    raise TypeError(f"aggregate: {name} = {value!r}: it must be a string")


def reductions(given: Any, operator: str = "aggregate") -> list[Any]:
    """The names and functions of several reductions."""
    what = "a name, a function, or a list of them"
    if isinstance(given, (dict, set, frozenset)):
        # A set has an order of its own, and the names of a dict would be taken for reductions.
        kind = type(given).__name__
        raise TypeError(f"{operator}: reduce is a {kind}: it must be {what}")
    made = list(given) if isinstance(given, _Iterable) else [given]
    for one in made:
        if not (isinstance(one, str) or callable(one)):
            raise TypeError(f"{operator}: reduce has {one!r}: it must be {what}")
    return made


def fractions(q: Any) -> float | list[float]:
    """The fraction of quantiles, or several."""
    if isinstance(q, (float, int)):
        return q
    made = _np.asarray(q)
    if made.ndim > 1 or made.dtype.kind not in "iuf":
        raise ValueError(
            f"aggregate: q has {made.ndim} dimensions and is of {made.dtype}: "
            "it must be a number or a sequence of numbers"
        )
    return made.astype(float).tolist()


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
    return {
        "skipna": flag("skipna", given["skipna"]),
        "min_count": integer("min_count", given["min_count"], 0),
        "fill_value": given["fill_value"],
        "ddof": number("ddof", given["ddof"]),
        "exact": flag("exact", given["exact"]),
        "q": fractions(given["q"]),
        "k": integer("k", given["k"], 1),
        "largest": flag("largest", given["largest"]),
        "n": integer("n", given["n"]),
        "periods": integer("periods", given["periods"]),
        "method": text("method", given["method"]),
    }


# Those of a call that names none: the engine knows them, too.
PLAIN = checked((False, 1, None, 0.0, False, 0.5, 1, True, 0, 1, "average"))


def with_some(given: dict[str, Any]) -> dict[str, Any]:
    """The options of a call that names some."""
    return checked(tuple({**PLAIN, **given}[name] for name in NAMES))
