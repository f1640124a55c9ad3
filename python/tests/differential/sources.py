"""What vectors are made from: operators with what draws their arguments and what runs them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Source:
    """An operator, in one of its ways: a reduction, a mode, a region.

    `draw` makes a case, an operator's arguments by name, or None where vectors cannot say them.
    `peer` makes its result, or results by name, and refuses with one of `refusals`. `differs` are
    the cases in which strew does something else on purpose, and those that the framework does not
    define.
    """

    op: str
    way: str
    origin: str
    dtypes: list[str]
    draw: Callable[[np.random.Generator, str], dict[str, Any] | None]
    peer: Callable[[dict[str, Any]], Any]
    refusals: tuple[type[Exception], ...]
    kept: int
    differs: Callable[[dict[str, Any], Any], bool] = lambda case, made: False
    tolerance: Callable[[str], float | None] = lambda dtype: 0.0
    """None: the usual ones of vectors."""
    in_place: str | None = None


@dataclass(frozen=True)
class Mistake:
    """A call that the framework refuses."""

    op: str
    what: str
    origin: str
    case: dict[str, Any]
    peer: Callable[[dict[str, Any]], Any]
    refusals: tuple[type[Exception], ...]
